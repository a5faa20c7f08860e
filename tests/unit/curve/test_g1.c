#include "curve/g1.h"

#include "support.h"

#define G(f) cz_g1_##f
#define POINT struct cz_g1
#define AFFINE struct cz_g1_affine
#define FE struct cz_fp
#define F(f) cz_fp_##f
#define GENERATOR CZ_G1_GENERATOR
#define SMALL_ORDER 11
#define CURVE_B curve_b
#define SET_X(a, v) cz_fp_from_u64(&(a)->x, v)
#define EXTRA_TESTS cmocka_unit_test(point_of_order_three)

/* (x - 1)²/3, and the same over 121 */
static const uint64_t COFACTOR[] = {0x8c00aaab0000aaab, 0x396c8c005555e156};
static const uint64_t SMALL_COFACTOR[] = {0x627ab75c63702343, 0x00797dfbc5773068};
static struct cz_fp curve_b;

/* (0, 2): the endomorphism fixes it. */
static void point_of_order_three(void **state) {
    (void)state;
    struct cz_g1_affine p = {CZ_FP_ZERO, CZ_FP_ONE};
    struct cz_g1 q;
    uint64_t three = 3;
    cz_fp_dbl(&p.y, &p.y);
    assert_true(cz_g1_affine_on_curve(&p));
    cz_g1_from_affine(&q, &p);
    cz_g1_mul_limbs(&q, &q, &three, 1);
    assert_true(cz_g1_is_infinity(&q));
    assert_false(cz_g1_affine_in_subgroup(&p));
}

__attribute__((constructor)) static void set_curve_b(void) {
    cz_fp_from_u64(&curve_b, 4);
}

#include "group_tests.h"
