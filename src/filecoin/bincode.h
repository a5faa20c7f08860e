#ifndef CUZK_FILECOIN_BINCODE_H
#define CUZK_FILECOIN_BINCODE_H

/*
 * A bounded reader of bincode as Rust's rust-fil-proofs writes it: fixed-size little-endian integers, lengths as u64,
 * enum tags as u32 (spec/post-circuits.md §4, update-circuit.md §5).
 *
 * The first failure is kept: what is read after it is 0, an empty list or NULL, and cz_bincode_finish returns it. The
 * error names the field's path and the offset: "vanilla_proof.inclusion_proofs[3].base[0].hashes: …, offset 212".
 */

#include "filecoin/c1.h"
#include "filecoin/registered.h"

#define CZ_BINCODE_DEPTH 8
#define CZ_BINCODE_NO_INDEX UINT64_MAX

struct cz_bincode {
    const uint8_t *data; /* borrowed */
    size_t len, at;
    enum cz_status status;
    struct cz_error *err; /* may be NULL */
    unsigned depth;
    struct {
        const char *name; /* static text */
        uint64_t index;   /* CZ_BINCODE_NO_INDEX: not an element of a list */
    } path[CZ_BINCODE_DEPTH];
};

void cz_bincode_init(struct cz_bincode *r, const uint8_t *data, size_t len, struct cz_error *err);
/** The first failure; CZ_ERR_LENGTH when bytes are left over. */
CZ_MUST_CHECK enum cz_status cz_bincode_finish(struct cz_bincode *r);

/** What is read until the matching leave lies below name, or name[index]. */
void cz_bincode_enter(struct cz_bincode *r, const char *name, uint64_t index);
void cz_bincode_leave(struct cz_bincode *r);
/** Keeps a failure at the place reached (unless there is one already). */
void cz_bincode_fail(struct cz_bincode *r, enum cz_status status, const char *field, const char *fmt, ...)
    CZ_PRINTF(4, 5);

uint32_t cz_bincode_u32(struct cz_bincode *r, const char *field);
uint64_t cz_bincode_u64(struct cz_bincode *r, const char *field);
/** A list's length that has to be `want`; CZ_ERR_LENGTH otherwise. Returns whether it is. */
bool cz_bincode_length(struct cz_bincode *r, const char *field, uint64_t want);
/** n nodes of 32 bytes inside the data (borrowed), each below r (CZ_ERR_FIELD_RANGE); NULL after a failure. */
const cz_node *cz_bincode_nodes(struct cz_bincode *r, const char *field, size_t n);
/** One node, copied; zeroed after a failure. */
void cz_bincode_node(struct cz_bincode *r, const char *field, cz_node out);

/** Levels of a Merkle path from the leaf up, parted as MerkleProof does: base, then sub and top if the tree has them.
 */
struct cz_bincode_tree {
    uint32_t base_levels, base_arity;
    uint32_t sub_arity, top_arity; /* 0: absent */
};
/** Trees C and R, 8-ary; and tree D, binary. */
struct cz_bincode_tree cz_bincode_tree_r(const struct cz_sector_info *sector);
struct cz_bincode_tree cz_bincode_tree_d(const struct cz_sector_info *sector);
uint32_t cz_bincode_tree_levels(const struct cz_bincode_tree *tree);

/**
 * A MerkleProof: u32 tag 0 Single, 1 Sub, 2 Top (the one that the shape wants), lengths and arities as the shape wants,
 * indices below the arity. Fills level[0 … levels) and points out->level at it; siblings stay inside the data. On
 * failure out->num_levels is 0.
 */
void cz_bincode_merkle(struct cz_bincode *r, const struct cz_bincode_tree *tree, struct cz_merkle_level *level,
                       struct cz_merkle_proof *out);

#endif
