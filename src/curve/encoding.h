#ifndef CUZK_CURVE_ENCODING_H
#define CUZK_CURVE_ENCODING_H

/*
 * The "zcash" point encodings (spec/fields-and-encodings.md §2): coordinates big endian, c1 before c0, three flag bits
 * in the first byte: 0x80 compressed, 0x40 infinity, 0x20 y is the larger root (compressed only).
 *
 * Decoding tells apart, in this order: CZ_ERR_POINT_FORM (a compressed point where an uncompressed one is wanted, or
 * the other way round), CZ_ERR_POINT_INFINITY_BITS (infinity with any other bit set, a sign too), CZ_ERR_POINT_SIGN (a
 * sign on an uncompressed finite point), CZ_ERR_FIELD_RANGE (a coordinate >= p), CZ_ERR_POINT_NOT_ON_CURVE. It accepts
 * infinity and does not check the subgroup; cz_*_check does that. On failure the output is untouched.
 */

#include "curve/g1.h"
#include "curve/g2.h"

#define CZ_G1_COMPRESSED 48
#define CZ_G1_UNCOMPRESSED 96
#define CZ_G2_COMPRESSED 96
#define CZ_G2_UNCOMPRESSED 192

CZ_MUST_CHECK enum cz_status cz_g1_decode(struct cz_g1_affine *r, const uint8_t in[CZ_G1_COMPRESSED]);
CZ_MUST_CHECK enum cz_status cz_g1_decode_uncompressed(struct cz_g1_affine *r, const uint8_t in[CZ_G1_UNCOMPRESSED]);
CZ_MUST_CHECK enum cz_status cz_g2_decode(struct cz_g2_affine *r, const uint8_t in[CZ_G2_COMPRESSED]);
CZ_MUST_CHECK enum cz_status cz_g2_decode_uncompressed(struct cz_g2_affine *r, const uint8_t in[CZ_G2_UNCOMPRESSED]);

void cz_g1_encode(uint8_t out[CZ_G1_COMPRESSED], const struct cz_g1_affine *a);
void cz_g1_encode_uncompressed(uint8_t out[CZ_G1_UNCOMPRESSED], const struct cz_g1_affine *a);
void cz_g2_encode(uint8_t out[CZ_G2_COMPRESSED], const struct cz_g2_affine *a);
void cz_g2_encode_uncompressed(uint8_t out[CZ_G2_UNCOMPRESSED], const struct cz_g2_affine *a);

/**
 * Uncompressed points that are trusted to be valid (a mapped .params file), without curve or range checks: only the
 * flags decide between finite and infinite. n points, 96 or 192 bytes each.
 */
void cz_g1_load_unchecked_n(struct cz_g1_affine *r, const uint8_t *in, size_t n);
void cz_g2_load_unchecked_n(struct cz_g2_affine *r, const uint8_t *in, size_t n);

/** CZ_OK, CZ_ERR_POINT_INFINITY or CZ_ERR_POINT_SUBGROUP: a finite point of order r. */
CZ_MUST_CHECK enum cz_status cz_g1_check(const struct cz_g1_affine *a);
CZ_MUST_CHECK enum cz_status cz_g2_check(const struct cz_g2_affine *a);

#endif
