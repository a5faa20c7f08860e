#include "engine/devices.h"

#include "base/bytes.h"
#include "base/log.h"
#include "base/time.h"
#include "base/trace.h"
#include "compute/cuda/nvml.h"
#include "compute/gpu.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#define PINNED ((size_t)64 << 20) /* of each worker */
/*
 * What a worker of a card needs at the least: for any partition (window PoSt has the largest witness, and a circuit of
 * 2.4 GiB; 64 GiB sectors take 128 MiB more than 32 GiB), or for all but that; and what it can make use of. `cuzk gpu
 * plan` has the numbers.
 */
#define WORKER_ANY ((size_t)16384 << 20)
#define CIRCUIT_ANY ((size_t)2560 << 20)
#define WORKER_POREP ((size_t)12720 << 20)
#define CIRCUIT_POREP ((size_t)192 << 20)
#define WORKER_BEST ((size_t)26 << 30)
/* Left free on a card: the driver's own, and what others may take between look and open. */
#define VRAM_LEFT ((size_t)640 << 20)
#define WATCH_SECONDS 1

struct unit {
    struct cz_device *dev;
    bool lost;
    char reason[256];
    unsigned workers, in_use;
    uint32_t places; /* bit k: its worker k is in use */
    uint64_t on;     /* compute workers that use it */
    uint64_t partitions, failures;
    unsigned num_srs;
    size_t vram_total, vram_taken, vram_srs, pinned;
    char model[96], pci[16];
    uint32_t ordinal;
    int card; /* NVML's index, or -1 */
    bool has_telemetry;
    struct cz_nvml_card telemetry;
};

struct cz_devices {
    pthread_mutex_t loading; /* one SRS goes to the GPUs at a time; before `lock` */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a worker is free, a device is lost, or `stop` */
    struct unit unit[CZ_DEVICES_MAX_GPUS + 1];
    unsigned num; /* GPUs; unit[num] is the CPU */
    char name[64];
    struct cz_nvml *nvml;
    pthread_t watcher;
    bool watching, stop;
};

struct cz_devices_srs {
    struct cz_devices *devices;
    const struct cz_r1cs *r1cs;
    struct cz_srs_view view;
    pthread_mutex_t cpu_lock;                   /* while the CPU's is made; before the devices' lock */
    struct cz_srs *on[CZ_DEVICES_MAX_GPUS + 1]; /* NULL: not there */
    size_t vram[CZ_DEVICES_MAX_GPUS];
    bool cpu_from_start;                /* its lists are a part of cz_devices_srs_bytes */
    bool others;                        /* a device has no room for this one beside other circuits' */
    bool unusable[CZ_DEVICES_MAX_GPUS]; /* the circuit does not fit into that device */
};

static void lock(struct cz_devices *d) {
    (void)pthread_mutex_lock(&d->lock);
}
static void unlock(struct cz_devices *d) {
    (void)pthread_mutex_unlock(&d->lock);
}

/* ---- telemetry ---- */

/* The driver may take its time to answer, so that status calls read what was said last. */
static void *watch_main(void *arg) {
    struct cz_devices *d = arg;
    lock(d);
    while (!d->stop) {
        for (unsigned i = 0; i < d->num && !d->stop; i++) {
            struct cz_nvml_card card;
            const int index = d->unit[i].card;
            if (index < 0) continue;
            unlock(d);
            const bool ok = cz_nvml_read(&card, d->nvml, (unsigned)index);
            lock(d);
            d->unit[i].has_telemetry = ok;
            if (ok) d->unit[i].telemetry = card;
        }
        struct timespec until;
        (void)clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec += WATCH_SECONDS;
        int rc = 0;
        while (!d->stop && rc != ETIMEDOUT) rc = pthread_cond_timedwait(&d->changed, &d->lock, &until);
    }
    unlock(d);
    return NULL;
}

static void watch_start(struct cz_devices *d) {
    struct cz_error err = {0};
    if (cz_nvml_open(&d->nvml, &err) != CZ_OK) {
        cz_log(CZ_LOG_INFO, "no telemetry of GPUs: %s", err.detail);
        return;
    }
    for (unsigned i = 0; i < d->num; i++) d->unit[i].card = cz_nvml_find(d->nvml, d->unit[i].pci);
    d->watching = pthread_create(&d->watcher, NULL, watch_main, d) == 0;
}

/* ---- create, destroy ---- */

static struct cz_devices *devices_new(void) {
    struct cz_devices *d = calloc(1, sizeof *d);
    pthread_condattr_t attr;
    if (!d) return NULL;
    if (pthread_condattr_init(&attr) != 0) {
        free(d);
        return NULL;
    }
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    const bool ok = pthread_mutex_init(&d->loading, NULL) == 0 && pthread_mutex_init(&d->lock, NULL) == 0 &&
                    pthread_cond_init(&d->changed, &attr) == 0;
    (void)pthread_condattr_destroy(&attr);
    if (ok) return d;
    free(d);
    return NULL;
}

/*
 * How a card's memory is divided: at most half for workers, the rest for parameters. Fewer workers than asked for when
 * each would get less than a 32 GiB partition needs: they would fail where waiting does.
 */
static unsigned divide(struct cz_gpu_options *o, size_t vram_free) {
    const size_t vram = vram_free > VRAM_LEFT ? vram_free - VRAM_LEFT : 0;
    while (o->workers > 1 && o->workers * WORKER_ANY > vram / 2) o->workers--;
    size_t each = vram / 2 / o->workers;
    if (each > WORKER_BEST) each = WORKER_BEST;
    if (each < WORKER_ANY && vram >= WORKER_ANY + CIRCUIT_ANY) each = WORKER_ANY;
    if (each < WORKER_POREP && vram >= WORKER_POREP + CIRCUIT_POREP) each = WORKER_POREP;
    o->vram_limit = vram;
    o->residents = vram - o->workers * each;
    return o->workers;
}

static enum cz_status open_gpu(struct cz_devices *d, uint32_t ordinal, unsigned workers, struct cz_pool *pool,
                               struct cz_error *err) {
    struct unit *u = &d->unit[d->num];
    struct cz_gpu_options o = {.ordinal = (int)ordinal, .workers = workers, .pinned = PINNED};
    struct cz_gpu_card card;
    struct cz_gpu_info info;
    enum cz_status st = cz_gpu_look(&card, o.ordinal, err);
    if (st != CZ_OK) return st;
    *u = (struct unit){.workers = divide(&o, card.vram_free), .ordinal = ordinal, .card = -1};
    st = cz_gpu_create(&u->dev, &o, pool, err);
    if (st != CZ_OK) return st;
    u->pinned = u->workers * PINNED;
    u->vram_total = card.vram_total;
    if (cz_gpu_describe(&info, u->dev)) u->vram_taken = info.vram_budget;
    (void)snprintf(u->model, sizeof u->model, "%s", card.name);
    memcpy(u->pci, card.pci, sizeof u->pci);
    cz_log(CZ_LOG_INFO, "cuda:%u: %s, sm_%d: %u worker%s, %zu MiB of %zu MiB taken, %zu MiB of it for parameters",
           ordinal, u->model, card.arch, u->workers, u->workers == 1 ? "" : "s", u->vram_taken >> 20,
           u->vram_total >> 20, o.residents >> 20);
    if (u->workers < workers) {
        cz_log(CZ_LOG_WARN, "cuda:%u: %u workers do not fit into its memory; partitions wait for %u", ordinal, workers,
               u->workers);
    }
    d->num++;
    return CZ_OK;
}

static void open_gpus(struct cz_devices *d, const struct cz_devices_options *options, struct cz_pool *pool) {
    struct cz_error err = {0};
    unsigned workers = options->workers ? options->workers : 2;
    if (workers > CZ_DEVICES_MAX_WORKERS) workers = CZ_DEVICES_MAX_WORKERS;
    if (options->cpu_only) {
        cz_log(CZ_LOG_INFO, "proving on the CPU: GPUs are turned off");
        return;
    }
    const unsigned count = cz_gpu_count(&err);
    if (count == 0) {
        cz_log(options->num_ordinals ? CZ_LOG_WARN : CZ_LOG_INFO, "proving on the CPU: %s", err.detail);
        return;
    }
    const size_t num = options->num_ordinals ? options->num_ordinals : count;
    for (size_t i = 0; i < num && d->num < CZ_DEVICES_MAX_GPUS; i++) {
        const uint32_t ordinal = options->num_ordinals ? options->ordinal[i] : (uint32_t)i;
        struct cz_error why = {0};
        if (ordinal >= count) {
            cz_log(CZ_LOG_WARN, "cuda:%u is not used: there are %u CUDA devices", ordinal, count);
            continue;
        }
        if (open_gpu(d, ordinal, workers, pool, &why) == CZ_OK) continue;
        cz_log(CZ_LOG_WARN, "cuda:%u is not used: %s", ordinal, why.detail);
    }
    if (d->num == 0) cz_log(CZ_LOG_WARN, "proving on the CPU: no GPU could be opened");
}

static void set_name(struct cz_devices *d) {
    size_t at = 0;
    for (unsigned i = 0; i < d->num && at < sizeof d->name; i++) {
        const int n =
            snprintf(d->name + at, sizeof d->name - at, "%s%s", i ? ", " : "", cz_device_name(d->unit[i].dev));
        if (n > 0) at += (size_t)n;
    }
    if (d->num == 0) (void)snprintf(d->name, sizeof d->name, "%s", cz_device_name(d->unit[0].dev));
}

enum cz_status cz_devices_create(struct cz_devices **out, const struct cz_devices_options *options,
                                 struct cz_pool *pool, struct cz_error *err) {
    struct cz_devices *d = devices_new();
    if (!d) return cz_error_set(err, CZ_ERR_MEMORY, "devices");
    open_gpus(d, options, pool);
    struct unit *cpu = &d->unit[d->num];
    *cpu = (struct unit){.workers = 1, .card = -1};
    const enum cz_status st = cz_device_create_cpu(&cpu->dev, pool);
    if (st != CZ_OK) {
        cz_devices_destroy(d);
        return cz_error_set(err, st, "the CPU device");
    }
    set_name(d);
    if (d->num > 0) watch_start(d);
    *out = d;
    return CZ_OK;
}

enum cz_status cz_devices_create_of(struct cz_devices **out, struct cz_device *const *gpu, size_t num,
                                    struct cz_device *cpu, unsigned workers) {
    struct cz_devices *d = num <= CZ_DEVICES_MAX_GPUS ? devices_new() : NULL;
    if (!d) {
        for (size_t i = 0; i < num; i++) cz_device_destroy(gpu[i]);
        cz_device_destroy(cpu);
        return CZ_ERR_MEMORY;
    }
    for (size_t i = 0; i < num; i++) {
        d->unit[i] = (struct unit){.dev = gpu[i], .workers = workers, .ordinal = (uint32_t)i, .card = -1};
    }
    d->num = (unsigned)num;
    d->unit[num] = (struct unit){.dev = cpu, .workers = 1, .card = -1};
    set_name(d);
    *out = d;
    return CZ_OK;
}

void cz_devices_destroy(struct cz_devices *d) {
    if (!d) return;
    if (d->watching) {
        lock(d);
        d->stop = true;
        (void)pthread_cond_broadcast(&d->changed);
        unlock(d);
        (void)pthread_join(d->watcher, NULL);
    }
    cz_nvml_close(d->nvml);
    for (unsigned i = 0; i <= d->num; i++) cz_device_destroy(d->unit[i].dev);
    (void)pthread_cond_destroy(&d->changed);
    (void)pthread_mutex_destroy(&d->lock);
    (void)pthread_mutex_destroy(&d->loading);
    free(d);
}

const char *cz_devices_name(const struct cz_devices *d) {
    return d->name;
}

unsigned cz_devices_workers(const struct cz_devices *d) {
    unsigned n = 0;
    for (unsigned i = 0; i < d->num; i++) n += d->unit[i].workers;
    return n ? n : 1;
}

unsigned cz_devices_gpus(struct cz_devices *d) {
    unsigned n = 0;
    lock(d);
    for (unsigned i = 0; i < d->num; i++) n += !d->unit[i].lost;
    unlock(d);
    return n;
}

/* ---- lost devices ---- */

static void retire(struct cz_devices *d, unsigned i, const struct cz_error *why) {
    struct unit *u = &d->unit[i];
    unsigned left = 0;
    lock(d);
    const bool first = !u->lost;
    u->lost = true;
    if (first) (void)snprintf(u->reason, sizeof u->reason, "%.255s", why->detail[0] ? why->detail : "device failed");
    for (unsigned k = 0; k < d->num; k++) left += !d->unit[k].lost;
    (void)pthread_cond_broadcast(&d->changed);
    unlock(d);
    if (!first) return;
    cz_log(CZ_LOG_ERROR, "%s is lost and gets no more work: %s; %u GPUs are left%s", cz_device_name(u->dev), u->reason,
           left, left ? "" : ", so the CPU proves");
}

/* ---- parameters ---- */

/* The SRS of one GPU, or the reason why it does not have it. Only wrong parameters fail. */
static enum cz_status srs_on_gpu(struct cz_devices_srs *s, unsigned i, struct cz_error *err) {
    struct cz_devices *d = s->devices;
    struct unit *u = &d->unit[i];
    struct cz_error why = {0};
    const enum cz_status st = cz_srs_create(&s->on[i], u->dev, s->r1cs, &s->view, &why);
    if (st == CZ_OK) {
        s->vram[i] = cz_gpu_srs_vram(u->dev, s->on[i]);
        lock(d);
        u->vram_srs += s->vram[i];
        u->num_srs++;
        unlock(d);
        return CZ_OK;
    }
    s->on[i] = NULL;
    lock(d);
    s->others = s->others || (st == CZ_ERR_BUDGET && u->num_srs > 0);
    unlock(d);
    if (st == CZ_ERR_DEVICE) {
        retire(d, i, &why);
    } else if (cz_status_class(st) == CZ_CLASS_BAD_INPUT) {
        return cz_error_set(err, st, "%s", why.detail);
    } else {
        cz_log(CZ_LOG_WARN, "%s does not take these parameters: %s", cz_device_name(u->dev),
               why.detail[0] ? why.detail : cz_status_text(st));
    }
    return CZ_OK;
}

static enum cz_status srs_on_cpu(struct cz_devices_srs *s, struct cz_error *err) {
    struct cz_srs **at = &s->on[s->devices->num];
    enum cz_status st = CZ_OK;
    (void)pthread_mutex_lock(&s->cpu_lock);
    if (!*at) st = cz_srs_create(at, s->devices->unit[s->devices->num].dev, s->r1cs, &s->view, err);
    (void)pthread_mutex_unlock(&s->cpu_lock);
    return st;
}

/* Lock of the devices held. */
static bool usable(const struct cz_devices_srs *s, unsigned i) {
    return s->on[i] && !s->unusable[i] && !s->devices->unit[i].lost;
}

bool cz_devices_srs_on_gpu(struct cz_devices_srs *s) {
    bool any = false;
    lock(s->devices);
    for (unsigned i = 0; i < s->devices->num; i++) any = any || usable(s, i);
    unlock(s->devices);
    return any;
}

struct load {
    struct cz_devices_srs *s;
    unsigned gpu;
    pthread_t thread;
    bool own_thread;
    enum cz_status status;
    struct cz_error err;
};

static void *load_main(void *arg) {
    struct load *l = arg;
    l->status = srs_on_gpu(l->s, l->gpu, &l->err);
    return NULL;
}

/* All GPUs at once: each has its own bus, and pages of the file that are read from disk serve all of them. */
static enum cz_status srs_on_gpus(struct cz_devices_srs *s, struct cz_error *err) {
    struct load load[CZ_DEVICES_MAX_GPUS];
    unsigned n = 0;
    lock(s->devices);
    for (unsigned i = 0; i < s->devices->num; i++)
        if (!s->devices->unit[i].lost) load[n++] = (struct load){.s = s, .gpu = i};
    unlock(s->devices);
    for (unsigned i = 1; i < n; i++)
        load[i].own_thread = pthread_create(&load[i].thread, NULL, load_main, &load[i]) == 0;
    for (unsigned i = 0; i < n; i++)
        if (!load[i].own_thread) (void)load_main(&load[i]);
    for (unsigned i = 1; i < n; i++)
        if (load[i].own_thread) (void)pthread_join(load[i].thread, NULL);
    for (unsigned i = 0; i < n; i++)
        if (load[i].status != CZ_OK) return cz_error_set(err, load[i].status, "%s", load[i].err.detail);
    return CZ_OK;
}

enum cz_status cz_devices_srs_create(struct cz_devices_srs **out, struct cz_devices *d, const struct cz_r1cs *r1cs,
                                     const struct cz_srs_view *view, struct cz_error *err) {
    struct cz_devices_srs *s = calloc(1, sizeof *s);
    if (!s || pthread_mutex_init(&s->cpu_lock, NULL) != 0) {
        free(s);
        return cz_error_set(err, CZ_ERR_MEMORY, "parameters");
    }
    s->devices = d;
    s->r1cs = r1cs;
    s->view = *view;
    /* What is in the way has to be there and not on its way: of two at once, either may find no room and no reason. */
    (void)pthread_mutex_lock(&d->loading);
    enum cz_status st = srs_on_gpus(s, err);
    (void)pthread_mutex_unlock(&d->loading);
    const bool on_gpu = cz_devices_srs_on_gpu(s);
    if (st == CZ_OK && !on_gpu && s->others) {
        st = cz_error_set(err, CZ_ERR_FULL, "no GPU has room for it beside the parameters of other circuits");
    }
    if (st == CZ_OK && !on_gpu) st = srs_on_cpu(s, err);
    s->cpu_from_start = st == CZ_OK && !on_gpu;
    if (st != CZ_OK) {
        cz_devices_srs_destroy(s);
        return st;
    }
    *out = s;
    return CZ_OK;
}

void cz_devices_srs_destroy(struct cz_devices_srs *s) {
    if (!s) return;
    for (unsigned i = 0; i <= s->devices->num; i++) cz_srs_destroy(s->on[i]);
    /* Not before: until then another one finds no room, and this is why. */
    lock(s->devices);
    for (unsigned i = 0; i < s->devices->num; i++) {
        s->devices->unit[i].vram_srs -= s->vram[i];
        s->devices->unit[i].num_srs -= s->on[i] != NULL;
    }
    unlock(s->devices);
    (void)pthread_mutex_destroy(&s->cpu_lock);
    free(s);
}

size_t cz_devices_srs_bytes(const struct cz_devices_srs *s) {
    size_t bytes = sizeof *s;
    for (unsigned i = 0; i < s->devices->num; i++) {
        if (s->on[i]) bytes += cz_srs_bytes(s->on[i]) - s->vram[i];
    }
    if (s->cpu_from_start) bytes += cz_srs_bytes(s->on[s->devices->num]);
    return bytes;
}

/*
 * On the CPU. Index lists of the densities, at most two words a variable, come with the first partition that no GPU
 * takes: they count with the work, as the SRS is accounted for then.
 */
static size_t cpu_bytes(const struct cz_devices *d, const struct cz_devices_srs *s, const struct cz_r1cs *r1cs) {
    const size_t lists = s && s->cpu_from_start ? 0 : (size_t)r1cs->num_aux * 8;
    return cz_device_partition_bytes(d->unit[d->num].dev, r1cs) + (d->num > 0 ? lists : 0);
}

size_t cz_devices_partition_bytes(struct cz_devices *d, struct cz_devices_srs *s, const struct cz_r1cs *r1cs) {
    size_t most = 0;
    bool any = false;
    for (unsigned i = 0; i < d->num; i++) {
        lock(d);
        const bool ok = s ? usable(s, i) : !d->unit[i].lost;
        unlock(d);
        if (!ok) continue;
        const size_t bytes = cz_device_partition_bytes(d->unit[i].dev, r1cs);
        if (bytes > most) most = bytes;
        any = true;
    }
    return any ? most : cpu_bytes(d, s, r1cs);
}

/* ---- partitions ---- */

/* A place is a worker of a unit; a lane is both in one number. */
#define PLACES 32
_Static_assert(CZ_DEVICES_MAX_WORKERS <= PLACES, "a bit each");

static int lane_of(unsigned unit, unsigned place) {
    return (int)(unit * PLACES + place);
}
static unsigned unit_of(int lane) {
    return (unsigned)lane / PLACES;
}

/* Lock held. A lane of the least busy device that has the SRS, or of the CPU when none has; CZ_NO_LANE: none is free.
 */
static int take_free(struct cz_devices_srs *s, unsigned worker) {
    struct cz_devices *d = s->devices;
    unsigned best = d->num + 1;
    bool any = false;
    for (unsigned i = 0; i < d->num; i++) {
        if (!usable(s, i)) continue;
        any = true;
        const struct unit *u = &d->unit[i];
        if (u->in_use >= u->workers) continue;
        if (best > d->num || u->in_use < d->unit[best].in_use) best = i;
    }
    if (!any && d->unit[d->num].in_use < d->unit[d->num].workers) best = d->num;
    if (best > d->num) return CZ_NO_LANE;
    struct unit *u = &d->unit[best];
    unsigned place = 0;
    while (place + 1 < PLACES && u->places >> place & 1) place++;
    u->places |= UINT32_C(1) << place;
    u->in_use++;
    if (worker < 64) u->on |= UINT64_C(1) << worker;
    return lane_of(best, place);
}

/* Lock held. */
static void put_free(struct cz_devices *d, unsigned worker, int lane) {
    struct unit *u = &d->unit[unit_of(lane)];
    u->places &= ~(UINT32_C(1) << (unsigned)lane % PLACES);
    u->in_use--;
    if (worker < 64) u->on &= ~(UINT64_C(1) << worker);
    (void)pthread_cond_broadcast(&d->changed);
}

int cz_devices_lane(struct cz_devices_srs *s, unsigned worker) {
    lock(s->devices);
    const int lane = take_free(s, worker);
    unlock(s->devices);
    return lane;
}

void cz_devices_lane_free(struct cz_devices_srs *s, unsigned worker, int lane) {
    lock(s->devices);
    put_free(s->devices, worker, lane);
    unlock(s->devices);
}

/* Lock held. Whether some GPU does this circuit still. */
static bool any_usable(const struct cz_devices_srs *s) {
    for (unsigned i = 0; i < s->devices->num; i++)
        if (usable(s, i)) return true;
    return false;
}

/* The CPU is left alone, and takes more than was reserved: the reason in err. */
static bool too_large_for_cpu(struct cz_devices_srs *s, size_t bytes, struct cz_error *err) {
    const size_t need = cpu_bytes(s->devices, s, s->r1cs);
    if (need <= bytes) return false;
    (void)cz_error_set(err, CZ_ERR_DEVICE, "no GPU is left for it, and the CPU takes %zu MiB", need >> 20);
    return true;
}

/* Waits for a lane. CZ_NO_LANE: too_large_for_cpu. */
static int take(struct cz_devices_srs *s, const struct cz_stage_slot *slot, struct cz_error *err) {
    struct cz_devices *d = s->devices;
    int lane;
    lock(d);
    while ((lane = take_free(s, slot->worker)) == CZ_NO_LANE) {
        if (!any_usable(s) && too_large_for_cpu(s, slot->bytes, err)) break;
        (void)pthread_cond_wait(&d->changed, &d->lock);
    }
    unlock(d);
    return lane;
}

static void give(struct cz_devices *d, unsigned worker, int lane, enum cz_status st) {
    struct unit *u = &d->unit[unit_of(lane)];
    lock(d);
    u->partitions += st == CZ_OK;
    u->failures += st != CZ_OK;
    put_free(d, worker, lane);
    unlock(d);
}

/* A place has one partition at a time, so that spans of a track do not overlap. */
static void trace_parts(const struct cz_partition_timing *t, const struct cz_device *dev, int lane,
                        const struct cz_stage_slot *slot) {
    char track[64];
    (void)snprintf(track, sizeof track, CZ_TRACE_DEVICE "%s worker %u stream", cz_device_name(dev),
                   (unsigned)lane % PLACES);
    uint64_t last = 0;
    for (;;) { /* in order of time, which is the device's own */
        int next = -1;
        for (int k = 0; k < CZ_PARTITION_PARTS; k++) {
            const uint64_t at = t->part[k].start_ns;
            if (at > last && (next < 0 || at < t->part[next].start_ns)) next = k;
        }
        if (next < 0) return;
        last = t->part[next].start_ns;
        cz_trace_span(track, cz_partition_part_name((enum cz_partition_part)next), last, t->part[next].end_ns,
                      slot->job, slot->partition);
    }
}

static enum cz_status prove_on(struct cz_partition_sums *out, struct cz_devices_srs *s, int lane,
                               const struct cz_witness *witness, const struct cz_stage_slot *slot,
                               struct cz_error *err) {
    struct cz_devices *d = s->devices;
    const unsigned i = unit_of(lane);
    if (i == d->num) {
        const enum cz_status st = srs_on_cpu(s, err);
        if (st != CZ_OK) return st;
    }
    struct cz_partition_timing timing;
    const enum cz_status st = cz_device_prove_partition(out, &timing, s->on[i], witness, err);
    if (st == CZ_OK && cz_trace_on()) trace_parts(&timing, d->unit[i].dev, lane, slot);
    return st;
}

enum cz_status cz_devices_prove(struct cz_partition_sums *out, struct cz_devices_srs *s,
                                const struct cz_witness *witness, const struct cz_stage_slot *slot,
                                struct cz_error *err) {
    struct cz_devices *d = s->devices;
    int lane = slot->lane;
    if (lane != CZ_NO_LANE && unit_of(lane) < d->num) { /* it may have been lost since the lane was taken */
        lock(d);
        const bool ok = usable(s, unit_of(lane));
        if (!ok) put_free(d, slot->worker, lane);
        unlock(d);
        if (!ok) lane = CZ_NO_LANE;
    }
    for (;; lane = CZ_NO_LANE) {
        struct cz_error why = {0};
        if (lane == CZ_NO_LANE) lane = take(s, slot, err);
        if (lane == CZ_NO_LANE) return CZ_ERR_DEVICE;
        const unsigned i = unit_of(lane);
        if (i == d->num && too_large_for_cpu(s, slot->bytes, err)) {
            cz_devices_lane_free(s, slot->worker, lane);
            return CZ_ERR_DEVICE;
        }
        const enum cz_status st = prove_on(out, s, lane, witness, slot, &why);
        give(d, slot->worker, lane, st);
        if (st == CZ_OK) return CZ_OK;
        if (i < d->num && st == CZ_ERR_DEVICE) {
            retire(d, i, &why);
            continue;
        }
        if (i < d->num && st == CZ_ERR_BUDGET) {
            lock(d);
            s->unusable[i] = true;
            (void)pthread_cond_broadcast(&d->changed);
            unlock(d);
            cz_log(CZ_LOG_WARN, "%s has too little memory for this circuit, which goes elsewhere: %s",
                   cz_device_name(d->unit[i].dev), why.detail);
            continue;
        }
        /* A CPU has no way to be lost. */
        const enum cz_status final = st == CZ_ERR_DEVICE ? CZ_ERR_INTERNAL : st;
        return cz_error_set(err, final, "%s", why.detail[0] ? why.detail : cz_status_text(st));
    }
}

/* ---- status ---- */

static void unit_status(struct cz_device_status *out, const struct unit *u, bool gpu) {
    *out = (struct cz_device_status){
        .ordinal = u->ordinal,
        .gpu = gpu,
        .lost = u->lost,
        .workers = u->on,
        .capacity = u->workers,
        .vram_total = u->vram_total,
        .vram_free = u->vram_total > u->vram_taken ? u->vram_total - u->vram_taken : 0,
        .vram_taken = u->vram_taken,
        .vram_srs = u->vram_srs,
        .pinned = u->pinned,
        .partitions = u->partitions,
        .failures = u->failures,
        .utilisation = -1,
        .temperature = -1,
        .power_mw = -1,
    };
    (void)snprintf(out->name, sizeof out->name, "%.31s", cz_device_name(u->dev));
    memcpy(out->model, u->model, sizeof out->model);
    memcpy(out->reason, u->reason, sizeof out->reason);
    if (!u->has_telemetry) return;
    const struct cz_nvml_card *t = &u->telemetry;
    out->vram_total = t->memory_total;
    out->vram_free = t->memory_total > t->memory_used ? t->memory_total - t->memory_used : 0;
    out->utilisation = t->utilisation;
    out->temperature = t->temperature;
    out->power_mw = t->power_mw;
    cz_nvml_throttle_text(out->throttle, sizeof out->throttle, t->throttle);
}

uint32_t cz_devices_status(struct cz_devices *d, struct cz_device_status *out, uint32_t max) {
    uint32_t n = 0;
    bool live = false;
    lock(d);
    for (unsigned i = 0; i < d->num && n < max; i++) {
        unit_status(&out[n++], &d->unit[i], true);
        live = live || !d->unit[i].lost;
    }
    if ((!live || d->unit[d->num].on || d->unit[d->num].partitions) && n < max) {
        unit_status(&out[n++], &d->unit[d->num], false);
    }
    unlock(d);
    return n;
}
