#ifndef CUZK_FILECOIN_PUBLISHED_H
#define CUZK_FILECOIN_PUBLISHED_H

/* The parameter sets that Filecoin's trusted setup published, version 28. */

#include "filecoin/names.h"

struct cz_published {
    enum cz_circuit_kind kind;
    uint64_t sector_size; /* bytes */
    uint64_t params_bytes;
    uint32_t vk_bytes;
    uint8_t params_digest[16]; /* the first 16 bytes of BLAKE2b-512 over the file */
    uint8_t vk_digest[16];
};

extern const struct cz_published CZ_PUBLISHED[];
extern const uint32_t CZ_NUM_PUBLISHED;

#endif
