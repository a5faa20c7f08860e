#include "compute/device.h"

#include "base/bytes.h"
#include "base/time.h"

#include <string.h>

void cz_device_destroy(struct cz_device *dev) {
    if (dev) dev->ops->destroy(dev);
}

const char *cz_device_name(const struct cz_device *dev) {
    return dev->name;
}

uint64_t cz_device_popcount(const uint64_t *bit, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n / 64; i++) sum += (uint64_t)__builtin_popcountll(bit[i]);
    if (n % 64) sum += (uint64_t)__builtin_popcountll(bit[n / 64] & ((UINT64_C(1) << n % 64) - 1));
    return sum;
}

/* Holds the vectors' lengths against the circuit: a params file of another circuit must not be read past its end. */
static enum cz_status check_counts(const struct cz_r1cs *r1cs, const struct cz_srs_view *view, struct cz_error *err) {
    size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64, input_words = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *a_aux = cz_calloc(2 * aux_words + input_words, sizeof *a_aux);
    if (!a_aux) return cz_error_set(err, CZ_ERR_MEMORY, "srs: no memory for the densities");
    uint64_t *b_aux = a_aux + aux_words, *b_input = b_aux + aux_words;
    cz_r1cs_density(r1cs, a_aux, b_aux, b_input);
    uint64_t b = cz_device_popcount(b_input, r1cs->num_inputs) + cz_device_popcount(b_aux, r1cs->num_aux);
    const struct {
        const char *name;
        uint64_t have, want;
    } count[] = {
        {"h", view->num_h, (UINT64_C(1) << cz_r1cs_domain_log2(r1cs)) - 1},
        {"l", view->num_l, r1cs->num_aux},
        {"a", view->num_a, r1cs->num_inputs + cz_device_popcount(a_aux, r1cs->num_aux)},
        {"b", view->num_b, b},
    };
    cz_free(a_aux);
    for (size_t i = 0; i < sizeof count / sizeof count[0]; i++) {
        if (count[i].have == count[i].want) continue;
        return cz_error_set(err, CZ_ERR_MISMATCH, "srs: vector %s has %llu points, the circuit needs %llu",
                            count[i].name, (unsigned long long)count[i].have, (unsigned long long)count[i].want);
    }
    return CZ_OK;
}

enum cz_status cz_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                             const struct cz_srs_view *view, struct cz_error *err) {
    struct cz_srs *srs = NULL;
    if (cz_r1cs_domain_log2(r1cs) > 31) {
        return cz_error_set(err, CZ_ERR_LIMIT, "srs: the circuit's domain is above 2^31");
    }
    enum cz_status status = check_counts(r1cs, view, err);
    if (status == CZ_OK) status = dev->ops->srs_create(&srs, dev, r1cs, view, err);
    if (status != CZ_OK) return status;
    srs->dev = dev;
    srs->r1cs = r1cs;
    srs->view = *view;
    *out = srs;
    return CZ_OK;
}

void cz_srs_destroy(struct cz_srs *srs) {
    if (srs) srs->dev->ops->srs_destroy(srs);
}

size_t cz_srs_bytes(const struct cz_srs *srs) {
    return srs->dev->ops->srs_bytes(srs);
}

const struct cz_r1cs *cz_srs_r1cs(const struct cz_srs *srs) {
    return srs->r1cs;
}

static const char *const PART_NAME[CZ_PARTITION_PARTS] = {"upload", "expand", "eval", "h", "H", "L", "A", "B1", "B2"};

const char *cz_partition_part_name(enum cz_partition_part part) {
    return (unsigned)part < CZ_PARTITION_PARTS ? PART_NAME[part] : "?";
}

void cz_device_part_done(struct cz_partition_timing *timing, enum cz_partition_part part, uint64_t start_ns) {
    double *const seconds[CZ_PARTITION_PARTS] = {
        &timing->eval,  &timing->eval,  &timing->eval,     &timing->ntt,      &timing->msm_h,
        &timing->sum_l, &timing->sum_a, &timing->sum_b_g1, &timing->sum_b_g2,
    };
    const uint64_t now = cz_time_now_ns();
    timing->part[part].start_ns = start_ns;
    timing->part[part].end_ns = now;
    *seconds[part] += (double)(now - start_ns) / 1e9;
}

enum cz_status cz_device_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                         struct cz_srs *srs, const struct cz_witness *witness, struct cz_error *err) {
    const struct cz_r1cs *r1cs = srs->r1cs;
    struct cz_partition_timing time = {0};
    struct cz_partition_sums sums;
    if (!cz_witness_fits(witness, r1cs)) {
        return cz_error_set(err, CZ_ERR_MISMATCH, "witness: its counts are those of another circuit");
    }
    uint64_t start = cz_time_now_ns();
    enum cz_status status = srs->dev->ops->prove_partition(&sums, &time, srs, witness, err);
    if (status != CZ_OK) return status;
    time.total = cz_time_since(start);
    if (timing) *timing = time;
    *out = sums;
    return CZ_OK;
}

size_t cz_device_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs) {
    return dev->ops->partition_bytes(dev, r1cs);
}

enum cz_status cz_device_msm_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                const uint64_t *scalar, size_t n) {
    return dev->ops->msm_g1(out, dev, base, scalar, n);
}

enum cz_status cz_device_msm_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                const uint64_t *scalar, size_t n) {
    return dev->ops->msm_g2(out, dev, base, scalar, n);
}

enum cz_status cz_device_bitsum_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                   const uint64_t *bit, size_t n) {
    return dev->ops->bitsum_g1(out, dev, base, bit, n);
}

enum cz_status cz_device_bitsum_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                   const uint64_t *bit, size_t n) {
    return dev->ops->bitsum_g2(out, dev, base, bit, n);
}

enum cz_status cz_device_ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    if (log2n > 31) return CZ_ERR_LIMIT;
    return dev->ops->ntt(dev, v, log2n, kind);
}

enum cz_status cz_fixed_base_g1_create(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                       const struct cz_g1_affine *base, size_t expected) {
    struct cz_fixed_base_g1 *fb;
    enum cz_status status = dev->ops->fixed_g1_create(&fb, dev, base, expected);
    if (status != CZ_OK) return status;
    fb->dev = dev;
    *out = fb;
    return CZ_OK;
}

enum cz_status cz_fixed_base_g1_mul_n(struct cz_g1_affine *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                      size_t n) {
    return fb->dev->ops->fixed_g1_mul_n(out, fb, scalar, n);
}

enum cz_status cz_fixed_base_g1_encode_n(uint8_t *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                         size_t n) {
    return fb->dev->ops->fixed_g1_encode_n(out, fb, scalar, n);
}

void cz_fixed_base_g1_destroy(struct cz_fixed_base_g1 *fb) {
    if (fb) fb->dev->ops->fixed_g1_destroy(fb);
}

enum cz_status cz_fixed_base_g2_create(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                       const struct cz_g2_affine *base, size_t expected) {
    struct cz_fixed_base_g2 *fb;
    enum cz_status status = dev->ops->fixed_g2_create(&fb, dev, base, expected);
    if (status != CZ_OK) return status;
    fb->dev = dev;
    *out = fb;
    return CZ_OK;
}

enum cz_status cz_fixed_base_g2_mul_n(struct cz_g2_affine *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                      size_t n) {
    return fb->dev->ops->fixed_g2_mul_n(out, fb, scalar, n);
}

enum cz_status cz_fixed_base_g2_encode_n(uint8_t *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                         size_t n) {
    return fb->dev->ops->fixed_g2_encode_n(out, fb, scalar, n);
}

void cz_fixed_base_g2_destroy(struct cz_fixed_base_g2 *fb) {
    if (fb) fb->dev->ops->fixed_g2_destroy(fb);
}
