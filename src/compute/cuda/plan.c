#include "compute/cuda/plan.h"

#include "base/bytes.h"

#include <string.h>

/* The addition kernel's scratch, small buffers of streamed points and the sums of a block: of 192 multiprocessors. */
#define STREAM_LEAST ((size_t)1400 << 20)

/* What an MSM likes to have for each 2^20 points. */
#define SUMS_BEST ((size_t)160 << 20)

static uint64_t popcount(const uint64_t *bit, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n / 64; i++) sum += (uint64_t)__builtin_popcountll(bit[i]);
    if (n % 64) sum += (uint64_t)__builtin_popcountll(bit[n / 64] & ((UINT64_C(1) << n % 64) - 1));
    return sum;
}

struct counts {
    size_t a, b, b_inputs, list_l, list_a, list_b;
};

static enum cz_status count(struct counts *c, const struct cz_r1cs *r1cs) {
    const size_t words = ((size_t)r1cs->num_aux + 63) / 64, inputs = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *a = cz_calloc(2 * words + inputs, sizeof *a);
    if (!a) return CZ_ERR_MEMORY;
    uint64_t *b = a + words, *in = b + words;
    cz_r1cs_density(r1cs, a, b, in);
    const size_t b_inputs = popcount(in, r1cs->num_inputs);
    c->a = r1cs->num_inputs + popcount(a, r1cs->num_aux);
    c->b_inputs = b_inputs;
    c->b = b_inputs + popcount(b, r1cs->num_aux);
    for (size_t i = 0; i < words; i++) {
        a[i] &= ~r1cs->aux_is_bit[i];
        b[i] &= ~r1cs->aux_is_bit[i];
    }
    c->list_l = r1cs->num_aux - r1cs->num_bits;
    c->list_a = r1cs->num_inputs + popcount(a, r1cs->num_aux);
    c->list_b = b_inputs + popcount(b, r1cs->num_aux);
    cz_free(a);
    return CZ_OK;
}

static size_t round_up(size_t n) {
    return (n + 767) / 768 * 768;
}

/* Adds an item; `must`: it is resident in any case. */
static void add(struct cz_gpu_plan *p, const char *name, size_t bytes, bool must, bool stream, size_t *room) {
    struct cz_gpu_plan_item *i = &p->item[p->num_items++];
    bytes = round_up(bytes);
    *i = (struct cz_gpu_plan_item){name, bytes, stream ? CZ_GPU_STREAMED : CZ_GPU_LEFT_OUT};
    if (must || bytes <= *room) {
        i->place = CZ_GPU_RESIDENT;
        p->residents += bytes;
        *room -= bytes < *room ? bytes : *room;
    } else if (stream) {
        p->streamed += bytes;
    }
}

enum cz_status cz_gpu_plan_make(struct cz_gpu_plan *out, const struct cz_r1cs *r1cs, size_t vram, unsigned workers,
                                struct cz_error *err) {
    struct cz_gpu_plan p = {.workers = workers, .vram = vram, .log_domain = cz_r1cs_domain_log2(r1cs)};
    struct counts c;
    memset(out, 0, sizeof *out);
    if (workers < 1 || workers > 8) return cz_error_set(err, CZ_ERR_ARGUMENT, "workers: %u, not 1 to 8", workers);
    if (p.log_domain > 27)
        return cz_error_set(err, CZ_ERR_LIMIT, "a domain of 2^%u, above 2^27: no plan", p.log_domain);
    if (count(&c, r1cs) != CZ_OK) return cz_error_set(err, CZ_ERR_MEMORY, "plan: host memory");
    const size_t n = (size_t)1 << p.log_domain, aux_bytes = ((size_t)r1cs->num_aux + 63) / 64 * 8;
    p.witness =
        round_up(32 * (size_t)(r1cs->num_aux - r1cs->num_bits + r1cs->num_inputs + 2)) + 4 * round_up(aux_bytes);
    p.vectors = 3 * round_up(32 * n);
    p.sums_least = 32 * n + round_up(4 * ((size_t)r1cs->num_aux + 1)) + STREAM_LEAST;
    p.worker = p.witness + (p.vectors > p.sums_least ? p.vectors : p.sums_least);
    size_t budget = vram > CZ_GPU_PLAN_RESERVE ? vram - CZ_GPU_PLAN_RESERVE : 0;
    if (budget > CZ_GPU_PLAN_MOST) budget = CZ_GPU_PLAN_MOST;
    size_t room = budget > workers * p.worker ? budget - workers * p.worker : 0;
    const bool worker_fits = room > 0;

    /* As srs.c takes them. */
    add(&p, "transform tables", ((size_t)4 * (16384 + 8192) + 1024) * 32, true, false, &room);
    add(&p, "circuit", cz_r1cs_bytes(r1cs), true, false, &room);
    add(&p, "densities and lists", 2 * aux_bytes + 8 * (c.list_l + c.list_a + c.list_b), true, false, &room);
    const size_t fixed = p.residents;
    add(&p, "H and its index", 100 * n, false, true, &room);
    add(&p, "L", 96 * (size_t)r1cs->num_aux, false, true, &room);
    add(&p, "A", 96 * c.a, false, true, &room);
    add(&p, "B in G1", 96 * c.b, false, true, &room);
    add(&p, "B in G2", 192 * c.b, false, true, &room);
    if (p.log_domain == 27) add(&p, "tables of 2^27", 3 * 32 * (n + ((size_t)1 << 18)), false, false, &room);
    const size_t before = p.residents;
    /* Sums of neighbours speed up little: not of what lets an MSM run in few groups. */
    const size_t keep = workers * (32 * n + (size_t)(n >> 20) * SUMS_BEST);
    size_t extra = room > keep ? room - keep : 0;
    add(&p, "neighbours of L", 48 * (size_t)r1cs->num_aux, false, false, &extra);
    add(&p, "neighbours of A", 48 * (c.a - r1cs->num_inputs) + 4 * (aux_bytes / 8), false, false, &extra);
    add(&p, "neighbours of B in G1", 48 * (c.b - c.b_inputs) + 4 * (aux_bytes / 8), false, false, &extra);
    add(&p, "neighbours of B in G2", 96 * (c.b - c.b_inputs), false, false, &extra);
    room -= p.residents - before;
    p.peak = CZ_GPU_PLAN_RESERVE + p.residents + workers * p.worker;
    /* What is left makes the sums' groups of windows larger. */
    if (worker_fits) p.worker += room / workers;
    *out = p;
    if (!worker_fits || p.peak > vram)
        return cz_error_set(
            err, CZ_ERR_BUDGET,
            "%u workers need %zu MiB each, residents %zu MiB at the least: %zu MiB of vram are too little", workers,
            p.worker >> 20, fixed >> 20, vram >> 20);
    return CZ_OK;
}
