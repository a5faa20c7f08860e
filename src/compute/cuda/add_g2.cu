// The addition kernel for G2. Shapes: 256 threads, two blocks a multiprocessor, was the fastest on an H200 (128 x 4
// misses in the instruction cache, 512 x 1 is 4 % slower); cards with less shared memory take 128 threads.
#include "compute/cuda/add.cuh"

using large = add_kernel<2, 256, 2>;
#ifdef CZ_CUDA_RELEASE
using small = add_kernel<2, 128, 1>;
#endif
static bool use_large;

extern "C" cudaError_t cz_cuda_add_setup_g2(void) {
    int device, room;
    cudaError_t error = cudaGetDevice(&device);
    if (error == cudaSuccess)
        error = cudaDeviceGetAttribute(&room, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    if (error != cudaSuccess) return error;
    use_large = room >= 2 * (large::bytes + 1024);
#ifdef CZ_CUDA_RELEASE
    if (!use_large) return small::setup();
#endif
    return large::setup();
}

extern "C" cudaError_t cz_cuda_add_g2(cudaStream_t stream, int sms, const cz_cuda_job *d_job, const uint32_t *d_count,
                                      uint32_t fixed, void *base, uint32_t sums, void *d_scratch) {
#ifdef CZ_CUDA_RELEASE
    if (!use_large) return small::run(stream, sms, d_job, d_count, fixed, base, sums, d_scratch, CZ_CUDA_ADD_KMAX);
#endif
    return large::run(stream, sms, d_job, d_count, fixed, base, sums, d_scratch, CZ_CUDA_ADD_KMAX);
}
