#ifndef CUZK_FIELD_FP_X8_H
#define CUZK_FIELD_FP_X8_H

/*
 * Eight elements of Fp at once with AVX-512 IFMA, for src/field and src/compute. Only files compiled for IFMA see the
 * contents, and only code that has asked cz_field_current() == CZ_FIELD_IFMA may call them.
 *
 * A value is 8 vectors of 52-bit limbs, lane k holding element k. Limbs are always carried (below 2^52), the value
 * itself is redundant: any representative below 2^12·m (m for the modulus), and each function says what bound it takes
 * and gives. Products are Montgomery products of radix 2^416: r = a·b/2^416. load and store move bits and convert
 * nothing. struct cz_fp in memory is in the form of radix 2^384, so a caller either converts once (from_384, to_384)
 * and keeps its points in the form of radix 2^416, which still fit struct cz_fp, or loads one factor with load_shl32:
 * then a·2^32·b/2^416 = a·b/2^384 stays in the form of memory.
 */

#include "field/fp.h"

#ifdef __AVX512IFMA__

#include <immintrin.h>

struct cz_fp_x8 {
    __m512i l[8];
};

#define CZ_FP_X8_INLINE static inline __attribute__((always_inline))
#define CZ_FP_X8_MASK _mm512_set1_epi64((1ll << 52) - 1)

static const uint64_t CZ_FP_X8_MODULUS[8] = {0xeffffffffaaab, 0xfeb153ffffb9f, 0x6b0f6241eabff, 0x12bf6730d2a0f,
                                             0x764774b84f385, 0x1ba7b6434bacd, 0x1ea397fe69a4b, 0x000000001a011};
/* 16 times the modulus */
static const uint64_t CZ_FP_X8_MULTIPLE[8] = {0xffffffffaaab0, 0xeb153ffffb9fe, 0xb0f6241eabfff, 0x2bf6730d2a0f6,
                                              0x64774b84f3851, 0xba7b6434bacd7, 0xea397fe69a4b1, 0x00000001a0111};
/* 2^416 less the modulus */
static const uint64_t CZ_FP_X8_COMPLEMENT[8] = {0x1000000005555, 0x014eac0000460, 0x94f09dbe15400, 0xed4098cf2d5f0,
                                                0x89b88b47b0c7a, 0xe45849bcb4532, 0xe15c6801965b4, 0xffffffffe5fee};
/* 2^416 mod the modulus: one, in the form of radix 2^416 */
static const uint64_t CZ_FP_X8_ONE[8] = {0x6480ea8e9b9af, 0x65766c8fe444f, 0x8b540fea96f7d, 0x3b2ee82efd422,
                                         0xa6723e5f0ade5, 0xff6eb6fdd4230, 0xe06ef23c24a25, 0x0000000014c8e};
/* A product with these changes the form: times 2^32, and over 2^32. */
static const uint64_t CZ_FP_X8_TO_416[8] = {0x7fde37dba9366, 0x4e27525bc342b, 0x1f5b1e9778489, 0xb872b2b91b9dc,
                                            0xb206f497dfcaf, 0x4137cc89a9b0b, 0xd9d20d7e39959, 0x000000000411c};
static const uint64_t CZ_FP_X8_TO_384[8] = {0x900000002fffd, 0x0bc40c0002760, 0x3c758baebf400, 0x57455f4898575,
                                            0xd77ce58537052, 0x071a97a256ec6, 0xec3fa80e4935c, 0x0000000015f65};
/* -1/modulus mod 2^52 */
#define CZ_FP_X8_INV 0x3fffcfffcfffd

/** The same constant in every lane. */
CZ_FP_X8_INLINE void cz_fp_x8_set(struct cz_fp_x8 *r, const uint64_t limbs[8]) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_set1_epi64((long long)limbs[i]);
}

/* Carries limbs that are signed 64-bit numbers; the value must be in [0, 2^416). */
CZ_FP_X8_INLINE void cz_fp_x8_carry(struct cz_fp_x8 *r) {
    const __m512i mask = CZ_FP_X8_MASK;
#pragma GCC unroll 8
    for (int i = 0; i < 7; i++) {
        r->l[i + 1] = _mm512_add_epi64(r->l[i + 1], _mm512_srai_epi64(r->l[i], 52));
        r->l[i] = _mm512_and_si512(r->l[i], mask);
    }
}

/* 6 vectors of 64-bit limbs, shifted left by `shift` bits, to 8 of 52 bits. */
CZ_FP_X8_INLINE void cz_fp_x8_split(struct cz_fp_x8 *r, const __m512i *w, int shift) {
    const __m512i mask = CZ_FP_X8_MASK;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        int bit = 52 * i - shift;
        if (bit < 0) {
            r->l[i] = _mm512_and_si512(_mm512_slli_epi64(w[0], (unsigned)-bit), mask);
            continue;
        }
        int word = bit / 64, offset = bit % 64;
        __m512i low = word < 6 ? _mm512_srli_epi64(w[word], (unsigned)offset) : _mm512_setzero_si512();
        if (offset > 12 && word + 1 < 6)
            r->l[i] =
                _mm512_ternarylogic_epi64(low, _mm512_slli_epi64(w[word + 1], (unsigned)(64 - offset)), mask, 0xa8);
        else
            r->l[i] = _mm512_and_si512(low, mask);
    }
}

CZ_FP_X8_INLINE void cz_fp_x8_join(__m512i *w, const struct cz_fp_x8 *a) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        int limb = 64 * i / 52, offset = 64 * i % 52;
        w[i] = _mm512_srli_epi64(a->l[limb], (unsigned)offset);
        w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[limb + 1], (unsigned)(52 - offset)));
        if (104 - offset < 64)
            w[i] = _mm512_or_si512(w[i], _mm512_slli_epi64(a->l[limb + 2], (unsigned)(104 - offset)));
    }
}

/* Rows to columns and back: eight vectors of eight 64-bit words. */
CZ_FP_X8_INLINE void cz_fp_x8_transpose(__m512i *c, const __m512i *row) {
    __m512i t[8];
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) {
        t[i] = _mm512_unpacklo_epi64(row[2 * i], row[2 * i + 1]);
        t[4 + i] = _mm512_unpackhi_epi64(row[2 * i], row[2 * i + 1]);
    }
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++) {
        __m512i even0 = _mm512_shuffle_i64x2(t[4 * i], t[4 * i + 1], 0x88);
        __m512i even1 = _mm512_shuffle_i64x2(t[4 * i + 2], t[4 * i + 3], 0x88);
        __m512i odd0 = _mm512_shuffle_i64x2(t[4 * i], t[4 * i + 1], 0xdd);
        __m512i odd1 = _mm512_shuffle_i64x2(t[4 * i + 2], t[4 * i + 3], 0xdd);
        c[i] = _mm512_shuffle_i64x2(even0, even1, 0x88);
        c[i + 4] = _mm512_shuffle_i64x2(even0, even1, 0xdd);
        c[i + 2] = _mm512_shuffle_i64x2(odd0, odd1, 0x88);
        c[i + 6] = _mm512_shuffle_i64x2(odd0, odd1, 0xdd);
    }
}

/** Lane k from *a[k], whose 384 bits are taken as they are. */
CZ_FP_X8_INLINE void cz_fp_x8_gather(struct cz_fp_x8 *r, const struct cz_fp *const a[8]) {
    __m512i row[8], c[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) row[i] = _mm512_maskz_loadu_epi64(0x3f, a[i]->l);
    cz_fp_x8_transpose(c, row);
    cz_fp_x8_split(r, c, 0);
}

CZ_FP_X8_INLINE void cz_fp_x8_load(struct cz_fp_x8 *r, const struct cz_fp a[8]) {
    __m512i row[8], c[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) row[i] = _mm512_maskz_loadu_epi64(0x3f, a[i].l);
    cz_fp_x8_transpose(c, row);
    cz_fp_x8_split(r, c, 0);
}

/** Loads a·2^32, below 2^32·m for elements below m: a factor against one below 2m. */
CZ_FP_X8_INLINE void cz_fp_x8_load_shl32(struct cz_fp_x8 *r, const struct cz_fp a[8]) {
    __m512i row[8], c[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) row[i] = _mm512_maskz_loadu_epi64(0x3f, a[i].l);
    cz_fp_x8_transpose(c, row);
    cz_fp_x8_split(r, c, 32);
}

/** Lane k to *out[k] for the lanes of `lanes`; the value must be below 2^384 (9m). */
CZ_FP_X8_INLINE void cz_fp_x8_scatter(struct cz_fp *const out[8], const struct cz_fp_x8 *a, __mmask8 lanes) {
    __m512i row[8], c[8];
    cz_fp_x8_join(c, a);
    c[6] = c[7] = _mm512_setzero_si512();
    cz_fp_x8_transpose(row, c);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        if (lanes >> i & 1) _mm512_mask_storeu_epi64(out[i]->l, 0x3f, row[i]);
}

/** The value must be below 2^384 (9m); other code of ours wants canonical elements (cz_fp_x8_reduce). */
CZ_FP_X8_INLINE void cz_fp_x8_store(struct cz_fp out[8], const struct cz_fp_x8 *a) {
    __m512i row[8], c[8];
    cz_fp_x8_join(c, a);
    c[6] = c[7] = _mm512_setzero_si512();
    cz_fp_x8_transpose(row, c);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) _mm512_mask_storeu_epi64(out[i].l, 0x3f, row[i]);
}

/** r = a + b; the bounds add up. */
CZ_FP_X8_INLINE void cz_fp_x8_add(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_add_epi64(a->l[i], b->l[i]);
    cz_fp_x8_carry(r);
}

/** r = a - b + 16m for b at most 16m; r is below a's bound plus 16m. */
CZ_FP_X8_INLINE void cz_fp_x8_sub(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        r->l[i] =
            _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]), _mm512_set1_epi64((long long)CZ_FP_X8_MULTIPLE[i]));
    cz_fp_x8_carry(r);
}

/** r = 16m - a for a at most 16m. */
CZ_FP_X8_INLINE void cz_fp_x8_neg(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_sub_epi64(_mm512_set1_epi64((long long)CZ_FP_X8_MULTIPLE[i]), a->l[i]);
    cz_fp_x8_carry(r);
}

/** The lanes of `lanes` negated as by cz_fp_x8_neg, the others copied. */
CZ_FP_X8_INLINE void cz_fp_x8_neg_lanes(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, __mmask8 lanes) {
    struct cz_fp_x8 t;
    cz_fp_x8_neg(&t, a);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_mask_blend_epi64(lanes, a->l[i], t.l[i]);
}

/** r = b in the lanes of `lanes`, a in the others. */
CZ_FP_X8_INLINE void cz_fp_x8_select(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b,
                                     __mmask8 lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_mask_blend_epi64(lanes, a->l[i], b->l[i]);
}

/**
 * r = a·b/2^416. With a < x·m and b < y·m, r < (1 + x·y/42282111731)·m, so for x·y up to 2^24 hardly above m, and x·y
 * at most 2^34. The reduction is interleaved limb by limb (CIOS); columns stay below 2^58.
 */
CZ_FP_X8_INLINE void cz_fp_x8_mul(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b) {
    __m512i t[9];
    const __m512i zero = _mm512_setzero_si512(), inv = _mm512_set1_epi64(CZ_FP_X8_INV), mask = CZ_FP_X8_MASK;
#pragma GCC unroll 8
    for (int j = 0; j < 8; j++) t[j] = _mm512_madd52lo_epu64(zero, a->l[j], b->l[0]);
    t[8] = zero;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, t[0], inv);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            t[j + 1] = _mm512_madd52hi_epu64(t[j + 1], a->l[j], b->l[i]);
            if (i + 1 < 8) t[j + 1] = _mm512_madd52lo_epu64(t[j + 1], a->l[j], b->l[i + 1]);
        }
        t[1] = _mm512_add_epi64(t[1], _mm512_srli_epi64(_mm512_add_epi64(t[0], mask), 52));
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            t[j] = _mm512_madd52hi_epu64(t[j + 1], q, _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[j]));
            if (j + 1 < 8) t[j] = _mm512_madd52lo_epu64(t[j], q, _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[j + 1]));
        }
        t[8] = zero;
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = t[i];
    cz_fp_x8_carry(r);
}

/** r = a²/2^416, bounds as cz_fp_x8_mul. Cross products once, doubled by column; then the reduction. */
CZ_FP_X8_INLINE void cz_fp_x8_sqr(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    __m512i t[16];
    const __m512i zero = _mm512_setzero_si512(), inv = _mm512_set1_epi64(CZ_FP_X8_INV), mask = CZ_FP_X8_MASK;
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) t[i] = zero;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
#pragma GCC unroll 8
        for (int j = i + 1; j < 8; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], a->l[i], a->l[j]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], a->l[i], a->l[j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        t[2 * i] = _mm512_madd52lo_epu64(_mm512_add_epi64(t[2 * i], t[2 * i]), a->l[i], a->l[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(_mm512_add_epi64(t[2 * i + 1], t[2 * i + 1]), a->l[i], a->l[i]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, t[i], inv);
        t[i + 1] = _mm512_add_epi64(t[i + 1], _mm512_srli_epi64(_mm512_add_epi64(t[i], mask), 52));
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) {
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[j]));
            if (j + 1 < 8)
                t[i + j + 1] =
                    _mm512_madd52lo_epu64(t[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[j + 1]));
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = t[i + 8];
    cz_fp_x8_carry(r);
}

/** From the form of radix 2^384 to that of 2^416; r below 2m. */
CZ_FP_X8_INLINE void cz_fp_x8_from_384(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    struct cz_fp_x8 k;
    cz_fp_x8_set(&k, CZ_FP_X8_TO_416);
    cz_fp_x8_mul(r, a, &k);
}

/** From the form of radix 2^416 to that of 2^384; r below 2m. */
CZ_FP_X8_INLINE void cz_fp_x8_to_384(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    struct cz_fp_x8 k;
    cz_fp_x8_set(&k, CZ_FP_X8_TO_384);
    cz_fp_x8_mul(r, a, &k);
}

/**
 * Any value below 2^12·m (m for the modulus) to one below 2m: takes off q·m, where q is the quotient estimated from the
 * top limb.
 */
CZ_FP_X8_INLINE void cz_fp_x8_reduce_weak(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    const __m512i zero = _mm512_setzero_si512();
    /* floor(2^52 / (top limb of m + 1)) */
    const __m512i q = _mm512_madd52hi_epu64(zero, a->l[7], _mm512_set1_epi64(0x00009d8307de6));
    __m512i t[9];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) t[i] = a->l[i];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m512i m = _mm512_set1_epi64((long long)CZ_FP_X8_COMPLEMENT[i]);
        t[i] = _mm512_madd52lo_epu64(t[i], q, m);
        if (i < 7) t[i + 1] = _mm512_madd52hi_epu64(t[i + 1], q, m);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = t[i];
    cz_fp_x8_carry(r);
    r->l[7] = _mm512_and_si512(r->l[7], CZ_FP_X8_MASK);
}

/** A value below 2m to the canonical one. */
CZ_FP_X8_INLINE void cz_fp_x8_reduce(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    struct cz_fp_x8 t;
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) t.l[i] = _mm512_sub_epi64(a->l[i], _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[i]));
    cz_fp_x8_carry(&t);
    __mmask8 below = _mm512_movepi64_mask(t.l[7]);
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) r->l[i] = _mm512_mask_blend_epi64(below, t.l[i], a->l[i]);
}

/** The lanes that are zero, for a value below 2m: 0 and m both count. */
CZ_FP_X8_INLINE __mmask8 cz_fp_x8_zero_lanes(const struct cz_fp_x8 *a) {
    __m512i any = a->l[0], diff = _mm512_xor_si512(a->l[0], _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[0]));
#pragma GCC unroll 8
    for (int i = 1; i < 8; i++) {
        any = _mm512_or_si512(any, a->l[i]);
        diff = _mm512_or_si512(diff, _mm512_xor_si512(a->l[i], _mm512_set1_epi64((long long)CZ_FP_X8_MODULUS[i])));
    }
    return _mm512_testn_epi64_mask(any, any) | _mm512_testn_epi64_mask(diff, diff);
}

#endif

#endif
