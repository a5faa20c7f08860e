#ifndef CUZK_FILECOIN_POST_H
#define CUZK_FILECOIN_POST_H

/*
 * Inputs of winning and window PoSt: FallbackPoStSectorProof blobs, partitions and padding, challenges, the native
 * check and the public inputs (spec/post-circuits.md).
 *
 * A partition's circuit has K places for sectors with C challenges each. Window: C = 10, K by sector size; places past
 * the last sector repeat it. Winning: C = 1, K = 66; all places are the one sector, place i with inclusion proof i.
 */

#include "base/bytes.h"
#include "filecoin/c1.h"
#include "filecoin/names.h"
#include "filecoin/registered.h"

#define CZ_POST_WINNING_CHALLENGES 66
#define CZ_POST_WINDOW_CHALLENGES 10
#define CZ_POST_MAX_SECTORS (1u << 20) /* of one request */

/** C and K of a circuit; kind: CZ_CIRCUIT_WINNING or CZ_CIRCUIT_WINDOW. */
uint32_t cz_post_challenges(enum cz_circuit_kind kind);
uint32_t cz_post_sectors(enum cz_circuit_kind kind, const struct cz_sector_info *sector);

/** One vanilla proof. */
struct cz_post_sector {
    uint64_t number;
    cz_node comm_r, comm_c, comm_r_last;
    const struct cz_merkle_proof *inclusion; /* 10, or 66 for winning; siblings lie in the caller's blob */
};

struct cz_post {
    enum cz_registered_post proof;
    enum cz_circuit_kind kind; /* CZ_CIRCUIT_WINNING or CZ_CIRCUIT_WINDOW */
    const struct cz_sector_info *sector_info;
    cz_node randomness, prover_id;
    uint32_t challenges;      /* C */
    uint32_t places;          /* K */
    uint32_t num_partitions;  /* of this request */
    uint32_t first_partition; /* the deadline's number of partition 0: shifts the challenge index of V1 */
    uint32_t num_sectors;
    const struct cz_post_sector *sector; /* in the order given: verifiers take them by ascending number */
};

struct cz_post_request {
    enum cz_registered_post proof;
    const uint8_t *randomness, *prover_id; /* 32 bytes each, below r: callers clear the two top bits of byte 31 */
    const struct cz_bytes *vanilla;        /* one blob a sector; borrowed until the cz_post ends */
    size_t num_vanilla;
    /**
     * Window, when has_partition: the blobs are the sectors of this one partition (at most K), as in a request for one
     * partition. Otherwise they are all sectors, and there are ceil(n / K) partitions. Winning: 0 or absent.
     */
    bool has_partition;
    uint32_t partition_index;
};

/**
 * Parses every blob and checks form: counts, tree shapes, nodes, randomness and prover_id below r, nothing left over.
 * Errors name the blob, the field's path and the offset. The blobs must outlive *out: siblings are not copied.
 */
CZ_MUST_CHECK enum cz_status cz_post_parse(struct cz_post **out, const struct cz_post_request *request,
                                           struct cz_error *err);
/** Accepts NULL. */
void cz_post_destroy(struct cz_post *post);

/** LE 8 bytes of SHA-256(randomness ‖ number ‖ index), mod the sector's nodes. */
uint64_t cz_post_leaf_challenge(const struct cz_post *post, uint64_t number, uint64_t index);
/** The leaf that challenge n < C of place i < K of a partition asks for; padding repeats the last sector's. */
uint64_t cz_post_challenge(const struct cz_post *post, uint32_t partition, uint32_t place, uint32_t n);

/** The sector of a place. partition < num_partitions, counted within the request; place < K. */
const struct cz_post_sector *cz_post_place(const struct cz_post *post, uint32_t partition, uint32_t place);
/** Its inclusion proof n < C. */
const struct cz_merkle_proof *cz_post_inclusion(const struct cz_post *post, uint32_t partition, uint32_t place,
                                                uint32_t n);

/** K·(1 + C): public inputs of a partition, without ONE. */
size_t cz_post_num_public_inputs(const struct cz_post *post);
/** As a verifier derives them: comm_r and challenges of each place. */
CZ_MUST_CHECK enum cz_status cz_post_public_inputs(struct cz_fr *out, size_t count, const struct cz_post *post,
                                                   uint32_t partition, struct cz_error *err);

/**
 * The native check before proving: comm_r = H(comm_c, comm_r_last); each inclusion proof's root is comm_r_last, its
 * leaf the derived challenge, its hashes lead to the root. What passes gives a satisfied circuit. CZ_ERR_MISMATCH names
 * partition, sector, challenge and reason. Stricter than the reference in one thing: all 66 proofs of winning are
 * checked, not the first alone. About 0.8 ms a challenge at 32 GiB; partitions may be checked on several threads.
 */
CZ_MUST_CHECK enum cz_status cz_post_check_partition(const struct cz_post *post, uint32_t partition,
                                                     struct cz_error *err);
/** Places first … last - 1 of a partition; so that several threads share the work. */
CZ_MUST_CHECK enum cz_status cz_post_check_places(const struct cz_post *post, uint32_t partition, uint32_t first,
                                                  uint32_t last, struct cz_error *err);
/** All partitions of the request. */
CZ_MUST_CHECK enum cz_status cz_post_check(const struct cz_post *post, struct cz_error *err);

#endif
