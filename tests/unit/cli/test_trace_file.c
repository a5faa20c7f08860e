#include "cli/trace_file.h"

#include "base/file.h"
#include "base/time.h"
#include "base/trace.h"
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[] = "/tmp/cuzk-test-trace-file-XXXXXX";
static struct cz_error error;

static enum cz_status read_text(struct cz_trace_file *t, const char *text) {
    struct cz_error err = {0};
    assert_int_equal(cz_file_write(path, text, strlen(text), &err), CZ_OK);
    error = (struct cz_error){0};
    *t = (struct cz_trace_file){0};
    return cz_trace_file_read(t, path, &error);
}

static void refused(const char *text, enum cz_status expected, const char *word) {
    struct cz_trace_file t;
    assert_int_equal(read_text(&t, text), expected);
    assert_non_null(strstr(error.detail, path));
    if (!strstr(error.detail, word)) fail_msg("\"%s\" does not have \"%s\"", error.detail, word);
    assert_null(t.event);
}

#define TRACK(tid, name)                                                                                               \
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":2,\"tid\":" tid ",\"args\":{\"name\":\"" name "\"}}"
#define SPAN(tid, ts, dur)                                                                                             \
    "{\"ph\":\"X\",\"name\":\"H\",\"tid\":" tid ",\"ts\":" ts ",\"dur\":" dur                                          \
    ",\"args\":{\"job\":\"job-12\",\"partition\":3}}"

/* What the recorder writes. */
static void round_trip(void **state) {
    (void)state;
    struct cz_error err = {0};
    struct cz_trace_file t;
    uint64_t dropped;
    const uint64_t now = cz_time_now_ns();
    assert_int_equal(cz_trace_open(path, &err), CZ_OK);
    cz_trace_span("host assign 0", "assign", now + 2000000000u, now + 3000000000u, "job-1", 0);
    cz_trace_span("device cuda:0 worker 1 stream", "L", now + 6000000000u, now + 6500000000u, "job-1", 9);
    cz_trace_wait("queue", now + 3000000000u, now + 4000000000u, "job-1", 0);
    cz_trace_span("device cuda:0 worker 1 stream", "H", now + 5000000000u, now + 6000000000u, "job-1", 9);
    assert_int_equal(cz_trace_close(&dropped, &err), CZ_OK);
    assert_int_equal(cz_trace_file_read(&t, path, &err), CZ_OK);
    assert_true(t.complete);
    assert_int_equal(t.num_tracks, 2);
    assert_false(t.track[0].device);
    assert_true(t.track[1].device);
    assert_int_equal(t.num_events, 4);
    /* By track, then by start; waits last. */
    static const char *const NAME[] = {"assign", "H", "L", "queue"};
    static const uint64_t NS[] = {1000000000, 1000000000, 500000000, 1000000000};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(t.name[t.event[i].name], NAME[i]);
        assert_int_equal(t.event[i].end_ns - t.event[i].start_ns, NS[i]);
        assert_string_equal(t.event[i].label, "1");
    }
    assert_int_equal(t.event[1].partition, 9);
    assert_int_equal(t.event[3].track, 2);
    cz_trace_file_done(&t);
}

static void cut_files(void **state) {
    (void)state;
    struct cz_trace_file t;
    const char whole[] = "[" TRACK("1", "device x") ",\n" SPAN("1", "1.5", "2") "\n]";
    char text[sizeof whole];
    for (size_t n = 1; n < sizeof whole; n++) {
        memcpy(text, whole, n);
        text[n] = 0;
        /* Within a token yajl says nothing, or that it is none; what is whole is there. */
        const enum cz_status st = read_text(&t, text);
        if (st != CZ_OK) assert_int_equal(st, CZ_ERR_FORMAT);
        if (st == CZ_OK) assert_int_equal(t.num_events, n >= sizeof whole - 3);
        if (st == CZ_OK) assert_int_equal(t.complete, n == sizeof whole - 1);
        cz_trace_file_done(&t);
    }
}

static void hostile_files(void **state) {
    (void)state;
    struct cz_trace_file t;
    refused("", CZ_ERR_FORMAT, "empty");
    refused("7", CZ_ERR_FORMAT, "array of events");
    refused("{}", CZ_ERR_FORMAT, "array of events");
    refused("[[]]", CZ_ERR_FORMAT, "an event is an object");
    refused("[{\"a\":[[[[[[[[[]]]]]]]]]}]", CZ_ERR_LIMIT, "too deep");
    refused("[{\"a\" 1}]", CZ_ERR_FORMAT, "not JSON");
    refused("[" SPAN("1", "1", "1") "]", CZ_ERR_FORMAT, "no track");
    refused("[" TRACK("2", "x") "]", CZ_ERR_FORMAT, "not numbered");
    refused("[" TRACK("1", "x") "," SPAN("2", "1", "1") "]", CZ_ERR_FORMAT, "no track");
    refused("[" TRACK("1", "x") "," SPAN("1.9", "1", "1") "]", CZ_ERR_FORMAT, "no track");
    refused("[" TRACK("1", "x") "," SPAN("1", "1", "-1") "]", CZ_ERR_FORMAT, "out of range");
    refused("[" TRACK("1", "x") "," SPAN("1", "1", "1e300") "]", CZ_ERR_FORMAT, "out of range");
    refused("[" TRACK("1", "x") "," SPAN("1", "\"1\"", "1") "]", CZ_ERR_FORMAT, "missing");
    refused("[{\"ts\":11111111111111111111111111111111111111111111}]", CZ_ERR_FORMAT, "too long");
    /* Nothing that a terminal would obey. */
    assert_int_equal(read_text(&t, "[" TRACK("1", "device \\u001b[31m\xc3\xbc") ",{\"ph\":\"i\"},{}]"), CZ_OK);
    assert_string_equal(t.track[0].name, "device ?[31m??");
    assert_int_equal(t.num_events, 0);
    cz_trace_file_done(&t);
}

static void bounded(void **state) {
    (void)state;
    char *text = malloc(1 << 20);
    assert_non_null(text);
    size_t n = (size_t)snprintf(text, 1 << 20, "[");
    for (int i = 0; i < CZ_TRACE_MAX_TRACKS + 1; i++)
        n += (size_t)snprintf(text + n, (1 << 20) - n,
                              "%s{\"ph\":\"M\",\"name\":\"thread_name\",\"tid\":%d,\"args\":{\"name\":\"t\"}}",
                              i ? "," : "", i + 1);
    refused(text, CZ_ERR_FORMAT, "numbered");
    n = (size_t)snprintf(text, 1 << 20, "[" TRACK("1", "t"));
    for (int i = 0; i < CZ_TRACE_FILE_MAX_NAMES + 1; i++)
        n += (size_t)snprintf(text + n, (1 << 20) - n, ",{\"ph\":\"X\",\"name\":\"n%d\",\"tid\":1,\"ts\":1,\"dur\":1}",
                              i);
    refused(text, CZ_ERR_LIMIT, "names");
    free(text);
}

/* A token of many megabytes takes time that grows with it and no faster; a file that no trace can be is not read. */
static void long_tokens(void **state) {
    (void)state;
    static const char *const START[] = {"[{\"x\":\"\\n", "[{\"", "[{\"ts\":1"};
    const size_t n = (size_t)48 << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    const double start = test_cpu_seconds();
    for (size_t i = 0; i < sizeof START / sizeof *START; i++) {
        memset(text, '1', n);
        text[n] = 0;
        memcpy(text, START[i], strlen(START[i]));
        struct cz_trace_file t;
        (void)!read_text(&t, text);
        cz_trace_file_done(&t);
    }
    assert_true(test_cpu_seconds() - start < 10);
    free(text);
    assert_int_equal(truncate(path, ((off_t)512 << 20) + 1), 0);
    struct cz_trace_file t = {0};
    error = (struct cz_error){0};
    assert_int_equal(cz_trace_file_read(&t, path, &error), CZ_ERR_LIMIT);
    assert_non_null(strstr(error.detail, "512 MiB"));
    assert_int_equal(truncate(path, 0), 0);
}

int main(void) {
    const int fd = mkstemp(path);
    if (fd < 0) return 1;
    (void)close(fd);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip), cmocka_unit_test(cut_files),   cmocka_unit_test(hostile_files),
        cmocka_unit_test(bounded),    cmocka_unit_test(long_tokens),
    };
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    return rc;
}
