/* SHA-256 with the x86 SHA extensions (Intel, "Intel SHA Extensions", 2013): two rounds per sha256rnds2. */

#include "hash/sha256_int.h"

#if CZ_SHA256_HAVE_NI

#include <cpuid.h>
#include <immintrin.h>

bool cz_sha256_ni_supported(void) {
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSSE3) || !(c & bit_SSE4_1)) return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

__attribute__((target("sha,sse4.1,ssse3"))) void cz_sha256_blocks_ni(uint32_t h[8], const uint8_t *data, size_t n) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);

    /* The instructions want (a, b, e, f) and (c, d, g, h), high lane first. */
    __m128i lo = _mm_loadu_si128((const __m128i *)h);       /* d c b a */
    __m128i hi = _mm_loadu_si128((const __m128i *)(h + 4)); /* h g f e */
    lo = _mm_shuffle_epi32(lo, 0xb1);                       /* c d a b */
    hi = _mm_shuffle_epi32(hi, 0x1b);                       /* e f g h */
    __m128i abef = _mm_alignr_epi8(lo, hi, 8);
    __m128i cdgh = _mm_blend_epi16(hi, lo, 0xf0);

    for (; n > 0; n--, data += 64) {
        const __m128i abef_in = abef, cdgh_in = cdgh;
        __m128i w[4];
        for (unsigned i = 0; i < 4; i++)
            w[i] = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(data + 16 * i)), swap);
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; i++) {
            __m128i cur = w[i & 3];
            __m128i wk = _mm_add_epi32(cur, _mm_loadu_si128((const __m128i *)(CZ_SHA256_K + 4 * i)));
            cdgh = _mm_sha256rnds2_epu32(cdgh, abef, wk);
            abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(wk, 0x0e));
            if (i < 12) {
                /* w[t] from w[t-16] (cur), w[t-15], w[t-7] and w[t-2]. */
                __m128i x = _mm_sha256msg1_epu32(cur, w[(i + 1) & 3]);
                x = _mm_add_epi32(x, _mm_alignr_epi8(w[(i + 3) & 3], w[(i + 2) & 3], 4));
                w[i & 3] = _mm_sha256msg2_epu32(x, w[(i + 3) & 3]);
            }
        }
        abef = _mm_add_epi32(abef, abef_in);
        cdgh = _mm_add_epi32(cdgh, cdgh_in);
    }

    __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)h, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(h + 4), _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool cz_sha256_ni_supported(void) {
    return false;
}

#endif
