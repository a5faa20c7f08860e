#include "base/trace.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"
#include "support.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_tree.h>

static char path[] = "/tmp/cuzk-test-trace-XXXXXX";

static yajl_val parse(const char *text) {
    char err[256] = "";
    const yajl_val v = yajl_tree_parse(text, err, sizeof err);
    if (!v) fail_msg("%s", err);
    assert_true(YAJL_IS_ARRAY(v));
    return v;
}

static char *read_all(void) {
    uint8_t *text;
    size_t len;
    struct cz_error err = {0};
    assert_int_equal(cz_file_read(&text, &len, path, 1u << 30, &err), CZ_OK);
    return (char *)text;
}

static const char *text_of(yajl_val v, const char *a, const char *b) {
    const char *at[] = {a, b, NULL};
    return YAJL_GET_STRING(yajl_tree_get(v, at, yajl_t_string));
}

static double number_of(yajl_val v, const char *a, const char *b) {
    const char *at[] = {a, b, NULL};
    const yajl_val n = yajl_tree_get(v, at, yajl_t_number);
    assert_non_null(n);
    return YAJL_GET_DOUBLE(n);
}

static void open_trace(void) {
    struct cz_error err = {0};
    assert_int_equal(cz_trace_open(path, &err), CZ_OK);
    assert_true(cz_trace_on());
}

static void close_trace(uint64_t expected) {
    uint64_t dropped = 99;
    struct cz_error err = {0};
    assert_int_equal(cz_trace_close(&dropped, &err), CZ_OK);
    assert_int_equal(dropped, expected);
    assert_false(cz_trace_on());
}

static void spans_come_back(void **state) {
    (void)state;
    const uint64_t now = cz_time_now_ns();
    open_trace();
    cz_trace_span("device cuda:0 worker 0 stream", "H", now + 5000000000u, now + 5002500001u, "job \"1\"\n\xff\\", 3);
    cz_trace_span("host assign 0", "assign", 1, now + 9000000000u, NULL, CZ_TRACE_NO_PARTITION);
    cz_trace_span("host assign 0", "never began", 0, now, NULL, 0);
    cz_trace_span("host assign 0", "ends before it begins", now, now - 1, NULL, 0);
    cz_trace_wait("queue", now + 6000000000u, now + 7000000000u, "j", 4);
    struct cz_error err = {0};
    assert_int_equal(cz_trace_open(path, &err), CZ_ERR_EXISTS);
    close_trace(0);
    char *text = read_all();
    const yajl_val all = parse(text);
    /* Two processes, two tracks, two spans, and a wait as two events. */
    assert_int_equal(all->u.array.len, 8);
    const yajl_val track = all->u.array.values[2], h = all->u.array.values[3], assign = all->u.array.values[5];
    assert_string_equal(text_of(track, "args", "name"), "device cuda:0 worker 0 stream");
    assert_true(number_of(track, "tid", NULL) == number_of(h, "tid", NULL));
    assert_string_equal(text_of(h, "name", NULL), "H");
    assert_string_equal(text_of(h, "args", "job"), "job \"1\"\n\xc3\xbf\\");
    assert_true(number_of(h, "args", "partition") == 3);
    assert_true(number_of(h, "dur", NULL) == 2500.001);
    assert_true(number_of(h, "ts", NULL) > 4e6 && number_of(h, "ts", NULL) <= 5e6);
    assert_true(number_of(assign, "ts", NULL) == 0); /* began before the trace */
    assert_true(number_of(assign, "pid", NULL) != number_of(h, "pid", NULL));
    assert_string_equal(text_of(all->u.array.values[6], "ph", NULL), "b");
    assert_string_equal(text_of(all->u.array.values[7], "ph", NULL), "e");
    yajl_tree_free(all);
    cz_free(text);
}

/* What a killed process leaves: everything flushed, without the closing bracket. */
static void flushed_is_readable(void **state) {
    (void)state;
    open_trace();
    cz_trace_span("host", "a", 1, cz_time_now_ns(), NULL, 0);
    cz_trace_flush();
    char *text = read_all();
    char *closed;
    assert_true(asprintf(&closed, "%s]", text) > 0);
    const yajl_val all = parse(closed);
    assert_int_equal(all->u.array.len, 4);
    yajl_tree_free(all);
    free(closed);
    cz_free(text);
    close_trace(0);
}

static void off_is_nothing(void **state) {
    (void)state;
    assert_false(cz_trace_on());
    const double start = test_cpu_seconds();
    for (int i = 0; i < 1000000; i++) cz_trace_span("host", "a", 1, 2, NULL, 0);
    assert_true(test_cpu_seconds() - start < 1);
    cz_trace_flush();
    close_trace(0);
}

static void bad_paths(void **state) {
    (void)state;
    struct cz_error err = {0};
    assert_int_equal(cz_trace_open("/no such folder/trace.json", &err), CZ_ERR_IO);
    assert_non_null(strstr(err.detail, "/no such folder/trace.json: No such file"));
    assert_int_equal(cz_trace_open("/tmp", &err), CZ_ERR_IO);
    assert_false(cz_trace_on());
    /* Pipes and devices, with a reader or without. */
    static const char fifo[] = "/tmp/cuzk-test-trace-fifo";
    (void)unlink(fifo);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(cz_trace_open(fifo, &err), CZ_ERR_IO);
    const int reader = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    assert_int_equal(cz_trace_open(fifo, &err), CZ_ERR_IO);
    assert_non_null(strstr(err.detail, "not a regular file"));
    (void)close(reader);
    (void)unlink(fifo);
    assert_int_equal(cz_trace_open("/dev/full", &err), CZ_ERR_IO);
    assert_false(cz_trace_on());
    open_trace();
    close_trace(0);
}

/* A file that cannot grow, as on a full disk, is told at the end. */
static void no_space(void **state) {
    (void)state;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 1000, .rlim_max = before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    open_trace();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    for (uint64_t i = 1; i < 20; i++) cz_trace_span("host", "a", i, i + 1, NULL, 0);
    cz_trace_flush();
    cz_trace_flush_now();
    uint64_t dropped;
    struct cz_error err = {0};
    assert_int_equal(cz_trace_close(&dropped, &err), CZ_ERR_IO);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_non_null(strstr(err.detail, "File too large"));
    open_trace();
    close_trace(0);
}

enum { EACH = 20000, THREADS = 4 };

static void *record(void *arg) {
    char track[16];
    (void)snprintf(track, sizeof track, "t%d", *(int *)arg);
    const uint64_t base = cz_time_now_ns() + 1000000000u;
    for (uint64_t i = 0; i < EACH; i++) cz_trace_span(track, "a", base + i, base + i + 1, "job", (int64_t)i);
    return NULL;
}

/* Each thread's spans are whole and in their order. */
static void threads_at_once(void **state) {
    (void)state;
    pthread_t thread[THREADS];
    int number[THREADS];
    open_trace();
    for (int i = 0; i < THREADS; i++) {
        number[i] = i;
        assert_int_equal(pthread_create(&thread[i], NULL, record, &number[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_join(thread[i], NULL), 0);
    close_trace(0);
    char *text = read_all();
    const yajl_val all = parse(text);
    assert_int_equal(all->u.array.len, 2 + THREADS * (1 + EACH));
    int next[THREADS + 1] = {0};
    for (size_t i = 2; i < all->u.array.len; i++) {
        const yajl_val e = all->u.array.values[i];
        if (strcmp(text_of(e, "ph", NULL), "X") != 0) continue;
        const int tid = (int)number_of(e, "tid", NULL);
        assert_in_range(tid, 1, THREADS);
        assert_int_equal(number_of(e, "args", "partition"), next[tid]++);
    }
    yajl_tree_free(all);
    cz_free(text);
}

static void bounded(void **state) {
    (void)state;
    open_trace();
    for (int i = 0; i <= CZ_TRACE_MAX_TRACKS; i++) {
        char track[16];
        (void)snprintf(track, sizeof track, "track %d", i);
        cz_trace_span(track, "a", 1, 2, NULL, 0);
    }
    for (uint32_t i = CZ_TRACE_MAX_TRACKS + 1; i < CZ_TRACE_MAX_EVENTS + 7; i++)
        cz_trace_span("track 0", "a", 1, 2, NULL, 0);
    close_trace(8); /* one for want of a track */
    char *text = read_all();
    assert_true(strlen(text) < 260u << 20);
    assert_non_null(strstr(text, "\"cuzk_dropped\",\"pid\":1,\"tid\":0,\"args\":{\"events\":8}}\n]\n"));
    cz_free(text);
}

int main(void) {
    const int fd = mkstemp(path);
    if (fd < 0) return 1;
    (void)close(fd);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_come_back), cmocka_unit_test(flushed_is_readable),
        cmocka_unit_test(off_is_nothing),  cmocka_unit_test(bad_paths),
        cmocka_unit_test(no_space),        cmocka_unit_test(threads_at_once),
        cmocka_unit_test(bounded),
    };
    const int rc = cmocka_run_group_tests(tests, NULL, NULL);
    (void)unlink(path);
    return rc;
}
