#ifndef CUZK_R1CS_ASSIGN_H
#define CUZK_R1CS_ASSIGN_H

/*
 * Fills a witness in order of allocation: bits, stored elements and inputs each have their own
 * cursor; squares (cz_recorder_square) are left out. Writing past the end
 * is dropped and remembered; cz_assign_finish reports it.
 */

#include "r1cs/witness.h"

struct cz_assign {
    struct cz_witness *w;
    uint64_t acc; /* bits not yet stored, `fill` of them */
    unsigned fill;
    uint32_t words, num_words;
    uint32_t elems, inputs;
    bool overflow, bad_value;
};

void cz_assign_init(struct cz_assign *a, struct cz_witness *w);
/** Stores what is pending; CZ_ERR_INTERNAL when the counts differ from the circuit's, CZ_ERR_FIELD_RANGE after a node
 * >= r. */
CZ_MUST_CHECK enum cz_status cz_assign_finish(struct cz_assign *a, struct cz_error *err);

static inline void cz_assign_store(struct cz_assign *a) {
    if (a->words < a->num_words)
        a->w->bit[a->words++] = a->acc;
    else
        a->overflow = true;
}

/** Appends the low n bits of v (n <= 64, v < 2^n), lowest first. */
static inline void cz_assign_bits(struct cz_assign *a, uint64_t v, unsigned n) {
    a->acc |= v << a->fill;
    if (a->fill + n < 64) {
        a->fill += n;
        return;
    }
    cz_assign_store(a);
    a->acc = a->fill ? v >> (64 - a->fill) : 0;
    a->fill = a->fill + n - 64;
}

static inline void cz_assign_elem(struct cz_assign *a, const struct cz_fr *v) {
    if (a->elems < a->w->num_elems)
        a->w->elem[a->elems++] = *v;
    else
        a->overflow = true;
}

/** Room for n elements, to be written before cz_assign_finish; NULL past the end. */
static inline struct cz_fr *cz_assign_reserve(struct cz_assign *a, uint32_t n) {
    if (n > a->w->num_elems - a->elems) {
        a->overflow = true;
        return NULL;
    }
    struct cz_fr *room = a->w->elem + a->elems;
    a->elems += n;
    return room;
}

static inline void cz_assign_input(struct cz_assign *a, const struct cz_fr *v) {
    if (a->inputs < a->w->num_inputs)
        a->w->input[a->inputs++] = *v;
    else
        a->overflow = true;
}

void cz_assign_input_u64(struct cz_assign *a, uint64_t v);
/** The element of 32 little-endian bytes; a value >= r gives 0 and the error of cz_assign_finish. */
void cz_assign_decode(struct cz_assign *a, struct cz_fr *out, const uint8_t le[32]);

#endif
