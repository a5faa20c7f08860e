#ifndef CUZK_TESTS_VECTORS_CIRCUIT_COMMON_H
#define CUZK_TESTS_VECTORS_CIRCUIT_COMMON_H

/* Whole circuits against the lines of r1cs.jsonl. */

#include "base/time.h"
#include "filecoin/names.h"
#include "r1cs/digest.h"
#include "r1cs_common.h"

typedef enum cz_status test_build_fn(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                     const struct cz_sector_info *sector, struct cz_error *err);

/* Says how long it takes and how large it is; at most 100 MiB. */
static inline struct cz_r1cs *test_build_circuit(test_build_fn *fn, enum cz_circuit_kind kind, const char *size) {
    struct cz_r1cs *r1cs = NULL;
    struct cz_error err = {0};
    const struct cz_sector_info *sector = cz_sector_by_name(size);
    assert_non_null(sector);
    uint64_t start = cz_time_now_ns();
    if (fn(&r1cs, kind, sector, &err)) fail_msg("%s: %s", size, err.detail);
    double seconds = cz_time_since(start);
    print_message("%s %s: built in %.1f ms, %.1f MiB, %u templates, %u instances, %u coefficients\n",
                  cz_circuit_kind_name(kind), size, 1e3 * seconds, (double)cz_r1cs_bytes(r1cs) / (1 << 20),
                  r1cs->num_templates, r1cs->num_instances, r1cs->num_coefs);
    assert_true(cz_r1cs_bytes(r1cs) <= 100 << 20);
    return r1cs;
}

/* Counts of the circuit, and its digest when asked, are those of its line in `lines`, the text of r1cs.jsonl. */
static inline void test_check_circuit(test_build_fn *fn, const char *lines, enum cz_circuit_kind kind, const char *size,
                                      bool digest_too) {
    char line[600], circuit[40], pair[40];
    uint64_t nnz[3], expected_nnz[3];
    uint8_t digest[32], expected[32];
    snprintf(circuit, sizeof circuit, "\"circuit\":\"%s\"", cz_circuit_kind_name(kind));
    snprintf(pair, sizeof pair, "\"sector\":\"%s\"", size);
    test_json_line(line, sizeof line, lines, circuit, pair);
    struct cz_r1cs *r1cs = test_build_circuit(fn, kind, size);
    assert_int_equal(r1cs->num_inputs, test_json_number(line, "inputs"));
    assert_int_equal(r1cs->num_aux, test_json_number(line, "aux"));
    assert_int_equal(r1cs->num_constraints, test_json_number(line, "constraints"));
    cz_r1cs_nnz(r1cs, nnz);
    test_json_nnz(expected_nnz, line);
    assert_memory_equal(nnz, expected_nnz, sizeof nnz);
    if (digest_too) {
        uint64_t start = cz_time_now_ns();
        assert_int_equal(cz_digest_r1cs(digest, r1cs), CZ_OK);
        print_message("%s %s: digest in %.2f s\n", cz_circuit_kind_name(kind), size, cz_time_since(start));
        test_json_hex32(expected, line, "digest");
        assert_memory_equal(digest, expected, 32);
    }
    cz_r1cs_destroy(r1cs);
}

/* The word "long": for what takes minutes. */
static inline bool test_is_long(int argc, char **argv) {
    return argc > 1 && strcmp(argv[1], "long") == 0;
}

#endif
