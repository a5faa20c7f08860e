#ifndef CUZK_ENGINE_PROVER_H
#define CUZK_ENGINE_PROVER_H

/* The real stages: circuits of every kind, parameters from a folder, GPUs or the CPU. */

#include "engine/devices.h"

struct cz_prover;

struct cz_prover_options {
    const char *param_cache; /* copied; parameters are looked up there under their v28 names when a circuit is loaded */
    unsigned threads;        /* of the pool; 0: all cores */
    int nice;                /* added to the pool's nice value */
    struct cz_devices_options devices;
};

/** Makes the pool and opens the devices. */
CZ_MUST_CHECK enum cz_status cz_prover_create(struct cz_prover **out, const struct cz_prover_options *options,
                                              struct cz_error *err);
/** After the engine that uses it. Accepts NULL. */
void cz_prover_destroy(struct cz_prover *p);
const char *cz_prover_device_name(const struct cz_prover *p);
/** What the binary was built for: "CUDA for sm_90", or "no CUDA". Asks no driver. */
void cz_prover_architectures(char *out, size_t size);
/** Partitions that compute at once. */
unsigned cz_prover_workers(const struct cz_prover *p);
/** GPUs that are not lost. */
unsigned cz_prover_gpus(const struct cz_prover *p);

/** The stages; their context is a struct cz_prover. */
extern const struct cz_stage_ops CZ_PROVER_OPS;

#endif
