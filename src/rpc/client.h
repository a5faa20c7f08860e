#ifndef CUZK_RPC_CLIENT_H
#define CUZK_RPC_CLIENT_H

/* Blocking unary gRPC calls, without encryption. One client may be used by many threads at once. */

#include "base/status.h"
#include "rpc/code.h"

#include <stddef.h>
#include <stdint.h>

struct cz_rpc_client;

/** The answer: a gRPC status, its text, and with CZ_RPC_OK the reply's bytes. */
struct cz_rpc_reply {
    enum cz_rpc_code code;
    char message[512];
    uint8_t *data; /**< NULL when empty */
    size_t len;
};

/**
 * `address`: "http://host:port", "host:port" or "unix:///path". CZ_ERR_ARGUMENT names what is wrong with it. Connects
 * with the first call. max_message: bytes, 0: 256 MiB.
 */
CZ_MUST_CHECK enum cz_status cz_rpc_client_create(struct cz_rpc_client **out, const char *address, size_t max_message,
                                                  struct cz_error *err);
/** Accepts NULL. */
void cz_rpc_client_destroy(struct cz_rpc_client *client);

/**
 * Calls `method` ("/cuzk.v1.ProvingEngine/Prove") and waits for its end, at most timeout_ms (0: for ever). CZ_OK means
 * that there is a reply, which may hold a gRPC error; the caller ends it with cz_rpc_reply_done. `request` is borrowed.
 */
CZ_MUST_CHECK enum cz_status cz_rpc_client_call(struct cz_rpc_client *client, const char *method, const void *request,
                                                size_t len, uint64_t timeout_ms, struct cz_rpc_reply *reply,
                                                struct cz_error *err);

/** Frees the reply's bytes and zeroes it. Accepts a zeroed one. */
void cz_rpc_reply_done(struct cz_rpc_reply *reply);

#endif
