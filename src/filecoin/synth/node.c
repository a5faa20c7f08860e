#include "filecoin/synth/node.h"

#include "base/bytes.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

void cz_synth_node_random(cz_node out, uint64_t seed, const char *what, uint64_t a, uint64_t b) {
    struct cz_sha256 sha;
    uint8_t number[24];
    cz_store_le64(number, seed);
    cz_store_le64(number + 8, a);
    cz_store_le64(number + 16, b);
    cz_sha256_init(&sha);
    cz_sha256_update(&sha, what, strlen(what) + 1);
    cz_sha256_update(&sha, number, sizeof number);
    cz_sha256_final(&sha, out);
    out[31] &= 0x3f;
}

void cz_synth_node_fr(struct cz_fr *out, const cz_node node) {
    if (cz_fr_from_le(out, node) != CZ_OK) cz_fr_from_u64(out, 0); /* never: the caller's own node */
}

void cz_synth_node_parent(cz_node out, const cz_node *child, uint32_t arity) {
    struct cz_fr in[8];
    for (uint32_t i = 0; i < arity; i++) cz_synth_node_fr(&in[i], child[i]);
    cz_poseidon_hash(&in[0], in, arity);
    cz_fr_to_le(out, &in[0]);
}

void cz_synth_node_parent_same(cz_node out, const cz_node child, uint32_t arity) {
    struct cz_fr in[8];
    cz_synth_node_fr(&in[0], child);
    for (uint32_t i = 1; i < arity; i++) in[i] = in[0];
    cz_poseidon_hash(&in[0], in, arity);
    cz_fr_to_le(out, &in[0]);
}

void cz_synth_node_comm_r(cz_node out, const cz_node comm_c, const cz_node root) {
    cz_node child[2];
    memcpy(child[0], comm_c, sizeof(cz_node));
    memcpy(child[1], root, sizeof(cz_node));
    cz_synth_node_parent(out, (const cz_node *)child, 2);
}
