#ifndef CUZK_R1CS_GADGETS_PATH_H
#define CUZK_R1CS_GADGETS_PATH_H

/*
 * Merkle inclusion paths (PoRCircuit, spec/gadgets.md §8) and the SHA-256 node hash (§5). One level of a Poseidon tree,
 * with its index bits, siblings, insertion and hash, is one template.
 */

#include "r1cs/gadgets/sha256.h"

#define CZ_PATH_MAX_LEVELS 64
#define CZ_PATH_MAX_BITS 254 /* one packed input */

enum cz_path_hash { CZ_PATH_POSEIDON, CZ_PATH_SHA256 };

/** Arity of each level from the leaf up: 2, 4 or 8; 2 for SHA-256. */
struct cz_path_shape {
    enum cz_path_hash hash;
    uint32_t num_levels;
    uint8_t arity[CZ_PATH_MAX_LEVELS];
};

/** Private root: levels, the packed index as an input, then `cur · 1 = root`. */
void cz_path_constrain(struct cz_builder *b, const struct cz_path_shape *shape, cz_r1cs_var leaf, cz_r1cs_var root);

/** Plans of the node hash: the block with the two nodes, and the padding. */
struct cz_path_plans {
    struct cz_sha256_plan nodes, padding;
};
void cz_path_plans_init(struct cz_path_plans *plans);

/** pack(sha256(left ‖ right)). */
cz_r1cs_var cz_path_constrain_node(struct cz_builder *b, cz_r1cs_var left, cz_r1cs_var right);
void cz_path_assign_node(struct cz_assign *a, const struct cz_path_plans *plans, uint8_t out[32],
                         const uint8_t left[32], const uint8_t right[32]);

/**
 * The values of a path. sibling(ctx, level, i) gives 32 little-endian canonical bytes; index[level] < arity. plans may
 * be NULL for Poseidon.
 */
struct cz_path_values {
    const uint8_t *leaf;
    uint32_t index[CZ_PATH_MAX_LEVELS];
    const uint8_t (*sibling[CZ_PATH_MAX_LEVELS])[32];
};
void cz_path_assign(struct cz_assign *a, const struct cz_path_shape *shape, const struct cz_path_plans *plans,
                    const struct cz_path_values *values);

#endif
