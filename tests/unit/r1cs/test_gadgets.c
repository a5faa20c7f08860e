/*
 * Holds both halves of every gadget together: on random inputs `assign` fills exactly the variables that `constrain`
 * allocated, all constraints hold, evaluation equals the plain sum, and a changed value breaks a constraint.
 */

#include "base/bytes.h"
#include "hash/sha256.h"
#include "r1cs/builder.h"
#include "r1cs/gadgets/insert.h"
#include "r1cs/gadgets/label.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path.h"
#include "r1cs/gadgets/poseidon.h"
#include "support.h"

#include <string.h>

static uint64_t seed;

static void random_node(uint8_t le[32], struct cz_fr *fr) {
    for (int i = 0; i < 4; i++) cz_store_le64(le + 8 * i, test_random(&seed));
    le[31] &= 0x3f;
    if (fr) assert_int_equal(cz_fr_from_le(fr, le), CZ_OK);
}

struct gadget {
    const char *name;
    void (*constrain)(struct cz_builder *b, unsigned arg);
    void (*assign)(struct cz_assign *a, unsigned arg);
    unsigned arg;
};

/* ---- num ---- */

static void num_constrain(struct cz_builder *b, unsigned arg) {
    cz_r1cs_var x[2];
    cz_wire bit[CZ_NUM_BITS];
    (void)arg;
    cz_num_alloc(b, x, 2);
    cz_num_inputize(b, x[1]);
    cz_num_to_bits_strict(b, bit, x[0]);
    cz_num_to_bits(b, bit, cz_num_add(b, x[0], x[1]));
    cz_num_equal(b, x[1], x[0]);
}

static void num_assign(struct cz_assign *a, unsigned arg) {
    struct cz_fr v, sum;
    uint8_t le[32];
    (void)arg;
    random_node(le, &v);
    cz_assign_elem(a, &v);
    cz_assign_elem(a, &v);
    cz_assign_input(a, &v);
    cz_num_to_bits_strict_assign(a, le);
    cz_fr_dbl(&sum, &v);
    cz_assign_elem(a, &sum);
    cz_fr_to_le(le, &sum);
    cz_num_to_bits_assign(a, le);
}

/* arg bits, every sixth complemented and every sixth constant */
static void pack_constrain(struct cz_builder *b, unsigned arg) {
    cz_wire bit[600];
    for (unsigned i = 0; i < arg; i++) {
        if (i % 6 == 3)
            bit[i] = CZ_BIT_TRUE;
        else
            cz_num_alloc_bits(b, &bit[i], 1);
        if (i % 6 == 0) bit[i] ^= 1;
    }
    cz_num_pack(b, bit, arg);
    cz_num_pack_into_inputs(b, bit, arg);
}

static void pack_assign(struct cz_assign *a, unsigned arg) {
    struct cz_fr packed = CZ_FR_ZERO, power = CZ_FR_ONE;
    for (unsigned i = 0; i < arg; i++) {
        bool v = i % 6 == 3 || (test_random(&seed) & 1);
        if (i % 6 != 3) cz_assign_bits(a, v, 1);
        if (i % 6 == 0) v = !v;
        if (v) cz_fr_add(&packed, &packed, &power);
        cz_fr_dbl(&power, &power);
        if (i + 1 < arg && (i + 1) % CZ_NUM_PACK) continue;
        if (i < CZ_NUM_PACK) cz_assign_elem(a, &packed);
        cz_assign_input(a, &packed);
        packed = CZ_FR_ZERO;
        power = CZ_FR_ONE;
    }
    if (!arg) cz_assign_elem(a, &packed);
}

/* ---- Poseidon ---- */

static void poseidon_constrain(struct cz_builder *b, unsigned arity) {
    cz_r1cs_var in[11];
    cz_num_alloc(b, in, arity);
    cz_poseidon_constrain(b, in, arity);
}

static void poseidon_assign(struct cz_assign *a, unsigned arity) {
    struct cz_fr in[11], out, expected;
    uint8_t le[32];
    for (unsigned i = 0; i < arity; i++) {
        random_node(le, &in[i]);
        cz_assign_elem(a, &in[i]);
    }
    cz_poseidon_assign(a, &out, in, arity);
    cz_poseidon_hash(&expected, in, arity);
    assert_true(cz_fr_eq(&out, &expected));
}

/* ---- SHA-256, with patterns of constants that differ from case to case ---- */

static void sha_pattern(unsigned arg, uint32_t variable[24], uint32_t value[24]) {
    uint64_t s = 77 + arg;
    for (unsigned k = 0; k < 24; k++) {
        uint32_t x = (uint32_t)(test_random(&s) >> 32), y = (uint32_t)(test_random(&s) >> 32);
        value[k] = (uint32_t)(test_random(&s) >> 32);
        switch (arg % 6) {
        case 0:
            variable[k] = UINT32_MAX;
            break;
        case 1:
            variable[k] = k < 16 ? UINT32_MAX : 0;
            break;
        case 2:
            variable[k] = x;
            break;
        case 3:
            variable[k] = x & y;
            break;
        case 4:
            variable[k] = x & 1 ? UINT32_MAX : 0;
            break;
        default:
            variable[k] = k == 23 ? 1 : 0;
            break;
        }
    }
    if (arg == 11) variable[23] = 0; /* all constant: nothing is allocated */
}

static void sha_constrain(struct cz_builder *b, unsigned arg) {
    uint32_t variable[24], value[24];
    cz_wire in[768], bit[768], out[256];
    uint32_t n = 0, used = 0;
    sha_pattern(arg, variable, value);
    for (unsigned k = 0; k < 24; k++) n += (uint32_t)__builtin_popcount(variable[k]);
    cz_num_alloc_bits(b, bit, n);
    for (unsigned i = 0; i < 768; i++) {
        bool is = variable[i / 32] >> (31 - i % 32) & 1;
        in[i] = is ? bit[used++] : cz_wire_const(value[i / 32] >> (31 - i % 32) & 1);
    }
    cz_sha256_constrain_block(b, out, in + 512, in);
}

static void sha_assign(struct cz_assign *a, unsigned arg) {
    static struct cz_sha256_plan plan;
    uint32_t variable[24], value[24], state[8], expected[8];
    uint8_t block[64];
    sha_pattern(arg, variable, value);
    cz_sha256_plan_init(&plan, variable, value);
    assert_true(plan.num_ops < CZ_SHA256_MAX_OPS);
    for (unsigned k = 0; k < 24; k++) {
        uint32_t v = (value[k] & ~variable[k]) | ((uint32_t)test_random(&seed) & variable[k]);
        for (unsigned i = 32; i--;)
            if (variable[k] >> i & 1) cz_assign_bits(a, v >> i & 1, 1);
        if (k < 16)
            cz_store_be32(block + 4 * k, v);
        else
            state[k - 16] = expected[k - 16] = v;
    }
    cz_sha256_assign_block(a, &plan, state, block);
    cz_sha256_blocks(expected, block, 1);
    assert_memory_equal(state, expected, sizeof state);
}

/* ---- paths: arities as decimal digits, from the leaf; 1 stands for a level of SHA-256 ---- */

static void path_shape(struct cz_path_shape *shape, unsigned arg) {
    memset(shape, 0, sizeof *shape);
    for (; arg; arg /= 10) {
        shape->hash = arg % 10 == 1 ? CZ_PATH_SHA256 : CZ_PATH_POSEIDON;
        shape->arity[shape->num_levels++] = arg % 10 == 1 ? 2 : (uint8_t)(arg % 10);
    }
}

static void path_constrain(struct cz_builder *b, unsigned arg) {
    struct cz_path_shape shape;
    cz_r1cs_var x[2];
    path_shape(&shape, arg);
    cz_num_alloc(b, x, 2);
    cz_path_constrain(b, &shape, x[0], x[1]);
}

static void path_assign(struct cz_assign *a, unsigned arg) {
    static struct cz_path_plans plans;
    struct cz_path_shape shape;
    struct cz_path_values values;
    uint8_t leaf[32], sibling[8][7][32], cur[32];
    struct cz_fr fr, node[8];
    cz_path_plans_init(&plans);
    path_shape(&shape, arg);
    random_node(leaf, &fr);
    cz_assign_elem(a, &fr);
    values.leaf = leaf;
    memcpy(cur, leaf, 32);
    for (uint32_t i = 0; i < shape.num_levels; i++) {
        unsigned arity = shape.arity[i];
        values.index[i] = (uint32_t)test_random(&seed) % arity;
        for (unsigned k = 0; k < 7; k++) random_node(sibling[i][k], NULL);
        values.sibling[i] = (const uint8_t(*)[32])sibling[i];
        uint8_t ordered[8][32];
        for (unsigned k = 0, s = 0; k < arity; k++)
            memcpy(ordered[k], k == values.index[i] ? cur : sibling[i][s++], 32);
        if (shape.hash == CZ_PATH_SHA256) {
            cz_sha256_node(cur, ordered[0], ordered[1]);
            continue;
        }
        for (unsigned k = 0; k < arity; k++) assert_int_equal(cz_fr_from_le(&node[k], ordered[k]), CZ_OK);
        cz_poseidon_hash(&fr, node, arity);
        cz_fr_to_le(cur, &fr);
    }
    assert_int_equal(cz_fr_from_le(&fr, cur), CZ_OK);
    cz_assign_elem(a, &fr); /* the root, computed apart */
    cz_path_assign(a, &shape, &plans, &values);
}

/* ---- label ---- */

static void label_constrain(struct cz_builder *b, unsigned layer) {
    static cz_wire bits[15][256];
    cz_wire(*parent[CZ_LABEL_PARENTS])[256], node[64];
    cz_r1cs_var x[15];
    cz_num_alloc(b, x, 15);
    for (unsigned i = 0; i < 15; i++) cz_num_to_sha_bits(b, bits[i], x[i]);
    cz_num_alloc_bits(b, node, 64);
    for (unsigned k = 0; k < CZ_LABEL_PARENTS; k++) parent[k] = &bits[1 + k % 14];
    cz_label_constrain(b, bits[0], parent, layer, node);
}

static void label_assign(struct cz_assign *a, unsigned layer) {
    static struct cz_label_plans plans;
    static struct cz_sha256_plan first;
    uint8_t le[15][32], message[32 * 39] = {0}, expected[32], got[32];
    const uint8_t *parent[CZ_LABEL_PARENTS];
    struct cz_fr fr;
    uint64_t node = test_random(&seed);
    for (unsigned i = 0; i < 15; i++) {
        random_node(le[i], &fr);
        cz_assign_elem(a, &fr);
    }
    for (unsigned i = 0; i < 15; i++) cz_num_to_bits_assign(a, le[i]);
    for (unsigned i = 64; i--;) cz_assign_bits(a, node >> i & 1, 1); /* most significant first */
    cz_label_plans_init(&plans);
    cz_label_plan_first(&first, layer);
    memcpy(message, le[0], 32);
    cz_store_be32(message + 32, layer);
    cz_store_be64(message + 36, node);
    for (unsigned k = 0; k < CZ_LABEL_PARENTS; k++) {
        parent[k] = le[1 + k % 14];
        memcpy(message + 64 + 32 * k, parent[k], 32);
    }
    cz_label_assign(a, &fr, &plans, &first, le[0], parent, layer, node);
    cz_sha256_bytes(expected, message, sizeof message);
    expected[31] &= 0x3f;
    cz_fr_to_le(got, &fr);
    assert_memory_equal(got, expected, 32);
}

static const struct gadget GADGETS[] = {
    {"num", num_constrain, num_assign, 0},
    {"pack 0", pack_constrain, pack_assign, 0},
    {"pack 1", pack_constrain, pack_assign, 1},
    {"pack 64", pack_constrain, pack_assign, 64},
    {"pack 254", pack_constrain, pack_assign, 254},
    {"pack 255", pack_constrain, pack_assign, 255},
    {"pack 600", pack_constrain, pack_assign, 600},
    {"poseidon 2", poseidon_constrain, poseidon_assign, 2},
    {"poseidon 4", poseidon_constrain, poseidon_assign, 4},
    {"poseidon 8", poseidon_constrain, poseidon_assign, 8},
    {"poseidon 11", poseidon_constrain, poseidon_assign, 11},
    {"sha256, all variable", sha_constrain, sha_assign, 0},
    {"sha256, constant state", sha_constrain, sha_assign, 1},
    {"sha256, half of the bits", sha_constrain, sha_assign, 2},
    {"sha256, a quarter of the bits", sha_constrain, sha_assign, 3},
    {"sha256, half of the words", sha_constrain, sha_assign, 4},
    {"sha256, one bit", sha_constrain, sha_assign, 5},
    {"sha256, other half of the bits", sha_constrain, sha_assign, 8},
    {"sha256, other quarter", sha_constrain, sha_assign, 9},
    {"sha256, other words", sha_constrain, sha_assign, 10},
    {"sha256, all constant", sha_constrain, sha_assign, 11},
    {"path 2", path_constrain, path_assign, 22},
    {"path 4", path_constrain, path_assign, 44},
    {"path 8-8-2", path_constrain, path_assign, 2888},
    {"path 8-4-2", path_constrain, path_assign, 2488},
    {"path of SHA-256", path_constrain, path_assign, 111},
    {"label 1", label_constrain, label_assign, 1},
    {"label 11", label_constrain, label_assign, 11},
};

static void check_eval(const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    size_t n = (size_t)r1cs->num_constraints + 1;
    struct cz_fr *v[3], sum, z;
    for (int m = 0; m < 3; m++) assert_non_null(v[m] = cz_calloc(n, sizeof *v[m]));
    /* in two ranges, the way threads do it */
    uint32_t half = r1cs->num_instances / 2;
    cz_witness_eval(v[0], v[1], v[2], w, r1cs, half, r1cs->num_instances - half);
    cz_witness_eval(v[0], v[1], v[2], w, r1cs, 0, half);
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        for (uint32_t k = 0; k < t->num_constraints; k++)
            for (int m = 0; m < 3; m++) {
                sum = CZ_FR_ZERO;
                for (uint32_t at = t->row[m][k]; at < t->row[m][k + 1]; at++) {
                    cz_witness_get(&z, w, r1cs, cz_r1cs_column_var(r1cs, inst, t->term[m][at].col));
                    if (cz_fr_is_zero(&z)) continue;
                    cz_fr_mul(&z, &z, &r1cs->coef[t->term[m][at].coef]);
                    cz_fr_add(&sum, &sum, &z);
                }
                assert_true(cz_fr_eq(&sum, &v[m][inst->first_constraint + k]));
            }
    }
    for (int m = 0; m < 3; m++) cz_free(v[m]);
}

static bool satisfied(const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    return cz_witness_first_unsatisfied(w, r1cs, NULL) == r1cs->num_constraints;
}

static void halves_agree(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof GADGETS / sizeof *GADGETS; i++) {
        const struct gadget *g = &GADGETS[i];
        struct cz_builder *b;
        struct cz_r1cs *r1cs;
        struct cz_witness w;
        struct cz_assign a;
        struct cz_error err = {0};
        seed = 1000 + i;
        assert_int_equal(cz_builder_create(&b), CZ_OK);
        g->constrain(b, g->arg);
        if (cz_builder_finish(&r1cs, b, &err)) fail_msg("%s: %s", g->name, err.detail);
        assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
        cz_assign_init(&a, &w);
        g->assign(&a, g->arg);
        if (cz_assign_finish(&a, &err)) fail_msg("%s: %s", g->name, err.detail);
        const char *name = "";
        uint32_t row = cz_witness_first_unsatisfied(&w, r1cs, &name);
        if (row != r1cs->num_constraints) fail_msg("%s: constraint %u (%s) does not hold", g->name, row, name);
        check_eval(&w, r1cs);

        bool large = r1cs->num_constraints > 100000;
        for (unsigned k = 0; w.num_bits && k < (large ? 2 : 12); k++) {
            uint32_t at = (uint32_t)(test_random(&seed) % w.num_bits);
            w.bit[at / 64] ^= 1ull << (at % 64);
            if (satisfied(&w, r1cs)) fail_msg("%s: bit %u can be changed", g->name, at);
            w.bit[at / 64] ^= 1ull << (at % 64);
        }
        for (unsigned k = 0; w.num_elems && k < (large ? 2 : 12); k++) {
            uint32_t at = (uint32_t)(test_random(&seed) % w.num_elems);
            struct cz_fr kept = w.elem[at];
            cz_fr_add(&w.elem[at], &kept, &CZ_FR_ONE);
            if (satisfied(&w, r1cs)) fail_msg("%s: element %u can be changed", g->name, at);
            w.elem[at] = kept;
        }
        for (uint32_t k = 1; k < w.num_inputs; k++) {
            struct cz_fr kept = w.input[k];
            cz_fr_dbl(&w.input[k], &kept);
            cz_fr_add(&w.input[k], &w.input[k], &CZ_FR_ONE);
            if (satisfied(&w, r1cs)) fail_msg("%s: input %u can be changed", g->name, k);
            w.input[k] = kept;
        }
        cz_witness_done(&w);
        cz_r1cs_destroy(r1cs);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(halves_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
