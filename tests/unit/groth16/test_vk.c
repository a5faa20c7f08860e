#include "groth16/vk.h"

#include "base/bytes.h"
#include "base/file.h"
#include "curve/encoding.h"
#include "support.h"

#include <unistd.h>

#define NUM_IC 3
#define BYTES (CZ_VK_HEADER_BYTES + 96 * NUM_IC)

static struct cz_g1_affine g1_times(uint64_t k) {
    struct cz_g1 p;
    struct cz_g1_affine r;
    cz_g1_from_affine(&p, &CZ_G1_GENERATOR);
    cz_g1_mul_limbs(&p, &p, &k, 1);
    cz_g1_to_affine(&r, &p);
    return r;
}

static struct cz_g2_affine g2_times(uint64_t k) {
    struct cz_g2 p;
    struct cz_g2_affine r;
    cz_g2_from_affine(&p, &CZ_G2_GENERATOR);
    cz_g2_mul_limbs(&p, &p, &k, 1);
    cz_g2_to_affine(&r, &p);
    return r;
}

static void example(struct cz_vk *vk, struct cz_g1_affine ic[NUM_IC]) {
    *vk = (struct cz_vk){.alpha_g1 = g1_times(2),
                         .beta_g1 = g1_times(3),
                         .beta_g2 = g2_times(3),
                         .gamma_g2 = g2_times(4),
                         .delta_g1 = g1_times(5),
                         .delta_g2 = g2_times(5),
                         .num_ic = NUM_IC,
                         .ic = ic};
    for (uint64_t i = 0; i < NUM_IC; i++) ic[i] = g1_times(6 + i);
}

static void example_bytes(uint8_t out[BYTES]) {
    struct cz_vk vk;
    struct cz_g1_affine ic[NUM_IC];
    example(&vk, ic);
    cz_vk_write(out, &vk);
}

/* Points of the curve outside the subgroup: the first x that has a y gives one. */
static void outside_g1(uint8_t out[96], uint8_t compressed[48]) {
    struct cz_g1_affine p;
    memset(compressed, 0, 48);
    compressed[0] = 0x80;
    do compressed[47]++;
    while (cz_g1_decode(&p, compressed) != CZ_OK || cz_g1_affine_in_subgroup(&p));
    cz_g1_encode_uncompressed(out, &p);
}

static void outside_g2(uint8_t out[192], uint8_t compressed[96]) {
    struct cz_g2_affine p;
    memset(compressed, 0, 96);
    compressed[0] = 0x80;
    do compressed[95]++;
    while (cz_g2_decode(&p, compressed) != CZ_OK || cz_g2_affine_in_subgroup(&p));
    cz_g2_encode_uncompressed(out, &p);
}

static void test_layout(void **state) {
    (void)state;
    uint8_t data[BYTES + 5] = {0}, again[BYTES], want[192];
    example_bytes(data);
    assert_int_equal(cz_vk_bytes(NUM_IC), BYTES);
    assert_int_equal(cz_vk_bytes(25840), 2481508);
    struct cz_g1_affine p = g1_times(5);
    cz_g1_encode_uncompressed(want, &p);
    assert_memory_equal(data + 576, want, 96);
    struct cz_g2_affine q = g2_times(4);
    cz_g2_encode_uncompressed(want, &q);
    assert_memory_equal(data + 384, want, 192);
    assert_memory_equal(data + 864, "\0\0\0\3", 4);

    struct cz_vk vk;
    struct cz_error err = {0};
    size_t used = 0;
    assert_int_equal(cz_vk_read(&vk, data, sizeof data, &used, &err), CZ_OK);
    assert_int_equal(used, BYTES);
    cz_vk_write(again, &vk);
    assert_memory_equal(again, data, BYTES);
    cz_vk_done(&vk);
    assert_null(vk.ic);
    cz_vk_done(&vk);
    cz_vk_done(NULL);
}

static void assert_refused(const uint8_t *data, size_t len, enum cz_status want, const char *text) {
    struct cz_vk vk;
    struct cz_error err = {0};
    assert_int_equal(cz_vk_read(&vk, data, len, NULL, &err), want);
    assert_int_equal(err.status, want);
    if (!strstr(err.detail, text)) fail_msg("'%s' not in '%s'", text, err.detail);
}

static void test_lengths(void **state) {
    (void)state;
    uint8_t data[BYTES];
    example_bytes(data);
    for (size_t len = 0; len < BYTES; len++) assert_refused(data, len, CZ_ERR_LENGTH, "verifying key");
    static const uint32_t COUNT[] = {0, CZ_VK_MAX_IC + 1, 0x80000000u, UINT32_MAX};
    for (size_t i = 0; i < 4; i++) {
        cz_store_be32(data + 864, COUNT[i]);
        assert_refused(data, BYTES, CZ_ERR_LIMIT, "ic points");
    }
    cz_store_be32(data + 864, CZ_VK_MAX_IC);
    assert_refused(data, BYTES, CZ_ERR_LENGTH, "ic points need");
}

static void test_each_field(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t at, bytes;
    } FIELD[] = {
        {"alpha_g1", 0, 96},   {"beta_g1", 96, 96},    {"beta_g2", 192, 192}, {"gamma_g2", 384, 192},
        {"delta_g1", 576, 96}, {"delta_g2", 672, 192}, {"ic[0]", 868, 96},    {"ic[2]", 868 + 2 * 96, 96},
    };
    uint8_t data[BYTES], outside[192], compressed[96];
    for (size_t i = 0; i < sizeof FIELD / sizeof FIELD[0]; i++) {
        uint8_t *p = data + FIELD[i].at;
        example_bytes(data);
        p[FIELD[i].bytes - 1] ^= 1;
        assert_refused(data, BYTES, CZ_ERR_POINT_NOT_ON_CURVE, FIELD[i].name);
        example_bytes(data);
        p[0] |= 0x80;
        assert_refused(data, BYTES, CZ_ERR_POINT_FORM, FIELD[i].name);
        memset(p, 0xff, FIELD[i].bytes);
        p[0] = 0x1f;
        assert_refused(data, BYTES, CZ_ERR_FIELD_RANGE, FIELD[i].name);
        memset(p, 0, FIELD[i].bytes);
        p[0] = 0x40;
        assert_refused(data, BYTES, CZ_ERR_POINT_INFINITY, FIELD[i].name);
        if (FIELD[i].bytes == 96)
            outside_g1(outside, compressed);
        else
            outside_g2(outside, compressed);
        memcpy(p, outside, FIELD[i].bytes);
        assert_refused(data, BYTES, CZ_ERR_POINT_SUBGROUP, FIELD[i].name);
    }
}

static void test_compressed(void **state) {
    (void)state;
    struct cz_vk vk, back;
    struct cz_g1_affine ic[NUM_IC];
    example(&vk, ic);
    uint8_t data[436 + 48 * NUM_IC + 1] = {0}, plain[BYTES], again[BYTES];
    cz_g1_encode(data, &vk.alpha_g1);
    cz_g1_encode(data + 48, &vk.beta_g1);
    cz_g2_encode(data + 96, &vk.beta_g2);
    cz_g2_encode(data + 192, &vk.gamma_g2);
    cz_g1_encode(data + 288, &vk.delta_g1);
    cz_g2_encode(data + 336, &vk.delta_g2);
    cz_store_be32(data + 432, NUM_IC);
    for (size_t i = 0; i < NUM_IC; i++) cz_g1_encode(data + 436 + 48 * i, &ic[i]);
    cz_vk_write(plain, &vk);

    struct cz_error err = {0};
    assert_int_equal(cz_vk_read_compressed(&back, data, sizeof data - 1, &err), CZ_OK);
    cz_vk_write(again, &back);
    assert_memory_equal(again, plain, BYTES);
    cz_vk_done(&back);
    assert_int_equal(cz_vk_read_compressed(&back, data, sizeof data, &err), CZ_ERR_LENGTH);
    assert_int_equal(cz_vk_read_compressed(&back, data, sizeof data - 2, &err), CZ_ERR_LENGTH);
    data[288] &= 0x7f;
    assert_int_equal(cz_vk_read_compressed(&back, data, sizeof data - 1, &err), CZ_ERR_POINT_FORM);
    assert_non_null(strstr(err.detail, "delta_g1"));
}

static void test_file(void **state) {
    (void)state;
    char path[] = "/tmp/cuzk-vk-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    uint8_t data[BYTES + 1] = {0}, again[BYTES];
    example_bytes(data);
    struct cz_vk vk;
    struct cz_error err = {0};
    assert_int_equal(cz_file_write(path, data, BYTES, &err), CZ_OK);
    assert_int_equal(cz_vk_read_file(&vk, path, &err), CZ_OK);
    cz_vk_write(again, &vk);
    assert_memory_equal(again, data, BYTES);
    cz_vk_done(&vk);
    assert_int_equal(cz_file_write(path, data, BYTES + 1, &err), CZ_OK);
    assert_int_equal(cz_vk_read_file(&vk, path, &err), CZ_ERR_LENGTH);
    assert_non_null(strstr(err.detail, path));
    assert_int_equal(cz_file_write(path, data, 100, &err), CZ_OK);
    assert_int_equal(cz_vk_read_file(&vk, path, &err), CZ_ERR_LENGTH);
    assert_non_null(strstr(err.detail, path));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(cz_vk_read_file(&vk, path, &err), CZ_ERR_NOT_FOUND);
}

static void test_proof(void **state) {
    (void)state;
    const struct cz_proof proof = {.a = g1_times(11), .b = g2_times(12), .c = g1_times(13)};
    struct cz_proof back;
    uint8_t data[CZ_PROOF_BYTES], copy[CZ_PROOF_BYTES], outside[192], compressed[96];
    struct cz_error err = {0};
    cz_proof_write(data, &proof);
    assert_int_equal(cz_proof_read(&back, data, &err), CZ_OK);
    assert_true(cz_g1_affine_eq(&back.a, &proof.a));
    assert_true(cz_g2_affine_eq(&back.b, &proof.b));
    assert_true(cz_g1_affine_eq(&back.c, &proof.c));
    static const struct {
        const char *name;
        size_t at, bytes;
    } PART[] = {{"proof: A:", 0, 48}, {"proof: B:", 48, 96}, {"proof: C:", 144, 48}};
    for (size_t i = 0; i < 3; i++) {
        uint8_t *p = copy + PART[i].at;
        memcpy(copy, data, sizeof copy);
        p[0] &= 0x7f;
        assert_int_equal(cz_proof_read(&back, copy, &err), CZ_ERR_POINT_FORM);
        assert_non_null(strstr(err.detail, PART[i].name));
        memset(p, 0, PART[i].bytes);
        p[0] = 0xc0;
        assert_int_equal(cz_proof_read(&back, copy, &err), CZ_ERR_POINT_INFINITY);
        assert_non_null(strstr(err.detail, PART[i].name));
        memset(p, 0xff, PART[i].bytes);
        p[0] = 0x9f;
        assert_int_equal(cz_proof_read(&back, copy, &err), CZ_ERR_FIELD_RANGE);
        assert_non_null(strstr(err.detail, PART[i].name));
        if (PART[i].bytes == 48)
            outside_g1(outside, compressed);
        else
            outside_g2(outside, compressed);
        memcpy(p, compressed, PART[i].bytes);
        assert_int_equal(cz_proof_read(&back, copy, &err), CZ_ERR_POINT_SUBGROUP);
        assert_non_null(strstr(err.detail, PART[i].name));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout),     cmocka_unit_test(test_lengths), cmocka_unit_test(test_each_field),
        cmocka_unit_test(test_compressed), cmocka_unit_test(test_file),    cmocka_unit_test(test_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
