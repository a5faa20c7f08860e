#include "field/fr_x8.h"

#include "field/field_int.h"

/* Compiled for IFMA whatever the rest is compiled for; cpu.c calls it only where the processor has it. */

#ifdef __AVX512IFMA__

void cz_fr_mul_n_ifma(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        struct cz_fr_x8 x, y;
        cz_fr_x8_load_shl4(&x, a + i);
        cz_fr_x8_load(&y, b + i);
        cz_fr_x8_mul(&x, &x, &y);
        cz_fr_x8_reduce(&x, &x);
        cz_fr_x8_store(r + i, &x);
    }
    for (; i < n; i++) cz_field_ops.fr_mul(r + i, a + i, b + i);
}

void cz_fr_scale_n_ifma(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *k, size_t n) {
    struct cz_fr factor = *k, eight[8];
    struct cz_fr_x8 x, y;
    for (int i = 0; i < 8; i++) eight[i] = factor;
    cz_fr_x8_load_shl4(&y, eight);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        cz_fr_x8_load(&x, a + i);
        cz_fr_x8_mul(&x, &x, &y);
        cz_fr_x8_reduce(&x, &x);
        cz_fr_x8_store(r + i, &x);
    }
    for (; i < n; i++) cz_field_ops.fr_mul(r + i, a + i, &factor);
}

void cz_fr_to_limbs_n_ifma(uint64_t *out, const struct cz_fr *a, size_t n) {
    static const uint64_t sixteen[5] = {16}; /* over 2^260, times 2^4 */
    struct cz_fr_x8 x, y;
    struct cz_fr eight[8];
    cz_fr_x8_set(&y, sixteen);
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        cz_fr_x8_load(&x, a + i);
        cz_fr_x8_mul(&x, &x, &y);
        cz_fr_x8_reduce(&x, &x);
        cz_fr_x8_store(eight, &x);
        memcpy(out + 4 * i, eight, sizeof eight);
    }
    for (; i < n; i++) cz_fr_to_limbs(out + 4 * i, a + i);
}

/* The lanes' inverses by one inversion; acc in the form of radix 2^260, no lane zero. */
static void invert_lanes(struct cz_fr_x8 *acc) {
    struct cz_fr lane[8], prefix[8], inverse;
    cz_fr_x8_to_256(acc, acc);
    cz_fr_x8_reduce(acc, acc);
    cz_fr_x8_store(lane, acc);
    prefix[0] = lane[0];
    for (int i = 1; i < 8; i++) cz_fr_mul(&prefix[i], &prefix[i - 1], &lane[i]);
    cz_fr_inv(&inverse, &prefix[7]);
    for (int i = 7; i > 0; i--) {
        struct cz_fr own = lane[i];
        cz_fr_mul(&lane[i], &inverse, &prefix[i - 1]);
        cz_fr_mul(&inverse, &inverse, &own);
    }
    lane[0] = inverse;
    cz_fr_x8_load(acc, lane);
    cz_fr_x8_from_256(acc, acc);
}

/* Zeros become ones, so that a chain of products never sticks at zero; says where they were. */
static inline __mmask8 load_nonzero(struct cz_fr_x8 *r, const struct cz_fr *a) {
    struct cz_fr_x8 t, one;
    cz_fr_x8_load(&t, a);
    __mmask8 zeros = cz_fr_x8_zero_lanes(&t);
    cz_fr_x8_set(&one, CZ_FR_X8_ONE);
    cz_fr_x8_select(r, &t, &one, zeros);
    return zeros;
}

/* As cz_fp_inv_n_ifma: memory's a is A = a/2^4 here, so the chain starts with 2^-8. */
void cz_fr_inv_n_ifma(struct cz_fr *r, const struct cz_fr *a, struct cz_fr *scratch, size_t n) {
    static const uint64_t over_8[5] = {[4] = 1ull << 44}; /* 2^(260 - 8) */
    const size_t full = n / 8, rest = n % 8, blocks = full + (rest != 0);
    struct cz_fr tail[8], tail_prefix[8];
    struct cz_fr_x8 acc, x, t, k, zero;
    for (size_t i = 0; i < 8; i++) tail[i] = i < rest ? a[8 * full + i] : CZ_FR_ONE;
    cz_fr_x8_set(&k, over_8);
    cz_fr_x8_set(&zero, (const uint64_t[5]){0});
    acc = k;
    for (size_t i = 0; i < blocks; i++) {
        cz_fr_x8_store(i < full ? scratch + 8 * i : tail_prefix, &acc);
        load_nonzero(&x, i < full ? a + 8 * i : tail);
        cz_fr_x8_mul(&acc, &acc, &x);
    }
    invert_lanes(&acc);
    cz_fr_x8_mul(&acc, &acc, &k);
    for (size_t i = blocks; i-- > 0;) {
        __mmask8 zeros = load_nonzero(&x, i < full ? a + 8 * i : tail);
        cz_fr_x8_load(&t, i < full ? scratch + 8 * i : tail_prefix);
        cz_fr_x8_mul(&t, &t, &acc);
        cz_fr_x8_reduce(&t, &t);
        cz_fr_x8_mul(&acc, &acc, &x);
        cz_fr_x8_select(&t, &t, &zero, zeros);
        cz_fr_x8_store(i < full ? r + 8 * i : tail, &t);
    }
    if (rest) memcpy(r + 8 * full, tail, rest * sizeof *r);
}

#endif
