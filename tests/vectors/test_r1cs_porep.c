/* PoRep circuits against the reference. CUZK_LONG_TESTS=1 adds the digests of the 32 and 64 GiB circuits (minutes). */

#include "base/time.h"
#include "filecoin/circuits/porep.h"
#include "r1cs/digest.h"
#include "r1cs_common.h"

static struct cz_r1cs *build(const char *size) {
    struct cz_r1cs *r1cs = NULL;
    struct cz_error err = {0};
    const struct cz_sector_info *sector = cz_sector_by_name(size);
    assert_non_null(sector);
    uint64_t start = cz_time_now_ns();
    if (cz_porep_circuit_build(&r1cs, sector, &err)) fail_msg("%s: %s", size, err.detail);
    print_message("%s: built in %.1f ms, %.1f MiB, %u templates, %u instances, %u coefficients\n", size,
                  1e3 * cz_time_since(start), (double)cz_r1cs_bytes(r1cs) / (1 << 20), r1cs->num_templates,
                  r1cs->num_instances, r1cs->num_coefs);
    return r1cs;
}

static void trace_agrees(void **state) {
    (void)state;
    struct cz_map trace;
    struct cz_error err = {0};
    struct cz_r1cs *r1cs = build("2KiB");
    assert_int_equal(cz_map_open(&trace, VECTORS "trace/porep-2kib.u16", NULL), CZ_OK);
    if (cz_digest_compare_trace(r1cs, trace.data, trace.size, &err)) fail_msg("%s", err.detail);

    /* A changed byte is found, with its place. */
    uint8_t *changed = cz_malloc_array(trace.size, 1);
    assert_non_null(changed);
    memcpy(changed, trace.data, trace.size);
    changed[2 * 1000 + 1] ^= 1;
    assert_int_equal(cz_digest_compare_trace(r1cs, changed, trace.size, &err), CZ_ERR_MISMATCH);
    assert_non_null(strstr(err.detail, "constraint 1000 "));
    cz_free(changed);
    cz_map_close(&trace);
    cz_r1cs_destroy(r1cs);
}

static void check_size(const char *lines, const char *size, bool digest_too) {
    char line[600], pair[40];
    uint64_t nnz[3], expected_nnz[3];
    uint8_t digest[32], expected[32];
    snprintf(pair, sizeof pair, "\"sector\":\"%s\"", size);
    test_json_line(line, sizeof line, lines, "\"circuit\":\"porep\"", pair);
    struct cz_r1cs *r1cs = build(size);
    assert_int_equal(r1cs->num_inputs, test_json_number(line, "inputs"));
    assert_int_equal(r1cs->num_aux, test_json_number(line, "aux"));
    assert_int_equal(r1cs->num_constraints, test_json_number(line, "constraints"));
    cz_r1cs_nnz(r1cs, nnz);
    test_json_nnz(expected_nnz, line);
    assert_memory_equal(nnz, expected_nnz, sizeof nnz);
    if (digest_too) {
        uint64_t start = cz_time_now_ns();
        assert_int_equal(cz_digest_r1cs(digest, r1cs), CZ_OK);
        print_message("%s: digest in %.2f s\n", size, cz_time_since(start));
        test_json_hex32(expected, line, "digest");
        assert_memory_equal(digest, expected, 32);
    }
    cz_r1cs_destroy(r1cs);
}

static void sizes_agree(void **state) {
    (void)state;
    static const char *const SIZES[] = {"2kib", "4kib", "16kib", "32kib", "8mib", "512mib", "32gib", "64gib"};
    bool all = getenv("CUZK_LONG_TESTS") != NULL;
    uint8_t *lines;
    size_t len;
    assert_int_equal(cz_file_read(&lines, &len, VECTORS "r1cs.jsonl", 1 << 20, NULL), CZ_OK);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        check_size((char *)lines, SIZES[i], all || !strstr(SIZES[i], "gib"));
    cz_free(lines);
}

static uint64_t popcount(const uint64_t *map, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)__builtin_popcountll(map[i]);
    return sum;
}

/* spec/known-values.md §1 */
static void densities_agree(void **state) {
    (void)state;
    static const struct {
        const char *size;
        uint64_t a_aux, b_aux;
        unsigned domain;
    } CASES[] = {
        {"2KiB", 2674908, 685521, 22},
        {"512MiB", 4385040, 1174173, 23},
        {"32GiB", 129753292, 33112281, 27},
        {"64GiB", 130637542, 33386943, 27},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_r1cs *r1cs = build(CASES[i].size);
        size_t words = ((size_t)r1cs->num_aux + 63) / 64;
        uint64_t *a = cz_calloc(words, 8), *b = cz_calloc(words, 8), b_input[8];
        assert_true(a && b && r1cs->num_inputs <= 512);
        uint64_t start = cz_time_now_ns();
        cz_r1cs_density(r1cs, a, b, b_input);
        print_message("%s: densities in %.1f ms\n", CASES[i].size, 1e3 * cz_time_since(start));
        assert_int_equal(popcount(a, words), CASES[i].a_aux);
        assert_int_equal(popcount(b, words), CASES[i].b_aux);
        assert_int_equal(popcount(b_input, (r1cs->num_inputs + 63) / 64), 1);
        assert_int_equal(b_input[0], 1);
        assert_int_equal(cz_r1cs_domain_log2(r1cs), CASES[i].domain);
        cz_free(a);
        cz_free(b);
        cz_r1cs_destroy(r1cs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_agrees),
        cmocka_unit_test(sizes_agree),
        cmocka_unit_test(densities_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
