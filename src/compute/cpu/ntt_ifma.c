#include "compute/cpu/ntt.h"
#include "field/fr_x8.h"

/*
 * Data are in the form of memory (radix 2^256), factors in that of radix 2^260, so products keep the form of memory.
 * Bounds, in multiples of m: a product by a factor is below 3 whatever the data are, and a butterfly adds 2, so a
 * transform of 2^16 values ends below 35, which still fits 260 bits, and nothing is reduced on the way.
 */
typedef struct cz_fr_x8 VE;
typedef struct {
    uint64_t l[5];
} TW;
#define DATA_FIX 16
#define OPS cz_ntt_ifma
#define INLINE static inline __attribute__((always_inline))

/* Rows in pairs to words of eight lanes, and back. */
INLINE void words_from_rows(__m512i w[4], const __m512i z[4]) {
    const __m512i low = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    const __m512i high = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    __m512i e0 = _mm512_unpacklo_epi64(z[0], z[1]), e1 = _mm512_unpacklo_epi64(z[2], z[3]);
    __m512i o0 = _mm512_unpackhi_epi64(z[0], z[1]), o1 = _mm512_unpackhi_epi64(z[2], z[3]);
    w[0] = _mm512_permutex2var_epi64(e0, low, e1);
    w[1] = _mm512_permutex2var_epi64(o0, low, o1);
    w[2] = _mm512_permutex2var_epi64(e0, high, e1);
    w[3] = _mm512_permutex2var_epi64(o0, high, o1);
}

INLINE void v_load(VE *r, const struct cz_fr *p) {
    cz_fr_x8_load(r, p);
}
INLINE void v_load_rows(VE *r, const struct cz_fr *p, size_t stride) {
    __m512i z[4], w[4];
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        __m256i even = _mm256_loadu_si256((const __m256i *)&p[2 * i * stride]);
        z[i] = _mm512_inserti64x4(_mm512_castsi256_si512(even),
                                  _mm256_loadu_si256((const __m256i *)&p[(2 * i + 1) * stride]), 1);
    }
    words_from_rows(w, z);
    cz_fr_x8_split(r, w, 0);
}
INLINE void v_store(struct cz_fr *p, const VE *a) {
    VE t;
    cz_fr_x8_reduce_weak(&t, a);
    cz_fr_x8_reduce(&t, &t);
    cz_fr_x8_store(p, &t);
}
INLINE void v_store_rows(struct cz_fr *p, size_t stride, const VE *a) {
    const __m512i low = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11);
    const __m512i high = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
    VE t;
    __m512i w[4], z[4];
    cz_fr_x8_reduce_weak(&t, a);
    cz_fr_x8_reduce(&t, &t);
    cz_fr_x8_join(w, &t);
    __m512i e0 = _mm512_permutex2var_epi64(w[0], low, w[2]), e1 = _mm512_permutex2var_epi64(w[0], high, w[2]);
    __m512i o0 = _mm512_permutex2var_epi64(w[1], low, w[3]), o1 = _mm512_permutex2var_epi64(w[1], high, w[3]);
    z[0] = _mm512_unpacklo_epi64(e0, o0);
    z[1] = _mm512_unpackhi_epi64(e0, o0);
    z[2] = _mm512_unpacklo_epi64(e1, o1);
    z[3] = _mm512_unpackhi_epi64(e1, o1);
#pragma GCC unroll 4
    for (size_t i = 0; i < 4; i++) {
        _mm256_storeu_si256((__m256i *)&p[2 * i * stride], _mm512_castsi512_si256(z[i]));
        _mm256_storeu_si256((__m256i *)&p[(2 * i + 1) * stride], _mm512_extracti64x4_epi64(z[i], 1));
    }
}
INLINE void v_lanes(VE *r, const struct cz_fr f[8]) {
    VE t;
    cz_fr_x8_load(&t, f);
    cz_fr_x8_from_256(r, &t);
}
static inline void tw_from_fr(TW *r, const struct cz_fr *f) {
    struct cz_fr t = *f;
    for (int i = 0; i < 4; i++) cz_fr_dbl(&t, &t);
    for (int i = 0; i < 5; i++) {
        int word = 52 * i / 64, offset = 52 * i % 64;
        uint64_t v = t.l[word] >> offset;
        if (offset > 12 && word < 3) v |= t.l[word + 1] << (64 - offset);
        r->l[i] = v & ((UINT64_C(1) << 52) - 1);
    }
}
INLINE void v_mul_factor(VE *r, const VE *a, const VE *f) {
    cz_fr_x8_mul(r, a, f);
}
INLINE void v_mul_tw(VE *r, const VE *a, const TW *w) {
    VE f;
    cz_fr_x8_set(&f, w->l);
    cz_fr_x8_mul(r, a, &f);
}
INLINE void v_mul_data(VE *r, const VE *a, const VE *b) {
    VE s, t;
    cz_fr_x8_reduce_weak(&s, a);
    cz_fr_x8_reduce_weak(&t, b);
    cz_fr_x8_mul(r, &s, &t);
}
INLINE void v_sub(VE *r, const VE *a, const VE *b) {
    VE t;
    cz_fr_x8_reduce_weak(&t, b);
    cz_fr_x8_sub(r, a, &t);
}
INLINE void v_butterfly_1(VE *x, VE *y) {
    VE t, u = *x;
    cz_fr_x8_reduce_weak(&t, y);
    cz_fr_x8_sub(y, &u, &t);
    cz_fr_x8_add(x, &u, &t);
}
INLINE void v_butterfly(VE *x, VE *y, const TW *w) {
    VE t, u = *x;
    v_mul_tw(&t, y, w);
    cz_fr_x8_sub(y, &u, &t);
    cz_fr_x8_add(x, &u, &t);
}

#include "compute/cpu/ntt_template.h"
