/*
 * Number theoretic transforms in two passes over memory, included once by each ntt_*.c (no include guard). Before, they
 * define OPS and
 *
 *   VE                       eight elements in registers or on the stack, one a lane
 *   TW                       a constant that all lanes are multiplied by
 *   v_load(ve, p)            p[0 … 7]                 v_load_rows(ve, p, stride)    p[0], p[stride], …
 *   v_store, v_store_rows    canonical
 *   v_lanes(ve, f[8])        eight factors            tw_from_fr(tw, f)
 *   v_mul_factor(r, a, f)    data times factors, or factors times factors
 *   v_mul_tw(r, a, w)        data times a constant
 *   v_mul_data(r, a, b)      data times data, short of the constant DATA_FIX
 *   v_sub(r, a, b)           data, b fresh from a product
 *   v_butterfly(x, y, w)     x, y = x + w·y, x - w·y  v_butterfly_1(x, y)           w = 1
 *
 * n = n1·n2 values lie as n1 rows of n2 (Bailey, "FFTs in external or hierarchical memory", 1990):
 *
 *   X[k1 + n1·k2] = Σ_i2 w^(i2·k1) · (Σ_i1 x[i1·n2 + i2] · w^(n2·i1·k1)) · w^(n1·i2·k2)
 *
 * so first columns are transformed, eight adjacent ones at a time, then rows, eight at a time, so that a lane always
 * holds one transform and lanes never mix. A column block of 2^22 values is 512 KiB and stays in L2. The factors
 * w^(i2·k1) run along the rows as products, together with coset powers and scaling.
 *
 * Inside a block a transform takes its input in natural order and leaves it bit-reversed (one factor a block of
 * butterflies), or the other way round (one factor a butterfly); both multiply before they add, which lets the IFMA
 * version leave sums unreduced.
 */

#include "base/bytes.h"
#include "compute/cpu/large.h"

#include <string.h>

struct tables {
    TW *reversed; /* w^rev(b) for block b: a transform of half the size takes the first half */
    TW *natural;  /* [len + j]: w_(2·len)^j */
};

static size_t reverse_bits(size_t v, unsigned bits) {
    size_t r = 0;
    for (unsigned i = 0; i < bits; i++) r |= (v >> i & 1) << (bits - 1 - i);
    return r;
}

/* Tables of the 2^log-th roots, log >= 1. */
static enum cz_status tables_make(struct tables *t, unsigned log, bool inverse) {
    size_t half = (size_t)1 << (log - 1);
    struct cz_fr root, *power = cz_malloc_array(half, sizeof *power);
    t->reversed = cz_malloc_array(half, sizeof *t->reversed);
    t->natural = cz_malloc_array(2 * half, sizeof *t->natural);
    if (!power || !t->reversed || !t->natural) {
        cz_free(power);
        return CZ_ERR_MEMORY;
    }
    cz_fr_root_of_unity(&root, log);
    if (inverse) cz_fr_inv(&root, &root);
    power[0] = CZ_FR_ONE;
    for (size_t i = 1; i < half; i++) cz_fr_mul(&power[i], &power[i - 1], &root);
    for (size_t i = 0; i < half; i++) tw_from_fr(&t->reversed[i], &power[reverse_bits(i, log - 1)]);
    tw_from_fr(&t->natural[0], &CZ_FR_ONE);
    for (size_t len = 1; len <= half; len *= 2)
        for (size_t j = 0; j < len; j++) tw_from_fr(&t->natural[len + j], &power[j * (half / len)]);
    cz_free(power);
    return CZ_OK;
}

static void tables_free(struct tables *t) {
    cz_free(t->reversed);
    cz_free(t->natural);
}

/* Natural order in, bit-reversed out. Blocks that fit L1 are finished before the next is begun. */
static void transform_to_reversed(VE *v, unsigned log, size_t block, const TW *reversed) {
    if (log == 0) return;
    size_t len = (size_t)1 << (log - 1);
    const TW *w = &reversed[block];
    if (block == 0)
        for (size_t j = 0; j < len; j++) v_butterfly_1(&v[j], &v[len + j]);
    else
        for (size_t j = 0; j < len; j++) v_butterfly(&v[j], &v[len + j], w);
    transform_to_reversed(v, log - 1, 2 * block, reversed);
    transform_to_reversed(v + len, log - 1, 2 * block + 1, reversed);
}

/* Bit-reversed in, natural order out. */
static void transform_from_reversed(VE *v, unsigned log, const TW *natural) {
    if (log == 0) return;
    size_t len = (size_t)1 << (log - 1);
    transform_from_reversed(v, log - 1, natural);
    transform_from_reversed(v + len, log - 1, natural);
    const TW *w = natural + len;
    v_butterfly_1(&v[0], &v[len]);
    for (size_t j = 1; j < len; j++) v_butterfly(&v[j], &v[len + j], &w[j]);
}

/* The factors of row k1, column i2: scale · row^k1 · (column · root^k1)^i2. */
struct factors {
    struct cz_fr scale, row, column, root;
};

struct ntt {
    struct cz_pool *pool;
    unsigned log1, log2;
    size_t n1, n2;
    struct tables forward, inverse;
    struct cz_fr root, root_inv, scale; /* of order n; 1/n */
    VE *buffer;                         /* 2·n1 for each thread */
};

static void ntt_done(struct ntt *t) {
    tables_free(&t->forward);
    tables_free(&t->inverse);
    cz_free(t->buffer);
}

static enum cz_status ntt_init(struct ntt *t, struct cz_pool *pool, unsigned log2n, bool forward, bool inverse) {
    memset(t, 0, sizeof *t);
    t->pool = pool;
    t->log1 = (log2n + 1) / 2;
    t->log2 = log2n / 2;
    t->n1 = (size_t)1 << t->log1;
    t->n2 = (size_t)1 << t->log2;
    cz_fr_root_of_unity(&t->root, log2n);
    cz_fr_inv(&t->root_inv, &t->root);
    cz_fr_from_u64(&t->scale, UINT64_C(1) << log2n);
    cz_fr_inv(&t->scale, &t->scale);
    t->buffer = cz_malloc_array(cz_pool_threads(pool) * 2 * t->n1, sizeof *t->buffer);
    enum cz_status status = t->buffer ? CZ_OK : CZ_ERR_MEMORY;
    if (status == CZ_OK && forward) status = tables_make(&t->forward, t->log1, false);
    if (status == CZ_OK && inverse) status = tables_make(&t->inverse, t->log1, true);
    if (status != CZ_OK) ntt_done(t);
    return status;
}

static VE *buffer_of(const struct ntt *t, unsigned worker) {
    return t->buffer + (size_t)worker * 2 * t->n1;
}

/* powers[i] = base^i as constants; reversed: in the order that transform_to_reversed leaves. */
static enum cz_status powers_make(TW **out, const struct cz_fr *base, unsigned log, bool reversed) {
    size_t n = (size_t)1 << log;
    TW *powers = cz_malloc_array(n, sizeof *powers);
    if (!powers) return CZ_ERR_MEMORY;
    struct cz_fr power = CZ_FR_ONE;
    for (size_t i = 0; i < n; i++) {
        tw_from_fr(&powers[reversed ? reverse_bits(i, log) : i], &power);
        cz_fr_mul(&power, &power, base);
    }
    *out = powers;
    return CZ_OK;
}

/* Four runs of products side by side: one would be bound by the latency of a multiplication. */
#define RUNS 4

struct runs {
    VE at[RUNS], step;
};

static void runs_init(struct runs *runs, const struct factors *f, size_t k1) {
    struct cz_fr lane[8], step[8], root;
    cz_fr_pow_vartime(&lane[0], &f->row, k1);
    cz_fr_mul(&lane[0], &lane[0], &f->scale);
    cz_fr_pow_vartime(&root, &f->root, k1);
    cz_fr_mul(&step[0], &root, &f->column);
    for (unsigned i = 1; i < 8; i++) {
        cz_fr_mul(&lane[i], &lane[i - 1], &f->row);
        cz_fr_mul(&step[i], &step[i - 1], &f->root);
    }
    VE one_step;
    v_lanes(&runs->at[0], lane);
    v_lanes(&one_step, step);
    for (unsigned i = 1; i < RUNS; i++) v_mul_factor(&runs->at[i], &runs->at[i - 1], &one_step);
    v_mul_factor(&runs->step, &one_step, &one_step);
    v_mul_factor(&runs->step, &runs->step, &runs->step);
}

/* buf[i2] = rows k1 … k1 + 7 times their factors. */
static void load_rows(const struct ntt *t, VE *buf, const struct cz_fr *src, size_t k1, const struct factors *f) {
    struct runs runs;
    runs_init(&runs, f, k1);
    src += k1 * t->n2;
    for (size_t i = 0; i < t->n2; i += RUNS) {
        for (unsigned j = 0; j < RUNS; j++) {
            VE x;
            v_load_rows(&x, src + i + j, t->n2);
            v_mul_factor(&buf[i + j], &x, &runs.at[j]);
            v_mul_factor(&runs.at[j], &runs.at[j], &runs.step);
        }
    }
}

static void store_rows(const struct ntt *t, VE *buf, struct cz_fr *dst, size_t k1, const struct factors *f) {
    struct runs runs;
    runs_init(&runs, f, k1);
    dst += k1 * t->n2;
    for (size_t i = 0; i < t->n2; i += RUNS) {
        for (unsigned j = 0; j < RUNS; j++) {
            VE x;
            v_mul_factor(&x, &buf[i + j], &runs.at[j]);
            v_mul_factor(&runs.at[j], &runs.at[j], &runs.step);
            v_store_rows(dst + i + j, t->n2, &x);
        }
    }
}

/* The first pass: columns. dst may be src. */
struct columns {
    const struct ntt *t;
    const struct cz_fr *src;
    struct cz_fr *dst;
    const TW *reversed;
    const TW *before; /* a factor for each row, or NULL */
};

static void columns_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct columns *p = ctx;
    const struct ntt *t = p->t;
    VE *buf = buffer_of(t, worker);
    for (size_t block = first; block < last; block++) {
        const struct cz_fr *src = p->src + 8 * block;
        struct cz_fr *dst = p->dst + 8 * block;
        for (size_t i = 0; i < t->n1; i++) {
            v_load(&buf[i], src + i * t->n2);
            if (p->before) v_mul_tw(&buf[i], &buf[i], &p->before[i]);
        }
        transform_to_reversed(buf, t->log1, 0, p->reversed);
        for (size_t i = 0; i < t->n1; i++) v_store(dst + reverse_bits(i, t->log1) * t->n2, &buf[i]);
    }
}

static void columns_run(const struct ntt *t, const struct cz_fr *src, struct cz_fr *dst, const TW *reversed,
                        const TW *before) {
    struct columns p = {.t = t, .src = src, .dst = dst, .reversed = reversed, .before = before};
    cz_pool_for(t->pool, t->n2 / 8, 1, columns_range, &p);
}

/* The second pass: rows, to natural order. dst is not src. */
struct rows {
    const struct ntt *t;
    const struct cz_fr *src;
    struct cz_fr *dst;
    const TW *reversed;
    struct factors factors;
    const TW *after;           /* a factor for each result, bit-reversed, or NULL */
    const struct cz_fr *minus; /* rows to subtract, transformed alike with their own factors, or NULL */
    struct factors minus_factors;
};

static void rows_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct rows *p = ctx;
    const struct ntt *t = p->t;
    VE *buf = buffer_of(t, worker), *minus = buf + t->n1;
    for (size_t block = first; block < last; block++) {
        size_t k1 = 8 * block;
        load_rows(t, buf, p->src, k1, &p->factors);
        transform_to_reversed(buf, t->log2, 0, p->reversed);
        if (p->minus) {
            load_rows(t, minus, p->minus, k1, &p->minus_factors);
            transform_to_reversed(minus, t->log2, 0, p->reversed);
        }
        for (size_t i = 0; i < t->n2; i++) {
            if (p->after) v_mul_tw(&buf[i], &buf[i], &p->after[i]);
            if (p->minus) v_sub(&buf[i], &buf[i], &minus[i]);
            v_store(p->dst + reverse_bits(i, t->log2) * t->n1 + k1, &buf[i]);
        }
    }
}

static enum cz_status ntt_run(struct cz_pool *pool, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    if (log2n < CZ_NTT_SMALL) {
        cz_ntt_small(v, log2n, kind);
        return CZ_OK;
    }
    bool inverse = kind == CZ_NTT_INVERSE || kind == CZ_NTT_COSET_INVERSE;
    struct ntt t;
    enum cz_status status = ntt_init(&t, pool, log2n, !inverse, inverse);
    if (status != CZ_OK) return status;
    size_t n = (size_t)1 << log2n;
    TW *before = NULL, *after = NULL;
    struct cz_fr *other = cz_cpu_large(n, sizeof *other), coset, power;
    struct rows rows = {.t = &t, .src = other, .dst = v};
    rows.factors = (struct factors){CZ_FR_ONE, CZ_FR_ONE, CZ_FR_ONE, inverse ? t.root_inv : t.root};
    rows.reversed = inverse ? t.inverse.reversed : t.forward.reversed;
    cz_fr_from_u64(&coset, CZ_FR_GENERATOR);
    if (!other) status = CZ_ERR_MEMORY;
    if (inverse) rows.factors.scale = t.scale;
    if (status == CZ_OK && kind == CZ_NTT_COSET_FORWARD) { /* coefficient i1·n2 + i2 times 7^(i1·n2) · 7^i2 */
        cz_fr_pow_vartime(&power, &coset, t.n2);
        status = powers_make(&before, &power, t.log1, false);
        rows.factors.column = coset;
    } else if (status == CZ_OK && kind == CZ_NTT_COSET_INVERSE) { /* result k1 + n1·k2 times 7^-k1 · 7^(-n1·k2) */
        cz_fr_inv(&coset, &coset);
        cz_fr_pow_vartime(&power, &coset, t.n1);
        status = powers_make(&after, &power, t.log2, true);
        rows.factors.row = coset;
    }
    if (status == CZ_OK) {
        rows.after = after;
        columns_run(&t, v, other, rows.reversed, before);
        cz_pool_for(pool, t.n1 / 8, 1, rows_range, &rows);
    }
    cz_free(other);
    cz_free(before);
    cz_free(after);
    ntt_done(&t);
    return status;
}

/*
 * (a·b - c)/Z in seven passes over memory. After the inverse of columns a row holds, up to factors, the values whose
 * row transform are the coefficients k1 + n1·k2; scaling these by 7^(k1 + n1·k2) and undoing the row transform in the
 * other direction gives rows whose column transforms are the values over the coset. So the row passes of the inverse
 * and of the coset transform are one, and no pass reorders. On the coset Z is the constant 7^n - 1, so c needs no
 * coset: (a·b - c)/Z = coset inverse of (a·b)/Z, less the coefficients of c/Z.
 */

struct extend {
    const struct ntt *t;
    struct cz_fr *v;
    const TW *coset; /* 7^(n1·k2), bit-reversed */
    struct factors in, out;
};

static void extend_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct extend *p = ctx;
    const struct ntt *t = p->t;
    VE *buf = buffer_of(t, worker);
    for (size_t block = first; block < last; block++) {
        load_rows(t, buf, p->v, 8 * block, &p->in);
        transform_to_reversed(buf, t->log2, 0, t->inverse.reversed);
        for (size_t i = 0; i < t->n2; i++) v_mul_tw(&buf[i], &buf[i], &p->coset[i]);
        transform_from_reversed(buf, t->log2, t->forward.natural);
        store_rows(t, buf, p->v, 8 * block, &p->out);
    }
}

struct multiply {
    const struct ntt *t;
    struct cz_fr *a;
    const struct cz_fr *b;
};

static void multiply_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct multiply *p = ctx;
    const struct ntt *t = p->t;
    VE *buf = buffer_of(t, worker), *other = buf + t->n1;
    for (size_t block = first; block < last; block++) {
        struct cz_fr *a = p->a + 8 * block;
        const struct cz_fr *b = p->b + 8 * block;
        for (size_t i = 0; i < t->n1; i++) v_load(&buf[i], a + i * t->n2);
        transform_to_reversed(buf, t->log1, 0, t->forward.reversed);
        for (size_t i = 0; i < t->n1; i++) v_load(&other[i], b + i * t->n2);
        transform_to_reversed(other, t->log1, 0, t->forward.reversed);
        for (size_t i = 0; i < t->n1; i++) v_mul_data(&buf[i], &buf[i], &other[i]);
        transform_from_reversed(buf, t->log1, t->inverse.natural);
        for (size_t i = 0; i < t->n1; i++) v_store(a + i * t->n2, &buf[i]);
    }
}

static enum cz_status ntt_quotient(struct cz_pool *pool, struct cz_fr *a, struct cz_fr *b, struct cz_fr *c,
                                   unsigned log2n) {
    if (log2n < CZ_NTT_SMALL) {
        cz_ntt_small_quotient(a, b, c, log2n);
        return CZ_OK;
    }
    struct ntt t;
    enum cz_status status = ntt_init(&t, pool, log2n, true, true);
    if (status != CZ_OK) return status;
    struct cz_fr coset, coset_inv, power, z_inv;
    TW *up = NULL, *down = NULL;
    cz_fr_from_u64(&coset, CZ_FR_GENERATOR);
    cz_fr_inv(&coset_inv, &coset);
    cz_fr_pow_vartime(&power, &coset, t.n1);
    status = powers_make(&up, &power, t.log2, true);
    if (status != CZ_OK) goto done;
    cz_fr_pow_vartime(&power, &coset_inv, t.n1);
    status = powers_make(&down, &power, t.log2, true);
    if (status != CZ_OK) goto done;
    cz_fr_pow_vartime(&z_inv, &coset, UINT64_C(1) << log2n);
    cz_fr_sub(&z_inv, &z_inv, &CZ_FR_ONE);
    cz_fr_inv(&z_inv, &z_inv);

    struct cz_fr *const input[3] = {a, b, c};
    for (unsigned i = 0; i < 3; i++) {
        columns_run(&t, input[i], input[i], t.inverse.reversed, NULL);
        if (i == 2) break;
        struct extend extend = {.t = &t, .v = input[i], .coset = up};
        extend.in = (struct factors){t.scale, coset, CZ_FR_ONE, t.root_inv};
        extend.out = (struct factors){CZ_FR_ONE, CZ_FR_ONE, CZ_FR_ONE, t.root};
        cz_pool_for(pool, t.n1 / 8, 1, extend_range, &extend);
    }
    struct multiply multiply = {.t = &t, .a = a, .b = b};
    cz_pool_for(pool, t.n2 / 8, 1, multiply_range, &multiply);

    /* The scale as plain limbs, not in Montgomery form, takes the results out of it. */
    struct rows rows = {.t = &t, .src = a, .dst = b, .reversed = t.inverse.reversed, .after = down, .minus = c};
    struct cz_fr scale;
    cz_fr_mul(&scale, &t.scale, &z_inv);
    cz_fr_to_limbs(power.l, &scale);
    rows.minus_factors = (struct factors){power, CZ_FR_ONE, CZ_FR_ONE, t.root_inv};
    cz_fr_from_u64(&power, DATA_FIX);
    cz_fr_mul(&scale, &scale, &power);
    cz_fr_to_limbs(power.l, &scale);
    rows.factors = (struct factors){power, coset_inv, CZ_FR_ONE, t.root_inv};
    cz_pool_for(pool, t.n1 / 8, 1, rows_range, &rows);
done:
    cz_free(up);
    cz_free(down);
    ntt_done(&t);
    return status;
}

const struct cz_ntt_ops OPS = {.run = ntt_run, .quotient = ntt_quotient};
