/*
 * The CUDA device on a runtime without a GPU (tests/fake_cuda): every call fails in turn. Whatever fails, the operation
 * says so with the call and the error's name, nothing is left behind, and a device that is not lost goes on.
 */

#include "fake_cuda/fake_cuda.h"

#include "base/bytes.h"
#include "compute/cuda/add.h"
#include "compute/cuda/partition.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"
#include "curve/encoding.h"
#include "support.h"
#include "unit/groth16/xor_demo.h"

#include <stdio.h>
#include <string.h>

#define POINTS 16

static struct xor_demo demo;
static uint8_t g1[POINTS * 96], g2[POINTS * 192];
static struct cz_g1_affine base1[POINTS];
static struct cz_g2_affine base2[POINTS];
static uint64_t scalar[4 * POINTS];
/* Residents: everything; or so little that vectors are streamed. */
static size_t residents_all, residents_few;

/* What a partition's view of the demo is: any points will do. */
static struct cz_srs_view demo_view(void) {
    uint64_t a[1], b[1], in[1];
    memset(a, 0, sizeof a), memset(b, 0, sizeof b), memset(in, 0, sizeof in);
    cz_r1cs_density(&demo.r1cs, a, b, in);
    return (struct cz_srs_view){.h = g1,
                                .l = g1,
                                .a = g1,
                                .b_g1 = g1,
                                .b_g2 = g2,
                                .num_h = (1u << cz_r1cs_domain_log2(&demo.r1cs)) - 1,
                                .num_l = demo.r1cs.num_aux,
                                .num_a = demo.r1cs.num_inputs + (uint32_t)__builtin_popcountll(a[0]),
                                .num_b = (uint32_t)__builtin_popcountll(b[0]) + (uint32_t)__builtin_popcountll(in[0])};
}

static enum cz_status open_device(struct cz_device **dev, size_t residents, struct cz_error *err) {
    const struct cz_gpu_options o = {
        .workers = 1, .vram_limit = (size_t)1 << 30, .residents = residents, .pinned = (size_t)1 << 20};
    return cz_gpu_create(dev, &o, NULL, err);
}

/* The operations of a device; each fills err's detail or leaves it empty where its interface has none. */
struct session {
    struct cz_device *dev;
    struct cz_srs *srs;
};
static enum cz_status op_prove(struct session *s, struct cz_error *err) {
    struct cz_partition_sums sums;
    return cz_device_prove_partition(&sums, NULL, s->srs, &demo.witness, err);
}
static enum cz_status op_srs(struct session *s, struct cz_error *err) {
    struct cz_srs *srs = NULL;
    const struct cz_srs_view view = demo_view();
    enum cz_status status = cz_srs_create(&srs, s->dev, &demo.r1cs, &view, err);
    if (status == CZ_OK) cz_srs_destroy(srs);
    return status;
}
/* These have no text in their interface: the worker's is looked at. */
static enum cz_status worker_error(struct session *s, enum cz_status status, struct cz_error *err) {
    if (status == CZ_OK) return status;
    struct cz_cuda *cuda = ((struct cz_cuda_device *)s->dev)->cuda;
    cz_cuda_last_error(err, cuda);
    return status;
}
static enum cz_status op_msm_g1(struct session *s, struct cz_error *err) {
    struct cz_g1 out;
    return worker_error(s, cz_device_msm_g1(&out, s->dev, base1, scalar, POINTS), err);
}
static enum cz_status op_msm_g2(struct session *s, struct cz_error *err) {
    struct cz_g2 out;
    return worker_error(s, cz_device_msm_g2(&out, s->dev, base2, scalar, POINTS), err);
}
static enum cz_status op_bitsum_g1(struct session *s, struct cz_error *err) {
    struct cz_g1 out;
    return worker_error(s, cz_device_bitsum_g1(&out, s->dev, base1, &(uint64_t){0xabcd}, POINTS), err);
}
static enum cz_status op_bitsum_g2(struct session *s, struct cz_error *err) {
    struct cz_g2 out;
    return worker_error(s, cz_device_bitsum_g2(&out, s->dev, base2, &(uint64_t){0xabcd}, POINTS), err);
}
static enum cz_status ntt(struct session *s, enum cz_ntt_kind kind, struct cz_error *err) {
    struct cz_fr v[16];
    memset(v, 0, sizeof v);
    return worker_error(s, cz_device_ntt(s->dev, v, 4, kind), err);
}
static enum cz_status op_ntt(struct session *s, struct cz_error *err) {
    return ntt(s, CZ_NTT_FORWARD, err);
}
static enum cz_status op_ntt_coset(struct session *s, struct cz_error *err) {
    return ntt(s, CZ_NTT_COSET_INVERSE, err);
}
static unsigned middle; /* calls until the first of two steps had its result and gave the worker back */
static enum cz_status op_fixed_g1(struct session *s, struct cz_error *err) {
    struct cz_fixed_base_g1 *fb = NULL;
    struct cz_g1_affine out[4];
    struct cz_fr by[4];
    memset(by, 0, sizeof by);
    enum cz_status status = cz_fixed_base_g1_create(&fb, s->dev, &CZ_G1_GENERATOR, 4);
    middle = fake_cuda_calls();
    if (status == CZ_OK) status = cz_fixed_base_g1_mul_n(out, fb, by, 4);
    cz_fixed_base_g1_destroy(fb);
    return worker_error(s, status, err);
}
static enum cz_status op_fixed_g2(struct session *s, struct cz_error *err) {
    struct cz_fixed_base_g2 *fb = NULL;
    struct cz_g2_affine out[4];
    struct cz_fr by[4];
    memset(by, 0, sizeof by);
    enum cz_status status = cz_fixed_base_g2_create(&fb, s->dev, &CZ_G2_GENERATOR, 4);
    middle = fake_cuda_calls();
    if (status == CZ_OK) status = cz_fixed_base_g2_mul_n(out, fb, by, 4);
    cz_fixed_base_g2_destroy(fb);
    return worker_error(s, status, err);
}
static unsigned open_calls; /* of opening alone: what follows is the end of the device, which cannot be refused */
static enum cz_status op_open(struct session *s, struct cz_error *err) {
    struct cz_device *dev = NULL;
    (void)s;
    enum cz_status status = open_device(&dev, residents_all, err);
    open_calls = fake_cuda_calls();
    cz_device_destroy(dev);
    return status;
}

static void session_open(struct session *s, size_t residents) {
    struct cz_error err = {0};
    const struct cz_srs_view view = demo_view();
    fake_cuda_reset();
    if (open_device(&s->dev, residents, &err) != CZ_OK) fail_msg("%s", err.detail);
    if (cz_srs_create(&s->srs, s->dev, &demo.r1cs, &view, &err) != CZ_OK) fail_msg("%s", err.detail);
}
static void session_close(struct session *s) {
    cz_srs_destroy(s->srs);
    cz_device_destroy(s->dev);
    s->srs = NULL;
    s->dev = NULL;
    if (fake_cuda_live() != 0) fail_msg("%d streams, events or allocations are left", fake_cuda_live());
}

/*
 * Whether an operation may succeed though this call failed: the result is complete and on the host by then, and the
 * call only frees something or waits for what is done already (cz_cuda_give).
 */
static bool harmless(const char *call, unsigned at, unsigned calls) {
    if (strstr(call, "Destroy") || strncmp(call, "cudaFree", 8) == 0) return true;
    /* CUB asks for the device to look into a cache, and does without. */
    if (strcmp(call, "cudaGetDevice") == 0) return true;
    return strcmp(call, "cudaStreamSynchronize") == 0 && (at + 2 >= calls || (at < middle && at + 2 >= middle));
}

struct case_of {
    const char *name;
    enum cz_status (*op)(struct session *, struct cz_error *);
    bool opens;     /* makes a device of its own: none is open */
    bool few;       /* with streamed vectors */
    const char *on; /* a call that the operation must reach, so that the case tests something */
};

static void run_case(const struct case_of *c, cudaError_t error) {
    struct session s = {0};
    const size_t residents = c->few ? residents_few : residents_all;
    unsigned refused = 0, fine = 0;
    struct cz_error err = {0};
    if (c->opens)
        fake_cuda_reset();
    else
        session_open(&s, residents);
    const unsigned before = c->on ? fake_cuda_calls_of(c->on) : 0;
    fake_cuda_fail(~0u, cudaSuccess);
    middle = 0;
    if (c->op(&s, &err) != CZ_OK) fail_msg("%s: %s", c->name, err.detail);
    const unsigned calls = fake_cuda_calls();
    if (c->on && fake_cuda_calls_of(c->on) == before) fail_msg("%s does not reach %s", c->name, c->on);
    for (unsigned i = 0; i < calls; i++) {
        err = (struct cz_error){0};
        fake_cuda_fail(i, error);
        enum cz_status status = c->op(&s, &err);
        const char *failed = fake_cuda_failed();
        fake_cuda_fail(~0u, cudaSuccess);
        if (!failed) { /* threads share the calls out differently */
            assert_int_equal(status, CZ_OK);
            continue;
        }
        bool relabelled = false;
        const bool lost = s.dev && cz_cuda_is_lost(((struct cz_cuda_device *)s.dev)->cuda);
        if (status == CZ_OK) {
            fine++;
            const bool ends = c->opens && i >= open_calls;
            if (!ends && !harmless(failed, i, calls))
                fail_msg("%s: call %u, %s, failed without a word", c->name, i, failed);
        } else {
            refused++;
            /* What CUB cannot look up it calls unknown: of that a device is lost. */
            const bool cub = strcmp(failed, "cudaGetDevice") == 0 || (c->few && fake_cuda_sticky(error));
            relabelled = cub && strstr(err.detail, "cudaErrorUnknown");
        }
        if (status != CZ_OK && !relabelled) {
            if (!strstr(err.detail, cudaGetErrorName(error)))
                fail_msg("%s: call %u, %s: no error's name in \"%s\"", c->name, i, failed, err.detail);
            /* Not CUB's own call; nor where another thread may meet the sticky error before. */
            const bool own = strncmp(failed, "cuda", 4) == 0 && strcmp(failed, "cudaGetDevice") != 0 &&
                             !(c->few && fake_cuda_sticky(error));
            if (own && !strstr(err.detail, failed))
                fail_msg("%s: call %u: no \"%s\" in \"%s\"", c->name, i, failed, err.detail);
            const enum cz_status want = error == cudaErrorMemoryAllocation ? CZ_ERR_MEMORY : CZ_ERR_DEVICE;
            if (status != want) fail_msg("%s: call %u, %s: status %d", c->name, i, failed, (int)status);
        }
        if (c->opens) {
            if (fake_cuda_live() != 0) fail_msg("%s: call %u, %s: %d left", c->name, i, failed, fake_cuda_live());
            continue;
        }
        if (fake_cuda_sticky(error) && !lost) fail_msg("%s: %s: the device is not lost", c->name, failed);
        if (!fake_cuda_sticky(error) && lost && !relabelled) fail_msg("%s: %s: the device is lost", c->name, failed);
        err = (struct cz_error){0};
        if (lost) { /* says so, at once; a new device takes its place */
            assert_int_equal(op_prove(&s, &err), CZ_ERR_DEVICE);
            assert_non_null(strstr(err.detail, "lost"));
            session_close(&s);
            session_open(&s, residents);
        } else if (op_prove(&s, &err) != CZ_OK) {
            fail_msg("%s: after %s: %s", c->name, failed, err.detail);
        }
    }
    if (!c->opens) session_close(&s);
    assert_true(refused > 0);
    print_message("%s, %s: %u calls, %u refused, %u harmless\n", c->name, cudaGetErrorName(error), calls, refused,
                  fine);
}

static const struct case_of cases[] = {
    {"open", op_open, true, false, "cudaMalloc"},
    {"srs", op_srs, false, false, "cudaMemcpyAsync"},
    {"partition", op_prove, false, false, "__cudaLaunchKernel"},
    {"streamed partition", op_prove, false, true, "__cudaLaunchKernel"},
    {"msm G1", op_msm_g1, false, false, "__cudaLaunchKernel"},
    {"msm G2", op_msm_g2, false, false, "__cudaLaunchKernel"},
    {"bit sum G1", op_bitsum_g1, false, false, "__cudaLaunchKernel"},
    {"bit sum G2", op_bitsum_g2, false, false, "__cudaLaunchKernel"},
    {"ntt", op_ntt, false, false, "__cudaLaunchKernel"},
    {"ntt of a coset", op_ntt_coset, false, false, "__cudaLaunchKernel"},
    {"fixed base G1", op_fixed_g1, false, false, "__cudaLaunchKernel"},
    {"fixed base G2", op_fixed_g2, false, false, "__cudaLaunchKernel"},
};

static void faults(void **state) {
    const cudaError_t error = (cudaError_t)(uintptr_t)*state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) run_case(&cases[i], error);
}

/* Errors of arguments leave a device as it is; of everything that CUDA's documentation calls sticky it is lost. */
static void classes(void **state) {
    (void)state;
    for (int e = 1; e < 1000; e++) {
        const cudaError_t error = (cudaError_t)e;
        if (fake_cuda_sticky(error)) assert_true(cz_cuda_error_is_lost(error));
    }
    assert_false(cz_cuda_error_is_lost(cudaErrorMemoryAllocation));
    assert_false(cz_cuda_error_is_lost(cudaErrorInvalidValue));
    assert_false(cz_cuda_error_is_lost(cudaErrorInvalidConfiguration));
    assert_false(cz_cuda_error_is_lost(cudaErrorLaunchOutOfResources));
}

/* A card that the binary has no code for. */
static void other_cards(void **state) {
    (void)state;
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    fake_cuda_reset();
    fake_cuda_card.name = "Tesla V100";
    fake_cuda_card.major = 7;
    fake_cuda_card.has_code = false;
    assert_int_equal(open_device(&dev, 0, &err), CZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "Tesla V100"));
    assert_non_null(strstr(err.detail, "sm_70"));
    assert_non_null(strstr(err.detail, cz_gpu_architectures()));
    assert_non_null(strstr(err.detail, "sm_75"));
    fake_cuda_card.name = "Some Later Card";
    fake_cuda_card.major = 13;
    assert_int_equal(open_device(&dev, 0, &err), CZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "CZ_CUDA_ARCH=sm_130"));
    assert_int_equal(fake_cuda_live(), 0);
    assert_true(strncmp(cz_gpu_architectures(), "sm_", 3) == 0);
}

/* Cards with less shared memory launch the smaller shape of the additions where the binary holds it. */
static void no_card(void **state) {
    (void)state;
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    fake_cuda_reset();
    fake_cuda_card.count = 0;
    assert_int_equal(open_device(&dev, 0, &err), CZ_ERR_UNSUPPORTED);
    fake_cuda_reset();
    fake_cuda_fail(0, cudaErrorNoDevice);
    assert_int_equal(open_device(&dev, 0, &err), CZ_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.detail, "cudaErrorNoDevice"));
    fake_cuda_reset();
    fake_cuda_card.vram_free = (size_t)600 << 20;
    assert_int_equal(open_device(&dev, 0, &err), CZ_ERR_BUDGET);
}

/* A card with more memory than references to points reach: the rest is left alone, whoever asks. */
static void large_card(void **state) {
    (void)state;
    static const size_t limit[] = {0, (size_t)250 << 30};
    struct cz_gpu_card card;
    struct cz_error err = {0};
    fake_cuda_reset();
    fake_cuda_card.vram = (size_t)288 << 30;
    fake_cuda_card.vram_free = (size_t)287 << 30;
    assert_int_equal(cz_gpu_look(&card, 0, &err), CZ_OK);
    assert_true(card.vram_free == CZ_GPU_PLAN_MOST + CZ_GPU_PLAN_RESERVE);
    for (size_t i = 0; i < sizeof limit / sizeof *limit; i++) {
        const struct cz_gpu_options o = {.workers = 2, .vram_limit = limit[i], .pinned = (size_t)1 << 20};
        struct cz_device *dev = NULL;
        if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
        assert_true(fake_cuda_allocated() == CZ_GPU_PLAN_MOST);
        assert_true(fake_cuda_allocated() / 96 == (size_t)CZ_CUDA_REF_INDEX + 1);
        cz_device_destroy(dev);
    }
}

/* Tables that a failed call leaves unfinished go back when nothing writes them any more. */
static void large_tables(void **state) {
    (void)state;
    const size_t residents = cz_cuda_tables_large_bytes() + ((size_t)16 << 20);
    const struct cz_gpu_options o = {
        .workers = 1, .vram_limit = residents + ((size_t)1 << 30), .residents = residents, .pinned = (size_t)1 << 20};
    struct cz_device *dev = NULL;
    struct cz_cuda_worker *w = NULL;
    struct cz_error err = {0};
    enum cz_status status = CZ_ERR_INTERNAL;
    fake_cuda_reset();
    fake_cuda_card.vram = fake_cuda_card.vram_free = (size_t)16 << 30;
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    const size_t room = cz_cuda_resident_room(d->cuda);
    assert_int_equal(cz_cuda_take(&w, d->cuda, &err), CZ_OK);
    for (unsigned i = 0; status != CZ_OK; i++) {
        const unsigned waits = fake_cuda_calls_of("cudaStreamSynchronize");
        fake_cuda_fail(i, cudaErrorInvalidValue);
        status = cz_cuda_tables_large(d->tables, w);
        const bool failed = fake_cuda_failed();
        fake_cuda_fail(~0u, cudaSuccess);
        assert_true(failed == (status != CZ_OK));
        assert_true(fake_cuda_calls_of("cudaStreamSynchronize") > waits);
        assert_true((cz_cuda_resident_room(d->cuda) == room) == failed);
    }
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

static int prepare(void **state) {
    (void)state;
    struct session s = {0};
    xor_demo_init(&demo);
    for (size_t i = 0; i < POINTS; i++) {
        base1[i] = CZ_G1_GENERATOR;
        base2[i] = CZ_G2_GENERATOR;
        cz_g1_encode_uncompressed(g1 + 96 * i, &base1[i]);
        cz_g2_encode_uncompressed(g2 + 192 * i, &base2[i]);
        scalar[4 * i] = i;
    }
    residents_all = (size_t)256 << 20;
    session_open(&s, residents_all);
    struct cz_cuda *cuda = ((struct cz_cuda_device *)s.dev)->cuda;
    residents_few = residents_all - cz_cuda_resident_room(cuda);
    session_close(&s);
    /* Less until the points find no place, and the lists still do. */
    for (bool streams = false; !streams;) {
        struct cz_error err = {0};
        struct session t = {0};
        residents_few -= CZ_CUDA_GRAIN;
        session_open(&t, residents_few);
        const struct cz_cuda_srs *srs = (const struct cz_cuda_srs *)t.srs;
        streams = !srs->vector[CZ_CUDA_SUM_B_G2].d_point && !srs->vector[CZ_CUDA_SUM_L].d_point;
        if (streams && op_prove(&t, &err) != CZ_OK) fail_msg("%s", err.detail);
        session_close(&t);
    }
    return 0;
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        {"memory", faults, NULL, NULL, (void *)(uintptr_t)cudaErrorMemoryAllocation},
        {"launch_failure", faults, NULL, NULL, (void *)(uintptr_t)cudaErrorLaunchFailure},
        {"ecc", faults, NULL, NULL, (void *)(uintptr_t)cudaErrorECCUncorrectable},
        {"unavailable", faults, NULL, NULL, (void *)(uintptr_t)cudaErrorDevicesUnavailable},
        cmocka_unit_test(classes),
        cmocka_unit_test(other_cards),
        cmocka_unit_test(no_card),
        cmocka_unit_test(large_card),
        cmocka_unit_test(large_tables),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests(tests, prepare, NULL);
}
