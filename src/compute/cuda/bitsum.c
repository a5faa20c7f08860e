/*
 * Sums of chosen points. The chosen ones' references are listed (select.cu), then rounds of pairs run through the
 * addition kernel, and the last few thousand are added in XYZZ. Lists too long for the memory go in parts.
 */

#include "compute/cuda/kernels.h"
#include "compute/cuda/xyzz.h"

#include "base/bytes.h"

/* Below this a round costs more than it saves in the last kernel. */
#define LAST 32768
#define PART_LEAST ((size_t)1 << 20)

struct bitsum {
    struct cz_cuda_worker *w;
    enum cz_cuda_group group;
    size_t part;      /* references at once */
    uint32_t *ref[2]; /* of the rounds */
    struct cz_cuda_job *job;
    uint32_t sums;
    void *scratch;
};

static size_t part_bytes(enum cz_cuda_group group, size_t part) {
    return 2 * cz_cuda_rounded(part / 2 + 1, 4) + cz_cuda_rounded(part / 2 + 1, sizeof(struct cz_cuda_job)) +
           cz_cuda_rounded(part / 2 + 1, cz_cuda_point_bytes(group));
}

/* Adds ref[0 .. n - 1] up to CZ_CUDA_LAST_BLOCKS XYZZ points at d_out. */
static enum cz_status sum_part(const struct bitsum *b, const uint32_t *ref, uint32_t n, void *d_out) {
    struct cz_cuda_worker *w = b->w;
    for (unsigned round = 0; n > LAST; round++) {
        uint32_t *to = b->ref[round & 1];
        CZ_CUDA_TRY(cz_cuda_k_pairs(w, w->stream, ref, n, b->sums, round > 0, b->job, to));
        CZ_CUDA_TRY(cz_cuda_add(w, w->stream, b->group, b->job, NULL, n / 2, b->sums, b->scratch));
        ref = to;
        n -= n / 2;
    }
    return cz_cuda_k_last(w, w->stream, b->group, ref, n, d_out);
}

/* Parts as large as the memory allows; all of them when it does. */
static enum cz_status carve(struct bitsum *b, size_t n) {
    struct cz_cuda_worker *w = b->w;
    b->scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), b->group), 1);
    if (!b->scratch) return cz_cuda_full(w, "a bit sum");
    b->part = n < PART_LEAST ? PART_LEAST : n;
    const size_t room = w->mem_size - w->mem_used;
    while (b->part > PART_LEAST && part_bytes(b->group, b->part) > room) b->part -= b->part / 8;
    if (b->part < PART_LEAST) b->part = PART_LEAST;
    for (int i = 0; i < 2; i++) b->ref[i] = cz_cuda_mem(w, b->part / 2 + 1, 4);
    b->job = cz_cuda_mem(w, b->part / 2 + 1, sizeof *b->job);
    void *sums = cz_cuda_mem(w, b->part / 2 + 1, cz_cuda_point_bytes(b->group));
    if (!b->ref[0] || !b->ref[1] || !b->job || !sums) return cz_cuda_full(w, "a bit sum");
    b->sums = cz_cuda_ref(w, b->group, sums);
    return CZ_OK;
}

static enum cz_status run(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                          const void *d_pair, size_t first, const uint64_t *d_value, const uint64_t *d_mask, size_t n) {
    const size_t size = cz_cuda_xyzz_bytes(group);
    struct bitsum b = {.w = w, .group = group};
    if (n == 0) {
        struct cz_cuda_sum none;
        cz_cuda_sum_init(&none, group);
        cz_cuda_sum_finish(out, &none);
        return CZ_OK;
    }
    uint32_t *d_total = cz_cuda_mem(w, 1, 4), *total = cz_cuda_pinned(w, 1, 4), *ref = cz_cuda_mem(w, n + 1, 4);
    void *tmp = cz_cuda_mem(w, cz_cuda_select_bytes(n), 1);
    if (!d_total || !total || !ref || !tmp) return cz_cuda_full(w, "the list of a bit sum");
    const uint32_t point = cz_cuda_ref(w, group, d_point) + (uint32_t)first;
    if (d_pair)
        CZ_CUDA_TRY(
            cz_cuda_k_select_pairs(w, w->stream, d_value, n, point, cz_cuda_ref(w, group, d_pair), tmp, ref, d_total));
    else
        CZ_CUDA_TRY(cz_cuda_k_select(w, w->stream, d_value, d_mask, n, point, tmp, ref, d_total));
    CZ_CUDA(w, cudaMemcpyAsync(total, d_total, 4, cudaMemcpyDeviceToHost, w->stream));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));

    struct cz_cuda_sum sum;
    cz_cuda_sum_init(&sum, group);
    if (*total) {
        const size_t list = *total;
        uint8_t *d_out = cz_cuda_mem(w, CZ_CUDA_LAST_BLOCKS, size),
                *last = cz_cuda_pinned(w, CZ_CUDA_LAST_BLOCKS, size);
        if (!d_out || !last) return cz_cuda_full(w, "a bit sum");
        CZ_CUDA_TRY(carve(&b, list));
        for (size_t at = 0; at < list; at += b.part) {
            const size_t m = list - at < b.part ? list - at : b.part;
            CZ_CUDA_TRY(sum_part(&b, ref + at, (uint32_t)m, d_out));
            CZ_CUDA(w, cudaMemcpyAsync(last, d_out, CZ_CUDA_LAST_BLOCKS * size, cudaMemcpyDeviceToHost, w->stream));
            CZ_CUDA(w, cudaStreamSynchronize(w->stream));
            for (size_t i = 0; i < CZ_CUDA_LAST_BLOCKS; i++) cz_cuda_sum_add(&sum, 0, last + i * size);
        }
    }
    cz_cuda_sum_finish(out, &sum);
    return CZ_OK;
}

static enum cz_status bitsum(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                             const void *d_pair, size_t first, const uint64_t *d_value, const uint64_t *d_mask,
                             size_t n) {
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    enum cz_status status = n > INT32_MAX ? cz_error_set(&w->err, CZ_ERR_LIMIT, "a bit sum of %zu points", n)
                                          : run(out, w, group, d_point, d_pair, first, d_value, d_mask, n);
    cz_cuda_release(w, mark);
    return status;
}

enum cz_status cz_cuda_bitsum(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                              size_t first, const uint64_t *d_value, const uint64_t *d_mask, size_t n) {
    return bitsum(out, w, group, d_point, NULL, first, d_value, d_mask, n);
}

enum cz_status cz_cuda_bitsum_pairs(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                                    const void *d_pair, const uint64_t *d_value, size_t n) {
    return bitsum(out, w, group, d_point, d_pair, 0, d_value, NULL, n);
}

enum cz_status cz_cuda_bit_pairs(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_pair, const void *d_point,
                                 size_t n) {
    const size_t batch = (size_t)1 << 22;
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    struct cz_cuda_job *job = cz_cuda_mem(w, batch, sizeof *job);
    void *scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), group), 1);
    if (!job || !scratch) return cz_cuda_full(w, "pairs of points");
    for (size_t at = 0; at < n / 2; at += batch) {
        const uint32_t m = (uint32_t)(n / 2 - at < batch ? n / 2 - at : batch);
        CZ_CUDA_TRY(cz_cuda_k_neighbours(w, w->stream, job, m, cz_cuda_ref(w, group, d_point) + (uint32_t)(2 * at)));
        CZ_CUDA_TRY(
            cz_cuda_add(w, w->stream, group, job, NULL, m, cz_cuda_ref(w, group, d_pair) + (uint32_t)at, scratch));
    }
    cz_cuda_release(w, mark);
    return CZ_OK;
}

size_t cz_cuda_bitsum_bytes(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t part) {
    return 2 * CZ_CUDA_GRAIN + cz_cuda_rounded(n + 1, 4) + cz_cuda_rounded(cz_cuda_select_bytes(n), 1) +
           cz_cuda_rounded(CZ_CUDA_LAST_BLOCKS, cz_cuda_xyzz_bytes(group)) +
           cz_cuda_rounded(cz_cuda_add_scratch(info, group), 1) +
           part_bytes(group, part < PART_LEAST ? PART_LEAST : part);
}
