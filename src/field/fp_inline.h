#ifndef CUZK_FIELD_FP_INLINE_H
#define CUZK_FIELD_FP_INLINE_H

/* The cheap operations of Fp, branch-free, for hot loops. Inputs and outputs fully reduced; outputs may alias inputs.
 */

#include "field/fp.h"
#include "field/limbs.h"

static const uint64_t CZ_FP_INLINE_MODULUS[6] = {0xb9feffffffffaaab, 0x1eabfffeb153ffff, 0x6730d2a0f6b0f624,
                                                 0x64774b84f38512bf, 0x4b1ba7b6434bacd7, 0x1a0111ea397fe69a};

/** r = t - modulus when t >= modulus, else t; t below twice the modulus. */
static inline void cz_fp_inline_reduce(struct cz_fp *r, const struct cz_fp *t) {
    struct cz_fp d;
    unsigned char borrow = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) borrow = cz_limbs_sbb(borrow, t->l[i], CZ_FP_INLINE_MODULUS[i], &d.l[i]);
    uint64_t keep = (uint64_t)0 - borrow;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) r->l[i] = d.l[i] ^ (keep & (d.l[i] ^ t->l[i]));
}

static inline void cz_fp_inline_add(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    struct cz_fp t;
    unsigned char carry = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) carry = cz_limbs_adc(carry, a->l[i], b->l[i], &t.l[i]);
    cz_fp_inline_reduce(r, &t);
}

static inline void cz_fp_inline_sub(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    struct cz_fp t;
    unsigned char borrow = 0, carry = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) borrow = cz_limbs_sbb(borrow, a->l[i], b->l[i], &t.l[i]);
    uint64_t mask = (uint64_t)0 - borrow;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) carry = cz_limbs_adc(carry, t.l[i], mask & CZ_FP_INLINE_MODULUS[i], &r->l[i]);
}

static inline void cz_fp_inline_dbl(struct cz_fp *r, const struct cz_fp *a) {
    cz_fp_inline_add(r, a, a);
}

static inline bool cz_fp_inline_is_zero(const struct cz_fp *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3] | a->l[4] | a->l[5]) == 0;
}

static inline bool cz_fp_inline_eq(const struct cz_fp *a, const struct cz_fp *b) {
    uint64_t d = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) d |= a->l[i] ^ b->l[i];
    return d == 0;
}

static inline void cz_fp_inline_neg(struct cz_fp *r, const struct cz_fp *a) {
    uint64_t mask = (uint64_t)0 - !cz_fp_inline_is_zero(a);
    unsigned char borrow = 0;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) borrow = cz_limbs_sbb(borrow, mask & CZ_FP_INLINE_MODULUS[i], a->l[i], &r->l[i]);
}

#endif
