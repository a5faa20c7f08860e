#ifndef CUZK_R1CS_GADGETS_NUM_H
#define CUZK_R1CS_GADGETS_NUM_H

/* Numbers and bits: allocation, equality, packing, decomposition (spec/gadgets.md §1, §2). */

#include "r1cs/assign.h"
#include "r1cs/builder.h"

#define CZ_NUM_BITS 255
#define CZ_NUM_PACK 254 /* bits that one packed number takes */
#define CZ_NUM_MAX_ALLOC 64

/** n <= CZ_NUM_MAX_ALLOC numbers, no constraint. Assign: cz_assign_elem each. */
void cz_num_alloc(struct cz_builder *b, cz_r1cs_var *out, uint32_t n);
/** n bits, each with its constraint. Assign: cz_assign_bits. */
void cz_num_alloc_bits(struct cz_builder *b, cz_wire *out, uint32_t n);
/** i := input; i·1 = x. Assign: cz_assign_input. */
cz_r1cs_var cz_num_inputize(struct cz_builder *b, cz_r1cs_var x);
/** x·1 = y. */
void cz_num_equal(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y);
/** s := alloc; (x + y)·1 = s. Assign: cz_assign_elem. */
cz_r1cs_var cz_num_add(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y);

/** The 255 bits of x, lowest first. */
void cz_num_to_bits(struct cz_builder *b, cz_wire out[CZ_NUM_BITS], cz_r1cs_var x);
/** le: x canonical. */
void cz_num_to_bits_assign(struct cz_assign *a, const uint8_t le[32]);
/**
 * The bits of x as the only decomposition below r, lowest first: a run of zeros of r - 1 must be zeros of x when all
 * ones before it are ones of x. No Filecoin circuit uses it.
 */
void cz_num_to_bits_strict(struct cz_builder *b, cz_wire out[CZ_NUM_BITS], cz_r1cs_var x);
void cz_num_to_bits_strict_assign(struct cz_assign *a, const uint8_t le[32]);
/** to_bits in the order in which SHA-256 reads the number's 32 bytes; bit 255 is the constant 0. */
void cz_num_to_sha_bits(struct cz_builder *b, cz_wire out[256], cz_r1cs_var x);

/** v := alloc; Σ 2^i·bit_i · 1 = v over the first 254 bits at most. Assign: cz_assign_elem. */
cz_r1cs_var cz_num_pack(struct cz_builder *b, const cz_wire *bit, uint32_t n);
/** One input per 254 bits. Assign: cz_assign_input each. */
void cz_num_pack_into_inputs(struct cz_builder *b, const cz_wire *bit, uint32_t n);

/** Reverses each group of 8 bits; n is a multiple of 8; in place is allowed. */
void cz_num_reverse_bytes(cz_wire *out, const cz_wire *in, uint32_t n);

#endif
