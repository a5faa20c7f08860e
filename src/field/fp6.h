#ifndef CUZK_FIELD_FP6_H
#define CUZK_FIELD_FP6_H

/* Fp6 = Fp2[v]/(v³ - (1 + u)), element c0 + c1·v + c2·v². Outputs may alias inputs. */

#include "field/fp2.h"

struct cz_fp6 {
    struct cz_fp2 c0, c1, c2;
};

extern const struct cz_fp6 CZ_FP6_ZERO;
extern const struct cz_fp6 CZ_FP6_ONE;

void cz_fp6_add(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b);
void cz_fp6_sub(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b);
void cz_fp6_dbl(struct cz_fp6 *r, const struct cz_fp6 *a);
void cz_fp6_neg(struct cz_fp6 *r, const struct cz_fp6 *a);
void cz_fp6_mul(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp6 *b);
void cz_fp6_sqr(struct cz_fp6 *r, const struct cz_fp6 *a);
/** r = v·a, the non-residue of Fp12. */
void cz_fp6_mul_v(struct cz_fp6 *r, const struct cz_fp6 *a);
/** r = a·(b0 + b1·v). */
void cz_fp6_mul_by_01(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp2 *b0, const struct cz_fp2 *b1);
/** r = a·(b1·v). */
void cz_fp6_mul_by_1(struct cz_fp6 *r, const struct cz_fp6 *a, const struct cz_fp2 *b1);
/** r = 1/a; 0 gives 0. */
void cz_fp6_inv(struct cz_fp6 *r, const struct cz_fp6 *a);
/** r = a^(p^power); any power, taken modulo 6. */
void cz_fp6_frobenius(struct cz_fp6 *r, const struct cz_fp6 *a, unsigned power);
bool cz_fp6_is_zero(const struct cz_fp6 *a);
bool cz_fp6_eq(const struct cz_fp6 *a, const struct cz_fp6 *b);

#endif
