#ifndef CUZK_FILECOIN_C1_H
#define CUZK_FILECOIN_C1_H

/*
 * The output of seal commit phase 1 (spec/porep-circuit.md §7): JSON, plain or gzipped, bare or in the client's
 * envelope. Nodes are 32-byte little-endian field elements, checked to be below r when parsed.
 */

#include "base/status.h"
#include "field/fr.h"
#include "filecoin/registered.h"

#include <stddef.h>
#include <stdint.h>

typedef uint8_t cz_node[32];

struct cz_merkle_level {
    uint32_t index;        /* position of the path's own node, below arity */
    uint32_t num_siblings; /* arity - 1 */
    const cz_node *sibling;
};

/** A path from the leaf upward: base levels, then the sub level, then the top level (those that the shape has). */
struct cz_merkle_proof {
    cz_node root, leaf;
    uint32_t num_levels;
    const struct cz_merkle_level *level;
};

struct cz_column_proof {
    uint32_t index;
    const cz_node *row; /* layers rows */
    struct cz_merkle_proof inclusion;
};

#define CZ_DRG_PARENTS 6
#define CZ_EXP_PARENTS 8

/** One challenge's vanilla proof. labeling parents and the encoding proof are checked for form and dropped. */
struct cz_porep_challenge {
    struct cz_merkle_proof comm_d;
    struct cz_merkle_proof comm_r_last;
    struct cz_column_proof c_x;
    struct cz_column_proof drg[CZ_DRG_PARENTS];
    struct cz_column_proof exp[CZ_EXP_PARENTS];
    uint64_t node; /* labeling_proofs[0].node */
};

struct cz_c1 {
    enum cz_registered_seal proof;
    uint64_t sector_size;
    cz_node comm_r, comm_d, replica_id;
    uint8_t seed[32], ticket[32];
    bool has_sector_number; /* from the envelope */
    uint64_t sector_number;
    uint32_t num_partitions;
    uint32_t challenges_per_partition;
    const struct cz_porep_challenge *challenge; /* partition-major, num_partitions · challenges_per_partition */
    void *arena;                                /* owns everything above */
};

/** Most challenges of a partition, over all sizes. */
#define CZ_C1_MAX_CHALLENGES 18

/** Largest input accepted, after decompression. */
#define CZ_C1_MAX_BYTES (256u << 20)

/**
 * Parses and checks form: every field present once, lengths, shapes and counts as the registered proof's size wants,
 * nodes below r, comm_r, comm_d and seed non-zero. Errors name the field path and offset. One streaming pass.
 */
CZ_MUST_CHECK enum cz_status cz_c1_parse(struct cz_c1 **out, const uint8_t *data, size_t len, struct cz_error *err);
CZ_MUST_CHECK enum cz_status cz_c1_parse_file(struct cz_c1 **out, const char *path, struct cz_error *err);
/** Accepts NULL. */
void cz_c1_destroy(struct cz_c1 *c1);

/** Public inputs without ONE of one partition, derived as a verifier does: from replica_id, comms, seed and graph. */
CZ_MUST_CHECK enum cz_status cz_c1_public_inputs(struct cz_fr *out, size_t count, const struct cz_c1 *c1,
                                                 uint32_t partition, struct cz_error *err);

#endif
