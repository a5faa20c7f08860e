#include "field/fp_x8.h"

#include "field/field_int.h"

/* Compiled for IFMA whatever the rest is compiled for; cpu.c calls it only where the processor has it. */

#ifdef __AVX512IFMA__

static void mul_eight(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b) {
    struct cz_fp_x8 x, y;
    cz_fp_x8_load_shl32(&x, a);
    cz_fp_x8_load(&y, b);
    cz_fp_x8_mul(&x, &x, &y);
    cz_fp_x8_reduce(&x, &x);
    cz_fp_x8_store(r, &x);
}

void cz_fp_mul_n_ifma(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) mul_eight(r + i, a + i, b + i);
    for (; i < n; i++) cz_field_ops.fp_mul(r + i, a + i, b + i);
}

/* Zeros become ones, so that a chain of products never sticks at zero; says where they were. */
static inline __mmask8 load_nonzero(struct cz_fp_x8 *r, const struct cz_fp *a) {
    struct cz_fp_x8 t, one;
    cz_fp_x8_load(&t, a);
    __mmask8 zeros = cz_fp_x8_zero_lanes(&t);
    cz_fp_x8_set(&one, CZ_FP_X8_ONE);
    cz_fp_x8_select(r, &t, &one, zeros);
    return zeros;
}

/* The eight lanes' inverses by one inversion; acc in the form of radix 2^416, no lane zero. */
static void invert_lanes(struct cz_fp_x8 *acc) {
    struct cz_fp lane[8], prefix[8], inverse;
    cz_fp_x8_to_384(acc, acc);
    cz_fp_x8_reduce(acc, acc);
    cz_fp_x8_store(lane, acc);
    prefix[0] = lane[0];
    for (int i = 1; i < 8; i++) cz_fp_mul(&prefix[i], &prefix[i - 1], &lane[i]);
    cz_fp_inv(&inverse, &prefix[7]);
    for (int i = 7; i > 0; i--) {
        struct cz_fp own = lane[i];
        cz_fp_mul(&lane[i], &inverse, &prefix[i - 1]);
        cz_fp_mul(&inverse, &inverse, &own);
    }
    lane[0] = inverse;
    cz_fp_x8_load(acc, lane);
    cz_fp_x8_from_384(acc, acc);
}

/*
 * Montgomery's trick, one chain in each lane. Elements stay in memory's form: read in the form of radix 2^416, a is
 * A = a/2^32, and 1/a in memory's form is 2^-64/A. So the chain starts with 2^-64 in place of one. A last block that is
 * not full is padded with ones.
 */
void cz_fp_inv_n_ifma(struct cz_fp *r, const struct cz_fp *a, struct cz_fp *scratch, size_t n) {
    static const uint64_t over_64[8] = {[6] = 1ull << 40}; /* 2^(416 - 64) */
    const size_t full = n / 8, rest = n % 8, blocks = full + (rest != 0);
    struct cz_fp tail[8], tail_prefix[8];
    struct cz_fp_x8 acc, x, t, k, zero;
    for (size_t i = 0; i < 8; i++) tail[i] = i < rest ? a[8 * full + i] : CZ_FP_ONE;
    cz_fp_x8_set(&k, over_64);
    cz_fp_x8_set(&zero, (const uint64_t[8]){0});
    acc = k;
    for (size_t i = 0; i < blocks; i++) {
        cz_fp_x8_store(i < full ? scratch + 8 * i : tail_prefix, &acc);
        load_nonzero(&x, i < full ? a + 8 * i : tail);
        cz_fp_x8_mul(&acc, &acc, &x);
    }
    invert_lanes(&acc);
    cz_fp_x8_mul(&acc, &acc, &k);
    for (size_t i = blocks; i-- > 0;) {
        __mmask8 zeros = load_nonzero(&x, i < full ? a + 8 * i : tail);
        cz_fp_x8_load(&t, i < full ? scratch + 8 * i : tail_prefix);
        cz_fp_x8_mul(&t, &t, &acc);
        cz_fp_x8_reduce(&t, &t);
        cz_fp_x8_mul(&acc, &acc, &x);
        cz_fp_x8_select(&t, &t, &zero, zeros);
        cz_fp_x8_store(i < full ? r + 8 * i : tail, &t);
    }
    if (rest) memcpy(r + 8 * full, tail, rest * sizeof *r);
}

#endif
