#include "curve/g2.h"

#define G(f) cz_g2_##f
#define F(f) cz_fp2_##f
#define POINT struct cz_g2
#define AFFINE struct cz_g2_affine
#define FE struct cz_fp2
#define SUB cz_fp2_sub
#define FE_ONE CZ_FP2_ONE
#define GENERATOR CZ_G2_GENERATOR
#define INFINITY_POINT CZ_G2_INFINITY
#define SIZE_ENCODED CZ_G2_UNCOMPRESSED
#define OPS cz_points_g2
#include "compute/cpu/points_scalar.h"
#include "compute/cpu/points_template.h"
