#include "support.h"

#include "field/cpu.h"
#include "field_support.h"

static void levels(void **state) {
    (void)state;
    const enum cz_field_level best = cz_field_supported();
    for (int level = CZ_FIELD_PORTABLE; level <= CZ_FIELD_IFMA; level++) {
        const enum cz_field_level before = cz_field_current();
        const enum cz_status status = cz_field_select((enum cz_field_level)level);
        if (level <= (int)best) {
            assert_int_equal(status, CZ_OK);
            assert_int_equal(cz_field_current(), level);
        } else {
            assert_int_equal(status, CZ_ERR_UNSUPPORTED);
            assert_int_equal(cz_field_current(), before);
        }
    }
    assert_int_equal(cz_field_select((enum cz_field_level)3), CZ_ERR_UNSUPPORTED);
    assert_int_equal(cz_field_select((enum cz_field_level) - 1), CZ_ERR_UNSUPPORTED);
}

static void names(void **state) {
    (void)state;
    assert_string_equal(cz_field_level_name(CZ_FIELD_PORTABLE), "portable");
    assert_string_equal(cz_field_level_name(CZ_FIELD_ADX), "adx");
    assert_string_equal(cz_field_level_name(CZ_FIELD_IFMA), "ifma");
    assert_string_equal(cz_field_level_name((enum cz_field_level)9), "unknown");
}

/* The environment acts before main, so this program starts itself: with an argument it only prints its level. */
static const char *self;

static void expect_level(const char *environment, enum cz_field_level want) {
    char command[512], line[32] = "";
    snprintf(command, sizeof command, "CUZK_FIELD=%s '%s' print", environment, self);
    FILE *child = popen(command, "r");
    assert_non_null(child);
    assert_non_null(fgets(line, sizeof line, child));
    assert_int_equal(pclose(child), 0);
    assert_string_equal(line, cz_field_level_name(want));
}

static void environment_lowers(void **state) {
    (void)state;
    const enum cz_field_level best = cz_field_supported();
    expect_level("portable", CZ_FIELD_PORTABLE);
    expect_level("adx", best < CZ_FIELD_ADX ? best : CZ_FIELD_ADX);
    expect_level("ifma", best);
    expect_level("nonsense", best);
    expect_level("", best);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        fputs(cz_field_level_name(cz_field_current()), stdout);
        return 0;
    }
    self = argv[0];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels),
        cmocka_unit_test(names),
        cmocka_unit_test(environment_lowers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
