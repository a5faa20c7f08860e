#ifndef CUZK_CURVE_G_INT_H
#define CUZK_CURVE_G_INT_H

/* What encoding.c shares with g1.c and g2.c: the right-hand side of the curve equations, x³ + 4 and x³ + 4(1 + u). */

#include "curve/g1.h"
#include "curve/g2.h"

#include <string.h>

void cz_g1_curve_rhs(struct cz_fp *r, const struct cz_fp *x);
void cz_g2_curve_rhs(struct cz_fp2 *r, const struct cz_fp2 *x);

#endif
