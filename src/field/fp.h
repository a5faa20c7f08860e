#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

/*
 * The base field of BLS12-381, p = 0x1a0111ea…aaab, 381 bits (spec/fields-and-encodings.md §2).
 * Montgomery form, radix 2^384, six 64-bit limbs low to high, always fully reduced. Outputs may alias inputs.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct cz_fp {
    uint64_t l[6];
};

extern const struct cz_fp CZ_FP_ZERO;
extern const struct cz_fp CZ_FP_ONE;
extern const uint64_t CZ_FP_MODULUS[6];

void cz_fp_add(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
void cz_fp_sub(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
void cz_fp_dbl(struct cz_fp *r, const struct cz_fp *a);
void cz_fp_neg(struct cz_fp *r, const struct cz_fp *a);
void cz_fp_mul(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
void cz_fp_sqr(struct cz_fp *r, const struct cz_fp *a);
/** r = a^e, e of n limbs low to high. Not constant time in e. */
void cz_fp_pow_vartime(struct cz_fp *r, const struct cz_fp *a, const uint64_t *e, size_t n);
/** r = 1/a; 0 gives 0. */
void cz_fp_inv(struct cz_fp *r, const struct cz_fp *a);
/** A square root when there is one (p = 3 mod 4); false leaves r untouched. */
bool cz_fp_sqrt(struct cz_fp *r, const struct cz_fp *a);
bool cz_fp_is_zero(const struct cz_fp *a);
bool cz_fp_eq(const struct cz_fp *a, const struct cz_fp *b);
/** True when the canonical value is above (p - 1)/2: "lexicographically largest" of a and -a. */
bool cz_fp_is_largest(const struct cz_fp *a);

void cz_fp_from_u64(struct cz_fp *r, uint64_t v);
/** 48 bytes big endian, canonical. CZ_ERR_FIELD_RANGE when >= p (r untouched). */
CZ_MUST_CHECK enum cz_status cz_fp_from_be(struct cz_fp *r, const uint8_t in[48]);
void cz_fp_to_be(uint8_t out[48], const struct cz_fp *a);

/* Batches: n elements each, elementwise; outputs may be the inputs themselves (not shifted). Eight lanes fit. */
void cz_fp_mul_n(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b, size_t n);
/** r[i] = 1/a[i] with one inversion; zeros stay zero. `scratch` holds n elements, r may be a. */
void cz_fp_inv_n(struct cz_fp *r, const struct cz_fp *a, struct cz_fp *scratch, size_t n);

#endif
