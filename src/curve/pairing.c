/*
 * Miller loop: Vercauteren's optimal ate pairing, f_{x,Q}(P). Points of G2 in homogeneous projective coordinates
 * (X/Z, Y/Z) on the twist, with the formulas of Costello, Lange, Naehrig (ePrint 2009/615) as in Aranha et al.
 * (ePrint 2010/526), scaled by 4 to have no halves. A line l, times a factor of Fp2 that the final exponentiation
 * removes, is c0 + c1·v + c4·v·w.
 */

#include "curve/pairing.h"

#include "curve/constants.h"

/* One pair under way: t runs from q to |x|·q. */
struct pair {
    struct cz_fp2 x, y, z;
    const struct cz_g1_affine *p;
    const struct cz_g2_affine *q;
};

struct line {
    struct cz_fp2 c0, c1, c4;
};

/* f = f·l(p), where l came without the coordinates of p. */
static void line_apply(struct cz_fp12 *f, struct line *l, const struct cz_g1_affine *p) {
    cz_fp2_mul_fp(&l->c1, &l->c1, &p->x);
    cz_fp2_mul_fp(&l->c4, &l->c4, &p->y);
    cz_fp12_mul_by_014(f, f, &l->c0, &l->c1, &l->c4);
}

/* t = 2t and the tangent: (3b'Z² - Y²) + 3X²·xp·v - 2YZ·yp·v·w. */
static void step_double(struct line *l, struct pair *t) {
    struct cz_fp2 xy, b, c, e, f, h, s;
    cz_fp2_mul(&xy, &t->x, &t->y);
    cz_fp2_sqr(&b, &t->y);
    cz_fp2_sqr(&c, &t->z);
    cz_fp2_add(&h, &t->y, &t->z); /* h = 2YZ */
    cz_fp2_sqr(&h, &h);
    cz_fp2_sub(&h, &h, &b);
    cz_fp2_sub(&h, &h, &c);
    cz_fp2_dbl(&e, &c); /* e = 3b'Z² = 12(1 + u)Z² */
    cz_fp2_add(&e, &e, &c);
    cz_fp2_mul_xi(&e, &e);
    cz_fp2_dbl(&e, &e);
    cz_fp2_dbl(&e, &e);
    cz_fp2_dbl(&f, &e);
    cz_fp2_add(&f, &f, &e);

    cz_fp2_sub(&l->c0, &e, &b);
    cz_fp2_sqr(&s, &t->x);
    cz_fp2_dbl(&l->c1, &s);
    cz_fp2_add(&l->c1, &l->c1, &s);
    cz_fp2_neg(&l->c4, &h);

    cz_fp2_sub(&s, &b, &f); /* X = 2XY·(b - f) */
    cz_fp2_mul(&t->x, &xy, &s);
    cz_fp2_dbl(&t->x, &t->x);
    cz_fp2_mul(&t->z, &b, &h); /* Z = 4b·h */
    cz_fp2_dbl(&t->z, &t->z);
    cz_fp2_dbl(&t->z, &t->z);
    cz_fp2_add(&s, &b, &f); /* Y = (b + f)² - 12e² */
    cz_fp2_sqr(&s, &s);
    cz_fp2_sqr(&e, &e);
    cz_fp2_dbl(&e, &e);
    cz_fp2_dbl(&e, &e);
    cz_fp2_sub(&s, &s, &e);
    cz_fp2_sub(&s, &s, &e);
    cz_fp2_sub(&t->y, &s, &e);
}

/*
 * t = t + q and the chord, with d = Y - yq·Z and k = X - xq·Z: (d·xq - k·yq) - d·xp·v + k·yp·v·w. In a loop over |x|
 * with q of order r, t = m·q with 1 < m < r - 1, so that t is never q, -q or infinite. For points of other orders the
 * formulas still run, and give no meaning.
 */
static void step_add(struct line *l, struct pair *t) {
    struct cz_fp2 d, k, kk, e, f, g, s;
    cz_fp2_mul(&s, &t->q->y, &t->z);
    cz_fp2_sub(&d, &t->y, &s);
    cz_fp2_mul(&s, &t->q->x, &t->z);
    cz_fp2_sub(&k, &t->x, &s);

    cz_fp2_mul(&l->c0, &d, &t->q->x);
    cz_fp2_mul(&s, &k, &t->q->y);
    cz_fp2_sub(&l->c0, &l->c0, &s);
    cz_fp2_neg(&l->c1, &d);
    l->c4 = k;

    cz_fp2_sqr(&kk, &k);
    cz_fp2_mul(&e, &k, &kk);
    cz_fp2_sqr(&f, &d);
    cz_fp2_mul(&f, &f, &t->z);
    cz_fp2_mul(&g, &t->x, &kk);
    cz_fp2_add(&s, &e, &f); /* s = k³ + d²·Z - 2X·k² */
    cz_fp2_sub(&s, &s, &g);
    cz_fp2_sub(&s, &s, &g);
    cz_fp2_mul(&t->x, &k, &s);
    cz_fp2_sub(&g, &g, &s);
    cz_fp2_mul(&g, &g, &d);
    cz_fp2_mul(&s, &e, &t->y);
    cz_fp2_sub(&t->y, &g, &s);
    cz_fp2_mul(&t->z, &t->z, &e);
}

/* f = Π f_{|x|}(p, q), conjugated as x is negative. All pairs share the squarings of f. */
static void miller_loop(struct cz_fp12 *f, struct pair *pair, size_t n) {
    struct line l;
    *f = CZ_FP12_ONE;
    for (int bit = 62; bit >= 0; bit--) {
        if (bit != 62) cz_fp12_sqr(f, f);
        for (size_t i = 0; i < n; i++) {
            step_double(&l, &pair[i]);
            line_apply(f, &l, pair[i].p);
        }
        if (!(CZ_CURVE_X >> bit & 1)) continue;
        for (size_t i = 0; i < n; i++) {
            step_add(&l, &pair[i]);
            line_apply(f, &l, pair[i].p);
        }
    }
    cz_fp12_conj(f, f);
}

void cz_pairing_miller_n(struct cz_fp12 *r, const struct cz_g1_affine *p, const struct cz_g2_affine *q, size_t n) {
    enum { CHUNK = 32 }; /* bounds the stack; beyond it, the shared squarings are a small part of the work */
    struct pair pair[CHUNK];
    struct cz_fp12 f, product = CZ_FP12_ONE;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!cz_g1_affine_is_infinity(&p[i]) && !cz_g2_affine_is_infinity(&q[i]))
            pair[count++] = (struct pair){q[i].x, q[i].y, CZ_FP2_ONE, &p[i], &q[i]};
        if (count == CHUNK || (i + 1 == n && count > 0)) {
            miller_loop(&f, pair, count);
            cz_fp12_mul(&product, &product, &f);
            count = 0;
        }
    }
    *r = product;
}

/* r = a^x in the cyclotomic subgroup, where the inverse is the conjugate. */
static void pow_x(struct cz_fp12 *r, const struct cz_fp12 *a) {
    cz_fp12_cyclotomic_pow_vartime(r, a, CZ_CURVE_X);
    cz_fp12_conj(r, r);
}

/* r = a^(x - 1) */
static void pow_x_minus_1(struct cz_fp12 *r, const struct cz_fp12 *a) {
    struct cz_fp12 inverse;
    cz_fp12_conj(&inverse, a);
    pow_x(r, a);
    cz_fp12_mul(r, r, &inverse);
}

/*
 * (p^12 - 1)/r = (p^6 - 1)(p² + 1) · (p⁴ - p² + 1)/r, and three times the last factor is
 * (x - 1)²·(x + p)·(x² + p² - 1) + 3 (Hayashida, Hayasaka, Teruya, ePrint 2020/875).
 */
void cz_pairing_final_exp(struct cz_fp12 *r, const struct cz_fp12 *f) {
    struct cz_fp12 m, a, b;
    cz_fp12_inv(&a, f);
    cz_fp12_conj(&m, f);
    cz_fp12_mul(&m, &m, &a);
    cz_fp12_frobenius(&a, &m, 2);
    cz_fp12_mul(&m, &m, &a);

    pow_x_minus_1(&a, &m);
    pow_x_minus_1(&a, &a);
    pow_x(&b, &a); /* a^(x + p) */
    cz_fp12_frobenius(&a, &a, 1);
    cz_fp12_mul(&a, &a, &b);
    pow_x(&b, &a); /* a^(x² + p² - 1) */
    pow_x(&b, &b);
    cz_fp12_conj(r, &a);
    cz_fp12_mul(&b, &b, r);
    cz_fp12_frobenius(&a, &a, 2);
    cz_fp12_mul(&a, &a, &b);

    cz_fp12_cyclotomic_sqr(&b, &m);
    cz_fp12_mul(&b, &b, &m);
    cz_fp12_mul(r, &a, &b);
}

void cz_pairing(struct cz_fp12 *r, const struct cz_g1_affine *p, const struct cz_g2_affine *q) {
    struct cz_fp12 f;
    cz_pairing_miller_n(&f, p, q, 1);
    cz_pairing_final_exp(r, &f);
}

bool cz_pairing_product_is_one(const struct cz_g1_affine *p, const struct cz_g2_affine *q, size_t n) {
    struct cz_fp12 f;
    cz_pairing_miller_n(&f, p, q, n);
    cz_pairing_final_exp(&f, &f);
    return cz_fp12_is_one(&f);
}
