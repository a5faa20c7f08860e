/*
 * Sums of many points by batched affine additions, included once by each points_*.c (no include guard). Before, they
 * define the group (G, POINT, AFFINE, SIZE_ENCODED, OPS) and the lanes:
 *
 *   LANES                 additions that one step does at once, 1 or 8
 *   FE, VE                a stored element, and LANES of them in registers
 *   struct spoint         {FE x, y}: a stored finite point
 *   v_load_x/y(ve, p)     from LANES pointers to struct spoint       v_store(p, x, y)
 *   v_sub v_mul v_sqr     on VE, as documented there                 v_one v_neg_lanes v_one_lanes v_select
 *   v_rise(t, p, q, neg)  t = ±p - q, minus in the lanes of neg
 *   v_sum_x(x, s, p, q)   x = s - p - q, to be stored                v_sum_y(y, s, p): s - p, to be stored
 *   v_zero_lanes(ve)      mask of lanes that are 0                   v_inv(ve): every lane, none is 0
 *   stored_from_affine, stored_to_affine(_n), stored_neg_y, load_points
 *
 * An affine addition costs 1 inversion, 2 products and 1 square. Montgomery's trick shares one inversion among a batch
 * for 3 more products each, so 6 multiplications an addition where mixed Jacobian ones take 11. The batch must hold
 * independent additions; points for a bucket that is already in the batch wait in a queue, and a queue that fills up
 * (all scalars equal, say) is summed by pairs, bucket by bucket. Equal and opposite points are handled in place: a
 * doubling only changes numerator and denominator of the slope.
 */

#include "base/bytes.h"
#include "compute/cpu/large.h"

#include <string.h>

#define BATCH 2048
#define GROUPS (BATCH / LANES)
#define QUEUE (BATCH - 1)

struct batch {
    size_t n;
    struct spoint *dst[BATCH];
    const struct spoint *src[BATCH];
    uint8_t neg[GROUPS], twice[GROUPS], gone[GROUPS]; /* masks of lanes: subtract; doubling; the sum is infinity */
    uint32_t tag[BATCH];                              /* the caller's name of the sum */
    VE prefix[GROUPS], den[GROUPS], dst_x[GROUPS], src_x[GROUPS];
    struct spoint pad_dst, pad_src;
};

static void batch_init(struct batch *b) {
    static const AFFINE zero;
    AFFINE p;
    b->n = 0;
    /* Any two points with different x serve to fill the last lanes. */
    stored_from_affine(&b->pad_dst, &zero);
    memcpy(&p, &GENERATOR, sizeof p);
    stored_from_affine(&b->pad_src, &p);
}

static inline void batch_push(struct batch *b, struct spoint *dst, const struct spoint *src, bool neg, uint32_t tag) {
    size_t i = b->n++, group = i / LANES;
    unsigned lane = i % LANES;
    if (lane == 0) b->neg[group] = 0;
    b->neg[group] |= (uint8_t)((unsigned)neg << lane);
    b->dst[i] = dst;
    b->src[i] = src;
    b->tag[i] = tag;
}

static inline bool batch_gone(const struct batch *b, size_t i) {
    return b->gone[i / LANES] >> (i % LANES) & 1;
}

/* Lanes of equal x: the slope of a doubling is 3x²/2y, and dst_y + src_y = 2y then; opposite points have 0 there. */
static __attribute__((noinline)) void batch_special(struct batch *b, size_t group, unsigned lanes) {
    VE sum, y;
    v_load_y(&y, b->src + group * LANES);
    v_neg_lanes(&y, ~(unsigned)b->neg[group]); /* minus the source's y */
    v_load_y(&sum, (const struct spoint *const *)(b->dst + group * LANES));
    v_sub(&sum, &sum, &y);
    unsigned opposite = v_zero_lanes(&sum) & lanes;
    v_select(&b->den[group], &sum, lanes);
    v_one_lanes(&b->den[group], opposite);
    b->gone[group] = (uint8_t)opposite;
    b->twice[group] = (uint8_t)(lanes & ~opposite);
}

/* Groups ahead of which the points are fetched: from L2, where batch_push's own prefetch left them, to L1. */
#define AHEAD (16 / LANES)

static inline void prefetch_points(const struct batch *b, size_t group, size_t offset) {
    for (size_t i = group * LANES; i < (group + 1) * LANES; i++) {
        __builtin_prefetch((const char *)b->dst[i] + offset, 1);
        __builtin_prefetch((const char *)b->src[i] + offset);
    }
}

/* dst[i] ±= src[i] for the whole batch, whose dst are distinct and no src. Sums of infinity are left to batch_gone. */
static void batch_run(struct batch *b) {
    size_t groups = (b->n + LANES - 1) / LANES;
    for (size_t i = b->n; i < groups * LANES; i++) {
        b->dst[i] = &b->pad_dst;
        b->src[i] = &b->pad_src;
    }
    if (groups == 0) return;
    struct spoint pad = b->pad_dst;
    VE acc[2];
    v_one(&acc[0]);
    v_one(&acc[1]);
    for (size_t g = 0; g < groups; g++) {
        v_load_x(&b->dst_x[g], (const struct spoint *const *)(b->dst + g * LANES));
        v_load_x(&b->src_x[g], b->src + g * LANES);
        v_sub(&b->den[g], &b->src_x[g], &b->dst_x[g]);
        if (g + AHEAD < groups) prefetch_points(b, g + AHEAD, offsetof(struct spoint, x));
        b->twice[g] = b->gone[g] = 0;
        unsigned same = v_zero_lanes(&b->den[g]);
        if (__builtin_expect(same != 0, 0)) batch_special(b, g, same);
        b->prefix[g] = acc[g & 1];
        v_mul(&acc[g & 1], &acc[g & 1], &b->den[g]);
    }
    VE both, t;
    v_mul(&both, &acc[0], &acc[1]);
    v_inv(&both);
    t = acc[0];
    v_mul(&acc[0], &both, &acc[1]);
    v_mul(&acc[1], &both, &t);
    for (size_t g = groups; g-- > 0;) {
        VE slope, x, y, src_y, dst_y;
        v_mul(&slope, &acc[g & 1], &b->prefix[g]);
        v_mul(&acc[g & 1], &acc[g & 1], &b->den[g]);
        v_load_y(&dst_y, (const struct spoint *const *)(b->dst + g * LANES));
        v_load_y(&src_y, b->src + g * LANES);
        if (g >= AHEAD) prefetch_points(b, g - AHEAD, offsetof(struct spoint, y));
        v_rise(&t, &src_y, &dst_y, b->neg[g]);
        if (__builtin_expect(b->twice[g] != 0, 0)) {
            VE xx, xx3;
            v_sqr(&xx, &b->dst_x[g]);
            v_triple(&xx3, &xx);
            v_select(&t, &xx3, b->twice[g]);
        }
        v_mul(&slope, &slope, &t);
        v_sqr(&x, &slope);
        v_sum_x(&x, &x, &b->dst_x[g], &b->src_x[g]);
        v_sub(&y, &b->dst_x[g], &x);
        v_mul(&y, &y, &slope);
        v_sum_y(&y, &y, &dst_y);
        v_store(b->dst + g * LANES, &x, &y);
    }
    b->pad_dst = pad;
}

static void point_add_stored(POINT *sum, const struct spoint *p) {
    AFFINE a;
    stored_to_affine(&a, p);
    G(add_affine)(sum, sum, &a);
}

/* Buckets */

enum { EMPTY, FULL, BUSY };

struct buckets {
    struct batch *batch;
    struct spoint *bucket;
    uint8_t *state;
    const struct spoint *point;
    size_t queued;
    uint32_t queue_bucket[QUEUE], queue_point[QUEUE]; /* point index · 2 + sign */
    uint32_t sort_bucket[QUEUE], sort_point[QUEUE];
    struct spoint pair[BATCH]; /* sums of the queue; later, the running sums of sum_in_parts */
};

static inline void copy_signed(struct spoint *r, const struct spoint *p, bool neg) {
    *r = *p;
    if (neg) stored_neg_y(r);
}

static void buckets_run(struct buckets *s) {
    struct batch *b = s->batch;
    batch_run(b);
    for (size_t i = 0; i < b->n; i++) s->state[b->tag[i]] = batch_gone(b, i) ? EMPTY : FULL;
    b->n = 0;
}

/* True when the point went in; false when the bucket is in the batch already. */
static inline bool buckets_try(struct buckets *s, uint32_t bucket, uint32_t point) {
    uint8_t state = s->state[bucket];
    if (state == FULL) {
        __builtin_prefetch(&s->bucket[bucket], 0, 2);
        __builtin_prefetch((const char *)(&s->bucket[bucket] + 1) - 1, 0, 2);
        s->state[bucket] = BUSY;
        batch_push(s->batch, &s->bucket[bucket], &s->point[point >> 1], point & 1, bucket);
        return true;
    }
    if (state == BUSY) return false;
    copy_signed(&s->bucket[bucket], &s->point[point >> 1], point & 1);
    s->state[bucket] = FULL;
    return true;
}

/* Stable counting sort of the queue by bucket, a byte at a time. */
static void queue_sort(struct buckets *s) {
    size_t n = s->queued;
    for (unsigned shift = 0; shift < 24; shift += 8) {
        size_t count[257] = {0};
        for (size_t i = 0; i < n; i++) count[(s->queue_bucket[i] >> shift & 255) + 1]++;
        if (shift && count[1] == n) break;
        for (size_t i = 0; i < 256; i++) count[i + 1] += count[i];
        for (size_t i = 0; i < n; i++) {
            size_t to = count[s->queue_bucket[i] >> shift & 255]++;
            s->sort_bucket[to] = s->queue_bucket[i];
            s->sort_point[to] = s->queue_point[i];
        }
        memcpy(s->queue_bucket, s->sort_bucket, n * sizeof *s->queue_bucket);
        memcpy(s->queue_point, s->sort_point, n * sizeof *s->queue_point);
    }
}

/* Sums the queue by pairs of the same bucket until all are distinct, then adds those to the buckets. */
static void queue_collapse(struct buckets *s) {
    struct batch *b = s->batch;
    buckets_run(s);
    queue_sort(s);
    size_t n = s->queued;
    uint32_t *live = s->queue_point; /* becomes an index into pair */
    for (size_t i = 0; i < n; i++) {
        copy_signed(&s->pair[i], &s->point[live[i] >> 1], live[i] & 1);
        live[i] = (uint32_t)i;
    }
    for (bool paired = true; paired;) {
        paired = false;
        for (size_t i = 0; i + 1 < n; i++) {
            if (s->queue_bucket[i] != s->queue_bucket[i + 1]) continue;
            batch_push(b, &s->pair[live[i]], &s->pair[live[i + 1]], false, (uint32_t)i);
            live[i + 1] = UINT32_MAX;
            paired = true;
            i++;
        }
        batch_run(b);
        for (size_t i = 0; i < b->n; i++)
            if (batch_gone(b, i)) live[b->tag[i]] = UINT32_MAX;
        b->n = 0;
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
            if (live[i] == UINT32_MAX) continue;
            live[kept] = live[i];
            s->queue_bucket[kept++] = s->queue_bucket[i];
        }
        n = kept;
    }
    for (size_t i = 0; i < n; i++) {
        uint32_t bucket = s->queue_bucket[i];
        if (s->state[bucket] == EMPTY) {
            s->bucket[bucket] = s->pair[live[i]];
            s->state[bucket] = FULL;
        } else {
            batch_push(b, &s->bucket[bucket], &s->pair[live[i]], false, bucket);
        }
    }
    s->queued = 0;
    buckets_run(s);
}

/* Runs the batch and offers the queue to the next one, which holds more than the queue. */
static void buckets_flush(struct buckets *s) {
    buckets_run(s);
    size_t n = s->queued;
    s->queued = 0;
    for (size_t i = 0; i < n; i++) {
        if (buckets_try(s, s->queue_bucket[i], s->queue_point[i])) continue;
        s->queue_bucket[s->queued] = s->queue_bucket[i];
        s->queue_point[s->queued++] = s->queue_point[i];
    }
}

static inline void buckets_add(struct buckets *s, uint32_t bucket, uint32_t point) {
    if (!buckets_try(s, bucket, point)) {
        s->queue_bucket[s->queued] = bucket;
        s->queue_point[s->queued++] = point;
        if (s->queued == QUEUE) queue_collapse(s);
    } else if (s->batch->n == BATCH) {
        buckets_flush(s);
    }
}

static void buckets_finish(struct buckets *s) {
    buckets_run(s);
    if (s->queued) queue_collapse(s);
}

/*
 * Scalars in signed digits. k > r/2 becomes r - k with the sign in bit 255, so 254 bits are left. Adding 2^(c-1) to
 * every digit but the top one turns digits of -2^(c-1) … 2^(c-1) - 1 into plain bit fields without carries; the top
 * digit stays unsigned and is at most 2^(c-1), since c·windows >= 255.
 */
struct recode {
    unsigned c, windows;
    uint64_t offset[4];
};

static void recode_init(struct recode *rec, unsigned c) {
    rec->c = c;
    rec->windows = (255 + c - 1) / c;
    memset(rec->offset, 0, sizeof rec->offset);
    for (unsigned w = 0; w + 1 < rec->windows; w++) {
        unsigned bit = w * c + c - 1;
        rec->offset[bit / 64] |= UINT64_C(1) << bit % 64;
    }
}

/* False when k >= r. */
static bool recode_scalar(uint64_t out[4], const struct recode *rec, const uint64_t k[4]) {
    uint64_t neg[4];
    unsigned __int128 t = 0;
    unsigned borrow = 0;
    for (int i = 0; i < 4; i++) {
        t = (unsigned __int128)CZ_FR_MODULUS[i] - k[i] - borrow;
        neg[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    if (borrow || !(neg[0] | neg[1] | neg[2] | neg[3])) return false;
    bool larger = false; /* k > r - k */
    for (int i = 3; i >= 0; i--) {
        if (k[i] == neg[i]) continue;
        larger = k[i] > neg[i];
        break;
    }
    const uint64_t *v = larger ? neg : k;
    t = 0;
    for (int i = 0; i < 4; i++) {
        t += (unsigned __int128)v[i] + rec->offset[i];
        out[i] = (uint64_t)t;
        t >>= 64;
    }
    if (larger) out[3] |= UINT64_C(1) << 63;
    return true;
}

/* Digit w with the scalar's sign taken in. */
static inline int32_t recode_digit(const uint64_t k[4], const struct recode *rec, unsigned w) {
    unsigned bit = w * rec->c, limb = bit / 64, shift = bit % 64;
    uint64_t top = k[3] & (UINT64_MAX >> 1);
    uint64_t v = (limb == 3 ? top : k[limb]) >> shift;
    if (shift && limb < 3) v |= (limb == 2 ? top : k[limb + 1]) << (64 - shift);
    int32_t digit = (int32_t)(v & ((UINT64_C(1) << rec->c) - 1));
    if (w + 1 < rec->windows) digit -= (int32_t)1 << (rec->c - 1);
    return k[3] >> 63 ? -digit : digit;
}

/* Multi-scalar multiplication */

/* Below this, one scalar at a time. */
#define MSM_SMALL 16

struct msm_plan {
    struct recode rec;
    unsigned threads;
    size_t buckets; /* a window */
    size_t groups;  /* parts of a chunk with buckets of their own, when there are more threads than windows */
    size_t chunk;   /* points converted at a time */
};

static void msm_plan_make(struct msm_plan *plan, size_t n, unsigned threads) {
    double best = 0;
    unsigned best_c = 4;
    for (unsigned c = 4; c <= 16; c++) {
        unsigned windows = (255 + c - 1) / c;
        unsigned turns = (windows + threads - 1) / threads;
        double rounds = threads >= windows ? (double)windows / threads : turns;
        double cost = rounds * ((double)n + 3.0 * (double)(1u << (c - 1)));
        if (c == 4 || cost < best) {
            best = cost;
            best_c = c;
        }
    }
    recode_init(&plan->rec, best_c);
    plan->threads = threads;
    plan->buckets = (size_t)1 << (best_c - 1);
    plan->groups = (threads + plan->rec.windows - 1) / plan->rec.windows;
    size_t chunk = (size_t)16 << 20;
    chunk = chunk / sizeof(struct spoint) * plan->groups;
    plan->chunk = n < chunk ? n : chunk;
}

struct msm {
    struct msm_plan plan;
    const struct cz_msm_input *in;
    size_t first, n; /* the chunk */
    struct spoint *point;
    int32_t *digit;        /* window by window, plan.chunk each */
    struct spoint *bucket; /* group by group, window by window */
    uint8_t *state;
    struct batch *batch;    /* a thread */
    struct buckets *worker; /* a thread */
    POINT *window_sum;
    bool out_of_range;
};

static void msm_free(struct msm *m) {
    cz_free(m->point);
    cz_free(m->digit);
    cz_free(m->bucket);
    cz_free(m->state);
    cz_free(m->batch);
    cz_free(m->worker);
    cz_free(m->window_sum);
}

static enum cz_status msm_alloc(struct msm *m) {
    const struct msm_plan *plan = &m->plan;
    size_t sums = plan->groups * plan->rec.windows;
    m->point = cz_cpu_large(plan->chunk, sizeof *m->point);
    m->digit = cz_cpu_large(plan->chunk * plan->rec.windows, sizeof *m->digit);
    m->bucket = cz_cpu_large(sums * plan->buckets, sizeof *m->bucket);
    m->state = cz_calloc(sums * plan->buckets, 1);
    m->batch = cz_malloc_array(plan->threads, sizeof *m->batch);
    m->worker = cz_malloc_array(plan->threads, sizeof *m->worker);
    m->window_sum = cz_calloc(plan->rec.windows, sizeof *m->window_sum);
    if (!m->point || !m->digit || !m->bucket || !m->state || !m->batch || !m->worker || !m->window_sum)
        return CZ_ERR_MEMORY;
    for (unsigned i = 0; i < plan->threads; i++) batch_init(&m->batch[i]);
    return CZ_OK;
}

static size_t msm_bytes(size_t n, unsigned threads) {
    struct msm_plan plan;
    msm_plan_make(&plan, n ? n : 1, threads);
    size_t sums = plan.groups * plan.rec.windows;
    return plan.chunk * (sizeof(struct spoint) + 4 * plan.rec.windows) +
           sums * plan.buckets * (sizeof(struct spoint) + 1) +
           threads * (sizeof(struct batch) + sizeof(struct buckets)) + plan.rec.windows * sizeof(POINT) + 4096;
}

#define LOAD_GRAIN 512

static void msm_load(void *ctx, size_t first, size_t last, unsigned worker) {
    struct msm *m = ctx;
    uint8_t infinite[LOAD_GRAIN];
    uint64_t scalar[4 * LOAD_GRAIN];
    (void)worker;
    load_points(&m->point[first], infinite, &m->in->base, m->first + first, last - first);
    m->in->scalars(m->in->ctx, scalar, m->first + first, last - first);
    for (size_t i = first; i < last; i++) {
        uint64_t *k = &scalar[4 * (i - first)];
        if (infinite[i - first]) memset(k, 0, 4 * sizeof *k);
        if (!recode_scalar(k, &m->plan.rec, k)) {
            __atomic_store_n(&m->out_of_range, true, __ATOMIC_RELAXED);
            memcpy(k, m->plan.rec.offset, 4 * sizeof *k);
        }
    }
    for (unsigned w = 0; w < m->plan.rec.windows; w++) {
        int32_t *digit = m->digit + w * m->plan.chunk;
        for (size_t i = first; i < last; i++) digit[i] = recode_digit(&scalar[4 * (i - first)], &m->plan.rec, w);
    }
}

static void msm_window(void *ctx, size_t first, size_t last, unsigned worker) {
    struct msm *m = ctx;
    const struct msm_plan *plan = &m->plan;
    struct buckets *s = &m->worker[worker];
    for (size_t task = first; task < last; task++) {
        size_t group = task / plan->rec.windows;
        const int32_t *digits = m->digit + task % plan->rec.windows * plan->chunk;
        size_t from = m->n * group / plan->groups, to = m->n * (group + 1) / plan->groups;
        s->batch = &m->batch[worker];
        s->batch->n = s->queued = 0;
        s->bucket = m->bucket + task * plan->buckets;
        s->state = m->state + task * plan->buckets;
        s->point = m->point;
        for (size_t i = from; i < to; i++) {
            int32_t digit = digits[i];
            if (digit == 0) continue;
            uint32_t bucket = (uint32_t)(digit < 0 ? -digit : digit) - 1;
            buckets_add(s, bucket, (uint32_t)i << 1 | (digit < 0));
        }
        buckets_finish(s);
    }
}

/* dst += src where either may be infinity, by the batch: all of one call are distinct. */
static inline void lazy_add(struct batch *b, struct spoint *dst, uint8_t *dst_state, const struct spoint *src,
                            uint32_t tag) {
    if (*dst_state == EMPTY) {
        *dst = *src;
        *dst_state = FULL;
    } else {
        batch_push(b, dst, src, false, tag);
    }
}

static void lazy_run(struct batch *b, uint8_t *state) {
    batch_run(b);
    for (size_t i = 0; i < b->n; i++)
        if (batch_gone(b, i)) state[b->tag[i]] = EMPTY;
    b->n = 0;
}

/* Adds the buckets of the other groups to those of the first. */
static void merge_groups(struct msm *m, size_t w, struct batch *b) {
    const struct msm_plan *plan = &m->plan;
    struct spoint *to = m->bucket + w * plan->buckets;
    uint8_t *to_state = m->state + w * plan->buckets;
    for (size_t g = 1; g < plan->groups; g++) {
        size_t at = (g * plan->rec.windows + w) * plan->buckets;
        for (size_t i = 0; i < plan->buckets; i++) {
            if (m->state[at + i] == FULL) lazy_add(b, &to[i], &to_state[i], &m->bucket[at + i], (uint32_t)i);
            if (b->n == BATCH) lazy_run(b, to_state);
        }
        lazy_run(b, to_state);
    }
}

/* Σ (i + 1)·bucket[i] one after the other. */
static void sum_plain(POINT *out, const struct spoint *bucket, const uint8_t *state, size_t n) {
    POINT run = INFINITY_POINT, sum = INFINITY_POINT;
    for (size_t i = n; i-- > 0;) {
        if (state[i] == FULL) point_add_stored(&run, &bucket[i]);
        G(add)(&sum, &sum, &run);
    }
    *out = sum;
}

#define PARTS 1024

/*
 * The same for many buckets: up to PARTS running sums side by side, so that their additions make batches. Part j covers
 * `len` buckets from j·len: run_j = their sum, total_j = Σ (i + 1)·bucket[j·len + i]; the rest is
 * Σ total_j + len·Σ j·run_j.
 */
static void sum_in_parts(POINT *out, const struct spoint *bucket, const uint8_t *state, size_t n, struct buckets *s) {
    struct batch *b = s->batch;
    struct spoint *run = s->pair, *total = s->pair + PARTS;
    uint8_t run_state[PARTS] = {0}, total_state[PARTS] = {0};
    size_t parts = n / 8 < PARTS ? n / 8 : PARTS, len = n / parts;
    for (size_t i = len; i-- > 0;) {
        for (size_t j = 0; j < parts; j++)
            if (state[j * len + i] == FULL) lazy_add(b, &run[j], &run_state[j], &bucket[j * len + i], (uint32_t)j);
        lazy_run(b, run_state);
        for (size_t j = 0; j < parts; j++)
            if (run_state[j] == FULL) lazy_add(b, &total[j], &total_state[j], &run[j], (uint32_t)j);
        lazy_run(b, total_state);
    }
    POINT sum = INFINITY_POINT, tail = INFINITY_POINT;
    for (size_t j = parts; j-- > 1;) {
        if (run_state[j] == FULL) point_add_stored(&tail, &run[j]);
        G(add)(&sum, &sum, &tail);
    }
    for (size_t i = len; i > 1; i /= 2) G(dbl)(&sum, &sum);
    for (size_t j = 0; j < parts; j++)
        if (total_state[j] == FULL) point_add_stored(&sum, &total[j]);
    *out = sum;
}

static void msm_sum_window(void *ctx, size_t first, size_t last, unsigned worker) {
    struct msm *m = ctx;
    const struct msm_plan *plan = &m->plan;
    struct buckets *s = &m->worker[worker];
    s->batch = &m->batch[worker];
    for (size_t w = first; w < last; w++) {
        const struct spoint *bucket = m->bucket + w * plan->buckets;
        const uint8_t *state = m->state + w * plan->buckets;
        merge_groups(m, w, s->batch);
        if (plan->buckets >= 128)
            sum_in_parts(&m->window_sum[w], bucket, state, plan->buckets, s);
        else
            sum_plain(&m->window_sum[w], bucket, state, plan->buckets);
    }
}

static enum cz_status msm_small(POINT *out, const struct cz_msm_input *in) {
    POINT sum = INFINITY_POINT, term;
    for (size_t i = 0; i < in->n; i++) {
        struct spoint stored;
        uint8_t infinite;
        uint64_t k[4];
        struct cz_fr checked;
        AFFINE p;
        in->scalars(in->ctx, k, i, 1);
        if (cz_fr_from_limbs(&checked, k) != CZ_OK) return CZ_ERR_FIELD_RANGE;
        load_points(&stored, &infinite, &in->base, i, 1);
        if (infinite) continue;
        stored_to_affine(&p, &stored);
        G(from_affine)(&term, &p);
        G(mul_limbs)(&term, &term, k, 4);
        G(add)(&sum, &sum, &term);
    }
    *out = sum;
    return CZ_OK;
}

static enum cz_status msm_run(void *out, struct cz_pool *pool, const struct cz_msm_input *in) {
    if (in->n <= MSM_SMALL) return msm_small(out, in);
    struct msm m = {.in = in};
    msm_plan_make(&m.plan, in->n, cz_pool_threads(pool));
    enum cz_status status = msm_alloc(&m);
    if (status != CZ_OK) goto done;
    for (m.first = 0; m.first < in->n; m.first += m.n) {
        m.n = in->n - m.first < m.plan.chunk ? in->n - m.first : m.plan.chunk;
        cz_pool_for(pool, m.n, LOAD_GRAIN, msm_load, &m);
        cz_pool_for(pool, m.plan.groups * m.plan.rec.windows, 1, msm_window, &m);
    }
    if (m.out_of_range) {
        status = CZ_ERR_FIELD_RANGE;
        goto done;
    }
    cz_pool_for(pool, m.plan.rec.windows, 1, msm_sum_window, &m);
    POINT sum = INFINITY_POINT;
    for (unsigned w = m.plan.rec.windows; w-- > 0;) {
        for (unsigned i = 0; i < m.plan.rec.c; i++) G(dbl)(&sum, &sum);
        G(add)(&sum, &sum, &m.window_sum[w]);
    }
    memcpy(out, &sum, sizeof sum);
done:
    msm_free(&m);
    return status;
}

#include "compute/cpu/points_bitsum.h"
#include "compute/cpu/points_fixed.h"

const struct cz_points_ops OPS = {
    .msm = msm_run,
    .msm_bytes = msm_bytes,
    .bitsum = bitsum_run,
    .bitsum_bytes = bitsum_bytes,
    .fixed_create = fixed_create,
    .fixed_mul_n = fixed_mul_n,
    .fixed_destroy = fixed_destroy,
};
