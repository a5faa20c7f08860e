#include "curve/g1.h"

#include "base/bytes.h"
#include "curve/g_int.h"

#define CZ_CURVE_NEED_G1
#include "curve/constants.h"

const struct cz_g1_affine CZ_G1_GENERATOR = {CZ_CURVE_G1_X, CZ_CURVE_G1_Y};
const struct cz_g1 CZ_G1_INFINITY;

#define G(f) cz_g1_##f
#define POINT struct cz_g1
#define AFFINE struct cz_g1_affine
#define FE struct cz_fp
#define F(f) cz_fp_##f
#define FE_ONE CZ_FP_ONE
#define B g1_b
#define DIM 2
#include "curve/g_template.h"

/* |x|²·a = -(beta·x, y), and outside the subgroup the two differ: Scott, ePrint 2021/1130, §6. */
static void endo(struct cz_g1 *r, const struct cz_g1 *a) {
    cz_fp_mul(&r->x, &a->x, &g1_beta);
    cz_fp_neg(&r->y, &a->y);
    r->z = a->z;
}
