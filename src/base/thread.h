#ifndef CUZK_BASE_THREAD_H
#define CUZK_BASE_THREAD_H

/* A fixed pool of threads and parallel_for over index ranges. */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct cz_pool;

/**
 * Starts a pool that runs work on `threads` threads, the caller's included (so threads - 1 are started).
 * 0 means all cores that this process may run on. Ends with cz_pool_destroy.
 */
CZ_MUST_CHECK enum cz_status cz_pool_create(struct cz_pool **out, unsigned threads);

/** Waits for running work and ends the threads. Accepts NULL. */
void cz_pool_destroy(struct cz_pool *pool);

/** Number of threads that take part, at least 1. NULL: 1. */
unsigned cz_pool_threads(const struct cz_pool *pool);

/** Body of a loop over [first, last). `worker` < cz_pool_threads(pool) is unique among those running at once. */
typedef void cz_range_fn(void *ctx, size_t first, size_t last, unsigned worker);

/**
 * Calls fn over [0, n) cut into chunks of `grain` (at least 1; the last may be shorter), in any order, on the pool and
 * on the calling thread; returns when all are done. NULL pool: on the caller alone. Several threads may call at once on
 * one pool. Calls from within a body run on the calling thread alone.
 */
void cz_pool_for(struct cz_pool *pool, size_t n, size_t grain, cz_range_fn *fn, void *ctx);

#endif
