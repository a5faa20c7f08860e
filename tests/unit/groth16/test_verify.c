#include "groth16/verify.h"

#include "base/bytes.h"
#include "curve/encoding.h"
#include "support.h"

/*
 * Keys and proofs made backwards, with all discrete logarithms known: for any a, b and inputs the proof
 * A = a, B = b, C = (a·b - alpha·beta - ic·gamma)/delta holds.
 */
struct known {
    struct cz_vk vk;
    struct cz_fr *ic;
    struct cz_fr alpha, beta, gamma, delta;
};

static uint64_t seed = 3;

static struct cz_fr random_fr(void) {
    struct cz_fr r, t;
    cz_fr_from_u64(&r, test_random(&seed));
    for (int i = 0; i < 3; i++) {
        cz_fr_from_u64(&t, test_random(&seed));
        cz_fr_mul(&r, &r, &t);
        cz_fr_add(&r, &r, &t);
    }
    return r;
}

static struct cz_g1_affine g1_times(const struct cz_fr *k) {
    struct cz_g1 p;
    struct cz_g1_affine r;
    cz_g1_from_affine(&p, &CZ_G1_GENERATOR);
    cz_g1_mul(&p, &p, k);
    cz_g1_to_affine(&r, &p);
    return r;
}

static struct cz_g2_affine g2_times(const struct cz_fr *k) {
    struct cz_g2 p;
    struct cz_g2_affine r;
    cz_g2_from_affine(&p, &CZ_G2_GENERATOR);
    cz_g2_mul(&p, &p, k);
    cz_g2_to_affine(&r, &p);
    return r;
}

static void make_key(struct known *key, uint32_t num_ic) {
    key->alpha = random_fr();
    key->beta = random_fr();
    key->gamma = random_fr();
    key->delta = random_fr();
    key->ic = cz_malloc_array(num_ic, sizeof *key->ic);
    key->vk = (struct cz_vk){
        .alpha_g1 = g1_times(&key->alpha),
        .beta_g1 = g1_times(&key->beta),
        .beta_g2 = g2_times(&key->beta),
        .gamma_g2 = g2_times(&key->gamma),
        .delta_g1 = g1_times(&key->delta),
        .delta_g2 = g2_times(&key->delta),
        .num_ic = num_ic,
        .ic = cz_malloc_array(num_ic, sizeof *key->vk.ic),
    };
    struct cz_g1 *jacobian = cz_malloc_array(num_ic, sizeof *jacobian), generator;
    struct cz_fp *scratch = cz_malloc_array(num_ic, sizeof *scratch);
    assert_true(key->ic && key->vk.ic && jacobian && scratch);
    cz_g1_from_affine(&generator, &CZ_G1_GENERATOR);
    for (uint32_t i = 0; i < num_ic; i++) {
        /* short logarithms make large keys quick */
        uint64_t k = 1 + (test_random(&seed) >> 44);
        cz_fr_from_u64(&key->ic[i], k);
        cz_g1_mul_limbs(&jacobian[i], &generator, &k, 1);
    }
    cz_g1_to_affine_n(key->vk.ic, jacobian, scratch, num_ic);
    cz_free(jacobian);
    cz_free(scratch);
}

static void key_done(struct known *key) {
    cz_free(key->ic);
    cz_vk_done(&key->vk);
}

static void make_proof(struct cz_proof *proof, const struct known *key, const struct cz_fr *input) {
    struct cz_fr a = random_fr(), b = random_fr(), c, t, ic = key->ic[0];
    for (uint32_t i = 1; i < key->vk.num_ic; i++) {
        cz_fr_mul(&t, &key->ic[i], &input[i - 1]);
        cz_fr_add(&ic, &ic, &t);
    }
    cz_fr_mul(&c, &a, &b);
    cz_fr_mul(&t, &key->alpha, &key->beta);
    cz_fr_sub(&c, &c, &t);
    cz_fr_mul(&t, &ic, &key->gamma);
    cz_fr_sub(&c, &c, &t);
    cz_fr_inv(&t, &key->delta);
    cz_fr_mul(&c, &c, &t);
    proof->a = g1_times(&a);
    proof->b = g2_times(&b);
    proof->c = g1_times(&c);
}

static bool verify(const struct known *key, const struct cz_proof *proof, const struct cz_fr *input) {
    bool valid;
    assert_int_equal(cz_verify(&valid, &key->vk, proof, input, key->vk.num_ic - 1), CZ_OK);
    return valid;
}

/* Input counts around every change of the window width, values of every kind of length. */
static void test_input_counts(void **state) {
    (void)state;
    static const uint32_t COUNT[] = {0, 1, 8, 9, 24, 25, 39, 80, 81, 201, 501, 1201};
    for (size_t k = 0; k < sizeof COUNT / sizeof COUNT[0]; k++) {
        uint32_t n = COUNT[k];
        struct known key;
        make_key(&key, n + 1);
        struct cz_fr *input = cz_malloc_array(n + 1, sizeof *input);
        assert_non_null(input);
        for (int kind = 0; kind < 4; kind++) {
            for (uint32_t i = 0; i < n; i++) {
                if (kind == 0)
                    input[i] = random_fr();
                else if (kind == 1)
                    cz_fr_from_u64(&input[i], test_random(&seed) >> (i % 64));
                else if (kind == 2)
                    cz_fr_sub(&input[i], &CZ_FR_ZERO, &CZ_FR_ONE);
                else
                    input[i] = CZ_FR_ZERO;
            }
            struct cz_proof proof;
            make_proof(&proof, &key, input);
            assert_true(verify(&key, &proof, input));
            if (n == 0) continue;
            cz_fr_add(&input[n - 1], &input[n - 1], &CZ_FR_ONE);
            assert_false(verify(&key, &proof, input));
        }
        cz_free(input);
        key_done(&key);
    }
}

/* As many inputs as a window PoSt of 32 GiB. */
static void test_many_inputs(void **state) {
    (void)state;
    struct known key;
    const uint32_t n = 25839;
    make_key(&key, n + 1);
    struct cz_fr *input = cz_malloc_array(n, sizeof *input);
    assert_non_null(input);
    for (uint32_t i = 0; i < n; i++) input[i] = random_fr();
    struct cz_proof proof;
    make_proof(&proof, &key, input);
    assert_true(verify(&key, &proof, input));
    cz_free(input);
    key_done(&key);
}

static void test_lengths(void **state) {
    (void)state;
    struct known key;
    make_key(&key, 3);
    struct cz_fr input[4] = {CZ_FR_ONE, CZ_FR_ONE, CZ_FR_ONE, CZ_FR_ONE};
    struct cz_proof proof[2];
    make_proof(&proof[0], &key, input);
    make_proof(&proof[1], &key, input + 2);
    bool valid = true;
    for (size_t n = 0; n < 5; n++) {
        if (n == 2) continue;
        assert_int_equal(cz_verify(&valid, &key.vk, proof, input, n), CZ_ERR_LENGTH);
        assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, 2, input, n), CZ_ERR_LENGTH);
    }
    assert_int_equal(cz_verify(&valid, &key.vk, proof, input, SIZE_MAX), CZ_ERR_LENGTH);
    assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, 0, input, 2), CZ_ERR_ARGUMENT);
    key_done(&key);
}

/* Infinity in a proof never counts as valid, even where the equation would hold. */
static void test_infinity(void **state) {
    (void)state;
    struct known key;
    make_key(&key, 1);
    struct cz_proof proof[2];
    make_proof(&proof[0], &key, NULL);
    make_proof(&proof[1], &key, NULL);
    bool valid = true;
    proof[0].a = (struct cz_g1_affine){0};
    assert_false(verify(&key, &proof[0], NULL));
    assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, 2, NULL, 0), CZ_OK);
    assert_false(valid);
    key_done(&key);
}

static void test_batch(void **state) {
    (void)state;
    enum { N = 5, INPUTS = 4 };
    struct known key;
    make_key(&key, INPUTS + 1);
    struct cz_fr input[N * INPUTS];
    struct cz_proof proof[N], keep;
    for (size_t j = 0; j < N; j++) {
        for (size_t i = 0; i < INPUTS; i++) input[j * INPUTS + i] = random_fr();
        make_proof(&proof[j], &key, input + j * INPUTS);
    }
    bool valid = false;
    for (size_t n = 1; n <= N; n++) {
        valid = false;
        assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, n, input, INPUTS), CZ_OK);
        assert_true(valid);
    }
    for (size_t j = 0; j < N; j++) {
        keep = proof[j];
        cz_g1_affine_neg(&proof[j].c, &proof[j].c);
        assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, N, input, INPUTS), CZ_OK);
        assert_false(valid);
        proof[j] = keep;
        struct cz_fr x = input[j * INPUTS + 1];
        cz_fr_add(&input[j * INPUTS + 1], &x, &CZ_FR_ONE);
        assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, N, input, INPUTS), CZ_OK);
        assert_false(valid);
        input[j * INPUTS + 1] = x;
    }
    /* Errors that cancel without weights: C of two proofs shifted by +P and -P. */
    struct cz_g1 p, q;
    cz_g1_from_affine(&p, &proof[0].c);
    cz_g1_add_affine(&p, &p, &CZ_G1_GENERATOR);
    cz_g1_to_affine(&proof[0].c, &p);
    cz_g1_from_affine(&q, &CZ_G1_GENERATOR);
    cz_g1_neg(&q, &q);
    cz_g1_add_affine(&q, &q, &proof[1].c);
    cz_g1_to_affine(&proof[1].c, &q);
    assert_int_equal(cz_verify_batch(&valid, &key.vk, proof, N, input, INPUTS), CZ_OK);
    assert_false(valid);
    key_done(&key);
}

enum { PRF_INPUTS = 2, PRF_KEY = CZ_VK_HEADER_BYTES + 96 * (PRF_INPUTS + 1) };

static size_t make_prf(uint8_t *out, uint64_t proofs, bool batch) {
    struct known key;
    make_key(&key, PRF_INPUTS + 1);
    uint8_t *p = out;
    if (batch) {
        cz_store_be64(p, proofs);
        cz_store_be64(p + 8, PRF_INPUTS);
        cz_vk_write(p + 16, &key.vk);
        p += 16 + PRF_KEY;
    }
    for (uint64_t j = 0; j < proofs; j++) {
        struct cz_fr input[PRF_INPUTS] = {random_fr(), random_fr()};
        struct cz_proof proof;
        make_proof(&proof, &key, input);
        cz_proof_write(p, &proof);
        p += CZ_PROOF_BYTES;
        if (!batch) {
            cz_store_be64(p, PRF_INPUTS);
            p += 8;
        }
        for (size_t i = 0; i < PRF_INPUTS; i++, p += 32) cz_fr_to_be(p, &input[i]);
    }
    if (!batch) {
        cz_vk_write(p, &key.vk);
        p += PRF_KEY;
    }
    key_done(&key);
    return (size_t)(p - out);
}

static void assert_prf(const uint8_t *data, size_t len, enum cz_status want, bool want_valid, uint64_t want_proofs) {
    bool valid = !want_valid;
    uint64_t proofs = 99;
    struct cz_error err = {0};
    assert_int_equal(cz_verify_prf(&valid, &proofs, data, len, &err), want);
    if (want != CZ_OK) {
        assert_true(err.detail[0] != 0);
        assert_int_equal(proofs, 99);
        return;
    }
    assert_int_equal(valid, want_valid);
    assert_int_equal(proofs, want_proofs);
}

static void test_prf(void **state) {
    (void)state;
    static uint8_t data[8192];
    for (uint64_t proofs = 0; proofs < 4; proofs++) { /* 0: the single form */
        size_t len = proofs ? make_prf(data, proofs, true) : make_prf(data, 1, false);
        uint64_t n = proofs ? proofs : 1;
        assert_prf(data, len, CZ_OK, true, n);
        assert_prf(data, len - 1, CZ_ERR_LENGTH, false, 0);
        assert_prf(data, len + 1, CZ_ERR_LENGTH, false, 0);
        assert_prf(data, 0, CZ_ERR_LENGTH, false, 0);
        /* counts up to those that overflow a product */
        size_t count = proofs ? 8 : 192;
        static const uint64_t COUNT[] = {0, 1, 3, UINT64_C(1) << 20, UINT64_C(1) << 59, UINT64_MAX};
        for (size_t i = 0; i < 6; i++) {
            cz_store_be64(data + count, COUNT[i]);
            assert_prf(data, len, CZ_ERR_LENGTH, false, 0);
        }
        cz_store_be64(data + count, PRF_INPUTS);
        /* an input changed, then one out of range */
        size_t input = proofs ? len - 32 : 200;
        data[input + 31] ^= 1;
        assert_prf(data, len, CZ_OK, false, n);
        data[input] = 0xff;
        assert_prf(data, len, CZ_ERR_FIELD_RANGE, false, 0);
    }
    /* key for another number of inputs */
    size_t len = make_prf(data, 2, true);
    cz_store_be32(data + 16 + 864, PRF_INPUTS);
    assert_prf(data, len, CZ_ERR_MISMATCH, false, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_input_counts), cmocka_unit_test(test_many_inputs), cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_infinity),     cmocka_unit_test(test_batch),       cmocka_unit_test(test_prf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
