/* PoRep circuits against the reference. The argument "long" adds the digests of the 32 and 64 GiB circuits. */

#include "circuit_common.h"
#include "filecoin/circuits/porep.h"

static bool long_tests;

static enum cz_status build_porep(struct cz_r1cs **out, enum cz_circuit_kind kind, const struct cz_sector_info *sector,
                                  struct cz_error *err) {
    (void)kind;
    return cz_porep_circuit_build(out, sector, err);
}

static struct cz_r1cs *build(const char *size) {
    return test_build_circuit(build_porep, CZ_CIRCUIT_POREP, size);
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

static void sizes_agree(void **state) {
    (void)state;
    static const char *const SIZES[] = {"2kib", "4kib", "16kib", "32kib", "8mib", "512mib", "32gib", "64gib"};
    uint8_t *lines;
    size_t len;
    assert_int_equal(cz_file_read(&lines, &len, VECTORS "r1cs.jsonl", 1 << 20, NULL), CZ_OK);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++)
        test_check_circuit(build_porep, (char *)lines, CZ_CIRCUIT_POREP, SIZES[i],
                           long_tests || !strstr(SIZES[i], "gib"));
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

int main(int argc, char **argv) {
    long_tests = test_is_long(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_agrees),
        cmocka_unit_test(sizes_agree),
        cmocka_unit_test(densities_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
