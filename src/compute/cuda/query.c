/* What is there before a device is opened, and where an SRS of an open one lies. */

#include "compute/cuda/partition.h"
#include "compute/cuda/plan.h"
#include "compute/gpu.h"

#include <stdio.h>

static enum cz_status failed(struct cz_error *err, const char *call, cudaError_t error) {
    (void)cudaGetLastError();
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: %s%s", call, cudaGetErrorName(error), cz_cuda_no_driver(error));
}

unsigned cz_gpu_count(struct cz_error *err) {
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess) {
        (void)failed(err, "no CUDA device: cudaGetDeviceCount", error);
        return 0;
    }
    if (count <= 0) cz_error_write(err, CZ_ERR_UNSUPPORTED, "the driver knows no CUDA device");
    return count > 0 ? (unsigned)count : 0;
}

enum cz_status cz_gpu_look(struct cz_gpu_card *out, int ordinal, struct cz_error *err) {
    struct cudaDeviceProp prop;
    struct cz_gpu_card card = {.arch = 0};
    cudaError_t error = cudaSetDevice(ordinal);
    if (error != cudaSuccess) return failed(err, "cudaSetDevice", error);
    error = cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync);
    if (error != cudaSuccess) return failed(err, "cudaSetDeviceFlags", error);
    error = cudaGetDeviceProperties(&prop, ordinal);
    if (error != cudaSuccess) return failed(err, "cudaGetDeviceProperties", error);
    error = cudaMemGetInfo(&card.vram_free, &card.vram_total);
    if (error != cudaSuccess) return failed(err, "cudaMemGetInfo", error);
    if (card.vram_free > CZ_GPU_PLAN_MOST + CZ_GPU_PLAN_RESERVE)
        card.vram_free = CZ_GPU_PLAN_MOST + CZ_GPU_PLAN_RESERVE;
    (void)snprintf(card.name, sizeof card.name, "%.60s", prop.name);
    (void)snprintf(card.pci, sizeof card.pci, "%04x:%02x:%02x.0", (unsigned)prop.pciDomainID & 0xffff,
                   (unsigned)prop.pciBusID & 0xff, (unsigned)prop.pciDeviceID & 0xff);
    card.arch = prop.major * 10 + prop.minor;
    *out = card;
    return CZ_OK;
}

size_t cz_gpu_srs_vram(const struct cz_device *dev, const struct cz_srs *base) {
    struct cz_gpu_info info;
    if (!cz_gpu_describe(&info, dev)) return 0;
    return ((const struct cz_cuda_srs *)base)->device;
}
