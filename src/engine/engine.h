#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

/*
 * The engine: jobs in, proofs out. One job is one request; its partitions go through
 *
 *     assign (CPU, makes the witness) → compute (device) → finish (assemble, verify)
 *
 * by bounded queues under one memory budget. A proof that does not verify never leaves it: the partition is made once
 * more, and when that fails too the job fails with the reason.
 *
 * All functions may be called from any thread. None but cz_engine_submit, _preload, _drain and _destroy takes longer
 * than a short lock.
 */

#include "engine/stage.h"

enum cz_proof_kind { CZ_PROOF_POREP, CZ_PROOF_SNAP, CZ_PROOF_WINDOW, CZ_PROOF_WINNING, CZ_PROOF_KINDS };

/** "porep-c2", "snap-update", "window-post", "winning-post". */
const char *cz_proof_kind_name(enum cz_proof_kind kind);
/** The kind of an input. */
enum cz_proof_kind cz_proof_kind_of(const struct cz_input *input);

/** DEFAULT is by kind: winning CRITICAL, window HIGH, others NORMAL. Higher first, then in order of arrival. */
enum cz_priority {
    CZ_PRIORITY_DEFAULT,
    CZ_PRIORITY_LOW,
    CZ_PRIORITY_NORMAL,
    CZ_PRIORITY_HIGH,
    CZ_PRIORITY_CRITICAL,
};

#define CZ_JOB_ID_BYTES 48

enum cz_job_state { CZ_JOB_QUEUED, CZ_JOB_STARTING, CZ_JOB_RUNNING, CZ_JOB_COMPLETED, CZ_JOB_FAILED, CZ_JOB_CANCELLED };

struct cz_job_result {
    char job_id[CZ_JOB_ID_BYTES];
    enum cz_job_state state; /* QUEUED, STARTING or RUNNING: the timeout came first */
    const uint8_t *proof;    /* valid during the call */
    size_t proof_len;        /* 0 unless COMPLETED */
    const char *error;       /* "" unless FAILED or CANCELLED; valid during the call */
    /* Waiting until the first partition computes; then sums over the partitions, so they may exceed the total. */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, compute_ms, total_ms;
};

/** Called once, on a thread of the engine that it must not hold up, or within cz_engine_destroy. */
typedef void cz_engine_done_fn(void *ctx, const struct cz_job_result *result);

struct cz_engine_options {
    const struct cz_stage_ops *ops; /* borrowed, with its context, until cz_engine_destroy */
    void *ops_ctx;
    const char *device_name;    /* copied */
    size_t memory_total;        /* bytes of host memory to plan with */
    uint64_t evict_min_idle_ms; /* an SRS unused for less is not evicted */
    unsigned assign_workers;    /* each of these: 0 means 1 */
    unsigned compute_workers;
    unsigned queue_depth;     /* partitions that may wait to be computed */
    unsigned max_jobs;        /* queued and running; 0: 1000 */
    unsigned keep_jobs;       /* finished jobs kept for retries and AwaitProof; 0: 1000 */
    uint64_t keep_ms;         /* and for how long; 0: an hour */
    cz_engine_done_fn *ended; /* may be NULL: told of every job that ended, before its watchers */
    void *ended_ctx;
    int nice; /* added to the stage threads' nice value, so that status calls are answered under load */
};

struct cz_engine;

CZ_MUST_CHECK enum cz_status cz_engine_create(struct cz_engine **out, const struct cz_engine_options *options,
                                              struct cz_error *err);

/**
 * Ends at once: the stages' present calls are waited for, everything else is dropped, and watchers are told that their
 * job is cancelled. Accepts NULL.
 */
void cz_engine_destroy(struct cz_engine *e);

#define CZ_REQUEST_ID_MAX 512

struct cz_engine_request {
    enum cz_priority priority;
    const char *request_id;   /* empty or NULL: always a new job */
    uint8_t input_digest[32]; /* over every field of the request that matters to the proof */
    struct cz_input *input;   /* taken in every case */
};

struct cz_engine_ticket {
    char job_id[CZ_JOB_ID_BYTES];
    uint32_t queue_position; /* jobs before it that have not started */
    bool joined;             /* a job of this request id and input was there already */
};

/**
 * Looks for a job of this request id with this input that runs or is completed: so that a retry need not be
 * parsed again. False when there is none. (A failed job is not joined: the retry gets its chance.)
 */
bool cz_engine_join(struct cz_engine *e, const char *request_id, const uint8_t input_digest[32],
                    struct cz_engine_ticket *ticket);

/**
 * Checks the input natively and queues it, or joins. May take seconds. Errors: the class bad input (the request is at
 * fault), CZ_ERR_BUDGET (can never fit), CZ_ERR_FULL, CZ_ERR_SHUTDOWN, CZ_ERR_MEMORY.
 */
CZ_MUST_CHECK enum cz_status cz_engine_submit(struct cz_engine *e, const struct cz_engine_request *request,
                                              struct cz_engine_ticket *ticket, struct cz_error *err);

/**
 * Calls `done` when the job has ended or after timeout_ms (0: no limit). CZ_ERR_NOT_FOUND: no such job (or finished
 * long ago), and `done` is not called.
 */
CZ_MUST_CHECK enum cz_status cz_engine_watch(struct cz_engine *e, const char *job_id, uint64_t timeout_ms,
                                             cz_engine_done_fn *done, void *ctx, struct cz_error *err);

/**
 * Ends the watch of this ctx, if `done` has not been called and is not being called: then it never is. True when there
 * was one.
 */
bool cz_engine_unwatch(struct cz_engine *e, const void *ctx);

/** Loads the SRS of a circuit ("porep-2k"). Blocks. */
CZ_MUST_CHECK enum cz_status cz_engine_preload(struct cz_engine *e, const char *circuit_id, bool *already_loaded,
                                               uint64_t *load_ms, struct cz_error *err);

/** No new jobs from now on (CZ_ERR_SHUTDOWN); returns when all that were accepted have ended. */
void cz_engine_drain(struct cz_engine *e);
/** The first half of cz_engine_drain: refuses new jobs, returns at once. */
void cz_engine_stop_accepting(struct cz_engine *e);

#define CZ_ENGINE_MAX_SRS 32
#define CZ_ENGINE_MAX_WORKERS 128
#define CZ_ENGINE_MAX_DEVICES 17
#define CZ_DURATION_BUCKETS 10
/** Upper bounds in seconds; a last bucket has none. */
extern const double CZ_DURATION_BOUND[CZ_DURATION_BUCKETS];

enum cz_srs_tier { CZ_SRS_HOT, CZ_SRS_WARM, CZ_SRS_COLD };

struct cz_kind_status {
    uint32_t pending, in_progress;
    uint64_t completed, failed;
    uint64_t bucket[CZ_DURATION_BUCKETS + 1]; /* completed proofs by duration, not cumulated */
    double duration_sum;
};

struct cz_srs_status {
    char circuit_id[32];
    enum cz_srs_tier tier; /* HOT: ready on the device; WARM: being loaded */
    uint64_t bytes;
    uint32_t ref_count;
    uint64_t idle_ms;
};

struct cz_worker_status {
    char job_id[CZ_JOB_ID_BYTES]; /* "" when idle */
    enum cz_proof_kind kind;
};

struct cz_engine_status {
    struct cz_kind_status kind[CZ_PROOF_KINDS];
    struct cz_srs_status srs[CZ_ENGINE_MAX_SRS];
    uint32_t num_srs;
    char device_name[64];
    struct cz_worker_status worker[CZ_ENGINE_MAX_WORKERS];
    uint32_t num_workers;
    struct cz_device_status device[CZ_ENGINE_MAX_DEVICES];
    uint32_t num_devices; /* at least one */
    uint64_t memory_used, memory_peak, memory_total;
    uint64_t completed, failed, retries;
    uint64_t rerouted; /* partitions made again since their device was lost; no attempts of their jobs */
    uint64_t uptime_seconds;
    uint32_t running; /* jobs started */
    bool draining;
};

/** A snapshot. Never waits for work. */
void cz_engine_status(struct cz_engine *e, struct cz_engine_status *out);

/** Prometheus text of a snapshot, to be freed with free(); NULL without memory. */
char *cz_metrics_text(const struct cz_engine_status *status);

#endif
