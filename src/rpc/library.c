#include "rpc/library_int.h"

#include "base/bytes.h"

#include <grpc/byte_buffer_reader.h>
#include <grpc/support/log.h>

static void drop_log(gpr_log_func_args *args) {
    (void)args;
}

void cz_rpc_library_init(void) {
    const char *verbosity = getenv("GRPC_VERBOSITY");
    if (!verbosity || !*verbosity) gpr_set_log_function(drop_log);
    grpc_init();
}

void cz_rpc_library_done(void) {
    grpc_shutdown();
}

grpc_arg cz_rpc_library_arg(const char *key, int value) {
    return (grpc_arg){.type = GRPC_ARG_INTEGER, .key = (char *)key, .value.integer = value};
}

bool cz_rpc_library_gather(uint8_t **out, size_t *len, grpc_byte_buffer *buffer) {
    *out = NULL;
    *len = 0;
    grpc_byte_buffer_reader reader;
    if (!buffer || !grpc_byte_buffer_reader_init(&reader, buffer)) return false;
    size_t size = grpc_byte_buffer_length(reader.buffer_out), at = 0;
    uint8_t *bytes = size ? cz_malloc_array(size, 1) : NULL;
    bool ok = bytes || size == 0;
    grpc_slice *slice;
    while (ok && grpc_byte_buffer_reader_peek(&reader, &slice)) {
        size_t n = GRPC_SLICE_LENGTH(*slice);
        if (n > size - at) n = size - at;
        if (n) memcpy(bytes + at, GRPC_SLICE_START_PTR(*slice), n);
        at += n;
    }
    grpc_byte_buffer_reader_destroy(&reader);
    if (!ok || at != size) {
        cz_free(bytes);
        return false;
    }
    *out = bytes;
    *len = size;
    return true;
}

void cz_rpc_library_text(char *out, size_t size, grpc_slice slice) {
    size_t n = GRPC_SLICE_LENGTH(slice);
    if (n > size - 1) n = size - 1;
    memcpy(out, GRPC_SLICE_START_PTR(slice), n);
    out[n] = 0;
}
