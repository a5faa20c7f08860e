#include "engine/budget.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

static void test_shares(void **state) {
    (void)state;
    struct cz_budget b;
    cz_budget_init(&b, 8000);
    assert_true(cz_budget_try(&b, CZ_BUDGET_INPUT, 1000));
    assert_false(cz_budget_try(&b, CZ_BUDGET_INPUT, 1));
    assert_true(cz_budget_try(&b, CZ_BUDGET_SRS, 7000)); /* inputs take nothing from work */
    assert_false(cz_budget_try(&b, CZ_BUDGET_COMPUTE, 1));
    assert_int_equal(cz_budget_used(&b), 8000);
    cz_budget_release(&b, CZ_BUDGET_SRS, 7000);
    cz_budget_release(&b, CZ_BUDGET_INPUT, 1000);
    assert_int_equal(cz_budget_used(&b), 0);
    assert_int_equal(b.peak, 8000);
}

static void test_floors(void **state) {
    (void)state;
    struct cz_budget b;
    cz_budget_init(&b, 8000); /* 7000 for work */
    cz_budget_set_floor(&b, 1000, 2000);
    assert_false(cz_budget_try(&b, CZ_BUDGET_SRS, 4001));
    assert_true(cz_budget_try(&b, CZ_BUDGET_SRS, 4000));
    assert_true(cz_budget_try(&b, CZ_BUDGET_WITNESS, 1000));
    assert_false(cz_budget_try(&b, CZ_BUDGET_WITNESS, 1)); /* would leave 1999 to compute */
    assert_true(cz_budget_try(&b, CZ_BUDGET_COMPUTE, 2000));
    assert_false(cz_budget_try(&b, CZ_BUDGET_COMPUTE, 1));
    cz_budget_release(&b, CZ_BUDGET_WITNESS, 1000);
    /* Computing memory comes back, so it counts against now but not against the floor. */
    assert_true(cz_budget_try(&b, CZ_BUDGET_WITNESS, 1000));
    assert_false(cz_budget_try(&b, CZ_BUDGET_WITNESS, 1));
    assert_int_equal(b.peak, 7000);
}

static void test_check(void **state) {
    (void)state;
    struct cz_budget b;
    struct cz_error err = {0};
    cz_budget_init(&b, 8000);
    struct cz_budget_need need = {.input = 1000, .srs = 4000, .witness = 1000, .compute = 2000};
    assert_int_equal(cz_budget_check(&b, &need, "porep-2k", &err), CZ_OK);
    need.compute++;
    assert_int_equal(cz_budget_check(&b, &need, "porep-2k", &err), CZ_ERR_BUDGET);
    assert_non_null(strstr(err.detail, "porep-2k"));
    assert_non_null(strstr(err.detail, "4000"));
    assert_non_null(strstr(err.detail, "7001"));
    assert_non_null(strstr(err.detail, "7000"));
    need.compute--;
    need.input++;
    assert_int_equal(cz_budget_check(&b, &need, "porep-2k", &err), CZ_ERR_BUDGET);
    assert_non_null(strstr(err.detail, "1001"));
    /* Sums that overflow fit nothing. */
    need = (struct cz_budget_need){.srs = SIZE_MAX, .witness = SIZE_MAX, .compute = 2};
    assert_int_equal(cz_budget_check(&b, &need, "x", NULL), CZ_ERR_BUDGET);
    assert_false(cz_budget_try(&b, CZ_BUDGET_SRS, SIZE_MAX));
    assert_true(cz_budget_try(&b, CZ_BUDGET_SRS, 1));
    assert_false(cz_budget_try(&b, CZ_BUDGET_COMPUTE, SIZE_MAX));
    assert_int_equal(cz_budget_used(&b), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_floors),
        cmocka_unit_test(test_check),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
