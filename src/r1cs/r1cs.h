#ifndef CUZK_R1CS_R1CS_H
#define CUZK_R1CS_R1CS_H

/*
 * A rank-1 constraint system as instances of templates.
 *
 * A template holds the constraints of one gadget over local columns:
 *     column 0                     ONE
 *     columns 1 … E                external wires (E = num_external)
 *     columns E + 1 … E + L        local variables (L = num_local), aux variables that the gadget allocates
 * An instance binds the externals to variables allocated earlier and places the locals at consecutive aux indices and
 * the constraints at consecutive rows. The externals of an instance are distinct variables other than ONE, all earlier
 * than its locals, so a row's terms in order of variables are: ONE, the externals sorted, the locals as they stand.
 * Instances stand in order of synthesis and cover all aux variables and all
 * constraints without gaps. The extra input rows of Groth16 (spec/r1cs-and-prover.md §2) are not stored.
 *
 * Every aux variable is a bit or a field element, statically: that is what cz_witness relies on. An element may be a
 * square: the square of the element just before it, its root, which is none itself. Witnesses do not store squares.
 * A finished cz_r1cs is immutable and may be shared by threads.
 */

#include "base/status.h"
#include "field/fr.h"

#include <stddef.h>
#include <stdint.h>

/** A variable: an aux index, or an input index with this bit set. Input 0 is ONE. */
typedef uint32_t cz_r1cs_var;
#define CZ_R1CS_INPUT 0x80000000u

enum cz_r1cs_matrix { CZ_R1CS_A, CZ_R1CS_B, CZ_R1CS_C };

/**
 * coef indexes cz_r1cs.coef. Terms of a row have distinct columns, ascending, and coefficients other than 0 (the
 * reference keeps a term that merged to 0, but counts it nowhere).
 */
struct cz_r1cs_term {
    uint32_t col;
    uint32_t coef;
};

struct cz_r1cs_template {
    const char *name; /* owned by the cz_r1cs */
    uint32_t num_external;
    uint32_t num_local;
    uint32_t num_constraints;
    uint32_t num_bits;              /* of the locals */
    uint32_t num_squares;           /* of the locals */
    const uint64_t *local_is_bit;   /* bitmap over the locals, bit 0 = column E + 1 */
    const uint64_t *elem_is_square; /* bitmap over the elements among the locals; NULL when there are no squares */
    const uint32_t *local_slot; /* per local: CZ_R1CS_SLOT form, ranks among the template's bits or stored elements */
    const uint64_t *density[2]; /* bitmaps over all columns: those that A and B use */
    const uint32_t *row[3];     /* per matrix: num_constraints + 1 offsets into term */
    const struct cz_r1cs_term *term[3];
};

struct cz_r1cs_instance {
    uint32_t template_id;
    uint32_t first_external; /* into cz_r1cs.external */
    uint32_t first_aux;
    uint32_t first_bit; /* bit variables among aux before first_aux; elements before it: first_aux - first_bit */
    uint32_t first_constraint;
    uint32_t first_square; /* squares among aux before first_aux */
};

/* Well-known coefficients at fixed indices. */
enum {
    CZ_R1CS_COEF_ZERO,
    CZ_R1CS_COEF_ONE,
    CZ_R1CS_COEF_MINUS_ONE,
    CZ_R1CS_COEF_TWO,
    CZ_R1CS_COEF_MINUS_TWO,
    CZ_R1CS_COEF_FIXED
};

/* Where a value stands in a cz_witness: rank << 2 | kind. SQUARE: the rank is the root's. */
enum cz_r1cs_slot_kind { CZ_R1CS_SLOT_ELEM, CZ_R1CS_SLOT_BIT, CZ_R1CS_SLOT_INPUT, CZ_R1CS_SLOT_SQUARE };
#define CZ_R1CS_SLOT(rank, kind) ((uint32_t)(rank) << 2 | (uint32_t)(kind))

struct cz_r1cs {
    uint32_t num_inputs; /* with ONE */
    uint32_t num_aux;
    uint32_t num_bits;        /* aux variables that are bits */
    uint32_t num_squares;     /* elements that are the square of the one before */
    uint32_t num_constraints; /* without the input rows */
    uint32_t num_templates, num_instances, num_externals, num_coefs;
    const struct cz_r1cs_template *tmpl;
    const struct cz_r1cs_instance *instance;
    const cz_r1cs_var *external;
    const uint32_t *external_slot; /* of each external, CZ_R1CS_SLOT form */
    const struct cz_fr *coef;
    const uint64_t *aux_is_bit;       /* bitmap over aux */
    const uint32_t *aux_bit_rank;     /* per 512 aux: bits before it */
    const uint64_t *elem_is_square;   /* bitmap over the elements; NULL when there are no squares */
    const uint32_t *elem_square_rank; /* per 512 elements: squares before it */
};

/** Accepts NULL. */
void cz_r1cs_destroy(struct cz_r1cs *r1cs);

/** The variable behind local column `col` of an instance (col 0: input 0). */
cz_r1cs_var cz_r1cs_column_var(const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst, uint32_t col);

/** Whether aux variable `aux` is a bit, and its rank among the bits (or among all elements). */
bool cz_r1cs_aux_slot(const struct cz_r1cs *r1cs, uint32_t aux, uint32_t *slot);

/** Elements, squares among them. */
static inline uint32_t cz_r1cs_num_elems(const struct cz_r1cs *r1cs) {
    return r1cs->num_aux - r1cs->num_bits;
}
/** Elements that a witness stores. */
static inline uint32_t cz_r1cs_num_stored(const struct cz_r1cs *r1cs) {
    return cz_r1cs_num_elems(r1cs) - r1cs->num_squares;
}
/** Whether element `elem` (its rank among the elements) is the square of the one before. */
static inline bool cz_r1cs_is_square(const struct cz_r1cs *r1cs, uint32_t elem) {
    return r1cs->num_squares && r1cs->elem_is_square[elem / 64] >> (elem % 64) & 1;
}
/** Where element `elem` stands in a witness: CZ_R1CS_SLOT form, ELEM or SQUARE. */
uint32_t cz_r1cs_elem_slot(const struct cz_r1cs *r1cs, uint32_t elem);

/** The instance that holds constraint `row` (below num_constraints). */
uint32_t cz_r1cs_instance_of_row(const struct cz_r1cs *r1cs, uint32_t row);

/** log2 of the evaluation domain: the smallest power of two >= num_constraints + num_inputs. */
unsigned cz_r1cs_domain_log2(const struct cz_r1cs *r1cs);

/** Non-zeros of A, B, C without the input rows. */
void cz_r1cs_nnz(const struct cz_r1cs *r1cs, uint64_t nnz[3]);

/** Bytes held by templates, instances, externals, coefficients and bitmaps. */
size_t cz_r1cs_bytes(const struct cz_r1cs *r1cs);

/**
 * Densities (spec/r1cs-and-prover.md §5) as bitmaps, sized (num_aux + 63)/64, (num_aux + 63)/64, (num_inputs + 63)/64
 * words, written whole. Entries with coefficient 0 set no bit.
 */
void cz_r1cs_density(const struct cz_r1cs *r1cs, uint64_t *a_aux, uint64_t *b_aux, uint64_t *b_input);

#endif
