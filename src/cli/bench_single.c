/* cuzk-bench single: one proof. */

#include "cli/bench.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"

#include <inttypes.h>

static void elapsed(void *ctx, char *line, size_t size) {
    (void)snprintf(line, size, "proving … %.0f s", cz_time_since(*(const uint64_t *)ctx));
}

static bool print_json(const Cuzk__V1__AwaitProofResponse *r, const char *request_id, double seconds) {
    yajl_gen g = cz_output_begin();
    if (!g) return false;
    cz_output_text(g, "request_id", request_id);
    cz_output_text(g, "job_id", r->job_id);
    cz_output_text(g, "status", cz_bench_status_text(r->status));
    if (r->error_message[0]) cz_output_text(g, "error", r->error_message);
    cz_output_u64(g, "proof_bytes", r->proof.len);
    cz_output_hex(g, "proof", r->proof.data, r->proof.len);
    cz_output_u64(g, "queue_ms", r->queue_wait_ms);
    cz_output_u64(g, "srs_load_ms", r->srs_load_ms);
    cz_output_u64(g, "synthesis_ms", r->synthesis_ms);
    cz_output_u64(g, "compute_ms", r->gpu_compute_ms);
    cz_output_u64(g, "total_ms", r->total_ms);
    cz_output_number(g, "seconds", seconds);
    return cz_output_end(g);
}

static bool print_text(const Cuzk__V1__AwaitProofResponse *r, double seconds) {
    char *hex = cz_malloc_array(2 * r->proof.len + 1, 1);
    if (!hex) return false;
    cz_hex_encode(hex, r->proof.data, r->proof.len);
    (void)printf("job        %s\nproof      %zu bytes\n%s\n", r->job_id, r->proof.len, hex);
    (void)printf("queue      %8" PRIu64 " ms\nparameters %8" PRIu64 " ms\nsynthesis  %8" PRIu64 " ms\n",
                 r->queue_wait_ms, r->srs_load_ms, r->synthesis_ms);
    (void)printf("compute    %8" PRIu64 " ms\ntotal      %8" PRIu64 " ms\nround trip %8.0f ms\n", r->gpu_compute_ms,
                 r->total_ms, seconds * 1000);
    cz_free(hex);
    return fflush(stdout) == 0;
}

static int report(const struct cz_options_command *command, const struct cz_bench_common *common,
                  const Cuzk__V1__AwaitProofResponse *r, const char *request_id, const char *out, double seconds) {
    struct cz_error err = {0};
    enum cz_status status = CZ_OK;
    bool completed = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    if (completed && out) status = cz_file_write(out, r->proof.data, r->proof.len, &err);
    bool written = true;
    if (common->json)
        written = print_json(r, request_id, seconds);
    else if (completed)
        written = print_text(r, seconds);
    if (status == CZ_OK && !written) status = cz_error_set(&err, CZ_ERR_IO, "standard output cannot be written");
    if (status == CZ_OK && !completed) {
        status = cz_error_set(&err, CZ_ERR_INTERNAL, "%s: %s", cz_bench_status_text(r->status), r->error_message);
    }
    return status == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(command, status, &err);
}

static int run(struct cz_bench_common *common, int argc, char **argv) {
    struct cz_bench_input input = CZ_BENCH_INPUT_DEFAULTS;
    const char *out = NULL, *request_id = NULL;
    const struct cz_options_entry entries[] = {
        CZ_BENCH_COMMON_ENTRIES(common),
        CZ_BENCH_INPUT_ENTRIES(&input),
        {.name = "request-id",
         .kind = CZ_OPTIONS_TEXT,
         .target = &request_id,
         .arg = "ID",
         .help = "default: one of its own"},
        {.name = "out",
         .letter = 'o',
         .kind = CZ_OPTIONS_TEXT,
         .target = &out,
         .arg = "FILE",
         .help = "write the proof there"},
    };
    const struct cz_options_command command = {"cuzk-bench single", "cuzk-bench single -t TYPE [options]",
                                               "Has the daemon make one proof and prints it with its times."};
    struct cz_rpc_client *client = NULL;
    int exit_status;
    if (!cz_bench_start(&command, common, argc, argv, entries, sizeof entries / sizeof entries[0], &input.vanilla,
                        &client, &exit_status)) {
        cz_bench_input_done(&input);
        return exit_status;
    }
    struct cz_error err = {0};
    struct cz_bench_request request;
    enum cz_status status = cz_bench_request_init(&request, &input, &err);
    cz_bench_input_done(&input);
    if (status != CZ_OK) {
        cz_rpc_client_destroy(client);
        return status == CZ_ERR_ARGUMENT ? cz_options_usage_error(&command, "%s", err.detail)
                                         : cz_bench_fail(&command, status, &err);
    }
    char own_id[64];
    status = cz_bench_request_id(own_id, request.label, &err);
    if (!request_id) request_id = own_id;
    Cuzk__V1__ProveResponse *response = NULL;
    uint64_t start = cz_time_now_ns();
    struct cz_ticker ticker;
    cz_ticker_start(&ticker, elapsed, &start);
    if (status == CZ_OK) {
        status = cz_bench_prove(client, &request, request_id, input.timeout_s * 1000, &response, &err);
    }
    cz_ticker_end(&ticker);
    exit_status = status == CZ_OK ? report(&command, common, response->result, request_id, out, cz_time_since(start))
                                  : cz_bench_fail(&command, status, &err);
    if (response) cuzk__v1__prove_response__free_unpacked(response, NULL);
    cz_bench_request_done(&request);
    cz_rpc_client_destroy(client);
    return exit_status;
}

const struct cz_bench_command CZ_BENCH_SINGLE = {"single", "one proof", run};
