#include "engine/engine.h"

#include <inttypes.h>

/* Metric labels have underscores where queue names have dashes. */
static const char *const LABEL[CZ_PROOF_KINDS] = {"porep_c2", "snap_update", "window_post", "winning_post"};

static void head(FILE *f, const char *name, const char *type, const char *help) {
    (void)fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(FILE *f, const char *name, const char *type, const char *help, uint64_t value) {
    head(f, name, type, help);
    (void)fprintf(f, "%s %" PRIu64 "\n", name, value);
}

static void durations(FILE *f, const struct cz_engine_status *s) {
    const char *name = "cuzk_proof_duration_seconds";
    head(f, name, "histogram", "Seconds from submission to the finished proof, completed proofs.");
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        uint64_t sum = 0;
        for (int i = 0; i < CZ_DURATION_BUCKETS; i++) {
            sum += s->kind[k].bucket[i];
            (void)fprintf(f, "%s_bucket{proof_kind=\"%s\",le=\"%g\"} %" PRIu64 "\n", name, LABEL[k],
                          CZ_DURATION_BOUND[i], sum);
        }
        sum += s->kind[k].bucket[CZ_DURATION_BUCKETS];
        (void)fprintf(f, "%s_bucket{proof_kind=\"%s\",le=\"+Inf\"} %" PRIu64 "\n", name, LABEL[k], sum);
        (void)fprintf(f, "%s_sum{proof_kind=\"%s\"} %.6f\n", name, LABEL[k], s->kind[k].duration_sum);
        (void)fprintf(f, "%s_count{proof_kind=\"%s\"} %" PRIu64 "\n", name, LABEL[k], sum);
    }
}

char *cz_metrics_text(const struct cz_engine_status *s) {
    char *text = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);
    if (!f) return NULL;
    head(f, "cuzk_proofs_completed_total", "counter", "Proofs made and verified.");
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        (void)fprintf(f, "cuzk_proofs_completed_total{proof_kind=\"%s\"} %" PRIu64 "\n", LABEL[k],
                      s->kind[k].completed);
    }
    head(f, "cuzk_proofs_failed_total", "counter", "Jobs that ended without a proof.");
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        (void)fprintf(f, "cuzk_proofs_failed_total{proof_kind=\"%s\"} %" PRIu64 "\n", LABEL[k], s->kind[k].failed);
    }
    head(f, "cuzk_queue_depth", "gauge", "Jobs that wait to start.");
    for (int k = 0; k < CZ_PROOF_KINDS; k++) {
        (void)fprintf(f, "cuzk_queue_depth{proof_kind=\"%s\"} %u\n", LABEL[k], s->kind[k].pending);
    }
    one(f, "cuzk_running_jobs", "gauge", "Jobs that have started.", s->running);
    one(f, "cuzk_gpu_workers", "gauge", "Partitions that may compute at once.", s->num_workers);
    one(f, "cuzk_uptime_seconds", "gauge", "Seconds since the start.", s->uptime_seconds);
    one(f, "cuzk_partition_retries_total", "counter", "Partitions made a second time.", s->retries);
    one(f, "cuzk_memory_budget_bytes", "gauge", "Host memory that may be reserved.", s->memory_total);
    one(f, "cuzk_memory_reserved_bytes", "gauge", "Host memory reserved now.", s->memory_used);
    one(f, "cuzk_memory_reserved_peak_bytes", "gauge", "Most host memory ever reserved.", s->memory_peak);
    head(f, "cuzk_srs_bytes", "gauge", "Memory of loaded parameters.");
    for (uint32_t i = 0; i < s->num_srs; i++) {
        (void)fprintf(f, "cuzk_srs_bytes{circuit_id=\"%s\"} %" PRIu64 "\n", s->srs[i].circuit_id, s->srs[i].bytes);
    }
    durations(f, s);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
