#ifndef CUZK_RPC_CODE_H
#define CUZK_RPC_CODE_H

/* The gRPC status codes (statuscodes.md of the gRPC project), so that no one but this folder needs gRPC's headers. */

#include "base/status.h"

enum cz_rpc_code {
    CZ_RPC_OK = 0,
    CZ_RPC_CANCELLED = 1,
    CZ_RPC_UNKNOWN = 2,
    CZ_RPC_INVALID_ARGUMENT = 3,
    CZ_RPC_DEADLINE_EXCEEDED = 4,
    CZ_RPC_NOT_FOUND = 5,
    CZ_RPC_ALREADY_EXISTS = 6,
    CZ_RPC_PERMISSION_DENIED = 7,
    CZ_RPC_RESOURCE_EXHAUSTED = 8,
    CZ_RPC_FAILED_PRECONDITION = 9,
    CZ_RPC_ABORTED = 10,
    CZ_RPC_OUT_OF_RANGE = 11,
    CZ_RPC_UNIMPLEMENTED = 12,
    CZ_RPC_INTERNAL = 13,
    CZ_RPC_UNAVAILABLE = 14,
    CZ_RPC_DATA_LOSS = 15,
    CZ_RPC_UNAUTHENTICATED = 16
};

/** The upper-case name of the code ("INVALID_ARGUMENT"); "UNKNOWN" for numbers outside the table. Never NULL. */
const char *cz_rpc_code_text(enum cz_rpc_code code);

/**
 * The code that a call ends with for `status`: bad input is INVALID_ARGUMENT (NOT_FOUND and ALREADY_EXISTS keep their
 * own; CZ_ERR_UNSUPPORTED is UNIMPLEMENTED), a full queue or budget RESOURCE_EXHAUSTED, shutdown UNAVAILABLE, and so
 * on.
 */
enum cz_rpc_code cz_rpc_code_of_status(enum cz_status status);

#endif
