#include "cli/command.h"

#include "base/bytes.h"
#include "base/time.h"

#include <stdarg.h>

int cz_command_usage_error(const struct cz_command *command, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    (void)fprintf(stderr, "cuzk %s: ", command->name);
    (void)vfprintf(stderr, fmt, ap);
    (void)fprintf(stderr, " (see cuzk %s --help)\n", command->name);
    va_end(ap);
    return CZ_EXIT_USAGE;
}

int cz_command_fail(const struct cz_command *command, enum cz_status status, const struct cz_error *err) {
    const char *detail = err && err->detail[0] ? err->detail : cz_status_text(status);
    (void)fprintf(stderr, "cuzk %s: %s\n", command->name, detail);
    return CZ_EXIT_FAILED;
}

static const struct cz_options_entry COMMON_ENTRY[2] = {
    {.name = "threads",
     .kind = CZ_OPTIONS_U32,
     .arg = "N",
     .max = 1024,
     .help = "threads to compute with (default: all cores)"},
    {.name = "json", .kind = CZ_OPTIONS_FLAG, .help = "print JSON, one object a line"},
};

bool cz_command_parse(const struct cz_command *command, int argc, char **argv, const struct cz_option *option, size_t n,
                      struct cz_common *common, const char **word, size_t max_words, size_t *num_words,
                      int *exit_status) {
    struct cz_options_entry entry[CZ_COMMAND_MAX_OPTIONS + 2];
    bool given[CZ_COMMAND_MAX_OPTIONS] = {false};
    struct cz_options_command about = {.program = NULL, .usage = NULL, .about = command->about};
    char program[64], usage[512];
    size_t words = 0;
    (void)snprintf(program, sizeof program, "cuzk %s", command->name);
    (void)snprintf(usage, sizeof usage, "cuzk %s", command->usage);
    about.program = program;
    about.usage = usage;
    *exit_status = CZ_EXIT_USAGE;
    if (n > CZ_COMMAND_MAX_OPTIONS) return false;
    for (size_t i = 0; i < n; i++) {
        entry[i] = (struct cz_options_entry){.name = option[i].name,
                                             .kind = option[i].kind,
                                             .target = option[i].target,
                                             .given = &given[i],
                                             .arg = option[i].arg,
                                             .help = option[i].help};
    }
    memcpy(entry + n, COMMON_ENTRY, sizeof COMMON_ENTRY);
    entry[n].target = &common->threads;
    entry[n + 1].target = &common->json;
    for (int at = 1; at < argc;) {
        if (!cz_options_read(&about, argc, argv, &at, entry, n + 2, exit_status)) return false;
        if (at == argc) break;
        if (words == max_words) {
            (void)cz_command_usage_error(command, "unexpected word \"%.80s\"", argv[at]);
            return false;
        }
        word[words++] = argv[at++];
    }
    for (size_t i = 0; i < n; i++) {
        if (!option[i].required || given[i]) continue;
        (void)cz_command_usage_error(command, "--%s %s is missing", option[i].name, option[i].arg);
        return false;
    }
    if (num_words) *num_words = words;
    return true;
}

bool cz_command_circuit(const struct cz_command *command, const char *circuit, const char *sector,
                        enum cz_circuit_kind *kind, const struct cz_sector_info **info, int *exit_status) {
    *exit_status = CZ_EXIT_USAGE;
    if (cz_circuit_kind_parse(kind, circuit) != CZ_OK) {
        return (void)cz_command_usage_error(command, "unknown circuit \"%.40s\"", circuit), false;
    }
    *info = cz_sector_by_name(sector);
    if (!*info) {
        return (void)cz_command_usage_error(command, "unknown sector size \"%.40s\" (2KiB … 64GiB)", sector), false;
    }
    return true;
}

enum cz_status cz_command_params_path(char *out, size_t size, const char *folder, enum cz_circuit_kind kind,
                                      const struct cz_sector_info *sector, const char *extension,
                                      struct cz_error *err) {
    char stem[256];
    enum cz_status status = cz_params_stem(stem, sizeof stem, kind, sector);
    if (status != CZ_OK) return cz_error_set(err, status, "no parameter name for this circuit");
    int n = snprintf(out, size, "%s/%s.%s", folder, stem, extension);
    if (n < 0 || (size_t)n >= size) return cz_error_set(err, CZ_ERR_LENGTH, "%.80s…: path is too long", folder);
    return CZ_OK;
}

/* On the ticker's thread. */
static void progress_line(void *ctx, char *line, size_t size) {
    const struct cz_progress *p = ctx;
    double seconds = cz_time_since(p->start_ns);
    const char *colon = p->stage[0] ? ": " : "";
    if (p->done < 0) {
        (void)snprintf(line, size, "%s%s%s … %.0f s", p->what, colon, p->stage, seconds);
        return;
    }
    char bar[31];
    int fill = p->done > 1 ? 30 : (int)(p->done * 30);
    for (int i = 0; i < 30; i++) bar[i] = i < fill ? '#' : '.';
    bar[30] = 0;
    (void)snprintf(line, size, "%s%s%s [%s] %3.0f %%  %.0f s", p->what, colon, p->stage, bar, p->done * 100, seconds);
}

void cz_progress_start(struct cz_progress *p, const char *what) {
    *p = (struct cz_progress){.what = what, .start_ns = cz_time_now_ns(), .done = -1};
    cz_ticker_start(&p->ticker, progress_line, p);
}

void cz_progress_update(void *ctx, double done) {
    struct cz_progress *p = ctx;
    if (!p->ticker.running) return;
    (void)pthread_mutex_lock(&p->ticker.lock);
    p->done = done;
    (void)pthread_mutex_unlock(&p->ticker.lock);
}

void cz_progress_stage(struct cz_progress *p, const char *stage) {
    if (!p->ticker.running) return;
    (void)pthread_mutex_lock(&p->ticker.lock);
    (void)snprintf(p->stage, sizeof p->stage, "%s", stage);
    p->done = -1;
    (void)pthread_mutex_unlock(&p->ticker.lock);
}

void cz_progress_end(struct cz_progress *p) {
    cz_ticker_end(&p->ticker);
}

void cz_print_json_text(FILE *f, const char *text) {
    char *clean = cz_output_clean(text);
    yajl_gen g = yajl_gen_alloc(NULL);
    const unsigned char *quoted = NULL;
    size_t len = 0;
    if (clean && g && yajl_gen_string(g, (const unsigned char *)clean, strlen(clean)) == yajl_gen_status_ok) {
        (void)yajl_gen_get_buf(g, &quoted, &len);
    }
    if (quoted)
        (void)fwrite(quoted, 1, len, f);
    else
        (void)fputs("null", f);
    if (g) yajl_gen_free(g);
    cz_free(clean);
}

void cz_print_json_hex(FILE *f, const uint8_t *bytes, size_t n) {
    (void)fputc('"', f);
    for (size_t i = 0; i < n; i++) (void)fprintf(f, "%02x", bytes[i]);
    (void)fputc('"', f);
}
