#include "groth16/params.h"

#include "base/bytes.h"
#include "curve/encoding.h"
#include "support.h"
#include "xor_demo.h"

/* Offsets in the demo's file: key 1,060 bytes, then h 7, l 2, a 4, b_g1 2, b_g2 2 points behind a count each. */
enum { KEY = 1060, H = KEY, L = H + 4 + 7 * 96, A = L + 4 + 2 * 96, B1 = A + 4 + 4 * 96, B2 = B1 + 4 + 2 * 96 };
#define SIZE 2904

struct fixture {
    struct xor_demo demo;
    char folder[64], good[256], bad[256];
    uint8_t data[SIZE + 64];
};

static int setup_fixture(void **state) {
    static struct fixture f;
    xor_demo_init(&f.demo);
    xor_demo_folder(f.folder, sizeof f.folder);
    xor_demo_path(f.good, sizeof f.good, f.folder, "x.params");
    xor_demo_path(f.bad, sizeof f.bad, f.folder, "bad.params");
    struct cz_setup_result result;
    xor_demo_setup(&f.demo, f.folder, &result);
    uint8_t *data;
    size_t len;
    assert_int_equal(cz_file_read(&data, &len, f.good, SIZE, NULL), CZ_OK);
    assert_int_equal(len, SIZE);
    memcpy(f.data, data, len);
    cz_free(data);
    *state = &f;
    return 0;
}

static int end_fixture(void **state) {
    struct fixture *f = *state;
    xor_demo_folder_remove(f->folder);
    return 0;
}

static void write_plain(const char *path, const void *data, size_t len) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

/* The file with these bytes is refused with this status and text; the output stays untouched. */
static void assert_refused(struct fixture *f, const void *data, size_t len, const struct cz_r1cs *r1cs,
                           enum cz_status want, const char *text) {
    write_plain(f->bad, data, len);
    struct cz_params params;
    memset(&params, 0x5a, sizeof params);
    const struct cz_params before = params;
    struct cz_error err = {0};
    assert_int_equal(cz_params_open(&params, f->bad, r1cs, &err), want);
    assert_memory_equal(&params, &before, sizeof before);
    if (!strstr(err.detail, text)) fail_msg("'%s' not in '%s'", text, err.detail);
    if (!strstr(err.detail, "bad.params")) fail_msg("no path in '%s'", err.detail);
}

static void test_good(void **state) {
    struct fixture *f = *state;
    struct cz_params params;
    struct cz_error err = {0};
    assert_int_equal(cz_params_open(&params, f->good, NULL, &err), CZ_OK);
    assert_int_equal(params.vk.num_ic, 2);
    assert_int_equal(params.view.num_h, 7);
    assert_int_equal(params.view.num_l, 2);
    assert_int_equal(params.view.num_a, 4);
    assert_int_equal(params.view.num_b, 2);
    assert_ptr_equal(params.view.h, params.map.data + H + 4);
    assert_ptr_equal(params.view.l, params.map.data + L + 4);
    assert_ptr_equal(params.view.a, params.map.data + A + 4);
    assert_ptr_equal(params.view.b_g1, params.map.data + B1 + 4);
    assert_ptr_equal(params.view.b_g2, params.map.data + B2 + 4);
    assert_int_equal(cz_params_check_points(&params, NULL, NULL, NULL, &err), CZ_OK);
    cz_params_close(&params);
    cz_params_close(&params);
    assert_int_equal(cz_params_open(&params, f->good, &f->demo.r1cs, &err), CZ_OK);
    cz_params_close(&params);
    assert_int_equal(cz_params_open(&params, "/nonexistent.params", NULL, &err), CZ_ERR_NOT_FOUND);
}

static void test_cut_short(void **state) {
    struct fixture *f = *state;
    for (size_t len = SIZE - 1; len > 0; len -= len > KEY - 100 && len < KEY + 8 ? 1 : len < 97 ? len : 97) {
        struct cz_params params;
        struct cz_error err = {0};
        write_plain(f->bad, f->data, len);
        assert_int_equal(cz_params_open(&params, f->bad, NULL, &err), CZ_ERR_LENGTH);
    }
    assert_refused(f, f->data, 0, NULL, CZ_ERR_LENGTH, "empty");
    assert_refused(f, f->data, SIZE - 1, NULL, CZ_ERR_LENGTH, "b_g2 has 2 points");
    assert_refused(f, f->data, L, NULL, CZ_ERR_LENGTH, "before the count of l");
    assert_refused(f, f->data, L + 3, NULL, CZ_ERR_LENGTH, "before the count of l");
}

static void test_trailing(void **state) {
    struct fixture *f = *state;
    assert_refused(f, f->data, SIZE + 1, NULL, CZ_ERR_LENGTH, "1 bytes follow");
}

static void test_counts(void **state) {
    struct fixture *f = *state;
    static const struct {
        size_t at;
        const char *name;
    } COUNT[] = {{H, "h"}, {L, "l"}, {A, "a"}, {B1, "b_g1"}, {B2, "b_g2"}};
    uint8_t copy[SIZE];
    for (size_t i = 0; i < 5; i++) {
        char text[32];
        (void)snprintf(text, sizeof text, "%s has 4294967295 points", COUNT[i].name);
        memcpy(copy, f->data, SIZE);
        cz_store_be32(copy + COUNT[i].at, UINT32_MAX);
        assert_refused(f, copy, SIZE, NULL, CZ_ERR_LENGTH, text);
        /* one more or less: whatever comes to light first, never accepted */
        for (int d = -1; d <= 1; d += 2) {
            memcpy(copy, f->data, SIZE);
            cz_store_be32(copy + COUNT[i].at, cz_load_be32(f->data + COUNT[i].at) + (uint32_t)d);
            write_plain(f->bad, copy, SIZE);
            struct cz_params params;
            assert_int_not_equal(cz_params_open(&params, f->bad, NULL, NULL), CZ_OK);
        }
    }
    memcpy(copy, f->data, SIZE);
    cz_store_be32(copy + 864, UINT32_MAX);
    assert_refused(f, copy, SIZE, NULL, CZ_ERR_LIMIT, "ic points");
    cz_store_be32(copy + 864, 0);
    assert_refused(f, copy, SIZE, NULL, CZ_ERR_LIMIT, "ic points");
}

/* Files of the right length whose counts do not fit each other. */
static void test_counts_disagree(void **state) {
    struct fixture *f = *state;
    uint8_t copy[SIZE + 192];
    /* h 6 points, the 7th taken out */
    memcpy(copy, f->data, SIZE);
    memmove(copy + H + 4, copy + H + 100, SIZE - H - 100);
    cz_store_be32(copy + H, 6);
    assert_refused(f, copy, SIZE - 96, NULL, CZ_ERR_FORMAT, "power of two");
    /* a 1 point: fewer than inputs */
    memcpy(copy, f->data, SIZE);
    memmove(copy + A + 4, copy + A + 4 + 3 * 96, SIZE - A - 4 - 3 * 96);
    cz_store_be32(copy + A, 1);
    assert_refused(f, copy, SIZE - 3 * 96, NULL, CZ_ERR_FORMAT, "a has 1 points");
    /* l 1 point: a has more than all variables */
    memcpy(copy, f->data, SIZE);
    memmove(copy + L + 4, copy + L + 100, SIZE - L - 100);
    cz_store_be32(copy + L, 1);
    assert_refused(f, copy, SIZE - 96, NULL, CZ_ERR_FORMAT, "a has 4 points");
    /* b_g1 and b_g2 of different lengths */
    memcpy(copy, f->data, SIZE);
    cz_store_be32(copy + B2, 1);
    assert_refused(f, copy, SIZE - 192, NULL, CZ_ERR_FORMAT, "b_g1 has 2 points and b_g2 1");
}

static void test_not_parameters(void **state) {
    struct fixture *f = *state;
    static const char HTML[] = "<!DOCTYPE html>\n<html><head><title>504 Gateway Time-out</title></head></html>\n";
    static const char XML[] = "\xef\xbb\xbf<?xml version=\"1.0\"?><Error><Code>NoSuchKey</Code></Error>";
    static const char TEXT[] = "version https://git-lfs.github.com/spec/v1\n";
    char page[5000];
    assert_refused(f, HTML, sizeof HTML - 1, NULL, CZ_ERR_FORMAT, "HTML");
    assert_refused(f, XML, sizeof XML - 1, NULL, CZ_ERR_FORMAT, "HTML or XML page");
    assert_refused(f, TEXT, sizeof TEXT - 1, NULL, CZ_ERR_FORMAT, "this is text");
    for (size_t i = 0; i < sizeof page; i++) page[i] = HTML[i % (sizeof HTML - 1)];
    assert_refused(f, page, sizeof page, NULL, CZ_ERR_FORMAT, "HTML");
    memset(page, 0xff, sizeof page);
    assert_refused(f, page, sizeof page, NULL, CZ_ERR_LIMIT, "ic points");
    cz_store_be32((uint8_t *)page + 864, 1);
    assert_refused(f, page, sizeof page, NULL, CZ_ERR_POINT_FORM, "alpha_g1");
    memset(page, 0, sizeof page);
    cz_store_be32((uint8_t *)page + 864, 1);
    assert_refused(f, page, sizeof page, NULL, CZ_ERR_POINT_NOT_ON_CURVE, "alpha_g1");
}

static void test_wrong_circuit(void **state) {
    struct fixture *f = *state;
    struct xor_demo other;
    xor_demo_init(&other);
    other.r1cs.num_aux = 1;
    other.tmpl.num_local = 1;
    for (int m = 0; m < 3; m++) {
        for (uint32_t j = 0; j < other.row[m][3]; j++) {
            if (other.term[m][j].col == 3) other.term[m][j].col = 2;
        }
    }
    xor_demo_index(&other);
    assert_refused(f, f->data, SIZE, &other.r1cs, CZ_ERR_MISMATCH, "l (aux variables) has 2 points, needed 1");
    xor_demo_init(&other);
    other.r1cs.num_inputs = 3;
    assert_refused(f, f->data, SIZE, &other.r1cs, CZ_ERR_MISMATCH, "ic (inputs) has 2 points, needed 3");
    xor_demo_init(&other);
    other.r1cs.num_constraints = 8;
    assert_refused(f, f->data, SIZE, &other.r1cs, CZ_ERR_MISMATCH, "h (domain - 1) has 7 points, needed 15");
    xor_demo_init(&other);
    other.term[CZ_R1CS_B][0].coef = CZ_R1CS_COEF_ZERO;
    xor_demo_index(&other);
    assert_refused(f, f->data, SIZE, &other.r1cs, CZ_ERR_MISMATCH, "b (variables in B) has 2 points, needed 1");

    assert_string_equal(cz_params_circuit_name(40, 2685673), "PoRep 2 KiB");
    assert_string_equal(cz_params_circuit_name(25840, 126902376), "window PoSt 32 GiB");
    assert_null(cz_params_circuit_name(40, 2685674));
}

static void assert_bad_point(struct fixture *f, const uint8_t *data, enum cz_status want, const char *text) {
    write_plain(f->bad, data, SIZE);
    struct cz_params params;
    struct cz_error err = {0};
    assert_int_equal(cz_params_open(&params, f->bad, &f->demo.r1cs, &err), CZ_OK);
    assert_int_equal(cz_params_check_points(&params, NULL, NULL, NULL, &err), want);
    if (!strstr(err.detail, text)) fail_msg("'%s' not in '%s'", text, err.detail);
    cz_params_close(&params);
}

/* A point of the curve outside the subgroup: the first x that has a y gives one. */
static void outside_g1(uint8_t out[96]) {
    struct cz_g1_affine p;
    uint8_t in[48] = {0x80};
    do in[47]++;
    while (cz_g1_decode(&p, in) != CZ_OK || cz_g1_affine_in_subgroup(&p));
    cz_g1_encode_uncompressed(out, &p);
}

static void test_points(void **state) {
    struct fixture *f = *state;
    static const struct {
        size_t at;
        const char *name;
    } POINT[] = {{H + 4, "h[0]"},      {H + 4 + 6 * 96, "h[6]"}, {L + 4 + 96, "l[1]"},
                 {A + 4 + 96, "a[1]"}, {B1 + 4, "b_g1[0]"},      {B2 + 4 + 192, "b_g2[1]"}};
    uint8_t copy[SIZE];
    for (size_t i = 0; i < sizeof POINT / sizeof POINT[0]; i++) {
        size_t last = POINT[i].at >= B2 ? 191 : 95;
        memcpy(copy, f->data, SIZE);
        copy[POINT[i].at + last] ^= 1;
        assert_bad_point(f, copy, CZ_ERR_POINT_NOT_ON_CURVE, POINT[i].name);
        memcpy(copy, f->data, SIZE);
        memset(copy + POINT[i].at, 0xff, 48);
        copy[POINT[i].at] = 0x1f;
        assert_bad_point(f, copy, CZ_ERR_FIELD_RANGE, POINT[i].name);
        memcpy(copy, f->data, SIZE);
        memset(copy + POINT[i].at, 0, last + 1);
        copy[POINT[i].at] = 0x40;
        assert_bad_point(f, copy, CZ_ERR_POINT_INFINITY, POINT[i].name);
        if (POINT[i].at >= B2) continue;
        outside_g1(copy + POINT[i].at);
        assert_bad_point(f, copy, CZ_ERR_POINT_SUBGROUP, POINT[i].name);
    }
    /* of two bad points the first is named */
    memcpy(copy, f->data, SIZE);
    copy[H + 4 + 5 * 96 + 95] ^= 1;
    copy[H + 4 + 2 * 96 + 95] ^= 1;
    assert_bad_point(f, copy, CZ_ERR_POINT_NOT_ON_CURVE, "h[2]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_trailing),
        cmocka_unit_test(test_counts),
        cmocka_unit_test(test_counts_disagree),
        cmocka_unit_test(test_not_parameters),
        cmocka_unit_test(test_wrong_circuit),
        cmocka_unit_test(test_points),
    };
    return cmocka_run_group_tests(tests, setup_fixture, end_fixture);
}
