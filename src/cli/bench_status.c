/* cuzk-bench status: what the daemon says of itself. */

#include "cli/bench.h"

#include <inttypes.h>

static const char *tier_text(Cuzk__V1__SRSStatus__Tier tier) {
    return tier == CUZK__V1__SRSSTATUS__TIER__HOT ? "hot" : tier == CUZK__V1__SRSSTATUS__TIER__WARM ? "warm" : "cold";
}

static bool print_json(const Cuzk__V1__GetStatusResponse *s) {
    yajl_gen g = cz_output_begin();
    if (!g) return false;
    cz_output_u64(g, "uptime_seconds", s->uptime_seconds);
    cz_output_u64(g, "total_proofs_completed", s->total_proofs_completed);
    cz_output_u64(g, "total_proofs_failed", s->total_proofs_failed);
    cz_output_u64(g, "pinned_memory_bytes", s->pinned_memory_bytes);
    cz_output_u64(g, "pinned_memory_limit_bytes", s->pinned_memory_limit_bytes);
    cz_output_array(g, "queues");
    for (size_t i = 0; i < s->n_queues; i++) {
        (void)yajl_gen_map_open(g);
        cz_output_text(g, "proof_kind", s->queues[i]->proof_kind);
        cz_output_u64(g, "pending", s->queues[i]->pending);
        cz_output_u64(g, "in_progress", s->queues[i]->in_progress);
        (void)yajl_gen_map_close(g);
    }
    (void)yajl_gen_array_close(g);
    cz_output_array(g, "gpus");
    for (size_t i = 0; i < s->n_gpus; i++) {
        (void)yajl_gen_map_open(g);
        cz_output_u64(g, "ordinal", s->gpus[i]->ordinal);
        cz_output_text(g, "name", s->gpus[i]->name);
        cz_output_u64(g, "vram_total_bytes", s->gpus[i]->vram_total_bytes);
        cz_output_u64(g, "vram_free_bytes", s->gpus[i]->vram_free_bytes);
        cz_output_text(g, "current_job_id", s->gpus[i]->current_job_id);
        cz_output_text(g, "current_proof_kind", s->gpus[i]->current_proof_kind);
        (void)yajl_gen_map_close(g);
    }
    (void)yajl_gen_array_close(g);
    cz_output_array(g, "loaded_srs");
    for (size_t i = 0; i < s->n_loaded_srs; i++) {
        (void)yajl_gen_map_open(g);
        cz_output_text(g, "circuit_id", s->loaded_srs[i]->circuit_id);
        cz_output_text(g, "tier", tier_text(s->loaded_srs[i]->tier));
        cz_output_u64(g, "size_bytes", s->loaded_srs[i]->size_bytes);
        cz_output_u64(g, "ref_count", s->loaded_srs[i]->ref_count);
        (void)yajl_gen_map_close(g);
    }
    (void)yajl_gen_array_close(g);
    return cz_output_end(g);
}

static bool print_text(const Cuzk__V1__GetStatusResponse *s) {
    (void)printf("up %" PRIu64 " s, %" PRIu64 " proofs completed, %" PRIu64 " failed\n", s->uptime_seconds,
                 s->total_proofs_completed, s->total_proofs_failed);
    (void)printf("memory %" PRIu64 " of %" PRIu64 " MiB\n", s->pinned_memory_bytes >> 20,
                 s->pinned_memory_limit_bytes >> 20);
    (void)printf("\n%-14s %8s %12s\n", "queue", "pending", "in progress");
    for (size_t i = 0; i < s->n_queues; i++) {
        (void)printf("%-14s %8" PRIu32 " %12" PRIu32 "\n", s->queues[i]->proof_kind, s->queues[i]->pending,
                     s->queues[i]->in_progress);
    }
    (void)printf("\n%-3s %-40s %12s %12s  %s\n", "gpu", "name", "total MiB", "free MiB", "job");
    for (size_t i = 0; i < s->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *d = s->gpus[i];
        (void)printf("%3" PRIu32 " %-40s %12" PRIu64 " %12" PRIu64 "  %s %s\n", d->ordinal, d->name,
                     d->vram_total_bytes >> 20, d->vram_free_bytes >> 20, d->current_job_id, d->current_proof_kind);
    }
    (void)printf("\n%-16s %-5s %12s %10s\n", "parameters", "tier", "MiB", "references");
    for (size_t i = 0; i < s->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *p = s->loaded_srs[i];
        (void)printf("%-16s %-5s %12" PRIu64 " %10" PRIu32 "\n", p->circuit_id, tier_text(p->tier), p->size_bytes >> 20,
                     p->ref_count);
    }
    return fflush(stdout) == 0;
}

static int run(struct cz_bench_common *common, int argc, char **argv) {
    const struct cz_options_entry entries[] = {CZ_BENCH_COMMON_ENTRIES(common)};
    const struct cz_options_command command = {"cuzk-bench status", "cuzk-bench status [options]",
                                               "Queues, devices and loaded parameters of the daemon."};
    struct cz_rpc_client *client = NULL;
    int exit_status;
    if (!cz_bench_start(&command, common, argc, argv, entries, sizeof entries / sizeof entries[0], NULL, &client,
                        &exit_status)) {
        return exit_status;
    }
    struct cz_error err = {0};
    const Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
    struct cz_rpc_reply reply;
    enum cz_status status = cz_bench_call(client, CZ_RPC_GET_STATUS, &request.base, 5000, &reply, &err);
    if (status == CZ_OK) {
        Cuzk__V1__GetStatusResponse *s = cuzk__v1__get_status_response__unpack(NULL, reply.len, reply.data);
        if (!s)
            status = cz_error_set(&err, CZ_ERR_NETWORK, "the reply cannot be read");
        else if (!(common->json ? print_json(s) : print_text(s)))
            status = cz_error_set(&err, CZ_ERR_IO, "standard output cannot be written");
        if (s) cuzk__v1__get_status_response__free_unpacked(s, NULL);
        cz_rpc_reply_done(&reply);
    }
    cz_rpc_client_destroy(client);
    return status == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(&command, status, &err);
}

const struct cz_bench_command CZ_BENCH_STATUS = {"status", "queues, devices, loaded parameters", run};
