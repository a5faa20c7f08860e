#include "rpc/client.h"

#include "base/bytes.h"
#include "rpc/address_int.h"
#include "rpc/library_int.h"
#include "rpc/server.h"

#include <grpc/grpc_security.h>
#include <grpc/support/time.h>

struct cz_rpc_client {
    grpc_channel *channel;
};

enum cz_status cz_rpc_client_create(struct cz_rpc_client **out, const char *address, size_t max_message,
                                    struct cz_error *err) {
    struct cz_rpc_address parsed;
    enum cz_status status = cz_rpc_address_parse(&parsed, address, err);
    if (status != CZ_OK) return status;
    if (max_message == 0 || max_message > INT32_MAX) max_message = CZ_RPC_MAX_MESSAGE;
    struct cz_rpc_client *client = cz_calloc(1, sizeof *client);
    if (!client) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for a client");
    cz_rpc_library_init();
    /* A proxy of the environment is not for a daemon that is named by its address. */
    grpc_arg args[] = {
        cz_rpc_library_arg(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, (int)max_message),
        cz_rpc_library_arg(GRPC_ARG_MAX_SEND_MESSAGE_LENGTH, (int)max_message),
        cz_rpc_library_arg(GRPC_ARG_ENABLE_HTTP_PROXY, 0),
    };
    grpc_channel_args list = {.num_args = sizeof args / sizeof args[0], .args = args};
    grpc_channel_credentials *credentials = grpc_insecure_credentials_create();
    client->channel = grpc_channel_create(parsed.target, credentials, &list);
    grpc_channel_credentials_release(credentials);
    *out = client;
    return CZ_OK;
}

void cz_rpc_client_destroy(struct cz_rpc_client *client) {
    if (!client) return;
    grpc_channel_destroy(client->channel);
    cz_rpc_library_done();
    cz_free(client);
}

void cz_rpc_reply_done(struct cz_rpc_reply *reply) {
    cz_free(reply->data);
    *reply = (struct cz_rpc_reply){0};
}

/* Runs the whole call as one batch; the outputs are the caller's to free. */
static bool run_call(grpc_call *call, grpc_completion_queue *cq, grpc_byte_buffer *request, grpc_byte_buffer **response,
                     grpc_status_code *code, grpc_slice *details) {
    grpc_metadata_array initial, trailing;
    grpc_metadata_array_init(&initial);
    grpc_metadata_array_init(&trailing);
    grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},
        {.op = GRPC_OP_SEND_MESSAGE, .data.send_message.send_message = request},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT},
        {.op = GRPC_OP_RECV_INITIAL_METADATA, .data.recv_initial_metadata.recv_initial_metadata = &initial},
        {.op = GRPC_OP_RECV_MESSAGE, .data.recv_message.recv_message = response},
        {.op = GRPC_OP_RECV_STATUS_ON_CLIENT,
         .data.recv_status_on_client = {.trailing_metadata = &trailing, .status = code, .status_details = details}},
    };
    bool ok = grpc_call_start_batch(call, ops, 6, call, NULL) == GRPC_CALL_OK;
    if (ok) (void)grpc_completion_queue_pluck(cq, call, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    grpc_metadata_array_destroy(&initial);
    grpc_metadata_array_destroy(&trailing);
    return ok;
}

enum cz_status cz_rpc_client_call(struct cz_rpc_client *client, const char *method, const void *request, size_t len,
                                  uint64_t timeout_ms, struct cz_rpc_reply *reply, struct cz_error *err) {
    grpc_completion_queue *cq = grpc_completion_queue_create_for_pluck(NULL);
    gpr_timespec deadline = gpr_inf_future(GPR_CLOCK_MONOTONIC);
    if (timeout_ms && timeout_ms < INT64_MAX) {
        deadline = gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC), gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN));
    }
    grpc_slice path = grpc_slice_from_copied_string(method);
    grpc_call *call =
        grpc_channel_create_call(client->channel, NULL, GRPC_PROPAGATE_DEFAULTS, cq, path, NULL, deadline, NULL);
    grpc_slice_unref(path);
    /* Copied: the transport may hold the slice after a call that ran out of time has returned. */
    grpc_slice slice = grpc_slice_from_copied_buffer(request, len);
    grpc_byte_buffer *message = grpc_raw_byte_buffer_create(&slice, 1), *response = NULL;
    grpc_slice_unref(slice);
    grpc_status_code code = GRPC_STATUS_UNKNOWN;
    grpc_slice details = grpc_empty_slice();

    struct cz_rpc_reply result = {0};
    enum cz_status status = CZ_OK;
    if (!run_call(call, cq, message, &response, &code, &details)) {
        status = cz_error_set(err, CZ_ERR_INTERNAL, "%s: gRPC refused the call", method);
    } else {
        result.code = code > GRPC_STATUS_UNAUTHENTICATED ? CZ_RPC_UNKNOWN : (enum cz_rpc_code)code;
        cz_rpc_library_text(result.message, sizeof result.message, details);
        if (code == GRPC_STATUS_OK && !cz_rpc_library_gather(&result.data, &result.len, response)) {
            status = cz_error_set(err, CZ_ERR_NETWORK, "%s: the reply cannot be read", method);
        }
    }
    grpc_slice_unref(details);
    grpc_byte_buffer_destroy(message);
    if (response) grpc_byte_buffer_destroy(response);
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(cq);
    grpc_completion_queue_destroy(cq);
    if (status == CZ_OK)
        *reply = result;
    else
        cz_rpc_reply_done(&result);
    return status;
}
