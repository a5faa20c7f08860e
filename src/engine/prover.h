#ifndef CUZK_ENGINE_PROVER_H
#define CUZK_ENGINE_PROVER_H

/* The real stages: circuits of every kind, parameters from a folder, the CPU device. */

#include "engine/stage.h"

struct cz_prover;

/**
 * Makes the device on a pool of `threads` (0: all cores), whose nice value is raised by `nice`. param_cache is copied;
 * the parameters are looked up there under their v28 names when a circuit is loaded.
 */
CZ_MUST_CHECK enum cz_status cz_prover_create(struct cz_prover **out, const char *param_cache, unsigned threads,
                                              int nice, struct cz_error *err);
/** After the engine that uses it. Accepts NULL. */
void cz_prover_destroy(struct cz_prover *p);
const char *cz_prover_device_name(const struct cz_prover *p);

/** The stages; their context is a struct cz_prover. */
extern const struct cz_stage_ops CZ_PROVER_OPS;

#endif
