/*
 * cuzk-bench waterfall: a timeline as text. A line for each partition on each stream of a device, then what the streams
 * did not do: gaps. A device is idle where none of its streams works.
 */

#include "cli/bench.h"
#include "cli/trace_file.h"

#include "base/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define LABEL 16 /* columns before the first cell */
#define MIN_WIDTH 40
#define MAX_WIDTH 1000
#define MAX_ROWS 400   /* of a stream */
#define MAX_GAPS 40    /* listed, of a device */
#define GAP_NS 5000000 /* shorter ones are not told */

/* What is shown: times, and columns of cells. */
struct view {
    const struct cz_trace_file *t;
    uint64_t from, to;
    bool whole; /* sums are of the whole file, with what came before the first work on a device */
    unsigned cells;
};

static char letter_of(const char *part) {
    static const struct {
        const char *part;
        char letter;
    } LETTER[] = {{"upload", 'u'}, {"expand", 'x'}, {"eval", 'e'}, {"h", 'h'}, {"H", 'H'},
                  {"L", 'L'},      {"A", 'A'},      {"B1", '1'},   {"B2", '2'}};
    for (size_t i = 0; i < sizeof LETTER / sizeof LETTER[0]; i++) {
        if (strcmp(LETTER[i].part, part) == 0) return LETTER[i].letter;
    }
    return '#';
}

static double ms(uint64_t ns) {
    return (double)ns / 1e6;
}

/* Events of a track are side by side. */
static void events_of(const struct cz_trace_file *t, size_t track, size_t *first, size_t *end) {
    *first = 0;
    while (*first < t->num_events && t->event[*first].track < track) ++*first;
    *end = *first;
    while (*end < t->num_events && t->event[*end].track == track) ++*end;
}

/* "cuda:0" of "device cuda:0 worker 1 stream"; its length. */
static size_t device_of(const struct cz_trace_track *track, const char **name) {
    *name = track->name + sizeof CZ_TRACE_DEVICE - 1;
    return strcspn(*name, " ");
}

static bool same_device(const struct cz_trace_track *a, const struct cz_trace_track *b) {
    const char *x, *y;
    const size_t n = device_of(a, &x), m = device_of(b, &y);
    return n == m && memcmp(x, y, n) == 0;
}

/* ---- the lines ---- */

/* In each cell the part that takes most of it; '.' where more than half is nothing. */
static void draw(char *line, uint64_t *most, const struct view *v, const struct cz_trace_event *e, size_t n) {
    const double cell = (double)(v->to - v->from) / v->cells;
    uint64_t begin = UINT64_MAX, end = 0;
    memset(most, 0, v->cells * sizeof *most);
    memset(line, ' ', v->cells);
    line[v->cells] = 0;
    for (size_t i = 0; i < n; i++) {
        if (e[i].start_ns < begin) begin = e[i].start_ns;
        if (e[i].end_ns > end) end = e[i].end_ns;
        if (e[i].end_ns <= v->from || e[i].start_ns >= v->to) continue;
        const double before = e[i].start_ns > v->from ? (double)(e[i].start_ns - v->from) / cell : 0;
        for (unsigned c = before >= 1 ? (unsigned)before - 1 : 0; c < v->cells; c++) {
            const uint64_t lo = v->from + (uint64_t)(c * cell), hi = v->from + (uint64_t)((c + 1) * cell);
            const uint64_t a = e[i].start_ns > lo ? e[i].start_ns : lo, b = e[i].end_ns < hi ? e[i].end_ns : hi;
            if (lo >= e[i].end_ns) break;
            if (b <= a || b - a <= most[c]) continue;
            most[c] = b - a;
            line[c] = letter_of(v->t->name[e[i].name]);
        }
    }
    for (unsigned c = 0; c < v->cells; c++) {
        const uint64_t mid = v->from + (uint64_t)((c + 0.5) * cell);
        if (line[c] == ' ' && mid > begin && mid < end) line[c] = '.';
    }
}

static void ruler(const struct view *v) {
    char line[MAX_WIDTH + 1];
    memset(line, ' ', v->cells);
    for (unsigned c = 0; c + 12 <= v->cells; c += 20) {
        char text[16];
        const int n =
            snprintf(text, sizeof text, "|%.3f s", ((double)v->from + (double)(v->to - v->from) * c / v->cells) / 1e9);
        if (n > 0 && c + (unsigned)n <= v->cells) memcpy(line + c, text, (size_t)n);
    }
    line[v->cells] = 0;
    printf("%-*s%s\n", LABEL, "", line);
}

static bool within(const struct view *v, const struct cz_trace_event *e) {
    return e->end_ns > v->from && e->start_ns < v->to;
}

static void print_stream(const struct view *v, size_t track, uint64_t *most) {
    const struct cz_trace_event *e = v->t->event;
    char line[MAX_WIDTH + 1], label[40];
    size_t first, end, rows = 0;
    events_of(v->t, track, &first, &end);
    printf("%s\n", v->t->track[track].name);
    for (size_t at = first, next; at < end; at = next) {
        bool any = within(v, &e[at]);
        for (next = at + 1; next < end && e[next].job == e[at].job && e[next].partition == e[at].partition; next++)
            any = any || within(v, &e[next]);
        if (!any) continue;
        if (++rows > MAX_ROWS) continue;
        draw(line, most, v, e + at, next - at);
        (void)snprintf(label, sizeof label, "  #%.7s p%" PRId32, e[at].label, e[at].partition);
        size_t n = v->cells;
        while (n > 0 && line[n - 1] == ' ') line[--n] = 0;
        printf("%-*.*s%s\n", LABEL, LABEL - 1, label, line);
    }
    if (rows > MAX_ROWS) printf("  and %zu partitions more (--from, --to)\n", rows - MAX_ROWS);
}

/* ---- gaps ---- */

struct gap {
    uint64_t start, end;
};

struct busy {
    uint64_t busy, idle; /* idle: in all gaps */
    struct gap *gap;     /* of GAP_NS and more */
    size_t num_gaps, partitions;
};

static int by_start(const void *a, const void *b) {
    const struct gap *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* What the view holds of the tracks that are `track` or, when all, of its device. */
static bool measure(struct busy *out, const struct view *v, size_t track, bool all) {
    const struct cz_trace_file *t = v->t;
    struct gap *span = calloc(t->num_events + 1, sizeof *span);
    size_t n = 0;
    *out = (struct busy){.gap = calloc(t->num_events + 2, sizeof *out->gap)};
    if (!span || !out->gap) {
        free(span);
        free(out->gap);
        return false;
    }
    for (size_t i = 0; i < t->num_events; i++) {
        const struct cz_trace_event *e = &t->event[i];
        if (e->track >= t->num_tracks || !t->track[e->track].device || !within(v, e)) continue;
        if (all ? !same_device(&t->track[e->track], &t->track[track]) : e->track != track) continue;
        const bool first = i == 0 || e[-1].track != e->track || e[-1].job != e->job ||
                           e[-1].partition != e->partition || !within(v, e - 1);
        out->partitions += first;
        span[n++] = (struct gap){e->start_ns > v->from ? e->start_ns : v->from, e->end_ns < v->to ? e->end_ns : v->to};
    }
    qsort(span, n, sizeof *span, by_start);
    uint64_t at = v->from;
    for (size_t i = 0; i <= n; i++) {
        const uint64_t start = i < n ? span[i].start : v->to, end = i < n ? span[i].end : v->to;
        if (start > at) {
            out->idle += start - at;
            if (start - at >= GAP_NS) out->gap[out->num_gaps++] = (struct gap){at, start};
        }
        if (end > at) at = end;
    }
    out->busy = v->to - v->from - out->idle;
    free(span);
    return true;
}

static double share(const struct busy *b) {
    return b->busy + b->idle ? 100.0 * (double)b->busy / (double)(b->busy + b->idle) : 0;
}

static void print_gaps(const struct busy *b) {
    uint64_t sum = 0;
    for (size_t i = 0; i < b->num_gaps; i++) {
        sum += b->gap[i].end - b->gap[i].start;
        if (i < MAX_GAPS)
            printf("    idle at %.3f s for %.1f ms\n", (double)b->gap[i].start / 1e9,
                   ms(b->gap[i].end - b->gap[i].start));
    }
    if (b->num_gaps > MAX_GAPS) printf("    and %zu more\n", b->num_gaps - MAX_GAPS);
    if (b->num_gaps)
        printf("    %zu gap%s of 5 ms or more, %.1f ms together\n", b->num_gaps, b->num_gaps == 1 ? "" : "s", ms(sum));
}

/* ---- sums by stage ---- */

struct sum {
    uint64_t count, ns, longest;
};

/* kind 0: parts on devices, 1: stages on the host, 2: what waits. */
static void sum_up(struct sum sum[3][CZ_TRACE_FILE_MAX_NAMES], const struct view *v) {
    memset(sum, 0, 3 * sizeof *sum);
    for (size_t i = 0; i < v->t->num_events; i++) {
        const struct cz_trace_event *e = &v->t->event[i];
        if (!v->whole && !within(v, e)) continue;
        const int kind = e->track == v->t->num_tracks ? 2 : v->t->track[e->track].device ? 0 : 1;
        struct sum *s = &sum[kind][e->name];
        const uint64_t ns = e->end_ns - e->start_ns;
        s->count++;
        s->ns += ns;
        if (ns > s->longest) s->longest = ns;
    }
}

static const char *const KIND[3] = {"device", "host", "beside"};

static void print_sums(const struct view *v) {
    struct sum sum[3][CZ_TRACE_FILE_MAX_NAMES];
    sum_up(sum, v);
    printf("\n%-24s%10s%12s%12s%12s\n", "stage", "times", "sum s", "mean ms", "longest ms");
    for (int k = 0; k < 3; k++) {
        for (size_t i = 0; i < v->t->num_names; i++) {
            const struct sum *s = &sum[k][i];
            if (!s->count) continue;
            printf("%-8s%-16s%10" PRIu64 "%12.3f%12.3f%12.3f\n", KIND[k], v->t->name[i], s->count, (double)s->ns / 1e9,
                   ms(s->ns) / (double)s->count, ms(s->longest));
        }
    }
}

/* ---- the whole ---- */

/* The first track of each device. */
static bool leads(const struct cz_trace_file *t, size_t track, size_t *streams) {
    *streams = 0;
    if (!t->track[track].device) return false;
    for (size_t i = 0; i < t->num_tracks; i++) {
        if (!t->track[i].device || !same_device(&t->track[i], &t->track[track])) continue;
        if (i < track) return false;
        ++*streams;
    }
    return true;
}

static bool print_device(const struct view *v, size_t lead, size_t streams) {
    struct busy b;
    const char *name;
    const size_t len = device_of(&v->t->track[lead], &name);
    for (size_t i = lead; i < v->t->num_tracks; i++) {
        if (streams < 2 || !v->t->track[i].device || !same_device(&v->t->track[i], &v->t->track[lead])) continue;
        if (!measure(&b, v, i, false)) return false;
        printf("  %s: busy %.1f %%, %zu partitions\n", v->t->track[i].name, share(&b), b.partitions);
        free(b.gap);
    }
    if (!measure(&b, v, lead, true)) return false;
    printf("  %.*s: busy %.1f %% of %.3f s, %zu partitions\n", (int)len, name, share(&b),
           (double)(v->to - v->from) / 1e9, b.partitions);
    print_gaps(&b);
    free(b.gap);
    return true;
}

static bool print_text(const struct view *v) {
    uint64_t *most = calloc(v->cells, sizeof *most);
    size_t streams;
    if (!most) return false;
    printf("u upload, x expand, e eval, h quotient, sums H L A 1 (B1) 2 (B2), . idle within a partition; a column is "
           "%.2f ms\n",
           ms(v->to - v->from) / v->cells);
    for (size_t i = 0; i < v->t->num_tracks; i++) {
        if (!v->t->track[i].device) continue;
        ruler(v);
        print_stream(v, i, most);
    }
    free(most);
    printf("\n");
    for (size_t i = 0; i < v->t->num_tracks; i++) {
        if (leads(v->t, i, &streams) && !print_device(v, i, streams)) return false;
    }
    print_sums(v);
    if (!v->t->complete) printf("\nThe file has no end: the daemon runs, or was killed.\n");
    if (v->t->dropped) printf("\n%" PRIu64 " events were left out: the trace was full.\n", v->t->dropped);
    return true;
}

static bool json_devices(yajl_gen g, const struct view *v) {
    size_t streams;
    cz_output_array(g, "devices");
    for (size_t i = 0; i < v->t->num_tracks; i++) {
        struct busy b;
        char name[80];
        const char *text;
        if (!leads(v->t, i, &streams)) continue;
        if (!measure(&b, v, i, true)) return false;
        const size_t len = device_of(&v->t->track[i], &text);
        (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
        (void)yajl_gen_map_open(g);
        cz_output_text(g, "name", name);
        cz_output_u64(g, "streams", streams);
        cz_output_u64(g, "partitions", b.partitions);
        cz_output_number(g, "busy_percent", share(&b));
        cz_output_array(g, "gaps");
        for (size_t k = 0; k < b.num_gaps; k++) {
            (void)yajl_gen_map_open(g);
            cz_output_number(g, "at_ms", ms(b.gap[k].start));
            cz_output_number(g, "ms", ms(b.gap[k].end - b.gap[k].start));
            (void)yajl_gen_map_close(g);
        }
        (void)yajl_gen_array_close(g);
        (void)yajl_gen_map_close(g);
        free(b.gap);
    }
    (void)yajl_gen_array_close(g);
    return true;
}

static bool print_json(const struct view *v) {
    struct sum sum[3][CZ_TRACE_FILE_MAX_NAMES];
    yajl_gen g = cz_output_begin();
    if (!g) return false;
    cz_output_bool(g, "complete", v->t->complete);
    cz_output_u64(g, "dropped", v->t->dropped);
    cz_output_number(g, "from_ms", ms(v->from));
    cz_output_number(g, "to_ms", ms(v->to));
    const bool ok = json_devices(g, v);
    sum_up(sum, v);
    cz_output_array(g, "stages");
    for (int k = 0; ok && k < 3; k++) {
        for (size_t i = 0; i < v->t->num_names; i++) {
            if (!sum[k][i].count) continue;
            (void)yajl_gen_map_open(g);
            cz_output_text(g, "on", KIND[k]);
            cz_output_text(g, "name", v->t->name[i]);
            cz_output_u64(g, "times", sum[k][i].count);
            cz_output_number(g, "sum_ms", ms(sum[k][i].ns));
            cz_output_number(g, "longest_ms", ms(sum[k][i].longest));
            (void)yajl_gen_map_close(g);
        }
    }
    (void)yajl_gen_array_close(g);
    return cz_output_end(g) && ok;
}

/* From the first part on a device to the last one, unless told. */
static enum cz_status look(struct view *v, uint64_t from_ms, uint64_t to_ms, struct cz_error *err) {
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < v->t->num_events; i++) {
        const struct cz_trace_event *e = &v->t->event[i];
        if (e->track >= v->t->num_tracks || !v->t->track[e->track].device) continue;
        if (e->start_ns < first) first = e->start_ns;
        if (e->end_ns > last) last = e->end_ns;
    }
    if (first >= last) return cz_error_set(err, CZ_ERR_NOT_FOUND, "no device has done anything in this trace");
    v->whole = !from_ms && !to_ms;
    v->from = from_ms ? from_ms * 1000000 : first;
    v->to = to_ms ? to_ms * 1000000 : last;
    if (v->from >= v->to || v->from >= last || v->to <= first)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "--from and --to: devices worked from %.0f ms to %.0f ms", ms(first),
                            ms(last));
    return CZ_OK;
}

static unsigned width_now(uint32_t given) {
    struct winsize size = {0};
    unsigned width = given;
    if (!width && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    if (!width) width = 116;
    if (width < MIN_WIDTH) width = MIN_WIDTH;
    return (width < MAX_WIDTH ? width : MAX_WIDTH) - LABEL;
}

static int run(struct cz_bench_common *common, int argc, char **argv) {
    uint32_t width = 0;
    uint64_t from = 0, to = 0;
    const struct cz_options_entry entries[] = {
        {.name = "width",
         .letter = 'w',
         .kind = CZ_OPTIONS_U32,
         .target = &width,
         .arg = "COLUMNS",
         .min = MIN_WIDTH,
         .max = MAX_WIDTH,
         .help = "of a line (default: the terminal's, else 116)"},
        {.name = "from",
         .kind = CZ_OPTIONS_U64,
         .target = &from,
         .arg = "MS",
         .max = 1000000000000,
         .help = "shows what comes after (default: the first work on a device)"},
        {.name = "to",
         .kind = CZ_OPTIONS_U64,
         .target = &to,
         .arg = "MS",
         .max = 1000000000000,
         .help = "shows what comes before (default: the last)"},
        {.name = "json", .kind = CZ_OPTIONS_FLAG, .target = &common->json, .help = "print one JSON object"},
    };
    const struct cz_options_command command = {
        "cuzk-bench waterfall", "cuzk-bench waterfall [options] FILE",
        "Shows a timeline that cuzk-daemon --trace FILE wrote: each partition's way on each stream, when devices\n"
        "were idle, and what the stages took together. Needs no daemon; the file may still be written."};
    const char *path = NULL;
    int exit_status;
    for (int at = 1; at < argc;) {
        if (!cz_options_read(&command, argc, argv, &at, entries, sizeof entries / sizeof entries[0], &exit_status))
            return exit_status;
        if (at == argc) break;
        if (path) return cz_options_usage_error(&command, "unexpected word \"%.80s\"", argv[at]);
        path = argv[at++];
    }
    if (!path) return cz_options_usage_error(&command, "wants a file");
    struct cz_error err = {0};
    struct cz_trace_file t = {0};
    struct view v = {.t = &t, .cells = width_now(width)};
    enum cz_status st = cz_trace_file_read(&t, path, &err);
    if (st == CZ_OK) st = look(&v, from, to, &err);
    if (st == CZ_OK && !(common->json ? print_json(&v) : print_text(&v)))
        st = cz_error_set(&err, CZ_ERR_IO, "no memory, or standard output cannot be written");
    cz_trace_file_done(&t);
    return st == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(&command, st, &err);
}

const struct cz_bench_command CZ_BENCH_WATERFALL = {"waterfall", "a timeline of cuzk-daemon --trace, as text", run};
