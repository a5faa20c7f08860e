/* Vectors that are not resident: cut into blocks, brought by a thread into two buffers. */

#include "base/bytes.h"
#include "compute/cuda/partition.h"

#include <pthread.h>

bool cz_cuda_block_next(struct cz_cuda_block *out, const struct cz_cuda_srs *srs, unsigned sum, size_t *aux0,
                        size_t *base0, size_t max) {
    const struct cz_cuda_list *list = &srs->list[cz_cuda_list_of(sum)];
    const struct cz_cuda_density *density = &srs->density[cz_cuda_list_of(sum)];
    const size_t num_aux = srs->circuit.num_aux;
    *out = (struct cz_cuda_block){.vector = &srs->vector[sum], .aux0 = *aux0, .base0 = *base0};
    if (*base0 >= out->vector->n && *aux0 >= num_aux) return false;
    if (max == SIZE_MAX) {
        out->aux = num_aux;
        out->bases = out->vector->n;
        out->list = list->n;
        *aux0 = num_aux;
        *base0 = out->vector->n;
        return true;
    }
    /* The inputs' bases come with the first block. A word of variables comes in any case. */
    size_t bases = *aux0 == 0 ? density->first : 0, at = *aux0;
    while (at < num_aux) {
        const size_t bits = num_aux - at < 64 ? num_aux - at : 64;
        const size_t more = density->mask ? cz_device_popcount(&density->mask[at / 64], bits) : bits;
        if (bases + more > max && at > *aux0) break;
        bases += more;
        at += bits;
    }
    out->aux = at - *aux0;
    out->bases = bases;
    size_t bound[2] = {*base0, *base0 + bases}, found[2];
    for (int i = 0; i < 2; i++) { /* the first entry at or above the bound */
        size_t lo = 0, hi = list->n;
        while (lo < hi) {
            const size_t mid = (lo + hi) / 2;
            if (list->base[mid] < bound[i])
                lo = mid + 1;
            else
                hi = mid;
        }
        found[i] = lo;
    }
    out->list0 = found[0];
    out->list = found[1] - found[0];
    *aux0 = at;
    *base0 += bases;
    return true;
}

struct cz_cuda_feed {
    const struct cz_cuda_srs *srs;
    struct cz_cuda_worker worker; /* a copy: errors of its own */
    struct cz_cuda_worker *owner;
    uint8_t *buffer[2], *pinned;
    size_t buffer_bytes, pinned_size;
    unsigned made, taken; /* blocks brought, blocks handed out */
    bool holding;         /* block `taken - 1` is in use */
    bool stop, failed;
    enum cz_status status;
    pthread_mutex_t lock;
    pthread_cond_t change;
    pthread_t thread;
};

/* The outcome of one block, for the taker. */
static void tell(struct cz_cuda_feed *f, enum cz_status status) {
    pthread_mutex_lock(&f->lock);
    if (status == CZ_OK) f->made++;
    f->failed = status != CZ_OK;
    f->status = status;
    pthread_cond_broadcast(&f->change);
    pthread_mutex_unlock(&f->lock);
}

/* Waits until a buffer is free, fills it. False to end. */
static bool bring(struct cz_cuda_feed *f, const struct cz_cuda_vector *v, size_t base0, size_t bases) {
    pthread_mutex_lock(&f->lock);
    while (!f->stop && f->made - (f->taken - f->holding) >= 2) pthread_cond_wait(&f->change, &f->lock);
    const bool stop = f->stop;
    pthread_mutex_unlock(&f->lock);
    if (stop) return false;
    enum cz_status status =
        cz_cuda_points_upload(&f->worker, f->pinned, f->pinned_size, v->group, f->buffer[f->made & 1],
                              v->encoded + base0 * cz_cuda_point_bytes(v->group), bases);
    tell(f, status);
    return status == CZ_OK;
}

static void *feed_main(void *ctx) {
    struct cz_cuda_feed *f = ctx;
    const struct cz_cuda_srs *srs = f->srs;
    const cudaError_t error = cudaSetDevice(cz_cuda_device_info(srs->dev->cuda)->ordinal);
    if (error != cudaSuccess) {
        tell(f, cz_cuda_fail(&f->worker, "cudaSetDevice", error));
        return NULL;
    }
    const size_t max_g1 = f->buffer_bytes / 96, max_g2 = f->buffer_bytes / 192;
    for (size_t at = 0; !srs->h.d_point && at < srs->h.n; at += max_g1) {
        const size_t n = srs->h.n - at < max_g1 ? srs->h.n - at : max_g1;
        if (!bring(f, &srs->h, at, n)) return NULL;
    }
    for (unsigned sum = 0; sum < CZ_CUDA_SUMS_OF_BITS; sum++) {
        struct cz_cuda_block block;
        size_t aux0 = 0, base0 = 0;
        if (srs->vector[sum].d_point) continue;
        const size_t max = srs->vector[sum].group == CZ_CUDA_G1 ? max_g1 : max_g2;
        while (cz_cuda_block_next(&block, srs, sum, &aux0, &base0, max))
            if (!bring(f, block.vector, block.base0, block.bases)) return NULL;
    }
    return NULL;
}

enum cz_status cz_cuda_feed_start(struct cz_cuda_feed **out, struct cz_cuda_worker *w, const struct cz_cuda_srs *srs,
                                  size_t buffer_bytes) {
    struct cz_cuda_feed *f = cz_calloc(1, sizeof *f);
    if (!f) return cz_error_set(&w->err, CZ_ERR_MEMORY, "a feed");
    f->srs = srs;
    f->owner = w;
    f->buffer_bytes = buffer_bytes;
    f->pinned_size = (w->pinned_size - w->pinned_used) / 2 / 256 * 256;
    f->pinned = cz_cuda_pinned(w, f->pinned_size, 1);
    for (int i = 0; i < 2; i++) f->buffer[i] = cz_cuda_mem(w, buffer_bytes, 1);
    if (!f->pinned || !f->buffer[0] || !f->buffer[1]) {
        cz_free(f);
        return cz_cuda_full(w, "the buffers of streamed points");
    }
    f->worker = *w;
    f->worker.err = (struct cz_error){0};
    (void)pthread_mutex_init(&f->lock, NULL);
    (void)pthread_cond_init(&f->change, NULL);
    if (pthread_create(&f->thread, NULL, feed_main, f) != 0) {
        (void)pthread_cond_destroy(&f->change);
        (void)pthread_mutex_destroy(&f->lock);
        cz_free(f);
        return cz_error_set(&w->err, CZ_ERR_MEMORY, "a feed's thread");
    }
    *out = f;
    return CZ_OK;
}

enum cz_status cz_cuda_feed_take(void **d_point, struct cz_cuda_feed *f) {
    pthread_mutex_lock(&f->lock);
    f->holding = false;
    pthread_cond_broadcast(&f->change);
    while (!f->failed && f->made == f->taken) pthread_cond_wait(&f->change, &f->lock);
    enum cz_status status = f->made != f->taken ? CZ_OK : f->status;
    if (status == CZ_OK) {
        *d_point = f->buffer[f->taken & 1];
        f->taken++;
        f->holding = true;
    } else {
        f->owner->err = f->worker.err;
    }
    pthread_mutex_unlock(&f->lock);
    return status;
}

void cz_cuda_feed_stop(struct cz_cuda_feed *f) {
    if (!f) return;
    pthread_mutex_lock(&f->lock);
    f->stop = true;
    pthread_cond_broadcast(&f->change);
    pthread_mutex_unlock(&f->lock);
    (void)pthread_join(f->thread, NULL);
    (void)pthread_cond_destroy(&f->change);
    (void)pthread_mutex_destroy(&f->lock);
    cz_free(f);
}
