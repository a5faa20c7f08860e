#include "support.h"

#include "filecoin/registered.h"

#include <string.h>

static void test_sectors(void **state) {
    (void)state;
    assert_int_equal(CZ_NUM_SECTORS, 10);
    for (uint32_t i = 0; i < CZ_NUM_SECTORS; i++) {
        const struct cz_sector_info *s = &CZ_SECTORS[i];
        /* The tree has as many leaves as the sector has nodes. */
        uint64_t leaves = UINT64_C(1) << 3 * s->base_levels;
        if (s->sub_arity) leaves *= s->sub_arity;
        if (s->top_arity) leaves *= s->top_arity;
        assert_int_equal(leaves, UINT64_C(1) << s->nodes_log2);
        assert_int_equal(leaves * 32, s->size);
        if (i) assert_true(s->size > CZ_SECTORS[i - 1].size);
        assert_ptr_equal(cz_sector_by_size(s->size), s);
        assert_ptr_equal(cz_sector_by_name(s->name), s);
        assert_true(s->ni_partitions * s->ni_challenges >= (s->layers == 11 ? 2253u : 26u));
        assert_true(s->partitions * s->challenges >= (s->layers == 11 ? 176u : 2u));
    }
    assert_null(cz_sector_by_size(0));
    assert_null(cz_sector_by_size(2049));
    assert_ptr_equal(cz_sector_by_name("64gib"), &CZ_SECTORS[9]);
    assert_null(cz_sector_by_name("2K"));
    assert_null(cz_sector_by_name(""));
}

static void test_registered(void **state) {
    (void)state;
    static const struct {
        const char *name;
        unsigned number;
        enum cz_seal_version version;
        uint64_t size;
    } cases[] = {
        {"StackedDrg2KiBV1", 0, CZ_SEAL_V1, 2048},
        {"StackedDrg64GiBV1", 4, CZ_SEAL_V1, UINT64_C(64) << 30},
        {"StackedDrg2KiBV1_1", 5, CZ_SEAL_V1_1, 2048},
        {"StackedDrg32GiBV1_1", 8, CZ_SEAL_V1_1, UINT64_C(32) << 30},
        {"StackedDrg2KiBV1_1_Feat_SyntheticPoRep", 10, CZ_SEAL_SYNTHETIC, 2048},
        {"StackedDrg512MiBV1_1_Feat_SyntheticPoRep", 12, CZ_SEAL_SYNTHETIC, 512 << 20},
        {"StackedDrg8MiBV1_2_Feat_NonInteractivePoRep", 16, CZ_SEAL_NON_INTERACTIVE, 8 << 20},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        enum cz_registered_seal proof;
        assert_int_equal(cz_registered_seal_parse(&proof, cases[i].name, strlen(cases[i].name)), CZ_OK);
        assert_int_equal(proof, cases[i].number);
        assert_string_equal(cz_registered_seal_name(proof), cases[i].name);
        assert_int_equal(cz_registered_seal_version(proof), cases[i].version);
        assert_int_equal(cz_registered_seal_sector(proof)->size, cases[i].size);
        uint8_t id[32], want[32] = {(uint8_t)cases[i].number};
        cz_registered_seal_porep_id(id, proof);
        assert_memory_equal(id, want, 32);
    }
    enum cz_registered_seal proof = (enum cz_registered_seal)3;
    static const char *const bad[] = {"", "StackedDrg2KiBV", "StackedDrg2KiBV1_", "StackedDrg2KiBV1_2",
                                      "stackeddrg2kibv1"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cz_registered_seal_parse(&proof, bad[i], strlen(bad[i])), CZ_ERR_FORMAT);
    assert_int_equal(cz_registered_seal_parse(&proof, "StackedDrg2KiBV1", 15), CZ_ERR_FORMAT);
    assert_int_equal(proof, 3);
}

static void prover_ids(void **state) {
    (void)state;
    uint8_t id[32];
    const struct {
        uint64_t miner;
        uint8_t want[12];
    } cases[] = {{0, {0}},
                 {127, {127}},
                 {128, {0x80, 1}},
                 {1000, {0xe8, 7}},
                 {UINT64_MAX, {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memset(id, 0xaa, sizeof id);
        cz_registered_prover_id(id, cases[i].miner);
        assert_memory_equal(id, cases[i].want, 12);
        for (int k = 12; k < 32; k++) assert_int_equal(id[k], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(prover_ids), cmocka_unit_test(test_sectors),
                                       cmocka_unit_test(test_registered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
