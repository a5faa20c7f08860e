#include "curve/g1.h"
#include "field/fp_inline.h"

#define G(f) cz_g1_##f
#define F(f) cz_fp_##f
#define POINT struct cz_g1
#define AFFINE struct cz_g1_affine
#define FE struct cz_fp
#define SUB cz_fp_inline_sub
#define FE_ONE CZ_FP_ONE
#define GENERATOR CZ_G1_GENERATOR
#define INFINITY_POINT CZ_G1_INFINITY
#define SIZE_ENCODED CZ_G1_UNCOMPRESSED
#define OPS cz_points_g1
#include "compute/cpu/points_scalar.h"
#include "compute/cpu/points_template.h"
