#include "curve/g2.h"

#define G(f) cz_g2_##f
#define POINT struct cz_g2
#define AFFINE struct cz_g2_affine
#define FE struct cz_fp2
#define F(f) cz_fp2_##f
#define GENERATOR CZ_G2_GENERATOR
#define SMALL_ORDER 13
#define CURVE_B curve_b
#define SET_X(a, v) cz_fp_from_u64(&(a)->x.c0, v)
#define EXTRA_TESTS

/* The cofactor of G2, and the same over 169 */
static const uint64_t COFACTOR[] = {0xcf1c38e31c7238e5, 0x1616ec6e786f0c70, 0x21537e293a6691ae, 0xa628f1cb4d9e82ef,
                                    0xa68a205b2e5a7ddf, 0xcd91de4547085aba, 0x091d50792876a202, 0x05d543a95414e7f1};
static const uint64_t SMALL_COFACTOR[] = {0x3336b3150941cfdd, 0xedf4046db800a837, 0x45e0aef29c5e8629,
                                          0x5a5b213dcb710859, 0x81be2a9b0c648304, 0x60a5f9bdc250555d,
                                          0xd5a3c5663541d68b, 0x0008d5fc7522f6c4};
static struct cz_fp2 curve_b;

__attribute__((constructor)) static void set_curve_b(void) {
    cz_fp_from_u64(&curve_b.c0, 4);
    curve_b.c1 = curve_b.c0;
}

#include "group_tests.h"
