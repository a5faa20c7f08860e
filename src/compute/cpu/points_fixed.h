/* A part of points_template.h: no include guard. */

/* Multiples of a fixed base: table[w·half + j] = (j + 1)·2^(c·w)·base, one addition a digit. */

struct fixed_worker {
    struct batch batch;
    struct spoint sum[BATCH];
    uint8_t state[BATCH];
    uint64_t scalar[4 * BATCH];
};

struct cz_points_fixed {
    struct cz_pool *pool;
    struct recode rec;
    bool infinite;
    size_t half;
    struct spoint *table;
    struct fixed_worker *worker;
};

static void fixed_destroy(struct cz_points_fixed *f) {
    if (!f) return;
    if (f->worker) cz_memzero(f->worker, cz_pool_threads(f->pool) * sizeof *f->worker);
    cz_free(f->table);
    cz_free(f->worker);
    cz_free(f);
}

/* Doubles the filled part of a row: row[m + i] = row[i] + row[m - 1]. */
static void fixed_row(void *ctx, size_t first, size_t last, unsigned worker) {
    struct cz_points_fixed *f = ctx;
    struct batch *b = &f->worker[worker].batch;
    b->n = 0;
    for (size_t w = first; w < last; w++) {
        struct spoint *row = f->table + w * f->half;
        for (size_t m = 1; m < f->half; m *= 2) {
            for (size_t i = 0; i < m; i++) {
                row[m + i] = row[i];
                batch_push(b, &row[m + i], &row[m - 1], false, 0);
                if (b->n < BATCH && i + 1 < m) continue;
                batch_run(b);
                b->n = 0;
            }
        }
    }
}

static enum cz_status fixed_create(struct cz_points_fixed **out, struct cz_pool *pool, const void *base,
                                   size_t expected) {
    struct cz_points_fixed *f = cz_calloc(1, sizeof *f);
    if (!f) return CZ_ERR_MEMORY;
    unsigned best_c = 4;
    double best = 0;
    for (unsigned c = 4; c <= 16; c++) {
        unsigned windows = (255 + c - 1) / c;
        double cost = windows * ((double)expected + (double)(1u << (c - 1)));
        if (c == 4 || cost < best) {
            best = cost;
            best_c = c;
        }
    }
    recode_init(&f->rec, best_c);
    f->half = (size_t)1 << (best_c - 1);
    f->pool = pool;
    f->table = cz_cpu_large(f->rec.windows * f->half, sizeof *f->table);
    f->worker = cz_malloc_array(cz_pool_threads(pool), sizeof *f->worker);
    if (!f->table || !f->worker) {
        f->worker ? (void)memset(f->worker, 0, cz_pool_threads(pool) * sizeof *f->worker) : (void)0;
        fixed_destroy(f);
        return CZ_ERR_MEMORY;
    }
    for (unsigned t = 0; t < cz_pool_threads(pool); t++) batch_init(&f->worker[t].batch);
    AFFINE a;
    memcpy(&a, base, sizeof a);
    f->infinite = G(affine_is_infinity)(&a);
    if (!f->infinite) {
        POINT p;
        G(from_affine)(&p, &a);
        for (unsigned w = 0; w < f->rec.windows; w++) {
            G(to_affine)(&a, &p);
            stored_from_affine(&f->table[w * f->half], &a);
            for (unsigned i = 0; i < best_c; i++) G(dbl)(&p, &p);
        }
        cz_pool_for(pool, f->rec.windows, 1, fixed_row, f);
    }
    *out = f;
    return CZ_OK;
}

struct fixed_job {
    struct cz_points_fixed *f;
    const struct cz_fr *scalar;
    AFFINE *out;
};

static void fixed_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct fixed_job *job = ctx;
    struct cz_points_fixed *f = job->f;
    struct fixed_worker *k = &f->worker[worker];
    size_t n = last - first;
    if (f->infinite) {
        memset(job->out + first, 0, n * sizeof *job->out);
        return;
    }
    cz_fr_to_limbs_n(k->scalar, job->scalar + first, n);
    for (size_t i = 0; i < n; i++) {
        if (!recode_scalar(&k->scalar[4 * i], &f->rec, &k->scalar[4 * i]))
            memcpy(&k->scalar[4 * i], f->rec.offset, sizeof f->rec.offset);
    }
    memset(k->state, EMPTY, sizeof k->state);
    k->batch.n = 0;
    for (unsigned w = 0; w < f->rec.windows; w++) {
        const struct spoint *row = f->table + w * f->half;
        for (size_t i = 0; i < n; i++) {
            int32_t digit = recode_digit(&k->scalar[4 * i], &f->rec, w);
            if (digit == 0) continue;
            const struct spoint *p = &row[(digit < 0 ? -digit : digit) - 1];
            if (k->state[i] == FULL) {
                __builtin_prefetch(p, 0, 2);
                __builtin_prefetch((const char *)(p + 1) - 1, 0, 2);
                batch_push(&k->batch, &k->sum[i], p, digit < 0, (uint32_t)i);
            } else {
                copy_signed(&k->sum[i], p, digit < 0);
                k->state[i] = FULL;
            }
        }
        lazy_run(&k->batch, k->state);
    }
    stored_to_affine_n(job->out + first, k->sum, n);
    for (size_t i = 0; i < n; i++)
        if (k->state[i] == EMPTY) memset(&job->out[first + i], 0, sizeof *job->out);
}

static enum cz_status fixed_mul_n(void *out, struct cz_points_fixed *f, const struct cz_fr *scalar, size_t n) {
    struct fixed_job job = {.f = f, .scalar = scalar, .out = out};
    cz_pool_for(f->pool, n, BATCH, fixed_range, &job);
    return CZ_OK;
}
