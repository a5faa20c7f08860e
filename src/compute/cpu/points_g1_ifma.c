#include "curve/g1.h"

#define G(f) cz_g1_##f
#define POINT struct cz_g1
#define AFFINE struct cz_g1_affine
#define DIM 1
#define GENERATOR CZ_G1_GENERATOR
#define INFINITY_POINT CZ_G1_INFINITY
#define SIZE_ENCODED CZ_G1_UNCOMPRESSED
#define OPS cz_points_g1_ifma
#include "compute/cpu/points_x8.h"

/* after what it is a template over */
#include "compute/cpu/points_template.h"
