#include "compute/cuda/circuit.h"

#include "base/bytes.h"
#include "compute/cuda/device_cuda.h"

#include <string.h>

/* Places of the arrays in the block. */
struct layout {
    size_t row, term, instance, external_slot, block, coef, integer, small, is_bit, bit_rank, is_square, square_rank,
        bytes;
    size_t num_rows, num_terms, num_blocks, aux_words, num_ranks, square_words, num_square_ranks;
};

static void lay_out(struct layout *l, const struct cz_r1cs *r1cs) {
    size_t at = 0;
    memset(l, 0, sizeof *l);
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[i];
        l->num_rows += t->num_constraints;
        for (int m = 0; m < 3; m++) l->num_terms += t->row[m][t->num_constraints];
    }
    l->num_blocks = (size_t)r1cs->num_constraints / CZ_CUDA_EVAL_ROWS + 2;
    l->aux_words = ((size_t)r1cs->num_aux + 63) / 64;
    l->num_ranks = ((size_t)r1cs->num_aux + 511) / 512;
    l->square_words = r1cs->num_squares ? ((size_t)cz_r1cs_num_elems(r1cs) + 63) / 64 : 0;
    l->num_square_ranks = (l->square_words + 7) / 8;
#define PLACE(field, n, type)                                                                                          \
    l->field = at;                                                                                                     \
    at += ((size_t)(n) * sizeof(type) + 255) / 256 * 256
    PLACE(row, l->num_rows, struct cz_cuda_row);
    PLACE(term, l->num_terms, struct cz_cuda_term);
    PLACE(instance, r1cs->num_instances, struct cz_cuda_instance);
    PLACE(external_slot, r1cs->num_externals, uint32_t);
    PLACE(block, l->num_blocks, uint32_t);
    PLACE(coef, r1cs->num_coefs, struct cz_fr);
    PLACE(integer, r1cs->num_coefs, int64_t);
    PLACE(small, 2 * CZ_CUDA_EVAL_SMALL + 2, struct cz_fr);
    PLACE(is_bit, l->aux_words, uint64_t);
    PLACE(bit_rank, l->num_ranks, uint32_t);
    PLACE(is_square, l->square_words, uint64_t);
    PLACE(square_rank, l->num_square_ranks, uint32_t);
#undef PLACE
    l->bytes = at;
}

size_t cz_cuda_circuit_bytes(const struct cz_r1cs *r1cs) {
    struct layout l;
    lay_out(&l, r1cs);
    return l.bytes;
}

/* Elements by their ranks among all of them: here the squares are there. */
static void column_places(uint32_t *where, const struct cz_r1cs_template *t) {
    *where++ = CZ_CUDA_TERM_ONE;
    for (uint32_t i = 0; i < t->num_external; i++) *where++ = i << 2 | CZ_CUDA_TERM_EXTERNAL;
    for (uint32_t i = 0, elems = 0; i < t->num_local; i++) {
        const uint32_t slot = t->local_slot[i];
        if ((slot & 3) == CZ_R1CS_SLOT_BIT)
            *where++ = (slot >> 2) << 2 | CZ_CUDA_TERM_BIT;
        else
            *where++ = elems++ << 2 | CZ_CUDA_TERM_ELEM;
    }
}

static uint32_t most_columns(const struct cz_r1cs *r1cs) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const uint32_t n = 1 + r1cs->tmpl[i].num_external + r1cs->tmpl[i].num_local;
        if (n > most) most = n;
    }
    return most;
}

/* where: scratch of most_columns. */
static void fill_templates(uint8_t *host, const struct layout *l, const struct cz_r1cs *r1cs, uint32_t *template_row,
                           uint32_t *where) {
    struct cz_cuda_row *row = (struct cz_cuda_row *)(host + l->row);
    struct cz_cuda_term *term = (struct cz_cuda_term *)(host + l->term);
    uint32_t num_rows = 0, num_terms = 0;
    for (uint32_t i = 0; i < r1cs->num_templates; i++) {
        const struct cz_r1cs_template *t = &r1cs->tmpl[i];
        template_row[i] = num_rows;
        column_places(where, t);
        for (uint32_t k = 0; k < t->num_constraints; k++, num_rows++) {
            row[num_rows].start = num_terms;
            for (int m = 0; m < 3; m++) {
                for (uint32_t n = t->row[m][k]; n < t->row[m][k + 1]; n++) {
                    const struct cz_r1cs_term *from = &t->term[m][n];
                    term[num_terms++] = (struct cz_cuda_term){where[from->col], from->coef};
                }
                row[num_rows].end[m] = num_terms;
            }
        }
    }
}

/* The coefficient as an integer, when it is a small one or the negative of one. */
static int64_t as_integer(const struct cz_fr *coef) {
    uint64_t limb[4];
    struct cz_fr negative;
    for (int sign = 1; sign >= -1; sign -= 2) {
        if (sign < 0) cz_fr_neg(&negative, coef);
        cz_fr_to_limbs(limb, sign < 0 ? &negative : coef);
        if (!limb[3] && !limb[2] && !limb[1] && limb[0] <= (uint64_t)CZ_CUDA_EVAL_INTEGER)
            return sign * (int64_t)limb[0];
    }
    return CZ_CUDA_EVAL_NO_INTEGER;
}

static void fill_external_slots(uint32_t *out, const struct cz_r1cs *r1cs) {
    memcpy(out, r1cs->external_slot, (size_t)r1cs->num_externals * sizeof *out);
    for (uint32_t i = 0; r1cs->num_squares && i < r1cs->num_externals; i++) {
        uint32_t rank;
        if ((out[i] & 3) == CZ_R1CS_SLOT_BIT || (out[i] & 3) == CZ_R1CS_SLOT_INPUT) continue;
        (void)cz_r1cs_aux_slot(r1cs, r1cs->external[i], &rank);
        out[i] = CZ_R1CS_SLOT(rank, CZ_R1CS_SLOT_ELEM);
    }
}

static void fill(uint8_t *host, const struct layout *l, const struct cz_r1cs *r1cs, uint32_t *template_row,
                 uint32_t *where) {
    struct cz_cuda_instance *instance = (struct cz_cuda_instance *)(host + l->instance);
    uint32_t *block = (uint32_t *)(host + l->block);
    struct cz_fr *small = (struct cz_fr *)(host + l->small) + CZ_CUDA_EVAL_SMALL;
    size_t next = 0;
    fill_templates(host, l, r1cs, template_row, where);
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *from = &r1cs->instance[i];
        const uint32_t end = from->first_constraint + r1cs->tmpl[from->template_id].num_constraints;
        instance[i] = (struct cz_cuda_instance){.row = template_row[from->template_id],
                                                .first_external = from->first_external,
                                                .first_bit = from->first_bit,
                                                .first_elem = from->first_aux - from->first_bit,
                                                .first_constraint = from->first_constraint,
                                                .end_constraint = end};
        for (; next < l->num_blocks && next * CZ_CUDA_EVAL_ROWS < end; next++) block[next] = i;
    }
    for (; next < l->num_blocks; next++) block[next] = r1cs->num_instances ? r1cs->num_instances - 1 : 0;
    for (int i = 0; i <= CZ_CUDA_EVAL_SMALL; i++) {
        cz_fr_from_u64(&small[i], (uint64_t)i);
        cz_fr_neg(&small[-i], &small[i]);
    }
    /* 2^256 in Montgomery form. */
    small[CZ_CUDA_EVAL_SMALL + 1] = small[1];
    for (int i = 0; i < 256; i++) cz_fr_dbl(&small[CZ_CUDA_EVAL_SMALL + 1], &small[CZ_CUDA_EVAL_SMALL + 1]);
    int64_t *integer = (int64_t *)(host + l->integer);
    for (uint32_t i = 0; i < r1cs->num_coefs; i++) integer[i] = as_integer(&r1cs->coef[i]);
    fill_external_slots((uint32_t *)(host + l->external_slot), r1cs);
    memcpy(host + l->coef, r1cs->coef, (size_t)r1cs->num_coefs * sizeof(struct cz_fr));
    memcpy(host + l->is_bit, r1cs->aux_is_bit, l->aux_words * sizeof(uint64_t));
    memcpy(host + l->bit_rank, r1cs->aux_bit_rank, l->num_ranks * sizeof(uint32_t));
    if (!r1cs->num_squares) return;
    memcpy(host + l->is_square, r1cs->elem_is_square, l->square_words * sizeof(uint64_t));
    memcpy(host + l->square_rank, r1cs->elem_square_rank, l->num_square_ranks * sizeof(uint32_t));
}

enum cz_status cz_cuda_circuit_create(struct cz_cuda_circuit *c, struct cz_cuda_worker *w, const struct cz_r1cs *r1cs) {
    struct layout l;
    lay_out(&l, r1cs);
    memset(c, 0, sizeof *c);
    if (l.num_terms > UINT32_MAX || l.num_rows > UINT32_MAX)
        return cz_error_set(&w->err, CZ_ERR_LIMIT, "circuit: %zu terms in its templates", l.num_terms);
    uint8_t *host = cz_calloc(l.bytes, 1), *at;
    uint32_t *template_row = cz_malloc_array((size_t)r1cs->num_templates + 1, sizeof *template_row);
    uint32_t *where = cz_malloc_array((size_t)most_columns(r1cs) + 1, sizeof *where);
    enum cz_status status =
        host && template_row && where ? CZ_OK : cz_error_set(&w->err, CZ_ERR_MEMORY, "circuit: host memory");
    if (status == CZ_OK) {
        fill(host, &l, r1cs, template_row, where);
        c->memory = at = cz_cuda_resident_alloc(w->cuda, l.bytes);
        c->bytes = l.bytes;
        if (!at)
            status = cz_error_set(&w->err, CZ_ERR_BUDGET, "circuit: %zu MiB do not fit into the vram for residents",
                                  l.bytes >> 20);
    }
    if (status == CZ_OK) status = cz_cuda_upload(w, at, host, l.bytes);
    if (status == CZ_OK) {
        c->row = (const struct cz_cuda_row *)(at + l.row);
        c->term = (const struct cz_cuda_term *)(at + l.term);
        c->instance = (const struct cz_cuda_instance *)(at + l.instance);
        c->external_slot = (const uint32_t *)(at + l.external_slot);
        c->block = (const uint32_t *)(at + l.block);
        c->coef = (const struct cz_fr *)(at + l.coef);
        c->integer = (const int64_t *)(at + l.integer);
        c->small = (const struct cz_fr *)(at + l.small) + CZ_CUDA_EVAL_SMALL;
        c->is_bit = (const uint64_t *)(at + l.is_bit);
        c->bit_rank = (const uint32_t *)(at + l.bit_rank);
        c->is_square = (const uint64_t *)(at + l.is_square);
        c->square_rank = (const uint32_t *)(at + l.square_rank);
        c->num_inputs = r1cs->num_inputs;
        c->num_aux = r1cs->num_aux;
        c->num_bits = r1cs->num_bits;
        c->num_squares = r1cs->num_squares;
        c->num_constraints = r1cs->num_constraints;
        c->num_instances = r1cs->num_instances;
        c->log_domain = cz_r1cs_domain_log2(r1cs);
    }
    cz_free(host);
    cz_free(template_row);
    cz_free(where);
    if (status != CZ_OK) cz_cuda_circuit_destroy(c, w->cuda);
    return status;
}

void cz_cuda_circuit_destroy(struct cz_cuda_circuit *c, struct cz_cuda *cuda) {
    cz_cuda_resident_free(cuda, c->memory);
    memset(c, 0, sizeof *c);
}

/* Those that the witness stores go above what is kept, for as long as it takes to unpack them. */
static enum cz_status upload_elems(struct cz_fr *d_elem, struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                   const struct cz_witness *witness) {
    const size_t bytes = (size_t)witness->num_elems * sizeof *d_elem;
    if (!c->num_squares) return cz_cuda_upload(w, d_elem, witness->elem, bytes);
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    struct cz_fr *d_stored = cz_cuda_mem(w, (size_t)witness->num_elems + 1, sizeof *d_stored);
    if (!d_stored) return cz_cuda_full(w, "the witness");
    CZ_CUDA_TRY(cz_cuda_upload(w, d_stored, witness->elem, bytes));
    CZ_CUDA_TRY(cz_cuda_unpack(w, c, d_stored, d_elem));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    cz_cuda_release(w, mark);
    return CZ_OK;
}

enum cz_status cz_cuda_witness_upload(struct cz_cuda_witness *out, struct cz_cuda_worker *w,
                                      const struct cz_cuda_circuit *c, const struct cz_witness *witness) {
    const size_t words = ((size_t)witness->num_bits + 63) / 64;
    out->elem = cz_cuda_mem(w, (size_t)(c->num_aux - c->num_bits) + 1, sizeof *out->elem);
    out->input = cz_cuda_mem(w, (size_t)witness->num_inputs + 1, sizeof *out->input);
    out->bit = cz_cuda_mem(w, words + 2, sizeof *out->bit);
    if (!out->elem || !out->input || !out->bit) return cz_cuda_full(w, "the witness");
    CZ_CUDA(w, cudaMemsetAsync(out->bit + words, 0, 16, w->stream));
    CZ_CUDA_TRY(upload_elems(out->elem, w, c, witness));
    CZ_CUDA_TRY(cz_cuda_upload(w, out->input, witness->input, (size_t)witness->num_inputs * sizeof *out->input));
    return cz_cuda_upload(w, out->bit, witness->bit, words * sizeof *out->bit);
}
