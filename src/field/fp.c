#include "field/fp.h"

#include "base/bytes.h"
#include "field/constants.h"
#include "field/field_int.h"
#include "field/fp_inline.h"
#include "field/safegcd.h"

const struct cz_fp CZ_FP_ZERO = {{0}};
const struct cz_fp CZ_FP_ONE = {FP_R_LIMBS};
const uint64_t CZ_FP_MODULUS[6] = FP_MODULUS_LIMBS;

static const struct cz_fp fp_r2 = {FP_R2_LIMBS};
static const struct cz_fp fp_plain_one = {{1}};

void cz_fp_add(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    cz_fp_inline_add(r, a, b);
}

void cz_fp_sub(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    cz_fp_inline_sub(r, a, b);
}

void cz_fp_dbl(struct cz_fp *r, const struct cz_fp *a) {
    cz_fp_inline_dbl(r, a);
}

void cz_fp_neg(struct cz_fp *r, const struct cz_fp *a) {
    cz_fp_inline_neg(r, a);
}

void cz_fp_mul(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    cz_field_ops.fp_mul(r, a, b);
}

void cz_fp_sqr(struct cz_fp *r, const struct cz_fp *a) {
    cz_field_ops.fp_sqr(r, a);
}

/* Windows of four bits from the top. */
void cz_fp_pow_vartime(struct cz_fp *r, const struct cz_fp *a, const uint64_t *e, size_t n) {
    struct cz_fp table[16], acc = CZ_FP_ONE;
    bool started = false;
    table[0] = CZ_FP_ONE;
    for (int i = 1; i < 16; i++) cz_fp_mul(&table[i], &table[i - 1], a);
    for (size_t i = 16 * n; i-- > 0;) {
        unsigned window = e[i / 16] >> (4 * (i % 16)) & 15;
        for (int k = 0; started && k < 4; k++) cz_fp_sqr(&acc, &acc);
        if (window == 0) continue;
        cz_fp_mul(&acc, &acc, &table[window]);
        started = true;
    }
    *r = acc;
}

bool cz_fp_sqrt(struct cz_fp *r, const struct cz_fp *a) {
    static const uint64_t e[6] = FP_SQRT_LIMBS;
    struct cz_fp t, check;
    cz_fp_pow_vartime(&t, a, e, 6);
    cz_fp_sqr(&check, &t);
    if (!cz_fp_inline_eq(&check, a)) return false;
    *r = t;
    return true;
}

bool cz_fp_is_zero(const struct cz_fp *a) {
    return cz_fp_inline_is_zero(a);
}

bool cz_fp_eq(const struct cz_fp *a, const struct cz_fp *b) {
    return cz_fp_inline_eq(a, b);
}

static bool below(const uint64_t a[6], const uint64_t b[6]) {
    unsigned char borrow = 0;
    uint64_t ignored;
    for (int i = 0; i < 6; i++) borrow = cz_limbs_sbb(borrow, a[i], b[i], &ignored);
    return borrow;
}

bool cz_fp_is_largest(const struct cz_fp *a) {
    static const uint64_t half[6] = FP_HALF_LIMBS;
    struct cz_fp t;
    cz_fp_mul(&t, a, &fp_plain_one);
    return !below(t.l, half);
}

void cz_fp_from_u64(struct cz_fp *r, uint64_t v) {
    struct cz_fp t = {{v}};
    cz_fp_mul(r, &t, &fp_r2);
}

enum cz_status cz_fp_from_be(struct cz_fp *r, const uint8_t in[48]) {
    struct cz_fp t;
    for (int i = 0; i < 6; i++) t.l[i] = cz_load_be64(in + 8 * (5 - i));
    if (!below(t.l, CZ_FP_MODULUS)) return CZ_ERR_FIELD_RANGE;
    cz_fp_mul(r, &t, &fp_r2);
    return CZ_OK;
}

void cz_fp_to_be(uint8_t out[48], const struct cz_fp *a) {
    struct cz_fp t;
    cz_fp_mul(&t, a, &fp_plain_one);
    for (int i = 0; i < 6; i++) {
        uint64_t v = __builtin_bswap64(t.l[5 - i]);
        memcpy(out + 8 * i, &v, 8);
    }
}

/* 879 steps suffice for 381 bits (§11 of the paper, with Wuille's bound for the start at 1/2); this does 930. */
void cz_fp_inv(struct cz_fp *r, const struct cz_fp *a) {
    static const struct safegcd_modulus modulus = {FP62_MODULUS_LIMBS, FP62_R2_LIMBS, FP62_INVERSE};
    safegcd_invert(r->l, a->l, &modulus, 6, 7, 15);
}

void cz_fp_mul_n(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma) {
        cz_fp_mul_n_ifma(r, a, b, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) cz_fp_mul(&r[i], &a[i], &b[i]);
}

void cz_fp_inv_n(struct cz_fp *r, const struct cz_fp *a, struct cz_fp *scratch, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma && n >= 16) {
        cz_fp_inv_n_ifma(r, a, scratch, n);
        return;
    }
#endif
    struct cz_fp acc = CZ_FP_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!cz_fp_inline_is_zero(&a[i])) cz_fp_mul(&acc, &acc, &a[i]);
    }
    cz_fp_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (cz_fp_inline_is_zero(&a[i])) {
            r[i] = CZ_FP_ZERO;
            continue;
        }
        struct cz_fp t = a[i];
        cz_fp_mul(&r[i], &acc, &scratch[i]);
        cz_fp_mul(&acc, &acc, &t);
    }
}
