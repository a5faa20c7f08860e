/* A partition on the device: a few MiB of witness go up, five points come back. */

#include "compute/cuda/partition.h"
#include "compute/cuda/kernels.h"

#include "base/bytes.h"
#include "base/time.h"

struct partition {
    struct cz_cuda_worker *w;
    const struct cz_cuda_srs *srs;
    struct cz_cuda_witness witness;
    uint64_t *d_value;
    uint64_t *d_chosen[3];     /* by list: those of the values that have a base, moved together; NULL: not needed */
    struct cz_cuda_feed *feed; /* NULL: all vectors are resident */
    size_t buffer_bytes;       /* of the feed */
    struct cz_fr factor;       /* of h */
};

static bool streams(const struct cz_cuda_srs *srs) {
    bool any = !srs->h.d_point;
    for (int i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++) any |= !srs->vector[i].d_point;
    return any;
}

/* Scalar and index of an element of a list. */
#define LIST_BYTES (sizeof(struct cz_fr) + sizeof(uint32_t))

/* The least memory of an MSM, with `beside` bytes for each of its points. */
static size_t msm_needs(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t beside) {
    size_t least, best;
    cz_cuda_msm_bytes(&least, &best, info, group, n);
    return least + (beside ? cz_cuda_rounded(n, beside) + CZ_CUDA_GRAIN : 0);
}

size_t cz_cuda_partition_part(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t beside,
                              size_t room) {
    while (n > 1 && msm_needs(info, group, n, beside) > room) n = (n + 1) / 2;
    return n;
}

static size_t part_of(const struct cz_cuda_worker *w, enum cz_cuda_group group, size_t n, size_t beside) {
    return cz_cuda_partition_part(cz_cuda_device_info(w->cuda), group, n, beside, w->mem_size - w->mem_used);
}

/* What sums over a block of this many bytes of points need beside it. Its bits may be many more than its bases. */
static size_t block_needs(const struct cz_cuda_info *info, size_t num_aux, size_t bytes) {
    size_t most = 0;
    for (int g = 0; g < 2; g++) {
        const enum cz_cuda_group group = g ? CZ_CUDA_G2 : CZ_CUDA_G1;
        const size_t n = bytes / cz_cuda_point_bytes(group);
        const size_t list = msm_needs(info, group, n, LIST_BYTES);
        const size_t bits = cz_cuda_bitsum_bytes(info, group, num_aux, n);
        if (list > most) most = list;
        if (bits > most) most = bits;
    }
    return most;
}

/* What sums over resident vectors need when their MSMs are cut into so many parts. */
static size_t resident_needs(const struct cz_cuda_info *info, const struct cz_cuda_srs *srs, size_t parts) {
    size_t most = srs->h.d_point ? msm_needs(info, srs->h.group, (srs->h.n + parts - 1) / parts, 0) : 0;
    for (unsigned sum = 0; sum < CZ_CUDA_SUMS_OF_BITS; sum++) {
        const struct cz_cuda_vector *v = &srs->vector[sum];
        if (!v->d_point) continue;
        const size_t n = (srs->list[cz_cuda_list_of(sum)].n + parts - 1) / parts;
        const size_t list = msm_needs(info, v->group, n, LIST_BYTES);
        const size_t bits = cz_cuda_bitsum_bytes(info, v->group, srs->circuit.num_aux, 0);
        if (list > most) most = list;
        if (bits > most) most = bits;
    }
    return most;
}

/* The first block of a streamed vector has the bases of all inputs, and 64 more. */
static size_t first_block(const struct cz_cuda_srs *srs) {
    size_t most = 0;
    for (unsigned sum = 0; sum < CZ_CUDA_SUMS_OF_BITS; sum++) {
        const struct cz_cuda_vector *v = &srs->vector[sum];
        const size_t bytes = (srs->density[cz_cuda_list_of(sum)].first + 64) * cz_cuda_point_bytes(v->group);
        if (!v->d_point && bytes > most) most = bytes;
    }
    return most;
}

/*
 * The fewest parts of resident vectors come before large buffers, down to 256 MiB: a block of that size still has more
 * than a million points. Smaller ones only where no number of parts leaves that much.
 */
size_t cz_cuda_partition_buffer(const struct cz_cuda_info *info, const struct cz_cuda_srs *srs, size_t room) {
    const size_t mib = (size_t)1 << 20, last = 16, least = first_block(srs);
    for (size_t parts = 1; parts <= last; parts *= 2) {
        const size_t resident = resident_needs(info, srs, parts);
        for (size_t bytes = 1024 * mib; bytes >= (parts < last ? 256 * mib : mib); bytes /= 2) {
            const size_t block = block_needs(info, srs->circuit.num_aux, bytes);
            const size_t need = 2 * cz_cuda_rounded(bytes, 1) + (block > resident ? block : resident);
            if (bytes >= least && need <= room) return bytes;
        }
    }
    return 0;
}

static enum cz_status start_feed(struct partition *p) {
    struct cz_cuda_worker *w = p->w;
    if (!streams(p->srs)) return CZ_OK;
    p->buffer_bytes = cz_cuda_partition_buffer(cz_cuda_device_info(w->cuda), p->srs, w->mem_size - w->mem_used);
    if (!p->buffer_bytes) return cz_cuda_full(w, "streaming of points");
    return cz_cuda_feed_start(&p->feed, w, p->srs, p->buffer_bytes);
}

/* a, b, c and h, which is left in the first of three arrays; the other two are given back. */
static enum cz_status make_h(struct partition *p, struct cz_fr **h, struct cz_partition_timing *timing) {
    struct cz_cuda_worker *w = p->w;
    const struct cz_cuda_circuit *c = &p->srs->circuit;
    const size_t n = (size_t)1 << c->log_domain;
    const bool resident = p->srs->h.d_point;
    struct cz_fr *x = cz_cuda_mem(w, n, sizeof *x);
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    struct cz_fr *y = cz_cuda_mem(w, n, sizeof *y), *z = cz_cuda_mem(w, n, sizeof *z);
    if (!x || !y || !z) return cz_cuda_full(w, "a, b and c");
    /* The quotient comes in place of a. Streamed bases want it in natural order, which takes another array. */
    struct cz_fr *a = resident ? x : y, *b = resident ? y : x;
    uint64_t start = cz_time_now_ns();
    CZ_CUDA_TRY(cz_cuda_eval(w, c, &p->witness, a, b, z));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    cz_device_part_done(timing, CZ_PART_EVAL, start);
    start = cz_time_now_ns();
    CZ_CUDA_TRY(cz_cuda_ntt_quotient(w, p->srs->dev->tables, &p->factor, a, b, z, c->log_domain, false));
    if (!resident) CZ_CUDA_TRY(cz_cuda_ntt_reorder(w, x, y, c->log_domain, true));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    cz_device_part_done(timing, CZ_PART_NTT, start);
    cz_cuda_release(w, mark);
    *h = x;
    return CZ_OK;
}

static enum cz_status sum_h(struct cz_g1 *out, struct partition *p, const struct cz_fr *h) {
    struct cz_cuda_worker *w = p->w;
    const struct cz_cuda_vector *v = &p->srs->h;
    const uint32_t *d_index = p->srs->d_h_index; /* NULL: streamed */
    const size_t max = v->d_point ? part_of(w, v->group, v->n, 0) : p->buffer_bytes / 96;
    *out = CZ_G1_INFINITY;
    for (size_t at = 0; at < v->n; at += max) {
        const size_t n = v->n - at < max ? v->n - at : max;
        struct cz_g1 part;
        void *d_point = v->d_point;
        if (!d_point) CZ_CUDA_TRY(cz_cuda_feed_take(&d_point, p->feed));
        CZ_CUDA_TRY(cz_cuda_msm(&part, w, v->group, d_point, d_index ? d_index + at : NULL, (const uint32_t *)(h + at),
                                n, true));
        cz_g1_add(out, out, &part);
    }
    return CZ_OK;
}

union sum {
    struct cz_g1 g1;
    struct cz_g2 g2;
};

static void add_sum(union sum *to, const union sum *s, enum cz_cuda_group group) {
    if (group == CZ_CUDA_G1)
        cz_g1_add(&to->g1, &to->g1, &s->g1);
    else
        cz_g2_add(&to->g2, &to->g2, &s->g2);
}

/* Elements of one block, as many at once as there is room for. */
static enum cz_status sum_list(union sum *out, struct partition *p, unsigned sum, const struct cz_cuda_block *block,
                               const void *d_point) {
    struct cz_cuda_worker *w = p->w;
    const struct cz_cuda_list *list = &p->srs->list[cz_cuda_list_of(sum)];
    const enum cz_cuda_group group = block->vector->group;
    const size_t end = block->list0 + block->list, max = part_of(w, group, block->list, LIST_BYTES);
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    for (size_t at = block->list0; at < end; at += max) {
        const size_t n = end - at < max ? end - at : max;
        union sum part;
        struct cz_fr *scalar = cz_cuda_mem(w, n, sizeof *scalar);
        uint32_t *index = cz_cuda_mem(w, n, sizeof *index);
        if (!scalar || !index) return cz_cuda_full(w, "the scalars of a sum");
        CZ_CUDA_TRY(cz_cuda_gather(w, &p->witness, list->d_slot + at, n, scalar));
        CZ_CUDA_TRY(cz_cuda_rebase(w, index, list->d_base + at, n, (uint32_t)block->base0));
        CZ_CUDA_TRY(cz_cuda_msm(&part, w, group, d_point, index, (const uint32_t *)scalar, n, true));
        add_sum(out, &part, group);
        cz_cuda_release(w, mark);
    }
    return CZ_OK;
}

/* Bits and elements of one block. */
static enum cz_status sum_block(union sum *out, struct partition *p, unsigned sum, const struct cz_cuda_block *block,
                                const void *d_point) {
    struct cz_cuda_worker *w = p->w;
    const struct cz_cuda_density *density = &p->srs->density[cz_cuda_list_of(sum)];
    const enum cz_cuda_group group = block->vector->group;
    const size_t word0 = block->aux0 / 64, first = block->aux0 == 0 ? density->first : 0;
    union sum part;
    CZ_CUDA_TRY(sum_list(out, p, sum, block, d_point));
    if (block->aux && block->vector->d_pair) {
        const uint8_t *aux = (const uint8_t *)d_point + first * cz_cuda_point_bytes(group);
        const uint64_t *d_chosen = density->mask ? p->d_chosen[cz_cuda_list_of(sum)] : p->d_value;
        CZ_CUDA_TRY(cz_cuda_bitsum_pairs(&part, w, group, aux, block->vector->d_pair, d_chosen, block->bases - first));
        add_sum(out, &part, group);
    } else if (block->aux) {
        const uint64_t *d_mask = density->d_mask ? density->d_mask + word0 : NULL;
        CZ_CUDA_TRY(cz_cuda_bitsum(&part, w, group, d_point, first, p->d_value + word0, d_mask, block->aux));
        add_sum(out, &part, group);
    }
    return CZ_OK;
}

static enum cz_status sum_vector(union sum *out, struct cz_partition_timing *timing, enum cz_partition_part part,
                                 struct partition *p, unsigned sum) {
    const struct cz_cuda_vector *v = &p->srs->vector[sum];
    struct cz_cuda_block block;
    size_t aux0 = 0, base0 = 0;
    const uint64_t start = cz_time_now_ns();
    if (v->group == CZ_CUDA_G1)
        out->g1 = CZ_G1_INFINITY;
    else
        out->g2 = CZ_G2_INFINITY;
    const size_t max = v->d_point ? SIZE_MAX : p->buffer_bytes / cz_cuda_point_bytes(v->group);
    while (cz_cuda_block_next(&block, p->srs, sum, &aux0, &base0, max)) {
        void *d_point = v->d_point;
        if (!d_point) CZ_CUDA_TRY(cz_cuda_feed_take(&d_point, p->feed));
        CZ_CUDA_TRY(sum_block(out, p, sum, &block, d_point));
    }
    cz_device_part_done(timing, part, start);
    return CZ_OK;
}

/* For vectors with sums of neighbours, whose bits stand side by side as their bases do. */
static enum cz_status choose_values(struct partition *p) {
    struct cz_cuda_worker *w = p->w;
    for (unsigned sum = 0; sum < CZ_CUDA_SUMS_OF_BITS; sum++) {
        const struct cz_cuda_vector *v = &p->srs->vector[sum];
        const unsigned list = cz_cuda_list_of(sum);
        const struct cz_cuda_density *density = &p->srs->density[list];
        if (!v->d_pair || !density->mask || p->d_chosen[list]) continue;
        const size_t words = (v->n - density->first) / 64 + 1;
        p->d_chosen[list] = cz_cuda_mem(w, words, sizeof *p->d_chosen[list]);
        if (!p->d_chosen[list]) return cz_cuda_full(w, "the witness");
        CZ_CUDA_TRY(cz_cuda_k_compact(w, w->stream, p->d_value, density->d_mask, density->d_before,
                                      ((size_t)p->srs->circuit.num_aux + 63) / 64, p->d_chosen[list], words));
    }
    return CZ_OK;
}

static enum cz_status run(struct cz_partition_sums *out, struct cz_partition_timing *timing, struct partition *p,
                          const struct cz_witness *witness) {
    struct cz_cuda_worker *w = p->w;
    struct cz_fr *h = NULL;
    union sum sum;
    uint64_t start = cz_time_now_ns();
    CZ_CUDA_TRY(cz_cuda_witness_upload(&p->witness, w, &p->srs->circuit, witness));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream)); /* microseconds, and the timeline is true */
    cz_device_part_done(timing, CZ_PART_UPLOAD, start);
    start = cz_time_now_ns();
    p->d_value = cz_cuda_mem(w, ((size_t)p->srs->circuit.num_aux + 63) / 64 + 1, sizeof *p->d_value);
    if (!p->d_value) return cz_cuda_full(w, "the witness");
    CZ_CUDA_TRY(cz_cuda_expand(w, &p->srs->circuit, &p->witness, p->d_value));
    CZ_CUDA_TRY(choose_values(p));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    cz_device_part_done(timing, CZ_PART_EXPAND, start);
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    CZ_CUDA_TRY(make_h(p, &h, timing));
    start = cz_time_now_ns();
    CZ_CUDA_TRY(start_feed(p));
    CZ_CUDA_TRY(sum_h(&out->h, p, h));
    cz_g1_mul(&out->h, &out->h, &p->factor);
    cz_device_part_done(timing, CZ_PART_MSM_H, start);
    /* h's room is free for the sums, unless the feed's buffers lie above it. */
    if (!p->feed) cz_cuda_release(w, mark);
    CZ_CUDA_TRY(sum_vector(&sum, timing, CZ_PART_SUM_L, p, CZ_CUDA_SUM_L));
    out->l = sum.g1;
    CZ_CUDA_TRY(sum_vector(&sum, timing, CZ_PART_SUM_A, p, CZ_CUDA_SUM_A));
    out->a = sum.g1;
    CZ_CUDA_TRY(sum_vector(&sum, timing, CZ_PART_SUM_B_G1, p, CZ_CUDA_SUM_B_G1));
    out->b_g1 = sum.g1;
    CZ_CUDA_TRY(sum_vector(&sum, timing, CZ_PART_SUM_B_G2, p, CZ_CUDA_SUM_B_G2));
    out->b_g2 = sum.g2;
    return CZ_OK;
}

enum cz_status cz_cuda_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                       struct cz_srs *base, const struct cz_witness *witness, struct cz_error *err) {
    struct partition p = {.srs = (const struct cz_cuda_srs *)base};
    enum cz_status status = cz_cuda_take(&p.w, p.srs->dev->cuda, err);
    if (status != CZ_OK) return status;
    status = run(out, timing, &p, witness);
    cz_cuda_feed_stop(p.feed);
    if (status != CZ_OK)
        cz_error_set(err, status, "partition: %s", p.w->err.detail[0] ? p.w->err.detail : cz_status_text(status));
    cz_cuda_give(p.w);
    return status;
}

/* On the host: points of the sums and the feed's state. The pinned memory belongs to the device's workers. */
size_t cz_cuda_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs) {
    (void)dev;
    (void)r1cs;
    return (size_t)1 << 20;
}
