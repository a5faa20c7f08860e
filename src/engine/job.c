/* The lists of jobs: identity, order, end, retention. */

#include "base/bytes.h"
#include "base/time.h"
#include "engine/engine_int.h"

#include <inttypes.h>

static const char *const KIND_NAME[CZ_PROOF_KINDS] = {"porep-c2", "snap-update", "window-post", "winning-post"};

const char *cz_proof_kind_name(enum cz_proof_kind kind) {
    return (unsigned)kind < CZ_PROOF_KINDS ? KIND_NAME[kind] : "unknown";
}

enum cz_proof_kind cz_proof_kind_of(const struct cz_input *input) {
    switch (input->kind) {
    case CZ_CIRCUIT_WINNING:
        return CZ_PROOF_WINNING;
    case CZ_CIRCUIT_WINDOW:
        return CZ_PROOF_WINDOW;
    case CZ_CIRCUIT_UPDATE:
    case CZ_CIRCUIT_UPDATE_POSEIDON:
        return CZ_PROOF_SNAP;
    default:
        return CZ_PROOF_POREP;
    }
}

const double CZ_DURATION_BOUND[CZ_DURATION_BUCKETS] = {1, 5, 10, 30, 60, 120, 300, 600, 1200, 1800};

bool cz_job_ended(const struct cz_job *job) {
    return job->state >= CZ_JOB_COMPLETED;
}

struct cz_job *cz_job_find(struct cz_engine *e, const char *id) {
    for (struct cz_job *j = e->jobs; j; j = j->next) {
        if (strcmp(j->id, id) == 0) return j;
    }
    return NULL;
}

struct cz_job *cz_job_find_request(struct cz_engine *e, const char *request_id, const uint8_t digest[32]) {
    if (!request_id || !*request_id) return NULL;
    for (struct cz_job *j = e->jobs; j; j = j->next) {
        if (!j->request_id || j->state == CZ_JOB_FAILED || j->state == CZ_JOB_CANCELLED) continue;
        if (memcmp(j->digest, digest, 32) == 0 && strcmp(j->request_id, request_id) == 0) return j;
    }
    return NULL;
}

static enum cz_priority priority_of(const struct cz_engine_request *request, enum cz_proof_kind kind) {
    if (request->priority > CZ_PRIORITY_DEFAULT && request->priority <= CZ_PRIORITY_CRITICAL) return request->priority;
    switch (kind) {
    case CZ_PROOF_WINNING:
        return CZ_PRIORITY_CRITICAL;
    case CZ_PROOF_WINDOW:
        return CZ_PRIORITY_HIGH;
    default:
        return CZ_PRIORITY_NORMAL;
    }
}

static void free_job(struct cz_engine *e, struct cz_job *job) {
    if (job->input) e->ops->input_free(e->ops_ctx, job->input);
    free(job->request_id);
    free(job->attempts);
    free(job->retry);
    free(job->proof);
    free(job);
}

enum cz_status cz_job_add(struct cz_engine *e, struct cz_job **out, const struct cz_engine_request *request,
                          struct cz_circuit *circuit, size_t input_bytes) {
    struct cz_job *job = calloc(1, sizeof *job);
    if (!job) return CZ_ERR_MEMORY;
    uint32_t n = request->input->num_partitions;
    job->attempts = calloc(n, 1);
    job->retry = calloc(n, 1);
    job->proof = calloc(n, CZ_STAGE_PROOF_BYTES);
    bool named = request->request_id && *request->request_id;
    if (named) job->request_id = strdup(request->request_id);
    if (!job->attempts || !job->retry || !job->proof || (named && !job->request_id)) {
        free_job(e, job);
        return CZ_ERR_MEMORY;
    }
    job->seq = e->next_seq++;
    (void)snprintf(job->id, sizeof job->id, "%s-%" PRIu64, e->id_prefix, job->seq);
    memcpy(job->digest, request->input_digest, 32);
    job->kind = cz_proof_kind_of(request->input);
    job->priority = priority_of(request, job->kind);
    job->input = request->input;
    job->input_bytes = input_bytes;
    job->circuit = circuit;
    job->num_partitions = n;
    job->submit_ns = cz_time_now_ns();
    job->next = e->jobs;
    e->jobs = job;
    struct cz_job **at = &e->live;
    while (*at && (*at)->priority >= job->priority) at = &(*at)->next_live;
    job->next_live = *at;
    *at = job;
    e->num_live++;
    *out = job;
    return CZ_OK;
}

uint32_t cz_job_position(const struct cz_engine *e, const struct cz_job *job) {
    uint32_t n = 0;
    for (const struct cz_job *j = e->live; j && j != job; j = j->next_live) n += j->state == CZ_JOB_QUEUED;
    return job->state == CZ_JOB_QUEUED ? n : 0;
}

static void count_end(struct cz_engine *e, const struct cz_job *job) {
    struct cz_kind_status *k = &e->done[job->kind];
    if (job->state != CZ_JOB_COMPLETED) {
        k->failed++;
        return;
    }
    double seconds = (double)(job->end_ns - job->submit_ns) / 1e9;
    unsigned i = 0;
    while (i < CZ_DURATION_BUCKETS && seconds > CZ_DURATION_BOUND[i]) i++;
    k->bucket[i]++;
    k->duration_sum += seconds;
    k->completed++;
}

void cz_job_end(struct cz_engine *e, struct cz_job *job, enum cz_job_state state, const char *error) {
    if (cz_job_ended(job)) return;
    job->state = state;
    job->end_ns = cz_time_now_ns();
    (void)snprintf(job->error, sizeof job->error, "%s", error);
    count_end(e, job);
    e->num_unannounced++;
    cz_job_settle(e, job);
    (void)pthread_cond_signal(&e->notify);
    cz_engine_changed(e);
}

void cz_job_settle(struct cz_engine *e, struct cz_job *job) {
    if (job->yielding && job->state == CZ_JOB_RUNNING && job->in_flight == 0) {
        job->yielding = job->holds_srs = false;
        job->state = CZ_JOB_QUEUED;
        cz_residency_release(e, job->circuit);
    }
    if (!cz_job_ended(job) || job->in_flight > 0 || !job->input) return;
    e->ops->input_free(e->ops_ctx, job->input); /* quick: a few pieces */
    job->input = NULL;
    cz_budget_release(&e->budget, CZ_BUDGET_INPUT, job->input_bytes);
    if (job->holds_srs) cz_residency_release(e, job->circuit);
    job->holds_srs = false;
    struct cz_job **at = &e->live;
    while (*at != job) at = &(*at)->next_live;
    *at = job->next_live;
    e->num_live--;
    cz_engine_changed(e);
}

static uint64_t to_ms(double seconds) {
    return (uint64_t)(seconds * 1000 + 0.5);
}

void cz_job_result(const struct cz_job *job, struct cz_job_result *out) {
    memset(out, 0, sizeof *out);
    memcpy(out->job_id, job->id, sizeof out->job_id);
    out->state = job->state;
    out->error = cz_job_ended(job) ? job->error : ""; /* else it may be written while it is read */
    if (job->state == CZ_JOB_COMPLETED) {
        out->proof = job->proof;
        out->proof_len = (size_t)job->num_partitions * CZ_STAGE_PROOF_BYTES;
    }
    uint64_t end = job->end_ns ? job->end_ns : cz_time_now_ns();
    uint64_t start = job->start_ns ? job->start_ns : end;
    out->queue_wait_ms = job->has_computed ? to_ms(job->wait_seconds) : (start - job->submit_ns) / 1000000;
    out->srs_load_ms = to_ms(job->srs_seconds);
    out->synthesis_ms = to_ms(job->assign_seconds);
    out->compute_ms = to_ms(job->compute_seconds);
    out->total_ms = (end - job->submit_ns) / 1000000;
}

void cz_job_sweep(struct cz_engine *e) {
    uint64_t now = cz_time_now_ns(), keep_ns = e->opt.keep_ms * 1000000;
    uint32_t kept = 0;
    struct cz_job **at = &e->jobs;
    while (*at) {
        struct cz_job *job = *at;
        bool removable = cz_job_ended(job) && !job->input && job->pins == 0;
        kept += cz_job_ended(job);
        if (removable && (kept > e->opt.keep_jobs || now - job->end_ns > keep_ns)) {
            *at = job->next;
            free_job(e, job);
        } else {
            at = &job->next;
        }
    }
}

void cz_job_free_all(struct cz_engine *e) {
    while (e->jobs) {
        struct cz_job *job = e->jobs;
        e->jobs = job->next;
        free_job(e, job);
    }
    e->live = NULL;
}
