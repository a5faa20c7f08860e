/*
 * The CUDA device's operations on one GPU: medians, with every result checked against the host's arithmetic.
 * bench_cuda [--only NAME] [--max LOG2] [--runs N] [--verbose]
 */

#include "base/bytes.h"
#include "base/time.h"
#include "compute/cuda/device_cuda.h"
#include "compute/cuda/kernels.h"
#include "compute/gpu.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum cz_status bench_cuda_ladder(struct cz_cuda_worker *w, enum cz_cuda_group group, struct cz_cuda_job *job,
                                 uint32_t n, uint32_t points, uint32_t step, void *scratch);

#define K0 UINT64_C(0x1234567890abcdef)

static struct cz_cuda *cuda;
static struct cz_cuda_worker *w;
static struct cz_pool *pool;
static const char *only = "";
static unsigned runs = 5;
static int failures;

static void check(enum cz_status status) {
    if (status == CZ_OK) return;
    fprintf(stderr, "bench_cuda: %s: %s\n", cz_status_text(status), w ? w->err.detail : "");
    exit(1);
}

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Scalars s_i and Σ s_i (k0 + i) of each chunk. */
struct scalars {
    uint64_t *s;
    struct cz_fr *partial;
};
#define CHUNK 65536

static void make_chunk(void *ctx, size_t first, size_t last, unsigned worker) {
    struct scalars *c = ctx;
    (void)worker;
    for (size_t chunk = first; chunk < last; chunk++) {
        struct cz_fr sum = CZ_FR_ZERO, s, k;
        for (size_t i = chunk * CHUNK; i < (chunk + 1) * CHUNK; i++) {
            uint64_t *l = c->s + 4 * i;
            for (unsigned j = 0; j < 4; j++) l[j] = mix(4 * i + j + 99);
            l[3] %= CZ_FR_MODULUS[3];
            check(cz_fr_from_limbs(&s, l));
            cz_fr_from_u64(&k, K0 + i);
            cz_fr_mul(&s, &s, &k);
            cz_fr_add(&sum, &sum, &s);
        }
        c->partial[chunk] = sum;
    }
}

static void *resident(size_t bytes) {
    void *p = cz_cuda_resident_alloc(cuda, bytes);
    if (!p) {
        fprintf(stderr, "bench_cuda: no room for %zu MiB\n", bytes >> 20);
        exit(1);
    }
    return p;
}

/* 2^log2 points (k0 + i)·G in the device layout at `points`. */
static void make_points(uint8_t *points, enum cz_cuda_group group, unsigned log2) {
    const size_t size = cz_cuda_point_bytes(group);
    uint8_t step[32 * 192], first[192];
    struct cz_fr k;
    for (unsigned j = 0; j <= log2; j++) {
        cz_fr_from_u64(&k, j < log2 ? UINT64_C(1) << j : K0);
        void *to = j < log2 ? step + j * size : first;
        if (group == CZ_CUDA_G1) {
            struct cz_g1 g;
            cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
            cz_g1_mul(&g, &g, &k);
            cz_g1_to_affine(to, &g);
        } else {
            struct cz_g2 g;
            cz_g2_from_affine(&g, &CZ_G2_GENERATOR);
            cz_g2_mul(&g, &g, &k);
            cz_g2_to_affine(to, &g);
        }
    }
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    uint8_t *d_step = cz_cuda_mem(w, 32, size);
    struct cz_cuda_job *job = cz_cuda_mem(w, (size_t)1 << (log2 - 1), sizeof *job);
    void *scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(cuda), group), 1);
    if (!d_step || !job || !scratch) exit(1);
    check(cz_cuda_upload(w, d_step, step, log2 * size));
    check(cz_cuda_upload(w, points, first, size));
    for (unsigned j = 0; j < log2; j++)
        check(bench_cuda_ladder(w, group, job, UINT32_C(1) << j, cz_cuda_ref(w, group, points),
                                cz_cuda_ref(w, group, d_step + j * size), scratch));
    if (cudaStreamSynchronize(w->stream) != cudaSuccess) exit(1);
    cz_cuda_release(w, mark);
}

static bool right(enum cz_cuda_group group, const void *out, const struct cz_fr *k) {
    if (group == CZ_CUDA_G1) {
        struct cz_g1 g;
        cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
        cz_g1_mul(&g, &g, k);
        return cz_g1_eq(&g, out);
    }
    struct cz_g2 g;
    cz_g2_from_affine(&g, &CZ_G2_GENERATOR);
    cz_g2_mul(&g, &g, k);
    return cz_g2_eq(&g, out);
}

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *name, unsigned log2, double *seconds, bool ok) {
    qsort(seconds, runs, sizeof *seconds, by_value);
    printf("%-14s 2^%-3u %9.2f ms   (%.2f to %.2f)   %s\n", name, log2, 1e3 * seconds[runs / 2], 1e3 * seconds[0],
           1e3 * seconds[runs - 1], ok ? "checked" : "WRONG");
    fflush(stdout);
    failures += !ok;
}

static bool wanted(const char *name) {
    return strstr(name, only) != NULL;
}

union sum {
    struct cz_g1 g1;
    struct cz_g2 g2;
};

static void bench_msm(const char *name, enum cz_cuda_group group, const void *points, const uint32_t *d_scalar,
                      const struct cz_fr *partial, unsigned log2, unsigned tables, unsigned windows) {
    struct cz_fr want = CZ_FR_ZERO;
    for (size_t i = 0; i < ((size_t)1 << log2) / CHUNK; i++) cz_fr_add(&want, &want, &partial[i]);
    double seconds[64];
    bool ok = true;
    for (unsigned i = 0; i <= runs; i++) {
        union sum out;
        uint64_t start = cz_time_now_ns();
        check(cz_cuda_msm_tables(&out, w, group, points, tables, windows, NULL, d_scalar, (size_t)1 << log2, false));
        if (i) seconds[i - 1] = cz_time_since(start);
        ok = ok && right(group, &out, &want);
    }
    report(name, log2, seconds, ok);
}

static void bench_bits(const char *name, enum cz_cuda_group group, const void *points, const void *pairs,
                       unsigned log2) {
    const size_t n = (size_t)1 << log2, words = n / 64;
    uint64_t *bit = cz_malloc_array(words, 8);
    if (!bit) exit(1);
    unsigned __int128 sum = 0;
    for (size_t i = 0; i < words; i++) {
        bit[i] = mix(i + 5);
        for (uint64_t b = bit[i]; b; b &= b - 1) sum += K0 + 64 * i + (unsigned)__builtin_ctzll(b);
    }
    struct cz_fr want, high;
    cz_fr_from_u64(&high, UINT64_MAX);
    cz_fr_add(&high, &high, &CZ_FR_ONE);
    cz_fr_from_u64(&want, (uint64_t)(sum >> 64));
    cz_fr_mul(&high, &high, &want);
    cz_fr_from_u64(&want, (uint64_t)sum);
    cz_fr_add(&want, &want, &high);
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    uint64_t *d_bit = cz_cuda_mem(w, words, 8);
    if (!d_bit) exit(1);
    check(cz_cuda_upload(w, d_bit, bit, 8 * words));
    double seconds[64];
    bool ok = true;
    for (unsigned i = 0; i <= runs; i++) {
        union sum out;
        uint64_t start = cz_time_now_ns();
        if (pairs)
            check(cz_cuda_bitsum_pairs(&out, w, group, points, pairs, d_bit, n));
        else
            check(cz_cuda_bitsum(&out, w, group, points, 0, d_bit, NULL, n));
        if (i) seconds[i - 1] = cz_time_since(start);
        ok = ok && right(group, &out, &want);
    }
    report(name, log2, seconds, ok);
    cz_cuda_release(w, mark);
    cz_free(bit);
}

static size_t vram(void) {
    struct cudaDeviceProp prop;
    return cudaGetDeviceProperties(&prop, 0) == cudaSuccess ? prop.totalGlobalMem : 0;
}

int main(int argc, char **argv) {
    unsigned max = 27;
    for (int i = 1; i < argc; i++) {
        if (i + 1 < argc && !strcmp(argv[i], "--only"))
            only = argv[++i];
        else if (i + 1 < argc && !strcmp(argv[i], "--max"))
            max = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (i + 1 < argc && !strcmp(argv[i], "--runs"))
            runs = (unsigned)strtoul(argv[++i], NULL, 10);
        else
            return fprintf(stderr, "usage: bench_cuda [--only NAME] [--max LOG2] [--runs N]\n"), 2;
    }
    if (max > 27 || max < 16 || runs < 1 || runs > 64)
        return fprintf(stderr, "bench_cuda: --max 16 to 27, --runs 1 to 64\n"), 2;
    struct cz_error err = {0};
    const unsigned max_g2 = max < 22 ? max : 22;
    const size_t n = (size_t)1 << max;
    /* Room for ten tables of 2^26 points, on a card that has it. */
    size_t region = n * 96 * (max < 24 ? 16 : 2);
    if (max >= 26 && vram() > (size_t)130 << 30) region = (size_t)960 << 26;
    struct cz_cuda_options o = {.workers = 1,
                                .resident_bytes = region + n * 32 + (((size_t)192) << max_g2) + ((size_t)4 << 20),
                                .pinned_bytes = (size_t)64 << 20};
    if (cz_pool_create(&pool, 0) != CZ_OK) return 1;
    if (cz_cuda_create(&cuda, &o, &err) != CZ_OK || cz_cuda_take(&w, cuda, &err) != CZ_OK) {
        fprintf(stderr, "bench_cuda: %s\n", err.detail);
        return 1;
    }
    const struct cz_cuda_info *info = cz_cuda_device_info(cuda);
    printf("%s, sm_%d, %d multiprocessors, %zu MiB; medians of %u\n", info->name, info->arch, info->sms,
           info->vram_total >> 20, runs);

    struct scalars c = {cz_malloc_array(n, 32), cz_calloc(n / CHUNK, sizeof *c.partial)};
    if (!c.s || !c.partial) return 1;
    cz_pool_for(pool, n / CHUNK, 1, make_chunk, &c);
    uint32_t *d_scalar = resident(n * 32);
    check(cz_cuda_upload(w, d_scalar, c.s, n * 32));
    cz_free(c.s);
    uint64_t start = cz_time_now_ns();
    uint8_t *g1 = resident(region);
    make_points(g1, CZ_CUDA_G1, max);
    printf("points made in %.0f ms\n", 1e3 * cz_time_since(start));

    static const unsigned size[] = {16, 20, 22, 24, 26, 27};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        if (size[i] <= max && wanted("g1_msm")) bench_msm("g1_msm", CZ_CUDA_G1, g1, d_scalar, c.partial, size[i], 1, 0);
    const unsigned bits = max < 26 ? max : 26;
    if (wanted("g1_bits")) bench_bits("g1_bits", CZ_CUDA_G1, g1, NULL, bits);
    if (wanted("g1_bits_pairs")) {
        uint8_t *pairs = g1 + ((size_t)96 << bits);
        check(cz_cuda_bit_pairs(w, CZ_CUDA_G1, pairs, g1, (size_t)1 << bits));
        bench_bits("g1_bits_pairs", CZ_CUDA_G1, g1, pairs, bits);
    }
    if (wanted("g2_msm") || wanted("g2_bits")) {
        uint8_t *g2 = resident((size_t)192 << max_g2);
        make_points(g2, CZ_CUDA_G2, max_g2);
        if (wanted("g2_msm")) {
            for (unsigned log2 = 18; log2 <= max_g2; log2 += 2)
                bench_msm("g2_msm", CZ_CUDA_G2, g2, d_scalar, c.partial, log2, 1, 0);
        }
        if (wanted("g2_bits")) bench_bits("g2_bits", CZ_CUDA_G2, g2, NULL, max_g2);
    }
    /* Fixed bases with precomputed multiples, as far as the memory goes. */
    static const struct {
        unsigned log2, tables, windows;
    } fixed[] = {{20, 14, 14}, {22, 12, 12}, {24, 11, 11}, {26, 5, 10}, {26, 10, 10}, {27, 5, 10}};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "g1_fixed_%u", fixed[i].tables);
        if (fixed[i].log2 > max || !wanted(name) || ((size_t)96 * fixed[i].tables << fixed[i].log2) > region) continue;
        make_points(g1, CZ_CUDA_G1, fixed[i].log2);
        start = cz_time_now_ns();
        check(cz_cuda_msm_multiples(w, g1, fixed[i].tables, (size_t)1 << fixed[i].log2));
        if (cudaStreamSynchronize(w->stream) != cudaSuccess) return 1;
        printf("%u tables made in %.0f ms, %.1f GB\n", fixed[i].tables, 1e3 * cz_time_since(start),
               96e-9 * (double)((size_t)fixed[i].tables << fixed[i].log2));
        bench_msm(name, CZ_CUDA_G1, g1, d_scalar, c.partial, fixed[i].log2, fixed[i].tables, fixed[i].windows);
    }
    cz_cuda_give(w);
    cz_cuda_destroy(cuda);
    cz_pool_destroy(pool);
    cz_free(c.partial);
    return failures != 0;
}
