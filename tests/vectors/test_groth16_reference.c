/* The keys of vectors/reference/keys and the proofs in 2kib/…/expected.json, made by the reference implementation. */

#include "groth16_common.h"
#include "support/json.h"

#define KEYS CZ_SHARED_DIR "/vectors/reference/keys/"

static uint8_t *load_key(const char *circuit, size_t *len) {
    char path[512];
    uint8_t *data = NULL;
    struct cz_error err = {0};
    (void)snprintf(path, sizeof path, KEYS "%s-2kib.vk", circuit);
    if (cz_file_read(&data, len, path, 1 << 20, &err) != CZ_OK) fail_msg("%s", err.detail);
    return data;
}

/* Keys are written as they were read. */
static void test_keys(void **state) {
    (void)state;
    static const struct {
        const char *circuit;
        uint32_t num_ic;
    } KEY[] = {{"porep", 40}, {"update", 5}, {"window", 23}, {"winning", 133}};
    for (size_t k = 0; k < 4; k++) {
        size_t len = 0, used = 0;
        uint8_t *data = load_key(KEY[k].circuit, &len);
        struct cz_vk vk;
        struct cz_error err = {0};
        if (cz_vk_read(&vk, data, len, &used, &err) != CZ_OK) fail_msg("%s: %s", KEY[k].circuit, err.detail);
        assert_int_equal(vk.num_ic, KEY[k].num_ic);
        assert_int_equal(used, len);
        assert_int_equal(cz_vk_bytes(vk.num_ic), len);
        uint8_t *again = cz_malloc_array(len, 1);
        assert_non_null(again);
        cz_vk_write(again, &vk);
        assert_memory_equal(again, data, len);
        cz_vk_done(&vk);
        cz_free(again);
        cz_free(data);
    }
}

static void read_partition(struct proof_case *c, yajl_val partition) {
    yajl_val input = test_json_find(partition, "public_inputs");
    c->num_inputs = YAJL_IS_ARRAY(input) ? YAJL_GET_ARRAY(input)->len : 0;
    assert_true(c->num_inputs > 0);
    c->num_proofs = 1;
    c->inputs = cz_malloc_array(c->num_inputs, 32);
    c->proof = cz_malloc_array(CZ_PROOF_BYTES, 1);
    assert_true(c->inputs && c->proof);
    for (size_t i = 0; i < c->num_inputs; i++) {
        const char *text = YAJL_GET_STRING(YAJL_GET_ARRAY(input)->values[i]);
        assert_non_null(text);
        assert_int_equal(cz_hex_decode(c->inputs + 32 * i, 32, text), CZ_OK);
    }
    assert_int_equal(cz_hex_decode(c->proof, CZ_PROOF_BYTES, test_json_string(partition, "proof")), CZ_OK);
}

/* Verifies all proofs in the file; returns how many there are. */
static unsigned check_folder(const char *folder, const char *circuit) {
    char path[512];
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/vectors/reference/2kib/%s/expected.json", folder);
    yajl_val tree = test_json_load(path);
    yajl_val partition = test_json_find(tree, "partition");
    size_t partitions = YAJL_IS_ARRAY(partition) ? YAJL_GET_ARRAY(partition)->len : 0;
    struct proof_case c = {.name = folder};
    c.key = load_key(circuit, &c.key_len);
    unsigned checked = 0;
    for (size_t k = 0; k < partitions; k++) {
        yajl_val p = YAJL_GET_ARRAY(partition)->values[k];
        if (!test_json_find(p, "proof")) continue;
        read_partition(&c, p);
        assert_case_valid(&c);
        assert_bytes_matter(&c, 31, 97, 997);
        cz_free(c.proof);
        cz_free(c.inputs);
        checked++;
    }
    cz_free(c.key);
    yajl_tree_free(tree);
    return checked;
}

static void test_porep(void **state) {
    (void)state;
    assert_int_equal(check_folder("porep-v1_1", "porep"), 1);
}

static void test_update(void **state) {
    (void)state;
    assert_int_equal(check_folder("update", "update"), 1);
}

static void test_window(void **state) {
    (void)state;
    assert_int_equal(check_folder("window-v1", "window"), 2);
    assert_int_equal(check_folder("window-v1_2", "window"), 2);
}

static void test_winning(void **state) {
    (void)state;
    assert_int_equal(check_folder("winning", "winning"), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),   cmocka_unit_test(test_porep),   cmocka_unit_test(test_update),
        cmocka_unit_test(test_window), cmocka_unit_test(test_winning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
