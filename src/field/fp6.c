#define FIELD_NEED_FROBENIUS_V
#include "field/fp6.h"

#include "field/constants.h"

const struct cz_fp6 CZ_FP6_ZERO = {0};
const struct cz_fp6 CZ_FP6_ONE = {.c0 = {.c0 = {FP_R_LIMBS}}};

void cz_fp6_add(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b) {
    cz_fp2_add(&r->c0, &a->c0, &b->c0);
    cz_fp2_add(&r->c1, &a->c1, &b->c1);
    cz_fp2_add(&r->c2, &a->c2, &b->c2);
}

void cz_fp6_sub(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b) {
    cz_fp2_sub(&r->c0, &a->c0, &b->c0);
    cz_fp2_sub(&r->c1, &a->c1, &b->c1);
    cz_fp2_sub(&r->c2, &a->c2, &b->c2);
}

void cz_fp6_dbl(struct cz_fp6 *r, const struct cz_fp6 *a) {
    cz_fp6_add(r, a, a);
}

void cz_fp6_neg(struct cz_fp6 *r, const struct cz_fp6 *a) {
    cz_fp2_neg(&r->c0, &a->c0);
    cz_fp2_neg(&r->c1, &a->c1);
    cz_fp2_neg(&r->c2, &a->c2);
}

/* r = (a + b)(c + d) - x - y: a Karatsuba cross term. */
static void cross(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b, const struct cz_fp2 *c,
                  const struct cz_fp2 *d, const struct cz_fp2 *x, const struct cz_fp2 *y) {
    struct cz_fp2 s, t;
    cz_fp2_add(&s, a, b);
    cz_fp2_add(&t, c, d);
    cz_fp2_mul(&s, &s, &t);
    cz_fp2_sub(&s, &s, x);
    cz_fp2_sub(r, &s, y);
}

/* Karatsuba, six products (Devegili et al., "Multiplication and squaring on pairing-friendly fields", §4). */
void cz_fp6_mul(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b) {
    struct cz_fp2 m0, m1, m2, t0, t1, t2;
    cz_fp2_mul(&m0, &a->c0, &b->c0);
    cz_fp2_mul(&m1, &a->c1, &b->c1);
    cz_fp2_mul(&m2, &a->c2, &b->c2);
    cross(&t0, &a->c1, &a->c2, &b->c1, &b->c2, &m1, &m2);
    cross(&t1, &a->c0, &a->c1, &b->c0, &b->c1, &m0, &m1);
    cross(&t2, &a->c0, &a->c2, &b->c0, &b->c2, &m0, &m2);
    cz_fp2_mul_xi(&t0, &t0);
    cz_fp2_add(&r->c0, &t0, &m0);
    cz_fp2_add(&r->c2, &t2, &m1);
    cz_fp2_mul_xi(&m2, &m2);
    cz_fp2_add(&r->c1, &t1, &m2);
}

/* Chung and Hasan, "Asymmetric squaring formulae", SQR2: three squarings, two products. */
void cz_fp6_sqr(struct cz_fp6 *r, const struct cz_fp6 *a) {
    struct cz_fp2 s0, s1, s2, s3, s4, t;
    cz_fp2_sqr(&s0, &a->c0);
    cz_fp2_mul(&s1, &a->c0, &a->c1);
    cz_fp2_dbl(&s1, &s1);
    cz_fp2_sub(&t, &a->c0, &a->c1);
    cz_fp2_add(&t, &t, &a->c2);
    cz_fp2_sqr(&s2, &t);
    cz_fp2_mul(&s3, &a->c1, &a->c2);
    cz_fp2_dbl(&s3, &s3);
    cz_fp2_sqr(&s4, &a->c2);
    cz_fp2_add(&t, &s1, &s2);
    cz_fp2_add(&t, &t, &s3);
    cz_fp2_sub(&t, &t, &s0);
    cz_fp2_sub(&r->c2, &t, &s4);
    cz_fp2_mul_xi(&s3, &s3);
    cz_fp2_add(&r->c0, &s0, &s3);
    cz_fp2_mul_xi(&s4, &s4);
    cz_fp2_add(&r->c1, &s1, &s4);
}

void cz_fp6_mul_v(struct cz_fp6 *r, const struct cz_fp6 *a) {
    struct cz_fp2 t;
    cz_fp2_mul_xi(&t, &a->c2);
    r->c2 = a->c1;
    r->c1 = a->c0;
    r->c0 = t;
}

void cz_fp6_mul_by_01(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp2 *b0, const struct cz_fp2 *b1) {
    struct cz_fp2 m0, m1, t0, t1, t2;
    cz_fp2_mul(&m0, &a->c0, b0);
    cz_fp2_mul(&m1, &a->c1, b1);
    cz_fp2_mul(&t0, &a->c2, b1);
    cz_fp2_mul(&t2, &a->c2, b0);
    cross(&t1, &a->c0, &a->c1, b0, b1, &m0, &m1);
    cz_fp2_mul_xi(&t0, &t0);
    cz_fp2_add(&r->c0, &t0, &m0);
    r->c1 = t1;
    cz_fp2_add(&r->c2, &t2, &m1);
}

void cz_fp6_mul_by_1(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp2 *b1) {
    struct cz_fp2 t0, t1, t2;
    cz_fp2_mul(&t0, &a->c2, b1);
    cz_fp2_mul(&t1, &a->c0, b1);
    cz_fp2_mul(&t2, &a->c1, b1);
    cz_fp2_mul_xi(&r->c0, &t0);
    r->c1 = t1;
    r->c2 = t2;
}

/* By the adjoint: a·(A + B·v + C·v²) = F in Fp2. */
void cz_fp6_inv(struct cz_fp6 *r, const struct cz_fp6 *a) {
    struct cz_fp2 x, y, z, t, f;
    cz_fp2_sqr(&x, &a->c0);
    cz_fp2_mul(&t, &a->c1, &a->c2);
    cz_fp2_mul_xi(&t, &t);
    cz_fp2_sub(&x, &x, &t);
    cz_fp2_sqr(&y, &a->c2);
    cz_fp2_mul_xi(&y, &y);
    cz_fp2_mul(&t, &a->c0, &a->c1);
    cz_fp2_sub(&y, &y, &t);
    cz_fp2_sqr(&z, &a->c1);
    cz_fp2_mul(&t, &a->c0, &a->c2);
    cz_fp2_sub(&z, &z, &t);
    cz_fp2_mul(&f, &a->c2, &y);
    cz_fp2_mul(&t, &a->c1, &z);
    cz_fp2_add(&f, &f, &t);
    cz_fp2_mul_xi(&f, &f);
    cz_fp2_mul(&t, &a->c0, &x);
    cz_fp2_add(&f, &f, &t);
    cz_fp2_inv(&f, &f);
    cz_fp2_mul(&r->c0, &x, &f);
    cz_fp2_mul(&r->c1, &y, &f);
    cz_fp2_mul(&r->c2, &z, &f);
}

void cz_fp6_frobenius(struct cz_fp6 *r, const struct cz_fp6 *a, unsigned power) {
    struct cz_fp6 t = *a;
    if (power % 2) {
        cz_fp2_conj(&t.c0, &t.c0);
        cz_fp2_conj(&t.c1, &t.c1);
        cz_fp2_conj(&t.c2, &t.c2);
    }
    cz_fp2_mul(&t.c1, &t.c1, &frobenius_v[power % 6]);
    cz_fp2_mul(&t.c2, &t.c2, &frobenius_v2[power % 6]);
    *r = t;
}

bool cz_fp6_is_zero(const struct cz_fp6 *a) {
    return cz_fp2_is_zero(&a->c0) && cz_fp2_is_zero(&a->c1) && cz_fp2_is_zero(&a->c2);
}

bool cz_fp6_eq(const struct cz_fp6 *a, const struct cz_fp6 *b) {
    return cz_fp2_eq(&a->c0, &b->c0) && cz_fp2_eq(&a->c1, &b->c1) && cz_fp2_eq(&a->c2, &b->c2);
}
