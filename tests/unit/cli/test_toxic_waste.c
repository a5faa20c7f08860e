#include "base/bytes.h"
#include "base/file.h"
#include "cli/toxic_waste.h"
#include "support.h"

#include <string.h>

#define REAL CZ_SHARED_DIR "/vectors/reference/keys/toxic-waste.json"

static void reads(void **state) {
    (void)state;
    struct cz_toxic_waste waste, zero = {0};
    struct cz_error err = {0};
    if (cz_toxic_waste_read(&waste, REAL, &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_memory_not_equal(&waste, &zero, sizeof waste);
    cz_toxic_waste_wipe(&waste);
}

static void says_the_field(void **state) {
    (void)state;
    uint8_t *text;
    size_t len;
    assert_int_equal(cz_file_read(&text, &len, REAL, 1 << 16, NULL), CZ_OK);
    static const char *const FIELD[] = {
        "g1_generator_times", "g2_generator_times", "alpha", "beta", "gamma", "delta", "tau"};
    for (size_t i = 0; i < sizeof FIELD / sizeof *FIELD; i++) {
        struct cz_toxic_waste waste;
        struct cz_error err = {0};
        char quoted[32];
        (void)snprintf(quoted, sizeof quoted, "\"%s\"", FIELD[i]);
        char *p = strstr((char *)text, quoted);
        assert_non_null(p);
        p[1] ^= 1; /* not there any more */
        assert_int_equal(cz_toxic_waste_parse(&waste, (char *)text, len, &err), CZ_ERR_FORMAT);
        assert_int_equal(strncmp(err.detail, FIELD[i], strlen(FIELD[i])), 0);
        p[1] ^= 1;
    }
    cz_free(text);
}

/* The place, and nothing of the text, which may be secret. */
static void bad_json(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t len;
        const char *want;
    } CASE[] = {
        {"{\"alpha\": \"5ec4e7\" \"5ec4e7\"}", 28, "not JSON (at byte 2"},
        {"{\"alpha\": \"5ec4e7\"", 18, "not JSON (at byte 18)"},
        {"", 0, "not JSON (at byte 0)"},
        {"{\"alpha\": \0\"5ec4e7\"}", 20, "not JSON (at byte 10)"},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        struct cz_toxic_waste waste;
        struct cz_error err = {0};
        assert_int_equal(cz_toxic_waste_parse(&waste, CASE[i].text, CASE[i].len, &err), CZ_ERR_FORMAT);
        if (!strstr(err.detail, CASE[i].want)) fail_msg("case %zu: %s", i, err.detail);
        assert_null(strstr(err.detail, "5ec4e7"));
        assert_null(strchr(err.detail, '\n'));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(says_the_field),
                                       cmocka_unit_test(bad_json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
