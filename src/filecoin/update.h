#ifndef CUZK_FILECOIN_UPDATE_H
#define CUZK_FILECOIN_UPDATE_H

/*
 * Inputs of an empty sector update (SnapDeals): PartitionProof blobs, challenges, encoding, the native check and the
 * public inputs (spec/update-circuit.md).
 */

#include "base/bytes.h"
#include "filecoin/c1.h"
#include "filecoin/names.h"
#include "filecoin/registered.h"
#include "r1cs/gadgets/update.h" /* CZ_UPDATE_NUM_H, cz_update_tag */

#define CZ_UPDATE_MAX_PARTITIONS 16
#define CZ_UPDATE_MAX_CHALLENGES 86   /* of a partition, in the SHA-256 circuit */
#define CZ_UPDATE_MAX_APEX 128        /* apex leaves of a partition */
#define CZ_UPDATE_NUM_PUBLIC_INPUTS 4 /* without ONE */

/** Numbers of a sector size. */
struct cz_update_shape {
    uint32_t partitions, partition_bits;
    uint32_t challenges;        /* per partition */
    uint32_t apex, apex_bits;   /* apex leaves per partition */
    uint32_t challenge_bits;    /* log2 of the nodes */
    uint32_t random_bits;       /* of a challenge: challenge_bits - partition_bits */
    uint32_t per_digest;        /* challenges that one digest gives */
    uint32_t digests;           /* that a partition needs */
    uint8_t h[CZ_UPDATE_NUM_H]; /* values allowed */
    uint32_t h_default;         /* the one that the API uses */
};
/** kind: CZ_CIRCUIT_UPDATE, or CZ_CIRCUIT_UPDATE_POSEIDON: one partition with all challenges, no apex. */
void cz_update_shape_init(struct cz_update_shape *shape, enum cz_circuit_kind kind,
                          const struct cz_sector_info *sector);
/** The one-hot number of the first position of h; 0 when h is not allowed. */
uint32_t cz_update_h_select(const struct cz_update_shape *shape, uint32_t h);

/** One challenge's proofs. proof_d's path is that of the whole binary tree. */
struct cz_update_challenge {
    struct cz_merkle_proof r_old, d_new, r_new;
};

/** One PartitionProof. */
struct cz_update_partition {
    uint32_t index; /* of the sector's partitions */
    cz_node comm_c;
    const cz_node *apex; /* shape.apex leaves; inside the caller's blob */
    const struct cz_update_challenge *challenge;
};

struct cz_update {
    enum cz_registered_update proof;
    enum cz_circuit_kind kind; /* CZ_CIRCUIT_UPDATE */
    const struct cz_sector_info *sector_info;
    struct cz_update_shape shape;
    uint32_t h;
    cz_node comm_r_old, comm_r_new, comm_d_new;
    uint32_t num_partitions; /* that are here */
    const struct cz_update_partition *partition;
};

struct cz_update_request {
    enum cz_registered_update proof;
    const uint8_t *comm_r_old, *comm_r_new, *comm_d_new; /* 32 bytes each, below r */
    const struct cz_bytes *vanilla;                      /* one blob a partition; borrowed until the cz_update ends */
    size_t num_vanilla;
    uint32_t first_partition; /* the number of the first blob's partition; 0 when all are here */
};

/**
 * Parses every blob and checks form: counts, tree shapes, nodes and commitments below r, nothing left over. At least
 * one blob, at most as many as the sector has partitions from first_partition on. Errors name the blob's partition, the
 * field's path and the offset. The blobs must outlive *out: nodes of paths are not copied.
 */
CZ_MUST_CHECK enum cz_status cz_update_parse(struct cz_update **out, const struct cz_update_request *request,
                                             struct cz_error *err);
/** Accepts NULL. */
void cz_update_destroy(struct cz_update *update);

/** phi = Poseidon_T(comm_d_new, comm_r_old), the seed of the encoding. */
void cz_update_phi(struct cz_fr *phi, const struct cz_fr *comm_d_new, const struct cz_fr *comm_r_old);
/** rho of a node: Poseidon_T(phi, node >> (nodes_log2 - h)). */
void cz_update_rho(struct cz_fr *rho, const struct cz_fr *phi, uint64_t node, uint32_t nodes_log2, uint32_t h);
/** All shape->challenges leaves that partition k (of the sector) is asked for. */
void cz_update_challenges(uint64_t *out, const struct cz_update_shape *shape, const struct cz_fr *comm_r_new,
                          uint32_t k);

/** Public inputs of a partition, without ONE. */
static inline size_t cz_update_num_public_inputs(const struct cz_update *update) {
    (void)update;
    return CZ_UPDATE_NUM_PUBLIC_INPUTS;
}
/**
 * As a verifier derives them: partition and h, comm_r_old, comm_d_new, comm_r_new. count =
 * CZ_UPDATE_NUM_PUBLIC_INPUTS; partition counts within the request, here and below.
 */
CZ_MUST_CHECK enum cz_status cz_update_public_inputs(struct cz_fr *out, size_t count, const struct cz_update *update,
                                                     uint32_t partition, struct cz_error *err);

/**
 * The native check before proving: comm_r_old and comm_r_new are the hashes of comm_c and the roots of the paths; the
 * apex leaves and the partition's path lead to comm_d_new; every path is of the derived challenge and leads to its
 * root; the new label is the old one + data·rho. What passes gives a satisfied circuit. CZ_ERR_MISMATCH names
 * partition, challenge and reason. Partitions may be checked on several threads.
 */
CZ_MUST_CHECK enum cz_status cz_update_check_partition(const struct cz_update *update, uint32_t partition,
                                                       struct cz_error *err);
/** All partitions of the request. */
CZ_MUST_CHECK enum cz_status cz_update_check(const struct cz_update *update, struct cz_error *err);

#endif
