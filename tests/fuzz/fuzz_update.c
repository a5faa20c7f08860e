/*
 * PartitionProofs of SnapDeals. Byte 0: registered proof (low 3 bits), how many blobs (2 bits); byte 1: the first one's
 * partition. The rest is cut into equal blobs. What parses goes through the check, the public inputs and, for the
 * smallest sector, the witness.
 */

#include "filecoin/circuits/update.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of the 2 KiB vector, so that the one in the corpus passes the check. */
static const char COMM_R_OLD[] = "bf21721f02b76ca815d98b1c53c7e609d754bc3a519a6c6d6ca5d17be4547521";
static const char COMM_R_NEW[] = "bb3340034976ca56e4b85bfa893346c565f033d1a02cee05ec12cf1b12863a04";
static const char COMM_D_NEW[] = "fbca6ea1142deb79e285efc6ddd6d60085955553169c885311d8d9b889acc11b";

static void assign(const struct cz_update *update, bool passed) {
    static struct cz_r1cs *r1cs; /* for the whole process */
    struct cz_witness w;
    struct cz_error err = {0};
    if (!r1cs && cz_update_circuit_build(&r1cs, CZ_CIRCUIT_UPDATE, update->sector_info, &err) != CZ_OK) abort();
    if (cz_witness_init(&w, r1cs) != CZ_OK) abort();
    if (cz_update_circuit_assign(&w, r1cs, update, 0, &err) != CZ_OK) abort();
    /* What the check passes, the circuit has to accept. */
    if (passed && cz_witness_first_unsatisfied(&w, r1cs, NULL) != r1cs->num_constraints) abort();
    cz_witness_done(&w);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t comm[3][32];
    struct cz_bytes blob[4];
    struct cz_error err = {0};
    struct cz_update *update = NULL;
    if (size < 2) return 0;
    if (cz_hex_decode(comm[0], 32, COMM_R_OLD) != CZ_OK || cz_hex_decode(comm[1], 32, COMM_R_NEW) != CZ_OK ||
        cz_hex_decode(comm[2], 32, COMM_D_NEW) != CZ_OK)
        abort();
    struct cz_update_request q = {
        .proof = (enum cz_registered_update)(data[0] & 7),
        .comm_r_old = comm[0],
        .comm_r_new = comm[1],
        .comm_d_new = comm[2],
        .vanilla = blob,
        .num_vanilla = 1 + (data[0] >> 3 & 3),
        .first_partition = data[1],
    };
    size_t each = (size - 2) / q.num_vanilla;
    for (size_t i = 0; i < q.num_vanilla; i++) blob[i] = (struct cz_bytes){data + 2 + i * each, each};
    if (cz_update_parse(&update, &q, &err) != CZ_OK) {
        if (err.status == CZ_OK || !err.detail[0]) abort(); /* an error without a reason */
        return 0;
    }
    struct cz_fr input[CZ_UPDATE_NUM_PUBLIC_INPUTS];
    if (cz_update_public_inputs(input, CZ_UPDATE_NUM_PUBLIC_INPUTS, update, update->num_partitions - 1, &err) != CZ_OK)
        abort();
    enum cz_status status = cz_update_check(update, &err);
    if (status != CZ_OK && status != CZ_ERR_MISMATCH) abort();
    if (update->sector_info->base_levels == 2) assign(update, status == CZ_OK);
    cz_update_destroy(update);
    return 0;
}
