#ifndef CUZK_RPC_ADDRESS_INT_H
#define CUZK_RPC_ADDRESS_INT_H

/* Addresses as people write them, and what stands behind one before a server binds it. */

#include "base/status.h"

#include <stddef.h>

/* sun_path of Linux, with its NUL. */
#define CZ_RPC_SOCKET_PATH_BYTES 108

struct cz_rpc_address {
    char target[300];                    /* what gRPC takes: "unix:/path", "host:port" */
    char path[CZ_RPC_SOCKET_PATH_BYTES]; /* of a Unix socket, or "" */
    char host[256];                      /* without brackets; "" for a Unix socket */
    char port[6];
};

/** "unix:///path", "unix:path", "host:port", "[ipv6]:port", each of the TCP forms also after "http://". */
CZ_MUST_CHECK enum cz_status cz_rpc_address_parse(struct cz_rpc_address *out, const char *text, struct cz_error *err);

/**
 * CZ_OK when a server can bind the address; a socket file that no one listens on is removed. gRPC itself would take a
 * live server's socket away from it, and says of a port only that it failed.
 */
CZ_MUST_CHECK enum cz_status cz_rpc_address_probe(const struct cz_rpc_address *address, struct cz_error *err);

#endif
