#ifndef CUZK_COMPUTE_INJECT_H
#define CUZK_COMPUTE_INJECT_H

/*
 * A device that fails on purpose, for tests without a GPU: it passes every call on to another one, and the Nth call of
 * a kind fails instead. After a failure with CZ_ERR_DEVICE it is lost, as a CUDA device is: all later calls fail so.
 */

#include "compute/compute.h"

enum cz_inject_call {
    CZ_INJECT_SRS_CREATE,
    CZ_INJECT_PROVE_PARTITION,
    CZ_INJECT_MSM_G1,
    CZ_INJECT_MSM_G2,
    CZ_INJECT_BITSUM_G1,
    CZ_INJECT_BITSUM_G2,
    CZ_INJECT_NTT,
    CZ_INJECT_FIXED_G1_CREATE,
    CZ_INJECT_FIXED_G1_MUL,
    CZ_INJECT_FIXED_G1_ENCODE,
    CZ_INJECT_FIXED_G2_CREATE,
    CZ_INJECT_FIXED_G2_MUL,
    CZ_INJECT_FIXED_G2_ENCODE,
    CZ_INJECT_CALLS
};

/** The call's name, as errors have it: "prove_partition". */
const char *cz_inject_call_name(enum cz_inject_call call);

/** Takes `inner`, also on failure; `name` at most 31 bytes. */
CZ_MUST_CHECK enum cz_status cz_inject_create(struct cz_device **out, struct cz_device *inner, const char *name);
/**
 * From now on: the nth call of this kind (1: the next) and the count - 1 after it fail with `status` and "name: call:
 * injected". Several kinds may be set. n = 0: none.
 */
void cz_inject_fail(struct cz_device *dev, enum cz_inject_call call, unsigned n, unsigned count, enum cz_status status);
/** From now on: before each call of this kind, with how many there were before it. Set while there is no call. */
void cz_inject_before(struct cz_device *dev, enum cz_inject_call call, void (*fn)(void *ctx, unsigned before),
                      void *ctx);
/** What cz_device_partition_bytes says; 0: what `inner` says. */
void cz_inject_partition_bytes(struct cz_device *dev, size_t bytes);
/** Calls of this kind so far. */
unsigned cz_inject_calls(struct cz_device *dev, enum cz_inject_call call);
/** Most partitions ever under way at once. */
unsigned cz_inject_most_at_once(struct cz_device *dev);

#endif
