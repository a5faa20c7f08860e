#ifndef CUZK_CLI_BENCH_H
#define CUZK_CLI_BENCH_H

/* What the commands of `cuzk-bench` share: the daemon's address, a request built from files, and how calls fail. */

#include "cli/options.h"
#include "cli/output.h"
#include "cli/vanilla.h"
#include "rpc/client.h"
#include "rpc/messages.h"

struct cz_bench_common {
    const char *address;
    bool json;
};

struct cz_bench_command {
    const char *name;
    const char *line; /* of the list of commands */
    int (*run)(struct cz_bench_common *common, int argc, char **argv);
};

extern const struct cz_bench_command CZ_BENCH_SINGLE, CZ_BENCH_BATCH, CZ_BENCH_STATUS, CZ_BENCH_PRELOAD,
    CZ_BENCH_METRICS, CZ_BENCH_GEN_VANILLA, CZ_BENCH_WATERFALL;

/* --addr and --json, of every command. */
#define CZ_BENCH_COMMON_ENTRIES(c)                                                                                     \
    {.name = "addr",                                                                                                   \
     .letter = 'a',                                                                                                    \
     .kind = CZ_OPTIONS_TEXT,                                                                                          \
     .target = &(c)->address,                                                                                          \
     .arg = "ADDRESS",                                                                                                 \
     .help = "the daemon: http://host:port or unix:///path (default: http://127.0.0.1:9820)"},                         \
    {                                                                                                                  \
        .name = "json", .kind = CZ_OPTIONS_FLAG, .target = &(c)->json, .help = "print one JSON object"                 \
    }

/**
 * Reads argv[1 …] of a command, connects. Words that are no options go to a list that has entries already (more files
 * of the last option); others, and all when words is NULL, are refused. False with *exit_status set when the command is
 * over.
 */
bool cz_bench_start(const struct cz_options_command *command, const struct cz_bench_common *common, int argc,
                    char **argv, const struct cz_options_entry *entry, size_t n, struct cz_options_list *words,
                    struct cz_rpc_client **client, int *exit_status);

/** "PROGRAM: detail" of err, or the status's text, on standard error; CZ_OPTIONS_FAILED. */
int cz_bench_fail(const struct cz_options_command *command, enum cz_status status, const struct cz_error *err);

/**
 * One call, from message to reply bytes. CZ_RPC_OK replies only: any other code, and a failed call, is in err as
 * "CODE: text". The caller ends *reply with cz_rpc_reply_done.
 */
CZ_MUST_CHECK enum cz_status cz_bench_call(struct cz_rpc_client *client, const char *method,
                                           const ProtobufCMessage *request, uint64_t timeout_ms,
                                           struct cz_rpc_reply *reply, struct cz_error *err);

/* ---- requests (bench_request.c) ---- */

/** The options of `single` and `batch` that describe the proof. */
struct cz_bench_input {
    const char *type, *c1, *sector, *randomness, *comm_r_old, *comm_r_new, *comm_d_new;
    struct cz_options_list vanilla;
    uint64_t registered_proof, sector_number, miner_id, timeout_s;
    uint32_t partition, priority;
    bool has_registered_proof, has_sector_number;
};

#define CZ_BENCH_INPUT_DEFAULTS                                                                                        \
    { .miner_id = 1000, .timeout_s = 1800 }

#define CZ_BENCH_INPUT_ENTRIES(i)                                                                                      \
    {.name = "type",                                                                                                   \
     .letter = 't',                                                                                                    \
     .kind = CZ_OPTIONS_TEXT,                                                                                          \
     .target = &(i)->type,                                                                                             \
     .arg = "TYPE",                                                                                                    \
     .help = "porep, snap, wpost or winning"},                                                                         \
        {.name = "c1",                                                                                                 \
         .kind = CZ_OPTIONS_TEXT,                                                                                      \
         .target = &(i)->c1,                                                                                           \
         .arg = "FILE",                                                                                                \
         .help = "porep: C1 output as JSON, gzipped JSON or the client's envelope"},                                   \
        {.name = "vanilla",                                                                                            \
         .kind = CZ_OPTIONS_LIST,                                                                                      \
         .target = &(i)->vanilla,                                                                                      \
         .arg = "FILE",                                                                                                \
         .help = "others: a vanilla proof, or a JSON array of them in base64; several times"},                         \
        {.name = "registered-proof",                                                                                   \
         .kind = CZ_OPTIONS_U64,                                                                                       \
         .target = &(i)->registered_proof,                                                                             \
         .given = &(i)->has_registered_proof,                                                                          \
         .arg = "N",                                                                                                   \
         .help = "the chain's number (porep: by default what the C1 output says)"},                                    \
        {.name = "sector",                                                                                             \
         .kind = CZ_OPTIONS_TEXT,                                                                                      \
         .target = &(i)->sector,                                                                                       \
         .arg = "SIZE",                                                                                                \
         .help = "2KiB … 64GiB (default: what the C1 output says)"},                                                   \
        {.name = "sector-num",                                                                                         \
         .kind = CZ_OPTIONS_U64,                                                                                       \
         .target = &(i)->sector_number,                                                                                \
         .given = &(i)->has_sector_number,                                                                             \
         .arg = "N",                                                                                                   \
         .help = "sector number"},                                                                                     \
        {.name = "miner-id", .kind = CZ_OPTIONS_U64, .target = &(i)->miner_id, .arg = "N", .help = "default: 1000"},   \
        {.name = "partition",                                                                                          \
         .kind = CZ_OPTIONS_U32,                                                                                       \
         .target = &(i)->partition,                                                                                    \
         .arg = "N",                                                                                                   \
         .help = "wpost: partition index"},                                                                            \
        {.name = "randomness",                                                                                         \
         .kind = CZ_OPTIONS_TEXT,                                                                                      \
         .target = &(i)->randomness,                                                                                   \
         .arg = "HEX",                                                                                                 \
         .help = "PoSt: 32 bytes"},                                                                                    \
        {.name = "comm-r-old", .kind = CZ_OPTIONS_TEXT, .target = &(i)->comm_r_old, .arg = "HEX", .help = "snap"},     \
        {.name = "comm-r-new", .kind = CZ_OPTIONS_TEXT, .target = &(i)->comm_r_new, .arg = "HEX", .help = "snap"},     \
        {.name = "comm-d-new", .kind = CZ_OPTIONS_TEXT, .target = &(i)->comm_d_new, .arg = "HEX", .help = "snap"},     \
        {.name = "priority",                                                                                           \
         .kind = CZ_OPTIONS_U32,                                                                                       \
         .target = &(i)->priority,                                                                                     \
         .arg = "N",                                                                                                   \
         .max = 4,                                                                                                     \
         .help = "1 low … 4 critical (default: by the type)"},                                                         \
    {                                                                                                                  \
        .name = "timeout", .kind = CZ_OPTIONS_U64, .target = &(i)->timeout_s, .arg = "SECONDS", .min = 1,              \
        .max = 1000000, .help = "of a call (default: 1800)"                                                            \
    }

/** A request but for its request_id, which the caller sets for the time of a call; its bytes are owned. */
struct cz_bench_request {
    Cuzk__V1__SubmitProofRequest submit;
    struct cz_vanilla vanilla; /* what submit.vanilla_proofs points into */
    const char *label;         /* "porep" */
};

/** Ends what CZ_BENCH_INPUT_ENTRIES filled. */
void cz_bench_input_done(struct cz_bench_input *input);

/** Reads the files and checks what can be checked here; CZ_ERR_ARGUMENT is bad usage. */
CZ_MUST_CHECK enum cz_status cz_bench_request_init(struct cz_bench_request *out, const struct cz_bench_input *input,
                                                   struct cz_error *err);
void cz_bench_request_done(struct cz_bench_request *request);

/** An id that no other run has: "bench-porep-<hex>-<n>". */
CZ_MUST_CHECK enum cz_status cz_bench_request_id(char out[64], const char *label, struct cz_error *err);

/**
 * Prove with the request under `request_id`. On CZ_OK *result is the reply (also when it says FAILED), freed with
 * cuzk__v1__prove_response__free_unpacked.
 */
CZ_MUST_CHECK enum cz_status cz_bench_prove(struct cz_rpc_client *client, const struct cz_bench_request *request,
                                            const char *request_id, uint64_t timeout_ms,
                                            Cuzk__V1__ProveResponse **result, struct cz_error *err);

/** "COMPLETED" and so on. */
const char *cz_bench_status_text(Cuzk__V1__AwaitProofResponse__Status status);

#endif
