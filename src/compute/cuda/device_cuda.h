#ifndef CUZK_COMPUTE_CUDA_DEVICE_CUDA_H
#define CUZK_COMPUTE_CUDA_DEVICE_CUDA_H

/* What device_cuda.c and the files that fill its table share. */

#include "compute/cuda/context.h"
#include "compute/cuda/ntt.h"
#include "compute/device.h"

struct cz_cuda_device {
    struct cz_device base;
    struct cz_cuda *cuda;
    struct cz_device *cpu;         /* owned: transforms that are too large */
    struct cz_cuda_tables *tables; /* of transforms */
    bool pairs;                    /* as in cz_gpu_options */
};

/** Copies n bytes of any host memory to the device through the worker's pinned memory; done when it returns. */
CZ_MUST_CHECK enum cz_status cz_cuda_upload(struct cz_cuda_worker *w, void *d_to, const void *from, size_t n);
/** And back. */
CZ_MUST_CHECK enum cz_status cz_cuda_download(struct cz_cuda_worker *w, void *to, const void *d_from, size_t n);

/* Slots of the device's table that other files fill: srs.c, partition.c, ntt.c, fixed.c. */
enum cz_status cz_cuda_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                  const struct cz_srs_view *view, struct cz_error *err);
void cz_cuda_srs_destroy(struct cz_srs *srs);
size_t cz_cuda_srs_bytes(const struct cz_srs *srs);
enum cz_status cz_cuda_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                       struct cz_srs *srs, const struct cz_witness *witness, struct cz_error *err);
size_t cz_cuda_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs);
enum cz_status cz_cuda_ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind);
enum cz_status cz_cuda_fixed_g1_create(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                       const struct cz_g1_affine *base, size_t expected);
enum cz_status cz_cuda_fixed_g1_mul_n(struct cz_g1_affine *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                      size_t n);
enum cz_status cz_cuda_fixed_g1_encode_n(uint8_t *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                         size_t n);
void cz_cuda_fixed_g1_destroy(struct cz_fixed_base_g1 *fb);
enum cz_status cz_cuda_fixed_g2_create(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                       const struct cz_g2_affine *base, size_t expected);
enum cz_status cz_cuda_fixed_g2_mul_n(struct cz_g2_affine *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                      size_t n);
enum cz_status cz_cuda_fixed_g2_encode_n(uint8_t *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                         size_t n);
void cz_cuda_fixed_g2_destroy(struct cz_fixed_base_g2 *fb);

#endif
