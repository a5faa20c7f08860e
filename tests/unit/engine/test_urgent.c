/* What is urgent gets past what waits, and what is large is not passed by forever. */

#include "unit/engine/fake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <unistd.h>

enum { LOW_TAG = 1, URGENT_TAG = 2 };

static struct cz_engine *create(const struct cz_engine_options *o) {
    struct cz_engine *e;
    assert_int_equal(cz_engine_create(&e, o, NULL), CZ_OK);
    return e;
}

static void preload(struct cz_engine *e, const char *circuit) {
    bool already;
    uint64_t ms;
    assert_int_equal(cz_engine_preload(e, circuit, &already, &ms, NULL), CZ_OK);
}

static void completed(struct cz_engine *e, const struct cz_engine_ticket *t, uint8_t tag) {
    struct fake_result r;
    fake_result(e, t->job_id, &r);
    assert_string_equal(r.error, "");
    assert_int_equal(r.state, CZ_JOB_COMPLETED);
    assert_int_equal(r.proof[0], tag);
}

/*
 * Working memory for two small partitions or one large one, a job of small ones under way on two workers: the large one
 * gets the memory that comes free, though one more small one would fit each time.
 */
static void test_large_compute(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.input = 1;
    f.srs = 100; /* 500 for both */
    f.witness = f.large_witness = 1;
    f.compute = 150;
    f.large_compute = 50;
    struct cz_engine_options o = fake_options(&f);
    o.compute_workers = 2;
    o.queue_depth = 4;
    o.memory_total = 783; /* 686 for work: 150 fit beside 500, and not beside 550 */
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    preload(e, "porep-8m");
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket many, one;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 8, 8u << 20, CZ_PRIORITY_LOW, &many, NULL), CZ_OK);
    fake_until_used(e, 500 + f.input + 7 * f.witness + 2 * f.large_compute); /* four in the queue, one before it */
    fake_wait(&f, FAKE_COMPUTE, 2);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 1, 2048, CZ_PRIORITY_CRITICAL, &one, NULL), CZ_OK);
    fake_until_used(e, 500 + 2 * f.input + 9 * f.witness + 2 * f.large_compute); /* the maker has gone on */
    fake_let(&f, FAKE_COMPUTE, 2);
    fake_wait_calls(&f, FAKE_COMPUTE, 3);
    assert_int_equal(f.computed[2], URGENT_TAG);
    fake_open(&f, FAKE_COMPUTE);
    completed(e, &one, URGENT_TAG);
    completed(e, &many, LOW_TAG);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* The only maker waits for a large witness's bytes: it leaves that for an urgent small one, which has room. */
static void test_small_witness(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.input = 1;
    f.srs = 100;
    f.witness = f.compute = f.large_compute = 10;
    f.large_witness = 100;
    struct cz_engine_options o = fake_options(&f);
    o.queue_depth = 8;
    o.memory_total = 846; /* 741 for work: 500 + 2 * 100 + 10 + 10 fit, and no third witness */
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket many, one;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 8, 8u << 20, CZ_PRIORITY_LOW, &many, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_ASSIGN, 2);
    fake_wait(&f, FAKE_COMPUTE, 1);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 1, 2048, CZ_PRIORITY_CRITICAL, &one, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_ASSIGN, 3);
    assert_int_equal(f.order[2], URGENT_TAG);
    fake_open(&f, FAKE_COMPUTE);
    completed(e, &one, URGENT_TAG);
    completed(e, &many, LOW_TAG);
    struct cz_engine_status s;
    cz_engine_status(e, &s);
    assert_int_equal(s.retries + s.rerouted, 0);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* The only maker waits for room in the queue: what is urgent is made nevertheless, and is the next to be computed. */
static void test_full_queue(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    struct cz_engine *e = create(&o);
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket many, two;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 3, 2048, CZ_PRIORITY_LOW, &many, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_ASSIGN, 3); /* one at compute, one in the queue, one that waits for room */
    fake_wait(&f, FAKE_COMPUTE, 1);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 2, 2048, CZ_PRIORITY_CRITICAL, &two, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_ASSIGN, 5); /* the first of the two is in the queue */
    assert_int_equal(f.order[3], URGENT_TAG);
    assert_int_equal(f.order[4], URGENT_TAG);
    fake_open(&f, FAKE_COMPUTE);
    completed(e, &two, URGENT_TAG);
    completed(e, &many, LOW_TAG);
    assert_int_equal(f.computed[1], URGENT_TAG);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* While parameters load for one job, a more urgent one starts whose parameters are there. */
static void test_start_beside_load(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    fake_close(&f, FAKE_LOAD);
    struct cz_engine_ticket low, same, urgent;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 2, 8u << 20, CZ_PRIORITY_LOW, &low, NULL), CZ_OK);
    fake_wait(&f, FAKE_LOAD, 1);
    assert_int_equal(fake_submit(e, &f, "", 3, 2, 2048, CZ_PRIORITY_LOW, &same, NULL), CZ_OK);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 2, 2048, CZ_PRIORITY_CRITICAL, &urgent, NULL), CZ_OK);
    completed(e, &urgent, URGENT_TAG);
    assert_int_equal(f.num_order, 2); /* nothing else has overtaken */
    fake_open(&f, FAKE_LOAD);
    completed(e, &low, LOW_TAG);
    completed(e, &same, 3);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* A job that waits until another's parameters have been unused for long enough steps back for a more urgent one. */
static void test_start_beside_wait(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.memory_total = 8000; /* not both circuits */
    o.evict_min_idle_ms = 3600000;
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    struct cz_engine_ticket low, urgent;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 1, 8u << 20, CZ_PRIORITY_LOW, &low, NULL), CZ_OK);
    struct cz_engine_status s;
    do {
        (void)usleep(1000);
        cz_engine_status(e, &s);
    } while (s.running < 1);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 2, 2048, CZ_PRIORITY_CRITICAL, &urgent, NULL), CZ_OK);
    completed(e, &urgent, URGENT_TAG);
    assert_int_equal(f.calls[FAKE_LOAD], 1);
    cz_engine_destroy(e);
    fake_done(&f);
}

/* The same when it is a device that has no room: what was reserved for it is free meanwhile. */
static void test_start_beside_device_wait(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    struct cz_engine_options o = fake_options(&f);
    o.evict_min_idle_ms = 3600000;
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    f.fail_with = CZ_ERR_FULL;
    f.fail_from[FAKE_LOAD] = 2;
    f.fail_count[FAKE_LOAD] = 1000;
    struct cz_engine_ticket low, urgent;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 1, 8u << 20, CZ_PRIORITY_LOW, &low, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_LOAD, 2);
    fake_until_used(e, 1000 + 4007 + f.input);
    fake_close(&f, FAKE_COMPUTE);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 2, 2048, CZ_PRIORITY_CRITICAL, &urgent, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    fake_open(&f, FAKE_COMPUTE);
    completed(e, &urgent, URGENT_TAG);
    cz_engine_destroy(e);
    fake_done(&f);
}

/*
 * Two devices, each for one circuit, and a worker for each: what has no room on its own device holds up nothing that
 * goes to the other, and of what waits for a device the most urgent is next.
 */
static void test_lanes(void **state) {
    (void)state;
    struct fake f;
    fake_init(&f);
    f.with_lanes = true;
    struct cz_engine_options o = fake_options(&f);
    o.compute_workers = 2;
    o.queue_depth = 8;
    struct cz_engine *e = create(&o);
    preload(e, "porep-2k");
    fake_close(&f, FAKE_COMPUTE);
    struct cz_engine_ticket slow, other, urgent;
    assert_int_equal(fake_submit(e, &f, "", LOW_TAG, 4, 8u << 20, CZ_PRIORITY_NORMAL, &slow, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 1);
    fake_wait_calls(&f, FAKE_ASSIGN, 4);
    assert_int_equal(fake_submit(e, &f, "", 3, 2, 2048, CZ_PRIORITY_NORMAL, &other, NULL), CZ_OK);
    fake_wait(&f, FAKE_COMPUTE, 2);
    assert_int_equal(f.computed[1], 3);
    assert_int_equal(fake_submit(e, &f, "", URGENT_TAG, 1, 8u << 20, CZ_PRIORITY_CRITICAL, &urgent, NULL), CZ_OK);
    fake_wait_calls(&f, FAKE_ASSIGN, 7);
    fake_until_used(e, f.srs * 5 + 3 * f.input + (5 * 4 + 2) * f.witness + 5 * f.compute);
    (void)usleep(20000); /* for the last one to come into the queue */
    assert_int_equal(f.calls[FAKE_COMPUTE], 2);
    fake_open(&f, FAKE_COMPUTE);
    completed(e, &urgent, URGENT_TAG);
    completed(e, &slow, LOW_TAG);
    completed(e, &other, 3);
    cz_engine_destroy(e);
    fake_done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_compute),
        cmocka_unit_test(test_small_witness),
        cmocka_unit_test(test_full_queue),
        cmocka_unit_test(test_lanes),
        cmocka_unit_test(test_start_beside_load),
        cmocka_unit_test(test_start_beside_wait),
        cmocka_unit_test(test_start_beside_device_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
