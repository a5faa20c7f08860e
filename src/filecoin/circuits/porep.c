#include "filecoin/circuits/porep.h"

#include "base/bytes.h"
#include "r1cs/gadgets/label.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path_batch.h"
#include "r1cs/gadgets/poseidon.h"

#include <string.h>

#define PARENTS (CZ_DRG_PARENTS + CZ_EXP_PARENTS)
#define MAX_LAYERS 11

/* Trees C and R have one shape. */
static void tree_shape(struct cz_path_shape *shape, const struct cz_sector_info *sector) {
    memset(shape, 0, sizeof *shape);
    shape->hash = CZ_PATH_POSEIDON;
    for (uint32_t i = 0; i < sector->base_levels; i++) shape->arity[shape->num_levels++] = 8;
    if (sector->sub_arity) shape->arity[shape->num_levels++] = (uint8_t)sector->sub_arity;
    if (sector->top_arity) shape->arity[shape->num_levels++] = (uint8_t)sector->top_arity;
}

static void data_shape(struct cz_path_shape *shape, const struct cz_sector_info *sector) {
    memset(shape, 0, sizeof *shape);
    shape->hash = CZ_PATH_SHA256;
    for (uint32_t i = 0; i < sector->nodes_log2; i++) shape->arity[shape->num_levels++] = 2;
}

/* Parents of a label in layer 1: the base ones, else all; repeated up to 37. */
static unsigned parents_in_layer(unsigned layer) {
    return layer == 1 ? CZ_DRG_PARENTS : PARENTS;
}

/* ---- constrain ---- */

struct roots {
    cz_r1cs_var comm_d, comm_r_last, comm_c;
};

/* Wires of one challenge; too large for the stack. */
struct challenge_wires {
    cz_r1cs_var row[PARENTS][MAX_LAYERS];
    cz_wire parent[PARENTS][256];
};

static cz_r1cs_var constrain_label(struct cz_builder *b, struct challenge_wires *w, const cz_wire replica_id[256],
                                   unsigned layer, const cz_wire node[64]) {
    cz_wire(*parent[CZ_LABEL_PARENTS])[256];
    unsigned n = parents_in_layer(layer);
    for (unsigned k = 0; k < n; k++) {
        unsigned row = k < CZ_DRG_PARENTS ? layer - 1 : layer - 2;
        cz_num_to_sha_bits(b, w->parent[k], w->row[k][row]);
    }
    for (unsigned k = 0; k < CZ_LABEL_PARENTS; k++) parent[k] = &w->parent[k % n];
    return cz_label_constrain(b, replica_id, parent, layer, node);
}

static void constrain_challenge(struct cz_builder *b, struct challenge_wires *w, const struct cz_sector_info *sector,
                                const struct roots *roots, const cz_wire replica_id[256]) {
    struct cz_path_shape data, tree;
    cz_r1cs_var data_leaf, label[MAX_LAYERS];
    cz_wire bit[64], node[64];
    data_shape(&data, sector);
    tree_shape(&tree, sector);

    cz_num_alloc(b, &data_leaf, 1);
    cz_path_constrain(b, &data, data_leaf, roots->comm_d);
    for (unsigned k = 0; k < PARENTS; k++) {
        cz_num_alloc(b, w->row[k], sector->layers);
        cz_path_constrain(b, &tree, cz_poseidon_constrain(b, w->row[k], sector->layers), roots->comm_c);
    }
    cz_num_alloc_bits(b, bit, 64);
    cz_num_pack_into_inputs(b, bit, 64);
    for (unsigned i = 0; i < 64; i++) node[i] = bit[63 - i];
    for (unsigned layer = 1; layer <= sector->layers; layer++)
        label[layer - 1] = constrain_label(b, w, replica_id, layer, node);
    cz_r1cs_var encoded = cz_num_add(b, label[sector->layers - 1], data_leaf);
    cz_path_constrain(b, &tree, encoded, roots->comm_r_last);
    cz_path_constrain(b, &tree, cz_poseidon_constrain(b, label, sector->layers), roots->comm_c);
}

static enum cz_status check_sector(const struct cz_sector_info *sector, struct cz_error *err) {
    if (sector->layers != 2 && sector->layers != MAX_LAYERS)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: %u layers", sector->name, sector->layers);
    if (sector->base_levels + 2 > CZ_PATH_MAX_LEVELS || sector->nodes_log2 > CZ_PATH_MAX_LEVELS)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: tree too high", sector->name);
    return CZ_OK;
}

enum cz_status cz_porep_circuit_build(struct cz_r1cs **out, const struct cz_sector_info *sector, struct cz_error *err) {
    enum cz_status status = check_sector(sector, err);
    if (status) return status;
    struct challenge_wires *w = cz_malloc_array(1, sizeof *w);
    struct cz_builder *b = NULL;
    if (!w || cz_builder_create(&b)) {
        cz_free(w);
        return cz_error_set(err, CZ_ERR_MEMORY, "PoRep circuit");
    }
    cz_r1cs_var id, comm_r, combined[2]; /* comm_c, comm_r_last */
    cz_wire replica_id[256];
    struct roots roots;
    cz_num_alloc(b, &id, 1);
    cz_num_inputize(b, id);
    cz_num_to_sha_bits(b, replica_id, id);
    cz_num_alloc(b, &roots.comm_d, 1);
    cz_num_inputize(b, roots.comm_d);
    cz_num_alloc(b, &comm_r, 1);
    cz_num_inputize(b, comm_r);
    cz_num_alloc(b, &roots.comm_r_last, 1);
    cz_num_alloc(b, &roots.comm_c, 1);
    combined[0] = roots.comm_c;
    combined[1] = roots.comm_r_last;
    cz_num_equal(b, comm_r, cz_poseidon_constrain(b, combined, 2));
    for (uint32_t i = 0; i < sector->challenges; i++) constrain_challenge(b, w, sector, &roots, replica_id);
    cz_free(w);
    return cz_builder_finish(out, b, err);
}

/* ---- assign ---- */

struct assigning {
    struct cz_assign a;
    const struct cz_c1 *c1;
    const struct cz_sector_info *sector;
    struct cz_path_shape data, tree;
    struct cz_path_batch batch; /* of `tree` */
    struct cz_path_plans path;
    struct cz_label_plans label;
    struct cz_sha256_plan first[MAX_LAYERS];
};

static void path_values(struct cz_path_values *v, const struct cz_merkle_proof *proof, const uint8_t *leaf) {
    v->leaf = leaf;
    for (uint32_t i = 0; i < proof->num_levels; i++) {
        v->index[i] = proof->level[i].index;
        v->sibling[i] = proof->level[i].sibling;
    }
}

/* Also writes the rows, which are allocated here. */
static void assign_column(struct assigning *s, const struct cz_column_proof *column) {
    struct cz_fr row[MAX_LAYERS];
    struct cz_path_values v;
    for (uint32_t i = 0; i < s->sector->layers; i++) {
        cz_assign_decode(&s->a, &row[i], column->row[i]);
        cz_assign_elem(&s->a, &row[i]);
    }
    path_values(&v, &column->inclusion, NULL);
    cz_path_batch_add_hashed(&s->batch, &s->a, row, s->sector->layers, &v);
}

static void assign_label(struct assigning *s, struct cz_fr *out, const struct cz_porep_challenge *ch, unsigned layer) {
    const uint8_t *parent[CZ_LABEL_PARENTS];
    unsigned n = parents_in_layer(layer);
    for (unsigned k = 0; k < n; k++) {
        parent[k] = k < CZ_DRG_PARENTS ? ch->drg[k].row[layer - 1] : ch->exp[k - CZ_DRG_PARENTS].row[layer - 2];
        cz_num_to_bits_assign(&s->a, parent[k]);
    }
    for (unsigned k = n; k < CZ_LABEL_PARENTS; k++) parent[k] = parent[k - n];
    cz_label_assign(&s->a, out, &s->label, &s->first[layer - 1], s->c1->replica_id, parent, layer, ch->node);
}

static void assign_challenge(struct assigning *s, const struct cz_porep_challenge *ch) {
    struct cz_fr leaf, label[MAX_LAYERS], encoded;
    struct cz_path_values v;
    uint8_t le[32];
    uint32_t layers = s->sector->layers;
    cz_assign_decode(&s->a, &leaf, ch->comm_d.leaf);
    cz_assign_elem(&s->a, &leaf);
    path_values(&v, &ch->comm_d, ch->comm_d.leaf);
    cz_path_assign(&s->a, &s->data, &s->path, &v);
    for (unsigned k = 0; k < CZ_DRG_PARENTS; k++) assign_column(s, &ch->drg[k]);
    for (unsigned k = 0; k < CZ_EXP_PARENTS; k++) assign_column(s, &ch->exp[k]);
    cz_assign_bits(&s->a, ch->node, 64);
    cz_assign_input_u64(&s->a, ch->node);
    for (unsigned layer = 1; layer <= layers; layer++) assign_label(s, &label[layer - 1], ch, layer);
    cz_fr_add(&encoded, &label[layers - 1], &leaf);
    cz_assign_elem(&s->a, &encoded);
    cz_fr_to_le(le, &encoded);
    path_values(&v, &ch->comm_r_last, le);
    cz_path_batch_add(&s->batch, &s->a, &v);
    path_values(&v, &ch->c_x.inclusion, NULL);
    cz_path_batch_add_hashed(&s->batch, &s->a, label, layers, &v);
}

static bool proof_fits(const struct cz_merkle_proof *proof, const struct cz_path_shape *shape) {
    if (proof->num_levels != shape->num_levels) return false;
    for (uint32_t i = 0; i < shape->num_levels; i++)
        if (proof->level[i].num_siblings + 1 != shape->arity[i] || proof->level[i].index >= shape->arity[i])
            return false;
    return true;
}

static bool challenge_fits(const struct assigning *s, const struct cz_porep_challenge *ch) {
    bool ok = proof_fits(&ch->comm_d, &s->data) && proof_fits(&ch->comm_r_last, &s->tree) &&
              proof_fits(&ch->c_x.inclusion, &s->tree);
    for (unsigned k = 0; k < CZ_DRG_PARENTS; k++) ok = ok && proof_fits(&ch->drg[k].inclusion, &s->tree);
    for (unsigned k = 0; k < CZ_EXP_PARENTS; k++) ok = ok && proof_fits(&ch->exp[k].inclusion, &s->tree);
    return ok;
}

static void assign_head(struct assigning *s, const struct cz_porep_challenge *first) {
    struct cz_fr id, comm_d, comm_r, combined[2], hash;
    struct cz_assign *a = &s->a;
    cz_assign_decode(a, &id, s->c1->replica_id);
    cz_assign_decode(a, &comm_d, s->c1->comm_d);
    cz_assign_decode(a, &comm_r, s->c1->comm_r);
    cz_assign_decode(a, &combined[0], first->c_x.inclusion.root);
    cz_assign_decode(a, &combined[1], first->comm_r_last.root);
    cz_assign_elem(a, &id);
    cz_assign_input(a, &id);
    cz_num_to_bits_assign(a, s->c1->replica_id);
    cz_assign_elem(a, &comm_d);
    cz_assign_input(a, &comm_d);
    cz_assign_elem(a, &comm_r);
    cz_assign_input(a, &comm_r);
    cz_assign_elem(a, &combined[1]);
    cz_assign_elem(a, &combined[0]);
    cz_poseidon_assign(a, &hash, combined, 2);
}

static enum cz_status assign_all(struct assigning *s, uint32_t partition, struct cz_error *err) {
    uint32_t n = s->c1->challenges_per_partition;
    const struct cz_porep_challenge *ch = s->c1->challenge + (size_t)partition * n;
    if (n != s->sector->challenges)
        return cz_error_set(err, CZ_ERR_MISMATCH, "partition %u: %u challenges, the circuit has %u", partition, n,
                            s->sector->challenges);
    data_shape(&s->data, s->sector);
    tree_shape(&s->tree, s->sector);
    cz_path_batch_init(&s->batch, &s->tree, false);
    cz_path_plans_init(&s->path);
    cz_label_plans_init(&s->label);
    for (uint32_t i = 0; i < s->sector->layers; i++) cz_label_plan_first(&s->first[i], i + 1);
    assign_head(s, ch);
    for (uint32_t i = 0; i < n; i++) {
        if (!challenge_fits(s, &ch[i]))
            return cz_error_set(err, CZ_ERR_MISMATCH, "partition %u, challenge %u: a Merkle path has a wrong shape",
                                partition, i);
        assign_challenge(s, &ch[i]);
    }
    cz_path_batch_finish(&s->batch);
    return cz_assign_finish(&s->a, err);
}

enum cz_status cz_porep_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs, const struct cz_c1 *c1,
                                       uint32_t partition, struct cz_error *err) {
    const struct cz_sector_info *sector = cz_sector_by_size(c1->sector_size);
    if (!sector || check_sector(sector, NULL))
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "no PoRep circuit for sectors of %llu bytes",
                            (unsigned long long)c1->sector_size);
    if (partition >= c1->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, c1->num_partitions);
    if (!cz_witness_fits(w, r1cs)) return cz_error_set(err, CZ_ERR_ARGUMENT, "the witness is not one of this circuit");
    struct assigning *s = cz_calloc(1, sizeof *s);
    if (!s) return cz_error_set(err, CZ_ERR_MEMORY, "PoRep witness");
    s->c1 = c1;
    s->sector = sector;
    cz_assign_init(&s->a, w);
    enum cz_status status = assign_all(s, partition, err);
    cz_free(s);
    return status;
}
