#ifndef CUZK_TESTS_ENGINE_FAKE_H
#define CUZK_TESTS_ENGINE_FAKE_H

/* Stages that do nothing but count, wait at gates and fail on demand. */

#include "engine/engine.h"

#include <pthread.h>

enum fake_stage { FAKE_LOAD, FAKE_ASSIGN, FAKE_COMPUTE, FAKE_FINISH, FAKE_VERIFY, FAKE_STAGES };

struct fake {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool closed[FAKE_STAGES];         /* gate: calls wait while closed */
    uint32_t let[FAKE_STAGES];        /* this many calls may pass it nevertheless */
    uint32_t waiting[FAKE_STAGES];    /* calls at a closed gate */
    uint32_t calls[FAKE_STAGES];      /* calls so far */
    uint32_t fail_from[FAKE_STAGES];  /* calls fail from this one on (1: the first); 0: none */
    uint32_t fail_count[FAKE_STAGES]; /* this many of them */
    enum cz_status fail_with;
    enum cz_status check_status; /* of input_check */
    bool params_missing;
    size_t input, srs, witness, compute; /* sizes of a 2 KiB circuit; 8 MiB: four times */
    size_t srs_beyond;                   /* what an SRS takes beyond that, and beyond the estimate */
    size_t compute_now;                  /* in place of compute, once a computation failed; 0: the same */
    size_t large_witness, large_compute; /* of an 8 MiB circuit; 0: four times */
    size_t large_compute_now;
    bool compute_failed;
    size_t live_witness, peak_witness; /* witnesses that exist */
    uint32_t live_inputs, live_work, loaded, unloads;
    uint8_t order[256]; /* tag of each assigned partition */
    uint32_t num_order;
    uint8_t computed[256];             /* tag of each partition that came to compute */
    bool with_lanes;                   /* one for 2 KiB circuits and one for 8 MiB; else any number */
    bool lane_taken[2];                /* of these */
    uint32_t lanes_held;               /* of all */
    struct cz_device_status device[2]; /* what there is; none: the engine names one */
    uint32_t num_devices;
};

extern const struct cz_stage_ops FAKE_OPS;

void fake_init(struct fake *f);
void fake_done(struct fake *f);
void fake_close(struct fake *f, enum fake_stage stage);
void fake_open(struct fake *f, enum fake_stage stage);
/** Lets n calls pass a closed gate. */
void fake_let(struct fake *f, enum fake_stage stage, uint32_t n);
/** Waits until n calls stand at the gate. */
void fake_wait(struct fake *f, enum fake_stage stage, uint32_t n);
/** Waits until a stage was called n times. */
void fake_wait_calls(struct fake *f, enum fake_stage stage, uint32_t n);

/** A new input: its proofs are FAKE_PROOF_MARK everywhere but byte 0 (tag) and 1 (partition). */
struct cz_input *fake_input(struct fake *f, enum cz_circuit_kind kind, uint64_t sector_size, uint32_t partitions,
                            uint8_t tag);
#define FAKE_PROOF_MARK 0x5a

/** An engine with one worker a stage, queue depth 1 and no least idle time. */
struct cz_engine_options fake_options(struct fake *f);

/** Submits; the digest of the input is its tag. */
enum cz_status fake_submit(struct cz_engine *e, struct fake *f, const char *request_id, uint8_t tag,
                           uint32_t partitions, uint64_t sector_size, enum cz_priority priority,
                           struct cz_engine_ticket *ticket, struct cz_error *err);

/** The result of a job, copied. */
struct fake_result {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool done;
    enum cz_job_state state;
    char error[512];
    uint8_t proof[8 * 192];
    size_t proof_len;
    struct cz_job_result times;
};
void fake_watch(struct cz_engine *e, const char *job_id, uint64_t timeout_ms, struct fake_result *r);
void fake_await(struct fake_result *r);
/** Watch and await. */
void fake_result(struct cz_engine *e, const char *job_id, struct fake_result *r);
/** Polls the status until it reserves `bytes` (fails the test after a minute). */
void fake_until_used(struct cz_engine *e, uint64_t bytes);

#endif
