#ifndef CUZK_R1CS_GADGETS_PATH_BATCH_H
#define CUZK_R1CS_GADGETS_PATH_BATCH_H

/*
 * Witnesses of Poseidon paths, eight at a time: a hash waits for the one below it, but those of different paths do not
 * wait for each other. What the hashes do not decide (bits, inputs) is written at once; room for the elements is kept,
 * and they follow when eight paths have come together, or at the end. The order of variables is that of path.h and
 * known_path.h, one path after another.
 */

#include "r1cs/gadgets/path.h"

#define CZ_PATH_BATCH 8
#define CZ_PATH_MAX_ROW 11

struct cz_path_batch {
    const struct cz_path_shape *shape;
    bool known; /* index and siblings are variables already (known_path.h) */
    unsigned n;
    uint32_t num_elems; /* of a path */
    struct cz_path_job {
        struct cz_assign *a;
        struct cz_path_values values;
        struct cz_fr node; /* the leaf, then what the levels lead to */
        struct cz_fr *elem;
        uint32_t row_len; /* 0: the leaf is given */
        struct cz_fr row[CZ_PATH_MAX_ROW], *row_elem;
    } job[CZ_PATH_BATCH];
};

/** shape is kept: a Poseidon tree's. */
void cz_path_batch_init(struct cz_path_batch *b, const struct cz_path_shape *shape, bool known);
/** A path's turn in the order of variables. What values points to is kept until the elements are written, but its leaf.
 */
void cz_path_batch_add(struct cz_path_batch *b, struct cz_assign *a, const struct cz_path_values *values);
/** The same for a leaf that is the hash of a row of 2, 4, 8 or 11 elements, allocated before the path; values->leaf is
 * not read. */
void cz_path_batch_add_hashed(struct cz_path_batch *b, struct cz_assign *a, const struct cz_fr *row, uint32_t row_len,
                              const struct cz_path_values *values);
/** Writes what is left. Before cz_assign_finish of any `a`. */
void cz_path_batch_finish(struct cz_path_batch *b);

#endif
