#ifndef CUZK_FILECOIN_MERKLE_H
#define CUZK_FILECOIN_MERKLE_H

/* Merkle paths checked natively: what the checks of all kinds share. */

#include "field/fr.h"
#include "filecoin/c1.h"

/** The leaf's index that the path claims. At most 64 levels' worth of bits. */
uint64_t cz_merkle_leaf_index(const struct cz_merkle_proof *m);

/** True when node is the canonical form of a. */
bool cz_merkle_node_is(const struct cz_fr *a, const cz_node node);

/** comm_r = Poseidon(comm_c, comm_r_last); false too when one of them is no field element. */
bool cz_merkle_comm_r_ok(const cz_node comm_r, const cz_node comm_c, const cz_node comm_r_last);

/** Levels first … last - 1 of a SHA-256 path, from node up; node becomes what they lead to. */
void cz_merkle_sha256_climb(cz_node node, const struct cz_merkle_proof *m, uint32_t first, uint32_t last);

enum cz_merkle_verdict {
    CZ_MERKLE_OK,
    CZ_MERKLE_LEAF,    /* the leaf is no field element */
    CZ_MERKLE_SIBLING, /* a sibling is no field element */
    CZ_MERKLE_ROOT,    /* the path leads elsewhere */
};

/**
 * Does each of n Poseidon paths lead from its leaf to its root? Levels have 1, 3 or 7 siblings, as parsing has checked.
 * Fastest when eight paths of one shape follow each other, as those of one tree do.
 */
void cz_merkle_check(enum cz_merkle_verdict *out, const struct cz_merkle_proof *const *proof, size_t n);

#endif
