/*
 * Every case of the table on the CUDA device, with room and with little memory; then what only the device's own
 * interface offers. Without a GPU it says so and passes; with CZ_REQUIRE_GPU=1 it fails.
 */

#include "base/bytes.h"
#include "compute/cuda/device_cuda.h"
#include "compute/cuda/kernels.h"
#include "compute/cuda/points.h"
#include "compute/cuda/xyzz.h"
#include "compute/gpu.h"
#include "curve/encoding.h"
#include "diff/cases.h"
#include "diff/forbidden.h"
#include "support.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TESTS 160

struct bound_case {
    const struct diff_case *c;
    size_t vram_limit;
    char name[80];
};

static struct cz_device *open_device(size_t vram_limit) {
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    struct cz_gpu_options o = {.workers = 1, .vram_limit = vram_limit, .residents = vram_limit / 16};
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
    return dev;
}

static void run_case(void **state) {
    const struct bound_case *b = *state;
    struct cz_device *dev = open_device(b->vram_limit);
    assert_true(b->c->run(dev));
    cz_device_destroy(dev);
}

/* n points (3 + 7i)·G, on the host. */
static struct cz_g1_affine *make_points(size_t n) {
    struct cz_g1_affine *p = cz_calloc(n, sizeof *p);
    struct cz_g1 *j = cz_calloc(n, sizeof *j), g, step;
    struct cz_fp *scratch = cz_calloc(n, sizeof *scratch);
    struct cz_fr k;
    assert_true(p && j && scratch);
    cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
    cz_fr_from_u64(&k, 3);
    cz_g1_mul(&j[0], &g, &k);
    cz_fr_from_u64(&k, 7);
    cz_g1_mul(&step, &g, &k);
    for (size_t i = 1; i < n; i++) cz_g1_add(&j[i], &j[i - 1], &step);
    cz_g1_to_affine_n(p, j, scratch, n);
    cz_free(j);
    cz_free(scratch);
    return p;
}

static bool is_multiple(const struct cz_g1 *p, const struct cz_fr *k) {
    struct cz_g1 g;
    cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
    cz_g1_mul(&g, &g, k);
    return cz_g1_eq(&g, p);
}

/* A mask picks which positions have a point; the value which of those are added. */
static void masked_bits(void **state) {
    (void)state;
    enum { N = 70001, WORDS = (N + 63) / 64 };
    struct cz_device *dev = open_device((size_t)2 << 30);
    struct cz_cuda_worker *w;
    assert_int_equal(cz_cuda_take(&w, ((struct cz_cuda_device *)dev)->cuda, NULL), CZ_OK);
    uint64_t *value = cz_calloc(WORDS, 8), *mask = cz_calloc(WORDS, 8), seed = 3;
    struct cz_g1_affine *host = make_points(N);
    for (int first = 0; first < 3; first += 2) {
        for (int i = 0; i < WORDS; i++)
            value[i] = test_random(&seed), mask[i] = test_random(&seed) | test_random(&seed);
        struct cz_fr sum = CZ_FR_ZERO, k;
        size_t rank = 0;
        for (size_t i = 0; i < N; i++) {
            if (!(mask[i / 64] >> (i % 64) & 1)) continue;
            cz_fr_from_u64(&k, 3 + 7 * (rank++ + (size_t)first));
            if (value[i / 64] >> (i % 64) & 1) cz_fr_add(&sum, &sum, &k);
        }
        struct cz_cuda_mark mark = cz_cuda_mark(w);
        void *d_point = cz_cuda_mem(w, N, 96);
        uint64_t *d_value = cz_cuda_mem(w, WORDS, 8), *d_mask = cz_cuda_mem(w, WORDS, 8);
        assert_true(d_point && d_value && d_mask);
        assert_int_equal(cz_cuda_upload(w, d_point, host, N * sizeof *host), CZ_OK);
        assert_int_equal(cz_cuda_upload(w, d_value, value, WORDS * 8), CZ_OK);
        assert_int_equal(cz_cuda_upload(w, d_mask, mask, WORDS * 8), CZ_OK);
        assert_int_equal(cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d_point, d_point, N, false), CZ_OK);
        struct cz_g1 out;
        assert_int_equal(cz_cuda_bitsum(&out, w, CZ_CUDA_G1, d_point, (size_t)first, d_value, d_mask, N), CZ_OK);
        assert_true(is_multiple(&out, &sum));
        cz_cuda_release(w, mark);
    }
    cz_free(value);
    cz_free(mask);
    cz_free(host);
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

/* Scalars in Montgomery form for points picked by an index list. */
static void indexed_montgomery(void **state) {
    (void)state;
    enum { POINTS = 3000, N = 5000 };
    struct cz_device *dev = open_device((size_t)2 << 30);
    struct cz_cuda_worker *w;
    assert_int_equal(cz_cuda_take(&w, ((struct cz_cuda_device *)dev)->cuda, NULL), CZ_OK);
    struct cz_g1_affine *host = make_points(POINTS);
    uint32_t *index = cz_calloc(N, 4);
    struct cz_fr *scalar = cz_calloc(N, sizeof *scalar), sum = CZ_FR_ZERO, t;
    for (size_t i = 0; i < N; i++) {
        index[i] = (uint32_t)(i * 77 % POINTS);
        cz_fr_from_u64(&scalar[i], i + 2);
        cz_fr_inv(&scalar[i], &scalar[i]);
        if (i % 9 == 0) cz_fr_neg(&scalar[i], &CZ_FR_ONE);
        if (i % 11 == 0) scalar[i] = CZ_FR_ZERO;
        cz_fr_from_u64(&t, 3 + 7 * index[i]);
        cz_fr_mul(&t, &t, &scalar[i]);
        cz_fr_add(&sum, &sum, &t);
    }
    void *d_point = cz_cuda_mem(w, POINTS, 96);
    uint32_t *d_index = cz_cuda_mem(w, N, 4), *d_scalar = cz_cuda_mem(w, N, 32);
    assert_true(d_point && d_index && d_scalar);
    assert_int_equal(cz_cuda_upload(w, d_point, host, POINTS * sizeof *host), CZ_OK);
    assert_int_equal(cz_cuda_upload(w, d_index, index, N * 4), CZ_OK);
    assert_int_equal(cz_cuda_upload(w, d_scalar, scalar, N * 32), CZ_OK);
    assert_int_equal(cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d_point, d_point, POINTS, false), CZ_OK);
    struct cz_g1 out;
    assert_int_equal(cz_cuda_msm(&out, w, CZ_CUDA_G1, d_point, d_index, d_scalar, N, true), CZ_OK);
    assert_true(is_multiple(&out, &sum));
    cz_free(host);
    cz_free(index);
    cz_free(scalar);
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

/* Precomputed multiples and pairs, several shapes, against the known exponents. */
static void fixed_bases(void **state) {
    (void)state;
    enum { N = 4099, WORDS = (N + 63) / 64 };
    static const unsigned shape[][2] = {{2, 0}, {3, 24}, {5, 20}, {8, 16}, {11, 11}, {16, 16}, {16, 32}, {13, 0}};
    struct cz_device *dev = open_device((size_t)6 << 30);
    struct cz_cuda_worker *w;
    assert_int_equal(cz_cuda_take(&w, ((struct cz_cuda_device *)dev)->cuda, NULL), CZ_OK);
    struct cz_g1_affine *host = make_points(N);
    struct cz_fr *scalar = cz_calloc(N, sizeof *scalar), sum = CZ_FR_ZERO, t, k;
    memset(&host[17], 0, sizeof host[17]);
    uint64_t value[WORDS], seed = 12;
    for (size_t i = 0; i < N; i++) {
        cz_fr_from_u64(&scalar[i], i + 2);
        cz_fr_inv(&scalar[i], &scalar[i]);
        if (i % 9 == 0) cz_fr_neg(&scalar[i], &CZ_FR_ONE);
        if (i % 11 == 0) cz_fr_from_u64(&scalar[i], i % 3);
        if (i == 17) continue;
        cz_fr_from_u64(&k, 3 + 7 * i);
        cz_fr_mul(&t, &k, &scalar[i]);
        cz_fr_add(&sum, &sum, &t);
    }
    uint8_t *d_point = cz_cuda_mem(w, 16 * N, 96);
    uint32_t *d_scalar = cz_cuda_mem(w, N, 32);
    assert_true(d_point && d_scalar);
    assert_int_equal(cz_cuda_upload(w, d_scalar, scalar, N * 32), CZ_OK);
    for (size_t i = 0; i < sizeof shape / sizeof shape[0]; i++) {
        struct cz_g1 out;
        assert_int_equal(cz_cuda_upload(w, d_point, host, N * sizeof *host), CZ_OK);
        assert_int_equal(cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d_point, d_point, N, false), CZ_OK);
        assert_int_equal(cz_cuda_msm_multiples(w, d_point, shape[i][0], N), CZ_OK);
        assert_int_equal(
            cz_cuda_msm_tables(&out, w, CZ_CUDA_G1, d_point, shape[i][0], shape[i][1], NULL, d_scalar, N, true), CZ_OK);
        if (!is_multiple(&out, &sum)) fail_msg("%u tables, %u windows", shape[i][0], shape[i][1]);
    }
    static const size_t size[] = {1, 2, 63, 64, 65, 127, N - 1, N};
    uint64_t *d_value = cz_cuda_mem(w, WORDS, 8);
    void *d_pair = d_point + (size_t)2 * N * 96;
    assert_non_null(d_value);
    for (int i = 0; i < WORDS; i++) value[i] = test_random(&seed);
    value[3] = UINT64_MAX;
    value[4] = 0;
    assert_int_equal(cz_cuda_upload(w, d_value, value, sizeof value), CZ_OK);
    for (size_t j = 0; j < sizeof size / sizeof size[0]; j++) {
        struct cz_g1 out;
        sum = CZ_FR_ZERO;
        for (size_t i = 0; i < size[j]; i++) {
            cz_fr_from_u64(&k, 3 + 7 * i);
            if (i != 17 && value[i / 64] >> (i % 64) & 1) cz_fr_add(&sum, &sum, &k);
        }
        assert_int_equal(cz_cuda_bit_pairs(w, CZ_CUDA_G1, d_pair, d_point, size[j]), CZ_OK);
        assert_int_equal(cz_cuda_bitsum_pairs(&out, w, CZ_CUDA_G1, d_point, d_pair, d_value, size[j]), CZ_OK);
        if (!is_multiple(&out, &sum)) fail_msg("pairs of %zu points", size[j]);
    }
    cz_free(host);
    cz_free(scalar);
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

/* Encoded points as in .params files come out as the host's conversion has them. */
static void encoded_points(void **state) {
    (void)state;
    enum { N = 700 };
    struct cz_device *dev = open_device((size_t)1 << 30);
    struct cz_cuda_worker *w;
    assert_int_equal(cz_cuda_take(&w, ((struct cz_cuda_device *)dev)->cuda, NULL), CZ_OK);
    struct cz_g1_affine *host = make_points(N), *back = cz_calloc(N, sizeof *back);
    uint8_t *bytes = cz_calloc(N, 96);
    for (size_t i = 0; i < N; i++) {
        cz_fp_to_be(bytes + 96 * i, &host[i].x);
        cz_fp_to_be(bytes + 96 * i + 48, &host[i].y);
    }
    memset(bytes + 96 * 5, 0, 96);
    bytes[96 * 5] = 0x40;
    void *d = cz_cuda_mem(w, N, 96);
    assert_non_null(d);
    assert_int_equal(cz_cuda_upload(w, d, bytes, 96 * N), CZ_OK);
    assert_int_equal(cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d, d, N, true), CZ_OK);
    assert_int_equal(cudaMemcpyAsync(back, d, 96 * N, cudaMemcpyDeviceToHost, w->stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(w->stream), cudaSuccess);
    for (size_t i = 0; i < N; i++) {
        if (i == 5)
            assert_true(back[i].x.l[5] >> 32 == 0xffffffff);
        else
            assert_memory_equal(&back[i], &host[i], 96);
    }
    cz_free(host);
    cz_free(back);
    cz_free(bytes);
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

/* The addition kernel alone: every kind of pair, both signs, as many as fill several steps of a thread. */
static void additions(void **state) {
    (void)state;
    enum { POINTS = 64, N = 300000 };
    struct cz_device *dev = open_device((size_t)2 << 30);
    struct cz_cuda_worker *w;
    assert_int_equal(cz_cuda_take(&w, ((struct cz_cuda_device *)dev)->cuda, NULL), CZ_OK);
    struct cz_g1_affine *host = make_points(POINTS), *back = cz_calloc(N, sizeof *back), want, sum[POINTS][POINTS][2];
    memset(&host[7], 0, sizeof host[7]);
    memset(&host[20], 0, sizeof host[20]);
    for (size_t i = 0; i < POINTS; i++) {
        for (size_t j = 0; j < POINTS; j++) {
            for (int neg = 0; neg < 2; neg++) {
                struct cz_g1 a, b;
                struct cz_g1_affine minus;
                cz_g1_affine_neg(&minus, &host[j]);
                cz_g1_from_affine(&a, &host[i]);
                cz_g1_from_affine(&b, neg ? &minus : &host[j]);
                cz_g1_add(&a, &a, &b);
                cz_g1_to_affine(&sum[i][j][neg], &a);
            }
        }
    }
    uint8_t *d_point = cz_cuda_mem(w, POINTS, 96), *d_sum = cz_cuda_mem(w, N, 96);
    struct cz_cuda_job *job = cz_calloc(N, sizeof *job), *d_job = cz_cuda_mem(w, N, sizeof *job);
    void *scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), CZ_CUDA_G1), 1);
    assert_true(back && job && d_point && d_sum && d_job && scratch);
    const uint32_t ref = cz_cuda_ref(w, CZ_CUDA_G1, d_point);
    uint64_t seed = 9;
    for (uint32_t i = 0; i < N; i++) {
        uint64_t r = test_random(&seed);
        job[i] =
            (struct cz_cuda_job){(ref + (uint32_t)(r % POINTS)) | (uint32_t)(r >> 40 & 1) << 31,
                                 (ref + (uint32_t)(r / POINTS % POINTS)) | (uint32_t)(r >> 41 & 1) << 31, 2 * i, 0};
    }
    assert_int_equal(cz_cuda_upload(w, d_point, host, POINTS * sizeof *host), CZ_OK);
    assert_int_equal(cz_cuda_upload(w, d_job, job, N * sizeof *job), CZ_OK);
    assert_int_equal(cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d_point, d_point, POINTS, false), CZ_OK);
    for (uint32_t n = 1; n <= N; n = n < 100 ? n * 33 : n * 91) {
        assert_int_equal(cudaMemsetAsync(d_sum, 0x55, N * 96, w->stream), cudaSuccess);
        assert_int_equal(
            cz_cuda_add(w, w->stream, CZ_CUDA_G1, d_job, NULL, n, cz_cuda_ref(w, CZ_CUDA_G1, d_sum), scratch), CZ_OK);
        assert_int_equal(cudaMemcpyAsync(back, d_sum, (size_t)n * 96, cudaMemcpyDeviceToHost, w->stream), cudaSuccess);
        assert_int_equal(cudaStreamSynchronize(w->stream), cudaSuccess);
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t a = job[i].a, b = job[i].b;
            want = sum[(a & CZ_CUDA_REF_INDEX) - ref][(b & CZ_CUDA_REF_INDEX) - ref][(a ^ b) >> 31];
            if (a >> 31) cz_g1_affine_neg(&want, &want);
            if (back[i].x.l[5] >> 32 == 0xffffffff) memset(&back[i], 0, sizeof back[i]);
            if (!cz_g1_affine_eq(&want, &back[i]))
                fail_msg("%u of %u: %u %c %u", i, n, (a & CZ_CUDA_REF_INDEX) - ref, (a ^ b) >> 31 ? '-' : '+',
                         (b & CZ_CUDA_REF_INDEX) - ref);
        }
    }
    /* The sums by index bits, from the same points. */
    struct cz_cuda_bit_sums bs = {.at = {ref}, .log2 = {6}, .segments = 1};
    uint8_t *d_out = cz_cuda_mem(w, CZ_CUDA_SUMS, 192), out[CZ_CUDA_SUMS * 192];
    assert_non_null(d_out);
    assert_int_equal(cz_cuda_k_bit_sums(w, w->stream, CZ_CUDA_G1, &bs, d_out), CZ_OK);
    assert_int_equal(cudaMemcpyAsync(out, d_out, sizeof out, cudaMemcpyDeviceToHost, w->stream), cudaSuccess);
    assert_int_equal(cudaStreamSynchronize(w->stream), cudaSuccess);
    for (unsigned id = 0; id < CZ_CUDA_SUMS; id++) {
        if (id >= 6 && id != CZ_CUDA_SUMS - 1) continue;
        struct cz_g1 total = CZ_G1_INFINITY, got;
        for (size_t i = 0; i < POINTS; i++)
            if (id == CZ_CUDA_SUMS - 1 || i >> id & 1) cz_g1_add_affine(&total, &total, &host[i]);
        struct cz_cuda_sum one;
        cz_cuda_sum_init(&one, CZ_CUDA_G1);
        cz_cuda_sum_add(&one, 0, out + id * 192);
        cz_cuda_sum_finish(&got, &one);
        if (!cz_g1_eq(&got, &total)) fail_msg("sum of bit %u", id);
    }
    cz_free(host);
    cz_free(back);
    cz_free(job);
    cz_cuda_give(w);
    cz_device_destroy(dev);
}

/* Two workers at once, each with its own sums; and nothing that stops the whole device is called meanwhile. */
enum { WORKER_POINTS = 30000, WORKER_RUNS = 6 };
struct user {
    struct cz_cuda *cuda;
    const struct cz_g1_affine *host;
    bool ok;
};

static void *use_worker(void *ctx) {
    struct user *u = ctx;
    struct cz_cuda_worker *w;
    const size_t n = WORKER_POINTS, words = (n + 63) / 64;
    struct cz_fr *scalar = cz_calloc(n, sizeof *scalar), sum = CZ_FR_ZERO, bits = CZ_FR_ZERO, t;
    uint64_t *bit = cz_calloc(words, 8);
    bool ok = scalar && bit;
    for (size_t i = 0; ok && i < n; i++) {
        cz_fr_from_u64(&scalar[i], i * i + 1);
        cz_fr_neg(&scalar[i], &scalar[i]);
        cz_fr_from_u64(&t, 3 + 7 * i);
        if (i % 3) {
            bit[i / 64] |= UINT64_C(1) << (i % 64);
            cz_fr_add(&bits, &bits, &t);
        }
        cz_fr_mul(&t, &t, &scalar[i]);
        cz_fr_add(&sum, &sum, &t);
    }
    for (int run = 0; ok && run < WORKER_RUNS; run++) {
        struct cz_g1 a, b;
        if (cz_cuda_take(&w, u->cuda, NULL) != CZ_OK) {
            ok = false;
            break;
        }
        void *d_point = cz_cuda_mem(w, n, 96);
        uint32_t *d_scalar = cz_cuda_mem(w, n, 32);
        uint64_t *d_bit = cz_cuda_mem(w, words, 8);
        ok = d_point && d_scalar && d_bit && cz_cuda_upload(w, d_point, u->host, n * sizeof *u->host) == CZ_OK &&
             cz_cuda_upload(w, d_scalar, scalar, n * 32) == CZ_OK &&
             cz_cuda_upload(w, d_bit, bit, 8 * words) == CZ_OK &&
             cz_cuda_points_convert(w, w->stream, CZ_CUDA_G1, d_point, d_point, n, false) == CZ_OK &&
             cz_cuda_msm(&a, w, CZ_CUDA_G1, d_point, NULL, d_scalar, n, true) == CZ_OK &&
             cz_cuda_bitsum(&b, w, CZ_CUDA_G1, d_point, 0, d_bit, NULL, n) == CZ_OK && is_multiple(&a, &sum) &&
             is_multiple(&b, &bits);
        cz_cuda_give(w);
    }
    cz_free(scalar);
    cz_free(bit);
    u->ok = ok;
    return NULL;
}

static void two_workers(void **state) {
    (void)state;
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    struct cz_gpu_options o = {.workers = 2, .vram_limit = (size_t)6 << 30, .residents = (size_t)64 << 20};
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
    struct cz_g1_affine *host = make_points(WORKER_POINTS);
    struct user user[3];
    pthread_t thread[3];
    const unsigned before = test_forbidden_calls();
    assert_true(before > 0); /* the setup: the wrappers are in place */
    for (int i = 0; i < 3; i++) {
        user[i] = (struct user){((struct cz_cuda_device *)dev)->cuda, host, false};
        assert_int_equal(pthread_create(&thread[i], NULL, use_worker, &user[i]), 0);
    }
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < 3; i++) assert_true(user[i].ok);
    if (test_forbidden_calls() != before) fail_msg("the hot path called %s", test_forbidden_last());
    cz_free(host);
    cz_device_destroy(dev);
}

/* Too little memory is an error with a reason, and the worker serves the next call. */
static void too_little_memory(void **state) {
    (void)state;
    struct cz_device *dev = open_device((size_t)128 << 20);
    struct cz_g1_affine base = CZ_G1_GENERATOR;
    uint64_t scalar[4] = {5};
    struct cz_g1 out;
    assert_int_equal(cz_device_msm_g1(&out, dev, &base, scalar, 1), CZ_ERR_BUDGET);
    assert_int_equal(cz_device_msm_g1(&out, dev, &base, scalar, 0), CZ_OK);
    cz_device_destroy(dev);
}

/* Setup's tables at their full size, and more scalars than a batch: against the host's arithmetic. */
static void large_tables(void **state) {
    (void)state;
    enum { N = (1 << 20) + 77, CHECKS = 300 };
    struct cz_device *dev = NULL;
    struct cz_error err = {0};
    struct cz_gpu_options o = {.workers = 1, .vram_limit = (size_t)4 << 30, .residents = (size_t)2304 << 20};
    if (cz_gpu_create(&dev, &o, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
    struct cz_fixed_base_g1 *g1;
    struct cz_fixed_base_g2 *g2;
    struct cz_fr *scalar = cz_calloc(N, sizeof *scalar);
    uint8_t *bytes = cz_calloc(N, 192), want[192];
    assert_true(scalar && bytes);
    cz_fr_from_u64(&scalar[0], 3);
    cz_fr_inv(&scalar[0], &scalar[0]);
    for (size_t i = 1; i < N; i++) cz_fr_mul(&scalar[i], &scalar[i - 1], &scalar[0]);
    scalar[N - 3] = CZ_FR_ZERO;
    assert_int_equal(cz_fixed_base_g1_create(&g1, dev, &CZ_G1_GENERATOR, (size_t)1 << 29), CZ_OK);
    assert_int_equal(cz_fixed_base_g2_create(&g2, dev, &CZ_G2_GENERATOR, (size_t)1 << 27), CZ_OK);
    unsigned before = test_forbidden_calls();
    assert_int_equal(cz_fixed_base_g1_encode_n(bytes, g1, scalar, N), CZ_OK);
    for (size_t c = 0; c < CHECKS; c++) {
        const size_t i = c < CHECKS / 2 ? N - 1 - c : c * 2654435761u % N;
        struct cz_g1 p;
        struct cz_g1_affine a;
        cz_g1_from_affine(&p, &CZ_G1_GENERATOR);
        cz_g1_mul(&p, &p, &scalar[i]);
        cz_g1_to_affine(&a, &p);
        cz_g1_encode_uncompressed(want, &a);
        assert_memory_equal(want, bytes + 96 * i, 96);
    }
    assert_int_equal(cz_fixed_base_g2_encode_n(bytes, g2, scalar, N), CZ_OK);
    for (size_t c = 0; c < CHECKS; c++) {
        const size_t i = c < CHECKS / 2 ? N - 1 - c : c * 2654435761u % N;
        struct cz_g2 p;
        struct cz_g2_affine a;
        cz_g2_from_affine(&p, &CZ_G2_GENERATOR);
        cz_g2_mul(&p, &p, &scalar[i]);
        cz_g2_to_affine(&a, &p);
        cz_g2_encode_uncompressed(want, &a);
        assert_memory_equal(want, bytes + 192 * i, 192);
    }
    if (test_forbidden_calls() != before) fail_msg("a batch called %s", test_forbidden_last());
    cz_fixed_base_g1_destroy(g1);
    cz_fixed_base_g2_destroy(g2);
    cz_free(scalar);
    cz_free(bytes);
    cz_device_destroy(dev);
}

static bool have_gpu(void) {
    struct cz_device *dev;
    struct cz_error err = {0};
    struct cz_gpu_options o = {.workers = 1, .vram_limit = (size_t)64 << 20};
    if (cz_gpu_create(&dev, &o, NULL, &err) == CZ_OK) {
        cz_device_destroy(dev);
        return true;
    }
    fprintf(stderr, "diff/cuda: skipped: %s\n", err.detail);
    return false;
}

int main(int argc, char **argv) {
    static struct bound_case bound[MAX_TESTS];
    static struct CMUnitTest test[MAX_TESTS];
    static const size_t limit[] = {(size_t)4 << 30, (size_t)700 << 20};
    static const struct CMUnitTest own[] = {
        cmocka_unit_test(additions),         cmocka_unit_test(masked_bits),    cmocka_unit_test(indexed_montgomery),
        cmocka_unit_test(fixed_bases),       cmocka_unit_test(encoded_points), cmocka_unit_test(two_workers),
        cmocka_unit_test(too_little_memory), cmocka_unit_test(large_tables),
    };
    const char *only = argc > 1 ? argv[1] : "";
    const char *require = getenv("CZ_REQUIRE_GPU");
    if (!have_gpu()) return require && strcmp(require, "0") != 0;
    size_t n = 0;
    for (size_t l = 0; l < 2; l++) {
        for (size_t i = 0; i < diff_num_cases && n < MAX_TESTS; i++) {
            struct bound_case *b = &bound[n];
            snprintf(b->name, sizeof b->name, "%s %s", l ? "little" : "room", diff_cases[i].name);
            if (!strstr(b->name, only)) continue;
            b->c = &diff_cases[i];
            b->vram_limit = limit[l];
            test[n++] = (struct CMUnitTest){b->name, run_case, NULL, NULL, b};
        }
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strstr(own[i].name, only)) test[n++] = own[i];
    return _cmocka_run_group_tests("diff/cuda", test, n, NULL, NULL);
}
