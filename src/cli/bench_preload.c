/* cuzk-bench preload: has the daemon load parameters before they are needed. */

#include "cli/bench.h"

#include <inttypes.h>

static int run(struct cz_bench_common *common, int argc, char **argv) {
    const char *circuit = NULL;
    uint64_t timeout_s = 1800;
    const struct cz_options_entry entries[] = {
        CZ_BENCH_COMMON_ENTRIES(common),
        {.name = "circuit",
         .letter = 'c',
         .kind = CZ_OPTIONS_TEXT,
         .target = &circuit,
         .arg = "ID",
         .help = "porep-32g, wpost-32g, winning-32g, snap-32g, porep-2k …"},
        {.name = "timeout",
         .kind = CZ_OPTIONS_U64,
         .target = &timeout_s,
         .arg = "SECONDS",
         .min = 1,
         .max = 1000000,
         .help = "of the call (default: 1800)"},
    };
    const struct cz_options_command command = {"cuzk-bench preload", "cuzk-bench preload -c ID [options]",
                                               "Has the daemon load the parameters of a circuit."};
    struct cz_rpc_client *client = NULL;
    int exit_status;
    if (!cz_bench_start(&command, common, argc, argv, entries, sizeof entries / sizeof entries[0], NULL, &client,
                        &exit_status)) {
        return exit_status;
    }
    if (!circuit) {
        cz_rpc_client_destroy(client);
        return cz_options_usage_error(&command, "--circuit ID is missing");
    }
    struct cz_error err = {0};
    Cuzk__V1__PreloadSrsRequest request = CUZK__V1__PRELOAD_SRS_REQUEST__INIT;
    request.circuit_id = (char *)circuit;
    struct cz_rpc_reply reply;
    enum cz_status status = cz_bench_call(client, CZ_RPC_PRELOAD_SRS, &request.base, timeout_s * 1000, &reply, &err);
    if (status == CZ_OK) {
        Cuzk__V1__PreloadSrsResponse *r = cuzk__v1__preload_srs_response__unpack(NULL, reply.len, reply.data);
        cz_rpc_reply_done(&reply);
        yajl_gen g = r && common->json ? cz_output_begin() : NULL;
        if (!r) {
            status = cz_error_set(&err, CZ_ERR_NETWORK, "the reply cannot be read");
        } else if (g) {
            cz_output_text(g, "circuit_id", circuit);
            cz_output_bool(g, "already_loaded", r->already_loaded);
            cz_output_u64(g, "load_time_ms", r->load_time_ms);
            (void)cz_output_end(g);
        } else if (r->already_loaded) {
            (void)printf("%s was loaded\n", circuit);
        } else {
            (void)printf("%s loaded in %" PRIu64 " ms\n", circuit, r->load_time_ms);
        }
        if (r) cuzk__v1__preload_srs_response__free_unpacked(r, NULL);
    }
    cz_rpc_client_destroy(client);
    return status == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(&command, status, &err);
}

const struct cz_bench_command CZ_BENCH_PRELOAD = {"preload", "load the parameters of a circuit", run};
