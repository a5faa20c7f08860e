/* Nanoseconds of each field operation at each level that this processor has: bench_field [milliseconds per row]. */

#include "base/time.h"
#include "field/cpu.h"
#include "field/fp12.h"
#include "field/fr.h"

enum { N = 256 };

static struct cz_fp pa[N], pb[N], pr[N], ps[N];
static struct cz_fr fa[N], fb[N], fr[N], fs[N];
static uint64_t limbs[4 * N];
static struct cz_fp12 big;

/* Each row does N operations; chains depend on the last result, the others run side by side. */
static void fp_mul(void) {
    for (int i = 0; i < N; i++) cz_fp_mul(&pr[i], &pa[i], &pb[i]);
}
static void fp_mul_chain(void) {
    for (int i = 0; i < N; i++) cz_fp_mul(&pr[0], &pr[0], &pb[i]);
}
static void fp_sqr(void) {
    for (int i = 0; i < N; i++) cz_fp_sqr(&pr[i], &pa[i]);
}
static void fp_add(void) {
    for (int i = 0; i < N; i++) cz_fp_add(&pr[i], &pa[i], &pb[i]);
}
static void fp_inv(void) {
    for (int i = 0; i < N; i++) cz_fp_inv(&pr[i], &pa[i]);
}
static void fp_mul_n(void) {
    cz_fp_mul_n(pr, pa, pb, N);
}
static void fp_inv_n(void) {
    cz_fp_inv_n(pr, pa, ps, N);
}
static void fr_mul(void) {
    for (int i = 0; i < N; i++) cz_fr_mul(&fr[i], &fa[i], &fb[i]);
}
static void fr_mul_chain(void) {
    for (int i = 0; i < N; i++) cz_fr_mul(&fr[0], &fr[0], &fb[i]);
}
static void fr_sqr(void) {
    for (int i = 0; i < N; i++) cz_fr_sqr(&fr[i], &fa[i]);
}
static void fr_add(void) {
    for (int i = 0; i < N; i++) cz_fr_add(&fr[i], &fa[i], &fb[i]);
}
static void fr_inv(void) {
    for (int i = 0; i < N; i++) cz_fr_inv(&fr[i], &fa[i]);
}
static void fr_mul_n(void) {
    cz_fr_mul_n(fr, fa, fb, N);
}
static void fr_inv_n(void) {
    cz_fr_inv_n(fr, fa, fs, N);
}
static void fr_to_limbs_n(void) {
    cz_fr_to_limbs_n(limbs, fa, N);
}
static void fp12_mul(void) {
    for (int i = 0; i < N; i++) cz_fp12_mul(&big, &big, &big);
}

static const struct {
    const char *name;
    void (*run)(void);
} rows[] = {
    {"fp_mul", fp_mul},
    {"fp_mul (chain)", fp_mul_chain},
    {"fp_sqr", fp_sqr},
    {"fp_add", fp_add},
    {"fp_inv", fp_inv},
    {"fp_mul_n", fp_mul_n},
    {"fp_inv_n, 256", fp_inv_n},
    {"fr_mul", fr_mul},
    {"fr_mul (chain)", fr_mul_chain},
    {"fr_sqr", fr_sqr},
    {"fr_add", fr_add},
    {"fr_inv", fr_inv},
    {"fr_mul_n", fr_mul_n},
    {"fr_inv_n, 256", fr_inv_n},
    {"fr_to_limbs_n", fr_to_limbs_n},
    {"fp12_mul", fp12_mul},
};

/* The best of several slices: other work on the machine only adds. */
static double measure(void (*run)(void), uint64_t budget_ns) {
    double best = 1e18;
    uint64_t begin = cz_time_now_ns();
    do {
        uint64_t start = cz_time_now_ns();
        run();
        double ns = (double)(cz_time_now_ns() - start) / N;
        if (ns < best) best = ns;
    } while (cz_time_now_ns() - begin < budget_ns);
    return best;
}

int main(int argc, char **argv) {
    uint64_t budget_ns = 1000000u * (argc > 1 ? strtoull(argv[1], NULL, 10) : 20);
    for (int i = 0; i < N; i++) {
        cz_fp_from_u64(&pa[i], 3 + (uint64_t)i);
        cz_fp_inv(&pa[i], &pa[i]);
        cz_fp_sqr(&pb[i], &pa[i]);
        cz_fr_from_u64(&fa[i], 3 + (uint64_t)i);
        cz_fr_inv(&fa[i], &fa[i]);
        cz_fr_sqr(&fb[i], &fa[i]);
    }
    pr[0] = pa[0];
    fr[0] = fa[0];
    big = CZ_FP12_ONE;
    big.c1.c1.c1 = pa[1];
    printf("%-16s", "ns");
    for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++)
        printf("%12s", cz_field_level_name((enum cz_field_level)level));
    printf("\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        printf("%-16s", rows[i].name);
        for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++) {
            if (cz_field_select((enum cz_field_level)level) != CZ_OK) return 1;
            printf("%12.1f", measure(rows[i].run, budget_ns));
        }
        printf("\n");
    }
    return 0;
}
