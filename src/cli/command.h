#ifndef CUZK_CLI_COMMAND_H
#define CUZK_CLI_COMMAND_H

/* What the commands of `cuzk` share: options from a table, one-line errors, a progress bar, JSON text. */

#include "base/thread.h"
#include "cli/options.h"
#include "cli/output.h"
#include "filecoin/c1.h"
#include "filecoin/names.h"
#include "r1cs/r1cs.h"

#include <stdio.h>

enum { CZ_EXIT_DONE = CZ_OPTIONS_DONE, CZ_EXIT_FAILED = CZ_OPTIONS_FAILED, CZ_EXIT_USAGE = CZ_OPTIONS_USAGE };

#define CZ_COMMAND_MAX_OPTIONS 24

/* An option of a command: cz_options_entry, and whether it must be there. */
struct cz_option {
    const char *name; /* without the dashes */
    enum cz_options_kind kind;
    void *target;    /* as the kind says; untouched when the option is absent */
    const char *arg; /* "FILE", NULL for a flag */
    const char *help;
    bool required;
};

struct cz_command {
    const char *name;
    const char *usage; /* the line after "cuzk " */
    const char *about;
    int (*run)(int argc, char **argv);
};

extern const struct cz_command CZ_COMMAND_R1CS, CZ_COMMAND_WITNESS, CZ_COMMAND_SETUP, CZ_COMMAND_PROVE,
    CZ_COMMAND_VERIFY, CZ_COMMAND_INSPECT, CZ_COMMAND_PARAMS, CZ_COMMAND_GPU;

/** --json and --threads, which every command has. */
struct cz_common {
    bool json;
    uint32_t threads; /* 0: all cores */
};

/**
 * Reads argv[1 …] by the table (n entries) and the common options. At most max_words words that are no options go to
 * word[]. Returns true to go on; false with *exit_status set after --help or a usage error, which has been printed.
 */
bool cz_command_parse(const struct cz_command *command, int argc, char **argv, const struct cz_option *option, size_t n,
                      struct cz_common *common, const char **word, size_t max_words, size_t *num_words,
                      int *exit_status);

/** "cuzk NAME: text" on one line of standard error; CZ_EXIT_USAGE. */
int cz_command_usage_error(const struct cz_command *command, const char *fmt, ...) CZ_PRINTF(2, 3);
/** Prints the detail of err, or the status's text when it has none; CZ_EXIT_FAILED. */
int cz_command_fail(const struct cz_command *command, enum cz_status status, const struct cz_error *err);

/** --circuit and --sector by name; false after a usage error. */
bool cz_command_circuit(const struct cz_command *command, const char *circuit, const char *sector,
                        enum cz_circuit_kind *kind, const struct cz_sector_info **info, int *exit_status);

/** "DIR/v28-….EXTENSION" for a circuit. */
CZ_MUST_CHECK enum cz_status cz_command_params_path(char *out, size_t size, const char *folder,
                                                    enum cz_circuit_kind kind, const struct cz_sector_info *sector,
                                                    const char *extension, struct cz_error *err);

/** A bar on standard error, when that is a terminal and two seconds have passed; ended by cz_progress_end. */
struct cz_progress {
    const char *what;
    uint64_t start_ns;
    double done;    /* below 0: not known; this and stage under the ticker's lock */
    char stage[64]; /* "" at first */
    struct cz_ticker ticker;
};
/** p stays where it is until cz_progress_end, which comes before anything is printed to standard output. */
void cz_progress_start(struct cz_progress *p, const char *what);
/** `done` from 0 to 1. ctx is the struct cz_progress. Fits the libraries' progress callbacks. */
void cz_progress_update(void *ctx, double done);
/** Names what begins now; how far it is, is not known until the next update. */
void cz_progress_stage(struct cz_progress *p, const char *stage);
void cz_progress_end(struct cz_progress *p);

/** Text as a JSON string, quoted and escaped; bytes that are no UTF-8 become U+FFFD. */
void cz_print_json_text(FILE *f, const char *text);
/** n bytes as a quoted lower-case hex string. */
void cz_print_json_hex(FILE *f, const uint8_t *bytes, size_t n);

#endif
