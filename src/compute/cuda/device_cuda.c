/*
 * The CUDA device behind compute.h: takes a worker, moves the operands, calls the sums.
 */

#include "compute/cuda/device_cuda.h"

#include "base/bytes.h"
#include "compute/cuda/points.h"
#include "compute/gpu.h"

#include <stdio.h>

/* Through the worker's pinned memory in halves, so that copies overlap. */
enum cz_status cz_cuda_download(struct cz_cuda_worker *w, void *to, const void *d_from, size_t n) {
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    const size_t half = (w->pinned_size - w->pinned_used) / 2 / 256 * 256;
    uint8_t *buffer = half ? cz_cuda_pinned(w, 2, half) : NULL;
    if (!buffer) return cz_cuda_full(w, "a pinned buffer");
    size_t asked = 0, done = 0;
    for (unsigned i = 0; done < n; i++) { /* half i + 1 is on its way while half i is emptied */
        for (unsigned k = asked ? i + 1 : 0; asked < n && k <= i + 1; k++) {
            const size_t m = n - asked < half ? n - asked : half;
            CZ_CUDA(w, cudaMemcpyAsync(buffer + (k & 1) * half, (const uint8_t *)d_from + asked, m,
                                       cudaMemcpyDeviceToHost, w->stream));
            CZ_CUDA(w, cudaEventRecord(w->event[6 + (k & 1)], w->stream));
            asked += m;
        }
        const size_t m = n - done < half ? n - done : half;
        CZ_CUDA(w, cudaEventSynchronize(w->event[6 + (i & 1)]));
        memcpy((uint8_t *)to + done, buffer + (i & 1) * half, m);
        done += m;
    }
    cz_cuda_release(w, mark);
    return CZ_OK;
}

static struct cz_cuda *cuda_of(struct cz_device *dev) {
    return ((struct cz_cuda_device *)dev)->cuda;
}

static void destroy(struct cz_device *dev) {
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    cz_cuda_tables_destroy(d->tables);
    cz_cuda_destroy(d->cuda);
    cz_device_destroy(d->cpu);
    cz_free(d);
}

static enum cz_status upload_points(void **out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *base,
                                    size_t n) {
    void *d = cz_cuda_mem(w, n, cz_cuda_point_bytes(group));
    if (!d) return cz_cuda_full(w, "the points");
    CZ_CUDA_TRY(cz_cuda_upload(w, d, base, n * cz_cuda_point_bytes(group)));
    CZ_CUDA_TRY(cz_cuda_points_convert(w, w->stream, group, d, d, n, false));
    *out = d;
    return CZ_OK;
}

static enum cz_status msm_on(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *base,
                             const uint64_t *scalar, size_t n) {
    void *d_point = NULL;
    uint32_t *d_scalar = cz_cuda_mem(w, n, 32);
    bool in_range = true;
    if (!d_scalar) return cz_cuda_full(w, "the scalars");
    CZ_CUDA_TRY(cz_cuda_upload(w, d_scalar, scalar, n * 32));
    if (n) CZ_CUDA_TRY(cz_cuda_scalars_check(w, &in_range, d_scalar, n));
    if (!in_range) return CZ_ERR_FIELD_RANGE;
    CZ_CUDA_TRY(upload_points(&d_point, w, group, base, n));
    return cz_cuda_msm(out, w, group, d_point, NULL, d_scalar, n, false);
}

static enum cz_status msm(void *out, struct cz_device *dev, enum cz_cuda_group group, const void *base,
                          const uint64_t *scalar, size_t n) {
    struct cz_cuda_worker *w;
    CZ_CUDA_TRY(cz_cuda_take(&w, cuda_of(dev), NULL));
    enum cz_status status = msm_on(out, w, group, base, scalar, n);
    cz_cuda_give(w);
    return status;
}

static enum cz_status bitsum_on(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *base,
                                const uint64_t *bit, size_t n) {
    void *d_point = NULL;
    const size_t words = (n + 63) / 64;
    uint64_t *d_bit = cz_cuda_mem(w, words, 8);
    if (!d_bit) return cz_cuda_full(w, "the bits");
    CZ_CUDA_TRY(cz_cuda_upload(w, d_bit, bit, 8 * words));
    CZ_CUDA_TRY(upload_points(&d_point, w, group, base, n));
    return cz_cuda_bitsum(out, w, group, d_point, 0, d_bit, NULL, n);
}

static enum cz_status bitsum(void *out, struct cz_device *dev, enum cz_cuda_group group, const void *base,
                             const uint64_t *bit, size_t n) {
    struct cz_cuda_worker *w;
    CZ_CUDA_TRY(cz_cuda_take(&w, cuda_of(dev), NULL));
    enum cz_status status = bitsum_on(out, w, group, base, bit, n);
    cz_cuda_give(w);
    return status;
}

static enum cz_status msm_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                             const uint64_t *scalar, size_t n) {
    return msm(out, dev, CZ_CUDA_G1, base, scalar, n);
}
static enum cz_status msm_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                             const uint64_t *scalar, size_t n) {
    return msm(out, dev, CZ_CUDA_G2, base, scalar, n);
}
static enum cz_status bitsum_g1(struct cz_g1 *out, struct cz_device *dev, const struct cz_g1_affine *base,
                                const uint64_t *bit, size_t n) {
    return bitsum(out, dev, CZ_CUDA_G1, base, bit, n);
}
static enum cz_status bitsum_g2(struct cz_g2 *out, struct cz_device *dev, const struct cz_g2_affine *base,
                                const uint64_t *bit, size_t n) {
    return bitsum(out, dev, CZ_CUDA_G2, base, bit, n);
}

static const struct cz_device_ops cuda_ops = {
    .destroy = destroy,
    .srs_create = cz_cuda_srs_create,
    .srs_destroy = cz_cuda_srs_destroy,
    .srs_bytes = cz_cuda_srs_bytes,
    .prove_partition = cz_cuda_prove_partition,
    .partition_bytes = cz_cuda_partition_bytes,
    .msm_g1 = msm_g1,
    .msm_g2 = msm_g2,
    .bitsum_g1 = bitsum_g1,
    .bitsum_g2 = bitsum_g2,
    .ntt = cz_cuda_ntt,
    .fixed_g1_create = cz_cuda_fixed_g1_create,
    .fixed_g1_mul_n = cz_cuda_fixed_g1_mul_n,
    .fixed_g1_encode_n = cz_cuda_fixed_g1_encode_n,
    .fixed_g1_destroy = cz_cuda_fixed_g1_destroy,
    .fixed_g2_create = cz_cuda_fixed_g2_create,
    .fixed_g2_mul_n = cz_cuda_fixed_g2_mul_n,
    .fixed_g2_encode_n = cz_cuda_fixed_g2_encode_n,
    .fixed_g2_destroy = cz_cuda_fixed_g2_destroy,
};

enum cz_status cz_gpu_create(struct cz_device **out, const struct cz_gpu_options *options, struct cz_pool *pool,
                             struct cz_error *err) {
    struct cz_cuda_options o = {.ordinal = options->ordinal,
                                .workers = options->workers,
                                .vram_limit = options->vram_limit,
                                .pinned_bytes = options->pinned,
                                .resident_bytes = options->residents};
    struct cz_cuda_device *d = cz_calloc(1, sizeof *d);
    if (!d) return cz_error_set(err, CZ_ERR_MEMORY, "cuda:%d", o.ordinal);
    d->base.ops = &cuda_ops;
    d->pairs = options->pairs;
    snprintf(d->base.name, sizeof d->base.name, "cuda:%d", o.ordinal);
    enum cz_status status = cz_device_create_cpu(&d->cpu, pool);
    if (status == CZ_OK) status = cz_cuda_create(&d->cuda, &o, err);
    if (status == CZ_OK) status = cz_cuda_tables_create(&d->tables, d->cuda, err);
    if (status == CZ_OK) { /* handing the worker back waits for its streams and returns nothing */
        struct cz_error last = {0};
        cz_cuda_last_error(&last, d->cuda);
        if (last.status != CZ_OK) status = cz_error_set(err, last.status, "%s", last.detail);
    }
    if (status != CZ_OK) {
        destroy(&d->base);
        return status;
    }
    *out = &d->base;
    return CZ_OK;
}

const char *cz_gpu_architectures(void) {
    return CZ_CUDA_ARCHITECTURES;
}

bool cz_gpu_describe(struct cz_gpu_info *out, const struct cz_device *dev) {
    if (dev->ops != &cuda_ops) return false;
    const struct cz_cuda_info *info = cz_cuda_device_info(((const struct cz_cuda_device *)dev)->cuda);
    *out = (struct cz_gpu_info){.arch = info->arch,
                                .multiprocessors = info->sms,
                                .vram_total = info->vram_total,
                                .vram_budget = info->vram_budget};
    memcpy(out->name, info->name, sizeof out->name);
    return true;
}
