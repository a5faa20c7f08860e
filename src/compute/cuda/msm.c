/*
 * Multi-scalar multiplication: Pippenger's buckets with affine additions and one inversion for many of them.
 *
 * Scalars are cut into windows with signed digits; every window (or, with precomputed multiples 2^(t·block)·P, every
 * set of windows that are equal modulo such a block) has 2^k buckets. A set's pairs (bucket, point) are sorted, then
 * rounds of independent additions turn each bucket's run of points into one (jobs.cu, add.cuh), then rows and columns
 * of the table of buckets are summed the same way (reduce.cu), and the host ends it with some 250 doublings. Digits,
 * sort and lists of the next group of sets run on the side stream while the additions of this one fill the device.
 */

#include "compute/cuda/kernels.h"
#include "compute/cuda/xyzz.h"

#include "base/bytes.h"

#define MAX_WINDOWS CZ_CUDA_MAX_WINDOWS
/* Slots of a group at most: more parallel work for few points, no gain past this (measured at 2^24 to 2^27). */
#define GROUP_SLOTS ((size_t)210 << 20)

struct plan {
    size_t n;
    unsigned windows, tables, sets, group, groups, batch; /* group, batch: sets */
    bool overlap;
    unsigned off[MAX_WINDOWS], bits[MAX_WINDOWS]; /* of window t·sets + s */
    unsigned k[MAX_WINDOWS];                      /* set s has 2^k buckets */
    uint32_t bucket0[MAX_WINDOWS + 1];
    uint32_t add[8];
    size_t slots;                                   /* of a group */
    uint32_t row[MAX_WINDOWS], column[MAX_WINDOWS]; /* level 1 of the folds, counted from the first sum */
    uint32_t infinity, num_sums;
    size_t first_jobs, next_jobs; /* of the folds */
    size_t sort_bytes, bytes;
    double cost;
};

/* Level l >= 1 of a fold of 2^k buckets, from its start: level l of 2^k / 2^l sums follows level l - 1. */
static uint32_t fold_at(unsigned k, unsigned l) {
    return (UINT32_C(1) << k) - (UINT32_C(2) << (k - l));
}
static unsigned column_bits(unsigned k) {
    return k / 2;
}

/*
 * Jobs of round r of a group at the most. A bucket of m points has (m + 2^r - 1) / 2^(r + 1), rounded down, so that a
 * bucket of 3 has one in round 1, too; at most first_jobs buckets have points. Rounds from 3 on are parts of those
 * before, so three lists are enough.
 */
static size_t round_jobs(const struct plan *p, unsigned r) {
    const size_t extra = ((size_t)1 << r) - 1;
    return (p->slots + extra * p->first_jobs) / ((size_t)2 << r) + 1;
}

unsigned cz_cuda_msm_shift(unsigned tables, unsigned t) {
    return t * 255 / tables;
}

static void cut(struct plan *p) {
    const unsigned widest = (255 + p->tables - 1) / p->tables, share = widest / p->sets, extra = widest % p->sets;
    for (unsigned w = 0; w < p->windows; w++) {
        const unsigned s = w % p->sets, t = w / p->sets, at = cz_cuda_msm_shift(p->tables, t);
        const unsigned before = s * share + (s < extra ? s : extra);
        p->off[w] = at + before;
        p->bits[w] = share + (s < extra);
        if (s == p->sets - 1) p->bits[w] = cz_cuda_msm_shift(p->tables, t + 1) - p->off[w];
    }
    /* The last window is unsigned and a bit narrower: scalars have 254 bits, and no carry is left over. */
    const unsigned top = p->windows - 1;
    p->bits[top] = 254 - p->off[top];
    memset(p->add, 0, sizeof p->add);
    for (unsigned w = 0; w < top; w++) {
        unsigned b = p->off[w] + p->bits[w] - 1;
        uint64_t carry = UINT64_C(1) << (b & 31);
        for (unsigned i = b >> 5; i < 8 && carry; i++) {
            carry += p->add[i];
            p->add[i] = (uint32_t)carry;
            carry >>= 32;
        }
    }
    p->bucket0[0] = 0;
    for (unsigned s = 0; s < p->sets; s++) {
        p->k[s] = 2;
        for (unsigned w = s; w < p->windows; w += p->sets) {
            unsigned k = w == top ? p->bits[w] : p->bits[w] - 1;
            if (k > p->k[s]) p->k[s] = k;
        }
        p->bucket0[s + 1] = p->bucket0[s] + (UINT32_C(1) << p->k[s]) + 1;
    }
}

/* Sizes of everything for this number of windows and sets a group. False: it cannot be. */
static bool lay_out(struct plan *p, const struct cz_cuda_info *info, enum cz_cuda_group group) {
    if (p->windows % p->tables) return false;
    p->sets = p->windows / p->tables;
    cut(p);
    if (p->off[p->windows - 1] + 3 > 254) return false;
    if (p->group > p->sets) p->group = p->sets;
    p->groups = (p->sets + p->group - 1) / p->group;
    if (p->groups == 1) p->overlap = false;
    p->slots = (size_t)p->group * p->tables * p->n;
    if (p->slots > UINT32_MAX / 2) return false;
    p->batch = p->tables < 4 ? 4 / p->tables : 1;
    if (p->batch > p->sets) p->batch = p->sets;
    if (p->batch * p->tables > CZ_CUDA_DIGIT_BATCH) return false;

    size_t at = p->slots / 2 + 1, first = 0, group_first = 0, additions = 0;
    p->infinity = (uint32_t)at++;
    p->next_jobs = 0;
    for (unsigned s = 0; s < p->sets; s++) {
        const size_t buckets = (size_t)1 << p->k[s];
        p->row[s] = (uint32_t)at;
        at += buckets;
        p->column[s] = (uint32_t)at;
        at += buckets;
        group_first = s % p->group == 0 ? buckets : group_first + buckets;
        if (group_first > first) first = group_first;
        p->next_jobs += buckets / 2;
        additions += buckets;
    }
    p->first_jobs = first;
    p->num_sums = (uint32_t)at;
    if (at > UINT32_MAX / 2) return false;

    const size_t n = p->n, set_slots = (size_t)p->tables * n, lists = p->overlap ? 2 : 1;
    const size_t job = sizeof(struct cz_cuda_job), fold = first > p->next_jobs ? first : p->next_jobs;
    if (set_slots > INT32_MAX) return false;
    if (!p->sort_bytes) p->sort_bytes = cz_cuda_sort_bytes((uint32_t)set_slots);
    if (p->sort_bytes == SIZE_MAX) return false;
    p->bytes = 2 * cz_cuda_rounded(p->batch * set_slots, 4) + cz_cuda_rounded(set_slots, 4) +
               lists * (cz_cuda_rounded(p->slots, 4) + cz_cuda_rounded(round_jobs(p, 0), job)) +
               cz_cuda_rounded(round_jobs(p, 1), job) + cz_cuda_rounded(round_jobs(p, 2), job) +
               cz_cuda_rounded(fold, job) + 2 * cz_cuda_rounded(p->bucket0[p->sets], 4) +
               cz_cuda_rounded(64 * (size_t)(p->groups + 1), 4) + cz_cuda_rounded(p->sort_bytes, 1) +
               cz_cuda_rounded(2 * p->sets * CZ_CUDA_SUMS, cz_cuda_xyzz_bytes(group)) +
               cz_cuda_rounded(cz_cuda_add_scratch(info, group), 1) + cz_cuda_rounded(at, cz_cuda_point_bytes(group));

    /* In additions. A round that does little still takes some 80 µs; sorts that nothing hides, a tenth of the rest. */
    unsigned rounds = 3;
    while (((size_t)1 << rounds) < ((set_slots >> p->k[0]) + 1) * 8) rounds++;
    p->cost = (double)p->windows * (double)n * (p->groups > 1 && !p->overlap ? 1.1 : 1.0) + 1.5 * (double)additions +
              250e3 * (p->groups * (double)rounds + p->k[0] / 2.0) + (double)p->sets * 100e3;
    return true;
}

/* The cheapest plan that fits into `room` bytes. */
static bool choose(struct plan *best, const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n,
                   unsigned tables, unsigned windows, size_t room) {
    best->cost = 1e300;
    size_t sort_bytes = 0; /* the same for all: asked for once, since it takes some microseconds */
    for (unsigned d = windows ? windows : 8; d <= (windows ? windows : 32); d++) {
        struct plan p = {.n = n, .tables = tables};
        if (d % tables) continue;
        size_t most = GROUP_SLOTS / (tables * n);
        if (most < 1) most = 1;
        bool fits = false; /* the largest group that fits is the cheapest */
        for (unsigned g = most < d / tables ? (unsigned)most : d / tables; g >= 1 && !fits; g--) {
            for (int overlap = 1; overlap >= 0; overlap--) {
                p.windows = d;
                p.group = g;
                p.overlap = overlap;
                p.sort_bytes = sort_bytes;
                if (!lay_out(&p, info, group)) continue;
                sort_bytes = p.sort_bytes;
                if (p.bytes > room) continue;
                fits = true;
                if (p.cost < best->cost) *best = p;
            }
        }
    }
    return best->cost < 1e300;
}

struct run {
    struct plan p;
    struct cz_cuda_worker *w;
    enum cz_cuda_group group;
    const uint32_t *d_scalar, *d_index;
    bool montgomery;
    uint32_t point, sums; /* references */
    uint32_t *key, *value, *key_sorted, *sorted[2], *start, *end, *count, *longest;
    struct cz_cuda_job *list0[2], *list1, *list2, *fold;
    void *scratch, *sort_tmp;
    uint8_t *d_out, *out;
};

/* Words of the counters of a group: additions of each round, then the longest bucket. */
#define COUNTS 64
#define LONGEST 40

static enum cz_status carve(struct run *r) {
    const struct plan *p = &r->p;
    struct cz_cuda_worker *w = r->w;
    const size_t set_slots = (size_t)p->tables * p->n, job = sizeof(struct cz_cuda_job);
    const size_t outs = 2 * (size_t)p->sets * CZ_CUDA_SUMS;
    bool ok =
        (r->key = cz_cuda_mem(w, p->batch * set_slots, 4)) && (r->value = cz_cuda_mem(w, p->batch * set_slots, 4));
    ok = ok && (r->key_sorted = cz_cuda_mem(w, set_slots, 4));
    for (int i = 0; i < 2 && ok; i++) {
        if (i == 1 && !p->overlap) {
            r->sorted[1] = r->sorted[0];
            r->list0[1] = r->list0[0];
            break;
        }
        ok = (r->sorted[i] = cz_cuda_mem(w, p->slots, 4)) && (r->list0[i] = cz_cuda_mem(w, round_jobs(p, 0), job));
    }
    const size_t fold = p->first_jobs > p->next_jobs ? p->first_jobs : p->next_jobs;
    ok = ok && (r->list1 = cz_cuda_mem(w, round_jobs(p, 1), job));
    ok = ok && (r->list2 = cz_cuda_mem(w, round_jobs(p, 2), job));
    ok = ok && (r->fold = cz_cuda_mem(w, fold, job));
    ok = ok && (r->start = cz_cuda_mem(w, p->bucket0[p->sets], 4)) && (r->end = cz_cuda_mem(w, p->bucket0[p->sets], 4));
    ok = ok && (r->count = cz_cuda_mem(w, COUNTS * (size_t)(p->groups + 1), 4));
    ok = ok && (r->sort_tmp = cz_cuda_mem(w, p->sort_bytes, 1));
    ok = ok && (r->d_out = cz_cuda_mem(w, outs, cz_cuda_xyzz_bytes(r->group)));
    ok = ok && (r->scratch = cz_cuda_mem(w, cz_cuda_add_scratch(cz_cuda_device_info(w->cuda), r->group), 1));
    void *sums = ok ? cz_cuda_mem(w, p->num_sums, cz_cuda_point_bytes(r->group)) : NULL;
    r->longest = cz_cuda_pinned(w, p->groups, 4);
    r->out = cz_cuda_pinned(w, outs, cz_cuda_xyzz_bytes(r->group));
    if (!sums || !r->longest || !r->out) return cz_cuda_full(w, "an MSM");
    r->sums = cz_cuda_ref(w, r->group, sums);
    return CZ_OK;
}

static unsigned last_set(const struct plan *p, unsigned g) {
    unsigned s = (g + 1) * p->group;
    return s < p->sets ? s : p->sets;
}

static enum cz_status digits(struct run *r, cudaStream_t st, unsigned first) {
    const struct plan *p = &r->p;
    struct cz_cuda_digits d = {.top = UINT32_MAX, .montgomery = r->montgomery};
    memcpy(d.add, p->add, sizeof d.add);
    for (unsigned s = first; s < first + p->batch && s < p->sets; s++) {
        for (unsigned t = 0; t < p->tables; t++) {
            const unsigned window = t * p->sets + s, i = d.count++;
            d.off[i] = p->off[window];
            d.bits[i] = p->bits[window];
            d.none[i] = UINT32_C(1) << p->k[s];
            d.first[i] = r->point + (uint32_t)(t * p->n);
            if (window == p->windows - 1) d.top = i;
        }
    }
    return cz_cuda_k_digits(r->w, st, &d, r->d_scalar, r->d_index, (uint32_t)p->n, r->key, r->value);
}

/* Sorted pairs, bounds and first list of a group's sets. */
static enum cz_status sort_group(struct run *r, unsigned g, cudaStream_t st) {
    const struct plan *p = &r->p;
    struct cz_cuda_worker *w = r->w;
    const size_t set_slots = (size_t)p->tables * p->n;
    const unsigned first = g * p->group, last = last_set(p, g);
    uint32_t *count = r->count + COUNTS * (size_t)g;
    for (unsigned s = first; s < last; s++) {
        const uint32_t slot0 = (uint32_t)((s - first) * set_slots);
        /* Sets come in order on one stream, so the arrays of the last batch are free. */
        if (s % p->batch == 0) CZ_CUDA_TRY(digits(r, st, s));
        const size_t in = s % p->batch * set_slots;
        uint32_t *value = r->sorted[g & 1] + slot0;
        CZ_CUDA_TRY(cz_cuda_sort(w, st, r->sort_tmp, p->sort_bytes, r->key + in, r->key_sorted, r->value + in, value,
                                 (uint32_t)set_slots, (int)p->k[s] + 1));
        struct cz_cuda_set set = {r->key_sorted, value,         (uint32_t)set_slots,
                                  slot0,         p->bucket0[s], UINT32_C(1) << p->k[s]};
        CZ_CUDA_TRY(cz_cuda_k_jobs_first(w, st, &set, r->start, r->end, r->list0[g & 1], count));
    }
    CZ_CUDA_TRY(cz_cuda_k_longest(w, st, r->start + p->bucket0[first], r->end + p->bucket0[first],
                                  p->bucket0[last] - p->bucket0[first], count + LONGEST));
    CZ_CUDA(w, cudaMemcpyAsync(&r->longest[g], count + LONGEST, 4, cudaMemcpyDeviceToHost, st));
    CZ_CUDA(w, cudaEventRecord(w->event[2 + (g & 1)], st));
    return CZ_OK;
}

/* Each bucket of the group to one point, and level 1 of the folds, which reads the buckets where they lie. */
static enum cz_status add_group(struct run *r, unsigned g, cudaStream_t st) {
    const struct plan *p = &r->p;
    struct cz_cuda_worker *w = r->w;
    const uint32_t *value = r->sorted[g & 1];
    uint32_t *count = r->count + COUNTS * (size_t)g;
    CZ_CUDA(w, cudaEventSynchronize(w->event[2 + (g & 1)])); /* the longest bucket says how many rounds there are */
    CZ_CUDA(w, cudaStreamWaitEvent(st, w->event[2 + (g & 1)], 0));
    unsigned rounds = 0;
    while ((UINT64_C(1) << rounds) < r->longest[g]) rounds++;
    const struct cz_cuda_job *list = r->list0[g & 1];
    for (unsigned i = 0; i < rounds; i++) {
        CZ_CUDA_TRY(cz_cuda_add(w, st, r->group, list, count + i, 0, r->sums, r->scratch));
        if (i + 1 == rounds) break;
        struct cz_cuda_job *next = i & 1 ? r->list2 : r->list1;
        CZ_CUDA_TRY(
            cz_cuda_k_jobs_next(w, st, list, count + i, i + 1, value, r->sums, r->start, r->end, next, count + i + 1));
        list = next;
    }
    uint32_t total = 0;
    for (unsigned s = g * p->group; s < last_set(p, g); s++) {
        CZ_CUDA_TRY(cz_cuda_k_fold_first(w, st, p->bucket0[s], p->k[s], r->start, r->end, value, r->sums,
                                         r->sums + p->infinity, p->row[s], p->column[s], r->fold + total));
        total += UINT32_C(1) << p->k[s];
    }
    CZ_CUDA_TRY(cz_cuda_add(w, st, r->group, r->fold, NULL, total, r->sums, r->scratch));
    CZ_CUDA(w, cudaEventRecord(w->event[4 + (g & 1)], st));
    return CZ_OK;
}

/* Levels 2 and on of all sets together, then sums by index bits. */
static enum cz_status reduce(struct run *r, cudaStream_t st) {
    const struct plan *p = &r->p;
    struct cz_cuda_worker *w = r->w;
    for (unsigned l = 2;; l++) {
        struct cz_cuda_fold f = {.segments = 2 * p->sets};
        for (unsigned i = 0; i < f.segments; i++) {
            const unsigned s = i / 2, k = p->k[s], h = column_bits(k), levels = i & 1 ? k - h : h;
            const uint32_t at = i & 1 ? p->column[s] : p->row[s];
            const bool live = l <= levels;
            f.job0[i + 1] = f.job0[i] + (live ? UINT32_C(1) << (k - l) : 0);
            f.src[i] = live ? at + fold_at(k, l - 1) : 0;
            f.dst[i] = live ? at + fold_at(k, l) : 0;
        }
        if (f.job0[f.segments] == 0) break;
        CZ_CUDA_TRY(cz_cuda_k_fold_next(w, st, &f, r->sums, r->fold));
        CZ_CUDA_TRY(cz_cuda_add(w, st, r->group, r->fold, NULL, f.job0[f.segments], r->sums, r->scratch));
    }
    struct cz_cuda_bit_sums b = {.segments = 2 * p->sets};
    for (unsigned i = 0; i < b.segments; i++) {
        const unsigned s = i / 2, k = p->k[s], h = column_bits(k), log2 = i & 1 ? h : k - h;
        b.at[i] = r->sums + (i & 1 ? p->column[s] : p->row[s]) + fold_at(k, k - log2);
        b.log2[i] = log2;
    }
    CZ_CUDA_TRY(cz_cuda_k_bit_sums(w, st, r->group, &b, r->d_out));
    CZ_CUDA(w, cudaMemcpyAsync(r->out, r->d_out, 2 * (size_t)p->sets * CZ_CUDA_SUMS * cz_cuda_xyzz_bytes(r->group),
                               cudaMemcpyDeviceToHost, st));
    CZ_CUDA(w, cudaStreamSynchronize(st));
    return CZ_OK;
}

/* Bucket b counts b + 1 times: index bits of rows and columns, and everything once more. */
static void finish(void *out, const struct run *r) {
    const struct plan *p = &r->p;
    const size_t size = cz_cuda_xyzz_bytes(r->group);
    struct cz_cuda_sum sum;
    cz_cuda_sum_init(&sum, r->group);
    for (unsigned s = 0; s < p->sets; s++) {
        const uint8_t *row = r->out + 2 * (size_t)s * CZ_CUDA_SUMS * size, *column = row + CZ_CUDA_SUMS * size;
        const unsigned h = column_bits(p->k[s]);
        for (unsigned i = 0; i < p->k[s] - h; i++) cz_cuda_sum_add(&sum, p->off[s] + h + i, row + i * size);
        for (unsigned i = 0; i < h; i++) cz_cuda_sum_add(&sum, p->off[s] + i, column + i * size);
        cz_cuda_sum_add(&sum, p->off[s], column + (CZ_CUDA_SUMS - 1) * size);
    }
    cz_cuda_sum_finish(out, &sum);
}

static enum cz_status run(struct run *r) {
    const struct plan *p = &r->p;
    struct cz_cuda_worker *w = r->w;
    const size_t starts = 4 * (size_t)p->bucket0[p->sets];
    cudaStream_t st = w->stream, side = p->overlap ? w->side : w->stream;
    CZ_CUDA_TRY(carve(r));
    CZ_CUDA(w, cudaEventRecord(w->event[0], st));
    CZ_CUDA(w, cudaStreamWaitEvent(side, w->event[0], 0));
    CZ_CUDA(w, cudaMemsetAsync(r->start, 0, starts, side));
    CZ_CUDA(w, cudaMemsetAsync(r->end, 0, starts, side));
    CZ_CUDA(w, cudaMemsetAsync(r->count, 0, 4 * COUNTS * (size_t)(p->groups + 1), side));
    CZ_CUDA_TRY(cz_cuda_k_infinity(w, side, r->group, r->sums + p->infinity));
    if (p->overlap) CZ_CUDA_TRY(sort_group(r, 0, side));
    for (unsigned g = 0; g < p->groups; g++) {
        if (!p->overlap) {
            CZ_CUDA_TRY(sort_group(r, g, side));
        } else if (g + 1 < p->groups) {
            if (g >= 1) CZ_CUDA(w, cudaStreamWaitEvent(side, w->event[4 + (g - 1) % 2], 0));
            CZ_CUDA_TRY(sort_group(r, g + 1, side));
        }
        CZ_CUDA_TRY(add_group(r, g, st));
    }
    return reduce(r, st);
}

static void put_infinity(void *out, enum cz_cuda_group group) {
    if (group == CZ_CUDA_G1)
        *(struct cz_g1 *)out = CZ_G1_INFINITY;
    else
        *(struct cz_g2 *)out = CZ_G2_INFINITY;
}

enum cz_status cz_cuda_msm_tables(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                                  unsigned tables, unsigned windows, const uint32_t *d_index, const uint32_t *d_scalar,
                                  size_t n, bool montgomery) {
    if (n == 0) {
        put_infinity(out, group);
        return CZ_OK;
    }
    if (n >= (size_t)1 << 28) return cz_error_set(&w->err, CZ_ERR_LIMIT, "an MSM of %zu points: too many at once", n);
    struct run r = {.w = w,
                    .group = group,
                    .d_scalar = d_scalar,
                    .d_index = d_index,
                    .montgomery = montgomery,
                    .point = cz_cuda_ref(w, group, d_point)};
    if (!choose(&r.p, cz_cuda_device_info(w->cuda), group, n, tables, windows, w->mem_size - w->mem_used))
        return cz_cuda_full(w, "an MSM");
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    enum cz_status status = run(&r);
    if (status == CZ_OK)
        finish(out, &r);
    else
        (void)cudaStreamSynchronize(w->side);
    cz_cuda_release(w, mark);
    return status;
}

enum cz_status cz_cuda_msm(void *out, struct cz_cuda_worker *w, enum cz_cuda_group group, const void *d_point,
                           const uint32_t *d_index, const uint32_t *d_scalar, size_t n, bool montgomery) {
    return cz_cuda_msm_tables(out, w, group, d_point, 1, 0, d_index, d_scalar, n, montgomery);
}

void cz_cuda_msm_bytes(size_t *least, size_t *best, const struct cz_cuda_info *info, enum cz_cuda_group group,
                       size_t n) {
    struct plan p;
    *least = *best = 0;
    if (n == 0 || !choose(&p, info, group, n, 1, 0, SIZE_MAX)) return;
    const size_t sort_bytes = p.sort_bytes;
    *best = *least = p.bytes;
    for (unsigned d = 8; d <= 32; d++) {
        p = (struct plan){.n = n, .tables = 1, .windows = d, .group = 1, .sort_bytes = sort_bytes};
        if (lay_out(&p, info, group) && p.bytes < *least) *least = p.bytes;
    }
}
