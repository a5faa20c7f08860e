#include "curve/encoding.h"

#include "base/bytes.h"
#include "support.h"

static struct cz_g1_affine multiple_g1(uint64_t k) {
    struct cz_g1_affine r;
    struct cz_g1 p;
    cz_g1_from_affine(&p, &CZ_G1_GENERATOR);
    cz_g1_mul_limbs(&p, &p, &k, 1);
    cz_g1_to_affine(&r, &p);
    return r;
}

static struct cz_g2_affine multiple_g2(uint64_t k) {
    struct cz_g2_affine r;
    struct cz_g2 p;
    cz_g2_from_affine(&p, &CZ_G2_GENERATOR);
    cz_g2_mul_limbs(&p, &p, &k, 1);
    cz_g2_to_affine(&r, &p);
    return r;
}

static void generators(void **state) {
    (void)state;
    uint8_t out[CZ_G2_UNCOMPRESSED];
    char hex[2 * sizeof out + 1];
    cz_g1_encode(out, &CZ_G1_GENERATOR);
    cz_hex_encode(hex, out, 48);
    assert_string_equal(hex, "97f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
                             "6c55e83ff97a1aeffb3af00adb22c6bb");
    cz_g2_encode(out, &CZ_G2_GENERATOR);
    cz_hex_encode(hex, out, 96);
    assert_string_equal(hex, "93e02b6052719f607dacd3a088274f65596bd0d09920b61ab5da61bbdc7f5049"
                             "334cf11213945d57e5ac7d055d042b7e024aa2b2f08f0a91260805272dc51051"
                             "c6e47ad4fa403b02b4510b647ae3d1770bac0326a805bbefd48056c8c121bdb8");
    cz_g1_encode_uncompressed(out, &CZ_G1_GENERATOR);
    cz_hex_encode(hex, out, 96);
    assert_string_equal(hex, "17f1d3a73197d7942695638c4fa9ac0fc3688c4f9774b905a14e3a3f171bac58"
                             "6c55e83ff97a1aeffb3af00adb22c6bb08b3f481e3aaa0f1a09e30ed741d8ae4"
                             "fcf5e095d5d00af600db18cb2c04b3edd03cc744a2888ae40caa232946c5e7e1");
    cz_g2_encode_uncompressed(out, &CZ_G2_GENERATOR);
    assert_int_equal(out[0], 0x13); /* x.c1 */
    assert_int_equal(out[48], 0x02);
    assert_int_equal(out[96], 0x06); /* y.c1 */
    assert_int_equal(out[144], 0x0c);
}

static void round_trips(void **state) {
    (void)state;
    unsigned large1 = 0, large2 = 0;
    for (uint64_t k = 0; k < 20; k++) { /* 0 is infinity */
        struct cz_g1_affine p = multiple_g1(k), back1 = CZ_G1_GENERATOR;
        struct cz_g2_affine q = multiple_g2(k), back2 = CZ_G2_GENERATOR;
        uint8_t out[CZ_G2_UNCOMPRESSED];
        cz_g1_encode(out, &p);
        assert_int_equal(cz_g1_decode(&back1, out), CZ_OK);
        assert_true(cz_g1_affine_eq(&p, &back1));
        large1 += (out[0] & 0x20) != 0;
        cz_g1_encode_uncompressed(out, &p);
        back1 = CZ_G1_GENERATOR;
        assert_int_equal(cz_g1_decode_uncompressed(&back1, out), CZ_OK);
        assert_true(cz_g1_affine_eq(&p, &back1));
        cz_g2_encode(out, &q);
        assert_int_equal(cz_g2_decode(&back2, out), CZ_OK);
        assert_true(cz_g2_affine_eq(&q, &back2));
        large2 += (out[0] & 0x20) != 0;
        cz_g2_encode_uncompressed(out, &q);
        back2 = CZ_G2_GENERATOR;
        assert_int_equal(cz_g2_decode_uncompressed(&back2, out), CZ_OK);
        assert_true(cz_g2_affine_eq(&q, &back2));
    }
    assert_true(large1 > 0 && large1 < 19 && large2 > 0 && large2 < 19);
}

/* The sign bit chooses between a point and its opposite. */
static void sign_bit(void **state) {
    (void)state;
    uint8_t out[96];
    struct cz_g1_affine p = CZ_G1_GENERATOR, a;
    struct cz_g2_affine q = CZ_G2_GENERATOR, b;
    cz_g1_encode(out, &p);
    out[0] ^= 0x20;
    assert_int_equal(cz_g1_decode(&a, out), CZ_OK);
    cz_g1_affine_neg(&p, &p);
    assert_true(cz_g1_affine_eq(&p, &a));
    cz_g2_encode(out, &q);
    out[0] ^= 0x20;
    assert_int_equal(cz_g2_decode(&b, out), CZ_OK);
    cz_g2_affine_neg(&q, &q);
    assert_true(cz_g2_affine_eq(&q, &b));
}

static void infinity_forms(void **state) {
    (void)state;
    uint8_t out[CZ_G2_UNCOMPRESSED], zero[CZ_G2_UNCOMPRESSED] = {0};
    struct cz_g1_affine p = multiple_g1(0);
    struct cz_g2_affine q = multiple_g2(0);
    cz_g1_encode(out, &p);
    assert_int_equal(out[0], 0xc0);
    assert_memory_equal(out + 1, zero, 47);
    cz_g1_encode_uncompressed(out, &p);
    assert_int_equal(out[0], 0x40);
    assert_memory_equal(out + 1, zero, 95);
    cz_g2_encode(out, &q);
    assert_int_equal(out[0], 0xc0);
    assert_memory_equal(out + 1, zero, 95);
    cz_g2_encode_uncompressed(out, &q);
    assert_int_equal(out[0], 0x40);
    assert_memory_equal(out + 1, zero, 191);
}

/* Decodes into a sentinel, which a failure must leave alone. */
static void refuse(const uint8_t *in, int group, bool compressed, enum cz_status want) {
    struct cz_g1_affine p = CZ_G1_GENERATOR;
    struct cz_g2_affine q = CZ_G2_GENERATOR;
    enum cz_status got = group == 1 ? (compressed ? cz_g1_decode(&p, in) : cz_g1_decode_uncompressed(&p, in))
                                    : (compressed ? cz_g2_decode(&q, in) : cz_g2_decode_uncompressed(&q, in));
    assert_int_equal(got, want);
    assert_true(cz_g1_affine_eq(&p, &CZ_G1_GENERATOR));
    assert_true(cz_g2_affine_eq(&q, &CZ_G2_GENERATOR));
}

static size_t encode(uint8_t *out, int group, bool compressed) {
    if (group == 1) {
        if (compressed)
            cz_g1_encode(out, &CZ_G1_GENERATOR);
        else
            cz_g1_encode_uncompressed(out, &CZ_G1_GENERATOR);
        return compressed ? 48 : 96;
    }
    if (compressed)
        cz_g2_encode(out, &CZ_G2_GENERATOR);
    else
        cz_g2_encode_uncompressed(out, &CZ_G2_GENERATOR);
    return compressed ? 96 : 192;
}

/* p, p + 1 and the largest value that fits under the flags, in every coordinate. */
static void refuses_range(int group, bool compressed) {
    uint8_t in[CZ_G2_UNCOMPRESSED], modulus[48];
    char hex[] = "1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab";
    assert_int_equal(cz_hex_decode(modulus, 48, hex), CZ_OK);
    size_t size = encode(in, group, compressed);
    for (size_t at = 0; at < size; at += 48) {
        for (int kind = 0; kind < 3; kind++) {
            (void)encode(in, group, compressed);
            uint8_t flags = at == 0 ? in[0] & 0xe0 : 0;
            memcpy(in + at, modulus, 48);
            if (kind == 1) in[at + 47]++;
            if (kind == 2) memset(in + at, 0xff, 48);
            in[at] = (uint8_t)((in[at] & (at == 0 ? 0x1f : 0xff)) | flags);
            refuse(in, group, compressed, CZ_ERR_FIELD_RANGE);
        }
    }
}

static void refuses(void **state) {
    (void)state;
    for (int group = 1; group <= 2; group++) {
        for (int form = 0; form < 2; form++) {
            bool compressed = form == 0;
            uint8_t in[CZ_G2_UNCOMPRESSED];
            size_t size = encode(in, group, compressed);
            in[0] ^= 0x80; /* the other form */
            refuse(in, group, compressed, CZ_ERR_POINT_FORM);
            in[0] ^= 0x80;
            if (!compressed) {
                in[0] |= 0x20; /* a sign where y is written */
                refuse(in, group, compressed, CZ_ERR_POINT_SIGN);
                in[0] ^= 0x20;
            }
            in[0] |= 0x40; /* infinity with coordinates */
            refuse(in, group, compressed, CZ_ERR_POINT_INFINITY_BITS);
            for (size_t i = 0; i < size; i++) /* infinity with one bit set, and with a sign */
                for (int bit = 1; bit < 0x80; bit <<= (i == 0 ? 1 : 7)) {
                    memset(in, 0, size);
                    in[0] = compressed ? 0xc0 : 0x40;
                    if (in[i] & bit) continue;
                    in[i] |= (uint8_t)bit;
                    refuse(in, group, compressed, CZ_ERR_POINT_INFINITY_BITS);
                }
            memset(in, 0, size); /* all zeros: a finite point with x = y = 0 */
            refuse(in, group, compressed, compressed ? CZ_ERR_POINT_FORM : CZ_ERR_POINT_NOT_ON_CURVE);
            refuses_range(group, compressed);
            (void)encode(in, group, compressed);
            if (!compressed) {
                in[size - 1] ^= 1;
                refuse(in, group, compressed, CZ_ERR_POINT_NOT_ON_CURVE);
            }
        }
    }
}

/* About half of all x have no y. */
static void x_without_y(void **state) {
    (void)state;
    int none1 = 0, none2 = 0;
    for (uint8_t x = 0; x < 40; x++) {
        uint8_t in[96] = {0x80};
        struct cz_g1_affine p = CZ_G1_GENERATOR;
        struct cz_g2_affine q = CZ_G2_GENERATOR;
        in[47] = x;
        enum cz_status s = cz_g1_decode(&p, in);
        assert_true(s == CZ_OK || s == CZ_ERR_POINT_NOT_ON_CURVE);
        none1 += s != CZ_OK;
        assert_true(s == CZ_OK ? cz_g1_affine_on_curve(&p) : cz_g1_affine_eq(&p, &CZ_G1_GENERATOR));
        if (s == CZ_OK) assert_int_equal(cz_g1_check(&p), CZ_ERR_POINT_SUBGROUP);
        in[95] = x;
        in[47] = 1;
        s = cz_g2_decode(&q, in);
        assert_true(s == CZ_OK || s == CZ_ERR_POINT_NOT_ON_CURVE);
        none2 += s != CZ_OK;
        assert_true(s == CZ_OK ? cz_g2_affine_on_curve(&q) : cz_g2_affine_eq(&q, &CZ_G2_GENERATOR));
        if (s == CZ_OK) assert_int_equal(cz_g2_check(&q), CZ_ERR_POINT_SUBGROUP);
    }
    assert_in_range(none1, 8, 32);
    assert_in_range(none2, 8, 32);
}

static void checks(void **state) {
    (void)state;
    struct cz_g1_affine p = multiple_g1(0);
    struct cz_g2_affine q = multiple_g2(0);
    assert_int_equal(cz_g1_check(&p), CZ_ERR_POINT_INFINITY);
    assert_int_equal(cz_g2_check(&q), CZ_ERR_POINT_INFINITY);
    p = multiple_g1(77);
    q = multiple_g2(77);
    assert_int_equal(cz_g1_check(&p), CZ_OK);
    assert_int_equal(cz_g2_check(&q), CZ_OK);
}

/* Unaligned, a chunk and a part of one, infinity among them. */
static void loads_unchecked(void **state) {
    (void)state;
    enum { N = 37 };
    static uint8_t in1[1 + N * CZ_G1_UNCOMPRESSED], in2[1 + N * CZ_G2_UNCOMPRESSED];
    struct cz_g1_affine want1[N], got1[N + 1];
    struct cz_g2_affine want2[N], got2[N + 1];
    for (uint64_t i = 0; i < N; i++) {
        want1[i] = multiple_g1(i % 5 == 3 ? 0 : i + 1);
        want2[i] = multiple_g2(i % 5 == 3 ? 0 : i + 1);
        cz_g1_encode_uncompressed(in1 + 1 + i * CZ_G1_UNCOMPRESSED, &want1[i]);
        cz_g2_encode_uncompressed(in2 + 1 + i * CZ_G2_UNCOMPRESSED, &want2[i]);
    }
    for (size_t n = 0; n <= N; n += n < 2 ? 1 : 7) {
        memset(got1, 0xaa, sizeof got1);
        memset(got2, 0xaa, sizeof got2);
        cz_g1_load_unchecked_n(got1, in1 + 1, n);
        cz_g2_load_unchecked_n(got2, in2 + 1, n);
        assert_memory_equal(got1, want1, n * sizeof *got1);
        assert_memory_equal(got2, want2, n * sizeof *got2);
        assert_int_equal(got1[n].x.l[0], 0xaaaaaaaaaaaaaaaau);
        assert_int_equal(got2[n].x.c0.l[0], 0xaaaaaaaaaaaaaaaau);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generators), cmocka_unit_test(round_trips),     cmocka_unit_test(sign_bit),
        cmocka_unit_test(refuses),    cmocka_unit_test(infinity_forms),  cmocka_unit_test(x_without_y),
        cmocka_unit_test(checks),     cmocka_unit_test(loads_unchecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
