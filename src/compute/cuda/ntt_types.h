#ifndef CUZK_COMPUTE_CUDA_NTT_TYPES_H
#define CUZK_COMPUTE_CUDA_NTT_TYPES_H

/* What ntt.c and the kernels of ntt*.cu share. Launchers are asynchronous on w->stream. */

#include "compute/cuda/ntt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* base^e for e < 2^27 is low[e % 2^14]·high[e / 2^14]. */
#define CZ_CUDA_LOW_BITS 14
#define CZ_CUDA_LOW (1 << CZ_CUDA_LOW_BITS)
#define CZ_CUDA_HIGH (1 << (CZ_CUDA_NTT_MAX - CZ_CUDA_LOW_BITS))
struct cz_cuda_powers {
    const struct cz_fr *low, *high;
};

/* How a pass finds its twiddles root^(row·column). */
enum cz_cuda_twiddle {
    CZ_CUDA_TWIDDLE_NONE,  /* the last pass down, the first up: its columns are all 0 */
    CZ_CUDA_TWIDDLE_POWER, /* root.low, root.high */
    CZ_CUDA_TWIDDLE_TABLE, /* table[position in the block of 2^log_m] */
};

struct cz_cuda_pass {
    struct cz_cuda_powers root;  /* of unity of order 2^27 */
    const struct cz_fr *w512;    /* powers of the root of order 512 */
    const struct cz_fr *table;   /* CZ_CUDA_TWIDDLE_TABLE */
    uint32_t log_n, log_m, bits; /* the transform, the block that this pass works on, the pass */
    enum cz_cuda_twiddle twiddle;
    bool up;
};

/** A pass of 9 bits of a transform of at least 2^10. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_pass512(struct cz_cuda_worker *w, struct cz_fr *d_x,
                                               const struct cz_cuda_pass *pass);
/** Any number of bits up to 9; never from a table. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_pass_small(struct cz_cuda_worker *w, struct cz_fr *d_x,
                                                  const struct cz_cuda_pass *pass);
/** The last pass down with `down`, times scale[row], and the first pass up with `up`, rows of 512. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_pass_middle(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                                   const struct cz_fr *down_w512, const struct cz_fr *up_w512,
                                                   const struct cz_fr *scale);
/** The last pass down, rows of 512: x = x·scale[row] - c. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_pass_last(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                                 const struct cz_fr *w512, const struct cz_fr *scale,
                                                 const struct cz_fr *d_c);
/** table[row·2^(log_m - bits) + column] = root^(row·column·2^(27 - log_m))·shift^(row·step); shift.low may be NULL. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_twiddles(struct cz_cuda_worker *w, struct cz_fr *d_table, uint32_t log_m,
                                                uint32_t bits, struct cz_cuda_powers root, struct cz_cuda_powers shift,
                                                uint32_t step);
/** x[i] *= factor·base^(number of i). */
CZ_MUST_CHECK enum cz_status cz_cuda_k_scale(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                             struct cz_cuda_powers base, const struct cz_fr *factor, bool reversed);
CZ_MUST_CHECK enum cz_status cz_cuda_k_reorder(struct cz_cuda_worker *w, struct cz_fr *d_to, const struct cz_fr *d_from,
                                               uint32_t log_n, bool unreverse);
CZ_MUST_CHECK enum cz_status cz_cuda_k_index(struct cz_cuda_worker *w, uint32_t *d_index, uint32_t log_n);
/** a[i] *= b[i] */
CZ_MUST_CHECK enum cz_status cz_cuda_k_product(struct cz_cuda_worker *w, struct cz_fr *d_a, const struct cz_fr *d_b,
                                               size_t n);
/** x[p] = base^(number of p)·x[p] - c[p] */
CZ_MUST_CHECK enum cz_status cz_cuda_k_combine(struct cz_cuda_worker *w, struct cz_fr *d_x, const struct cz_fr *d_c,
                                               uint32_t log_n, struct cz_cuda_powers base);

#ifdef __cplusplus
}
#endif

#endif
