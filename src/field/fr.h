#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

/*
 * The scalar field of BLS12-381, r = 0x73eda753…00000001 (spec/fields-and-encodings.md §1).
 * Elements are in Montgomery form, radix 2^256, four 64-bit limbs low to high, always fully reduced (< r).
 * Outputs may alias inputs.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct cz_fr {
    uint64_t l[4];
};

#define CZ_FR_BITS 255
#define CZ_FR_TWO_ADICITY 32
#define CZ_FR_GENERATOR 7

extern const struct cz_fr CZ_FR_ZERO;
extern const struct cz_fr CZ_FR_ONE;
/** r itself, as plain limbs. */
extern const uint64_t CZ_FR_MODULUS[4];

void cz_fr_add(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
void cz_fr_sub(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
void cz_fr_dbl(struct cz_fr *r, const struct cz_fr *a);
void cz_fr_neg(struct cz_fr *r, const struct cz_fr *a);
void cz_fr_mul(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
void cz_fr_sqr(struct cz_fr *r, const struct cz_fr *a);
/** r = a^e. Not constant time in e. */
void cz_fr_pow_vartime(struct cz_fr *r, const struct cz_fr *a, uint64_t e);
/** r = 1/a; 0 gives 0. */
void cz_fr_inv(struct cz_fr *r, const struct cz_fr *a);
bool cz_fr_is_zero(const struct cz_fr *a);
bool cz_fr_eq(const struct cz_fr *a, const struct cz_fr *b);

void cz_fr_from_u64(struct cz_fr *r, uint64_t v);
/** Canonical limbs low to high; CZ_ERR_FIELD_RANGE when >= r (r untouched). */
CZ_MUST_CHECK enum cz_status cz_fr_from_limbs(struct cz_fr *r, const uint64_t limb[4]);
void cz_fr_to_limbs(uint64_t limb[4], const struct cz_fr *a);
/** 32 bytes little endian, canonical: the wire form. CZ_ERR_FIELD_RANGE when >= r (r untouched). */
CZ_MUST_CHECK enum cz_status cz_fr_from_le(struct cz_fr *r, const uint8_t in[32]);
void cz_fr_to_le(uint8_t out[32], const struct cz_fr *a);
/** 32 bytes big endian, as in .prf files and R1CS digests. */
CZ_MUST_CHECK enum cz_status cz_fr_from_be(struct cz_fr *r, const uint8_t in[32]);
void cz_fr_to_be(uint8_t out[32], const struct cz_fr *a);

/** Uniform random element from the system's generator. */
CZ_MUST_CHECK enum cz_status cz_fr_random(struct cz_fr *r);

/** Primitive 2^log2n-th root of unity, 7^(t·2^(32 - log2n)); log2n <= 32. */
void cz_fr_root_of_unity(struct cz_fr *r, unsigned log2n);

/* Batches: n elements each, elementwise, outputs may be the inputs themselves (not shifted). Eight lanes fit. */
void cz_fr_mul_n(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b, size_t n);
/** r[i] = a[i]·k. */
void cz_fr_scale_n(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *k, size_t n);
/** Canonical limbs of n elements, out[4·i …]: scalars for a multi-scalar multiplication. */
void cz_fr_to_limbs_n(uint64_t *out, const struct cz_fr *a, size_t n);
/** r[i] = 1/a[i] with one inversion; zeros stay zero. `scratch` holds n elements, r may be a. */
void cz_fr_inv_n(struct cz_fr *r, const struct cz_fr *a, struct cz_fr *scratch, size_t n);

#endif
