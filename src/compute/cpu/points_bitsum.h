/* A part of points_template.h: no include guard. */

/* Sums over set bits: every thread keeps BATCH sums and adds the chosen points to them in turn. */

struct bitsum_worker {
    struct batch batch;
    struct spoint sum[BATCH], point[BATCH];
    uint8_t state[BATCH], infinite[BATCH];
    uint32_t chosen[BATCH];
    size_t n;
};

struct bitsum {
    const struct cz_point_source *base;
    const struct cz_bit_select *select;
    struct bitsum_worker *worker;
};

static void bitsum_take(struct bitsum_worker *w, const struct cz_point_source *base) {
    struct cz_point_source chosen = *base;
    chosen.index = w->chosen;
    load_points(w->point, w->infinite, &chosen, 0, w->n);
    for (size_t i = 0; i < w->n; i++)
        if (!w->infinite[i]) lazy_add(&w->batch, &w->sum[i], &w->state[i], &w->point[i], (uint32_t)i);
    lazy_run(&w->batch, w->state);
    w->n = 0;
}

#define BITSUM_GRAIN 16384 /* a multiple of 512 */

static void bitsum_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct bitsum *job = ctx;
    const struct cz_bit_select *sel = job->select;
    struct bitsum_worker *w = &job->worker[worker];
    size_t rank = sel->first_base + (sel->density ? sel->density_rank[first / 512] : first);
    for (size_t at = first; at < last; at += 64) {
        uint64_t valid = last - at >= 64 ? UINT64_MAX : (UINT64_C(1) << (last - at)) - 1;
        uint64_t density = sel->density ? sel->density[at / 64] & valid : valid;
        uint64_t set = sel->value[at / 64] & density;
        for (; set; set &= set - 1) {
            w->chosen[w->n++] = (uint32_t)(rank + (size_t)__builtin_popcountll(density & ((set & -set) - 1)));
            if (w->n == BATCH) bitsum_take(w, job->base);
        }
        rank += (size_t)__builtin_popcountll(density);
    }
}

static size_t bitsum_bytes(unsigned threads) {
    return threads * sizeof(struct bitsum_worker);
}

static enum cz_status bitsum_run(void *out, struct cz_pool *pool, const struct cz_point_source *base,
                                 const struct cz_bit_select *select) {
    unsigned threads = cz_pool_threads(pool);
    struct bitsum job = {.base = base, .select = select};
    job.worker = cz_malloc_array(threads, sizeof *job.worker);
    if (!job.worker) return CZ_ERR_MEMORY;
    for (unsigned t = 0; t < threads; t++) {
        batch_init(&job.worker[t].batch);
        memset(job.worker[t].state, EMPTY, sizeof job.worker[t].state);
        job.worker[t].n = 0;
    }
    cz_pool_for(pool, select->n, BITSUM_GRAIN, bitsum_range, &job);
    POINT sum = INFINITY_POINT;
    for (unsigned t = 0; t < threads; t++) {
        struct bitsum_worker *w = &job.worker[t];
        bitsum_take(w, base);
        for (size_t i = 0; i < BATCH; i++)
            if (w->state[i] == FULL) point_add_stored(&sum, &w->sum[i]);
    }
    memcpy(out, &sum, sizeof sum);
    cz_free(job.worker);
    return CZ_OK;
}
