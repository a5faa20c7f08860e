/* An SRS on the device: circuit, lists and densities resident always; the vectors as far as there is room. */

#include "base/bytes.h"
#include "compute/cuda/partition.h"

#include <string.h>

static bool bit_of(const uint64_t *bit, size_t i) {
    return bit[i / 64] >> (i % 64) & 1;
}
static size_t words_of(size_t bits) {
    return (bits + 63) / 64;
}

static enum cz_status resident_copy(void **out, struct cz_cuda_srs *srs, struct cz_cuda_worker *w, const void *from,
                                    size_t bytes) {
    *out = cz_cuda_resident_alloc(w->cuda, bytes);
    if (!*out)
        return cz_error_set(&w->err, CZ_ERR_BUDGET, "srs: %zu KiB of lists do not fit into the vram for residents",
                            bytes >> 10);
    srs->device += bytes;
    return cz_cuda_upload(w, *out, from, bytes);
}

/* Inputs of `input` (NULL: none), then elements among the aux variables of `density` (NULL: all of them). */
static enum cz_status list_make(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, struct cz_cuda_list *list,
                                const struct cz_r1cs *r1cs, const uint64_t *input, const uint64_t *density) {
    size_t room = (input ? r1cs->num_inputs : 0) + (size_t)(r1cs->num_aux - r1cs->num_bits) + 1, n = 0;
    uint32_t *slot = cz_malloc_array(room, sizeof *slot), base = 0, rank = 0;
    list->base = cz_malloc_array(room, sizeof *list->base);
    if (!slot || !list->base) {
        cz_free(slot);
        return cz_error_set(&w->err, CZ_ERR_MEMORY, "srs: host memory for lists");
    }
    for (uint32_t i = 0; input && i < r1cs->num_inputs; i++) {
        if (!bit_of(input, i)) continue;
        list->base[n] = base++;
        slot[n++] = i | CZ_R1CS_INPUT;
    }
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        if (i % 64 == 0 && r1cs->num_aux - i >= 64 && r1cs->aux_is_bit[i / 64] == UINT64_MAX) {
            base += density ? (uint32_t)__builtin_popcountll(density[i / 64]) : 64;
            i += 63;
            continue;
        }
        const bool chosen = !density || bit_of(density, i), element = !bit_of(r1cs->aux_is_bit, i);
        if (chosen && element) {
            list->base[n] = base;
            slot[n++] = rank;
        }
        base += chosen;
        rank += element;
    }
    list->n = n;
    srs->host += room * sizeof *list->base;
    enum cz_status status = resident_copy((void **)&list->d_base, srs, w, list->base, n * 4);
    if (status == CZ_OK) status = resident_copy((void **)&list->d_slot, srs, w, slot, n * 4);
    cz_free(slot);
    return status;
}

void cz_cuda_srs_destroy(struct cz_srs *base) {
    struct cz_cuda_srs *srs = (struct cz_cuda_srs *)base;
    struct cz_cuda *cuda = srs->dev->cuda;
    cz_cuda_circuit_destroy(&srs->circuit, cuda);
    cz_cuda_resident_free(cuda, srs->h.d_point);
    for (int i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++) {
        cz_cuda_resident_free(cuda, srs->vector[i].d_point);
        cz_cuda_resident_free(cuda, srs->vector[i].d_pair);
    }
    for (int i = 0; i < 3; i++) {
        cz_free(srs->list[i].base);
        cz_cuda_resident_free(cuda, srs->list[i].d_base);
        cz_cuda_resident_free(cuda, srs->list[i].d_slot);
        cz_free(srs->density[i].mask);
        cz_cuda_resident_free(cuda, srs->density[i].d_mask);
        cz_cuda_resident_free(cuda, srs->density[i].d_before);
    }
    cz_cuda_resident_free(cuda, srs->d_h_index);
    cz_free(srs);
}

/* Not enough room is no error: the vector is streamed then. */
static enum cz_status vector_make(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, struct cz_cuda_vector *v) {
    const size_t bytes = v->n * cz_cuda_point_bytes(v->group);
    v->d_point = cz_cuda_resident_alloc(w->cuda, bytes);
    if (!v->d_point) return CZ_OK;
    srs->device += bytes;
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    const size_t room = (w->pinned_size - w->pinned_used) / 256 * 256;
    uint8_t *pinned = cz_cuda_pinned(w, room, 1);
    enum cz_status status =
        pinned ? cz_cuda_points_upload(w, pinned, room, v->group, v->d_point, v->encoded, v->n) : CZ_ERR_MEMORY;
    cz_cuda_release(w, mark);
    return status;
}

static enum cz_status lists_make(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, const struct cz_r1cs *r1cs) {
    const size_t aux_words = words_of(r1cs->num_aux), input_words = words_of(r1cs->num_inputs);
    uint64_t *b_input = cz_calloc(2 * input_words, sizeof *b_input), *all = b_input + input_words;
    enum cz_status status = CZ_OK;
    for (int i = 1; i < 3; i++) {
        srs->density[i].mask = cz_calloc(aux_words + 1, sizeof(uint64_t));
        if (!srs->density[i].mask) status = CZ_ERR_MEMORY;
    }
    if (!b_input) status = CZ_ERR_MEMORY;
    if (status != CZ_OK) {
        cz_free(b_input);
        return cz_error_set(&w->err, status, "srs: host memory for densities");
    }
    cz_r1cs_density(r1cs, srs->density[1].mask, srs->density[2].mask, b_input);
    memset(all, 0xff, input_words * sizeof *all);
    srs->density[1].first = r1cs->num_inputs;
    srs->density[2].first = cz_device_popcount(b_input, r1cs->num_inputs);
    for (int i = 1; i < 3 && status == CZ_OK; i++) {
        srs->host += (aux_words + 1) * 8;
        status = resident_copy((void **)&srs->density[i].d_mask, srs, w, srs->density[i].mask, aux_words * 8);
    }
    if (status == CZ_OK) status = list_make(srs, w, &srs->list[0], r1cs, NULL, NULL);
    if (status == CZ_OK) status = list_make(srs, w, &srs->list[1], r1cs, all, srs->density[1].mask);
    if (status == CZ_OK) status = list_make(srs, w, &srs->list[2], r1cs, b_input, srs->density[2].mask);
    cz_free(b_input);
    return status;
}

/* Mask bits before each word, once for the vectors of this density. No room is no error. */
static enum cz_status before_make(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, struct cz_cuda_density *density) {
    const size_t words = words_of(srs->circuit.num_aux);
    if (!density->mask || density->d_before) return CZ_OK;
    uint32_t *before = cz_malloc_array(words + 1, sizeof *before);
    if (!before) return cz_error_set(&w->err, CZ_ERR_MEMORY, "srs: host memory for densities");
    before[0] = 0;
    for (size_t i = 0; i < words; i++) before[i + 1] = before[i] + (uint32_t)__builtin_popcountll(density->mask[i]);
    enum cz_status status = CZ_OK;
    density->d_before = cz_cuda_resident_alloc(w->cuda, words * sizeof *before);
    if (density->d_before) {
        srs->device += words * sizeof *before;
        status = cz_cuda_upload(w, density->d_before, before, words * sizeof *before);
    }
    cz_free(before);
    return status;
}

/* Sums of neighbours of a resident vector; no room is no error. */
static enum cz_status pairs_make(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, unsigned sum) {
    struct cz_cuda_vector *v = &srs->vector[sum];
    struct cz_cuda_density *density = &srs->density[cz_cuda_list_of(sum)];
    const size_t size = cz_cuda_point_bytes(v->group), n = v->n - density->first;
    if (!v->d_point || n < 2) return CZ_OK;
    CZ_CUDA_TRY(before_make(srs, w, density));
    if (density->mask && !density->d_before) return CZ_OK;
    v->d_pair = cz_cuda_resident_alloc(w->cuda, n / 2 * size);
    if (!v->d_pair) return CZ_OK;
    srs->device += n / 2 * size;
    return cz_cuda_bit_pairs(w, v->group, v->d_pair, (const uint8_t *)v->d_point + density->first * size, n);
}

static enum cz_status srs_fill(struct cz_cuda_srs *srs, struct cz_cuda_worker *w, const struct cz_r1cs *r1cs) {
    CZ_CUDA_TRY(cz_cuda_circuit_create(&srs->circuit, w, r1cs));
    srs->device += srs->circuit.bytes;
    CZ_CUDA_TRY(lists_make(srs, w, r1cs));
    /* H first: most of the time is spent on it. The index only serves a resident H. */
    const unsigned log2n = srs->circuit.log_domain;
    srs->d_h_index = cz_cuda_resident_alloc(w->cuda, (size_t)4 << log2n);
    if (srs->d_h_index) {
        CZ_CUDA_TRY(vector_make(srs, w, &srs->h));
        if (srs->h.d_point) {
            srs->device += (size_t)4 << log2n;
            CZ_CUDA_TRY(cz_cuda_ntt_index(w, srs->d_h_index, log2n));
        } else {
            cz_cuda_resident_free(w->cuda, srs->d_h_index);
            srs->d_h_index = NULL;
        }
    }
    for (int i = 0; i < CZ_CUDA_SUMS_OF_BITS; i++) CZ_CUDA_TRY(vector_make(srs, w, &srs->vector[i]));
    if (log2n == CZ_CUDA_NTT_MAX) CZ_CUDA_TRY(cz_cuda_tables_large(srs->dev->tables, w));
    for (unsigned i = 0; srs->dev->pairs && i < CZ_CUDA_SUMS_OF_BITS; i++) CZ_CUDA_TRY(pairs_make(srs, w, i));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    return CZ_OK;
}

enum cz_status cz_cuda_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                  const struct cz_srs_view *view, struct cz_error *err) {
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    struct cz_cuda_worker *w;
    if (cz_r1cs_domain_log2(r1cs) > CZ_CUDA_NTT_MAX)
        return cz_error_set(err, CZ_ERR_LIMIT, "%s: a domain of 2^%u, above 2^%d", dev->name, cz_r1cs_domain_log2(r1cs),
                            CZ_CUDA_NTT_MAX);
    struct cz_cuda_srs *srs = cz_calloc(1, sizeof *srs);
    if (!srs) return cz_error_set(err, CZ_ERR_MEMORY, "srs");
    srs->dev = d;
    srs->h = (struct cz_cuda_vector){CZ_CUDA_G1, view->h, view->num_h, NULL, NULL};
    srs->vector[CZ_CUDA_SUM_L] = (struct cz_cuda_vector){CZ_CUDA_G1, view->l, view->num_l, NULL, NULL};
    srs->vector[CZ_CUDA_SUM_A] = (struct cz_cuda_vector){CZ_CUDA_G1, view->a, view->num_a, NULL, NULL};
    srs->vector[CZ_CUDA_SUM_B_G1] = (struct cz_cuda_vector){CZ_CUDA_G1, view->b_g1, view->num_b, NULL, NULL};
    srs->vector[CZ_CUDA_SUM_B_G2] = (struct cz_cuda_vector){CZ_CUDA_G2, view->b_g2, view->num_b, NULL, NULL};
    srs->host = sizeof *srs;
    enum cz_status status = cz_cuda_take(&w, d->cuda, err);
    if (status == CZ_OK) {
        status = srs_fill(srs, w, r1cs);
        if (status != CZ_OK) {
            cz_error_set(err, status, "%s", w->err.detail[0] ? w->err.detail : cz_status_text(status));
            /* Nothing may still run over the blocks that are freed. */
            (void)cudaStreamSynchronize(w->stream);
        }
        cz_cuda_give(w);
    }
    if (status != CZ_OK) {
        cz_cuda_srs_destroy(&srs->base);
        return status;
    }
    *out = &srs->base;
    return CZ_OK;
}

size_t cz_cuda_srs_bytes(const struct cz_srs *srs) {
    return ((const struct cz_cuda_srs *)srs)->host + ((const struct cz_cuda_srs *)srs)->device;
}
