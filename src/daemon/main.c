/* cuzk-daemon: options, start, signals, end. */

#include "base/log.h"
#include "base/trace.h"
#include "daemon/config.h"
#include "daemon/service.h"
#include "engine/engine.h"
#include "engine/prover.h"
#include "rpc/server.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* What works yields to what answers. */
#define WORK_NICE 10
#define MAX_AHEAD 64  /* partitions made and not yet computed */
#define MAX_MAKERS 16 /* of partitions, at once */
#define ALLOCATOR_KEEPS (4 << 20)
#define DEFAULT_UNIX_FOLDER "/run/curio"
#define DEFAULT_UNIX "unix:///run/curio/cuzk.sock"
#define DEFAULT_TCP "127.0.0.1:9820"

static const char USAGE[] =
    "usage: cuzk-daemon [options]\n"
    "\n"
    "  -c, --config FILE     TOML configuration (docs/operating.md)\n"
    "  -l, --listen ADDRESS  host:port or unix:///path; may be given several times; goes before daemon.listen\n"
    "      --log-level LEVEL trace, debug, info, warn or error; goes before logging.level\n"
    "      --cpu             proves on the CPU also where there are GPUs (gpus.enabled = false)\n"
    "      --trace FILE      write a timeline of the run (Chrome trace JSON; cuzk-bench waterfall FILE)\n"
    "      --check-config    read and check the configuration, print what was found, and exit\n"
    "      --version\n"
    "      --help\n"
    "\n"
    "SIGTERM: takes no new work, finishes what it has accepted, exits 0. A second SIGTERM ends it at once.\n";

struct options {
    const char *config, *log_level, *trace;
    bool check_config, cpu;
    struct cz_config_list listen;
};

struct daemon {
    struct cz_config config;
    struct cz_prover *prover;
    struct cz_engine *engine;
    struct cz_service *service;
    sem_t stop;
};

/* ---- options and configuration ---- */

/* Exit status, or -1 to go on. */
static int read_options(struct options *o, int argc, char **argv) {
    enum { OPT_LOG = 256, OPT_CPU, OPT_TRACE, OPT_CHECK, OPT_VERSION, OPT_HELP };
    static const struct option LONG[] = {
        {"config", required_argument, NULL, 'c'},
        {"listen", required_argument, NULL, 'l'},
        {"log-level", required_argument, NULL, OPT_LOG},
        {"cpu", no_argument, NULL, OPT_CPU},
        {"trace", required_argument, NULL, OPT_TRACE},
        {"check-config", no_argument, NULL, OPT_CHECK},
        {"version", no_argument, NULL, OPT_VERSION},
        {"help", no_argument, NULL, OPT_HELP},
        {NULL, 0, NULL, 0},
    };
    char held[160];
    int c;
    while ((c = getopt_long(argc, argv, "c:l:h", LONG, NULL)) != -1) {
        switch (c) {
        case 'c':
            o->config = optarg;
            break;
        case 'l':
            if (!*optarg || cz_config_list_add(&o->listen, optarg) != CZ_OK) {
                (void)fprintf(stderr, "cuzk-daemon: --listen \"%s\": empty, or too many\n", optarg);
                return 2;
            }
            break;
        case OPT_LOG:
            o->log_level = optarg;
            break;
        case OPT_TRACE:
            if (!*optarg) {
                (void)fputs("cuzk-daemon: --trace: wants the name of a file\n", stderr);
                return 2;
            }
            o->trace = optarg;
            break;
        case OPT_CPU:
            o->cpu = true;
            break;
        case OPT_CHECK:
            o->check_config = true;
            break;
        case OPT_VERSION:
            cz_prover_architectures(held, sizeof held);
            (void)printf("cuzk-daemon %s, %s\n", CZ_VERSION, held);
            return 0;
        case 'h':
        case OPT_HELP:
            (void)fputs(USAGE, stdout);
            return 0;
        default:
            (void)fputs("Try cuzk-daemon --help.\n", stderr);
            return 2;
        }
    }
    if (optind < argc) {
        (void)fprintf(stderr, "cuzk-daemon: unexpected argument \"%s\"\nTry cuzk-daemon --help.\n", argv[optind]);
        return 2;
    }
    return -1;
}

struct warnings {
    struct cz_config_list list; /* logged once the log is set up */
};

static void keep_warning(void *ctx, const char *text) {
    struct warnings *w = ctx;
    if (cz_config_list_add(&w->list, text) != CZ_OK) (void)fprintf(stderr, "cuzk-daemon: %s\n", text);
}

/* Reads file and options into the configuration and sets up the log. False: said why on stderr. */
static bool configure(struct cz_config *config, const struct options *o) {
    struct cz_error err = {0};
    struct warnings w = {0};
    if (cz_config_init(config) != CZ_OK) {
        (void)fputs("cuzk-daemon: out of memory\n", stderr);
        return false;
    }
    if (o->config && cz_config_read(config, o->config, keep_warning, &w, &err) != CZ_OK) {
        (void)fprintf(stderr, "cuzk-daemon: %s\n", err.detail);
        cz_config_list_clear(&w.list);
        return false;
    }
    if (o->log_level && cz_log_level_parse(&config->log_level, o->log_level) != CZ_OK) {
        (void)fprintf(stderr, "cuzk-daemon: --log-level %s: must be trace, debug, info, warn or error\n", o->log_level);
        cz_config_list_clear(&w.list);
        return false;
    }
    if (o->cpu) config->gpus = false;
    cz_log_setup(config->log_level, config->log_json);
    for (size_t i = 0; i < w.list.count; i++) cz_log(CZ_LOG_WARN, "configuration: %s", w.list.item[i]);
    cz_config_list_clear(&w.list);
    if (o->listen.count > 0) {
        cz_config_list_clear(&config->listen);
        for (size_t i = 0; i < o->listen.count; i++) {
            if (cz_config_list_add(&config->listen, o->listen.item[i]) != CZ_OK) return false;
        }
    }
    if (config->listen.count == 0) {
        /* Where clients look, when that folder is there; and loopback. */
        struct stat sb;
        bool ok = cz_config_list_add(&config->listen, DEFAULT_TCP) == CZ_OK;
        if (ok && stat(DEFAULT_UNIX_FOLDER, &sb) == 0 && S_ISDIR(sb.st_mode)) {
            ok = cz_config_list_add(&config->listen, DEFAULT_UNIX) == CZ_OK;
        }
        if (!ok) return false;
    }
    for (size_t i = 0; i < config->listen.count; i++) {
        if (cz_rpc_server_check_address(config->listen.item[i], &err) == CZ_OK) continue;
        (void)fprintf(stderr, "cuzk-daemon: %s: %s\n", o->listen.count > 0 ? "--listen" : "daemon.listen", err.detail);
        return false;
    }
    return true;
}

static int check_config(const struct cz_config *c) {
    struct cz_error err = {0};
    uint64_t budget;
    if (cz_config_budget(c, &budget, &err) != CZ_OK) {
        (void)fprintf(stderr, "cuzk-daemon: %s\n", err.detail);
        return 1;
    }
    (void)printf("the configuration is valid\n");
    for (size_t i = 0; i < c->listen.count; i++) (void)printf("listen: %s\n", c->listen.item[i]);
    (void)printf("memory budget: %" PRIu64 " bytes%s\n", budget, c->total_budget ? "" : " (auto)");
    (void)printf("parameters: %s\n", c->param_cache);
    for (size_t i = 0; i < c->preload.count; i++) (void)printf("preload: %s\n", c->preload.item[i]);
    return 0;
}

/* ---- running ---- */

static void *signal_main(void *arg) {
    struct daemon *d = arg;
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    for (int count = 0;; count++) {
        int sig = 0;
        if (sigwait(&set, &sig) != 0) continue;
        if (count > 0) {
            cz_log(CZ_LOG_WARN, "a second signal %d: ending at once", sig);
            cz_trace_flush_now();
            _exit(1);
        }
        cz_log(CZ_LOG_INFO, "signal %d: no new work; finishing what was accepted (once more to end at once)", sig);
        cz_engine_stop_accepting(d->engine);
        (void)sem_post(&d->stop);
    }
    return NULL;
}

static void *preload_main(void *arg) {
    const struct daemon *d = arg;
    for (size_t i = 0; i < d->config.preload.count; i++) {
        const char *id = d->config.preload.item[i];
        struct cz_error err = {0};
        bool already;
        uint64_t ms;
        if (cz_engine_preload(d->engine, id, &already, &ms, &err) == CZ_OK) {
            cz_log(CZ_LOG_INFO, "parameters of %s loaded in %" PRIu64 " ms", id, ms);
        } else {
            cz_log(CZ_LOG_WARN, "srs.preload of %s: %s", id, err.detail);
        }
    }
    return NULL;
}

/* Says why, and lets the signal do its work. */
static void on_bus_error(int sig) {
    static const char text[] =
        "cuzk-daemon: SIGBUS: a mapped file (parameters?) became shorter or cannot be read from its disk. Files are "
        "replaced by rename, never truncated in place (docs/operating.md)\n";
    ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
    (void)n;
    (void)signal(sig, SIG_DFL);
    (void)raise(sig);
}

/*
 * The allocator would keep, in every thread's arena, up to twice the largest block that was ever freed: after large
 * requests hundreds of megabytes. Fixed numbers end that.
 */
static void bound_allocator(void) {
    (void)mallopt(M_MMAP_THRESHOLD, ALLOCATOR_KEEPS);
    (void)mallopt(M_TRIM_THRESHOLD, ALLOCATOR_KEEPS);
}

static void block_signals(void) {
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGTERM);
    (void)sigaddset(&set, SIGINT);
    (void)pthread_sigmask(SIG_BLOCK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)signal(SIGBUS, on_bus_error);
}

/* Files of the original may say 0 where 1 is meant, and more than there can be. */
static unsigned between(unsigned least, unsigned value, unsigned most) {
    return value < least ? least : value > most ? most : value;
}

static enum cz_status start(struct daemon *d, struct cz_error *err) {
    const struct cz_config *c = &d->config;
    uint64_t budget;
    enum cz_status st = cz_config_budget(c, &budget, err);
    if (st != CZ_OK) return st;
    const struct cz_prover_options prover = {
        .param_cache = c->param_cache,
        .threads = c->threads,
        .nice = WORK_NICE,
        .devices = {.cpu_only = !c->gpus,
                    .ordinal = c->gpu_device,
                    .num_ordinals = c->num_gpu_devices,
                    .workers = between(1, c->gpu_workers, CZ_DEVICES_MAX_WORKERS)},
    };
    st = cz_prover_create(&d->prover, &prover, err);
    if (st != CZ_OK) return st;
    /* A GPU takes a partition in less than a second: the next ones are made while it works. */
    const unsigned gpus = cz_prover_gpus(d->prover), workers = cz_prover_workers(d->prover);
    const unsigned ahead = between(gpus ? workers + 1 : 1, c->lookahead, MAX_AHEAD);
    const unsigned makers = between(gpus ? gpus : 1, c->assign_workers, MAX_MAKERS);
    struct cz_engine_options options = {
        .ops = &CZ_PROVER_OPS,
        .ops_ctx = d->prover,
        .device_name = cz_prover_device_name(d->prover),
        .memory_total = budget,
        .evict_min_idle_ms = c->eviction_min_idle_ms,
        .assign_workers = makers,
        /* One for the CPU: there a partition takes all cores. Beside GPUs it serves circuits that fit into none. */
        .compute_workers = between(1, gpus ? workers + 1 : 1, CZ_ENGINE_MAX_WORKERS),
        .queue_depth = c->max_gpu_queue_depth ? between(1, c->max_gpu_queue_depth, MAX_AHEAD) : ahead,
        .max_jobs = c->max_jobs,
        .ended = cz_service_log_result,
        .nice = WORK_NICE,
    };
    st = cz_engine_create(&d->engine, &options, err);
    if (st != CZ_OK) return st;
    st = cz_service_create(&d->service, d->engine, (const char *const *)c->listen.item, c->listen.count, err);
    if (st != CZ_OK) return st;
    cz_log(CZ_LOG_INFO, "cuzk-daemon %s on %s: memory budget %" PRIu64 " MiB, parameters in %s", CZ_VERSION,
           cz_prover_device_name(d->prover), budget >> 20, c->param_cache);
    for (size_t i = 0; i < c->listen.count; i++) {
        unsigned port = cz_service_port(d->service, i);
        if (port) {
            cz_log(CZ_LOG_INFO, "listening on %s (port %u)", c->listen.item[i], port);
        } else {
            cz_log(CZ_LOG_INFO, "listening on %s", c->listen.item[i]);
        }
    }
    return CZ_OK;
}

/* After the engine has ended, so that everything is in it. */
static void end_trace(void) {
    struct cz_error err = {0};
    uint64_t dropped;
    if (cz_trace_close(&dropped, &err) != CZ_OK) cz_log(CZ_LOG_WARN, "%s", err.detail);
    if (dropped) cz_log(CZ_LOG_WARN, "the trace is full: %" PRIu64 " events were left out", dropped);
}

static int run(struct daemon *d, const char *trace) {
    struct cz_error err = {0};
    pthread_t signals, preloads;
    bool preloading = false;
    int rc = 1;
    bound_allocator();
    block_signals();
    if (sem_init(&d->stop, 0, 0) != 0) return 1;
    if ((trace && cz_trace_open(trace, &err) != CZ_OK) || start(d, &err) != CZ_OK) {
        cz_log(CZ_LOG_ERROR, "cannot start: %s", err.detail);
        goto out;
    }
    if (pthread_create(&signals, NULL, signal_main, d) != 0) {
        cz_log(CZ_LOG_ERROR, "cannot start: no thread for signals");
        goto out;
    }
    (void)pthread_detach(signals);
    preloading = d->config.preload.count > 0 && pthread_create(&preloads, NULL, preload_main, d) == 0;
    while (sem_wait(&d->stop) != 0 && errno == EINTR) {}
    cz_engine_drain(d->engine);
    cz_log(CZ_LOG_INFO, "all work is done");
    rc = 0;
out:
    if (preloading) (void)pthread_join(preloads, NULL);
    cz_service_destroy(d->service);
    cz_engine_destroy(d->engine);
    cz_prover_destroy(d->prover);
    end_trace();
    return rc;
}

int main(int argc, char **argv) {
    struct options options = {0};
    int rc = read_options(&options, argc, argv);
    static struct daemon d; /* the signal thread outlives main's frame */
    if (rc < 0) {
        if (!configure(&d.config, &options)) {
            rc = 1;
        } else {
            rc = options.check_config ? check_config(&d.config) : run(&d, options.trace);
        }
        cz_config_done(&d.config);
    }
    cz_config_list_clear(&options.listen);
    return rc;
}
