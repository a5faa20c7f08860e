/* The bincode reader: bounds, lengths, nodes, and the three forms of MerkleProof. */

#include "filecoin/bincode.h"

#include "base/bytes.h"
#include "support.h"

static void primitives(void **state) {
    (void)state;
    uint8_t data[12 + 64] = {1, 2, 3, 4, 0xff, 0, 0, 0, 0, 0, 0, 0x80};
    struct cz_bincode r;
    struct cz_error err = {0};
    cz_node node;
    data[12] = 7;
    cz_bincode_init(&r, data, sizeof data, &err);
    assert_int_equal(cz_bincode_u32(&r, "a"), 0x04030201);
    assert_true(cz_bincode_u64(&r, "b") == 0x80000000000000ffu);
    cz_bincode_node(&r, "c", node);
    assert_memory_equal(node, data + 12, 32);
    const cz_node *list = cz_bincode_nodes(&r, "d", 1);
    assert_ptr_equal(list, data + 44);
    assert_non_null(cz_bincode_nodes(&r, "none", 0));
    assert_int_equal(cz_bincode_finish(&r), CZ_OK);

    /* The first failure stays, with its place; what follows is 0. */
    cz_bincode_init(&r, data, 10, &err);
    cz_bincode_enter(&r, "list", 4);
    cz_bincode_enter(&r, "inner", CZ_BINCODE_NO_INDEX);
    assert_int_equal(cz_bincode_u32(&r, "a"), 0x04030201);
    assert_int_equal(cz_bincode_u64(&r, "b"), 0);
    assert_string_equal(err.detail, "list[4].inner.b: 8 bytes wanted, 6 left, offset 4");
    cz_bincode_leave(&r);
    assert_int_equal(cz_bincode_u32(&r, "c"), 0);
    assert_null(cz_bincode_nodes(&r, "d", 0));
    assert_false(cz_bincode_length(&r, "e", 0));
    cz_bincode_fail(&r, CZ_ERR_FORMAT, "f", "later");
    assert_int_equal(cz_bincode_finish(&r), CZ_ERR_LENGTH);
    assert_non_null(strstr(err.detail, "list[4].inner.b"));

    /* No overflow in sizes, no error struct needed, depth past the end of the path is harmless. */
    cz_bincode_init(&r, data, sizeof data, NULL);
    for (int i = 0; i < 2 * CZ_BINCODE_DEPTH; i++) cz_bincode_enter(&r, "deep", (uint64_t)i);
    assert_null(cz_bincode_nodes(&r, "huge", SIZE_MAX / 16));
    for (int i = 0; i < 2 * CZ_BINCODE_DEPTH; i++) cz_bincode_leave(&r);
    assert_int_equal(cz_bincode_finish(&r), CZ_ERR_LENGTH);

    cz_bincode_init(&r, data, 5, &err);
    assert_int_equal(cz_bincode_u32(&r, "a"), 0x04030201);
    assert_int_equal(cz_bincode_finish(&r), CZ_ERR_LENGTH);
    assert_string_equal(err.detail, "1 bytes after the end, offset 4");
}

/* r - 1 is a node, r is none. */
static void node_range(void **state) {
    (void)state;
    uint8_t node[32], copy[32];
    struct cz_fr minus_one;
    struct cz_bincode r;
    struct cz_error err = {0};
    cz_fr_neg(&minus_one, &CZ_FR_ONE);
    cz_fr_to_le(node, &minus_one);
    cz_bincode_init(&r, node, 32, &err);
    cz_bincode_node(&r, "n", copy);
    assert_int_equal(cz_bincode_finish(&r), CZ_OK);
    node[0]++;
    cz_bincode_init(&r, node, 32, &err);
    cz_bincode_node(&r, "n", copy);
    assert_int_equal(cz_bincode_finish(&r), CZ_ERR_FIELD_RANGE);
    for (int i = 0; i < 32; i++) assert_int_equal(copy[i], 0);
}

static uint8_t *put_path(uint8_t *p, uint32_t levels, uint32_t arity, uint8_t *tag) {
    cz_store_le64(p, levels);
    p += 8;
    for (uint32_t i = 0; i < levels; i++) {
        cz_store_le64(p, arity - 1);
        p += 8;
        for (uint32_t k = 0; k + 1 < arity; k++, p += 32) p[0] = ++*tag;
        cz_store_le64(p, (i + 1) % arity);
        p += 8;
    }
    return p;
}

/* A proof of the shape; siblings are numbered in order, root 201, leaf 202. */
static size_t make(uint8_t *data, const struct cz_bincode_tree *t, unsigned kind) {
    uint8_t *p = data, tag = 0;
    cz_store_le32(p, kind);
    p += 4;
    for (int late = 0; late < 2; late++) {
        if (late == (kind != 0)) {
            p[0] = 201;
            p[32] = 202;
            p += 64;
        }
        if (late == 0 && kind == 0) continue;
        if (late == (kind == 0)) {
            p = put_path(p, t->base_levels, t->base_arity, &tag);
            if (t->sub_arity) p = put_path(p, 1, t->sub_arity, &tag);
            if (t->top_arity) p = put_path(p, 1, t->top_arity, &tag);
        }
    }
    return (size_t)(p - data);
}

static void merkle_forms(void **state) {
    (void)state;
    static const char *const SECTOR[] = {"2KiB", "16KiB", "32KiB", "2KiB"};
    for (unsigned form = 0; form < 4; form++) {
        unsigned kind = form == 3 ? 0 : form;
        const struct cz_sector_info *sector = cz_sector_by_name(SECTOR[form]);
        struct cz_bincode_tree tree = form == 3 ? cz_bincode_tree_d(sector) : cz_bincode_tree_r(sector);
        struct cz_merkle_level level[8];
        struct cz_merkle_proof proof;
        struct cz_bincode r;
        uint8_t data[2048] = {0};
        size_t len = make(data, &tree, kind);
        assert_true(cz_bincode_tree_levels(&tree) <= 8);
        cz_bincode_init(&r, data, len, NULL);
        cz_bincode_merkle(&r, &tree, level, &proof);
        assert_int_equal(cz_bincode_finish(&r), CZ_OK);
        assert_int_equal(proof.num_levels, cz_bincode_tree_levels(&tree));
        assert_int_equal(proof.root[0], 201);
        assert_int_equal(proof.leaf[0], 202);
        uint8_t tag = 0;
        for (uint32_t i = 0; i < proof.num_levels; i++) {
            uint32_t arity = i < tree.base_levels ? tree.base_arity : i == tree.base_levels ? tree.sub_arity : 2;
            assert_int_equal(level[i].num_siblings, arity - 1);
            assert_int_equal(level[i].index, i < tree.base_levels ? (i + 1) % arity : 1);
            for (uint32_t k = 0; k + 1 < arity; k++) assert_int_equal(level[i].sibling[k][0], ++tag);
        }
        for (size_t n = 0; n < len; n++) { /* every truncation */
            cz_bincode_init(&r, data, n, NULL);
            cz_bincode_merkle(&r, &tree, level, &proof);
            assert_int_equal(cz_bincode_finish(&r), CZ_ERR_LENGTH);
            assert_int_equal(proof.num_levels, 0);
        }
        data[0] = 3;
        cz_bincode_init(&r, data, len, NULL);
        cz_bincode_merkle(&r, &tree, level, &proof);
        assert_int_equal(cz_bincode_finish(&r), CZ_ERR_FORMAT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(primitives),
        cmocka_unit_test(node_range),
        cmocka_unit_test(merkle_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
