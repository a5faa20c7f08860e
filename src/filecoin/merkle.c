#include "filecoin/merkle.h"

#include "hash/poseidon.h"
#include "hash/sha256.h"

#include <string.h>

#define LANES 8

uint64_t cz_merkle_leaf_index(const struct cz_merkle_proof *m) {
    uint64_t index = 0, weight = 1;
    for (uint32_t i = 0; i < m->num_levels; i++) {
        index += weight * m->level[i].index;
        weight *= m->level[i].num_siblings + 1;
    }
    return index;
}

bool cz_merkle_node_is(const struct cz_fr *a, const cz_node node) {
    uint8_t bytes[32];
    cz_fr_to_le(bytes, a);
    return memcmp(bytes, node, 32) == 0;
}

bool cz_merkle_comm_r_ok(const cz_node comm_r, const cz_node comm_c, const cz_node comm_r_last) {
    struct cz_fr in[2];
    if (cz_fr_from_le(&in[0], comm_c) != CZ_OK || cz_fr_from_le(&in[1], comm_r_last) != CZ_OK) return false;
    cz_poseidon_hash(&in[0], in, 2);
    return cz_merkle_node_is(&in[0], comm_r);
}

void cz_merkle_sha256_climb(cz_node node, const struct cz_merkle_proof *m, uint32_t first, uint32_t last) {
    for (uint32_t i = first; i < last; i++) {
        const struct cz_merkle_level *level = &m->level[i];
        if (level->index)
            cz_sha256_node(node, level->sibling[0], node);
        else
            cz_sha256_node(node, node, level->sibling[0]);
    }
}

static bool same_shape(const struct cz_merkle_proof *a, const struct cz_merkle_proof *b) {
    if (a->num_levels != b->num_levels) return false;
    for (uint32_t i = 0; i < a->num_levels; i++)
        if (a->level[i].num_siblings != b->level[i].num_siblings) return false;
    return true;
}

/* The children of the node above: `node` at its place among the siblings. */
static bool children(struct cz_fr *in, const struct cz_merkle_level *level, const struct cz_fr *node) {
    bool ok = true;
    for (uint32_t j = 0, s = 0; j <= level->num_siblings; j++) {
        if (j == level->index) {
            in[j] = *node;
        } else if (cz_fr_from_le(&in[j], level->sibling[s++]) != CZ_OK) {
            in[j] = CZ_FR_ZERO;
            ok = false;
        }
    }
    return ok;
}

/* n <= LANES paths of one shape, level by level together. */
static void check_together(enum cz_merkle_verdict *out, const struct cz_merkle_proof *const *proof, size_t n) {
    struct cz_fr node[LANES], in[LANES * 8], tag;
    for (size_t k = 0; k < n; k++) {
        out[k] = CZ_MERKLE_OK;
        if (cz_fr_from_le(&node[k], proof[k]->leaf) == CZ_OK) continue;
        node[k] = CZ_FR_ZERO;
        out[k] = CZ_MERKLE_LEAF;
    }
    for (uint32_t i = 0; i < proof[0]->num_levels; i++) {
        const unsigned arity = proof[0]->level[i].num_siblings + 1;
        for (size_t k = 0; k < n; k++)
            if (!children(in + k * arity, &proof[k]->level[i], &node[k]) && out[k] == CZ_MERKLE_OK)
                out[k] = CZ_MERKLE_SIBLING;
        cz_poseidon_merkle_tag(&tag, arity);
        cz_poseidon_hash_n(node, &tag, in, n, cz_poseidon_params(arity), NULL);
    }
    for (size_t k = 0; k < n; k++)
        if (out[k] == CZ_MERKLE_OK && !cz_merkle_node_is(&node[k], proof[k]->root)) out[k] = CZ_MERKLE_ROOT;
}

void cz_merkle_check(enum cz_merkle_verdict *out, const struct cz_merkle_proof *const *proof, size_t n) {
    for (size_t i = 0, len; i < n; i += len) {
        for (len = 1; len < LANES && i + len < n && same_shape(proof[i], proof[i + len]); len++) continue;
        check_together(out + i, proof + i, len);
    }
}
