#include "support.h"

#include "base/bytes.h"
#include "field/fp.h"
#include "field_support.h"

static void expect_hex(const struct cz_fp *a, const char *want) {
    uint8_t bytes[48];
    char text[2 * 48 + 1];
    cz_fp_to_be(bytes, a);
    cz_hex_encode(text, bytes, sizeof bytes);
    assert_string_equal(text, want);
}

static void from_hex(struct cz_fp *r, const char *text) {
    uint8_t bytes[48];
    assert_int_equal(cz_hex_decode(bytes, sizeof bytes, text), CZ_OK);
    assert_int_equal(cz_fp_from_be(r, bytes), CZ_OK);
}

/* Numbers from Python's integers. */
static void known_values(void **state) {
    (void)state;
    FOR_EACH_LEVEL(level) {
        struct cz_fp a, b, r;
        from_hex(&a,
                 "0c2f2b393f1f65a8de5271007814e8a25f2dd97f1cfb10f62827688de6a16a3b0d464138a62332553fc1ea36f17fd374");
        from_hex(&b,
                 "043b512f206f5c6671e0c07e9e115e4b9e30691c238642ea126a1e48cc11d357c30d8b7628dbd25e63b229f1c4069545");
        cz_fp_add(&r, &a, &b);
        expect_hex(&r,
                   "106a7c685f8ec20f5033317f162646edfd5e429b408153e03a9186d6b2b33d92d053ccaeceff04b3a3741428b58668b9");
        cz_fp_sub(&r, &a, &b);
        expect_hex(&r,
                   "07f3da0a1eb009426c71b081da038a56c0fd7062f974ce0c15bd4a451a8f96e34a38b5c27d475ff6dc0fc0452d793e2f");
        cz_fp_mul(&r, &a, &b);
        expect_hex(&r,
                   "0c2b5c91db02d9e8e2954d08403ece1f2fe693190e5c218621cc4e9adfa493b7aece9fb0e87fd63e5dc5613bf3d66141");
        cz_fp_inv(&r, &a);
        expect_hex(&r,
                   "0bf1ecc663e0a27cb3336db0049e6541d628066e219af91d7dc6ffb104d6393c4bb7176693b5bebfc6150ef336fc3397");
        cz_fp_from_u64(&r, 2);
        cz_fp_inv(&r, &r);
        expect_hex(&r,
                   "0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd556");
        cz_fp_dbl(&r, &r);
        assert_true(cz_fp_eq(&r, &CZ_FP_ONE));
    }
}

/* Schoolbook: doubling and adding along the canonical bits of b, which uses no product at all. */
static void slow_mul(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    uint8_t bytes[48];
    struct cz_fp acc = CZ_FP_ZERO;
    cz_fp_to_be(bytes, b);
    for (int i = 0; i < 8 * 48; i++) {
        cz_fp_add(&acc, &acc, &acc);
        if (bytes[i / 8] >> (7 - i % 8) & 1) cz_fp_add(&acc, &acc, a);
    }
    *r = acc;
}

static bool reduced(const struct cz_fp *a) {
    for (int i = 6 - 1; i >= 0; i--)
        if (a->l[i] != CZ_FP_MODULUS[i]) return a->l[i] < CZ_FP_MODULUS[i];
    return false;
}

static void check_pair(const struct cz_fp *a, const struct cz_fp *b) {
    struct cz_fp want, got, t;
    assert_int_equal(cz_field_select(CZ_FIELD_PORTABLE), CZ_OK);
    slow_mul(&want, a, b);
    FOR_EACH_LEVEL(level) {
        cz_fp_mul(&got, a, b);
        assert_true(cz_fp_eq(&got, &want));
        assert_true(reduced(&got));
        t = *a;
        cz_fp_mul(&t, &t, b); /* r is a */
        assert_true(cz_fp_eq(&t, &want));
        t = *b;
        cz_fp_mul(&t, a, &t); /* r is b */
        assert_true(cz_fp_eq(&t, &want));
        cz_fp_sqr(&got, a);
        t = *a;
        cz_fp_mul(&t, &t, &t); /* all three */
        assert_true(cz_fp_eq(&got, &t));
        t = *a;
        cz_fp_sqr(&t, &t);
        assert_true(cz_fp_eq(&got, &t));
    }
    cz_fp_add(&got, a, b);
    assert_true(reduced(&got));
    cz_fp_sub(&t, &got, b);
    assert_true(cz_fp_eq(&t, a));
    cz_fp_sub(&got, a, b);
    assert_true(reduced(&got));
    cz_fp_neg(&t, b);
    assert_true(reduced(&t));
    cz_fp_add(&t, &t, a);
    assert_true(cz_fp_eq(&t, &got));
    cz_fp_dbl(&t, a);
    cz_fp_add(&got, a, a);
    assert_true(cz_fp_eq(&t, &got));
}

static void edges_and_random_values(void **state) {
    (void)state;
    uint64_t limbs[EDGES][6];
    struct cz_fp a, b;
    edge_limbs(limbs, CZ_FP_MODULUS, 6);
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++) {
            memcpy(a.l, limbs[i], sizeof a.l);
            memcpy(b.l, limbs[j], sizeof b.l);
            check_pair(&a, &b);
        }
    }
    for (int i = 0; i < 2000; i++) {
        random_fp(&a);
        random_fp(&b);
        check_pair(&a, &b);
    }
}

static void inverses(void **state) {
    (void)state;
    uint64_t limbs[EDGES][6];
    struct cz_fp a, r;
    edge_limbs(limbs, CZ_FP_MODULUS, 6);
    for (int i = 0; i < EDGES + 500; i++) {
        if (i < EDGES)
            memcpy(a.l, limbs[i], sizeof a.l);
        else
            random_fp(&a);
        r = a;
        cz_fp_inv(&r, &r);
        assert_true(reduced(&r));
        cz_fp_mul(&r, &r, &a);
        assert_true(cz_fp_eq(&r, cz_fp_is_zero(&a) ? &CZ_FP_ZERO : &CZ_FP_ONE));
    }
    cz_fp_inv(&r, &CZ_FP_ONE);
    assert_true(cz_fp_eq(&r, &CZ_FP_ONE));
}

static void constants(void **state) {
    (void)state;
    struct cz_fp one, t;
    cz_fp_from_u64(&one, 1);
    assert_true(cz_fp_eq(&one, &CZ_FP_ONE));
    assert_true(cz_fp_is_zero(&CZ_FP_ZERO));
    assert_false(cz_fp_is_zero(&one));
    t = one;
    t.l[6 - 1] ^= 1;
    assert_false(cz_fp_eq(&one, &t));
    cz_fp_neg(&t, &CZ_FP_ZERO);
    assert_true(cz_fp_is_zero(&t));
    cz_fp_from_u64(&t, UINT64_MAX);
    cz_fp_add(&t, &t, &one);
    expect_hex(&t, "000000000000000000000000000000000000000000000000000000000000000000000000000000010000000000000000");
}

enum { BATCH = 100 };
static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 99, BATCH};

static void batches(void **state) {
    (void)state;
    struct cz_fp a[BATCH + 1], b[BATCH + 1], r[BATCH + 1], inv[BATCH + 1], scratch[BATCH + 1], want;
    for (int i = 0; i <= BATCH; i++) {
        random_fp(&a[i]);
        random_fp(&b[i]);
    }
    for (int i = 0; i < 6; i++) a[3].l[i] = CZ_FP_MODULUS[i] - (i == 0); /* the largest values meet */
    b[3] = a[3];
    a[0] = a[5] = a[12] = a[98] = CZ_FP_ZERO;
    const struct cz_fp sentinel = b[BATCH];
    FOR_EACH_LEVEL(level) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const size_t n = sizes[k];
            r[n] = inv[n] = scratch[n] = sentinel;
            cz_fp_mul_n(r, a, b, n);
            cz_fp_inv_n(inv, a, scratch, n);
            for (size_t i = 0; i < n; i++) {
                cz_fp_mul(&want, &a[i], &b[i]);
                assert_true(cz_fp_eq(&r[i], &want));
                cz_fp_inv(&want, &a[i]);
                assert_true(cz_fp_eq(&inv[i], &want));
            }
            assert_true(cz_fp_eq(&r[n], &sentinel) && cz_fp_eq(&inv[n], &sentinel));
            assert_true(cz_fp_eq(&scratch[n], &sentinel));
            struct cz_fp in_place[BATCH];
            memcpy(in_place, a, n * sizeof *a);
            cz_fp_mul_n(in_place, in_place, b, n);
            assert_memory_equal(in_place, r, n * sizeof *r);
            memcpy(in_place, b, n * sizeof *a);
            cz_fp_mul_n(in_place, a, in_place, n);
            assert_memory_equal(in_place, r, n * sizeof *r);
            memcpy(in_place, a, n * sizeof *a);
            cz_fp_inv_n(in_place, in_place, scratch, n);
            assert_memory_equal(in_place, inv, n * sizeof *r);
        }
    }
}

static void encodings(void **state) {
    (void)state;
    struct cz_fp a, back;
    uint8_t bytes[48];
    for (int i = 0; i < 100; i++) {
        random_fp(&a);
        cz_fp_to_be(bytes, &a);
        assert_int_equal(cz_fp_from_be(&back, bytes), CZ_OK);
        assert_true(cz_fp_eq(&a, &back));
    }
    back = a;
    for (int i = 0; i < 48; i++) bytes[i] = (uint8_t)(CZ_FP_MODULUS[5 - i / 8] >> (56 - 8 * (i % 8)));
    assert_int_equal(cz_fp_from_be(&back, bytes), CZ_ERR_FIELD_RANGE);
    bytes[0]++;
    assert_int_equal(cz_fp_from_be(&back, bytes), CZ_ERR_FIELD_RANGE);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(cz_fp_from_be(&back, bytes), CZ_ERR_FIELD_RANGE);
    assert_true(cz_fp_eq(&a, &back)); /* untouched */
}

static void square_roots(void **state) {
    (void)state;
    struct cz_fp a, s, r, minus;
    from_hex(&a, "16a5f4a70bf64ef773ec28d00252f615d75b1e249419cf4d60597bdc5dbe44096b384309c9a937a68c8f95ef04a012e8");
    assert_true(cz_fp_sqrt(&r, &a));
    cz_fp_sqr(&s, &r);
    assert_true(cz_fp_eq(&s, &a));
    cz_fp_add(&a, &a, &CZ_FP_ONE); /* not a square, by Python */
    s = r;
    assert_false(cz_fp_sqrt(&r, &a));
    assert_true(cz_fp_eq(&r, &s));
    for (int i = 0; i < 20; i++) {
        random_fp(&a);
        cz_fp_sqr(&s, &a);
        assert_true(cz_fp_sqrt(&r, &s));
        cz_fp_neg(&minus, &r);
        assert_true(cz_fp_eq(&r, &a) || cz_fp_eq(&minus, &a));
        cz_fp_neg(&s, &s); /* -1 is not a square */
        assert_false(cz_fp_sqrt(&r, &s));
        s = a;
        cz_fp_sqr(&s, &s);
        assert_true(cz_fp_sqrt(&s, &s)); /* in place */
        assert_true(cz_fp_eq(&s, &r) || cz_fp_eq(&s, &minus));
    }
    assert_true(cz_fp_sqrt(&r, &CZ_FP_ZERO));
    assert_true(cz_fp_is_zero(&r));
}

static void largest(void **state) {
    (void)state;
    struct cz_fp half, a, minus;
    from_hex(
        &half,
        "0d0088f51cbff34d258dd3db21a5d66bb23ba5c279c2895fb39869507b587b120f55ffff58a9ffffdcff7fffffffd556"); /* (p +
                                                                                                                1)/2 */
    assert_true(cz_fp_is_largest(&half));
    cz_fp_sub(&a, &half, &CZ_FP_ONE);
    assert_false(cz_fp_is_largest(&a));
    assert_false(cz_fp_is_largest(&CZ_FP_ZERO));
    assert_false(cz_fp_is_largest(&CZ_FP_ONE));
    cz_fp_neg(&a, &CZ_FP_ONE);
    assert_true(cz_fp_is_largest(&a));
    for (int i = 0; i < 100; i++) {
        random_fp(&a);
        if (cz_fp_is_zero(&a)) continue;
        cz_fp_neg(&minus, &a);
        assert_int_not_equal(cz_fp_is_largest(&a), cz_fp_is_largest(&minus));
    }
}

static void powers(void **state) {
    (void)state;
    struct cz_fp a, acc = CZ_FP_ONE, r;
    random_fp(&a);
    for (uint64_t e = 0; e < 70; e++) {
        cz_fp_pow_vartime(&r, &a, &e, 1);
        assert_true(cz_fp_eq(&r, &acc));
        cz_fp_mul(&acc, &acc, &a);
    }
    r = a;
    cz_fp_pow_vartime(&r, &r, CZ_FP_MODULUS, 6); /* Fermat, in place */
    assert_true(cz_fp_eq(&r, &a));
    cz_fp_pow_vartime(&r, &a, NULL, 0);
    assert_true(cz_fp_eq(&r, &CZ_FP_ONE));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values), cmocka_unit_test(edges_and_random_values),
        cmocka_unit_test(inverses),     cmocka_unit_test(constants),
        cmocka_unit_test(batches),      cmocka_unit_test(encodings),
        cmocka_unit_test(square_roots), cmocka_unit_test(largest),
        cmocka_unit_test(powers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
