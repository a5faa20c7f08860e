#ifndef CUZK_FIELD_FR_X8_H
#define CUZK_FIELD_FR_X8_H

/*
 * Eight elements of Fr at once with AVX-512 IFMA, for src/field and src/compute. Only files compiled for IFMA see the
 * contents, and only code that has asked cz_field_current() == CZ_FIELD_IFMA may call them.
 *
 * A value is 5 vectors of 52-bit limbs, lane k holding element k. Limbs are always carried (below 2^52), the value
 * itself is redundant: any representative below 32·m (m for the modulus), and each function says what bound it takes
 * and gives. Products are Montgomery products of radix 2^260: r = a·b/2^260. load and store move bits and convert
 * nothing. struct cz_fr in memory is in the form of radix 2^256. A product of such data with a constant in the form of
 * radix 2^260 (a twiddle, say; from_256 makes it) stays in the form of memory; a product of two of them wants one of
 * them loaded with load_shl4: a·2^4·b/2^260 = a·b/2^256.
 */

#include "field/fr.h"

#ifdef __AVX512IFMA__

#include <immintrin.h>

struct cz_fr_x8 {
    __m512i l[5];
};

#define CZ_FR_X8_INLINE static inline __attribute__((always_inline))
#define CZ_FR_X8_MASK _mm512_set1_epi64((1ll << 52) - 1)

static const uint64_t CZ_FR_X8_MODULUS[5] = {0xfffff00000001, 0x02fffe5bfefff, 0x9a1d80553bda4, 0x7d483339d8080,
                                             0x073eda753299d};
/* 2 times the modulus */
static const uint64_t CZ_FR_X8_MULTIPLE[5] = {0xffffe00000002, 0x05fffcb7fdfff, 0x343b00aa77b48, 0xfa906673b0101,
                                              0x0e7db4ea6533a};
/* 2^260 less the modulus */
static const uint64_t CZ_FR_X8_COMPLEMENT[5] = {0x00000ffffffff, 0xfd0001a401000, 0x65e27faac425b, 0x82b7ccc627f7f,
                                                0xf8c1258acd662};
/* 2^260 mod the modulus: one, in the form of radix 2^260 */
static const uint64_t CZ_FR_X8_ONE[5] = {0x00022ffffffdd, 0x9700396c23000, 0xedf77458d1293, 0xdf20ff1776e6a,
                                         0x026821fa14f77};
/* A product with these changes the form: times 2^4, and over 2^4. */
static const uint64_t CZ_FR_X8_TO_260[5] = {0x00234fffffdcb, 0x61039ef635000, 0xdce3c3e2e7505, 0x7fa6f1563642b,
                                            0x0247db575276a};
static const uint64_t CZ_FR_X8_TO_256[5] = {0x00001fffffffe, 0xfa00034802000, 0xcbc4ff55884b7, 0x056f998c4fefe,
                                            0x01824b159acc5};
/* -1/modulus mod 2^52 */
#define CZ_FR_X8_INV 0xffffeffffffff

/** The same constant in every lane. */
CZ_FR_X8_INLINE void cz_fr_x8_set(struct cz_fr_x8 *r, const uint64_t limbs[5]) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_set1_epi64((long long)limbs[i]);
}

/* Carries limbs that are signed 64-bit numbers; the value must be in [0, 2^260). */
CZ_FR_X8_INLINE void cz_fr_x8_carry(struct cz_fr_x8 *r) {
    const __m512i mask = CZ_FR_X8_MASK;
#pragma GCC unroll 5
    for (int i = 0; i < 4; i++) {
        r->l[i + 1] = _mm512_add_epi64(r->l[i + 1], _mm512_srai_epi64(r->l[i], 52));
        r->l[i] = _mm512_and_si512(r->l[i], mask);
    }
}

/* 4 vectors of 64-bit limbs, shifted left by `shift` bits, to 5 of 52 bits. */
CZ_FR_X8_INLINE void cz_fr_x8_split(struct cz_fr_x8 *r, const __m512i *w, int shift) {
    const __m512i mask = CZ_FR_X8_MASK;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        int bit = 52 * i - shift;
        if (bit < 0) {
            r->l[i] = _mm512_and_si512(_mm512_slli_epi64(w[0], (unsigned)-bit), mask);
            continue;
        }
        int word = bit / 64, offset = bit % 64;
        __m512i low = word < 4 ? _mm512_srli_epi64(w[word], (unsigned)offset) : _mm512_setzero_si512();
        if (offset > 12 && word + 1 < 4)
            r->l[i] =
                _mm512_ternarylogic_epi64(low, _mm512_slli_epi64(w[word + 1], (unsigned)(64 - offset)), mask, 0xa8);
        else
            r->l[i] = _mm512_and_si512(low, mask);
    }
}

CZ_FR_X8_INLINE void cz_fr_x8_join(__m512i *w, const struct cz_fr_x8 *a) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        int limb = 64 * i / 52, offset = 64 * i % 52;
        w[i] = _mm512_srli_epi64(a->l[limb], (unsigned)offset);
        w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[limb + 1], (unsigned)(52 - offset)));
        if (104 - offset < 64)
            w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[limb + 2], (unsigned)(104 - offset)));
    }
}

/* Eight elements in four vectors to four columns, in order. */
CZ_FR_X8_INLINE void cz_fr_x8_load_words(__m512i *w, const struct cz_fr a[8]) {
    const __m512i low = _mm512_setr_epi64(0, 4, 1, 5, 8, 12, 9, 13);
    const __m512i high = _mm512_setr_epi64(2, 6, 3, 7, 10, 14, 11, 15);
    __m512i z[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) z[i] = _mm512_loadu_si512(&a[2 * i]);
    __m512i e0 = _mm512_unpacklo_epi64(z[0], z[1]), e1 = _mm512_unpacklo_epi64(z[2], z[3]);
    __m512i o0 = _mm512_unpackhi_epi64(z[0], z[1]), o1 = _mm512_unpackhi_epi64(z[2], z[3]);
    w[0] = _mm512_permutex2var_epi64(e0, low, e1);
    w[1] = _mm512_permutex2var_epi64(o0, low, o1);
    w[2] = _mm512_permutex2var_epi64(e0, high, e1);
    w[3] = _mm512_permutex2var_epi64(o0, high, o1);
}

CZ_FR_X8_INLINE void cz_fr_x8_store_words(struct cz_fr out[8], const __m512i *w) {
    const __m512i low = _mm512_setr_epi64(0, 2, 8, 10, 1, 3, 9, 11);
    const __m512i high = _mm512_setr_epi64(4, 6, 12, 14, 5, 7, 13, 15);
    __m512i e0 = _mm512_permutex2var_epi64(w[0], low, w[2]), e1 = _mm512_permutex2var_epi64(w[0], high, w[2]);
    __m512i o0 = _mm512_permutex2var_epi64(w[1], low, w[3]), o1 = _mm512_permutex2var_epi64(w[1], high, w[3]);
    _mm512_storeu_si512(&out[0], _mm512_unpacklo_epi64(e0, o0));
    _mm512_storeu_si512(&out[2], _mm512_unpackhi_epi64(e0, o0));
    _mm512_storeu_si512(&out[4], _mm512_unpacklo_epi64(e1, o1));
    _mm512_storeu_si512(&out[6], _mm512_unpackhi_epi64(e1, o1));
}

CZ_FR_X8_INLINE void cz_fr_x8_load(struct cz_fr_x8 *r, const struct cz_fr a[8]) {
    __m512i w[4];
    cz_fr_x8_load_words(w, a);
    cz_fr_x8_split(r, w, 0);
}

/** Loads a·2^4, below 16m for elements below m: a factor against one below 2m. */
CZ_FR_X8_INLINE void cz_fr_x8_load_shl4(struct cz_fr_x8 *r, const struct cz_fr a[8]) {
    __m512i w[4];
    cz_fr_x8_load_words(w, a);
    cz_fr_x8_split(r, w, 4);
}

/** The value must be below 2^256 (2m is); other code of ours wants canonical elements (cz_fr_x8_reduce). */
CZ_FR_X8_INLINE void cz_fr_x8_store(struct cz_fr out[8], const struct cz_fr_x8 *a) {
    __m512i w[4];
    cz_fr_x8_join(w, a);
    cz_fr_x8_store_words(out, w);
}

/** r = a + b; the bounds add up. */
CZ_FR_X8_INLINE void cz_fr_x8_add(struct cz_fr_x8 *r, const struct cz_fr_x8 *a, const struct cz_fr_x8 *b) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
    cz_fr_x8_carry(r);
}

/** r = a - b + 2m for b at most 2m; r is below a's bound plus 2m. */
CZ_FR_X8_INLINE void cz_fr_x8_sub(struct cz_fr_x8 *r, const struct cz_fr_x8 *a, const struct cz_fr_x8 *b) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++)
        r->l[i] =
            _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]), _mm512_set1_epi64((long long)CZ_FR_X8_MULTIPLE[i]));
    cz_fr_x8_carry(r);
}

/** r = 2m - a for a at most 2m. */
CZ_FR_X8_INLINE void cz_fr_x8_neg(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_sub_epi64(_mm512_set1_epi64((long long)CZ_FR_X8_MULTIPLE[i]), a->l[i]);
    cz_fr_x8_carry(r);
}

/** The lanes of `lanes` negated as by cz_fr_x8_neg, the others copied. */
CZ_FR_X8_INLINE void cz_fr_x8_neg_lanes(struct cz_fr_x8 *r, const struct cz_fr_x8 *a, __mmask8 lanes) {
    struct cz_fr_x8 t;
    cz_fr_x8_neg(&t, a);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_mask_blend_epi64(lanes, a->l[i], t.l[i]);
}

/** r = b in the lanes of `lanes`, a in the others. */
CZ_FR_X8_INLINE void cz_fr_x8_select(struct cz_fr_x8 *r, const struct cz_fr_x8 *a, const struct cz_fr_x8 *b,
                                     __mmask8 lanes) {
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_mask_blend_epi64(lanes, a->l[i], b->l[i]);
}

/**
 * r = a·b/2^260. With a < x·m and b < y·m, r < (1 + x·y/35)·m, and x·y at most 35·34.
 * The reduction is interleaved limb by limb (CIOS); columns stay below 2^58. The low limb of t + q·m is zero by the
 * choice of q, so its carry is t's low column rounded up, and its product is not made. The products of the next limb of
 * b are added before q is needed: that takes them off the longest chain.
 */
CZ_FR_X8_INLINE void cz_fr_x8_mul(struct cz_fr_x8 *r, const struct cz_fr_x8 *a, const struct cz_fr_x8 *b) {
    __m512i t[6];
    const __m512i zero = _mm512_setzero_si512(), inv = _mm512_set1_epi64(CZ_FR_X8_INV), mask = CZ_FR_X8_MASK;
#pragma GCC unroll 5
    for (int j = 0; j < 5; j++) t[j] = _mm512_madd52lo_epu64(zero, a->l[j], b->l[0]);
    t[5] = zero;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, t[0], inv);
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a->l[j], b->l[i]);
            if (i + 1 < 5) t[j + 1] = _mm512_madd52lo_epu64(t[j + 1], a->l[j], b->l[i + 1]);
        }
        t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(_mm512_add_epi64(t[0], mask), 52));
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            t[j] = _mm512_madd52hi_epu64(t[j + 1], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j]));
            if (j + 1 < 5) t[j] = _mm512_madd52lo_epu64(t[j], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j + 1]));
        }
        t[5] = zero;
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = t[i];
    cz_fr_x8_carry(r);
}

/** r = a²/2^260, bounds as cz_fr_x8_mul. Cross products once, doubled by column; then the reduction. */
CZ_FR_X8_INLINE void cz_fr_x8_sqr(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    __m512i t[10];
    const __m512i zero = _mm512_setzero_si512(), inv = _mm512_set1_epi64(CZ_FR_X8_INV), mask = CZ_FR_X8_MASK;
#pragma GCC unroll 10
    for (int i = 0; i < 10; i++) t[i] = zero;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
#pragma GCC unroll 5
        for (int j = i + 1; j < 5; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[i], a->l[j]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[i], a->l[j]);
        }
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        t[2 * i] = _mm512_madd52lo_epu64(_mm512_add_epi64(t[2 * i], t[2 * i]), a->l[i], a->l[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(_mm512_add_epi64(t[2 * i + 1], t[2 * i + 1]), a->l[i], a->l[i]);
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, t[i], inv);
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64(_mm512_add_epi64(t[i], mask), 52));
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j]));
            if (j + 1 < 5)
                t[i + j + 1] =
                    _mm512_madd52lo_epu64(t[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j + 1]));
        }
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = t[i + 5];
    cz_fr_x8_carry(r);
}

/** From the form of radix 2^256 to that of 2^260; r below 2m. */
CZ_FR_X8_INLINE void cz_fr_x8_from_256(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    struct cz_fr_x8 k;
    cz_fr_x8_set(&k, CZ_FR_X8_TO_260);
    cz_fr_x8_mul(r, a, &k);
}

/** From the form of radix 2^260 to that of 2^256; r below 2m. */
CZ_FR_X8_INLINE void cz_fr_x8_to_256(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    struct cz_fr_x8 k;
    cz_fr_x8_set(&k, CZ_FR_X8_TO_256);
    cz_fr_x8_mul(r, a, &k);
}

/**
 * Any value below 32·m (m for the modulus) to one below 2m: takes off q·m, where q is the quotient estimated from the
 * top limb.
 */
CZ_FR_X8_INLINE void cz_fr_x8_reduce_weak(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    const __m512i zero = _mm512_setzero_si512();
    /* floor(2^52 / (top ten bits of m + 1)) against the same bits of a */
    const __m512i top = _mm512_srli_epi64(a->l[4], 37);
    const __m512i q = _mm512_madd52hi_epu64(zero, top, _mm512_set1_epi64(0x00469ee58469e));
    __m512i t[6];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) t[i] = a->l[i];
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        const __m512i m = _mm512_set1_epi64((long long)CZ_FR_X8_COMPLEMENT[i]);
        t[i] = _mm512_madd52lo_epu64(t[i], q, m);
        if (i < 4) t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], q, m);
    }
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = t[i];
    cz_fr_x8_carry(r);
    r->l[4] = _mm512_and_si512(r->l[4], CZ_FR_X8_MASK);
}

/** A value below 2m to the canonical one. */
CZ_FR_X8_INLINE void cz_fr_x8_reduce(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    struct cz_fr_x8 t;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) t.l[i] = _mm512_sub_epi64(a->l[i], _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[i]));
    cz_fr_x8_carry(&t);
    __mmask8 below = _mm512_movepi64_mask(t.l[4]);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) r->l[i] = _mm512_mask_blend_epi64(below, t.l[i], a->l[i]);
}

/** The lanes that are zero, for a value below 2m: 0 and m both count. */
CZ_FR_X8_INLINE __mmask8 cz_fr_x8_zero_lanes(const struct cz_fr_x8 *a) {
    __m512i any = a->l[0], diff = _mm512_xor_si512(a->l[0], _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[0]));
#pragma GCC unroll 5
    for (int i = 1; i < 5; i++) {
        any = _mm512_or_si512(any, a->l[i]);
        diff = _mm512_or_si512(diff, _mm512_xor_si512(a->l[i], _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[i])));
    }
    return _mm512_testn_epi64_mask(any, any) | _mm512_testn_epi64_mask(diff, diff);
}

#endif

#endif
