#ifndef CUZK_COMPUTE_CUDA_FIXED_H
#define CUZK_COMPUTE_CUDA_FIXED_H

/*
 * Many multiples of one point, for setup: a table holds j·2^(bits·k)·B for every window k and j <= 2^(bits - 1), so a
 * multiple is one addition a window, of signed digits. The additions are rounds of add.h.
 */

#include "compute/cuda/add.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Windows at most: of 6 bits. */
#define CZ_CUDA_FIXED_WINDOWS 43

struct cz_cuda_fixed_shape {
    uint32_t bits, windows; /* bits·windows >= 256 */
    uint32_t table;         /* reference of 0·B in window 0 */
    uint32_t stride;        /* 2^(bits - 1) + 1 points a window */
    uint32_t add[9];        /* 2^(bits·k + bits - 1) of every window: makes the digits independent of each other */
};

/**
 * The entries of the table that others are made from: 0·B, and from d_power, point bits·k + j = 2^(bits·k + j)·B, all
 * 2^j·2^(bits·k)·B. Asynchronous, as all here.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fixed_place(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_table,
                                                   const void *d_power, const struct cz_cuda_fixed_shape *shape);
/** windows·(2^round - 1) jobs: entry 2^round + i is the sum of 2^round and i. Sums at 2·place in the table. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fixed_table(struct cz_cuda_worker *w, const struct cz_cuda_fixed_shape *shape,
                                                   unsigned round, struct cz_cuda_job *d_job);
/** Scalars from Montgomery form, in place. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fixed_scalars(struct cz_cuda_worker *w, uint32_t *d_scalar, uint32_t n);
/** Jobs of window k: 1 adds windows 0 and 1, a later one its entry to sum i, which lies at reference sums + i. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fixed_jobs(struct cz_cuda_worker *w, const struct cz_cuda_fixed_shape *shape,
                                                  unsigned k, const uint32_t *d_scalar, uint32_t n, uint32_t sums,
                                                  struct cz_cuda_job *d_job);
/** Points of the device layout to the host's structs, or to the bytes of .params files; in place. */
CZ_MUST_CHECK enum cz_status cz_cuda_k_fixed_out(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_point,
                                                 uint32_t n, bool encoded);

#ifdef __cplusplus
}
#endif

#endif
