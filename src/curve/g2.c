#include "curve/g2.h"

#include "base/bytes.h"
#include "curve/g_int.h"

#define CZ_CURVE_NEED_G2
#include "curve/constants.h"

const struct cz_g2_affine CZ_G2_GENERATOR = {CZ_CURVE_G2_X, CZ_CURVE_G2_Y};
const struct cz_g2 CZ_G2_INFINITY;

#define G(f) cz_g2_##f
#define POINT struct cz_g2
#define AFFINE struct cz_g2_affine
#define FE struct cz_fp2
#define F(f) cz_fp2_##f
#define FE_ONE CZ_FP2_ONE
#define B g2_b
#define DIM 4
#include "curve/g_template.h"

/*
 * |x|·a = -psi(a), where psi is the Frobenius map moved to the twist (Galbraith and Scott, ePrint 2008/117); outside
 * the subgroup the two differ: Scott, ePrint 2021/1130, §4.
 */
static void endo(struct cz_g2 *r, const struct cz_g2 *a) {
    cz_fp2_conj(&r->x, &a->x);
    cz_fp2_mul(&r->x, &r->x, &g2_psi_x);
    cz_fp2_conj(&r->y, &a->y);
    cz_fp2_mul(&r->y, &r->y, &g2_psi_y);
    cz_fp2_neg(&r->y, &r->y);
    cz_fp2_conj(&r->z, &a->z);
}
