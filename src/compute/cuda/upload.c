/*
 * Host memory that is not pinned to the device: in pieces through the worker's pinned memory, by several threads when
 * there is much of it. One thread copies some 6 GB/s out of a mapping, and the bus takes 50.
 */

#include "base/bytes.h"
#include "compute/cuda/partition.h"

#include <pthread.h>

/* Below this a thread's start costs more than it saves. */
#define PARALLEL_LEAST ((size_t)6 << 20)

struct load {
    const uint8_t *from;
    uint8_t *to;
    size_t bytes, piece, next; /* next: taken piece by piece */
    size_t point;              /* bytes of an encoded point, which is converted on arrival; 0: bytes */
    enum cz_cuda_group group;
    bool failed;
};

struct lane {
    struct load *load;
    struct cz_cuda_worker worker; /* a copy: errors of its own */
    cudaStream_t stream;
    cudaEvent_t copied[2];
    uint8_t *pinned; /* two pieces */
    enum cz_status status;
    pthread_t thread;
};

static enum cz_status lane_pieces(struct lane *l) {
    struct load *load = l->load;
    struct cz_cuda_worker *w = &l->worker;
    for (unsigned i = 0; !__atomic_load_n(&load->failed, __ATOMIC_RELAXED); i++) {
        const size_t at = __atomic_fetch_add(&load->next, load->piece, __ATOMIC_RELAXED);
        if (at >= load->bytes) break;
        const size_t m = load->bytes - at < load->piece ? load->bytes - at : load->piece;
        uint8_t *pinned = l->pinned + (i & 1) * load->piece, *to = load->to + at;
        if (i >= 2) CZ_CUDA(w, cudaEventSynchronize(l->copied[i & 1]));
        memcpy(pinned, load->from + at, m);
        CZ_CUDA(w, cudaMemcpyAsync(to, pinned, m, cudaMemcpyHostToDevice, l->stream));
        CZ_CUDA(w, cudaEventRecord(l->copied[i & 1], l->stream));
        if (load->point) CZ_CUDA_TRY(cz_cuda_points_convert(w, l->stream, load->group, to, to, m / load->point, true));
    }
    return CZ_OK;
}

static void *lane_main(void *ctx) {
    struct lane *l = ctx;
    cudaError_t error = cudaSetDevice(cz_cuda_device_info(l->worker.cuda)->ordinal);
    l->status = error == cudaSuccess ? lane_pieces(l) : cz_cuda_fail(&l->worker, "cudaSetDevice", error);
    if (l->status != CZ_OK) __atomic_store_n(&l->load->failed, true, __ATOMIC_RELAXED);
    /* In any case: the pinned memory is somebody else's afterwards. */
    error = cudaStreamSynchronize(l->stream);
    if (error != cudaSuccess && l->status == CZ_OK)
        l->status = cz_cuda_fail(&l->worker, "cudaStreamSynchronize", error);
    return NULL;
}

/* pinned: pinned_size bytes. After what w->stream holds when `ordered` is set. */
static enum cz_status load_run(struct load *load, struct cz_cuda_worker *w, uint8_t *pinned, size_t pinned_size,
                               bool ordered) {
    struct lane lane[CZ_CUDA_LANES];
    unsigned lanes = load->bytes >= PARALLEL_LEAST ? CZ_CUDA_LANES : 1, started = 1;
    const size_t unit = load->point ? load->point : 256;
    load->piece = pinned_size / (2 * lanes) / unit * unit;
    if (!load->piece) return cz_cuda_full(w, "a pinned buffer");
    if (load->bytes == 0) return CZ_OK;
    if (ordered) CZ_CUDA(w, cudaEventRecord(w->event[6], w->stream));
    for (unsigned i = 0; i < lanes; i++) {
        lane[i] = (struct lane){.load = load, .worker = *w, .stream = w->lane[i]};
        lane[i].pinned = pinned + 2 * i * load->piece;
        lane[i].worker.err = (struct cz_error){0};
        lane[i].copied[0] = w->lane_event[2 * i];
        lane[i].copied[1] = w->lane_event[2 * i + 1];
        if (ordered) CZ_CUDA(w, cudaStreamWaitEvent(w->lane[i], w->event[6], 0));
    }
    /* The first lane is the caller's thread; with fewer threads than asked for it takes longer. */
    while (started < lanes && pthread_create(&lane[started].thread, NULL, lane_main, &lane[started]) == 0) started++;
    (void)lane_main(&lane[0]);
    for (unsigned i = 1; i < started; i++) (void)pthread_join(lane[i].thread, NULL);
    for (unsigned i = 0; i < started; i++) {
        if (lane[i].status == CZ_OK) continue;
        w->err = lane[i].worker.err;
        return lane[i].status;
    }
    return CZ_OK;
}

enum cz_status cz_cuda_upload(struct cz_cuda_worker *w, void *d_to, const void *from, size_t n) {
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    struct load load = {.from = from, .to = d_to, .bytes = n};
    const size_t room = (w->pinned_size - w->pinned_used) / 256 * 256;
    uint8_t *pinned = room ? cz_cuda_pinned(w, room, 1) : NULL;
    enum cz_status status = pinned ? load_run(&load, w, pinned, room, true) : cz_cuda_full(w, "a pinned buffer");
    cz_cuda_release(w, mark);
    return status;
}

enum cz_status cz_cuda_points_upload(struct cz_cuda_worker *w, uint8_t *pinned, size_t pinned_size,
                                     enum cz_cuda_group group, void *d_to, const uint8_t *encoded, size_t n) {
    const size_t size = cz_cuda_point_bytes(group);
    struct load load = {.from = encoded, .to = d_to, .bytes = n * size, .point = size, .group = group};
    return load_run(&load, w, pinned, pinned_size, false);
}
