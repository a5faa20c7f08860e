#include "rpc/code.h"

#include <stddef.h>

const char *cz_rpc_code_text(enum cz_rpc_code code) {
    static const char *const text[] = {
        "OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
        "NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
        "ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
        "DATA_LOSS", "UNAUTHENTICATED",
    };
    return (size_t)code < sizeof text / sizeof text[0] ? text[code] : "UNKNOWN";
}

enum cz_rpc_code cz_rpc_code_of_status(enum cz_status status) {
    switch (status) {
    case CZ_OK:
        return CZ_RPC_OK;
    case CZ_ERR_NOT_FOUND:
        return CZ_RPC_NOT_FOUND;
    case CZ_ERR_EXISTS:
        return CZ_RPC_ALREADY_EXISTS;
    case CZ_ERR_UNSUPPORTED:
        return CZ_RPC_UNIMPLEMENTED;
    case CZ_ERR_FULL:
    case CZ_ERR_BUDGET:
    case CZ_ERR_MEMORY:
        return CZ_RPC_RESOURCE_EXHAUSTED;
    case CZ_ERR_SHUTDOWN:
    case CZ_ERR_NETWORK:
        return CZ_RPC_UNAVAILABLE;
    case CZ_ERR_CANCELLED:
        return CZ_RPC_CANCELLED;
    case CZ_ERR_TIMEOUT:
        return CZ_RPC_DEADLINE_EXCEEDED;
    default:
        return cz_status_class(status) == CZ_CLASS_BAD_INPUT ? CZ_RPC_INVALID_ARGUMENT : CZ_RPC_INTERNAL;
    }
}
