#ifndef CUZK_CLI_OPTIONS_H
#define CUZK_CLI_OPTIONS_H

/* Options of a command from a table: long and short names, typed values, unknown ones refused, help made from it. */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/* Exit status of every command. */
enum { CZ_OPTIONS_DONE = 0, CZ_OPTIONS_FAILED = 1, CZ_OPTIONS_USAGE = 2 };

enum cz_options_kind {
    CZ_OPTIONS_FLAG,
    CZ_OPTIONS_TEXT,
    CZ_OPTIONS_U32,
    CZ_OPTIONS_U64,
    CZ_OPTIONS_LIST,
    CZ_OPTIONS_MAYBE_U32
};

/** Target of CZ_OPTIONS_MAYBE_U32: a number for which every value means something. */
struct cz_options_u32 {
    bool given;
    uint32_t value;
};

/** Texts given by an option that may stand several times; item is freed with free(). */
struct cz_options_list {
    const char **item;
    size_t n;
};

/** Adds a text (borrowed); false without memory. */
bool cz_options_list_add(struct cz_options_list *list, const char *text);

struct cz_options_entry {
    const char *name; /**< without the dashes */
    char letter;      /**< 0: none */
    enum cz_options_kind kind;
    void *target;    /**< as the kind says; untouched when the option is absent */
    bool *given;     /**< may be NULL; set to true when the option is there */
    const char *arg; /**< "FILE"; NULL for a flag */
    const char *help;
    uint64_t min, max; /**< of a number; max 0: all that the type holds */
};

struct cz_options_command {
    const char *program; /**< "cuzk-bench single", for messages */
    const char *usage;   /**< after "usage: " */
    const char *about;   /**< may have many lines */
};

/**
 * Reads argv[*at …] by the table. Stops before the first word that is no option and leaves its place in *at (argc when
 * there is none). True to go on; false with *exit_status set after --help or after a usage error, which is printed.
 */
bool cz_options_read(const struct cz_options_command *command, int argc, char **argv, int *at,
                     const struct cz_options_entry *entry, size_t n, int *exit_status);

/** "PROGRAM: text (see PROGRAM --help)" on one line of standard error; returns CZ_OPTIONS_USAGE. */
int cz_options_usage_error(const struct cz_options_command *command, const char *fmt, ...) CZ_PRINTF(2, 3);

#endif
