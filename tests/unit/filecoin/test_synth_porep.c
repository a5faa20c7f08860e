/* C1 outputs without a sector: accepted by the native check, a satisfied circuit, read back as they were, the same
 * bytes. */

#include "base/bytes.h"
#include "base/thread.h"
#include "c1_support.h"
#include "filecoin/c1_check.h"
#include "filecoin/circuits/porep.h"
#include "filecoin/synth/porep.h"

#include <unistd.h>

static struct cz_c1 *make(unsigned proof, uint64_t seed, struct cz_pool *pool) {
    const struct cz_synth_porep_request q = {.proof = (enum cz_registered_seal)proof, .seed = seed, .miner = 1000};
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_synth_porep_make(&c1, &q, pool, &err) != CZ_OK) fail_msg("proof %u: %s", proof, err.detail);
    return c1;
}

/* The file's text; gunzipped when it is gzipped. */
static char *write_text(const struct cz_c1 *c1, const char *path, size_t *len) {
    struct cz_error err = {0};
    if (cz_synth_porep_write(path, c1, &err) != CZ_OK) fail_msg("%s: %s", path, err.detail);
    char *text = test_read(path, len);
    assert_int_equal(unlink(path), 0);
    return text;
}

static struct cz_c1 *parse(const char *text, size_t len) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_c1_parse(&c1, (const uint8_t *)text, len, &err) != CZ_OK) fail_msg("%s", err.detail);
    return c1;
}

static void check(const struct cz_c1 *c1) {
    struct cz_error err = {0};
    if (cz_c1_check_vanilla(c1, &err) != CZ_OK) fail_msg("%s", err.detail);
}

static void two_kib(void **state) {
    (void)state;
    struct cz_r1cs *r1cs = NULL;
    struct cz_witness w;
    struct cz_error err = {0};
    assert_int_equal(cz_porep_circuit_build(&r1cs, cz_sector_by_name("2KiB"), &err), CZ_OK);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    for (unsigned i = 0; i < 4; i++) {
        struct cz_c1 *c1 = make(i % 2 ? 5 : 0, 100 + i, NULL);
        size_t len;
        char *text = write_text(c1, "synth_porep.json", &len);
        struct cz_c1 *read = parse(text, len);
        assert_int_equal(read->proof, c1->proof);
        assert_memory_equal(read->comm_r, c1->comm_r, 32);
        check(read);
        assert_int_equal(cz_porep_circuit_assign(&w, r1cs, read, 0, &err), CZ_OK);
        assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
        cz_c1_destroy(read);
        cz_c1_destroy(c1);
        free(text);
    }
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
}

/* 64 nodes and 30 columns: challenged nodes are parents of others, and the same one is challenged twice. */
static void crowded(void **state) {
    (void)state;
    unsigned parents = 0, twice = 0;
    for (uint64_t seed = 0; seed < 60; seed++) {
        struct cz_c1 *c1 = make(seed % 2 ? 5 : 0, seed, NULL);
        const struct cz_porep_challenge *c = c1->challenge;
        check(c1);
        assert_true(c1->has_sector_number && c1->sector_number < 65536);
        twice += c[0].node == c[1].node;
        for (unsigned i = 0; i < 2; i++) {
            for (unsigned j = 0; j < CZ_DRG_PARENTS; j++) parents += c[i].drg[j].index == c[1 - i].node;
            for (unsigned j = 0; j < CZ_EXP_PARENTS; j++) parents += c[i].exp[j].index == c[1 - i].node;
        }
        cz_c1_destroy(c1);
    }
    assert_true(parents > 0);
    assert_true(twice > 0);
}

/*
 * Every size: one partition is checked of the large ones. The three forms of a tree's proof (Single, Sub, Top): what is
 * written is read back the same.
 */
static void every_size(void **state) {
    (void)state;
    static const struct {
        unsigned proof, partitions;
        bool write;
    } CASE[] = {{1, 1, false},  {6, 1, true},  {2, 1, false}, {7, 1, false},
                {3, 10, false}, {8, 10, true}, {9, 10, true}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        struct cz_c1 *c1 = make(CASE[i].proof, i, NULL);
        struct cz_error err = {0};
        assert_int_equal(c1->num_partitions, CASE[i].partitions);
        if (cz_c1_check_partition(c1, (uint32_t)i % c1->num_partitions, &err) != CZ_OK)
            fail_msg("proof %u: %s", CASE[i].proof, err.detail);
        if (CASE[i].write) {
            size_t len, again_len;
            char *text = write_text(c1, "synth_porep.json", &len);
            struct cz_c1 *read = parse(text, len);
            char *again = write_text(read, "synth_porep.json.gz", &again_len);
            assert_int_equal(len, again_len);
            assert_memory_equal(text, again, len);
            cz_c1_destroy(read);
            free(text);
            free(again);
        }
        cz_c1_destroy(c1);
    }
}

/* The reference's own files, byte for byte. */
static void as_the_reference(void **state) {
    (void)state;
    static const char *const FILES[] = {C1_OF("porep-v1"), C1_OF("porep-v1_1"),
                                        CZ_SHARED_DIR "/vectors/reference/8mib/porep-v1_1/c1.json.gz"};
    for (unsigned i = 0; i < 3; i++) {
        size_t want_len, len;
        char *want = test_read(FILES[i], &want_len);
        struct cz_c1 *c1 = parse(want, want_len);
        char *text = write_text(c1, "synth_porep.json", &len);
        assert_int_equal(len, want_len);
        assert_memory_equal(text, want, len);
        cz_c1_destroy(c1);
        free(text);
        free(want);
    }
}

static void deterministic(void **state) {
    (void)state;
    struct cz_pool *pool = NULL;
    size_t n[3];
    assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
    for (unsigned proof = 0; proof < 7; proof += 6) { /* 2KiB V1, 8MiB V1_1 */
        struct cz_c1 *a = make(proof, 11, NULL), *b = make(proof, 11, pool), *c = make(proof, 12, pool);
        char *ta = write_text(a, "synth_porep.json", &n[0]);
        char *tb = write_text(b, "synth_porep.json", &n[1]);
        char *tc = write_text(c, "synth_porep.json", &n[2]);
        assert_int_equal(n[0], n[1]);
        assert_memory_equal(ta, tb, n[0]);
        assert_string_not_equal(ta, tc);
        assert_memory_not_equal(a->comm_r, c->comm_r, 32);
        assert_memory_not_equal(a->ticket, c->ticket, 32);
        free(ta);
        free(tb);
        free(tc);
        cz_c1_destroy(a);
        cz_c1_destroy(b);
        cz_c1_destroy(c);
    }
    cz_pool_destroy(pool);
}

static void refusals(void **state) {
    (void)state;
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    for (unsigned proof = 10; proof < CZ_SEAL_COUNT; proof++) {
        const struct cz_synth_porep_request q = {.proof = (enum cz_registered_seal)proof};
        assert_int_equal(cz_synth_porep_make(&c1, &q, NULL, &err), CZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.detail, "depend on comm_r"));
        assert_non_null(strstr(err.detail, cz_registered_seal_name(q.proof)));
    }
    const struct cz_synth_porep_request unknown = {.proof = CZ_SEAL_COUNT};
    assert_int_equal(cz_synth_porep_make(&c1, &unknown, NULL, &err), CZ_ERR_ARGUMENT);
    assert_null(c1);
    c1 = make(0, 1, NULL);
    assert_int_equal(cz_synth_porep_write("no/such/folder.json", c1, &err), CZ_ERR_IO);
    assert_int_equal(cz_synth_porep_write("no/such/folder.json.gz", c1, &err), CZ_ERR_IO);
    cz_c1_destroy(c1);
}

/* Another miner has another replica id, and hence other challenges. */
static void miner(void **state) {
    (void)state;
    const struct cz_synth_porep_request q = {.seed = 1, .miner = 1001};
    struct cz_c1 *a = make(0, 1, NULL), *b = NULL;
    assert_int_equal(cz_synth_porep_make(&b, &q, NULL, NULL), CZ_OK);
    assert_memory_not_equal(a->replica_id, b->replica_id, 32);
    assert_memory_equal(a->comm_d, b->comm_d, 32);
    check(b);
    cz_c1_destroy(a);
    cz_c1_destroy(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kib),       cmocka_unit_test(crowded),
        cmocka_unit_test(every_size),    cmocka_unit_test(as_the_reference),
        cmocka_unit_test(deterministic), cmocka_unit_test(refusals),
        cmocka_unit_test(miner),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
