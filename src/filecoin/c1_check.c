#include "filecoin/c1_check.h"

#include "filecoin/graph.h"
#include "filecoin/merkle.h"
#include "hash/poseidon.h"

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

/* A challenge's Poseidon paths: those of the columns, then comm_r_last's. */
enum { C_X, DRG, EXP = DRG + CZ_DRG_PARENTS, COLUMNS = EXP + CZ_EXP_PARENTS, R_LAST = COLUMNS, PATHS };

/* What the hashes of a challenge say; all are computed before any is asked for, eight at a time. */
struct hashes {
    enum cz_merkle_verdict path[PATHS];
    bool row_ok[COLUMNS]; /* the rows are field elements */
    struct cz_fr column[COLUMNS];
};

static void hash_challenge(struct hashes *h, const struct check *k, const struct cz_porep_challenge *c) {
    const unsigned layers = k->sector->layers;
    const struct cz_column_proof *column[COLUMNS] = {&c->c_x};
    const struct cz_merkle_proof *path[PATHS];
    struct cz_fr row[COLUMNS * MAX_LAYERS], tag;
    for (unsigned i = 0; i < CZ_DRG_PARENTS; i++) column[DRG + i] = &c->drg[i];
    for (unsigned i = 0; i < CZ_EXP_PARENTS; i++) column[EXP + i] = &c->exp[i];
    for (unsigned i = 0; i < COLUMNS; i++) {
        h->row_ok[i] = true;
        path[i] = &column[i]->inclusion;
        for (unsigned j = 0; j < layers; j++) {
            struct cz_fr *v = &row[i * layers + j];
            if (cz_fr_from_le(v, column[i]->row[j]) == CZ_OK) continue;
            *v = CZ_FR_ZERO;
            h->row_ok[i] = false;
        }
    }
    path[R_LAST] = &c->comm_r_last;
    cz_poseidon_merkle_tag(&tag, layers);
    cz_poseidon_hash_n(h->column, &tag, row, COLUMNS, cz_poseidon_params(layers), NULL);
    cz_merkle_check(h->path, path, PATHS);
}

static enum cz_status check_column(const struct check *k, const struct hashes *h, unsigned which,
                                   const struct cz_column_proof *c, uint64_t node, const char *field, int number) {
    if (c->index != node) return mismatch(k, field, number, "the column of another node");
    if (cz_merkle_leaf_index(&c->inclusion) != node) return mismatch(k, field, number, "the path of another node");
    if (!h->row_ok[which]) return mismatch(k, field, number, "a row is no field element");
    if (!cz_merkle_node_is(&h->column[which], c->inclusion.leaf))
        return mismatch(k, field, number, "the leaf is not the column's hash");
    if (memcmp(c->inclusion.root, k->comm_c, 32) != 0) return mismatch(k, field, number, "the root is not comm_c");
    if (h->path[which] != CZ_MERKLE_OK) return mismatch(k, field, number, "the path does not lead to the root");
    return CZ_OK;
}

static enum cz_status check_columns(const struct check *k, const struct hashes *h, const struct cz_porep_challenge *c,
                                    uint64_t node) {
    uint32_t base[CZ_GRAPH_BASE_PARENTS], exp[CZ_GRAPH_EXP_PARENTS];
    cz_graph_base_parents(base, &k->graph, node);
    enum cz_status status = cz_graph_exp_parents(exp, &k->graph, node, k->err);
    if (status == CZ_OK) status = check_column(k, h, C_X, &c->c_x, node, "c_x", -1);
    for (int i = 0; i < CZ_DRG_PARENTS && status == CZ_OK; i++)
        status = check_column(k, h, DRG + (unsigned)i, &c->drg[i], base[i], "drg_parents", i);
    for (int i = 0; i < CZ_EXP_PARENTS && status == CZ_OK; i++)
        status = check_column(k, h, EXP + (unsigned)i, &c->exp[i], exp[i], "exp_parents", i);
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
static enum cz_status check_encoding(const struct check *k, const struct hashes *h, const struct cz_porep_challenge *c,
                                     uint64_t node) {
    struct cz_fr key, data;
    cz_node top;
    if (cz_fr_from_le(&key, c->c_x.row[k->sector->layers - 1]) != CZ_OK ||
        cz_fr_from_le(&data, c->comm_d.leaf) != CZ_OK)
        return mismatch(k, "comm_d_proofs", -1, "the leaf is no field element");
    cz_fr_add(&key, &key, &data);
    if (!cz_merkle_node_is(&key, c->comm_r_last.leaf))
        return mismatch(k, "comm_r_last_proof", -1, "the leaf is not the encoded data");
    if (memcmp(c->comm_d.root, k->c1->comm_d, 32) != 0)
        return mismatch(k, "comm_d_proofs", -1, "the root is not comm_d");
    if (cz_merkle_leaf_index(&c->comm_d) != node) return mismatch(k, "comm_d_proofs", -1, "the path of another node");
    memcpy(top, c->comm_d.leaf, sizeof top);
    cz_merkle_sha256_climb(top, &c->comm_d, 0, c->comm_d.num_levels);
    if (memcmp(top, c->comm_d.root, 32) != 0)
        return mismatch(k, "comm_d_proofs", -1, "the path does not lead to the root");
    if (memcmp(c->comm_r_last.root, k->comm_r_last, 32) != 0)
        return mismatch(k, "comm_r_last_proof", -1, "the root is not the first challenge's");
    if (cz_merkle_leaf_index(&c->comm_r_last) != node)
        return mismatch(k, "comm_r_last_proof", -1, "the path of another node");
    if (h->path[R_LAST] != CZ_MERKLE_OK)
        return mismatch(k, "comm_r_last_proof", -1, "the path does not lead to the root");
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
    struct hashes h;
    cz_graph_init_seal(&k.graph, c1->proof);
    if (!cz_merkle_comm_r_ok(c1->comm_r, k.comm_c, k.comm_r_last))
        return mismatch(&k, "comm_r", -1, "not the hash of comm_c and comm_r_last");
    for (; k.index < c1->challenges_per_partition && status == CZ_OK; k.index++, c++) {
        const uint64_t node = challenge[k.index];
        if (c->node != node)
            return cz_error_set(err, CZ_ERR_MISMATCH,
                                "partition %u, challenge %u: node %llu, but the challenge is %llu", partition, k.index,
                                (unsigned long long)c->node, (unsigned long long)node);
        status = check_labels(&k, c, node);
        if (status != CZ_OK) break;
        hash_challenge(&h, &k, c);
        status = check_columns(&k, &h, c, node);
        if (status == CZ_OK) status = check_encoding(&k, &h, c, node);
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
