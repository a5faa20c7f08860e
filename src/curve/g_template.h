/*
 * The arithmetic of G1 and of G2, included once by g1.c and once by g2.c (no include guard). Before, they define:
 *
 *   G(f)       cz_g1_##f              FE      struct cz_fp          B      the constant of y² = x³ + B
 *   POINT      struct cz_g1           F(f)    cz_fp_##f             DIM    parts of a scalar: 2 or 4
 *   AFFINE     struct cz_g1_affine    FE_ONE  CZ_FP_ONE
 *
 * and after, static `endo`: a·|x|^(4/DIM) for a in the subgroup, by the endomorphism.
 *
 * Formulas: Bernstein and Lange, Explicit-Formulas Database, short Weierstrass curves with a = 0, Jacobian
 * coordinates: dbl-2009-l, add-2007-bl, madd-2007-bl. The curve orders are odd, so no point has y = 0.
 */

static void endo(POINT *r, const POINT *a);

bool G(affine_is_infinity)(const AFFINE *a) {
    return F(is_zero)(&a->x) && F(is_zero)(&a->y);
}

bool G(affine_eq)(const AFFINE *a, const AFFINE *b) {
    return F(eq)(&a->x, &b->x) && F(eq)(&a->y, &b->y);
}

void G(affine_neg)(AFFINE *r, const AFFINE *a) {
    r->x = a->x;
    F(neg)(&r->y, &a->y);
}

bool G(affine_on_curve)(const AFFINE *a) {
    FE left, right;
    if (G(affine_is_infinity)(a)) return true;
    G(curve_rhs)(&right, &a->x);
    F(sqr)(&left, &a->y);
    return F(eq)(&left, &right);
}

void G(curve_rhs)(FE *r, const FE *x) {
    FE t;
    F(sqr)(&t, x);
    F(mul)(&t, &t, x);
    F(add)(r, &t, &B);
}

void G(from_affine)(POINT *r, const AFFINE *a) {
    if (G(affine_is_infinity)(a)) {
        memset(r, 0, sizeof *r);
        return;
    }
    r->x = a->x;
    r->y = a->y;
    r->z = FE_ONE;
}

/* (x·i², y·i³) for i = 1/z; i = 0 gives infinity. */
static void affine_with_inverse(AFFINE *r, const POINT *a, const FE *i) {
    FE i2;
    F(sqr)(&i2, i);
    F(mul)(&r->x, &a->x, &i2);
    F(mul)(&i2, &i2, i);
    F(mul)(&r->y, &a->y, &i2);
}

void G(to_affine)(AFFINE *r, const POINT *a) {
    FE i;
    F(inv)(&i, &a->z);
    affine_with_inverse(r, a, &i);
}

void G(to_affine_n)(AFFINE *r, const POINT *a, FE *scratch, size_t n) {
    FE product = FE_ONE, inverse, one;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = product;
        if (!G(is_infinity)(&a[i])) F(mul)(&product, &product, &a[i].z);
    }
    F(inv)(&inverse, &product);
    for (size_t i = n; i-- > 0;) {
        if (G(is_infinity)(&a[i])) {
            memset(&r[i], 0, sizeof r[i]);
            continue;
        }
        F(mul)(&one, &inverse, &scratch[i]);
        F(mul)(&inverse, &inverse, &a[i].z);
        affine_with_inverse(&r[i], &a[i], &one);
    }
}

bool G(is_infinity)(const POINT *a) {
    return F(is_zero)(&a->z);
}

bool G(eq)(const POINT *a, const POINT *b) {
    FE za2, zb2, s, t;
    bool a_infinite = G(is_infinity)(a), b_infinite = G(is_infinity)(b);
    if (a_infinite || b_infinite) return a_infinite && b_infinite;
    F(sqr)(&za2, &a->z);
    F(sqr)(&zb2, &b->z);
    F(mul)(&s, &a->x, &zb2);
    F(mul)(&t, &b->x, &za2);
    if (!F(eq)(&s, &t)) return false;
    F(mul)(&za2, &za2, &a->z);
    F(mul)(&zb2, &zb2, &b->z);
    F(mul)(&s, &a->y, &zb2);
    F(mul)(&t, &b->y, &za2);
    return F(eq)(&s, &t);
}

void G(neg)(POINT *r, const POINT *a) {
    r->x = a->x;
    F(neg)(&r->y, &a->y);
    r->z = a->z;
}

void G(dbl)(POINT *r, const POINT *a) {
    FE xx, yy, yyyy, s, m, t;
    F(sqr)(&xx, &a->x);
    F(sqr)(&yy, &a->y);
    F(sqr)(&yyyy, &yy);
    F(add)(&s, &a->x, &yy); /* s = 2·((x + yy)² - xx - yyyy) = 4·x·yy */
    F(sqr)(&s, &s);
    F(sub)(&s, &s, &xx);
    F(sub)(&s, &s, &yyyy);
    F(dbl)(&s, &s);
    F(dbl)(&m, &xx);
    F(add)(&m, &m, &xx);
    F(mul)(&t, &a->y, &a->z);
    F(dbl)(&r->z, &t);
    F(sqr)(&t, &m);
    F(sub)(&t, &t, &s);
    F(sub)(&r->x, &t, &s);
    F(sub)(&s, &s, &r->x);
    F(mul)(&s, &s, &m);
    F(dbl)(&yyyy, &yyyy);
    F(dbl)(&yyyy, &yyyy);
    F(dbl)(&yyyy, &yyyy);
    F(sub)(&r->y, &s, &yyyy);
}

/*
 * The end that both additions share, from u = U1 and s = S1 (the first point over the common denominator),
 * h = U2 - U1 and d = S2 - S1, h not 0. r->z is set by the caller, who knows the short ways to 2·Z1·Z2·H.
 */
static void add_finish(POINT *r, const FE *u, const FE *s, const FE *h, const FE *d) {
    FE i, j, v, w, x3;
    F(dbl)(&i, h);
    F(sqr)(&i, &i);
    F(mul)(&j, h, &i);
    F(mul)(&v, u, &i);
    F(dbl)(&w, d);
    F(sqr)(&x3, &w);
    F(sub)(&x3, &x3, &j);
    F(sub)(&x3, &x3, &v);
    F(sub)(&x3, &x3, &v);
    F(sub)(&v, &v, &x3);
    F(mul)(&v, &v, &w);
    F(mul)(&j, &j, s);
    F(dbl)(&j, &j);
    F(sub)(&r->y, &v, &j);
    r->x = x3;
}

void G(add)(POINT *r, const POINT *a, const POINT *b) {
    FE za2, zb2, u1, u2, s1, s2, z;
    if (G(is_infinity)(a)) {
        *r = *b;
        return;
    }
    if (G(is_infinity)(b)) {
        *r = *a;
        return;
    }
    F(sqr)(&za2, &a->z);
    F(sqr)(&zb2, &b->z);
    F(mul)(&u1, &a->x, &zb2);
    F(mul)(&u2, &b->x, &za2);
    F(mul)(&s1, &a->y, &b->z);
    F(mul)(&s1, &s1, &zb2);
    F(mul)(&s2, &b->y, &a->z);
    F(mul)(&s2, &s2, &za2);
    F(sub)(&u2, &u2, &u1);
    F(sub)(&s2, &s2, &s1);
    if (F(is_zero)(&u2)) {
        if (F(is_zero)(&s2))
            G(dbl)(r, a);
        else
            memset(r, 0, sizeof *r);
        return;
    }
    F(add)(&z, &a->z, &b->z); /* (za + zb)² - za² - zb² = 2·za·zb */
    F(sqr)(&z, &z);
    F(sub)(&z, &z, &za2);
    F(sub)(&z, &z, &zb2);
    F(mul)(&r->z, &z, &u2);
    add_finish(r, &u1, &s1, &u2, &s2);
}

void G(add_affine)(POINT *r, const POINT *a, const AFFINE *b) {
    FE zz, u2, s2, z, hh, u1, s1;
    if (G(affine_is_infinity)(b)) {
        *r = *a;
        return;
    }
    if (G(is_infinity)(a)) {
        G(from_affine)(r, b);
        return;
    }
    u1 = a->x;
    s1 = a->y;
    F(sqr)(&zz, &a->z);
    F(mul)(&u2, &b->x, &zz);
    F(mul)(&s2, &b->y, &a->z);
    F(mul)(&s2, &s2, &zz);
    F(sub)(&u2, &u2, &u1);
    F(sub)(&s2, &s2, &s1);
    if (F(is_zero)(&u2)) {
        if (F(is_zero)(&s2))
            G(dbl)(r, a);
        else
            memset(r, 0, sizeof *r);
        return;
    }
    F(add)(&z, &a->z, &u2); /* (z + h)² - z² - h² = 2·z·h */
    F(sqr)(&z, &z);
    F(sub)(&z, &z, &zz);
    F(sqr)(&hh, &u2);
    F(sub)(&r->z, &z, &hh);
    add_finish(r, &u1, &s1, &u2, &s2);
}

/* table[i] = (i + 1)·a */
#define TABLE 8

static void table_fill(POINT table[TABLE], const POINT *a) {
    table[0] = *a;
    for (unsigned i = 1; i < TABLE; i++) {
        if (i & 1)
            G(dbl)(&table[i], &table[i / 2]);
        else
            G(add)(&table[i], &table[i - 1], a);
    }
}

/* Signed digit `index` of k in base 16, -8 to 8 (Booth): from bits 4·index + 3 down to 4·index - 1. */
static int digit_of(const uint64_t *k, size_t n, size_t index) {
    size_t bit = 4 * index, limb = bit / 64, shift = bit % 64;
    unsigned below = 0, v = 0;
    if (bit > 0) below = (unsigned)(k[(bit - 1) / 64] >> ((bit - 1) % 64)) & 1;
    if (limb < n) v = (unsigned)(k[limb] >> shift) & 15;
    return (int)(v + below) - (v & 8 ? 16 : 0);
}

/* r = Σ k_j·P_j over `dim` tables, where k_j are the n limbs at k + j·n: one run of doublings for all. */
static void mul_joint(POINT *r, POINT (*table)[TABLE], unsigned dim, const uint64_t *k, size_t n) {
    POINT sum, t;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 16 * n + 1; i-- > 0;) {
        if (!G(is_infinity)(&sum))
            for (int j = 0; j < 4; j++) G(dbl)(&sum, &sum);
        for (unsigned j = 0; j < dim; j++) {
            int digit = digit_of(k + j * n, n, i);
            if (digit > 0) {
                G(add)(&sum, &sum, &table[j][digit - 1]);
            } else if (digit < 0) {
                G(neg)(&t, &table[j][-digit - 1]);
                G(add)(&sum, &sum, &t);
            }
        }
    }
    *r = sum;
}

void G(mul_limbs)(POINT *r, const POINT *a, const uint64_t *k, size_t n) {
    POINT table[1][TABLE];
    if (n == 0) {
        memset(r, 0, sizeof *r);
        return;
    }
    table_fill(table[0], a);
    mul_joint(r, table, 1, k, n);
}

/*
 * k = d0 + d1·|x| + d2·|x|² + d3·|x|³ with 64-bit digits (k < r < x⁴). G2 takes the four digits as scalars for
 * a, |x|·a, |x|²·a, |x|³·a (Galbraith, Lin, Scott, ePrint 2008/194); G1 joins them to two of 128 bits for a and |x|²·a
 * (Gallant, Lambert, Vanstone).
 */
static void scalar_split(uint64_t part[4], const struct cz_fr *k) {
    uint64_t v[4];
    cz_fr_to_limbs(v, k);
    for (int digit = 0; digit < 4; digit++) {
        unsigned __int128 rest = 0;
        for (int i = 3; i >= 0; i--) {
            rest = rest << 64 | v[i];
            v[i] = (uint64_t)(rest / CZ_CURVE_X);
            rest %= CZ_CURVE_X;
        }
        part[digit] = (uint64_t)rest;
    }
#if DIM == 2
    for (int i = 0; i < 4; i += 2) {
        unsigned __int128 joined = (unsigned __int128)part[i + 1] * CZ_CURVE_X + part[i];
        part[i] = (uint64_t)joined;
        part[i + 1] = (uint64_t)(joined >> 64);
    }
#endif
    cz_memzero(v, sizeof v);
}

void G(mul)(POINT *r, const POINT *a, const struct cz_fr *k) {
    POINT table[DIM][TABLE];
    uint64_t part[4];
    scalar_split(part, k);
    table_fill(table[0], a);
    for (unsigned j = 1; j < DIM; j++)
        for (unsigned i = 0; i < TABLE; i++) endo(&table[j][i], &table[j - 1][i]);
    mul_joint(r, table, DIM, part, 4 / DIM);
    cz_memzero(part, sizeof part);
}

/* r = |x|·a: 63 doublings and 5 additions. */
static void mul_x(POINT *r, const POINT *a) {
    POINT sum = *a;
    for (int bit = 62; bit >= 0; bit--) {
        G(dbl)(&sum, &sum);
        if (CZ_CURVE_X >> bit & 1) G(add)(&sum, &sum, a);
    }
    *r = sum;
}

bool G(affine_in_subgroup)(const AFFINE *a) {
    POINT p, left, right;
    G(from_affine)(&p, a);
    if (G(is_infinity)(&p)) return true;
    endo(&left, &p);
    mul_x(&right, &p);
    if (DIM == 2) mul_x(&right, &right);
    return G(eq)(&left, &right);
}
