#include "field/fp2.h"

#include "field/constants.h"
#include "field/fp_inline.h"

const struct cz_fp2 CZ_FP2_ZERO = {{{0}}, {{0}}};
const struct cz_fp2 CZ_FP2_ONE = {{FP_R_LIMBS}, {{0}}};

void cz_fp2_add(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b) {
    cz_fp_inline_add(&r->c0, &a->c0, &b->c0);
    cz_fp_inline_add(&r->c1, &a->c1, &b->c1);
}

void cz_fp2_sub(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b) {
    cz_fp_inline_sub(&r->c0, &a->c0, &b->c0);
    cz_fp_inline_sub(&r->c1, &a->c1, &b->c1);
}

void cz_fp2_dbl(struct cz_fp2 *r, const struct cz_fp2 *a) {
    cz_fp_inline_dbl(&r->c0, &a->c0);
    cz_fp_inline_dbl(&r->c1, &a->c1);
}

void cz_fp2_neg(struct cz_fp2 *r, const struct cz_fp2 *a) {
    cz_fp_inline_neg(&r->c0, &a->c0);
    cz_fp_inline_neg(&r->c1, &a->c1);
}

void cz_fp2_conj(struct cz_fp2 *r, const struct cz_fp2 *a) {
    r->c0 = a->c0;
    cz_fp_inline_neg(&r->c1, &a->c1);
}

/* Karatsuba: three products. */
void cz_fp2_mul(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b) {
    struct cz_fp sa, sb, m0, m1;
    cz_fp_inline_add(&sa, &a->c0, &a->c1);
    cz_fp_inline_add(&sb, &b->c0, &b->c1);
    cz_fp_mul(&m0, &a->c0, &b->c0);
    cz_fp_mul(&m1, &a->c1, &b->c1);
    cz_fp_mul(&sa, &sa, &sb);
    cz_fp_inline_sub(&sa, &sa, &m0);
    cz_fp_inline_sub(&r->c1, &sa, &m1);
    cz_fp_inline_sub(&r->c0, &m0, &m1);
}

/* (c0 + c1)(c0 - c1) + 2·c0·c1·u */
void cz_fp2_sqr(struct cz_fp2 *r, const struct cz_fp2 *a) {
    struct cz_fp sum, diff, product;
    cz_fp_inline_add(&sum, &a->c0, &a->c1);
    cz_fp_inline_sub(&diff, &a->c0, &a->c1);
    cz_fp_mul(&product, &a->c0, &a->c1);
    cz_fp_mul(&r->c0, &sum, &diff);
    cz_fp_inline_dbl(&r->c1, &product);
}

void cz_fp2_mul_fp(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp *k) {
    struct cz_fp factor = *k;
    cz_fp_mul(&r->c0, &a->c0, &factor);
    cz_fp_mul(&r->c1, &a->c1, &factor);
}

void cz_fp2_mul_xi(struct cz_fp2 *r, const struct cz_fp2 *a) {
    struct cz_fp diff;
    cz_fp_inline_sub(&diff, &a->c0, &a->c1);
    cz_fp_inline_add(&r->c1, &a->c0, &a->c1);
    r->c0 = diff;
}

/* The conjugate over the norm. */
void cz_fp2_inv(struct cz_fp2 *r, const struct cz_fp2 *a) {
    struct cz_fp norm, t;
    cz_fp_sqr(&norm, &a->c0);
    cz_fp_sqr(&t, &a->c1);
    cz_fp_inline_add(&norm, &norm, &t);
    cz_fp_inv(&norm, &norm);
    cz_fp_mul(&r->c0, &a->c0, &norm);
    cz_fp_inline_neg(&norm, &norm);
    cz_fp_mul(&r->c1, &a->c1, &norm);
}

/*
 * With n² = c0² + c1² and d = (c0 + n)/2, either d or -d is a square, t = (±d)^½. If t² = d the root is t + c1/(2t)·u.
 * If t² = -d then (c0 - n)/2 = c1²/(4t²) and the root is c1/(2t) + t·u.
 */
bool cz_fp2_sqrt(struct cz_fp2 *r, const struct cz_fp2 *a) {
    static const struct cz_fp half = FP_ONE_HALF;
    static const uint64_t e[6] = FP_SQRT_LIMBS;
    struct cz_fp n, t, d, other;
    struct cz_fp2 root;
    if (cz_fp_inline_is_zero(&a->c1)) {
        root = CZ_FP2_ZERO;
        if (!cz_fp_sqrt(&root.c0, &a->c0)) {
            cz_fp_inline_neg(&t, &a->c0);
            if (!cz_fp_sqrt(&root.c1, &t)) return false;
        }
        *r = root;
        return true;
    }
    cz_fp_sqr(&n, &a->c0);
    cz_fp_sqr(&t, &a->c1);
    cz_fp_inline_add(&n, &n, &t);
    if (!cz_fp_sqrt(&n, &n)) return false;
    cz_fp_inline_add(&d, &a->c0, &n);
    cz_fp_mul(&d, &d, &half);
    cz_fp_pow_vartime(&t, &d, e, 6);
    cz_fp_inline_dbl(&other, &t);
    cz_fp_inv(&other, &other);
    cz_fp_mul(&other, &other, &a->c1);
    cz_fp_sqr(&n, &t);
    if (cz_fp_inline_eq(&n, &d))
        root = (struct cz_fp2){t, other};
    else
        root = (struct cz_fp2){other, t};
    *r = root;
    return true;
}

bool cz_fp2_is_zero(const struct cz_fp2 *a) {
    return cz_fp_inline_is_zero(&a->c0) && cz_fp_inline_is_zero(&a->c1);
}

bool cz_fp2_eq(const struct cz_fp2 *a, const struct cz_fp2 *b) {
    return cz_fp_inline_eq(&a->c0, &b->c0) && cz_fp_inline_eq(&a->c1, &b->c1);
}

bool cz_fp2_is_largest(const struct cz_fp2 *a) {
    return cz_fp_is_largest(cz_fp_inline_is_zero(&a->c1) ? &a->c0 : &a->c1);
}

void cz_fp2_mul_n(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b, size_t n) {
    for (size_t i = 0; i < n; i++) cz_fp2_mul(&r[i], &a[i], &b[i]);
}

void cz_fp2_inv_n(struct cz_fp2 *r, const struct cz_fp2 *a, struct cz_fp2 *scratch, size_t n) {
    struct cz_fp2 acc = CZ_FP2_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!cz_fp2_is_zero(&a[i])) cz_fp2_mul(&acc, &acc, &a[i]);
    }
    cz_fp2_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (cz_fp2_is_zero(&a[i])) {
            r[i] = CZ_FP2_ZERO;
            continue;
        }
        struct cz_fp2 t = a[i];
        cz_fp2_mul(&r[i], &acc, &scratch[i]);
        cz_fp2_mul(&acc, &acc, &t);
    }
}
