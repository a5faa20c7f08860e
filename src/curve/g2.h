#ifndef CUZK_CURVE_G2_H
#define CUZK_CURVE_G2_H

/*
 * G2: y² = x³ + 4(1 + u) over Fp2. Affine points have infinity as (0, 0), which is not on the curve; Jacobian points
 * (X/Z², Y/Z³) have infinity as Z = 0. Outputs may alias inputs. Not constant time.
 */

#include "field/fp2.h"
#include "field/fr.h"

struct cz_g2_affine {
    struct cz_fp2 x, y;
};

struct cz_g2 {
    struct cz_fp2 x, y, z;
};

extern const struct cz_g2_affine CZ_G2_GENERATOR;
extern const struct cz_g2 CZ_G2_INFINITY;

bool cz_g2_affine_is_infinity(const struct cz_g2_affine *a);
bool cz_g2_affine_eq(const struct cz_g2_affine *a, const struct cz_g2_affine *b);
void cz_g2_affine_neg(struct cz_g2_affine *r, const struct cz_g2_affine *a);
/** y² = x³ + 4(1 + u), or infinity. */
bool cz_g2_affine_on_curve(const struct cz_g2_affine *a);
/** The point (already on the curve) has order r or is infinity: by the endomorphism (Scott, ePrint 2021/1130, §4). */
bool cz_g2_affine_in_subgroup(const struct cz_g2_affine *a);

void cz_g2_from_affine(struct cz_g2 *r, const struct cz_g2_affine *a);
void cz_g2_to_affine(struct cz_g2_affine *r, const struct cz_g2 *a);
/** n points with one inversion; `scratch` holds n elements. */
void cz_g2_to_affine_n(struct cz_g2_affine *r, const struct cz_g2 *a, struct cz_fp2 *scratch, size_t n);
bool cz_g2_is_infinity(const struct cz_g2 *a);
bool cz_g2_eq(const struct cz_g2 *a, const struct cz_g2 *b);
void cz_g2_neg(struct cz_g2 *r, const struct cz_g2 *a);
/** Complete: equal, opposite and infinite operands give the right sum. */
void cz_g2_add(struct cz_g2 *r, const struct cz_g2 *a, const struct cz_g2 *b);
void cz_g2_add_affine(struct cz_g2 *r, const struct cz_g2 *a, const struct cz_g2_affine *b);
void cz_g2_dbl(struct cz_g2 *r, const struct cz_g2 *a);
/** r = k·a for k of n limbs low to high and any a on the curve. */
void cz_g2_mul_limbs(struct cz_g2 *r, const struct cz_g2 *a, const uint64_t *k, size_t n);
/** r = k·a for a in the subgroup (or infinity): splits k by the endomorphism, which is wrong for other points. */
void cz_g2_mul(struct cz_g2 *r, const struct cz_g2 *a, const struct cz_fr *k);

#endif
