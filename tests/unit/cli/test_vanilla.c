#include "cli/vanilla.h"
#include "support.h"

#include <string.h>

static enum cz_status add(struct cz_vanilla *v, const char *text, size_t len, struct cz_error *err) {
    uint8_t *data = cz_malloc_array(len + 1, 1);
    assert_non_null(data);
    memcpy(data, text, len);
    return cz_vanilla_add(v, "file", data, len, err);
}

static void reads_both_forms(void **state) {
    (void)state;
    struct cz_vanilla v = {0};
    struct cz_error err = {0};
    static const char RAW[] = "[raw bytes: a NUL says so\0";
    static const char ARRAY[] = " [\"YWJj\", \"YWI=\", \"YQ==\"]\n";
    assert_int_equal(add(&v, RAW, sizeof RAW, &err), CZ_OK);
    assert_int_equal(add(&v, ARRAY, strlen(ARRAY), &err), CZ_OK);
    assert_int_equal(v.n, 4);
    assert_int_equal(v.blob[0].len, sizeof RAW);
    assert_memory_equal(v.blob[0].data, RAW, sizeof RAW);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(v.blob[1 + i].len, 3 - i);
        assert_memory_equal(v.blob[1 + i].data, "abc", 3 - i);
    }
    cz_vanilla_done(&v);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *text, *want;
    } CASE[] = {
        {"[\"YWJj\", \"YWI\"]", "file: entry 1: not base64: the length"},
        {"[\"\"]", "file: entry 0: not base64"},
        {"[\"Y===\"]", "file: entry 0: not base64"},
        {"[\"Y Jj\"]", "file: entry 0: not base64"},
        {"[\"YQ==YWJj\"]", "file: entry 0: not base64"},
        {"[[\"YWJj\"]]", "wants an array of base64 strings"},
        {"[{}]", "wants an array of base64 strings"},
        {"[1]", "wants an array of base64 strings"},
        {"[null]", "wants an array of base64 strings"},
        {"[true]", "wants an array of base64 strings"},
        {"[\"YWJj\"", "file: not a JSON array (at byte"},
        {"[\"YWJj\"] x", "file: not a JSON array (at byte"},
        {"[", "file: not a JSON array (at byte"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        struct cz_vanilla v = {0};
        struct cz_error err = {0};
        assert_int_equal(add(&v, CASE[i].text, strlen(CASE[i].text), &err), CZ_ERR_FORMAT);
        if (!strstr(err.detail, CASE[i].want)) fail_msg("%s gives %s", CASE[i].text, err.detail);
        cz_vanilla_done(&v);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads_both_forms), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
