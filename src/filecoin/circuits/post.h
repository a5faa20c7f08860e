#ifndef CUZK_FILECOIN_CIRCUITS_POST_H
#define CUZK_FILECOIN_CIRCUITS_POST_H

/* The fallback PoSt circuit, winning and window (spec/post-circuits.md §1). */

#include "base/thread.h"
#include "filecoin/post.h"
#include "r1cs/witness.h"

/**
 * The constraint system of one partition; kind: CZ_CIRCUIT_WINNING or CZ_CIRCUIT_WINDOW. The caller ends it with
 * cz_r1cs_destroy.
 */
CZ_MUST_CHECK enum cz_status cz_post_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                                   const struct cz_sector_info *sector, struct cz_error *err);

/**
 * The witness of a partition (counted within the request). w was made by cz_witness_init for this kind and sector size:
 * for a window of 32 or 64 GiB sectors it takes 4 GiB. Wrong values give a witness that does not satisfy the circuit,
 * not an error.
 */
CZ_MUST_CHECK enum cz_status cz_post_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                                    const struct cz_post *post, uint32_t partition,
                                                    struct cz_error *err);

/** The same, place by place on the threads of a pool (NULL: on the caller's alone). */
CZ_MUST_CHECK enum cz_status cz_post_circuit_assign_pool(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                                         const struct cz_post *post, uint32_t partition,
                                                         struct cz_pool *pool, struct cz_error *err);

/**
 * cz_witness_digest of a partition, made place by place: never holds more than one sector's values (3 MiB), and needs
 * no constraint system of the whole. Also finds out whether every constraint holds: *satisfied (may be NULL).
 */
CZ_MUST_CHECK enum cz_status cz_post_circuit_digest(uint8_t out[32], bool *satisfied, const struct cz_post *post,
                                                    uint32_t partition, struct cz_error *err);

#endif
