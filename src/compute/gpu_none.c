#include "compute/gpu.h"

enum cz_status cz_gpu_create(struct cz_device **out, const struct cz_gpu_options *options, struct cz_pool *pool,
                             struct cz_error *err) {
    (void)out;
    (void)pool;
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "cuda:%d: this binary was built without CUDA (no nvcc was found)",
                        options->ordinal);
}

const char *cz_gpu_architectures(void) {
    return "";
}

unsigned cz_gpu_count(struct cz_error *err) {
    cz_error_write(err, CZ_ERR_UNSUPPORTED, "this binary was built without CUDA (no nvcc was found)");
    return 0;
}

enum cz_status cz_gpu_look(struct cz_gpu_card *out, int ordinal, struct cz_error *err) {
    (void)out;
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "cuda:%d: this binary was built without CUDA", ordinal);
}

size_t cz_gpu_srs_vram(const struct cz_device *dev, const struct cz_srs *srs) {
    (void)dev;
    (void)srs;
    return 0;
}

bool cz_gpu_describe(struct cz_gpu_info *out, const struct cz_device *dev) {
    (void)out;
    (void)dev;
    return false;
}
