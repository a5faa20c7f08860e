#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

/*
 * The stacked DRG: parents of a node, labels, and the challenges that a verifier derives (spec/porep-circuit.md §3–§5).
 * BLAKE2b and ChaCha20 are OpenSSL's; functions that use them fail only when OpenSSL does (CZ_ERR_INTERNAL).
 */

#include "base/status.h"
#include "filecoin/registered.h"

#include <stdint.h>

#define CZ_GRAPH_BASE_PARENTS 6
#define CZ_GRAPH_EXP_PARENTS 8
#define CZ_GRAPH_LABEL_PARENTS 37

struct cz_graph {
    uint64_t nodes;
    bool v1_0;            /* the rules of version 1.0 */
    uint8_t drg_seed[28]; /* DRSample */
    uint64_t key[3];      /* Feistel rounds */
    unsigned half_bits;
};

/** nodes: at least 2, at most 2^32. */
void cz_graph_init(struct cz_graph *g, uint64_t nodes, const uint8_t porep_id[32], bool v1_0);
/** The graph of a registered proof. */
void cz_graph_init_seal(struct cz_graph *g, enum cz_registered_seal proof);

/** Parents of node v < nodes, in the order in which they are hashed. */
void cz_graph_base_parents(uint32_t out[CZ_GRAPH_BASE_PARENTS], const struct cz_graph *g, uint64_t v);
CZ_MUST_CHECK enum cz_status cz_graph_exp_parents(uint32_t out[CZ_GRAPH_EXP_PARENTS], const struct cz_graph *g,
                                                  uint64_t v, struct cz_error *err);

/**
 * Label of a node in a layer (from 1). `parent` are the parents' labels, `count` of them repeated to 37: 0 for node 0,
 * 6 in layer 1, 14 above (6 base of this layer, 8 expander of the one before).
 */
void cz_graph_label(uint8_t out[32], const uint8_t replica_id[32], uint32_t layer, uint64_t node,
                    const uint8_t (*parent)[32], unsigned count);

/** What challenges follow from. */
struct cz_challenge_seed {
    enum cz_seal_version version;
    uint64_t nodes;
    const uint8_t *replica_id, *comm_r, *seed; /* 32 bytes each */
    /** Synthetic only: number of synthetic challenges; 0 means as the protocol has it, min(nodes, 2^18). */
    uint32_t num_synthetic;
};

/** Challenges first … first + count - 1, counted over all partitions. Each is in [1, nodes). */
CZ_MUST_CHECK enum cz_status cz_graph_challenges(uint64_t *out, uint32_t first, uint32_t count,
                                                 const struct cz_challenge_seed *seed, struct cz_error *err);
/** Synthetic challenge n by its number, before any selection. */
CZ_MUST_CHECK enum cz_status cz_graph_synthetic_challenge(uint64_t *out, uint32_t n,
                                                          const struct cz_challenge_seed *seed, struct cz_error *err);

#endif
