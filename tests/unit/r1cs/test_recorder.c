#include "r1cs/recorder.h"

#include "support.h"

struct fixture {
    struct cz_coefs coefs;
    struct cz_recorder r;
};

static void start(struct fixture *f, uint32_t externals) {
    assert_int_equal(cz_coefs_init(&f->coefs), CZ_OK);
    cz_recorder_init(&f->r, &f->coefs);
    cz_recorder_start(&f->r, externals);
}

static void stop(struct fixture *f) {
    assert_false(f->r.failed || f->coefs.failed);
    cz_recorder_done(&f->r);
    cz_coefs_done(&f->coefs);
}

/* Row k of matrix m: number of terms, and the i-th. */
static uint32_t row_len(const struct fixture *f, int m, uint32_t k) {
    return f->r.row[m][k + 1] - (k ? f->r.row[m][k] : 0);
}
static struct cz_r1cs_term row_term(const struct fixture *f, int m, uint32_t k, uint32_t i) {
    return f->r.term[m][(k ? f->r.row[m][k] : 0) + i];
}

static void coefficients(void **state) {
    (void)state;
    struct cz_coefs c;
    struct cz_fr v, two;
    assert_int_equal(cz_coefs_init(&c), CZ_OK);
    cz_fr_from_u64(&two, 2);
    assert_true(cz_fr_is_zero(&c.coef[CZ_R1CS_COEF_ZERO]));
    assert_true(cz_fr_eq(&c.coef[CZ_R1CS_COEF_ONE], &CZ_FR_ONE));
    cz_fr_neg(&v, &CZ_FR_ONE);
    assert_true(cz_fr_eq(&c.coef[CZ_R1CS_COEF_MINUS_ONE], &v));
    assert_true(cz_fr_eq(&c.coef[CZ_R1CS_COEF_TWO], &two));
    cz_fr_neg(&v, &two);
    assert_true(cz_fr_eq(&c.coef[CZ_R1CS_COEF_MINUS_TWO], &v));
    assert_int_equal(c.pow[1], CZ_R1CS_COEF_TWO);
    assert_int_equal(c.neg_pow[1], CZ_R1CS_COEF_MINUS_TWO);
    for (uint64_t i = 0; i < 20000; i++) { /* grows several times, every value keeps its index */
        cz_fr_from_u64(&v, 1000003 * i);
        uint32_t index = cz_coefs_intern(&c, &v);
        assert_true(cz_fr_eq(&c.coef[index], &v));
        assert_int_equal(cz_coefs_intern(&c, &v), index);
    }
    cz_coefs_done(&c);
}

static void terms_merge_and_sort(void **state) {
    (void)state;
    struct fixture f;
    start(&f, 3);
    cz_recorder_add(&f.r, &f.r.a, 3, CZ_R1CS_COEF_ONE);
    cz_recorder_add(&f.r, &f.r.a, 1, CZ_R1CS_COEF_MINUS_ONE);
    cz_recorder_add(&f.r, &f.r.a, 0, CZ_R1CS_COEF_TWO);
    cz_recorder_add(&f.r, &f.r.a, 3, CZ_R1CS_COEF_ONE);
    cz_recorder_add(&f.r, &f.r.a, 1, CZ_R1CS_COEF_ONE); /* cancels */
    cz_recorder_add(&f.r, &f.r.b, 0, CZ_R1CS_COEF_ONE);
    cz_recorder_add(&f.r, &f.r.b, 0, CZ_R1CS_COEF_MINUS_ONE); /* cancels */
    cz_recorder_enforce(&f.r);
    assert_int_equal(row_len(&f, 0, 0), 2);
    assert_int_equal(row_term(&f, 0, 0, 0).col, 0);
    assert_int_equal(row_term(&f, 0, 0, 0).coef, CZ_R1CS_COEF_TWO);
    assert_int_equal(row_term(&f, 0, 0, 1).col, 3);
    assert_int_equal(row_term(&f, 0, 0, 1).coef, CZ_R1CS_COEF_TWO);
    assert_int_equal(row_len(&f, 1, 0), 0);
    assert_int_equal(row_len(&f, 2, 0), 0);
    cz_recorder_enforce(&f.r); /* the combinations were emptied */
    assert_int_equal(row_len(&f, 0, 1), 0);
    stop(&f);
}

/* A square needs an element before it, and one that is no square. */
static void squares_follow_elements(void **state) {
    (void)state;
    for (int wrong = 0; wrong < 4; wrong++) {
        struct fixture f;
        start(&f, 2);
        if (wrong == 2) (void)cz_recorder_bit(&f.r);
        if (wrong != 1 && wrong != 2) assert_int_equal(cz_recorder_elem(&f.r), 3);
        uint32_t col = cz_recorder_square(&f.r);
        if (wrong == 3) (void)cz_recorder_square(&f.r);
        assert_int_equal(f.r.failed, wrong != 0);
        if (!wrong) {
            assert_int_equal(col, 4);
            assert_int_equal(f.r.num_squares, 1);
            assert_false(cz_recorder_is_square(&f.r, 0));
            assert_true(cz_recorder_is_square(&f.r, 1));
            cz_recorder_start(&f.r, 2); /* forgotten */
            (void)cz_recorder_elem(&f.r);
            (void)cz_recorder_elem(&f.r);
            assert_int_equal(f.r.num_squares, 0);
            assert_false(cz_recorder_is_square(&f.r, 1));
        }
        f.r.failed = false;
        stop(&f);
    }
}

static void long_rows_sort(void **state) {
    (void)state;
    static const uint32_t SIZES[] = {47, 48, 49, 300, 70000};
    for (unsigned s = 0; s < sizeof SIZES / sizeof *SIZES; s++) {
        struct fixture f;
        uint32_t n = SIZES[s];
        start(&f, n);
        for (uint32_t i = 0; i < n; i++) /* a permutation of the columns: 100003 is prime */
            cz_recorder_add(&f.r, &f.r.c, 1 + (uint32_t)((i * 100003ull) % n), f.coefs.pow[(i * 100003ull) % n % 200]);
        cz_recorder_enforce(&f.r);
        assert_int_equal(row_len(&f, 2, 0), n);
        for (uint32_t i = 0; i < n; i++) {
            assert_int_equal(row_term(&f, 2, 0, i).col, i + 1);
            assert_int_equal(row_term(&f, 2, 0, i).coef, f.coefs.pow[i % 200]);
        }
        stop(&f);
    }
}

/* All pairs of kinds: constants fold, operands of a bit xor keep the order of spec/gadgets.md §1. */
static void boolean_rules(void **state) {
    (void)state;
    const cz_bit x = cz_bit_is(1), y = cz_bit_is(2);
    struct fixture f;
    start(&f, 2);
    struct cz_recorder *r = &f.r;
    assert_int_equal(cz_recorder_xor(r, CZ_BIT_FALSE, y ^ 1), y ^ 1);
    assert_int_equal(cz_recorder_xor(r, x, CZ_BIT_TRUE), x ^ 1);
    assert_int_equal(cz_recorder_xor(r, CZ_BIT_TRUE, CZ_BIT_TRUE), CZ_BIT_FALSE);
    assert_int_equal(cz_recorder_and(r, CZ_BIT_TRUE, y ^ 1), y ^ 1);
    assert_int_equal(cz_recorder_and(r, x, CZ_BIT_FALSE), CZ_BIT_FALSE);
    assert_int_equal(r->num_constraints, 0);

    assert_int_equal(cz_recorder_xor(r, x, y), cz_bit_is(3));
    assert_int_equal(cz_recorder_xor(r, x ^ 1, y ^ 1), cz_bit_is(4));
    assert_int_equal(cz_recorder_xor(r, x ^ 1, y), cz_bit_is(5) ^ 1); /* y first */
    assert_int_equal(cz_recorder_xor(r, x, y ^ 1), cz_bit_is(6) ^ 1);
    const uint32_t xor_first[] = {1, 1, 2, 1};
    for (uint32_t k = 0; k < 4; k++) {
        assert_int_equal(row_len(&f, 0, k), 1);
        assert_int_equal(row_term(&f, 0, k, 0).col, xor_first[k]);
        assert_int_equal(row_term(&f, 0, k, 0).coef, CZ_R1CS_COEF_TWO);
        assert_int_equal(row_term(&f, 1, k, 0).col, 3 - xor_first[k]);
        assert_int_equal(row_len(&f, 2, k), 3);
        assert_int_equal(row_term(&f, 2, k, 2).coef, CZ_R1CS_COEF_MINUS_ONE);
    }
    assert_int_equal(cz_recorder_and(r, x ^ 1, y), cz_bit_is(7)); /* y · (1 - x) */
    assert_int_equal(row_len(&f, 0, 4), 1);
    assert_int_equal(row_term(&f, 0, 4, 0).col, 2);
    assert_int_equal(row_len(&f, 1, 4), 2);
    assert_int_equal(r->num_bits, 5);
    stop(&f);
}

static void dry_counts_the_same(void **state) {
    (void)state;
    struct cz_recorder dry;
    cz_recorder_init(&dry, NULL);
    cz_recorder_start(&dry, 2);
    assert_int_equal(cz_recorder_xor(&dry, cz_bit_is(1), cz_bit_is(2) ^ 1), cz_bit_is(3) ^ 1);
    assert_int_equal(cz_recorder_alloc_bit(&dry), cz_bit_is(4));
    assert_int_equal(cz_recorder_elem(&dry), 5);
    assert_int_equal(dry.num_constraints, 2);
    assert_int_equal(dry.num_local, 3);
    assert_int_equal(dry.num_bits, 2);
    cz_recorder_done(&dry);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coefficients),         cmocka_unit_test(squares_follow_elements),
        cmocka_unit_test(terms_merge_and_sort), cmocka_unit_test(long_rows_sort),
        cmocka_unit_test(boolean_rules),        cmocka_unit_test(dry_counts_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
