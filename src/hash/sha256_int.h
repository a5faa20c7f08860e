#ifndef CUZK_HASH_SHA256_INT_H
#define CUZK_HASH_SHA256_INT_H

/* The two ways to compress, for sha256.c to choose from and for the tests to compare. */

#include "hash/sha256.h"

#include <stdbool.h>

#if defined(__x86_64__)
#define CZ_SHA256_HAVE_NI 1
#else
#define CZ_SHA256_HAVE_NI 0
#endif

/** True when the processor has the SHA extensions (and SSSE3, SSE4.1). */
bool cz_sha256_ni_supported(void);
void cz_sha256_blocks_portable(uint32_t h[8], const uint8_t *data, size_t n);
#if CZ_SHA256_HAVE_NI
/** Only when cz_sha256_ni_supported(). */
void cz_sha256_blocks_ni(uint32_t h[8], const uint8_t *data, size_t n);
#endif

#endif
