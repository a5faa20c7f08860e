#include "filecoin/c1_check.h"

#include "filecoin/graph.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

#include <string.h>

#define MAX_LAYERS 11

/* What all challenges of a partition share, and where we are for the error text. */
struct check {
    const struct cz_c1 *c1;
    const struct cz_sector_info *sector;
    struct cz_graph graph;
    const uint8_t *comm_c, *comm_r_last; /* the first challenge's */
    uint32_t partition, index;
    struct cz_error *err;
};

static enum cz_status mismatch(const struct check *k, const char *field, int number, const char *reason) {
    char at[16] = "";
    if (number >= 0) {
        at[0] = '[';
        at[1] = (char)('0' + number); /* below 10: parents */
        at[2] = ']';
        at[3] = 0;
    }
    return cz_error_set(k->err, CZ_ERR_MISMATCH, "partition %u, challenge %u: %s%s: %s", k->partition, k->index, field,
                        at, reason);
}

static uint64_t leaf_index(const struct cz_merkle_proof *m) {
    uint64_t index = 0, weight = 1;
    for (uint32_t i = 0; i < m->num_levels; i++) {
        index += weight * m->level[i].index;
        weight *= m->level[i].num_siblings + 1;
    }
    return index;
}

static bool node_is(const struct cz_fr *a, const uint8_t node[32]) {
    uint8_t bytes[32];
    cz_fr_to_le(bytes, a);
    return memcmp(bytes, node, 32) == 0;
}

static bool poseidon_path_ok(const struct cz_merkle_proof *m) {
    struct cz_fr cur;
    if (cz_fr_from_le(&cur, m->leaf) != CZ_OK) return false;
    for (uint32_t i = 0; i < m->num_levels; i++) {
        const struct cz_merkle_level *level = &m->level[i];
        struct cz_fr in[8];
        for (uint32_t j = 0, s = 0; j <= level->num_siblings; j++) {
            if (j == level->index)
                in[j] = cur;
            else if (cz_fr_from_le(&in[j], level->sibling[s++]) != CZ_OK)
                return false;
        }
        cz_poseidon_hash(&cur, in, level->num_siblings + 1);
    }
    return node_is(&cur, m->root);
}

static bool sha256_path_ok(const struct cz_merkle_proof *m) {
    cz_node cur;
    memcpy(cur, m->leaf, 32);
    for (uint32_t i = 0; i < m->num_levels; i++) {
        const struct cz_merkle_level *level = &m->level[i];
        if (level->index)
            cz_sha256_node(cur, level->sibling[0], cur);
        else
            cz_sha256_node(cur, cur, level->sibling[0]);
    }
    return memcmp(cur, m->root, 32) == 0;
}

static enum cz_status check_column(const struct check *k, const struct cz_column_proof *c, uint64_t node,
                                   const char *field, int number) {
    struct cz_fr row[MAX_LAYERS], hash;
    if (c->index != node) return mismatch(k, field, number, "the column of another node");
    if (leaf_index(&c->inclusion) != node) return mismatch(k, field, number, "the path of another node");
    for (uint32_t i = 0; i < k->sector->layers; i++)
        if (cz_fr_from_le(&row[i], c->row[i]) != CZ_OK) return mismatch(k, field, number, "a row is no field element");
    cz_poseidon_hash(&hash, row, k->sector->layers);
    if (!node_is(&hash, c->inclusion.leaf)) return mismatch(k, field, number, "the leaf is not the column's hash");
    if (memcmp(c->inclusion.root, k->comm_c, 32) != 0) return mismatch(k, field, number, "the root is not comm_c");
    if (!poseidon_path_ok(&c->inclusion)) return mismatch(k, field, number, "the path does not lead to the root");
    return CZ_OK;
}

static enum cz_status check_columns(const struct check *k, const struct cz_porep_challenge *c, uint64_t node) {
    uint32_t base[CZ_GRAPH_BASE_PARENTS], exp[CZ_GRAPH_EXP_PARENTS];
    cz_graph_base_parents(base, &k->graph, node);
    enum cz_status status = cz_graph_exp_parents(exp, &k->graph, node, k->err);
    if (status == CZ_OK) status = check_column(k, &c->c_x, node, "c_x", -1);
    for (int i = 0; i < CZ_DRG_PARENTS && status == CZ_OK; i++)
        status = check_column(k, &c->drg[i], base[i], "drg_parents", i);
    for (int i = 0; i < CZ_EXP_PARENTS && status == CZ_OK; i++)
        status = check_column(k, &c->exp[i], exp[i], "exp_parents", i);
    return status;
}

static enum cz_status check_labels(const struct check *k, const struct cz_porep_challenge *c, uint64_t node) {
    for (uint32_t layer = 1; layer <= k->sector->layers; layer++) {
        cz_node parent[CZ_DRG_PARENTS + CZ_EXP_PARENTS], label;
        for (unsigned i = 0; i < CZ_DRG_PARENTS; i++) memcpy(parent[i], c->drg[i].row[layer - 1], 32);
        for (unsigned i = 0; layer > 1 && i < CZ_EXP_PARENTS; i++)
            memcpy(parent[CZ_DRG_PARENTS + i], c->exp[i].row[layer - 2], 32);
        cz_graph_label(label, k->c1->replica_id, layer, node, (const uint8_t(*)[32])parent,
                       layer == 1 ? CZ_DRG_PARENTS : CZ_DRG_PARENTS + CZ_EXP_PARENTS);
        if (memcmp(label, c->c_x.row[layer - 1], 32) != 0)
            return cz_error_set(k->err, CZ_ERR_MISMATCH, "partition %u, challenge %u: the label of layer %u is wrong",
                                k->partition, k->index, layer);
    }
    return CZ_OK;
}

/* Data, key and replica node of the challenge. */
static enum cz_status check_encoding(const struct check *k, const struct cz_porep_challenge *c, uint64_t node) {
    struct cz_fr key, data;
    if (cz_fr_from_le(&key, c->c_x.row[k->sector->layers - 1]) != CZ_OK ||
        cz_fr_from_le(&data, c->comm_d.leaf) != CZ_OK)
        return mismatch(k, "comm_d_proofs", -1, "the leaf is no field element");
    cz_fr_add(&key, &key, &data);
    if (!node_is(&key, c->comm_r_last.leaf))
        return mismatch(k, "comm_r_last_proof", -1, "the leaf is not the encoded data");
    if (memcmp(c->comm_d.root, k->c1->comm_d, 32) != 0)
        return mismatch(k, "comm_d_proofs", -1, "the root is not comm_d");
    if (leaf_index(&c->comm_d) != node) return mismatch(k, "comm_d_proofs", -1, "the path of another node");
    if (!sha256_path_ok(&c->comm_d)) return mismatch(k, "comm_d_proofs", -1, "the path does not lead to the root");
    if (memcmp(c->comm_r_last.root, k->comm_r_last, 32) != 0)
        return mismatch(k, "comm_r_last_proof", -1, "the root is not the first challenge's");
    if (leaf_index(&c->comm_r_last) != node) return mismatch(k, "comm_r_last_proof", -1, "the path of another node");
    if (!poseidon_path_ok(&c->comm_r_last))
        return mismatch(k, "comm_r_last_proof", -1, "the path does not lead to the root");
    return CZ_OK;
}

/* comm_r = H(comm_c, comm_r_last). */
static enum cz_status check_comm_r(const struct check *k) {
    struct cz_fr in[2];
    if (cz_fr_from_le(&in[0], k->comm_c) != CZ_OK || cz_fr_from_le(&in[1], k->comm_r_last) != CZ_OK)
        return mismatch(k, "comm_c, comm_r_last", -1, "no field elements");
    cz_poseidon_hash(&in[0], in, 2);
    if (!node_is(&in[0], k->c1->comm_r)) return mismatch(k, "comm_r", -1, "not the hash of comm_c and comm_r_last");
    return CZ_OK;
}

enum cz_status cz_c1_check_partition(const struct cz_c1 *c1, uint32_t partition, struct cz_error *err) {
    uint64_t challenge[CZ_C1_MAX_CHALLENGES] = {0};
    if (c1->challenges_per_partition > CZ_C1_MAX_CHALLENGES)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "%u challenges", c1->challenges_per_partition);
    enum cz_status status = cz_c1_derive_challenges(challenge, c1->challenges_per_partition, c1, partition, err);
    if (status != CZ_OK) return status;
    const struct cz_porep_challenge *c = c1->challenge + (size_t)partition * c1->challenges_per_partition;
    struct check k = {
        .c1 = c1,
        .sector = cz_registered_seal_sector(c1->proof),
        .comm_c = c->c_x.inclusion.root,
        .comm_r_last = c->comm_r_last.root,
        .partition = partition,
        .err = err,
    };
    cz_graph_init_seal(&k.graph, c1->proof);
    status = check_comm_r(&k);
    for (; k.index < c1->challenges_per_partition && status == CZ_OK; k.index++, c++) {
        const uint64_t node = challenge[k.index];
        if (c->node != node)
            return cz_error_set(err, CZ_ERR_MISMATCH,
                                "partition %u, challenge %u: node %llu, but the challenge is %llu", partition, k.index,
                                (unsigned long long)c->node, (unsigned long long)node);
        status = check_labels(&k, c, node);
        if (status == CZ_OK) status = check_columns(&k, c, node);
        if (status == CZ_OK) status = check_encoding(&k, c, node);
    }
    return status;
}

enum cz_status cz_c1_check_vanilla(const struct cz_c1 *c1, struct cz_error *err) {
    for (uint32_t i = 0; i < c1->num_partitions; i++) {
        enum cz_status status = cz_c1_check_partition(c1, i, err);
        if (status != CZ_OK) return status;
    }
    return CZ_OK;
}
