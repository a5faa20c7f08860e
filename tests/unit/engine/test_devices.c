/*
 * Devices that fail, under the engine: real proofs of the XorDemo circuit on devices that wrap the CPU's. Whatever
 * fails, the job is proved elsewhere or says why it is not; nothing is lost, and a lost device costs no attempt.
 */

#include "base/time.h"
#include "compute/inject.h"
#include "engine/devices.h"
#include "groth16/params.h"
#include "groth16/prove.h"
#include "groth16/verify.h"
#include "unit/engine/fake.h"
#include "unit/groth16/xor_demo.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>

#include <cmocka.h>

#include <unistd.h>

#define GPU_BYTES 50
#define CPU_BYTES 5000
#define CPU_LISTS ((size_t)demo.r1cs.num_aux * 8) /* what may come with the first partition there */
#define MAX_GPUS 2

static struct xor_demo demo;
static struct cz_params params;
static char folder[64];

struct shop {
    struct fake f; /* first: inputs are the fake's */
    struct cz_devices *devices;
    struct cz_device *gpu[MAX_GPUS], *cpu;
    struct cz_devices_srs *srs;
    struct cz_engine *e;
};

struct work {
    struct cz_partition_sums sums;
};

static size_t partition_bytes(struct shop *s) {
    return cz_devices_partition_bytes(s->devices, s->srs, &demo.r1cs);
}

static enum cz_status circuit_open(void *ctx, void **circuit, struct cz_stage_plan *plan, enum cz_circuit_kind kind,
                                   const struct cz_sector_info *sector, struct cz_error *err) {
    struct shop *s = ctx;
    (void)kind, (void)sector, (void)err;
    plan->witness = s->f.witness;
    plan->compute = partition_bytes(s);
    *circuit = s;
    return CZ_OK;
}
static void circuit_close(void *ctx, void *circuit) {
    (void)ctx, (void)circuit;
}
static enum cz_status srs_bytes(void *ctx, void *circuit, size_t *bytes, struct cz_error *err) {
    (void)circuit, (void)err;
    *bytes = ((struct shop *)ctx)->f.srs;
    return CZ_OK;
}
static enum cz_status srs_load(void *ctx, void *circuit, size_t *bytes, struct cz_error *err) {
    struct shop *s = ctx;
    (void)circuit;
    *bytes = s->f.srs;
    return cz_devices_srs_create(&s->srs, s->devices, &demo.r1cs, &params.view, err);
}
static void srs_unload(void *ctx, void *circuit) {
    struct shop *s = ctx;
    (void)circuit;
    cz_devices_srs_destroy(s->srs);
    s->srs = NULL;
}
static size_t input_bytes(void *ctx, const struct cz_input *input) {
    return FAKE_OPS.input_bytes(ctx, input);
}
static enum cz_status input_check(void *ctx, const struct cz_input *input, struct cz_error *err) {
    return FAKE_OPS.input_check(ctx, input, err);
}
static void input_free(void *ctx, struct cz_input *input) {
    FAKE_OPS.input_free(ctx, input);
}
static enum cz_status assign(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition, void **work,
                             struct cz_error *err) {
    (void)ctx, (void)circuit, (void)input, (void)partition, (void)err;
    *work = calloc(1, sizeof(struct work));
    return *work ? CZ_OK : CZ_ERR_MEMORY;
}
static enum cz_status compute(void *ctx, void *circuit, void *work, const struct cz_stage_slot *slot,
                              struct cz_error *err) {
    struct shop *s = ctx;
    (void)circuit;
    return cz_devices_prove(&((struct work *)work)->sums, s->srs, &demo.witness, slot, err);
}
static int lane(void *ctx, void *circuit, unsigned worker) {
    (void)circuit;
    return cz_devices_lane(((struct shop *)ctx)->srs, worker);
}
static void lane_free(void *ctx, void *circuit, unsigned worker, int taken) {
    (void)circuit;
    cz_devices_lane_free(((struct shop *)ctx)->srs, worker, taken);
}
static enum cz_status finish(void *ctx, void *circuit, void *work, uint8_t out[CZ_STAGE_PROOF_BYTES],
                             struct cz_error *err) {
    struct cz_blinding blinding;
    struct cz_proof proof;
    (void)ctx, (void)circuit;
    enum cz_status st = cz_blinding_random(&blinding);
    if (st == CZ_OK) st = cz_prove_finish(&proof, &((struct work *)work)->sums, &params.vk, &blinding, err);
    if (st == CZ_OK) cz_proof_write(out, &proof);
    return st;
}
static enum cz_status verify(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition,
                             const uint8_t in[CZ_STAGE_PROOF_BYTES], bool *valid, struct cz_error *err) {
    struct cz_proof proof;
    (void)ctx, (void)circuit, (void)input, (void)partition;
    enum cz_status st = cz_proof_read(&proof, in, err);
    return st == CZ_OK ? cz_verify(valid, &params.vk, &proof, demo.witness.input + 1, 1) : st;
}
static void work_free(void *ctx, void *work) {
    (void)ctx;
    free(work);
}
static void plan_now(void *ctx, void *circuit, struct cz_stage_plan *plan) {
    (void)circuit;
    plan->compute = partition_bytes(ctx);
}
static uint32_t devices(void *ctx, struct cz_device_status *out, uint32_t max) {
    return cz_devices_status(((struct shop *)ctx)->devices, out, max);
}

static const struct cz_stage_ops SHOP_OPS = {
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
};

static struct cz_device *wrapped(const char *name, size_t bytes) {
    struct cz_device *cpu, *dev;
    assert_int_equal(cz_device_create_cpu(&cpu, NULL), CZ_OK);
    assert_int_equal(cz_inject_create(&dev, cpu, name), CZ_OK);
    cz_inject_partition_bytes(dev, bytes);
    return dev;
}

static void shop_open(struct shop *s, size_t gpus, unsigned workers, size_t memory) {
    memset(s, 0, sizeof *s);
    fake_init(&s->f);
    for (size_t i = 0; i < gpus; i++) s->gpu[i] = wrapped(i ? "cuda:1" : "cuda:0", GPU_BYTES);
    s->cpu = wrapped("cpu", CPU_BYTES);
    assert_int_equal(cz_devices_create_of(&s->devices, s->gpu, gpus, s->cpu, workers), CZ_OK);
    struct cz_engine_options o = fake_options(&s->f);
    o.ops = &SHOP_OPS;
    o.ops_ctx = s;
    o.compute_workers = cz_devices_workers(s->devices);
    o.queue_depth = 4;
    o.memory_total = memory;
    assert_int_equal(cz_engine_create(&s->e, &o, NULL), CZ_OK);
}

static void shop_close(struct shop *s) {
    cz_engine_destroy(s->e);
    cz_devices_destroy(s->devices);
    fake_done(&s->f);
}

static struct cz_engine_ticket submit(struct shop *s, uint32_t partitions) {
    struct cz_engine_ticket t;
    struct cz_error err = {0};
    if (fake_submit(s->e, &s->f, "", 1, partitions, 2048, CZ_PRIORITY_DEFAULT, &t, &err) != CZ_OK)
        fail_msg("%s", err.detail);
    return t;
}

static void expect_proof(struct shop *s, const struct cz_engine_ticket *t, uint32_t partitions) {
    struct fake_result r;
    fake_result(s->e, t->job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(r.proof_len, partitions * 192);
    for (uint32_t i = 0; i < partitions; i++) {
        bool valid = false;
        assert_int_equal(verify(s, NULL, NULL, i, r.proof + (size_t)192 * i, &valid, NULL), CZ_OK);
        assert_true(valid);
    }
}

/* The job fails, and each of the texts is in its reason. */
static void expect_failure(struct shop *s, const struct cz_engine_ticket *t, const char *first, const char *second) {
    struct fake_result r;
    fake_result(s->e, t->job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    if (!strstr(r.error, first) || !strstr(r.error, second)) fail_msg("%s", r.error);
}

static struct cz_engine_status status_of(struct shop *s) {
    struct cz_engine_status st;
    cz_engine_status(s->e, &st);
    return st;
}

static void test_retry(void **state) {
    (void)state;
    static const enum cz_status KIND[] = {CZ_ERR_MEMORY, CZ_ERR_INTERNAL};
    for (size_t k = 0; k < 2; k++) {
        for (unsigned n = 1; n <= 4; n++) {
            struct shop s;
            shop_open(&s, 1, 2, 100000);
            cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, n, 1, KIND[k]);
            struct cz_engine_ticket t = submit(&s, 4);
            expect_proof(&s, &t, 4);
            struct cz_engine_status st = status_of(&s);
            assert_int_equal(st.retries, 1);
            assert_int_equal(st.rerouted, 0);
            assert_false(st.device[0].lost);
            assert_int_equal(st.device[0].failures, 1);
            assert_int_equal(cz_inject_calls(s.cpu, CZ_INJECT_PROVE_PARTITION), 0);
            shop_close(&s);
        }
    }
}

static void test_fails_twice(void **state) {
    (void)state;
    struct shop s;
    shop_open(&s, 1, 1, 100000);
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 1, 2, CZ_ERR_MEMORY);
    struct cz_engine_ticket t = submit(&s, 1);
    expect_failure(&s, &t, "cuda:0: prove_partition: injected", "2 attempts");
    t = submit(&s, 2); /* the daemon goes on */
    expect_proof(&s, &t, 2);
    shop_close(&s);
}

/* The nth partition loses the only GPU: it and all later ones are made on the CPU. */
static void test_lost(void **state) {
    (void)state;
    for (unsigned workers = 1; workers <= 3; workers++) {
        for (unsigned n = 1; n <= 8; n++) {
            struct shop s;
            shop_open(&s, 1, workers, 100000);
            cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, n, 1, CZ_ERR_DEVICE);
            struct cz_engine_ticket t = submit(&s, 8);
            expect_proof(&s, &t, 8);
            struct cz_engine_status st = status_of(&s);
            assert_int_equal(st.retries, 0);
            assert_int_equal(st.num_devices, 2);
            assert_true(st.device[0].lost);
            /* Of several workers, one that finds it lost may be the first to say so. */
            const bool lost = strstr(st.device[0].reason, "prove_partition: it is lost") && workers > 1;
            if (!lost) assert_non_null(strstr(st.device[0].reason, "prove_partition: injected"));
            assert_string_equal(st.device[1].name, "cpu");
            assert_int_equal(st.device[0].partitions + st.device[1].partitions, 8);
            char *text = cz_metrics_text(&st);
            assert_non_null(text);
            assert_non_null(strstr(text, "cuzk_device_lost{device=\"cuda:0\"} 1\n"));
            free(text);
            t = submit(&s, 2); /* no GPU is asked any more */
            const unsigned calls = cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION);
            expect_proof(&s, &t, 2);
            assert_int_equal(cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION), calls);
            shop_close(&s);
        }
    }
}

/* One of two is lost, then the other. */
static void test_other_device(void **state) {
    (void)state;
    struct shop s;
    shop_open(&s, 2, 1, 100000);
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 2, 1, CZ_ERR_DEVICE);
    struct cz_engine_ticket t;
    struct cz_engine_status st;
    int jobs = 0;
    do { /* on a busy machine one thread may do all but the first partition, on the other device */
        t = submit(&s, 8);
        expect_proof(&s, &t, 8);
        st = status_of(&s);
    } while (!st.device[0].lost && ++jobs < 1000);
    assert_int_equal(st.rerouted, 0); /* the witness is there still */
    assert_int_equal(cz_inject_calls(s.cpu, CZ_INJECT_PROVE_PARTITION), 0);
    assert_true(st.device[0].lost);
    assert_false(st.device[1].lost);
    cz_inject_fail(s.gpu[1], CZ_INJECT_PROVE_PARTITION, 3, 1, CZ_ERR_DEVICE);
    t = submit(&s, 8);
    expect_proof(&s, &t, 8);
    st = status_of(&s);
    assert_true(st.device[1].lost);
    assert_int_equal(st.retries, 0);
    assert_true(st.rerouted >= 1);
    assert_int_equal(cz_inject_calls(s.cpu, CZ_INJECT_PROVE_PARTITION), 6);
    assert_int_equal(cz_devices_gpus(s.devices), 0);
    shop_close(&s);
}

/* The CPU's working memory does not fit: every job says so, and nothing stands still. */
static void test_cpu_does_not_fit(void **state) {
    (void)state;
    struct shop s;
    shop_open(&s, 1, 1, 3000);
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 2, 1, CZ_ERR_DEVICE);
    struct cz_engine_ticket t = submit(&s, 3);
    char need[40];
    (void)snprintf(need, sizeof need, "working memory %zu", CPU_BYTES + CPU_LISTS);
    expect_failure(&s, &t, "memory budget", need);
    fake_until_used(s.e, s.f.srs);
    shop_close(&s);
}

/* Queued witnesses leave too little for the CPU: they are given up and made again one by one. */
static void test_cpu_barely_fits(void **state) {
    (void)state;
    struct shop s;
    const size_t total = (1000 + 100 + CPU_BYTES + CPU_LISTS) * 8 / 7 + 8;
    shop_open(&s, 1, 3, total);
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 1, 1, CZ_ERR_DEVICE);
    struct cz_engine_ticket t[3];
    for (int i = 0; i < 3; i++) t[i] = submit(&s, 8);
    for (int i = 0; i < 3; i++) expect_proof(&s, &t[i], 8);
    struct cz_engine_status st = status_of(&s);
    assert_int_equal(st.retries, 0);
    assert_true(st.memory_peak <= total);
    shop_close(&s);
}

static void test_srs(void **state) {
    (void)state;
    static const enum cz_status KIND[] = {CZ_ERR_MEMORY, CZ_ERR_BUDGET, CZ_ERR_DEVICE};
    for (size_t k = 0; k < 3; k++) {
        for (unsigned bad = 1; bad <= 2; bad++) { /* of two devices */
            struct shop s;
            shop_open(&s, 2, 1, 100000);
            for (unsigned i = 0; i < bad; i++) cz_inject_fail(s.gpu[i], CZ_INJECT_SRS_CREATE, 1, 1, KIND[k]);
            struct cz_engine_ticket t = submit(&s, 4);
            expect_proof(&s, &t, 4);
            assert_int_equal(cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION), 0);
            assert_int_equal(cz_inject_calls(s.gpu[1], CZ_INJECT_PROVE_PARTITION), bad == 1 ? 4 : 0);
            assert_int_equal(cz_inject_calls(s.cpu, CZ_INJECT_PROVE_PARTITION), bad == 1 ? 0 : 4);
            struct cz_engine_status st = status_of(&s);
            assert_int_equal(st.device[0].lost, KIND[k] == CZ_ERR_DEVICE);
            assert_int_equal(st.retries, 0);
            shop_close(&s);
        }
    }
    struct shop s; /* wrong parameters are wrong on every device */
    shop_open(&s, 1, 1, 100000);
    cz_inject_fail(s.gpu[0], CZ_INJECT_SRS_CREATE, 1, 1, CZ_ERR_MISMATCH);
    struct cz_engine_ticket t = submit(&s, 1);
    expect_failure(&s, &t, "srs_create: injected", "parameters of porep-2k");
    shop_close(&s);
}

/* A circuit that does not fit into one device goes to the other, and to the CPU when it fits into none. */
static void test_too_small(void **state) {
    (void)state;
    struct shop s;
    shop_open(&s, 2, 1, 100000);
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 1, 1, CZ_ERR_BUDGET);
    cz_inject_fail(s.gpu[1], CZ_INJECT_PROVE_PARTITION, 4, 1, CZ_ERR_BUDGET);
    struct cz_engine_ticket t = submit(&s, 8);
    expect_proof(&s, &t, 8);
    struct cz_engine_status st = status_of(&s);
    assert_int_equal(st.retries, 0);
    assert_false(st.device[0].lost);
    assert_int_equal(cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION), 1);
    assert_int_equal(cz_inject_calls(s.gpu[1], CZ_INJECT_PROVE_PARTITION), 4);
    assert_int_equal(cz_inject_calls(s.cpu, CZ_INJECT_PROVE_PARTITION), 5);
    shop_close(&s);
}

static void test_cpu_fails_too(void **state) {
    (void)state;
    static const enum cz_status KIND[] = {CZ_ERR_MEMORY, CZ_ERR_DEVICE};
    for (size_t k = 0; k < 2; k++) {
        struct shop s;
        shop_open(&s, 1, 1, 100000);
        cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 1, 1, CZ_ERR_DEVICE);
        cz_inject_fail(s.cpu, CZ_INJECT_PROVE_PARTITION, 1, 2, KIND[k]);
        struct cz_engine_ticket t = submit(&s, 1);
        expect_failure(&s, &t, "cpu: prove_partition", "2 attempts");
        shop_close(&s);
    }
}

/* Lanes: the least busy device first, as many as there are workers; the CPU's only when no GPU has the circuit. */
static void test_lanes(void **state) {
    (void)state;
    struct shop s;
    shop_open(&s, 2, 2, 100000);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(s.e, "porep-2k", &already, &ms, NULL), CZ_OK);
    int taken[4];
    for (unsigned i = 0; i < 4; i++) taken[i] = cz_devices_lane(s.srs, 60 + i);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(taken[i] != CZ_NO_LANE);
        for (unsigned k = 0; k < i; k++) assert_int_not_equal(taken[i], taken[k]);
    }
    struct cz_engine_status st = status_of(&s);
    assert_int_equal(st.device[0].workers, UINT64_C(5) << 60);
    assert_int_equal(st.device[1].workers, UINT64_C(10) << 60);
    assert_int_equal(cz_devices_lane(s.srs, 1), CZ_NO_LANE);
    cz_devices_lane_free(s.srs, 62, taken[2]);
    assert_int_equal(cz_devices_lane(s.srs, 64), taken[2]); /* no bit for this worker */
    cz_devices_lane_free(s.srs, 64, taken[2]);
    assert_int_equal(status_of(&s).device[0].workers, UINT64_C(1) << 60);
    for (unsigned i = 0; i < 4; i++)
        if (i != 2) cz_devices_lane_free(s.srs, 60 + i, taken[i]);
    /* Both are lost: one place on the CPU. A lane of before is as good as none. */
    cz_inject_fail(s.gpu[0], CZ_INJECT_PROVE_PARTITION, 1, 1, CZ_ERR_DEVICE);
    cz_inject_fail(s.gpu[1], CZ_INJECT_PROVE_PARTITION, 1, 1, CZ_ERR_DEVICE);
    const int before = cz_devices_lane(s.srs, 1);
    struct cz_engine_ticket t = submit(&s, 2);
    expect_proof(&s, &t, 2);
    assert_int_equal(cz_devices_gpus(s.devices), 0);
    const unsigned calls = cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION);
    struct cz_partition_sums sums;
    struct cz_stage_slot slot = {.worker = 1, .bytes = CPU_BYTES + CPU_LISTS, .lane = before};
    assert_int_equal(cz_devices_prove(&sums, s.srs, &demo.witness, &slot, NULL), CZ_OK);
    assert_int_equal(cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION), calls);
    const int cpu = cz_devices_lane(s.srs, 1);
    assert_int_not_equal(cpu, CZ_NO_LANE);
    assert_int_equal(cz_devices_lane(s.srs, 2), CZ_NO_LANE);
    /* Too little for the CPU is said at once, though it is busy; that is no failure of the CPU. */
    struct cz_error err = {0};
    slot = (struct cz_stage_slot){.worker = 2, .bytes = GPU_BYTES, .lane = CZ_NO_LANE};
    assert_int_equal(cz_devices_prove(&sums, s.srs, &demo.witness, &slot, &err), CZ_ERR_DEVICE);
    assert_non_null(strstr(err.detail, "the CPU takes"));
    cz_devices_lane_free(s.srs, 1, cpu);
    assert_int_equal(status_of(&s).device[2].failures, 0);
    shop_close(&s);
}

/* Three workers where the device has room for one: two of them wait. */
static void test_workers_wait(void **state) {
    (void)state;
    struct shop s;
    memset(&s, 0, sizeof s);
    fake_init(&s.f);
    s.gpu[0] = wrapped("cuda:0", GPU_BYTES);
    s.cpu = wrapped("cpu", CPU_BYTES);
    assert_int_equal(cz_devices_create_of(&s.devices, s.gpu, 1, s.cpu, 1), CZ_OK);
    struct cz_engine_options o = fake_options(&s.f);
    o.ops = &SHOP_OPS;
    o.ops_ctx = &s;
    o.compute_workers = 3;
    o.queue_depth = 4;
    assert_int_equal(cz_engine_create(&s.e, &o, NULL), CZ_OK);
    struct cz_engine_ticket t[3];
    for (int i = 0; i < 3; i++) t[i] = submit(&s, 8);
    for (int i = 0; i < 3; i++) expect_proof(&s, &t[i], 8);
    assert_int_equal(cz_inject_most_at_once(s.gpu[0]), 1);
    assert_int_equal(cz_inject_calls(s.gpu[0], CZ_INJECT_PROVE_PARTITION), 24);
    assert_int_equal(status_of(&s).retries, 0);
    shop_close(&s);
}

/* No room beside another circuit is told apart from no room at all. */
static void test_no_room_beside(void **state) {
    (void)state;
    struct cz_device *gpu = wrapped("cuda:0", GPU_BYTES), *cpu = wrapped("cpu", CPU_BYTES);
    struct cz_devices *d;
    struct cz_devices_srs *first, *second = NULL;
    assert_int_equal(cz_devices_create_of(&d, &gpu, 1, cpu, 1), CZ_OK);
    assert_int_equal(cz_devices_srs_create(&first, d, &demo.r1cs, &params.view, NULL), CZ_OK);
    assert_true(cz_devices_srs_on_gpu(first));
    for (int i = 0; i < 2; i++) {
        struct cz_error err = {0};
        cz_inject_fail(gpu, CZ_INJECT_SRS_CREATE, 1, 1, CZ_ERR_BUDGET);
        assert_int_equal(cz_devices_srs_create(&second, d, &demo.r1cs, &params.view, &err), CZ_ERR_FULL);
        assert_non_null(strstr(err.detail, "other circuits"));
    }
    cz_devices_srs_destroy(first);
    cz_inject_fail(gpu, CZ_INJECT_SRS_CREATE, 1, 1, CZ_ERR_BUDGET);
    assert_int_equal(cz_devices_srs_create(&second, d, &demo.r1cs, &params.view, NULL), CZ_OK);
    assert_false(cz_devices_srs_on_gpu(second));
    assert_int_equal(cz_inject_calls(cpu, CZ_INJECT_SRS_CREATE), 1);
    cz_devices_srs_destroy(second);
    cz_devices_destroy(d);
}

/* The first is under way for so long that the second would meet it, were it let in. */
static void first_is_slow(void *ctx, unsigned before) {
    if (before > 0) return;
    atomic_store((atomic_bool *)ctx, true);
    (void)usleep(200000);
}

struct load {
    struct cz_devices *devices;
    struct cz_devices_srs *srs;
    enum cz_status status;
};

static void *load_main(void *arg) {
    struct load *l = arg;
    l->status = cz_devices_srs_create(&l->srs, l->devices, &demo.r1cs, &params.view, NULL);
    return NULL;
}

/* Two circuits at once for a GPU with room for one: the second is told what is in the way, and not sent to the CPU. */
static void test_two_loads(void **state) {
    (void)state;
    struct cz_device *gpu = wrapped("cuda:0", GPU_BYTES), *cpu = wrapped("cpu", CPU_BYTES);
    struct load first = {0}, second = {0};
    atomic_bool begun = false;
    pthread_t thread;
    assert_int_equal(cz_devices_create_of(&first.devices, &gpu, 1, cpu, 1), CZ_OK);
    second.devices = first.devices;
    cz_inject_before(gpu, CZ_INJECT_SRS_CREATE, first_is_slow, &begun);
    cz_inject_fail(gpu, CZ_INJECT_SRS_CREATE, 2, 1, CZ_ERR_BUDGET);
    assert_int_equal(pthread_create(&thread, NULL, load_main, &first), 0);
    while (!atomic_load(&begun)) (void)usleep(1000);
    (void)load_main(&second);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(first.status, CZ_OK);
    assert_int_equal(second.status, CZ_ERR_FULL);
    assert_null(second.srs);
    assert_int_equal(cz_inject_calls(cpu, CZ_INJECT_SRS_CREATE), 0);
    cz_devices_srs_destroy(first.srs);
    cz_devices_destroy(first.devices);
}

/* Each GPU's load waits until all have begun; nobody waits for ever. */
static void wait_for_others(void *ctx, unsigned before) {
    atomic_uint *begun = ctx;
    (void)before;
    atomic_fetch_add(begun, 1);
    for (int i = 0; i < 20000 && atomic_load(begun) < 3; i++) (void)usleep(1000);
}

/* One circuit goes to all GPUs at once; what one of them lacks room for, the others have. */
static void test_loads_side_by_side(void **state) {
    (void)state;
    struct cz_device *gpu[3], *cpu = wrapped("cpu", CPU_BYTES);
    struct cz_devices *d;
    struct cz_devices_srs *srs;
    atomic_uint begun = 0;
    static const char *const name[3] = {"cuda:0", "cuda:1", "cuda:2"};
    for (int i = 0; i < 3; i++) {
        gpu[i] = wrapped(name[i], GPU_BYTES);
        cz_inject_before(gpu[i], CZ_INJECT_SRS_CREATE, wait_for_others, &begun);
    }
    cz_inject_fail(gpu[1], CZ_INJECT_SRS_CREATE, 1, 1, CZ_ERR_BUDGET);
    assert_int_equal(cz_devices_create_of(&d, gpu, 3, cpu, 1), CZ_OK);
    const uint64_t from = cz_time_now_ns();
    assert_int_equal(cz_devices_srs_create(&srs, d, &demo.r1cs, &params.view, NULL), CZ_OK);
    assert_true(cz_time_since(from) < 15);
    assert_int_equal(atomic_load(&begun), 3);
    assert_true(cz_devices_srs_on_gpu(srs));
    assert_int_equal(cz_inject_calls(cpu, CZ_INJECT_SRS_CREATE), 0);
    cz_devices_srs_destroy(srs);
    /* Wrong parameters on any of them fail as a whole. */
    struct cz_error err = {0};
    atomic_store(&begun, 0);
    cz_inject_fail(gpu[2], CZ_INJECT_SRS_CREATE, 1, 1, CZ_ERR_POINT_NOT_ON_CURVE);
    assert_int_equal(cz_devices_srs_create(&srs, d, &demo.r1cs, &params.view, &err), CZ_ERR_POINT_NOT_ON_CURVE);
    assert_non_null(strstr(err.detail, "cuda:2"));
    cz_devices_destroy(d);
}

static int start(void **state) {
    struct cz_setup_result result;
    struct cz_error err = {0};
    char path[256];
    (void)state;
    xor_demo_init(&demo);
    xor_demo_folder(folder, sizeof folder);
    xor_demo_setup(&demo, folder, &result);
    xor_demo_path(path, sizeof path, folder, "x.params");
    if (cz_params_open(&params, path, &demo.r1cs, &err) != CZ_OK) fail_msg("%s", err.detail);
    return 0;
}

static int end(void **state) {
    (void)state;
    cz_params_close(&params);
    xor_demo_folder_remove(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retry),           cmocka_unit_test(test_no_room_beside),
        cmocka_unit_test(test_fails_twice),     cmocka_unit_test(test_lost),
        cmocka_unit_test(test_other_device),    cmocka_unit_test(test_cpu_does_not_fit),
        cmocka_unit_test(test_cpu_barely_fits), cmocka_unit_test(test_srs),
        cmocka_unit_test(test_too_small),       cmocka_unit_test(test_cpu_fails_too),
        cmocka_unit_test(test_lanes),           cmocka_unit_test(test_workers_wait),
        cmocka_unit_test(test_two_loads),       cmocka_unit_test(test_loads_side_by_side),
    };
    return cmocka_run_group_tests(tests, start, end);
}
