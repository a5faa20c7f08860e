/*
 * PoSt vanilla proofs. Byte 0: registered proof (low 4 bits), how many blobs (2 bits); byte 1: partition index. The
 * rest is cut into equal blobs. What parses goes through the check, the public inputs and, for tiny sectors, the
 * witness.
 */

#include "filecoin/circuits/post.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const uint8_t PROVER_ID[32] = {2};
    uint8_t randomness[32]; /* of the 2 KiB vectors, so that those in the corpus pass the check */
    struct cz_bytes blob[4];
    struct cz_error err = {0};
    struct cz_post *post = NULL;
    if (size < 2) return 0;
    memset(randomness, 0x65, sizeof randomness);
    randomness[31] = 0x1f;
    struct cz_post_request q = {
        .proof = (enum cz_registered_post)(data[0] & 15),
        .randomness = randomness,
        .prover_id = PROVER_ID,
        .vanilla = blob,
        .num_vanilla = 1 + (data[0] >> 4 & 3),
        .has_partition = data[0] >> 6 & 1,
        .partition_index = data[1],
    };
    size_t each = (size - 2) / q.num_vanilla;
    for (size_t i = 0; i < q.num_vanilla; i++) blob[i] = (struct cz_bytes){data + 2 + i * each, each};
    if (cz_post_parse(&post, &q, &err) != CZ_OK) {
        if (err.status == CZ_OK || !err.detail[0]) abort(); /* an error without a reason */
        return 0;
    }
    uint32_t last = post->num_partitions - 1;
    size_t n = cz_post_num_public_inputs(post);
    struct cz_fr *input = cz_malloc_array(n, sizeof *input);
    if (!input || cz_post_public_inputs(input, n, post, last, &err) != CZ_OK) abort();
    cz_free(input);
    enum cz_status status = cz_post_check(post, &err);
    if (post->sector_info->base_levels == 2) {
        uint8_t digest[32];
        bool satisfied = false;
        if (cz_post_circuit_digest(digest, &satisfied, post, last, &err) != CZ_OK) abort();
        if (status == CZ_OK && !satisfied) abort(); /* what the check passes, the circuit has to accept */
    }
    cz_post_destroy(post);
    return 0;
}
