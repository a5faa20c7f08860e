#ifndef CUZK_R1CS_RECORDER_H
#define CUZK_R1CS_RECORDER_H

/*
 * Records one template: allocates its local variables and takes its constraints as linear combinations over local
 * columns, merged and sorted (spec/r1cs-and-prover.md §1).
 *
 * A dry recorder numbers columns only. Gadgets run their own recording on it to learn which of their bits are
 * variables, so that `assign` cannot disagree with `constrain`.
 */

#include "r1cs/r1cs.h"

/** A Boolean inside a template: column << 2 | kind. x ^ 1 is its complement, for constants too. */
typedef uint32_t cz_bit;
enum { CZ_BIT_FALSE, CZ_BIT_TRUE, CZ_BIT_IS, CZ_BIT_NOT };

static inline cz_bit cz_bit_is(uint32_t col) {
    return col << 2 | CZ_BIT_IS;
}
static inline bool cz_bit_is_const(cz_bit b) {
    return (b & 3) < CZ_BIT_IS;
}
static inline uint32_t cz_bit_col(cz_bit b) {
    return b >> 2;
}

/** Interned coefficients, shared by all templates of a system. */
struct cz_coefs {
    struct cz_fr *coef;
    uint32_t num, cap;
    uint32_t *slot; /* open addressing, index + 1 */
    uint32_t slot_mask;
    uint32_t pow[CZ_FR_BITS], neg_pow[CZ_FR_BITS]; /* index of ±2^k */
    bool failed;
};

CZ_MUST_CHECK enum cz_status cz_coefs_init(struct cz_coefs *c);
void cz_coefs_done(struct cz_coefs *c);
/** The index of a value; CZ_R1CS_COEF_ZERO when memory is out (failed is set). */
uint32_t cz_coefs_intern(struct cz_coefs *c, const struct cz_fr *value);

/** A linear combination under construction. */
struct cz_lc {
    struct cz_r1cs_term *term; /* columns other than ONE, distinct, in order of first use */
    uint32_t num, cap;
    uint32_t *pos; /* per column: where its term may be */
    uint32_t pos_cap;
    struct cz_fr one; /* coefficient of ONE */
};

struct cz_recorder {
    struct cz_coefs *coefs;
    bool dry, failed;
    uint32_t num_external, num_local, num_constraints, num_bits, num_squares;
    uint64_t *is_bit, *is_square;       /* bitmaps over the locals */
    uint32_t is_bit_cap, is_square_cap; /* words; is_square may end before the last local */
    uint32_t *row[3];
    uint32_t row_cap;
    struct cz_r1cs_term *term[3];
    uint32_t num_terms[3], term_cap[3];
    struct cz_lc a, b, c;      /* of the next constraint; empty after cz_recorder_enforce */
    struct cz_lc lhs, rhs;     /* for gadgets that gather over several constraints */
    struct cz_r1cs_term *sort; /* scratch */
    uint32_t sort_cap;
    cz_bit *out;
    uint32_t num_out, out_cap;
};

/** coefs NULL: a dry recorder, which needs no memory. */
void cz_recorder_init(struct cz_recorder *r, struct cz_coefs *coefs);
void cz_recorder_done(struct cz_recorder *r);
/** Empties the recorder for a template with num_external externals; keeps scratch memory. */
void cz_recorder_start(struct cz_recorder *r, uint32_t num_external);

/** The column of external i. */
static inline uint32_t cz_recorder_external(uint32_t i) {
    return 1 + i;
}

/** Allocates a local variable; returns its column. A bit's value is 0 or 1 in every satisfying witness. */
uint32_t cz_recorder_bit(struct cz_recorder *r);
uint32_t cz_recorder_elem(struct cz_recorder *r);
/**
 * An element that is the square of the local just before it, an element and no square itself, in every satisfying
 * witness: the caller enforces it, `assign` leaves it out. Anything else before it fails the recorder.
 */
uint32_t cz_recorder_square(struct cz_recorder *r);
/** Whether local i is such a square. */
static inline bool cz_recorder_is_square(const struct cz_recorder *r, uint32_t i) {
    return i / 64 < r->is_square_cap && r->is_square[i / 64] >> (i % 64) & 1;
}
/** A bit with its constraint (1 - x)·x = 0. */
cz_bit cz_recorder_alloc_bit(struct cz_recorder *r);
/** Declares the next output of the gadget. */
void cz_recorder_output(struct cz_recorder *r, cz_bit bit);

/** lc += coef·column, coef an index into the coefficients. */
void cz_recorder_add(struct cz_recorder *r, struct cz_lc *lc, uint32_t col, uint32_t coef);
void cz_recorder_add_fr(struct cz_recorder *r, struct cz_lc *lc, uint32_t col, const struct cz_fr *coef);
/** lc += ±2^k·bit; a complement is 2^k·ONE - 2^k·x. */
void cz_recorder_add_bit(struct cz_recorder *r, struct cz_lc *lc, cz_bit bit, unsigned k, bool negative);

/** Appends a·b = c (the recorder's own three) and empties them. */
void cz_recorder_enforce(struct cz_recorder *r);
/** Appends lhs·ONE = rhs and empties both. */
void cz_recorder_enforce_equal(struct cz_recorder *r);

/* Boolean gadgets (spec/gadgets.md §1). */
cz_bit cz_recorder_xor(struct cz_recorder *r, cz_bit a, cz_bit b);
cz_bit cz_recorder_and(struct cz_recorder *r, cz_bit a, cz_bit b);

#endif
