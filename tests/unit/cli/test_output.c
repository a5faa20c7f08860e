#include "base/bytes.h"
#include "cli/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void cleans(void **state) {
    (void)state;
    static const struct {
        const char *in, *out;
    } cases[] = {
        {"", ""},
        {"plain \n\x7f", "plain \n\x7f"},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
        {"a\xffz", "a\xef\xbf\xbdz"},
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* overlong */
        {"\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* overlong */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},                 /* a surrogate */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* above U+10FFFF */
        {"\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd"},                                 /* cut short */
        {"\xf0\x9f\x98", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = cz_output_clean(cases[i].in);
        assert_string_equal(got, cases[i].out);
        cz_free(got);
    }
}

static void json(void **state) {
    (void)state;
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0);
    yajl_gen g = cz_output_begin();
    cz_output_text(g, "text", "a\"b\\\n\xff");
    cz_output_u64(g, "most", UINT64_MAX);
    cz_output_number(g, "number", 0.1234567);
    cz_output_number(g, "nothing", (double)NAN);
    cz_output_bool(g, "yes", true);
    cz_output_hex(g, "hex", (const uint8_t *)"\x01\xab", 2);
    cz_output_hex(g, "none", NULL, 0);
    cz_output_array(g, "list");
    (void)yajl_gen_array_close(g);
    bool ok = cz_output_end(g);
    assert_true(dup2(saved, STDOUT_FILENO) >= 0);
    (void)close(saved);
    assert_true(ok);
    char got[400];
    rewind(file);
    got[fread(got, 1, sizeof got - 1, file)] = 0;
    (void)fclose(file);
    assert_string_equal(got, "{\"text\":\"a\\\"b\\\\\\n\xef\xbf\xbd\",\"most\":18446744073709551615,\"number\":0.123,"
                             "\"nothing\":null,\"yes\":true,\"hex\":\"01ab\",\"none\":\"\",\"list\":[]}\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(cleans), cmocka_unit_test(json)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
