#ifndef CUZK_COMPUTE_GPU_H
#define CUZK_COMPUTE_GPU_H

/* CUDA devices, for users of compute.h. In a build without CUDA both functions say so. */

#include "compute/compute.h"

struct cz_gpu_options {
    int ordinal;
    unsigned workers;  /* partitions at once, 1 to 8 */
    size_t vram_limit; /* bytes; 0: what is free */
    size_t pinned;     /* host bytes of each worker for copies; 0: 64 MiB */
    size_t residents;  /* bytes of vram for SRS; 0: half */
};

struct cz_gpu_info {
    char name[64];
    int arch, multiprocessors; /* arch: 90 for sm_90 */
    size_t vram_total, vram_budget;
};

/**
 * The CUDA device of this ordinal behind compute.h; `pool` (borrowed, may be NULL) serves what stays on the CPU.
 * CZ_ERR_UNSUPPORTED without driver, device or code for its architecture: the detail says which.
 */
CZ_MUST_CHECK enum cz_status cz_gpu_create(struct cz_device **out, const struct cz_gpu_options *options,
                                           struct cz_pool *pool, struct cz_error *err);
/** False for a device that is not a CUDA device. */
bool cz_gpu_describe(struct cz_gpu_info *out, const struct cz_device *dev);

#endif
