/*
 * The tests of one group, included by test_g1.c and test_g2.c (no include guard). They define G(f), POINT, AFFINE,
 * FE, F(f), GENERATOR, and the constants COFACTOR and SMALL_COFACTOR (the cofactor, and the cofactor without the
 * square of SMALL_ORDER), limbs low to high.
 */

#include "support.h"

#include <string.h>

static const POINT infinity;

static POINT generator(void) {
    POINT p;
    G(from_affine)(&p, &GENERATOR);
    return p;
}

static void random_fr(struct cz_fr *r, uint64_t *seed) {
    uint64_t limb[4];
    do {
        for (int i = 0; i < 4; i++) limb[i] = test_random(seed);
        limb[3] >>= 1;
    } while (cz_fr_from_limbs(r, limb) != CZ_OK);
}

/* k·G by bits, from the doubling and the addition alone. */
static POINT naive_mul(const POINT *a, const uint64_t *k, size_t n) {
    POINT r = infinity;
    for (size_t bit = 64 * n; bit-- > 0;) {
        G(dbl)(&r, &r);
        if (k[bit / 64] >> (bit % 64) & 1) G(add)(&r, &r, a);
    }
    return r;
}

static POINT random_point(uint64_t *seed) {
    POINT g = generator(), r;
    uint64_t k[2] = {test_random(seed), test_random(seed)};
    r = naive_mul(&g, k, 2);
    return r;
}

/* The first point with x >= start on the whole curve, most of which is outside the subgroup. */
static AFFINE curve_point(uint64_t start) {
    AFFINE a;
    FE rhs;
    for (;; start++) {
        memset(&a, 0, sizeof a);
        SET_X(&a, start);
        F(sqr)(&rhs, &a.x);
        F(mul)(&rhs, &rhs, &a.x);
        F(add)(&rhs, &rhs, &CURVE_B);
        if (F(sqrt)(&a.y, &rhs)) return a;
    }
}

static bool by_order(const AFFINE *a) {
    POINT p;
    G(from_affine)(&p, a);
    G(mul_limbs)(&p, &p, CZ_FR_MODULUS, 4);
    return G(is_infinity)(&p);
}

static void assert_on_curve(const POINT *a) {
    AFFINE p;
    G(to_affine)(&p, a);
    assert_true(G(affine_on_curve)(&p));
}

static void addition_is_a_group(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 20; i++) {
        POINT a = random_point(&seed), b = random_point(&seed), c = random_point(&seed), s, t;
        AFFINE b_affine;
        G(add)(&s, &a, &b);
        assert_on_curve(&s);
        assert_false(G(eq)(&s, &a));
        G(add)(&t, &b, &a);
        assert_true(G(eq)(&s, &t));
        G(to_affine)(&b_affine, &b);
        G(add_affine)(&t, &a, &b_affine);
        assert_true(G(eq)(&s, &t));
        G(add)(&s, &s, &c);
        G(add)(&t, &b, &c);
        G(add)(&t, &a, &t);
        assert_true(G(eq)(&s, &t));
    }
}

static void addition_is_complete(void **state) {
    (void)state;
    uint64_t seed = 2;
    POINT a = random_point(&seed), negative, twice, other, s;
    AFFINE affine, none;
    memset(&none, 0, sizeof none);
    G(dbl)(&twice, &a);
    G(neg)(&negative, &a);
    G(to_affine)(&affine, &a);
    /* the same point with another Z */
    G(add)(&other, &twice, &negative);
    assert_true(G(eq)(&other, &a));
    assert_memory_not_equal(&other, &a, sizeof a);

    G(add)(&s, &a, &a);
    assert_true(G(eq)(&s, &twice));
    G(add)(&s, &a, &other);
    assert_true(G(eq)(&s, &twice));
    G(add_affine)(&s, &other, &affine);
    assert_true(G(eq)(&s, &twice));

    G(neg)(&s, &other);
    G(add)(&s, &s, &a);
    assert_true(G(is_infinity)(&s));
    G(neg)(&s, &other);
    G(add_affine)(&s, &s, &affine);
    assert_true(G(is_infinity)(&s));

    G(add)(&s, &infinity, &a);
    assert_true(G(eq)(&s, &a));
    G(add)(&s, &a, &infinity);
    assert_true(G(eq)(&s, &a));
    G(add)(&s, &infinity, &infinity);
    assert_true(G(is_infinity)(&s));
    G(add_affine)(&s, &infinity, &affine);
    assert_true(G(eq)(&s, &a));
    G(add_affine)(&s, &a, &none);
    assert_true(G(eq)(&s, &a));
    G(add_affine)(&s, &infinity, &none);
    assert_true(G(is_infinity)(&s));
    G(dbl)(&s, &infinity);
    assert_true(G(is_infinity)(&s));
    G(neg)(&s, &infinity);
    assert_true(G(is_infinity)(&s));
    assert_false(G(eq)(&a, &infinity));
    assert_false(G(eq)(&infinity, &a));
    assert_true(G(eq)(&infinity, &s));
    assert_false(G(eq)(&a, &negative)); /* same x */
}

static void outputs_may_alias(void **state) {
    (void)state;
    uint64_t seed = 3;
    POINT a = random_point(&seed), b = random_point(&seed), want, got;
    AFFINE b_affine;
    G(to_affine)(&b_affine, &b);
    G(add)(&want, &a, &b);
    got = a;
    G(add)(&got, &got, &b);
    assert_true(G(eq)(&got, &want));
    got = b;
    G(add)(&got, &a, &got);
    assert_true(G(eq)(&got, &want));
    got = a;
    G(add_affine)(&got, &got, &b_affine);
    assert_true(G(eq)(&got, &want));
    G(dbl)(&want, &a);
    got = a;
    G(dbl)(&got, &got);
    assert_true(G(eq)(&got, &want));
    got = a;
    G(add)(&got, &got, &got);
    assert_true(G(eq)(&got, &want));
    struct cz_fr k;
    random_fr(&k, &seed);
    G(mul)(&want, &a, &k);
    got = a;
    G(mul)(&got, &got, &k);
    assert_true(G(eq)(&got, &want));
    got = a;
    G(neg)(&got, &got);
    G(add)(&got, &got, &a);
    assert_true(G(is_infinity)(&got));
    AFFINE p = GENERATOR;
    G(affine_neg)(&p, &p);
    assert_false(G(affine_eq)(&p, &GENERATOR));
    assert_true(G(affine_on_curve)(&p));
    G(affine_neg)(&p, &p);
    assert_true(G(affine_eq)(&p, &GENERATOR));
}

static void to_affine_in_batches(void **state) {
    (void)state;
    enum { N = 9 };
    uint64_t seed = 4;
    POINT a[N];
    AFFINE all[N], one;
    FE scratch[N];
    for (int i = 0; i < N; i++) a[i] = random_point(&seed);
    a[0] = a[4] = a[8] = infinity;
    G(to_affine_n)(all, a, scratch, N);
    for (int i = 0; i < N; i++) {
        POINT back;
        G(to_affine)(&one, &a[i]);
        assert_true(G(affine_eq)(&one, &all[i]));
        assert_int_equal(G(affine_is_infinity)(&all[i]), i % 4 == 0);
        G(from_affine)(&back, &all[i]);
        assert_true(G(eq)(&back, &a[i]));
    }
    one = all[1];
    G(to_affine_n)(all, a + 1, scratch, 0);
    G(to_affine_n)(all, a + 8, scratch, 1);
    assert_true(G(affine_is_infinity)(&all[0]));
    G(to_affine_n)(all, a + 1, scratch, 1);
    assert_true(G(affine_eq)(&all[0], &one));
}

/* Small multiples against sums, edges of the scalar split, random scalars; in and outside the subgroup for limbs. */
static void multiplication(void **state) {
    (void)state;
    const uint64_t x = 0xd201000000010000u;
    uint64_t seed = 5, limb[4],
             edge[][4] = {
                 {x},
                 {x - 1},
                 {x + 1},
                 {UINT64_MAX},
                 {0, 1},
                 {0, 0, 1},
                 {0, 0, 0, 1},
                 {0x8888888888888888u, 8},
                 {0, 0, x},
                 {8},
                 {7},
                 {9},
                 {0, x, 1, x >> 1},
                 {1ull << 63},
                 {0, 1u << 31},
                 {0x7777777777777777u, 0x8888888888888888u},
             };
    POINT a = random_point(&seed), sum = infinity, got, got_limbs, want;
    struct cz_fr k;
    for (uint64_t i = 0; i < 40; i++) {
        cz_fr_from_u64(&k, i);
        G(mul)(&got, &a, &k);
        G(mul_limbs)(&got_limbs, &a, &i, 1);
        assert_true(G(eq)(&got, &sum));
        assert_true(G(eq)(&got_limbs, &sum));
        G(add)(&sum, &sum, &a);
    }
    for (size_t i = 0; i < sizeof edge / sizeof *edge + 20; i++) {
        if (i < sizeof edge / sizeof *edge) {
            assert_int_equal(cz_fr_from_limbs(&k, edge[i]), CZ_OK);
        } else {
            random_fr(&k, &seed);
        }
        cz_fr_to_limbs(limb, &k);
        want = naive_mul(&a, limb, 4);
        G(mul)(&got, &a, &k);
        G(mul_limbs)(&got_limbs, &a, limb, 4);
        assert_true(G(eq)(&got, &want));
        assert_true(G(eq)(&got_limbs, &want));
        assert_on_curve(&got);
    }
    /* (r - 1)·a = -a, r·a = 0, more limbs than r has, none at all, infinity */
    cz_fr_neg(&k, &CZ_FR_ONE);
    G(mul)(&got, &a, &k);
    G(add)(&got, &got, &a);
    assert_true(G(is_infinity)(&got));
    G(mul_limbs)(&got, &a, CZ_FR_MODULUS, 4);
    assert_true(G(is_infinity)(&got));
    uint64_t wide[5] = {CZ_FR_MODULUS[0] + 5, CZ_FR_MODULUS[1], CZ_FR_MODULUS[2], CZ_FR_MODULUS[3], 0}, five = 5;
    G(mul_limbs)(&got, &a, wide, 5);
    want = naive_mul(&a, &five, 1);
    assert_true(G(eq)(&got, &want));
    G(mul_limbs)(&got, &a, wide, 0);
    assert_true(G(is_infinity)(&got));
    G(mul)(&got, &infinity, &k);
    assert_true(G(is_infinity)(&got));
    G(mul_limbs)(&got, &infinity, wide, 4);
    assert_true(G(is_infinity)(&got));
    uint64_t full[4] = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    AFFINE outside = curve_point(1);
    G(from_affine)(&a, &outside);
    G(mul_limbs)(&got, &a, full, 4);
    want = naive_mul(&a, full, 4);
    assert_true(G(eq)(&got, &want));
}

static void subgroup(void **state) {
    (void)state;
    uint64_t seed = 6;
    AFFINE p, none;
    POINT q, g;
    memset(&none, 0, sizeof none);
    assert_true(G(affine_in_subgroup)(&GENERATOR));
    assert_true(by_order(&GENERATOR));
    assert_true(G(affine_in_subgroup)(&none));
    assert_true(G(affine_on_curve)(&none));
    for (int i = 0; i < 5; i++) {
        q = random_point(&seed);
        G(to_affine)(&p, &q);
        assert_true(G(affine_in_subgroup)(&p));
    }
    unsigned small = 0;
    for (uint64_t x = 1; x < 12; x++) {
        AFFINE any = curve_point(x * 1000);
        assert_true(G(affine_on_curve)(&any));
        assert_false(by_order(&any));
        assert_false(G(affine_in_subgroup)(&any));
        /* the cofactor times it is in the subgroup */
        G(from_affine)(&q, &any);
        G(mul_limbs)(&q, &q, COFACTOR, sizeof COFACTOR / 8);
        G(to_affine)(&p, &q);
        assert_true(by_order(&p));
        assert_true(G(affine_in_subgroup)(&p));
        assert_false(G(affine_is_infinity)(&p));
        /* a point of small order, alone and added to one of order r */
        G(from_affine)(&q, &any);
        G(mul_limbs)(&q, &q, CZ_FR_MODULUS, 4);
        G(to_affine)(&p, &q);
        assert_false(G(affine_in_subgroup)(&p));
        G(mul_limbs)(&q, &q, SMALL_COFACTOR, sizeof SMALL_COFACTOR / 8);
        if (G(is_infinity)(&q)) continue;
        small++;
        G(to_affine)(&p, &q);
        assert_false(G(affine_in_subgroup)(&p));
        g = generator();
        G(add)(&q, &q, &g);
        G(to_affine)(&p, &q);
        assert_false(by_order(&p));
        assert_false(G(affine_in_subgroup)(&p));
        uint64_t order = (uint64_t)SMALL_ORDER * SMALL_ORDER;
        G(mul_limbs)(&q, &q, &order, 1);
        G(to_affine)(&p, &q);
        assert_true(G(affine_in_subgroup)(&p));
    }
    assert_true(small > 0);
}

static void curve_equation(void **state) {
    (void)state;
    AFFINE p = GENERATOR;
    assert_true(G(affine_on_curve)(&p));
    F(add)(&p.x, &p.x, &p.y);
    assert_false(G(affine_on_curve)(&p));
    p = GENERATOR;
    F(dbl)(&p.y, &p.y);
    assert_false(G(affine_on_curve)(&p));
    memset(&p.y, 0, sizeof p.y);
    assert_false(G(affine_is_infinity)(&p));
    assert_false(G(affine_on_curve)(&p));
    p = GENERATOR;
    memset(&p.x, 0, sizeof p.x);
    assert_false(G(affine_is_infinity)(&p));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(addition_is_a_group), cmocka_unit_test(addition_is_complete),
                                       cmocka_unit_test(outputs_may_alias),   cmocka_unit_test(to_affine_in_batches),
                                       cmocka_unit_test(multiplication),      cmocka_unit_test(subgroup),
                                       cmocka_unit_test(curve_equation),      EXTRA_TESTS};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
