/* Real proofs and keys: Filecoin's mainnet and a 2 KiB network (spec/known-values.md §9). */

#include "groth16_common.h"

#define LIMIT ((size_t)8 << 20)

static uint8_t *load(const char *path, size_t *len) {
    uint8_t *data = NULL;
    struct cz_error err = {0};
    if (cz_file_read(&data, len, path, LIMIT, &err) != CZ_OK) fail_msg("%s", err.detail);
    return data;
}

static void load_case(struct proof_case *c, const char *name, const char *key_ext) {
    char path[512];
    size_t len = 0;
    *c = (struct proof_case){.name = name, .compressed = strcmp(key_ext, "vkc") == 0};
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/spec/vectors/%s.%s", name, key_ext);
    c->key = load(path, &c->key_len);
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/spec/vectors/%s.proof", name);
    c->proof = load(path, &len);
    c->num_proofs = len / CZ_PROOF_BYTES;
    assert_int_equal(len % CZ_PROOF_BYTES, 0);
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/spec/vectors/%s.inputs", name);
    c->inputs = load(path, &len);
    assert_int_equal(len % (32 * c->num_proofs), 0);
    c->num_inputs = len / 32 / c->num_proofs;
}

static void case_done(struct proof_case *c) {
    cz_free(c->key);
    cz_free(c->proof);
    cz_free(c->inputs);
}

static void test_porep_2kib(void **state) {
    (void)state;
    struct proof_case c;
    load_case(&c, "porep-2kib-real", "vkc");
    assert_int_equal(c.num_inputs, 39);
    assert_case_valid(&c);
    /* every byte of the proof */
    assert_bytes_matter(&c, 1, 13, 29);
    case_done(&c);
}

static void test_window_2kib(void **state) {
    (void)state;
    struct proof_case c;
    load_case(&c, "window-2kib-real", "vkc");
    assert_case_valid(&c);
    assert_bytes_matter(&c, 7, 17, 31);
    case_done(&c);
}

static void test_winning_32gib(void **state) {
    (void)state;
    struct proof_case c;
    load_case(&c, "winning-32gib-v27", "vk");
    assert_int_equal(c.num_inputs, 132);
    assert_case_valid(&c);
    assert_bytes_matter(&c, 7, 211, 509);
    case_done(&c);
}

static void test_porep_32gib(void **state) {
    (void)state;
    struct proof_case c;
    load_case(&c, "porep-32gib-v27", "vk");
    assert_int_equal(c.num_inputs, 327);
    assert_int_equal(c.num_proofs, 10);
    assert_case_valid(&c);
    /* each alone */
    struct proof_case one = c;
    for (size_t j = 0; j < 10; j++) {
        one.num_proofs = 1;
        one.proof = c.proof + j * CZ_PROOF_BYTES;
        one.inputs = c.inputs + j * 32 * c.num_inputs;
        assert_case_valid(&one);
    }
    /* one proof of another partition makes the batch fail */
    uint8_t keep[CZ_PROOF_BYTES];
    memcpy(keep, c.proof + 3 * CZ_PROOF_BYTES, sizeof keep);
    memcpy(c.proof + 3 * CZ_PROOF_BYTES, c.proof + 4 * CZ_PROOF_BYTES, sizeof keep);
    bool valid = true;
    assert_int_equal(case_verify(&c, &valid), CZ_OK);
    assert_false(valid);
    memcpy(c.proof + 3 * CZ_PROOF_BYTES, keep, sizeof keep);
    assert_bytes_matter(&c, 97, 20011, 5003);
    case_done(&c);
}

static void assert_prf_byte(uint8_t *data, size_t len, size_t at, uint8_t flip) {
    bool valid = false;
    data[at] ^= flip;
    enum cz_status status = cz_verify_prf(&valid, NULL, data, len, NULL);
    data[at] ^= flip;
    if (status == CZ_OK && valid) fail_msg("still valid with byte %zu ^ %02x", at, flip);
}

static void check_prf(const char *name, uint64_t num_proofs, size_t step) {
    char path[512];
    size_t len = 0;
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/vectors/filecoin-real/%s", name);
    uint8_t *data = load(path, &len);
    bool valid = false;
    uint64_t proofs = 0;
    struct cz_error err = {0};
    if (cz_verify_prf(&valid, &proofs, data, len, &err) != CZ_OK) fail_msg("%s: %s", name, err.detail);
    assert_true(valid);
    assert_int_equal(proofs, num_proofs);
    uint64_t seed = 2;
    for (size_t at = 0; at < len; at += at < 192 && num_proofs == 1 ? 1 : step) {
        assert_prf_byte(data, len, at, next_flip(&seed));
    }
    cz_free(data);
}

static void test_prf_winning(void **state) {
    (void)state;
    check_prf("winning32.prf", 1, 503);
}

static void test_prf_seal(void **state) {
    (void)state;
    check_prf("seal32_x10.prf", 10, 12007);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_porep_2kib),  cmocka_unit_test(test_window_2kib), cmocka_unit_test(test_winning_32gib),
        cmocka_unit_test(test_porep_32gib), cmocka_unit_test(test_prf_winning), cmocka_unit_test(test_prf_seal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
