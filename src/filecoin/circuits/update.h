#ifndef CUZK_FILECOIN_CIRCUITS_UPDATE_H
#define CUZK_FILECOIN_CIRCUITS_UPDATE_H

/* The empty sector update circuit and its Poseidon variant (spec/update-circuit.md §4, §6). */

#include "filecoin/update.h"
#include "r1cs/witness.h"

/**
 * The constraint system of one partition; kind: CZ_CIRCUIT_UPDATE or CZ_CIRCUIT_UPDATE_POSEIDON. The caller ends it
 * with cz_r1cs_destroy.
 */
CZ_MUST_CHECK enum cz_status cz_update_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                                     const struct cz_sector_info *sector, struct cz_error *err);

/**
 * The witness of a partition (counted within the request) for CZ_CIRCUIT_UPDATE; no API proves with the Poseidon
 * variant. w was made by cz_witness_init for this sector size. Wrong values give a witness that does not satisfy the
 * circuit, not an error.
 */
CZ_MUST_CHECK enum cz_status cz_update_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                                      const struct cz_update *update, uint32_t partition,
                                                      struct cz_error *err);

#endif
