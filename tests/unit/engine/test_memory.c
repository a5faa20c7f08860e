/* Reservations: the peak is the plan, nothing leaks, nothing stands still. */

#include "base/time.h"
#include "unit/engine/fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <unistd.h>

#define JOBS_MAX 20

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Bytes are reserved first, so the witnesses come a moment later. */
static void until_witnesses(struct fake *f, size_t bytes) {
    size_t peak = 0;
    for (int i = 0; i < 60000 && peak != bytes; i++) {
        (void)usleep(1000);
        (void)pthread_mutex_lock(&f->lock);
        peak = f->peak_witness;
        (void)pthread_mutex_unlock(&f->lock);
    }
    assert_int_equal(peak, bytes);
}

/*
 * n jobs of one partition with everything held at compute: one computes, one waits in the queue, one is made and waits
 * for room. That is the plan, whatever n is.
 */
static void peak_with(uint32_t n) {
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_int_equal(s.memory_used, f.srs);
    assert_int_equal(s.memory_peak, f.srs + 7); /* the estimate before loading */

    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket t[JOBS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(fake_submit(e, &f, "", (uint8_t)i, 1, 2048, CZ_PRIORITY_DEFAULT, &t[i], NULL), CZ_OK);
    }
    size_t plan = f.srs + n * f.input + least(n, 3) * f.witness + f.compute;
    fake_until_used(e, plan);
    until_witnesses(&f, least(n, 3) * f.witness);
    fake_open(&f, FAKE_COMPUTE);
    for (uint32_t i = 0; i < n; i++) {
        struct fake_result r;
        fake_result(e, t[i].job_id, &r);
        assert_int_equal(r.state, CZ_JOB_COMPLETED);
        assert_int_equal(r.proof[0], i);
    }
    fake_until_used(e, f.srs);
    cz_engine_status(e, &s);
    assert_int_equal(s.memory_peak, plan);
    assert_int_equal(f.peak_witness, least(n, 3) * f.witness);
    assert_int_equal(s.kind[CZ_PROOF_POREP].completed, n);
    cz_engine_destroy(e);
    fake_done(&f);
}

static void test_peak_is_plan(void **state) {
    (void)state;
    static const uint32_t COUNT[] = {1, 2, 5, 20};
    for (size_t i = 0; i < sizeof COUNT / sizeof *COUNT; i++) peak_with(COUNT[i]);
}

/* Room for one partition at a time: everything still gets done, and within the budget. */
static void test_tight(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.assign_workers = 3;
    o.compute_workers = 3; /* as workers of a device with room for one: two wait, and nothing fails */
    o.queue_depth = 4;
    o.memory_total = (f.srs + 7 + f.witness + f.compute) * 8 / 7 + 8;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    struct cz_engine_ticket t[JOBS_MAX];
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        assert_int_equal(fake_submit(e, &f, "", (uint8_t)i, 3, 2048, CZ_PRIORITY_DEFAULT, &t[i], NULL), CZ_OK);
    }
    for (uint32_t i = 0; i < JOBS_MAX; i++) {
        struct fake_result r;
        fake_result(e, t[i].job_id, &r);
        assert_int_equal(r.state, CZ_JOB_COMPLETED);
        assert_int_equal(r.proof_len, 3 * 192);
    }
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_true(s.memory_peak <= o.memory_total);
    assert_int_equal(f.peak_witness, f.witness);
    assert_int_equal(s.retries, 0);
    assert_int_equal(s.failed, 0);
    cz_engine_destroy(e);
    fake_done(&f);
}

static void test_never_fits(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 1700;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    struct cz_engine_ticket t;
    struct cz_error err = {0};
    assert_int_equal(fake_submit(e, &f, "", 1, 1, 2048, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_BUDGET);
    assert_non_null(strstr(err.detail, "1007")); /* parameters */
    assert_non_null(strstr(err.detail, "1700")); /* budget */
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, &err), CZ_ERR_BUDGET);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* Inputs have their share; a queue that exceeds it is full, not a failure of what runs. */
static void test_inputs_full(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.input = 400;
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8000;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket t[2];
    struct cz_error err = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(fake_submit(e, &f, "", (uint8_t)i, 1, 2048, CZ_PRIORITY_DEFAULT, &t[i], NULL), CZ_OK);
    }
    struct cz_engine_ticket third;
    assert_int_equal(fake_submit(e, &f, "", 3, 1, 2048, CZ_PRIORITY_DEFAULT, &third, &err), CZ_ERR_FULL);
    fake_open(&f, FAKE_COMPUTE);
    struct fake_result r;
    for (int i = 0; i < 2; i++) fake_result(e, t[i].job_id, &r);
    fake_until_used(e, f.srs);
    assert_int_equal(fake_submit(e, &f, "", 3, 1, 2048, CZ_PRIORITY_DEFAULT, &third, NULL), CZ_OK);
    fake_result(e, third.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* Two circuits that do not fit together take turns; the one in use is not thrown out. */
static void test_eviction(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8000; /* 7000 for work: 8 MiB takes 4007 + 400 + 2000, so 2 KiB's 1000 must go */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket small, large, small2;
    assert_int_equal(fake_submit(e, &f, "", 1, 4, 2048, CZ_PRIORITY_LOW, &small, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    /* More urgent, but needs what the first holds; and the first fails once more, so it has to be assigned again. */
    f.fail_from[FAKE_VERIFY] = 1;
    f.fail_count[FAKE_VERIFY] = 1;
    assert_int_equal(fake_submit(e, &f, "", 2, 2, 8u << 20, CZ_PRIORITY_CRITICAL, &large, NULL), CZ_OK);
    struct cz_engine_status s;
    do {
        (void)usleep(1000);
        cz_engine_status(e, &s);
    } while (s.kind[CZ_PROOF_POREP].in_progress < 2);
    assert_int_equal(s.num_srs, 1);
    assert_string_equal(s.srs[0].circuit_id, "porep-2k");
    assert_int_equal(s.srs[0].ref_count, 1);
    fake_open(&f, FAKE_COMPUTE);
    struct fake_result r;
    fake_result(e, small.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    fake_result(e, large.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(f.unloads, 1);
    cz_engine_status(e, &s);
    assert_string_equal(s.srs[0].circuit_id, "porep-8m");
    assert_int_equal(s.srs[0].bytes, 4000);
    assert_int_equal(s.retries, 1);
    assert_int_equal(fake_submit(e, &f, "", 3, 1, 2048, CZ_PRIORITY_LOW, &small2, NULL), CZ_OK);
    fake_result(e, small2.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(r.proof[0], 3);
    assert_true(s.memory_peak <= o.memory_total);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* A device without room for a second circuit: the first is dropped when it is idle, and the job waits for that. */
static void test_device_room(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket small, large;
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 2048, CZ_PRIORITY_DEFAULT, &small, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    f.fail_with = CZ_ERR_FULL;
    f.fail_from[FAKE_LOAD] = 2;
    f.fail_count[FAKE_LOAD] = 1;
    assert_int_equal(fake_submit(e, &f, "", 2, 2, 8u << 20, CZ_PRIORITY_DEFAULT, &large, NULL), CZ_OK);
    struct cz_engine_status s;
    do {
        (void)usleep(1000);
        cz_engine_status(e, &s);
    } while (s.num_srs < 2);
    (void)usleep(20000);
    assert_int_equal(f.unloads, 0); /* in use */
    fake_open(&f, FAKE_COMPUTE);
    struct fake_result r;
    fake_result(e, small.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    fake_result(e, large.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(f.unloads, 1);
    assert_int_equal(f.calls[FAKE_LOAD], 3);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* An SRS that turns out larger than its estimate, and more than the budget: the job says so, and does not wait. */
static void test_larger_never_fits(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.srs_beyond = 1500;
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 2400; /* 2100 for work: 1007 + 100 + 500 fit, 2500 + 100 + 500 do not */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    struct cz_engine_ticket t;
    struct fake_result r;
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_result(e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    if (!strstr(r.error, "can never fit: parameters 2500")) fail_msg("%s", r.error);
    assert_int_equal(f.unloads, 1);
    fake_until_used(e, 0);
    f.srs_beyond = 0;
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_result(e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* One that fits only without another that is idle: that one goes. */
static void test_larger_evicts(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8600; /* 7525 for work: 1000 + 4007 + 400 + 2000 fit, and 1000 + 4600 + 400 + 2000 do not */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    f.srs_beyond = 600;
    struct cz_engine_ticket t;
    struct fake_result r;
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 8u << 20, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_result(e, t.job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    fake_until_used(e, 4600);
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_int_equal(s.num_srs, 1);
    assert_string_equal(s.srs[0].circuit_id, "porep-8m");
    assert_true(s.memory_peak <= o.memory_total);
    cz_engine_destroy(e);
    fake_done(&f);
}

/*
 * A plan that grows when a device is lost: what fits only without parameters that nobody uses gets their room, also the
 * partition that was made before and waits to be computed.
 */
static void test_grown_evicts(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 7430; /* 6502 for work: 4000 + 1000 + 100 + 500 fit, and 4000 + 1000 + 100 + 3000 do not */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-8m", &already, &ms, NULL), CZ_OK);
    f.fail_from[FAKE_COMPUTE] = 1; /* with CZ_ERR_DEVICE */
    f.fail_count[FAKE_COMPUTE] = 1;
    f.compute_now = 3000;
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket t;
    struct fake_result r;
    assert_int_equal(fake_submit(e, &f, "", 1, 4, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_until_used(e, 5000 + f.input + 3 * f.witness + f.compute);
    fake_open(&f, FAKE_COMPUTE);
    fake_result(e, t.job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(f.unloads, 1);
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_int_equal(s.retries, 0);
    assert_true(s.rerouted >= 1);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* A partition that waits for memory when its job fails gives back what it holds, and is not computed. */
static void test_failed_waits_for_nothing(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.compute_workers = 2;
    o.memory_total = 2200; /* 1925 for work: 1000 + 3 * 100 + 500 fit, and 2 * 500 do not */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    f.fail_with = CZ_ERR_FORMAT; /* the same when made again, so that the job ends */
    f.fail_from[FAKE_COMPUTE] = 1;
    f.fail_count[FAKE_COMPUTE] = 1;
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket t;
    struct fake_result r;
    assert_int_equal(fake_submit(e, &f, "", 1, 3, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_until_used(e, f.srs + f.input + 3 * f.witness + f.compute);
    until_witnesses(&f, 3 * f.witness);
    (void)usleep(20000); /* for the second worker to take the second partition */
    fake_open(&f, FAKE_COMPUTE);
    fake_result(e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    fake_until_used(e, f.srs);
    assert_int_equal(f.calls[FAKE_COMPUTE], 1);
    cz_engine_destroy(e);
    fake_done(&f);
}

/*
 * Of two circuits one has the larger witness and the other takes more to compute: they are in use at once only where
 * the one's witness fits beside the other's computation, as either may have to wait for the other.
 */
static void test_floors_of_two(void **state) {
    (void)state;
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct fake f;
        fake_init(&f);
        f.input = 1;
        f.srs = 100;
        f.witness = 10;
        f.compute = 50;
        f.large_witness = 50;
        f.large_compute = 10;
        struct cz_engine_options o = fake_options(&f);
        o.memory_total = 668; /* 585 for work: beside 500 there is room for 10 + 50, and not for 50 + 50 */
        o.assign_workers = workers;
        struct cz_engine *e;
        assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
        fake_close(&f, FAKE_COMPUTE);
        struct cz_engine_ticket small, large;
        assert_int_equal(fake_submit(e, &f, "", 1, 8, 2048, CZ_PRIORITY_NORMAL, &small, NULL), CZ_OK);
        fake_wait(&f, FAKE_COMPUTE, 1);
        assert_int_equal(fake_submit(e, &f, "", 2, workers, 8u << 20, CZ_PRIORITY_HIGH, &large, NULL), CZ_OK);
        (void)usleep(50000); /* for it to come in the way */
        fake_open(&f, FAKE_COMPUTE);
        struct fake_result r;
        fake_result(e, small.job_id, &r);
        assert_int_equal(r.state, CZ_JOB_COMPLETED);
        fake_result(e, large.job_id, &r);
        assert_int_equal(r.state, CZ_JOB_COMPLETED);
        cz_engine_destroy(e);
        fake_done(&f);
    }
}

/*
 * The last device is lost, a plan grows, and the two circuits in use do not fit side by side any more: one lets go of
 * its parameters and starts anew, so that both jobs end.
 */
static void grown_beside(enum cz_priority small_priority, enum cz_priority large_priority, uint32_t small_parts) {
    struct fake f;
    fake_init(&f);
    f.input = 1;
    f.srs = 100;
    f.witness = f.large_witness = 10;
    f.compute = f.large_compute = 50;
    f.compute_now = f.large_compute_now = 150;
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 686; /* 601 for work: beside 500 there is room for 10 + 50, and not for 10 + 150 */
    o.evict_min_idle_ms = 0;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    f.fail_from[FAKE_COMPUTE] = 1; /* with CZ_ERR_DEVICE */
    f.fail_count[FAKE_COMPUTE] = 1;
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket small, large;
    assert_int_equal(fake_submit(e, &f, "", 1, small_parts, 2048, small_priority, &small, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    assert_int_equal(fake_submit(e, &f, "", 2, 4, 8u << 20, large_priority, &large, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_LOAD, 2);
    (void)usleep(30000); /* for it to come as far as it comes */
    fake_open(&f, FAKE_COMPUTE);
    struct fake_result r;
    fake_result(e, small.job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    fake_result(e, large.job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_int_equal(s.retries, 0);
    assert_true(s.memory_peak <= o.memory_total);
    cz_engine_destroy(e);
    fake_done(&f);
}

static void test_grown_beside(void **state) {
    (void)state;
    for (uint32_t parts = 1; parts <= 8; parts++) {
        grown_beside(CZ_PRIORITY_NORMAL, CZ_PRIORITY_HIGH, parts);
        if (parts > 2) continue; /* it would have to be assigned before the other may start */
        grown_beside(CZ_PRIORITY_HIGH, CZ_PRIORITY_NORMAL, parts);
        grown_beside(CZ_PRIORITY_NORMAL, CZ_PRIORITY_NORMAL, parts);
    }
}

/* A load that waits for another circuit's room on a device is tried again when a device is lost. */
static void test_device_lost_while_waiting(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.num_devices = 1;
    struct cz_engine_options o = fake_options(&f);
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    f.fail_with = CZ_ERR_FULL;
    f.fail_from[FAKE_LOAD] = 2;
    f.fail_count[FAKE_LOAD] = 1;
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket small, large;
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 2048, CZ_PRIORITY_DEFAULT, &small, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    assert_int_equal(fake_submit(e, &f, "", 2, 1, 8u << 20, CZ_PRIORITY_DEFAULT, &large, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_LOAD, 2);
    (void)pthread_mutex_lock(&f.lock);
    f.device[0].lost = true;
    (void)pthread_mutex_unlock(&f.lock);
    fake_let(&f, FAKE_COMPUTE, 1);
    fake_wait_calls(&f, FAKE_LOAD, 3); /* the second partition is on its way still */
    assert_int_equal(f.unloads, 0);
    fake_open(&f, FAKE_COMPUTE);
    struct fake_result r;
    fake_result(e, small.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    fake_result(e, large.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* A plan that has grown since the circuit was opened is the one by which a new job is refused or let in. */
static void test_refused_by_grown_plan(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.compute_now = 5000;
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 6000; /* 5250 for work */
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    f.fail_from[FAKE_COMPUTE] = 1; /* with CZ_ERR_DEVICE */
    f.fail_count[FAKE_COMPUTE] = 1;
    struct cz_engine_ticket t;
    struct fake_result r;
    struct cz_error err = {0};
    assert_int_equal(fake_submit(e, &f, "", 1, 2, 2048, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    fake_result(e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_FAILED);
    if (!strstr(r.error, "working memory 5000") || !strstr(r.error, "after 1 attempt")) fail_msg("%s", r.error);
    assert_int_equal(fake_submit(e, &f, "", 2, 2, 2048, CZ_PRIORITY_DEFAULT, &t, &err), CZ_ERR_BUDGET);
    if (!strstr(err.detail, "working memory 5000")) fail_msg("%s", err.detail);
    cz_engine_destroy(e);
    fake_done(&f);
}

static void *preload_large(void *arg) {
    static enum cz_status status;
    bool already;
    uint64_t ms;
    status = cz_engine_preload(arg, "porep-8m", &already, &ms, NULL);
    return &status;
}

/* A preload that waits until another SRS has been idle for long enough gives up when the engine is to end. */
static void test_preload_ends(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8000; /* as above: not both */
    o.evict_min_idle_ms = 3600000;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    pthread_t thread;
    void *status;
    assert_int_equal(pthread_create(&thread, NULL, preload_large, e), 0);
    (void)usleep(20000);
    cz_engine_drain(e);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal(*(enum cz_status *)status, CZ_ERR_SHUTDOWN);
    /* The same when it is a device that has no room. */
    cz_engine_destroy(e);
    fake_done(&f);
    fake_init(&f);
    f.fail_with = CZ_ERR_FULL;
    f.fail_from[FAKE_LOAD] = 2;
    f.fail_count[FAKE_LOAD] = 1000;
    o.memory_total = 100000;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    assert_int_equal(pthread_create(&thread, NULL, preload_large, e), 0);
    struct cz_engine_status s;
    do {
        (void)usleep(1000);
        cz_engine_status(e, &s);
    } while (s.num_srs < 2);
    cz_engine_drain(e);
    assert_int_equal(pthread_join(thread, &status), 0);
    assert_int_equal(*(enum cz_status *)status, CZ_ERR_SHUTDOWN);
    fake_until_used(e, f.srs);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* An SRS that was used a moment ago stays for eviction_min_idle. */
static void test_min_idle(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8000;
    o.evict_min_idle_ms = 300;
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, &o, NULL), CZ_OK);
    bool already = true;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    assert_false(already);
    const uint64_t start = cz_time_now_ns(); /* before its last use */
    assert_int_equal(cz_engine_preload(e, "porep-2k", &already, &ms, NULL), CZ_OK);
    assert_true(already);
    struct cz_engine_ticket t;
    assert_int_equal(fake_submit(e, &f, "", 2, 1, 8u << 20, CZ_PRIORITY_DEFAULT, &t, NULL), CZ_OK);
    struct fake_result r;
    fake_result(e, t.job_id, &r);
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_true(cz_time_since(start) >= 0.3);
    cz_engine_destroy(e);
    fake_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_peak_is_plan),
        cmocka_unit_test(test_tight),
        cmocka_unit_test(test_never_fits),
        cmocka_unit_test(test_inputs_full),
        cmocka_unit_test(test_eviction),
        cmocka_unit_test(test_device_room),
        cmocka_unit_test(test_min_idle),
        cmocka_unit_test(test_larger_never_fits),
        cmocka_unit_test(test_larger_evicts),
        cmocka_unit_test(test_preload_ends),
        cmocka_unit_test(test_grown_evicts),
        cmocka_unit_test(test_failed_waits_for_nothing),
        cmocka_unit_test(test_floors_of_two),
        cmocka_unit_test(test_grown_beside),
        cmocka_unit_test(test_device_lost_while_waiting),
        cmocka_unit_test(test_refused_by_grown_plan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
