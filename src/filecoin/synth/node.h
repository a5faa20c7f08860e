#ifndef CUZK_FILECOIN_SYNTH_NODE_H
#define CUZK_FILECOIN_SYNTH_NODE_H

/* Nodes of invented trees: seeded randomness and the Poseidon hashes of trees C and R. */

#include "field/fr.h"
#include "filecoin/bincode.h"

#define CZ_SYNTH_MAX_LEVELS 11 /* of tree R: 64 GiB has nine of 8, one of 8, one of 2 */

/**
 * 254 bits of SHA-256(what ‖ 0 ‖ LE u64 seed, a, b), below r: what a seed says of the thing `what` (static text) number
 * (a, b). Needs no state, so any thread may ask for any of them.
 */
void cz_synth_node_random(cz_node out, uint64_t seed, const char *what, uint64_t a, uint64_t b);

/** A node of ours, hence below r. */
void cz_synth_node_fr(struct cz_fr *out, const cz_node node);
/** The node above `arity` children, 2 or 8. out may be one of them. */
void cz_synth_node_parent(cz_node out, const cz_node *child, uint32_t arity);
/** The node above children that are all the same. */
void cz_synth_node_parent_same(cz_node out, const cz_node child, uint32_t arity);
/** comm_r of comm_c and the root of tree R. */
void cz_synth_node_comm_r(cz_node out, const cz_node comm_c, const cz_node root);

/** Arity of the nodes above level l, leaves being level 0. l < cz_bincode_tree_levels(tree). */
static inline uint32_t cz_synth_node_arity(const struct cz_bincode_tree *tree, uint32_t l) {
    return l < tree->base_levels ? tree->base_arity : l == tree->base_levels ? tree->sub_arity : tree->top_arity;
}

#endif
