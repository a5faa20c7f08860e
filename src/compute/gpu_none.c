#include "compute/gpu.h"

enum cz_status cz_gpu_create(struct cz_device **out, const struct cz_gpu_options *options, struct cz_pool *pool,
                             struct cz_error *err) {
    (void)out;
    (void)pool;
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "cuda:%d: this binary was built without CUDA (no nvcc was found)",
                        options->ordinal);
}

bool cz_gpu_describe(struct cz_gpu_info *out, const struct cz_device *dev) {
    (void)out;
    (void)dev;
    return false;
}
