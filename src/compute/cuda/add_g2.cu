// The addition kernel for G2. Shapes: 256 threads, two blocks a multiprocessor, was the fastest on an H200 (128 x 4
// misses in the instruction cache, 512 x 1 is 4 % slower); cards with less shared memory take 128 threads.
#include "compute/cuda/add.cuh"

using large = add_kernel<2, 256, 2>;
#ifdef CZ_CUDA_SMALL_SHARED
using small = add_kernel<2, 128, 1>;
#else
using small = large;
#endif

// By the card, not once a process: a machine may have two kinds.
static bool fits_large(const cz_cuda_info *info) {
    return info->shared >= 2 * (large::bytes + 1024);
}

extern "C" cudaError_t cz_cuda_add_setup_g2(const cz_cuda_info *info) {
    return fits_large(info) ? large::setup() : small::setup();
}

extern "C" cudaError_t cz_cuda_add_g2(cudaStream_t stream, const cz_cuda_info *info, const cz_cuda_job *d_job,
                                      const uint32_t *d_count, uint32_t fixed, void *base, uint32_t sums,
                                      void *d_scratch) {
    auto run = fits_large(info) ? large::run : small::run;
    return run(stream, info->sms, d_job, d_count, fixed, base, sums, d_scratch, CZ_CUDA_ADD_KMAX);
}
