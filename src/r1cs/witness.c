#include "r1cs/witness.h"

#include "base/bytes.h"
#include "hash/sha256.h"

#include <string.h>

size_t cz_witness_bytes(const struct cz_r1cs *r1cs) {
    size_t frs = (size_t)cz_r1cs_num_stored(r1cs) + r1cs->num_inputs;
    return frs * sizeof(struct cz_fr) + ((size_t)r1cs->num_bits + 63) / 64 * sizeof(uint64_t);
}

bool cz_witness_fits(const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    return w->num_inputs == r1cs->num_inputs && w->num_bits == r1cs->num_bits &&
           w->num_elems == cz_r1cs_num_stored(r1cs);
}

enum cz_status cz_witness_init(struct cz_witness *w, const struct cz_r1cs *r1cs) {
    memset(w, 0, sizeof *w);
    w->num_inputs = r1cs->num_inputs;
    w->num_bits = r1cs->num_bits;
    w->num_elems = cz_r1cs_num_stored(r1cs);
    w->input = cz_calloc(w->num_inputs, sizeof *w->input);
    w->bit = cz_calloc(((size_t)w->num_bits + 63) / 64 + 1, sizeof *w->bit);
    w->elem = cz_calloc((size_t)w->num_elems + 1, sizeof *w->elem);
    if (!w->input || !w->bit || !w->elem) {
        cz_witness_done(w);
        return CZ_ERR_MEMORY;
    }
    w->input[0] = CZ_FR_ONE;
    return CZ_OK;
}

void cz_witness_done(struct cz_witness *w) {
    if (w->input) cz_memzero(w->input, w->num_inputs * sizeof *w->input);
    if (w->bit) cz_memzero(w->bit, ((size_t)w->num_bits + 63) / 64 * sizeof *w->bit);
    if (w->elem) cz_memzero(w->elem, w->num_elems * sizeof *w->elem);
    cz_free(w->input);
    cz_free(w->bit);
    cz_free(w->elem);
    memset(w, 0, sizeof *w);
}

static inline bool bit_at(const struct cz_witness *w, uint32_t i) {
    return w->bit[i / 64] >> (i % 64) & 1;
}

static inline void elem_at(struct cz_fr *out, const struct cz_witness *w, uint32_t slot) {
    if ((slot & 3) == CZ_R1CS_SLOT_SQUARE)
        cz_fr_sqr(out, &w->elem[slot >> 2]);
    else
        *out = w->elem[slot >> 2];
}

void cz_witness_get(struct cz_fr *out, const struct cz_witness *w, const struct cz_r1cs *r1cs, cz_r1cs_var var) {
    uint32_t slot;
    if (var & CZ_R1CS_INPUT)
        *out = w->input[var & ~CZ_R1CS_INPUT];
    else if (cz_r1cs_aux_slot(r1cs, var, &slot))
        *out = bit_at(w, slot) ? CZ_FR_ONE : CZ_FR_ZERO;
    else
        elem_at(out, w, cz_r1cs_elem_slot(r1cs, slot));
}

void cz_witness_digest(uint8_t out[32], const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    struct cz_sha256 sha;
    uint8_t buf[32 * 256];
    cz_sha256_init(&sha);
    cz_store_le64(buf, w->num_inputs);
    cz_store_le64(buf + 8, r1cs->num_aux);
    cz_sha256_update(&sha, buf, 16);
    for (uint32_t i = 0; i < w->num_inputs; i++) {
        cz_fr_to_le(buf, &w->input[i]);
        cz_sha256_update(&sha, buf, 32);
    }
    struct cz_fr square;
    uint32_t bits = 0, elems = 0, stored = 0;
    for (uint32_t i = 0; i < r1cs->num_aux;) {
        uint32_t n = 0;
        for (; n < 256 && i < r1cs->num_aux; n++, i++) {
            uint8_t *p = buf + 32 * n;
            if (r1cs->aux_is_bit[i / 64] >> (i % 64) & 1) {
                memset(p, 0, 32);
                p[0] = bit_at(w, bits++);
            } else if (cz_r1cs_is_square(r1cs, elems++)) {
                cz_fr_sqr(&square, &w->elem[stored - 1]);
                cz_fr_to_le(p, &square);
            } else {
                cz_fr_to_le(p, &w->elem[stored++]);
            }
        }
        cz_sha256_update(&sha, buf, 32 * n);
    }
    cz_sha256_final(&sha, out);
}

/* ---- evaluation ---- */

/* r += x, both below the modulus. Inline: most of the time of cz_witness_eval is spent here. */
static inline void add_to(struct cz_fr *r, const struct cz_fr *x) {
    uint64_t s[4], d[4];
    unsigned __int128 v = 0;
    for (int i = 0; i < 4; i++) {
        v += (unsigned __int128)r->l[i] + x->l[i];
        s[i] = (uint64_t)v;
        v >>= 64;
    }
    uint64_t borrow = 0; /* the sum stays below 2^256, since the modulus has 255 bits */
    for (int i = 0; i < 4; i++) {
        unsigned __int128 t = (unsigned __int128)s[i] - CZ_FR_MODULUS[i] - borrow;
        d[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
    uint64_t keep = 0 - borrow;
    for (int i = 0; i < 4; i++) r->l[i] = (s[i] & keep) | (d[i] & ~keep);
}

/* Small coefficients over bits are summed as integers; nearly always the sum lies in [-SMALL, SMALL]. */
#define SMALL 16
static const int8_t SMALL_COEF[CZ_R1CS_COEF_FIXED] = {0, 1, -1, 2, -2};

struct eval {
    const struct cz_r1cs *r1cs;
    const struct cz_witness *w;
    const struct cz_r1cs_template *t;
    const uint32_t *external_slot;
    uint32_t first_bit, first_elem, first_local;
    struct cz_fr small[2 * SMALL + 1];
};

/* Where the value of a column (not 0) stands. */
static inline uint32_t column_slot(const struct eval *e, uint32_t col) {
    if (col < e->first_local) return e->external_slot[col - 1];
    uint32_t slot = e->t->local_slot[col - e->first_local];
    return slot + ((slot & 3) == CZ_R1CS_SLOT_BIT ? e->first_bit << 2 : e->first_elem << 2);
}

static inline void eval_row(struct cz_fr *out, const struct eval *e, int m, uint32_t k) {
    const struct cz_r1cs_term *term = e->t->term[m] + e->t->row[m][k], *end = e->t->term[m] + e->t->row[m][k + 1];
    const struct cz_fr *coef = e->r1cs->coef;
    struct cz_fr sum, x, square;
    bool have = false; /* sum is in use */
    int small = 0;
    for (; term < end; term++) {
        const struct cz_fr *value = &coef[term->coef];
        if (term->col) {
            uint32_t slot = column_slot(e, term->col), rank = slot >> 2;
            if ((slot & 3) == CZ_R1CS_SLOT_BIT) {
                int bit = bit_at(e->w, rank);
                if (term->coef < CZ_R1CS_COEF_FIXED) {
                    small += SMALL_COEF[term->coef] & -bit;
                    continue;
                }
                if (!bit) continue;
            } else {
                const struct cz_fr *z = (slot & 3) == CZ_R1CS_SLOT_INPUT ? &e->w->input[rank] : &e->w->elem[rank];
                if ((slot & 3) == CZ_R1CS_SLOT_SQUARE) {
                    cz_fr_sqr(&square, z);
                    z = &square;
                }
                if (term->coef == CZ_R1CS_COEF_ONE) {
                    value = z;
                } else {
                    if (term->coef == CZ_R1CS_COEF_MINUS_ONE)
                        cz_fr_neg(&x, z);
                    else
                        cz_fr_mul(&x, value, z);
                    value = &x;
                }
            }
        } else if (term->coef < CZ_R1CS_COEF_FIXED) {
            small += SMALL_COEF[term->coef];
            continue;
        }
        if (have) {
            add_to(&sum, value);
        } else {
            sum = *value;
            have = true;
        }
    }
    if (!have) {
        if (small >= -SMALL && small <= SMALL) {
            *out = e->small[small + SMALL];
            return;
        }
        cz_fr_from_u64(out, (uint64_t)(small < 0 ? -small : small));
        if (small < 0) cz_fr_neg(out, out);
        return;
    }
    if (small) {
        int left = small;
        for (; left > SMALL; left -= SMALL) add_to(&sum, &e->small[2 * SMALL]);
        for (; left < -SMALL; left += SMALL) add_to(&sum, &e->small[0]);
        add_to(&sum, &e->small[left + SMALL]);
    }
    *out = sum;
}

static void eval_init(struct eval *e, const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    e->w = w;
    e->r1cs = r1cs;
    for (int i = 0; i <= SMALL; i++) {
        cz_fr_from_u64(&e->small[SMALL + i], (uint64_t)i);
        cz_fr_neg(&e->small[SMALL - i], &e->small[SMALL + i]);
    }
}

static void eval_instance(struct eval *e, const struct cz_r1cs_instance *inst) {
    e->t = &e->r1cs->tmpl[inst->template_id];
    e->external_slot = e->r1cs->external_slot + inst->first_external;
    e->first_bit = inst->first_bit;
    e->first_elem = inst->first_aux - inst->first_bit - inst->first_square;
    e->first_local = e->t->num_external + 1;
}

void cz_witness_eval(struct cz_fr *a, struct cz_fr *b, struct cz_fr *c, const struct cz_witness *w,
                     const struct cz_r1cs *r1cs, uint32_t first, uint32_t count) {
    struct eval e;
    eval_init(&e, w, r1cs);
    for (uint32_t i = first; i < first + count; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        eval_instance(&e, inst);
        for (uint32_t k = 0; k < e.t->num_constraints; k++) {
            size_t row = (size_t)inst->first_constraint + k;
            eval_row(&a[row], &e, 0, k);
            eval_row(&b[row], &e, 1, k);
            eval_row(&c[row], &e, 2, k);
        }
    }
}

uint32_t cz_witness_first_unsatisfied(const struct cz_witness *w, const struct cz_r1cs *r1cs, const char **name) {
    struct eval e;
    eval_init(&e, w, r1cs);
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        eval_instance(&e, &r1cs->instance[i]);
        for (uint32_t k = 0; k < e.t->num_constraints; k++) {
            struct cz_fr a, b, c;
            eval_row(&a, &e, 0, k);
            eval_row(&b, &e, 1, k);
            eval_row(&c, &e, 2, k);
            cz_fr_mul(&a, &a, &b);
            if (cz_fr_eq(&a, &c)) continue;
            if (name) *name = e.t->name;
            return r1cs->instance[i].first_constraint + k;
        }
    }
    return r1cs->num_constraints;
}
