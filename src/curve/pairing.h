#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

/* The optimal ate pairing on BLS12-381, x = -0xd201000000010000. */

#include "curve/g1.h"
#include "curve/g2.h"
#include "field/fp12.h"

/** r = Π miller(p[i], q[i]), without the final exponentiation; a pair with infinity counts as 1. n may be 0. */
void cz_pairing_miller_n(struct cz_fp12 *r, const struct cz_g1_affine *p, const struct cz_g2_affine *q, size_t n);
/** r = f^(3·(p^12 - 1)/r): the fixed power 3 leaves r = 1 where it was 1 and nowhere else. f must not be 0. */
void cz_pairing_final_exp(struct cz_fp12 *r, const struct cz_fp12 *f);
void cz_pairing(struct cz_fp12 *r, const struct cz_g1_affine *p, const struct cz_g2_affine *q);
/** Π e(p[i], q[i]) = 1. */
bool cz_pairing_product_is_one(const struct cz_g1_affine *p, const struct cz_g2_affine *q, size_t n);

#endif
