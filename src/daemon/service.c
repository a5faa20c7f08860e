#include "daemon/service.h"

#include "base/log.h"
#include "engine/intake.h"
#include "rpc/messages.h"
#include "rpc/server.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <sys/resource.h>

/* Loads that may be asked for at once: each holds a slow thread, and Prove needs some too. */
#define MAX_PRELOADS 2
#define SLOW_THREADS 6
/* Requests may take this part of the memory budget, in addition to it, until they are parsed. */
#define REQUEST_SHARE 8

struct cz_service {
    struct cz_engine *engine;
    struct cz_rpc_server *server;
    atomic_int preloads;
};

/* ---- replies ---- */

/* Packs and finishes. */
static void reply(struct cz_rpc_call *call, const ProtobufCMessage *message) {
    size_t len = protobuf_c_message_get_packed_size(message);
    uint8_t small[1024], *buf = len <= sizeof small ? small : malloc(len);
    if (!buf) {
        cz_rpc_call_finish(call, CZ_RPC_RESOURCE_EXHAUSTED, "out of memory", NULL, 0);
        return;
    }
    (void)protobuf_c_message_pack(message, buf);
    cz_rpc_call_finish(call, CZ_RPC_OK, NULL, buf, len);
    if (buf != small) free(buf);
}

static void refuse(struct cz_rpc_call *call, enum cz_rpc_code code, const char *text) {
    cz_rpc_call_finish(call, code, text, NULL, 0);
}

static void refuse_malformed(struct cz_rpc_call *call) {
    refuse(call, CZ_RPC_INVALID_ARGUMENT, "the request is not a valid message");
}

/* ---- requests ---- */

/* Far more than a partition has sectors. */
#define MAX_FIELDS 65536u

static bool read_varint(uint64_t *v, const uint8_t **p, const uint8_t *end) {
    *v = 0;
    for (unsigned shift = 0; shift < 70 && *p < end; shift += 7) {
        uint8_t byte = *(*p)++;
        if (shift < 64) *v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

/*
 * protobuf-c keeps some 100 bytes for every field, also for unknown ones of two bytes: a message of 128 MiB would take
 * gigabytes. Whether there are at most *left fields, with those of field 1 when it is a message of its own (`nested`).
 * What is malformed ends the count: unpacking ends there too.
 */
static bool few_fields(const uint8_t *p, size_t len, bool nested, uint32_t *left) {
    const uint8_t *end = p + len;
    while (p < end) {
        uint64_t tag, n = 0;
        if ((*left)-- == 0) return false;
        if (!read_varint(&tag, &p, end)) return true;
        switch (tag & 7) {
        case 0:
            if (!read_varint(&n, &p, end)) return true;
            n = 0;
            break;
        case 1:
            n = 8;
            break;
        case 2:
            if (!read_varint(&n, &p, end)) return true;
            break;
        case 5:
            n = 4;
            break;
        default:
            return true;
        }
        if (n > (uint64_t)(end - p)) return true;
        if (nested && tag == (1 << 3 | 2) && !few_fields(p, (size_t)n, false, left)) return false;
        p += n;
    }
    return true;
}

/* False: refused. */
static bool check_fields(struct cz_rpc_call *call, const uint8_t *data, size_t len, bool nested) {
    uint32_t left = MAX_FIELDS;
    if (few_fields(data, len, nested, &left)) return true;
    refuse(call, CZ_RPC_INVALID_ARGUMENT, "the request has more than 65536 fields");
    return false;
}

/* ---- jobs ---- */

static void intake_of(struct cz_intake *in, const Cuzk__V1__SubmitProofRequest *m, struct cz_bytes *list) {
#define BYTES(f) {m->f.data, m->f.len}
    *in = (struct cz_intake){
        .request_id = m->request_id,
        .proof_kind = (int)m->proof_kind,
        .sector_size = m->sector_size,
        .registered_proof = m->registered_proof,
        .priority = (int)m->priority,
        .vanilla_proof = BYTES(vanilla_proof),
        .vanilla_proofs = list,
        .num_vanilla_proofs = m->n_vanilla_proofs,
        .sector_number = m->sector_number,
        .miner_id = m->miner_id,
        .randomness = BYTES(randomness),
        .partition_index = m->partition_index,
        .comm_r_old = BYTES(comm_r_old),
        .comm_r_new = BYTES(comm_r_new),
        .comm_d_new = BYTES(comm_d_new),
    };
#undef BYTES
    for (size_t i = 0; i < m->n_vanilla_proofs; i++) {
        list[i] = (struct cz_bytes){m->vanilla_proofs[i].data, m->vanilla_proofs[i].len};
    }
}

static enum cz_status enter(struct cz_engine *e, const struct cz_intake *in, struct cz_engine_ticket *ticket,
                            struct cz_error *err) {
    enum cz_status st = cz_intake_check(in, err);
    if (st != CZ_OK) return st;
    /* A retry need not be parsed again. */
    uint8_t digest[32];
    st = cz_intake_digest(digest, in);
    if (st != CZ_OK) return cz_error_set(err, st, "digest of the request");
    if (cz_engine_join(e, in->request_id, digest, ticket)) return CZ_OK;
    struct cz_engine_request request;
    st = cz_intake_parse(&request, in, err);
    return st == CZ_OK ? cz_engine_submit(e, &request, ticket, err) : st;
}

/* Parsing and checking yield to the threads that answer status calls. */
static void yield_to_status(void) {
    static _Thread_local bool done;
    if (!done) (void)setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
    done = true;
}

static size_t input_len(const Cuzk__V1__SubmitProofRequest *m) {
    size_t len = m->vanilla_proof.len;
    for (size_t i = 0; i < m->n_vanilla_proofs; i++) len += m->vanilla_proofs[i].len;
    return len;
}

/* Checks, parses, queues. On failure the call is finished. */
static bool submit(struct cz_service *s, struct cz_rpc_call *call, const Cuzk__V1__SubmitProofRequest *m,
                   struct cz_engine_ticket *ticket) {
    yield_to_status();
    struct cz_error err = {0};
    struct cz_bytes *list = calloc(m->n_vanilla_proofs + 1, sizeof *list);
    if (!list) {
        refuse(call, CZ_RPC_RESOURCE_EXHAUSTED, "out of memory");
        return false;
    }
    struct cz_intake in;
    intake_of(&in, m, list);
    enum cz_status st = enter(s->engine, &in, ticket, &err);
    free(list);
    if (st == CZ_OK) {
        cz_log(CZ_LOG_INFO, "%s: request \"%.128s\" from %s, %s, %zu bytes%s", ticket->job_id, m->request_id,
               cz_rpc_call_peer(call), cz_proof_kind_name((enum cz_proof_kind)(m->proof_kind - 1)), input_len(m),
               ticket->joined ? ", joins" : "");
        return true;
    }
    enum cz_rpc_code code = cz_rpc_code_of_status(st);
    if (cz_status_class(st) == CZ_CLASS_BAD_INPUT && st != CZ_ERR_UNSUPPORTED) code = CZ_RPC_INVALID_ARGUMENT;
    cz_log(CZ_LOG_WARN, "request \"%.128s\" from %s refused, %s: %s", m->request_id, cz_rpc_call_peer(call),
           cz_rpc_code_text(code), err.detail);
    refuse(call, code, *err.detail ? err.detail : cz_status_text(st));
    return false;
}

static void on_submit(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    struct cz_service *s = ctx;
    if (!check_fields(call, data, len, false)) return;
    Cuzk__V1__SubmitProofRequest *m = cuzk__v1__submit_proof_request__unpack(NULL, len, data);
    if (!m) {
        refuse_malformed(call);
        return;
    }
    struct cz_engine_ticket ticket = {0};
    if (submit(s, call, m, &ticket)) {
        Cuzk__V1__SubmitProofResponse out = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
        out.job_id = ticket.job_id;
        out.queue_position = ticket.queue_position;
        reply(call, &out.base);
    }
    cuzk__v1__submit_proof_request__free_unpacked(m, NULL);
}

void cz_service_log_result(void *ctx, const struct cz_job_result *r) {
    (void)ctx;
    if (r->state == CZ_JOB_COMPLETED) {
        cz_log(CZ_LOG_INFO,
               "%s: proved in %" PRIu64 " ms (queued %" PRIu64 ", parameters %" PRIu64 ", synthesis %" PRIu64
               ", compute %" PRIu64 ")",
               r->job_id, r->total_ms, r->queue_wait_ms, r->srs_load_ms, r->synthesis_ms, r->compute_ms);
    } else if (r->state == CZ_JOB_FAILED || r->state == CZ_JOB_CANCELLED) {
        cz_log(CZ_LOG_ERROR, "%s: failed after %" PRIu64 " ms: %s", r->job_id, r->total_ms, r->error);
    }
}

static void fill_result(Cuzk__V1__AwaitProofResponse *out, const struct cz_job_result *r) {
    switch (r->state) {
    case CZ_JOB_COMPLETED:
        out->status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
        break;
    case CZ_JOB_FAILED:
        out->status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED;
        break;
    case CZ_JOB_CANCELLED:
        out->status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED;
        break;
    default:
        out->status = CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT;
        break;
    }
    out->job_id = (char *)r->job_id;
    out->error_message = (char *)r->error;
    out->proof = (ProtobufCBinaryData){.len = r->proof_len, .data = (uint8_t *)r->proof};
    out->queue_wait_ms = r->queue_wait_ms;
    out->srs_load_ms = r->srs_load_ms;
    out->synthesis_ms = r->synthesis_ms;
    out->gpu_compute_ms = r->compute_ms;
    out->total_ms = r->total_ms;
}

/*
 * A call that waits for a job. Freed when both the call and watch() have let go of it: the call lets go when it is
 * freed, thus after its finish. One of four finishes it: the job's end (done), the client's leaving (cancelled),
 * watch() when the client left before the engine knew of the watch, or watch() when there is no such job.
 */
struct waiting {
    struct cz_engine *engine;
    struct cz_rpc_call *call;
    atomic_bool cancelled;
    atomic_int holders;
};

static void let_go(void *ctx) {
    struct waiting *w = ctx;
    if (atomic_fetch_sub(&w->holders, 1) == 1) free(w);
}

static void end_cancelled(struct waiting *w) {
    if (cz_engine_unwatch(w->engine, w)) refuse(w->call, CZ_RPC_CANCELLED, "the client has gone away");
}

static void client_left(void *ctx) {
    struct waiting *w = ctx;
    atomic_store(&w->cancelled, true);
    end_cancelled(w);
}

/* On the engine's notifier thread. */
static void await_done(void *ctx, const struct cz_job_result *r) {
    const struct waiting *w = ctx;
    Cuzk__V1__AwaitProofResponse out = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    fill_result(&out, r);
    reply(w->call, &out.base);
}

static void prove_done(void *ctx, const struct cz_job_result *r) {
    const struct waiting *w = ctx;
    Cuzk__V1__AwaitProofResponse result = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    Cuzk__V1__ProveResponse out = CUZK__V1__PROVE_RESPONSE__INIT;
    fill_result(&result, r);
    out.result = &result;
    reply(w->call, &out.base);
}

static void watch(struct cz_service *s, struct cz_rpc_call *call, const char *job_id, uint64_t timeout_ms,
                  cz_engine_done_fn *done) {
    struct cz_error err = {0};
    struct waiting *w = calloc(1, sizeof *w);
    if (!w) {
        refuse(call, CZ_RPC_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    w->engine = s->engine;
    w->call = call;
    atomic_init(&w->holders, 2);
    cz_rpc_call_on_cancel(call, client_left, let_go, w);
    enum cz_status st = cz_engine_watch(s->engine, job_id, timeout_ms, done, w, &err);
    if (st != CZ_OK)
        refuse(call, cz_rpc_code_of_status(st), err.detail);
    else if (atomic_load(&w->cancelled))
        end_cancelled(w);
    let_go(w);
}

static void on_await(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    if (!check_fields(call, data, len, false)) return;
    Cuzk__V1__AwaitProofRequest *m = cuzk__v1__await_proof_request__unpack(NULL, len, data);
    if (!m) {
        refuse_malformed(call);
        return;
    }
    watch(ctx, call, m->job_id, m->timeout_ms, await_done);
    cuzk__v1__await_proof_request__free_unpacked(m, NULL);
}

static void on_prove(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    struct cz_service *s = ctx;
    if (!check_fields(call, data, len, true)) return;
    Cuzk__V1__ProveRequest *m = cuzk__v1__prove_request__unpack(NULL, len, data);
    if (!m) {
        refuse_malformed(call);
        return;
    }
    struct cz_engine_ticket ticket = {0};
    bool ok = false;
    if (m->submit) {
        ok = submit(s, call, m->submit, &ticket);
    } else {
        refuse(call, CZ_RPC_INVALID_ARGUMENT, "submit is not set");
    }
    cuzk__v1__prove_request__free_unpacked(m, NULL);
    if (ok) watch(s, call, ticket.job_id, 0, prove_done);
}

/* ---- state ---- */

#define GPU_NAME 400

/* The name also says why a device is lost, and the driver why it is slow: the message has no other place for it. */
static void fill_gpu(Cuzk__V1__GPUStatus *out, char name[GPU_NAME], const struct cz_device_status *d,
                     const struct cz_engine_status *st) {
    static const Cuzk__V1__GPUStatus INIT = CUZK__V1__GPUSTATUS__INIT;
    *out = INIT;
    (void)snprintf(name, GPU_NAME, "%s%s%s%s%s%s%s", *d->model ? d->model : d->name, d->lost ? " (lost: " : "",
                   d->reason, d->lost ? ")" : "", *d->throttle ? " (held back: " : "", d->throttle,
                   *d->throttle ? ")" : "");
    out->name = name;
    out->ordinal = d->ordinal;
    out->vram_total_bytes = d->vram_total;
    out->vram_free_bytes = d->vram_free;
    for (uint32_t i = 0; i < st->num_workers && i < 64; i++) {
        if (!*st->worker[i].job_id || !(d->workers >> i & 1)) continue;
        out->current_job_id = (char *)st->worker[i].job_id;
        out->current_proof_kind = (char *)cz_proof_kind_name(st->worker[i].kind);
        return;
    }
}

static void on_status(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    (void)data;
    (void)len;
    const struct cz_service *s = ctx;
    struct cz_engine_status st;
    cz_engine_status(s->engine, &st);
    Cuzk__V1__GetStatusResponse out = CUZK__V1__GET_STATUS_RESPONSE__INIT;

    Cuzk__V1__GPUStatus gpu[CZ_ENGINE_MAX_DEVICES], *gpus[CZ_ENGINE_MAX_DEVICES];
    char name[CZ_ENGINE_MAX_DEVICES][GPU_NAME];
    uint64_t pinned = 0;
    for (uint32_t i = 0; i < st.num_devices; i++) {
        fill_gpu(&gpu[i], name[i], &st.device[i], &st);
        gpus[i] = &gpu[i];
        pinned += st.device[i].pinned;
    }
    out.n_gpus = st.num_devices;
    out.gpus = gpus;

    Cuzk__V1__SRSStatus srs[CZ_ENGINE_MAX_SRS], *srs_at[CZ_ENGINE_MAX_SRS];
    static const Cuzk__V1__SRSStatus SRS_INIT = CUZK__V1__SRSSTATUS__INIT;
    for (uint32_t i = 0; i < st.num_srs; i++) {
        srs[i] = SRS_INIT;
        srs[i].circuit_id = st.srs[i].circuit_id;
        srs[i].tier = (Cuzk__V1__SRSStatus__Tier)st.srs[i].tier;
        srs[i].size_bytes = st.srs[i].bytes;
        srs[i].ref_count = st.srs[i].ref_count;
        srs_at[i] = &srs[i];
    }
    out.n_loaded_srs = st.num_srs;
    out.loaded_srs = srs_at;

    Cuzk__V1__QueueStatus queue[CZ_PROOF_KINDS], *queue_at[CZ_PROOF_KINDS];
    static const Cuzk__V1__QueueStatus QUEUE_INIT = CUZK__V1__QUEUE_STATUS__INIT;
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        queue[k] = QUEUE_INIT;
        queue[k].proof_kind = (char *)cz_proof_kind_name((enum cz_proof_kind)k);
        queue[k].pending = st.kind[k].pending;
        queue[k].in_progress = st.kind[k].in_progress;
        queue_at[k] = &queue[k];
    }
    out.n_queues = CZ_PROOF_KINDS;
    out.queues = queue_at;

    out.total_proofs_completed = st.completed;
    out.total_proofs_failed = st.failed;
    out.uptime_seconds = st.uptime_seconds;
    /* Pinned memory is taken at the start. Without a GPU there is none, and these say what is reserved of the budget.
     */
    out.pinned_memory_bytes = pinned ? pinned : st.memory_used;
    out.pinned_memory_limit_bytes = pinned ? pinned : st.memory_total;
    reply(call, &out.base);
}

static void on_metrics(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    (void)data;
    (void)len;
    const struct cz_service *s = ctx;
    struct cz_engine_status st;
    cz_engine_status(s->engine, &st);
    char *text = cz_metrics_text(&st);
    if (!text) {
        refuse(call, CZ_RPC_RESOURCE_EXHAUSTED, "out of memory");
        return;
    }
    Cuzk__V1__GetMetricsResponse out = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    out.prometheus_text = text;
    reply(call, &out.base);
    free(text);
}

static void preload(struct cz_service *s, struct cz_rpc_call *call, const char *circuit_id) {
    struct cz_error err = {0};
    bool already = false;
    uint64_t ms = 0;
    enum cz_status st = cz_engine_preload(s->engine, circuit_id, &already, &ms, &err);
    if (st == CZ_OK) {
        Cuzk__V1__PreloadSrsResponse out = CUZK__V1__PRELOAD_SRS_RESPONSE__INIT;
        out.already_loaded = already;
        out.load_time_ms = ms;
        reply(call, &out.base);
        return;
    }
    cz_log(CZ_LOG_WARN, "preload of %.64s: %s", circuit_id, err.detail);
    /* The id was checked first: what else is bad is a file on this side. */
    bool file = cz_status_class(st) == CZ_CLASS_BAD_INPUT && st != CZ_ERR_ARGUMENT && st != CZ_ERR_NOT_FOUND &&
                st != CZ_ERR_UNSUPPORTED;
    refuse(call, file ? CZ_RPC_FAILED_PRECONDITION : cz_rpc_code_of_status(st), err.detail);
}

static void on_preload(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    struct cz_service *s = ctx;
    if (!check_fields(call, data, len, false)) return;
    Cuzk__V1__PreloadSrsRequest *m = cuzk__v1__preload_srs_request__unpack(NULL, len, data);
    if (!m) {
        refuse_malformed(call);
        return;
    }
    if (atomic_fetch_add(&s->preloads, 1) < MAX_PRELOADS) {
        preload(s, call, m->circuit_id);
    } else {
        refuse(call, CZ_RPC_RESOURCE_EXHAUSTED, "other parameters are being loaded; try again");
    }
    (void)atomic_fetch_sub(&s->preloads, 1);
    cuzk__v1__preload_srs_request__free_unpacked(m, NULL);
}

static void on_cancel(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    (void)ctx;
    (void)data;
    (void)len;
    refuse(call, CZ_RPC_UNIMPLEMENTED, "CancelProof comes later: a job that was accepted runs to its end");
}

static void on_evict(void *ctx, struct cz_rpc_call *call, const uint8_t *data, size_t len) {
    (void)ctx;
    (void)data;
    (void)len;
    refuse(call, CZ_RPC_UNIMPLEMENTED, "EvictSRS comes later: unused parameters go when memory is needed");
}

static const struct cz_rpc_method METHODS[] = {
    {CZ_RPC_SUBMIT_PROOF, on_submit, true}, {CZ_RPC_AWAIT_PROOF, on_await, false},
    {CZ_RPC_PROVE, on_prove, true},         {CZ_RPC_CANCEL_PROOF, on_cancel, false},
    {CZ_RPC_GET_STATUS, on_status, false},  {CZ_RPC_GET_METRICS, on_metrics, false},
    {CZ_RPC_PRELOAD_SRS, on_preload, true}, {CZ_RPC_EVICT_SRS, on_evict, false},
};

enum cz_status cz_service_create(struct cz_service **out, struct cz_engine *engine, const char *const *listen,
                                 size_t num_listen, struct cz_error *err) {
    struct cz_service *s = calloc(1, sizeof *s);
    if (!s) return cz_error_set(err, CZ_ERR_MEMORY, "the service");
    s->engine = engine;
    struct cz_engine_status state;
    cz_engine_status(engine, &state);
    struct cz_rpc_server_options options = {
        .listen = listen,
        .n_listen = num_listen,
        .methods = METHODS,
        .n_methods = sizeof METHODS / sizeof *METHODS,
        .ctx = s,
        .slow_threads = SLOW_THREADS,
        .max_in_flight = (size_t)(state.memory_total / REQUEST_SHARE),
    };
    enum cz_status st = cz_rpc_server_create(&s->server, &options, err);
    if (st != CZ_OK) {
        free(s);
        return st;
    }
    *out = s;
    return CZ_OK;
}

unsigned cz_service_port(const struct cz_service *s, size_t i) {
    return cz_rpc_server_port(s->server, i);
}

void cz_service_destroy(struct cz_service *s) {
    if (!s) return;
    if (cz_rpc_server_shutdown(s->server, 5000) != CZ_OK) cz_log(CZ_LOG_WARN, "calls were left unanswered");
    cz_rpc_server_destroy(s->server);
    free(s);
}
