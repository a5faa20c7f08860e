#ifndef CUZK_FIELD_LIMBS_H
#define CUZK_FIELD_LIMBS_H

/* 64-bit add and subtract with carry: the compiler's intrinsics on x86-64, 128-bit C elsewhere. */

#include <stdint.h>

#if defined(__x86_64__)
#include <immintrin.h>

static inline unsigned char cz_limbs_adc(unsigned char carry, uint64_t a, uint64_t b, uint64_t *out) {
    unsigned long long sum;
    carry = _addcarry_u64(carry, a, b, &sum);
    *out = sum;
    return carry;
}
static inline unsigned char cz_limbs_sbb(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *out) {
    unsigned long long diff;
    borrow = _subborrow_u64(borrow, a, b, &diff);
    *out = diff;
    return borrow;
}
#else
static inline unsigned char cz_limbs_adc(unsigned char carry, uint64_t a, uint64_t b, uint64_t *out) {
    unsigned __int128 sum = (unsigned __int128)a + b + carry;
    *out = (uint64_t)sum;
    return (unsigned char)(sum >> 64);
}
static inline unsigned char cz_limbs_sbb(unsigned char borrow, uint64_t a, uint64_t b, uint64_t *out) {
    unsigned __int128 diff = (unsigned __int128)a - b - borrow;
    *out = (uint64_t)diff;
    return (unsigned char)(diff >> 64) & 1;
}
#endif

#endif
