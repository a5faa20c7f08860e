/* Inputs of every kind behind one type: the check, the witness and the public inputs go to the right functions. */

#include "base/bytes.h"
#include "base/file.h"
#include "filecoin/input.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define FOLDER CZ_SHARED_DIR "/vectors/reference/2kib/"

static struct cz_bytes vanilla(const char *name, unsigned i) {
    char path[256];
    struct cz_bytes b = {0};
    uint8_t *data;
    struct cz_error err = {0};
    (void)snprintf(path, sizeof path, FOLDER "%s/vanilla-%u.bin", name, i);
    if (cz_file_read(&data, &b.len, path, 1 << 20, &err) != CZ_OK) fail_msg("%s", err.detail);
    b.data = data;
    return b;
}

/* All blobs of a vector in one buffer; `flip`: a byte of blob 0 whose lowest bit is changed, 0: none. */
static struct cz_input *post(const char *name, unsigned n, int proof, size_t flip) {
    uint8_t randomness[32], prover_id[32] = {0};
    memset(randomness, 0x65, 32);
    randomness[31] = 0x1f;
    struct cz_bytes blob[3];
    uint8_t *all = cz_malloc_array(3, 1 << 20);
    assert_non_null(all);
    for (unsigned i = 0; i < n; i++) {
        blob[i] = vanilla(name, i);
        uint8_t *to = memcpy(all + ((size_t)i << 20), blob[i].data, blob[i].len);
        cz_free((void *)blob[i].data);
        blob[i].data = to;
    }
    if (flip) all[flip] ^= 1;
    struct cz_post_request q = {.proof = (enum cz_registered_post)proof,
                                .randomness = randomness,
                                .prover_id = prover_id,
                                .vanilla = blob,
                                .num_vanilla = n};
    struct cz_post *p;
    struct cz_input *input;
    struct cz_error err = {0};
    if (cz_post_parse(&p, &q, &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(cz_input_of_post(&input, p, all), CZ_OK);
    return input;
}

static void check_good(const struct cz_input *input, struct cz_pool *pool) {
    struct cz_error err = {0};
    if (cz_input_check(input, &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(cz_input_check_pool(input, pool, &err), CZ_OK);
    assert_true(cz_input_bytes(input) > 1000 && cz_input_bytes(input) < 4u << 20);
    struct cz_r1cs *r1cs;
    assert_int_equal(cz_input_circuit_build(&r1cs, input->kind, input->sector, &err), CZ_OK);
    size_t n = r1cs->num_inputs - 1;
    struct cz_fr *values = cz_calloc(n, sizeof *values);
    assert_non_null(values);
    for (uint32_t k = 0; k < input->num_partitions; k++) {
        struct cz_witness w;
        assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
        assert_int_equal(cz_input_assign_pool(&w, r1cs, input, k, pool, &err), CZ_OK);
        assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
        assert_int_equal(cz_input_public_inputs(values, n, input, k, &err), CZ_OK);
        assert_memory_equal(values, w.input + 1, n * sizeof *values);
        cz_witness_done(&w);
    }
    assert_int_not_equal(cz_input_public_inputs(values, n, input, input->num_partitions, &err), CZ_OK);
    assert_int_not_equal(cz_input_public_inputs(values, n - 1, input, 0, &err), CZ_OK);
    cz_free(values);
    cz_r1cs_destroy(r1cs);
}

static void test_post(void **state) {
    (void)state;
    struct cz_pool *pool;
    assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
    static const struct {
        const char *name;
        unsigned blobs, partitions;
        int proof;
        enum cz_circuit_kind kind;
    } CASE[] = {{"winning", 1, 1, 0, CZ_CIRCUIT_WINNING},
                {"window-v1", 3, 2, 5, CZ_CIRCUIT_WINDOW},
                {"window-v1_2", 3, 2, 10, CZ_CIRCUIT_WINDOW}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        struct cz_input *input = post(CASE[i].name, CASE[i].blobs, CASE[i].proof, 0);
        assert_int_equal(input->kind, CASE[i].kind);
        assert_int_equal(input->num_partitions, CASE[i].partitions);
        check_good(input, pool);
        cz_input_destroy(input);
    }
    cz_pool_destroy(pool);
}

/* Wherever the threads are, the first of several wrong places is named, with one thread or more. */
static void test_first_error(void **state) {
    (void)state;
    struct cz_pool *pool;
    assert_int_equal(cz_pool_create(&pool, 4), CZ_OK);
    for (int k = 0; k < 20; k++) {
        struct cz_input *input = post("winning", 1, 0, 8); /* comm_r: every place is wrong */
        struct cz_error one = {0}, many = {0};
        assert_int_equal(cz_input_check(input, &one), CZ_ERR_MISMATCH);
        assert_int_equal(cz_input_check_pool(input, pool, &many), CZ_ERR_MISMATCH);
        assert_string_equal(one.detail, many.detail);
        assert_non_null(strstr(one.detail, "comm_r"));
        cz_input_destroy(input);
    }
    struct cz_input *input = post("window-v1", 3, 10, 0); /* the other version's challenges: from sector 1 on */
    struct cz_error one = {0}, many = {0};
    assert_int_equal(cz_input_check(input, &one), CZ_ERR_MISMATCH);
    assert_int_equal(cz_input_check_pool(input, pool, &many), CZ_ERR_MISMATCH);
    assert_string_equal(one.detail, many.detail);
    assert_non_null(strstr(one.detail, "sector 3225915410, challenge 0"));
    cz_input_destroy(input);
    cz_pool_destroy(pool);
}

static void node(cz_node out, const char *hex) {
    assert_int_equal(cz_hex_decode(out, 32, hex), CZ_OK);
}

static void test_update(void **state) {
    (void)state;
    struct cz_bytes blob = vanilla("update", 0);
    cz_node r_old, r_new, d_new;
    node(r_old, "bf21721f02b76ca815d98b1c53c7e609d754bc3a519a6c6d6ca5d17be4547521");
    node(r_new, "bb3340034976ca56e4b85bfa893346c565f033d1a02cee05ec12cf1b12863a04");
    node(d_new, "fbca6ea1142deb79e285efc6ddd6d60085955553169c885311d8d9b889acc11b");
    struct cz_update_request q = {
        .comm_r_old = r_old, .comm_r_new = r_new, .comm_d_new = d_new, .vanilla = &blob, .num_vanilla = 1};
    struct cz_update *update;
    struct cz_input *input;
    struct cz_error err = {0};
    if (cz_update_parse(&update, &q, &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(cz_input_of_update(&input, update, (void *)blob.data), CZ_OK);
    assert_int_equal(input->kind, CZ_CIRCUIT_UPDATE);
    check_good(input, NULL);
    cz_input_destroy(input);
}

static void test_porep(void **state) {
    (void)state;
    struct cz_c1 *c1;
    struct cz_input *input;
    struct cz_error err = {0};
    if (cz_c1_parse_file(&c1, FOLDER "porep-v1_1/c1.json.gz", &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_int_equal(cz_input_of_c1(&input, c1), CZ_OK);
    assert_int_equal(input->sector->size, 2048);
    check_good(input, NULL);
    cz_input_destroy(input);
    cz_input_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_first_error),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_porep),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
