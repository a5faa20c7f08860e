#ifndef CUZK_FILECOIN_C1_CHECK_H
#define CUZK_FILECOIN_C1_CHECK_H

/*
 * A vanilla proof checked without a circuit, as a verifier with the whole sector would: the challenges and parents are
 * those that follow from the public values, every path leads to its root, column hashes, labels, encoding and comm_r
 * are right. What passes gives a satisfied circuit. About 0.9 ms a challenge at 32 GiB with
 * AVX-512, 6 ms without.
 */

#include "filecoin/c1.h"

/** All partitions. CZ_ERR_MISMATCH names partition, challenge and reason. */
CZ_MUST_CHECK enum cz_status cz_c1_check_vanilla(const struct cz_c1 *c1, struct cz_error *err);
/** One partition < c1->num_partitions (others may be checked at the same time on other threads). */
CZ_MUST_CHECK enum cz_status cz_c1_check_partition(const struct cz_c1 *c1, uint32_t partition, struct cz_error *err);

/** The challenges of one partition, derived from the public values; count = c1->challenges_per_partition. */
CZ_MUST_CHECK enum cz_status cz_c1_derive_challenges(uint64_t *out, size_t count, const struct cz_c1 *c1,
                                                     uint32_t partition, struct cz_error *err);

#endif
