#ifndef CUZK_CLI_SOURCE_H
#define CUZK_CLI_SOURCE_H

/* The input options that witness, prove and verify share: --c1, or --type with --vanilla and what belongs to it. */

#include "cli/command.h"
#include "filecoin/input.h"

struct cz_source {
    const char *c1, *type, *registered_proof, *randomness, *prover_id, *comm_r_old, *comm_r_new, *comm_d_new;
    struct cz_options_list vanilla;
    uint32_t miner;
    struct cz_options_u32 partition;
};

#define CZ_SOURCE_OPTIONS 11

void cz_source_init(struct cz_source *s);
/** Writes CZ_SOURCE_OPTIONS entries. */
void cz_source_options(struct cz_source *s, struct cz_option *option);
void cz_source_done(struct cz_source *s);

/**
 * cz_command_parse for a command with these options; words after the options are more vanilla files. Then checks that
 * there is exactly one kind of input and what it needs. False with *exit_status set (and s done) otherwise.
 */
bool cz_source_parse(struct cz_source *s, const struct cz_command *command, int argc, char **argv,
                     const struct cz_option *option, size_t n, struct cz_common *common, int *exit_status);

/** Reads the files. Errors name option, file and field. */
CZ_MUST_CHECK enum cz_status cz_source_load(struct cz_input **out, const struct cz_source *s, struct cz_error *err);

/** [*first, *end): --partition, or all of them; both 0 on failure. */
CZ_MUST_CHECK enum cz_status cz_source_partitions(uint32_t *first, uint32_t *end, const struct cz_source *s,
                                                  const struct cz_input *input, struct cz_error *err);

#endif
