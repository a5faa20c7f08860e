#ifndef CUZK_DAEMON_CONFIG_H
#define CUZK_DAEMON_CONFIG_H

/* The configuration file (spec/service.md §3, docs/operating.md): TOML, every key checked. */

#include "base/log.h"
#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

#define CZ_CONFIG_MAX_LIST 32

struct cz_config_list {
    size_t count;
    char *item[CZ_CONFIG_MAX_LIST];
};

struct cz_config {
    struct cz_config_list listen; /* empty: the defaults of the daemon */
    char *status_listen;          /* "": off */
    uint64_t total_budget;        /* bytes; 0: MemTotal - safety_margin */
    uint64_t safety_margin;
    uint64_t eviction_min_idle_ms;
    char *param_cache;
    struct cz_config_list preload;
    bool gpus; /* gpus.enabled; false: the CPU */
    uint32_t gpu_device[CZ_CONFIG_MAX_LIST];
    size_t num_gpu_devices;       /* 0: all */
    uint32_t gpu_workers;         /* gpus.gpu_workers_per_device */
    uint32_t threads;             /* synthesis.threads; 0: all */
    uint32_t lookahead;           /* pipeline.synthesis_lookahead */
    uint32_t assign_workers;      /* pipeline.synthesis_concurrency */
    uint32_t max_gpu_queue_depth; /* 0: lookahead */
    uint32_t max_jobs;            /* scheduler.max_jobs */
    enum cz_log_level log_level;
    bool log_json;
};

#define CZ_CONFIG_DEFAULT_PARAMS "/data/zk/params"

/** One line about a key that has no effect. */
typedef void cz_config_warn_fn(void *ctx, const char *text);

/** Defaults. FIL_PROOFS_PARAMETER_CACHE of the environment, when set, is the default of srs.param_cache. */
CZ_MUST_CHECK enum cz_status cz_config_init(struct cz_config *c);
void cz_config_done(struct cz_config *c);

/**
 * Reads TOML over what c holds. Errors name the key and the line: CZ_ERR_NOT_FOUND for an unknown section or key,
 * CZ_ERR_FORMAT for syntax and wrong types, CZ_ERR_LIMIT for numbers out of range. `warn` may be NULL. c is to be
 * given up after an error.
 */
CZ_MUST_CHECK enum cz_status cz_config_parse(struct cz_config *c, const char *text, size_t len, cz_config_warn_fn *warn,
                                             void *ctx, struct cz_error *err);
/** The same from a file, whose path stands before the error. */
CZ_MUST_CHECK enum cz_status cz_config_read(struct cz_config *c, const char *path, cz_config_warn_fn *warn, void *ctx,
                                            struct cz_error *err);

/** "256GiB", "5 MB", "1048576"; units B, KB … TB (1000) and KiB … TiB (1024), any case. */
CZ_MUST_CHECK enum cz_status cz_config_parse_size(uint64_t *bytes, const char *text);
/** "5m", "90s", "1h30m", "250ms", or a number of seconds alone, as the original reads it: to milliseconds. */
CZ_MUST_CHECK enum cz_status cz_config_parse_duration(uint64_t *ms, const char *text);

/** The budget in bytes; reads MemTotal for "auto". CZ_ERR_BUDGET when the margin leaves nothing. */
CZ_MUST_CHECK enum cz_status cz_config_budget(const struct cz_config *c, uint64_t *bytes, struct cz_error *err);

/** Appends a copy of text. CZ_ERR_LIMIT beyond CZ_CONFIG_MAX_LIST. */
CZ_MUST_CHECK enum cz_status cz_config_list_add(struct cz_config_list *list, const char *text);
void cz_config_list_clear(struct cz_config_list *list);

#endif
