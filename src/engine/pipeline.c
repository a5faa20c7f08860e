/*
 * The stages' threads. A partition's memory is reserved before a stage makes it and given back when it is gone:
 *
 *     assign    takes the witness's bytes, makes it, waits for room in the queue
 *     compute   takes its working memory, computes, frees the witness; gives both back
 *     finish    holds next to nothing, so its queue has no bound and never holds up a device
 *
 * Whoever waits for memory does so by rank (priority, then age): what comes free goes to the first, however much less
 * the next one asks for. And what waits gives way to what is more urgent: it goes back to where it came from.
 */

#include "base/time.h"
#include "base/trace.h"
#include "engine/engine_int.h"

#include <sys/resource.h>

#define LANE_POLL_NS 100000000

/* Whether nothing more of a job is to be made now. */
static bool unwanted(const struct cz_job *job) {
    return cz_job_ended(job) || job->yielding;
}

static void put(struct cz_part_queue *q, struct cz_part *part) {
    part->next = NULL;
    if (q->tail) {
        q->tail->next = part;
    } else {
        q->head = part;
    }
    q->tail = part;
    q->count++;
}

static struct cz_part *unlink_at(struct cz_part_queue *q, struct cz_part **at) {
    struct cz_part *part = *at;
    if (!part) return NULL;
    *at = part->next;
    q->count--;
    q->tail = q->head;
    while (q->tail && q->tail->next) q->tail = q->tail->next;
    return part;
}

/* The first of the highest priority; NULL when empty. */
static struct cz_part *take(struct cz_part_queue *q) {
    struct cz_part **best = &q->head;
    for (struct cz_part **at = &q->head; *at; at = &(*at)->next) {
        if ((*at)->job->priority > (*best)->job->priority) best = at;
    }
    return unlink_at(q, best);
}

static struct cz_part *take_yielding(struct cz_part_queue *q) {
    struct cz_part **at = &q->head;
    while (*at && !(*at)->job->yielding) at = &(*at)->next;
    return unlink_at(q, at);
}

static void put_front(struct cz_part_queue *q, struct cz_part *part) {
    part->next = q->head;
    q->head = part;
    if (!q->tail) q->tail = part;
    q->count++;
}

/*
 * The most urgent partition in the queue that a device has room for now, with its lane there; one that is to be made no
 * more comes without. NULL: there is none.
 */
static struct cz_part *take_runnable(struct cz_engine *e, unsigned worker, int *lane) {
    struct cz_part_queue *q = &e->to_compute;
    bool full[CZ_ENGINE_MAX_SRS] = {false};
    *lane = CZ_NO_LANE;
    for (;;) {
        struct cz_part **best = NULL;
        for (struct cz_part **at = &q->head; *at; at = &(*at)->next) {
            if (full[(*at)->job->circuit - e->circuit]) continue;
            if (!best || (*at)->job->priority > (*best)->job->priority) best = at;
        }
        if (!best) return NULL;
        struct cz_circuit *c = (*best)->job->circuit;
        if (!e->ops->lane || unwanted((*best)->job)) return unlink_at(q, best);
        *lane = e->ops->lane(e->ops_ctx, c->handle, worker);
        if (*lane != CZ_NO_LANE) return unlink_at(q, best);
        full[c - e->circuit] = true;
    }
}

static void free_lane(struct cz_engine *e, const struct cz_part *part, unsigned worker, int lane) {
    if (lane == CZ_NO_LANE) return;
    e->ops->lane_free(e->ops_ctx, part->job->circuit->handle, worker, lane);
    cz_engine_changed(e);
}

/* Whether something in the queue is more urgent than this job, or at least as urgent. */
static bool holds(const struct cz_part_queue *q, const struct cz_job *job, bool as_urgent) {
    for (const struct cz_part *at = q->head; at; at = at->next) {
        if (at->job->priority > job->priority || (as_urgent && at->job->priority == job->priority)) return true;
    }
    return false;
}

/* Ends the way of a partition through the pipeline, wherever it is. Gives back what it holds. */
static void drop_part(struct cz_engine *e, struct cz_part *part) {
    struct cz_job *job = part->job;
    if (part->work) {
        cz_engine_unlock(e);
        e->ops->work_free(e->ops_ctx, part->work);
        cz_engine_lock(e);
    }
    cz_budget_release(&e->budget, CZ_BUDGET_WITNESS, part->witness_bytes);
    free(part);
    job->in_flight--;
    cz_job_settle(e, job);
    cz_engine_changed(e);
}

/* A partition failed: made again once when that may help, or the end of its job. Drops it. */
static void fail_part(struct cz_engine *e, struct cz_part *part, const struct cz_error *err) {
    struct cz_job *job = part->job;
    bool again = !e->stop && cz_status_class(err->status) != CZ_CLASS_BAD_INPUT && err->status != CZ_ERR_SHUTDOWN &&
                 err->status != CZ_ERR_BUDGET && job->attempts[part->index] < CZ_MAX_ATTEMPTS;
    if (again && !cz_job_ended(job)) {
        job->retry[part->index] = 1;
        job->num_retry++;
        e->retries++;
    } else if (!cz_job_ended(job)) {
        unsigned attempts = job->attempts[part->index];
        char text[sizeof job->error];
        (void)snprintf(text, sizeof text, "partition %u: %s%s%s (after %u attempt%s)", part->index,
                       cz_status_text(err->status), *err->detail ? ": " : "", err->detail, attempts,
                       attempts == 1 ? "" : "s");
        enum cz_job_state state = err->status == CZ_ERR_SHUTDOWN ? CZ_JOB_CANCELLED : CZ_JOB_FAILED;
        cz_job_end(e, job, state, text);
    }
    drop_part(e, part);
}

/* Gives back what a partition holds; it is made later, or again, and this was no attempt of its job. */
static void put_back(struct cz_engine *e, struct cz_part *part) {
    struct cz_job *job = part->job;
    if (!cz_job_ended(job)) {
        job->attempts[part->index]--;
        job->retry[part->index] = 1;
        job->num_retry++;
    }
    drop_part(e, part);
}

/* Makes a partition again through no fault of its own. */
static void reroute_part(struct cz_engine *e, struct cz_part *part) {
    if (!cz_job_ended(part->job)) e->rerouted++;
    put_back(e, part);
}

/*
 * No device is left that does with what was reserved. True when the plan has grown since, and fits: then it is worth
 * another try. False with the reason in err when it cannot fit, or nothing has changed.
 */
static bool replan(struct cz_engine *e, struct cz_circuit *c, size_t reserved, struct cz_error *err) {
    if (!e->ops->plan) return false;
    struct cz_stage_plan plan = c->plan;
    cz_engine_unlock(e);
    e->ops->plan(e->ops_ctx, c->handle, &plan);
    cz_engine_lock(e);
    if (plan.compute <= reserved) return false;
    struct cz_budget_need need = {.srs = c->bytes, .witness = plan.witness, .compute = plan.compute};
    struct cz_error why = *err;
    enum cz_status st = cz_budget_check(&e->budget, &need, c->id, err);
    if (st == CZ_OK) {
        c->plan = plan;
        cz_residency_floor(e);
        return true;
    }
    err->status = st;
    (void)cz_error_prefix(err, "%.120s", why.detail);
    return false;
}

static bool has_work(const struct cz_job *job) {
    return job->state == CZ_JOB_RUNNING && !job->yielding &&
           (job->num_retry > 0 || job->next_partition < job->num_partitions);
}

/* The next job with something to assign: highest priority, then first come. */
static struct cz_job *pick(const struct cz_engine *e) {
    struct cz_job *job = e->live;
    while (job && !has_work(job)) job = job->next_live;
    return job;
}

static bool outranked(const struct cz_engine *e, const struct cz_job *job) {
    const struct cz_job *next = pick(e);
    return next && next->priority > job->priority;
}

/* ---- waiting for memory ---- */

static bool ranks_before(const struct cz_part *a, const struct cz_part *b) {
    if (a->job->priority != b->job->priority) return a->job->priority > b->job->priority;
    if (a->job->seq != b->job->seq) return a->job->seq < b->job->seq;
    return a->index < b->index;
}

static void wait_enter(struct cz_engine *e, enum cz_wait what, struct cz_part *part) {
    part->next_waiting = e->waiting[what];
    e->waiting[what] = part;
    cz_engine_changed(e); /* something more urgent may start */
}

static void wait_leave(struct cz_engine *e, enum cz_wait what, struct cz_part *part) {
    struct cz_part **at = &e->waiting[what];
    while (*at != part) at = &(*at)->next_waiting;
    *at = part->next_waiting;
    if (e->waiting[what]) cz_engine_changed(e); /* another is the first now */
}

static bool is_first(const struct cz_engine *e, enum cz_wait what, const struct cz_part *part) {
    for (const struct cz_part *at = e->waiting[what]; at; at = at->next_waiting)
        if (at != part && ranks_before(at, part)) return false;
    return true;
}

/*
 * A plan has grown, and the circuits in use do not fit side by side any more. That of the first running job stays; jobs
 * on others let go of theirs as soon as nothing of them is in flight, and start anew when there is room. Otherwise each
 * could wait for the other's. False: there are none.
 */
static bool yield_others(struct cz_engine *e) {
    bool any = false;
    const struct cz_job *first = e->live;
    while (first && (first->state != CZ_JOB_RUNNING || first->yielding)) first = first->next_live;
    if (!first) return false;
    for (struct cz_job *job = e->live; job; job = job->next_live) {
        if (job->state != CZ_JOB_RUNNING || job->yielding || job->circuit == first->circuit) continue;
        job->yielding = any = true;
        cz_job_settle(e, job);
        cz_engine_changed(e);
    }
    struct cz_part *part;
    while ((part = take_yielding(&e->to_compute))) reroute_part(e, part);
    return any;
}

/*
 * Waits for a change. Or, when the circuits in use do not fit side by side, for SRS to go: a plan may have grown since
 * they were let in, and then nobody else asks for their room.
 */
static void wait_memory(struct cz_engine *e, const struct cz_circuit *c) {
    const bool gone = !cz_budget_floors_fit(&e->budget) && (cz_residency_evict_now(e, c) || yield_others(e));
    if (!gone) cz_engine_wait_change(e, 0);
}

/* Takes a witness's bytes, waiting for them. False: at shutdown, when its job ended, yields, or another is more urgent.
 */
static bool reserve_witness(struct cz_engine *e, struct cz_part *part) {
    const struct cz_circuit *c = part->job->circuit;
    bool taken = false;
    wait_enter(e, CZ_WAIT_WITNESS, part);
    while (!taken && !e->stop && !unwanted(part->job) && !outranked(e, part->job)) {
        const size_t bytes = c->plan.witness;
        if (is_first(e, CZ_WAIT_WITNESS, part) && cz_budget_try(&e->budget, CZ_BUDGET_WITNESS, bytes)) {
            part->witness_bytes = bytes;
            taken = true;
        } else {
            wait_memory(e, c);
        }
    }
    wait_leave(e, CZ_WAIT_WITNESS, part);
    return taken;
}

/*
 * Waits for room in the queue to compute. What is more urgent than all that is there goes in at once; and what is in
 * the way of something more urgent does, too: its worker is needed. False at shutdown.
 */
static bool wait_room(struct cz_engine *e, struct cz_part *part) {
    const struct cz_part_queue *q = &e->to_compute;
    wait_enter(e, CZ_WAIT_ROOM, part);
    while (!e->stop && q->count >= e->opt.queue_depth && holds(q, part->job, true) && !outranked(e, part->job) &&
           !unwanted(part->job)) {
        cz_engine_wait_change(e, 0);
    }
    wait_leave(e, CZ_WAIT_ROOM, part);
    return !e->stop;
}

static bool wait_part(struct cz_engine *e, const struct cz_part_queue *q) {
    while (!e->stop && q->count == 0) cz_engine_wait_change(e, 0);
    return !e->stop;
}

/* Whether an assign worker waits with a partition that would give way to this job. */
static bool makers_wait(const struct cz_engine *e, const struct cz_job *job) {
    for (enum cz_wait what = CZ_WAIT_WITNESS; what <= CZ_WAIT_ROOM; what++) {
        for (const struct cz_part *at = e->waiting[what]; at; at = at->next_waiting)
            if (at->job->priority < job->priority) return true;
    }
    return false;
}

/*
 * The job to start: the first queued one with nothing before it left to assign, when a worker has nothing to assign, or
 * waits with something less urgent, or would next take up such.
 */
static struct cz_job *pick_start(const struct cz_engine *e) {
    struct cz_job *job = e->live;
    while (job && job->state != CZ_JOB_QUEUED && !has_work(job)) job = job->next_live;
    if (!job || job->state != CZ_JOB_QUEUED) return NULL;
    return e->idle_assign > 0 || pick(e) || makers_wait(e, job) ? job : NULL;
}

/* Beside jobs that are starting: only what is more urgent than all of them, and need not wait for its parameters. */
static bool may_start(const struct cz_engine *e, const struct cz_job *job) {
    for (const struct cz_job *j = e->live; j; j = j->next_live) {
        if (j->state != CZ_JOB_STARTING) continue;
        if (j->priority >= job->priority || job->circuit->state != CZ_RESIDENCY_READY) return false;
    }
    return true;
}

static void start_job(struct cz_engine *e, struct cz_job *job) {
    job->state = CZ_JOB_STARTING;
    job->start_ns = cz_time_now_ns();
    job->in_flight++; /* keeps it while the lock is dropped */
    struct cz_error err = {0};
    struct cz_hold hold;
    enum cz_status st = cz_residency_acquire(e, job->circuit, job, &hold, &err);
    job->in_flight--;
    job->srs_seconds += hold.seconds;
    if (st == CZ_OK && hold.later) {
        job->state = CZ_JOB_QUEUED;
        cz_engine_changed(e);
        return;
    }
    if (st == CZ_OK) {
        job->holds_srs = true;
        job->state = CZ_JOB_RUNNING;
        cz_engine_changed(e);
        return;
    }
    char text[sizeof job->error];
    (void)snprintf(text, sizeof text, "parameters of %s: %s: %s", job->circuit->id, cz_status_text(st), err.detail);
    cz_job_end(e, job, st == CZ_ERR_SHUTDOWN ? CZ_JOB_CANCELLED : CZ_JOB_FAILED, text);
}

static uint32_t next_index(struct cz_job *job) {
    if (job->num_retry == 0) return job->next_partition++;
    uint32_t i = 0;
    while (!job->retry[i]) i++;
    job->retry[i] = 0;
    job->num_retry--;
    return i;
}

/* A stage of a partition on one of the threads, from start_ns until now. The part holds its job. */
static void trace_stage(const struct cz_part *part, const char *threads, unsigned worker, const char *stage,
                        uint64_t start_ns) {
    if (!cz_trace_on()) return;
    char track[32];
    (void)snprintf(track, sizeof track, "host %s %u", threads, worker);
    cz_trace_span(track, stage, start_ns, cz_time_now_ns(), part->job->id, part->index);
}

static void assign_one(struct cz_engine *e, struct cz_job *job, unsigned worker) {
    struct cz_part *part = calloc(1, sizeof *part);
    if (!part) {
        cz_job_end(e, job, CZ_JOB_FAILED, "out of memory");
        return;
    }
    part->job = job;
    part->index = next_index(job);
    job->attempts[part->index]++;
    job->in_flight++;
    struct cz_error err = {0};
    if (!reserve_witness(e, part)) {
        if (e->stop) {
            (void)cz_error_set(&err, CZ_ERR_SHUTDOWN, "the daemon is shutting down");
            fail_part(e, part, &err);
        } else {
            put_back(e, part);
        }
        return;
    }
    cz_engine_unlock(e);
    uint64_t start = cz_time_now_ns();
    enum cz_status st = e->ops->assign(e->ops_ctx, job->circuit->handle, job->input, part->index, &part->work, &err);
    double seconds = cz_time_since(start);
    trace_stage(part, "assign", worker, "assign", start);
    cz_engine_lock(e);
    job->assign_seconds += seconds;
    err.status = st;
    if (st == CZ_OK && !wait_room(e, part)) { st = cz_error_set(&err, CZ_ERR_SHUTDOWN, "the daemon is shutting down"); }
    if (st != CZ_OK) {
        fail_part(e, part, &err);
        return;
    }
    if (job->yielding) {
        reroute_part(e, part);
        return;
    }
    part->queued_ns = cz_time_now_ns();
    put(&e->to_compute, part);
    cz_engine_changed(e);
}

/* Work yields to the threads that answer calls. */
static void be_nice(const struct cz_engine *e) {
    if (e->opt.nice > 0) (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + e->opt.nice);
}

static void *assign_main(void *arg) {
    struct cz_engine *e = arg;
    be_nice(e);
    cz_engine_lock(e);
    const unsigned worker = e->next_assign++;
    while (!e->stop) {
        struct cz_job *job = pick(e);
        if (job) {
            assign_one(e, job, worker);
        } else {
            e->idle_assign++;
            cz_engine_changed(e); /* once: a job may start */
            while (!e->stop && !pick(e)) cz_engine_wait_change(e, 0);
            e->idle_assign--;
        }
    }
    cz_engine_unlock(e);
    return NULL;
}

/*
 * Starting may wait for memory that running jobs hold, and these may need to assign partitions to get done: so it has
 * threads of its own. Two: while one loads parameters, something more urgent may find its own there.
 */
static void *start_main(void *arg) {
    struct cz_engine *e = arg;
    be_nice(e);
    cz_engine_lock(e);
    while (!e->stop) {
        struct cz_job *job = pick_start(e);
        if (job && may_start(e, job)) {
            start_job(e, job);
        } else {
            cz_engine_wait_change(e, 0);
        }
    }
    cz_engine_unlock(e);
    return NULL;
}

/*
 * Whether a partition that waits for memory with a lane is to give way: something more urgent is in the queue, and a
 * device has room for it once the lane is free, which it then is.
 */
static bool gives_way(struct cz_engine *e, const struct cz_part *part, unsigned worker, int *lane) {
    if (!holds(&e->to_compute, part->job, false)) return false;
    if (*lane == CZ_NO_LANE) return true;
    void *own = part->job->circuit->handle;
    e->ops->lane_free(e->ops_ctx, own, worker, *lane);
    *lane = CZ_NO_LANE;
    for (const struct cz_part *at = e->to_compute.head; at; at = at->next) {
        if (at->job->priority <= part->job->priority) continue;
        const int other = e->ops->lane(e->ops_ctx, at->job->circuit->handle, worker);
        if (other == CZ_NO_LANE) continue;
        e->ops->lane_free(e->ops_ctx, at->job->circuit->handle, worker, other);
        return true;
    }
    *lane = e->ops->lane(e->ops_ctx, own, worker);
    return *lane == CZ_NO_LANE; /* another worker's partition took it, whose device was lost */
}

/*
 * Takes a partition's working memory. False: the partition is gone, and its lane free. Its job ended or yields; or
 * something more urgent came into the queue, where it goes back to; or a plan that grew found more witnesses made than
 * it leaves room for, and this one is made again when there is room.
 */
static bool reserve_compute(struct cz_engine *e, struct cz_part *part, unsigned worker, int *lane, size_t *bytes) {
    const struct cz_budget *b = &e->budget;
    enum { WAITING, TAKEN, TOO_MANY, GAVE_WAY } state = WAITING;
    wait_enter(e, CZ_WAIT_COMPUTE, part);
    while (!e->stop && !unwanted(part->job) && state == WAITING) {
        *bytes = part->job->circuit->plan.compute;
        const bool first = is_first(e, CZ_WAIT_COMPUTE, part);
        if (first && cz_budget_try(&e->budget, CZ_BUDGET_COMPUTE, *bytes)) {
            state = TAKEN;
        } else if (gives_way(e, part, worker, lane)) {
            state = GAVE_WAY;
        } else if (first && b->used[CZ_BUDGET_SRS] + b->used[CZ_BUDGET_WITNESS] + *bytes > b->total - b->input_cap &&
                   b->used[CZ_BUDGET_WITNESS] > part->witness_bytes) {
            state = TOO_MANY;
        } else {
            wait_memory(e, part->job->circuit);
        }
    }
    wait_leave(e, CZ_WAIT_COMPUTE, part);
    if (state == TAKEN) return true;
    free_lane(e, part, worker, *lane);
    if (e->stop) {
        struct cz_error err = {0};
        (void)cz_error_set(&err, CZ_ERR_SHUTDOWN, "the daemon is shutting down");
        fail_part(e, part, &err);
    } else if (state == TOO_MANY || part->job->yielding) {
        reroute_part(e, part);
    } else if (cz_job_ended(part->job)) {
        drop_part(e, part);
    } else {
        put_front(&e->to_compute, part);
        cz_engine_changed(e);
    }
    return false;
}

/* Without the lock. */
static uint32_t count_lost(const struct cz_engine *e) {
    struct cz_device_status device[CZ_ENGINE_MAX_DEVICES];
    if (!e->ops->devices) return 0;
    uint32_t n = e->ops->devices(e->ops_ctx, device, CZ_ENGINE_MAX_DEVICES), lost = 0;
    for (uint32_t i = 0; i < n && i < CZ_ENGINE_MAX_DEVICES; i++) lost += device[i].lost;
    return lost;
}

static void compute_one(struct cz_engine *e, struct cz_part *part, struct cz_worker_status *worker, int lane) {
    struct cz_job *job = part->job;
    struct cz_error err = {0};
    size_t bytes;
    const unsigned index = (unsigned)(worker - e->worker);
    if (!reserve_compute(e, part, index, &lane, &bytes)) return;
    if (!job->has_computed) {
        job->has_computed = true;
        job->wait_seconds = cz_time_since(job->submit_ns) - job->srs_seconds - job->assign_seconds;
        if (job->wait_seconds < 0) job->wait_seconds = 0; /* partitions assigned side by side */
    }
    memcpy(worker->job_id, job->id, sizeof worker->job_id);
    worker->kind = job->kind;
    cz_engine_unlock(e);
    uint64_t start = cz_time_now_ns();
    cz_trace_wait("queue", part->queued_ns, start, job->id, part->index);
    const struct cz_stage_slot slot = {
        .worker = index, .bytes = bytes, .lane = lane, .job = job->id, .partition = part->index};
    enum cz_status st = e->ops->compute(e->ops_ctx, job->circuit->handle, part->work, &slot, &err);
    double seconds = cz_time_since(start);
    trace_stage(part, "compute", slot.worker, "compute", start);
    const uint32_t lost = count_lost(e);
    cz_engine_lock(e);
    if (lost > e->lost) e->lost = lost;
    worker->job_id[0] = 0;
    job->compute_seconds += seconds;
    cz_budget_release(&e->budget, CZ_BUDGET_COMPUTE, bytes);
    cz_budget_release(&e->budget, CZ_BUDGET_WITNESS, part->witness_bytes);
    part->witness_bytes = 0;
    cz_engine_changed(e);
    err.status = st;
    if (st == CZ_ERR_DEVICE && replan(e, job->circuit, bytes, &err)) {
        reroute_part(e, part);
        return;
    }
    if (st != CZ_OK) {
        fail_part(e, part, &err);
        return;
    }
    /* Without a bound: what waits to be finished holds next to nothing, and the device does not wait for it. */
    put(&e->to_finish, part);
    cz_engine_changed(e);
}

static void *compute_main(void *arg) {
    struct cz_engine *e = arg;
    be_nice(e);
    cz_engine_lock(e);
    struct cz_worker_status *worker = &e->worker[e->next_worker++];
    while (!e->stop) {
        int lane;
        struct cz_part *part = take_runnable(e, (unsigned)(worker - e->worker), &lane);
        if (!part) {
            /* A lane may also come free while its partition goes on elsewhere. */
            cz_engine_wait_change(e, e->to_compute.count ? cz_time_now_ns() + LANE_POLL_NS : 0);
            continue;
        }
        cz_engine_changed(e);
        if (cz_job_ended(part->job)) {
            drop_part(e, part);
        } else if (part->job->yielding) {
            reroute_part(e, part);
        } else {
            compute_one(e, part, worker, lane);
        }
    }
    cz_engine_unlock(e);
    return NULL;
}

/* Without the lock. Only CZ_OK comes with a proof that verifies. */
static enum cz_status finish_and_verify(struct cz_engine *e, struct cz_part *part, bool explain,
                                        uint8_t proof[CZ_STAGE_PROOF_BYTES], struct cz_error *err) {
    void *circuit = part->job->circuit->handle;
    const struct cz_input *input = part->job->input;
    uint64_t start = cz_time_now_ns();
    enum cz_status st = e->ops->finish(e->ops_ctx, circuit, part->work, proof, err);
    trace_stage(part, "finish", 0, "finish", start);
    if (st != CZ_OK) return st;
    bool valid = false;
    start = cz_time_now_ns();
    st = e->ops->verify(e->ops_ctx, circuit, input, part->index, proof, &valid, err);
    trace_stage(part, "finish", 0, "verify", start);
    if (st != CZ_OK) return st;
    if (valid) return CZ_OK;
    char why[320] = "the vanilla proofs pass their own check";
    if (explain) e->ops->explain(e->ops_ctx, circuit, input, part->index, why, sizeof why);
    return cz_error_set(err, CZ_ERR_PROOF_INVALID, "%s", why);
}

static void finish_one(struct cz_engine *e, struct cz_part *part) {
    struct cz_job *job = part->job;
    uint8_t proof[CZ_STAGE_PROOF_BYTES] = {0};
    struct cz_error err = {0};
    /* The reason of a failure takes another witness, for which there is room or there is none. */
    const size_t witness = job->circuit->plan.witness;
    const bool explain = e->ops->explain && job->attempts[part->index] >= CZ_MAX_ATTEMPTS &&
                         cz_budget_try(&e->budget, CZ_BUDGET_WITNESS, witness);
    cz_engine_unlock(e);
    enum cz_status st = finish_and_verify(e, part, explain, proof, &err);
    cz_engine_lock(e);
    if (explain) {
        cz_budget_release(&e->budget, CZ_BUDGET_WITNESS, witness);
        cz_engine_changed(e);
    }
    if (st != CZ_OK) {
        err.status = st;
        fail_part(e, part, &err);
        return;
    }
    memcpy(job->proof + (size_t)part->index * CZ_STAGE_PROOF_BYTES, proof, sizeof proof);
    job->num_done++;
    if (job->num_done == job->num_partitions) cz_job_end(e, job, CZ_JOB_COMPLETED, "");
    drop_part(e, part);
}

static void *finish_main(void *arg) {
    struct cz_engine *e = arg;
    be_nice(e);
    cz_engine_lock(e);
    while (wait_part(e, &e->to_finish)) {
        struct cz_part *part = take(&e->to_finish);
        if (!part) continue;
        cz_engine_changed(e);
        if (cz_job_ended(part->job)) {
            drop_part(e, part);
        } else {
            finish_one(e, part);
        }
    }
    cz_engine_unlock(e);
    return NULL;
}

/* ---- watchers ---- */

/* Takes one watch that is due out of the list, or NULL and when the next one is. */
static struct cz_watch *due_watch(struct cz_engine *e, uint64_t *next_ns) {
    uint64_t now = cz_time_now_ns();
    *next_ns = 0;
    for (struct cz_watch **at = &e->watches; *at; at = &(*at)->next) {
        struct cz_watch *w = *at;
        if (cz_job_ended(w->job) || (w->deadline_ns && w->deadline_ns <= now)) {
            *at = w->next;
            return w;
        }
        if (w->deadline_ns && (*next_ns == 0 || w->deadline_ns < *next_ns)) *next_ns = w->deadline_ns;
    }
    return NULL;
}

/* Tells options.ended of one job that ended; false when there is none. Drops the lock. */
static bool announce(struct cz_engine *e) {
    if (e->num_unannounced == 0) return false;
    struct cz_job *job = e->jobs;
    while (job && (!cz_job_ended(job) || job->announced)) job = job->next;
    e->num_unannounced--;
    if (!job) return false;
    job->announced = true;
    struct cz_job_result result;
    cz_job_result(job, &result);
    job->pins++;
    e->delivering = true;
    cz_engine_unlock(e);
    cz_trace_flush();
    if (e->opt.ended) e->opt.ended(e->opt.ended_ctx, &result);
    cz_engine_lock(e);
    e->delivering = false;
    job->pins--;
    return true;
}

static void wait_notify(struct cz_engine *e, uint64_t until_ns) {
    uint64_t tick = cz_time_now_ns() + 10000000000u; /* finished jobs age meanwhile */
    if (until_ns == 0 || until_ns > tick) until_ns = tick;
    struct timespec ts = {.tv_sec = (time_t)(until_ns / 1000000000), .tv_nsec = (long)(until_ns % 1000000000)};
    (void)pthread_cond_timedwait(&e->notify, &e->lock, &ts);
}

static void *notify_main(void *arg) {
    struct cz_engine *e = arg;
    cz_engine_lock(e);
    while (!e->stop) {
        if (announce(e)) continue;
        uint64_t next_ns;
        struct cz_watch *w = due_watch(e, &next_ns);
        if (!w) {
            cz_job_sweep(e);
            wait_notify(e, next_ns);
            continue;
        }
        struct cz_job_result result;
        cz_job_result(w->job, &result);
        e->delivering = true;
        cz_engine_unlock(e);
        w->done(w->ctx, &result);
        cz_engine_lock(e);
        e->delivering = false;
        w->job->pins--;
        free(w);
    }
    cz_engine_unlock(e);
    return NULL;
}

static enum cz_status spawn(struct cz_engine *e, void *(*fn)(void *)) {
    if (pthread_create(&e->thread[e->num_threads], NULL, fn, e) != 0) return CZ_ERR_MEMORY;
    e->num_threads++;
    return CZ_OK;
}

enum cz_status cz_pipeline_start(struct cz_engine *e) {
    enum cz_status st = spawn(e, notify_main);
    for (int i = 0; i < 2 && st == CZ_OK; i++) st = spawn(e, start_main);
    for (unsigned i = 0; i < e->opt.assign_workers && st == CZ_OK; i++) st = spawn(e, assign_main);
    for (unsigned i = 0; i < e->opt.compute_workers && st == CZ_OK; i++) st = spawn(e, compute_main);
    if (st == CZ_OK) st = spawn(e, finish_main);
    return st;
}

void cz_pipeline_join(struct cz_engine *e) {
    for (uint32_t i = 0; i < e->num_threads; i++) (void)pthread_join(e->thread[i], NULL);
    e->num_threads = 0;
    cz_engine_lock(e);
    struct cz_part *part;
    while ((part = take(&e->to_compute))) drop_part(e, part);
    while ((part = take(&e->to_finish))) drop_part(e, part);
    cz_engine_unlock(e);
}
