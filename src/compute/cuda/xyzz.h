#ifndef CUZK_COMPUTE_CUDA_XYZZ_H
#define CUZK_COMPUTE_CUDA_XYZZ_H

/* The host's end of a sum: XYZZ points of the device become Jacobian points and are added up. */

#include "compute/cuda/points.h"

/** Bytes of an XYZZ point: four field elements. */
static inline size_t cz_cuda_xyzz_bytes(enum cz_cuda_group group) {
    return 2 * cz_cuda_point_bytes(group);
}

/** A running sum Σ 2^e·P; struct cz_g1 or cz_g2 by group. */
struct cz_cuda_sum {
    enum cz_cuda_group group;
    unsigned highest;
    union {
        struct cz_g1 g1[320];
        struct cz_g2 g2[320];
    } at;
};

void cz_cuda_sum_init(struct cz_cuda_sum *sum, enum cz_cuda_group group);
/** Adds 2^exponent times the XYZZ point at p; exponent < 320. */
void cz_cuda_sum_add(struct cz_cuda_sum *sum, unsigned exponent, const void *p);
/** All of it, with one pass of doublings. */
void cz_cuda_sum_finish(void *out, const struct cz_cuda_sum *sum);

#endif
