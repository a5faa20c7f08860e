#include "diff/forbidden.h"

#include <cuda_runtime_api.h>

static unsigned calls;
static const char *last = "";

unsigned test_forbidden_calls(void) {
    return __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
}
const char *test_forbidden_last(void) {
    return __atomic_load_n(&last, __ATOMIC_SEQ_CST);
}

static void note(const char *name) {
    __atomic_store_n(&last, name, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&calls, 1, __ATOMIC_SEQ_CST);
}

#define WRAP(name, parameters, arguments)                                                                              \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        note(#name);                                                                                                   \
        return __real_##name arguments;                                                                                \
    }

WRAP(cudaMalloc, (void **p, size_t n), (p, n))
WRAP(cudaFree, (void *p), (p))
WRAP(cudaMallocHost, (void **p, size_t n), (p, n))
WRAP(cudaFreeHost, (void *p), (p))
WRAP(cudaHostAlloc, (void **p, size_t n, unsigned f), (p, n, f))
WRAP(cudaHostRegister, (void *p, size_t n, unsigned f), (p, n, f))
WRAP(cudaHostUnregister, (void *p), (p))
WRAP(cudaDeviceSynchronize, (void), ())
WRAP(cudaMemGetInfo, (size_t * f, size_t *t), (f, t))
WRAP(cudaMemPoolTrimTo, (cudaMemPool_t p, size_t n), (p, n))
WRAP(cudaMemcpy, (void *d, const void *s, size_t n, enum cudaMemcpyKind k), (d, s, n, k))
WRAP(cudaMemset, (void *d, int v, size_t n), (d, v, n))
WRAP(cudaStreamCreateWithPriority, (cudaStream_t * s, unsigned f, int p), (s, f, p))
WRAP(cudaEventCreateWithFlags, (cudaEvent_t * e, unsigned f), (e, f))

/* Work on the default stream waits for all others. */
#define WRAP_STREAM(name, parameters, arguments)                                                                       \
    cudaError_t __real_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters;                                                                              \
    cudaError_t __wrap_##name parameters {                                                                             \
        if (stream == NULL) note(#name " on the default stream");                                                      \
        return __real_##name arguments;                                                                                \
    }

WRAP_STREAM(cudaMemcpyAsync, (void *d, const void *s, size_t n, enum cudaMemcpyKind k, cudaStream_t stream),
            (d, s, n, k, stream))
WRAP_STREAM(cudaMemsetAsync, (void *d, int v, size_t n, cudaStream_t stream), (d, v, n, stream))
WRAP_STREAM(cudaStreamSynchronize, (cudaStream_t stream), (stream))
/* What <<<>>> compiles to. */
WRAP_STREAM(__cudaLaunchKernel,
            (cudaKernel_t f, struct dim3 g, struct dim3 b, void **a, size_t shared, cudaStream_t stream),
            (f, g, b, a, shared, stream))
