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
    uint64_t samples;                                  /* points of a GPU that the host made anew: one a block */
    double seconds_qap, seconds_points, seconds_total; /* the first two and the file's end are the total */
    double seconds_device;                             /* of seconds_points: making and encoding points */
    double seconds_wait;                               /* for the two threads below, after the last point too */
    double seconds_hash, seconds_write, seconds_sync;  /* both beside the making of points; at the end */
};

/**
 * Writes the .params file and the .vk file (temporary name, sync, rename). Nothing derived from the waste stays in
 * memory. CZ_ERR_UNSATISFIED names an unconstrained variable. progress (may be NULL) gets 0 … 1. The points come from
 * dev; where that is a GPU, the host makes one of each block anew and compares (CZ_ERR_DEVICE).
 * hash: whether params_sha256 is made (else zeros); one thread does it beside the rest, and on a GPU it takes longest.
 * Memory: some 100 bytes a variable and 32 a constraint.
 */
CZ_MUST_CHECK enum cz_status cz_setup_write(struct cz_setup_result *result, const char *params_path,
                                            const char *vk_path, bool hash, const struct cz_r1cs *r1cs,
                                            const struct cz_toxic_waste *waste, struct cz_device *dev,
                                            struct cz_pool *pool, void (*progress)(void *ctx, double done), void *ctx,
                                            struct cz_error *err);
/** The .vk file alone: needs 32 bytes a constraint and the time of the scalars. No params_* in the result. */
CZ_MUST_CHECK enum cz_status cz_setup_write_vk(struct cz_setup_result *result, const char *vk_path,
                                               const struct cz_r1cs *r1cs, const struct cz_toxic_waste *waste,
                                               struct cz_device *dev, struct cz_pool *pool, struct cz_error *err);

/** A .params file in memory. */
struct cz_setup_srs {
    uint8_t *bytes;
    size_t size;
    struct cz_vk vk;
    struct cz_srs_view view; /* into bytes: for cz_srs_create, which then makes it resident */
};
/** Without any file, for tests. result may be NULL. Free with cz_setup_srs_done. */
CZ_MUST_CHECK enum cz_status cz_setup_make_srs(struct cz_setup_srs *out, struct cz_setup_result *result,
                                               const struct cz_r1cs *r1cs, const struct cz_toxic_waste *waste,
                                               struct cz_device *dev, struct cz_pool *pool, struct cz_error *err);
/** Accepts a zeroed struct; leaves it zeroed. */
void cz_setup_srs_done(struct cz_setup_srs *srs);

#endif
