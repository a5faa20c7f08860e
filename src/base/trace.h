#ifndef CUZK_BASE_TRACE_H
#define CUZK_BASE_TRACE_H

/*
 * A timeline of the process in Chrome's trace format (JSON array of events; chrome://tracing, Perfetto, `cuzk-bench
 * waterfall`). Off until cz_trace_open; then a call costs one atomic load. Whole events are written at a time and the
 * closing bracket comes last, as the format allows it to be missing: a process that is killed leaves what was flushed.
 */

#include "base/status.h"

#include <stdatomic.h>
#include <stdint.h>

/** More events are counted and not written (a file of at most some 250 MB). */
#define CZ_TRACE_MAX_EVENTS (UINT32_C(1) << 20)
#define CZ_TRACE_MAX_TRACKS 256
#define CZ_TRACE_NO_PARTITION (-1)
/** How the names of a device's tracks begin. */
#define CZ_TRACE_DEVICE "device "

extern atomic_bool cz_trace_running;

static inline bool cz_trace_on(void) {
    return atomic_load_explicit(&cz_trace_running, memory_order_relaxed);
}

/**
 * Makes the file anew and starts. One at a time: CZ_ERR_EXISTS. CZ_ERR_IO names the path and the reason; what is no
 * regular file is refused.
 */
CZ_MUST_CHECK enum cz_status cz_trace_open(const char *path, struct cz_error *err);

/**
 * Work from start_ns to end_ns (cz_time_now_ns; start_ns 0 is left out as "never began") on a track, on which spans do
 * not overlap in part. job may be NULL, partition CZ_TRACE_NO_PARTITION. Any thread; texts are copied.
 */
void cz_trace_span(const char *track, const char *name, uint64_t start_ns, uint64_t end_ns, const char *job,
                   int64_t partition);

/** The same for what overlaps at will, as waits do: an event of its own, on no thread's track. */
void cz_trace_wait(const char *name, uint64_t start_ns, uint64_t end_ns, const char *job, int64_t partition);

/** Writes what is held to the file. */
void cz_trace_flush(void);
/** The same unless another thread is at it: for a process that is to end at once. */
void cz_trace_flush_now(void);

/** Ends it; nothing when it is off. CZ_ERR_IO when some event could not be written. *dropped: events left out. */
CZ_MUST_CHECK enum cz_status cz_trace_close(uint64_t *dropped, struct cz_error *err);

#endif
