#include "field/fr.h"

#include "base/bytes.h"
#include "base/random.h"
#include "field/constants.h"
#include "field/field_int.h"
#include "field/fr_inline.h"
#include "field/safegcd.h"

const struct cz_fr CZ_FR_ZERO = {{0}};
const struct cz_fr CZ_FR_ONE = {FR_R_LIMBS};
const uint64_t CZ_FR_MODULUS[4] = FR_MODULUS_LIMBS;

static const struct cz_fr fr_r2 = {FR_R2_LIMBS};
static const struct cz_fr fr_plain_one = {{1}};

void cz_fr_add(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    cz_fr_inline_add(r, a, b);
}

void cz_fr_sub(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    cz_fr_inline_sub(r, a, b);
}

void cz_fr_dbl(struct cz_fr *r, const struct cz_fr *a) {
    cz_fr_inline_dbl(r, a);
}

void cz_fr_neg(struct cz_fr *r, const struct cz_fr *a) {
    cz_fr_inline_neg(r, a);
}

void cz_fr_mul(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b) {
    cz_field_ops.fr_mul(r, a, b);
}

void cz_fr_sqr(struct cz_fr *r, const struct cz_fr *a) {
    cz_field_ops.fr_sqr(r, a);
}

void cz_fr_pow_vartime(struct cz_fr *r, const struct cz_fr *a, uint64_t e) {
    struct cz_fr base = *a, acc = CZ_FR_ONE;
    for (int i = 63 - (e ? __builtin_clzll(e) : 63); e && i >= 0; i--) {
        cz_fr_sqr(&acc, &acc);
        if (e >> i & 1) cz_fr_mul(&acc, &acc, &base);
    }
    *r = acc;
}

bool cz_fr_is_zero(const struct cz_fr *a) {
    return cz_fr_inline_is_zero(a);
}

bool cz_fr_eq(const struct cz_fr *a, const struct cz_fr *b) {
    return cz_fr_inline_eq(a, b);
}

static bool below_modulus(const uint64_t limb[4]) {
    unsigned char borrow = 0;
    uint64_t ignored;
    for (int i = 0; i < 4; i++) borrow = cz_limbs_sbb(borrow, limb[i], CZ_FR_MODULUS[i], &ignored);
    return borrow;
}

void cz_fr_from_u64(struct cz_fr *r, uint64_t v) {
    struct cz_fr t = {{v}};
    cz_fr_mul(r, &t, &fr_r2);
}

enum cz_status cz_fr_from_limbs(struct cz_fr *r, const uint64_t limb[4]) {
    if (!below_modulus(limb)) return CZ_ERR_FIELD_RANGE;
    struct cz_fr t = {{limb[0], limb[1], limb[2], limb[3]}};
    cz_fr_mul(r, &t, &fr_r2);
    return CZ_OK;
}

void cz_fr_to_limbs(uint64_t limb[4], const struct cz_fr *a) {
    struct cz_fr t;
    cz_fr_mul(&t, a, &fr_plain_one);
    memcpy(limb, t.l, sizeof t.l);
}

enum cz_status cz_fr_from_le(struct cz_fr *r, const uint8_t in[32]) {
    uint64_t limb[4];
    for (int i = 0; i < 4; i++) limb[i] = cz_load_le64(in + 8 * i);
    return cz_fr_from_limbs(r, limb);
}

void cz_fr_to_le(uint8_t out[32], const struct cz_fr *a) {
    uint64_t limb[4];
    cz_fr_to_limbs(limb, a);
    for (int i = 0; i < 4; i++) cz_store_le64(out + 8 * i, limb[i]);
}

enum cz_status cz_fr_from_be(struct cz_fr *r, const uint8_t in[32]) {
    uint64_t limb[4];
    for (int i = 0; i < 4; i++) limb[i] = cz_load_be64(in + 8 * (3 - i));
    return cz_fr_from_limbs(r, limb);
}

void cz_fr_to_be(uint8_t out[32], const struct cz_fr *a) {
    uint64_t limb[4];
    cz_fr_to_limbs(limb, a);
    for (int i = 0; i < 4; i++) {
        uint64_t v = __builtin_bswap64(limb[3 - i]);
        memcpy(out + 8 * i, &v, 8);
    }
}

enum cz_status cz_fr_random(struct cz_fr *r) {
    struct cz_fr t;
    do {
        enum cz_status status = cz_random_bytes(t.l, sizeof t.l);
        if (status != CZ_OK) return status;
        t.l[3] &= UINT64_MAX >> 1;
    } while (!below_modulus(t.l));
    *r = t; /* uniform as it stands, so it serves as a Montgomery form */
    cz_memzero(&t, sizeof t);
    return CZ_OK;
}

void cz_fr_root_of_unity(struct cz_fr *r, unsigned log2n) {
    struct cz_fr t = {FR_ROOT_LIMBS};
    for (unsigned i = log2n; i < CZ_FR_TWO_ADICITY; i++) cz_fr_sqr(&t, &t);
    *r = t;
}

/* 590 steps suffice for 255 bits (§11 of the paper, with Wuille's bound for the start at 1/2); this does 620. */
void cz_fr_inv(struct cz_fr *r, const struct cz_fr *a) {
    static const struct safegcd_modulus modulus = {FR62_MODULUS_LIMBS, FR62_R2_LIMBS, FR62_INVERSE};
    safegcd_invert(r->l, a->l, &modulus, 4, 5, 10);
}

void cz_fr_mul_n(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma) {
        cz_fr_mul_n_ifma(r, a, b, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) cz_fr_mul(&r[i], &a[i], &b[i]);
}

void cz_fr_scale_n(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *k, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma) {
        cz_fr_scale_n_ifma(r, a, k, n);
        return;
    }
#endif
    struct cz_fr factor = *k;
    for (size_t i = 0; i < n; i++) cz_fr_mul(&r[i], &a[i], &factor);
}

void cz_fr_to_limbs_n(uint64_t *out, const struct cz_fr *a, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma) {
        cz_fr_to_limbs_n_ifma(out, a, n);
        return;
    }
#endif
    for (size_t i = 0; i < n; i++) cz_fr_to_limbs(out + 4 * i, &a[i]);
}

void cz_fr_inv_n(struct cz_fr *r, const struct cz_fr *a, struct cz_fr *scratch, size_t n) {
#if FIELD_X86_64
    if (cz_field_ifma && n >= 16) {
        cz_fr_inv_n_ifma(r, a, scratch, n);
        return;
    }
#endif
    struct cz_fr acc = CZ_FR_ONE;
    for (size_t i = 0; i < n; i++) {
        scratch[i] = acc;
        if (!cz_fr_inline_is_zero(&a[i])) cz_fr_mul(&acc, &acc, &a[i]);
    }
    cz_fr_inv(&acc, &acc);
    for (size_t i = n; i-- > 0;) {
        if (cz_fr_inline_is_zero(&a[i])) {
            r[i] = CZ_FR_ZERO;
            continue;
        }
        struct cz_fr t = a[i];
        cz_fr_mul(&r[i], &acc, &scratch[i]);
        cz_fr_mul(&acc, &acc, &t);
    }
}
