#include "unit/engine/fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <unistd.h>

struct circuit {
    size_t scale, witness, compute;
};

static size_t scaled(const struct circuit *c, size_t small, size_t large) {
    return c->scale > 1 && large ? large : small * c->scale;
}

struct work {
    size_t witness;
    uint8_t tag, partition;
};

void fake_init(struct fake *f) {
    memset(f, 0, sizeof *f);
    assert_int_equal(pthread_mutex_init(&f->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&f->changed, NULL), 0);
    f->input = 10;
    f->srs = 1000;
    f->witness = 100;
    f->compute = 500;
    f->fail_with = CZ_ERR_DEVICE;
}

void fake_done(struct fake *f) {
    assert_int_equal(f->live_inputs, 0);
    assert_int_equal(f->live_work, 0);
    assert_int_equal(f->live_witness, 0);
    assert_int_equal(f->loaded, 0);
    assert_int_equal(f->lanes_held, 0);
    (void)pthread_mutex_destroy(&f->lock);
    (void)pthread_cond_destroy(&f->changed);
}

static void set_gate(struct fake *f, enum fake_stage stage, bool closed) {
    (void)pthread_mutex_lock(&f->lock);
    f->closed[stage] = closed;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
}

void fake_close(struct fake *f, enum fake_stage stage) {
    set_gate(f, stage, true);
}
void fake_open(struct fake *f, enum fake_stage stage) {
    set_gate(f, stage, false);
}

void fake_let(struct fake *f, enum fake_stage stage, uint32_t n) {
    (void)pthread_mutex_lock(&f->lock);
    f->let[stage] += n;
    (void)pthread_cond_broadcast(&f->changed);
    (void)pthread_mutex_unlock(&f->lock);
}

void fake_wait_calls(struct fake *f, enum fake_stage stage, uint32_t n) {
    (void)pthread_mutex_lock(&f->lock);
    while (f->calls[stage] < n) (void)pthread_cond_wait(&f->changed, &f->lock);
    (void)pthread_mutex_unlock(&f->lock);
}

void fake_wait(struct fake *f, enum fake_stage stage, uint32_t n) {
    (void)pthread_mutex_lock(&f->lock);
    while (f->waiting[stage] < n) (void)pthread_cond_wait(&f->changed, &f->lock);
    (void)pthread_mutex_unlock(&f->lock);
}

/* Counts the call, waits at the gate, and says how the call is to end. Lock held. */
static enum cz_status pass(struct fake *f, enum fake_stage stage, struct cz_error *err) {
    uint32_t n = ++f->calls[stage];
    f->waiting[stage]++;
    (void)pthread_cond_broadcast(&f->changed);
    while (f->closed[stage] && f->let[stage] == 0) (void)pthread_cond_wait(&f->changed, &f->lock);
    if (f->closed[stage]) f->let[stage]--;
    f->waiting[stage]--;
    bool fail = f->fail_from[stage] && n >= f->fail_from[stage] && n - f->fail_from[stage] < f->fail_count[stage];
    return fail ? cz_error_set(err, f->fail_with, "injected failure %u", n) : CZ_OK;
}

static enum cz_status circuit_open(void *ctx, void **out, struct cz_stage_plan *plan, enum cz_circuit_kind kind,
                                   const struct cz_sector_info *sector, struct cz_error *err) {
    struct fake *f = ctx;
    if (kind == CZ_CIRCUIT_UPDATE_POSEIDON) return cz_error_set(err, CZ_ERR_UNSUPPORTED, "no such circuit");
    struct circuit *c = calloc(1, sizeof *c);
    if (!c) return CZ_ERR_MEMORY;
    c->scale = sector->size == 2048 ? 1 : 4;
    plan->witness = c->witness = scaled(c, f->witness, f->large_witness);
    plan->compute = c->compute = scaled(c, f->compute, f->large_compute);
    *out = c;
    return CZ_OK;
}

static void circuit_close(void *ctx, void *circuit) {
    (void)ctx;
    free(circuit);
}

static enum cz_status srs_bytes(void *ctx, void *circuit, size_t *bytes, struct cz_error *err) {
    struct fake *f = ctx;
    struct circuit *c = circuit;
    if (f->params_missing) return cz_error_set(err, CZ_ERR_NOT_FOUND, "/params/v28-fake.params: no such file");
    *bytes = f->srs * c->scale + 7; /* an estimate */
    return CZ_OK;
}

static enum cz_status srs_load(void *ctx, void *circuit, size_t *bytes, struct cz_error *err) {
    struct fake *f = ctx;
    struct circuit *c = circuit;
    (void)pthread_mutex_lock(&f->lock);
    enum cz_status st = pass(f, FAKE_LOAD, err);
    if (st == CZ_OK) f->loaded++;
    *bytes = f->srs * c->scale + f->srs_beyond;
    (void)pthread_mutex_unlock(&f->lock);
    return st;
}

static void srs_unload(void *ctx, void *circuit) {
    struct fake *f = ctx;
    (void)circuit;
    (void)pthread_mutex_lock(&f->lock);
    f->loaded--;
    f->unloads++;
    (void)pthread_mutex_unlock(&f->lock);
}

static size_t input_bytes(void *ctx, const struct cz_input *input) {
    (void)input;
    return ((struct fake *)ctx)->input;
}

static enum cz_status input_check(void *ctx, const struct cz_input *input, struct cz_error *err) {
    struct fake *f = ctx;
    (void)input;
    if (f->check_status != CZ_OK) return cz_error_set(err, f->check_status, "sector 7, challenge 3: comm_d path");
    return CZ_OK;
}

static void input_free(void *ctx, struct cz_input *input) {
    struct fake *f = ctx;
    (void)pthread_mutex_lock(&f->lock);
    f->live_inputs--;
    (void)pthread_mutex_unlock(&f->lock);
    free(input->c1);
    free(input);
}

static enum cz_status assign(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition, void **out,
                             struct cz_error *err) {
    struct fake *f = ctx;
    struct circuit *c = circuit;
    struct work *w = calloc(1, sizeof *w);
    if (!w) return CZ_ERR_MEMORY;
    w->tag = input->c1->seed[0];
    w->partition = (uint8_t)partition;
    w->witness = c->witness;
    (void)pthread_mutex_lock(&f->lock);
    if (f->num_order < sizeof f->order) f->order[f->num_order++] = w->tag;
    f->live_witness += w->witness;
    if (f->live_witness > f->peak_witness) f->peak_witness = f->live_witness;
    enum cz_status st = pass(f, FAKE_ASSIGN, err);
    if (st != CZ_OK) f->live_witness -= w->witness;
    f->live_work += st == CZ_OK;
    (void)pthread_mutex_unlock(&f->lock);
    if (st == CZ_OK) {
        *out = w;
    } else {
        free(w);
    }
    return st;
}

static enum cz_status compute(void *ctx, void *circuit, void *work, const struct cz_stage_slot *slot,
                              struct cz_error *err) {
    struct fake *f = ctx;
    struct work *w = work;
    (void)circuit;
    (void)pthread_mutex_lock(&f->lock);
    if (f->calls[FAKE_COMPUTE] < sizeof f->computed) f->computed[f->calls[FAKE_COMPUTE]] = w->tag;
    enum cz_status st = pass(f, FAKE_COMPUTE, err);
    f->compute_failed = f->compute_failed || st != CZ_OK;
    f->live_witness -= w->witness;
    w->witness = 0;
    f->lane_taken[slot->lane] = false;
    f->lanes_held--;
    (void)pthread_mutex_unlock(&f->lock);
    return st;
}

static int lane(void *ctx, void *circuit, unsigned worker) {
    struct fake *f = ctx;
    const struct circuit *c = circuit;
    const int mine = c->scale > 1;
    (void)worker;
    (void)pthread_mutex_lock(&f->lock);
    const bool free = !f->with_lanes || !f->lane_taken[mine];
    if (free) {
        f->lane_taken[mine] = true;
        f->lanes_held++;
    }
    (void)pthread_mutex_unlock(&f->lock);
    return free ? mine : CZ_NO_LANE;
}

static void lane_free(void *ctx, void *circuit, unsigned worker, int taken) {
    struct fake *f = ctx;
    (void)circuit;
    (void)worker;
    (void)pthread_mutex_lock(&f->lock);
    f->lane_taken[taken] = false;
    f->lanes_held--;
    (void)pthread_mutex_unlock(&f->lock);
}

static void plan_now(void *ctx, void *circuit, struct cz_stage_plan *plan) {
    struct fake *f = ctx;
    const struct circuit *c = circuit;
    (void)pthread_mutex_lock(&f->lock);
    const bool grown = f->compute_failed && f->compute_now;
    plan->compute = grown ? scaled(c, f->compute_now, f->large_compute_now) : c->compute;
    (void)pthread_mutex_unlock(&f->lock);
}

static uint32_t devices(void *ctx, struct cz_device_status *out, uint32_t max) {
    struct fake *f = ctx;
    (void)pthread_mutex_lock(&f->lock);
    const uint32_t n = f->num_devices;
    for (uint32_t i = 0; i < n && i < max; i++) out[i] = f->device[i];
    (void)pthread_mutex_unlock(&f->lock);
    return n;
}

static enum cz_status finish(void *ctx, void *circuit, void *work, uint8_t proof[CZ_STAGE_PROOF_BYTES],
                             struct cz_error *err) {
    struct fake *f = ctx;
    struct work *w = work;
    (void)circuit;
    (void)pthread_mutex_lock(&f->lock);
    enum cz_status st = pass(f, FAKE_FINISH, err);
    (void)pthread_mutex_unlock(&f->lock);
    memset(proof, FAKE_PROOF_MARK, CZ_STAGE_PROOF_BYTES);
    proof[0] = w->tag;
    proof[1] = w->partition;
    return st;
}

/* An injected failure of this stage is an invalid proof. */
static enum cz_status verify(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition,
                             const uint8_t proof[CZ_STAGE_PROOF_BYTES], bool *valid, struct cz_error *err) {
    struct fake *f = ctx;
    (void)circuit;
    (void)err;
    (void)pthread_mutex_lock(&f->lock);
    *valid = pass(f, FAKE_VERIFY, NULL) == CZ_OK && proof[0] == input->c1->seed[0] && proof[1] == partition;
    (void)pthread_mutex_unlock(&f->lock);
    return CZ_OK;
}

static void work_free(void *ctx, void *work) {
    struct fake *f = ctx;
    struct work *w = work;
    if (!w) return;
    (void)pthread_mutex_lock(&f->lock);
    f->live_witness -= w->witness;
    f->live_work--;
    (void)pthread_mutex_unlock(&f->lock);
    free(w);
}

static void explain(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition, char *text,
                    size_t size) {
    (void)ctx;
    (void)circuit;
    (void)input;
    (void)partition;
    (void)snprintf(text, size, "explained");
}

const struct cz_stage_ops FAKE_OPS = {
    .circuit_open = circuit_open,
    .circuit_close = circuit_close,
    .srs_bytes = srs_bytes,
    .srs_load = srs_load,
    .srs_unload = srs_unload,
    .input_bytes = input_bytes,
    .input_check = input_check,
    .input_free = input_free,
    .assign = assign,
    .compute = compute,
    .lane = lane,
    .lane_free = lane_free,
    .plan = plan_now,
    .devices = devices,
    .finish = finish,
    .verify = verify,
    .work_free = work_free,
    .explain = explain,
};

struct cz_input *fake_input(struct fake *f, enum cz_circuit_kind kind, uint64_t sector_size, uint32_t partitions,
                            uint8_t tag) {
    struct cz_input *input = calloc(1, sizeof *input);
    assert_non_null(input);
    input->kind = kind;
    input->sector = cz_sector_by_size(sector_size);
    input->num_partitions = partitions;
    input->c1 = calloc(1, sizeof *input->c1);
    assert_non_null(input->c1);
    input->c1->seed[0] = tag;
    (void)pthread_mutex_lock(&f->lock);
    f->live_inputs++;
    (void)pthread_mutex_unlock(&f->lock);
    return input;
}

struct cz_engine_options fake_options(struct fake *f) {
    return (struct cz_engine_options){
        .ops = &FAKE_OPS,
        .ops_ctx = f,
        .device_name = "fake",
        .memory_total = 1000000,
        .assign_workers = 1,
        .compute_workers = 1,
        .queue_depth = 1,
    };
}

enum cz_status fake_submit(struct cz_engine *e, struct fake *f, const char *request_id, uint8_t tag,
                           uint32_t partitions, uint64_t sector_size, enum cz_priority priority,
                           struct cz_engine_ticket *ticket, struct cz_error *err) {
    struct cz_engine_request r = {
        .priority = priority,
        .request_id = request_id,
        .input_digest = {tag},
        .input = fake_input(f, CZ_CIRCUIT_POREP, sector_size, partitions, tag),
    };
    return cz_engine_submit(e, &r, ticket, err);
}

static void done(void *ctx, const struct cz_job_result *result) {
    struct fake_result *r = ctx;
    (void)pthread_mutex_lock(&r->lock);
    r->done = true;
    r->state = result->state;
    r->times = *result;
    (void)snprintf(r->error, sizeof r->error, "%s", result->error);
    r->proof_len = result->proof_len;
    if (result->proof_len <= sizeof r->proof && result->proof_len) memcpy(r->proof, result->proof, result->proof_len);
    (void)pthread_cond_broadcast(&r->changed);
    (void)pthread_mutex_unlock(&r->lock);
}

void fake_watch(struct cz_engine *e, const char *job_id, uint64_t timeout_ms, struct fake_result *r) {
    memset(r, 0, sizeof *r);
    assert_int_equal(pthread_mutex_init(&r->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&r->changed, NULL), 0);
    assert_int_equal(cz_engine_watch(e, job_id, timeout_ms, done, r, NULL), CZ_OK);
}

void fake_await(struct fake_result *r) {
    (void)pthread_mutex_lock(&r->lock);
    while (!r->done) (void)pthread_cond_wait(&r->changed, &r->lock);
    (void)pthread_mutex_unlock(&r->lock);
    (void)pthread_mutex_destroy(&r->lock);
    (void)pthread_cond_destroy(&r->changed);
}

void fake_result(struct cz_engine *e, const char *job_id, struct fake_result *r) {
    fake_watch(e, job_id, 0, r);
    fake_await(r);
}

void fake_until_used(struct cz_engine *e, uint64_t bytes) {
    struct cz_engine_status s;
    for (int i = 0; i < 60000; i++) {
        cz_engine_status(e, &s);
        if (s.memory_used == bytes) return;
        (void)usleep(1000);
    }
    assert_int_equal(s.memory_used, bytes);
}
