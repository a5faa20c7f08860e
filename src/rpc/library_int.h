#ifndef CUZK_RPC_LIBRARY_INT_H
#define CUZK_RPC_LIBRARY_INT_H

/* What server and client share of gRPC's C core. */

#include <grpc/byte_buffer.h>
#include <grpc/grpc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** grpc_init, with gRPC's own log silenced unless GRPC_VERBOSITY is set: libraries do not log. */
void cz_rpc_library_init(void);
void cz_rpc_library_done(void);

/**
 * The buffer's bytes in one new piece (cz_free). *out is NULL when there are none. False without memory, or when the
 * buffer cannot be decompressed.
 */
bool cz_rpc_library_gather(uint8_t **out, size_t *len, grpc_byte_buffer *buffer);

/** A channel argument; `key` is not written to. */
grpc_arg cz_rpc_library_arg(const char *key, int value);

/** Copies at most size - 1 bytes of the slice and a NUL. */
void cz_rpc_library_text(char *out, size_t size, grpc_slice slice);

#endif
