/*
 * Which circuits are built and which SRS are loaded. An SRS comes when a job starts on it or a preload asks, and goes
 * when memory is needed, nobody holds it, and it has not been used for evict_min_idle_ms: least recently used first.
 */

#include "base/time.h"
#include "base/trace.h"
#include "engine/engine_int.h"

static struct cz_circuit *entry(struct cz_engine *e, enum cz_circuit_kind kind, const struct cz_sector_info *sector) {
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++) {
        struct cz_circuit *c = &e->circuit[i];
        if (c->sector && c->kind == kind && c->sector == sector) return c;
        if (c->sector) continue;
        if (cz_circuit_id(c->id, sizeof c->id, kind, sector) != CZ_OK) return NULL;
        c->kind = kind;
        c->sector = sector;
        return c;
    }
    return NULL;
}

enum cz_status cz_residency_open(struct cz_engine *e, struct cz_circuit **out, enum cz_circuit_kind kind,
                                 const struct cz_sector_info *sector, struct cz_error *err) {
    struct cz_circuit *c = entry(e, kind, sector);
    if (!c) return cz_error_set(err, CZ_ERR_UNSUPPORTED, "no circuit for %s", sector->name);
    while (c->opening) cz_engine_wait_change(e, 0);
    if (!c->open) {
        c->opening = true;
        cz_engine_unlock(e);
        enum cz_status st = e->ops->circuit_open(e->ops_ctx, &c->handle, &c->plan, kind, sector, err);
        cz_engine_lock(e);
        c->opening = false;
        c->open = st == CZ_OK;
        cz_engine_changed(e);
        if (st != CZ_OK) return st;
    }
    *out = c;
    return CZ_OK;
}

/* Floors of the circuits in use, and of `extra` as if it were. */
static void set_floor(struct cz_engine *e, const struct cz_circuit *extra) {
    size_t witness = 0, compute = 0;
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++) {
        const struct cz_circuit *c = &e->circuit[i];
        if (c->refs == 0 && c != extra) continue;
        if (c->plan.witness > witness) witness = c->plan.witness;
        if (c->plan.compute > compute) compute = c->plan.compute;
    }
    cz_budget_set_floor(&e->budget, witness, compute);
}

void cz_residency_floor(struct cz_engine *e) {
    set_floor(e, NULL);
    cz_engine_changed(e);
}

/* Takes `bytes` and a reference when the floors allow. */
static bool try_hold(struct cz_engine *e, struct cz_circuit *c, size_t bytes) {
    set_floor(e, c);
    bool ok = cz_budget_try(&e->budget, CZ_BUDGET_SRS, bytes);
    if (ok) c->refs++;
    set_floor(e, NULL);
    return ok;
}

static void evict(struct cz_engine *e, struct cz_circuit *c) {
    c->state = CZ_RESIDENCY_MOVING;
    c->loading = false;
    cz_engine_unlock(e);
    e->ops->srs_unload(e->ops_ctx, c->handle);
    cz_engine_lock(e);
    cz_budget_release(&e->budget, CZ_BUDGET_SRS, c->bytes);
    c->bytes = 0;
    c->state = CZ_RESIDENCY_ABSENT;
    e->unloads++;
    cz_engine_changed(e);
}

static struct cz_circuit *longest_unused(struct cz_engine *e, const struct cz_circuit *wanted) {
    struct cz_circuit *oldest = NULL;
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++) {
        struct cz_circuit *c = &e->circuit[i];
        if (c == wanted || c->state != CZ_RESIDENCY_READY || c->refs > 0) continue;
        if (!oldest || c->last_use_ns < oldest->last_use_ns) oldest = c;
    }
    return oldest;
}

bool cz_residency_evict_now(struct cz_engine *e, const struct cz_circuit *wanted) {
    struct cz_circuit *oldest = longest_unused(e, wanted);
    if (oldest) evict(e, oldest);
    return oldest != NULL;
}

bool cz_residency_make_room(struct cz_engine *e, const struct cz_circuit *wanted) {
    struct cz_circuit *oldest = longest_unused(e, wanted);
    uint64_t due = oldest ? oldest->last_use_ns + e->opt.evict_min_idle_ms * 1000000 : 0;
    if (oldest && due <= cz_time_now_ns()) {
        evict(e, oldest);
        return true;
    }
    cz_engine_wait_change(e, due);
    return false;
}

static unsigned loaded_beside(const struct cz_engine *e, const struct cz_circuit *c) {
    unsigned n = 0;
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++)
        n += &e->circuit[i] != c && e->circuit[i].state != CZ_RESIDENCY_ABSENT;
    return n;
}

/* A job is waited for while the engine drains; nobody needs a preload (no job) then. */
static bool given_up(const struct cz_engine *e, const struct cz_job *job) {
    return e->stop || (!job && e->draining);
}

/* Whether something more urgent is to start before this job. */
static bool comes_later(const struct cz_engine *e, const struct cz_job *job) {
    if (!job) return false;
    for (const struct cz_job *j = e->live; j && j->priority > job->priority; j = j->next_live)
        if (j->state == CZ_JOB_QUEUED || j->state == CZ_JOB_STARTING) return true;
    return false;
}

static enum cz_status shutting_down(struct cz_error *err) {
    return cz_error_set(err, CZ_ERR_SHUTDOWN, "the daemon is shutting down");
}

/*
 * A device had no room beside others when `unloads` were unloaded and `lost` devices lost: waits until that has
 * changed. False when it need not be tried again now: it is given up or comes later, there is nothing to wait for, or
 * what is reserved for it meanwhile is what partitions of others wait for.
 */
static bool wait_device_room(struct cz_engine *e, const struct cz_circuit *c, const struct cz_job *job,
                             uint64_t unloads, uint32_t lost) {
    while (!given_up(e, job) && !comes_later(e, job) && cz_budget_floors_fit(&e->budget)) {
        if (e->unloads != unloads || e->lost != lost) return true;
        if (loaded_beside(e, c) == 0) return false;
        (void)cz_residency_make_room(e, c);
    }
    return false;
}

/* The plan of a circuit as things are. Drops the lock. */
static void refresh_plan(struct cz_engine *e, struct cz_circuit *c) {
    if (!e->ops->plan) return;
    struct cz_stage_plan plan = c->plan;
    cz_engine_unlock(e);
    e->ops->plan(e->ops_ctx, c->handle, &plan);
    cz_engine_lock(e);
    if (c->refs == 0) c->plan = plan; /* else partitions were let in by the one there is: replan */
}

/*
 * The estimates give way to the true size and the true plan. They may be more: what no GPU takes stays on the host with
 * all of its file, and is computed there. Then it has to fit as if it had been asked for, or the partitions would wait
 * for memory that nobody gives back. False: it does not, and is gone again.
 */
static bool settle(struct cz_engine *e, struct cz_circuit *c, size_t bytes, const struct cz_stage_plan *plan) {
    const size_t reserved = c->bytes;
    const bool grown = bytes > reserved || plan->witness > c->plan.witness || plan->compute > c->plan.compute;
    cz_budget_release(&e->budget, CZ_BUDGET_SRS, reserved);
    c->bytes = bytes;
    c->plan = *plan;
    set_floor(e, NULL);
    if (!grown) {
        cz_budget_force(&e->budget, CZ_BUDGET_SRS, bytes);
        return true;
    }
    if (cz_budget_try(&e->budget, CZ_BUDGET_SRS, bytes)) return true;
    c->bytes = 0;
    cz_engine_unlock(e);
    e->ops->srs_unload(e->ops_ctx, c->handle);
    cz_engine_lock(e);
    e->unloads++;
    return false;
}

/* *least: the true size, when it is known; *again: to be asked for again, with that. */
static enum cz_status load(struct cz_engine *e, struct cz_circuit *c, size_t reserved, const struct cz_job *job,
                           size_t *least, bool *again, double *seconds, struct cz_error *err) {
    c->state = CZ_RESIDENCY_MOVING;
    c->loading = true;
    c->bytes = reserved;
    uint64_t start = cz_time_now_ns(), unloads;
    uint32_t lost;
    size_t bytes = 0;
    struct cz_stage_plan plan = c->plan;
    enum cz_status st;
    do {
        unloads = e->unloads;
        lost = e->lost;
        cz_engine_unlock(e);
        const uint64_t from = cz_time_now_ns();
        st = e->ops->srs_load(e->ops_ctx, c->handle, &bytes, err);
        if (st == CZ_OK && e->ops->plan) e->ops->plan(e->ops_ctx, c->handle, &plan);
        cz_trace_wait("srs load", from, cz_time_now_ns(), c->id, CZ_TRACE_NO_PARTITION);
        cz_engine_lock(e);
    } while (st == CZ_ERR_FULL && wait_device_room(e, c, job, unloads, lost));
    *seconds += cz_time_since(start);
    if (st == CZ_OK) {
        *least = bytes;
        *again = !settle(e, c, bytes, &plan);
    } else {
        *again = st == CZ_ERR_FULL && (given_up(e, job) || loaded_beside(e, c) > 0);
        cz_budget_release(&e->budget, CZ_BUDGET_SRS, c->bytes);
        c->bytes = 0;
    }
    const bool ready = st == CZ_OK && !*again;
    c->state = ready ? CZ_RESIDENCY_READY : CZ_RESIDENCY_ABSENT;
    c->last_use_ns = cz_time_now_ns();
    if (!ready) {
        c->refs--;
        set_floor(e, NULL);
    }
    cz_engine_changed(e);
    return st;
}

enum cz_status cz_residency_acquire(struct cz_engine *e, struct cz_circuit *c, const struct cz_job *job,
                                    struct cz_hold *hold, struct cz_error *err) {
    size_t least = 0;
    *hold = (struct cz_hold){0};
    for (;;) {
        if (given_up(e, job)) return shutting_down(err);
        if (comes_later(e, job)) {
            hold->later = true;
            return CZ_OK;
        }
        if (c->state == CZ_RESIDENCY_MOVING) {
            cz_engine_wait_change(e, 0);
            continue;
        }
        if (c->state == CZ_RESIDENCY_READY) {
            if (try_hold(e, c, 0)) return CZ_OK;
            (void)cz_residency_make_room(e, c);
            continue;
        }
        cz_engine_unlock(e);
        size_t bytes = 0;
        enum cz_status st = e->ops->srs_bytes(e->ops_ctx, c->handle, &bytes, err);
        cz_engine_lock(e);
        if (st != CZ_OK) return st;
        refresh_plan(e, c);
        if (bytes < least) bytes = least;
        struct cz_budget_need need = {.srs = bytes, .witness = c->plan.witness, .compute = c->plan.compute};
        st = cz_budget_check(&e->budget, &need, c->id, err);
        if (st != CZ_OK) return st;
        if (c->state != CZ_RESIDENCY_ABSENT) continue;
        if (!try_hold(e, c, bytes)) {
            /* Not when it was given up while the lock was dropped: nobody would wake it. */
            if (!given_up(e, job) && !comes_later(e, job)) (void)cz_residency_make_room(e, c);
            continue;
        }
        hold->loaded_now = true;
        bool again = false;
        st = load(e, c, bytes, job, &least, &again, &hold->seconds, err);
        if (!again) return st;
    }
}

void cz_residency_release(struct cz_engine *e, struct cz_circuit *c) {
    c->refs--;
    c->last_use_ns = cz_time_now_ns();
    set_floor(e, NULL);
    cz_engine_changed(e);
}

void cz_residency_close_all(struct cz_engine *e) {
    for (unsigned i = 0; i < CZ_ENGINE_MAX_SRS; i++) {
        struct cz_circuit *c = &e->circuit[i];
        if (c->state == CZ_RESIDENCY_READY) e->ops->srs_unload(e->ops_ctx, c->handle);
        if (c->open) e->ops->circuit_close(e->ops_ctx, c->handle);
    }
}
