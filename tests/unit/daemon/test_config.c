#include "base/bytes.h"
#include "base/file.h"
#include "daemon/config.h"
#include "daemon/toml.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

struct seen {
    int count;
    char text[16][200];
};

static void on_warn(void *ctx, const char *text) {
    struct seen *s = ctx;
    if (s->count < 16) (void)snprintf(s->text[s->count], sizeof s->text[0], "%s", text);
    s->count++;
}

static void defaults(struct cz_config *c) {
    assert_int_equal(unsetenv("FIL_PROOFS_PARAMETER_CACHE"), 0);
    assert_int_equal(cz_config_init(c), CZ_OK);
}

static enum cz_status parse(struct cz_config *c, const char *text, struct seen *seen, struct cz_error *err) {
    return cz_config_parse(c, text, strlen(text), on_warn, seen, err);
}

static void test_defaults(void **state) {
    (void)state;
    struct cz_config c;
    defaults(&c);
    assert_int_equal(c.listen.count, 0);
    assert_string_equal(c.param_cache, "/data/zk/params");
    assert_int_equal(c.safety_margin, 5ull << 30);
    assert_int_equal(c.eviction_min_idle_ms, 300000);
    assert_int_equal(c.total_budget, 0);
    cz_config_done(&c);
    assert_int_equal(setenv("FIL_PROOFS_PARAMETER_CACHE", "/var/tmp/p", 1), 0);
    assert_int_equal(cz_config_init(&c), CZ_OK);
    assert_string_equal(c.param_cache, "/var/tmp/p");
    cz_config_done(&c);
}

static void test_whole_file(void **state) {
    (void)state;
    static const char TEXT[] = "[daemon]\n"
                               "listen = \"0.0.0.0:9820\"\n"
                               "status_listen = \"\"\n"
                               "[memory]\n"
                               "total_budget = \"256GiB\"\n"
                               "safety_margin = \"1 GB\"\n"
                               "eviction_min_idle = \"1m30s\"\n"
                               "[srs]\n"
                               "param_cache = \"/p\"\n"
                               "preload = [\"porep-2k\", \"porep-32g\"]\n"
                               "[synthesis]\n"
                               "threads = 7\n"
                               "[gpus]\n"
                               "enabled = false\n"
                               "devices = [3, 0]\n"
                               "gpu_workers_per_device = 5\n"
                               "[scheduler]\n"
                               "max_jobs = 12\n"
                               "[pipeline]\n"
                               "synthesis_lookahead = 3\n"
                               "synthesis_concurrency = 2\n"
                               "max_gpu_queue_depth = 4\n"
                               "[logging]\n"
                               "level = \"DEBUG\"\n"
                               "format = \"json\"\n";
    struct cz_config c;
    struct seen seen = {0};
    struct cz_error err = {0};
    defaults(&c);
    assert_int_equal(parse(&c, TEXT, &seen, &err), CZ_OK);
    assert_int_equal(seen.count, 0);
    assert_int_equal(c.listen.count, 1);
    assert_string_equal(c.listen.item[0], "0.0.0.0:9820");
    assert_int_equal(c.total_budget, 256ull << 30);
    assert_int_equal(c.safety_margin, 1000000000);
    assert_int_equal(c.eviction_min_idle_ms, 90000);
    assert_string_equal(c.param_cache, "/p");
    assert_int_equal(c.preload.count, 2);
    assert_string_equal(c.preload.item[1], "porep-32g");
    assert_int_equal(c.threads, 7);
    assert_false(c.gpus);
    assert_int_equal(c.num_gpu_devices, 2);
    assert_int_equal(c.gpu_device[0], 3);
    assert_int_equal(c.gpu_device[1], 0);
    assert_int_equal(c.gpu_workers, 5);
    assert_int_equal(c.max_jobs, 12);
    assert_int_equal(c.lookahead, 3);
    assert_int_equal(c.assign_workers, 2);
    assert_int_equal(c.max_gpu_queue_depth, 4);
    assert_int_equal(c.log_level, CZ_LOG_DEBUG);
    assert_true(c.log_json);
    uint64_t budget;
    assert_int_equal(cz_config_budget(&c, &budget, NULL), CZ_OK);
    assert_int_equal(budget, 256ull << 30);
    cz_config_done(&c);
}

/* Every key of the original: an old file loads, and each key without effect is named once. */
static void test_old_file(void **state) {
    (void)state;
    static const char TEXT[] =
        "[daemon]\nlisten = \"unix:///run/curio/cuzk.sock\"\nstatus_listen = \"0.0.0.0:9821\"\n"
        "[memory]\ntotal_budget = \"auto\"\nsafety_margin = \"5GiB\"\neviction_min_idle = \"300\"\n"
        "pinned_budget = \"50GiB\"\nworking_memory_budget = \"80GiB\"\n"
        "[srs]\nparam_cache = \"/data/zk/params\"\npreload = []\n"
        "[gpus]\ndevices = [0, 1]\ngpu_threads = 0\ngpu_workers_per_device = 2\n"
        "[scheduler]\nmax_batch_size = 1\nmax_batch_wait_ms = 10000\nsort_by_type = true\n"
        "[synthesis]\nthreads = 0\npartition_workers = 20\n"
        "[pipeline]\nenabled = true\nsynthesis_lookahead = 0\nsynthesis_concurrency = 0\n"
        "max_parallel_synthesis = 18\nslot_size = 0\nmax_gpu_queue_depth = 0\n"
        "[logging]\nlevel = \"info\"\n";
    static const char *const WARNED[] = {"daemon.status_listen",
                                         "memory.pinned_budget",
                                         "memory.working_memory_budget",
                                         "gpus.gpu_threads",
                                         "scheduler.max_batch_size",
                                         "scheduler.max_batch_wait_ms",
                                         "scheduler.sort_by_type",
                                         "synthesis.partition_workers",
                                         "pipeline.enabled",
                                         "pipeline.max_parallel_synthesis",
                                         "pipeline.slot_size"};
    enum { N = sizeof WARNED / sizeof *WARNED };
    struct cz_config c;
    struct seen seen = {0};
    struct cz_error err = {0};
    defaults(&c);
    assert_int_equal(parse(&c, TEXT, &seen, &err), CZ_OK);
    assert_int_equal(seen.count, N);
    for (int i = 0; i < N; i++) { /* in the order of the lines */
        assert_memory_equal(seen.text[i], WARNED[i], strlen(WARNED[i]));
        assert_int_equal(seen.text[i][strlen(WARNED[i])], ' ');
        assert_non_null(strstr(seen.text[i], "has no effect"));
    }
    assert_int_equal(c.total_budget, 0);
    cz_config_done(&c);
}

static void test_errors(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum cz_status status;
        const char *says[2];
    } CASE[] = {
        {"[daemon]\nlissten = \"x\"\n", CZ_ERR_NOT_FOUND, {"daemon.lissten", "line 2"}},
        {"\n\n[deamon]\n", CZ_ERR_NOT_FOUND, {"[deamon]", "line 3"}},
        {"listen = \"x\"\n", CZ_ERR_NOT_FOUND, {"unknown key listen", "line 1"}},
        {"[daemon]\nlisten = 7\n", CZ_ERR_FORMAT, {"daemon.listen", "line 2"}},
        {"[daemon]\nlisten = \"\"\n", CZ_ERR_FORMAT, {"daemon.listen", "line 2"}},
        {"[daemon]\nlisten = []\n", CZ_ERR_FORMAT, {"daemon.listen", "line 2"}},
        {"[memory]\n\ntotal_budget = \"lots\"\n", CZ_ERR_FORMAT, {"memory.total_budget", "line 3"}},
        {"[memory]\ntotal_budget = \"0GiB\"\n", CZ_ERR_LIMIT, {"memory.total_budget", "line 2"}},
        {"[memory]\ntotal_budget = -1\n", CZ_ERR_FORMAT, {"memory.total_budget", "line 2"}},
        {"[memory]\ntotal_budget = 1.5\n", CZ_ERR_FORMAT, {"memory.total_budget", "line 2"}},
        {"[memory]\ntotal_budget = 9223372036854775808\n", CZ_ERR_FORMAT, {"memory.total_budget", "line 2"}},
        {"[scheduler]\nmax_jobs = -99999999999999999999\n", CZ_ERR_FORMAT, {"scheduler.max_jobs", "line 2"}},
        {"[memory]\ntotal_budget = \"99999999999TiB\"\n", CZ_ERR_LIMIT, {"memory.total_budget", "line 2"}},
        {"[memory]\nsafety_margin = \"auto\"\n", CZ_ERR_FORMAT, {"memory.safety_margin", "line 2"}},
        {"[memory]\neviction_min_idle = \"5 parsecs\"\n", CZ_ERR_FORMAT, {"memory.eviction_min_idle", "line 2"}},
        {"[memory]\neviction_min_idle = 300\n", CZ_ERR_FORMAT, {"memory.eviction_min_idle", "line 2"}},
        {"[memory]\neviction_min_idle = \"99999d\"\n", CZ_ERR_LIMIT, {"memory.eviction_min_idle", "a year"}},
        {"[srs]\npreload = \"porep-2k\"\n", CZ_ERR_FORMAT, {"srs.preload", "line 2"}},
        {"[srs]\npreload = [1]\n", CZ_ERR_FORMAT, {"srs.preload", "line 2"}},
        {"[srs]\nparam_cache = \"\"\n", CZ_ERR_FORMAT, {"srs.param_cache", "line 2"}},
        {"[srs]\nparam_cache = \"a\\u0000b\"\n", CZ_ERR_FORMAT, {"srs.param_cache", "line 2"}},
        {"[gpus]\ndevices = [-1]\n", CZ_ERR_LIMIT, {"gpus.devices", "line 2"}},
        {"[gpus]\ndevices = [\"0\"]\n", CZ_ERR_FORMAT, {"gpus.devices", "whole numbers"}},
        {"[gpus]\ndevices = [3, 3]\n", CZ_ERR_FORMAT, {"gpus.devices", "twice"}},
        {"[gpus]\nenabled = 1\n", CZ_ERR_FORMAT, {"gpus.enabled", "true or false"}},
        {"[gpus]\ndevices = 0\n", CZ_ERR_FORMAT, {"gpus.devices", "line 2"}},
        {"[scheduler]\nsort_by_type = 1\n", CZ_ERR_FORMAT, {"scheduler.sort_by_type", "true or false"}},
        {"[scheduler]\nmax_batch_size = 4097\n", CZ_ERR_LIMIT, {"scheduler.max_batch_size", "0 to 4096"}},
        {"[synthesis]\nthreads = \"4\"\n", CZ_ERR_FORMAT, {"synthesis.threads", "line 2"}},
        {"[synthesis]\nthreads = 5000\n", CZ_ERR_LIMIT, {"synthesis.threads", "5000"}},
        {"[pipeline]\nsynthesis_lookahead = 1025\n", CZ_ERR_LIMIT, {"pipeline.synthesis_lookahead", "0 to 1024"}},
        {"[logging]\nlevel = \"loud\"\n", CZ_ERR_FORMAT, {"logging.level", "line 2"}},
        {"[logging]\nformat = \"xml\"\n", CZ_ERR_FORMAT, {"logging.format", "line 2"}},
        {"[logging]\n[logging.extra]\nx = 1\n", CZ_ERR_NOT_FOUND, {"logging.extra", "line 2"}},
        {"[daemon]\nlisten = \"a\nb\"\n", CZ_ERR_FORMAT, {"line 2", "line"}},
        {"[daemon\n", CZ_ERR_FORMAT, {"line 1", "line"}},
        {"[daemon]\nlisten\n", CZ_ERR_FORMAT, {"line 2", "line"}},
        {"[srs]\nparam_cache = \"a\"\nparam_cache = \"b\"\n", CZ_ERR_FORMAT, {"line", "line"}},
    };
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        struct cz_config c;
        struct seen seen = {0};
        struct cz_error err = {0};
        defaults(&c);
        enum cz_status st = parse(&c, CASE[i].text, &seen, &err);
        if (st != CASE[i].status || !strstr(err.detail, CASE[i].says[0]) || !strstr(err.detail, CASE[i].says[1])) {
            fail_msg("case %zu: status %d, \"%s\"", i, (int)st, err.detail);
        }
        if (strchr(err.detail, '\n')) fail_msg("case %zu: more than one line: %s", i, err.detail);
        cz_config_done(&c);
    }
}

/* The dots of many addresses on one line are no nesting. */
static void test_many_addresses(void **state) {
    (void)state;
    struct cz_config c;
    struct cz_error err = {0};
    char text[2000];
    for (int literal = 0; literal < 2; literal++) {
        int n = snprintf(text, sizeof text, "[daemon]\nlisten = [");
        for (int i = 0; i < CZ_CONFIG_MAX_LIST; i++) {
            n += snprintf(text + n, sizeof text - (size_t)n, literal ? "'10.0.0.%d:9820'," : "\"10.0.0.%d:9820\",", i);
        }
        n += snprintf(text + n, sizeof text - (size_t)n, "]\n");
        defaults(&c);
        if (cz_config_parse(&c, text, (size_t)n, NULL, NULL, &err) != CZ_OK) fail_msg("%s", err.detail);
        assert_int_equal(c.listen.count, CZ_CONFIG_MAX_LIST);
        cz_config_done(&c);
    }
}

static void test_hostile(void **state) {
    (void)state;
    struct cz_config c;
    struct cz_error err = {0};
    defaults(&c);
    char deep[3000];
    memset(deep, '[', sizeof deep);
    memcpy(deep, "a=", 2);
    assert_int_equal(cz_config_parse(&c, deep, sizeof deep, NULL, NULL, &err), CZ_ERR_LIMIT);
    for (size_t i = 0; i + 1 < sizeof deep; i += 2) memcpy(deep + i, "a.", 2);
    assert_int_equal(cz_config_parse(&c, deep, sizeof deep, NULL, NULL, &err), CZ_ERR_LIMIT);
    /* where strings only seem to be */
    static const char *const BEFORE[] = {"a = [\"\"\"\n\"\"\", {", "a = ['''\n''', {", "# \"\n", "a = \"\\\n",
                                         "a = '\\', "};
    for (size_t i = 0; i < sizeof BEFORE / sizeof *BEFORE; i++) {
        memcpy(deep, BEFORE[i], strlen(BEFORE[i]));
        assert_int_equal(cz_config_parse(&c, deep, sizeof deep, NULL, NULL, &err), CZ_ERR_LIMIT);
    }
    /* brackets that close only in strings and comments */
    static const char *const OPEN[] = {"[\"]\",", "[']',", "[#]\n", "[\"\"\"]\"\"\","};
    for (size_t k = 0; k < sizeof OPEN / sizeof *OPEN; k++) {
        size_t n = strlen(OPEN[k]), at = 4;
        memcpy(deep, "a = ", at);
        for (; at + n <= sizeof deep; at += n) memcpy(deep + at, OPEN[k], n);
        assert_int_equal(cz_config_parse(&c, deep, at, NULL, NULL, &err), CZ_ERR_LIMIT);
    }
    assert_int_equal(cz_config_parse(&c, "[srs]\n\0\n", 8, NULL, NULL, &err), CZ_ERR_FORMAT);
    assert_non_null(strstr(err.detail, "line 2"));
    /* Bytes that are no UTF-8, at which toml11 reads beyond the string. */
    static const char *const NO_UTF8[] = {"[srs]\na = '\xe1'\n", "[srs]\n# \xc3\n", "[srs]\na = \"\xed\xa0\x80\"\n",
                                          "[srs]\na = '''\xff'''\n"};
    for (size_t i = 0; i < sizeof NO_UTF8 / sizeof *NO_UTF8; i++) {
        assert_int_equal(cz_config_parse(&c, NO_UTF8[i], strlen(NO_UTF8[i]), NULL, NULL, &err), CZ_ERR_FORMAT);
        assert_string_equal(err.detail, "line 2: not UTF-8");
    }
    assert_int_equal(cz_config_parse(&c, "# \xe2\x82\xac\n", 6, NULL, NULL, &err), CZ_OK);
    assert_int_equal(cz_config_parse(&c, "", 0, NULL, NULL, &err), CZ_OK);
    assert_int_equal(cz_config_parse(&c, "# only a comment", 16, NULL, NULL, &err), CZ_OK);
    size_t big = (1u << 20) + 1;
    char *text = malloc(big);
    assert_non_null(text);
    memset(text, '\n', big);
    assert_int_equal(cz_config_parse(&c, text, big, NULL, NULL, &err), CZ_ERR_LIMIT);
    free(text);
    assert_int_equal(cz_config_read(&c, "/nonexistent/cuzk.toml", NULL, NULL, &err), CZ_ERR_NOT_FOUND);
    assert_non_null(strstr(err.detail, "/nonexistent/cuzk.toml"));
    cz_config_done(&c);
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum cz_status status;
        uint64_t value;
    } SIZE[] = {{"0", CZ_OK, 0},
                {"1048576", CZ_OK, 1048576},
                {"1KiB", CZ_OK, 1024},
                {"3 mib", CZ_OK, 3 << 20},
                {"2GB", CZ_OK, 2000000000},
                {"16777215TiB", CZ_OK, 16777215ull << 40},
                {"16777216TiB", CZ_ERR_LIMIT, 0},
                {"18446744073709551615", CZ_OK, UINT64_MAX},
                {"18446744073709551616", CZ_ERR_LIMIT, 0},
                {"", CZ_ERR_FORMAT, 0},
                {"GiB", CZ_ERR_FORMAT, 0},
                {"-1", CZ_ERR_FORMAT, 0},
                {"1.5GiB", CZ_ERR_FORMAT, 0},
                {"1GiBs", CZ_ERR_FORMAT, 0}};
    for (size_t i = 0; i < sizeof SIZE / sizeof *SIZE; i++) {
        uint64_t v = 0;
        assert_int_equal(cz_config_parse_size(&v, SIZE[i].text), SIZE[i].status);
        assert_int_equal(v, SIZE[i].value);
    }
    static const struct {
        const char *text;
        enum cz_status status;
        uint64_t ms;
    } DURATION[] = {{"5m", CZ_OK, 300000},
                    {"250ms", CZ_OK, 250},
                    {"1h30m", CZ_OK, 5400000},
                    {"1h 30m", CZ_OK, 5400000},
                    {"0s", CZ_OK, 0},
                    {"2d", CZ_OK, 172800000},
                    {"", CZ_ERR_FORMAT, 0},
                    {"5", CZ_OK, 5000},
                    {"1h30", CZ_ERR_FORMAT, 0},
                    {"5 ", CZ_ERR_FORMAT, 0},
                    {"18446744073709551615", CZ_ERR_LIMIT, 0},
                    {"m", CZ_ERR_FORMAT, 0},
                    {"5M", CZ_ERR_FORMAT, 0},
                    {"-5m", CZ_ERR_FORMAT, 0},
                    {"99999999999999999999s", CZ_ERR_LIMIT, 0},
                    {"18446744073709551615d", CZ_ERR_LIMIT, 0}};
    for (size_t i = 0; i < sizeof DURATION / sizeof *DURATION; i++) {
        uint64_t v = 0;
        assert_int_equal(cz_config_parse_duration(&v, DURATION[i].text), DURATION[i].status);
        assert_int_equal(v, DURATION[i].ms);
    }
}

static void test_auto_budget(void **state) {
    (void)state;
    struct cz_config c;
    struct cz_error err = {0};
    uint64_t budget = 0, all = 0;
    defaults(&c);
    c.safety_margin = 0;
    assert_int_equal(cz_config_budget(&c, &all, &err), CZ_OK);
    c.safety_margin = 4096;
    assert_int_equal(cz_config_budget(&c, &budget, &err), CZ_OK);
    assert_int_equal(budget + 4096, all);
    c.safety_margin = all;
    assert_int_equal(cz_config_budget(&c, &budget, &err), CZ_ERR_BUDGET);
    assert_non_null(strstr(err.detail, "memory.safety_margin"));
    cz_config_done(&c);
}

static void test_example(void **state) {
    (void)state;
    struct cz_config c;
    struct seen seen = {0};
    struct cz_error err = {0};
    defaults(&c);
    enum cz_status st = cz_config_read(&c, CZ_SOURCE_DIR "/examples/cuzk.toml", on_warn, &seen, &err);
    if (st != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(seen.count, 0);
    cz_config_done(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_whole_file),  cmocka_unit_test(test_old_file),
        cmocka_unit_test(test_errors),   cmocka_unit_test(test_hostile),     cmocka_unit_test(test_many_addresses),
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_auto_budget), cmocka_unit_test(test_example),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
