#ifndef CUZK_COMPUTE_CPU_NTT_H
#define CUZK_COMPUTE_CPU_NTT_H

/* Number theoretic transforms on the CPU; ntt_template.h makes a table for one-lane and for eight-lane arithmetic. */

#include "compute/compute.h"

struct cz_ntt_ops {
    /** In place, natural order in and out; needs as much memory again. */
    enum cz_status (*run)(struct cz_pool *pool, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind);
    /**
     * From the values of a, b, c over the domain (2^log2n each) the coefficients of (a·b - c)/Z, which go to b as
     * canonical limbs, not in Montgomery form. a and c are spoiled.
     */
    enum cz_status (*quotient)(struct cz_pool *pool, struct cz_fr *a, struct cz_fr *b, struct cz_fr *c, unsigned log2n);
};

extern const struct cz_ntt_ops cz_ntt_scalar;
#ifdef __x86_64__
extern const struct cz_ntt_ops cz_ntt_ifma;
#endif

/** The plain algorithms, for sizes below 2^CZ_NTT_SMALL. */
#define CZ_NTT_SMALL 6
void cz_ntt_small(struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind);
void cz_ntt_small_quotient(struct cz_fr *a, struct cz_fr *b, struct cz_fr *c, unsigned log2n);

#endif
