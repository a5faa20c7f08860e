#include "r1cs/gadgets/label.h"

#include "base/bytes.h"
#include "hash/sha256.h"
#include "r1cs/gadgets/num.h"

#include <string.h>

#define MESSAGE_BITS (256u * (2 + CZ_LABEL_PARENTS))

cz_r1cs_var cz_label_constrain(struct cz_builder *b, const cz_wire replica_id[256],
                               cz_wire (*const parent[CZ_LABEL_PARENTS])[256], uint32_t layer, const cz_wire node[64]) {
    cz_wire message[MESSAGE_BITS], out[256];
    memcpy(message, replica_id, 256 * sizeof *message);
    for (unsigned i = 0; i < 32; i++) message[256 + i] = cz_wire_const(layer >> (31 - i) & 1);
    memcpy(message + 288, node, 64 * sizeof *message);
    for (unsigned i = 352; i < 512; i++) message[i] = cz_wire_const(false);
    for (unsigned k = 0; k < CZ_LABEL_PARENTS; k++) memcpy(message + 512 + 256 * k, *parent[k], 256 * sizeof *message);
    cz_sha256_constrain(b, out, message, MESSAGE_BITS);
    cz_num_reverse_bytes(out, out, 256);
    return cz_num_pack(b, out, 256);
}

void cz_label_plan_first(struct cz_sha256_plan *plan, uint32_t layer) {
    uint32_t variable[24] = {0}, value[24] = {0};
    memset(variable, 0xff, 8 * sizeof *variable);
    variable[7] = 0xffffff7f;
    variable[9] = variable[10] = UINT32_MAX;
    value[8] = layer;
    memcpy(value + 16, CZ_SHA256_IV, 8 * sizeof *value);
    cz_sha256_plan_init(plan, variable, value);
}

void cz_label_plans_init(struct cz_label_plans *plans) {
    uint32_t variable[24], value[24] = {0};
    memset(variable, 0xff, sizeof variable);
    variable[7] = variable[15] = 0xffffff7f;
    cz_sha256_plan_init(&plans->parents, variable, value);
    memset(variable + 8, 0, 8 * sizeof *variable);
    value[8] = 0x80000000u;
    value[15] = MESSAGE_BITS;
    cz_sha256_plan_init(&plans->last, variable, value);
}

void cz_label_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_label_plans *plans,
                     const struct cz_sha256_plan *first, const uint8_t replica_id[32],
                     const uint8_t *const parent[CZ_LABEL_PARENTS], uint32_t layer, uint64_t node) {
    uint8_t block[64] = {0}, label[32];
    uint32_t state[8];
    memcpy(state, CZ_SHA256_IV, sizeof state);
    memcpy(block, replica_id, 32);
    cz_store_be32(block + 32, layer);
    cz_store_be64(block + 36, node);
    cz_sha256_assign_block(a, first, state, block);
    for (unsigned k = 0; k + 1 < CZ_LABEL_PARENTS; k += 2) {
        memcpy(block, parent[k], 32);
        memcpy(block + 32, parent[k + 1], 32);
        cz_sha256_assign_block(a, &plans->parents, state, block);
    }
    memset(block, 0, sizeof block);
    memcpy(block, parent[CZ_LABEL_PARENTS - 1], 32);
    block[32] = 0x80;
    cz_store_be32(block + 60, MESSAGE_BITS);
    cz_sha256_assign_block(a, &plans->last, state, block);
    for (unsigned i = 0; i < 8; i++) cz_store_be32(label + 4 * i, state[i]);
    label[31] &= 0x3f;
    cz_assign_decode(a, out, label);
    cz_assign_elem(a, out);
}
