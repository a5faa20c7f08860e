#include "engine/prover.h"

#include "base/bytes.h"
#include "base/log.h"
#include "compute/gpu.h"
#include "groth16/params.h"
#include "groth16/prove.h"
#include "groth16/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>

_Static_assert(CZ_STAGE_PROOF_BYTES == CZ_PROOF_BYTES, "one proof");

struct cz_prover {
    char *param_cache;
    struct cz_pool *pool;
    struct cz_devices *devices;
};

struct check;
static void check_release(struct check *k);

struct circuit {
    struct cz_r1cs *r1cs;
    char *path;
    struct cz_params params;
    pthread_mutex_t srs_lock; /* while it comes or goes, and while a plan looks at it */
    struct cz_devices_srs *srs;
    struct check *check; /* of the file, after a proof failed; used by the finish thread alone */
};

struct work {
    struct cz_witness witness;
    struct cz_partition_sums sums;
};

/* ---- create, destroy ---- */

struct pool_args {
    unsigned threads;
    int nice;
    struct cz_pool *pool;
    enum cz_status status;
};

/* Threads inherit the nice value of the thread that makes them, and a thread may only raise its own. */
static void *make_pool(void *arg) {
    struct pool_args *a = arg;
    if (a->nice > 0) (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + a->nice);
    a->status = cz_pool_create(&a->pool, a->threads);
    return NULL;
}

enum cz_status cz_prover_create(struct cz_prover **out, const struct cz_prover_options *options, struct cz_error *err) {
    struct cz_prover *p = calloc(1, sizeof *p);
    if (p) p->param_cache = strdup(options->param_cache);
    if (!p || !p->param_cache) {
        free(p);
        return cz_error_set(err, CZ_ERR_MEMORY, "the prover");
    }
    struct pool_args args = {.threads = options->threads, .nice = options->nice, .status = CZ_ERR_MEMORY};
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_pool, &args) == 0) (void)pthread_join(thread, NULL);
    p->pool = args.pool;
    enum cz_status st = args.status;
    if (st != CZ_OK) (void)cz_error_set(err, st, "cannot start %u threads", options->threads);
    if (st == CZ_OK) st = cz_devices_create(&p->devices, &options->devices, p->pool, err);
    if (st != CZ_OK) {
        cz_prover_destroy(p);
        return st;
    }
    *out = p;
    return CZ_OK;
}

void cz_prover_destroy(struct cz_prover *p) {
    if (!p) return;
    cz_devices_destroy(p->devices);
    cz_pool_destroy(p->pool);
    free(p->param_cache);
    free(p);
}

const char *cz_prover_device_name(const struct cz_prover *p) {
    return cz_devices_name(p->devices);
}

void cz_prover_architectures(char *out, size_t size) {
    const char *held = cz_gpu_architectures();
    (void)snprintf(out, size, "%s%s", *held ? "CUDA for " : "no CUDA", held);
}

unsigned cz_prover_workers(const struct cz_prover *p) {
    return cz_devices_workers(p->devices);
}

unsigned cz_prover_gpus(const struct cz_prover *p) {
    return cz_devices_gpus(p->devices);
}

/* ---- circuits and parameters ---- */

static size_t witness_bytes(const struct cz_r1cs *r1cs) {
    return sizeof(struct work) + cz_witness_bytes(r1cs);
}

static void circuit_close(void *ctx, void *handle) {
    (void)ctx;
    struct circuit *c = handle;
    cz_r1cs_destroy(c->r1cs);
    check_release(c->check);
    (void)pthread_mutex_destroy(&c->srs_lock);
    free(c->path);
    free(c);
}

static enum cz_status circuit_open(void *ctx, void **out, struct cz_stage_plan *plan, enum cz_circuit_kind kind,
                                   const struct cz_sector_info *sector, struct cz_error *err) {
    const struct cz_prover *p = ctx;
    char stem[256];
    enum cz_status st = cz_params_stem(stem, sizeof stem, kind, sector);
    if (st != CZ_OK) return cz_error_set(err, st, "no parameters' name for %s", sector->name);
    struct circuit *c = calloc(1, sizeof *c);
    if (!c || asprintf(&c->path, "%s/%s.params", p->param_cache, stem) < 0) {
        free(c);
        return cz_error_set(err, CZ_ERR_MEMORY, "a circuit");
    }
    (void)pthread_mutex_init(&c->srs_lock, NULL); /* cannot fail without attributes */
    st = cz_input_circuit_build(&c->r1cs, kind, sector, err);
    if (st != CZ_OK) {
        circuit_close(ctx, c);
        return st;
    }
    plan->witness = witness_bytes(c->r1cs);
    plan->compute = cz_devices_partition_bytes(p->devices, NULL, c->r1cs);
    *out = c;
    return CZ_OK;
}

static void plan_now(void *ctx, void *handle, struct cz_stage_plan *plan) {
    const struct cz_prover *p = ctx;
    struct circuit *c = handle;
    plan->witness = witness_bytes(c->r1cs);
    (void)pthread_mutex_lock(&c->srs_lock);
    plan->compute = cz_devices_partition_bytes(p->devices, c->srs, c->r1cs);
    (void)pthread_mutex_unlock(&c->srs_lock);
}

static struct cz_devices_srs *set_srs(struct circuit *c, struct cz_devices_srs *srs) {
    (void)pthread_mutex_lock(&c->srs_lock);
    struct cz_devices_srs *before = c->srs;
    c->srs = srs;
    (void)pthread_mutex_unlock(&c->srs_lock);
    return before;
}

/* The SRS is held by the job that asks. */
static int lane(void *ctx, void *handle, unsigned worker) {
    (void)ctx;
    return cz_devices_lane(((struct circuit *)handle)->srs, worker);
}

static void lane_free(void *ctx, void *handle, unsigned worker, int taken) {
    (void)ctx;
    cz_devices_lane_free(((struct circuit *)handle)->srs, worker, taken);
}

static uint32_t devices(void *ctx, struct cz_device_status *out, uint32_t max) {
    const struct cz_prover *p = ctx;
    return cz_devices_status(p->devices, out, max);
}

static enum cz_status srs_bytes(void *ctx, void *handle, size_t *bytes, struct cz_error *err) {
    const struct cz_prover *p = ctx;
    const struct circuit *c = handle;
    struct stat sb;
    if (stat(c->path, &sb) != 0) {
        int e = errno;
        char text[128];
        return cz_error_set(err, e == ENOENT ? CZ_ERR_NOT_FOUND : CZ_ERR_IO, "parameter file %s: %s", c->path,
                            strerror_r(e, text, sizeof text));
    }
    const unsigned gpus = cz_devices_gpus(p->devices);
    if (gpus > 0) {
        /* The file is page cache. Of each card on the host: masks of bits, and lists of what is no bit. */
        const size_t elements = (size_t)(c->r1cs->num_aux - c->r1cs->num_bits) + c->r1cs->num_inputs;
        *bytes = cz_r1cs_bytes(c->r1cs) + gpus * (c->r1cs->num_aux / 8 * 3 + 12 * elements + (1 << 20));
        return CZ_OK;
    }
    /* Beside the file: the circuit, and index lists of the densities, at most two words a variable. */
    *bytes = (size_t)sb.st_size + cz_r1cs_bytes(c->r1cs) + (size_t)c->r1cs->num_aux * 8;
    return CZ_OK;
}

static enum cz_status srs_load(void *ctx, void *handle, size_t *bytes, struct cz_error *err) {
    const struct cz_prover *p = ctx;
    struct circuit *c = handle;
    enum cz_status st = cz_params_open(&c->params, c->path, c->r1cs, err);
    if (st != CZ_OK) return st;
    struct cz_devices_srs *srs;
    st = cz_devices_srs_create(&srs, p->devices, c->r1cs, &c->params.view, err);
    if (st != CZ_OK) {
        (void)cz_error_prefix(err, "%s", c->path);
        cz_params_close(&c->params);
        memset(&c->params, 0, sizeof c->params);
        return st;
    }
    *bytes = cz_devices_srs_bytes(srs) + cz_r1cs_bytes(c->r1cs);
    if (!cz_devices_srs_on_gpu(srs)) *bytes += c->params.map.size;
    (void)set_srs(c, srs);
    return CZ_OK;
}

static void srs_unload(void *ctx, void *handle) {
    (void)ctx;
    struct circuit *c = handle;
    cz_devices_srs_destroy(set_srs(c, NULL));
    cz_params_close(&c->params);
    memset(&c->params, 0, sizeof c->params);
    check_release(c->check); /* the next load may be of another file */
    c->check = NULL;
}

/* ---- inputs ---- */

static size_t input_bytes(void *ctx, const struct cz_input *input) {
    (void)ctx;
    return cz_input_bytes(input);
}

static enum cz_status input_check(void *ctx, const struct cz_input *input, struct cz_error *err) {
    const struct cz_prover *p = ctx;
    enum cz_status st = cz_input_check_pool(input, p->pool, err);
    if (st == CZ_OK) return CZ_OK;
    if (input->c1 && input->c1->has_sector_number) {
        (void)cz_error_prefix(err, "sector %" PRIu64, input->c1->sector_number);
    }
    (void)cz_error_prefix(err, input->c1 ? "vanilla_proof" : "vanilla_proofs");
    return st;
}

static void input_free(void *ctx, struct cz_input *input) {
    (void)ctx;
    cz_input_destroy(input);
}

/* ---- stages ---- */

static void work_free(void *ctx, void *arg) {
    (void)ctx;
    struct work *w = arg;
    if (!w) return;
    cz_witness_done(&w->witness);
    free(w);
}

static enum cz_status assign(void *ctx, void *handle, const struct cz_input *input, uint32_t partition, void **out,
                             struct cz_error *err) {
    const struct cz_prover *p = ctx;
    const struct circuit *c = handle;
    struct work *w = calloc(1, sizeof *w);
    if (!w) return cz_error_set(err, CZ_ERR_MEMORY, "a partition");
    enum cz_status st = cz_witness_init(&w->witness, c->r1cs);
    if (st != CZ_OK) (void)cz_error_set(err, st, "witness");
    if (st == CZ_OK) st = cz_input_assign_pool(&w->witness, c->r1cs, input, partition, p->pool, err);
    if (st != CZ_OK) {
        work_free(ctx, w);
        return st;
    }
    *out = w;
    return CZ_OK;
}

static enum cz_status compute(void *ctx, void *handle, void *arg, const struct cz_stage_slot *slot,
                              struct cz_error *err) {
    (void)ctx;
    const struct circuit *c = handle;
    struct work *w = arg;
    enum cz_status st = cz_devices_prove(&w->sums, c->srs, &w->witness, slot, err);
    cz_witness_done(&w->witness);
    memset(&w->witness, 0, sizeof w->witness);
    return st;
}

static enum cz_status finish(void *ctx, void *handle, void *arg, uint8_t out[CZ_STAGE_PROOF_BYTES],
                             struct cz_error *err) {
    (void)ctx;
    const struct circuit *c = handle;
    const struct work *w = arg;
    struct cz_blinding blinding;
    struct cz_proof proof;
    enum cz_status st = cz_blinding_random(&blinding);
    if (st != CZ_OK) return cz_error_set(err, st, "blinding");
    st = cz_prove_finish(&proof, &w->sums, &c->params.vk, &blinding, err);
    cz_memzero(&blinding, sizeof blinding);
    if (st == CZ_OK) cz_proof_write(out, &proof);
    return st;
}

static enum cz_status verify(void *ctx, void *handle, const struct cz_input *input, uint32_t partition,
                             const uint8_t in[CZ_STAGE_PROOF_BYTES], bool *valid, struct cz_error *err) {
    (void)ctx;
    const struct circuit *c = handle;
    *valid = false;
    struct cz_proof proof;
    if (cz_proof_read(&proof, in, NULL) != CZ_OK) return CZ_OK; /* no point of the group: not a valid proof */
    size_t n = c->r1cs->num_inputs - 1;
    struct cz_fr *values = cz_calloc(n, sizeof *values);
    if (!values) return cz_error_set(err, CZ_ERR_MEMORY, "public inputs");
    enum cz_status st = cz_input_public_inputs(values, n, input, partition, err);
    if (st == CZ_OK) {
        st = cz_verify(valid, &c->params.vk, &proof, values, n);
        if (st != CZ_OK) (void)cz_error_set(err, st, "verification");
    }
    cz_free(values);
    return st;
}

/* ---- why no valid proof comes out ---- */

/*
 * Points of a parameter file are checked once a proof failed with them. That takes minutes, so it goes on beside the
 * work, on one thread of the least priority and on a mapping of its own, and the log says how it ended.
 */
struct check {
    atomic_int refs; /* the circuit and the thread */
    atomic_int state;
    char *path;
};
enum { CHECK_RUNNING, CHECK_SOUND, CHECK_DAMAGED };

static void check_release(struct check *k) {
    if (!k || atomic_fetch_sub(&k->refs, 1) > 1) return;
    free(k->path);
    free(k);
}

static void *check_main(void *arg) {
    struct check *k = arg;
    (void)setpriority(PRIO_PROCESS, 0, 19);
    struct cz_params params;
    struct cz_error err = {0};
    enum cz_status st = cz_params_open(&params, k->path, NULL, &err);
    if (st == CZ_OK) {
        st = cz_params_check_points(&params, NULL, NULL, NULL, &err);
        cz_params_close(&params);
    }
    if (st == CZ_OK) {
        cz_log(CZ_LOG_WARN, "%s: every point is sound; the device computes wrongly, or the file is of another setup",
               k->path);
    } else {
        cz_log(CZ_LOG_ERROR, "%s is damaged: %s", k->path, err.detail);
    }
    atomic_store(&k->state, st == CZ_OK ? CHECK_SOUND : CHECK_DAMAGED);
    check_release(k);
    return NULL;
}

static struct check *check_start(const char *path) {
    struct check *k = calloc(1, sizeof *k);
    if (k) k->path = strdup(path);
    pthread_t thread;
    if (!k) return NULL;
    atomic_init(&k->refs, 2);
    atomic_init(&k->state, CHECK_RUNNING);
    if (!k->path || pthread_create(&thread, NULL, check_main, k) != 0) {
        free(k->path);
        free(k);
        return NULL;
    }
    (void)pthread_detach(thread);
    return k;
}

static void explain(void *ctx, void *handle, const struct cz_input *input, uint32_t partition, char *text,
                    size_t size) {
    struct circuit *c = handle;
    void *arg = NULL;
    if (assign(ctx, handle, input, partition, &arg, NULL) == CZ_OK) {
        struct work *w = arg;
        const char *name = "";
        uint32_t row = cz_witness_first_unsatisfied(&w->witness, c->r1cs, &name);
        work_free(ctx, w);
        if (row < c->r1cs->num_constraints) {
            (void)snprintf(text, size, "the witness does not satisfy constraint %u (%s)", row, name);
            return;
        }
    }
    if (!c->check) c->check = check_start(c->path);
    int state = c->check ? atomic_load(&c->check->state) : CHECK_RUNNING;
    (void)snprintf(text, size, "the vanilla proofs pass their own check and the witness satisfies the circuit; %s",
                   state == CHECK_DAMAGED ? "the parameter file is damaged, see the log"
                   : state == CHECK_SOUND ? "the parameters' points are sound, so the device computes wrongly or the "
                                            "parameters are of another setup"
                                          : "the parameter file is being checked, see the log");
}

const struct cz_stage_ops CZ_PROVER_OPS = {
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
