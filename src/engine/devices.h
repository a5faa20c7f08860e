#ifndef CUZK_ENGINE_DEVICES_H
#define CUZK_ENGINE_DEVICES_H

/*
 * The devices that prove, and which partition goes to which. Every GPU has a number of workers; the CPU, with one, is
 * there for machines without a GPU and for when all are lost.
 *
 * A device that answers CZ_ERR_DEVICE is lost: it gets no more work, and the partition is made on another one at once,
 * its witness being there still. Any other failure is the partition's. A circuit that does not fit into a device's
 * memory (CZ_ERR_BUDGET) goes to others from then on.
 *
 * All functions but create and destroy may be called from several threads.
 */

#include "compute/compute.h"
#include "engine/stage.h"

#define CZ_DEVICES_MAX_GPUS 16
#define CZ_DEVICES_MAX_WORKERS 8 /* of one GPU */

struct cz_devices;

struct cz_devices_options {
    bool cpu_only;
    const uint32_t *ordinal; /* of CUDA devices */
    size_t num_ordinals;     /* 0: all that there are */
    unsigned workers;        /* of each GPU, at most; 1 to CZ_DEVICES_MAX_WORKERS; 0: 2 */
};

/** Opens them and logs what was found and why others are not used. `pool` is borrowed. No usable GPU is no error. */
CZ_MUST_CHECK enum cz_status cz_devices_create(struct cz_devices **out, const struct cz_devices_options *options,
                                               struct cz_pool *pool, struct cz_error *err);
/** For tests: these in place of GPUs, `workers` each, and `cpu` for when all are lost. All are taken, also on failure.
 */
CZ_MUST_CHECK enum cz_status cz_devices_create_of(struct cz_devices **out, struct cz_device *const *gpu, size_t num,
                                                  struct cz_device *cpu, unsigned workers);
/** Accepts NULL. No SRS may be left. */
void cz_devices_destroy(struct cz_devices *d);

/** "cuda:0, cuda:1", or "cpu". */
const char *cz_devices_name(const struct cz_devices *d);
/** Partitions at once: of all GPUs, or 1. */
unsigned cz_devices_workers(const struct cz_devices *d);
/** How many GPUs are not lost. */
unsigned cz_devices_gpus(struct cz_devices *d);

/**
 * A circuit's SRS on every device that can take it. r1cs and the view's memory are borrowed. CZ_ERR_FULL: it would fit
 * into a GPU if another circuit's were not there.
 */
struct cz_devices_srs;
CZ_MUST_CHECK enum cz_status cz_devices_srs_create(struct cz_devices_srs **out, struct cz_devices *d,
                                                   const struct cz_r1cs *r1cs, const struct cz_srs_view *view,
                                                   struct cz_error *err);
/** Accepts NULL. No partition of it may be under way. */
void cz_devices_srs_destroy(struct cz_devices_srs *srs);
/** Host bytes that it holds beside the mapping. */
size_t cz_devices_srs_bytes(const struct cz_devices_srs *srs);
/** Whether some GPU has it: then the mapping is read when it is loaded, and for vectors that are streamed. */
bool cz_devices_srs_on_gpu(struct cz_devices_srs *srs);

/** Host bytes of a partition's computation where it would go now. srs may be NULL: not loaded yet. */
size_t cz_devices_partition_bytes(struct cz_devices *d, struct cz_devices_srs *srs, const struct cz_r1cs *r1cs);

/**
 * Takes a free worker of the least busy device that has the SRS, or of the CPU when none has, for the engine's worker.
 * CZ_NO_LANE: none is free. Does not wait.
 */
int cz_devices_lane(struct cz_devices_srs *srs, unsigned worker);
void cz_devices_lane_free(struct cz_devices_srs *srs, unsigned worker, int lane);

/**
 * Proves the partition on slot->lane, and gives that back; without one, or when that device fails, on the next worker
 * that is free, for which it waits. CZ_ERR_DEVICE: only the CPU is left, and it takes more than slot->bytes
 * (cz_devices_partition_bytes).
 */
CZ_MUST_CHECK enum cz_status cz_devices_prove(struct cz_partition_sums *out, struct cz_devices_srs *srs,
                                              const struct cz_witness *witness, const struct cz_stage_slot *slot,
                                              struct cz_error *err);

/** As cz_stage_ops.devices. The CPU is named when there is no GPU, or when all are lost. */
uint32_t cz_devices_status(struct cz_devices *d, struct cz_device_status *out, uint32_t max);

#endif
