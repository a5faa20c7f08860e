#ifndef CUZK_R1CS_GADGETS_UPDATE_H
#define CUZK_R1CS_GADGETS_UPDATE_H

/* Parts of the empty sector update (spec/update-circuit.md §4): bits of a number, challenge digests, the high bits of a
 * challenge, the encoding. */

#include "r1cs/gadgets/poseidon.h"

#define CZ_UPDATE_NUM_H 6 /* values of h that the circuit chooses from */
#define CZ_UPDATE_MAX_H 12

/** n <= 255 bits with their constraints, lowest first; Σ 2^i·bit_i · 1 = x. Assign: cz_assign_bits each. */
void cz_update_bits_of(struct cz_builder *b, cz_wire *out, uint32_t n, cz_r1cs_var x);

/** T = 2^40: the tag of phi, rho and challenge digests. */
void cz_update_tag(struct cz_fr *tag);
/** Poseidon_T(x, y). */
cz_r1cs_var cz_update_hash_constrain(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y);
void cz_update_hash_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *x, const struct cz_fr *y);

/** The 255 bits of the digest number digests·partition + j: index, hash, bits. */
void cz_update_digest_constrain(struct cz_builder *b, cz_wire out[255], cz_r1cs_var partition, cz_r1cs_var comm_r_new,
                                uint32_t digests, uint32_t j);
/** index = digests·partition + j; le: the digest. */
void cz_update_digest_assign(struct cz_assign *a, uint8_t le[32], const struct cz_fr *comm_r_new, uint64_t index);

/**
 * high := the number of the top h bits of a challenge, with h the selected of six. top: the challenge's highest bits,
 * as many as the largest h, lowest first.
 */
cz_r1cs_var cz_update_high_constrain(struct cz_builder *b, const uint8_t h[CZ_UPDATE_NUM_H], const cz_wire *top,
                                     const cz_wire select[CZ_UPDATE_NUM_H]);
/** top: those bits as a number; select: one hot. */
void cz_update_high_assign(struct cz_assign *a, struct cz_fr *high, const uint8_t h[CZ_UPDATE_NUM_H], uint32_t top,
                           uint32_t select);

/** Allocates old replica's and new data's node and the new replica's, old + data·rho. */
struct cz_update_leaves {
    cz_r1cs_var r_old, d_new, r_new;
};
struct cz_update_leaves cz_update_encode_constrain(struct cz_builder *b, cz_r1cs_var rho);
void cz_update_encode_assign(struct cz_assign *a, struct cz_fr *r_new, const struct cz_fr *r_old,
                             const struct cz_fr *d_new, const struct cz_fr *rho);

#endif
