#ifndef CUZK_COMPUTE_CPU_CPU_INT_H
#define CUZK_COMPUTE_CPU_CPU_INT_H

/* What device_cpu.c and prove.c share. */

#include "compute/cpu/ntt.h"
#include "compute/cpu/points.h"
#include "compute/device.h"

struct cz_cpu_device {
    struct cz_device base;
    struct cz_pool *pool;
};

/** The tables for the arithmetic in use now. */
const struct cz_points_ops *cz_cpu_g1(void);
const struct cz_points_ops *cz_cpu_g2(void);
const struct cz_ntt_ops *cz_cpu_ntt(void);

/** Scalars from an array of limbs, for cz_msm_input.scalars; ctx is the array. */
void cz_cpu_scalars_plain(const void *ctx, uint64_t *out, size_t first, size_t n);

enum cz_status cz_prove_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                   const struct cz_srs_view *view, struct cz_error *err);
void cz_prove_srs_destroy(struct cz_srs *srs);
size_t cz_prove_srs_bytes(const struct cz_srs *srs);
enum cz_status cz_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing, struct cz_srs *srs,
                                  const struct cz_witness *witness, struct cz_error *err);
size_t cz_prove_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs);

#endif
