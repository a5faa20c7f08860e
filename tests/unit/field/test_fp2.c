#include "support.h"

#include "base/bytes.h"
#include "field/fp2.h"
#include "field_support.h"

static void from_hex(struct cz_fp2 *r, const char *c0, const char *c1) {
    uint8_t bytes[48];
    assert_int_equal(cz_hex_decode(bytes, 48, c0), CZ_OK);
    assert_int_equal(cz_fp_from_be(&r->c0, bytes), CZ_OK);
    assert_int_equal(cz_hex_decode(bytes, 48, c1), CZ_OK);
    assert_int_equal(cz_fp_from_be(&r->c1, bytes), CZ_OK);
}

/* Numbers from Python's integers. */
static void known_values(void **state) {
    (void)state;
    struct cz_fp2 a, b, product, inverse, r;
    from_hex(&a, "0553d741df561d802a759159fb7ff337f5cae3bf3729c619c60a3cab359eeefb015c33b2df1461aaf8eb18b900745130",
             "16a54875ad8d194a9892139600ddb74d960d5a8f9a656aafd14125844d25deb354f46a6910acff0043892dfc254cb864");
    from_hex(&b, "0f1f08be7b3120df2f4d4c8650d7d13fb24891917b121dc54e5a3a26d18a669a5af84e6b4f59672710e6d8e6568068b9",
             "0ceffa27d84a1d3a5b8e8fb2bff29101f3001cee05da8467f06313fff9a01fe8419521fe0e979cf32d1634b4b4653252");
    from_hex(&product,
             "179fcf9ee42eb02633456be2d7854f594366826fd4f550f12e9778c51a3a92b3894beaf0a3042bbb465f33ea32d0901d",
             "01a33df7e55f886e38a83d20d85bc354835ac58cb5e095855bab6a6b73a5e5d37348a04a2ce1bca805fa2d646c164d31");
    from_hex(&inverse,
             "150de682968b8e5aa56d45d0bb8fa236e53280fbe177bbe2e0a938a9523e0b4884022edc833bf6d4b7cbaabbe5a88a55",
             "123ed1e8f03476a913de58817dfa488ed8b07cb82325695cc4dc99859962c2860d20e689a01da6cca8c602c7b136a652");
    FOR_EACH_LEVEL(level) {
        cz_fp2_mul(&r, &a, &b);
        assert_true(cz_fp2_eq(&r, &product));
        cz_fp2_inv(&r, &a);
        assert_true(cz_fp2_eq(&r, &inverse));
    }
}

static void identities(void **state) {
    (void)state;
    struct cz_fp2 u = {CZ_FP_ZERO, CZ_FP_ONE}, xi = {CZ_FP_ONE, CZ_FP_ONE}, l, m, t;
    cz_fp2_sqr(&l, &u);
    cz_fp2_neg(&m, &CZ_FP2_ONE);
    assert_true(cz_fp2_eq(&l, &m));
    for (int i = 0; i < 200; i++) {
        struct cz_fp2 a, b, c;
        random_fp2(&a), random_fp2(&b), random_fp2(&c);
        if (i % 8 == 0) a.c1 = CZ_FP_ZERO;
        if (i % 8 == 1) a.c0 = CZ_FP_ZERO;
        cz_fp2_add(&t, &b, &c);
        cz_fp2_mul(&l, &a, &t);
        cz_fp2_mul(&m, &a, &b);
        cz_fp2_mul(&t, &a, &c);
        cz_fp2_add(&m, &m, &t);
        assert_true(cz_fp2_eq(&l, &m));
        cz_fp2_sqr(&l, &a);
        t = a;
        cz_fp2_mul(&t, &t, &t);
        assert_true(cz_fp2_eq(&l, &t));
        t = a;
        cz_fp2_sqr(&t, &t);
        assert_true(cz_fp2_eq(&l, &t));
        cz_fp2_mul_xi(&l, &a);
        cz_fp2_mul(&m, &a, &xi);
        assert_true(cz_fp2_eq(&l, &m));
        t = a;
        cz_fp2_mul_xi(&t, &t);
        assert_true(cz_fp2_eq(&t, &m));
        t = a;
        cz_fp2_mul_fp(&t, &t, &t.c0);
        struct cz_fp2 k = {a.c0, CZ_FP_ZERO};
        cz_fp2_mul(&m, &a, &k);
        assert_true(cz_fp2_eq(&t, &m));
        cz_fp2_conj(&t, &a);
        cz_fp2_mul(&t, &t, &a);
        assert_true(cz_fp_is_zero(&t.c1)); /* the norm */
        cz_fp2_sub(&l, &a, &b);
        cz_fp2_neg(&m, &b);
        cz_fp2_add(&m, &m, &a);
        assert_true(cz_fp2_eq(&l, &m));
        cz_fp2_dbl(&l, &a);
        cz_fp2_add(&m, &a, &a);
        assert_true(cz_fp2_eq(&l, &m));
        cz_fp2_inv(&l, &a);
        cz_fp2_mul(&l, &l, &a);
        assert_true(cz_fp2_eq(&l, &CZ_FP2_ONE));
    }
    cz_fp2_inv(&l, &CZ_FP2_ZERO);
    assert_true(cz_fp2_is_zero(&l));
}

static void square_roots(void **state) {
    (void)state;
    struct cz_fp2 a, s, r, minus, xi = {CZ_FP_ONE, CZ_FP_ONE};
    for (int i = 0; i < 40; i++) {
        random_fp2(&a);
        if (i % 4 == 1) a.c1 = CZ_FP_ZERO;
        if (i % 4 == 2) a.c0 = CZ_FP_ZERO;
        cz_fp2_sqr(&s, &a);
        assert_true(cz_fp2_sqrt(&r, &s));
        cz_fp2_neg(&minus, &r);
        assert_true(cz_fp2_eq(&r, &a) || cz_fp2_eq(&minus, &a));
        cz_fp2_mul(&s, &s, &xi); /* 1 + u is not a square */
        minus = r;
        assert_false(cz_fp2_sqrt(&r, &s));
        assert_true(cz_fp2_eq(&r, &minus)); /* untouched */
    }
    assert_true(cz_fp2_sqrt(&r, &CZ_FP2_ZERO));
    assert_true(cz_fp2_is_zero(&r));
    cz_fp2_neg(&s, &CZ_FP2_ONE);
    assert_true(cz_fp2_sqrt(&s, &s)); /* u or -u, in place */
    assert_true(cz_fp_is_zero(&s.c0) && !cz_fp_is_zero(&s.c1));
}

static void largest(void **state) {
    (void)state;
    struct cz_fp2 a = CZ_FP2_ONE;
    struct cz_fp minus_one;
    cz_fp_neg(&minus_one, &CZ_FP_ONE);
    assert_false(cz_fp2_is_largest(&a));
    a.c0 = minus_one;
    assert_true(cz_fp2_is_largest(&a));
    a.c1 = CZ_FP_ONE; /* c1 decides */
    assert_false(cz_fp2_is_largest(&a));
    a.c0 = CZ_FP_ONE;
    a.c1 = minus_one;
    assert_true(cz_fp2_is_largest(&a));
    assert_false(cz_fp2_is_largest(&CZ_FP2_ZERO));
}

enum { BATCH = 100 };
static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 99, BATCH};

static void batches(void **state) {
    (void)state;
    struct cz_fp2 a[BATCH + 1], b[BATCH + 1], r[BATCH + 1], inv[BATCH + 1], scratch[BATCH + 1], want;
    for (int i = 0; i <= BATCH; i++) {
        random_fp2(&a[i]);
        random_fp2(&b[i]);
    }
    a[0] = a[5] = a[12] = a[98] = CZ_FP2_ZERO;
    a[6].c0 = CZ_FP_ZERO;
    a[7].c1 = CZ_FP_ZERO;
    const struct cz_fp2 sentinel = b[BATCH];
    FOR_EACH_LEVEL(level) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const size_t n = sizes[k];
            r[n] = inv[n] = scratch[n] = sentinel;
            cz_fp2_mul_n(r, a, b, n);
            cz_fp2_inv_n(inv, a, scratch, n);
            for (size_t i = 0; i < n; i++) {
                cz_fp2_mul(&want, &a[i], &b[i]);
                assert_true(cz_fp2_eq(&r[i], &want));
                cz_fp2_inv(&want, &a[i]);
                assert_true(cz_fp2_eq(&inv[i], &want));
            }
            assert_true(cz_fp2_eq(&r[n], &sentinel) && cz_fp2_eq(&inv[n], &sentinel));
            assert_true(cz_fp2_eq(&scratch[n], &sentinel));
            struct cz_fp2 in_place[BATCH];
            memcpy(in_place, a, n * sizeof *a);
            cz_fp2_mul_n(in_place, in_place, b, n);
            assert_memory_equal(in_place, r, n * sizeof *r);
            memcpy(in_place, a, n * sizeof *a);
            cz_fp2_inv_n(in_place, in_place, scratch, n);
            assert_memory_equal(in_place, inv, n * sizeof *r);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values), cmocka_unit_test(identities), cmocka_unit_test(square_roots),
        cmocka_unit_test(largest),      cmocka_unit_test(batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
