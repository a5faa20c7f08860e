#ifndef CUZK_HASH_SHA256_H
#define CUZK_HASH_SHA256_H

/* SHA-256 (FIPS 180-4): SHA-NI where the processor has it, portable C otherwise. */

#include <stddef.h>
#include <stdint.h>

struct cz_sha256 {
    uint32_t h[8];
    uint64_t len; /* bytes so far */
    uint8_t buf[64];
};

extern const uint32_t CZ_SHA256_IV[8];
extern const uint32_t CZ_SHA256_K[64];

void cz_sha256_init(struct cz_sha256 *s);
void cz_sha256_update(struct cz_sha256 *s, const void *data, size_t len);
void cz_sha256_final(struct cz_sha256 *s, uint8_t out[32]);
void cz_sha256_bytes(uint8_t out[32], const void *data, size_t len);
/** n 64-byte blocks into state h. */
void cz_sha256_blocks(uint32_t h[8], const uint8_t *data, size_t n);
/** SHA-256 of left ‖ right with the two top bits of byte 31 cleared: a node of a binary tree (fr32-safe). */
void cz_sha256_node(uint8_t out[32], const uint8_t left[32], const uint8_t right[32]);

#endif
