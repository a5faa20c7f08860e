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

/* One line a device whose value is known. */
static void per_device(FILE *f, const struct cz_engine_status *s, const char *name, const char *type, const char *help,
                       int64_t (*value)(const struct cz_device_status *d)) {
    bool any = false;
    for (uint32_t i = 0; i < s->num_devices; i++) {
        const int64_t v = value(&s->device[i]);
        if (v < 0) continue;
        if (!any) head(f, name, type, help);
        any = true;
        (void)fprintf(f, "%s{device=\"%s\"} %" PRId64 "\n", name, s->device[i].name, v);
    }
}

static int64_t lost(const struct cz_device_status *d) {
    return d->lost;
}
static int64_t partitions(const struct cz_device_status *d) {
    return (int64_t)d->partitions;
}
static int64_t failures(const struct cz_device_status *d) {
    return (int64_t)d->failures;
}
static int64_t vram_total(const struct cz_device_status *d) {
    return d->gpu ? (int64_t)d->vram_total : -1;
}
static int64_t vram_free(const struct cz_device_status *d) {
    return d->gpu ? (int64_t)d->vram_free : -1;
}
static int64_t vram_taken(const struct cz_device_status *d) {
    return d->gpu ? (int64_t)d->vram_taken : -1;
}
static int64_t vram_srs(const struct cz_device_status *d) {
    return d->gpu ? (int64_t)d->vram_srs : -1;
}
static int64_t pinned(const struct cz_device_status *d) {
    return d->gpu ? (int64_t)d->pinned : -1;
}
static int64_t utilisation(const struct cz_device_status *d) {
    return d->utilisation;
}
static int64_t temperature(const struct cz_device_status *d) {
    return d->temperature;
}
static int64_t power(const struct cz_device_status *d) {
    return d->power_mw;
}
static int64_t throttled(const struct cz_device_status *d) {
    return d->temperature < 0 ? -1 : *d->throttle != 0;
}

static void devices(FILE *f, const struct cz_engine_status *s) {
    per_device(f, s, "cuzk_device_lost", "gauge", "1: the device failed for good and gets no work.", lost);
    per_device(f, s, "cuzk_device_partitions_total", "counter", "Partitions proved.", partitions);
    per_device(f, s, "cuzk_device_failures_total", "counter", "Partitions that failed on it.", failures);
    per_device(f, s, "cuzk_device_memory_bytes", "gauge", "Memory of the card.", vram_total);
    per_device(f, s, "cuzk_device_memory_free_bytes", "gauge", "Of that, taken by nobody.", vram_free);
    per_device(f, s, "cuzk_device_memory_taken_bytes", "gauge", "Taken by this daemon at its start.", vram_taken);
    per_device(f, s, "cuzk_device_srs_bytes", "gauge", "Of that, parameters and tables of circuits.", vram_srs);
    per_device(f, s, "cuzk_device_pinned_bytes", "gauge", "Pinned host memory for copies.", pinned);
    per_device(f, s, "cuzk_device_utilisation_percent", "gauge", "As the driver says.", utilisation);
    per_device(f, s, "cuzk_device_temperature_celsius", "gauge", "As the driver says.", temperature);
    per_device(f, s, "cuzk_device_power_milliwatts", "gauge", "As the driver says.", power);
    per_device(f, s, "cuzk_device_throttled", "gauge", "1: the driver holds the clocks back.", throttled);
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
    one(f, "cuzk_partitions_rerouted_total", "counter", "Partitions made again since their device was lost.",
        s->rerouted);
    devices(f, s);
    durations(f, s);
    if (fclose(f) != 0) {
        free(text);
        return NULL;
    }
    return text;
}
