#include "engine/intake.h"

#include "base/bytes.h"

#include <inttypes.h>
#include <openssl/evp.h>

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
    if (in->proof_kind != CZ_PROOF_POREP + 1) {
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "proof_kind %s is not proved yet, only %s",
                            cz_proof_kind_name((enum cz_proof_kind)(in->proof_kind - 1)),
                            cz_proof_kind_name(CZ_PROOF_POREP));
    }
    if (in->vanilla_proof.len == 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proof is empty");
    if (in->num_vanilla_proofs > 0) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "vanilla_proofs is for PoSt and SnapDeals, not for PoRep");
    }
    if (in->registered_proof >= CZ_SEAL_COUNT) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered_proof %" PRIu64 " is not known", in->registered_proof);
    }
    if (in->sector_size && !cz_sector_by_size(in->sector_size)) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "sector_size %" PRIu64 " is not a sector size", in->sector_size);
    }
    return CZ_OK;
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

enum cz_status cz_intake_parse(struct cz_engine_request *out, const struct cz_intake *in, struct cz_error *err) {
    memset(out, 0, sizeof *out);
    enum cz_status st = cz_intake_check(in, err);
    if (st != CZ_OK) return st;
    st = cz_intake_digest(out->input_digest, in);
    if (st != CZ_OK) return cz_error_set(err, st, "digest of the request");
    struct cz_c1 *c1 = NULL;
    struct cz_error inner = {0};
    st = cz_c1_parse(&c1, in->vanilla_proof.data, in->vanilla_proof.len, &inner);
    if (st != CZ_OK) {
        bool of_input = cz_status_class(st) == CZ_CLASS_BAD_INPUT;
        return cz_error_set(err, of_input ? CZ_ERR_FORMAT : st, "vanilla_proof: %.380s", inner.detail);
    }
    st = check_c1(c1, in, err);
    if (st != CZ_OK) {
        cz_c1_destroy(c1);
        return st;
    }
    out->kind = CZ_PROOF_POREP;
    out->priority = (enum cz_priority)in->priority;
    out->request_id = in->request_id;
    out->c1 = c1;
    return CZ_OK;
}
