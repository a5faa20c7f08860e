#include "r1cs/gadgets/path.h"

#include "base/bytes.h"
#include "hash/sha256.h"
#include "r1cs/gadgets/insert.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path_batch.h"
#include "r1cs/gadgets/poseidon.h"

#include <string.h>

static unsigned log2_arity(unsigned arity) {
    return arity == 8 ? 3 : arity == 4 ? 2 : 1;
}

struct level {
    unsigned arity;
    enum cz_path_hash hash;
};

/* Outputs: the index bits, then the hash, or for SHA-256 the two nodes to hash. */
static void record_level(struct cz_recorder *r, const void *ctx) {
    const struct level *level = ctx;
    unsigned arity = level->arity, bits = log2_arity(arity);
    cz_bit bit[3];
    uint32_t sibling[CZ_INSERT_MAX_ARITY], node[CZ_INSERT_MAX_ARITY];
    for (unsigned i = 0; i < bits; i++) cz_recorder_output(r, bit[i] = cz_recorder_alloc_bit(r));
    for (unsigned i = 0; i + 1 < arity; i++) sibling[i] = cz_recorder_elem(r);
    cz_insert_record(r, node, arity, cz_recorder_external(0), bit, sibling);
    if (level->hash == CZ_PATH_POSEIDON) {
        cz_recorder_output(r, cz_bit_is(cz_poseidon_record(r, node, arity)));
        return;
    }
    for (unsigned i = 0; i < arity; i++) cz_recorder_output(r, cz_bit_is(node[i]));
}

cz_r1cs_var cz_path_constrain_node(struct cz_builder *b, cz_r1cs_var left, cz_r1cs_var right) {
    cz_wire bit[512], out[256];
    cz_num_to_sha_bits(b, bit, left);
    cz_num_to_sha_bits(b, bit + 256, right);
    cz_sha256_constrain(b, out, bit, 512);
    cz_num_reverse_bytes(out, out, 256);
    return cz_num_pack(b, out, 256);
}

void cz_path_constrain(struct cz_builder *b, const struct cz_path_shape *shape, cz_r1cs_var leaf, cz_r1cs_var root) {
    cz_wire index[CZ_PATH_MAX_BITS], out[3 + 2];
    uint32_t num_bits = 0;
    cz_r1cs_var cur = leaf;
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        struct level level = {shape->arity[i], shape->hash};
        bool sha = level.hash == CZ_PATH_SHA256;
        unsigned bits = log2_arity(level.arity);
        char name[24];
        snprintf(name, sizeof name, "path.%s%u", sha ? "sha256." : "", level.arity);
        struct cz_builder_place place = {name, NULL, 0, &cur, 1, record_level, &level};
        cz_builder_place(b, &place, out, bits + (sha ? 2 : 1));
        memcpy(index + num_bits, out, bits * sizeof *out);
        num_bits += bits;
        cur = cz_wire_var(out[bits]);
        if (sha) cur = cz_path_constrain_node(b, cur, cz_wire_var(out[bits + 1]));
    }
    cz_num_pack_into_inputs(b, index, num_bits);
    cz_num_equal(b, cur, root);
}

void cz_path_plans_init(struct cz_path_plans *plans) {
    uint32_t variable[24], value[24] = {0};
    memset(variable, 0xff, sizeof variable);
    variable[7] = variable[15] = 0xffffff7f; /* bit 255 of a node is constant */
    memset(variable + 16, 0, 8 * sizeof *variable);
    memcpy(value + 16, CZ_SHA256_IV, 8 * sizeof *value);
    cz_sha256_plan_init(&plans->nodes, variable, value);
    memset(variable, 0, 16 * sizeof *variable);
    memset(variable + 16, 0xff, 8 * sizeof *variable);
    memset(value, 0, sizeof value);
    value[0] = 0x80000000u;
    value[15] = 512;
    cz_sha256_plan_init(&plans->padding, variable, value);
}

void cz_path_assign_node(struct cz_assign *a, const struct cz_path_plans *plans, uint8_t out[32],
                         const uint8_t left[32], const uint8_t right[32]) {
    uint8_t block[64], padding[64] = {0x80};
    uint32_t state[8];
    cz_num_to_bits_assign(a, left);
    cz_num_to_bits_assign(a, right);
    memcpy(block, left, 32);
    memcpy(block + 32, right, 32);
    memcpy(state, CZ_SHA256_IV, sizeof state);
    cz_sha256_assign_block(a, &plans->nodes, state, block);
    cz_store_be32(padding + 60, 512);
    cz_sha256_assign_block(a, &plans->padding, state, padding);
    for (unsigned i = 0; i < 8; i++) cz_store_be32(out + 4 * i, state[i]);
    out[31] &= 0x3f;
    struct cz_fr packed;
    cz_assign_decode(a, &packed, out);
    cz_assign_elem(a, &packed);
}

void cz_path_assign(struct cz_assign *a, const struct cz_path_shape *shape, const struct cz_path_plans *plans,
                    const struct cz_path_values *values) {
    struct cz_fr cur, sibling, node[2], packed;
    uint8_t bytes[32], left[32], right[32], le[32];
    uint64_t index[4] = {0};
    if (shape->hash == CZ_PATH_POSEIDON) {
        struct cz_path_batch one;
        cz_path_batch_init(&one, shape, false);
        cz_path_batch_add(&one, a, values);
        cz_path_batch_finish(&one);
        return;
    }
    cz_assign_decode(a, &cur, values->leaf);
    memcpy(bytes, values->leaf, 32);
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        const unsigned position = values->index[i] & 1;
        cz_assign_bits(a, position, 1);
        index[i / 64] |= (uint64_t)position << (i % 64);
        cz_assign_decode(a, &sibling, values->sibling[i][0]);
        cz_assign_elem(a, &sibling);
        cz_insert_assign(a, node, 2, &cur, position, &sibling);
        memcpy(left, position ? values->sibling[i][0] : bytes, 32);
        memcpy(right, position ? bytes : values->sibling[i][0], 32);
        cz_path_assign_node(a, plans, bytes, left, right);
        cz_assign_decode(a, &cur, bytes);
    }
    for (unsigned k = 0; k < 4; k++) cz_store_le64(le + 8 * k, index[k]);
    cz_assign_decode(a, &packed, le);
    cz_assign_input(a, &packed);
}
