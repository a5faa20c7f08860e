#include "support.h"

#include "base/bytes.h"
#include "field/fr.h"
#include "field_support.h"

static void expect_hex(const struct cz_fr *a, const char *want) {
    uint8_t bytes[32];
    char text[2 * 32 + 1];
    cz_fr_to_be(bytes, a);
    cz_hex_encode(text, bytes, sizeof bytes);
    assert_string_equal(text, want);
}

static void from_hex(struct cz_fr *r, const char *text) {
    uint8_t bytes[32];
    assert_int_equal(cz_hex_decode(bytes, sizeof bytes, text), CZ_OK);
    assert_int_equal(cz_fr_from_be(r, bytes), CZ_OK);
}

/* Numbers from Python's integers. */
static void known_values(void **state) {
    (void)state;
    FOR_EACH_LEVEL(level) {
        struct cz_fr a, b, r;
        from_hex(&a, "6bb6a198f1446beab0c11fdecb91ce375bc8fbbcbde5c0994164d8399f767c45");
        from_hex(&b, "63529c3b77330bdbd7210dff076ce2ef87b0b125ec1d7da0a6eb8c9ebd69fe29");
        cz_fr_add(&r, &a, &b);
        expect_hex(&r, "5b1b96813ed9fa7e54a855d5c95cd9218fbc08dfaa04e23ae85064d95ce07a6d");
        cz_fr_sub(&r, &a, &b);
        expect_hex(&r, "0864055d7a11600ed9a011dfc424eb47d4184a96d1c842f89a794b9ae20c7e1c");
        cz_fr_mul(&r, &a, &b);
        expect_hex(&r, "251c0513271eb4d1091c840896a6f41954d4b7a2ec3360f13ae9e99dba28ac3e");
        cz_fr_inv(&r, &a);
        expect_hex(&r, "3aaeec8cc853f27a89673678f4509b81a6429800f8583aa4e6f319ce5aaf32e4");
        cz_fr_from_u64(&r, 2);
        cz_fr_inv(&r, &r);
        expect_hex(&r, "39f6d3a994cebea4199cec0404d0ec02a9ded2017fff2dff7fffffff80000001");
        cz_fr_dbl(&r, &r);
        assert_true(cz_fr_eq(&r, &CZ_FR_ONE));
    }
}

/* Schoolbook: doubling and adding along the canonical bits of b, which uses no product at all. */
static void slow_mul(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    uint8_t bytes[32];
    struct cz_fr acc = CZ_FR_ZERO;
    cz_fr_to_be(bytes, b);
    for (int i = 0; i < 8 * 32; i++) {
        cz_fr_add(&acc, &acc, &acc);
        if (bytes[i / 8] >> (7 - i % 8) & 1) cz_fr_add(&acc, &acc, a);
    }
    *r = acc;
}

static bool reduced(const struct cz_fr *a) {
    for (int i = 4 - 1; i >= 0; i--)
        if (a->l[i] != CZ_FR_MODULUS[i]) return a->l[i] < CZ_FR_MODULUS[i];
    return false;
}

static void check_pair(const struct cz_fr *a, const struct cz_fr *b) {
    struct cz_fr want, got, t;
    assert_int_equal(cz_field_select(CZ_FIELD_PORTABLE), CZ_OK);
    slow_mul(&want, a, b);
    FOR_EACH_LEVEL(level) {
        cz_fr_mul(&got, a, b);
        assert_true(cz_fr_eq(&got, &want));
        assert_true(reduced(&got));
        t = *a;
        cz_fr_mul(&t, &t, b); /* r is a */
        assert_true(cz_fr_eq(&t, &want));
        t = *b;
        cz_fr_mul(&t, a, &t); /* r is b */
        assert_true(cz_fr_eq(&t, &want));
        cz_fr_sqr(&got, a);
        t = *a;
        cz_fr_mul(&t, &t, &t); /* all three */
        assert_true(cz_fr_eq(&got, &t));
        t = *a;
        cz_fr_sqr(&t, &t);
        assert_true(cz_fr_eq(&got, &t));
    }
    cz_fr_add(&got, a, b);
    assert_true(reduced(&got));
    cz_fr_sub(&t, &got, b);
    assert_true(cz_fr_eq(&t, a));
    cz_fr_sub(&got, a, b);
    assert_true(reduced(&got));
    cz_fr_neg(&t, b);
    assert_true(reduced(&t));
    cz_fr_add(&t, &t, a);
    assert_true(cz_fr_eq(&t, &got));
    cz_fr_dbl(&t, a);
    cz_fr_add(&got, a, a);
    assert_true(cz_fr_eq(&t, &got));
}

static void edges_and_random_values(void **state) {
    (void)state;
    uint64_t limbs[EDGES][6];
    struct cz_fr a, b;
    edge_limbs(limbs, CZ_FR_MODULUS, 4);
    for (int i = 0; i < EDGES; i++) {
        for (int j = 0; j < EDGES; j++) {
            memcpy(a.l, limbs[i], sizeof a.l);
            memcpy(b.l, limbs[j], sizeof b.l);
            check_pair(&a, &b);
        }
    }
    for (int i = 0; i < 2000; i++) {
        random_fr(&a);
        random_fr(&b);
        check_pair(&a, &b);
    }
}

static void inverses(void **state) {
    (void)state;
    uint64_t limbs[EDGES][6];
    struct cz_fr a, r;
    edge_limbs(limbs, CZ_FR_MODULUS, 4);
    for (int i = 0; i < EDGES + 500; i++) {
        if (i < EDGES)
            memcpy(a.l, limbs[i], sizeof a.l);
        else
            random_fr(&a);
        r = a;
        cz_fr_inv(&r, &r);
        assert_true(reduced(&r));
        cz_fr_mul(&r, &r, &a);
        assert_true(cz_fr_eq(&r, cz_fr_is_zero(&a) ? &CZ_FR_ZERO : &CZ_FR_ONE));
    }
    cz_fr_inv(&r, &CZ_FR_ONE);
    assert_true(cz_fr_eq(&r, &CZ_FR_ONE));
}

static void constants(void **state) {
    (void)state;
    struct cz_fr one, t;
    cz_fr_from_u64(&one, 1);
    assert_true(cz_fr_eq(&one, &CZ_FR_ONE));
    assert_true(cz_fr_is_zero(&CZ_FR_ZERO));
    assert_false(cz_fr_is_zero(&one));
    t = one;
    t.l[4 - 1] ^= 1;
    assert_false(cz_fr_eq(&one, &t));
    cz_fr_neg(&t, &CZ_FR_ZERO);
    assert_true(cz_fr_is_zero(&t));
    cz_fr_from_u64(&t, UINT64_MAX);
    cz_fr_add(&t, &t, &one);
    expect_hex(&t, "0000000000000000000000000000000000000000000000010000000000000000");
}

enum { BATCH = 100 };
static const size_t sizes[] = {0, 1, 7, 8, 9, 16, 99, BATCH};

static void batches(void **state) {
    (void)state;
    struct cz_fr a[BATCH + 1], b[BATCH + 1], r[BATCH + 1], inv[BATCH + 1], scratch[BATCH + 1], want;
    for (int i = 0; i <= BATCH; i++) {
        random_fr(&a[i]);
        random_fr(&b[i]);
    }
    for (int i = 0; i < 4; i++) a[3].l[i] = CZ_FR_MODULUS[i] - (i == 0); /* the largest values meet */
    b[3] = a[3];
    a[0] = a[5] = a[12] = a[98] = CZ_FR_ZERO;
    const struct cz_fr sentinel = b[BATCH];
    FOR_EACH_LEVEL(level) {
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            const size_t n = sizes[k];
            r[n] = inv[n] = scratch[n] = sentinel;
            cz_fr_mul_n(r, a, b, n);
            cz_fr_inv_n(inv, a, scratch, n);
            for (size_t i = 0; i < n; i++) {
                cz_fr_mul(&want, &a[i], &b[i]);
                assert_true(cz_fr_eq(&r[i], &want));
                cz_fr_inv(&want, &a[i]);
                assert_true(cz_fr_eq(&inv[i], &want));
            }
            assert_true(cz_fr_eq(&r[n], &sentinel) && cz_fr_eq(&inv[n], &sentinel));
            assert_true(cz_fr_eq(&scratch[n], &sentinel));
            struct cz_fr in_place[BATCH];
            memcpy(in_place, a, n * sizeof *a);
            cz_fr_mul_n(in_place, in_place, b, n);
            assert_memory_equal(in_place, r, n * sizeof *r);
            memcpy(in_place, b, n * sizeof *a);
            cz_fr_mul_n(in_place, a, in_place, n);
            assert_memory_equal(in_place, r, n * sizeof *r);
            memcpy(in_place, a, n * sizeof *a);
            cz_fr_inv_n(in_place, in_place, scratch, n);
            assert_memory_equal(in_place, inv, n * sizeof *r);
            uint64_t limb[4 * BATCH + 1], one[4];
            limb[4 * n] = 77;
            cz_fr_to_limbs_n(limb, b, n);
            cz_fr_scale_n(r, a, &b[1], n);
            for (size_t i = 0; i < n; i++) {
                cz_fr_to_limbs(one, &b[i]);
                assert_memory_equal(one, &limb[4 * i], sizeof one);
                cz_fr_mul(&want, &a[i], &b[1]);
                assert_true(cz_fr_eq(&r[i], &want));
            }
            assert_int_equal(limb[4 * n], 77);
            if (n < 2) continue;
            memcpy(in_place, b, n * sizeof *a);
            cz_fr_scale_n(in_place, in_place, &in_place[1], n); /* the factor is overwritten on the way */
            for (size_t i = 0; i < n; i++) {
                cz_fr_mul(&want, &b[i], &b[1]);
                assert_true(cz_fr_eq(&in_place[i], &want));
            }
        }
    }
}

static void encodings(void **state) {
    (void)state;
    struct cz_fr a, back;
    uint8_t le[32], be[32];
    uint64_t limb[4];
    for (int i = 0; i < 100; i++) {
        random_fr(&a);
        cz_fr_to_le(le, &a);
        cz_fr_to_be(be, &a);
        cz_fr_to_limbs(limb, &a);
        for (int k = 0; k < 32; k++) {
            assert_int_equal(le[k], be[31 - k]);
            assert_int_equal(le[k], limb[k / 8] >> (8 * (k % 8)) & 0xff);
        }
        assert_int_equal(cz_fr_from_le(&back, le), CZ_OK);
        assert_true(cz_fr_eq(&a, &back));
        assert_int_equal(cz_fr_from_be(&back, be), CZ_OK);
        assert_true(cz_fr_eq(&a, &back));
        assert_int_equal(cz_fr_from_limbs(&back, limb), CZ_OK);
        assert_true(cz_fr_eq(&a, &back));
    }
}

static void encodings_refuse(void **state) {
    (void)state;
    struct cz_fr r = {{1, 2, 3, 4}}, before = r;
    uint8_t bytes[32];
    memcpy(bytes, CZ_FR_MODULUS, 32); /* r itself, little endian */
    assert_int_equal(cz_fr_from_le(&r, bytes), CZ_ERR_FIELD_RANGE);
    assert_int_equal(cz_fr_from_limbs(&r, CZ_FR_MODULUS), CZ_ERR_FIELD_RANGE);
    bytes[31]++;
    bytes[0] = 0;
    assert_int_equal(cz_fr_from_le(&r, bytes), CZ_ERR_FIELD_RANGE);
    memset(bytes, 0xff, 32);
    assert_int_equal(cz_fr_from_le(&r, bytes), CZ_ERR_FIELD_RANGE);
    assert_int_equal(cz_fr_from_be(&r, bytes), CZ_ERR_FIELD_RANGE);
    assert_memory_equal(&r, &before, sizeof r);
    memcpy(bytes, CZ_FR_MODULUS, 32);
    bytes[0]--;
    assert_int_equal(cz_fr_from_le(&r, bytes), CZ_OK);
    cz_fr_add(&r, &r, &CZ_FR_ONE);
    assert_true(cz_fr_is_zero(&r));
}

/* spec/fields-and-encodings.md §1 */
static void roots_of_unity(void **state) {
    (void)state;
    struct cz_fr w, t;
    cz_fr_root_of_unity(&w, 32);
    expect_hex(&w, "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b");
    for (unsigned k = 0; k <= 32; k++) {
        cz_fr_root_of_unity(&w, k);
        cz_fr_pow_vartime(&t, &w, UINT64_C(1) << k);
        assert_true(cz_fr_eq(&t, &CZ_FR_ONE));
        if (k == 0) continue;
        cz_fr_pow_vartime(&t, &w, UINT64_C(1) << (k - 1));
        cz_fr_neg(&t, &t);
        assert_true(cz_fr_eq(&t, &CZ_FR_ONE));
    }
    static const uint64_t r_mod[4] = {0x00000001fffffffe, 0x5884b7fa00034802, 0x998c4fefecbc4ff5, 0x1824b159acc5056f};
    assert_memory_equal(CZ_FR_ONE.l, r_mod, sizeof r_mod);
}

static void powers(void **state) {
    (void)state;
    struct cz_fr a, acc = CZ_FR_ONE, r;
    random_fr(&a);
    for (uint64_t e = 0; e < 70; e++) {
        cz_fr_pow_vartime(&r, &a, e);
        assert_true(cz_fr_eq(&r, &acc));
        cz_fr_mul(&acc, &acc, &a);
    }
    cz_fr_pow_vartime(&r, &a, UINT64_C(1) << 63);
    acc = a;
    for (int i = 0; i < 63; i++) cz_fr_sqr(&acc, &acc);
    assert_true(cz_fr_eq(&r, &acc));
    cz_fr_pow_vartime(&r, &CZ_FR_ZERO, 0);
    assert_true(cz_fr_eq(&r, &CZ_FR_ONE));
}

static void random_elements(void **state) {
    (void)state;
    struct cz_fr last = CZ_FR_ZERO, r;
    uint64_t any_high = 0;
    for (int i = 0; i < 64; i++) {
        assert_int_equal(cz_fr_random(&r), CZ_OK);
        assert_true(reduced(&r));
        assert_false(cz_fr_eq(&r, &last));
        any_high |= r.l[3] >> 62;
        last = r;
    }
    assert_true(any_high); /* all 255 bits are drawn */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),     cmocka_unit_test(edges_and_random_values),
        cmocka_unit_test(inverses),         cmocka_unit_test(constants),
        cmocka_unit_test(batches),          cmocka_unit_test(encodings),
        cmocka_unit_test(encodings_refuse), cmocka_unit_test(roots_of_unity),
        cmocka_unit_test(powers),           cmocka_unit_test(random_elements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
