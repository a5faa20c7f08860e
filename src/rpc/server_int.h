#ifndef CUZK_RPC_SERVER_INT_H
#define CUZK_RPC_SERVER_INT_H

/* What server.c and call.c share: the server's state and a call's way through it. */

#include "rpc/address_int.h"
#include "rpc/library_int.h"
#include "rpc/server.h"

#include <pthread.h>

/* What a completion means: the queue hands back the tag's address. */
struct cz_rpc_tag {
    void (*fn)(void *owner, bool ok);
    void *owner;
};

struct cz_rpc_listener {
    struct cz_rpc_address address;
    unsigned port; /* bound; 0 for a Unix socket */
};

struct cz_rpc_server {
    grpc_server *core;
    grpc_completion_queue *cq;
    struct cz_rpc_listener *listener;
    size_t n_listeners;
    struct cz_rpc_method *method;
    size_t n_methods;
    void *ctx;
    size_t max_in_flight;
    unsigned n_threads, n_slow;
    pthread_t *thread; /* n_threads that serve the queue, then n_slow */

    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t changed;
    struct cz_rpc_call *slow_first, *slow_last;
    size_t in_flight; /* bytes of requests that wait or are handled */
    bool trim;        /* there was a big one since in_flight was 0 */
    size_t live;      /* calls that clients have begun and that are not freed */
    bool shutting;    /* gRPC was told to shut down */
    bool shut;        /* and has answered */
    bool stop_slow;   /* the slow threads end when their list is empty */
    struct cz_rpc_tag shutdown_tag;
};

/*
 * A call is waited for (wait), begins, its message arrives (received), a handler runs, it is finished. That it was
 * closed is told separately, at any time after it began. It is freed with its last reference; one each is held by
 * the message's and the close's completion, and one by the handler until the finish has completed.
 */
struct cz_rpc_call {
    struct cz_rpc_server *server;
    grpc_call *core;
    grpc_call_details details;
    grpc_metadata_array metadata;
    grpc_byte_buffer *message;
    int close_flag;
    struct cz_rpc_tag begun, received, closed, finished;

    uint8_t *request;
    size_t len;
    size_t counted; /* its part of the server's in_flight */
    const struct cz_rpc_method *method;
    struct cz_rpc_call *next; /* in the list of the slow */
    char *peer;
    grpc_slice details_sent;

    pthread_mutex_t lock; /* over what follows */
    unsigned references;
    bool cancelled, done; /* done: cz_rpc_call_finish was called */
    void (*cancel_fn)(void *);
    void (*cancel_release)(void *);
    void *cancel_ctx;
};

/** Asks gRPC for the next call. False when the server shuts down or without memory. */
bool cz_rpc_call_wait(struct cz_rpc_server *server);

/** Runs the handler of a call whose message is there, and drops the reference of the message. */
void cz_rpc_call_handle(struct cz_rpc_call *call);

#endif
