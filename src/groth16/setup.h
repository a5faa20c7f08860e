#ifndef CUZK_GROTH16_SETUP_H
#define CUZK_GROTH16_SETUP_H

/* Parameters from toxic waste (spec/r1cs-and-prover.md §8). */

#include "compute/compute.h"
#include "groth16/vk.h"

struct cz_toxic_waste {
    struct cz_g1_affine g1;
    struct cz_g2_affine g2;
    struct cz_fr alpha, beta, gamma, delta, tau;
};

/** Random generators and scalars from the system's generator. Wipe with cz_toxic_waste_wipe. */
CZ_MUST_CHECK enum cz_status cz_toxic_waste_random(struct cz_toxic_waste *out);
/** From generators g1_times·G1, g2_times·G2 and given scalars (tests). */
void cz_toxic_waste_set(struct cz_toxic_waste *out, uint64_t g1_times, uint64_t g2_times, const struct cz_fr scalar[5]);
void cz_toxic_waste_wipe(struct cz_toxic_waste *waste);

struct cz_setup_result {
    uint8_t params_sha256[32], vk_sha256[32];
    uint64_t params_bytes;
    double seconds_qap, seconds_points, seconds_total;
};

/**
 * Writes the .params file and the .vk file (temporary name, sync, rename). Nothing derived from the waste stays in
 * memory. CZ_ERR_UNSATISFIED names an unconstrained variable. progress (may be NULL) gets 0 … 1.
 */
CZ_MUST_CHECK enum cz_status cz_setup_write(struct cz_setup_result *result, const char *params_path,
                                            const char *vk_path, const struct cz_r1cs *r1cs,
                                            const struct cz_toxic_waste *waste, struct cz_device *dev,
                                            struct cz_pool *pool, void (*progress)(void *ctx, double done), void *ctx,
                                            struct cz_error *err);

#endif
