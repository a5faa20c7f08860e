/* A push parser: an array of flat objects, each with at most one object "args" inside. What it does not know it skips.
 */

#include "cli/trace_file.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

#define MAX_DEPTH 8
#define MAX_SECONDS 1e9
#define MAX_BYTES ((size_t)512 << 20) /* twice what base/trace.h writes at most */

enum key { K_OTHER, K_PH, K_NAME, K_PID, K_TID, K_TS, K_DUR, K_ID, K_ARGS, K_JOB, K_PARTITION, K_EVENTS };

static const struct {
    const char *text;
    unsigned depth;
    enum key key;
} KEYS[] = {
    {"ph", 2, K_PH},     {"name", 2, K_NAME},     {"pid", 2, K_PID},   {"tid", 2, K_TID}, {"ts", 2, K_TS},
    {"dur", 2, K_DUR},   {"id", 2, K_ID},         {"args", 2, K_ARGS}, {"job", 3, K_JOB}, {"partition", 3, K_PARTITION},
    {"name", 3, K_NAME}, {"events", 3, K_EVENTS},
};

struct parser {
    struct cz_trace_file *t;
    struct cz_error error;
    size_t room_events;
    unsigned depth;
    enum key key, outer; /* outer: of the object that is open at depth 3 */
    /* the object at hand */
    char ph, name[24], inner_name[80], label[12];
    uint64_t job;
    double ts, dur, tid, id, partition, events;
    /* the wait that has begun */
    double wait_id;
    size_t wait;
    bool waiting;
};

static void clean(char *out, size_t size, const unsigned char *text, size_t len) {
    size_t n = 0;
    for (; n < len && n + 1 < size; n++) out[n] = text[n] < 0x20 || text[n] > 0x7e ? '?' : (char)text[n];
    out[n] = 0;
}

static int fail(struct parser *p, enum cz_status st, const char *what) {
    (void)cz_error_set(&p->error, st, "%s", what);
    return 0;
}

static bool name_of(struct cz_trace_file *t, const char *name, uint16_t *out) {
    size_t i = 0;
    while (i < t->num_names && strcmp(t->name[i], name) != 0) i++;
    if (i == CZ_TRACE_FILE_MAX_NAMES) return false;
    if (i == t->num_names) {
        (void)snprintf(t->name[i], sizeof t->name[i], "%s", name);
        t->num_names++;
    }
    *out = (uint16_t)i;
    return true;
}

static uint64_t ns_of(double us) {
    return (uint64_t)(us * 1000 + 0.5);
}

static struct cz_trace_event *add_event(struct parser *p) {
    struct cz_trace_file *t = p->t;
    if (t->num_events == CZ_TRACE_MAX_EVENTS) {
        (void)fail(p, CZ_ERR_LIMIT, "too many events");
        return NULL;
    }
    if (t->num_events == p->room_events) {
        const size_t room = p->room_events ? 2 * p->room_events : 1024;
        void *grown = realloc(t->event, room * sizeof *t->event);
        if (!grown) {
            (void)fail(p, CZ_ERR_MEMORY, "no memory");
            return NULL;
        }
        t->event = grown;
        p->room_events = room;
    }
    struct cz_trace_event *e = &t->event[t->num_events];
    if (!name_of(t, p->name, &e->name)) {
        (void)fail(p, CZ_ERR_LIMIT, "too many names of stages");
        return NULL;
    }
    e->job = p->job;
    memcpy(e->label, p->label, sizeof e->label);
    e->partition = p->partition >= 0 && p->partition < 1e6 ? (int32_t)p->partition : -1;
    t->num_events++;
    return e;
}

static int track_named(struct parser *p) {
    struct cz_trace_file *t = p->t;
    if (p->tid != (double)(t->num_tracks + 1) || t->num_tracks == CZ_TRACE_MAX_TRACKS)
        return fail(p, CZ_ERR_FORMAT, "tracks are not numbered 1, 2, …");
    struct cz_trace_track *track = &t->track[t->num_tracks++];
    memcpy(track->name, p->inner_name, sizeof track->name);
    track->device = strncmp(track->name, CZ_TRACE_DEVICE, sizeof CZ_TRACE_DEVICE - 1) == 0;
    return 1;
}

static int span(struct parser *p) {
    if (!(p->tid >= 1 && p->tid <= (double)p->t->num_tracks)) return fail(p, CZ_ERR_FORMAT, "a span on no track");
    if (!(p->ts >= 0 && p->dur >= 0 && p->ts + p->dur < MAX_SECONDS * 1e6))
        return fail(p, CZ_ERR_FORMAT, "ts or dur is missing or out of range");
    struct cz_trace_event *e = add_event(p);
    if (!e) return 0;
    e->track = (uint16_t)(p->tid - 1);
    e->start_ns = ns_of(p->ts);
    e->end_ns = e->start_ns + ns_of(p->dur);
    return 1;
}

/* Both halves stand side by side. */
static int wait_half(struct parser *p) {
    if (!(p->ts >= 0 && p->ts < MAX_SECONDS * 1e6)) return fail(p, CZ_ERR_FORMAT, "ts is missing or out of range");
    if (p->ph == 'b') {
        struct cz_trace_event *e = add_event(p);
        if (!e) return 0;
        e->track = CZ_TRACE_MAX_TRACKS; /* set right at the end */
        e->start_ns = e->end_ns = ns_of(p->ts);
        p->wait = p->t->num_events - 1;
        p->wait_id = p->id;
        p->waiting = true;
    } else if (p->waiting && p->wait_id == p->id) {
        struct cz_trace_event *e = &p->t->event[p->wait];
        if (ns_of(p->ts) > e->start_ns) e->end_ns = ns_of(p->ts);
        p->waiting = false;
    }
    return 1;
}

static int event(struct parser *p) {
    if (p->ph == 'X') return span(p);
    if (p->ph == 'b' || p->ph == 'e') return wait_half(p);
    if (p->ph != 'M') return 1;
    if (strcmp(p->name, "thread_name") == 0) return track_named(p);
    if (strcmp(p->name, "cuzk_dropped") == 0 && p->events >= 0 && p->events < 1e15) p->t->dropped = (uint64_t)p->events;
    return 1;
}

/* ---- yajl's callbacks ---- */

static int on_open_map(void *ctx) {
    struct parser *p = ctx;
    if (p->depth == 0) return fail(p, CZ_ERR_FORMAT, "not a trace of cuzk-daemon, which is an array of events");
    if (++p->depth > MAX_DEPTH) return fail(p, CZ_ERR_LIMIT, "too deep");
    if (p->depth == 2) {
        p->ph = p->name[0] = p->inner_name[0] = p->label[0] = 0;
        p->job = 0;
        p->ts = p->dur = p->tid = p->id = p->partition = p->events = -1;
    }
    if (p->depth == 3) p->outer = p->key;
    p->key = K_OTHER;
    return 1;
}

static int on_close_map(void *ctx) {
    struct parser *p = ctx;
    p->key = K_OTHER;
    if (p->depth-- == 2) return event(p);
    return 1;
}

static int on_open_array(void *ctx) {
    struct parser *p = ctx;
    if (++p->depth > MAX_DEPTH) return fail(p, CZ_ERR_LIMIT, "too deep");
    if (p->depth == 2) return fail(p, CZ_ERR_FORMAT, "an event is an object");
    if (p->depth == 3) p->outer = K_OTHER;
    p->key = K_OTHER;
    return 1;
}

static int on_close_array(void *ctx) {
    struct parser *p = ctx;
    p->key = K_OTHER;
    if (--p->depth == 0) p->t->complete = true;
    return 1;
}

static int on_key(void *ctx, const unsigned char *text, size_t len) {
    struct parser *p = ctx;
    p->key = K_OTHER;
    if (p->depth == 3 && p->outer != K_ARGS) return 1;
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (KEYS[i].depth == p->depth && strlen(KEYS[i].text) == len && memcmp(KEYS[i].text, text, len) == 0)
            p->key = KEYS[i].key;
    }
    return 1;
}

static int on_string(void *ctx, const unsigned char *text, size_t len) {
    struct parser *p = ctx;
    if (p->depth < 2) return fail(p, CZ_ERR_FORMAT, "not a trace of cuzk-daemon, which is an array of events");
    if (p->key == K_PH && len == 1) p->ph = (char)text[0];
    if (p->key == K_NAME && p->depth == 2) clean(p->name, sizeof p->name, text, len);
    if (p->key == K_NAME && p->depth == 3) clean(p->inner_name, sizeof p->inner_name, text, len);
    if (p->key == K_JOB) {
        uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
        size_t tail = len;
        for (size_t i = 0; i < len; i++) hash = (hash ^ text[i]) * UINT64_C(0x100000001b3);
        while (tail > 0 && text[tail - 1] != '-' && len - tail < sizeof p->label - 1) tail--;
        p->job = hash | 1;
        clean(p->label, sizeof p->label, text + tail, len - tail);
    }
    p->key = K_OTHER;
    return 1;
}

static int on_number(void *ctx, const char *text, size_t len) {
    struct parser *p = ctx;
    char digits[40];
    if (p->depth < 2) return fail(p, CZ_ERR_FORMAT, "not a trace of cuzk-daemon, which is an array of events");
    if (len >= sizeof digits) return fail(p, CZ_ERR_FORMAT, "a number is too long");
    memcpy(digits, text, len);
    digits[len] = 0;
    const double v = strtod(digits, NULL);
    double *const to = p->key == K_TS          ? &p->ts
                       : p->key == K_DUR       ? &p->dur
                       : p->key == K_TID       ? &p->tid
                       : p->key == K_ID        ? &p->id
                       : p->key == K_PARTITION ? &p->partition
                       : p->key == K_EVENTS    ? &p->events
                                               : NULL;
    if (to) *to = v;
    p->key = K_OTHER;
    return 1;
}

static int on_other(void *ctx) {
    struct parser *p = ctx;
    p->key = K_OTHER;
    return p->depth >= 2 ? 1 : fail(p, CZ_ERR_FORMAT, "not a trace of cuzk-daemon, which is an array of events");
}

static int on_bool(void *ctx, int value) {
    (void)value;
    return on_other(ctx);
}

static const yajl_callbacks CALLBACKS = {
    .yajl_null = on_other,
    .yajl_boolean = on_bool,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_open_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_close_map,
    .yajl_start_array = on_open_array,
    .yajl_end_array = on_close_array,
};

static int by_track_and_start(const void *a, const void *b) {
    const struct cz_trace_event *x = a, *y = b;
    if (x->track != y->track) return x->track < y->track ? -1 : 1;
    if (x->start_ns != y->start_ns) return x->start_ns < y->start_ns ? -1 : 1;
    return x->end_ns < y->end_ns ? -1 : x->end_ns > y->end_ns;
}

static enum cz_status parse(struct parser *p, const struct cz_map *map, const char *path, struct cz_error *err) {
    yajl_handle h = yajl_alloc(&CALLBACKS, NULL, p);
    if (!h) return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    (void)yajl_config(h, yajl_allow_partial_values, 1);
    /* All at once: a token that comes in pieces is read again with each of them. */
    yajl_status status = yajl_parse(h, map->data, map->size);
    const size_t at = status == yajl_status_ok ? map->size : yajl_get_bytes_consumed(h);
    if (status == yajl_status_ok) status = yajl_complete_parse(h);
    enum cz_status st = CZ_OK;
    if (p->error.status != CZ_OK)
        st = cz_error_set(err, p->error.status, "%s: %s, before byte %zu", path, p->error.detail, at);
    else if (status != yajl_status_ok)
        st = cz_error_set(err, CZ_ERR_FORMAT, "%s: not JSON, at byte %zu", path, at);
    else if (p->depth == 0 && !p->t->complete)
        st = cz_error_set(err, CZ_ERR_FORMAT, "%s: is empty", path);
    yajl_free(h);
    return st;
}

enum cz_status cz_trace_file_read(struct cz_trace_file *out, const char *path, struct cz_error *err) {
    struct cz_map map;
    struct cz_trace_file t = {0};
    struct parser p = {.t = &t};
    enum cz_status st = cz_map_open(&map, path, err);
    if (st != CZ_OK) return st;
    if (map.size > MAX_BYTES) {
        cz_map_close(&map);
        return cz_error_set(err, CZ_ERR_LIMIT, "%s: more than %zu MiB, which no trace has", path, MAX_BYTES >> 20);
    }
    t.track = calloc(CZ_TRACE_MAX_TRACKS, sizeof *t.track);
    st = t.track ? parse(&p, &map, path, err) : cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    cz_map_close(&map);
    if (st != CZ_OK) {
        cz_trace_file_done(&t);
        return st;
    }
    for (size_t i = 0; i < t.num_events; i++) {
        if (t.event[i].track == CZ_TRACE_MAX_TRACKS) t.event[i].track = (uint16_t)t.num_tracks;
    }
    if (t.num_events > 1) qsort(t.event, t.num_events, sizeof *t.event, by_track_and_start);
    *out = t;
    return CZ_OK;
}

void cz_trace_file_done(struct cz_trace_file *t) {
    free(t->track);
    free(t->event);
    *t = (struct cz_trace_file){0};
}
