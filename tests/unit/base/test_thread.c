#include "base/bytes.h"
#include "base/thread.h"
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>

struct tally {
    atomic_uint seen[1000];
    atomic_uint bad_worker;
    unsigned threads;
};

static void count(void *ctx, size_t first, size_t last, unsigned worker) {
    struct tally *t = ctx;
    if (worker >= t->threads) atomic_fetch_add(&t->bad_worker, 1);
    for (size_t i = first; i < last; i++) atomic_fetch_add(&t->seen[i], 1);
}

static void every_index_once(void **state) {
    (void)state;
    for (unsigned threads = 1; threads <= 5; threads += 2) {
        struct cz_pool *pool = NULL;
        assert_int_equal(cz_pool_create(&pool, threads), CZ_OK);
        assert_int_equal(cz_pool_threads(pool), threads);
        const size_t sizes[] = {0, 1, 7, 64, 1000};
        const size_t grains[] = {0, 1, 3, 64, 5000};
        for (size_t s = 0; s < 5; s++) {
            for (size_t g = 0; g < 5; g++) {
                struct tally t = {.threads = threads};
                cz_pool_for(pool, sizes[s], grains[g], count, &t);
                for (size_t i = 0; i < 1000; i++) assert_int_equal(atomic_load(&t.seen[i]), i < sizes[s]);
                assert_int_equal(atomic_load(&t.bad_worker), 0);
            }
        }
        cz_pool_destroy(pool);
    }
}

struct nested {
    struct cz_pool *pool;
    atomic_uint sum;
};

static void add(void *ctx, size_t first, size_t last, unsigned worker) {
    (void)worker;
    atomic_fetch_add(&((struct nested *)ctx)->sum, (unsigned)(last - first));
}

static void outer(void *ctx, size_t first, size_t last, unsigned worker) {
    (void)worker;
    struct nested *n = ctx;
    for (size_t i = first; i < last; i++) cz_pool_for(n->pool, 10, 2, add, n);
}

static void *call_from_thread(void *arg) {
    struct nested *n = arg;
    for (int i = 0; i < 200; i++) cz_pool_for(n->pool, 10, 1, outer, n);
    return NULL;
}

static void nested_and_concurrent_calls(void **state) {
    (void)state;
    struct nested n = {0};
    assert_int_equal(cz_pool_create(&n.pool, 3), CZ_OK);
    pthread_t t[3];
    for (int i = 0; i < 3; i++) assert_int_equal(pthread_create(&t[i], NULL, call_from_thread, &n), 0);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    assert_int_equal(atomic_load(&n.sum), 3 * 200 * 10 * 10);
    cz_pool_destroy(n.pool);
}

static void without_a_pool(void **state) {
    (void)state;
    struct tally t = {.threads = 1};
    cz_pool_for(NULL, 100, 9, count, &t);
    for (size_t i = 0; i < 1000; i++) assert_int_equal(atomic_load(&t.seen[i]), i < 100);
    assert_int_equal(cz_pool_threads(NULL), 1);
    cz_pool_destroy(NULL);
    struct cz_pool *pool = NULL;
    assert_int_equal(cz_pool_create(&pool, 5000), CZ_ERR_LIMIT);
    assert_null(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_once),
        cmocka_unit_test(nested_and_concurrent_calls),
        cmocka_unit_test(without_a_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
