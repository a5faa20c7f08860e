#include "rpc/server_int.h"

#include "base/bytes.h"

#include <grpc/support/alloc.h>
#include <malloc.h>

/* A request of so many bytes came in thousands of pieces, which the allocator keeps when they are freed. */
#define BIG_REQUEST ((size_t)4 << 20)

/* Bytes of a status text: clients refuse metadata over 8 KiB. */
#define MAX_MESSAGE 2000

static void free_call(struct cz_rpc_call *call) {
    struct cz_rpc_server *server = call->server;
    bool begun = call->core != NULL;
    if (call->cancel_release) call->cancel_release(call->cancel_ctx);
    if (call->core) grpc_call_unref(call->core);
    if (call->message) grpc_byte_buffer_destroy(call->message);
    if (call->peer) gpr_free(call->peer);
    grpc_call_details_destroy(&call->details);
    grpc_metadata_array_destroy(&call->metadata);
    grpc_slice_unref(call->details_sent);
    cz_free(call->request);
    (void)pthread_mutex_destroy(&call->lock);
    cz_free(call);
    if (!begun) return;
    (void)pthread_mutex_lock(&server->lock);
    server->live--;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static void release(struct cz_rpc_call *call) {
    (void)pthread_mutex_lock(&call->lock);
    bool last = --call->references == 0;
    (void)pthread_mutex_unlock(&call->lock);
    if (last) free_call(call);
}

static void on_finished(void *owner, bool ok) {
    (void)ok;
    release(owner);
}

static void on_closed(void *owner, bool ok) {
    struct cz_rpc_call *call = owner;
    (void)pthread_mutex_lock(&call->lock);
    call->cancelled = !ok || call->close_flag;
    void (*fn)(void *) = call->cancelled && !call->done ? call->cancel_fn : NULL;
    call->cancel_fn = NULL;
    (void)pthread_mutex_unlock(&call->lock);
    if (fn) fn(call->cancel_ctx);
    release(call);
}

/* grpc.health.v1: a server that runs serves; the request's one field names the service, or is absent. */
static void answer_health(struct cz_rpc_call *call) {
    static const uint8_t serving[] = {0x08, 0x01};
    const struct cz_rpc_server *server = call->server;
    bool known = call->len == 0;
    if (call->len >= 2 && call->request[0] == 0x0a && call->request[1] == call->len - 2) {
        size_t n = call->len - 2;
        for (size_t i = 0; i < server->n_methods && !known; i++) {
            const char *path = server->method[i].path;
            known =
                n == 0 || (strlen(path) > n + 1 && memcmp(path + 1, call->request + 2, n) == 0 && path[n + 1] == '/');
        }
    }
    if (known)
        cz_rpc_call_finish(call, CZ_RPC_OK, NULL, serving, sizeof serving);
    else
        cz_rpc_call_finish(call, CZ_RPC_NOT_FOUND, "no such service", NULL, 0);
}

static bool path_is(grpc_slice path, const char *text) {
    size_t n = strlen(text);
    return GRPC_SLICE_LENGTH(path) == n && memcmp(GRPC_SLICE_START_PTR(path), text, n) == 0;
}

/* False when so many bytes do not fit beside the others' in flight. */
static bool count_request(struct cz_rpc_call *call, size_t len) {
    struct cz_rpc_server *server = call->server;
    (void)pthread_mutex_lock(&server->lock);
    bool fits = len <= server->max_in_flight - server->in_flight;
    if (fits) {
        server->in_flight += len;
        server->trim |= len >= BIG_REQUEST;
        call->counted = len;
    }
    (void)pthread_mutex_unlock(&server->lock);
    return fits;
}

/*
 * Frees the request, unless it was taken. After big ones the memory goes back to the system; what is free at the end of
 * an arena follows M_TRIM_THRESHOLD, which is the program's to set.
 */
static void drop_request(struct cz_rpc_call *call) {
    struct cz_rpc_server *server = call->server;
    cz_free(call->request);
    call->request = NULL;
    (void)pthread_mutex_lock(&server->lock);
    server->in_flight -= call->counted;
    bool trim = server->trim && server->in_flight == 0;
    if (trim) server->trim = false;
    (void)pthread_mutex_unlock(&server->lock);
    call->counted = 0;
    if (trim) (void)malloc_trim(0);
}

void cz_rpc_call_handle(struct cz_rpc_call *call) {
    call->method->handler(call->server->ctx, call, call->request, call->len);
    drop_request(call);
    release(call);
}

/* A slow call goes to the list, which takes over the message's reference. */
static void enqueue_slow(struct cz_rpc_call *call) {
    struct cz_rpc_server *server = call->server;
    (void)pthread_mutex_lock(&server->lock);
    if (server->slow_last)
        server->slow_last->next = call;
    else
        server->slow_first = call;
    server->slow_last = call;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static void on_received(void *owner, bool ok) {
    struct cz_rpc_call *call = owner;
    const struct cz_rpc_server *server = call->server;
    grpc_byte_buffer *message = call->message;
    bool there = ok && message;
    call->message = NULL;
    if (!ok || !message) {
        /* Cancelled, or ended without a message, or one over the limit: gRPC's own status wins where there is one. */
        cz_rpc_call_finish(call, CZ_RPC_INVALID_ARGUMENT, "the call has no request message", NULL, 0);
    } else if (!count_request(call, grpc_byte_buffer_length(message))) {
        cz_rpc_call_finish(call, CZ_RPC_RESOURCE_EXHAUSTED, "too many large requests at a time: try again", NULL, 0);
        there = false;
    } else if (!cz_rpc_library_gather(&call->request, &call->len, message)) {
        cz_rpc_call_finish(call, CZ_RPC_RESOURCE_EXHAUSTED, "no memory for the request", NULL, 0);
        there = false;
    } else {
        for (size_t i = 0; i < server->n_methods && !call->method; i++) {
            if (path_is(call->details.method, server->method[i].path)) call->method = &server->method[i];
        }
    }
    if (message) grpc_byte_buffer_destroy(message); /* before the handler: the bytes are there only once */
    if (call->method) {
        if (call->method->slow)
            enqueue_slow(call);
        else
            cz_rpc_call_handle(call);
        return;
    }
    if (there && path_is(call->details.method, "/grpc.health.v1.Health/Check"))
        answer_health(call);
    else if (there)
        cz_rpc_call_finish(call, CZ_RPC_UNIMPLEMENTED, "unknown method", NULL, 0);
    drop_request(call);
    release(call);
}

static void on_begun(void *owner, bool ok) {
    struct cz_rpc_call *call = owner;
    struct cz_rpc_server *server = call->server;
    if (!ok) {
        free_call(call); /* the server shuts down */
        return;
    }
    (void)pthread_mutex_lock(&server->lock);
    server->live++;
    (void)pthread_mutex_unlock(&server->lock);
    (void)cz_rpc_call_wait(server);

    call->references = 3;
    grpc_op closed = {.op = GRPC_OP_RECV_CLOSE_ON_SERVER, .data.recv_close_on_server.cancelled = &call->close_flag};
    if (grpc_call_start_batch(call->core, &closed, 1, &call->closed, NULL) != GRPC_CALL_OK) release(call);
    grpc_op received = {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = &call->message};
    if (grpc_call_start_batch(call->core, &received, 1, &call->received, NULL) != GRPC_CALL_OK)
        on_received(call, false);
}

bool cz_rpc_call_wait(struct cz_rpc_server *server) {
    struct cz_rpc_call *call = cz_calloc(1, sizeof *call);
    if (!call) return false;
    call->server = server;
    call->begun = (struct cz_rpc_tag){on_begun, call};
    call->received = (struct cz_rpc_tag){on_received, call};
    call->closed = (struct cz_rpc_tag){on_closed, call};
    call->finished = (struct cz_rpc_tag){on_finished, call};
    call->details_sent = grpc_empty_slice();
    (void)pthread_mutex_init(&call->lock, NULL);
    grpc_call_details_init(&call->details);
    grpc_metadata_array_init(&call->metadata);
    if (grpc_server_request_call(server->core, &call->core, &call->details, &call->metadata, server->cq, server->cq,
                                 &call->begun) == GRPC_CALL_OK) {
        return true;
    }
    call->core = NULL;
    free_call(call);
    return false;
}

void cz_rpc_call_finish(struct cz_rpc_call *call, enum cz_rpc_code code, const char *message, const void *response,
                        size_t len) {
    (void)pthread_mutex_lock(&call->lock);
    bool twice = call->done;
    call->done = true;
    if (!twice) call->cancel_fn = NULL;
    (void)pthread_mutex_unlock(&call->lock);
    if (twice) return;

    grpc_op ops[3] = {{.op = GRPC_OP_SEND_INITIAL_METADATA}, {.op = GRPC_OP_SEND_STATUS_FROM_SERVER}};
    size_t n = 2;
    if (code != CZ_RPC_OK && message) {
        call->details_sent = grpc_slice_from_copied_buffer(message, strnlen(message, MAX_MESSAGE));
    }
    ops[1].data.send_status_from_server.status = (grpc_status_code)code;
    ops[1].data.send_status_from_server.status_details = &call->details_sent;
    grpc_byte_buffer *reply = NULL;
    if (code == CZ_RPC_OK) {
        grpc_slice slice = grpc_slice_from_copied_buffer(response, len);
        reply = grpc_raw_byte_buffer_create(&slice, 1);
        grpc_slice_unref(slice);
        ops[n++] = (grpc_op){.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = reply};
    }
    bool started = grpc_call_start_batch(call->core, ops, n, &call->finished, NULL) == GRPC_CALL_OK;
    if (reply) grpc_byte_buffer_destroy(reply);
    if (!started) release(call);
}

uint8_t *cz_rpc_call_take_request(struct cz_rpc_call *call) {
    uint8_t *request = call->request;
    call->request = NULL;
    return request;
}

bool cz_rpc_call_cancelled(struct cz_rpc_call *call) {
    (void)pthread_mutex_lock(&call->lock);
    bool cancelled = call->cancelled;
    (void)pthread_mutex_unlock(&call->lock);
    return cancelled;
}

int64_t cz_rpc_call_remaining_ms(struct cz_rpc_call *call) {
    if (cz_rpc_call_cancelled(call)) return 0; /* perhaps a little before the deadline: the client's clock ended it */
    gpr_timespec deadline = call->details.deadline;
    if (gpr_time_cmp(deadline, gpr_inf_future(deadline.clock_type)) == 0) return INT64_MAX;
    gpr_timespec left = gpr_time_sub(deadline, gpr_now(deadline.clock_type));
    double ms = gpr_timespec_to_micros(left) / 1000;
    return ms <= 0 ? 0 : ms > 9e18 ? INT64_MAX : (int64_t)ms;
}

void cz_rpc_call_on_cancel(struct cz_rpc_call *call, void (*fn)(void *ctx), void (*release_ctx)(void *ctx), void *ctx) {
    (void)pthread_mutex_lock(&call->lock);
    call->references++; /* fn may finish the call */
    call->cancel_ctx = ctx;
    call->cancel_release = release_ctx;
    bool now = call->cancelled;
    if (!now) call->cancel_fn = fn;
    (void)pthread_mutex_unlock(&call->lock);
    if (now) fn(ctx);
    release(call);
}

const char *cz_rpc_call_peer(struct cz_rpc_call *call) {
    if (!call->peer) call->peer = grpc_call_get_peer(call->core);
    return call->peer ? call->peer : "";
}
