#ifndef CUZK_COMPUTE_CPU_POINTS_H
#define CUZK_COMPUTE_CPU_POINTS_H

/*
 * Sums of many points on the CPU: multi-scalar multiplication, sums over set bits, multiples of a fixed base. One
 * template (points_template.h) makes four of these tables: G1 and G2, one lane and eight.
 */

#include "base/status.h"
#include "base/thread.h"
#include "field/fr.h"

#include <stddef.h>
#include <stdint.h>

/** Where bases come from: exactly one of the first two. Base i is the point index[i], or i when index is NULL. */
struct cz_point_source {
    const void *affine;     /* struct cz_g1_affine or cz_g2_affine */
    const uint8_t *encoded; /* uncompressed big endian, trusted */
    const uint32_t *index;
};

/** `scalars` writes the canonical limbs of bases [first, first + n) to out; threads call it at once. */
struct cz_msm_input {
    struct cz_point_source base;
    size_t n;
    void (*scalars)(const void *ctx, uint64_t *out, size_t first, size_t n);
    const void *ctx;
};

/**
 * Which bases to add. Without a density, base `first_base + i` for each set bit i of `value`. With one, for each bit i
 * set in both, base first_base + (bits of the density before i); density_rank holds that count for every 512th i.
 * Bits of the last word past n count as 0.
 */
struct cz_bit_select {
    const uint64_t *value, *density;
    const uint32_t *density_rank;
    size_t n, first_base;
};

struct cz_points_fixed;

/** Results are struct cz_g1 / cz_g2 (msm, bitsum) and affine points (fixed_mul_n). */
struct cz_points_ops {
    /** CZ_ERR_FIELD_RANGE for a scalar >= r, CZ_ERR_MEMORY. */
    enum cz_status (*msm)(void *out, struct cz_pool *pool, const struct cz_msm_input *in);
    /** Bytes that msm allocates for n bases on so many threads. */
    size_t (*msm_bytes)(size_t n, unsigned threads);
    enum cz_status (*bitsum)(void *out, struct cz_pool *pool, const struct cz_point_source *base,
                             const struct cz_bit_select *select);
    size_t (*bitsum_bytes)(unsigned threads);
    /** The base has order r or is infinity; `expected` scalars decide the size of the table. */
    enum cz_status (*fixed_create)(struct cz_points_fixed **out, struct cz_pool *pool, const void *base,
                                   size_t expected);
    enum cz_status (*fixed_mul_n)(void *out, struct cz_points_fixed *fixed, const struct cz_fr *scalar, size_t n);
    void (*fixed_destroy)(struct cz_points_fixed *fixed);
};

extern const struct cz_points_ops cz_points_g1, cz_points_g2;
#ifdef __x86_64__
extern const struct cz_points_ops cz_points_g1_ifma, cz_points_g2_ifma;
#endif

#endif
