#include "engine/intake.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <openssl/evp.h>

/* ---- fields ---- */

static enum cz_status check_porep(const struct cz_intake *in, struct cz_error *err) {
    if (in->vanilla_proof.len == 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proof is empty");
    if (in->num_vanilla_proofs > 0) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proofs is for PoSt and SnapDeals, not for PoRep");
    }
    if (in->registered_proof >= CZ_SEAL_COUNT) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered_proof %" PRIu64 " is not known", in->registered_proof);
    }
    return CZ_OK;
}

static enum cz_status check_32(struct cz_bytes b, const char *name, struct cz_error *err) {
    if (b.len == 32) return CZ_OK;
    return cz_error_set(err, CZ_ERR_LENGTH, "%s has %zu bytes, not 32", name, b.len);
}

/* vanilla_proofs, or vanilla_proof alone with a single one. */
static enum cz_status check_list(const struct cz_intake *in, size_t most, struct cz_error *err) {
    if (in->vanilla_proof.len > 0 && in->num_vanilla_proofs > 0) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proof and vanilla_proofs are both there");
    }
    if (in->vanilla_proof.len == 0 && in->num_vanilla_proofs == 0) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proofs is empty");
    }
    if (in->num_vanilla_proofs > most) {
        return cz_error_set(err, CZ_ERR_LIMIT, "vanilla_proofs has %zu entries, at most %zu", in->num_vanilla_proofs,
                            most);
    }
    return CZ_OK;
}

/* The registered proof of a size; false when there is none. 0 is not given, unless it is the one. */
static bool find_by_size(uint64_t *proof, uint64_t size, uint64_t first, uint64_t count,
                         const struct cz_sector_info *(*sector_of)(uint64_t proof)) {
    for (*proof = first; *proof < first + count; ++*proof) {
        if (sector_of(*proof)->size == size) return true;
    }
    return false;
}

static const struct cz_sector_info *post_sector(uint64_t proof) {
    return cz_registered_post_sector((enum cz_registered_post)proof);
}
static const struct cz_sector_info *update_sector(uint64_t proof) {
    return cz_registered_update_sector((enum cz_registered_update)proof);
}

static enum cz_status wrong_size(const struct cz_intake *in, const char *name, struct cz_error *err) {
    return cz_error_set(err, CZ_ERR_MISMATCH,
                        "sector_size is %" PRIu64 ", and registered_proof %" PRIu64 " (%s) is of another",
                        in->sector_size, in->registered_proof, name);
}

/* Which registered PoSt proof is meant: by number, or winning by its size alone. */
static enum cz_status registered_post(enum cz_registered_post *out, const struct cz_intake *in, struct cz_error *err) {
    bool winning = in->proof_kind == CZ_PROOF_WINNING + 1;
    uint64_t proof = in->registered_proof;
    if (proof >= CZ_REGISTERED_POST_COUNT) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered_proof %" PRIu64 " is no PoSt proof", proof);
    }
    if (proof == 0 && !winning) {
        return cz_error_set(err, CZ_ERR_ARGUMENT,
                            "registered_proof is not set: it says which version of window PoSt is wanted");
    }
    if (proof == 0 && in->sector_size &&
        !find_by_size(&proof, in->sector_size, 0, CZ_REGISTERED_POST_COUNT / 3, post_sector)) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "sector_size %" PRIu64 " has no winning PoSt", in->sector_size);
    }
    *out = (enum cz_registered_post)proof;
    if (cz_registered_post_is_winning(*out) != winning) {
        return cz_error_set(err, CZ_ERR_MISMATCH, "registered_proof is %" PRIu64 " (%s), and proof_kind is %s", proof,
                            cz_registered_post_name(*out),
                            cz_proof_kind_name((enum cz_proof_kind)(in->proof_kind - 1)));
    }
    if (in->sector_size && post_sector(proof)->size != in->sector_size) {
        return wrong_size(in, cz_registered_post_name(*out), err);
    }
    return CZ_OK;
}

static enum cz_status check_post(const struct cz_intake *in, struct cz_error *err) {
    enum cz_registered_post proof;
    enum cz_status st = registered_post(&proof, in, err);
    if (st == CZ_OK) st = check_32(in->randomness, "randomness", err);
    if (st != CZ_OK) return st;
    bool winning = cz_registered_post_is_winning(proof);
    if (winning && in->partition_index) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition_index is %" PRIu32 ", and winning PoSt has one partition",
                            in->partition_index);
    }
    return check_list(in, winning ? 1 : cz_post_sectors(CZ_CIRCUIT_WINDOW, cz_registered_post_sector(proof)), err);
}

static enum cz_status registered_update(enum cz_registered_update *out, const struct cz_intake *in,
                                        struct cz_error *err) {
    uint64_t proof = in->registered_proof;
    if (proof >= CZ_REGISTERED_UPDATE_COUNT) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered_proof %" PRIu64 " is no update proof", proof);
    }
    if (proof == 0 && in->sector_size &&
        !find_by_size(&proof, in->sector_size, 0, CZ_REGISTERED_UPDATE_COUNT, update_sector)) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "sector_size %" PRIu64 " has no update proof", in->sector_size);
    }
    *out = (enum cz_registered_update)proof;
    if (in->sector_size && update_sector(proof)->size != in->sector_size) {
        return wrong_size(in, cz_registered_update_name(*out), err);
    }
    return CZ_OK;
}

static enum cz_status check_snap(const struct cz_intake *in, struct cz_error *err) {
    enum cz_registered_update proof;
    enum cz_status st = registered_update(&proof, in, err);
    if (st == CZ_OK) st = check_32(in->comm_r_old, "comm_r_old", err);
    if (st == CZ_OK) st = check_32(in->comm_r_new, "comm_r_new", err);
    if (st == CZ_OK) st = check_32(in->comm_d_new, "comm_d_new", err);
    if (st != CZ_OK) return st;
    struct cz_update_shape shape;
    cz_update_shape_init(&shape, CZ_CIRCUIT_UPDATE, cz_registered_update_sector(proof));
    st = check_list(in, shape.partitions, err);
    if (st != CZ_OK) return st;
    size_t n = in->vanilla_proof.len ? 1 : in->num_vanilla_proofs;
    if (n != shape.partitions) {
        return cz_error_set(err, CZ_ERR_LENGTH,
                            "vanilla_proofs has %zu entries, and the sector has %" PRIu32 " partitions", n,
                            shape.partitions);
    }
    return CZ_OK;
}

static enum cz_status (*const CHECK[CZ_PROOF_KINDS])(const struct cz_intake *in, struct cz_error *err) = {
    [CZ_PROOF_POREP] = check_porep,
    [CZ_PROOF_SNAP] = check_snap,
    [CZ_PROOF_WINDOW] = check_post,
    [CZ_PROOF_WINNING] = check_post,
};

enum cz_status cz_intake_check(const struct cz_intake *in, struct cz_error *err) {
    if (in->request_id && strlen(in->request_id) > CZ_REQUEST_ID_MAX) {
        return cz_error_set(err, CZ_ERR_LIMIT, "request_id is longer than %d bytes", CZ_REQUEST_ID_MAX);
    }
    if (in->proof_kind == 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "proof_kind is not set");
    if (in->proof_kind < 0 || in->proof_kind > CZ_PROOF_KINDS) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "proof_kind %d is not known", in->proof_kind);
    }
    if (in->priority < 0 || in->priority > CZ_PRIORITY_CRITICAL) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "priority %d is not known", in->priority);
    }
    if (in->sector_size && !cz_sector_by_size(in->sector_size)) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "sector_size %" PRIu64 " is not a sector size", in->sector_size);
    }
    return CHECK[in->proof_kind - 1](in, err);
}

static bool put_u64(EVP_MD_CTX *md, uint64_t v) {
    uint8_t b[8];
    cz_store_le64(b, v);
    return EVP_DigestUpdate(md, b, sizeof b) == 1;
}

static bool put_bytes(EVP_MD_CTX *md, struct cz_bytes b) {
    return put_u64(md, b.len) && (b.len == 0 || EVP_DigestUpdate(md, b.data, b.len) == 1);
}

enum cz_status cz_intake_digest(uint8_t out[32], const struct cz_intake *in) {
    EVP_MD_CTX *md = EVP_MD_CTX_new();
    bool ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) == 1;
    ok = ok && put_u64(md, (uint64_t)in->proof_kind) && put_u64(md, in->sector_size) &&
         put_u64(md, in->registered_proof) && put_u64(md, in->sector_number) && put_u64(md, in->miner_id) &&
         put_u64(md, in->partition_index) && put_bytes(md, in->randomness) && put_bytes(md, in->comm_r_old) &&
         put_bytes(md, in->comm_r_new) && put_bytes(md, in->comm_d_new) && put_bytes(md, in->vanilla_proof) &&
         put_u64(md, in->num_vanilla_proofs);
    for (size_t i = 0; ok && i < in->num_vanilla_proofs; i++) ok = put_bytes(md, in->vanilla_proofs[i]);
    ok = ok && EVP_DigestFinal_ex(md, out, NULL) == 1;
    EVP_MD_CTX_free(md);
    return ok ? CZ_OK : CZ_ERR_MEMORY;
}

/* ---- inputs ---- */

/* The C1 output against what the request says of it. */
static enum cz_status check_c1(const struct cz_c1 *c1, const struct cz_intake *in, struct cz_error *err) {
    if (in->sector_size && in->sector_size != c1->sector_size) {
        return cz_error_set(err, CZ_ERR_MISMATCH,
                            "sector_size is %" PRIu64 ", and the C1 output in vanilla_proof is of a sector of %" PRIu64,
                            in->sector_size, c1->sector_size);
    }
    if (in->registered_proof && in->registered_proof != (uint64_t)c1->proof) {
        return cz_error_set(err, CZ_ERR_MISMATCH,
                            "registered_proof is %" PRIu64 " (%s), and the C1 output in vanilla_proof is of %d (%s)",
                            in->registered_proof,
                            cz_registered_seal_name((enum cz_registered_seal)in->registered_proof), (int)c1->proof,
                            cz_registered_seal_name(c1->proof));
    }
    if (cz_registered_seal_version(c1->proof) == CZ_SEAL_NON_INTERACTIVE) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED,
                            "%s: non-interactive PoRep needs the aggregation of its proofs, which comes later",
                            cz_registered_seal_name(c1->proof));
    }
    return CZ_OK;
}

static enum cz_status parse_porep(struct cz_input **out, const struct cz_intake *in, struct cz_error *err) {
    struct cz_c1 *c1 = NULL;
    struct cz_error inner = {0};
    enum cz_status st = cz_c1_parse(&c1, in->vanilla_proof.data, in->vanilla_proof.len, &inner);
    if (st != CZ_OK) {
        bool of_input = cz_status_class(st) == CZ_CLASS_BAD_INPUT;
        return cz_error_set(err, of_input ? CZ_ERR_FORMAT : st, "vanilla_proof: %.380s", inner.detail);
    }
    st = check_c1(c1, in, err);
    if (st != CZ_OK) {
        cz_c1_destroy(c1);
        return st;
    }
    return cz_input_of_c1(out, c1);
}

/* The vanilla proofs in one buffer of ours, which outlives the message, and a list of n >= 1 of them. */
struct blobs {
    uint8_t *data;
    struct cz_bytes *list;
    size_t n;
};

static void blobs_done(struct blobs *b) {
    cz_free(b->data);
    cz_free(b->list);
}

static enum cz_status copy_blobs(struct blobs *out, const struct cz_intake *in, struct cz_error *err) {
    const struct cz_bytes *from = in->vanilla_proof.len ? &in->vanilla_proof : in->vanilla_proofs;
    size_t n = in->vanilla_proof.len ? 1 : in->num_vanilla_proofs, total = 0;
    for (size_t i = 0; i < n; i++) {
        if (__builtin_add_overflow(total, from[i].len, &total))
            return cz_error_set(err, CZ_ERR_LIMIT, "vanilla_proofs");
    }
    struct blobs b = {.data = cz_malloc_array(total + 1, 1), .list = cz_calloc(n, sizeof *b.list), .n = n};
    if (!b.data || !b.list) {
        blobs_done(&b);
        return cz_error_set(err, CZ_ERR_MEMORY, "vanilla_proofs: %zu bytes", total);
    }
    for (size_t i = 0, at = 0; i < n; at += from[i++].len) {
        b.list[i] = (struct cz_bytes){.data = b.data + at, .len = from[i].len};
        if (from[i].len) memcpy(b.data + at, from[i].data, from[i].len);
    }
    *out = b;
    return CZ_OK;
}

static enum cz_status parse_post(struct cz_input **out, const struct cz_intake *in, struct cz_error *err) {
    struct cz_post_request q = {0};
    enum cz_status st = registered_post(&q.proof, in, err);
    if (st != CZ_OK) return st;
    struct blobs b;
    st = copy_blobs(&b, in, err);
    if (st != CZ_OK) return st;
    uint8_t prover_id[32];
    cz_registered_prover_id(prover_id, in->miner_id);
    q.randomness = in->randomness.data;
    q.prover_id = prover_id;
    q.vanilla = b.list;
    q.num_vanilla = b.n;
    q.has_partition = true;
    q.partition_index = in->partition_index;
    struct cz_post *post;
    st = cz_post_parse(&post, &q, err);
    if (st != CZ_OK) {
        blobs_done(&b);
        return st;
    }
    cz_free(b.list);
    return cz_input_of_post(out, post, b.data);
}

static enum cz_status parse_snap(struct cz_input **out, const struct cz_intake *in, struct cz_error *err) {
    struct cz_update_request q = {0};
    enum cz_status st = registered_update(&q.proof, in, err);
    if (st != CZ_OK) return st;
    struct blobs b;
    st = copy_blobs(&b, in, err);
    if (st != CZ_OK) return st;
    q.comm_r_old = in->comm_r_old.data;
    q.comm_r_new = in->comm_r_new.data;
    q.comm_d_new = in->comm_d_new.data;
    q.vanilla = b.list;
    q.num_vanilla = b.n;
    struct cz_update *update;
    st = cz_update_parse(&update, &q, err);
    if (st != CZ_OK) {
        blobs_done(&b);
        return st;
    }
    cz_free(b.list);
    return cz_input_of_update(out, update, b.data);
}

static enum cz_status (*const PARSE[CZ_PROOF_KINDS])(struct cz_input **out, const struct cz_intake *in,
                                                     struct cz_error *err) = {
    [CZ_PROOF_POREP] = parse_porep,
    [CZ_PROOF_SNAP] = parse_snap,
    [CZ_PROOF_WINDOW] = parse_post,
    [CZ_PROOF_WINNING] = parse_post,
};

enum cz_status cz_intake_parse(struct cz_engine_request *out, const struct cz_intake *in, struct cz_error *err) {
    memset(out, 0, sizeof *out);
    enum cz_status st = cz_intake_check(in, err);
    if (st != CZ_OK) return st;
    st = cz_intake_digest(out->input_digest, in);
    if (st != CZ_OK) return cz_error_set(err, st, "digest of the request");
    st = PARSE[in->proof_kind - 1](&out->input, in, err);
    if (st == CZ_ERR_MEMORY) return cz_error_set(err, st, "no memory for the input");
    if (st != CZ_OK) return st;
    out->priority = (enum cz_priority)in->priority;
    out->request_id = in->request_id;
    return CZ_OK;
}
