#include "hash/blake2s.h"

#include "base/bytes.h"

#include <string.h>

static const uint32_t IV[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

#define ROUNDS 10
static const uint8_t SIGMA[ROUNDS][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

/* Compresses n blocks; len counts the bytes before them. last is all ones for the final block. */
typedef void compress(uint32_t h[8], uint64_t len, const uint8_t *data, size_t n, uint32_t step, uint32_t last);

static inline uint32_t ror(uint32_t x, int k) {
    return x >> k | x << (32 - k);
}

static inline void mix(uint32_t *v, int a, int b, int c, int d, uint32_t x, uint32_t y) {
    v[a] += v[b] + x;
    v[d] = ror(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = ror(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = ror(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = ror(v[b] ^ v[c], 7);
}

static void compress_portable(uint32_t h[8], uint64_t len, const uint8_t *data, size_t n, uint32_t step,
                              uint32_t last) {
    for (; n; n--, data += 64) {
        uint32_t m[16], v[16];
        for (int i = 0; i < 16; i++) m[i] = cz_load_le32(data + 4 * i);
        len += step;
        memcpy(v, h, 32);
        memcpy(v + 8, IV, 32);
        v[12] ^= (uint32_t)len;
        v[13] ^= (uint32_t)(len >> 32);
        v[14] ^= last;
        for (int r = 0; r < ROUNDS; r++) {
            const uint8_t *s = SIGMA[r];
            for (int i = 0; i < 4; i++) mix(v, i, 4 + i, 8 + i, 12 + i, m[s[2 * i]], m[s[2 * i + 1]]);
            for (int i = 0; i < 4; i++)
                mix(v, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4, m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
        }
        for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[8 + i];
    }
}

#if defined(__x86_64__)
#include <immintrin.h>

/*
 * The state as four rows. For the diagonals rows 0, 2, 3 are turned and row 1, which is ready last, stays: the turns
 * are off the critical path of 12 operations. Words of a round come by two permutations of the block, column steps
 * first.
 */
static uint32_t order[ROUNDS][16]; /* per round: x and y of the columns, x and y of the diagonals as row 1 stands */

static void fill_order(void) {
    for (int r = 0; r < ROUNDS; r++)
        for (int j = 0; j < 4; j++) {
            int i = (j + 3) % 4;
            order[r][j] = SIGMA[r][2 * j];
            order[r][4 + j] = SIGMA[r][2 * j + 1];
            order[r][8 + j] = SIGMA[r][8 + 2 * i];
            order[r][12 + j] = SIGMA[r][9 + 2 * i];
        }
}

#define STEP(m, r1, r2)                                                                                                \
    do {                                                                                                               \
        a = _mm_add_epi32(_mm_add_epi32(a, (m)), b);                                                                   \
        d = _mm_ror_epi32(_mm_xor_si128(d, a), r1);                                                                    \
        c = _mm_add_epi32(c, d);                                                                                       \
        b = _mm_ror_epi32(_mm_xor_si128(b, c), r2);                                                                    \
    } while (0)

__attribute__((target("avx512f,avx512vl"))) static void
compress_avx512(uint32_t h[8], uint64_t len, const uint8_t *data, size_t n, uint32_t step, uint32_t last) {
    __m128i h0 = _mm_loadu_si128((const __m128i *)h), h1 = _mm_loadu_si128((const __m128i *)(h + 4));
    const __m128i iv0 = _mm_loadu_si128((const __m128i *)IV), iv1 = _mm_loadu_si128((const __m128i *)(IV + 4));
    for (; n; n--, data += 64) {
        __m256i low = _mm256_loadu_si256((const __m256i *)data), high = _mm256_loadu_si256((const __m256i *)data + 1);
        len += step;
        __m128i a = h0, b = h1, c = iv0;
        __m128i d = _mm_xor_si128(iv1, _mm_set_epi32(0, (int)last, (int)(len >> 32), (int)len));
#pragma GCC unroll 10
        for (int r = 0; r < ROUNDS; r++) {
            __m256i columns = _mm256_permutex2var_epi32(low, _mm256_loadu_si256((const __m256i *)order[r]), high);
            __m256i diagonals = _mm256_permutex2var_epi32(low, _mm256_loadu_si256((const __m256i *)order[r] + 1), high);
            STEP(_mm256_castsi256_si128(columns), 16, 12);
            STEP(_mm256_extracti128_si256(columns, 1), 8, 7);
            a = _mm_shuffle_epi32(a, _MM_SHUFFLE(2, 1, 0, 3));
            c = _mm_shuffle_epi32(c, _MM_SHUFFLE(0, 3, 2, 1));
            d = _mm_shuffle_epi32(d, _MM_SHUFFLE(1, 0, 3, 2));
            STEP(_mm256_castsi256_si128(diagonals), 16, 12);
            STEP(_mm256_extracti128_si256(diagonals, 1), 8, 7);
            a = _mm_shuffle_epi32(a, _MM_SHUFFLE(0, 3, 2, 1));
            c = _mm_shuffle_epi32(c, _MM_SHUFFLE(2, 1, 0, 3));
            d = _mm_shuffle_epi32(d, _MM_SHUFFLE(1, 0, 3, 2));
        }
        h0 = _mm_xor_si128(h0, _mm_xor_si128(a, c));
        h1 = _mm_xor_si128(h1, _mm_xor_si128(b, d));
    }
    _mm_storeu_si128((__m128i *)h, h0);
    _mm_storeu_si128((__m128i *)(h + 4), h1);
}

static compress *best = compress_portable;

__attribute__((constructor)) static void select_at_start(void) {
    (void)cz_blake2s_vector(1);
}

int cz_blake2s_vector(int enable) {
    __builtin_cpu_init();
    bool can = enable && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl");
    fill_order();
    best = can ? compress_avx512 : compress_portable;
    return can;
}
#else
static compress *const best = compress_portable;

int cz_blake2s_vector(int enable) {
    (void)enable;
    return 0;
}
#endif

void cz_blake2s_init(struct cz_blake2s *s) {
    memset(s, 0, sizeof *s);
    memcpy(s->h, IV, sizeof s->h);
    s->h[0] ^= 0x01010020; /* 32 bytes of digest, no key, fanout and depth 1 */
}

void cz_blake2s_update(struct cz_blake2s *s, const void *data, size_t len) {
    const uint8_t *p = data;
    if (len == 0) return;
    /* The last block waits for cz_blake2s_final: buf may be full, never n blocks and nothing after. */
    if (s->fill + len > 64) {
        size_t take = 64 - s->fill;
        memcpy(s->buf + s->fill, p, take);
        best(s->h, s->len, s->buf, 1, 64, 0);
        s->len += 64;
        s->fill = 0;
        p += take;
        len -= take;
        size_t blocks = (len - 1) / 64; /* len >= 1 */
        best(s->h, s->len, p, blocks, 64, 0);
        s->len += 64 * (uint64_t)blocks;
        p += 64 * blocks;
        len -= 64 * blocks;
    }
    memcpy(s->buf + s->fill, p, len);
    s->fill += (uint32_t)len;
}

void cz_blake2s_final(struct cz_blake2s *s, uint8_t out[32]) {
    memset(s->buf + s->fill, 0, 64 - s->fill);
    best(s->h, s->len, s->buf, 1, s->fill, UINT32_MAX);
    for (int i = 0; i < 8; i++) cz_store_le32(out + 4 * i, s->h[i]);
}
