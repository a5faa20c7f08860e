#include "hash/sha256_int.h"

#include "base/bytes.h"

#include <stdatomic.h>

const uint32_t CZ_SHA256_IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

const uint32_t CZ_SHA256_K[64] __attribute__((aligned(16))) = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static inline uint32_t rotr(uint32_t x, unsigned k) {
    return x >> k | x << (32 - k);
}

void cz_sha256_blocks_portable(uint32_t h[8], const uint8_t *data, size_t n) {
    for (; n > 0; n--, data += 64) {
        uint32_t w[64];
        for (unsigned i = 0; i < 16; i++) w[i] = cz_load_be32(data + 4 * i);
        for (unsigned i = 16; i < 64; i++) {
            uint32_t s0 = rotr(w[i - 15], 7) ^ rotr(w[i - 15], 18) ^ w[i - 15] >> 3;
            uint32_t s1 = rotr(w[i - 2], 17) ^ rotr(w[i - 2], 19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        uint32_t s[8];
        memcpy(s, h, sizeof s);
        for (unsigned i = 0; i < 64; i++) {
            uint32_t s1 = rotr(s[4], 6) ^ rotr(s[4], 11) ^ rotr(s[4], 25);
            uint32_t ch = (s[4] & s[5]) ^ (~s[4] & s[6]);
            uint32_t t1 = s[7] + s1 + ch + CZ_SHA256_K[i] + w[i];
            uint32_t s0 = rotr(s[0], 2) ^ rotr(s[0], 13) ^ rotr(s[0], 22);
            uint32_t maj = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
            s[7] = s[6], s[6] = s[5], s[5] = s[4], s[4] = s[3] + t1;
            s[3] = s[2], s[2] = s[1], s[1] = s[0], s[0] = t1 + s0 + maj;
        }
        for (unsigned i = 0; i < 8; i++) h[i] += s[i];
    }
}

typedef void blocks_fn(uint32_t h[8], const uint8_t *data, size_t n);

/* Set at the first use; two threads that race store the same value. */
static _Atomic(blocks_fn *) chosen;

void cz_sha256_blocks(uint32_t h[8], const uint8_t *data, size_t n) {
    blocks_fn *fn = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!fn) {
        fn = cz_sha256_blocks_portable;
#if CZ_SHA256_HAVE_NI
        if (cz_sha256_ni_supported()) fn = cz_sha256_blocks_ni;
#endif
        atomic_store_explicit(&chosen, fn, memory_order_relaxed);
    }
    fn(h, data, n);
}

void cz_sha256_init(struct cz_sha256 *s) {
    memcpy(s->h, CZ_SHA256_IV, sizeof s->h);
    s->len = 0;
}

void cz_sha256_update(struct cz_sha256 *s, const void *data, size_t len) {
    const uint8_t *p = data;
    size_t have = s->len % 64;
    s->len += len;
    if (have) {
        size_t take = 64 - have < len ? 64 - have : len;
        memcpy(s->buf + have, p, take);
        p += take, len -= take;
        if (have + take < 64) return;
        cz_sha256_blocks(s->h, s->buf, 1);
    }
    if (len >= 64) cz_sha256_blocks(s->h, p, len / 64);
    if (len % 64) memcpy(s->buf, p + len / 64 * 64, len % 64);
}

void cz_sha256_final(struct cz_sha256 *s, uint8_t out[32]) {
    size_t have = s->len % 64;
    s->buf[have++] = 0x80;
    if (have > 56) {
        memset(s->buf + have, 0, 64 - have);
        cz_sha256_blocks(s->h, s->buf, 1);
        have = 0;
    }
    memset(s->buf + have, 0, 56 - have);
    cz_store_be64(s->buf + 56, s->len * 8);
    cz_sha256_blocks(s->h, s->buf, 1);
    for (unsigned i = 0; i < 8; i++) cz_store_be32(out + 4 * i, s->h[i]);
}

void cz_sha256_bytes(uint8_t out[32], const void *data, size_t len) {
    struct cz_sha256 s;
    cz_sha256_init(&s);
    cz_sha256_update(&s, data, len);
    cz_sha256_final(&s, out);
}

void cz_sha256_node(uint8_t out[32], const uint8_t left[32], const uint8_t right[32]) {
    /* The second block of a 64-byte message is padding alone. */
    static const uint8_t padding[64] = {0x80, [62] = 0x02};
    uint8_t block[64];
    uint32_t h[8];
    memcpy(block, left, 32);
    memcpy(block + 32, right, 32);
    memcpy(h, CZ_SHA256_IV, sizeof h);
    cz_sha256_blocks(h, block, 1);
    cz_sha256_blocks(h, padding, 1);
    for (unsigned i = 0; i < 8; i++) cz_store_be32(out + 4 * i, h[i]);
    out[31] &= 0x3f;
}
