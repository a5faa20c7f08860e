#ifndef CUZK_R1CS_GADGETS_LABEL_H
#define CUZK_R1CS_GADGETS_LABEL_H

/* A node's label in one layer (spec/gadgets.md §9): SHA-256 over replica id, layer, node and 37 parents. */

#include "r1cs/gadgets/sha256.h"

#define CZ_LABEL_PARENTS 37

/** replica_id and parents in the form of cz_num_to_sha_bits, node most significant bit first. */
cz_r1cs_var cz_label_constrain(struct cz_builder *b, const cz_wire replica_id[256],
                               cz_wire (*const parent[CZ_LABEL_PARENTS])[256], uint32_t layer, const cz_wire node[64]);

/** Plans of the blocks: the first (it depends on the layer), those of two parents, the last. */
struct cz_label_plans {
    struct cz_sha256_plan parents, last;
};
void cz_label_plans_init(struct cz_label_plans *plans);
void cz_label_plan_first(struct cz_sha256_plan *plan, uint32_t layer);

/** Writes the label and gives it as an element. */
void cz_label_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_label_plans *plans,
                     const struct cz_sha256_plan *first, const uint8_t replica_id[32],
                     const uint8_t *const parent[CZ_LABEL_PARENTS], uint32_t layer, uint64_t node);

#endif
