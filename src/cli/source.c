#include "cli/source.h"

#include "base/bytes.h"
#include "cli/vanilla.h"

#include <errno.h>

void cz_source_init(struct cz_source *s) {
    *s = (struct cz_source){0};
}

void cz_source_options(struct cz_source *s, struct cz_option *option) {
    const struct cz_option all[CZ_SOURCE_OPTIONS] = {
        {"c1", CZ_OPTIONS_TEXT, &s->c1, "FILE", "PoRep: C1 output (JSON, gzip, or the client's envelope)", false},
        {"type", CZ_OPTIONS_TEXT, &s->type, "KIND", "winning, window or update, with --vanilla", false},
        {"vanilla", CZ_OPTIONS_LIST, &s->vanilla, "FILE…", "vanilla proofs: raw, or a JSON array of base64", false},
        {"registered-proof", CZ_OPTIONS_TEXT, &s->registered_proof, "PROOF", "the chain's number, or the name", false},
        {"randomness", CZ_OPTIONS_TEXT, &s->randomness, "HEX", "PoSt: 32 bytes", false},
        {"miner", CZ_OPTIONS_U32, &s->miner, "N", "PoSt: the miner's id (default 0)", false},
        {"prover-id", CZ_OPTIONS_TEXT, &s->prover_id, "HEX", "PoSt: 32 bytes, instead of --miner", false},
        {"partition", CZ_OPTIONS_MAYBE_U32, &s->partition, "K", "only this partition (default: all)", false},
        {"comm-r-old", CZ_OPTIONS_TEXT, &s->comm_r_old, "HEX", "update: 32 bytes", false},
        {"comm-r-new", CZ_OPTIONS_TEXT, &s->comm_r_new, "HEX", "update: 32 bytes", false},
        {"comm-d-new", CZ_OPTIONS_TEXT, &s->comm_d_new, "HEX", "update: 32 bytes", false},
    };
    memcpy(option, all, sizeof all);
}

void cz_source_done(struct cz_source *s) {
    free(s->vanilla.item);
    s->vanilla = (struct cz_options_list){0};
}

static bool missing(const struct cz_command *command, const char *type, const char *option, const char *value) {
    if (value) return false;
    (void)cz_command_usage_error(command, "--type %s wants --%s", type, option);
    return true;
}

static bool is_complete(const struct cz_source *s, const struct cz_command *command) {
    if (s->c1 && (s->type || s->vanilla.n)) {
        (void)cz_command_usage_error(command, "--c1 goes without --type and --vanilla");
        return false;
    }
    if (s->c1) return true;
    if (!s->type) {
        (void)cz_command_usage_error(command, "wants --c1 FILE, or --type KIND with --vanilla FILE…");
        return false;
    }
    bool post = strcmp(s->type, "winning") == 0 || strcmp(s->type, "window") == 0;
    if (!post && strcmp(s->type, "update") != 0) {
        (void)cz_command_usage_error(command, "--type is winning, window or update, not \"%.40s\"", s->type);
        return false;
    }
    if (missing(command, s->type, "vanilla", s->vanilla.n ? "" : NULL)) return false;
    if (missing(command, s->type, "registered-proof", s->registered_proof)) return false;
    if (post) return !missing(command, s->type, "randomness", s->randomness);
    return !missing(command, s->type, "comm-r-old", s->comm_r_old) &&
           !missing(command, s->type, "comm-r-new", s->comm_r_new) &&
           !missing(command, s->type, "comm-d-new", s->comm_d_new);
}

bool cz_source_parse(struct cz_source *s, const struct cz_command *command, int argc, char **argv,
                     const struct cz_option *option, size_t n, struct cz_common *common, int *exit_status) {
    size_t words = 0;
    const char **word = calloc((size_t)argc + 1, sizeof *word);
    bool good =
        word && cz_command_parse(command, argc, argv, option, n, common, word, (size_t)argc, &words, exit_status);
    for (size_t i = 0; good && i < words; i++) {
        if (s->vanilla.n == 0) (void)cz_command_usage_error(command, "unexpected word \"%.80s\"", word[i]);
        good = s->vanilla.n > 0 && cz_options_list_add(&s->vanilla, word[i]);
        *exit_status = CZ_EXIT_USAGE;
    }
    if (good && !is_complete(s, command)) {
        good = false;
        *exit_status = CZ_EXIT_USAGE;
    }
    free(word);
    if (!good) cz_source_done(s);
    return good;
}

static enum cz_status hex32(uint8_t out[32], const char *text, const char *option, struct cz_error *err) {
    enum cz_status status = cz_hex_decode(out, 32, text);
    if (status != CZ_OK) return cz_error_set(err, status, "--%s wants 64 hex digits", option);
    return CZ_OK;
}

/* A number below `count`; false when the text is none. */
static bool proof_number(unsigned *out, const char *text, unsigned count) {
    char *end;
    errno = 0;
    unsigned long v = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &end, 10) : count;
    if (v >= count || errno || *end) return false;
    *out = (unsigned)v;
    return true;
}

/* All blobs in one buffer, which the input then owns. */
static enum cz_status gather(struct cz_vanilla *v, void **buffer, struct cz_error *err) {
    size_t total = 0, at = 0;
    for (size_t i = 0; i < v->n; i++) total += v->blob[i].len;
    uint8_t *all = cz_malloc_array(total, 1);
    if (!all) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for %zu bytes of vanilla proofs", total);
    for (size_t i = 0; i < v->n; i++) {
        memcpy(all + at, v->blob[i].data, v->blob[i].len);
        v->blob[i].data = all + at;
        at += v->blob[i].len;
    }
    *buffer = all;
    return CZ_OK;
}

static enum cz_status load_post(struct cz_input **out, const struct cz_source *s, struct cz_vanilla *v,
                                struct cz_error *err) {
    unsigned number;
    enum cz_registered_post proof;
    if (proof_number(&number, s->registered_proof, CZ_REGISTERED_POST_COUNT)) {
        proof = (enum cz_registered_post)number;
    } else if (cz_registered_post_parse(&proof, s->registered_proof, strlen(s->registered_proof)) != CZ_OK) {
        return cz_error_set(err, CZ_ERR_FORMAT, "--registered-proof: no PoSt proof \"%.60s\"", s->registered_proof);
    }
    if (cz_registered_post_is_winning(proof) != (strcmp(s->type, "winning") == 0)) {
        return cz_error_set(err, CZ_ERR_MISMATCH, "--registered-proof %s is not for --type %s",
                            cz_registered_post_name(proof), s->type);
    }
    uint8_t randomness[32], prover_id[32] = {0};
    enum cz_status status = hex32(randomness, s->randomness, "randomness", err);
    if (status == CZ_OK && s->prover_id) status = hex32(prover_id, s->prover_id, "prover-id", err);
    if (status != CZ_OK) return status;
    if (!s->prover_id) cz_registered_prover_id(prover_id, s->miner);
    void *buffer = NULL;
    struct cz_post *post = NULL;
    status = gather(v, &buffer, err);
    if (status != CZ_OK) return status;
    const struct cz_post_request request = {
        .proof = proof, .randomness = randomness, .prover_id = prover_id, .vanilla = v->blob, .num_vanilla = v->n};
    status = cz_post_parse(&post, &request, err);
    if (status != CZ_OK) {
        cz_free(buffer);
        return status;
    }
    return cz_input_of_post(out, post, buffer);
}

/* One file of an update's many, which --partition names. */
static bool single_partition(const struct cz_source *s) {
    return s->type && strcmp(s->type, "update") == 0 && s->partition.given && s->vanilla.n == 1;
}

static enum cz_status load_update(struct cz_input **out, const struct cz_source *s, struct cz_vanilla *v,
                                  struct cz_error *err) {
    unsigned number;
    enum cz_registered_update proof;
    if (proof_number(&number, s->registered_proof, CZ_REGISTERED_UPDATE_COUNT)) {
        proof = (enum cz_registered_update)number;
    } else if (cz_registered_update_parse(&proof, s->registered_proof, strlen(s->registered_proof)) != CZ_OK) {
        return cz_error_set(err, CZ_ERR_FORMAT, "--registered-proof: no update proof \"%.60s\"", s->registered_proof);
    }
    uint8_t comm[3][32];
    enum cz_status status = hex32(comm[0], s->comm_r_old, "comm-r-old", err);
    if (status == CZ_OK) status = hex32(comm[1], s->comm_r_new, "comm-r-new", err);
    if (status == CZ_OK) status = hex32(comm[2], s->comm_d_new, "comm-d-new", err);
    void *buffer = NULL;
    struct cz_update *update = NULL;
    if (status == CZ_OK) status = gather(v, &buffer, err);
    if (status != CZ_OK) return status;
    const struct cz_update_request request = {.proof = proof,
                                              .comm_r_old = comm[0],
                                              .comm_r_new = comm[1],
                                              .comm_d_new = comm[2],
                                              .vanilla = v->blob,
                                              .num_vanilla = v->n,
                                              .first_partition = single_partition(s) ? s->partition.value : 0};
    status = cz_update_parse(&update, &request, err);
    if (status != CZ_OK) {
        cz_free(buffer);
        return status;
    }
    return cz_input_of_update(out, update, buffer);
}

static enum cz_status load_c1(struct cz_input **out, const char *path, struct cz_error *err) {
    struct cz_c1 *c1 = NULL;
    enum cz_status status = cz_c1_parse_file(&c1, path, err);
    return status == CZ_OK ? cz_input_of_c1(out, c1) : status;
}

enum cz_status cz_source_load(struct cz_input **out, const struct cz_source *s, struct cz_error *err) {
    if (s->c1) return load_c1(out, s->c1, err);
    struct cz_vanilla v = {0};
    enum cz_status status = cz_vanilla_read(&v, s->vanilla.item, s->vanilla.n, err);
    if (status == CZ_OK)
        status = strcmp(s->type, "update") == 0 ? load_update(out, s, &v, err) : load_post(out, s, &v, err);
    cz_vanilla_done(&v);
    return status;
}

enum cz_status cz_source_partitions(uint32_t *first, uint32_t *end, const struct cz_source *s,
                                    const struct cz_input *input, struct cz_error *err) {
    *first = *end = 0;
    if (!s->partition.given || (single_partition(s) && input->num_partitions == 1)) {
        *end = input->num_partitions;
    } else if (s->partition.value < input->num_partitions) {
        *first = s->partition.value;
        *end = s->partition.value + 1;
    } else {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "--partition %u: the input has partitions 0 to %u",
                            s->partition.value, input->num_partitions - 1);
    }
    return CZ_OK;
}
