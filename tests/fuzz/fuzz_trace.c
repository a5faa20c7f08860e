/* Timelines: read with every event in its bounds and in order, or refused with one line. */

#include "base/trace.h"
#include "cli/trace_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool good) {
    if (!good) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char path[40];
    const int fd = memfd_create("trace", MFD_CLOEXEC);
    require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct cz_trace_file t = {0};
    struct cz_error err = {0};
    const enum cz_status status = cz_trace_file_read(&t, path, &err);
    if (status != CZ_OK) require(err.status == status && *err.detail && !strchr(err.detail, '\n'));
    require(t.num_tracks <= CZ_TRACE_MAX_TRACKS && t.num_names <= CZ_TRACE_FILE_MAX_NAMES);
    for (size_t i = 0; i < t.num_events; i++) {
        const struct cz_trace_event *e = &t.event[i];
        require(e->track <= t.num_tracks && e->name < t.num_names && e->start_ns <= e->end_ns);
        require(e->partition >= -1 && memchr(e->label, 0, sizeof e->label));
        if (i > 0 && e[-1].track == e->track) require(e[-1].start_ns <= e->start_ns);
        if (i > 0) require(e[-1].track <= e->track);
    }
    cz_trace_file_done(&t);
    (void)close(fd);
    return 0;
}
