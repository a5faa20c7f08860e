#include "filecoin/synth/blob.h"

#include "base/bytes.h"

void cz_synth_blob_u32(struct cz_synth_blob *b, uint32_t v) {
    cz_store_le32(b->data + b->at, v);
    b->at += 4;
}

void cz_synth_blob_u64(struct cz_synth_blob *b, uint64_t v) {
    cz_store_le64(b->data + b->at, v);
    b->at += 8;
}

void cz_synth_blob_nodes(struct cz_synth_blob *b, const cz_node *node, size_t n) {
    memcpy(b->data + b->at, node, n * sizeof *node);
    b->at += n * sizeof *node;
}

/* A level: count, siblings, index. */
static size_t level_bytes(uint32_t arity) {
    return 8 + (size_t)(arity - 1) * sizeof(cz_node) + 8;
}

size_t cz_synth_blob_merkle_bytes(const struct cz_bincode_tree *tree) {
    size_t n = 4 + 2 * sizeof(cz_node) + 8 + tree->base_levels * level_bytes(tree->base_arity);
    if (tree->sub_arity) n += 8 + level_bytes(tree->sub_arity);
    if (tree->top_arity) n += 8 + level_bytes(tree->top_arity);
    return n;
}

static void put_path(struct cz_synth_blob *b, const struct cz_merkle_level *level, uint32_t levels) {
    cz_synth_blob_u64(b, levels);
    for (uint32_t i = 0; i < levels; i++) {
        cz_synth_blob_u64(b, level[i].num_siblings);
        cz_synth_blob_nodes(b, level[i].sibling, level[i].num_siblings);
        cz_synth_blob_u64(b, level[i].index);
    }
}

void cz_synth_blob_merkle(struct cz_synth_blob *b, const struct cz_bincode_tree *tree,
                          const struct cz_merkle_proof *proof) {
    const struct cz_merkle_level *level = proof->level;
    uint32_t kind = tree->top_arity ? 2 : tree->sub_arity ? 1 : 0;
    cz_synth_blob_u32(b, kind);
    if (kind == 0) { /* the path comes last */
        cz_synth_blob_nodes(b, &proof->root, 1);
        cz_synth_blob_nodes(b, &proof->leaf, 1);
    }
    put_path(b, level, tree->base_levels);
    level += tree->base_levels;
    if (tree->sub_arity) put_path(b, level++, 1);
    if (tree->top_arity) put_path(b, level, 1);
    if (kind != 0) {
        cz_synth_blob_nodes(b, &proof->root, 1);
        cz_synth_blob_nodes(b, &proof->leaf, 1);
    }
}
