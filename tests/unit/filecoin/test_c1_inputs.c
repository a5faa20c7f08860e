#include "c1_support.h"

#include "base/bytes.h"
#include "filecoin/c1.h"

static struct cz_c1 *load(const char *path) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_c1_parse_file(&c1, path, &err) != CZ_OK) fail_msg("%s", err.detail);
    return c1;
}

/*
 * The inputs of `partition` equal those in expected.json: the n-th list "public_inputs" there, ONE (if it is there)
 * aside.
 */
static void assert_expected(const char *c1_path, const char *expected_path, uint32_t partition) {
    struct cz_c1 *c1 = load(c1_path);
    const size_t count = 3 + 18 * c1->challenges_per_partition;
    struct cz_fr in[3 + 18 * 18];
    struct cz_error err = {0};
    if (cz_c1_public_inputs(in, count, c1, partition, &err) != CZ_OK) fail_msg("%s", err.detail);
    char *text = test_read(expected_path, NULL), *at = text;
    for (uint32_t i = 0; i <= partition; i++) {
        at = strstr(i ? at + 1 : at, "\"public_inputs\"");
        if (!at) fail_msg("%s has no public inputs of partition %u", expected_path, partition);
    }
    at = strchr(at, '[') + 1;
    for (size_t i = 0; i < count; i++) {
        uint8_t bytes[32];
        char hex[65];
        cz_fr_to_le(bytes, &in[i]);
        cz_hex_encode(hex, bytes, 32);
        at = strchr(at, '"') + 1;
        if (memcmp(at, hex, 64) != 0) fail_msg("%s: input %zu is %.64s, got %s", expected_path, i, at, hex);
        at += 65;
    }
    at += strspn(at, " \n\r\t");
    assert_int_equal(*at, ']');
    free(text);
    cz_c1_destroy(c1);
}

#define VECTOR(size, name)                                                                                             \
    CZ_SHARED_DIR "/vectors/reference/" size "/" name "/c1.json.gz",                                                   \
        CZ_SHARED_DIR "/vectors/reference/" size "/" name "/expected.json"

static void test_vectors(void **state) {
    (void)state;
    assert_expected(VECTOR("2kib", "porep-v1"), 0);
    assert_expected(VECTOR("2kib", "porep-v1_1"), 0);
    assert_expected(VECTOR("2kib", "porep-v1_1-synthetic"), 0);
    assert_expected(VECTOR("2kib", "porep-v1_2-non-interactive"), 0);
    assert_expected(VECTOR("2kib", "porep-v1_2-non-interactive"), 1);
    assert_expected(VECTOR("8mib", "porep-v1_1"), 0);
}

static void test_bad_arguments(void **state) {
    (void)state;
    struct cz_c1 *c1 = load(C1_OF("porep-v1_1"));
    struct cz_fr in[40];
    struct cz_error err = {0};
    assert_int_equal(cz_c1_public_inputs(in, 38, c1, 0, &err), CZ_ERR_LENGTH);
    assert_non_null(strstr(err.detail, "room for 38 public inputs, expected 39"));
    assert_int_equal(cz_c1_public_inputs(in, 39, c1, 1, &err), CZ_ERR_ARGUMENT);
    assert_non_null(strstr(err.detail, "partition 1 of 1"));
    memset(c1->comm_d, 0xff, 32);
    assert_int_equal(cz_c1_public_inputs(in, 39, c1, 0, &err), CZ_ERR_FIELD_RANGE);
    assert_non_null(strstr(err.detail, "comm_d"));
    cz_c1_destroy(c1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_bad_arguments)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
