#ifndef CUZK_GROTH16_PARAMS_H
#define CUZK_GROTH16_PARAMS_H

/* A mapped .params file (spec/fields-and-encodings.md §5). */

#include "base/file.h"
#include "compute/compute.h"
#include "groth16/vk.h"

struct cz_params {
    struct cz_map map;
    struct cz_vk vk;
    struct cz_srs_view view;
};

/**
 * Maps the file and checks the key, the counts and the total length at once; points of the vectors are not touched.
 * When r1cs is not NULL the counts must be those of that circuit (CZ_ERR_MISMATCH says which differs and suggests the
 * circuit that the file is for when known).
 */
CZ_MUST_CHECK enum cz_status cz_params_open(struct cz_params *out, const char *path, const struct cz_r1cs *r1cs,
                                            struct cz_error *err);
/** Accepts a zeroed struct; leaves it zeroed. */
void cz_params_close(struct cz_params *params);

/** "PoRep 2 KiB", … for the counts of a published circuit (inputs with ONE); NULL when none has them. */
const char *cz_params_circuit_name(uint32_t num_inputs, uint32_t num_aux);

/**
 * Checks every point: range, curve, subgroup, not infinity. The error names vector and index of the first bad point.
 * progress (may be NULL) gets 0 … 1 on the caller's thread.
 */
CZ_MUST_CHECK enum cz_status cz_params_check_points(const struct cz_params *params, struct cz_pool *pool,
                                                    void (*progress)(void *ctx, double done), void *ctx,
                                                    struct cz_error *err);

#endif
