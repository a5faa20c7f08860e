/* cuzk-bench metrics: the daemon's figures as Prometheus reads them. */

#include "cli/bench.h"

static int run(struct cz_bench_common *common, int argc, char **argv) {
    const struct cz_options_entry entries[] = {CZ_BENCH_COMMON_ENTRIES(common)};
    const struct cz_options_command command = {"cuzk-bench metrics", "cuzk-bench metrics [options]",
                                               "Prints the daemon's metrics in Prometheus' text format."};
    struct cz_rpc_client *client = NULL;
    int exit_status;
    if (!cz_bench_start(&command, common, argc, argv, entries, sizeof entries / sizeof entries[0], NULL, &client,
                        &exit_status)) {
        return exit_status;
    }
    struct cz_error err = {0};
    const Cuzk__V1__GetMetricsRequest request = CUZK__V1__GET_METRICS_REQUEST__INIT;
    struct cz_rpc_reply reply;
    enum cz_status status = cz_bench_call(client, CZ_RPC_GET_METRICS, &request.base, 5000, &reply, &err);
    if (status == CZ_OK) {
        Cuzk__V1__GetMetricsResponse *m = cuzk__v1__get_metrics_response__unpack(NULL, reply.len, reply.data);
        cz_rpc_reply_done(&reply);
        yajl_gen g = m && common->json ? cz_output_begin() : NULL;
        if (!m) {
            status = cz_error_set(&err, CZ_ERR_NETWORK, "the reply cannot be read");
        } else if (g) {
            cz_output_text(g, "prometheus_text", m->prometheus_text);
            (void)cz_output_end(g);
        } else {
            (void)fputs(m->prometheus_text, stdout);
        }
        if (m) cuzk__v1__get_metrics_response__free_unpacked(m, NULL);
    }
    cz_rpc_client_destroy(client);
    return status == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(&command, status, &err);
}

const struct cz_bench_command CZ_BENCH_METRICS = {"metrics", "figures as Prometheus reads them", run};
