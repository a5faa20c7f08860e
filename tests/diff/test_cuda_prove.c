/*
 * Transforms, h, evaluation and whole partitions on the CUDA device against the CPU device. Without a GPU it says so
 * and passes; with CZ_REQUIRE_GPU=1 it fails.
 */

#include "base/bytes.h"
#include "compute/cpu/cpu_int.h"
#include "compute/cuda/partition.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"
#include "curve/encoding.h"
#include "filecoin/input.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/*
 * The linker sends these calls through here (--wrap, tests/diff/CMakeLists.txt). While `armed` counts, none of the
 * first kind may come; calls of the second kind fail when `fail_at` reaches 0.
 */
static bool armed;
static int forbidden, fail_at = -1;
static const char *forbidden_name = "";

#define FORBID(name, params, args)                                                                                     \
    cudaError_t __real_##name params;                                                                                  \
    cudaError_t __wrap_##name params;                                                                                  \
    cudaError_t __wrap_##name params {                                                                                 \
        if (armed) forbidden++, forbidden_name = #name;                                                                \
        return __real_##name args;                                                                                     \
    }
FORBID(cudaMalloc, (void **p, size_t n), (p, n))
FORBID(cudaFree, (void *p), (p))
FORBID(cudaHostRegister, (void *p, size_t n, unsigned flags), (p, n, flags))
FORBID(cudaDeviceSynchronize, (void), ())
FORBID(cudaMemGetInfo, (size_t * a, size_t *b), (a, b))
FORBID(cudaMemcpy, (void *d, const void *s, size_t n, enum cudaMemcpyKind k), (d, s, n, k))
FORBID(cudaMemset, (void *d, int v, size_t n), (d, v, n))

static bool fails(void) {
    return __atomic_load_n(&fail_at, __ATOMIC_RELAXED) >= 0 && __atomic_fetch_sub(&fail_at, 1, __ATOMIC_RELAXED) == 0;
}
#define INJECT(name, params, args, stream)                                                                             \
    cudaError_t __real_##name params;                                                                                  \
    cudaError_t __wrap_##name params;                                                                                  \
    cudaError_t __wrap_##name params {                                                                                 \
        if (armed && !(stream)) forbidden++, forbidden_name = #name " on the default stream";                          \
        return fails() ? cudaErrorInvalidValue : __real_##name args;                                                   \
    }
INJECT(cudaMemcpyAsync, (void *d, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t st), (d, s, n, k, st),
       st)
INJECT(cudaMemsetAsync, (void *d, int v, size_t n, cudaStream_t st), (d, v, n, st), st)
INJECT(cudaEventRecord, (cudaEvent_t e, cudaStream_t st), (e, st), st)
INJECT(cudaStreamWaitEvent, (cudaStream_t st, cudaEvent_t e, unsigned flags), (st, e, flags), st)
/* What nvcc makes of <<<>>>. A launch that fails is seen by the question after it. */
static _Thread_local bool launch_failed;
cudaError_t __real___cudaLaunchKernel(void *f, dim3 g, dim3 b, void **a, size_t sh, cudaStream_t st);
cudaError_t __wrap___cudaLaunchKernel(void *f, dim3 g, dim3 b, void **a, size_t sh, cudaStream_t st);
cudaError_t __wrap___cudaLaunchKernel(void *f, dim3 g, dim3 b, void **a, size_t sh, cudaStream_t st) {
    if (armed && !st) forbidden++, forbidden_name = "a launch on the default stream";
    launch_failed = fails();
    return launch_failed ? cudaErrorInvalidValue : __real___cudaLaunchKernel(f, g, b, a, sh, st);
}
#define ASK(name)                                                                                                      \
    cudaError_t __real_##name(void);                                                                                   \
    cudaError_t __wrap_##name(void);                                                                                   \
    cudaError_t __wrap_##name(void) {                                                                                  \
        const bool failed = launch_failed;                                                                             \
        launch_failed = false;                                                                                         \
        return failed ? cudaErrorInvalidValue : __real_##name();                                                       \
    }
ASK(cudaGetLastError)
ASK(cudaPeekAtLastError)

static struct cz_pool *pool;
static struct cz_device *cpu;

static struct cz_device *open_device(size_t vram_limit, size_t residents, unsigned workers) {
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    struct cz_gpu_options o = {.workers = workers, .vram_limit = vram_limit, .residents = residents, .pairs = true};
    if (cz_gpu_create(&dev, &o, pool, &err) != CZ_OK) fail_msg("%s", err.detail);
    return dev;
}

static void random_fr(struct cz_fr *r, uint64_t *seed) {
    for (int i = 0; i < 4; i++) r->l[i] = test_random(seed);
    r->l[3] %= CZ_FR_MODULUS[3];
}

static void random_frs(struct cz_fr *v, size_t n, uint64_t *seed) {
    for (size_t i = 0; i < n; i++) random_fr(&v[i], seed);
    /* Values whose limbs are extreme; r - 1 in Montgomery form among them. */
    for (size_t i = 0; i < n && i < 3; i++) v[i] = i ? (struct cz_fr){{0}} : CZ_FR_ONE;
    if (n > 3) {
        for (int i = 0; i < 4; i++) v[3].l[i] = CZ_FR_MODULUS[i];
        v[3].l[0]--;
    }
}

static void transforms(void **state) {
    (void)state;
    struct cz_device *dev = open_device((size_t)3 << 30, 0, 1);
    for (unsigned k = 0; k <= 20; k++) {
        const size_t n = (size_t)1 << k;
        struct cz_fr *v = cz_calloc(n, sizeof *v), *want = cz_calloc(n, sizeof *v), *in = cz_calloc(n, sizeof *v);
        uint64_t seed = k + 1;
        assert_true(v && want && in);
        random_frs(in, n, &seed);
        for (int kind = 0; kind < 4; kind++) {
            memcpy(v, in, n * sizeof *v);
            memcpy(want, in, n * sizeof *v);
            assert_int_equal(cz_device_ntt(cpu, want, k, (enum cz_ntt_kind)kind), CZ_OK);
            assert_int_equal(cz_device_ntt(dev, v, k, (enum cz_ntt_kind)kind), CZ_OK);
            if (memcmp(v, want, n * sizeof *v) != 0) fail_msg("2^%u, kind %d differs", k, kind);
        }
        cz_free(v);
        cz_free(want);
        cz_free(in);
    }
    cz_device_destroy(dev);
}

static void quotients(void **state) {
    (void)state;
    static const unsigned log2n[] = {1, 3, 6, 9, 10, 13, 18, 19};
    struct cz_device *dev = open_device((size_t)3 << 30, 0, 1);
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    for (size_t t = 0; t < sizeof log2n / sizeof *log2n; t++) {
        const unsigned k = log2n[t];
        const size_t n = (size_t)1 << k;
        struct cz_fr *v[3], *x[4], factor;
        struct cz_cuda_worker *w;
        uint64_t seed = k + 77;
        assert_int_equal(cz_cuda_take(&w, d->cuda, NULL), CZ_OK);
        for (int i = 0; i < 4; i++) {
            x[i] = cz_cuda_mem(w, n, sizeof **x);
            assert_non_null(x[i]);
            if (i == 3) break;
            v[i] = cz_calloc(n, sizeof **v);
            random_frs(v[i], n, &seed);
            assert_int_equal(cz_cuda_upload(w, x[i], v[i], n * sizeof **v), CZ_OK);
        }
        assert_int_equal(cz_cuda_ntt_quotient(w, d->tables, &factor, x[0], x[1], x[2], k, false), CZ_OK);
        assert_int_equal(cz_cuda_ntt_reorder(w, x[3], x[0], k, true), CZ_OK);
        struct cz_fr *got = cz_calloc(n, sizeof *got);
        assert_int_equal(cz_cuda_download(w, got, x[3], n * sizeof *got), CZ_OK);
        cz_cuda_give(w);
        assert_int_equal(cz_cpu_ntt()->quotient(pool, v[0], v[1], v[2], k), CZ_OK);
        cz_fr_scale_n(got, got, &factor, n);
        cz_fr_to_limbs_n(&got[0].l[0], got, n);
        if (memcmp(got, v[1], n * sizeof *got) != 0) fail_msg("2^%u differs", k);
        for (int i = 0; i < 3; i++) cz_free(v[i]);
        cz_free(got);
    }
    cz_device_destroy(dev);
}

/* h at 2^27 by the tables of that size alone against the passes that every size uses. 30 GiB of device memory. */
static void quotient_large(void **state) {
    (void)state;
    const size_t n = (size_t)1 << 27, piece = (size_t)1 << 20;
    struct cz_device *dev = open_device((size_t)40 << 30, (size_t)14 << 30, 1);
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    struct cz_cuda_worker *w;
    struct cz_fr factor, *x[6], *v = cz_calloc(piece, sizeof *v), *u = cz_calloc(piece, sizeof *u);
    uint64_t seed = 5;
    assert_true(v && u);
    assert_int_equal(cz_cuda_take(&w, d->cuda, NULL), CZ_OK);
    assert_int_equal(cz_cuda_tables_large(d->tables, w), CZ_OK);
    for (int i = 0; i < 6; i++) assert_non_null(x[i] = cz_cuda_mem(w, n, sizeof *v));
    random_frs(v, piece, &seed);
    for (int i = 0; i < 3; i++)
        for (size_t at = 0; at < n; at += piece) {
            v[at % 7].l[0] ^= at; /* pieces that differ, without another random filling */
            random_fr(&v[i], &seed);
            assert_int_equal(cz_cuda_upload(w, x[i] + at, v, piece * sizeof *v), CZ_OK);
            assert_int_equal(cz_cuda_upload(w, x[i + 3] + at, v, piece * sizeof *v), CZ_OK);
        }
    assert_int_equal(cz_cuda_ntt_quotient(w, d->tables, &factor, x[0], x[1], x[2], 27, false), CZ_OK);
    assert_int_equal(cz_cuda_ntt_quotient(w, d->tables, &factor, x[3], x[4], x[5], 27, true), CZ_OK);
    for (size_t at = 0; at < n; at += 8 * piece) {
        assert_int_equal(cz_cuda_download(w, v, x[0] + at, piece * sizeof *v), CZ_OK);
        assert_int_equal(cz_cuda_download(w, u, x[3] + at, piece * sizeof *v), CZ_OK);
        if (memcmp(u, v, piece * sizeof *v) != 0) fail_msg("differs from %zu on", at);
    }
    cz_cuda_give(w);
    cz_free(u);
    cz_free(v);
    cz_device_destroy(dev);
}

static struct cz_r1cs *build(enum cz_circuit_kind kind) {
    struct cz_r1cs *r1cs = NULL;
    struct cz_error err = {0};
    if (cz_input_circuit_build(&r1cs, kind, cz_sector_by_size(2048), &err) != CZ_OK) fail_msg("%s", err.detail);
    return r1cs;
}

static void random_witness(struct cz_witness *w, const struct cz_r1cs *r1cs, uint64_t seed) {
    assert_int_equal(cz_witness_init(w, r1cs), CZ_OK);
    for (size_t i = 0; i < (w->num_bits + 63) / 64; i++) w->bit[i] = test_random(&seed);
    if (w->num_bits % 64) w->bit[w->num_bits / 64] &= (UINT64_C(1) << w->num_bits % 64) - 1;
    random_frs(w->elem, w->num_elems, &seed);
    for (uint32_t i = 1; i < w->num_inputs; i++) random_fr(&w->input[i], &seed);
}

static void evaluation(void **state) {
    const enum cz_circuit_kind kind = (enum cz_circuit_kind)(uintptr_t)*state;
    struct cz_r1cs *r1cs = build(kind);
    struct cz_witness witness;
    struct cz_device *dev = open_device((size_t)3 << 30, 0, 1);
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    struct cz_cuda_worker *w;
    struct cz_cuda_circuit circuit;
    struct cz_cuda_witness dw;
    const size_t n = (size_t)1 << cz_r1cs_domain_log2(r1cs), words = ((size_t)r1cs->num_aux + 63) / 64;
    struct cz_fr *want[3], *x[3], *got = cz_calloc(n, sizeof *got);
    random_witness(&witness, r1cs, 11);
    assert_int_equal(cz_cuda_take(&w, d->cuda, NULL), CZ_OK);
    if (cz_cuda_circuit_create(&circuit, w, r1cs) != CZ_OK) fail_msg("%s", w->err.detail);
    assert_int_equal(cz_cuda_witness_upload(&dw, w, &circuit, &witness), CZ_OK);
    uint64_t *d_value = cz_cuda_mem(w, words, 8), *value = cz_calloc(words, 8);
    for (int i = 0; i < 3; i++) {
        want[i] = cz_calloc(n, sizeof **want);
        x[i] = cz_cuda_mem(w, n, sizeof **x);
        assert_true(x[i] && want[i]);
        assert_int_equal(cudaMemsetAsync(x[i], 0x55, n * sizeof **x, w->stream), cudaSuccess);
    }
    assert_int_equal(cz_cuda_expand(w, &circuit, &dw, d_value), CZ_OK);
    assert_int_equal(cz_cuda_eval(w, &circuit, &dw, x[0], x[1], x[2]), CZ_OK);
    cz_witness_eval(want[0], want[1], want[2], &witness, r1cs, 0, r1cs->num_instances);
    memcpy(want[0] + r1cs->num_constraints, witness.input, witness.num_inputs * sizeof **want);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(cz_cuda_download(w, got, x[i], n * sizeof *got), CZ_OK);
        for (size_t k = 0; k < n; k++)
            if (!cz_fr_eq(&got[k], &want[i][k])) fail_msg("%c, row %zu", "abc"[i], k);
        cz_free(want[i]);
    }
    assert_int_equal(cz_cuda_download(w, value, d_value, words * 8), CZ_OK);
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        uint32_t slot;
        const bool is_bit = cz_r1cs_aux_slot(r1cs, i, &slot);
        const bool expect = is_bit && (witness.bit[slot / 64] >> slot % 64 & 1);
        if ((value[i / 64] >> i % 64 & 1) != expect) fail_msg("bit of aux %u", i);
    }
    cz_cuda_circuit_destroy(&circuit, d->cuda);
    cz_cuda_give(w);
    cz_device_destroy(dev);
    cz_free(value);
    cz_free(got);
    cz_witness_done(&witness);
    cz_r1cs_destroy(r1cs);
}

/* Points to the counts of a circuit: 1009 different ones over and over. */
struct fake_params {
    struct cz_srs_view view;
    uint8_t *g1, *g2;
};

static void fake_params_make(struct fake_params *f, const struct cz_r1cs *r1cs) {
    enum { DIFFERENT = 1009 };
    const size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64, input_words = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *a = cz_calloc(aux_words, 8), *b = cz_calloc(aux_words, 8), *in = cz_calloc(input_words, 8);
    cz_r1cs_density(r1cs, a, b, in);
    struct cz_srs_view *v = &f->view;
    v->num_h = (1u << cz_r1cs_domain_log2(r1cs)) - 1;
    v->num_l = r1cs->num_aux;
    v->num_a = (uint32_t)(r1cs->num_inputs + cz_device_popcount(a, r1cs->num_aux));
    v->num_b = (uint32_t)(cz_device_popcount(in, r1cs->num_inputs) + cz_device_popcount(b, r1cs->num_aux));
    size_t most = v->num_h > v->num_l ? v->num_h : v->num_l;
    if (v->num_a > most) most = v->num_a;
    f->g1 = cz_calloc(most + 4, 96);
    f->g2 = cz_calloc((size_t)v->num_b + 1, 192);
    assert_true(f->g1 && f->g2);
    struct cz_g1 p1, s1;
    struct cz_g2 p2, s2;
    struct cz_g1_affine a1;
    struct cz_g2_affine a2;
    cz_g1_from_affine(&s1, &CZ_G1_GENERATOR);
    cz_g2_from_affine(&s2, &CZ_G2_GENERATOR);
    p1 = s1;
    p2 = s2;
    for (size_t i = 0; i < most + 4; i++) {
        if (i >= DIFFERENT) {
            memcpy(f->g1 + 96 * i, f->g1 + 96 * (i - DIFFERENT), 96);
            continue;
        }
        cz_g1_to_affine(&a1, &p1);
        cz_g1_encode_uncompressed(f->g1 + 96 * i, &a1);
        cz_g1_add(&p1, &p1, &s1);
    }
    for (size_t i = 0; i < v->num_b; i++) {
        if (i >= DIFFERENT) {
            memcpy(f->g2 + 192 * i, f->g2 + 192 * (i - DIFFERENT), 192);
            continue;
        }
        cz_g2_to_affine(&a2, &p2);
        cz_g2_encode_uncompressed(f->g2 + 192 * i, &a2);
        cz_g2_add(&p2, &p2, &s2);
    }
    v->h = f->g1;
    v->l = f->g1 + 96;
    v->a = f->g1 + 2 * 96;
    v->b_g1 = f->g1 + 3 * 96;
    v->b_g2 = f->g2;
    cz_free(a);
    cz_free(b);
    cz_free(in);
}

static bool same(const struct cz_partition_sums *x, const struct cz_partition_sums *y, char which[6]) {
    const bool good[5] = {cz_g1_eq(&x->h, &y->h), cz_g1_eq(&x->l, &y->l), cz_g1_eq(&x->a, &y->a),
                          cz_g1_eq(&x->b_g1, &y->b_g1), cz_g2_eq(&x->b_g2, &y->b_g2)};
    size_t n = 0;
    for (int i = 0; i < 5; i++)
        if (!good[i]) which[n++] = "hlab2"[i];
    which[n] = 0;
    return n == 0;
}

/* Resident; with room for half of the vectors; with none, in small buffers. Then two threads on two workers. */
struct thread_arg {
    struct cz_srs *srs;
    const struct cz_witness *witness;
    struct cz_partition_sums sums;
    enum cz_status status;
};
static void *prove_thread(void *ctx) {
    struct thread_arg *t = ctx;
    t->status = cz_device_prove_partition(&t->sums, NULL, t->srs, t->witness, NULL);
    return NULL;
}

/* Enough for the MSM of half of n points, too little for all of them. */
static size_t room_of_half(size_t n) {
    struct cz_device *dev = open_device((size_t)1 << 30, 0, 1);
    const struct cz_cuda_info *info = cz_cuda_device_info(((struct cz_cuda_device *)dev)->cuda);
    size_t all, half, best;
    cz_cuda_msm_bytes(&all, &best, info, CZ_CUDA_G1, n);
    cz_cuda_msm_bytes(&half, &best, info, CZ_CUDA_G1, (n + 1) / 2);
    const size_t room = half + (all - half) / 2;
    assert_int_equal(cz_cuda_partition_part(info, CZ_CUDA_G1, n, 0, room), (n + 1) / 2);
    cz_device_destroy(dev);
    return room;
}

static void partitions(void **state) {
    const enum cz_circuit_kind kind = (enum cz_circuit_kind)(uintptr_t)*state;
    struct cz_r1cs *r1cs = build(kind);
    struct fake_params params = {0};
    struct cz_witness witness;
    struct cz_partition_sums want, got;
    struct cz_error err = {0};
    struct cz_srs *srs;
    char which[6];
    fake_params_make(&params, r1cs);
    random_witness(&witness, r1cs, 23);
    assert_int_equal(cz_srs_create(&srs, cpu, r1cs, &params.view, &err), CZ_OK);
    assert_int_equal(cz_device_prove_partition(&want, NULL, srs, &witness, &err), CZ_OK);
    cz_srs_destroy(srs);
    const size_t mib = (size_t)1 << 20, lists = cz_cuda_circuit_bytes(r1cs) + (size_t)r1cs->num_aux / 2 + 6 * mib;
    const size_t n = (size_t)1 << cz_r1cs_domain_log2(r1cs);
    const struct cz_srs_view *v = &params.view;
    const size_t vectors = (size_t)100 * n + 96 * ((size_t)v->num_l + v->num_a + v->num_b) + (size_t)192 * v->num_b;
    const size_t pairs_l = (size_t)48 * v->num_l;
    const size_t with_l = lists + vectors + pairs_l;
    /* With all sums of neighbours; with no others than H and one more; with the least; with those of L, twice. */
    const size_t residents[] = {4096 * mib, lists + 2 * 96 * n, lists, with_l, with_l};
    /* The last has a worker that is too small for the MSM of h at once. */
    const int cases = kind == CZ_CIRCUIT_POREP ? 5 : 4;
    const size_t room = cases == 5 ? room_of_half(n - 1) : 0;
    struct cz_gpu_plan plan;
    assert_int_equal(cz_gpu_plan_make(&plan, r1cs, 64 * 1024 * mib, 1, &err), CZ_OK);
    for (int i = 0; i < cases; i++) {
        const unsigned workers = i == 0 ? 2 : 1;
        /* The sums' scratch alone is some 900 MiB on a card of this size. */
        const size_t worker = i == 4 ? plan.witness + 32 * n + room : (i == 2 ? 1400 : 6000) * mib + 3 * 32 * n;
        struct cz_device *dev = open_device(residents[i] + workers * worker, residents[i], workers);
        if (cz_srs_create(&srs, dev, r1cs, &params.view, &err) != CZ_OK) fail_msg("%d: %s", i, err.detail);
        const struct cz_cuda_srs *s = (const struct cz_cuda_srs *)srs;
        assert_true(i > 0 || (s->h.d_point && s->vector[CZ_CUDA_SUM_B_G2].d_point));
        for (int sum = 0; sum < CZ_CUDA_SUMS_OF_BITS; sum++) assert_true(i > 0 || s->vector[sum].d_pair);
        assert_true(i < 3 || s->vector[CZ_CUDA_SUM_L].d_pair);
        assert_true(i == 0 || !s->vector[CZ_CUDA_SUM_A].d_pair || !s->vector[CZ_CUDA_SUM_B_G2].d_pair);
        /* With the least room some vectors are streamed, whichever still found a place. */
        assert_true(i != 2 || !s->h.d_point || !s->vector[CZ_CUDA_SUM_L].d_point);
        for (int run = 0; run < 2; run++) {
            armed = true;
            enum cz_status status = cz_device_prove_partition(&got, NULL, srs, &witness, &err);
            armed = false;
            if (status != CZ_OK) fail_msg("%d: %s", i, err.detail);
            if (forbidden) fail_msg("%d calls that stop the device, %s the last", forbidden, forbidden_name);
            if (!same(&got, &want, which)) fail_msg("residents %d: sums %s differ", i, which);
        }
        /*
         * Every call fails once: the partition fails with the error's name, and the next one works.
         */
        const int step = kind == CZ_CIRCUIT_WINNING ? 1 : 37;
        const bool faults = kind != CZ_CIRCUIT_WINDOW && (i == 0 || i == 2); /* the sanitizer's case is short */
        int tries = 0, refused = 0;
        for (bool reached = faults; reached; tries++) {
            struct cz_error e = {0};
            fail_at = tries * step;
            enum cz_status status = cz_device_prove_partition(&got, NULL, srs, &witness, &e);
            reached = fail_at < 0;
            fail_at = -1;
            if (reached == (status == CZ_OK)) fail_msg("call %d failed, the partition did not", tries * step);
            if (status != CZ_OK && !strstr(e.detail, "cudaErrorInvalidValue")) fail_msg("no name: %s", e.detail);
            refused += status != CZ_OK;
            if (tries > 5000) fail_msg("no end");
        }
        if (tries)
            print_message("residents %d: %d calls failed one by one, %d partitions refused\n", i, tries - 1, refused);
        assert_int_equal(cz_device_prove_partition(&got, NULL, srs, &witness, &err), CZ_OK);
        assert_true(same(&got, &want, which));
        if (i == 0) {
            struct thread_arg arg[2] = {{.srs = srs, .witness = &witness}, {.srs = srs, .witness = &witness}};
            pthread_t thread[2];
            for (int t = 0; t < 2; t++) assert_int_equal(pthread_create(&thread[t], NULL, prove_thread, &arg[t]), 0);
            for (int t = 0; t < 2; t++) {
                (void)pthread_join(thread[t], NULL);
                assert_int_equal(arg[t].status, CZ_OK);
                assert_true(same(&arg[t].sums, &want, which));
            }
        }
        cz_srs_destroy(srs);
        cz_device_destroy(dev);
    }
    cz_witness_done(&witness);
    cz_free(params.g1);
    cz_free(params.g2);
    cz_r1cs_destroy(r1cs);
}

int main(int argc, char **argv) {
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    const struct cz_gpu_options o = {.workers = 1, .vram_limit = (size_t)1 << 30};
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) {
        printf("no GPU: %s\n", err.detail);
        return getenv("CZ_REQUIRE_GPU") ? 1 : 0;
    }
    cz_device_destroy(dev);
    if (cz_pool_create(&pool, 0) != CZ_OK || cz_device_create_cpu(&cpu, pool) != CZ_OK) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms),
        cmocka_unit_test(quotients),
        {"evaluation_winning", evaluation, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINNING},
        {"evaluation_window", evaluation, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINDOW},
        {"evaluation_porep", evaluation, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_POREP},
        {"partition_window", partitions, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINDOW},
        {"partition_winning", partitions, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_WINNING},
        {"partition_porep", partitions, NULL, NULL, (void *)(uintptr_t)CZ_CIRCUIT_POREP},
        cmocka_unit_test(quotient_large),
    };
    if (argc > 1) cmocka_set_test_filter(argv[1]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    cz_device_destroy(cpu);
    cz_pool_destroy(pool);
    return failed;
}
