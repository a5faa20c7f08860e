#ifndef CUZK_FILECOIN_SYNTH_BLOB_H
#define CUZK_FILECOIN_SYNTH_BLOB_H

/* The writer beside filecoin/bincode.h: fixed-size little-endian integers into a buffer whose size is known before. */

#include "filecoin/bincode.h"

struct cz_synth_blob {
    uint8_t *data; /* the caller's, with room for all that is put */
    size_t at;
};

void cz_synth_blob_u32(struct cz_synth_blob *b, uint32_t v);
void cz_synth_blob_u64(struct cz_synth_blob *b, uint64_t v);
void cz_synth_blob_nodes(struct cz_synth_blob *b, const cz_node *node, size_t n);

/** Bytes of a MerkleProof in a tree of this shape. */
size_t cz_synth_blob_merkle_bytes(const struct cz_bincode_tree *tree);
/** As cz_bincode_merkle reads it; proof->num_levels and the arities are the shape's. */
void cz_synth_blob_merkle(struct cz_synth_blob *b, const struct cz_bincode_tree *tree,
                          const struct cz_merkle_proof *proof);

#endif
