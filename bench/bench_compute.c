/*
 * Medians of the device operations at each level of field arithmetic that this processor has.
 * bench_compute [--json] [--threads N] [--level NAME] [--only PART] [--max LOG2] [--runs N]
 */

#include "base/bytes.h"
#include "base/time.h"
#include "compute/compute.h"
#include "field/cpu.h"

#include <string.h>

struct bench {
    struct cz_device *dev;
    const char *level, *only;
    unsigned max_log, runs;
    bool json, first;
    struct cz_g1_affine *g1;
    struct cz_g2_affine *g2;
    struct cz_fr *fr;
    uint64_t *scalar;
};

static uint64_t next_random(uint64_t *s) {
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return *s;
}

/* Seconds of all threads of this process: on a busy machine a better measure than the clock. */
static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void check(enum cz_status status) {
    if (status == CZ_OK) return;
    fprintf(stderr, "bench_compute: %s\n", cz_status_text(status));
    exit(1);
}

typedef void body_fn(struct bench *b, unsigned log2n);

static void g1_msm(struct bench *b, unsigned log2n) {
    struct cz_g1 out;
    check(cz_device_msm_g1(&out, b->dev, b->g1, b->scalar, (size_t)1 << log2n));
}
static void g2_msm(struct bench *b, unsigned log2n) {
    struct cz_g2 out;
    check(cz_device_msm_g2(&out, b->dev, b->g2, b->scalar, (size_t)1 << log2n));
}
static void g1_bitsum(struct bench *b, unsigned log2n) {
    struct cz_g1 out;
    check(cz_device_bitsum_g1(&out, b->dev, b->g1, b->scalar, (size_t)1 << log2n));
}
static void ntt(struct bench *b, unsigned log2n) {
    check(cz_device_ntt(b->dev, b->fr, log2n, CZ_NTT_FORWARD));
}
static void ntt_coset_inverse(struct bench *b, unsigned log2n) {
    check(cz_device_ntt(b->dev, b->fr, log2n, CZ_NTT_COSET_INVERSE));
}
static void g1_fixed_base(struct bench *b, unsigned log2n) {
    struct cz_fixed_base_g1 *fb;
    struct cz_g1_affine *out = cz_malloc_array((size_t)1 << log2n, sizeof *out);
    check(out ? CZ_OK : CZ_ERR_MEMORY);
    check(cz_fixed_base_g1_create(&fb, b->dev, &CZ_G1_GENERATOR, (size_t)10 << 20));
    uint64_t start = cz_time_now_ns();
    check(cz_fixed_base_g1_mul_n(out, fb, b->fr, (size_t)1 << log2n));
    if (!b->json) printf("  (multiplications alone: %.4f s)\n", cz_time_since(start));
    cz_fixed_base_g1_destroy(fb);
    cz_free(out);
}
static void g2_fixed_base(struct bench *b, unsigned log2n) {
    struct cz_fixed_base_g2 *fb;
    struct cz_g2_affine *out = cz_malloc_array((size_t)1 << log2n, sizeof *out);
    check(out ? CZ_OK : CZ_ERR_MEMORY);
    check(cz_fixed_base_g2_create(&fb, b->dev, &CZ_G2_GENERATOR, (size_t)1 << log2n));
    check(cz_fixed_base_g2_mul_n(out, fb, b->fr, (size_t)1 << log2n));
    cz_fixed_base_g2_destroy(fb);
    cz_free(out);
}

static const struct {
    const char *name;
    body_fn *body;
    unsigned log2n;
} row[] = {
    {"g1_msm", g1_msm, 12},
    {"g1_msm", g1_msm, 16},
    {"g1_msm", g1_msm, 18},
    {"g1_msm", g1_msm, 20},
    {"g2_msm", g2_msm, 16},
    {"g2_msm", g2_msm, 18},
    {"g1_bitsum", g1_bitsum, 20},
    {"ntt", ntt, 16},
    {"ntt", ntt, 18},
    {"ntt", ntt, 20},
    {"ntt", ntt, 22},
    {"ntt_coset_inverse", ntt_coset_inverse, 20},
    {"g1_fixed_base", g1_fixed_base, 16},
    {"g1_fixed_base", g1_fixed_base, 18},
    {"g2_fixed_base", g2_fixed_base, 16},
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_rows(struct bench *b) {
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        double seconds[16], cpu[16];
        if (row[i].log2n > b->max_log || !strstr(row[i].name, b->only)) continue;
        unsigned runs = b->runs ? b->runs : row[i].log2n >= 20 ? 3 : 5;
        for (unsigned r = 0; r < runs; r++) {
            uint64_t start = cz_time_now_ns();
            double cpu_start = cpu_seconds();
            row[i].body(b, row[i].log2n);
            seconds[r] = cz_time_since(start);
            cpu[r] = cpu_seconds() - cpu_start;
        }
        qsort(seconds, runs, sizeof *seconds, by_value);
        qsort(cpu, runs, sizeof *cpu, by_value);
        double median = seconds[runs / 2], median_cpu = cpu[runs / 2];
        if (b->json)
            printf(
                "%s\n  {\"name\": \"%s\", \"log2n\": %u, \"level\": \"%s\", \"seconds\": %.6f, \"cpu_seconds\": %.6f}",
                b->first ? "" : ",", row[i].name, row[i].log2n, b->level, median, median_cpu);
        else
            printf("%-9s %-18s 2^%-3u %9.4f s  cpu %9.4f s  %8.1f ns each\n", b->level, row[i].name, row[i].log2n,
                   median, median_cpu, median_cpu * 1e9 / (double)(UINT64_C(1) << row[i].log2n));
        fflush(stdout);
        b->first = false;
    }
}

/* Points and scalars: as many as the largest row wants. */
static void make_data(struct bench *b) {
    unsigned log2g1 = b->max_log < 20 ? b->max_log : 20, log2g2 = b->max_log < 18 ? b->max_log : 18;
    size_t n = (size_t)1 << b->max_log, n1 = (size_t)1 << log2g1, n2 = (size_t)1 << log2g2;
    struct cz_fixed_base_g1 *f1;
    struct cz_fixed_base_g2 *f2;
    uint64_t seed = 88172645463325252u;
    b->fr = cz_malloc_array(n, sizeof *b->fr);
    b->scalar = cz_malloc_array(n, 32);
    b->g1 = cz_malloc_array(n1, sizeof *b->g1);
    b->g2 = cz_malloc_array(n2, sizeof *b->g2);
    check(b->fr && b->scalar && b->g1 && b->g2 ? CZ_OK : CZ_ERR_MEMORY);
    for (size_t i = 0; i < n; i++) {
        for (int k = 0; k < 4; k++) b->fr[i].l[k] = next_random(&seed);
        b->fr[i].l[3] %= CZ_FR_MODULUS[3];
    }
    cz_fr_to_limbs_n(b->scalar, b->fr, n);
    check(cz_fixed_base_g1_create(&f1, b->dev, &CZ_G1_GENERATOR, n1));
    check(cz_fixed_base_g1_mul_n(b->g1, f1, b->fr, n1));
    check(cz_fixed_base_g2_create(&f2, b->dev, &CZ_G2_GENERATOR, n2));
    check(cz_fixed_base_g2_mul_n(b->g2, f2, b->fr, n2));
    cz_fixed_base_g1_destroy(f1);
    cz_fixed_base_g2_destroy(f2);
}

int main(int argc, char **argv) {
    struct bench b = {.only = "", .max_log = 22, .first = true};
    unsigned threads = 0;
    const char *level_name = "";
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--json") == 0) {
            b.json = true;
            continue;
        }
        if (strcmp(argv[i], "--threads") == 0)
            threads = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--level") == 0)
            level_name = value;
        else if (strcmp(argv[i], "--only") == 0)
            b.only = value;
        else if (strcmp(argv[i], "--max") == 0)
            b.max_log = (unsigned)strtoul(value, NULL, 10);
        else if (strcmp(argv[i], "--runs") == 0)
            b.runs = (unsigned)strtoul(value, NULL, 10);
        else {
            fprintf(stderr,
                    "bench_compute [--json] [--threads N] [--level NAME] [--only PART] [--max LOG2] [--runs N]\n");
            return 2;
        }
        i++;
    }
    if (b.max_log < 12 || b.max_log > 24 || b.runs > 16) {
        fprintf(stderr, "bench_compute: --max is 12 to 24, --runs at most 16\n");
        return 2;
    }
    struct cz_pool *pool;
    check(cz_pool_create(&pool, threads));
    check(cz_device_create_cpu(&b.dev, pool));
    make_data(&b);
    if (b.json)
        printf("{\"threads\": %u, \"rows\": [", cz_pool_threads(pool));
    else
        printf("threads %u\n", cz_pool_threads(pool));
    for (int level = (int)cz_field_supported(); level >= 0; level--) {
        b.level = cz_field_level_name((enum cz_field_level)level);
        if (*level_name && strcmp(level_name, b.level) != 0) continue;
        check(cz_field_select((enum cz_field_level)level));
        run_rows(&b);
    }
    if (b.json) printf("\n]}\n");
    cz_free(b.fr);
    cz_free(b.scalar);
    cz_free(b.g1);
    cz_free(b.g2);
    cz_device_destroy(b.dev);
    cz_pool_destroy(pool);
    return 0;
}
