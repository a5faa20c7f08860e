#include "r1cs/gadgets/known_path.h"

#include "r1cs/gadgets/insert.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path_batch.h"
#include "r1cs/gadgets/poseidon.h"

#include <string.h>

static unsigned log2_arity(unsigned arity) {
    return arity == 8 ? 3 : arity == 4 ? 2 : 1;
}

uint32_t cz_known_path_num_siblings(const struct cz_path_shape *shape) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->num_levels; i++) n += shape->arity[i] - 1u;
    return n;
}

uint32_t cz_known_path_num_bits(const struct cz_path_shape *shape) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < shape->num_levels; i++) n += log2_arity(shape->arity[i]);
    return n;
}

void cz_known_path_alloc(struct cz_builder *b, cz_r1cs_var *sibling, const struct cz_path_shape *shape) {
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        cz_num_alloc(b, sibling, shape->arity[i] - 1u);
        sibling += shape->arity[i] - 1u;
    }
}

void cz_known_path_assign_siblings(struct cz_assign *a, const struct cz_path_shape *shape,
                                   const struct cz_path_values *values) {
    struct cz_fr v;
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        for (unsigned k = 0; k + 1u < shape->arity[i]; k++) {
            cz_assign_decode(a, &v, values->sibling[i][k]);
            cz_assign_elem(a, &v);
        }
    }
}

struct level {
    unsigned arity;
    enum cz_path_hash hash;
};

/* Externals: the node, the index bits, the siblings. Outputs: the hash, or for SHA-256 the two nodes to hash. */
static void record_level(struct cz_recorder *r, const void *ctx) {
    const struct level *level = ctx;
    unsigned arity = level->arity, bits = log2_arity(arity), next = 1;
    cz_bit bit[3];
    uint32_t sibling[CZ_INSERT_MAX_ARITY], node[CZ_INSERT_MAX_ARITY];
    for (unsigned i = 0; i < bits; i++) bit[i] = cz_bit_is(cz_recorder_external(next++));
    for (unsigned i = 0; i + 1 < arity; i++) sibling[i] = cz_recorder_external(next++);
    cz_insert_record(r, node, arity, cz_recorder_external(0), bit, sibling);
    if (level->hash == CZ_PATH_POSEIDON) {
        cz_recorder_output(r, cz_bit_is(cz_poseidon_record(r, node, arity)));
        return;
    }
    for (unsigned i = 0; i < arity; i++) cz_recorder_output(r, cz_bit_is(node[i]));
}

void cz_known_path_constrain(struct cz_builder *b, const struct cz_path_shape *shape, cz_r1cs_var leaf,
                             const cz_wire *bit, const cz_r1cs_var *sibling, cz_r1cs_var root) {
    cz_r1cs_var cur = leaf;
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        struct level level = {shape->arity[i], shape->hash};
        bool sha = level.hash == CZ_PATH_SHA256;
        unsigned bits = log2_arity(level.arity), n = 0;
        cz_r1cs_var ext[1 + 3 + CZ_INSERT_MAX_ARITY - 1];
        cz_wire out[2];
        char name[32];
        snprintf(name, sizeof name, "known_path.%s%u", sha ? "sha256." : "", level.arity);
        ext[n++] = cur;
        for (unsigned k = 0; k < bits; k++) ext[n++] = cz_wire_var(*bit++);
        for (unsigned k = 0; k + 1 < level.arity; k++) ext[n++] = *sibling++;
        struct cz_builder_place place = {name, NULL, 0, ext, n, record_level, &level};
        cz_builder_place(b, &place, out, sha ? 2 : 1);
        cur = cz_wire_var(out[0]);
        if (sha) cur = cz_path_constrain_node(b, cur, cz_wire_var(out[1]));
    }
    cz_num_equal(b, cur, root);
}

void cz_known_path_assign(struct cz_assign *a, const struct cz_path_shape *shape, const struct cz_path_plans *plans,
                          const struct cz_path_values *values) {
    struct cz_fr cur, sibling, node[2];
    uint8_t bytes[32], left[32], right[32];
    if (shape->hash == CZ_PATH_POSEIDON) {
        struct cz_path_batch one;
        cz_path_batch_init(&one, shape, true);
        cz_path_batch_add(&one, a, values);
        cz_path_batch_finish(&one);
        return;
    }
    cz_assign_decode(a, &cur, values->leaf);
    memcpy(bytes, values->leaf, 32);
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        const unsigned position = values->index[i] & 1;
        cz_assign_decode(a, &sibling, values->sibling[i][0]);
        cz_insert_assign(a, node, 2, &cur, position, &sibling);
        memcpy(left, position ? values->sibling[i][0] : bytes, 32);
        memcpy(right, position ? bytes : values->sibling[i][0], 32);
        cz_path_assign_node(a, plans, bytes, left, right);
        cz_assign_decode(a, &cur, bytes);
    }
}

/* Externals: the bits, then the list. The highest bit halves first. */
static void record_select(struct cz_recorder *r, const void *ctx) {
    unsigned num_bits = *(const unsigned *)ctx;
    uint32_t list[CZ_SELECT_MAX] = {0};
    for (uint32_t j = 0; j < 1u << num_bits; j++) list[j] = cz_recorder_external(num_bits + j);
    for (unsigned i = num_bits; i-- > 0;)
        for (uint32_t j = 0, half = 1u << i; j < half; j++)
            list[j] = cz_insert_record_pick(r, cz_bit_is(cz_recorder_external(i)), list[half + j], list[j]);
    cz_recorder_output(r, cz_bit_is(list[0]));
}

cz_r1cs_var cz_select_constrain(struct cz_builder *b, const cz_r1cs_var *list, const cz_wire *bit, unsigned num_bits) {
    cz_r1cs_var ext[8 + CZ_SELECT_MAX];
    cz_wire out;
    char name[24];
    snprintf(name, sizeof name, "select.%u", 1u << num_bits);
    for (unsigned i = 0; i < num_bits; i++) ext[i] = cz_wire_var(bit[i]);
    memcpy(ext + num_bits, list, sizeof *list << num_bits);
    struct cz_builder_place place = {name, NULL, 0, ext, num_bits + (1u << num_bits), record_select, &num_bits};
    cz_builder_place(b, &place, &out, 1);
    return cz_wire_var(out);
}

void cz_select_assign(struct cz_assign *a, const struct cz_fr *list, uint32_t index, unsigned num_bits) {
    for (unsigned i = num_bits; i-- > 0;) {
        uint32_t high = index >> i << i; /* the bits decided by now */
        for (uint32_t j = 0; j < 1u << i; j++) cz_assign_elem(a, &list[high + j]);
    }
}
