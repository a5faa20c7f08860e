#ifndef CUZK_COMPUTE_COMPUTE_H
#define CUZK_COMPUTE_COMPUTE_H

/*
 * The device interface, for users. A device proves whole partitions: expand the witness, evaluate a, b, c, make h,
 * and form the five sums of Groth16. It also offers the single operations to setup, tests and benchmarks.
 * Implementers include compute/device.h.
 *
 * Every device gives the same points. The CPU device is the readable reference and is always built.
 */

#include "base/status.h"
#include "base/thread.h"
#include "curve/g1.h"
#include "curve/g2.h"
#include "r1cs/r1cs.h"
#include "r1cs/witness.h"

struct cz_device;

/** Makes the CPU device on `pool` (borrowed, must outlive it; NULL: the caller's thread only). */
CZ_MUST_CHECK enum cz_status cz_device_create_cpu(struct cz_device **out, struct cz_pool *pool);
/** Accepts NULL. No SRS of it may be left. */
void cz_device_destroy(struct cz_device *dev);
/** "cpu", "cuda:0", … */
const char *cz_device_name(const struct cz_device *dev);

/**
 * The five vectors of a .params file as they lie there: uncompressed big-endian points, G1 96 and G2 192 bytes.
 * Borrowed: the mapping outlives the SRS.
 */
struct cz_srs_view {
    const uint8_t *h, *l, *a, *b_g1, *b_g2;
    uint32_t num_h, num_l, num_a, num_b;
};

/** An SRS made ready on a device for one circuit (index lists of the densities, resident points if any). */
struct cz_srs;

/**
 * r1cs and the view's memory are borrowed until cz_srs_destroy. CZ_ERR_MISMATCH when counts do not fit the circuit:
 * num_h = 2^domain - 1, num_l = aux, num_a = inputs + a density, num_b = b densities.
 */
CZ_MUST_CHECK enum cz_status cz_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                           const struct cz_srs_view *view, struct cz_error *err);
void cz_srs_destroy(struct cz_srs *srs);
/** Bytes that the SRS holds beside the mapping. */
size_t cz_srs_bytes(const struct cz_srs *srs);
const struct cz_r1cs *cz_srs_r1cs(const struct cz_srs *srs);

/** The sums of spec/r1cs-and-prover.md §5, before r, s and the key's points enter. a, b with inputs and aux together.
 */
struct cz_partition_sums {
    struct cz_g1 h, l, a, b_g1;
    struct cz_g2 b_g2;
};

/** What a partition's time goes to, one part after another on its worker's stream; the order is the device's. */
enum cz_partition_part {
    CZ_PART_UPLOAD, /* the witness goes to the device */
    CZ_PART_EXPAND,
    CZ_PART_EVAL,
    CZ_PART_NTT,
    CZ_PART_MSM_H,
    CZ_PART_SUM_L,
    CZ_PART_SUM_A,
    CZ_PART_SUM_B_G1,
    CZ_PART_SUM_B_G2,
    CZ_PARTITION_PARTS
};
/** Of the timeline: "upload", "expand", "eval", "h", and the sums "H", "L", "A", "B1", "B2". */
const char *cz_partition_part_name(enum cz_partition_part part);

/** Seconds of each part (eval with all that comes before it), and when each began and ended (cz_time_now_ns). */
struct cz_partition_timing {
    double eval, ntt, msm_h, sum_l, sum_a, sum_b_g1, sum_b_g2, total;
    struct {
        uint64_t start_ns, end_ns; /* 0: this device has no such part */
    } part[CZ_PARTITION_PARTS];
};

/**
 * Proves one partition up to the five sums. Blocks. timing may be NULL. Several threads may call at once on one device.
 * Peak working memory: cz_device_partition_bytes.
 */
CZ_MUST_CHECK enum cz_status cz_device_prove_partition(struct cz_partition_sums *out,
                                                       struct cz_partition_timing *timing, struct cz_srs *srs,
                                                       const struct cz_witness *witness, struct cz_error *err);
/** Upper bound on host memory of one cz_device_prove_partition call, beside witness, circuit and mapping. */
size_t cz_device_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs);

/* Single operations. Scalars are canonical limbs, four a scalar, low to high, below r. Points affine; infinity allowed.
 */

CZ_MUST_CHECK enum cz_status cz_device_msm_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                              const uint64_t *scalar, size_t n);
CZ_MUST_CHECK enum cz_status cz_device_msm_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                              const uint64_t *scalar, size_t n);
/** Sum of base[i] over set bits i of `bit` (n bits, 64 a word). */
CZ_MUST_CHECK enum cz_status cz_device_bitsum_g1(struct cz_g1 *out, struct cz_device *dev,
                                                 const struct cz_g1_affine *base, const uint64_t *bit, size_t n);
CZ_MUST_CHECK enum cz_status cz_device_bitsum_g2(struct cz_g2 *out, struct cz_device *dev,
                                                 const struct cz_g2_affine *base, const uint64_t *bit, size_t n);

enum cz_ntt_kind {
    CZ_NTT_FORWARD,       /* coefficients to values over the 2^log2n-th roots of unity, natural order */
    CZ_NTT_INVERSE,       /* back, scaled by 1/n */
    CZ_NTT_COSET_FORWARD, /* coefficients to values over the coset 7·⟨ω⟩ */
    CZ_NTT_COSET_INVERSE,
};
/** In place, natural order in and out, Montgomery form. log2n <= 31. */
CZ_MUST_CHECK enum cz_status cz_device_ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n,
                                           enum cz_ntt_kind kind);

/**
 * out[i] = scalar[i]·base for setup, i < n. A scalar of 0 gives infinity. Tables are made once per base:
 * cz_fixed_base_g1_create, then any number of batches, from one thread at a time.
 */
struct cz_fixed_base_g1;
struct cz_fixed_base_g2;
CZ_MUST_CHECK enum cz_status cz_fixed_base_g1_create(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                                     const struct cz_g1_affine *base, size_t expected);
CZ_MUST_CHECK enum cz_status cz_fixed_base_g1_mul_n(struct cz_g1_affine *out, struct cz_fixed_base_g1 *fb,
                                                    const struct cz_fr *scalar, size_t n);
/** The same points as .params files have them: 96 (192 in G2) bytes each, uncompressed. */
CZ_MUST_CHECK enum cz_status cz_fixed_base_g1_encode_n(uint8_t *out, struct cz_fixed_base_g1 *fb,
                                                       const struct cz_fr *scalar, size_t n);
void cz_fixed_base_g1_destroy(struct cz_fixed_base_g1 *fb);
CZ_MUST_CHECK enum cz_status cz_fixed_base_g2_create(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                                     const struct cz_g2_affine *base, size_t expected);
CZ_MUST_CHECK enum cz_status cz_fixed_base_g2_mul_n(struct cz_g2_affine *out, struct cz_fixed_base_g2 *fb,
                                                    const struct cz_fr *scalar, size_t n);
CZ_MUST_CHECK enum cz_status cz_fixed_base_g2_encode_n(uint8_t *out, struct cz_fixed_base_g2 *fb,
                                                       const struct cz_fr *scalar, size_t n);
void cz_fixed_base_g2_destroy(struct cz_fixed_base_g2 *fb);

#endif
