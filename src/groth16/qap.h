#ifndef CUZK_GROTH16_QAP_H
#define CUZK_GROTH16_QAP_H

/* The circuit's polynomials at tau: what setup multiplies the generators by. All of it is secret. */

#include "base/thread.h"
#include "field/fr.h"
#include "r1cs/r1cs.h"

/** Vectors over variables, inputs first, then aux. With inputs_only there are no aux, and only l is for use. */
struct cz_qap {
    size_t variables;
    struct cz_fr z;      /* tau^m - 1 */
    struct cz_fr *u, *v; /* of A and B */
    struct cz_fr *l;     /* (beta·u + alpha·v + w)/gamma for inputs, /delta for aux; never 0 */
    size_t num_u, num_v; /* non-zeros */
};

struct cz_qap_secrets {
    const struct cz_fr *alpha, *beta, *gamma, *delta, *tau;
};

/**
 * CZ_ERR_ARGUMENT when tau is in the evaluation domain, CZ_ERR_UNSATISFIED names an unconstrained variable,
 * CZ_ERR_MISMATCH one whose value and density disagree. Memory: 32 bytes a row for a while, three times 32 a variable.
 * The caller calls cz_qap_done in any case.
 */
CZ_MUST_CHECK enum cz_status cz_qap_make(struct cz_qap *out, const struct cz_r1cs *r1cs,
                                         const struct cz_qap_secrets *secrets, bool inputs_only, struct cz_pool *pool,
                                         struct cz_error *err);
/** Wipes and frees. Accepts a zeroed struct. */
void cz_qap_done(struct cz_qap *qap, struct cz_pool *pool);

#endif
