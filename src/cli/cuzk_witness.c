/* cuzk witness: digest and public inputs of the witness of each partition. */

#include "cli/source.h"

#include "base/bytes.h"
#include "base/time.h"

struct witness_args {
    struct cz_source source;
    bool stats;
};

static void print_partition(const struct cz_common *common, uint32_t k, const struct cz_r1cs *r1cs,
                            const struct cz_witness *w, const uint8_t digest[32]) {
    uint8_t le[32];
    if (common->json) {
        printf("{\"partition\":%u,\"aux\":%u,\"bytes\":%zu,\"sha256\":", k, r1cs->num_aux, cz_witness_bytes(r1cs));
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
    printf("partition %u: %u inputs, %u aux (%u bits), %zu bytes, sha256 %s\n", k, w->num_inputs, r1cs->num_aux,
           w->num_bits, cz_witness_bytes(r1cs), hex);
}

static enum cz_status witness(const struct witness_args *args, const struct cz_common *common, struct cz_error *err) {
    struct cz_input *input = NULL;
    struct cz_r1cs *r1cs = NULL;
    struct cz_witness w = {0};
    struct cz_progress progress;
    uint8_t digest[32];
    char stage[64];
    uint32_t first = 0, end = 0;
    uint64_t start = cz_time_now_ns();
    cz_progress_start(&progress, "witness");
    enum cz_status status = cz_source_load(&input, &args->source, err);
    double parse = cz_time_since(start), assign = 0;
    if (status == CZ_OK) status = cz_source_partitions(&first, &end, &args->source, input, err);
    if (status == CZ_OK) status = cz_input_circuit_build(&r1cs, input->kind, input->sector, err);
    for (uint32_t k = first; status == CZ_OK && k < end; k++) {
        (void)snprintf(stage, sizeof stage, "partition %u of %u", k + 1, input->num_partitions);
        cz_progress_stage(&progress, stage);
        start = cz_time_now_ns();
        status = cz_witness_init(&w, r1cs);
        if (status == CZ_OK) status = cz_input_assign(&w, r1cs, input, k, err);
        assign += cz_time_since(start);
        if (status == CZ_OK) {
            cz_progress_stage(&progress, "digest");
            cz_witness_digest(digest, &w, r1cs);
            cz_progress_end(&progress);
            print_partition(common, k, r1cs, &w, digest);
            cz_progress_start(&progress, "witness");
        }
        cz_witness_done(&w);
        w = (struct cz_witness){0};
    }
    cz_progress_end(&progress);
    if (status == CZ_OK && args->stats) {
        printf(
            common->json
                ? "{\"seconds_parse\":%.6f,\"seconds_assign\":%.6f,\"bits\":%u,\"elements\":%u,\"squares\":%u}\n"
                : "parse %.6f s, assign %.6f s, %u bits and %u elements (%u of them squares, not stored) a partition\n",
            parse, assign, r1cs->num_bits, cz_r1cs_num_elems(r1cs), r1cs->num_squares);
    }
    cz_r1cs_destroy(r1cs);
    cz_input_destroy(input);
    return status;
}

static int run(int argc, char **argv) {
    struct witness_args args = {.stats = false};
    struct cz_common common = {0};
    struct cz_option option[CZ_SOURCE_OPTIONS + 1];
    struct cz_error err = {0};
    int exit_status;
    cz_source_init(&args.source);
    cz_source_options(&args.source, option);
    option[CZ_SOURCE_OPTIONS] =
        (struct cz_option){"stats", CZ_OPTIONS_FLAG, &args.stats, NULL, "also print seconds and sizes", false};
    if (!cz_source_parse(&args.source, &CZ_COMMAND_WITNESS, argc, argv, option, CZ_SOURCE_OPTIONS + 1, &common,
                         &exit_status)) {
        return exit_status;
    }
    enum cz_status status = witness(&args, &common, &err);
    cz_source_done(&args.source);
    return status == CZ_OK ? CZ_EXIT_DONE : cz_command_fail(&CZ_COMMAND_WITNESS, status, &err);
}

const struct cz_command CZ_COMMAND_WITNESS = {
    .name = "witness",
    .usage = "witness --c1 FILE | --type KIND --vanilla FILE… … [--partition K] [--stats]",
    .about =
        "Makes the witness of each partition and prints its SHA-256 (counts, inputs and aux values) and public inputs.",
    .run = run,
};
