#ifndef CUZK_CURVE_G1_H
#define CUZK_CURVE_G1_H

/*
 * G1: y² = x³ + 4 over Fp. Affine points have infinity as (0, 0), which is not on the curve; Jacobian points
 * (X/Z², Y/Z³) have infinity as Z = 0. Outputs may alias inputs. Not constant time.
 */

#include "field/fp.h"
#include "field/fr.h"

struct cz_g1_affine {
    struct cz_fp x, y;
};

struct cz_g1 {
    struct cz_fp x, y, z;
};

extern const struct cz_g1_affine CZ_G1_GENERATOR;
extern const struct cz_g1 CZ_G1_INFINITY;

bool cz_g1_affine_is_infinity(const struct cz_g1_affine *a);
bool cz_g1_affine_eq(const struct cz_g1_affine *a, const struct cz_g1_affine *b);
void cz_g1_affine_neg(struct cz_g1_affine *r, const struct cz_g1_affine *a);
/** y² = x³ + 4, or infinity. */
bool cz_g1_affine_on_curve(const struct cz_g1_affine *a);
/** The point (already on the curve) has order r or is infinity: by the endomorphism (Scott, ePrint 2021/1130, §6). */
bool cz_g1_affine_in_subgroup(const struct cz_g1_affine *a);

void cz_g1_from_affine(struct cz_g1 *r, const struct cz_g1_affine *a);
void cz_g1_to_affine(struct cz_g1_affine *r, const struct cz_g1 *a);
/** n points with one inversion; `scratch` holds n elements. */
void cz_g1_to_affine_n(struct cz_g1_affine *r, const struct cz_g1 *a, struct cz_fp *scratch, size_t n);
bool cz_g1_is_infinity(const struct cz_g1 *a);
bool cz_g1_eq(const struct cz_g1 *a, const struct cz_g1 *b);
void cz_g1_neg(struct cz_g1 *r, const struct cz_g1 *a);
/** Complete: equal, opposite and infinite operands give the right sum. */
void cz_g1_add(struct cz_g1 *r, const struct cz_g1 *a, const struct cz_g1 *b);
void cz_g1_add_affine(struct cz_g1 *r, const struct cz_g1 *a, const struct cz_g1_affine *b);
void cz_g1_dbl(struct cz_g1 *r, const struct cz_g1 *a);
/** r = k·a for k of n limbs low to high and any a on the curve. */
void cz_g1_mul_limbs(struct cz_g1 *r, const struct cz_g1 *a, const uint64_t *k, size_t n);
/** r = k·a for a in the subgroup (or infinity): splits k by the endomorphism, which is wrong for other points. */
void cz_g1_mul(struct cz_g1 *r, const struct cz_g1 *a, const struct cz_fr *k);

#endif
