#include "support.h"

#include "field/fp12.h"
#include "field_support.h"

static void random_fp12(struct cz_fp12 *r) {
    struct cz_fp *limbs = (struct cz_fp *)r;
    for (int i = 0; i < 12; i++) random_fp(&limbs[i]);
}

static void random_fp6(struct cz_fp6 *r) {
    struct cz_fp *limbs = (struct cz_fp *)r;
    for (int i = 0; i < 6; i++) random_fp(&limbs[i]);
}

/* v and w as elements, so that the tower's defining equations can be asked. */
static const struct cz_fp12 *element_w(void) {
    static struct cz_fp12 w;
    w.c1.c0.c0 = CZ_FP_ONE;
    return &w;
}

static void tower_equations(void **state) {
    (void)state;
    struct cz_fp12 w2, w6, want = {0};
    cz_fp12_sqr(&w2, element_w());
    want.c0.c1.c0 = CZ_FP_ONE; /* v */
    assert_true(cz_fp12_eq(&w2, &want));
    cz_fp12_mul(&w6, &w2, &w2);
    cz_fp12_mul(&w6, &w6, &w2);
    memset(&want, 0, sizeof want);
    want.c0.c0.c0 = CZ_FP_ONE; /* 1 + u */
    want.c0.c0.c1 = CZ_FP_ONE;
    assert_true(cz_fp12_eq(&w6, &want));
    struct cz_fp6 a, va, v = {0};
    random_fp6(&a);
    v.c1 = CZ_FP2_ONE;
    cz_fp6_mul_v(&va, &a);
    cz_fp6_mul(&a, &a, &v);
    assert_true(cz_fp6_eq(&a, &va));
}

static void fp6_ring(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct cz_fp6 a, b, c, l, m, t;
        random_fp6(&a), random_fp6(&b), random_fp6(&c);
        cz_fp6_add(&t, &b, &c);
        cz_fp6_mul(&l, &a, &t);
        cz_fp6_mul(&m, &a, &b);
        cz_fp6_mul(&t, &a, &c);
        cz_fp6_add(&m, &m, &t);
        assert_true(cz_fp6_eq(&l, &m));
        cz_fp6_sqr(&l, &a);
        cz_fp6_mul(&m, &a, &a);
        assert_true(cz_fp6_eq(&l, &m));
        cz_fp6_inv(&l, &a);
        cz_fp6_mul(&l, &l, &a);
        assert_true(cz_fp6_eq(&l, &CZ_FP6_ONE));
        cz_fp6_sub(&l, &a, &b);
        cz_fp6_neg(&m, &b);
        cz_fp6_add(&m, &m, &a);
        assert_true(cz_fp6_eq(&l, &m));
        struct cz_fp6 sparse = {b.c0, b.c1, CZ_FP2_ZERO};
        cz_fp6_mul(&l, &a, &sparse);
        cz_fp6_mul_by_01(&m, &a, &b.c0, &b.c1);
        assert_true(cz_fp6_eq(&l, &m));
        sparse.c0 = CZ_FP2_ZERO;
        cz_fp6_mul(&l, &a, &sparse);
        cz_fp6_mul_by_1(&m, &a, &b.c1);
        assert_true(cz_fp6_eq(&l, &m));
    }
    struct cz_fp6 zero = CZ_FP6_ZERO;
    cz_fp6_inv(&zero, &zero);
    assert_true(cz_fp6_is_zero(&zero));
}

static void fp12_ring(void **state) {
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct cz_fp12 a, b, c, l, m;
        random_fp12(&a), random_fp12(&b), random_fp12(&c);
        cz_fp12_mul(&l, &a, &b);
        cz_fp12_mul(&l, &l, &c);
        cz_fp12_mul(&m, &b, &c);
        cz_fp12_mul(&m, &m, &a);
        assert_true(cz_fp12_eq(&l, &m));
        cz_fp12_sqr(&l, &a);
        cz_fp12_mul(&m, &a, &a);
        assert_true(cz_fp12_eq(&l, &m));
        cz_fp12_inv(&l, &a);
        cz_fp12_mul(&l, &l, &a);
        assert_true(cz_fp12_is_one(&l));
        struct cz_fp12 sparse = {0};
        sparse.c0.c0 = b.c0.c0;
        sparse.c0.c1 = b.c0.c1;
        sparse.c1.c1 = b.c1.c1;
        cz_fp12_mul(&l, &a, &sparse);
        cz_fp12_mul_by_014(&m, &a, &b.c0.c0, &b.c0.c1, &b.c1.c1);
        assert_true(cz_fp12_eq(&l, &m));
    }
    struct cz_fp12 zero = {0};
    cz_fp12_inv(&zero, &zero);
    assert_true(cz_fp6_is_zero(&zero.c0) && cz_fp6_is_zero(&zero.c1));
}

/* a^p by squaring, from the top bit. */
static void pow_p(struct cz_fp12 *r, const struct cz_fp12 *a) {
    struct cz_fp12 acc = CZ_FP12_ONE;
    for (int i = 380; i >= 0; i--) {
        cz_fp12_sqr(&acc, &acc);
        if (CZ_FP_MODULUS[i / 64] >> (i % 64) & 1) cz_fp12_mul(&acc, &acc, a);
    }
    *r = acc;
}

static void frobenius(void **state) {
    (void)state;
    struct cz_fp12 a, want, got;
    random_fp12(&a);
    want = a;
    for (unsigned k = 1; k <= 13; k++) {
        pow_p(&want, &want);
        cz_fp12_frobenius(&got, &a, k);
        assert_true(cz_fp12_eq(&got, &want));
        if (k == 6) {
            cz_fp12_conj(&got, &a);
            assert_true(cz_fp12_eq(&got, &want));
        }
    }
}

static void cyclotomic(void **state) {
    (void)state;
    struct cz_fp12 a, t, f, l, m;
    random_fp12(&a);
    cz_fp12_inv(&t, &a);
    cz_fp12_conj(&f, &a);
    cz_fp12_mul(&f, &f, &t); /* a^(p^6 - 1) */
    cz_fp12_frobenius(&t, &f, 2);
    cz_fp12_mul(&f, &f, &t);
    cz_fp12_sqr(&l, &f);
    cz_fp12_cyclotomic_sqr(&m, &f);
    assert_true(cz_fp12_eq(&l, &m));
    cz_fp12_cyclotomic_pow_vartime(&m, &f, 11);
    t = f;
    for (int i = 1; i < 11; i++) cz_fp12_mul(&t, &t, &f);
    assert_true(cz_fp12_eq(&t, &m));
    cz_fp12_conj(&t, &f);
    cz_fp12_mul(&t, &t, &f);
    assert_true(cz_fp12_is_one(&t));
    /* Outside of the subgroup the short formula is wrong, so the check above can fail. */
    cz_fp12_sqr(&l, &a);
    cz_fp12_cyclotomic_sqr(&m, &a);
    assert_false(cz_fp12_eq(&l, &m));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tower_equations), cmocka_unit_test(fp6_ring),   cmocka_unit_test(fp12_ring),
        cmocka_unit_test(frobenius),       cmocka_unit_test(cyclotomic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
