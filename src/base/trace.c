#include "base/trace.h"

#include "base/bytes.h"
#include "base/time.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER (256u << 10)
#define EVENT 1024 /* at most, of one event */
#define TEXT 300   /* of an escaped text */
#define TRACK_NAME 80

enum { HOST = 1, DEVICE = 2 }; /* the "processes" that viewers group tracks by */

atomic_bool cz_trace_running;

static struct {
    pthread_mutex_t lock;
    int fd, error; /* errno of the first write that failed */
    uint64_t start_ns, dropped, waits;
    uint32_t events, tracks;
    char track[CZ_TRACE_MAX_TRACKS][TRACK_NAME];
    char *buffer;
    size_t used;
    char path[400];
} trace = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

/* ---- all below with the lock held ---- */

static void flush(void) {
    size_t at = 0;
    while (at < trace.used && !trace.error) {
        const ssize_t n = write(trace.fd, trace.buffer + at, trace.used - at);
        if (n >= 0)
            at += (size_t)n;
        else if (errno != EINTR)
            trace.error = errno;
    }
    trace.used = 0;
}

/* A whole event; the buffer never ends within one. */
static void put(const char *fmt, ...) CZ_PRINTF(1, 2);
static void put(const char *fmt, ...) {
    if (BUFFER - trace.used < EVENT) flush();
    va_list ap;
    va_start(ap, fmt);
    const int n = vsnprintf(trace.buffer + trace.used, EVENT, fmt, ap);
    va_end(ap);
    if (n > 0 && n < EVENT) trace.used += (size_t)n;
}

/* A text within quotes; cut when it is long. */
static const char *escaped(char out[TEXT], const char *text) {
    size_t n = 0;
    for (const unsigned char *s = (const unsigned char *)text; *s && n + 8 < TEXT;) {
        const size_t len = cz_utf8_length(s);
        if (*s == '"' || *s == '\\') out[n++] = '\\';
        if (len > 1 || (len == 1 && *s >= 0x20)) {
            memcpy(out + n, s, len);
            n += len;
            s += len;
        } else {
            n += (size_t)snprintf(out + n, TEXT - n, "\\u%04x", *s++);
        }
    }
    out[n] = 0;
    return out;
}

static int process_of(const char *track) {
    return strncmp(track, CZ_TRACE_DEVICE, sizeof CZ_TRACE_DEVICE - 1) == 0 ? DEVICE : HOST;
}

static void put_name(const char *what, int pid, uint32_t tid, const char *name) {
    char text[TEXT];
    put(",\n{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"args\":{\"name\":\"%s\"}}", what, pid, tid,
        escaped(text, name));
}

/* From 1 on; 0: there is no room for another. */
static uint32_t track_of(const char *name) {
    char cut[TRACK_NAME];
    (void)snprintf(cut, sizeof cut, "%s", name);
    for (uint32_t i = 0; i < trace.tracks; i++) {
        if (strcmp(trace.track[i], cut) == 0) return i + 1;
    }
    if (trace.tracks == CZ_TRACE_MAX_TRACKS) return 0;
    memcpy(trace.track[trace.tracks], cut, sizeof cut);
    trace.tracks++;
    put_name("thread_name", process_of(cut), trace.tracks, cut);
    return trace.tracks;
}

/* Microseconds with three decimals, as the format wants them. */
struct stamp {
    char text[32];
};

static struct stamp stamp(uint64_t ns) {
    struct stamp s;
    (void)snprintf(s.text, sizeof s.text, "%" PRIu64 ".%03u", ns / 1000, (unsigned)(ns % 1000));
    return s;
}

static void args(char *out, size_t size, const char *job, int64_t partition) {
    char text[TEXT];
    int n = snprintf(out, size, "{");
    if (job) n += snprintf(out + n, size - (size_t)n, "\"job\":\"%s\"", escaped(text, job));
    if (partition >= 0) n += snprintf(out + n, size - (size_t)n, "%s\"partition\":%" PRId64, job ? "," : "", partition);
    (void)snprintf(out + n, size - (size_t)n, "}");
}

static bool admit(void) {
    if (!cz_trace_on()) return false;
    if (trace.events < CZ_TRACE_MAX_EVENTS) {
        trace.events++;
        return true;
    }
    trace.dropped++;
    return false;
}

/* ---- the interface ---- */

enum cz_status cz_trace_open(const char *path, struct cz_error *err) {
    enum cz_status st = CZ_OK;
    (void)pthread_mutex_lock(&trace.lock);
    if (trace.fd >= 0) {
        st = cz_error_set(err, CZ_ERR_EXISTS, "a trace is under way, in %s", trace.path);
        goto out;
    }
    trace.buffer = malloc(BUFFER);
    if (!trace.buffer) {
        st = cz_error_set(err, CZ_ERR_MEMORY, "trace: no memory");
        goto out;
    }
    struct stat sb;
    trace.fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK, 0644);
    if (trace.fd < 0) {
        char text[128];
        st = cz_error_set(err, CZ_ERR_IO, "trace file %s: %s", path, strerror_r(errno, text, sizeof text));
        free(trace.buffer);
        goto out;
    }
    /* Whoever reads a pipe could hold up everything that is traced. */
    if (fstat(trace.fd, &sb) != 0 || !S_ISREG(sb.st_mode)) {
        st = cz_error_set(err, CZ_ERR_IO, "trace file %s: not a regular file", path);
        (void)close(trace.fd);
        trace.fd = -1;
        free(trace.buffer);
        goto out;
    }
    (void)snprintf(trace.path, sizeof trace.path, "%s", path);
    trace.start_ns = cz_time_now_ns();
    trace.error = 0;
    trace.dropped = trace.waits = 0;
    trace.events = trace.tracks = 0;
    trace.used = 0;
    put("[\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":0,\"args\":{\"name\":\"host\"}}", HOST);
    put_name("process_name", DEVICE, 0, "devices");
    flush();
    atomic_store(&cz_trace_running, true);
out:
    (void)pthread_mutex_unlock(&trace.lock);
    return st;
}

/* From the start of the trace on: what began before it is cut. */
static uint64_t since_start(uint64_t ns) {
    return ns > trace.start_ns ? ns - trace.start_ns : 0;
}

void cz_trace_span(const char *track, const char *name, uint64_t start_ns, uint64_t end_ns, const char *job,
                   int64_t partition) {
    if (!cz_trace_on() || start_ns == 0 || end_ns < start_ns) return;
    char text[TEXT], more[TEXT + 64];
    (void)pthread_mutex_lock(&trace.lock);
    if (admit()) {
        const uint32_t tid = track_of(track);
        const uint64_t from = since_start(start_ns), to = since_start(end_ns);
        args(more, sizeof more, job, partition);
        if (tid)
            put(",\n{\"ph\":\"X\",\"name\":\"%s\",\"pid\":%d,\"tid\":%" PRIu32 ",\"ts\":%s,\"dur\":%s,\"args\":%s}",
                escaped(text, name), process_of(track), tid, stamp(from).text, stamp(to - from).text, more);
        else
            trace.dropped++;
    }
    (void)pthread_mutex_unlock(&trace.lock);
}

void cz_trace_wait(const char *name, uint64_t start_ns, uint64_t end_ns, const char *job, int64_t partition) {
    if (!cz_trace_on() || start_ns == 0 || end_ns < start_ns) return;
    char text[TEXT], more[TEXT + 64];
    (void)pthread_mutex_lock(&trace.lock);
    if (admit()) {
        const uint64_t id = ++trace.waits;
        (void)escaped(text, name);
        args(more, sizeof more, job, partition);
        put(",\n{\"ph\":\"b\",\"cat\":\"wait\",\"id\":%" PRIu64 ",\"name\":\"%s\",\"pid\":%d,\"ts\":%s,\"args\":%s}",
            id, text, HOST, stamp(since_start(start_ns)).text, more);
        put(",\n{\"ph\":\"e\",\"cat\":\"wait\",\"id\":%" PRIu64 ",\"name\":\"%s\",\"pid\":%d,\"ts\":%s}", id, text,
            HOST, stamp(since_start(end_ns)).text);
    }
    (void)pthread_mutex_unlock(&trace.lock);
}

void cz_trace_flush(void) {
    if (!cz_trace_on()) return;
    (void)pthread_mutex_lock(&trace.lock);
    if (cz_trace_on()) flush();
    (void)pthread_mutex_unlock(&trace.lock);
}

void cz_trace_flush_now(void) {
    if (!cz_trace_on() || pthread_mutex_trylock(&trace.lock) != 0) return;
    if (cz_trace_on()) flush();
    (void)pthread_mutex_unlock(&trace.lock);
}

enum cz_status cz_trace_close(uint64_t *dropped, struct cz_error *err) {
    enum cz_status st = CZ_OK;
    *dropped = 0;
    (void)pthread_mutex_lock(&trace.lock);
    if (trace.fd < 0) goto out;
    atomic_store(&cz_trace_running, false);
    *dropped = trace.dropped;
    if (trace.dropped)
        put(",\n{\"ph\":\"M\",\"name\":\"cuzk_dropped\",\"pid\":%d,\"tid\":0,\"args\":{\"events\":%" PRIu64 "}}", HOST,
            trace.dropped);
    put("\n]\n");
    flush();
    if (close(trace.fd) != 0 && !trace.error) trace.error = errno;
    trace.fd = -1;
    free(trace.buffer);
    trace.buffer = NULL;
    if (trace.error) {
        char text[128];
        st = cz_error_set(err, CZ_ERR_IO, "trace file %s: %s", trace.path, strerror_r(trace.error, text, sizeof text));
    }
out:
    (void)pthread_mutex_unlock(&trace.lock);
    return st;
}
