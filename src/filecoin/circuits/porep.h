#ifndef CUZK_FILECOIN_CIRCUITS_POREP_H
#define CUZK_FILECOIN_CIRCUITS_POREP_H

/* The Stacked DRG PoRep circuit (spec/porep-circuit.md §6). */

#include "filecoin/c1.h"
#include "r1cs/witness.h"

/** The constraint system of one partition; the caller ends it with cz_r1cs_destroy. */
CZ_MUST_CHECK enum cz_status cz_porep_circuit_build(struct cz_r1cs **out, const struct cz_sector_info *sector,
                                                    struct cz_error *err);

/**
 * The witness of one partition from its vanilla proof. w was made by cz_witness_init for the circuit of this sector
 * size. Wrong values give a witness that does not satisfy the circuit, not an error.
 */
CZ_MUST_CHECK enum cz_status cz_porep_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                                     const struct cz_c1 *c1, uint32_t partition, struct cz_error *err);

#endif
