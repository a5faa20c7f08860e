#ifndef CUZK_R1CS_GADGETS_KNOWN_PATH_H
#define CUZK_R1CS_GADGETS_KNOWN_PATH_H

/*
 * A Merkle path whose index bits and siblings are variables already (por_no_challenge_input, spec/gadgets.md §8), and
 * the choice of one among 2^k numbers (§7).
 */

#include "r1cs/gadgets/path.h"

#define CZ_SELECT_MAX 128

/** Siblings of all levels, lowest first; n = Σ (arity - 1). */
uint32_t cz_known_path_num_siblings(const struct cz_path_shape *shape);
uint32_t cz_known_path_num_bits(const struct cz_path_shape *shape);
/** Allocates the siblings. */
void cz_known_path_alloc(struct cz_builder *b, cz_r1cs_var *sibling, const struct cz_path_shape *shape);
/** Writes them. */
void cz_known_path_assign_siblings(struct cz_assign *a, const struct cz_path_shape *shape,
                                   const struct cz_path_values *values);

/** Levels, then `cur · 1 = root`. bit: plain variables, lowest first; all variables of a level are distinct. */
void cz_known_path_constrain(struct cz_builder *b, const struct cz_path_shape *shape, cz_r1cs_var leaf,
                             const cz_wire *bit, const cz_r1cs_var *sibling, cz_r1cs_var root);
/** Writes what the levels allocate. plans may be NULL for Poseidon. */
void cz_known_path_assign(struct cz_assign *a, const struct cz_path_shape *shape, const struct cz_path_plans *plans,
                          const struct cz_path_values *values);

/** list[Σ 2^i·bit_i] of 2^num_bits <= CZ_SELECT_MAX numbers, num_bits >= 1. */
cz_r1cs_var cz_select_constrain(struct cz_builder *b, const cz_r1cs_var *list, const cz_wire *bit, unsigned num_bits);
void cz_select_assign(struct cz_assign *a, const struct cz_fr *list, uint32_t index, unsigned num_bits);

#endif
