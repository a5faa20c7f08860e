#ifndef CUZK_COMPUTE_DEVICE_H
#define CUZK_COMPUTE_DEVICE_H

/*
 * For implementers of a device. Users include compute/compute.h; device.c checks arguments once for all devices and
 * calls through this table. Every slot is required. An implementation embeds the base structs as first members.
 */

#include "compute/compute.h"

struct cz_device_ops {
    void (*destroy)(struct cz_device *dev);

    /** The counts have been checked. Fills the implementation's part and leaves the base to device.c. */
    enum cz_status (*srs_create)(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                 const struct cz_srs_view *view, struct cz_error *err);
    void (*srs_destroy)(struct cz_srs *srs);
    size_t (*srs_bytes)(const struct cz_srs *srs);

    /** The witness's counts have been checked; timing is never NULL. */
    enum cz_status (*prove_partition)(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                      struct cz_srs *srs, const struct cz_witness *witness, struct cz_error *err);
    size_t (*partition_bytes)(const struct cz_device *dev, const struct cz_r1cs *r1cs);

    enum cz_status (*msm_g1)(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                             const uint64_t *scalar, size_t n);
    enum cz_status (*msm_g2)(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                             const uint64_t *scalar, size_t n);
    enum cz_status (*bitsum_g1)(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                const uint64_t *bit, size_t n);
    enum cz_status (*bitsum_g2)(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                const uint64_t *bit, size_t n);
    /** log2n <= 31. */
    enum cz_status (*ntt)(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind);

    enum cz_status (*fixed_g1_create)(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                      const struct cz_g1_affine *base, size_t expected);
    enum cz_status (*fixed_g1_mul_n)(struct cz_g1_affine *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                     size_t n);
    enum cz_status (*fixed_g1_encode_n)(uint8_t *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                        size_t n);
    void (*fixed_g1_destroy)(struct cz_fixed_base_g1 *fb);
    enum cz_status (*fixed_g2_create)(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                      const struct cz_g2_affine *base, size_t expected);
    enum cz_status (*fixed_g2_mul_n)(struct cz_g2_affine *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                     size_t n);
    enum cz_status (*fixed_g2_encode_n)(uint8_t *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                        size_t n);
    void (*fixed_g2_destroy)(struct cz_fixed_base_g2 *fb);
};

struct cz_device {
    const struct cz_device_ops *ops;
    char name[32];
};

struct cz_srs {
    struct cz_device *dev;
    const struct cz_r1cs *r1cs;
    struct cz_srs_view view;
};

struct cz_fixed_base_g1 {
    struct cz_device *dev;
};

struct cz_fixed_base_g2 {
    struct cz_device *dev;
};

/** Bits set in the first n of `bit`. */
uint64_t cz_device_popcount(const uint64_t *bit, size_t n);

/** A part that began at start_ns ends now: notes both, and adds to its seconds. */
void cz_device_part_done(struct cz_partition_timing *timing, enum cz_partition_part part, uint64_t start_ns);

#endif
