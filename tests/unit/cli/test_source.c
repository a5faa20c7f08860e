#include "cli/source.h"
#include "support.h"

#include <string.h>

static const struct cz_command COMMAND = {.name = "test", .usage = "test", .about = "test"};

static bool read_partition(struct cz_source *s, const char *number, int *exit_status) {
    struct cz_option option[CZ_SOURCE_OPTIONS];
    struct cz_common common = {0};
    char name[] = "test", c1[] = "--c1=x", partition[40];
    char *argv[] = {name, c1, partition};
    (void)snprintf(partition, sizeof partition, "--partition=%s", number ? number : "");
    cz_source_init(s);
    cz_source_options(s, option);
    return cz_source_parse(s, &COMMAND, number ? 3 : 2, argv, option, CZ_SOURCE_OPTIONS, &common, exit_status);
}

static void partitions(void **state) {
    (void)state;
    static const struct {
        const char *number;
        bool good;
        uint32_t first, end;
    } CASE[] = {{NULL, true, 0, 10}, {"0", true, 0, 1},           {"9", true, 9, 10},
                {"10", false, 0, 0}, {"4294967294", false, 0, 0}, {"4294967295", false, 0, 0}};
    for (size_t i = 0; i < sizeof CASE / sizeof CASE[0]; i++) {
        struct cz_source s;
        struct cz_error err = {0};
        const struct cz_input input = {.num_partitions = 10};
        int exit_status = 0;
        uint32_t first, end;
        assert_true(read_partition(&s, CASE[i].number, &exit_status));
        enum cz_status status = cz_source_partitions(&first, &end, &s, &input, &err);
        assert_int_equal(status, CASE[i].good ? CZ_OK : CZ_ERR_ARGUMENT);
        assert_int_equal(first, CASE[i].first);
        assert_int_equal(end, CASE[i].end);
        if (!CASE[i].good) assert_non_null(strstr(err.detail, CASE[i].number));
        cz_source_done(&s);
    }
    struct cz_source s;
    int exit_status = 0;
    assert_false(read_partition(&s, "4294967296", &exit_status));
    assert_int_equal(exit_status, CZ_EXIT_USAGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(partitions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
