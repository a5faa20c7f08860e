#include "compute/cuda/add.h"

enum cz_status cz_cuda_add(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                           const struct cz_cuda_job *d_job, const uint32_t *d_count, uint32_t fixed, uint32_t sums,
                           void *d_scratch) {
    const struct cz_cuda_info *info = cz_cuda_device_info(w->cuda);
    void *base = cz_cuda_base(w->cuda);
    if (group == CZ_CUDA_G1)
        CZ_CUDA(w, cz_cuda_add_g1(stream, info, d_job, d_count, fixed, base, sums, d_scratch));
    else
        CZ_CUDA(w, cz_cuda_add_g2(stream, info, d_job, d_count, fixed, base, sums, d_scratch));
    return CZ_OK;
}

size_t cz_cuda_add_scratch(const struct cz_cuda_info *info, enum cz_cuda_group group) {
    (void)group; /* lanes, not points: 512 a multiprocessor, 48 bytes for each of their additions */
    return (size_t)info->sms * 512 * CZ_CUDA_ADD_KMAX * 48;
}
