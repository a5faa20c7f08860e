/* SubmitProofRequest from the wire: unpacked, checked and parsed as the daemon does, or refused with one line of
 * reason. */

#include "engine/intake.h"
#include "filecoin/input.h"
#include "rpc/messages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void enter(const struct cz_intake *in) {
    struct cz_engine_request request = {0};
    struct cz_error err = {0};
    uint8_t digest[32];
    enum cz_status status = cz_intake_check(in, &err);
    if (status == CZ_OK && cz_intake_digest(digest, in) != CZ_OK) abort();
    if (status == CZ_OK) status = cz_intake_parse(&request, in, &err);
    if (status != CZ_OK) {
        if (err.status != status || !*err.detail || strchr(err.detail, '\n')) abort();
        return;
    }
    if (!request.input || request.input->num_partitions == 0) abort();
    cz_input_destroy(request.input);
}

#define BYTES(f)                                                                                                       \
    { m->f.data, m->f.len }

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, size, data);
    if (!m) return 0;
    struct cz_bytes *list = calloc(m->n_vanilla_proofs + 1, sizeof *list);
    if (!list) abort();
    for (size_t i = 0; i < m->n_vanilla_proofs; i++) list[i] = (struct cz_bytes)BYTES(vanilla_proofs[i]);
    const struct cz_intake in = {.request_id = m->request_id,
                                 .proof_kind = (int)m->proof_kind,
                                 .priority = (int)m->priority,
                                 .sector_size = m->sector_size,
                                 .registered_proof = m->registered_proof,
                                 .sector_number = m->sector_number,
                                 .miner_id = m->miner_id,
                                 .vanilla_proof = BYTES(vanilla_proof),
                                 .vanilla_proofs = list,
                                 .num_vanilla_proofs = m->n_vanilla_proofs,
                                 .randomness = BYTES(randomness),
                                 .comm_r_old = BYTES(comm_r_old),
                                 .comm_r_new = BYTES(comm_r_new),
                                 .comm_d_new = BYTES(comm_d_new),
                                 .partition_index = m->partition_index};
    enter(&in);
    free(list);
    cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
    return 0;
}
