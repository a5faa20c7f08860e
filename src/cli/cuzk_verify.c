/* cuzk verify: a proof against the public inputs that follow from a C1 output, or a .prf file. */

#include "cli/source.h"

#include "base/bytes.h"
#include "base/file.h"
#include "groth16/verify.h"

#define MAX_PRF_BYTES (1u << 30)
#define MAX_PROOF_BYTES (1u << 20)

struct verify_args {
    struct cz_source source;
    const char *vk, *proof, *prf;
};

static enum cz_status verify_prf(bool *valid, uint64_t *count, const char *path, struct cz_error *err) {
    uint8_t *data;
    size_t len;
    enum cz_status status = cz_file_read(&data, &len, path, MAX_PRF_BYTES, err);
    if (status != CZ_OK) return status;
    status = cz_verify_prf(valid, count, data, len, err);
    if (status != CZ_OK) (void)cz_error_prefix(err, "%s", path);
    cz_free(data);
    return status;
}

static enum cz_status read_proofs(struct cz_proof **out, const char *path, uint32_t want, struct cz_error *err) {
    uint8_t *data;
    size_t len;
    struct cz_proof *proof = NULL;
    enum cz_status status = cz_file_read(&data, &len, path, MAX_PROOF_BYTES, err);
    if (status != CZ_OK) return status;
    if (len != (size_t)want * CZ_PROOF_BYTES) {
        status = cz_error_set(err, CZ_ERR_LENGTH, "%s: %zu bytes, a proof of %u partitions has %u", path, len, want,
                              want * CZ_PROOF_BYTES);
        goto out;
    }
    proof = cz_calloc(want, sizeof *proof);
    if (!proof) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for %u proofs", want);
        goto out;
    }
    for (uint32_t k = 0; k < want && status == CZ_OK; k++) {
        status = cz_proof_read(&proof[k], data + (size_t)k * CZ_PROOF_BYTES, err);
        if (status != CZ_OK) (void)cz_error_prefix(err, "%s: partition %u", path, k);
    }
    if (status == CZ_OK) *out = proof;
out:
    if (status != CZ_OK) cz_free(proof);
    cz_free(data);
    return status;
}

static enum cz_status verify_input(bool *valid, uint64_t *count, const struct verify_args *args, struct cz_error *err) {
    struct cz_input *source = NULL;
    struct cz_vk vk = {0};
    struct cz_proof *proof = NULL;
    struct cz_fr *input = NULL;
    uint32_t first = 0, end = 0;
    enum cz_status status = cz_source_load(&source, &args->source, err);
    if (status == CZ_OK) status = cz_vk_read_file(&vk, args->vk, err);
    if (status == CZ_OK) status = cz_source_partitions(&first, &end, &args->source, source, err);
    if (status != CZ_OK) goto out;
    if (source->c1 && cz_registered_seal_version(source->c1->proof) == CZ_SEAL_NON_INTERACTIVE) {
        status = cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s proofs are aggregates, which come later",
                              cz_registered_seal_name(source->c1->proof));
        goto out;
    }
    status = read_proofs(&proof, args->proof, end - first, err);
    if (status != CZ_OK) goto out;
    size_t per = vk.num_ic - 1;
    input = cz_calloc((size_t)(end - first) * per, sizeof *input);
    if (!input) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for the public inputs");
        goto out;
    }
    for (uint32_t k = first; k < end && status == CZ_OK; k++) {
        status = cz_input_public_inputs(input + (k - first) * per, per, source, k, err);
        if (status != CZ_OK) (void)cz_error_prefix(err, "%s does not fit the input", args->vk);
    }
    if (status == CZ_OK) status = cz_verify_batch(valid, &vk, proof, end - first, input, per);
    *count = end - first;
out:
    cz_free(input);
    cz_free(proof);
    cz_vk_done(&vk);
    cz_input_destroy(source);
    return status;
}

/* --prf alone, or an input with --vk and --proof. */
static bool parse(struct verify_args *args, int argc, char **argv, struct cz_common *common, int *exit_status) {
    struct cz_option option[CZ_SOURCE_OPTIONS + 3];
    cz_source_init(&args->source);
    cz_source_options(&args->source, option);
    option[CZ_SOURCE_OPTIONS] = (struct cz_option){"vk", CZ_OPTIONS_TEXT, &args->vk, "FILE", "verifying key", false};
    option[CZ_SOURCE_OPTIONS + 1] =
        (struct cz_option){"proof", CZ_OPTIONS_TEXT, &args->proof, "FILE", "proof, 192 bytes a partition", false};
    option[CZ_SOURCE_OPTIONS + 2] = (struct cz_option){
        "prf", CZ_OPTIONS_TEXT, &args->prf, "FILE", "a .prf file, which holds key, inputs and proofs", false};
    for (int i = 1; i < argc; i++) {
        if (strncmp(argv[i], "--prf", 5) != 0) continue;
        if (!cz_command_parse(&CZ_COMMAND_VERIFY, argc, argv, option, CZ_SOURCE_OPTIONS + 3, common, NULL, 0, NULL,
                              exit_status)) {
            return false;
        }
        if (args->prf && !args->vk && !args->proof && !args->source.c1 && !args->source.type) return true;
        *exit_status = cz_command_usage_error(&CZ_COMMAND_VERIFY, "--prf stands alone");
        return false;
    }
    if (!cz_source_parse(&args->source, &CZ_COMMAND_VERIFY, argc, argv, option, CZ_SOURCE_OPTIONS + 3, common,
                         exit_status)) {
        return false;
    }
    if (args->vk && args->proof) return true;
    *exit_status = cz_command_usage_error(&CZ_COMMAND_VERIFY, "wants --vk FILE and --proof FILE");
    return false;
}

static int run(int argc, char **argv) {
    struct verify_args args = {.vk = NULL};
    struct cz_common common = {0};
    int exit_status;
    if (!parse(&args, argc, argv, &common, &exit_status)) return exit_status;
    struct cz_error err = {0};
    struct cz_progress progress;
    bool valid = false;
    uint64_t count = 0;
    cz_progress_start(&progress, "verify");
    enum cz_status status =
        args.prf ? verify_prf(&valid, &count, args.prf, &err) : verify_input(&valid, &count, &args, &err);
    cz_progress_end(&progress);
    cz_source_done(&args.source);
    if (status != CZ_OK) return cz_command_fail(&CZ_COMMAND_VERIFY, status, &err);
    if (common.json)
        printf("{\"valid\":%s}\n", valid ? "true" : "false");
    else
        printf("%s (%llu %s)\n", valid ? "valid" : "INVALID", (unsigned long long)count,
               count == 1 ? "proof" : "proofs");
    return valid ? CZ_EXIT_DONE : CZ_EXIT_FAILED;
}

const struct cz_command CZ_COMMAND_VERIFY = {
    .name = "verify",
    .usage = "verify --c1 FILE | --type KIND --vanilla FILE… …  --vk FILE --proof FILE, or verify --prf FILE",
    .about = "Checks proofs as a verifier does: the public inputs come from the replica id, the commitments, the seed "
             "and the graph.",
    .run = run,
};
