#ifndef CUZK_COMPUTE_CUDA_ADD_H
#define CUZK_COMPUTE_CUDA_ADD_H

/* Rounds of independent affine additions: the one kernel that does nearly all the work of MSMs and bit sums. */

#include "compute/cuda/context.h"
#include "compute/cuda/points.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Operands are references: index of a point counted from cz_cuda_base, in points, and its sign in the top bit. */
#define CZ_CUDA_REF_INDEX 0x7fffffffu
/** Additions a thread shares one inversion over, at most: 64 and 256 were no faster. */
#define CZ_CUDA_ADD_KMAX 128

/**
 * An addition: point[sums + slot / 2] = ±point[a] ± point[b]. Complete in itself: a list of (slot, bucket) alone made
 * every step wait for two loads in a row. The bucket is for the next round's list only.
 */
struct cz_cuda_job {
    uint32_t a, b, slot, bucket;
};

/**
 * Runs *d_count additions (d_count NULL: `fixed`), in any order and complete: equal points, opposite points, infinity.
 * sums: reference of the first sum. d_scratch: cz_cuda_add_scratch bytes. Asynchronous on `stream`.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_add(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                         const struct cz_cuda_job *d_job, const uint32_t *d_count, uint32_t fixed,
                                         uint32_t sums, void *d_scratch);
size_t cz_cuda_add_scratch(const struct cz_cuda_info *info, enum cz_cuda_group group);

/** The two instances; cz_cuda_add chooses. */
cudaError_t cz_cuda_add_g1(cudaStream_t stream, const struct cz_cuda_info *info, const struct cz_cuda_job *d_job,
                           const uint32_t *d_count, uint32_t fixed, void *base, uint32_t sums, void *d_scratch);
cudaError_t cz_cuda_add_g2(cudaStream_t stream, const struct cz_cuda_info *info, const struct cz_cuda_job *d_job,
                           const uint32_t *d_count, uint32_t fixed, void *base, uint32_t sums, void *d_scratch);
/** Once a device, at its creation: shared memory limits. cudaFuncSetAttribute's error. */
cudaError_t cz_cuda_add_setup_g1(const struct cz_cuda_info *info);
cudaError_t cz_cuda_add_setup_g2(const struct cz_cuda_info *info);

#ifdef __cplusplus
}
#endif

#endif
