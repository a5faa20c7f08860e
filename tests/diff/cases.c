#include "diff/cases.h"
#include "curve/encoding.h"

#include "base/bytes.h"
#include "support.h"

#include <string.h>

enum base_kind { BASE_DISTINCT, BASE_EQUAL, BASE_OPPOSITE, BASE_SOME_INFINITE, BASE_INFINITE, BASE_KINDS };
enum scalar_kind {
    SCALAR_RANDOM,
    SCALAR_ZERO,
    SCALAR_ONE,
    SCALAR_MINUS_ONE,
    SCALAR_EQUAL,
    SCALAR_SMALL,
    SCALAR_HALF,
    SCALAR_MIXED,
    SCALAR_SEVEN_TIMES, /* buckets of 7 points: two additions each in round 1, more than a quarter of the points */
    SCALAR_127_TIMES,
    SCALAR_KINDS
};

static void random_fr(struct cz_fr *r, uint64_t seed) {
    struct cz_fr wide;
    seed = seed * 0x9e3779b97f4a7c15u + 1;
    do {
        for (int i = 0; i < 4; i++) wide.l[i] = test_random(&seed);
        wide.l[3] &= UINT64_MAX >> 1;
    } while (cz_fr_from_limbs(r, wide.l) != CZ_OK);
}

static void make_scalar(struct cz_fr *r, enum scalar_kind kind, size_t i) {
    switch (kind) {
    case SCALAR_ZERO:
        *r = CZ_FR_ZERO;
        break;
    case SCALAR_ONE:
        *r = CZ_FR_ONE;
        break;
    case SCALAR_MINUS_ONE:
        cz_fr_neg(r, &CZ_FR_ONE);
        break;
    case SCALAR_EQUAL:
        random_fr(r, 5);
        break;
    case SCALAR_SMALL:
        cz_fr_from_u64(r, i % 5);
        break;
    case SCALAR_HALF: /* (r - 1)/2 and (r + 1)/2, where the signed form changes sides */
        cz_fr_from_u64(r, 2);
        cz_fr_inv(r, r);
        if (i & 1) cz_fr_neg(r, r);
        break;
    case SCALAR_MIXED:
        make_scalar(r, (enum scalar_kind)(i * 7 / 3 % SCALAR_MIXED), i);
        break;
    case SCALAR_SEVEN_TIMES:
        random_fr(r, i / 7);
        break;
    case SCALAR_127_TIMES:
        random_fr(r, i / 127);
        break;
    default:
        random_fr(r, i);
    }
}

#define NAME(f) g1_##f
#define G(f) cz_g1_##f
#define D(f) cz_device_##f##_g1
#define FIXED(f) cz_fixed_base_g1_##f
#define CREATE struct cz_fixed_base_g1 *
#define POINT struct cz_g1
#define AFFINE struct cz_g1_affine
#define FIELD struct cz_fp
#define GENERATOR CZ_G1_GENERATOR
#define LARGE 8000
#include "diff/cases_points.h"
#undef NAME
#undef G
#undef D
#undef FIXED
#undef CREATE
#undef POINT
#undef AFFINE
#undef FIELD
#undef GENERATOR
#undef LARGE

#define NAME(f) g2_##f
#define G(f) cz_g2_##f
#define D(f) cz_device_##f##_g2
#define FIXED(f) cz_fixed_base_g2_##f
#define CREATE struct cz_fixed_base_g2 *
#define POINT struct cz_g2
#define AFFINE struct cz_g2_affine
#define FIELD struct cz_fp2
#define GENERATOR CZ_G2_GENERATOR
#define LARGE 3000
#include "diff/cases_points.h"

/* More bases than the CPU device converts at a time. */
static bool g1_msm_chunks(struct cz_device *dev) {
    return g1_msm(dev, 180000, BASE_DISTINCT, SCALAR_RANDOM);
}

/* More buckets than a list that is too short has room to spare for. */
static bool g1_msm_repeated_large(struct cz_device *dev) {
    return g1_msm(dev, (size_t)2000 * 127, BASE_DISTINCT, SCALAR_127_TIMES);
}

/* Transforms against their definition: result k is Σ v[j]·(shift·w^k)^j, or the other way round. */

static void evaluate(struct cz_fr *r, const struct cz_fr *v, size_t n, const struct cz_fr *x) {
    *r = CZ_FR_ZERO;
    for (size_t i = n; i-- > 0;) {
        cz_fr_mul(r, r, x);
        cz_fr_add(r, r, &v[i]);
    }
}

static bool ntt_holds(struct cz_device *dev, unsigned log2n, size_t checks, bool coset) {
    size_t n = (size_t)1 << log2n;
    struct cz_fr *v = cz_calloc(n, sizeof *v), *w = cz_calloc(n, sizeof *w), root, x, want, seven;
    bool ok = v && w;
    for (size_t i = 0; ok && i < n; i++) {
        if (i % 5 == 1)
            cz_fr_neg(&v[i], &CZ_FR_ONE);
        else
            random_fr(&v[i], i + n);
        w[i] = v[i];
    }
    ok = ok && cz_device_ntt(dev, w, log2n, coset ? CZ_NTT_COSET_FORWARD : CZ_NTT_FORWARD) == CZ_OK;
    cz_fr_root_of_unity(&root, log2n);
    cz_fr_from_u64(&seven, 7);
    for (size_t i = 0; ok && i < checks; i++) {
        size_t k = checks == n ? i : (i * 0x9e3779b1u + 12345) % n;
        cz_fr_pow_vartime(&x, &root, k);
        if (coset) cz_fr_mul(&x, &x, &seven);
        evaluate(&want, v, n, &x);
        ok = cz_fr_eq(&want, &w[k]);
    }
    ok = ok && cz_device_ntt(dev, w, log2n, coset ? CZ_NTT_COSET_INVERSE : CZ_NTT_INVERSE) == CZ_OK;
    ok = ok && memcmp(v, w, n * sizeof *v) == 0;
    cz_free(v);
    cz_free(w);
    return ok;
}

static bool ntt_small(struct cz_device *dev) {
    for (unsigned log2n = 0; log2n <= 8; log2n++)
        for (int coset = 0; coset < 2; coset++)
            if (!ntt_holds(dev, log2n, (size_t)1 << log2n, coset)) return false;
    return true;
}

static bool ntt_large(struct cz_device *dev) {
    for (unsigned log2n = 9; log2n <= 16; log2n++)
        for (int coset = 0; coset < 2; coset++)
            if (!ntt_holds(dev, log2n, 5, coset)) return false;
    return true;
}

static bool ntt_too_large(struct cz_device *dev) {
    struct cz_fr v = CZ_FR_ONE;
    return cz_device_ntt(dev, &v, 32, CZ_NTT_FORWARD) == CZ_ERR_LIMIT && cz_fr_eq(&v, &CZ_FR_ONE);
}

#define CASE(f)                                                                                                        \
    { #f, f }
const struct diff_case diff_cases[] = {
    CASE(g1_msm_naive),    CASE(g1_msm_sizes),          CASE(g1_msm_kinds),    CASE(g1_msm_large),
    CASE(g1_msm_repeated), CASE(g1_msm_out_of_range),   CASE(g1_bitsum),       CASE(g1_fixed_base),
    CASE(g1_msm_chunks),   CASE(g1_msm_repeated_large), CASE(g2_msm_naive),    CASE(g2_msm_sizes),
    CASE(g2_msm_kinds),    CASE(g2_msm_large),          CASE(g2_msm_repeated), CASE(g2_msm_out_of_range),
    CASE(g2_bitsum),       CASE(g2_fixed_base),         CASE(ntt_small),       CASE(ntt_large),
    CASE(ntt_too_large),
};
const size_t diff_num_cases = sizeof diff_cases / sizeof diff_cases[0];
