#include "groth16/setup.h"

#include "base/bytes.h"
#include "base/file.h"
#include "groth16/params.h"
#include "support.h"
#include "xor_demo.h"

#include <openssl/evp.h>

static void assert_file_sha256(const char *path, const uint8_t want[32]) {
    uint8_t *data, got[32];
    size_t len;
    assert_int_equal(cz_file_read(&data, &len, path, 1 << 20, NULL), CZ_OK);
    assert_int_equal(EVP_Digest(data, len, got, NULL, EVP_sha256(), NULL), 1);
    assert_memory_equal(got, want, 32);
    cz_free(data);
}

/* spec/known-values.md §7 */
static const char VK_SHA256[] = "181c6b320a969fbab0c045d6951d70f4ffa3c416b6fcfbcdc324e3a508863d60";
static const char PARAMS_SHA256[] = "f325c818d6a46e6b3be79d2142d3587b34c9a780e000da5f1d6820b373cd6950";

struct run {
    char folder[64], params[256], vk[256];
    struct cz_error err;
    struct cz_setup_result result;
};

static enum cz_status run_setup(struct run *run, const struct xor_demo *demo, struct cz_pool *pool) {
    xor_demo_folder(run->folder, sizeof run->folder);
    xor_demo_path(run->params, sizeof run->params, run->folder, "x.params");
    xor_demo_path(run->vk, sizeof run->vk, run->folder, "x.vk");
    struct cz_device *dev;
    assert_int_equal(cz_device_create_cpu(&dev, pool), CZ_OK);
    run->err = (struct cz_error){0};
    enum cz_status status = cz_setup_write(&run->result, run->params, run->vk, true, &demo->r1cs, &demo->waste, dev,
                                           pool, NULL, NULL, &run->err);
    cz_device_destroy(dev);
    return status;
}

static void test_known_files(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct cz_pool *pool;
    assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
    for (int threads = 0; threads < 2; threads++) {
        struct run run;
        assert_int_equal(run_setup(&run, &demo, threads ? pool : NULL), CZ_OK);
        char hex[65];
        cz_hex_encode(hex, run.result.vk_sha256, 32);
        assert_string_equal(hex, VK_SHA256);
        cz_hex_encode(hex, run.result.params_sha256, 32);
        assert_string_equal(hex, PARAMS_SHA256);
        assert_int_equal(run.result.params_bytes, 2904);
        assert_file_sha256(run.params, run.result.params_sha256);
        assert_file_sha256(run.vk, run.result.vk_sha256);
        assert_int_equal(xor_demo_folder_entries(run.folder), 2);
        xor_demo_folder_remove(run.folder);
    }
    cz_pool_destroy(pool);
}

/* The same bytes without files, and the view into them. */
static void test_in_memory(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct cz_device *dev;
    struct cz_setup_srs srs;
    struct cz_setup_result result;
    struct cz_error err = {0};
    struct cz_srs *made;
    struct run run;
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    assert_int_equal(cz_setup_make_srs(&srs, &result, &demo.r1cs, &demo.waste, dev, NULL, &err), CZ_OK);
    char hex[65];
    cz_hex_encode(hex, result.params_sha256, 32);
    assert_string_equal(hex, PARAMS_SHA256);
    assert_int_equal(run_setup(&run, &demo, NULL), CZ_OK);
    struct cz_params params;
    assert_int_equal(cz_params_open(&params, run.params, &demo.r1cs, &err), CZ_OK);
    assert_int_equal(srs.size, params.map.size);
    assert_memory_equal(srs.bytes, params.map.data, srs.size);
    const struct cz_srs_view *a = &srs.view, *b = &params.view;
    assert_true(a->num_h == b->num_h && a->num_l == b->num_l && a->num_a == b->num_a && a->num_b == b->num_b);
    assert_int_equal(a->h - srs.bytes, b->h - params.map.data);
    assert_int_equal(a->l - srs.bytes, b->l - params.map.data);
    assert_int_equal(a->a - srs.bytes, b->a - params.map.data);
    assert_int_equal(a->b_g1 - srs.bytes, b->b_g1 - params.map.data);
    assert_int_equal(a->b_g2 - srs.bytes, b->b_g2 - params.map.data);
    assert_true(cz_g1_affine_eq(&srs.vk.delta_g1, &params.vk.delta_g1));
    assert_int_equal(cz_srs_create(&made, dev, &demo.r1cs, &srs.view, &err), CZ_OK);
    cz_srs_destroy(made);
    cz_setup_srs_done(&srs);
    cz_params_close(&params);
    xor_demo_folder_remove(run.folder);
    demo.waste.tau = CZ_FR_ONE;
    assert_int_equal(cz_setup_make_srs(&srs, &result, &demo.r1cs, &demo.waste, dev, NULL, &err), CZ_ERR_ARGUMENT);
    cz_device_destroy(dev);
}

/* The key alone is the same key, and nothing else is in the folder. */
static void test_key_alone(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct cz_device *dev;
    struct cz_setup_result result;
    char folder[64], vk[256], hex[65];
    xor_demo_folder(folder, sizeof folder);
    xor_demo_path(vk, sizeof vk, folder, "x.vk");
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    assert_int_equal(cz_setup_write_vk(&result, vk, &demo.r1cs, &demo.waste, dev, NULL, NULL), CZ_OK);
    cz_hex_encode(hex, result.vk_sha256, 32);
    assert_string_equal(hex, VK_SHA256);
    assert_file_sha256(vk, result.vk_sha256);
    assert_int_equal(xor_demo_folder_entries(folder), 1);
    xor_demo_folder_remove(folder);
    cz_device_destroy(dev);
}

static void test_other_generators(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    const struct cz_fr scalar[5] = {demo.waste.alpha, demo.waste.beta, demo.waste.gamma, demo.waste.delta,
                                    demo.waste.tau};
    cz_toxic_waste_set(&demo.waste, 5, 7, scalar);
    struct run run;
    assert_int_equal(run_setup(&run, &demo, NULL), CZ_OK);
    struct cz_params params;
    assert_int_equal(cz_params_open(&params, run.params, &demo.r1cs, &run.err), CZ_OK);
    assert_int_equal(cz_params_check_points(&params, NULL, NULL, NULL, &run.err), CZ_OK);
    struct cz_g1 want;
    struct cz_g2 want2;
    cz_g1_from_affine(&want, &CZ_G1_GENERATOR);
    cz_g1_mul_limbs(&want, &want, (const uint64_t[]){UINT64_C(5) * 5481}, 1);
    cz_g2_from_affine(&want2, &CZ_G2_GENERATOR);
    cz_g2_mul_limbs(&want2, &want2, (const uint64_t[]){UINT64_C(7) * 53332}, 1);
    struct cz_g1_affine g1;
    struct cz_g2_affine g2;
    cz_g1_to_affine(&g1, &want);
    cz_g2_to_affine(&g2, &want2);
    assert_true(cz_g1_affine_eq(&params.vk.delta_g1, &g1));
    assert_true(cz_g2_affine_eq(&params.vk.gamma_g2, &g2));
    cz_params_close(&params);
    xor_demo_folder_remove(run.folder);
}

static void test_random_waste(void **state) {
    (void)state;
    struct cz_toxic_waste waste[2];
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cz_toxic_waste_random(&waste[i]), CZ_OK);
        assert_true(cz_g1_affine_on_curve(&waste[i].g1) && cz_g1_affine_in_subgroup(&waste[i].g1));
        assert_true(cz_g2_affine_on_curve(&waste[i].g2) && cz_g2_affine_in_subgroup(&waste[i].g2));
        assert_false(cz_g1_affine_is_infinity(&waste[i].g1));
        assert_false(cz_g2_affine_is_infinity(&waste[i].g2));
    }
    assert_false(cz_g1_affine_eq(&waste[0].g1, &waste[1].g1));
    assert_false(cz_g2_affine_eq(&waste[0].g2, &waste[1].g2));
    assert_false(cz_fr_eq(&waste[0].tau, &waste[1].tau));
    assert_false(cz_fr_eq(&waste[0].alpha, &waste[0].beta));
    cz_toxic_waste_wipe(&waste[0]);
    const struct cz_toxic_waste zero = {0};
    assert_memory_equal(&waste[0], &zero, sizeof zero);
}

/* Nothing may be left in the folder when setup fails, and the result is untouched. */
static void assert_fails(const struct xor_demo *demo, enum cz_status want, const char *text) {
    struct run run;
    memset(&run.result, 0x5a, sizeof run.result);
    const struct cz_setup_result before = run.result;
    assert_int_equal(run_setup(&run, demo, NULL), want);
    if (!strstr(run.err.detail, text)) fail_msg("'%s' not in '%s'", text, run.err.detail);
    assert_memory_equal(&run.result, &before, sizeof before);
    assert_int_equal(xor_demo_folder_entries(run.folder), 0);
    xor_demo_folder_remove(run.folder);
}

static void test_unconstrained(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    /* b only ever with coefficient 0 */
    for (int m = 0; m < 3; m++) {
        for (uint32_t j = 0; j < demo.row[m][3]; j++) {
            if (demo.term[m][j].col == 3) demo.term[m][j].coef = CZ_R1CS_COEF_ZERO;
        }
    }
    xor_demo_index(&demo);
    assert_fails(&demo, CZ_ERR_UNSATISFIED, "aux variable 1 is unconstrained");
}

/* A coefficient chosen so that v_a(tau) = L_0 + k·L_1 = 0: by structure a is in B, by value it is not. */
static void test_density_disagrees(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct cz_fr omega, num, den;
    cz_fr_root_of_unity(&omega, 3);
    cz_fr_sub(&num, &omega, &demo.waste.tau);
    cz_fr_sub(&den, &demo.waste.tau, &CZ_FR_ONE);
    cz_fr_mul(&den, &den, &omega);
    cz_fr_inv(&den, &den);
    cz_fr_mul(&demo.coef[CZ_R1CS_COEF_FIXED], &num, &den);
    demo.term[CZ_R1CS_B][1] = (struct cz_r1cs_term){2, CZ_R1CS_COEF_FIXED};
    xor_demo_index(&demo);
    assert_fails(&demo, CZ_ERR_MISMATCH, "aux variable 0: its value at tau in B");
}

static void test_bad_waste(void **state) {
    (void)state;
    struct xor_demo demo;
    struct cz_fr *const scalar[] = {&demo.waste.alpha, &demo.waste.beta, &demo.waste.gamma, &demo.waste.delta,
                                    &demo.waste.tau};
    static const char *const NAME[] = {"alpha", "beta", "gamma", "delta", "tau"};
    for (int i = 0; i < 5; i++) {
        xor_demo_init(&demo);
        *scalar[i] = CZ_FR_ZERO;
        assert_fails(&demo, CZ_ERR_ARGUMENT, NAME[i]);
    }
    xor_demo_init(&demo);
    cz_fr_root_of_unity(&demo.waste.tau, 3);
    assert_fails(&demo, CZ_ERR_ARGUMENT, "evaluation domain");
    xor_demo_init(&demo);
    demo.waste.g1 = (struct cz_g1_affine){0};
    assert_fails(&demo, CZ_ERR_ARGUMENT, "infinity");
    xor_demo_init(&demo);
    demo.waste.g2 = (struct cz_g2_affine){0};
    assert_fails(&demo, CZ_ERR_ARGUMENT, "infinity");
}

static void test_no_such_folder(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct cz_device *dev;
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    struct cz_setup_result result;
    struct cz_error err = {0};
    char folder[64], params[256];
    xor_demo_folder(folder, sizeof folder);
    xor_demo_path(params, sizeof params, folder, "x.params");
    assert_int_equal(cz_setup_write(&result, params, "/nonexistent/x.vk", true, &demo.r1cs, &demo.waste, dev, NULL,
                                    NULL, NULL, &err),
                     CZ_ERR_IO);
    assert_non_null(strstr(err.detail, "/nonexistent/x.vk"));
    assert_int_equal(xor_demo_folder_entries(folder), 0);
    xor_demo_folder_remove(folder);
    cz_device_destroy(dev);
}

static void count_progress(void *ctx, double done) {
    double *last = ctx;
    assert_true(done >= *last && done <= 1.0);
    *last = done;
}

static void test_progress(void **state) {
    (void)state;
    struct xor_demo demo;
    xor_demo_init(&demo);
    struct run run;
    assert_int_equal(run_setup(&run, &demo, NULL), CZ_OK);
    struct cz_device *dev;
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    double last = 0;
    /* over the files that are there */
    assert_int_equal(cz_setup_write(&run.result, run.params, run.vk, false, &demo.r1cs, &demo.waste, dev, NULL,
                                    count_progress, &last, &run.err),
                     CZ_OK);
    assert_true(last > 0.999);
    /* Without hashing the file is the same. */
    static const uint8_t zero[32];
    assert_memory_equal(run.result.params_sha256, zero, 32);
    uint8_t want[32];
    assert_int_equal(cz_hex_decode(want, 32, PARAMS_SHA256), CZ_OK);
    assert_file_sha256(run.params, want);
    cz_device_destroy(dev);
    xor_demo_folder_remove(run.folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_files),       cmocka_unit_test(test_in_memory),
        cmocka_unit_test(test_key_alone),         cmocka_unit_test(test_other_generators),
        cmocka_unit_test(test_random_waste),      cmocka_unit_test(test_unconstrained),
        cmocka_unit_test(test_density_disagrees), cmocka_unit_test(test_bad_waste),
        cmocka_unit_test(test_no_such_folder),    cmocka_unit_test(test_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
