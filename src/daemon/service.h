#ifndef CUZK_DAEMON_SERVICE_H
#define CUZK_DAEMON_SERVICE_H

/* The calls of cuzk.v1.ProvingEngine, on an engine: the only place where rpc meets engine. */

#include "engine/engine.h"

struct cz_service;

/**
 * Listens on every address (rpc/server.h) and serves `engine` (borrowed). CZ_ERR_EXISTS: an address is in use.
 */
CZ_MUST_CHECK enum cz_status cz_service_create(struct cz_service **out, struct cz_engine *engine,
                                               const char *const *listen, size_t num_listen, struct cz_error *err);

/** The TCP port of listen[i], 0 for a Unix socket. */
unsigned cz_service_port(const struct cz_service *s, size_t i);

/** Refuses new calls, gives the replies under way a few seconds, ends. Accepts NULL. */
void cz_service_destroy(struct cz_service *s);

/** One line in the log about a job that ended: for cz_engine_options.ended. */
void cz_service_log_result(void *ctx, const struct cz_job_result *result);

#endif
