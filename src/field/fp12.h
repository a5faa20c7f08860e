#ifndef CUZK_FIELD_FP12_H
#define CUZK_FIELD_FP12_H

/* Fp12 = Fp6[w]/(w² - v), element c0 + c1·w: the pairing's target. Outputs may alias inputs. */

#include "field/fp6.h"

struct cz_fp12 {
    struct cz_fp6 c0, c1;
};

extern const struct cz_fp12 CZ_FP12_ONE;

void cz_fp12_mul(struct cz_fp12 *r, const struct cz_fp12 *a, const struct cz_fp12 *b);
void cz_fp12_sqr(struct cz_fp12 *r, const struct cz_fp12 *a);
/** c0 - c1·w = a^(p^6): the inverse in the cyclotomic subgroup. */
void cz_fp12_conj(struct cz_fp12 *r, const struct cz_fp12 *a);
/** r = 1/a; 0 gives 0. */
void cz_fp12_inv(struct cz_fp12 *r, const struct cz_fp12 *a);
/** r = a^(p^power); any power, taken modulo 12. */
void cz_fp12_frobenius(struct cz_fp12 *r, const struct cz_fp12 *a, unsigned power);
/**
 * r = a·(c0 + c1·v + c4·v·w), the shape of a line through points on an M-type twist: 13 products in Fp2, not 18.
 */
void cz_fp12_mul_by_014(struct cz_fp12 *r, const struct cz_fp12 *a, const struct cz_fp2 *c0, const struct cz_fp2 *c1,
                        const struct cz_fp2 *c4);
/** r = a² for a in the cyclotomic subgroup (a^(p^4 - p^2 + 1) = 1; Granger–Scott, PKC 2010); meaningless elsewhere. */
void cz_fp12_cyclotomic_sqr(struct cz_fp12 *r, const struct cz_fp12 *a);
/** r = a^e for a in the cyclotomic subgroup, e > 0. Not constant time in e. */
void cz_fp12_cyclotomic_pow_vartime(struct cz_fp12 *r, const struct cz_fp12 *a, uint64_t e);
bool cz_fp12_is_one(const struct cz_fp12 *a);
bool cz_fp12_eq(const struct cz_fp12 *a, const struct cz_fp12 *b);

#endif
