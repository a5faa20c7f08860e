#ifndef CUZK_R1CS_DIGEST_H
#define CUZK_R1CS_DIGEST_H

/* Fingerprints of a constraint system, in the formats of the reference's vectors (vectors/README.md). */

#include "r1cs/r1cs.h"

/** BLAKE2s-256 over counts and all constraints ("R1CS digest"). Streams. */
CZ_MUST_CHECK enum cz_status cz_digest_r1cs(uint8_t out[32], const struct cz_r1cs *r1cs);
/** The same; progress (may be NULL) gets 0 … 1, rising, now and then on the caller's thread, and 1 at the end. */
CZ_MUST_CHECK enum cz_status cz_digest_r1cs_progress(uint8_t out[32], const struct cz_r1cs *r1cs,
                                                     void (*progress)(void *ctx, double done), void *ctx);

/** "Trace": two bytes for each constraint, into out (2·num_constraints bytes). */
CZ_MUST_CHECK enum cz_status cz_digest_trace(uint8_t *out, const struct cz_r1cs *r1cs);

/**
 * Compares with a stored trace of len bytes. CZ_ERR_MISMATCH: err names the first constraint that differs, its template
 * and its text; CZ_ERR_LENGTH: the number of constraints differs (and all common ones agree).
 */
CZ_MUST_CHECK enum cz_status cz_digest_compare_trace(const struct cz_r1cs *r1cs, const uint8_t *trace, size_t len,
                                                     struct cz_error *err);

/**
 * Constraint `row` as the gadget vectors write it: "A ; B ; C", terms "I0*1", "A12*-1", "A3*0x…". The caller frees
 * *out with cz_free.
 */
CZ_MUST_CHECK enum cz_status cz_digest_row_text(char **out, const struct cz_r1cs *r1cs, uint32_t row);

#endif
