#include "engine/engine.h"

#include "base/bytes.h"
#include "base/random.h"
#include "base/time.h"
#include "base/trace.h"
#include "engine/engine_int.h"

#include <inttypes.h>

void cz_engine_lock(struct cz_engine *e) {
    (void)pthread_mutex_lock(&e->lock);
}
void cz_engine_unlock(struct cz_engine *e) {
    (void)pthread_mutex_unlock(&e->lock);
}
void cz_engine_changed(struct cz_engine *e) {
    (void)pthread_cond_broadcast(&e->changed);
}

void cz_engine_wait_change(struct cz_engine *e, uint64_t deadline_ns) {
    if (deadline_ns == 0) {
        (void)pthread_cond_wait(&e->changed, &e->lock);
        return;
    }
    struct timespec ts = {.tv_sec = (time_t)(deadline_ns / 1000000000), .tv_nsec = (long)(deadline_ns % 1000000000)};
    (void)pthread_cond_timedwait(&e->changed, &e->lock, &ts);
}

static enum cz_status init_sync(struct cz_engine *e) {
    pthread_condattr_t attr;
    if (pthread_condattr_init(&attr) != 0) return CZ_ERR_MEMORY;
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    bool ok = pthread_mutex_init(&e->lock, NULL) == 0 && pthread_cond_init(&e->changed, &attr) == 0 &&
              pthread_cond_init(&e->notify, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
    return ok ? CZ_OK : CZ_ERR_MEMORY;
}

static unsigned at_least(unsigned value, unsigned fallback) {
    return value ? value : fallback;
}

enum cz_status cz_engine_create(struct cz_engine **out, const struct cz_engine_options *options, struct cz_error *err) {
    if (options->assign_workers > CZ_ENGINE_MAX_WORKERS || options->compute_workers > CZ_ENGINE_MAX_WORKERS) {
        return cz_error_set(err, CZ_ERR_LIMIT, "at most %d workers a stage", CZ_ENGINE_MAX_WORKERS);
    }
    if (options->memory_total == 0) return cz_error_set(err, CZ_ERR_BUDGET, "the memory budget is 0");
    struct cz_engine *e = calloc(1, sizeof *e);
    if (!e || init_sync(e) != CZ_OK) {
        free(e);
        return cz_error_set(err, CZ_ERR_MEMORY, "engine");
    }
    e->opt = *options;
    e->opt.assign_workers = at_least(options->assign_workers, 1);
    e->opt.compute_workers = at_least(options->compute_workers, 1);
    e->opt.queue_depth = at_least(options->queue_depth, 1);
    e->opt.max_jobs = at_least(options->max_jobs, 1000);
    e->opt.keep_jobs = at_least(options->keep_jobs, 1000);
    if (e->opt.keep_ms == 0) e->opt.keep_ms = 3600000;
    (void)snprintf(e->device_name, sizeof e->device_name, "%s", options->device_name ? options->device_name : "");
    e->opt.device_name = e->device_name;
    e->ops = options->ops;
    e->ops_ctx = options->ops_ctx;
    e->start_ns = cz_time_now_ns();
    e->next_seq = 1;
    cz_budget_init(&e->budget, options->memory_total);
    uint8_t random[4];
    enum cz_status st = cz_random_bytes(random, sizeof random);
    if (st == CZ_OK) {
        char hex[9];
        cz_hex_encode(hex, random, sizeof random);
        (void)snprintf(e->id_prefix, sizeof e->id_prefix, "job-%s", hex);
        st = cz_pipeline_start(e);
    }
    if (st != CZ_OK) {
        cz_engine_destroy(e);
        return cz_error_set(err, st, "cannot start the engine");
    }
    *out = e;
    return CZ_OK;
}

static void cancel_watches(struct cz_engine *e) {
    while (e->watches) {
        struct cz_watch *w = e->watches;
        e->watches = w->next;
        cz_job_end(e, w->job, CZ_JOB_CANCELLED, "the daemon is shutting down");
        struct cz_job_result result;
        cz_job_result(w->job, &result);
        w->done(w->ctx, &result);
        free(w);
    }
}

void cz_engine_destroy(struct cz_engine *e) {
    if (!e) return;
    cz_engine_lock(e);
    e->stop = e->draining = true;
    cz_engine_changed(e);
    (void)pthread_cond_signal(&e->notify);
    cz_engine_unlock(e);
    cz_pipeline_join(e);
    cancel_watches(e); /* no other thread is left */
    cz_job_free_all(e);
    cz_residency_close_all(e);
    (void)pthread_cond_destroy(&e->changed);
    (void)pthread_cond_destroy(&e->notify);
    (void)pthread_mutex_destroy(&e->lock);
    free(e);
}

void cz_engine_stop_accepting(struct cz_engine *e) {
    cz_engine_lock(e);
    e->draining = true;
    cz_engine_changed(e);
    cz_engine_unlock(e);
}

void cz_engine_drain(struct cz_engine *e) {
    cz_engine_lock(e);
    e->draining = true;
    cz_engine_changed(e); /* for preloads that wait */
    while (e->num_live > 0 && !e->stop) cz_engine_wait_change(e, 0);
    /* The notifier has told everyone before this returns. */
    while ((e->watches || e->num_unannounced || e->delivering) && !e->stop) {
        (void)pthread_cond_signal(&e->notify);
        cz_engine_wait_change(e, cz_time_now_ns() + 10000000);
    }
    cz_engine_unlock(e);
}

static void fill_ticket(const struct cz_engine *e, const struct cz_job *job, bool joined,
                        struct cz_engine_ticket *ticket) {
    memcpy(ticket->job_id, job->id, sizeof ticket->job_id);
    ticket->queue_position = cz_job_position(e, job);
    ticket->joined = joined;
}

bool cz_engine_join(struct cz_engine *e, const char *request_id, const uint8_t input_digest[32],
                    struct cz_engine_ticket *ticket) {
    cz_engine_lock(e);
    const struct cz_job *job = cz_job_find_request(e, request_id, input_digest);
    if (job) fill_ticket(e, job, true, ticket);
    cz_engine_unlock(e);
    return job != NULL;
}

/* Lock held. Whether a new job may come in now; joins an old one. */
static enum cz_status admit(struct cz_engine *e, const struct cz_engine_request *request,
                            struct cz_engine_ticket *ticket, struct cz_error *err) {
    const struct cz_job *job = cz_job_find_request(e, request->request_id, request->input_digest);
    ticket->joined = false;
    if (job) {
        fill_ticket(e, job, true, ticket);
        return CZ_OK;
    }
    if (e->draining) return cz_error_set(err, CZ_ERR_SHUTDOWN, "the daemon is shutting down and takes no new work");
    if (e->num_live >= e->opt.max_jobs) {
        return cz_error_set(err, CZ_ERR_FULL, "%u jobs are queued or running, and no more may be (scheduler.max_jobs)",
                            e->num_live);
    }
    return CZ_OK;
}

static enum cz_status check_request(const struct cz_engine_request *request, struct cz_error *err) {
    const struct cz_input *input = request->input;
    if (!input) return cz_error_set(err, CZ_ERR_ARGUMENT, "no input");
    if (request->request_id && strlen(request->request_id) > CZ_REQUEST_ID_MAX) {
        return cz_error_set(err, CZ_ERR_LIMIT, "request_id is longer than %d bytes", CZ_REQUEST_ID_MAX);
    }
    if (!input->sector) return cz_error_set(err, CZ_ERR_UNSUPPORTED, "sector size");
    if (input->num_partitions == 0 || input->num_partitions > 4096) {
        return cz_error_set(err, CZ_ERR_LIMIT, "%u partitions", input->num_partitions);
    }
    return CZ_OK;
}

/* Without the lock: everything that takes time before a job is queued. */
static enum cz_status prepare(struct cz_engine *e, const struct cz_engine_request *request, struct cz_circuit **circuit,
                              struct cz_budget_need *need, struct cz_error *err) {
    const struct cz_input *input = request->input;
    enum cz_status st = check_request(request, err);
    if (st != CZ_OK) return st;
    st = e->ops->input_check(e->ops_ctx, input, err);
    if (st != CZ_OK) return st;
    cz_engine_lock(e);
    st = cz_residency_open(e, circuit, input->kind, input->sector, err);
    struct cz_stage_plan plan = {0};
    if (st == CZ_OK) plan = (*circuit)->plan;
    cz_engine_unlock(e);
    if (st != CZ_OK) return st;
    if (e->ops->plan) e->ops->plan(e->ops_ctx, (*circuit)->handle, &plan);
    *need = (struct cz_budget_need){
        .input = e->ops->input_bytes(e->ops_ctx, input),
        .witness = plan.witness,
        .compute = plan.compute,
    };
    /* Parameters that are missing now are the job's failure, not the request's: they may be there when it starts. */
    if (e->ops->srs_bytes(e->ops_ctx, (*circuit)->handle, &need->srs, NULL) != CZ_OK) need->srs = 0;
    return CZ_OK;
}

/* Lock held. Queues what prepare has prepared. */
static enum cz_status enqueue(struct cz_engine *e, const struct cz_engine_request *request, struct cz_circuit *circuit,
                              const struct cz_budget_need *need, struct cz_engine_ticket *ticket,
                              struct cz_error *err) {
    enum cz_status st = cz_budget_check(&e->budget, need, circuit->id, err);
    if (st != CZ_OK) return st;
    if (!cz_budget_try(&e->budget, CZ_BUDGET_INPUT, need->input)) {
        return cz_error_set(err, CZ_ERR_FULL, "inputs of queued jobs take %zu of %zu bytes, and %zu more do not fit",
                            e->budget.used[CZ_BUDGET_INPUT], e->budget.input_cap, need->input);
    }
    struct cz_job *job;
    st = cz_job_add(e, &job, request, circuit, need->input);
    if (st != CZ_OK) {
        cz_budget_release(&e->budget, CZ_BUDGET_INPUT, need->input);
        return cz_error_set(err, st, "a new job");
    }
    fill_ticket(e, job, false, ticket);
    cz_engine_changed(e);
    return CZ_OK;
}

enum cz_status cz_engine_submit(struct cz_engine *e, const struct cz_engine_request *request,
                                struct cz_engine_ticket *ticket, struct cz_error *err) {
    struct cz_circuit *circuit = NULL;
    struct cz_budget_need need;
    bool taken = false;
    cz_engine_lock(e);
    enum cz_status st = admit(e, request, ticket, err);
    cz_engine_unlock(e);
    if (st != CZ_OK || ticket->joined) goto out;
    const uint64_t start = cz_time_now_ns();
    st = prepare(e, request, &circuit, &need, err);
    if (st != CZ_OK) goto out;
    const uint64_t end = cz_time_now_ns();
    cz_engine_lock(e);
    st = admit(e, request, ticket, err); /* much may have changed */
    if (st == CZ_OK && !ticket->joined) {
        st = enqueue(e, request, circuit, &need, ticket, err);
        taken = st == CZ_OK;
    }
    cz_engine_unlock(e);
    /* Of what was let in alone: others could fill a trace with what they like. */
    if (taken) cz_trace_wait("input check", start, end, ticket->job_id, CZ_TRACE_NO_PARTITION);
out:
    if (!taken && request->input) e->ops->input_free(e->ops_ctx, request->input);
    return st;
}

enum cz_status cz_engine_watch(struct cz_engine *e, const char *job_id, uint64_t timeout_ms, cz_engine_done_fn *done,
                               void *ctx, struct cz_error *err) {
    struct cz_watch *w = calloc(1, sizeof *w);
    if (!w) return cz_error_set(err, CZ_ERR_MEMORY, "a watch");
    cz_engine_lock(e);
    struct cz_job *job = cz_job_find(e, job_id);
    if (!job) {
        cz_engine_unlock(e);
        free(w);
        return cz_error_set(err, CZ_ERR_NOT_FOUND, "no job \"%.60s\"", job_id);
    }
    job->pins++;
    uint64_t limit_ms = UINT64_MAX / 2000000; /* beyond that: no limit that anyone sees the end of */
    if (timeout_ms > limit_ms) timeout_ms = 0;
    *w = (struct cz_watch){.job = job, .done = done, .ctx = ctx};
    if (timeout_ms) w->deadline_ns = cz_time_now_ns() + timeout_ms * 1000000;
    w->next = e->watches;
    e->watches = w;
    (void)pthread_cond_signal(&e->notify);
    cz_engine_unlock(e);
    return CZ_OK;
}

bool cz_engine_unwatch(struct cz_engine *e, const void *ctx) {
    cz_engine_lock(e);
    struct cz_watch **at = &e->watches;
    while (*at && (*at)->ctx != ctx) at = &(*at)->next;
    struct cz_watch *w = *at;
    if (w) {
        *at = w->next;
        w->job->pins--;
    }
    cz_engine_unlock(e);
    free(w);
    return w != NULL;
}

enum cz_status cz_engine_preload(struct cz_engine *e, const char *circuit_id, bool *already_loaded, uint64_t *load_ms,
                                 struct cz_error *err) {
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    if (cz_circuit_id_parse(&kind, &sector, circuit_id) != CZ_OK) {
        return cz_error_set(err, CZ_ERR_ARGUMENT, "circuit_id \"%.60s\" is not known", circuit_id);
    }
    struct cz_circuit *c;
    struct cz_hold hold = {0};
    cz_engine_lock(e);
    enum cz_status st = CZ_OK;
    if (e->draining) st = cz_error_set(err, CZ_ERR_SHUTDOWN, "the daemon is shutting down");
    if (st == CZ_OK) st = cz_residency_open(e, &c, kind, sector, err);
    if (st == CZ_OK) st = cz_residency_acquire(e, c, NULL, &hold, err);
    if (st == CZ_OK) cz_residency_release(e, c);
    cz_engine_unlock(e);
    if (st != CZ_OK) return st;
    *already_loaded = !hold.loaded_now;
    *load_ms = (uint64_t)(hold.seconds * 1000 + 0.5);
    return CZ_OK;
}

static void srs_status(const struct cz_engine *e, struct cz_engine_status *out) {
    uint64_t now = cz_time_now_ns();
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++) {
        const struct cz_circuit *c = &e->circuit[i];
        if (c->state == CZ_RESIDENCY_ABSENT) continue;
        struct cz_srs_status *s = &out->srs[out->num_srs++];
        memcpy(s->circuit_id, c->id, sizeof s->circuit_id);
        s->tier = c->state == CZ_RESIDENCY_READY ? CZ_SRS_HOT : c->loading ? CZ_SRS_WARM : CZ_SRS_COLD;
        s->bytes = c->bytes;
        s->ref_count = c->refs;
        s->idle_ms = c->refs > 0 || now < c->last_use_ns ? 0 : (now - c->last_use_ns) / 1000000;
    }
}

void cz_engine_status(struct cz_engine *e, struct cz_engine_status *out) {
    memset(out, 0, sizeof *out);
    cz_engine_lock(e);
    memcpy(out->kind, e->done, sizeof out->kind);
    for (const struct cz_job *j = e->live; j; j = j->next_live) {
        if (cz_job_ended(j)) continue;
        bool pending = j->state == CZ_JOB_QUEUED;
        out->kind[j->kind].pending += pending;
        out->kind[j->kind].in_progress += !pending;
        out->running += !pending;
    }
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        out->completed += out->kind[k].completed;
        out->failed += out->kind[k].failed;
    }
    srs_status(e, out);
    memcpy(out->device_name, e->device_name, sizeof out->device_name);
    memcpy(out->worker, e->worker, sizeof out->worker);
    out->num_workers = e->opt.compute_workers;
    out->memory_used = cz_budget_used(&e->budget);
    out->memory_peak = e->budget.peak;
    out->memory_total = e->budget.total;
    out->retries = e->retries;
    out->rerouted = e->rerouted;
    out->uptime_seconds = (cz_time_now_ns() - e->start_ns) / 1000000000;
    out->draining = e->draining;
    cz_engine_unlock(e);
    if (e->ops->devices) out->num_devices = e->ops->devices(e->ops_ctx, out->device, CZ_ENGINE_MAX_DEVICES);
    if (out->num_devices > 0) return;
    struct cz_device_status *d = &out->device[out->num_devices++];
    *d = (struct cz_device_status){.workers = UINT64_MAX, .capacity = out->num_workers};
    d->utilisation = d->temperature = d->power_mw = -1;
    (void)snprintf(d->name, sizeof d->name, "%.31s", out->device_name);
}
