#include "rpc/server_int.h"

#include "base/bytes.h"
#include "base/time.h"

#include <errno.h>
#include <grpc/grpc_security.h>
#include <unistd.h>

/* Calls that gRPC may begin without waiting for us. */
#define WAITING_CALLS 32

static void *serve(void *arg) {
    struct cz_rpc_server *server = arg;
    for (;;) {
        grpc_event event = grpc_completion_queue_next(server->cq, gpr_inf_future(GPR_CLOCK_MONOTONIC), NULL);
        if (event.type == GRPC_QUEUE_SHUTDOWN) return NULL;
        const struct cz_rpc_tag *tag = event.tag;
        if (event.type == GRPC_OP_COMPLETE) tag->fn(tag->owner, event.success);
    }
}

static void *serve_slow(void *arg) {
    struct cz_rpc_server *server = arg;
    (void)pthread_mutex_lock(&server->lock);
    for (;;) {
        struct cz_rpc_call *call = server->slow_first;
        if (call) {
            server->slow_first = call->next;
            if (!call->next) server->slow_last = NULL;
            (void)pthread_mutex_unlock(&server->lock);
            cz_rpc_call_handle(call);
            (void)pthread_mutex_lock(&server->lock);
        } else if (server->stop_slow) {
            break;
        } else {
            (void)pthread_cond_wait(&server->changed, &server->lock);
        }
    }
    (void)pthread_mutex_unlock(&server->lock);
    return NULL;
}

static void on_shut(void *owner, bool ok) {
    (void)ok;
    struct cz_rpc_server *server = owner;
    (void)pthread_mutex_lock(&server->lock);
    server->shut = true;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
}

static void start_shutdown(struct cz_rpc_server *server) {
    (void)pthread_mutex_lock(&server->lock);
    bool first = !server->shutting;
    server->shutting = true;
    (void)pthread_mutex_unlock(&server->lock);
    if (first) grpc_server_shutdown_and_notify(server->core, server->cq, &server->shutdown_tag);
}

enum cz_status cz_rpc_server_shutdown(struct cz_rpc_server *server, uint64_t timeout_ms) {
    start_shutdown(server);
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    bool forever = timeout_ms > (uint64_t)INT32_MAX * 1000;
    if (!forever) {
        uint64_t ns = (uint64_t)until.tv_nsec + timeout_ms % 1000 * 1000000;
        until.tv_sec += (time_t)(timeout_ms / 1000 + ns / 1000000000);
        until.tv_nsec = (long)(ns % 1000000000);
    }
    int rc = 0;
    (void)pthread_mutex_lock(&server->lock);
    while (!(server->shut && server->live == 0) && rc != ETIMEDOUT) {
        rc = forever ? pthread_cond_wait(&server->changed, &server->lock)
                     : pthread_cond_timedwait(&server->changed, &server->lock, &until);
    }
    bool done = server->shut && server->live == 0;
    (void)pthread_mutex_unlock(&server->lock);
    return done ? CZ_OK : CZ_ERR_TIMEOUT;
}

void cz_rpc_server_cancel_all(struct cz_rpc_server *server) {
    start_shutdown(server);
    grpc_server_cancel_all_calls(server->core);
}

static void free_server(struct cz_rpc_server *server) {
    if (server->core) grpc_server_destroy(server->core);
    if (server->cq) grpc_completion_queue_destroy(server->cq);
    for (size_t i = 0; i < server->n_listeners; i++) {
        const struct cz_rpc_listener *l = &server->listener[i];
        if (l->port && l->address.path[0]) (void)unlink(l->address.path);
    }
    (void)pthread_mutex_destroy(&server->lock);
    (void)pthread_cond_destroy(&server->changed);
    cz_free(server->listener);
    cz_free(server->method);
    cz_free(server->thread);
    cz_free(server);
    cz_rpc_library_done();
}

/* Ends `serving` threads of the queue and `slow` of the others, after the last call. */
static void end_threads(struct cz_rpc_server *server, unsigned serving, unsigned slow) {
    (void)pthread_mutex_lock(&server->lock);
    server->stop_slow = true;
    (void)pthread_cond_broadcast(&server->changed);
    (void)pthread_mutex_unlock(&server->lock);
    grpc_completion_queue_shutdown(server->cq);
    if (serving == 0) (void)serve(server);
    for (unsigned i = 0; i < serving; i++) (void)pthread_join(server->thread[i], NULL);
    for (unsigned i = 0; i < slow; i++) (void)pthread_join(server->thread[server->n_threads + i], NULL);
}

void cz_rpc_server_destroy(struct cz_rpc_server *server) {
    if (!server) return;
    if (cz_rpc_server_shutdown(server, 0) != CZ_OK) {
        cz_rpc_server_cancel_all(server);
        enum cz_status status = cz_rpc_server_shutdown(server, UINT64_MAX);
        (void)status;
    }
    end_threads(server, server->n_threads, server->n_slow);
    free_server(server);
}

static grpc_server *create_core(size_t max_message) {
    /* Clients keep channels open for hours and may ping as often as they like; a dead peer is noticed in 80 s. */
    grpc_arg args[] = {
        cz_rpc_library_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)max_message),
        cz_rpc_library_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, (int)max_message),
        cz_rpc_library_arg(GRPC_ARG_ALLOW_REUSEPORT, 0),
        cz_rpc_library_arg(GRPC_ARG_MAX_CONCURRENT_STREAMS, 4096),
        cz_rpc_library_arg(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000),
        cz_rpc_library_arg(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0),
        cz_rpc_library_arg(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1),
        cz_rpc_library_arg(GRPC_ARG_KEEPALIVE_TIME_MS, 60000),
        cz_rpc_library_arg(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, 20000),
    };
    grpc_channel_args list = {.num_args = sizeof args / sizeof args[0], .args = args};
    return grpc_server_create(&list, NULL);
}

static enum cz_status bind_all(struct cz_rpc_server *server, const char *const *listen, struct cz_error *err) {
    enum cz_status status = CZ_OK;
    grpc_server_credentials *credentials = grpc_insecure_server_credentials_create();
    for (size_t i = 0; i < server->n_listeners && status == CZ_OK; i++) {
        struct cz_rpc_listener *l = &server->listener[i];
        status = cz_rpc_address_parse(&l->address, listen[i], err);
        if (status == CZ_OK) status = cz_rpc_address_probe(&l->address, err);
        if (status != CZ_OK) break;
        int port = grpc_server_add_http2_port(server->core, l->address.target, credentials);
        if (port <= 0)
            status = cz_error_set(err, CZ_ERR_NETWORK, "address %s cannot be bound", l->address.target);
        else
            l->port = (unsigned)port;
    }
    grpc_server_credentials_release(credentials);
    return status;
}

static enum cz_status start_threads(struct cz_rpc_server *server, struct cz_error *err) {
    unsigned serving = 0, slow = 0;
    while (serving < server->n_threads && pthread_create(&server->thread[serving], NULL, serve, server) == 0) serving++;
    while (serving == server->n_threads && slow < server->n_slow &&
           pthread_create(&server->thread[serving + slow], NULL, serve_slow, server) == 0) {
        slow++;
    }
    if (serving == server->n_threads && slow == server->n_slow) return CZ_OK;
    start_shutdown(server);
    grpc_server_cancel_all_calls(server->core);
    end_threads(server, serving, slow);
    return cz_error_set(err, CZ_ERR_MEMORY, "the server's threads cannot be started");
}

enum cz_status cz_rpc_server_create(struct cz_rpc_server **out, const struct cz_rpc_server_options *options,
                                    struct cz_error *err) {
    static const char *const default_listen[] = {CZ_RPC_DEFAULT_LISTEN};
    const char *const *listen = options->n_listen ? options->listen : default_listen;
    size_t max_message = options->max_message ? options->max_message : CZ_RPC_MAX_MESSAGE;
    if (max_message > INT32_MAX) return cz_error_set(err, CZ_ERR_ARGUMENT, "messages have at most 2 GiB");
    struct cz_rpc_server *server = cz_calloc(1, sizeof *server);
    if (!server) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for a server");
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&server->changed, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&server->lock, NULL);
    cz_rpc_library_init();
    server->ctx = options->ctx;
    server->max_in_flight = options->max_in_flight ? options->max_in_flight : CZ_RPC_MAX_IN_FLIGHT;
    if (server->max_in_flight < max_message) server->max_in_flight = max_message;
    server->n_threads = options->threads ? options->threads : 2;
    server->n_slow = options->slow_threads ? options->slow_threads : 4;
    server->shutdown_tag = (struct cz_rpc_tag){on_shut, server};
    server->n_listeners = options->n_listen ? options->n_listen : 1;
    server->n_methods = options->n_methods;
    server->listener = cz_calloc(server->n_listeners, sizeof *server->listener);
    server->method = cz_calloc(server->n_methods + 1, sizeof *server->method);
    server->thread = cz_calloc(server->n_threads + server->n_slow, sizeof *server->thread);
    enum cz_status status = CZ_OK;
    if (!server->listener || !server->method || !server->thread) {
        server->n_listeners = 0;
        status = cz_error_set(err, CZ_ERR_MEMORY, "no memory for a server");
        free_server(server);
        return status;
    }
    for (size_t i = 0; i < server->n_methods; i++) server->method[i] = options->methods[i];
    server->core = create_core(max_message);
    server->cq = grpc_completion_queue_create_for_next(NULL);
    grpc_server_register_completion_queue(server->core, server->cq, NULL);
    status = bind_all(server, listen, err);
    /* gRPC ends a server only after its start: from here on every way out goes by the threads' end. */
    grpc_server_start(server->core);
    if (status != CZ_OK) {
        start_shutdown(server);
        end_threads(server, 0, 0);
        free_server(server);
        return status;
    }
    for (int i = 0; i < WAITING_CALLS; i++) (void)cz_rpc_call_wait(server);
    status = start_threads(server, err);
    if (status != CZ_OK) {
        free_server(server);
        return status;
    }
    *out = server;
    return CZ_OK;
}

enum cz_status cz_rpc_server_check_address(const char *text, struct cz_error *err) {
    struct cz_rpc_address address;
    return cz_rpc_address_parse(&address, text, err);
}

unsigned cz_rpc_server_port(const struct cz_rpc_server *server, size_t i) {
    if (i >= server->n_listeners || server->listener[i].address.path[0]) return 0;
    return server->listener[i].port;
}
