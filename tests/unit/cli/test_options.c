#include "cli/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct values {
    bool json, given;
    const char *text;
    uint32_t count;
    uint64_t large;
    int at, exit_status;
};

/* Reads the words; messages go to the test's log. */
static bool read_words(struct values *v, int argc, const char *const *words) {
    static char copy[16][80]; /* the values point into it */
    char *argv[16];
    for (int i = 0; i < argc; i++) {
        (void)snprintf(copy[i], sizeof copy[i], "%s", words[i]);
        argv[i] = copy[i];
    }
    const struct cz_options_entry entry[] = {
        {.name = "json", .kind = CZ_OPTIONS_FLAG, .target = &v->json, .help = "x"},
        {.name = "text",
         .letter = 't',
         .kind = CZ_OPTIONS_TEXT,
         .target = &v->text,
         .given = &v->given,
         .arg = "T",
         .help = "x"},
        {.name = "count",
         .letter = 'c',
         .kind = CZ_OPTIONS_U32,
         .target = &v->count,
         .arg = "N",
         .min = 1,
         .max = 9,
         .help = "x"},
        {.name = "large", .kind = CZ_OPTIONS_U64, .target = &v->large, .arg = "N", .help = "x"},
    };
    const struct cz_options_command command = {"program", "program [options]", "About."};
    *v = (struct values){.at = 1, .exit_status = -1};
    return cz_options_read(&command, argc, argv, &v->at, entry, sizeof entry / sizeof entry[0], &v->exit_status);
}

#define READ(v, ...)                                                                                                   \
    read_words(v, (int)(sizeof((const char *const[]){"p", __VA_ARGS__}) / sizeof(char *)),                             \
               (const char *const[]){"p", __VA_ARGS__})

static void reads(void **state) {
    (void)state;
    struct values v;
    assert_true(READ(&v, "--json", "--text", "--count", "-c", "9", "--large=18446744073709551615"));
    assert_true(v.json && v.given);
    assert_string_equal(v.text, "--count"); /* a value may look like an option */
    assert_int_equal(v.count, 9);
    assert_true(v.large == UINT64_MAX);
    assert_int_equal(v.at, 7);
    assert_true(READ(&v, "-tvalue", "--count=1"));
    assert_string_equal(v.text, "value");
    assert_true(READ(&v, "--text=", "word", "--nonsense")); /* stops at the word */
    assert_string_equal(v.text, "");
    assert_int_equal(v.at, 2);
    assert_true(READ(&v, "-", "--json")); /* a word */
    assert_int_equal(v.at, 1);
    assert_false(v.json || v.given);
}

static void refuses(void **state) {
    (void)state;
    struct values v;
    static const char *const bad[] = {
        "--nonsense",
        "--tex=a",
        "-x",
        "--json=1",
        "--text",
        "-t",
        "--count=0",
        "--count=10",
        "--count=",
        "--count=+1",
        "--count= 1",
        "--count=1x",
        "--count=-1",
        "--count=99999999999999999999",
        "--large=18446744073709551616",
        "--",
        "--=x",
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (READ(&v, bad[i]) || v.exit_status != CZ_OPTIONS_USAGE) fail_msg("accepted %s", bad[i]);
        assert_int_equal(v.count, 0);
    }
    assert_false(READ(&v, "--json", "--help", "--nonsense"));
    assert_int_equal(v.exit_status, CZ_OPTIONS_DONE);
    assert_false(READ(&v, "-h"));
    assert_int_equal(v.exit_status, CZ_OPTIONS_DONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(reads), cmocka_unit_test(refuses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
