#ifndef CUZK_R1CS_GADGETS_POSEIDON_H
#define CUZK_R1CS_GADGETS_POSEIDON_H

/*
 * Poseidon as neptune's legacy circuit has it (spec/gadgets.md §6.3). Arity 2, 4, 8 or 11; the Merkle tree's tag where
 * none is given.
 */

#include "hash/poseidon.h"
#include "r1cs/assign.h"
#include "r1cs/builder.h"

cz_r1cs_var cz_poseidon_constrain(struct cz_builder *b, const cz_r1cs_var *in, unsigned arity);
/** out may alias in. */
void cz_poseidon_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *in, unsigned arity);

/** The same with any tag. */
cz_r1cs_var cz_poseidon_constrain_tag(struct cz_builder *b, const struct cz_fr *tag, const cz_r1cs_var *in,
                                      unsigned arity);
void cz_poseidon_assign_tag(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                            unsigned arity);
/** The same with constants that the caller has; they outlive the builder. */
cz_r1cs_var cz_poseidon_constrain_params(struct cz_builder *b, const struct cz_fr *tag, const cz_r1cs_var *in,
                                         const struct cz_poseidon_params *p);
void cz_poseidon_assign_params(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                               const struct cz_poseidon_params *p);

/**
 * Merkle-Damgard over n >= 2 numbers, as cz_poseidon_hash_md. The zeros that fill the last group are variables under no
 * constraint, as in the reference: a prover chooses them freely. No circuit of Filecoin uses it.
 */
cz_r1cs_var cz_poseidon_md_constrain(struct cz_builder *b, const cz_r1cs_var *in, size_t n,
                                     const struct cz_poseidon_params *p);
/** out may alias in. */
void cz_poseidon_md_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *in, size_t n,
                           const struct cz_poseidon_params *p);

/** The permutation inside a larger template: `in` holds the preimage's columns; returns the digest's. */
uint32_t cz_poseidon_record(struct cz_recorder *r, const uint32_t *in, unsigned arity);

#endif
