#ifndef CUZK_R1CS_GADGETS_SHA256_H
#define CUZK_R1CS_GADGETS_SHA256_H

/*
 * SHA-256 (spec/gadgets.md §3, §4). One template per pattern of constant and variable bits of one compression, since
 * the packed equalities (MultiEq) end with the block.
 */

#include "r1cs/assign.h"
#include "r1cs/builder.h"

/** state and out: 8 words, each most significant bit first; block: 512 bits in message order. out may alias state. */
void cz_sha256_constrain_block(struct cz_builder *b, cz_wire out[256], const cz_wire state[256],
                               const cz_wire block[512]);

/** The constant initial state as wires. */
void cz_sha256_iv_wires(cz_wire out[256]);

/** The whole hash: pads to blocks. n is a multiple of 8. CZ_ERR_MEMORY shows in cz_builder_finish. */
void cz_sha256_constrain(struct cz_builder *b, cz_wire out[256], const cz_wire *message, size_t n);

/**
 * Which bits of a compression are variables, learned by a dry recording. Words 0…15 are the block, 16…23 the state;
 * `variable` has the bits that are plain variables, `value` those of the constants among the rest.
 */
#define CZ_SHA256_MAX_OPS 768
struct cz_sha256_op {
    uint64_t mask;
    uint32_t flip;
    uint8_t num;
    bool low; /* mask = 2^num - 1 */
};
struct cz_sha256_plan {
    uint32_t num_ops;
    struct cz_sha256_op op[CZ_SHA256_MAX_OPS];
};
void cz_sha256_plan_init(struct cz_sha256_plan *plan, const uint32_t variable[24], const uint32_t value[24]);

/** One compression of a 64-byte block into state. */
void cz_sha256_assign_block(struct cz_assign *a, const struct cz_sha256_plan *plan, uint32_t state[8],
                            const uint8_t block[64]);

#endif
