#ifndef CUZK_R1CS_WITNESS_H
#define CUZK_R1CS_WITNESS_H

/*
 * The witness of one partition in its natural form: bit variables packed, least significant bit first, in aux order;
 * all other aux variables as field elements in aux order, but for squares of the element before, which are made when
 * they are needed; inputs as field elements. Which aux variable is which is static (cz_r1cs.aux_is_bit,
 * cz_r1cs.elem_is_square).
 */

#include "r1cs/r1cs.h"

struct cz_witness {
    uint32_t num_inputs, num_bits, num_elems;
    struct cz_fr *input; /* input[0] = 1 */
    uint64_t *bit;       /* (num_bits + 63)/64 words, bits past the end are 0 */
    struct cz_fr *elem;  /* num_elems = cz_r1cs_num_stored */
};

/** Bytes of the values of a witness of r1cs. */
size_t cz_witness_bytes(const struct cz_r1cs *r1cs);
/** Whether the counts are those of r1cs. */
bool cz_witness_fits(const struct cz_witness *w, const struct cz_r1cs *r1cs);
/** Allocates room for a witness of r1cs, zeroed, input[0] = 1. */
CZ_MUST_CHECK enum cz_status cz_witness_init(struct cz_witness *w, const struct cz_r1cs *r1cs);
/** Wipes and frees. Accepts a zeroed struct. */
void cz_witness_done(struct cz_witness *w);

/** The value of a variable. */
void cz_witness_get(struct cz_fr *out, const struct cz_witness *w, const struct cz_r1cs *r1cs, cz_r1cs_var var);

/** SHA-256 over counts and all values, as spec'd in vectors/README.md ("Witness digest"). Streams. */
void cz_witness_digest(uint8_t out[32], const struct cz_witness *w, const struct cz_r1cs *r1cs);

/**
 * a, b, c of the rows of instances [first, first + count): a[k] = ⟨A_k, z⟩ and so on, written at row index k of the
 * whole system. Input rows are not written. Safe to run on disjoint ranges at once.
 */
void cz_witness_eval(struct cz_fr *a, struct cz_fr *b, struct cz_fr *c, const struct cz_witness *w,
                     const struct cz_r1cs *r1cs, uint32_t first, uint32_t count);

/** First row with a·b != c, or num_constraints when all hold. Names the template in *name (may be NULL). */
uint32_t cz_witness_first_unsatisfied(const struct cz_witness *w, const struct cz_r1cs *r1cs, const char **name);

#endif
