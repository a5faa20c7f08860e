/*
 * Slots of the device's table until their files exist: transforms run on the CPU device, partitions are refused. A
 * header partition.h or ntt.h in this folder says that its .c file defines them.
 */

#include "compute/cuda/device_cuda.h"

#if !__has_include("compute/cuda/partition.h")
enum cz_status cz_cuda_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                  const struct cz_srs_view *view, struct cz_error *err) {
    (void)out;
    (void)r1cs;
    (void)view;
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: partitions are not built", dev->name);
}
void cz_cuda_srs_destroy(struct cz_srs *srs) {
    (void)srs;
}
size_t cz_cuda_srs_bytes(const struct cz_srs *srs) {
    (void)srs;
    return 0;
}
enum cz_status cz_cuda_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                       struct cz_srs *srs, const struct cz_witness *witness, struct cz_error *err) {
    (void)out;
    (void)timing;
    (void)srs;
    (void)witness;
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "partitions are not built");
}
size_t cz_cuda_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs) {
    (void)dev;
    (void)r1cs;
    return 0;
}
#endif

#if !__has_include("compute/cuda/ntt.h")
enum cz_status cz_cuda_ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    return cz_device_ntt(((struct cz_cuda_device *)dev)->cpu, v, log2n, kind);
}
#endif
