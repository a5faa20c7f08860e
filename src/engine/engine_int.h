#ifndef CUZK_ENGINE_ENGINE_INT_H
#define CUZK_ENGINE_ENGINE_INT_H

/*
 * What the engine's files share. One lock guards everything here; it is dropped around every call of the stage table.
 * One condition, `changed`, is broadcast at every change that someone may wait for (there are a dozen threads at most);
 * the notifier has its own.
 */

#include "engine/budget.h"
#include "engine/engine.h"

#include <pthread.h>

#define CZ_MAX_ATTEMPTS 2

struct cz_watch {
    struct cz_watch *next;
    struct cz_job *job;
    uint64_t deadline_ns; /* 0: none */
    cz_engine_done_fn *done;
    void *ctx;
};

enum cz_residency_state { CZ_RESIDENCY_ABSENT, CZ_RESIDENCY_MOVING, CZ_RESIDENCY_READY };

/** One circuit: its constraint system (kept once built) and its SRS (comes and goes). */
struct cz_circuit {
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector; /* NULL: entry not used yet */
    char id[32];
    bool opening, open;
    void *handle;
    struct cz_stage_plan plan;
    enum cz_residency_state state;
    bool loading;  /* MOVING inward */
    size_t bytes;  /* reserved */
    uint32_t refs; /* jobs started on it, and preloads under way */
    uint64_t last_use_ns;
};

struct cz_job {
    struct cz_job *next;      /* all jobs, newest first */
    struct cz_job *next_live; /* live jobs by priority, then arrival */
    char id[CZ_JOB_ID_BYTES];
    char *request_id; /* NULL: none */
    uint8_t digest[32];
    enum cz_proof_kind kind;
    enum cz_priority priority;
    uint64_t seq;
    enum cz_job_state state;
    struct cz_input *input;
    size_t input_bytes;
    struct cz_circuit *circuit;
    bool holds_srs;
    bool yielding; /* is to let go of its SRS, and start anew: nothing more of it is made */
    uint32_t num_partitions, next_partition, num_done, in_flight;
    uint8_t *attempts; /* per partition */
    uint8_t *retry;    /* per partition: to be made again */
    uint32_t num_retry;
    uint8_t *proof;
    char error[512];
    uint32_t pins;  /* results being delivered */
    bool announced; /* options.ended was told of its end */
    uint64_t submit_ns, start_ns, end_ns;
    bool has_computed;
    double wait_seconds; /* until its first partition computed, less what was spent on it meanwhile */
    double srs_seconds, assign_seconds, compute_seconds;
};

/** A partition on its way. */
struct cz_part {
    struct cz_part *next;         /* in a queue */
    struct cz_part *next_waiting; /* see cz_wait */
    struct cz_job *job;
    uint32_t index;
    void *work;
    size_t witness_bytes; /* reserved */
    uint64_t queued_ns;   /* since when it waits to be computed */
};

/** What partitions wait for: a witness's bytes, room in the queue to compute, working memory. */
enum cz_wait { CZ_WAIT_WITNESS, CZ_WAIT_ROOM, CZ_WAIT_COMPUTE, CZ_WAITS };

/** First in, first out; bounded by whoever puts. */
struct cz_part_queue {
    struct cz_part *head, *tail;
    uint32_t count;
};

struct cz_engine {
    struct cz_engine_options opt;
    const struct cz_stage_ops *ops;
    void *ops_ctx;
    char device_name[64];
    pthread_mutex_t lock;
    pthread_cond_t changed, notify;
    bool stop, draining;
    struct cz_budget budget;
    struct cz_circuit circuit[CZ_ENGINE_MAX_SRS];
    struct cz_job *jobs, *live;
    uint32_t num_live, num_unannounced;
    uint64_t next_seq;
    char id_prefix[20];
    uint32_t idle_assign; /* assign workers with nothing to do */
    struct cz_part_queue to_compute, to_finish;
    struct cz_part *waiting[CZ_WAITS];
    struct cz_watch *watches;
    bool delivering;  /* the notifier is telling someone */
    uint64_t unloads; /* of SRS */
    uint32_t lost;    /* devices that have been */
    uint64_t start_ns, retries, rerouted;
    struct cz_kind_status done[CZ_PROOF_KINDS]; /* counters only */
    struct cz_worker_status worker[CZ_ENGINE_MAX_WORKERS];
    pthread_t thread[2 * CZ_ENGINE_MAX_WORKERS + 4];
    uint32_t num_threads, next_worker, next_assign;
};

/* All with the lock held, unless said. */

void cz_engine_lock(struct cz_engine *e);
void cz_engine_unlock(struct cz_engine *e);
void cz_engine_changed(struct cz_engine *e);
/** Waits for a change, at most until deadline_ns (0: no limit). */
void cz_engine_wait_change(struct cz_engine *e, uint64_t deadline_ns);

/* job.c */
struct cz_job *cz_job_find(struct cz_engine *e, const char *id);
/** A job to join, or NULL. */
struct cz_job *cz_job_find_request(struct cz_engine *e, const char *request_id, const uint8_t digest[32]);
/** Makes a job and puts it into both lists. CZ_ERR_MEMORY. */
CZ_MUST_CHECK enum cz_status cz_job_add(struct cz_engine *e, struct cz_job **out,
                                        const struct cz_engine_request *request, struct cz_circuit *circuit,
                                        size_t input_bytes);
uint32_t cz_job_position(const struct cz_engine *e, const struct cz_job *job);
bool cz_job_ended(const struct cz_job *job);
/** Ends a job; its input and its hold on the SRS go when nothing of it is in flight any more. */
void cz_job_end(struct cz_engine *e, struct cz_job *job, enum cz_job_state state, const char *error);
/** Lets go of what an ended job holds when nothing of it is in flight; queues a yielding one then. */
void cz_job_settle(struct cz_engine *e, struct cz_job *job);
void cz_job_result(const struct cz_job *job, struct cz_job_result *out);
/** Forgets finished jobs beyond count and age. */
void cz_job_sweep(struct cz_engine *e);
void cz_job_free_all(struct cz_engine *e);

/* residency.c */
/** The entry of a circuit, with the circuit built. Drops the lock while it builds. */
CZ_MUST_CHECK enum cz_status cz_residency_open(struct cz_engine *e, struct cz_circuit **out, enum cz_circuit_kind kind,
                                               const struct cz_sector_info *sector, struct cz_error *err);
/** What came of an attempt to hold an SRS. */
struct cz_hold {
    bool loaded_now;
    bool later;     /* not held: something more urgent is to start before this job */
    double seconds; /* that loading took */
};
/**
 * Holds the SRS of a circuit, loading it when needed: for a job, or NULL for a preload. Waits for memory; drops the
 * lock. CZ_ERR_SHUTDOWN: the engine ends, or for a preload is to end.
 */
CZ_MUST_CHECK enum cz_status cz_residency_acquire(struct cz_engine *e, struct cz_circuit *c, const struct cz_job *job,
                                                  struct cz_hold *hold, struct cz_error *err);
void cz_residency_release(struct cz_engine *e, struct cz_circuit *c);
/**
 * Evicts the SRS longest unused, or waits for a change or until one has been unused long enough: then false. `wanted`
 * is kept. Drops the lock.
 */
bool cz_residency_make_room(struct cz_engine *e, const struct cz_circuit *wanted);
/** Evicts the SRS longest unused at once, however short that is; false when there is none. Drops the lock. */
bool cz_residency_evict_now(struct cz_engine *e, const struct cz_circuit *wanted);
/** After the plan of a circuit in use has changed. */
void cz_residency_floor(struct cz_engine *e);
/** Unloads and closes everything. No lock needed: no thread is left. */
void cz_residency_close_all(struct cz_engine *e);

/* pipeline.c */
CZ_MUST_CHECK enum cz_status cz_pipeline_start(struct cz_engine *e);
/** After `stop` is set, without the lock: waits for the threads. */
void cz_pipeline_join(struct cz_engine *e);

#endif
