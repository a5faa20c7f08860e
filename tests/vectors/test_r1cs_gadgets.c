#include "r1cs/builder.h"
#include "r1cs/digest.h"
#include "r1cs/gadgets/insert.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/poseidon.h"
#include "r1cs/gadgets/sha256.h"
#include "r1cs_common.h"

#include "poseidon_constants_36.inc"

static void build_poseidon(struct cz_builder *b, unsigned arity) {
    cz_r1cs_var in[16];
    cz_num_alloc(b, in, arity);
    cz_poseidon_constrain(b, in, arity);
}

/* filecoin-hashers' PoseidonMDArity; scripts/gen_poseidon.py makes the constants while the test is built. */
static const struct cz_poseidon_params MD = {.arity = 36,
                                             .t = 37,
                                             .partial_rounds = 60,
                                             .comp = COMP_36,
                                             .mds = MDS_36,
                                             .pre_sparse = PRE_SPARSE_36,
                                             .sparse = SPARSE_36};
#define MD_MAX 72

static void build_md(struct cz_builder *b, unsigned n) {
    cz_r1cs_var in[MD_MAX];
    for (unsigned i = 0; i < n; i++) cz_num_alloc(b, &in[i], 1);
    cz_poseidon_md_constrain(b, in, n, &MD);
}

static void record_insert(struct cz_recorder *r, const void *ctx) {
    unsigned arity = *(const unsigned *)ctx;
    uint32_t node = cz_recorder_elem(r), sibling[8], out[8];
    cz_bit bit[3];
    for (unsigned i = 0; i + 1 < arity; i++) sibling[i] = cz_recorder_elem(r);
    for (unsigned i = 0; 1u << i < arity; i++) bit[i] = cz_recorder_alloc_bit(r);
    cz_insert_record(r, out, arity, node, bit, sibling);
}

static void build_insert(struct cz_builder *b, unsigned arity) {
    struct cz_builder_place place = {"insert", &arity, sizeof arity, NULL, 0, record_insert, &arity};
    cz_builder_place(b, &place, NULL, 0);
}

static void build_to_bits(struct cz_builder *b, unsigned strict) {
    cz_r1cs_var x;
    cz_wire bits[CZ_NUM_BITS];
    cz_num_alloc(b, &x, 1);
    if (strict)
        cz_num_to_bits_strict(b, bits, x);
    else
        cz_num_to_bits(b, bits, x);
}

static void build_sha(struct cz_builder *b, unsigned blocks) {
    cz_wire bits[512], out[256];
    cz_num_alloc_bits(b, bits, 512);
    cz_sha256_iv_wires(out);
    if (blocks == 1)
        cz_sha256_constrain_block(b, out, out, bits);
    else
        cz_sha256_constrain(b, out, bits, 512);
}

static const struct {
    const char *name;
    void (*build)(struct cz_builder *b, unsigned arg);
    unsigned arg;
} CASES[] = {
    {"insert-2", build_insert, 2},
    {"insert-4", build_insert, 4},
    {"insert-8", build_insert, 8},
    {"to-bits-le", build_to_bits, 0},
    {"to-bits-le-strict", build_to_bits, 1},
    {"poseidon-2", build_poseidon, 2},
    {"poseidon-4", build_poseidon, 4},
    {"poseidon-8", build_poseidon, 8},
    {"poseidon-11", build_poseidon, 11},
    {"poseidon-md-4", build_md, 4},
    {"sha256-compression-constant-iv", build_sha, 1},
    {"sha256-512-bits", build_sha, 2},
};

static void same_text(const struct cz_r1cs *r1cs, const char *name) {
    char path[400];
    size_t len;
    snprintf(path, sizeof path, VECTORS "gadgets/%s.r1cs.txt.gz", name);
    char *text = (char *)test_gunzip(path, 64u << 20, &len), *line = text;
    for (uint32_t row = 0; row < r1cs->num_constraints; row++) {
        char *end = strchr(line, '\n'), *ours;
        if (!end) fail_msg("%s: only %u constraints in the vector", name, row);
        *end = 0;
        assert_int_equal(cz_digest_row_text(&ours, r1cs, row), CZ_OK);
        if (strcmp(ours, line)) fail_msg("%s, constraint %u:\n%.600s\nshould be\n%.600s", name, row, ours, line);
        cz_free(ours);
        line = end + 1;
    }
    assert_int_equal(*line, 0);
    cz_free(text);
}

static void gadgets_equal_the_reference(void **state) {
    (void)state;
    uint8_t *lines;
    size_t len;
    assert_int_equal(cz_file_read(&lines, &len, VECTORS "gadgets/gadgets.jsonl", 1 << 20, NULL), CZ_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_builder *b;
        struct cz_r1cs *r1cs;
        struct cz_error err = {0};
        assert_int_equal(cz_builder_create(&b), CZ_OK);
        CASES[i].build(b, CASES[i].arg);
        if (cz_builder_finish(&r1cs, b, &err)) fail_msg("%s: %s", CASES[i].name, err.detail);
        same_text(r1cs, CASES[i].name);

        char line[600], pair[80];
        uint8_t digest[32], expected[32];
        uint64_t nnz[3], expected_nnz[3];
        snprintf(pair, sizeof pair, "\"gadget\":\"%s\"", CASES[i].name);
        test_json_line(line, sizeof line, (char *)lines, pair, NULL);
        assert_int_equal(r1cs->num_inputs, test_json_number(line, "inputs"));
        assert_int_equal(r1cs->num_aux, test_json_number(line, "aux"));
        assert_int_equal(r1cs->num_constraints, test_json_number(line, "constraints"));
        cz_r1cs_nnz(r1cs, nnz);
        test_json_nnz(expected_nnz, line);
        assert_memory_equal(nnz, expected_nnz, sizeof nnz);
        assert_int_equal(cz_digest_r1cs(digest, r1cs), CZ_OK);
        test_json_hex32(expected, line, "digest");
        assert_memory_equal(digest, expected, 32);
        cz_r1cs_destroy(r1cs);
    }
    cz_free(lines);
}

/* spec/known-values.md §2, §3 */
static void md_of_71_ones(void **state) {
    (void)state;
    static const uint64_t EXPECTED[4] = {0x351c54133b332c90, 0xc26f6d625f4e8195, 0x5fd9623643ed9622,
                                         0x59f42220e09ff6f7};
    struct cz_fr in[71];
    uint64_t limb[4];
    for (unsigned i = 0; i < 71; i++) in[i] = CZ_FR_ONE;
    cz_poseidon_hash_md(&in[0], in, 71, &MD);
    cz_fr_to_limbs(limb, &in[0]);
    assert_memory_equal(limb, EXPECTED, sizeof limb);
}

/* Random numbers, groups that are full and not: the constraints hold, and the value is the hash. */
static void md_halves_agree(void **state) {
    (void)state;
    static const unsigned COUNTS[] = {2, 4, 36, 37, 71, 72};
    uint64_t seed = 36;
    for (size_t k = 0; k < sizeof COUNTS / sizeof *COUNTS; k++) {
        unsigned n = COUNTS[k], hashes = (n - 1 + 34) / 35;
        struct cz_fr in[MD_MAX], out, expected;
        struct cz_builder *b;
        struct cz_r1cs *r1cs;
        struct cz_witness w;
        struct cz_assign a;
        struct cz_error err = {0};
        assert_int_equal(cz_builder_create(&b), CZ_OK);
        build_md(b, n);
        if (cz_builder_finish(&r1cs, b, &err)) fail_msg("md of %u: %s", n, err.detail);
        assert_int_equal(r1cs->num_constraints, 1385 * hashes);
        assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
        cz_assign_init(&a, &w);
        for (unsigned i = 0; i < n; i++) {
            uint64_t limb[4];
            for (unsigned j = 0; j < 4; j++) limb[j] = test_random(&seed) >> (j == 3 ? 2 : 0);
            assert_int_equal(cz_fr_from_limbs(&in[i], limb), CZ_OK);
            cz_assign_elem(&a, &in[i]);
        }
        cz_poseidon_md_assign(&a, &out, in, n, &MD);
        if (cz_assign_finish(&a, &err)) fail_msg("md of %u: %s", n, err.detail);
        cz_poseidon_hash_md(&expected, in, n, &MD);
        assert_true(cz_fr_eq(&out, &expected));
        assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
        cz_fr_add(&w.elem[0], &w.elem[0], &CZ_FR_ONE);
        assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), 0);
        cz_witness_done(&w);
        cz_r1cs_destroy(r1cs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gadgets_equal_the_reference),
        cmocka_unit_test(md_of_71_ones),
        cmocka_unit_test(md_halves_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
