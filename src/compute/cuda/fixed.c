/* Multiples of a fixed base on the device: tables in resident memory, batches through one worker. */

#include "compute/cuda/fixed.h"

#include "base/bytes.h"
#include "compute/cuda/device_cuda.h"

/* Additions of a batch: a round's fixed costs are below a tenth then, and 151 MB of worker memory beside the scratch of
 * the additions do (415 MB on 132 multiprocessors). */
#define BATCH_G1 ((size_t)1 << 20)
#define BATCH_G2 ((size_t)1 << 19)
#define MIN_BITS 6
#define MAX_BITS 20

struct fixed {
    union {
        struct cz_fixed_base_g1 g1;
        struct cz_fixed_base_g2 g2;
    } base; /* first member */
    struct cz_cuda *cuda;
    enum cz_cuda_group group;
    struct cz_cuda_fixed_shape shape;
    void *table;
};

static size_t table_points(unsigned bits) {
    return (size_t)((256 + bits - 1) / bits) * (((size_t)1 << (bits - 1)) + 1);
}

/* The fewest additions, those of the table counted in, in a third of the room: a table of the other group, of twice the
 * size, fits beside it. 0 when none fits. */
static unsigned choose_bits(size_t expected, size_t room_points) {
    unsigned best = 0;
    double least = 0;
    for (unsigned bits = MIN_BITS; bits <= MAX_BITS && table_points(bits) <= room_points; bits++) {
        const unsigned windows = (256 + bits - 1) / bits;
        const double cost = (double)expected * (windows - 1) + (double)table_points(bits);
        if (best && cost >= least) continue;
        best = bits;
        least = cost;
    }
    return best;
}

static void shape_make(struct cz_cuda_fixed_shape *s, unsigned bits, uint32_t table) {
    *s = (struct cz_cuda_fixed_shape){.bits = bits, .windows = (256 + bits - 1) / bits, .table = table};
    s->stride = (1u << (bits - 1)) + 1;
    for (unsigned k = 0; k < s->windows; k++) {
        unsigned at = bits * k + bits - 1;
        s->add[at / 32] |= 1u << at % 32;
    }
}

/* 2^i·B, i < n, on the host. */
static enum cz_status powers_g1(struct cz_g1_affine *out, const struct cz_g1_affine *base, size_t n) {
    struct cz_g1 *p = cz_calloc(n, sizeof *p);
    struct cz_fp *scratch = cz_calloc(n, sizeof *scratch);
    if (p && scratch) {
        cz_g1_from_affine(&p[0], base);
        for (size_t i = 1; i < n; i++) cz_g1_dbl(&p[i], &p[i - 1]);
        cz_g1_to_affine_n(out, p, scratch, n);
    }
    enum cz_status status = p && scratch ? CZ_OK : CZ_ERR_MEMORY;
    cz_free(p);
    cz_free(scratch);
    return status;
}
static enum cz_status powers_g2(struct cz_g2_affine *out, const struct cz_g2_affine *base, size_t n) {
    struct cz_g2 *p = cz_calloc(n, sizeof *p);
    struct cz_fp2 *scratch = cz_calloc(n, sizeof *scratch);
    if (p && scratch) {
        cz_g2_from_affine(&p[0], base);
        for (size_t i = 1; i < n; i++) cz_g2_dbl(&p[i], &p[i - 1]);
        cz_g2_to_affine_n(out, p, scratch, n);
    }
    enum cz_status status = p && scratch ? CZ_OK : CZ_ERR_MEMORY;
    cz_free(p);
    cz_free(scratch);
    return status;
}

static enum cz_status make_table(struct cz_cuda_worker *w, struct fixed *f, const void *power) {
    const struct cz_cuda_fixed_shape *s = &f->shape;
    const size_t bytes = cz_cuda_point_bytes(f->group), n = (size_t)s->bits * s->windows;
    void *d_power = cz_cuda_mem(w, n, bytes);
    struct cz_cuda_job *d_job = cz_cuda_mem(w, (size_t)s->windows << (s->bits - 2), sizeof *d_job);
    void *d_scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), f->group), 1);
    if (!d_power || !d_job || !d_scratch) return cz_cuda_full(w, "the making of a table");
    CZ_CUDA_TRY(cz_cuda_upload(w, d_power, power, n * bytes));
    CZ_CUDA_TRY(cz_cuda_points_convert(w, w->stream, f->group, d_power, d_power, n, false));
    CZ_CUDA_TRY(cz_cuda_k_fixed_place(w, f->group, f->table, d_power, s));
    for (unsigned round = 1; round < s->bits - 1; round++) {
        CZ_CUDA_TRY(cz_cuda_k_fixed_table(w, s, round, d_job));
        CZ_CUDA_TRY(
            cz_cuda_add(w, w->stream, f->group, d_job, NULL, s->windows * ((1u << round) - 1), s->table, d_scratch));
    }
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    return CZ_OK;
}

static void fixed_destroy(struct fixed *f) {
    if (f->table) cz_cuda_resident_free(f->cuda, f->table);
    cz_free(f);
}

static enum cz_status fixed_create(struct fixed **out, struct cz_device *dev, enum cz_cuda_group group,
                                   const void *base, size_t expected) {
    struct cz_cuda *cuda = ((struct cz_cuda_device *)dev)->cuda;
    const size_t bytes = cz_cuda_point_bytes(group), room = cz_cuda_resident_room(cuda) / bytes;
    unsigned bits = choose_bits(expected, group == CZ_CUDA_G1 ? room / 3 : room);
    if (!bits) return CZ_ERR_BUDGET;
    struct fixed *f = cz_calloc(1, sizeof *f);
    void *power = cz_malloc_array(256 + MAX_BITS, bytes);
    struct cz_cuda_worker *w = NULL;
    enum cz_status status = f && power ? CZ_OK : CZ_ERR_MEMORY;
    if (status != CZ_OK) goto out;
    f->cuda = cuda;
    f->group = group;
    f->table = cz_cuda_resident_alloc(cuda, table_points(bits) * bytes);
    if (!f->table) status = CZ_ERR_BUDGET;
    if (status == CZ_OK) {
        size_t at = (size_t)((const uint8_t *)f->table - (const uint8_t *)cz_cuda_base(cuda));
        shape_make(&f->shape, bits, (uint32_t)(at / bytes));
        size_t n = (size_t)f->shape.bits * f->shape.windows;
        status = group == CZ_CUDA_G1 ? powers_g1(power, base, n) : powers_g2(power, base, n);
    }
    if (status == CZ_OK) status = cz_cuda_take(&w, cuda, NULL);
    if (status == CZ_OK) {
        status = make_table(w, f, power);
        cz_cuda_give(w);
    }
out:
    cz_free(power);
    if (status == CZ_OK)
        *out = f;
    else if (f)
        fixed_destroy(f);
    return status;
}

/* One batch: n points at `out`, in host form or encoded. Scalars and what tells them stay nowhere. */
static enum cz_status batch(void *out, struct cz_cuda_worker *w, const struct fixed *f, const struct cz_fr *scalar,
                            uint32_t n, bool encoded) {
    const size_t bytes = cz_cuda_point_bytes(f->group);
    void *d_sum = cz_cuda_mem(w, n, bytes);
    uint32_t *d_scalar = cz_cuda_mem(w, n, sizeof *scalar);
    struct cz_cuda_job *d_job = cz_cuda_mem(w, n, sizeof *d_job);
    void *d_scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), f->group), 1);
    if (!d_sum || !d_scalar || !d_job || !d_scratch) return cz_cuda_full(w, "multiples of a fixed base");
    const uint32_t sums = (uint32_t)((size_t)((uint8_t *)d_sum - (uint8_t *)cz_cuda_base(w->cuda)) / bytes);
    CZ_CUDA_TRY(cz_cuda_upload(w, d_scalar, scalar, n * sizeof *scalar));
    CZ_CUDA_TRY(cz_cuda_k_fixed_scalars(w, d_scalar, n));
    for (unsigned k = 1; k < f->shape.windows; k++) {
        CZ_CUDA_TRY(cz_cuda_k_fixed_jobs(w, &f->shape, k, d_scalar, n, sums, d_job));
        CZ_CUDA_TRY(cz_cuda_add(w, w->stream, f->group, d_job, NULL, n, sums, d_scratch));
    }
    CZ_CUDA(w, cudaMemsetAsync(d_scalar, 0, n * sizeof *scalar, w->stream));
    CZ_CUDA(w, cudaMemsetAsync(d_job, 0, n * sizeof *d_job, w->stream));
    CZ_CUDA_TRY(cz_cuda_k_fixed_out(w, f->group, d_sum, n, encoded));
    return cz_cuda_download(w, out, d_sum, n * bytes);
}

static enum cz_status fixed_mul(void *out, struct fixed *f, const struct cz_fr *scalar, size_t n, bool encoded) {
    const size_t bytes = cz_cuda_point_bytes(f->group), most = f->group == CZ_CUDA_G1 ? BATCH_G1 : BATCH_G2;
    struct cz_cuda_worker *w;
    if (n == 0) return CZ_OK;
    CZ_CUDA_TRY(cz_cuda_take(&w, f->cuda, NULL));
    const struct cz_cuda_mark mark = cz_cuda_mark(w);
    enum cz_status status = CZ_OK;
    for (size_t at = 0; at < n && status == CZ_OK; at += most) {
        size_t m = n - at < most ? n - at : most;
        status = batch((uint8_t *)out + at * bytes, w, f, scalar + at, (uint32_t)m, encoded);
        cz_cuda_release(w, mark);
        /* Many points have gone through both halves of the pinned buffer; else the last scalars are still in it. */
        const size_t room = w->pinned_size - w->pinned_used, gone = room / 2 / 256 * 256 * 2;
        const bool whole = status != CZ_OK || m * bytes < gone;
        if (status != CZ_OK) (void)cudaStreamSynchronize(w->stream); /* a copy may still be under way */
        cz_memzero(w->pinned + w->pinned_used + (whole ? 0 : gone), whole ? room : room - gone);
    }
    cz_cuda_give(w);
    return status;
}

enum cz_status cz_cuda_fixed_g1_create(struct cz_fixed_base_g1 **out, struct cz_device *dev,
                                       const struct cz_g1_affine *base, size_t expected) {
    struct fixed *f;
    CZ_CUDA_TRY(fixed_create(&f, dev, CZ_CUDA_G1, base, expected));
    *out = &f->base.g1;
    return CZ_OK;
}
enum cz_status cz_cuda_fixed_g1_mul_n(struct cz_g1_affine *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                      size_t n) {
    return fixed_mul(out, (struct fixed *)fb, scalar, n, false);
}
enum cz_status cz_cuda_fixed_g1_encode_n(uint8_t *out, struct cz_fixed_base_g1 *fb, const struct cz_fr *scalar,
                                         size_t n) {
    return fixed_mul(out, (struct fixed *)fb, scalar, n, true);
}
void cz_cuda_fixed_g1_destroy(struct cz_fixed_base_g1 *fb) {
    fixed_destroy((struct fixed *)fb);
}

enum cz_status cz_cuda_fixed_g2_create(struct cz_fixed_base_g2 **out, struct cz_device *dev,
                                       const struct cz_g2_affine *base, size_t expected) {
    struct fixed *f;
    CZ_CUDA_TRY(fixed_create(&f, dev, CZ_CUDA_G2, base, expected));
    *out = &f->base.g2;
    return CZ_OK;
}
enum cz_status cz_cuda_fixed_g2_mul_n(struct cz_g2_affine *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                      size_t n) {
    return fixed_mul(out, (struct fixed *)fb, scalar, n, false);
}
enum cz_status cz_cuda_fixed_g2_encode_n(uint8_t *out, struct cz_fixed_base_g2 *fb, const struct cz_fr *scalar,
                                         size_t n) {
    return fixed_mul(out, (struct fixed *)fb, scalar, n, true);
}
void cz_cuda_fixed_g2_destroy(struct cz_fixed_base_g2 *fb) {
    fixed_destroy((struct fixed *)fb);
}
