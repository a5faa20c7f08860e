#include "base/bytes.h"
#include "compute/cpu/cpu_int.h"
#include "curve/encoding.h"
#include "field/cpu.h"

#include <string.h>

#define ENCODE_GRAIN 512

/* The eight-lane table where the processor has it. */
#ifdef CZ_COMPUTE_IFMA
#define TABLE(one, eight) (cz_field_current() == CZ_FIELD_IFMA ? &(eight) : &(one))
#else
#define TABLE(one, eight) (&(one))
#endif

const struct cz_points_ops *cz_cpu_g1(void) {
    return TABLE(cz_points_g1, cz_points_g1_ifma);
}
const struct cz_points_ops *cz_cpu_g2(void) {
    return TABLE(cz_points_g2, cz_points_g2_ifma);
}
const struct cz_ntt_ops *cz_cpu_ntt(void) {
    return TABLE(cz_ntt_scalar, cz_ntt_ifma);
}

void cz_cpu_scalars_plain(const void *ctx, uint64_t *out, size_t first, size_t n) {
    const uint64_t *scalar = ctx;
    memcpy(out, scalar + 4 * first, 4 * n * sizeof *out);
}

static struct cz_pool *pool_of(struct cz_device *dev) {
    return ((struct cz_cpu_device *)dev)->pool;
}

static void destroy(struct cz_device *dev) {
    cz_free(dev);
}

static enum cz_status msm_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                             const uint64_t *scalar, size_t n) {
    struct cz_msm_input in = {.base.affine = base, .n = n, .scalars = cz_cpu_scalars_plain, .ctx = scalar};
    return cz_cpu_g1()->msm(out, pool_of(dev), &in);
}

static enum cz_status msm_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                             const uint64_t *scalar, size_t n) {
    struct cz_msm_input in = {.base.affine = base, .n = n, .scalars = cz_cpu_scalars_plain, .ctx = scalar};
    return cz_cpu_g2()->msm(out, pool_of(dev), &in);
}

static enum cz_status bitsum_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                const uint64_t *bit, size_t n) {
    struct cz_point_source source = {.affine = base};
    struct cz_bit_select select = {.value = bit, .n = n};
    return cz_cpu_g1()->bitsum(out, pool_of(dev), &source, &select);
}

static enum cz_status bitsum_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                const uint64_t *bit, size_t n) {
    struct cz_point_source source = {.affine = base};
    struct cz_bit_select select = {.value = bit, .n = n};
    return cz_cpu_g2()->bitsum(out, pool_of(dev), &source, &select);
}

static enum cz_status ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    return cz_cpu_ntt()->run(pool_of(dev), v, log2n, kind);
}

/* A table keeps the arithmetic that made it, whatever is selected later. */
struct fixed_g1 {
    struct cz_fixed_base_g1 base;
    const struct cz_points_ops *ops;
    struct cz_points_fixed *fixed;
};
struct fixed_g2 {
    struct cz_fixed_base_g2 base;
    const struct cz_points_ops *ops;
    struct cz_points_fixed *fixed;
};

static enum cz_status fixed_g1_create(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                      const struct cz_g1_affine *base, size_t expected) {
    struct fixed_g1 *fb = cz_calloc(1, sizeof *fb);
    if (!fb) return CZ_ERR_MEMORY;
    fb->ops = cz_cpu_g1();
    enum cz_status status = fb->ops->fixed_create(&fb->fixed, pool_of(dev), base, expected);
    if (status != CZ_OK) {
        cz_free(fb);
        return status;
    }
    *out = &fb->base;
    return CZ_OK;
}

static enum cz_status fixed_g1_mul_n(struct cz_g1_affine *out, struct cz_fixed_base_g1 *base,
                                     const struct cz_fr *scalar, size_t n) {
    struct fixed_g1 *fb = (struct fixed_g1 *)base;
    return fb->ops->fixed_mul_n(out, fb->fixed, scalar, n);
}

struct encode_g1 {
    uint8_t *out;
    struct cz_g1_affine *point;
};

static void encode_g1_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct encode_g1 *job = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) cz_g1_encode_uncompressed(job->out + i * CZ_G1_UNCOMPRESSED, &job->point[i]);
}

static enum cz_status fixed_g1_encode_n(uint8_t *out, struct cz_fixed_base_g1 *base, const struct cz_fr *scalar,
                                        size_t n) {
    struct encode_g1 job = {.point = cz_malloc_array(n, sizeof *job.point)};
    if (!job.point) return CZ_ERR_MEMORY;
    enum cz_status status = fixed_g1_mul_n(job.point, base, scalar, n);
    job.out = out;
    if (status == CZ_OK) cz_pool_for(pool_of(base->dev), n, ENCODE_GRAIN, encode_g1_range, &job);
    cz_free(job.point);
    return status;
}

static void fixed_g1_destroy(struct cz_fixed_base_g1 *base) {
    struct fixed_g1 *fb = (struct fixed_g1 *)base;
    fb->ops->fixed_destroy(fb->fixed);
    cz_free(fb);
}

static enum cz_status fixed_g2_create(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                      const struct cz_g2_affine *base, size_t expected) {
    struct fixed_g2 *fb = cz_calloc(1, sizeof *fb);
    if (!fb) return CZ_ERR_MEMORY;
    fb->ops = cz_cpu_g2();
    enum cz_status status = fb->ops->fixed_create(&fb->fixed, pool_of(dev), base, expected);
    if (status != CZ_OK) {
        cz_free(fb);
        return status;
    }
    *out = &fb->base;
    return CZ_OK;
}

static enum cz_status fixed_g2_mul_n(struct cz_g2_affine *out, struct cz_fixed_base_g2 *base,
                                     const struct cz_fr *scalar, size_t n) {
    struct fixed_g2 *fb = (struct fixed_g2 *)base;
    return fb->ops->fixed_mul_n(out, fb->fixed, scalar, n);
}

struct encode_g2 {
    uint8_t *out;
    struct cz_g2_affine *point;
};

static void encode_g2_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct encode_g2 *job = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) cz_g2_encode_uncompressed(job->out + i * CZ_G2_UNCOMPRESSED, &job->point[i]);
}

static enum cz_status fixed_g2_encode_n(uint8_t *out, struct cz_fixed_base_g2 *base, const struct cz_fr *scalar,
                                        size_t n) {
    struct encode_g2 job = {.point = cz_malloc_array(n, sizeof *job.point)};
    if (!job.point) return CZ_ERR_MEMORY;
    enum cz_status status = fixed_g2_mul_n(job.point, base, scalar, n);
    job.out = out;
    if (status == CZ_OK) cz_pool_for(pool_of(base->dev), n, ENCODE_GRAIN, encode_g2_range, &job);
    cz_free(job.point);
    return status;
}

static void fixed_g2_destroy(struct cz_fixed_base_g2 *base) {
    struct fixed_g2 *fb = (struct fixed_g2 *)base;
    fb->ops->fixed_destroy(fb->fixed);
    cz_free(fb);
}

static const struct cz_device_ops cpu_ops = {
    .destroy = destroy,
    .srs_create = cz_prove_srs_create,
    .srs_destroy = cz_prove_srs_destroy,
    .srs_bytes = cz_prove_srs_bytes,
    .prove_partition = cz_prove_partition,
    .partition_bytes = cz_prove_partition_bytes,
    .msm_g1 = msm_g1,
    .msm_g2 = msm_g2,
    .bitsum_g1 = bitsum_g1,
    .bitsum_g2 = bitsum_g2,
    .ntt = ntt,
    .fixed_g1_create = fixed_g1_create,
    .fixed_g1_mul_n = fixed_g1_mul_n,
    .fixed_g1_encode_n = fixed_g1_encode_n,
    .fixed_g1_destroy = fixed_g1_destroy,
    .fixed_g2_create = fixed_g2_create,
    .fixed_g2_mul_n = fixed_g2_mul_n,
    .fixed_g2_encode_n = fixed_g2_encode_n,
    .fixed_g2_destroy = fixed_g2_destroy,
};

enum cz_status cz_device_create_cpu(struct cz_device **out, struct cz_pool *pool) {
    struct cz_cpu_device *dev = cz_calloc(1, sizeof *dev);
    if (!dev) return CZ_ERR_MEMORY;
    dev->base.ops = &cpu_ops;
    snprintf(dev->base.name, sizeof dev->base.name, "cpu");
    dev->pool = pool;
    *out = &dev->base;
    return CZ_OK;
}
