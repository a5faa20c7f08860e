#include "curve/pairing.h"

#include "base/bytes.h"
#include "support.h"

#include <string.h>

static struct cz_g1_affine g1_times(const struct cz_fr *k) {
    struct cz_g1_affine r;
    struct cz_g1 p;
    cz_g1_from_affine(&p, &CZ_G1_GENERATOR);
    cz_g1_mul(&p, &p, k);
    cz_g1_to_affine(&r, &p);
    return r;
}

static struct cz_g2_affine g2_times(const struct cz_fr *k) {
    struct cz_g2_affine r;
    struct cz_g2 p;
    cz_g2_from_affine(&p, &CZ_G2_GENERATOR);
    cz_g2_mul(&p, &p, k);
    cz_g2_to_affine(&r, &p);
    return r;
}

static void random_fr(struct cz_fr *r, uint64_t *seed) {
    uint64_t limb[4];
    do {
        for (int i = 0; i < 4; i++) limb[i] = test_random(seed);
        limb[3] >>= 1;
    } while (cz_fr_from_limbs(r, limb) != CZ_OK);
}

/* By squarings and products alone. */
static struct cz_fp12 power(const struct cz_fp12 *a, const uint64_t *e, size_t n) {
    struct cz_fp12 r = CZ_FP12_ONE;
    for (size_t bit = 64 * n; bit-- > 0;) {
        cz_fp12_sqr(&r, &r);
        if (e[bit / 64] >> (bit % 64) & 1) cz_fp12_mul(&r, &r, a);
    }
    return r;
}

static void bilinear(void **state) {
    (void)state;
    uint64_t seed = 1, limb[4];
    for (int i = 0; i < 3; i++) {
        struct cz_fr a, b, ab;
        struct cz_fp12 left, right, base;
        random_fr(&a, &seed);
        random_fr(&b, &seed);
        cz_fr_mul(&ab, &a, &b);
        struct cz_g1_affine p = g1_times(&a), abp = g1_times(&ab);
        struct cz_g2_affine q = g2_times(&b);
        cz_pairing(&left, &p, &q);
        cz_pairing(&base, &CZ_G1_GENERATOR, &CZ_G2_GENERATOR);
        cz_fr_to_limbs(limb, &ab);
        right = power(&base, limb, 4);
        assert_true(cz_fp12_eq(&left, &right));
        cz_pairing(&right, &abp, &CZ_G2_GENERATOR);
        assert_true(cz_fp12_eq(&left, &right));
        assert_false(cz_fp12_eq(&left, &base));
    }
}

static void not_degenerate(void **state) {
    (void)state;
    struct cz_fp12 e, inverse, one;
    struct cz_g1_affine none1, minus = CZ_G1_GENERATOR;
    struct cz_g2_affine none2;
    memset(&none1, 0, sizeof none1);
    memset(&none2, 0, sizeof none2);
    cz_pairing(&e, &CZ_G1_GENERATOR, &CZ_G2_GENERATOR);
    assert_false(cz_fp12_is_one(&e));
    one = power(&e, CZ_FR_MODULUS, 4);
    assert_true(cz_fp12_is_one(&one));
    cz_g1_affine_neg(&minus, &minus);
    cz_pairing(&inverse, &minus, &CZ_G2_GENERATOR);
    cz_fp12_mul(&one, &e, &inverse);
    assert_true(cz_fp12_is_one(&one));
    cz_pairing(&one, &none1, &CZ_G2_GENERATOR);
    assert_true(cz_fp12_is_one(&one));
    cz_pairing(&one, &CZ_G1_GENERATOR, &none2);
    assert_true(cz_fp12_is_one(&one));
    cz_pairing(&one, &none1, &none2);
    assert_true(cz_fp12_is_one(&one));
}

/* 0 to 70 pairs, across the chunks of the loop, infinities among them. */
static void many_pairs(void **state) {
    (void)state;
    enum { N = 70 };
    static struct cz_g1_affine p[N];
    static struct cz_g2_affine q[N];
    uint64_t seed = 2;
    struct cz_fr sum = CZ_FR_ZERO, a, b;
    struct cz_fp12 f, product = CZ_FP12_ONE;
    assert_true(cz_pairing_product_is_one(p, q, 0));
    for (size_t i = 0; i < N; i++) {
        random_fr(&a, &seed);
        random_fr(&b, &seed);
        p[i] = g1_times(&a);
        q[i] = g2_times(&b);
        cz_fr_mul(&a, &a, &b);
        if (i % 9 == 4) memset(&p[i], 0, sizeof p[i]);
        if (i % 9 == 7 || i == N - 2) memset(&q[i], 0, sizeof q[i]);
        if (i % 9 != 4 && i % 9 != 7 && i != N - 2 && i != N - 1) cz_fr_add(&sum, &sum, &a);
    }
    /* the last pair cancels the others */
    cz_fr_neg(&sum, &sum);
    p[N - 1] = g1_times(&sum);
    q[N - 1] = CZ_G2_GENERATOR;
    assert_true(cz_pairing_product_is_one(p, q, N));
    assert_false(cz_pairing_product_is_one(p, q, N - 1));
    assert_false(cz_pairing_product_is_one(p + 1, q + 1, N - 1));
    for (size_t i = 0; i < 36; i++) {
        struct cz_fp12 one;
        cz_pairing_miller_n(&one, &p[i], &q[i], 1);
        cz_fp12_mul(&product, &product, &one);
        if (i + 1 != 5 && i + 1 != 8 && i + 1 < 31) continue;
        cz_pairing_miller_n(&f, p, q, i + 1);
        assert_true(cz_fp12_eq(&f, &product));
    }
}

/* f^(3·(p^12 - 1)/r) with plain powers. */
static void final_exponent(void **state) {
    (void)state;
    /* (p⁴ - p² + 1)/r */
    static const uint64_t hard[] = {0xe516c3f438e3ba79, 0xfa9912aae208ccf1, 0x905ce937335d5b68, 0xc71a2629b0dea236,
                                    0x83774940996754c8, 0x21d160aeb6a1e799, 0x2ed0b283ed237db4, 0x915c97f36c6f1821,
                                    0x67f17fcbde783765, 0x2378b9039096d1b7, 0x7988f8761bdc51dc, 0x2076995003fc77a1,
                                    0x827eca0ba621315b, 0xe5a72bce8d63cb9f, 0xf68f7764c28b6f8a, 0x2f230063cf081517,
                                    0x94506632528d6a9a, 0xd3cde88eeb996ca3, 0xc0bd38c3195c899e, 0x000f686b3d807d01};
    uint64_t seed = 3;
    struct cz_fp12 f, g, h, got;
    struct cz_fp *coordinate = (struct cz_fp *)&f;
    for (size_t i = 0; i < 12; i++) {
        cz_fp_from_u64(&coordinate[i], test_random(&seed));
        cz_fp_sqr(&coordinate[i], &coordinate[i]);
        for (int j = 0; j < 9; j++) cz_fp_mul(&coordinate[i], &coordinate[i], &coordinate[(i + 11) % 12]);
    }
    cz_pairing_final_exp(&got, &f);
    g = f;
    for (int i = 0; i < 6; i++) g = power(&g, CZ_FP_MODULUS, 6);
    cz_fp12_inv(&h, &f);
    cz_fp12_mul(&g, &g, &h); /* ^(p^6 - 1) */
    h = power(&g, CZ_FP_MODULUS, 6);
    h = power(&h, CZ_FP_MODULUS, 6);
    cz_fp12_mul(&g, &g, &h); /* ^(p² + 1) */
    g = power(&g, hard, sizeof hard / sizeof *hard);
    cz_fp12_sqr(&h, &g);
    cz_fp12_mul(&g, &g, &h);
    assert_true(cz_fp12_eq(&got, &g));
    cz_pairing_final_exp(&f, &f);
    assert_true(cz_fp12_eq(&got, &f));
}

/* e(G1, G2) as bls12_381.pairing of npm @noble/curves 1.9.2 gives it (Fp12.toBytes), which takes the power 3 too. */
static void agrees_with_noble(void **state) {
    (void)state;
    static const char *const expected[12] = {
        "1250ebd871fc0a92a7b2d83168d0d727272d441befa15c503dd8e90ce98db3e7b6d194f60839c508a84305aaca1789b6",
        "089a1c5b46e5110b86750ec6a532348868a84045483c92b7af5af689452eafabf1a8943e50439f1d59882a98eaa0170f",
        "1368bb445c7c2d209703f239689ce34c0378a68e72a6b3b216da0e22a5031b54ddff57309396b38c881c4c849ec23e87",
        "193502b86edb8857c273fa075a50512937e0794e1e65a7617c90d8bd66065b1fffe51d7a579973b1315021ec3c19934f",
        "01b2f522473d171391125ba84dc4007cfbf2f8da752f7c74185203fcca589ac719c34dffbbaad8431dad1c1fb597aaa5",
        "018107154f25a764bd3c79937a45b84546da634b8f6be14a8061e55cceba478b23f7dacaa35c8ca78beae9624045b4b6",
        "19f26337d205fb469cd6bd15c3d5a04dc88784fbb3d0b2dbdea54d43b2b73f2cbb12d58386a8703e0f948226e47ee89d",
        "06fba23eb7c5af0d9f80940ca771b6ffd5857baaf222eb95a7d2809d61bfe02e1bfd1b68ff02f0b8102ae1c2d5d5ab1a",
        "11b8b424cd48bf38fcef68083b0b0ec5c81a93b330ee1a677d0d15ff7b984e8978ef48881e32fac91b93b47333e2ba57",
        "03350f55a7aefcd3c31b4fcb6ce5771cc6a0e9786ab5973320c806ad360829107ba810c5a09ffdd9be2291a0c25a99a2",
        "04c581234d086a9902249b64728ffd21a189e87935a954051c7cdba7b3872629a4fafc05066245cb9108f0242d0fe3ef",
        "0f41e58663bf08cf068672cbd01a7ec73baca4d72ca93544deff686bfd6df543d48eaa24afe47e1efde449383b676631"};
    struct cz_fp12 e;
    const struct cz_fp *coordinate = (const struct cz_fp *)&e;
    cz_pairing(&e, &CZ_G1_GENERATOR, &CZ_G2_GENERATOR);
    for (int i = 0; i < 12; i++) {
        uint8_t out[48];
        char hex[97];
        cz_fp_to_be(out, &coordinate[i]);
        cz_hex_encode(hex, out, 48);
        assert_string_equal(hex, expected[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bilinear),       cmocka_unit_test(not_degenerate),    cmocka_unit_test(many_pairs),
        cmocka_unit_test(final_exponent), cmocka_unit_test(agrees_with_noble),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
