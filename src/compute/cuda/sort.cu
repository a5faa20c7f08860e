// The radix sort of CUB, in a file of its own because it takes longest to compile.
#include <cub/device/device_radix_sort.cuh>

#include "compute/cuda/kernels.h"

extern "C" size_t cz_cuda_sort_bytes(uint32_t n) {
    size_t bytes = 0;
    uint32_t *p = nullptr;
    cudaError_t error = cub::DeviceRadixSort::SortPairs(nullptr, bytes, p, p, p, p, (int)n, 0, 32);
    return error == cudaSuccess ? bytes : SIZE_MAX;
}

extern "C" enum cz_status cz_cuda_sort(struct cz_cuda_worker *w, cudaStream_t stream, void *d_tmp, size_t tmp_bytes,
                                       const uint32_t *d_key, uint32_t *d_key_out, const uint32_t *d_value,
                                       uint32_t *d_value_out, uint32_t n, int bits) {
    CZ_CUDA(w, cub::DeviceRadixSort::SortPairs(d_tmp, tmp_bytes, d_key, d_key_out, d_value, d_value_out, (int)n, 0,
                                               bits, stream));
    return CZ_OK;
}
