#ifndef CUZK_COMPUTE_CUDA_CONTEXT_H
#define CUZK_COMPUTE_CUDA_CONTEXT_H

/*
 * A CUDA device and its workers: memory carved once, streams, error mapping. Shared by C and .cu files.
 *
 * One cudaMalloc at start takes the whole budget; everything on the device lies in it. Blocks start at multiples of
 * CZ_CUDA_GRAIN from its base, so that any point of any array is base + 96·i (G1) or base + 192·i (G2) with an i of 31
 * bits (no more than 192 GiB are taken).
 * The low part holds residents (SRS, tables: cz_cuda_resident_alloc, any time, no CUDA call); each worker owns a fixed
 * part at the high end and its own pinned host memory, from which an operation takes what it needs between
 * cz_cuda_mark and cz_cuda_release.
 *
 * After cz_cuda_create only stream-ordered calls are made: kernels and cudaMemcpyAsync on the worker's streams, events,
 * cudaStreamSynchronize / cudaEventSynchronize of the worker's own. Never cudaMalloc, cudaFree, cudaHostRegister,
 * cudaDeviceSynchronize, cudaMemGetInfo, the default stream, cudaMemcpy, cudaMemset.
 */

#include "base/status.h"

#include <cuda_runtime_api.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** 3·256: a multiple of the memory's alignment and of both sizes of affine points. */
#define CZ_CUDA_GRAIN 768
#define CZ_CUDA_MAX_WORKERS 8
#define CZ_CUDA_EVENTS 48
/** Threads of an upload: upload.c. */
#define CZ_CUDA_LANES 6

struct cz_cuda;

/** One user of the device at a time: streams and memory of its own. */
struct cz_cuda_worker {
    struct cz_cuda *cuda;
    cudaStream_t stream;              /* the work */
    cudaStream_t side;                /* higher priority: sorts, index lists that run beside it */
    cudaStream_t lane[CZ_CUDA_LANES]; /* of the one upload that runs at a time */
    cudaEvent_t lane_event[2 * CZ_CUDA_LANES];
    cudaEvent_t event[CZ_CUDA_EVENTS]; /* no timing; anyone's between two synchronizations of `stream` */
    cudaEvent_t timer[16];             /* with timing */
    uint8_t *mem;                      /* device */
    size_t mem_size, mem_used;
    uint8_t *pinned; /* host */
    size_t pinned_size, pinned_used;
    struct cz_error err; /* the last failure of this worker: the call and the CUDA error's name */
};

/** What a device is; filled at creation. */
struct cz_cuda_info {
    int ordinal, sms, arch; /* arch: 90 for sm_90 */
    char name[64];
    size_t vram_total, vram_budget;
    size_t l2;
    size_t shared; /* shared memory of a multiprocessor, bytes */
};

struct cz_cuda_options {
    int ordinal;
    unsigned workers;      /* 1 to CZ_CUDA_MAX_WORKERS */
    size_t vram_limit;     /* bytes of device memory to take, at most 192 GiB; 0: what is free, less 512 MiB */
    size_t worker_bytes;   /* device memory of each worker; 0: an equal share of what `resident_bytes` leaves */
    size_t resident_bytes; /* for residents; 0 with worker_bytes 0: half */
    size_t pinned_bytes;   /* pinned host memory of each worker; 0: 64 MiB */
};

/**
 * Opens the device, takes the memory and makes the workers. CZ_ERR_UNSUPPORTED when there is no driver, no such device
 * or no code for its architecture (says which), CZ_ERR_MEMORY, CZ_ERR_DEVICE.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_create(struct cz_cuda **out, const struct cz_cuda_options *options,
                                            struct cz_error *err);
/** Accepts NULL. No worker may be taken. */
void cz_cuda_destroy(struct cz_cuda *cuda);
const struct cz_cuda_info *cz_cuda_device_info(const struct cz_cuda *cuda);
/** Start of the one allocation: references to points count from here. */
void *cz_cuda_base(const struct cz_cuda *cuda);
/** A device that answered with a sticky error stays lost: every later take fails with CZ_ERR_DEVICE. */
bool cz_cuda_is_lost(const struct cz_cuda *cuda);

/** The last failure of any worker; for operations whose interface has no room for a text. */
void cz_cuda_last_error(struct cz_error *out, struct cz_cuda *cuda);

/** Waits for a free worker and takes it; makes the device current for the calling thread. */
CZ_MUST_CHECK enum cz_status cz_cuda_take(struct cz_cuda_worker **out, struct cz_cuda *cuda, struct cz_error *err);
/** Hands it back with its memory released. Waits for its streams, so that nothing of it still runs. */
void cz_cuda_give(struct cz_cuda_worker *w);

/**
 * A resident block in the device's low part, first fit; NULL when it does not fit. No CUDA call: safe at any time.
 * The caller sees to it that no kernel uses a block that it frees. Thread safe.
 */
void *cz_cuda_resident_alloc(struct cz_cuda *cuda, size_t bytes);
void cz_cuda_resident_free(struct cz_cuda *cuda, void *block);
/** The largest block that would fit now. */
size_t cz_cuda_resident_room(struct cz_cuda *cuda);

/** Worker memory: a stack. `size` bytes each of n, at a multiple of CZ_CUDA_GRAIN from the base; NULL when full. */
void *cz_cuda_mem(struct cz_cuda_worker *w, size_t n, size_t size);
/** Pinned host memory, the same way, 256-byte aligned. */
void *cz_cuda_pinned(struct cz_cuda_worker *w, size_t n, size_t size);
struct cz_cuda_mark {
    size_t mem, pinned;
};
static inline struct cz_cuda_mark cz_cuda_mark(const struct cz_cuda_worker *w) {
    struct cz_cuda_mark mark = {w->mem_used, w->pinned_used};
    return mark;
}
static inline void cz_cuda_release(struct cz_cuda_worker *w, struct cz_cuda_mark mark) {
    w->mem_used = mark.mem;
    w->pinned_used = mark.pinned;
}
/** Bytes that cz_cuda_mem takes for n of `size`: for memory plans. */
static inline size_t cz_cuda_rounded(size_t n, size_t size) {
    return (n * size + CZ_CUDA_GRAIN - 1) / CZ_CUDA_GRAIN * CZ_CUDA_GRAIN;
}

/**
 * Whether this error ends the device's context. All do that are not known to leave it usable, so that one that CUDA
 * adds later is none that proofs go on after.
 */
bool cz_cuda_error_is_lost(cudaError_t error);
/** For messages: what cudaErrorInsufficientDriver means, which the runtime also says where there is no driver at all.
 */
static inline const char *cz_cuda_no_driver(cudaError_t error) {
    return error == cudaErrorInsufficientDriver ? " (no NVIDIA driver, or one too old for this build's CUDA runtime)"
                                                : "";
}
/**
 * Notes "call: cudaErrorName" in w->err and forgets the thread's error in the CUDA runtime, so that the next launch
 * does not find it. CZ_ERR_MEMORY; CZ_ERR_INTERNAL; CZ_ERR_DEVICE where the device is lost from now on.
 */
enum cz_status cz_cuda_fail(struct cz_cuda_worker *w, const char *call, cudaError_t error);
/** Notes that `what` does not fit into the worker's memory; CZ_ERR_BUDGET. */
enum cz_status cz_cuda_full(struct cz_cuda_worker *w, const char *what);

/** Returns from the calling function when a CUDA call fails. */
#define CZ_CUDA(w, call)                                                                                               \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) return cz_cuda_fail((w), #call, error_);                                            \
    } while (0)
/** The same for a status. */
#define CZ_CUDA_TRY(call)                                                                                              \
    do {                                                                                                               \
        enum cz_status status_ = (call);                                                                               \
        if (status_ != CZ_OK) return status_;                                                                          \
    } while (0)
/** CZ_CUDA_LAUNCH(w, kernel, grid, block, shared bytes, stream, arguments…), in .cu files. */
#define CZ_CUDA_LAUNCH(w, kernel, grid, block, shared, stream, ...)                                                    \
    do {                                                                                                               \
        kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__);                                                  \
        cudaError_t error_ = cudaGetLastError();                                                                       \
        if (error_ != cudaSuccess) return cz_cuda_fail((w), "launch of " #kernel, error_);                             \
    } while (0)

/** Blocks of `threads` for n items, at most `waves` a multiprocessor (grid-stride kernels). At least 1. */
static inline unsigned cz_cuda_grid(const struct cz_cuda_info *info, size_t n, unsigned threads, unsigned waves) {
    size_t blocks = (n + threads - 1) / threads, most = (size_t)info->sms * waves;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}

#ifdef __cplusplus
}
#endif

#endif
