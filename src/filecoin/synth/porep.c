#include "filecoin/synth/porep.h"

#include "base/bytes.h"
#include "filecoin/c1_int.h"
#include "filecoin/graph.h"
#include "filecoin/synth/node.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

#include <inttypes.h>
#include <stdlib.h>

#define PARENTS (CZ_GRAPH_BASE_PARENTS + CZ_GRAPH_EXP_PARENTS)
#define MAX_LEVELS_D 31

/* Nodes of a tree above the given leaves, ascending by index in each level; any other of a level is `rest`. */
struct sparse {
    uint32_t levels, arity[CZ_SYNTH_MAX_LEVELS];
    struct {
        size_t n;
        uint32_t *index;
        cz_node *value;
        cz_node rest;
    } level[CZ_SYNTH_MAX_LEVELS + 1];
    uint32_t building; /* the level that make_parents fills */
};

struct challenged {
    uint32_t node;
    uint32_t place;           /* among the columns */
    uint32_t parent[PARENTS]; /* node numbers; places once the columns are known */
};

struct maker {
    uint64_t seed;
    struct cz_c1 *c1;
    const struct cz_sector_info *sector;
    uint64_t *challenge; /* of all partitions */
    size_t num_challenges;
    struct challenged *challenged; /* ascending, each node once */
    size_t num_challenged;
    uint32_t *column; /* node numbers of the challenged and their parents, ascending, each once */
    size_t num_columns;
    cz_node *label; /* layer-major */
    cz_node data[MAX_LEVELS_D + 1];
    struct sparse c, r;
};

/* ---- sorted lists ---- */

static int compare_u32(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static size_t sort_once(uint32_t *list, size_t n) {
    size_t kept = 0;
    qsort(list, n, sizeof *list, compare_u32);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || list[i] != list[i - 1]) list[kept++] = list[i];
    return kept;
}

/* The place of the first that is not below x. */
static size_t lower_bound(const uint32_t *list, size_t n, uint32_t x) {
    size_t first = 0;
    while (n > 0) {
        const size_t half = n / 2;
        if (list[first + half] < x) {
            first += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return first;
}

/* ---- trees ---- */

static enum cz_status sparse_level(struct sparse *t, uint32_t l, size_t n) {
    t->level[l].n = n;
    t->level[l].index = cz_malloc_array(n, sizeof *t->level[l].index);
    t->level[l].value = cz_malloc_array(n, sizeof *t->level[l].value);
    return t->level[l].index && t->level[l].value ? CZ_OK : CZ_ERR_MEMORY;
}

/* Room for n leaves, whose index and value the caller fills in. */
static enum cz_status sparse_init(struct sparse *t, const struct cz_sector_info *sector, size_t n) {
    const struct cz_bincode_tree shape = cz_bincode_tree_r(sector);
    t->levels = cz_bincode_tree_levels(&shape);
    for (uint32_t l = 0; l < t->levels; l++) t->arity[l] = cz_synth_node_arity(&shape, l);
    return sparse_level(t, 0, n);
}

static void sparse_done(struct sparse *t) {
    for (uint32_t l = 0; l <= CZ_SYNTH_MAX_LEVELS; l++) {
        cz_free(t->level[l].index);
        cz_free(t->level[l].value);
    }
}

static const uint8_t *sparse_node(const struct sparse *t, uint32_t l, uint32_t index) {
    const size_t i = lower_bound(t->level[l].index, t->level[l].n, index);
    return i < t->level[l].n && t->level[l].index[i] == index ? t->level[l].value[i] : t->level[l].rest;
}

static void make_parents(void *ctx, size_t first, size_t last, unsigned worker) {
    struct sparse *t = ctx;
    const uint32_t l = t->building, arity = t->arity[l - 1];
    (void)worker;
    for (size_t i = first; i < last; i++) {
        cz_node child[8];
        for (uint32_t j = 0; j < arity; j++)
            memcpy(child[j], sparse_node(t, l - 1, t->level[l].index[i] * arity + j), sizeof(cz_node));
        cz_synth_node_parent(t->level[l].value[i], (const cz_node *)child, arity);
    }
}

/* Everything above the leaves. */
static enum cz_status sparse_build(struct sparse *t, const cz_node rest, struct cz_pool *pool) {
    memcpy(t->level[0].rest, rest, sizeof(cz_node));
    for (uint32_t l = 1; l <= t->levels; l++) {
        const uint32_t arity = t->arity[l - 1];
        size_t n = t->level[l - 1].n;
        if (sparse_level(t, l, n) != CZ_OK) return CZ_ERR_MEMORY;
        for (size_t i = 0; i < n; i++) t->level[l].index[i] = t->level[l - 1].index[i] / arity;
        n = t->level[l].n = sort_once(t->level[l].index, n);
        cz_synth_node_parent_same(t->level[l].rest, t->level[l - 1].rest, arity);
        t->building = l;
        cz_pool_for(pool, n, 8, make_parents, t);
    }
    return CZ_OK;
}

/* ---- public values ---- */

static void make_replica_id(struct cz_c1 *c1, uint64_t miner) {
    uint8_t prover_id[32], porep_id[32], number[8];
    struct cz_sha256 s;
    cz_registered_prover_id(prover_id, miner);
    cz_registered_seal_porep_id(porep_id, c1->proof);
    cz_store_be64(number, c1->sector_number);
    cz_sha256_init(&s);
    cz_sha256_update(&s, prover_id, 32);
    cz_sha256_update(&s, number, 8);
    cz_sha256_update(&s, c1->ticket, 32);
    cz_sha256_update(&s, c1->comm_d, 32);
    cz_sha256_update(&s, porep_id, 32);
    cz_sha256_final(&s, c1->replica_id);
    c1->replica_id[31] &= 0x3f;
}

static void make_public(struct maker *m, uint64_t miner) {
    struct cz_c1 *c1 = m->c1;
    cz_node number;
    for (uint32_t l = 0; l < m->sector->nodes_log2; l++) cz_sha256_node(m->data[l + 1], m->data[l], m->data[l]);
    memcpy(c1->comm_d, m->data[m->sector->nodes_log2], sizeof(cz_node));
    cz_synth_node_random(c1->ticket, m->seed, "porep ticket", 0, 0);
    cz_synth_node_random(c1->seed, m->seed, "porep seed", 0, 0);
    cz_synth_node_random(number, m->seed, "porep sector number", 0, 0);
    c1->has_sector_number = true;
    c1->sector_number = cz_load_le32(number) & 0xffff;
    make_replica_id(c1, miner);
}

/* ---- challenges, their parents, columns ---- */

static enum cz_status make_challenges(struct maker *m, struct cz_error *err) {
    const struct cz_c1 *c1 = m->c1;
    const struct cz_challenge_seed from = {.version = cz_registered_seal_version(c1->proof),
                                           .nodes = c1->sector_size / 32,
                                           .replica_id = c1->replica_id,
                                           .comm_r = c1->comm_r,
                                           .seed = c1->seed};
    m->num_challenges = (size_t)c1->num_partitions * c1->challenges_per_partition;
    m->challenge = cz_calloc(m->num_challenges, sizeof *m->challenge);
    m->challenged = cz_calloc(m->num_challenges, sizeof *m->challenged);
    m->column = cz_calloc(m->num_challenges * (1 + PARENTS), sizeof *m->column);
    if (!m->challenge || !m->challenged || !m->column) return CZ_ERR_MEMORY;
    return cz_graph_challenges(m->challenge, 0, (uint32_t)m->num_challenges, &from, err);
}

static enum cz_status make_columns(struct maker *m, struct cz_error *err) {
    struct cz_graph graph;
    uint32_t *column = m->column;
    cz_graph_init_seal(&graph, m->c1->proof);
    for (size_t i = 0; i < m->num_challenges; i++) column[i] = (uint32_t)m->challenge[i];
    m->num_challenged = m->num_columns = sort_once(column, m->num_challenges);
    for (size_t i = 0; i < m->num_challenged; i++) {
        struct challenged *c = &m->challenged[i];
        c->node = column[i];
        cz_graph_base_parents(c->parent, &graph, c->node);
        enum cz_status status = cz_graph_exp_parents(c->parent + CZ_GRAPH_BASE_PARENTS, &graph, c->node, err);
        if (status != CZ_OK) return status;
        memcpy(column + m->num_columns, c->parent, sizeof c->parent);
        m->num_columns += PARENTS;
    }
    m->num_columns = sort_once(column, m->num_columns);
    for (size_t i = 0; i < m->num_challenged; i++) {
        struct challenged *c = &m->challenged[i];
        c->place = (uint32_t)lower_bound(column, m->num_columns, c->node);
        for (unsigned j = 0; j < PARENTS; j++)
            c->parent[j] = (uint32_t)lower_bound(column, m->num_columns, c->parent[j]);
    }
    return CZ_OK;
}

/* ---- labels ---- */

static uint8_t *label(const struct maker *m, uint32_t layer, size_t place) {
    return m->label[(layer - 1) * m->num_columns + place];
}

static void make_random_labels(void *ctx, size_t first, size_t last, unsigned worker) {
    struct maker *m = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++)
        for (uint32_t layer = 1; layer <= m->sector->layers; layer++)
            cz_synth_node_random(label(m, layer, i), m->seed, "porep label", layer, m->column[i]);
}

/* Base parents are lower in the same layer, expander parents anywhere in the one before: one pass, ascending. */
static void make_computed_labels(struct maker *m) {
    for (uint32_t layer = 1; layer <= m->sector->layers; layer++) {
        const unsigned count = layer == 1 ? CZ_GRAPH_BASE_PARENTS : PARENTS;
        for (size_t i = 0; i < m->num_challenged; i++) {
            const struct challenged *c = &m->challenged[i];
            cz_node parent[PARENTS];
            for (unsigned j = 0; j < count; j++)
                memcpy(parent[j], label(m, j < CZ_GRAPH_BASE_PARENTS ? layer : layer - 1, c->parent[j]), 32);
            cz_graph_label(label(m, layer, c->place), m->c1->replica_id, layer, c->node, (const uint8_t(*)[32])parent,
                           count);
        }
    }
}

static enum cz_status make_labels(struct maker *m, struct cz_pool *pool) {
    m->label = cz_malloc_array(m->num_columns * m->sector->layers, sizeof *m->label);
    if (!m->label) return CZ_ERR_MEMORY;
    cz_pool_for(pool, m->num_columns, 64, make_random_labels, m);
    make_computed_labels(m);
    return CZ_OK;
}

/* ---- trees C and R ---- */

static void make_column_hashes(void *ctx, size_t first, size_t last, unsigned worker) {
    struct maker *m = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        struct cz_fr row[CZ_POSEIDON_MAX_T];
        for (uint32_t layer = 1; layer <= m->sector->layers; layer++)
            cz_synth_node_fr(&row[layer - 1], label(m, layer, i));
        cz_poseidon_hash(&row[0], row, m->sector->layers);
        cz_fr_to_le(m->c.level[0].value[i], &row[0]);
    }
}

static enum cz_status make_trees(struct maker *m, struct cz_pool *pool) {
    cz_node rest;
    if (sparse_init(&m->c, m->sector, m->num_columns) != CZ_OK) return CZ_ERR_MEMORY;
    if (sparse_init(&m->r, m->sector, m->num_challenged) != CZ_OK) return CZ_ERR_MEMORY;
    memcpy(m->c.level[0].index, m->column, m->num_columns * sizeof *m->column);
    cz_pool_for(pool, m->num_columns, 8, make_column_hashes, m);
    cz_synth_node_random(rest, m->seed, "porep tree C", 0, 0);
    if (sparse_build(&m->c, rest, pool) != CZ_OK) return CZ_ERR_MEMORY;
    /* The replica is key plus data, and the data are zeros. */
    for (size_t i = 0; i < m->num_challenged; i++) {
        m->r.level[0].index[i] = m->challenged[i].node;
        memcpy(m->r.level[0].value[i], label(m, m->sector->layers, m->challenged[i].place), sizeof(cz_node));
    }
    cz_synth_node_random(rest, m->seed, "porep tree R", 0, 0);
    if (sparse_build(&m->r, rest, pool) != CZ_OK) return CZ_ERR_MEMORY;
    cz_synth_node_comm_r(m->c1->comm_r, sparse_node(&m->c, m->c.levels, 0), sparse_node(&m->r, m->r.levels, 0));
    return CZ_OK;
}

/* ---- proofs ---- */

static void fill_path(struct cz_merkle_proof *proof, const struct sparse *t, uint32_t leaf) {
    uint32_t at = leaf;
    for (uint32_t l = 0; l < t->levels; l++) {
        struct cz_merkle_level *level = (struct cz_merkle_level *)&proof->level[l];
        cz_node *sibling = (cz_node *)level->sibling;
        const uint32_t arity = t->arity[l];
        level->index = at % arity;
        at /= arity;
        for (uint32_t j = 0; j < arity; j++)
            if (j != level->index) memcpy(*sibling++, sparse_node(t, l, at * arity + j), sizeof(cz_node));
    }
    memcpy(proof->leaf, sparse_node(t, 0, leaf), sizeof(cz_node));
    memcpy(proof->root, sparse_node(t, t->levels, 0), sizeof(cz_node));
}

static void fill_data(struct cz_merkle_proof *proof, const struct maker *m, uint32_t leaf) {
    for (uint32_t l = 0; l < m->sector->nodes_log2; l++) {
        struct cz_merkle_level *level = (struct cz_merkle_level *)&proof->level[l];
        level->index = leaf >> l & 1;
        memcpy((cz_node *)level->sibling, m->data[l], sizeof(cz_node));
    }
    memcpy(proof->leaf, m->data[0], sizeof(cz_node));
    memcpy(proof->root, m->c1->comm_d, sizeof(cz_node));
}

static void fill_column(struct cz_column_proof *proof, const struct maker *m, size_t place) {
    cz_node *row = (cz_node *)proof->row;
    proof->index = m->column[place];
    for (uint32_t layer = 1; layer <= m->sector->layers; layer++)
        memcpy(row[layer - 1], label(m, layer, place), sizeof(cz_node));
    fill_path(&proof->inclusion, &m->c, proof->index);
}

static const struct challenged *find_challenged(const struct maker *m, uint32_t node) {
    size_t first = 0, last = m->num_challenged;
    while (last - first > 1) {
        const size_t middle = first + (last - first) / 2;
        if (m->challenged[middle].node <= node) {
            first = middle;
        } else {
            last = middle;
        }
    }
    return &m->challenged[first];
}

static void fill_challenges(void *ctx, size_t first, size_t last, unsigned worker) {
    struct maker *m = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        struct cz_porep_challenge *p = (struct cz_porep_challenge *)&m->c1->challenge[i];
        const struct challenged *c = find_challenged(m, (uint32_t)m->challenge[i]);
        p->node = c->node;
        fill_data(&p->comm_d, m, c->node);
        fill_path(&p->comm_r_last, &m->r, c->node);
        fill_column(&p->c_x, m, c->place);
        for (unsigned j = 0; j < CZ_DRG_PARENTS; j++) fill_column(&p->drg[j], m, c->parent[j]);
        for (unsigned j = 0; j < CZ_EXP_PARENTS; j++) fill_column(&p->exp[j], m, c->parent[CZ_DRG_PARENTS + j]);
    }
}

static enum cz_status make_proofs(struct maker *m, struct cz_pool *pool) {
    struct cz_porep_challenge *p = cz_c1_arena_alloc(&m->c1->arena, m->num_challenges * sizeof *p);
    if (!p) return CZ_ERR_MEMORY;
    for (size_t i = 0; i < m->num_challenges; i++)
        if (!cz_c1_challenge_layout(&p[i], &m->c1->arena, m->sector)) return CZ_ERR_MEMORY;
    m->c1->challenge = p;
    cz_pool_for(pool, m->num_challenges, 1, fill_challenges, m);
    return CZ_OK;
}

static enum cz_status make(struct maker *m, uint64_t miner, struct cz_pool *pool, struct cz_error *err) {
    make_public(m, miner);
    enum cz_status status = make_challenges(m, err);
    if (status == CZ_OK) status = make_columns(m, err);
    if (status == CZ_OK) status = make_labels(m, pool);
    if (status == CZ_OK) status = make_trees(m, pool);
    if (status == CZ_OK) status = make_proofs(m, pool);
    return status == CZ_ERR_MEMORY ? cz_error_set(err, status, "porep: out of memory") : status;
}

enum cz_status cz_synth_porep_make(struct cz_c1 **out, const struct cz_synth_porep_request *request,
                                   struct cz_pool *pool, struct cz_error *err) {
    if ((unsigned)request->proof >= CZ_SEAL_COUNT)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered seal proof %u: unknown", (unsigned)request->proof);
    const struct cz_sector_info *sector = cz_registered_seal_sector(request->proof);
    const enum cz_seal_version version = cz_registered_seal_version(request->proof);
    if (version != CZ_SEAL_V1 && version != CZ_SEAL_V1_1)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED,
                            "%s: its challenges depend on comm_r, so a whole sector would be needed",
                            cz_registered_seal_name(request->proof));
    struct maker *m = cz_calloc(1, sizeof *m);
    struct cz_c1 *c1 = cz_calloc(1, sizeof *c1);
    if (!m || !c1) {
        cz_free(m);
        cz_free(c1);
        return cz_error_set(err, CZ_ERR_MEMORY, "porep: out of memory");
    }
    *c1 = (struct cz_c1){.proof = request->proof,
                         .sector_size = sector->size,
                         .num_partitions = sector->partitions,
                         .challenges_per_partition = sector->challenges};
    m->seed = request->seed;
    m->c1 = c1;
    m->sector = sector;
    enum cz_status status = make(m, request->miner, pool, err);
    if (status == CZ_OK) {
        *out = c1;
    } else {
        cz_c1_destroy(c1);
    }
    sparse_done(&m->c);
    sparse_done(&m->r);
    cz_free(m->challenge);
    cz_free(m->challenged);
    cz_free(m->column);
    cz_free(m->label);
    cz_free(m);
    return status;
}
