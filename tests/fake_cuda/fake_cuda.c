#define __CUDA_RUNTIME_API_VERSION CUDART_VERSION
#include "fake_cuda/fake_cuda.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAX_NAMES 64
#define MAX_KERNELS 256

struct fake_cuda_card fake_cuda_card;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned calls, fail_at;
static cudaError_t fail_with, sticky;
static const char *failed;
static int live;
static uint8_t *memory;
static size_t memory_size, largest;
static struct {
    const char *name;
    unsigned n;
} count[MAX_NAMES];
static struct {
    const void *function;
    const char *name;
} kernel[MAX_KERNELS];
static unsigned num_kernels;
static _Thread_local cudaError_t last_error;
static _Thread_local const char *last_kernel;

bool fake_cuda_sticky(cudaError_t e) {
    return e == cudaErrorIllegalAddress || e == cudaErrorLaunchFailure || e == cudaErrorLaunchTimeout ||
           e == cudaErrorECCUncorrectable || e == cudaErrorHardwareStackError || e == cudaErrorIllegalInstruction ||
           e == cudaErrorMisalignedAddress || e == cudaErrorDevicesUnavailable || e == cudaErrorDeviceUninitialized;
}

void fake_cuda_reset(void) {
    fake_cuda_card = (struct fake_cuda_card){.name = "Fake",
                                             .major = 9,
                                             .sms = 1,
                                             .count = 1,
                                             .vram = (size_t)4 << 30,
                                             .vram_free = (size_t)4 << 30,
                                             .shared = 228 << 10,
                                             .has_code = true,
                                             .small = 3};
    fake_cuda_fail(~0u, cudaSuccess);
    largest = 0;
}

void fake_cuda_fail(unsigned call, cudaError_t error) {
    pthread_mutex_lock(&lock);
    calls = 0;
    fail_at = call;
    fail_with = error;
    sticky = cudaSuccess;
    failed = NULL;
    pthread_mutex_unlock(&lock);
}

unsigned fake_cuda_calls(void) {
    return calls;
}
const char *fake_cuda_failed(void) {
    return failed;
}
int fake_cuda_live(void) {
    return live;
}
size_t fake_cuda_allocated(void) {
    return largest;
}
unsigned fake_cuda_calls_of(const char *name) {
    for (int i = 0; i < MAX_NAMES && count[i].name; i++)
        if (strcmp(count[i].name, name) == 0) return count[i].n;
    return 0;
}

/* Counts a call; what it is to return. `shown`: the name if it fails. */
static cudaError_t call_shown(const char *name, const char *shown) {
    pthread_mutex_lock(&lock);
    cudaError_t error = sticky;
    if (calls++ == fail_at) {
        error = fail_with;
        failed = shown;
        if (fake_cuda_sticky(error)) sticky = error;
    }
    int i = 0;
    while (i < MAX_NAMES - 1 && count[i].name && strcmp(count[i].name, name) != 0) i++;
    count[i].name = name;
    count[i].n++;
    pthread_mutex_unlock(&lock);
    if (error != cudaSuccess) last_error = error;
    return error;
}
static cudaError_t call(const char *name) {
    return call_shown(name, name);
}
#define CALL()                                                                                                         \
    do {                                                                                                               \
        cudaError_t error_ = call(__func__);                                                                           \
        if (error_ != cudaSuccess) return error_;                                                                      \
    } while (0)

static void bug(const char *what) {
    fprintf(stderr, "fake CUDA: %s\n", what);
    abort();
}
static void add_live(int n) {
    __atomic_add_fetch(&live, n, __ATOMIC_RELAXED);
}
static bool on_device(const void *p, size_t n) {
    const uint8_t *b = p;
    return memory && b >= memory && n <= memory_size && (size_t)(b - memory) <= memory_size - n;
}

/* ---- the device ---- */

cudaError_t cudaGetDeviceCount(int *n) {
    CALL();
    *n = fake_cuda_card.count;
    return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
    (void)device;
    CALL();
    return cudaSuccess;
}
cudaError_t cudaGetDevice(int *device) {
    CALL();
    *device = 0;
    return cudaSuccess;
}
cudaError_t cudaSetDeviceFlags(unsigned flags) {
    (void)flags;
    CALL();
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int device) {
    (void)device;
    CALL();
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "%s", fake_cuda_card.name);
    p->major = fake_cuda_card.major;
    p->minor = fake_cuda_card.minor;
    p->multiProcessorCount = fake_cuda_card.sms;
    p->totalGlobalMem = fake_cuda_card.vram;
    p->l2CacheSize = 50 << 20;
    return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int *v, enum cudaDeviceAttr attr, int device) {
    (void)device;
    CALL();
    switch (attr) {
    case cudaDevAttrComputeCapabilityMajor:
        *v = fake_cuda_card.major;
        break;
    case cudaDevAttrComputeCapabilityMinor:
        *v = fake_cuda_card.minor;
        break;
    case cudaDevAttrMultiProcessorCount:
        *v = fake_cuda_card.sms;
        break;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
        *v = fake_cuda_card.shared;
        break;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
        *v = fake_cuda_card.shared - 1024;
        break;
    case cudaDevAttrMaxGridDimX:
        *v = INT32_MAX;
        break;
    default:
        *v = 1024;
    }
    return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *low, int *high) {
    CALL();
    *low = 0;
    *high = -5;
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t *vram_free, size_t *total) {
    CALL();
    *vram_free = fake_cuda_card.vram_free;
    *total = fake_cuda_card.vram;
    return cudaSuccess;
}

/* ---- memory: one allocation of device memory at a time ---- */

cudaError_t cudaMalloc(void **p, size_t n) {
    CALL();
    if (memory) bug("a second cudaMalloc");
    if (n > fake_cuda_card.vram_free) return last_error = cudaErrorMemoryAllocation;
    void *m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (m == MAP_FAILED) return last_error = cudaErrorMemoryAllocation;
    *p = memory = m;
    memory_size = n;
    if (n > largest) largest = n;
    add_live(1);
    return cudaSuccess;
}
/* What frees does so even when it says that it failed. */
cudaError_t cudaFree(void *p) {
    cudaError_t error = call(__func__);
    if (!p) return error;
    if (p != memory) bug("cudaFree of something else");
    (void)munmap(memory, memory_size);
    memory = NULL;
    add_live(-1);
    return error;
}
cudaError_t cudaMallocHost(void **p, size_t n) {
    CALL();
    *p = malloc(n);
    if (!*p) return last_error = cudaErrorMemoryAllocation;
    add_live(1);
    return cudaSuccess;
}
cudaError_t cudaFreeHost(void *p) {
    cudaError_t error = call(__func__);
    free(p);
    add_live(-1);
    return error;
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, enum cudaMemcpyKind kind, cudaStream_t stream) {
    if (!stream) bug("a copy on the default stream");
    CALL();
    const bool up = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
    if (up && !on_device(to, n)) bug("a copy to outside of the device's memory");
    if (kind != cudaMemcpyHostToDevice && !on_device(from, n)) bug("a copy from outside of the device's memory");
    memcpy(to, from, n);
    if (kind == cudaMemcpyDeviceToHost && n == 4) {
        const bool check = last_kernel && strstr(last_kernel, "k_check");
        memcpy(to, &(uint32_t){check ? 0 : fake_cuda_card.small}, 4);
    }
    return cudaSuccess;
}
cudaError_t cudaMemsetAsync(void *p, int value, size_t n, cudaStream_t stream) {
    (void)value; /* kernels never filled it */
    if (!stream) bug("a cudaMemset on the default stream");
    CALL();
    if (!on_device(p, n)) bug("cudaMemset outside of the device's memory");
    return cudaSuccess;
}

/* ---- streams and events ---- */

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
    (void)priority;
    CALL();
    if (flags != cudaStreamNonBlocking) bug("a stream that waits for the default stream");
    *s = malloc(1);
    add_live(1);
    return *s ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
    cudaError_t error = call(__func__);
    free(s);
    add_live(-1);
    return error;
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    if (!s) bug("the default stream");
    CALL();
    return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t s, cudaEvent_t e, unsigned flags) {
    (void)flags;
    if (!s || !e) bug("no stream or event");
    CALL();
    return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
    (void)flags;
    CALL();
    *e = malloc(1);
    add_live(1);
    return *e ? cudaSuccess : cudaErrorMemoryAllocation;
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    cudaError_t error = call(__func__);
    free(e);
    add_live(-1);
    return error;
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    if (!s || !e) bug("no stream or event");
    CALL();
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    if (!e) bug("no event");
    CALL();
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
    (void)a;
    (void)b;
    CALL();
    *ms = 1;
    return cudaSuccess;
}

/* ---- errors ---- */

#define NAME(e)                                                                                                        \
    case e:                                                                                                            \
        return #e;
const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
        NAME(cudaSuccess)
        NAME(cudaErrorMemoryAllocation)
        NAME(cudaErrorInvalidValue)
        NAME(cudaErrorInvalidConfiguration)
        NAME(cudaErrorLaunchOutOfResources)
        NAME(cudaErrorLaunchFailure)
        NAME(cudaErrorIllegalAddress)
        NAME(cudaErrorECCUncorrectable)
        NAME(cudaErrorDevicesUnavailable)
        NAME(cudaErrorNoDevice)
        NAME(cudaErrorNoKernelImageForDevice)
    default:
        return "cudaErrorUnknown";
    }
}
cudaError_t cudaPeekAtLastError(void) {
    return sticky != cudaSuccess ? sticky : last_error;
}
cudaError_t cudaGetLastError(void) {
    const cudaError_t error = cudaPeekAtLastError();
    last_error = cudaSuccess;
    return error;
}

/* ---- what nvcc makes of kernels and <<<>>> ---- */

void **__cudaRegisterFatBinary(void *fat);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function);
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream);

void **__cudaRegisterFatBinary(void *fat) {
    static void *handle;
    (void)fat;
    return &handle;
}
void __cudaRegisterFatBinaryEnd(void **handle) {
    (void)handle;
}
void __cudaUnregisterFatBinary(void **handle) {
    (void)handle;
}
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext, size_t size, int constant,
                       int global) {
    (void)handle, (void)host, (void)device, (void)name, (void)ext, (void)size, (void)constant, (void)global;
}
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name, int limit, uint3 *tid,
                            uint3 *bid, dim3 *block, dim3 *grid, int *warp) {
    (void)handle, (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    if (num_kernels == MAX_KERNELS) bug("too many kernels");
    kernel[num_kernels].function = host;
    kernel[num_kernels++].name = name;
}
static const char *kernel_name(const void *function) {
    for (unsigned i = 0; i < num_kernels; i++)
        if (kernel[i].function == function) return kernel[i].name;
    bug("a kernel that was not registered");
    return NULL;
}

static _Thread_local struct {
    dim3 grid, block;
    size_t shared;
    struct CUstream_st *stream;
} config;
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, struct CUstream_st *stream) {
    config.grid = grid;
    config.block = block;
    config.shared = shared;
    config.stream = stream;
    return 0;
}
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream) {
    *grid = config.grid;
    *block = config.block;
    *shared = config.shared;
    memcpy(stream, &config.stream, sizeof config.stream);
    return cudaSuccess;
}
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *function) {
    *out = (cudaKernel_t)(uintptr_t)function;
    return cudaSuccess;
}
cudaError_t __cudaLaunchKernel(cudaKernel_t f, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream) {
    (void)args;
    last_kernel = kernel_name((const void *)f);
    if (!stream) bug("a launch on the default stream");
    if (!grid.x || !block.x || (size_t)block.x * block.y * block.z > 1024 ||
        shared > (size_t)fake_cuda_card.shared - 1024)
        return last_error = cudaErrorInvalidConfiguration;
    return call_shown(__func__, last_kernel);
}
/* CUB's launches, where the code is for several architectures. */
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *c, const void *function, void **args) {
    return __cudaLaunchKernel((cudaKernel_t)(uintptr_t)function, c->gridDim, c->blockDim, args, c->dynamicSmemBytes,
                              c->stream);
}
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *a, const void *function) {
    (void)kernel_name(function);
    CALL();
    if (!fake_cuda_card.has_code) return last_error = cudaErrorNoKernelImageForDevice;
    memset(a, 0, sizeof *a);
    a->ptxVersion = a->binaryVersion = fake_cuda_card.major * 10 + fake_cuda_card.minor;
    a->maxThreadsPerBlock = 1024;
    return cudaSuccess;
}
cudaError_t cudaFuncSetAttribute(const void *function, enum cudaFuncAttribute attr, int value) {
    (void)kernel_name(function);
    CALL();
    if (attr == cudaFuncAttributeMaxDynamicSharedMemorySize && value > fake_cuda_card.shared - 1024)
        return last_error = cudaErrorInvalidValue;
    return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *n, const void *f, int threads, size_t shared,
                                                                   unsigned flags) {
    (void)f, (void)threads, (void)shared, (void)flags;
    CALL();
    *n = 2;
    return cudaSuccess;
}
