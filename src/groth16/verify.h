#ifndef CUZK_GROTH16_VERIFY_H
#define CUZK_GROTH16_VERIFY_H

#include "groth16/vk.h"

/**
 * *valid = e(A, B) = e(alpha, beta)·e(IC, gamma)·e(C, delta). `input` are the public inputs without ONE.
 * CZ_ERR_LENGTH when num_inputs + 1 != vk->num_ic. An invalid proof is a result, not an error.
 */
CZ_MUST_CHECK enum cz_status cz_verify(bool *valid, const struct cz_vk *vk, const struct cz_proof *proof,
                                       const struct cz_fr *input, size_t num_inputs);

/**
 * n proofs under one key, inputs one after the other, num_inputs each, with random 128-bit weights
 * (spec/r1cs-and-prover.md §9). n = 1 is cz_verify. n = 0 is CZ_ERR_ARGUMENT.
 */
CZ_MUST_CHECK enum cz_status cz_verify_batch(bool *valid, const struct cz_vk *vk, const struct cz_proof *proof,
                                             size_t n, const struct cz_fr *input, size_t num_inputs);

/** A .prf file of fil-blst, single or batch, told apart by its length (spec/known-values.md §9). */
CZ_MUST_CHECK enum cz_status cz_verify_prf(bool *valid, uint64_t *num_proofs, const uint8_t *data, size_t len,
                                           struct cz_error *err);

#endif
