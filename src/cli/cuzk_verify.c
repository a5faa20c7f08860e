/* cuzk verify: a proof against the public inputs that follow from a C1 output, or a .prf file. */

#include "cli/command.h"

#include "base/bytes.h"
#include "base/file.h"
#include "groth16/verify.h"

#define MAX_PRF_BYTES (1u << 30)
#define MAX_PROOF_BYTES (1u << 20)

struct verify_args {
    const char *c1, *vk, *proof, *prf;
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

static enum cz_status verify_c1(bool *valid, uint64_t *count, const struct verify_args *args, struct cz_error *err) {
    struct cz_c1 *c1 = NULL;
    struct cz_vk vk = {0};
    struct cz_proof *proof = NULL;
    struct cz_fr *input = NULL;
    enum cz_status status = cz_c1_parse_file(&c1, args->c1, err);
    if (status == CZ_OK) status = cz_vk_read_file(&vk, args->vk, err);
    if (status != CZ_OK) goto out;
    if (cz_registered_seal_version(c1->proof) == CZ_SEAL_NON_INTERACTIVE) {
        status = cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: %s proofs are aggregates, which come later", args->c1,
                              cz_registered_seal_name(c1->proof));
        goto out;
    }
    status = read_proofs(&proof, args->proof, c1->num_partitions, err);
    if (status != CZ_OK) goto out;
    size_t per = vk.num_ic - 1;
    input = cz_calloc((size_t)c1->num_partitions * per, sizeof *input);
    if (!input) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for the public inputs");
        goto out;
    }
    for (uint32_t k = 0; k < c1->num_partitions && status == CZ_OK; k++) {
        status = cz_c1_public_inputs(input + k * per, per, c1, k, err);
        if (status != CZ_OK) (void)cz_error_prefix(err, "%s does not fit %s", args->vk, args->c1);
    }
    if (status == CZ_OK) status = cz_verify_batch(valid, &vk, proof, c1->num_partitions, input, per);
    *count = c1->num_partitions;
out:
    cz_free(input);
    cz_free(proof);
    cz_vk_done(&vk);
    cz_c1_destroy(c1);
    return status;
}

static int run(int argc, char **argv) {
    struct verify_args args = {0};
    struct cz_common common = {0};
    const struct cz_option option[] = {
        {"c1", CZ_OPTIONS_TEXT, &args.c1, "FILE", "C1 output (JSON, gzip, or the client's envelope)", false},
        {"vk", CZ_OPTIONS_TEXT, &args.vk, "FILE", "verifying key", false},
        {"proof", CZ_OPTIONS_TEXT, &args.proof, "FILE", "proof, 192 bytes a partition", false},
        {"prf", CZ_OPTIONS_TEXT, &args.prf, "FILE", "a .prf file, which holds key, inputs and proofs", false},
    };
    int exit_status;
    if (!cz_command_parse(&CZ_COMMAND_VERIFY, argc, argv, option, sizeof option / sizeof *option, &common, NULL, 0,
                          NULL, &exit_status))
        return exit_status;
    bool from_c1 = args.c1 && args.vk && args.proof && !args.prf;
    bool from_prf = args.prf && !args.c1 && !args.vk && !args.proof;
    if (!from_c1 && !from_prf)
        return cz_command_usage_error(&CZ_COMMAND_VERIFY, "give either --c1, --vk and --proof, or --prf alone");
    struct cz_error err = {0};
    bool valid = false;
    uint64_t count = 0;
    enum cz_status status =
        from_prf ? verify_prf(&valid, &count, args.prf, &err) : verify_c1(&valid, &count, &args, &err);
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
    .usage = "verify --c1 FILE --vk FILE --proof FILE | --prf FILE",
    .about = "Checks proofs as a verifier does: the public inputs come from the replica id, the commitments, the seed "
             "and the graph.",
    .run = run,
};
