#include "cli/command.h"

#include "base/bytes.h"
#include "base/time.h"
#include "filecoin/circuits/porep.h"

#include <errno.h>
#include <stdarg.h>
#include <unistd.h>

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

static void print_help(const struct cz_command *command, const struct cz_option *option, size_t n) {
    printf("usage: cuzk %s\n\n%s\n\n", command->usage, command->about);
    for (size_t i = 0; i < n; i++) {
        char left[64];
        (void)snprintf(left, sizeof left, "--%s %s", option[i].name, option[i].arg ? option[i].arg : "");
        printf("  %-30s %s\n", left, option[i].help);
    }
    printf("  %-30s %s\n", "--threads N", "threads to compute with (default: all cores)");
    printf("  %-30s %s\n", "--json", "print JSON, one object a line");
    printf("\nExit status: 0 done, 1 failed or invalid, 2 bad usage.\n");
}

static bool parse_u32(uint32_t *out, const char *text) {
    if (text[0] < '0' || text[0] > '9') return false;
    char *end;
    errno = 0;
    unsigned long v = strtoul(text, &end, 10);
    if (errno || *end || v > UINT32_MAX) return false;
    *out = (uint32_t)v;
    return true;
}

static bool set_option(const struct cz_command *command, const struct cz_option *o, const char *value) {
    if (o->kind == CZ_OPTION_TEXT) {
        *(const char **)o->target = value;
    } else if (!parse_u32(o->target, value)) {
        (void)cz_command_usage_error(command, "--%s wants a number from 0 to 4294967295, not \"%.40s\"", o->name,
                                     value);
        return false;
    }
    return true;
}

static const struct cz_option *find_option(const struct cz_option *option, size_t n, const char *name, size_t len) {
    for (size_t i = 0; i < n; i++) {
        if (strlen(option[i].name) == len && memcmp(option[i].name, name, len) == 0) return &option[i];
    }
    return NULL;
}

bool cz_command_parse(const struct cz_command *command, int argc, char **argv, const struct cz_option *option, size_t n,
                      struct cz_common *common, const char **word, size_t max_words, size_t *num_words,
                      int *exit_status) {
    const struct cz_option shared[] = {
        {.name = "json", .kind = CZ_OPTION_FLAG, .target = &common->json},
        {.name = "threads", .kind = CZ_OPTION_U32, .target = &common->threads, .arg = "N"},
    };
    uint64_t seen = 0; /* options given, by index */
    size_t words = 0;
    *exit_status = CZ_EXIT_USAGE;
    for (int i = 1; i < argc; i++) {
        const char *arg = argv[i];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            print_help(command, option, n);
            *exit_status = CZ_EXIT_DONE;
            return false;
        }
        if (arg[0] != '-' || arg[1] == 0) {
            if (words == max_words)
                return (void)cz_command_usage_error(command, "unexpected word \"%.80s\"", arg), false;
            word[words++] = arg;
            continue;
        }
        const char *name = arg[1] == '-' ? arg + 2 : arg;
        const char *equals = strchr(name, '=');
        size_t len = equals ? (size_t)(equals - name) : strlen(name);
        const struct cz_option *o = find_option(option, n, name, len);
        if (o)
            seen |= 1ull << (o - option);
        else
            o = find_option(shared, 2, name, len);
        if (!o) return (void)cz_command_usage_error(command, "unknown option \"%.80s\"", arg), false;
        if (o->kind == CZ_OPTION_FLAG) {
            if (equals) return (void)cz_command_usage_error(command, "--%s takes no value", o->name), false;
            *(bool *)o->target = true;
            continue;
        }
        const char *value = equals ? equals + 1 : i + 1 < argc ? argv[++i] : NULL;
        if (!value) return (void)cz_command_usage_error(command, "--%s wants a value", o->name), false;
        if (!set_option(command, o, value)) return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (option[i].required && !(seen >> i & 1)) {
            return (void)cz_command_usage_error(command, "--%s %s is missing", option[i].name, option[i].arg), false;
        }
    }
    if (common->threads > 1024) return (void)cz_command_usage_error(command, "--threads is at most 1024"), false;
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
    if (*kind != CZ_CIRCUIT_POREP) {
        (void)fprintf(stderr, "cuzk %s: circuit %s is not built yet; porep is\n", command->name, circuit);
        *exit_status = CZ_EXIT_FAILED;
        return false;
    }
    return true;
}

enum cz_status cz_command_build(struct cz_r1cs **out, enum cz_circuit_kind kind, const struct cz_sector_info *sector,
                                struct cz_error *err) {
    if (kind != CZ_CIRCUIT_POREP) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "circuit %s is not built yet", cz_circuit_kind_name(kind));
    }
    return cz_porep_circuit_build(out, sector, err);
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

void cz_progress_start(struct cz_progress *p, const char *what) {
    *p = (struct cz_progress){.what = what, .start_ns = cz_time_now_ns()};
}

static bool progress_wanted(const struct cz_progress *p) {
    return isatty(STDERR_FILENO) && cz_time_since(p->start_ns) > 2;
}

void cz_progress_update(void *ctx, double done) {
    struct cz_progress *p = ctx;
    if (!progress_wanted(p)) return;
    char bar[31];
    int fill = done < 0 ? 0 : done > 1 ? 30 : (int)(done * 30);
    for (int i = 0; i < 30; i++) bar[i] = i < fill ? '#' : '.';
    bar[30] = 0;
    p->shown = true;
    (void)fprintf(stderr, "\r%s [%s] %3.0f %%  %.0f s ", p->what, bar, done * 100, cz_time_since(p->start_ns));
}

void cz_progress_stage(struct cz_progress *p, const char *stage) {
    if (!isatty(STDERR_FILENO)) return;
    p->shown = true;
    (void)fprintf(stderr, "\r\033[K%s: %s … ", p->what, stage);
}

void cz_progress_end(struct cz_progress *p) {
    if (p->shown) (void)fprintf(stderr, "\r\033[K");
    p->shown = false;
}

/* Length of the well-formed UTF-8 sequence at s, 0 when there is none; surrogates and overlong forms are none. */
static size_t utf8_length(const unsigned char *s) {
    size_t n = s[0] < 0x80                   ? 1
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
               : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                             : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
    }
    if (n == 3 && ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))) return 0;
    if (n == 4 && ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))) return 0;
    return n;
}

void cz_print_json_text(FILE *f, const char *text) {
    (void)fputc('"', f);
    for (const unsigned char *s = (const unsigned char *)text; *s;) {
        size_t n = utf8_length(s);
        if (n == 0) {
            (void)fputs("\\ufffd", f);
            s++;
        } else if (n == 1 && (*s < 0x20 || *s == '"' || *s == '\\')) {
            (void)fprintf(f, "\\u%04x", *s++);
        } else {
            (void)fwrite(s, 1, n, f);
            s += n;
        }
    }
    (void)fputc('"', f);
}

void cz_print_json_hex(FILE *f, const uint8_t *bytes, size_t n) {
    (void)fputc('"', f);
    for (size_t i = 0; i < n; i++) (void)fprintf(f, "%02x", bytes[i]);
    (void)fputc('"', f);
}
