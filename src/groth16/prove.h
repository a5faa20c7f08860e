#ifndef CUZK_GROTH16_PROVE_H
#define CUZK_GROTH16_PROVE_H

#include "compute/compute.h"
#include "groth16/vk.h"

/** The blinding scalars of one proof. Wiped by whoever holds them. */
struct cz_blinding {
    struct cz_fr r, s;
};

CZ_MUST_CHECK enum cz_status cz_blinding_random(struct cz_blinding *out);

/**
 * Assembles A, B, C from the device's sums, the key and r, s (spec/r1cs-and-prover.md §6). CZ_ERR_POINT_INFINITY when
 * delta or one of A, B, C is infinity.
 */
CZ_MUST_CHECK enum cz_status cz_prove_finish(struct cz_proof *out, const struct cz_partition_sums *sums,
                                             const struct cz_vk *vk, const struct cz_blinding *blinding,
                                             struct cz_error *err);

/** One partition: sums on the device, then finish. blinding NULL: fresh from the system. timing may be NULL. */
CZ_MUST_CHECK enum cz_status cz_prove(struct cz_proof *out, struct cz_partition_timing *timing, struct cz_srs *srs,
                                      const struct cz_vk *vk, const struct cz_witness *witness,
                                      const struct cz_blinding *blinding, struct cz_error *err);

#endif
