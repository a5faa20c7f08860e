#ifndef CUZK_RPC_SERVER_H
#define CUZK_RPC_SERVER_H

/*
 * A gRPC server of unary calls over TCP and Unix sockets, without encryption. A handler gets the bytes of the request
 * and answers at once or later, from any thread. Messages: rpc/messages.h.
 */

#include "base/status.h"
#include "rpc/code.h"

#include <stddef.h>
#include <stdint.h>

#define CZ_RPC_MAX_MESSAGE ((size_t)256 << 20)
#define CZ_RPC_MAX_IN_FLIGHT ((size_t)1 << 30)

struct cz_rpc_server;
struct cz_rpc_call;

/**
 * One call. Runs on a server thread and should return soon, for other calls wait for the thread; a method that may take
 * long is marked `slow` and runs on threads of its own, so that it never holds up the quick ones.
 * `request` is valid until the handler returns (cz_rpc_call_take_request keeps it). The handler, or whoever it hands
 * the call to, ends it with exactly one cz_rpc_call_finish.
 */
typedef void cz_rpc_handler(void *ctx, struct cz_rpc_call *call, const uint8_t *request, size_t len);

struct cz_rpc_method {
    const char *path; /**< "/cuzk.v1.ProvingEngine/Prove"; borrowed for the life of the server */
    cz_rpc_handler *handler;
    bool slow;
};

struct cz_rpc_server_options {
    /** "unix:///absolute/path.sock", "host:port", "[ipv6]:port" or "http://host:port"; port 0 picks a free one. */
    const char *const *listen;
    size_t n_listen; /**< 0: one listener, CZ_RPC_DEFAULT_LISTEN */
    const struct cz_rpc_method *methods;
    size_t n_methods;   /**< any other method is answered UNIMPLEMENTED */
    void *ctx;          /**< for the handlers */
    size_t max_message; /**< bytes, both ways; 0: CZ_RPC_MAX_MESSAGE */
    /**
     * Bytes of all requests that wait for a handler or are in one, at least max_message; 0: CZ_RPC_MAX_IN_FLIGHT. A
     * request beyond it is answered RESOURCE_EXHAUSTED at once.
     */
    size_t max_in_flight;
    unsigned threads;      /**< that serve the sockets and run the quick handlers; 0: 2 */
    unsigned slow_threads; /**< that run the slow ones; 0: 4 */
};

#define CZ_RPC_DEFAULT_LISTEN "127.0.0.1:9820"

/**
 * Binds every address and starts to serve; also answers grpc.health.v1.Health/Check with SERVING. A Unix socket file
 * that no one listens on is removed and reused; one with a live server behind it, and a TCP port in use, is
 * CZ_ERR_EXISTS ("… is in use"). A malformed address is CZ_ERR_ARGUMENT. On failure nothing is left running.
 */
CZ_MUST_CHECK enum cz_status cz_rpc_server_create(struct cz_rpc_server **out,
                                                  const struct cz_rpc_server_options *options, struct cz_error *err);

/** Whether text is an address that a server can listen on, by its form: CZ_OK or CZ_ERR_ARGUMENT. */
CZ_MUST_CHECK enum cz_status cz_rpc_server_check_address(const char *text, struct cz_error *err);

/** The TCP port bound for listen[i] (that was picked, when 0 was asked); 0 for a Unix socket. */
unsigned cz_rpc_server_port(const struct cz_rpc_server *server, size_t i);

/**
 * Refuses new connections and calls, and waits up to timeout_ms (UINT64_MAX: for ever) for the calls under way to be
 * finished. CZ_ERR_TIMEOUT when some were not: they go on. May be called again; not from a handler.
 */
CZ_MUST_CHECK enum cz_status cz_rpc_server_shutdown(struct cz_rpc_server *server, uint64_t timeout_ms);

/** Cancels every call under way (their on_cancel callbacks run); each must still be finished. From any thread. */
void cz_rpc_server_cancel_all(struct cz_rpc_server *server);

/**
 * Shutdown, cancel_all, waits until every call is finished, ends the threads and removes the socket files. Accepts
 * NULL. Not from a handler.
 */
void cz_rpc_server_destroy(struct cz_rpc_server *server);

/**
 * Ends the call, from any thread; `call` is gone afterwards. With CZ_RPC_OK the reply is `len` bytes at `response`
 * (copied; may be NULL when len is 0) and `message` is ignored; otherwise the status has the text `message` (copied,
 * may be NULL). Harmless when the client has gone away.
 */
void cz_rpc_call_finish(struct cz_rpc_call *call, enum cz_rpc_code code, const char *message, const void *response,
                        size_t len);

/**
 * The request's bytes pass to the caller, who frees them with cz_free; they no longer count as in flight once the
 * handler has returned. Once, in the handler; NULL for an empty one.
 */
uint8_t *cz_rpc_call_take_request(struct cz_rpc_call *call);

/** True when the client has gone away, cancelled, or its deadline has passed. */
bool cz_rpc_call_cancelled(struct cz_rpc_call *call);

/** Milliseconds until the client's deadline: 0 when it has passed or for a cancelled call, INT64_MAX when it set none.
 */
int64_t cz_rpc_call_remaining_ms(struct cz_rpc_call *call);

/**
 * Asks for fn(ctx) once if the call is cancelled before it is finished; at once, on the calling thread, when it is
 * already. fn runs on a server thread with no lock held, and may finish the call. It may run while another thread
 * finishes the call; ctx is therefore kept until `release` (may be NULL) is called with it, exactly once, when fn can
 * run no more. At most one registration a call, before cz_rpc_call_finish.
 */
void cz_rpc_call_on_cancel(struct cz_rpc_call *call, void (*fn)(void *ctx), void (*release)(void *ctx), void *ctx);

/** The peer's address as gRPC writes it ("ipv4:127.0.0.1:5021", "unix:"). Borrowed from the call. */
const char *cz_rpc_call_peer(struct cz_rpc_call *call);

#endif
