#ifndef CUZK_R1CS_R1CS_INT_H
#define CUZK_R1CS_R1CS_INT_H

#include "r1cs/recorder.h"

/** Copies the recorded template; false when memory is out (t can be given to cz_r1cs_template_done either way). */
CZ_MUST_CHECK bool cz_r1cs_template_init(struct cz_r1cs_template *t, const struct cz_recorder *r, const char *name);
void cz_r1cs_template_done(struct cz_r1cs_template *t);

/** Fills the bitmaps over aux and elements, their ranks and external_slot from the rest; false when memory is out. */
CZ_MUST_CHECK bool cz_r1cs_index(struct cz_r1cs *r1cs);

/** A term of a row over the system's variables. */
struct cz_r1cs_var_term {
    cz_r1cs_var var;
    uint32_t coef;
};

/** The longest row of any matrix of any template. */
uint32_t cz_r1cs_longest_row(const struct cz_r1cs *r1cs);

/**
 * The terms of such a row that are ONE or externals, which come first, in the same order; the rest are the locals as
 * the template has them. Returns their number.
 */
uint32_t cz_r1cs_row_head(struct cz_r1cs_var_term *out, const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst,
                          int m, uint32_t k);

/**
 * Row k (of the template) of matrix m of an instance, inputs ascending, then aux ascending, into `out` (room for
 * cz_r1cs_longest_row). Returns the number of terms.
 */
uint32_t cz_r1cs_row(struct cz_r1cs_var_term *out, const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst,
                     int m, uint32_t k);

#endif
