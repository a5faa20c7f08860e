#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

int cz_options_usage_error(const struct cz_options_command *command, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    char text[600];
    /* clang-tidy 14 loses va_start when it follows a call from this file into here. */
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)fprintf(stderr, "%s: %s (see %s --help)\n", command->program, text, command->program);
    return CZ_OPTIONS_USAGE;
}

static void print_help(const struct cz_options_command *command, const struct cz_options_entry *entry, size_t n) {
    (void)printf("usage: %s\n\n%s\n\n", command->usage, command->about);
    for (size_t i = 0; i < n; i++) {
        char left[64], letter[5] = "   ";
        if (entry[i].letter) (void)snprintf(letter, sizeof letter, "-%c,", entry[i].letter);
        (void)snprintf(left, sizeof left, "%s --%s %s", letter, entry[i].name, entry[i].arg ? entry[i].arg : "");
        int width = 28; /* in characters: UTF-8's further bytes take none */
        for (const char *p = left; *p; p++) width += (*p & 0xc0) == 0x80;
        (void)printf("  %-*s %s\n", width, left, entry[i].help);
    }
    (void)printf("  %-28s %s\n", "-h, --help", "print this");
    (void)printf("\nExit status: 0 done, 1 failed or invalid, 2 bad usage.\n");
}

static bool read_number(const struct cz_options_command *command, const struct cz_options_entry *e, const char *text) {
    uint64_t most = e->kind == CZ_OPTIONS_U64 ? UINT64_MAX : UINT32_MAX;
    if (e->max) most = e->max;
    char *end = NULL;
    errno = 0;
    uint64_t v = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || v < e->min || v > most) {
        (void)cz_options_usage_error(command, "--%s wants a number from %" PRIu64 " to %" PRIu64 ", not \"%.40s\"",
                                     e->name, e->min, most, text);
        return false;
    }
    if (e->kind == CZ_OPTIONS_U32)
        *(uint32_t *)e->target = (uint32_t)v;
    else if (e->kind == CZ_OPTIONS_MAYBE_U32)
        *(struct cz_options_u32 *)e->target = (struct cz_options_u32){.given = true, .value = (uint32_t)v};
    else
        *(uint64_t *)e->target = v;
    return true;
}

bool cz_options_list_add(struct cz_options_list *list, const char *text) {
    const char **grown = realloc(list->item, (list->n + 1) * sizeof *grown);
    if (!grown) return false;
    grown[list->n] = text;
    list->item = grown;
    list->n++;
    return true;
}

static bool set(const struct cz_options_command *command, const struct cz_options_entry *e, const char *value) {
    if (e->given) *e->given = true;
    switch (e->kind) {
    case CZ_OPTIONS_FLAG:
        *(bool *)e->target = true;
        return true;
    case CZ_OPTIONS_TEXT:
        *(const char **)e->target = value;
        return true;
    case CZ_OPTIONS_LIST:
        return cz_options_list_add(e->target, value);
    default:
        return read_number(command, e, value);
    }
}

static const struct cz_options_entry *find(const struct cz_options_entry *entry, size_t n, const char *name, size_t len,
                                           bool is_long) {
    for (size_t i = 0; i < n; i++) {
        if (is_long ? strlen(entry[i].name) == len && memcmp(entry[i].name, name, len) == 0
                    : entry[i].letter && entry[i].letter == name[0]) {
            return &entry[i];
        }
    }
    return NULL;
}

bool cz_options_read(const struct cz_options_command *command, int argc, char **argv, int *at,
                     const struct cz_options_entry *entry, size_t n, int *exit_status) {
    *exit_status = CZ_OPTIONS_USAGE;
    for (; *at < argc; (*at)++) {
        const char *arg = argv[*at];
        if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0) {
            print_help(command, entry, n);
            *exit_status = CZ_OPTIONS_DONE;
            return false;
        }
        if (arg[0] != '-' || arg[1] == 0) return true;
        bool is_long = arg[1] == '-';
        const char *name = is_long ? arg + 2 : arg + 1, *value = NULL;
        const char *equals = is_long ? strchr(name, '=') : NULL;
        const struct cz_options_entry *e =
            find(entry, n, name, equals ? (size_t)(equals - name) : strlen(name), is_long);
        if (!e) return (void)cz_options_usage_error(command, "unknown option \"%.80s\"", arg), false;
        if (equals)
            value = equals + 1;
        else if (!is_long && name[1])
            value = name + 1;
        if (e->kind == CZ_OPTIONS_FLAG && value) {
            return (void)cz_options_usage_error(command, "--%s takes no value", e->name), false;
        }
        if (e->kind != CZ_OPTIONS_FLAG && !value) {
            if (*at + 1 >= argc) return (void)cz_options_usage_error(command, "--%s wants a value", e->name), false;
            value = argv[++*at];
        }
        if (!set(command, e, value)) return false;
    }
    return true;
}
