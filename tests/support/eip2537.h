#ifndef CUZK_TESTS_SUPPORT_EIP2537_H
#define CUZK_TESTS_SUPPORT_EIP2537_H

/*
 * The encodings of EIP-2537: a coordinate is 64 bytes big endian of which the first 16 are zero, c0 before c1, a point
 * is x, y, infinity is all zeros; a scalar is any 256-bit number, big endian.
 */

#include "base/bytes.h"
#include "curve/encoding.h"

#define TEST_EIP_G1 128
#define TEST_EIP_G2 256
#define TEST_EIP_SCALAR 32

/** 48 canonical bytes to out; CZ_ERR_FORMAT for the top bytes, CZ_ERR_FIELD_RANGE. */
static inline enum cz_status test_eip_fp(uint8_t out[48], const uint8_t in[64]) {
    struct cz_fp v;
    for (int i = 0; i < 16; i++)
        if (in[i]) return CZ_ERR_FORMAT;
    memcpy(out, in + 16, 48);
    return cz_fp_from_be(&v, out);
}

static inline bool test_eip_is_zero(const uint8_t *in, size_t n) {
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++) any |= in[i];
    return any == 0;
}

/** By way of our uncompressed form, so that the vectors test its decoder. Infinity is allowed, no subgroup check. */
static inline enum cz_status test_eip_g1(struct cz_g1_affine *r, const uint8_t in[TEST_EIP_G1]) {
    uint8_t own[CZ_G1_UNCOMPRESSED] = {0x40};
    if (!test_eip_is_zero(in, TEST_EIP_G1))
        for (int i = 0; i < 2; i++) {
            enum cz_status s = test_eip_fp(own + 48 * i, in + 64 * i);
            if (s != CZ_OK) return s;
        }
    return cz_g1_decode_uncompressed(r, own);
}

static inline enum cz_status test_eip_g2(struct cz_g2_affine *r, const uint8_t in[TEST_EIP_G2]) {
    static const int place[4] = {1, 0, 3, 2};
    uint8_t own[CZ_G2_UNCOMPRESSED] = {0x40};
    if (!test_eip_is_zero(in, TEST_EIP_G2))
        for (int i = 0; i < 4; i++) {
            enum cz_status s = test_eip_fp(own + 48 * place[i], in + 64 * i);
            if (s != CZ_OK) return s;
        }
    return cz_g2_decode_uncompressed(r, own);
}

/** The number as limbs low to high, not reduced. */
static inline void test_eip_scalar(uint64_t limb[4], const uint8_t in[TEST_EIP_SCALAR]) {
    for (int i = 0; i < 4; i++) limb[i] = cz_load_be64(in + 24 - 8 * i);
}

/** The number modulo r: at most two subtractions, as 2^256 < 3r. */
static inline void test_eip_scalar_reduced(struct cz_fr *r, const uint8_t in[TEST_EIP_SCALAR]) {
    uint64_t limb[4];
    test_eip_scalar(limb, in);
    while (cz_fr_from_limbs(r, limb) != CZ_OK) {
        uint64_t borrow = 0;
        for (int i = 0; i < 4; i++) {
            unsigned __int128 d = (unsigned __int128)limb[i] - CZ_FR_MODULUS[i] - borrow;
            limb[i] = (uint64_t)d;
            borrow = (uint64_t)(d >> 64) & 1;
        }
    }
}

#endif
