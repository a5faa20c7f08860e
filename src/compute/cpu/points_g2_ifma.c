#include "curve/g2.h"

#define G(f) cz_g2_##f
#define POINT struct cz_g2
#define AFFINE struct cz_g2_affine
#define DIM 2
#define GENERATOR CZ_G2_GENERATOR
#define INFINITY_POINT CZ_G2_INFINITY
#define SIZE_ENCODED CZ_G2_UNCOMPRESSED
#define OPS cz_points_g2_ifma
#include "compute/cpu/points_x8.h"

/* after what it is a template over */
#include "compute/cpu/points_template.h"
