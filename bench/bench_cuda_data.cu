// Points (k0 + i)·G for the benchmark, by the addition kernel itself: P[2^j + i] = P[i] + 2^j·G. The check against the
// host's arithmetic covers them too.
#include "compute/cuda/kernels.h"

static __global__ void k_ladder(cz_cuda_job *job, uint32_t n, uint32_t points, uint32_t step) {
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) job[i] = {points + i, step, 2 * (n + i), 0};
}

/** Doubles n points to 2n; step: reference of n·G. */
extern "C" enum cz_status bench_cuda_ladder(struct cz_cuda_worker *w, enum cz_cuda_group group, struct cz_cuda_job *job,
                                            uint32_t n, uint32_t points, uint32_t step, void *scratch) {
    CZ_CUDA_LAUNCH(w, k_ladder, (n + 255) / 256, 256, 0, w->stream, job, n, points, step);
    return cz_cuda_add(w, w->stream, group, job, NULL, n, points, scratch);
}
