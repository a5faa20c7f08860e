#ifndef CUZK_R1CS_GADGETS_INSERT_H
#define CUZK_R1CS_GADGETS_INSERT_H

/* Insertion of a node among its siblings (spec/gadgets.md §7). Arity 2, 4 or 8. */

#include "r1cs/assign.h"
#include "r1cs/recorder.h"

#define CZ_INSERT_MAX_ARITY 8

/** c := alloc, cond ? a : b. */
uint32_t cz_insert_record_pick(struct cz_recorder *r, cz_bit cond, uint32_t a, uint32_t b);

/** Columns: the node, log2(arity) index bits (lowest first), arity - 1 siblings; out: arity columns. */
void cz_insert_record(struct cz_recorder *r, uint32_t *out, unsigned arity, uint32_t node, const cz_bit *bit,
                      const uint32_t *sibling);
/** index < arity. */
void cz_insert_assign(struct cz_assign *a, struct cz_fr *out, unsigned arity, const struct cz_fr *node, unsigned index,
                      const struct cz_fr *sibling);

/* The same in two parts: the bits, which the index alone gives, and the elements, to be written later. */
void cz_insert_assign_bits(struct cz_assign *a, unsigned arity, unsigned index);
unsigned cz_insert_num_elems(unsigned arity);
void cz_insert_values(struct cz_fr *elem, struct cz_fr *out, unsigned arity, const struct cz_fr *node, unsigned index,
                      const struct cz_fr *sibling);

#endif
