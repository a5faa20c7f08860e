#include "base/thread.h"

#include "base/bytes.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

/*
 * Loops under way stand in a list. A pool thread takes the first one with chunks left and works on it until they are
 * gone; the caller does the same for its own loop and then waits for those that are still in a body. A loop lives on
 * its caller's stack, so nobody may touch it after `inside` has fallen to 0 with no chunks left.
 */
struct loop {
    cz_range_fn *fn;
    void *ctx;
    size_t n, grain;
    atomic_size_t next;
    unsigned inside; /* pool threads in it; guarded by the pool's mutex */
    struct loop *older, *newer;
};

struct cz_pool {
    pthread_mutex_t mutex;
    pthread_cond_t work, done;
    struct loop *newest;
    bool stop;
    unsigned threads, started;
    struct worker *worker;
};

struct worker {
    pthread_t thread;
    struct cz_pool *pool;
    unsigned index;
};

static _Thread_local bool inside_body;

static void run_chunks(struct loop *loop, unsigned worker) {
    inside_body = true;
    for (;;) {
        size_t first = atomic_fetch_add(&loop->next, loop->grain);
        if (first >= loop->n) break;
        size_t last = loop->n - first < loop->grain ? loop->n : first + loop->grain;
        loop->fn(loop->ctx, first, last, worker);
    }
    inside_body = false;
}

static struct loop *find_work(struct cz_pool *pool) {
    for (struct loop *l = pool->newest; l; l = l->older) {
        if (atomic_load(&l->next) < l->n) return l;
    }
    return NULL;
}

static void *worker_main(void *arg) {
    struct worker *self = arg;
    struct cz_pool *pool = self->pool;
    pthread_mutex_lock(&pool->mutex);
    for (;;) {
        struct loop *loop = find_work(pool);
        if (loop) {
            loop->inside++;
            pthread_mutex_unlock(&pool->mutex);
            run_chunks(loop, self->index);
            pthread_mutex_lock(&pool->mutex);
            if (--loop->inside == 0) pthread_cond_broadcast(&pool->done);
        } else if (pool->stop) {
            break;
        } else {
            pthread_cond_wait(&pool->work, &pool->mutex);
        }
    }
    pthread_mutex_unlock(&pool->mutex);
    return NULL;
}

static unsigned usable_cores(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int n = CPU_COUNT(&set);
    return n > 0 ? (unsigned)n : 1;
}

enum cz_status cz_pool_create(struct cz_pool **out, unsigned threads) {
    if (threads == 0) threads = usable_cores();
    if (threads > 1024) return CZ_ERR_LIMIT;
    struct cz_pool *pool = cz_calloc(1, sizeof *pool);
    if (!pool) return CZ_ERR_MEMORY;
    pool->worker = cz_calloc(threads, sizeof *pool->worker);
    if (!pool->worker) {
        cz_free(pool);
        return CZ_ERR_MEMORY;
    }
    pool->threads = threads;
    pthread_mutex_init(&pool->mutex, NULL);
    pthread_cond_init(&pool->work, NULL);
    pthread_cond_init(&pool->done, NULL);
    for (unsigned i = 1; i < threads; i++) {
        struct worker *w = &pool->worker[i];
        w->pool = pool;
        w->index = i;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
            cz_pool_destroy(pool);
            return CZ_ERR_MEMORY;
        }
        pool->started++;
    }
    *out = pool;
    return CZ_OK;
}

void cz_pool_destroy(struct cz_pool *pool) {
    if (!pool) return;
    pthread_mutex_lock(&pool->mutex);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);
    for (unsigned i = 1; i <= pool->started; i++) pthread_join(pool->worker[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->mutex);
    cz_free(pool->worker);
    cz_free(pool);
}

unsigned cz_pool_threads(const struct cz_pool *pool) {
    return pool ? pool->threads : 1;
}

void cz_pool_for(struct cz_pool *pool, size_t n, size_t grain, cz_range_fn *fn, void *ctx) {
    if (n == 0) return;
    if (grain == 0) grain = 1;
    if (!pool || pool->threads == 1 || inside_body || n <= grain) {
        for (size_t first = 0; first < n;) {
            size_t last = n - first < grain ? n : first + grain;
            fn(ctx, first, last, 0);
            first = last;
        }
        return;
    }
    struct loop loop = {.fn = fn, .ctx = ctx, .n = n, .grain = grain};
    atomic_init(&loop.next, 0);
    pthread_mutex_lock(&pool->mutex);
    loop.older = pool->newest;
    if (loop.older) loop.older->newer = &loop;
    pool->newest = &loop;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->mutex);

    run_chunks(&loop, 0);

    pthread_mutex_lock(&pool->mutex);
    while (loop.inside > 0) pthread_cond_wait(&pool->done, &pool->mutex);
    if (loop.newer)
        loop.newer->older = loop.older;
    else
        pool->newest = loop.older;
    if (loop.older) loop.older->newer = loop.newer;
    pthread_mutex_unlock(&pool->mutex);
}
