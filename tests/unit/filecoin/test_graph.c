#include "c1_support.h"

#include "base/bytes.h"
#include "filecoin/graph.h"
#include "hash/sha256.h"

static void init_zero(struct cz_graph *g, uint64_t nodes, uint8_t id, bool v1_0) {
    uint8_t porep_id[32];
    memset(porep_id, id, 32);
    cz_graph_init(g, nodes, porep_id, v1_0);
}

/* SHA-256 over 14 LE u32 per node: what the reference's parent cache files hold (known-values.md §4). */
static void assert_cache(enum cz_registered_seal proof, const char *want) {
    struct cz_graph g;
    struct cz_sha256 s;
    uint8_t digest[32];
    char hex[65];
    cz_graph_init_seal(&g, proof);
    cz_sha256_init(&s);
    for (uint64_t v = 0; v < g.nodes; v++) {
        uint32_t p[14];
        cz_graph_base_parents(p, &g, v);
        assert_int_equal(cz_graph_exp_parents(p + 6, &g, v, NULL), CZ_OK);
        for (unsigned i = 0; i < 14; i++) {
            uint8_t le[4];
            cz_store_le32(le, p[i]);
            cz_sha256_update(&s, le, 4);
        }
    }
    cz_sha256_final(&s, digest);
    cz_hex_encode(hex, digest, 32);
    assert_string_equal(hex, want);
}

static void test_parent_cache(void **state) {
    (void)state;
    assert_cache((enum cz_registered_seal)0, "3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d");
    assert_cache((enum cz_registered_seal)5, "840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97");
}

/* Seconds long: with the argument "long" only. */
static void test_parent_cache_8mib(void **state) {
    (void)state;
    assert_cache((enum cz_registered_seal)1, "a76604f2f59f2744c7151653bbb1d8596b6b57d295e6fa6c1f0c41d725b502ce");
    assert_cache((enum cz_registered_seal)6, "03cd13565ded97c240a5f52e54295ad127bd0461b57904cb3a4d79b097bbecab");
}

/* A node of a real 32 GiB sector. */
static void test_known_node(void **state) {
    (void)state;
    static const uint32_t base[] = {656705142, 650261453, 656705056, 656615026, 656701296, 656705142};
    static const uint32_t exp[] = {126549780, 368190453, 93666530,  400166597,
                                   49615717,  201682063, 515691232, 260659802};
    struct cz_graph g;
    uint32_t p[8];
    cz_graph_init_seal(&g, (enum cz_registered_seal)3);
    cz_graph_base_parents(p, &g, 656705143);
    assert_memory_equal(p, base, sizeof base);
    assert_int_equal(cz_graph_exp_parents(p, &g, 656705143, NULL), CZ_OK);
    assert_memory_equal(p, exp, sizeof exp);
}

/* All 180 challenges of the real 32 GiB proof: per challenge c, 6 base, 8 expander parents, c, c, c (known-values.md
 * §9). */
static void test_real_sector(void **state) {
    (void)state;
    size_t len;
    char *file = test_read(CZ_SHARED_DIR "/spec/vectors/porep-32gib-v27.inputs", &len);
    assert_int_equal(len, 10 * 327 * 32);
    struct cz_graph g;
    cz_graph_init_seal(&g, (enum cz_registered_seal)3);
    for (unsigned k = 0; k < 10; k++)
        for (unsigned i = 0; i < 18; i++) {
            const uint8_t *row = (const uint8_t *)file + 32 * (327 * k + 3 + 18 * i);
            uint32_t p[14];
            const uint64_t c = cz_load_le64(row);
            cz_graph_base_parents(p, &g, c);
            assert_int_equal(cz_graph_exp_parents(p + 6, &g, c, NULL), CZ_OK);
            for (unsigned j = 0; j < 14; j++) assert_int_equal(cz_load_le64(row + 32 * (1 + j)), p[j]);
            for (unsigned j = 15; j < 18; j++) assert_int_equal(cz_load_le64(row + 32 * j), c);
        }
    free(file);
}

static void test_first_nodes(void **state) {
    (void)state;
    struct cz_graph g;
    static const uint32_t zero[6];
    for (unsigned v1_0 = 0; v1_0 < 2; v1_0++) {
        uint32_t p[6];
        init_zero(&g, 64, 0, v1_0);
        cz_graph_base_parents(p, &g, 0);
        assert_memory_equal(p, zero, sizeof zero);
        cz_graph_base_parents(p, &g, 1);
        assert_memory_equal(p, zero, sizeof zero);
        for (uint64_t v = 2; v < 64; v++) {
            cz_graph_base_parents(p, &g, v);
            assert_int_equal(p[v1_0 ? 5 : 0], v - 1);
            for (unsigned i = 0; i < 6; i++) assert_true(p[i] < v);
        }
    }
}

/* Eleven layers of labels; the last node's label in the last one. */
static void assert_last_label(uint64_t nodes, uint8_t id, bool v1_0, const uint64_t want[4]) {
    static uint8_t label[2][128][32];
    struct cz_graph g;
    uint8_t replica_id[32];
    memset(replica_id, 9, 32);
    init_zero(&g, nodes, id, v1_0);
    for (uint32_t layer = 1; layer <= 11; layer++) {
        uint8_t(*cur)[32] = label[layer % 2], (*prev)[32] = label[1 - layer % 2];
        for (uint64_t v = 0; v < nodes; v++) {
            uint32_t p[14];
            uint8_t parent[14][32];
            cz_graph_base_parents(p, &g, v);
            assert_int_equal(cz_graph_exp_parents(p + 6, &g, v, NULL), CZ_OK);
            for (unsigned i = 0; i < 6; i++) memcpy(parent[i], cur[p[i]], 32);
            for (unsigned i = 6; i < 14; i++) memcpy(parent[i], prev[p[i]], 32);
            cz_graph_label(cur[v], replica_id, layer, v, (const uint8_t(*)[32])parent,
                           v == 0       ? 0
                           : layer == 1 ? 6
                                        : 14);
        }
    }
    for (unsigned i = 0; i < 4; i++) assert_int_equal(cz_load_le64(label[1][nodes - 1] + 8 * i), want[i]);
}

static void test_labels(void **state) {
    (void)state;
    assert_last_label(64, 0, true,
                      (uint64_t[]){0xd3faa96b9a0fba04, 0xea81a283d106485e, 0xe3d51b9afa5ac2b3, 0x0462f4f4f1a68d37});
    assert_last_label(128, 0, true,
                      (uint64_t[]){0x7e191e52c4a8da86, 0x5ae8a1c9e6fac148, 0xce239f3b88a894b8, 0x234c00d1dc1d53be});
    assert_last_label(64, 0x7b, false,
                      (uint64_t[]){0xabb3f38bb70defcf, 0x777a2e4d7769119f, 0x3448959d495490bc, 0x06021188c7a71cb5});
    assert_last_label(128, 0x7b, false,
                      (uint64_t[]){0x22ab81cf68c4676d, 0x7a77a82fc7c9c189, 0xc6c03d32c1e42d23, 0x0f777c18cc2c55bd});
}

/* known-values.md §5 */
static void test_synthetic(void **state) {
    (void)state;
    static const unsigned all[] = {178, 297, 869, 211, 875, 477, 94,  781, 124, 332, 856,
                                   801, 176, 692, 429, 691, 290, 204, 986, 210, 973};
    static const unsigned selected[] = {176, 781, 801, 986, 290, 211, 692, 856, 986, 332};
    const uint8_t replica_id[32] = {55}, comm_r[32] = {101};
    uint8_t seed[32];
    memset(seed, 1, 32);
    struct cz_challenge_seed s = {CZ_SEAL_SYNTHETIC, 1024, replica_id, comm_r, seed, 21};
    uint64_t c[10];
    for (unsigned i = 0; i < 21; i++) {
        assert_int_equal(cz_graph_synthetic_challenge(&c[0], i, &s, NULL), CZ_OK);
        assert_int_equal(c[0], all[i]);
    }
    assert_int_equal(cz_graph_challenges(c, 0, 10, &s, NULL), CZ_OK);
    for (unsigned i = 0; i < 10; i++) assert_int_equal(c[i], selected[i]);
    assert_int_equal(cz_graph_challenges(c, 7, 3, &s, NULL), CZ_OK);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(c[i], selected[7 + i]);
}

/* The model's sector (§8) and the real one of polka-storage (§9). */
static void test_interactive(void **state) {
    (void)state;
    uint8_t replica_id[32], seed[32];
    const uint8_t comm_r[32] = {0};
    uint64_t c[2];
    memset(seed, 2, 32);
    assert_int_equal(cz_hex_decode(replica_id, 32, "760cf0641d5cd2d034014aef10d8e2ba9644fbe5ba8c39a37ad963aa1fce050f"),
                     CZ_OK);
    struct cz_challenge_seed s = {CZ_SEAL_V1_1, 64, replica_id, comm_r, seed, 0};
    assert_int_equal(cz_graph_challenges(c, 0, 2, &s, NULL), CZ_OK);
    assert_int_equal(c[0], 19);
    assert_int_equal(c[1], 37);
    memset(seed, 0x0d, 32);
    assert_int_equal(cz_hex_decode(replica_id, 32, "b9a46849a25004df1345838204c76a324d7adb7bbb100cdf323d7996a5ac9b34"),
                     CZ_OK);
    assert_int_equal(cz_graph_challenges(c, 0, 2, &s, NULL), CZ_OK);
    assert_int_equal(c[0], 37);
    assert_int_equal(c[1], 29);
    for (uint32_t j = 0; j < 300; j++) {
        assert_int_equal(cz_graph_challenges(c, j, 1, &s, NULL), CZ_OK);
        assert_in_range(c[0], 1, 63);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parent_cache), cmocka_unit_test(test_known_node), cmocka_unit_test(test_real_sector),
        cmocka_unit_test(test_first_nodes),  cmocka_unit_test(test_labels),     cmocka_unit_test(test_synthetic),
        cmocka_unit_test(test_interactive),
    };
    const struct CMUnitTest long_tests[] = {cmocka_unit_test(test_parent_cache_8mib)};
    if (argc > 1 && strcmp(argv[1], "long") == 0) return cmocka_run_group_tests(long_tests, NULL, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
