/* cuzk r1cs: counts, non-zeros and digest of a circuit; the first constraint that differs from a reference trace. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"
#include "filecoin/input.h"
#include "r1cs/digest.h"

#include <ctype.h>

struct r1cs_args {
    const char *circuit, *sector, *trace;
    bool stats, explain, all;
};

/* --all: every circuit of the reference's list, in its order. */
static const struct {
    enum cz_circuit_kind kind;
    const char *sector;
} ALL[] = {
    {CZ_CIRCUIT_POREP, "2kib"},
    {CZ_CIRCUIT_POREP, "4kib"},
    {CZ_CIRCUIT_POREP, "16kib"},
    {CZ_CIRCUIT_POREP, "32kib"},
    {CZ_CIRCUIT_POREP, "8mib"},
    {CZ_CIRCUIT_POREP, "512mib"},
    {CZ_CIRCUIT_POREP, "32gib"},
    {CZ_CIRCUIT_POREP, "64gib"},
    {CZ_CIRCUIT_WINNING, "2kib"},
    {CZ_CIRCUIT_WINNING, "4kib"},
    {CZ_CIRCUIT_WINNING, "16kib"},
    {CZ_CIRCUIT_WINNING, "32kib"},
    {CZ_CIRCUIT_WINNING, "8mib"},
    {CZ_CIRCUIT_WINNING, "512mib"},
    {CZ_CIRCUIT_WINNING, "32gib"},
    {CZ_CIRCUIT_WINNING, "64gib"},
    {CZ_CIRCUIT_WINDOW, "2kib"},
    {CZ_CIRCUIT_WINDOW, "8mib"},
    {CZ_CIRCUIT_WINDOW, "512mib"},
    {CZ_CIRCUIT_WINDOW, "32gib"},
    {CZ_CIRCUIT_WINDOW, "64gib"},
    {CZ_CIRCUIT_UPDATE, "2kib"},
    {CZ_CIRCUIT_UPDATE, "4kib"},
    {CZ_CIRCUIT_UPDATE, "16kib"},
    {CZ_CIRCUIT_UPDATE, "32kib"},
    {CZ_CIRCUIT_UPDATE, "8mib"},
    {CZ_CIRCUIT_UPDATE, "512mib"},
    {CZ_CIRCUIT_UPDATE, "32gib"},
    {CZ_CIRCUIT_UPDATE, "64gib"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "2kib"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "8mib"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "512mib"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "32gib"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "64gib"},
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

struct share {
    uint32_t template_id;
    uint64_t instances, constraints, aux;
};

static int by_constraints(const void *a, const void *b) {
    const struct share *x = a, *y = b;
    if (x->constraints != y->constraints) return x->constraints < y->constraints ? 1 : -1;
    return x->template_id < y->template_id ? -1 : x->template_id > y->template_id;
}

/* The templates by their share of the constraints. */
static enum cz_status explain(const struct cz_common *common, const struct cz_r1cs *r1cs, struct cz_error *err) {
    struct share *share = cz_calloc(r1cs->num_templates, sizeof *share);
    if (!share) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for %u templates", r1cs->num_templates);
    for (uint32_t i = 0; i < r1cs->num_templates; i++) share[i].template_id = i;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) share[r1cs->instance[i].template_id].instances++;
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        share[i].constraints = share[i].instances * r1cs->tmpl[i].num_constraints;
        share[i].aux = share[i].instances * r1cs->tmpl[i].num_local;
    }
    qsort(share, r1cs->num_templates, sizeof *share, by_constraints);
    if (common->json)
        printf(",\"explain\":[");
    else
        printf("%-28s %9s %11s %9s %13s %7s %13s %7s\n", "template", "instances", "constraints", "bits", "in all", "%",
               "variables", "%");
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[share[i].template_id];
        double rows = r1cs->num_constraints ? 100.0 * (double)share[i].constraints / r1cs->num_constraints : 0;
        double vars = r1cs->num_aux ? 100.0 * (double)share[i].aux / r1cs->num_aux : 0;
        if (common->json) {
            printf("%s{\"template\":", i ? "," : "");
            cz_print_json_text(stdout, t->name);
            printf(",\"instances\":%llu,\"constraints_each\":%u,\"bits_each\":%u,\"constraints\":%llu,\"aux\":%llu}",
                   (unsigned long long)share[i].instances, t->num_constraints, t->num_bits,
                   (unsigned long long)share[i].constraints, (unsigned long long)share[i].aux);
        } else {
            printf("%-28s %9llu %11u %9u %13llu %6.2f%% %13llu %6.2f%%\n", t->name,
                   (unsigned long long)share[i].instances, t->num_constraints, t->num_bits,
                   (unsigned long long)share[i].constraints, rows, (unsigned long long)share[i].aux, vars);
        }
    }
    if (common->json) printf("]");
    cz_free(share);
    return CZ_OK;
}

static void print_counts(const struct cz_common *common, const struct cz_r1cs *r1cs, enum cz_circuit_kind kind,
                         const struct cz_sector_info *sector, const uint8_t digest[32]) {
    char hex[65], size[16];
    uint64_t nnz[3];
    cz_r1cs_nnz(r1cs, nnz);
    cz_hex_encode(hex, digest, 32);
    (void)snprintf(size, sizeof size, "%s", sector->name);
    for (char *c = size; *c; c++) *c = (char)tolower((unsigned char)*c);
    printf(common->json ? "{\"circuit\":\"%s\",\"sector\":\"%s\",\"inputs\":%u,\"aux\":%u,\"constraints\":%u,"
                          "\"nnz\":[%llu,%llu,%llu],\"digest\":\"%s\""
                        : "%s %s: %u inputs, %u aux, %u constraints, non-zeros %llu %llu %llu\ndigest %s\n",
           cz_circuit_kind_name(kind), common->json ? size : sector->name, r1cs->num_inputs, r1cs->num_aux,
           r1cs->num_constraints, (unsigned long long)nnz[0], (unsigned long long)nnz[1], (unsigned long long)nnz[2],
           hex);
}

static enum cz_status r1cs(const struct r1cs_args *args, const struct cz_common *common, enum cz_circuit_kind kind,
                           const struct cz_sector_info *sector, bool *differs, struct cz_error *err) {
    struct cz_r1cs *system = NULL;
    struct comparison comparison = {0};
    uint8_t digest[32];
    struct cz_progress progress;
    uint64_t start = cz_time_now_ns();
    cz_progress_start(&progress, "r1cs");
    cz_progress_stage(&progress, "building");
    enum cz_status status = cz_input_circuit_build(&system, kind, sector, err);
    double build = cz_time_since(start);
    start = cz_time_now_ns();
    cz_progress_stage(&progress, "digest");
    if (status == CZ_OK) status = cz_digest_r1cs_progress(digest, system, cz_progress_update, &progress);
    cz_progress_stage(&progress, "trace");
    if (status == CZ_OK && args->trace) status = compare_trace(&comparison, system, args->trace, err);
    cz_progress_end(&progress);
    if (status == CZ_OK) {
        print_counts(common, system, kind, sector, digest);
        if (args->stats) print_stats(common, system, build, cz_time_since(start));
        if (args->trace) status = print_difference(common, system, &comparison, err);
        if (status == CZ_OK && args->explain) status = explain(common, system, err);
        if (common->json) printf("}\n");
        *differs = comparison.differs;
    }
    cz_r1cs_destroy(system);
    return status;
}

static enum cz_status all(const struct r1cs_args *args, const struct cz_common *common, struct cz_error *err) {
    bool differs;
    for (size_t i = 0; i < sizeof ALL / sizeof ALL[0]; i++) {
        const struct cz_sector_info *sector = cz_sector_by_name(ALL[i].sector);
        if (!sector) return cz_error_set(err, CZ_ERR_INTERNAL, "no sector of %s", ALL[i].sector);
        enum cz_status status = r1cs(args, common, ALL[i].kind, sector, &differs, err);
        if (status != CZ_OK) return status;
        (void)fflush(stdout);
    }
    return CZ_OK;
}

static int run(int argc, char **argv) {
    struct r1cs_args args = {0};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"circuit", CZ_OPTIONS_TEXT, &args.circuit, "KIND", "porep, winning, window, update or update-poseidon", false},
        {"sector", CZ_OPTIONS_TEXT, &args.sector, "SIZE", "2KiB … 64GiB, any case", false},
        {"all", CZ_OPTIONS_FLAG, &args.all, NULL, "every circuit of the reference's list, in its order", false},
        {"trace", CZ_OPTIONS_TEXT, &args.trace, "FILE", "compare with a reference trace; a difference is exit status 1",
         false},
        {"stats", CZ_OPTIONS_FLAG, &args.stats, NULL, "also print templates, instances, bytes and seconds", false},
        {"explain", CZ_OPTIONS_FLAG, &args.explain, NULL,
         "also print each template, how often it is used, and its share", false},
    };
    int exit_status;
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    struct cz_error err = {0};
    bool differs = false;
    enum cz_status status;
    if (!cz_command_parse(&CZ_COMMAND_R1CS, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0, NULL,
                          &exit_status)) {
        return exit_status;
    }
    if (args.all) {
        if (args.circuit || args.sector || args.trace) {
            return cz_command_usage_error(&CZ_COMMAND_R1CS, "--all goes without --circuit, --sector and --trace");
        }
        status = all(&args, &common, &err);
    } else {
        if (!args.circuit || !args.sector)
            return cz_command_usage_error(&CZ_COMMAND_R1CS, "wants --circuit and --sector, or --all");
        if (!cz_command_circuit(&CZ_COMMAND_R1CS, args.circuit, args.sector, &kind, &sector, &exit_status))
            return exit_status;
        status = r1cs(&args, &common, kind, sector, &differs, &err);
    }
    if (status != CZ_OK) return cz_command_fail(&CZ_COMMAND_R1CS, status, &err);
    return differs ? CZ_EXIT_FAILED : CZ_EXIT_DONE;
}

const struct cz_command CZ_COMMAND_R1CS = {
    .name = "r1cs",
    .usage = "r1cs --circuit KIND --sector SIZE | --all  [--trace FILE] [--stats] [--explain]",
    .about =
        "Builds the constraint system of a circuit and prints its counts and digest (without Groth16's input rows).",
    .run = run,
};
