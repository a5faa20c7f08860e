#ifndef CUZK_CLI_TRACE_FILE_H
#define CUZK_CLI_TRACE_FILE_H

/* Reads what base/trace.h writes, also when its end is missing. */

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CZ_TRACE_FILE_MAX_NAMES 64

/** Times are nanoseconds since the trace began. */
struct cz_trace_event {
    uint64_t start_ns, end_ns;
    uint64_t job;      /* of the id; 0: none */
    int32_t partition; /* -1: none */
    uint16_t track;    /* index into track; waits: num_tracks */
    uint16_t name;
    char label[12]; /* the end of the job's id */
};

struct cz_trace_track {
    char name[80];
    bool device;
};

/** Texts are printable ASCII, whatever the file holds. */
struct cz_trace_file {
    struct cz_trace_track *track;
    size_t num_tracks;
    char name[CZ_TRACE_FILE_MAX_NAMES][24];
    size_t num_names;
    struct cz_trace_event *event; /* by track, then by start */
    size_t num_events;
    uint64_t dropped;
    bool complete; /* the closing bracket is there */
};

/** CZ_ERR_FORMAT, CZ_ERR_LIMIT, CZ_ERR_IO: names the file, and the byte where it goes wrong. */
CZ_MUST_CHECK enum cz_status cz_trace_file_read(struct cz_trace_file *out, const char *path, struct cz_error *err);
/** Accepts a zeroed one. */
void cz_trace_file_done(struct cz_trace_file *t);

#endif
