/* A partition on the CPU: five sums over the bases as they lie in the mapped file (spec/r1cs-and-prover.md §4, §5). */

#include "base/bytes.h"
#include "base/time.h"
#include "compute/cpu/cpu_int.h"
#include "compute/cpu/large.h"

#include <string.h>

/* The scalars of one sum that are not single bits. slot: where it stands in the witness, CZ_R1CS_SLOT
 * form. */
struct scalar_list {
    uint32_t *base, *slot;
    size_t n;
};

struct density {
    uint64_t *aux;
    uint32_t *rank; /* bits before each 512 */
};

struct cpu_srs {
    struct cz_srs base;
    struct density a, b;
    size_t first_a, first_b; /* points of inputs, which come before those of aux */
    struct scalar_list list_l, list_a, list_b;
    size_t bytes;
};

static size_t words_of(size_t bits) {
    return (bits + 63) / 64;
}

static bool bit_of(const uint64_t *bit, size_t i) {
    return bit[i / 64] >> (i % 64) & 1;
}

static enum cz_status density_rank(struct cpu_srs *srs, struct density *d, size_t num_aux) {
    size_t words = words_of(num_aux), blocks = (num_aux + 511) / 512;
    d->rank = cz_malloc_array(blocks + 1, sizeof *d->rank);
    if (!d->rank) return CZ_ERR_MEMORY;
    uint32_t rank = 0;
    for (size_t i = 0; i < words; i++) {
        if (i % 8 == 0) d->rank[i / 8] = rank;
        rank += (uint32_t)__builtin_popcountll(d->aux[i]);
    }
    srs->bytes += (words + 1) * 8 + (blocks + 1) * 4;
    return CZ_OK;
}

/* Inputs of `input` (NULL: none), then elements among the aux variables of `density` (NULL: all aux). */
static enum cz_status list_make(struct cpu_srs *srs, struct scalar_list *list, const struct cz_r1cs *r1cs,
                                const uint64_t *input, const uint64_t *density) {
    size_t inputs = input ? cz_device_popcount(input, r1cs->num_inputs) : 0, elements = 0;
    for (size_t i = 0; i < words_of(r1cs->num_aux); i++) {
        uint64_t d = density ? density[i] : UINT64_MAX;
        elements += (size_t)__builtin_popcountll(d & ~r1cs->aux_is_bit[i]);
    }
    size_t room = inputs + elements + 64; /* bits past num_aux are counted above */
    list->base = cz_malloc_array(room, sizeof *list->base);
    list->slot = cz_malloc_array(room, sizeof *list->slot);
    if (!list->base || !list->slot) return CZ_ERR_MEMORY;
    uint32_t base = 0, elem = 0, stored = 0;
    size_t n = 0;
    for (uint32_t i = 0; input && i < r1cs->num_inputs; i++) {
        if (!bit_of(input, i)) continue;
        list->base[n] = base++;
        list->slot[n++] = CZ_R1CS_SLOT(i, CZ_R1CS_SLOT_INPUT);
    }
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        bool chosen = !density || bit_of(density, i), element = !bit_of(r1cs->aux_is_bit, i);
        bool square = element && cz_r1cs_is_square(r1cs, elem);
        if (chosen && element) {
            list->base[n] = base;
            list->slot[n++] =
                square ? CZ_R1CS_SLOT(stored - 1, CZ_R1CS_SLOT_SQUARE) : CZ_R1CS_SLOT(stored, CZ_R1CS_SLOT_ELEM);
        }
        base += chosen;
        elem += element;
        stored += element && !square;
    }
    list->n = n;
    srs->bytes += room * 8;
    return CZ_OK;
}

static void list_free(struct scalar_list *list) {
    cz_free(list->base);
    cz_free(list->slot);
}

void cz_prove_srs_destroy(struct cz_srs *base) {
    struct cpu_srs *srs = (struct cpu_srs *)base;
    cz_free(srs->a.aux);
    cz_free(srs->a.rank);
    cz_free(srs->b.aux);
    cz_free(srs->b.rank);
    list_free(&srs->list_l);
    list_free(&srs->list_a);
    list_free(&srs->list_b);
    cz_free(srs);
}

enum cz_status cz_prove_srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                   const struct cz_srs_view *view, struct cz_error *err) {
    (void)dev;
    (void)view;
    size_t aux_words = words_of(r1cs->num_aux), input_words = words_of(r1cs->num_inputs);
    struct cpu_srs *srs = cz_calloc(1, sizeof *srs);
    uint64_t *b_input = cz_calloc(input_words, sizeof *b_input), *all = cz_calloc(input_words, sizeof *all);
    enum cz_status status = CZ_ERR_MEMORY;
    if (!srs || !b_input || !all) goto out;
    srs->bytes = sizeof *srs;
    srs->a.aux = cz_calloc(aux_words + 1, sizeof *srs->a.aux);
    srs->b.aux = cz_calloc(aux_words + 1, sizeof *srs->b.aux);
    if (!srs->a.aux || !srs->b.aux) goto out;
    cz_r1cs_density(r1cs, srs->a.aux, srs->b.aux, b_input);
    memset(all, 0xff, input_words * sizeof *all);
    srs->first_a = r1cs->num_inputs;
    srs->first_b = cz_device_popcount(b_input, r1cs->num_inputs);
    status = density_rank(srs, &srs->a, r1cs->num_aux);
    if (status == CZ_OK) status = density_rank(srs, &srs->b, r1cs->num_aux);
    if (status == CZ_OK) status = list_make(srs, &srs->list_l, r1cs, NULL, NULL);
    if (status == CZ_OK) status = list_make(srs, &srs->list_a, r1cs, all, srs->a.aux);
    if (status == CZ_OK) status = list_make(srs, &srs->list_b, r1cs, b_input, srs->b.aux);
out:
    cz_free(b_input);
    cz_free(all);
    if (status != CZ_OK) {
        if (srs) cz_prove_srs_destroy(&srs->base);
        return cz_error_set(err, status, "srs: no memory for the index lists");
    }
    *out = &srs->base;
    return CZ_OK;
}

size_t cz_prove_srs_bytes(const struct cz_srs *srs) {
    return ((const struct cpu_srs *)srs)->bytes;
}

/* One partition under way. */
struct partition {
    struct cz_pool *pool;
    const struct cpu_srs *srs;
    const struct cz_r1cs *r1cs;
    const struct cz_witness *witness;
    uint64_t *value; /* a bit for each aux variable, 0 where it is an element */
    struct cz_fr *a, *b, *c;
};

/* `n` bits from bit `at` on; the array has `bits` bits. */
static uint64_t take_bits(const uint64_t *bit, size_t bits, size_t at, unsigned n) {
    if (n == 0) return 0;
    uint64_t v = bit[at / 64] >> at % 64;
    if (at % 64 && (at / 64 + 1) * 64 < bits) v |= bit[at / 64 + 1] << (64 - at % 64);
    return n == 64 ? v : v & ((UINT64_C(1) << n) - 1);
}

/* Spreads the witness's bits over the aux variables, 512 of them an index. */
static void spread_bits(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct partition *p = ctx;
    const struct cz_r1cs *r1cs = p->r1cs;
    (void)worker;
    size_t words = words_of(r1cs->num_aux), at = r1cs->aux_bit_rank[first];
    for (size_t w = 8 * first; w < 8 * last && w < words; w++) {
        uint64_t mask = r1cs->aux_is_bit[w];
        if (w + 1 == words && r1cs->num_aux % 64) mask &= (UINT64_C(1) << r1cs->num_aux % 64) - 1;
        unsigned n = (unsigned)__builtin_popcountll(mask);
        uint64_t bits = take_bits(p->witness->bit, p->witness->num_bits, at, n), spread = 0;
        at += n;
        if (n == 64) {
            spread = bits;
        } else {
            for (; mask; mask &= mask - 1, bits >>= 1)
                if (bits & 1) spread |= mask & -mask;
        }
        p->value[w] = spread;
    }
}

struct listed {
    const struct cz_witness *witness;
    const struct scalar_list *list;
};

static void scalars_listed(const void *ctx, uint64_t *out, size_t first, size_t n) {
    const struct listed *l = ctx;
    struct cz_fr value[64];
    for (size_t at = 0; at < n; at += 64) {
        size_t part = n - at < 64 ? n - at : 64;
        for (size_t i = 0; i < part; i++) {
            uint32_t slot = l->list->slot[first + at + i], kind = slot & 3, rank = slot >> 2;
            if (kind == CZ_R1CS_SLOT_SQUARE)
                cz_fr_sqr(&value[i], &l->witness->elem[rank]);
            else
                value[i] = kind == CZ_R1CS_SLOT_INPUT ? l->witness->input[rank] : l->witness->elem[rank];
        }
        cz_fr_to_limbs_n(out + 4 * at, value, part);
    }
}

/* Bits by a bit sum and everything else by a multi-scalar multiplication, into `part`. */
static enum cz_status sum_vector(void *bits, void *rest, const struct cz_points_ops *ops, const struct partition *p,
                                 const uint8_t *encoded, const struct scalar_list *list, const struct density *density,
                                 size_t first_base) {
    struct listed listed = {.witness = p->witness, .list = list};
    struct cz_msm_input in = {.n = list->n, .scalars = scalars_listed, .ctx = &listed};
    in.base = (struct cz_point_source){.encoded = encoded, .index = list->base};
    enum cz_status status = ops->msm(rest, p->pool, &in);
    if (status != CZ_OK) return status;
    struct cz_point_source all = {.encoded = encoded};
    struct cz_bit_select select = {.value = p->value, .n = p->r1cs->num_aux, .first_base = first_base};
    if (density) {
        select.density = density->aux;
        select.density_rank = density->rank;
    }
    return ops->bitsum(bits, p->pool, &all, &select);
}

static enum cz_status sum_g1(struct cz_g1 *out, struct cz_partition_timing *timing, enum cz_partition_part part,
                             const struct partition *p, const uint8_t *encoded, const struct scalar_list *list,
                             const struct density *density, size_t first_base) {
    struct cz_g1 bits, rest;
    uint64_t start = cz_time_now_ns();
    enum cz_status status = sum_vector(&bits, &rest, cz_cpu_g1(), p, encoded, list, density, first_base);
    if (status == CZ_OK) cz_g1_add(out, &bits, &rest);
    cz_device_part_done(timing, part, start);
    return status;
}

static enum cz_status sum_g2(struct cz_g2 *out, struct cz_partition_timing *timing, enum cz_partition_part part,
                             const struct partition *p, const uint8_t *encoded, const struct scalar_list *list,
                             const struct density *density, size_t first_base) {
    struct cz_g2 bits, rest;
    uint64_t start = cz_time_now_ns();
    enum cz_status status = sum_vector(&bits, &rest, cz_cpu_g2(), p, encoded, list, density, first_base);
    if (status == CZ_OK) cz_g2_add(out, &bits, &rest);
    cz_device_part_done(timing, part, start);
    return status;
}

static void eval_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct partition *p = ctx;
    (void)worker;
    cz_witness_eval(p->a, p->b, p->c, p->witness, p->r1cs, (uint32_t)first, (uint32_t)(last - first));
}

/* The rows of the inputs (a = z_i) and the padding to the domain. */
static void eval_tail(const struct partition *p, size_t m) {
    size_t rows = p->r1cs->num_constraints, inputs = p->r1cs->num_inputs;
    memcpy(p->a + rows, p->witness->input, inputs * sizeof *p->a);
    memset(p->a + rows + inputs, 0, (m - rows - inputs) * sizeof *p->a);
    memset(p->b + rows, 0, (m - rows) * sizeof *p->b);
    memset(p->c + rows, 0, (m - rows) * sizeof *p->c);
}

static void free_vectors(struct partition *p, bool b_too) {
    cz_free(p->a);
    cz_free(p->c);
    p->a = p->c = NULL;
    if (b_too) {
        cz_free(p->b);
        p->b = NULL;
    }
}

static enum cz_status sum_h(struct cz_g1 *out, struct cz_partition_timing *timing, struct partition *p) {
    unsigned log2n = cz_r1cs_domain_log2(p->r1cs);
    size_t m = (size_t)1 << log2n;
    uint64_t start = cz_time_now_ns();
    p->a = cz_cpu_large(m, sizeof *p->a);
    p->b = cz_cpu_large(m, sizeof *p->b);
    p->c = cz_cpu_large(m, sizeof *p->c);
    if (!p->a || !p->b || !p->c) return CZ_ERR_MEMORY;
    size_t instances = p->r1cs->num_instances, grain = instances / (64 * (size_t)cz_pool_threads(p->pool)) + 1;
    cz_pool_for(p->pool, instances, grain, eval_range, p);
    eval_tail(p, m);
    cz_device_part_done(timing, CZ_PART_EVAL, start);

    start = cz_time_now_ns();
    enum cz_status status = cz_cpu_ntt()->quotient(p->pool, p->a, p->b, p->c, log2n);
    cz_device_part_done(timing, CZ_PART_NTT, start);
    free_vectors(p, false);
    if (status != CZ_OK) return status;

    start = cz_time_now_ns();
    struct cz_msm_input in = {.n = m - 1, .scalars = cz_cpu_scalars_plain, .ctx = p->b};
    in.base.encoded = p->srs->base.view.h;
    status = cz_cpu_g1()->msm(out, p->pool, &in);
    cz_device_part_done(timing, CZ_PART_MSM_H, start);
    return status;
}

enum cz_status cz_prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                  struct cz_srs *base, const struct cz_witness *witness, struct cz_error *err) {
    const struct cpu_srs *srs = (const struct cpu_srs *)base;
    const struct cz_srs_view *view = &base->view;
    struct partition p = {.srs = srs, .r1cs = base->r1cs, .witness = witness};
    enum cz_status status = CZ_ERR_MEMORY;
    uint64_t start;
    p.pool = ((struct cz_cpu_device *)base->dev)->pool;
    p.value = cz_malloc_array(words_of(p.r1cs->num_aux) + 1, sizeof *p.value);
    if (!p.value) goto out;
    start = cz_time_now_ns();
    cz_pool_for(p.pool, ((size_t)p.r1cs->num_aux + 511) / 512, 64, spread_bits, &p);
    cz_device_part_done(timing, CZ_PART_EXPAND, start);

    status = sum_g1(&out->l, timing, CZ_PART_SUM_L, &p, view->l, &srs->list_l, NULL, 0);
    if (status == CZ_OK)
        status = sum_g1(&out->a, timing, CZ_PART_SUM_A, &p, view->a, &srs->list_a, &srs->a, srs->first_a);
    if (status == CZ_OK)
        status = sum_g1(&out->b_g1, timing, CZ_PART_SUM_B_G1, &p, view->b_g1, &srs->list_b, &srs->b, srs->first_b);
    if (status == CZ_OK)
        status = sum_g2(&out->b_g2, timing, CZ_PART_SUM_B_G2, &p, view->b_g2, &srs->list_b, &srs->b, srs->first_b);
    if (status == CZ_OK) status = sum_h(&out->h, timing, &p);
out:
    free_vectors(&p, true);
    cz_free(p.value);
    if (status != CZ_OK) return cz_error_set(err, status, "partition: %s", cz_status_text(status));
    return CZ_OK;
}

size_t cz_prove_partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs) {
    unsigned threads = cz_pool_threads(((const struct cz_cpu_device *)dev)->pool), log2n = cz_r1cs_domain_log2(r1cs);
    size_t m = (size_t)1 << log2n, columns = (size_t)1 << (log2n + 1) / 2;
    size_t elements = (size_t)r1cs->num_aux - r1cs->num_bits + r1cs->num_inputs;
    size_t transform = 3 * m * sizeof(struct cz_fr) + threads * 2 * columns * 320 + columns * 8 * 40;
    size_t msm_h = m * sizeof(struct cz_fr) + cz_cpu_g1()->msm_bytes(m, threads);
    size_t sums = cz_cpu_g2()->msm_bytes(elements, threads), bits = cz_cpu_g2()->bitsum_bytes(threads);
    size_t most = transform > msm_h ? transform : msm_h;
    if (sums > most) most = sums;
    if (bits > most) most = bits;
    return most + r1cs->num_aux / 8 + 65536;
}
