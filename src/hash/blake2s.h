#ifndef CUZK_HASH_BLAKE2S_H
#define CUZK_HASH_BLAKE2S_H

/*
 * BLAKE2s-256 without key (RFC 7693), for the digests of constraint systems: tens of gigabytes in one stream. One
 * stream is one chain of dependent steps, so its latency is the speed: 4 cycles a byte with AVX-512VL, where OpenSSL's
 * takes 7.
 */

#include <stddef.h>
#include <stdint.h>

struct cz_blake2s {
    uint32_t h[8];
    uint64_t len; /* bytes compressed */
    uint8_t buf[64];
    uint32_t fill;
};

void cz_blake2s_init(struct cz_blake2s *s);
void cz_blake2s_update(struct cz_blake2s *s, const void *data, size_t len);
void cz_blake2s_final(struct cz_blake2s *s, uint8_t out[32]);

/** Whether the vector code is in use; `enable` false goes back to the portable code (for tests). Not thread-safe. */
int cz_blake2s_vector(int enable);

#endif
