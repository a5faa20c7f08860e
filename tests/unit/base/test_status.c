#include "base/status.h"
#include "support.h"

#include <string.h>

static void every_status_has_a_text_and_a_class(void **state) {
    (void)state;
    for (int s = CZ_OK; s <= CZ_ERR_DEVICE; s++) {
        assert_non_null(cz_status_text((enum cz_status)s));
        assert_string_not_equal(cz_status_text((enum cz_status)s), "unknown status");
    }
    assert_string_equal(cz_status_text((enum cz_status)1000), "unknown status");
    assert_int_equal(cz_status_class(CZ_OK), CZ_CLASS_OK);
    assert_int_equal(cz_status_class(CZ_ERR_ARGUMENT), CZ_CLASS_BAD_INPUT);
    assert_int_equal(cz_status_class(CZ_ERR_MISMATCH), CZ_CLASS_BAD_INPUT);
    assert_int_equal(cz_status_class(CZ_ERR_MEMORY), CZ_CLASS_JOB_FAILED);
    assert_int_equal(cz_status_class(CZ_ERR_DEVICE), CZ_CLASS_DEVICE_LOST);
}

static void details_and_prefixes(void **state) {
    (void)state;
    struct cz_error err = {0};
    assert_int_equal(cz_error_set(&err, CZ_ERR_IO, "line %d", 7), CZ_ERR_IO);
    assert_string_equal(err.detail, "line 7");
    assert_int_equal(cz_error_prefix(&err, "file %s", "x"), CZ_ERR_IO);
    assert_string_equal(err.detail, "file x: line 7");
    assert_int_equal(cz_error_set(NULL, CZ_ERR_IO, "nobody reads this"), CZ_ERR_IO);
}

static void long_details_are_cut(void **state) {
    (void)state;
    struct cz_error err = {0};
    char text[1000];
    memset(text, 'a', sizeof text);
    text[999] = 0;
    (void)cz_error_set(&err, CZ_ERR_IO, "%s", text);
    assert_int_equal(strlen(err.detail), sizeof err.detail - 1);
    (void)cz_error_prefix(&err, "%s", text);
    assert_int_equal(strlen(err.detail), sizeof err.detail - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text_and_a_class),
        cmocka_unit_test(details_and_prefixes),
        cmocka_unit_test(long_details_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
