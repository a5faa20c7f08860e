#ifndef CUZK_COMPUTE_CUDA_KERNELS_H
#define CUZK_COMPUTE_CUDA_KERNELS_H

/* Launchers of the kernels around the additions, for msm.c and bitsum.c. All are asynchronous on `stream`. */

#include "compute/cuda/add.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CZ_CUDA_MAX_WINDOWS 64
/** Windows whose digits one pass over the scalars takes; one a pass reads the scalars 11 times, 4 ms more at 2^26. */
#define CZ_CUDA_DIGIT_BATCH 16

/**
 * Digits of some windows. Scalars above r/2 count as r - s with all signs turned, so 254 bits are left; `add` holds
 * 2^(off + bits - 1) of every signed window, which makes the digits independent of each other.
 */
struct cz_cuda_digits {
    uint32_t add[8];
    uint32_t off[CZ_CUDA_DIGIT_BATCH], bits[CZ_CUDA_DIGIT_BATCH];
    uint32_t none[CZ_CUDA_DIGIT_BATCH];  /* the key of a zero digit: number of buckets */
    uint32_t first[CZ_CUDA_DIGIT_BATCH]; /* reference of the window's point 0 */
    uint32_t count, top;                 /* top: which of them is the unsigned last window, or none */
    bool montgomery;
};
/** key[k n + i], value[k n + i] for window k: |digit| - 1, reference of the point and the sign. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_digits(struct cz_cuda_worker *w, cudaStream_t stream,
                                              const struct cz_cuda_digits *digits, const uint32_t *d_scalar,
                                              const uint32_t *d_index, uint32_t n, uint32_t *d_key, uint32_t *d_value);

/** Sorts n pairs by `bits` bits of the key. d_tmp: cz_cuda_sort_bytes. */
CZ_MUST_CHECK enum cz_status cz_cuda_sort(struct cz_cuda_worker *w, cudaStream_t stream, void *d_tmp, size_t tmp_bytes,
                                          const uint32_t *d_key, uint32_t *d_key_out, const uint32_t *d_value,
                                          uint32_t *d_value_out, uint32_t n, int bits);
size_t cz_cuda_sort_bytes(uint32_t n);

/**
 * One set: its sorted keys lie at slots slot0 .. slot0 + n - 1, its buckets at bucket0 .. bucket0 + num - 1 of start
 * and end. Keys from num on are zero digits.
 */
struct cz_cuda_set {
    const uint32_t *key, *value;
    uint32_t n, slot0, bucket0, num;
};
/** *d_longest = max(*d_longest, longest of the n buckets). */
CZ_MUST_CHECK enum cz_status cz_cuda_k_longest(struct cz_cuda_worker *w, cudaStream_t stream, const uint32_t *d_start,
                                               const uint32_t *d_end, uint32_t n, uint32_t *d_longest);
/**
 * Bounds of the set's buckets, in start and end, which were zeroed, and the list of round 0: both operands are points.
 * Appends to job, counts up *d_count.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_k_jobs_first(struct cz_cuda_worker *w, cudaStream_t stream,
                                                  const struct cz_cuda_set *set, uint32_t *d_start, uint32_t *d_end,
                                                  struct cz_cuda_job *d_job, uint32_t *d_count);
/** Round r > 0 from the list of round r - 1, of which it is a subset. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_jobs_next(struct cz_cuda_worker *w, cudaStream_t stream,
                                                 const struct cz_cuda_job *d_in, const uint32_t *d_in_count,
                                                 unsigned round, const uint32_t *d_value, uint32_t sums,
                                                 const uint32_t *d_start, const uint32_t *d_end,
                                                 struct cz_cuda_job *d_out, uint32_t *d_count);

/** Level 1 of the fold of 2^k buckets: k_fold_first in reduce.cu. row, column: slots / 2 of the sums, from `sums`. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fold_first(struct cz_cuda_worker *w, cudaStream_t stream, uint32_t bucket0,
                                                  unsigned k, const uint32_t *d_start, const uint32_t *d_end,
                                                  const uint32_t *d_value, uint32_t sums, uint32_t infinity,
                                                  uint32_t row, uint32_t column, struct cz_cuda_job *d_job);
/** Levels from 2 on: segments of jobs, rows at even places and columns at odd ones. */
struct cz_cuda_fold {
    uint32_t job0[2 * CZ_CUDA_MAX_WINDOWS + 1], src[2 * CZ_CUDA_MAX_WINDOWS], dst[2 * CZ_CUDA_MAX_WINDOWS];
    uint32_t segments;
};
CZ_MUST_CHECK enum cz_status cz_cuda_k_fold_next(struct cz_cuda_worker *w, cudaStream_t stream,
                                                 const struct cz_cuda_fold *fold, uint32_t sums,
                                                 struct cz_cuda_job *d_job);

/** Sums by the bits of the index: out[s CZ_CUDA_SUMS + b] = sum of v[u] over u with bit b, at CZ_CUDA_SUMS - 1 of all.
 */
#define CZ_CUDA_SUMS 16
struct cz_cuda_bit_sums {
    uint32_t at[2 * CZ_CUDA_MAX_WINDOWS], log2[2 * CZ_CUDA_MAX_WINDOWS]; /* reference of the array, its size */
    uint32_t segments;
};
/** d_out holds XYZZ points: 4 field elements each. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_bit_sums(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                                const struct cz_cuda_bit_sums *sums, void *d_out);
/** d_out[b], b < CZ_CUDA_LAST_BLOCKS: XYZZ sums of a block's share of the references d_ref[0 .. n - 1]. */
#define CZ_CUDA_LAST_BLOCKS 66
CZ_MUST_CHECK enum cz_status cz_cuda_k_last(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                            const uint32_t *d_ref, uint32_t n, void *d_out);

/** Writes infinity to the point with this reference. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_infinity(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                                uint32_t ref);

/** Reference of a pointer to a point. */
static inline uint32_t cz_cuda_ref(const struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point) {
    return (uint32_t)((size_t)((const uint8_t *)d_point - (const uint8_t *)cz_cuda_base(w->cuda)) /
                      cz_cuda_point_bytes(group));
}

/* Bit sums. */
size_t cz_cuda_select_bytes(size_t n);
/** References of the chosen points in order, *d_total of them. first: reference of point 0. d_tmp: select_bytes. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_select(struct cz_cuda_worker *w, cudaStream_t stream, const uint64_t *d_value,
                                              const uint64_t *d_mask, size_t n, uint32_t first, void *d_tmp,
                                              uint32_t *d_ref, uint32_t *d_total);
/** The same where pair + i refers to the sum of points 2i and 2i + 1. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_select_pairs(struct cz_cuda_worker *w, cudaStream_t stream,
                                                    const uint64_t *d_value, size_t n, uint32_t first, uint32_t pair,
                                                    void *d_tmp, uint32_t *d_ref, uint32_t *d_total);
/**
 * The bits of value at the mask's places moved together: bit j of d_out is that of the mask's j-th set bit. words of
 * both; d_before[i]: set bits of the mask before word i. d_out is zeroed first.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_k_compact(struct cz_cuda_worker *w, cudaStream_t stream, const uint64_t *d_value,
                                               const uint64_t *d_mask, const uint32_t *d_before, size_t words,
                                               uint64_t *d_out, size_t out_words);
/** Jobs that add points first + 2i and first + 2i + 1, i < n. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_neighbours(struct cz_cuda_worker *w, cudaStream_t stream,
                                                  struct cz_cuda_job *d_job, uint32_t n, uint32_t first);
/**
 * One round of a plain sum: n / 2 jobs of the n references; the sums, and an odd one left over, are the next round's
 * references. Sums go to reference to + j, or in place of the left operand (every round but the first).
 */
CZ_MUST_CHECK enum cz_status cz_cuda_k_pairs(struct cz_cuda_worker *w, cudaStream_t stream, const uint32_t *d_ref,
                                             uint32_t n, uint32_t to, bool in_place, struct cz_cuda_job *d_job,
                                             uint32_t *d_ref_out);

#ifdef __cplusplus
}
#endif

#endif
