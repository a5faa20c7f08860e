#include "r1cs/r1cs.h"

#include "base/bytes.h"
#include "r1cs/r1cs_int.h"

#include <string.h>

static void set_bit(uint64_t *map, uint32_t i) {
    map[i / 64] |= 1ull << (i % 64);
}

static void *copy(const void *from, size_t n, size_t size) {
    void *p = cz_malloc_array(n ? n : 1, size);
    if (p && n) memcpy(p, from, n * size);
    return p;
}

/* 64 bits of a map from bit `at` on; `words` long. */
static uint64_t bits_from(const uint64_t *map, size_t words, size_t at) {
    size_t k = at / 64;
    unsigned shift = at % 64;
    uint64_t v = k < words ? map[k] >> shift : 0;
    if (shift && k + 1 < words) v |= map[k + 1] << (64 - shift);
    return v;
}

/* ORs n bits of src from bit src_at on to dst from bit dst_at on. */
static void or_bits(uint64_t *dst, size_t dst_at, const uint64_t *src, size_t src_words, size_t src_at, size_t n) {
    while (n) {
        unsigned shift = dst_at % 64;
        size_t step = 64 - shift < n ? 64 - shift : n;
        uint64_t v = bits_from(src, src_words, src_at);
        if (step < 64) v &= (1ull << step) - 1;
        dst[dst_at / 64] |= v << shift;
        dst_at += step;
        src_at += step;
        n -= step;
    }
}

/* local_slot and elem_is_square; false when memory is out. */
static bool template_slots(struct cz_r1cs_template *t, uint32_t *slot, const struct cz_recorder *r) {
    uint64_t *square = NULL;
    if (r->num_squares) {
        square = cz_calloc((size_t)(r->num_local - r->num_bits) / 64 + 1, sizeof *square);
        t->elem_is_square = square;
        if (!square) return false;
    }
    for (uint32_t i = 0, bits = 0, elems = 0, stored = 0; i < r->num_local; i++) {
        if (t->local_is_bit[i / 64] >> (i % 64) & 1) {
            slot[i] = CZ_R1CS_SLOT(bits++, CZ_R1CS_SLOT_BIT);
        } else if (square && cz_recorder_is_square(r, i)) {
            slot[i] = CZ_R1CS_SLOT(stored - 1, CZ_R1CS_SLOT_SQUARE);
            set_bit(square, elems++);
        } else {
            slot[i] = CZ_R1CS_SLOT(stored++, CZ_R1CS_SLOT_ELEM);
            elems++;
        }
    }
    return true;
}

bool cz_r1cs_template_init(struct cz_r1cs_template *t, const struct cz_recorder *r, const char *name) {
    memset(t, 0, sizeof *t);
    t->num_external = r->num_external;
    t->num_local = r->num_local;
    t->num_constraints = r->num_constraints;
    t->num_bits = r->num_bits;
    t->num_squares = r->num_squares;
    t->name = copy(name, strlen(name) + 1, 1);
    t->local_is_bit = copy(r->is_bit, ((size_t)r->num_local + 63) / 64, sizeof(uint64_t));
    uint32_t *slot = cz_malloc_array((size_t)r->num_local + 1, sizeof *slot);
    t->local_slot = slot;
    bool ok = t->name && t->local_is_bit && slot;
    for (int m = 0; m < 3; m++) {
        uint32_t *row = cz_malloc_array((size_t)r->num_constraints + 1, sizeof *row);
        t->row[m] = row;
        t->term[m] = copy(r->term[m], r->num_terms[m], sizeof *r->term[m]);
        ok = ok && row && t->term[m];
        if (!row) continue;
        row[0] = 0;
        for (uint32_t k = 1; k <= r->num_constraints; k++) row[k] = r->row[m][k];
    }
    if (!ok) return false;
    for (int m = 0; m < 2; m++) {
        uint64_t *map = cz_calloc(((size_t)r->num_external + r->num_local) / 64 + 1, sizeof *map);
        t->density[m] = map;
        if (!map) return false;
        for (uint32_t k = 0; k < r->num_terms[m]; k++) set_bit(map, r->term[m][k].col);
    }
    return template_slots(t, slot, r);
}

void cz_r1cs_template_done(struct cz_r1cs_template *t) {
    cz_free((void *)t->name);
    cz_free((void *)t->local_is_bit);
    cz_free((void *)t->local_slot);
    cz_free((void *)t->elem_is_square);
    cz_free((void *)t->density[0]);
    cz_free((void *)t->density[1]);
    for (int m = 0; m < 3; m++) {
        cz_free((void *)t->row[m]);
        cz_free((void *)t->term[m]);
    }
    memset(t, 0, sizeof *t);
}

void cz_r1cs_destroy(struct cz_r1cs *r1cs) {
    if (!r1cs) return;
    struct cz_r1cs_template *tmpl = (struct cz_r1cs_template *)r1cs->tmpl;
    for (uint32_t i = 0; tmpl && i < r1cs->num_templates; i++) cz_r1cs_template_done(&tmpl[i]);
    cz_free(tmpl);
    cz_free((void *)r1cs->instance);
    cz_free((void *)r1cs->external);
    cz_free((void *)r1cs->external_slot);
    cz_free((void *)r1cs->coef);
    cz_free((void *)r1cs->aux_is_bit);
    cz_free((void *)r1cs->aux_bit_rank);
    cz_free((void *)r1cs->elem_is_square);
    cz_free((void *)r1cs->elem_square_rank);
    cz_free(r1cs);
}

/* elem_is_square and elem_square_rank; false when memory is out. */
static bool index_squares(struct cz_r1cs *r1cs) {
    if (!r1cs->num_squares) return true;
    size_t words = (size_t)cz_r1cs_num_elems(r1cs) / 64 + 1;
    uint64_t *is_square = cz_calloc(words, sizeof *is_square);
    uint32_t *rank = cz_calloc(words / 8 + 1, sizeof *rank), sum = 0;
    r1cs->elem_is_square = is_square;
    r1cs->elem_square_rank = rank;
    if (!is_square || !rank) return false;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        if (!t->num_squares) continue;
        uint32_t n = t->num_local - t->num_bits;
        or_bits(is_square, inst->first_aux - inst->first_bit, t->elem_is_square, (size_t)n / 64 + 1, 0, n);
    }
    for (size_t k = 0; k < words; k++) {
        if (k % 8 == 0) rank[k / 8] = sum;
        sum += (uint32_t)__builtin_popcountll(is_square[k]);
    }
    return true;
}

bool cz_r1cs_index(struct cz_r1cs *r1cs) {
    size_t words = (size_t)r1cs->num_aux / 64 + 2;
    uint64_t *is_bit = cz_calloc(words, sizeof *is_bit);
    uint32_t *rank = cz_calloc(words / 8 + 2, sizeof *rank);
    uint32_t *slot = cz_malloc_array((size_t)r1cs->num_externals + 1, sizeof *slot);
    r1cs->aux_is_bit = is_bit;
    r1cs->aux_bit_rank = rank;
    r1cs->external_slot = slot;
    if (!is_bit || !rank || !slot || !index_squares(r1cs)) return false;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        size_t at = inst->first_aux / 64;
        unsigned shift = inst->first_aux % 64;
        for (uint32_t k = 0; k < (t->num_local + 63) / 64; k++) {
            uint64_t v = t->local_is_bit[k];
            is_bit[at + k] |= v << shift;
            if (shift) is_bit[at + k + 1] |= v >> (64 - shift);
        }
    }
    uint32_t sum = 0;
    for (size_t k = 0; k < words; k++) {
        if (k % 8 == 0) rank[k / 8] = sum;
        sum += (uint32_t)__builtin_popcountll(is_bit[k]);
    }
    for (uint32_t i = 0; i < r1cs->num_externals; i++) {
        cz_r1cs_var var = r1cs->external[i];
        uint32_t s;
        if (var & CZ_R1CS_INPUT)
            slot[i] = CZ_R1CS_SLOT(var & ~CZ_R1CS_INPUT, CZ_R1CS_SLOT_INPUT);
        else if (cz_r1cs_aux_slot(r1cs, var, &s))
            slot[i] = CZ_R1CS_SLOT(s, CZ_R1CS_SLOT_BIT);
        else
            slot[i] = cz_r1cs_elem_slot(r1cs, s);
    }
    return true;
}

cz_r1cs_var cz_r1cs_column_var(const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst, uint32_t col) {
    if (col == 0) return CZ_R1CS_INPUT;
    uint32_t num_external = r1cs->tmpl[inst->template_id].num_external;
    if (col <= num_external) return r1cs->external[inst->first_external + col - 1];
    return inst->first_aux + (col - num_external - 1);
}

bool cz_r1cs_aux_slot(const struct cz_r1cs *r1cs, uint32_t aux, uint32_t *slot) {
    const uint64_t *w = r1cs->aux_is_bit;
    uint32_t bits = r1cs->aux_bit_rank[aux / 512], last = aux / 64;
    for (uint32_t k = aux / 512 * 8; k < last; k++) bits += (uint32_t)__builtin_popcountll(w[k]);
    bits += (uint32_t)__builtin_popcountll(w[last] & ((1ull << (aux % 64)) - 1));
    bool bit = w[last] >> (aux % 64) & 1;
    *slot = bit ? bits : aux - bits;
    return bit;
}

uint32_t cz_r1cs_elem_slot(const struct cz_r1cs *r1cs, uint32_t elem) {
    if (!r1cs->num_squares) return CZ_R1CS_SLOT(elem, CZ_R1CS_SLOT_ELEM);
    const uint64_t *w = r1cs->elem_is_square;
    uint32_t squares = r1cs->elem_square_rank[elem / 512], last = elem / 64;
    for (uint32_t k = elem / 512 * 8; k < last; k++) squares += (uint32_t)__builtin_popcountll(w[k]);
    squares += (uint32_t)__builtin_popcountll(w[last] & ((1ull << (elem % 64)) - 1));
    if (cz_r1cs_is_square(r1cs, elem)) return CZ_R1CS_SLOT(elem - squares - 1, CZ_R1CS_SLOT_SQUARE);
    return CZ_R1CS_SLOT(elem - squares, CZ_R1CS_SLOT_ELEM);
}

uint32_t cz_r1cs_instance_of_row(const struct cz_r1cs *r1cs, uint32_t row) {
    /* The last instance that begins at or before row; those without constraints share their successor's row. */
    uint32_t low = 0, high = r1cs->num_instances;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (r1cs->instance[mid].first_constraint <= row)
            low = mid;
        else
            high = mid;
    }
    return low;
}

unsigned cz_r1cs_domain_log2(const struct cz_r1cs *r1cs) {
    uint64_t n = (uint64_t)r1cs->num_constraints + r1cs->num_inputs;
    unsigned e = 0;
    while ((1ull << e) < n) e++;
    return e;
}

void cz_r1cs_nnz(const struct cz_r1cs *r1cs, uint64_t nnz[3]) {
    nnz[0] = nnz[1] = nnz[2] = 0;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[r1cs->instance[i].template_id];
        for (int m = 0; m < 3; m++) nnz[m] += t->row[m][t->num_constraints];
    }
}

size_t cz_r1cs_bytes(const struct cz_r1cs *r1cs) {
    size_t n = sizeof *r1cs + r1cs->num_templates * sizeof *r1cs->tmpl;
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[i];
        n += 3 * (t->num_local / 8) + t->num_local * sizeof *t->local_slot;
        if (t->num_squares) n += (t->num_local - t->num_bits) / 8;
        for (int m = 0; m < 3; m++)
            n += t->num_constraints * sizeof(uint32_t) + t->row[m][t->num_constraints] * sizeof *t->term[m];
    }
    n += r1cs->num_instances * sizeof *r1cs->instance;
    n += r1cs->num_externals * (sizeof *r1cs->external + sizeof *r1cs->external_slot);
    n += r1cs->num_coefs * sizeof *r1cs->coef;
    if (r1cs->num_squares) n += cz_r1cs_num_elems(r1cs) / 8 + cz_r1cs_num_elems(r1cs) / 512 * sizeof(uint32_t);
    return n + r1cs->num_aux / 8 + r1cs->num_aux / 512 * sizeof(uint32_t);
}

void cz_r1cs_density(const struct cz_r1cs *r1cs, uint64_t *a_aux, uint64_t *b_aux, uint64_t *b_input) {
    size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64;
    memset(a_aux, 0, aux_words * sizeof *a_aux);
    memset(b_aux, 0, aux_words * sizeof *b_aux);
    memset(b_input, 0, ((size_t)r1cs->num_inputs + 63) / 64 * sizeof *b_input);
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        uint32_t first_local = t->num_external + 1;
        size_t words = ((size_t)t->num_external + t->num_local) / 64 + 1;
        for (int m = 0; m < 2; m++) {
            uint64_t *aux = m == 0 ? a_aux : b_aux;
            for (uint32_t col = 0; col < first_local; col++) {
                if (!(t->density[m][col / 64] >> (col % 64) & 1)) continue;
                cz_r1cs_var var = cz_r1cs_column_var(r1cs, inst, col);
                if (!(var & CZ_R1CS_INPUT))
                    set_bit(aux, var);
                else if (m == 1)
                    set_bit(b_input, var & ~CZ_R1CS_INPUT);
            }
            or_bits(aux, inst->first_aux, t->density[m], words, first_local, t->num_local);
        }
    }
}

uint32_t cz_r1cs_longest_row(const struct cz_r1cs *r1cs) {
    uint32_t longest = 0;
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[i];
        for (int m = 0; m < 3; m++)
            for (uint32_t k = 0; k < t->num_constraints; k++)
                if (t->row[m][k + 1] - t->row[m][k] > longest) longest = t->row[m][k + 1] - t->row[m][k];
    }
    return longest;
}

uint32_t cz_r1cs_row_head(struct cz_r1cs_var_term *out, const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst,
                          int m, uint32_t k) {
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    const struct cz_r1cs_term *term = t->term[m] + t->row[m][k], *end = t->term[m] + t->row[m][k + 1];
    uint32_t n = 0, sorted_from;
    if (term < end && term->col == 0) out[n++] = (struct cz_r1cs_var_term){CZ_R1CS_INPUT, (term++)->coef};
    sorted_from = n;
    for (; term < end && term->col <= t->num_external; term++) {
        /* Inputs before aux: the flipped top bit gives the order. */
        struct cz_r1cs_var_term x = {r1cs->external[inst->first_external + term->col - 1], term->coef};
        uint32_t j = n++;
        for (; j > sorted_from && (out[j - 1].var ^ CZ_R1CS_INPUT) > (x.var ^ CZ_R1CS_INPUT); j--) out[j] = out[j - 1];
        out[j] = x;
    }
    return n;
}

uint32_t cz_r1cs_row(struct cz_r1cs_var_term *out, const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst,
                     int m, uint32_t k) {
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    uint32_t n = cz_r1cs_row_head(out, r1cs, inst, m, k);
    const struct cz_r1cs_term *term = t->term[m] + t->row[m][k] + n, *end = t->term[m] + t->row[m][k + 1];
    uint32_t base = inst->first_aux - t->num_external - 1;
    for (; term < end; term++) out[n++] = (struct cz_r1cs_var_term){base + term->col, term->coef};
    return n;
}
