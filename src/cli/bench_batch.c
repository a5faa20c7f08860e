/* cuzk-bench batch: many proofs of one input, so many at a time. */

#include "cli/bench.h"

#include "base/bytes.h"
#include "base/time.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>

struct sample {
    bool completed;
    double latency_ms;
    uint64_t queue_ms, srs_load_ms, synthesis_ms, compute_ms;
    char error[400];
};

struct batch {
    struct cz_rpc_client *client;
    const struct cz_bench_request *request;
    char id[64];
    uint64_t timeout_ms, start_ns;
    uint32_t count;
    struct sample *sample;
    _Atomic uint32_t next, ended, failed;
};

static void prove_one(struct batch *b, uint32_t i) {
    struct sample *s = &b->sample[i];
    char id[96];
    (void)snprintf(id, sizeof id, "%s-%" PRIu32, b->id, i);
    struct cz_error err = {0};
    Cuzk__V1__ProveResponse *response = NULL;
    uint64_t start = cz_time_now_ns();
    enum cz_status status = cz_bench_prove(b->client, b->request, id, b->timeout_ms, &response, &err);
    s->latency_ms = cz_time_since(start) * 1000;
    if (status != CZ_OK) {
        (void)snprintf(s->error, sizeof s->error, "%s", err.detail);
    } else {
        const Cuzk__V1__AwaitProofResponse *r = response->result;
        s->completed = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
        s->queue_ms = r->queue_wait_ms;
        s->srs_load_ms = r->srs_load_ms;
        s->synthesis_ms = r->synthesis_ms;
        s->compute_ms = r->gpu_compute_ms;
        if (!s->completed) {
            (void)snprintf(s->error, sizeof s->error, "%s: %.300s", cz_bench_status_text(r->status), r->error_message);
        }
        cuzk__v1__prove_response__free_unpacked(response, NULL);
    }
    if (!s->completed) atomic_fetch_add(&b->failed, 1);
    atomic_fetch_add(&b->ended, 1);
}

static void *work(void *arg) {
    struct batch *b = arg;
    for (;;) {
        uint32_t i = atomic_fetch_add(&b->next, 1);
        if (i >= b->count) return NULL;
        prove_one(b, i);
    }
}

static void how_far(void *ctx, char *line, size_t size) {
    struct batch *b = ctx;
    uint32_t ended = atomic_load(&b->ended);
    double seconds = cz_time_since(b->start_ns);
    (void)snprintf(line, size, "%" PRIu32 " of %" PRIu32 " done, %" PRIu32 " failed, %.1f a minute, %.0f s", ended,
                   b->count, atomic_load(&b->failed), ended * 60 / seconds, seconds);
}

struct summary {
    uint32_t completed, failed;
    double seconds, per_minute, p50, p95, max;
    double queue_ms, srs_load_ms, synthesis_ms, compute_ms; /* means */
    const char *error;                                      /* the first, or NULL */
};

static int by_value(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Over the completed; percentiles by nearest rank. */
static bool summarize(struct summary *out, const struct batch *b, double seconds) {
    struct summary s = {.seconds = seconds};
    double *latency = cz_calloc(b->count, sizeof *latency);
    if (!latency) return false;
    for (uint32_t i = 0; i < b->count; i++) {
        const struct sample *one = &b->sample[i];
        if (!one->completed) {
            s.failed++;
            if (!s.error) s.error = one->error;
            continue;
        }
        latency[s.completed++] = one->latency_ms;
        s.queue_ms += (double)one->queue_ms;
        s.srs_load_ms += (double)one->srs_load_ms;
        s.synthesis_ms += (double)one->synthesis_ms;
        s.compute_ms += (double)one->compute_ms;
    }
    if (s.completed) {
        uint32_t n = s.completed;
        qsort(latency, n, sizeof *latency, by_value);
        s.p50 = latency[(size_t)ceil(0.50 * n) - 1];
        s.p95 = latency[(size_t)ceil(0.95 * n) - 1];
        s.max = latency[n - 1];
        s.queue_ms /= n, s.srs_load_ms /= n, s.synthesis_ms /= n, s.compute_ms /= n;
    }
    s.per_minute = seconds > 0 ? s.completed * 60 / seconds : 0;
    cz_free(latency);
    *out = s;
    return true;
}

static bool print_json(const struct batch *b, const struct summary *s, uint32_t concurrency) {
    yajl_gen g = cz_output_begin();
    if (!g) return false;
    cz_output_text(g, "type", b->request->label);
    cz_output_u64(g, "count", b->count);
    cz_output_u64(g, "concurrency", concurrency);
    cz_output_u64(g, "completed", s->completed);
    cz_output_u64(g, "failed", s->failed);
    cz_output_number(g, "seconds", s->seconds);
    cz_output_number(g, "proofs_per_minute", s->per_minute);
    cz_output_map(g, "latency_ms");
    cz_output_number(g, "p50", s->p50);
    cz_output_number(g, "p95", s->p95);
    cz_output_number(g, "max", s->max);
    (void)yajl_gen_map_close(g);
    cz_output_map(g, "mean_ms");
    cz_output_number(g, "queue", s->queue_ms);
    cz_output_number(g, "srs_load", s->srs_load_ms);
    cz_output_number(g, "synthesis", s->synthesis_ms);
    cz_output_number(g, "compute", s->compute_ms);
    (void)yajl_gen_map_close(g);
    if (s->error) cz_output_text(g, "first_error", s->error);
    return cz_output_end(g);
}

static bool print_text(const struct batch *b, const struct summary *s, uint32_t concurrency) {
    (void)printf("%s, %" PRIu32 " proofs, %" PRIu32 " at a time: %" PRIu32 " completed, %" PRIu32
                 " failed in %.1f s\n\n",
                 b->request->label, b->count, concurrency, s->completed, s->failed, s->seconds);
    (void)printf("  %10s  %10s  %10s  %10s  %10s  %10s  %10s\n", "proofs/min", "p50 ms", "p95 ms", "max ms", "queue ms",
                 "synth ms", "compute ms");
    (void)printf("  %10.2f  %10.0f  %10.0f  %10.0f  %10.0f  %10.0f  %10.0f\n", s->per_minute, s->p50, s->p95, s->max,
                 s->queue_ms, s->synthesis_ms, s->compute_ms);
    return fflush(stdout) == 0;
}

/* Runs all; threads that cannot be started are done without, but for the first. */
static bool run_all(struct batch *b, uint32_t concurrency) {
    pthread_t *thread = cz_calloc(concurrency, sizeof *thread);
    if (!thread) return false;
    struct cz_ticker ticker;
    cz_ticker_start(&ticker, how_far, b);
    uint32_t started = 0;
    while (started < concurrency && pthread_create(&thread[started], NULL, work, b) == 0) started++;
    for (uint32_t i = 0; i < started; i++) (void)pthread_join(thread[i], NULL);
    cz_ticker_end(&ticker);
    cz_free(thread);
    return started > 0;
}

static int batch(const struct cz_options_command *command, const struct cz_bench_common *common, struct batch *b,
                 uint32_t concurrency) {
    struct cz_error err = {0};
    struct summary summary = {0};
    b->sample = cz_calloc(b->count, sizeof *b->sample);
    enum cz_status status = cz_bench_request_id(b->id, b->request->label, &err);
    b->start_ns = cz_time_now_ns();
    if (status == CZ_OK &&
        (!b->sample || !run_all(b, concurrency) || !summarize(&summary, b, cz_time_since(b->start_ns)))) {
        status = cz_error_set(&err, CZ_ERR_MEMORY, "no memory or no threads for the batch");
    }
    if (status == CZ_OK) {
        bool ok = common->json ? print_json(b, &summary, concurrency) : print_text(b, &summary, concurrency);
        if (!ok)
            status = cz_error_set(&err, CZ_ERR_IO, "standard output cannot be written");
        else if (summary.failed)
            status = cz_error_set(&err, CZ_ERR_INTERNAL, "%s", summary.error);
    }
    cz_free(b->sample);
    return status == CZ_OK ? CZ_OPTIONS_DONE : cz_bench_fail(command, status, &err);
}

static int run(struct cz_bench_common *common, int argc, char **argv) {
    struct cz_bench_input input = CZ_BENCH_INPUT_DEFAULTS;
    uint32_t count = 1, concurrency = 1;
    const struct cz_options_entry entries[] = {
        CZ_BENCH_COMMON_ENTRIES(common),
        {.name = "count",
         .letter = 'c',
         .kind = CZ_OPTIONS_U32,
         .target = &count,
         .arg = "N",
         .min = 1,
         .max = 1000000,
         .help = "proofs (default: 1)"},
        {.name = "concurrency",
         .letter = 'j',
         .kind = CZ_OPTIONS_U32,
         .target = &concurrency,
         .arg = "N",
         .min = 1,
         .max = 1000,
         .help = "proofs at a time (default: 1)"},
        CZ_BENCH_INPUT_ENTRIES(&input),
    };
    const struct cz_options_command command = {
        "cuzk-bench batch", "cuzk-bench batch -t TYPE -c COUNT -j CONCURRENCY [options]",
        "Has the daemon make the same proof many times, each under a request id of its own, and prints\n"
        "throughput, latency as the client sees it, and the daemon's mean times."};
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
    if (status == CZ_OK) {
        struct batch b = {.client = client, .request = &request, .timeout_ms = input.timeout_s * 1000, .count = count};
        exit_status = batch(&command, common, &b, concurrency < count ? concurrency : count);
        cz_bench_request_done(&request);
    } else if (status == CZ_ERR_ARGUMENT) {
        exit_status = cz_options_usage_error(&command, "%s", err.detail);
    } else {
        exit_status = cz_bench_fail(&command, status, &err);
    }
    cz_rpc_client_destroy(client);
    return exit_status;
}

const struct cz_bench_command CZ_BENCH_BATCH = {"batch", "many proofs, with throughput and latency", run};
