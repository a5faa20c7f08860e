#include "base/log.h"
#include "support.h"

#include <unistd.h>

static char captured[8192];

/* Runs cz_log with stderr into a pipe. */
static void capture(bool json, enum cz_log_level level, const char *text) {
    int p[2], saved = dup(2);
    assert_int_equal(pipe(p), 0);
    dup2(p[1], 2);
    cz_log_setup(CZ_LOG_INFO, json);
    cz_log(level, "%s", text);
    dup2(saved, 2);
    close(saved);
    close(p[1]);
    ssize_t n = read(p[0], captured, sizeof captured - 1);
    close(p[0]);
    assert_true(n >= 0);
    captured[n] = 0;
}

static void hostile_text_stays_one_line(void **state) {
    (void)state;
    capture(false, CZ_LOG_WARN,
            "a\nb\x1b[31m\xff"
            "gr\xc3\xbc\xc3\x9f");
    assert_non_null(strstr(captured, "warn  a\\x0ab\\x1b[31m\\xffgr\xc3\xbc\xc3\x9f\n"));
    capture(true, CZ_LOG_ERROR, "say \"hi\" \\ \n\xc0\xaf");
    assert_non_null(
        strstr(captured, "\"level\":\"error\",\"message\":\"say \\\"hi\\\" \\\\ \\u000a\\u00c0\\u00af\"}\n"));
}

static void levels(void **state) {
    (void)state;
    capture(false, CZ_LOG_DEBUG, "quiet");
    assert_string_equal(captured, "");
    enum cz_log_level level = CZ_LOG_INFO;
    assert_int_equal(cz_log_level_parse(&level, "WARN"), CZ_OK);
    assert_int_equal(level, CZ_LOG_WARN);
    assert_int_equal(cz_log_level_parse(&level, "loud"), CZ_ERR_FORMAT);
    assert_int_equal(level, CZ_LOG_WARN);
}

static void long_lines_are_cut(void **state) {
    (void)state;
    char text[5000];
    memset(text, 1, sizeof text);
    text[4999] = 0;
    capture(true, CZ_LOG_ERROR, text);
    assert_true(strlen(captured) < 4300);
    assert_non_null(strstr(captured, "\"}\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hostile_text_stays_one_line),
        cmocka_unit_test(levels),
        cmocka_unit_test(long_lines_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
