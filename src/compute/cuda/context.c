#include "compute/cuda/context.h"

#include "compute/cuda/add.h"
#include "compute/cuda/plan.h"

#include "base/bytes.h"

#include <pthread.h>
#include <stdio.h>

/* Residents: blocks in order of their place. A circuit has one SRS and few tables, so a short list does. */
#define MAX_BLOCKS 256

struct block {
    size_t at, size;
};

struct cz_cuda {
    struct cz_cuda_info info;
    uint8_t *mem;
    size_t resident_size;
    struct block block[MAX_BLOCKS];
    size_t num_blocks;
    unsigned num_workers;
    struct cz_cuda_worker worker[CZ_CUDA_MAX_WORKERS];
    bool taken[CZ_CUDA_MAX_WORKERS];
    bool lost;
    struct cz_error last;
    pthread_mutex_t lock;
    pthread_cond_t freed;
};

static size_t round_up(size_t n) {
    return (n + CZ_CUDA_GRAIN - 1) / CZ_CUDA_GRAIN * CZ_CUDA_GRAIN;
}

bool cz_cuda_error_is_lost(cudaError_t error) {
    switch (error) {
    case cudaSuccess:
    case cudaErrorMemoryAllocation:
    /* Of a launch's or a call's arguments. */
    case cudaErrorInvalidValue:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorInvalidPtx:
    case cudaErrorNotSupported:
    case cudaErrorNotReady:
        return false;
    /* Illegal address, launch failure or timeout, ECC, devices unavailable, hardware and system errors, … */
    default:
        return true;
    }
}

static enum cz_status status_of(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? CZ_ERR_MEMORY
           : cz_cuda_error_is_lost(error)     ? CZ_ERR_DEVICE
                                              : CZ_ERR_INTERNAL;
}

/* Setup's form of CZ_CUDA: goes to `out` and leaves the detail in err. */
#define SETUP(call) SETUP_NAMED(#call, (call))
#define SETUP_NAMED(name, call)                                                                                        \
    do {                                                                                                               \
        cudaError_t error_ = (call);                                                                                   \
        if (error_ != cudaSuccess) {                                                                                   \
            (void)cudaGetLastError();                                                                                  \
            status =                                                                                                   \
                cz_error_set(err, status_of(error_), "cuda:%d: %s: %s", o.ordinal, name, cudaGetErrorName(error_));    \
            goto out;                                                                                                  \
        }                                                                                                              \
    } while (0)

static enum cz_status worker_init(struct cz_cuda_worker *w, const struct cz_cuda_options *options,
                                  struct cz_error *err) {
    const struct cz_cuda_options o = *options;
    enum cz_status status = CZ_OK;
    int low, high;
    SETUP(cudaDeviceGetStreamPriorityRange(&low, &high));
    SETUP(cudaStreamCreateWithPriority(&w->stream, cudaStreamNonBlocking, low));
    SETUP(cudaStreamCreateWithPriority(&w->side, cudaStreamNonBlocking, high));
    for (int i = 0; i < CZ_CUDA_LANES; i++)
        SETUP(cudaStreamCreateWithPriority(&w->lane[i], cudaStreamNonBlocking, high));
    for (int i = 0; i < 2 * CZ_CUDA_LANES; i++)
        SETUP(cudaEventCreateWithFlags(&w->lane_event[i], cudaEventDisableTiming | cudaEventBlockingSync));
    for (int i = 0; i < CZ_CUDA_EVENTS; i++)
        SETUP(cudaEventCreateWithFlags(&w->event[i], cudaEventDisableTiming | cudaEventBlockingSync));
    for (int i = 0; i < 16; i++) SETUP(cudaEventCreateWithFlags(&w->timer[i], cudaEventBlockingSync));
    SETUP(cudaMallocHost((void **)&w->pinned, w->pinned_size));
out:
    return status;
}

static void worker_done(struct cz_cuda_worker *w) {
    for (int i = 0; i < CZ_CUDA_EVENTS; i++)
        if (w->event[i]) (void)cudaEventDestroy(w->event[i]);
    for (int i = 0; i < 16; i++)
        if (w->timer[i]) (void)cudaEventDestroy(w->timer[i]);
    for (int i = 0; i < 2 * CZ_CUDA_LANES; i++)
        if (w->lane_event[i]) (void)cudaEventDestroy(w->lane_event[i]);
    for (int i = 0; i < CZ_CUDA_LANES; i++)
        if (w->lane[i]) (void)cudaStreamDestroy(w->lane[i]);
    if (w->stream) (void)cudaStreamDestroy(w->stream);
    if (w->side) (void)cudaStreamDestroy(w->side);
    if (w->pinned) (void)cudaFreeHost(w->pinned);
}

/* convert.cu: whether the binary has code for the current device. */
cudaError_t cz_cuda_kernel_check(void);

/* The error of a card that the binary has no code for: what the card is, what the binary holds, what would help. */
static enum cz_status no_code(const struct cz_cuda_info *info, struct cz_error *err) {
    if (info->arch < 75)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED,
                            "cuda:%d (%s): it is sm_%d, and sm_75 is the oldest that can be built for; this binary "
                            "holds code for %s",
                            info->ordinal, info->name, info->arch, CZ_CUDA_ARCHITECTURES);
    return cz_error_set(err, CZ_ERR_UNSUPPORTED,
                        "cuda:%d (%s): it is sm_%d, and this binary holds code for %s; build with "
                        "-DCZ_CUDA_ARCH=sm_%d or -DCZ_CUDA_ARCH=release",
                        info->ordinal, info->name, info->arch, CZ_CUDA_ARCHITECTURES, info->arch);
}

/* What the budget gives to residents and to each worker. */
static enum cz_status divide(struct cz_cuda *cuda, const struct cz_cuda_options *o, size_t available,
                             struct cz_error *err) {
    size_t budget = o->vram_limit ? o->vram_limit : available;
    if (budget > available)
        return cz_error_set(err, CZ_ERR_BUDGET, "cuda:%d: vram limit %zu MiB, but only %zu MiB are free", o->ordinal,
                            budget >> 20, available >> 20);
    if (budget > CZ_GPU_PLAN_MOST) budget = CZ_GPU_PLAN_MOST;
    budget -= budget % CZ_CUDA_GRAIN;
    size_t residents = round_up(o->resident_bytes), each = round_up(o->worker_bytes);
    if (!each) {
        if (!residents) residents = round_up(budget / 2);
        if (residents < budget) each = (budget - residents) / o->workers;
        each -= each % CZ_CUDA_GRAIN;
    } else if (!residents && each * o->workers < budget) {
        residents = budget - each * o->workers;
    }
    if (!each || each > budget || residents > budget || each * o->workers > budget - residents)
        return cz_error_set(err, CZ_ERR_BUDGET, "cuda:%d: %u workers and residents do not fit into %zu MiB", o->ordinal,
                            o->workers, budget >> 20);
    cuda->info.vram_budget = budget;
    cuda->resident_size = residents;
    for (unsigned i = 0; i < o->workers; i++) {
        cuda->worker[i].mem_size = each;
        cuda->worker[i].pinned_size = o->pinned_bytes ? o->pinned_bytes : (size_t)64 << 20;
    }
    return CZ_OK;
}

enum cz_status cz_cuda_create(struct cz_cuda **out, const struct cz_cuda_options *options, struct cz_error *err) {
    const struct cz_cuda_options o = *options;
    int count = 0;
    if (o.workers < 1 || o.workers > CZ_CUDA_MAX_WORKERS)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "workers of a device: %u, not 1 to %d", o.workers,
                            CZ_CUDA_MAX_WORKERS);
    cudaError_t error = cudaGetDeviceCount(&count);
    (void)cudaGetLastError();
    /* Whatever stands in the way of asking; memory and a lost device are no matter of support. */
    if (error == cudaErrorMemoryAllocation || error == cudaErrorLaunchFailure || error == cudaErrorECCUncorrectable ||
        error == cudaErrorDevicesUnavailable)
        return cz_error_set(err, status_of(error), "cudaGetDeviceCount: %s", cudaGetErrorName(error));
    if (error != cudaSuccess)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "no CUDA device: cudaGetDeviceCount: %s%s",
                            cudaGetErrorName(error), cz_cuda_no_driver(error));
    if (o.ordinal < 0 || o.ordinal >= count)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "cuda:%d: there are %d CUDA devices", o.ordinal, count);

    struct cz_cuda *cuda = cz_calloc(1, sizeof *cuda);
    if (!cuda) return cz_error_set(err, CZ_ERR_MEMORY, "cuda:%d", o.ordinal);
    enum cz_status status = CZ_OK;
    (void)pthread_mutex_init(&cuda->lock, NULL);
    (void)pthread_cond_init(&cuda->freed, NULL);
    struct cudaDeviceProp prop;
    size_t vram_free, total;
    SETUP(cudaSetDevice(o.ordinal));
    /* A thread that waits for the device sleeps: proofs wait for most of their time. */
    SETUP(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    SETUP(cudaGetDeviceProperties(&prop, o.ordinal));
    cuda->info = (struct cz_cuda_info){.ordinal = o.ordinal,
                                       .sms = prop.multiProcessorCount,
                                       .arch = prop.major * 10 + prop.minor,
                                       .l2 = (size_t)prop.l2CacheSize,
                                       .shared = prop.sharedMemPerMultiprocessor};
    snprintf(cuda->info.name, sizeof cuda->info.name, "%.60s", prop.name);
    error = cz_cuda_kernel_check();
    if (error == cudaErrorNoKernelImageForDevice || error == cudaErrorInvalidDeviceFunction ||
        error == cudaErrorUnsupportedPtxVersion) {
        (void)cudaGetLastError();
        status = no_code(&cuda->info, err);
        goto out;
    }
    SETUP_NAMED("cudaFuncGetAttributes", error);
    SETUP_NAMED("cudaFuncSetAttribute", cz_cuda_add_setup_g1(&cuda->info));
    SETUP_NAMED("cudaFuncSetAttribute", cz_cuda_add_setup_g2(&cuda->info));
    SETUP(cudaMemGetInfo(&vram_free, &total));
    cuda->info.vram_total = total;
    status = divide(cuda, &o, vram_free > CZ_GPU_PLAN_RESERVE ? vram_free - CZ_GPU_PLAN_RESERVE : 0, err);
    if (status != CZ_OK) goto out;
    SETUP(cudaMalloc((void **)&cuda->mem, cuda->info.vram_budget));
    uint8_t *at = cuda->mem + cuda->resident_size;
    for (unsigned i = 0; i < o.workers; i++) {
        struct cz_cuda_worker *w = &cuda->worker[i];
        w->cuda = cuda;
        w->mem = at;
        at += w->mem_size;
        cuda->num_workers = i + 1;
        status = worker_init(w, &o, err);
        if (status != CZ_OK) goto out;
    }
    *out = cuda;
    cuda = NULL;
out:
    cz_cuda_destroy(cuda);
    return status;
}

void cz_cuda_destroy(struct cz_cuda *cuda) {
    if (!cuda) return;
    (void)cudaSetDevice(cuda->info.ordinal);
    for (unsigned i = 0; i < cuda->num_workers; i++) worker_done(&cuda->worker[i]);
    if (cuda->mem) (void)cudaFree(cuda->mem);
    (void)pthread_cond_destroy(&cuda->freed);
    (void)pthread_mutex_destroy(&cuda->lock);
    cz_free(cuda);
}

const struct cz_cuda_info *cz_cuda_device_info(const struct cz_cuda *cuda) {
    return &cuda->info;
}

void *cz_cuda_base(const struct cz_cuda *cuda) {
    return cuda->mem;
}

bool cz_cuda_is_lost(const struct cz_cuda *cuda) {
    return __atomic_load_n(&cuda->lost, __ATOMIC_RELAXED);
}

enum cz_status cz_cuda_take(struct cz_cuda_worker **out, struct cz_cuda *cuda, struct cz_error *err) {
    struct cz_cuda_worker *w = NULL;
    pthread_mutex_lock(&cuda->lock);
    while (!w && !cz_cuda_is_lost(cuda)) {
        for (unsigned i = 0; i < cuda->num_workers && !w; i++) {
            if (cuda->taken[i]) continue;
            cuda->taken[i] = true;
            w = &cuda->worker[i];
        }
        if (!w) pthread_cond_wait(&cuda->freed, &cuda->lock);
    }
    pthread_mutex_unlock(&cuda->lock);
    if (!w) return cz_error_set(err, CZ_ERR_DEVICE, "cuda:%d is lost", cuda->info.ordinal);
    w->err = (struct cz_error){0};
    w->mem_used = w->pinned_used = 0;
    cudaError_t error = cudaSetDevice(cuda->info.ordinal);
    if (error != cudaSuccess) {
        enum cz_status status = cz_cuda_fail(w, "cudaSetDevice", error);
        if (err) *err = w->err;
        cz_cuda_give(w);
        return status;
    }
    *out = w;
    return CZ_OK;
}

void cz_cuda_give(struct cz_cuda_worker *w) {
    struct cz_cuda *cuda = w->cuda;
    cudaStream_t stream[] = {w->side, w->stream};
    for (int i = 0; i < 2; i++) {
        cudaError_t error = cudaStreamSynchronize(stream[i]);
        if (error != cudaSuccess) (void)cz_cuda_fail(w, "cudaStreamSynchronize", error);
    }
    w->mem_used = w->pinned_used = 0;
    pthread_mutex_lock(&cuda->lock);
    cuda->taken[w - cuda->worker] = false;
    /* All of them where the device is lost, so that nobody waits for ever. */
    pthread_cond_broadcast(&cuda->freed);
    pthread_mutex_unlock(&cuda->lock);
}

void *cz_cuda_resident_alloc(struct cz_cuda *cuda, size_t bytes) {
    void *found = NULL;
    if (bytes == 0) bytes = 1;
    if (bytes > cuda->resident_size) return NULL;
    bytes = round_up(bytes);
    pthread_mutex_lock(&cuda->lock);
    size_t at = 0;
    for (size_t i = 0; i <= cuda->num_blocks && cuda->num_blocks < MAX_BLOCKS; i++) {
        size_t end = i < cuda->num_blocks ? cuda->block[i].at : cuda->resident_size;
        if (end - at >= bytes) {
            memmove(&cuda->block[i + 1], &cuda->block[i], (cuda->num_blocks - i) * sizeof cuda->block[0]);
            cuda->block[i] = (struct block){at, bytes};
            cuda->num_blocks++;
            found = cuda->mem + at;
            break;
        }
        if (i < cuda->num_blocks) at = cuda->block[i].at + cuda->block[i].size;
    }
    pthread_mutex_unlock(&cuda->lock);
    return found;
}

void cz_cuda_resident_free(struct cz_cuda *cuda, void *block) {
    if (!block) return;
    size_t at = (size_t)((uint8_t *)block - cuda->mem);
    pthread_mutex_lock(&cuda->lock);
    for (size_t i = 0; i < cuda->num_blocks; i++) {
        if (cuda->block[i].at != at) continue;
        cuda->num_blocks--;
        memmove(&cuda->block[i], &cuda->block[i + 1], (cuda->num_blocks - i) * sizeof cuda->block[0]);
        break;
    }
    pthread_mutex_unlock(&cuda->lock);
}

size_t cz_cuda_resident_room(struct cz_cuda *cuda) {
    size_t most = 0, at = 0;
    pthread_mutex_lock(&cuda->lock);
    for (size_t i = 0; i <= cuda->num_blocks; i++) {
        size_t end = i < cuda->num_blocks ? cuda->block[i].at : cuda->resident_size;
        if (end - at > most) most = end - at;
        if (i < cuda->num_blocks) at = cuda->block[i].at + cuda->block[i].size;
    }
    pthread_mutex_unlock(&cuda->lock);
    return most;
}

void *cz_cuda_mem(struct cz_cuda_worker *w, size_t n, size_t size) {
    size_t bytes;
    if (!cz_mul_size(n, size, &bytes) || bytes > w->mem_size - w->mem_used) return NULL;
    bytes = round_up(bytes);
    if (bytes > w->mem_size - w->mem_used) return NULL;
    void *p = w->mem + w->mem_used;
    w->mem_used += bytes;
    return p;
}

void *cz_cuda_pinned(struct cz_cuda_worker *w, size_t n, size_t size) {
    size_t bytes;
    if (!cz_mul_size(n, size, &bytes) || bytes > w->pinned_size - w->pinned_used) return NULL;
    bytes = (bytes + 255) / 256 * 256;
    if (bytes > w->pinned_size - w->pinned_used) return NULL;
    void *p = w->pinned + w->pinned_used;
    w->pinned_used += bytes;
    return p;
}

void cz_cuda_last_error(struct cz_error *out, struct cz_cuda *cuda) {
    pthread_mutex_lock(&cuda->lock);
    *out = cuda->last;
    pthread_mutex_unlock(&cuda->lock);
}

enum cz_status cz_cuda_fail(struct cz_cuda_worker *w, const char *call, cudaError_t error) {
    struct cz_cuda *cuda = w->cuda;
    (void)cudaGetLastError();
    const bool was_lost = cz_cuda_is_lost(cuda);
    if (cz_cuda_error_is_lost(error)) __atomic_store_n(&cuda->lost, true, __ATOMIC_RELAXED);
    const enum cz_status status = cz_error_set(&w->err, status_of(error), "cuda:%d: %.200s: %s", cuda->info.ordinal,
                                               call, cudaGetErrorName(error));
    pthread_mutex_lock(&cuda->lock);
    if (!was_lost) cuda->last = w->err; /* the cause, not what comes of it */
    pthread_mutex_unlock(&cuda->lock);
    return status;
}

enum cz_status cz_cuda_full(struct cz_cuda_worker *w, const char *what) {
    /* A library's question for its needs may have failed, which then looks like one for too much. */
    const cudaError_t error = cudaPeekAtLastError();
    if (error != cudaSuccess) return cz_cuda_fail(w, what, error);
    return cz_error_set(&w->err, CZ_ERR_BUDGET, "cuda:%d: %s does not fit: %zu of %zu MiB of the worker are in use",
                        w->cuda->info.ordinal, what, w->mem_used >> 20, w->mem_size >> 20);
}
