/*
 * First byte of a point:
 *
 *   bit 7     bit 6     bit 5                 bits 4 to 0
 *   0x80      0x40      0x20                  top of the first coordinate
 *   compr.    infinity  y is the larger root
 */

#include "curve/encoding.h"

#include "base/bytes.h"
#include "curve/g_int.h"

#define CZ_CURVE_NEED_R2
#include "curve/constants.h"

enum { FLAG_COMPRESSED = 0x80, FLAG_INFINITY = 0x40, FLAG_LARGEST = 0x20, FLAGS = 0xe0 };

/* Checks the flags of the `size` bytes at `in` against the form; says whether the point is infinity and y's sign. */
static enum cz_status read_flags(bool *infinite, bool *largest, const uint8_t *in, size_t size, bool compressed) {
    uint8_t rest = (uint8_t)(in[0] & ~(FLAG_COMPRESSED | FLAG_INFINITY));
    if (((in[0] & FLAG_COMPRESSED) != 0) != compressed) return CZ_ERR_POINT_FORM;
    *infinite = (in[0] & FLAG_INFINITY) != 0;
    *largest = (in[0] & FLAG_LARGEST) != 0;
    if (*infinite) {
        for (size_t i = 1; i < size; i++) rest |= in[i];
        return rest ? CZ_ERR_POINT_INFINITY_BITS : CZ_OK;
    }
    return *largest && !compressed ? CZ_ERR_POINT_SIGN : CZ_OK;
}

/* A coordinate, c1 before c0 in Fp2; the first one of a point without its flags. */
static enum cz_status read_fp(struct cz_fp *r, const uint8_t *in, bool first) {
    uint8_t copy[48];
    memcpy(copy, in, sizeof copy);
    if (first) copy[0] &= (uint8_t)~FLAGS;
    return cz_fp_from_be(r, copy);
}

static enum cz_status read_fp2(struct cz_fp2 *r, const uint8_t *in, bool first) {
    enum cz_status s = read_fp(&r->c1, in, first);
    return s != CZ_OK ? s : read_fp(&r->c0, in + 48, false);
}

static void write_fp2(uint8_t *out, const struct cz_fp2 *a) {
    cz_fp_to_be(out, &a->c1);
    cz_fp_to_be(out + 48, &a->c0);
}

#define G(f) cz_g1_##f
#define AFFINE struct cz_g1_affine
#define FE struct cz_fp
#define F(f) cz_fp_##f
#define FE_SIZE 48
#define FE_READ read_fp
#define FE_WRITE cz_fp_to_be
#include "curve/encoding_template.h"

#define G(f) cz_g2_##f
#define AFFINE struct cz_g2_affine
#define FE struct cz_fp2
#define F(f) cz_fp2_##f
#define FE_SIZE 96
#define FE_READ read_fp2
#define FE_WRITE write_fp2
#include "curve/encoding_template.h"

static void load_limbs(struct cz_fp *r, const uint8_t *in) {
    for (int i = 0; i < 6; i++) r->l[i] = cz_load_be64(in + 40 - 8 * i);
}

/* Puts `n` plain values into Montgomery form, a chunk at a time so that the batch multiplication has its lanes full. */
static void to_montgomery_n(struct cz_fp *a, size_t n) {
    enum { CHUNK = 32 };
    struct cz_fp factor[CHUNK];
    for (int i = 0; i < CHUNK; i++) factor[i] = fp_r2;
    for (size_t i = 0; i < n; i += CHUNK) cz_fp_mul_n(a + i, a + i, factor, n - i < CHUNK ? n - i : CHUNK);
}

void cz_g1_load_unchecked_n(struct cz_g1_affine *r, const uint8_t *in, size_t n) {
    for (size_t i = 0; i < n; i++, in += CZ_G1_UNCOMPRESSED) {
        if (in[0] & FLAG_INFINITY) {
            memset(&r[i], 0, sizeof r[i]);
            continue;
        }
        load_limbs(&r[i].x, in);
        load_limbs(&r[i].y, in + 48);
    }
    to_montgomery_n(&r->x, 2 * n);
}

void cz_g2_load_unchecked_n(struct cz_g2_affine *r, const uint8_t *in, size_t n) {
    for (size_t i = 0; i < n; i++, in += CZ_G2_UNCOMPRESSED) {
        if (in[0] & FLAG_INFINITY) {
            memset(&r[i], 0, sizeof r[i]);
            continue;
        }
        load_limbs(&r[i].x.c1, in);
        load_limbs(&r[i].x.c0, in + 48);
        load_limbs(&r[i].y.c1, in + 96);
        load_limbs(&r[i].y.c0, in + 144);
    }
    to_montgomery_n(&r->x.c0, 4 * n);
}
