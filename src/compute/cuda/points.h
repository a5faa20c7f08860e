#ifndef CUZK_COMPUTE_CUDA_POINTS_H
#define CUZK_COMPUTE_CUDA_POINTS_H

/*
 * Sums of many points on the device: multi-scalar multiplication and sums over chosen points. Everything is given by
 * device pointers inside the one allocation of cz_cuda_base; results come to the host.
 *
 * Device layout of points: struct cz_g1_affine / cz_g2_affine, Montgomery form, at a multiple of 96 / 192 bytes from
 * cz_cuda_base (cz_cuda_mem and resident blocks are), but infinity is marked: the top 32 bits of x (of both components)
 * are all ones. cz_cuda_points_convert makes it from either host form.
 */

#include "compute/cuda/context.h"
#include "curve/g1.h"
#include "curve/g2.h"

#ifdef __cplusplus
extern "C" {
#endif

enum cz_cuda_group { CZ_CUDA_G1, CZ_CUDA_G2 };

static inline size_t cz_cuda_point_bytes(enum cz_cuda_group group) {
    return group == CZ_CUDA_G1 ? 96 : 192;
}

/**
 * n points at d_from to the device layout at d_to (may be the same place), on `stream`. encoded: as in .params files
 * (uncompressed, big endian, trusted to be on the curve); else host structs. Asynchronous.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_points_convert(struct cz_cuda_worker *w, cudaStream_t stream,
                                                    enum cz_cuda_group group, void *d_to, const void *d_from, size_t n,
                                                    bool encoded);

/**
 * Σ scalar[i]·point[i] for n < 2^28. d_scalar: n of 32 bytes, canonical, below r (not checked: cz_cuda_scalars_check),
 * or Montgomery form when montgomery is set. Uses w's streams and memory (cz_cuda_msm_bytes); ordered after the work on
 * w->stream; returns when the result is on the host. out: struct cz_g1 or cz_g2. index: NULL, or point i is
 * d_point[index[i]].
 */
CZ_MUST_CHECK enum cz_status cz_cuda_msm(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group,
                                         const void *d_point, const uint32_t *d_index, const uint32_t *d_scalar,
                                         size_t n, bool montgomery);
/**
 * The same with precomputed multiples of fixed bases: table t < tables holds 2^cz_cuda_msm_shift(tables, t)·P of all n
 * points, one table after another from d_point. Fewer windows pay then, as they share buckets. windows: a multiple of
 * tables, or 0 to choose.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_msm_tables(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group,
                                                const void *d_point, unsigned tables, unsigned windows,
                                                const uint32_t *d_index, const uint32_t *d_scalar, size_t n,
                                                bool montgomery);
unsigned cz_cuda_msm_shift(unsigned tables, unsigned t);
/** Makes tables 1 to tables - 1 in G1 after the n points at d_point (table 0). Asynchronous on w->stream. */
CZ_MUST_CHECK enum cz_status cz_cuda_msm_multiples(struct cz_cuda_worker *w, void *d_point, unsigned tables, size_t n);
/** The worker memory that cz_cuda_msm needs at the least and at best for n points. */
void cz_cuda_msm_bytes(size_t *least, size_t *best, const struct cz_cuda_info *info, enum cz_cuda_group group,
                       size_t n);

/**
 * Σ of the points of set bits: point[j] for the j-th set bit of `mask`, for those j where `value` has the bit of the
 * same position; mask NULL: point[i] for every set bit i of `value`. Bits past n count as 0. first: index of the first
 * point. out: struct cz_g1 or cz_g2; returns when the result is on the host.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_bitsum(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group,
                                            const void *d_point, size_t first, const uint64_t *d_value,
                                            const uint64_t *d_mask, size_t n);
/**
 * The same without a mask, with the sums of neighbours precomputed: d_pair[i] = point[2i] + point[2i + 1], i < n / 2
 * (cz_cuda_bit_pairs). A quarter fewer additions for random bits.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_bitsum_pairs(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group,
                                                  const void *d_point, const void *d_pair, const uint64_t *d_value,
                                                  size_t n);
/** Makes d_pair for n points; asynchronous on w->stream. */
CZ_MUST_CHECK enum cz_status cz_cuda_bit_pairs(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_pair,
                                               const void *d_point, size_t n);
/** The worker memory of a bit sum over n bits that adds up to `part` of the points at once; 0: its least. */
size_t cz_cuda_bitsum_bytes(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t part);

/** *ok = every scalar is below r. Waits for the answer. */
CZ_MUST_CHECK enum cz_status cz_cuda_scalars_check(struct cz_cuda_worker *w, bool *ok, const uint32_t *d_scalar,
                                                   size_t n);

#ifdef __cplusplus
}
#endif

#endif
