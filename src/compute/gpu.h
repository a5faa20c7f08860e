#ifndef CUZK_COMPUTE_GPU_H
#define CUZK_COMPUTE_GPU_H

/* CUDA devices, for users of compute.h. In a build without CUDA cz_gpu_create, cz_gpu_count and cz_gpu_look say so. */

#include "compute/compute.h"

struct cz_gpu_options {
    int ordinal;
    unsigned workers;  /* partitions at once, 1 to 8 */
    size_t vram_limit; /* bytes; 0: what is free, less 512 MiB */
    size_t pinned;     /* host bytes of each worker for copies; 0: 64 MiB */
    size_t residents;  /* bytes of vram for SRS; 0: half */
    bool pairs;        /* an SRS may take room for sums of neighbours, too: where no other one wants it */
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
/** What the binary holds kernels for, "sm_75 … sm_120 and PTX of compute_120"; "" without CUDA. Asks no driver. */
const char *cz_gpu_architectures(void);
/** False for a device that is not a CUDA device. */
bool cz_gpu_describe(struct cz_gpu_info *out, const struct cz_device *dev);

/** A card before it is opened. */
struct cz_gpu_card {
    char name[64];
    char pci[16]; /* "0000:65:00.0", as NVML knows it */
    int arch;
    size_t vram_total, vram_free; /* free: of what a device can take */
};

/** How many CUDA devices there are; 0 with the reason in err. */
unsigned cz_gpu_count(struct cz_error *err);
/** Of an ordinal below cz_gpu_count. Makes the driver's context of that card: tens of milliseconds. */
CZ_MUST_CHECK enum cz_status cz_gpu_look(struct cz_gpu_card *out, int ordinal, struct cz_error *err);
/** Bytes of an SRS in the card's memory, a part of cz_srs_bytes; 0 for other devices. */
size_t cz_gpu_srs_vram(const struct cz_device *dev, const struct cz_srs *srs);

#endif
