#define FIELD_NEED_FROBENIUS_W
#include "field/fp12.h"

#include "field/constants.h"

const struct cz_fp12 CZ_FP12_ONE = {.c0 = {.c0 = {.c0 = {FP_R_LIMBS}}}};

void cz_fp12_mul(struct cz_fp12 *r, const struct cz_fp12 *a, const struct cz_fp12 *b) {
    struct cz_fp6 m0, m1, s, t;
    cz_fp6_mul(&m0, &a->c0, &b->c0);
    cz_fp6_mul(&m1, &a->c1, &b->c1);
    cz_fp6_add(&s, &a->c0, &a->c1);
    cz_fp6_add(&t, &b->c0, &b->c1);
    cz_fp6_mul(&s, &s, &t);
    cz_fp6_sub(&s, &s, &m0);
    cz_fp6_sub(&r->c1, &s, &m1);
    cz_fp6_mul_v(&m1, &m1);
    cz_fp6_add(&r->c0, &m0, &m1);
}

/* Complex squaring: c0² + v·c1² = (c0 + c1)(c0 + v·c1) - m - v·m with m = c0·c1. */
void cz_fp12_sqr(struct cz_fp12 *r, const struct cz_fp12 *a) {
    struct cz_fp6 m, s, t;
    cz_fp6_mul(&m, &a->c0, &a->c1);
    cz_fp6_add(&s, &a->c0, &a->c1);
    cz_fp6_mul_v(&t, &a->c1);
    cz_fp6_add(&t, &t, &a->c0);
    cz_fp6_mul(&s, &s, &t);
    cz_fp6_sub(&s, &s, &m);
    cz_fp6_mul_v(&t, &m);
    cz_fp6_sub(&r->c0, &s, &t);
    cz_fp6_dbl(&r->c1, &m);
}

void cz_fp12_conj(struct cz_fp12 *r, const struct cz_fp12 *a) {
    r->c0 = a->c0;
    cz_fp6_neg(&r->c1, &a->c1);
}

void cz_fp12_inv(struct cz_fp12 *r, const struct cz_fp12 *a) {
    struct cz_fp6 s, t;
    cz_fp6_sqr(&s, &a->c0);
    cz_fp6_sqr(&t, &a->c1);
    cz_fp6_mul_v(&t, &t);
    cz_fp6_sub(&s, &s, &t);
    cz_fp6_inv(&s, &s);
    cz_fp6_mul(&r->c0, &a->c0, &s);
    cz_fp6_neg(&s, &s);
    cz_fp6_mul(&r->c1, &a->c1, &s);
}

void cz_fp12_frobenius(struct cz_fp12 *r, const struct cz_fp12 *a, unsigned power) {
    const struct cz_fp2 *w = &frobenius_w[power % 12];
    cz_fp6_frobenius(&r->c0, &a->c0, power);
    cz_fp6_frobenius(&r->c1, &a->c1, power);
    cz_fp2_mul(&r->c1.c0, &r->c1.c0, w);
    cz_fp2_mul(&r->c1.c1, &r->c1.c1, w);
    cz_fp2_mul(&r->c1.c2, &r->c1.c2, w);
}

void cz_fp12_mul_by_014(struct cz_fp12 *r, const struct cz_fp12 *a, const struct cz_fp2 *c0, const struct cz_fp2 *c1,
                        const struct cz_fp2 *c4) {
    struct cz_fp6 m0, m1, s;
    struct cz_fp2 t;
    cz_fp6_mul_by_01(&m0, &a->c0, c0, c1);
    cz_fp6_mul_by_1(&m1, &a->c1, c4);
    cz_fp2_add(&t, c1, c4);
    cz_fp6_add(&s, &a->c0, &a->c1);
    cz_fp6_mul_by_01(&s, &s, c0, &t);
    cz_fp6_sub(&s, &s, &m0);
    cz_fp6_sub(&r->c1, &s, &m1);
    cz_fp6_mul_v(&m1, &m1);
    cz_fp6_add(&r->c0, &m0, &m1);
}

/* (x + y·s)² = (x² + ξ·y²) + 2xy·s in Fp4 = Fp2[s]/(s² - ξ). */
static void fp4_sqr(struct cz_fp2 *even, struct cz_fp2 *odd, const struct cz_fp2 *x, const struct cz_fp2 *y) {
    struct cz_fp2 xx, yy, s;
    cz_fp2_sqr(&xx, x);
    cz_fp2_sqr(&yy, y);
    cz_fp2_add(&s, x, y);
    cz_fp2_sqr(&s, &s);
    cz_fp2_sub(&s, &s, &xx);
    cz_fp2_sub(odd, &s, &yy);
    cz_fp2_mul_xi(&yy, &yy);
    cz_fp2_add(even, &xx, &yy);
}

/* r = 3t - 2a and r = 3t + 2a: the two shapes of Granger and Scott's formula. */
static void triple_minus(struct cz_fp2 *r, const struct cz_fp2 *t, const struct cz_fp2 *a) {
    struct cz_fp2 d;
    cz_fp2_sub(&d, t, a);
    cz_fp2_dbl(&d, &d);
    cz_fp2_add(r, &d, t);
}

static void triple_plus(struct cz_fp2 *r, const struct cz_fp2 *t, const struct cz_fp2 *a) {
    struct cz_fp2 d;
    cz_fp2_add(&d, t, a);
    cz_fp2_dbl(&d, &d);
    cz_fp2_add(r, &d, t);
}

/* Over Fp4 = Fp2[s], s = v·w: the pairs (c0.c0, c1.c1), (c1.c0, c0.c2), (c0.c1, c1.c2). */
void cz_fp12_cyclotomic_sqr(struct cz_fp12 *r, const struct cz_fp12 *a) {
    struct cz_fp2 e0, o0, e1, o1, e2, o2;
    fp4_sqr(&e0, &o0, &a->c0.c0, &a->c1.c1);
    fp4_sqr(&e1, &o1, &a->c1.c0, &a->c0.c2);
    fp4_sqr(&e2, &o2, &a->c0.c1, &a->c1.c2);
    cz_fp2_mul_xi(&o2, &o2);
    triple_minus(&r->c0.c0, &e0, &a->c0.c0);
    triple_minus(&r->c0.c1, &e1, &a->c0.c1);
    triple_minus(&r->c0.c2, &e2, &a->c0.c2);
    triple_plus(&r->c1.c0, &o2, &a->c1.c0);
    triple_plus(&r->c1.c1, &o0, &a->c1.c1);
    triple_plus(&r->c1.c2, &o1, &a->c1.c2);
}

void cz_fp12_cyclotomic_pow_vartime(struct cz_fp12 *r, const struct cz_fp12 *a, uint64_t e) {
    struct cz_fp12 base = *a, acc = CZ_FP12_ONE;
    for (int i = 63; i >= 0; i--) {
        cz_fp12_cyclotomic_sqr(&acc, &acc);
        if (e >> i & 1) cz_fp12_mul(&acc, &acc, &base);
    }
    *r = acc;
}

bool cz_fp12_is_one(const struct cz_fp12 *a) {
    return cz_fp12_eq(a, &CZ_FP12_ONE);
}

bool cz_fp12_eq(const struct cz_fp12 *a, const struct cz_fp12 *b) {
    return cz_fp6_eq(&a->c0, &b->c0) && cz_fp6_eq(&a->c1, &b->c1);
}
