/* cuzk r1cs: counts, non-zeros and digest of a circuit; the first constraint that differs from a reference trace. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"
#include "r1cs/digest.h"

struct r1cs_args {
    const char *circuit, *sector, *trace;
    bool stats;
};

struct comparison {
    bool differs;
    uint32_t row;    /* first constraint that differs, or the shorter length */
    uint32_t stored; /* constraints in the trace */
};

static enum cz_status compare_trace(struct comparison *out, const struct cz_r1cs *r1cs, const char *path,
                                    struct cz_error *err) {
    struct cz_map map;
    enum cz_status status = cz_map_open(&map, path, err);
    if (status != CZ_OK) return status;
    uint8_t *own = cz_malloc_array(r1cs->num_constraints, 2);
    if (map.size % 2 != 0 || map.size / 2 > UINT32_MAX) {
        status = cz_error_set(err, CZ_ERR_LENGTH, "%s: %zu bytes, a trace has two a constraint", path, map.size);
    } else if (!own) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for a trace of %u constraints", r1cs->num_constraints);
    } else {
        status = cz_digest_trace(own, r1cs);
    }
    if (status == CZ_OK) {
        *out = (struct comparison){.stored = (uint32_t)(map.size / 2)};
        uint32_t common = out->stored < r1cs->num_constraints ? out->stored : r1cs->num_constraints;
        while (out->row < common && memcmp(own + 2 * (size_t)out->row, map.data + 2 * (size_t)out->row, 2) == 0)
            out->row++;
        out->differs = out->row < common || out->stored != r1cs->num_constraints;
    }
    cz_free(own);
    cz_map_close(&map);
    return status;
}

static enum cz_status print_difference(const struct cz_common *common, const struct cz_r1cs *r1cs,
                                       const struct comparison *c, struct cz_error *err) {
    if (!c->differs) {
        if (common->json)
            printf(",\"first_difference\":null");
        else
            printf("trace: all %u constraints agree\n", c->stored);
        return CZ_OK;
    }
    char *text = NULL;
    const char *name = "";
    if (c->row < r1cs->num_constraints) {
        enum cz_status status = cz_digest_row_text(&text, r1cs, c->row);
        if (status != CZ_OK) return cz_error_set(err, status, "constraint %u: %s", c->row, cz_status_text(status));
        name = r1cs->tmpl[r1cs->instance[cz_r1cs_instance_of_row(r1cs, c->row)].template_id].name;
    }
    if (common->json) {
        printf(",\"first_difference\":{\"constraint\":%u,\"stored\":%u,\"template\":", c->row, c->stored);
        cz_print_json_text(stdout, name);
        printf(",\"text\":");
        cz_print_json_text(stdout, text ? text : "");
        printf("}");
    } else {
        printf("trace (%u constraints): constraint %u differs, in %s: %s\n", c->stored, c->row, name,
               text ? text : "none of ours");
    }
    cz_free(text);
    return CZ_OK;
}

static void print_stats(const struct cz_common *common, const struct cz_r1cs *r1cs, double build, double digest) {
    printf(common->json
               ? ",\"templates\":%u,\"instances\":%u,\"externals\":%u,\"coefficients\":%u,\"bits\":%u,\"bytes\":%zu,"
                 "\"seconds_build\":%.6f,\"seconds_digest\":%.6f"
               : "%u templates, %u instances, %u externals, %u coefficients, %u bit variables, %zu bytes\n"
                 "built in %.6f s, digest in %.6f s\n",
           r1cs->num_templates, r1cs->num_instances, r1cs->num_externals, r1cs->num_coefs, r1cs->num_bits,
           cz_r1cs_bytes(r1cs), build, digest);
}

static enum cz_status r1cs(const struct r1cs_args *args, const struct cz_common *common, enum cz_circuit_kind kind,
                           const struct cz_sector_info *sector, bool *differs, struct cz_error *err) {
    struct cz_r1cs *system = NULL;
    struct comparison comparison = {0};
    uint8_t digest[32];
    char hex[65];
    uint64_t nnz[3], start = cz_time_now_ns();
    enum cz_status status = cz_command_build(&system, kind, sector, err);
    double build = cz_time_since(start);
    if (status != CZ_OK) return status;
    start = cz_time_now_ns();
    status = cz_digest_r1cs(digest, system);
    if (status == CZ_OK && args->trace) status = compare_trace(&comparison, system, args->trace, err);
    if (status != CZ_OK) goto out;
    cz_r1cs_nnz(system, nnz);
    cz_hex_encode(hex, digest, 32);
    printf(common->json ? "{\"circuit\":\"%s\",\"sector\":\"%s\",\"inputs\":%u,\"aux\":%u,\"constraints\":%u,\"nnz\":[%"
                          "llu,%llu,%llu],\"digest\":\"%s\""
                        : "%s %s: %u inputs, %u aux, %u constraints, non-zeros %llu %llu %llu\ndigest %s\n",
           cz_circuit_kind_name(kind), sector->name, system->num_inputs, system->num_aux, system->num_constraints,
           (unsigned long long)nnz[0], (unsigned long long)nnz[1], (unsigned long long)nnz[2], hex);
    if (args->stats) print_stats(common, system, build, cz_time_since(start));
    if (args->trace) status = print_difference(common, system, &comparison, err);
    if (common->json) printf("}\n");
    *differs = comparison.differs;
out:
    cz_r1cs_destroy(system);
    return status;
}

static int run(int argc, char **argv) {
    struct r1cs_args args = {0};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"circuit", CZ_OPTIONS_TEXT, &args.circuit, "KIND", "porep (more to come)", true},
        {"sector", CZ_OPTIONS_TEXT, &args.sector, "SIZE", "2KiB … 64GiB, any case", true},
        {"trace", CZ_OPTIONS_TEXT, &args.trace, "FILE", "compare with a reference trace; a difference is exit status 1",
         false},
        {"stats", CZ_OPTIONS_FLAG, &args.stats, NULL, "also print templates, instances, bytes and seconds", false},
    };
    int exit_status;
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    if (!cz_command_parse(&CZ_COMMAND_R1CS, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0, NULL,
                          &exit_status))
        return exit_status;
    if (!cz_command_circuit(&CZ_COMMAND_R1CS, args.circuit, args.sector, &kind, &sector, &exit_status))
        return exit_status;
    struct cz_error err = {0};
    bool differs = false;
    enum cz_status status = r1cs(&args, &common, kind, sector, &differs, &err);
    if (status != CZ_OK) return cz_command_fail(&CZ_COMMAND_R1CS, status, &err);
    return differs ? CZ_EXIT_FAILED : CZ_EXIT_DONE;
}

const struct cz_command CZ_COMMAND_R1CS = {
    .name = "r1cs",
    .usage = "r1cs --circuit KIND --sector SIZE [--trace FILE] [--stats]",
    .about =
        "Builds the constraint system of a circuit and prints its counts and digest (without Groth16's input rows).",
    .run = run,
};
