#ifndef CUZK_FIELD_FR_INLINE_H
#define CUZK_FIELD_FR_INLINE_H

/* The cheap operations of Fr, branch-free, for hot loops. Inputs and outputs fully reduced; outputs may alias inputs.
 */

#include "field/fr.h"
#include "field/limbs.h"

static const uint64_t CZ_FR_INLINE_MODULUS[4] = {0xffffffff00000001, 0x53bda402fffe5bfe, 0x3339d80809a1d805,
                                                 0x73eda753299d7d48};

/** r = t - modulus when t >= modulus, else t; t below twice the modulus. */
static inline void cz_fr_inline_reduce(struct cz_fr *r, const struct cz_fr *t) {
    struct cz_fr d;
    unsigned char borrow = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) borrow = cz_limbs_sbb(borrow, t->l[i], CZ_FR_INLINE_MODULUS[i], &d.l[i]);
    uint64_t keep = (uint64_t)0 - borrow;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) r->l[i] = d.l[i] ^ (keep & (d.l[i] ^ t->l[i]));
}

static inline void cz_fr_inline_add(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    struct cz_fr t;
    unsigned char carry = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) carry = cz_limbs_adc(carry, a->l[i], b->l[i], &t.l[i]);
    cz_fr_inline_reduce(r, &t);
}

static inline void cz_fr_inline_sub(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    struct cz_fr t;
    unsigned char borrow = 0, carry = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) borrow = cz_limbs_sbb(borrow, a->l[i], b->l[i], &t.l[i]);
    uint64_t mask = (uint64_t)0 - borrow;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) carry = cz_limbs_adc(carry, t.l[i], mask & CZ_FR_INLINE_MODULUS[i], &r->l[i]);
}

static inline void cz_fr_inline_dbl(struct cz_fr *r, const struct cz_fr *a) {
    cz_fr_inline_add(r, a, a);
}

static inline bool cz_fr_inline_is_zero(const struct cz_fr *a) {
    return (a->l[0] | a->l[1] | a->l[2] | a->l[3]) == 0;
}

static inline bool cz_fr_inline_eq(const struct cz_fr *a, const struct cz_fr *b) {
    uint64_t d = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) d |= a->l[i] ^ b->l[i];
    return d == 0;
}

static inline void cz_fr_inline_neg(struct cz_fr *r, const struct cz_fr *a) {
    uint64_t mask = (uint64_t)0 - !cz_fr_inline_is_zero(a);
    unsigned char borrow = 0;
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++) borrow = cz_limbs_sbb(borrow, mask & CZ_FR_INLINE_MODULUS[i], a->l[i], &r->l[i]);
}

#endif
