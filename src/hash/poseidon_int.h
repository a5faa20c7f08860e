#ifndef CUZK_HASH_POSEIDON_INT_H
#define CUZK_HASH_POSEIDON_INT_H

#include "hash/poseidon.h"

/**
 * 1 to 8 hashes in the lanes of AVX-512 IFMA, as cz_poseidon_hash_n; p is one of cz_poseidon_params. Only where
 * cz_field_current() == CZ_FIELD_IFMA.
 */
void cz_poseidon_hash_x8(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in, unsigned lanes,
                         const struct cz_poseidon_params *p, struct cz_fr *const *trace);

#endif
