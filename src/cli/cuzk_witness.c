/* cuzk witness: digest and public inputs of the witness of each partition. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/time.h"
#include "filecoin/circuits/porep.h"

struct witness_args {
    const char *c1;
    uint32_t partition;
    bool stats;
};

static void print_partition(const struct cz_common *common, uint32_t k, const struct cz_r1cs *r1cs,
                            const struct cz_witness *w) {
    uint8_t digest[32], le[32];
    cz_witness_digest(digest, w, r1cs);
    if (common->json) {
        printf("{\"partition\":%u,\"aux\":%u,\"sha256\":", k, r1cs->num_aux);
        cz_print_json_hex(stdout, digest, 32);
        printf(",\"public_inputs\":[");
        for (uint32_t i = 1; i < w->num_inputs; i++) {
            cz_fr_to_le(le, &w->input[i]);
            if (i > 1) printf(",");
            cz_print_json_hex(stdout, le, 32);
        }
        printf("]}\n");
        return;
    }
    char hex[65];
    cz_hex_encode(hex, digest, 32);
    printf("partition %u: %u inputs, %u aux (%u bits), sha256 %s\n", k, w->num_inputs, r1cs->num_aux, w->num_bits, hex);
}

static enum cz_status witness(const struct witness_args *args, const struct cz_common *common, struct cz_error *err) {
    struct cz_c1 *c1 = NULL;
    struct cz_r1cs *r1cs = NULL;
    struct cz_witness w = {0};
    uint64_t start = cz_time_now_ns();
    enum cz_status status = cz_c1_parse_file(&c1, args->c1, err);
    double parse = cz_time_since(start), assign = 0;
    if (status != CZ_OK) return status;
    uint32_t first = 0, end = c1->num_partitions;
    if (args->partition != UINT32_MAX) {
        if (args->partition >= end) {
            status = cz_error_set(err, CZ_ERR_ARGUMENT, "--partition %u: %s has partitions 0 to %u", args->partition,
                                  args->c1, end - 1);
            goto out;
        }
        first = args->partition;
        end = first + 1;
    }
    status = cz_command_build(&r1cs, CZ_CIRCUIT_POREP, cz_registered_seal_sector(c1->proof), err);
    for (uint32_t k = first; k < end && status == CZ_OK; k++) {
        start = cz_time_now_ns();
        status = cz_witness_init(&w, r1cs);
        if (status == CZ_OK) status = cz_porep_circuit_assign(&w, r1cs, c1, k, err);
        assign += cz_time_since(start);
        if (status == CZ_OK) print_partition(common, k, r1cs, &w);
        cz_witness_done(&w);
        w = (struct cz_witness){0};
    }
    if (status == CZ_OK && args->stats) {
        printf(common->json ? "{\"seconds_parse\":%.6f,\"seconds_assign\":%.6f,\"bits\":%u,\"elements\":%u}\n"
                            : "parse %.6f s, assign %.6f s, %u bits and %u elements a partition\n",
               parse, assign, r1cs->num_bits, r1cs->num_aux - r1cs->num_bits);
    }
out:
    cz_r1cs_destroy(r1cs);
    cz_c1_destroy(c1);
    return status;
}

static int run(int argc, char **argv) {
    struct witness_args args = {.partition = UINT32_MAX};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"c1", CZ_OPTIONS_TEXT, &args.c1, "FILE", "C1 output (JSON, gzip, or the client's envelope)", true},
        {"partition", CZ_OPTIONS_U32, &args.partition, "K", "only this partition (default: all)", false},
        {"stats", CZ_OPTIONS_FLAG, &args.stats, NULL, "also print seconds and sizes", false},
    };
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_WITNESS, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0,
                          NULL, &exit_status))
        return exit_status;
    struct cz_error err = {0};
    enum cz_status status = witness(&args, &common, &err);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_WITNESS, status, &err);
}

const struct cz_command CZ_COMMAND_WITNESS = {
    .name = "witness",
    .usage = "witness --c1 FILE [--partition K] [--stats]",
    .about =
        "Makes the witness of each partition and prints its SHA-256 (counts, inputs and aux values) and public inputs.",
    .run = run,
};
