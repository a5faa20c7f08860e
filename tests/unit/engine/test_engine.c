/* Jobs: order, identity, retries, failures, end. */

#include "base/time.h"
#include "unit/engine/fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <unistd.h>

struct rig {
    struct fake f;
    struct cz_engine *e;
};

static void rig_start(struct rig *rig) {
    fake_init(&rig->f);
    struct cz_engine_options o = fake_options(&rig->f);
    assert_int_equal(cz_engine_create(&rig->e, &o, NULL), CZ_OK);
}

static void rig_end(struct rig *rig) {
    cz_engine_destroy(rig->e);
    fake_done(&rig->f);
}

static struct cz_engine_ticket submit(struct rig *rig, const char *id, uint8_t tag, enum cz_priority priority) {
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(rig->e, &rig->f, id, tag, 1, 2048, priority, &t, NULL), CZ_OK);
    return t;
}

static void expect_completed(struct rig *rig, const struct cz_engine_ticket *t, uint8_t tag) {
    struct fake_result r;
    fake_result(rig->e, t->job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(r.proof_len % 192, 0);
    assert_true(r.proof_len >= 192);
    for (size_t i = 0; i < r.proof_len / 192; i++) {
        assert_int_equal(r.proof[192 * i], tag);
        assert_int_equal(r.proof[192 * i + 1], i);
        assert_int_equal(r.proof[192 * i + 191], FAKE_PROOF_MARK);
    }
    assert_string_equal(r.error, "");
}

static void test_order(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_ASSIGN);
    struct cz_engine_ticket t[8];
    t[0] = submit(&rig, "", 0, CZ_PRIORITY_LOW);
    fake_wait(&rig.f, FAKE_ASSIGN, 1); /* runs; the others queue */
    static const enum cz_priority P[] = {CZ_PRIORITY_LOW,     CZ_PRIORITY_NORMAL,  CZ_PRIORITY_CRITICAL,
                                         CZ_PRIORITY_HIGH,    CZ_PRIORITY_DEFAULT, CZ_PRIORITY_LOW,
                                         CZ_PRIORITY_CRITICAL};
    for (uint8_t i = 0; i < 7; i++) t[i + 1] = submit(&rig, "", (uint8_t)(i + 1), P[i]);
    assert_int_equal(t[3].queue_position, 0);
    assert_int_equal(t[6].queue_position, 5);
    assert_int_equal(t[7].queue_position, 1);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    assert_int_equal(s.kind[CZ_PROOF_POREP].in_progress, 1);
    assert_int_equal(s.kind[CZ_PROOF_POREP].pending, 7);
    fake_open(&rig.f, FAKE_ASSIGN);
    for (uint8_t i = 0; i < 8; i++) expect_completed(&rig, &t[i], i);
    static const uint8_t ORDER[] = {0, 3, 7, 4, 2, 5, 1, 6};
    assert_memory_equal(rig.f.order, ORDER, 8);
    rig_end(&rig);
}

static uint32_t calls(struct rig *rig, enum fake_stage stage) {
    (void)pthread_mutex_lock(&rig->f.lock);
    uint32_t n = rig->f.calls[stage];
    (void)pthread_mutex_unlock(&rig->f.lock);
    return n;
}

/*
 * The finishing of partition N, however slow, never delays the computation of N + 1: with finish (or verify) held at
 * its first partition, all others of three jobs are computed, and no reservation of theirs is left but the inputs'.
 */
static void finish_is_apart(enum fake_stage held) {
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, held);
    struct cz_engine_ticket t[3];
    for (uint8_t i = 0; i < 3; i++) {
        assert_int_equal(fake_submit(rig.e, &rig.f, "", i, 8, 2048, CZ_PRIORITY_DEFAULT, &t[i], NULL), CZ_OK);
    }
    fake_wait(&rig.f, held, 1);
    uint64_t start = cz_time_now_ns();
    while (calls(&rig, FAKE_COMPUTE) < 24 && cz_time_since(start) < 60) (void)usleep(1000);
    assert_int_equal(calls(&rig, FAKE_COMPUTE), 24);
    assert_int_equal(calls(&rig, held), 1);
    fake_until_used(rig.e, rig.f.srs + 3 * rig.f.input);
    fake_open(&rig.f, held);
    for (uint8_t i = 0; i < 3; i++) expect_completed(&rig, &t[i], i);
    rig_end(&rig);
}

static void test_finish_is_apart(void **state) {
    (void)state;
    finish_is_apart(FAKE_FINISH);
    finish_is_apart(FAKE_VERIFY);
}

static void test_partitions_together(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 9, 8, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    expect_completed(&rig, &t, 9);
    rig_end(&rig);
}

static void test_join(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket a = submit(&rig, "porep-1000-1", 1, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket same = submit(&rig, "porep-1000-1", 1, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket other = submit(&rig, "porep-1000-1", 2, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket id2 = submit(&rig, "porep-1000-2", 1, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket e1 = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket e2 = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    assert_false(a.joined);
    assert_true(same.joined);
    assert_string_equal(a.job_id, same.job_id);
    const struct cz_engine_ticket *all[] = {&a, &other, &id2, &e1, &e2};
    for (int i = 0; i < 5; i++) {
        assert_false(all[i]->joined);
        for (int k = 0; k < i; k++) assert_string_not_equal(all[i]->job_id, all[k]->job_id);
    }
    fake_open(&rig.f, FAKE_COMPUTE);
    expect_completed(&rig, &a, 1);
    expect_completed(&rig, &other, 2);
    expect_completed(&rig, &id2, 1);
    expect_completed(&rig, &e1, 1);
    expect_completed(&rig, &e2, 1);
    /* And after it is done, without its input. */
    struct cz_engine_ticket late;
    uint8_t digest[32] = {1};
    assert_true(cz_engine_join(rig.e, "porep-1000-1", digest, &late));
    assert_string_equal(late.job_id, a.job_id);
    same = submit(&rig, "porep-1000-1", 1, CZ_PRIORITY_DEFAULT);
    assert_string_equal(same.job_id, a.job_id);
    expect_completed(&rig, &same, 1);
    digest[0] = 3;
    assert_false(cz_engine_join(rig.e, "porep-1000-1", digest, &late));
    assert_false(cz_engine_join(rig.e, "", digest, &late));
    assert_int_equal(rig.f.calls[FAKE_ASSIGN], 5);
    rig_end(&rig);
}

static void test_invalid_proof_retried(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    rig.f.fail_from[FAKE_VERIFY] = 1;
    rig.f.fail_count[FAKE_VERIFY] = 1;
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    expect_completed(&rig, &t, 1);
    assert_int_equal(rig.f.calls[FAKE_ASSIGN], 2);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    assert_int_equal(s.retries, 1);
    rig_end(&rig);
}

static void test_invalid_proof_never_returned(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    rig.f.fail_from[FAKE_VERIFY] = 1;
    rig.f.fail_count[FAKE_VERIFY] = 2;
    struct cz_engine_ticket t = submit(&rig, "r", 1, CZ_PRIORITY_DEFAULT);
    struct fake_result r;
    fake_result(rig.e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    assert_int_equal(r.proof_len, 0);
    assert_non_null(strstr(r.error, "partition 0"));
    assert_non_null(strstr(r.error, "does not verify"));
    assert_non_null(strstr(r.error, "explained"));
    assert_non_null(strstr(r.error, "after 2 attempts"));
    assert_int_equal(rig.f.calls[FAKE_ASSIGN], 2);
    /* A failed job is not joined. */
    struct cz_engine_ticket again = submit(&rig, "r", 1, CZ_PRIORITY_DEFAULT);
    assert_string_not_equal(again.job_id, t.job_id);
    expect_completed(&rig, &again, 1);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    assert_int_equal(s.failed, 1);
    assert_int_equal(s.completed, 1);
    rig_end(&rig);
}

static void test_device_failure(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    rig.f.fail_from[FAKE_COMPUTE] = 1;
    rig.f.fail_count[FAKE_COMPUTE] = 3;
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    struct fake_result r;
    fake_result(rig.e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    assert_non_null(strstr(r.error, "device failed"));
    assert_non_null(strstr(r.error, "injected failure 2"));
    t = submit(&rig, "", 2, CZ_PRIORITY_DEFAULT); /* fails once */
    expect_completed(&rig, &t, 2);
    rig_end(&rig);
}

static void test_bad_input_not_retried(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    rig.f.fail_with = CZ_ERR_FORMAT;
    rig.f.fail_from[FAKE_ASSIGN] = 1;
    rig.f.fail_count[FAKE_ASSIGN] = 1;
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    struct fake_result r;
    fake_result(rig.e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    assert_int_equal(rig.f.calls[FAKE_ASSIGN], 1);
    rig_end(&rig);
}

static void test_refused(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    struct cz_engine_ticket t;
    struct cz_error err = {0};
    rig.f.check_status = CZ_ERR_MISMATCH;
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 1, 1, 2048, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_MISMATCH);
    assert_string_equal(err.detail, "sector 7, challenge 3: comm_d path");
    rig.f.check_status = CZ_OK;
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 1, 1, 4097, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_UNSUPPORTED);
    assert_int_equal(fake_submit(rig.e, &rig.f, "", 1, 0, 2048, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_LIMIT);
    char long_id[CZ_REQUEST_ID_MAX + 2];
    memset(long_id, 'x', sizeof long_id);
    long_id[sizeof long_id - 1] = 0;
    assert_int_equal(fake_submit(rig.e, &rig.f, long_id, 1, 1, 2048, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_LIMIT);
    struct cz_engine_request req = {.input = fake_input(&rig.f, CZ_CIRCUIT_UPDATE_POSEIDON, 2048, 1, 1)};
    assert_int_equal(cz_engine_submit(rig.e, &req, &t, &err), CZ_ERR_UNSUPPORTED);
    assert_int_equal(cz_engine_watch(rig.e, "job-none", 0, NULL, NULL, &err), CZ_ERR_NOT_FOUND);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(rig.e, "porep-3k", &already, &ms, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_engine_preload(rig.e, "snap-poseidon-2k", &already, &ms, &err), CZ_ERR_UNSUPPORTED);
    rig_end(&rig);
}

/* Kinds that are mixed have circuits, counters and priorities of their own. */
static void test_kinds(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    static const enum cz_circuit_kind KIND[4] = {CZ_CIRCUIT_POREP, CZ_CIRCUIT_UPDATE, CZ_CIRCUIT_WINDOW,
                                                 CZ_CIRCUIT_WINNING};
    static const char *const CIRCUIT[4] = {"porep-2k", "snap-2k", "wpost-2k", "winning-2k"};
    fake_close(&rig.f, FAKE_ASSIGN);
    struct cz_engine_ticket first = submit(&rig, "", 9, CZ_PRIORITY_LOW), t[4];
    fake_wait(&rig.f, FAKE_ASSIGN, 1); /* runs; the others queue */
    for (uint8_t i = 0; i < 4; i++) {
        struct cz_engine_request r = {.input_digest = {i}, .input = fake_input(&rig.f, KIND[i], 2048, i + 1u, i)};
        assert_int_equal(cz_engine_submit(rig.e, &r, &t[i], NULL), CZ_OK);
    }
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    for (int k = 0; k < 4; k++) assert_int_equal(s.kind[k].pending + s.kind[k].in_progress, k == 0 ? 2 : 1);
    fake_open(&rig.f, FAKE_ASSIGN);
    expect_completed(&rig, &first, 9);
    for (uint8_t i = 0; i < 4; i++) expect_completed(&rig, &t[i], i);
    /* Winning is CRITICAL, window HIGH, the others NORMAL in order of arrival. */
    static const uint8_t ORDER[] = {9, 3, 3, 3, 3, 2, 2, 2, 0, 1, 1};
    assert_int_equal(rig.f.num_order, sizeof ORDER);
    assert_memory_equal(rig.f.order, ORDER, sizeof ORDER);
    cz_engine_status(rig.e, &s);
    assert_int_equal(s.num_srs, 4);
    for (int k = 0; k < 4; k++) {
        bool found = false;
        for (uint32_t i = 0; i < s.num_srs; i++) found |= strcmp(s.srs[i].circuit_id, CIRCUIT[k]) == 0;
        assert_true(found);
        assert_int_equal(s.kind[k].completed, k == 0 ? 2 : 1);
    }
    rig_end(&rig);
}

static void count_end(void *ctx, const struct cz_job_result *result) {
    uint32_t *n = ctx;
    assert_int_equal(result->state, CZ_JOB_COMPLETED);
    (*n)++;
}

/* However many wait for a job, or none: its end is told once, before they are. */
static void test_ended(void **state) {
    (void)state;
    struct rig rig;
    uint32_t n = 0;
    fake_init(&rig.f);
    struct cz_engine_options o = fake_options(&rig.f);
    o.ended = count_end;
    o.ended_ctx = &n;
    assert_int_equal(cz_engine_create(&rig.e, &o, NULL), CZ_OK);
    fake_close(&rig.f, FAKE_ASSIGN);
    struct cz_engine_ticket a = submit(&rig, "a", 1, CZ_PRIORITY_DEFAULT);
    (void)submit(&rig, "b", 2, CZ_PRIORITY_DEFAULT);
    struct fake_result r[3];
    for (int i = 0; i < 3; i++) fake_watch(rig.e, a.job_id, 0, &r[i]);
    fake_open(&rig.f, FAKE_ASSIGN);
    for (int i = 0; i < 3; i++) fake_await(&r[i]);
    cz_engine_drain(rig.e);
    assert_int_equal(n, 2);
    rig_end(&rig);
}

static void test_max_jobs(void **state) {
    (void)state;
    struct rig rig;
    fake_init(&rig.f);
    struct cz_engine_options o = fake_options(&rig.f);
    o.max_jobs = 2;
    assert_int_equal(cz_engine_create(&rig.e, &o, NULL), CZ_OK);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket a = submit(&rig, "a", 1, CZ_PRIORITY_DEFAULT),
                            b = submit(&rig, "b", 2, CZ_PRIORITY_DEFAULT);
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(rig.e, &rig.f, "c", 3, 1, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_ERR_FULL);
    assert_int_equal(fake_submit(rig.e, &rig.f, "a", 1, 1, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK); /* joins */
    fake_open(&rig.f, FAKE_COMPUTE);
    expect_completed(&rig, &a, 1);
    expect_completed(&rig, &b, 2);
    rig_end(&rig);
}

static void test_missing_params(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    rig.f.params_missing = true;
    struct cz_engine_ticket t = submit(&rig, "r", 1, CZ_PRIORITY_DEFAULT);
    struct fake_result r;
    fake_result(rig.e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    assert_non_null(strstr(r.error, "/params/v28-fake.params"));
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(rig.e, "porep-2k", &already, &ms, NULL), CZ_ERR_NOT_FOUND);
    rig.f.params_missing = false;
    rig.f.fail_from[FAKE_LOAD] = 1;
    rig.f.fail_count[FAKE_LOAD] = 1;
    rig.f.fail_with = CZ_ERR_MISMATCH;
    t = submit(&rig, "r", 1, CZ_PRIORITY_DEFAULT);
    fake_result(rig.e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    fake_until_used(rig.e, 0);
    t = submit(&rig, "r", 1, CZ_PRIORITY_DEFAULT);
    expect_completed(&rig, &t, 1);
    rig_end(&rig);
}

/* Status is answered while an SRS loads and while everything is busy. */
static void test_status_never_waits(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_LOAD);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    fake_wait(&rig.f, FAKE_LOAD, 1);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s); /* would never return if it waited: the gates are closed */
    assert_int_equal(s.num_srs, 1);
    assert_int_equal(s.srs[0].tier, CZ_SRS_WARM);
    assert_int_equal(s.running, 1);
    fake_open(&rig.f, FAKE_LOAD);
    fake_wait(&rig.f, FAKE_COMPUTE, 1);
    cz_engine_status(rig.e, &s);
    assert_int_equal(s.srs[0].tier, CZ_SRS_HOT);
    assert_string_equal(s.worker[0].job_id, t.job_id);
    fake_open(&rig.f, FAKE_COMPUTE);
    expect_completed(&rig, &t, 1);
    rig_end(&rig);
}

static void test_timeout(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    fake_wait(&rig.f, FAKE_COMPUTE, 1);
    struct fake_result forever, r;
    fake_watch(rig.e, t.job_id, 0, &forever);
    uint64_t start = cz_time_now_ns();
    fake_watch(rig.e, t.job_id, 60, &r);
    fake_await(&r);
    assert_int_equal(r.state, CZ_JOB_RUNNING);
    assert_int_equal(r.proof_len, 0);
    assert_true(cz_time_since(start) >= 0.059);
    fake_open(&rig.f, FAKE_COMPUTE);
    fake_await(&forever);
    assert_int_equal(forever.state, CZ_JOB_COMPLETED);
    fake_watch(rig.e, t.job_id, UINT64_MAX, &r);
    fake_await(&r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    rig_end(&rig);
}

static void test_unwatch(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_ASSIGN);
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    struct fake_result r[3];
    for (int i = 0; i < 3; i++) fake_watch(rig.e, t.job_id, 0, &r[i]);
    assert_false(cz_engine_unwatch(rig.e, &rig));
    assert_true(cz_engine_unwatch(rig.e, &r[1]));
    assert_false(cz_engine_unwatch(rig.e, &r[1])); /* once */
    fake_open(&rig.f, FAKE_ASSIGN);
    fake_await(&r[0]);
    fake_await(&r[2]);
    assert_false(r[1].done);
    assert_false(cz_engine_unwatch(rig.e, &r[0])); /* told already */
    rig_end(&rig);
    assert_false(r[1].done);
}

static void *drain_main(void *arg) {
    cz_engine_drain(arg);
    return NULL;
}

static void test_drain(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct cz_engine_ticket t[3];
    struct fake_result r[3];
    for (uint8_t i = 0; i < 3; i++) {
        t[i] = submit(&rig, "x", i, CZ_PRIORITY_DEFAULT);
        fake_watch(rig.e, t[i].job_id, 0, &r[i]);
    }
    cz_engine_stop_accepting(rig.e);
    struct cz_engine_ticket no;
    assert_int_equal(fake_submit(rig.e, &rig.f, "y", 9, 1, 2048, CZ_PRIORITY_DEFAULT, &no, NULL), CZ_ERR_SHUTDOWN);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    assert_true(s.draining);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drain_main, rig.e), 0);
    fake_open(&rig.f, FAKE_COMPUTE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    for (uint8_t i = 0; i < 3; i++) {
        assert_true(r[i].done); /* told before drain returned */
        fake_await(&r[i]);
        assert_int_equal(r[i].state, CZ_JOB_COMPLETED);
    }
    rig_end(&rig);
}

/* Once the engine is ending; it is there until the stage that is held returns. */
static void *open_main(void *arg) {
    struct rig *rig = arg;
    struct cz_engine_status s;
    do {
        (void)usleep(1000);
        cz_engine_status(rig->e, &s);
    } while (!s.draining);
    fake_open(&rig->f, FAKE_COMPUTE);
    return NULL;
}

static void test_destroy_at_once(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    fake_close(&rig.f, FAKE_COMPUTE);
    struct fake_result r[6];
    for (uint8_t i = 0; i < 6; i++) {
        struct cz_engine_ticket t = submit(&rig, "", i, CZ_PRIORITY_DEFAULT);
        fake_watch(rig.e, t.job_id, 0, &r[i]);
    }
    fake_wait(&rig.f, FAKE_COMPUTE, 1);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, open_main, &rig), 0);
    cz_engine_destroy(rig.e);
    for (uint8_t i = 0; i < 6; i++) {
        fake_await(&r[i]);
        assert_int_equal(r[i].state, CZ_JOB_CANCELLED);
        assert_int_equal(r[i].proof_len, 0);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    fake_done(&rig.f);
}

/* The Nth call of each stage fails, once or for good: every job ends, nothing is left behind. */
static void test_every_failure(void **state) {
    (void)state;
    for (int stage = 0; stage < FAKE_STAGES; stage++) {
        for (uint32_t n = 1; n <= 5; n++) {
            for (uint32_t count = 1; count <= 4; count++) {
                struct rig rig;
                rig_start(&rig);
                rig.f.fail_from[stage] = n;
                rig.f.fail_count[stage] = count;
                struct cz_engine_ticket t[3];
                for (uint8_t i = 0; i < 3; i++) {
                    assert_int_equal(fake_submit(rig.e, &rig.f, "", i, 2, 2048, CZ_PRIORITY_DEFAULT, &t[i], NULL),
                                     CZ_OK);
                }
                for (uint8_t i = 0; i < 3; i++) {
                    struct fake_result r;
                    fake_result(rig.e, t[i].job_id, &r);
                    assert_true(r.state == CZ_JOB_COMPLETED || r.state == CZ_JOB_FAILED);
                    assert_true((r.state == CZ_JOB_FAILED) == (r.error[0] != 0));
                    assert_int_equal(r.proof_len, r.state == CZ_JOB_COMPLETED ? 2 * 192 : 0);
                    if (count == 1 && stage != FAKE_LOAD) assert_int_equal(r.state, CZ_JOB_COMPLETED);
                }
                (void)pthread_mutex_lock(&rig.f.lock);
                size_t left = rig.f.loaded * rig.f.srs;
                (void)pthread_mutex_unlock(&rig.f.lock);
                fake_until_used(rig.e, left);
                rig_end(&rig);
            }
        }
    }
}

static void test_retention(void **state) {
    (void)state;
    struct rig rig;
    fake_init(&rig.f);
    struct cz_engine_options o = fake_options(&rig.f);
    o.keep_jobs = 2;
    assert_int_equal(cz_engine_create(&rig.e, &o, NULL), CZ_OK);
    struct cz_engine_ticket t[4];
    for (uint8_t i = 0; i < 4; i++) {
        char id[3] = {'r', (char)('0' + i), 0};
        t[i] = submit(&rig, id, i, CZ_PRIORITY_DEFAULT);
        expect_completed(&rig, &t[i], i);
    }
    /* The notifier forgets after it has told everyone: each watch lets it go round once more. */
    struct fake_result r;
    bool known = true;
    for (int i = 0; i < 2000 && known; i++) {
        fake_result(rig.e, t[3].job_id, &r);
        (void)usleep(1000);
        struct cz_engine_ticket ticket;
        uint8_t digest[32] = {1};
        known = cz_engine_join(rig.e, "r1", digest, &ticket);
    }
    assert_false(known);
    assert_int_equal(cz_engine_watch(rig.e, t[0].job_id, 0, NULL, NULL, NULL), CZ_ERR_NOT_FOUND);
    fake_result(rig.e, t[2].job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    rig_end(&rig);
}

static void test_metrics(void **state) {
    (void)state;
    struct rig rig;
    rig_start(&rig);
    struct cz_engine_ticket t = submit(&rig, "", 1, CZ_PRIORITY_DEFAULT);
    expect_completed(&rig, &t, 1);
    struct cz_engine_status s;
    cz_engine_status(rig.e, &s);
    char *text = cz_metrics_text(&s);
    assert_non_null(text);
    static const char *const WANT[] = {
        "cuzk_proofs_completed_total{proof_kind=\"porep_c2\"} 1\n",
        "cuzk_proofs_failed_total{proof_kind=\"porep_c2\"} 0\n",
        "cuzk_uptime_seconds ",
        "cuzk_queue_depth{proof_kind=\"window_post\"} 0\n",
        "cuzk_running_jobs 0\n",
        "cuzk_gpu_workers 1\n",
        "cuzk_proof_duration_seconds_bucket{proof_kind=\"porep_c2\",le=\"+Inf\"} 1\n",
        "cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"} 1\n",
        "cuzk_srs_bytes{circuit_id=\"porep-2k\"} 1000\n",
        "# TYPE cuzk_proof_duration_seconds histogram\n",
    };
    for (size_t i = 0; i < sizeof WANT / sizeof *WANT; i++) {
        if (!strstr(text, WANT[i])) fail_msg("no %s in:\n%s", WANT[i], text);
    }
    free(text);
    rig_end(&rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_finish_is_apart),
        cmocka_unit_test(test_partitions_together),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_invalid_proof_retried),
        cmocka_unit_test(test_invalid_proof_never_returned),
        cmocka_unit_test(test_device_failure),
        cmocka_unit_test(test_bad_input_not_retried),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_ended),
        cmocka_unit_test(test_max_jobs),
        cmocka_unit_test(test_missing_params),
        cmocka_unit_test(test_status_never_waits),
        cmocka_unit_test(test_timeout),
        cmocka_unit_test(test_unwatch),
        cmocka_unit_test(test_drain),
        cmocka_unit_test(test_destroy_at_once),
        cmocka_unit_test(test_every_failure),
        cmocka_unit_test(test_retention),
        cmocka_unit_test(test_metrics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
