#include "groth16/prove.h"

#include "base/bytes.h"
#include "groth16/params.h"
#include "groth16/verify.h"
#include "support.h"
#include "xor_demo.h"

/* spec/known-values.md §7: r = 27134, s = 17146, and r = s = 0 */
static const char PROOF[2][2 * CZ_PROOF_BYTES + 1] = {
    "8436964be148cb27c63afecd109cce219f8d4a94f61005fbacc727cfeab65a7641dc4a1facbd72e7ebef116c512fb6b28de6ee64574c9e2a"
    "542db1b71f5b639dfbd1b510ad4ab11df91b55682bcd0284215de0b6591ee532bd2a9f9f39daf8b400a8832abdb511b3d8587de7ecd13812"
    "9cd2b03adc430f7338b1a1b66ee909c7610cd1624a9be84aeb54c58414933a1296e1eac5738576be5c6410ded96b1ced85219650ded2dd7c"
    "bdfffea7f7d4a0341f2f8ce4e143ef2cdb6bd9b4653fd1be",
    "89fc18fec482cf1eae1058db9a761c93ed623d24e70361a247982f8716c4e0dddc005123deb6e24a4c676e149123c0ba8946592f6bbeb597"
    "d45d5638e0a95cde979b86d5aa3efb2a89b6c76d1d114cf961bb35b602da8320420380d8fc614a2005b7ec0244e366f17590905b6a3789a2"
    "38f9ae374d072bf341a34c1d3fe1872a860a0b6012fb6eefaa6dadd3a18ae56a95c3f397e3b372498a7e93f94fe5a7d58cf075b72451aa2b"
    "6a38baf07b847b16d23836faec4c315663135b3846d1e972",
};

struct fixture {
    struct xor_demo demo;
    char folder[64];
    struct cz_params params;
    struct cz_device *dev;
    struct cz_srs *srs;
};

static int setup_fixture(void **state) {
    static struct fixture f;
    xor_demo_init(&f.demo);
    xor_demo_folder(f.folder, sizeof f.folder);
    struct cz_setup_result result;
    xor_demo_setup(&f.demo, f.folder, &result);
    char path[256];
    xor_demo_path(path, sizeof path, f.folder, "x.params");
    struct cz_error err = {0};
    if (cz_params_open(&f.params, path, &f.demo.r1cs, &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(cz_device_create_cpu(&f.dev, NULL), CZ_OK);
    assert_int_equal(cz_srs_create(&f.srs, f.dev, &f.demo.r1cs, &f.params.view, &err), CZ_OK);
    *state = &f;
    return 0;
}

static int end_fixture(void **state) {
    struct fixture *f = *state;
    cz_srs_destroy(f->srs);
    cz_device_destroy(f->dev);
    cz_params_close(&f->params);
    xor_demo_folder_remove(f->folder);
    return 0;
}

static void test_known_proofs(void **state) {
    struct fixture *f = *state;
    for (int i = 0; i < 2; i++) {
        struct cz_blinding blinding;
        cz_fr_from_u64(&blinding.r, i ? 0 : 27134);
        cz_fr_from_u64(&blinding.s, i ? 0 : 17146);
        struct cz_proof proof, back;
        struct cz_error err = {0};
        assert_int_equal(cz_prove(&proof, NULL, f->srs, &f->params.vk, &f->demo.witness, &blinding, &err), CZ_OK);
        uint8_t bytes[CZ_PROOF_BYTES];
        char hex[2 * CZ_PROOF_BYTES + 1];
        cz_proof_write(bytes, &proof);
        cz_hex_encode(hex, bytes, sizeof bytes);
        assert_string_equal(hex, PROOF[i]);
        assert_int_equal(cz_proof_read(&back, bytes, &err), CZ_OK);
        bool valid = false;
        assert_int_equal(cz_verify(&valid, &f->params.vk, &back, f->demo.input + 1, 1), CZ_OK);
        assert_true(valid);
        assert_int_equal(cz_verify(&valid, &f->params.vk, &back, &CZ_FR_ZERO, 1), CZ_OK);
        assert_false(valid);
    }
}

static void test_fresh_blinding(void **state) {
    struct fixture *f = *state;
    struct cz_proof proof[2];
    struct cz_partition_timing timing;
    struct cz_error err = {0};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cz_prove(&proof[i], &timing, f->srs, &f->params.vk, &f->demo.witness, NULL, &err), CZ_OK);
        bool valid = false;
        assert_int_equal(cz_verify(&valid, &f->params.vk, &proof[i], f->demo.input + 1, 1), CZ_OK);
        assert_true(valid);
        assert_true(timing.total >= 0);
    }
    assert_false(cz_g1_affine_eq(&proof[0].a, &proof[1].a));
    assert_false(cz_g2_affine_eq(&proof[0].b, &proof[1].b));
    bool valid = false;
    assert_int_equal(cz_verify_batch(&valid, &f->params.vk, proof, 2, f->demo.input, 1), CZ_OK);
    assert_true(valid);
}

/* All four rows of the truth table prove; a wrong output does not. */
static void test_all_witnesses(void **state) {
    struct fixture *f = *state;
    struct cz_error err = {0};
    for (uint64_t ab = 0; ab < 4; ab++) {
        for (uint64_t c = 0; c < 2; c++) {
            struct cz_fr input[2] = {CZ_FR_ONE};
            uint64_t bit[1] = {ab};
            cz_fr_from_u64(&input[1], c);
            struct cz_witness w = f->demo.witness;
            w.input = input;
            w.bit = bit;
            struct cz_proof proof;
            bool right = ((ab & 1) ^ (ab >> 1)) == c, valid = !right;
            assert_int_equal(cz_prove(&proof, NULL, f->srs, &f->params.vk, &w, NULL, &err), CZ_OK);
            assert_int_equal(cz_verify(&valid, &f->params.vk, &proof, input + 1, 1), CZ_OK);
            assert_int_equal(valid, right);
        }
    }
}

static void test_finish_refuses(void **state) {
    struct fixture *f = *state;
    struct cz_partition_sums sums = {CZ_G1_INFINITY, CZ_G1_INFINITY, CZ_G1_INFINITY, CZ_G1_INFINITY, CZ_G2_INFINITY};
    const struct cz_blinding zero = {0};
    struct cz_proof proof;
    struct cz_error err = {0};

    struct cz_vk vk = f->params.vk;
    vk.delta_g1 = (struct cz_g1_affine){0};
    assert_int_equal(cz_prove_finish(&proof, &sums, &vk, &zero, &err), CZ_ERR_POINT_INFINITY);
    assert_non_null(strstr(err.detail, "delta"));
    vk = f->params.vk;
    vk.delta_g2 = (struct cz_g2_affine){0};
    assert_int_equal(cz_prove_finish(&proof, &sums, &vk, &zero, &err), CZ_ERR_POINT_INFINITY);

    /* r = s = 0: A = alpha, B = beta, C = H + L */
    assert_int_equal(cz_prove_finish(&proof, &sums, &f->params.vk, &zero, &err), CZ_ERR_POINT_INFINITY);
    assert_non_null(strstr(err.detail, ": C "));
    cz_g1_from_affine(&sums.h, &CZ_G1_GENERATOR);
    assert_int_equal(cz_prove_finish(&proof, &sums, &f->params.vk, &zero, &err), CZ_OK);
    assert_true(cz_g1_affine_eq(&proof.a, &f->params.vk.alpha_g1));
    assert_true(cz_g2_affine_eq(&proof.b, &f->params.vk.beta_g2));
    assert_true(cz_g1_affine_eq(&proof.c, &CZ_G1_GENERATOR));

    cz_g1_from_affine(&sums.a, &f->params.vk.alpha_g1);
    cz_g1_neg(&sums.a, &sums.a);
    assert_int_equal(cz_prove_finish(&proof, &sums, &f->params.vk, &zero, &err), CZ_ERR_POINT_INFINITY);
    assert_non_null(strstr(err.detail, ": A "));
    sums.a = CZ_G1_INFINITY;
    cz_g2_from_affine(&sums.b_g2, &f->params.vk.beta_g2);
    cz_g2_neg(&sums.b_g2, &sums.b_g2);
    assert_int_equal(cz_prove_finish(&proof, &sums, &f->params.vk, &zero, &err), CZ_ERR_POINT_INFINITY);
    assert_non_null(strstr(err.detail, ": B "));
}

static void test_wrong_inputs(void **state) {
    struct fixture *f = *state;
    struct cz_witness w = f->demo.witness;
    w.num_inputs = 1;
    struct cz_proof proof;
    struct cz_error err = {0};
    assert_int_equal(cz_prove(&proof, NULL, f->srs, &f->params.vk, &w, NULL, &err), CZ_ERR_MISMATCH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_proofs),  cmocka_unit_test(test_fresh_blinding),
        cmocka_unit_test(test_all_witnesses), cmocka_unit_test(test_finish_refuses),
        cmocka_unit_test(test_wrong_inputs),
    };
    return cmocka_run_group_tests(tests, setup_fixture, end_fixture);
}
