#include "field/constants.h"
#include "field/field_int.h"
#include "field/fp_inline.h"
#include "field/fr_inline.h"

typedef unsigned __int128 u128;

/*
 * Montgomery product, operand scanning with the reduction interleaved (Koç, Acar, Kaliski, "CIOS"). Both moduli leave
 * the top bit free, so the two carries of a round add up below 2^64 and t needs no word more. Result below 2m.
 */
static inline __attribute__((always_inline)) void mont_mul(uint64_t *t, const uint64_t *a, const uint64_t *b,
                                                           const uint64_t *m, uint64_t inv, int n) {
    for (int i = 0; i < n; i++) t[i] = 0;
#pragma GCC unroll 6
    for (int i = 0; i < n; i++) {
        u128 lo = (u128)a[0] * b[i] + t[0];
        uint64_t k = (uint64_t)lo * inv;
        u128 red = (u128)k * m[0] + (uint64_t)lo;
        uint64_t c1 = (uint64_t)(lo >> 64), c2 = (uint64_t)(red >> 64);
#pragma GCC unroll 6
        for (int j = 1; j < n; j++) {
            lo = (u128)a[j] * b[i] + t[j] + c1;
            c1 = (uint64_t)(lo >> 64);
            red = (u128)k * m[j] + (uint64_t)lo + c2;
            c2 = (uint64_t)(red >> 64);
            t[j - 1] = (uint64_t)red;
        }
        t[n - 1] = c1 + c2;
    }
}

void cz_fr_mul_portable(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    struct cz_fr t;
    mont_mul(t.l, a->l, b->l, CZ_FR_INLINE_MODULUS, FR_INV, 4);
    cz_fr_inline_reduce(r, &t);
}

void cz_fr_sqr_portable(struct cz_fr *r, const struct cz_fr *a) {
    cz_fr_mul_portable(r, a, a);
}

void cz_fp_mul_portable(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    struct cz_fp t;
    mont_mul(t.l, a->l, b->l, CZ_FP_INLINE_MODULUS, FP_INV, 6);
    cz_fp_inline_reduce(r, &t);
}

void cz_fp_sqr_portable(struct cz_fp *r, const struct cz_fp *a) {
    cz_fp_mul_portable(r, a, a);
}
