#include "filecoin/synth/snap.h"

#include "filecoin/synth/blob.h"
#include "filecoin/synth/node.h"
#include "filecoin/update.h"
#include "hash/sha256.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_LEVELS_D 31

/*
 * Nodes by level, leaves at level 0. Trees of one value have one node a level. The new replica's: up to `narrow` a
 * subtree lies within one range and has one node a range and level; above it every node is there.
 */
struct trees {
    const struct cz_sector_info *sector;
    struct cz_update_shape shape;
    struct cz_bincode_tree r, d;
    uint32_t levels_r, arity[CZ_SYNTH_MAX_LEVELS];
    uint32_t span_log2[CZ_SYNTH_MAX_LEVELS + 1]; /* leaves below a node of tree R */
    cz_node comm_c, comm_r_old, comm_r_new;
    cz_node old[CZ_SYNTH_MAX_LEVELS + 1], data[MAX_LEVELS_D + 1];
    uint32_t range_log2; /* nodes of a range; there are 2^h ranges */
    uint32_t narrow;
    cz_node (*range)[CZ_SYNTH_MAX_LEVELS + 1];
    cz_node *wide[CZ_SYNTH_MAX_LEVELS + 1]; /* levels above narrow */
    struct cz_fr phi;
};

static void shape_init(struct trees *t, const struct cz_sector_info *sector) {
    t->sector = sector;
    cz_update_shape_init(&t->shape, CZ_CIRCUIT_UPDATE, sector);
    t->r = cz_bincode_tree_r(sector);
    t->d = cz_bincode_tree_d(sector);
    t->levels_r = cz_bincode_tree_levels(&t->r);
    for (uint32_t l = 0; l < t->levels_r; l++) {
        t->arity[l] = cz_synth_node_arity(&t->r, l);
        t->span_log2[l + 1] = t->span_log2[l] + (uint32_t)__builtin_ctz(t->arity[l]);
    }
    t->range_log2 = sector->nodes_log2 - t->shape.h_default;
    while (t->narrow < t->levels_r && t->span_log2[t->narrow + 1] <= t->range_log2) t->narrow++;
}

/* Old replica, new data and what follows from them: comm_r_old, comm_d_new, phi. */
static void make_constant_trees(struct trees *t, uint64_t seed) {
    struct cz_fr comm_r_old, comm_d_new;
    cz_synth_node_random(t->comm_c, seed, "snap comm_c", 0, 0);
    cz_synth_node_random(t->old[0], seed, "snap old replica", 0, 0);
    cz_synth_node_random(t->data[0], seed, "snap new data", 0, 0);
    for (uint32_t l = 0; l < t->levels_r; l++) cz_synth_node_parent_same(t->old[l + 1], t->old[l], t->arity[l]);
    for (uint32_t l = 0; l < t->sector->nodes_log2; l++) cz_sha256_node(t->data[l + 1], t->data[l], t->data[l]);
    cz_synth_node_comm_r(t->comm_r_old, t->comm_c, t->old[t->levels_r]);
    cz_synth_node_fr(&comm_r_old, t->comm_r_old);
    cz_synth_node_fr(&comm_d_new, t->data[t->sector->nodes_log2]);
    cz_update_phi(&t->phi, &comm_d_new, &comm_r_old);
}

/* The new replica's value in each range, and the subtrees within it. */
static void make_ranges(void *ctx, size_t first, size_t last, unsigned worker) {
    struct trees *t = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        struct cz_fr rho, old, data;
        cz_update_rho(&rho, &t->phi, (uint64_t)i << t->range_log2, t->sector->nodes_log2, t->shape.h_default);
        cz_synth_node_fr(&old, t->old[0]);
        cz_synth_node_fr(&data, t->data[0]);
        cz_fr_mul(&data, &data, &rho);
        cz_fr_add(&data, &data, &old);
        cz_fr_to_le(t->range[i][0], &data);
        for (uint32_t l = 0; l < t->narrow; l++)
            cz_synth_node_parent_same(t->range[i][l + 1], t->range[i][l], t->arity[l]);
    }
}

static const uint8_t *new_node(const struct trees *t, uint32_t level, uint64_t index) {
    if (level > t->narrow) return t->wide[level][index];
    return t->range[index << t->span_log2[level] >> t->range_log2][level];
}

static const uint8_t *old_node(const struct trees *t, uint32_t level, uint64_t index) {
    (void)index;
    return t->old[level];
}

static const uint8_t *data_node(const struct trees *t, uint32_t level, uint64_t index) {
    (void)index;
    return t->data[level];
}

static enum cz_status make_new_tree(struct trees *t, struct cz_pool *pool, struct cz_error *err) {
    t->range = cz_calloc((size_t)1 << t->shape.h_default, sizeof *t->range);
    if (!t->range) return cz_error_set(err, CZ_ERR_MEMORY, "new replica");
    cz_pool_for(pool, (size_t)1 << t->shape.h_default, 16, make_ranges, t);
    for (uint32_t level = t->narrow + 1; level <= t->levels_r; level++) {
        size_t n = (size_t)1 << (t->sector->nodes_log2 - t->span_log2[level]);
        uint32_t arity = t->arity[level - 1];
        t->wide[level] = cz_calloc(n, sizeof(cz_node));
        if (!t->wide[level]) return cz_error_set(err, CZ_ERR_MEMORY, "new replica");
        for (size_t i = 0; i < n; i++) {
            cz_node child[8];
            for (uint32_t j = 0; j < arity; j++) memcpy(child[j], new_node(t, level - 1, i * arity + j), 32);
            cz_synth_node_parent(t->wide[level][i], (const cz_node *)child, arity);
        }
    }
    cz_synth_node_comm_r(t->comm_r_new, t->comm_c, new_node(t, t->levels_r, 0));
    return CZ_OK;
}

/* ---- proofs ---- */

typedef const uint8_t *node_fn(const struct trees *t, uint32_t level, uint64_t index);

static void put_merkle(struct cz_synth_blob *b, const struct trees *t, const struct cz_bincode_tree *tree,
                       node_fn *node, uint64_t leaf) {
    struct cz_merkle_level level[MAX_LEVELS_D];
    cz_node sibling[MAX_LEVELS_D][7];
    struct cz_merkle_proof proof = {.num_levels = cz_bincode_tree_levels(tree), .level = level};
    uint64_t at = leaf;
    for (uint32_t l = 0; l < proof.num_levels; l++) {
        uint32_t arity = tree == &t->d ? 2 : t->arity[l], k = 0;
        level[l] = (struct cz_merkle_level){(uint32_t)(at % arity), arity - 1, (const cz_node *)sibling[l]};
        at /= arity;
        for (uint32_t j = 0; j < arity; j++)
            if (j != level[l].index) memcpy(sibling[l][k++], node(t, l, at * arity + j), 32);
    }
    memcpy(proof.leaf, node(t, 0, leaf), 32);
    memcpy(proof.root, node(t, proof.num_levels, 0), 32);
    cz_synth_blob_merkle(b, tree, &proof);
}

static size_t partition_bytes(const struct trees *t) {
    size_t challenge = 2 * cz_synth_blob_merkle_bytes(&t->r) + cz_synth_blob_merkle_bytes(&t->d);
    return 32 + 8 + t->shape.apex * sizeof(cz_node) + 8 + t->shape.challenges * challenge;
}

static void put_partition(struct cz_synth_blob *b, const struct trees *t, uint32_t partition) {
    uint64_t challenge[CZ_UPDATE_MAX_CHALLENGES] = {0};
    struct cz_fr comm_r_new;
    uint32_t apex_level = t->shape.random_bits - t->shape.apex_bits;
    cz_synth_node_fr(&comm_r_new, t->comm_r_new);
    cz_update_challenges(challenge, &t->shape, &comm_r_new, partition);
    cz_synth_blob_nodes(b, &t->comm_c, 1);
    cz_synth_blob_u64(b, t->shape.apex);
    for (uint32_t i = 0; i < t->shape.apex; i++) cz_synth_blob_nodes(b, &t->data[apex_level], 1);
    cz_synth_blob_u64(b, t->shape.challenges);
    for (uint32_t i = 0; i < t->shape.challenges; i++) {
        put_merkle(b, t, &t->r, old_node, challenge[i]);
        put_merkle(b, t, &t->d, data_node, challenge[i]);
        put_merkle(b, t, &t->r, new_node, challenge[i]);
    }
}

static enum cz_status put_all(struct cz_synth_snap *out, const struct trees *t, struct cz_error *err) {
    uint32_t n = t->shape.partitions;
    size_t bytes = partition_bytes(t);
    struct cz_bytes *vanilla = cz_calloc(n, sizeof *vanilla);
    struct cz_synth_blob b = {.data = cz_malloc_array(n, bytes)};
    if (!vanilla || !b.data) {
        cz_free(vanilla);
        cz_free(b.data);
        return cz_error_set(err, CZ_ERR_MEMORY, "vanilla proofs");
    }
    for (uint32_t k = 0; k < n; k++) {
        vanilla[k] = (struct cz_bytes){b.data + b.at, bytes};
        put_partition(&b, t, k);
    }
    out->num_partitions = n;
    out->vanilla = vanilla;
    out->owned = b.data;
    return CZ_OK;
}

enum cz_status cz_synth_snap_make(struct cz_synth_snap *out, const struct cz_synth_snap_request *request,
                                  struct cz_pool *pool, struct cz_error *err) {
    const struct cz_sector_info *sector = cz_registered_update_sector(request->proof);
    if (!sector)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered update proof %u: unknown", (unsigned)request->proof);
    struct trees *t = cz_calloc(1, sizeof *t);
    if (!t) return cz_error_set(err, CZ_ERR_MEMORY, "snap");
    struct cz_synth_snap snap = {.proof = request->proof, .seed = request->seed};
    shape_init(t, sector);
    make_constant_trees(t, request->seed);
    enum cz_status status = make_new_tree(t, pool, err);
    if (status == CZ_OK) status = put_all(&snap, t, err);
    if (status == CZ_OK) {
        snap.h = t->shape.h_default;
        memcpy(snap.comm_r_old, t->comm_r_old, 32);
        memcpy(snap.comm_r_new, t->comm_r_new, 32);
        memcpy(snap.comm_d_new, t->data[sector->nodes_log2], 32);
        *out = snap;
    }
    for (uint32_t l = 0; l <= CZ_SYNTH_MAX_LEVELS; l++) cz_free(t->wide[l]);
    cz_free(t->range);
    cz_free(t);
    return status;
}

void cz_synth_snap_done(struct cz_synth_snap *snap) {
    cz_free(snap->vanilla);
    cz_free(snap->owned);
    *snap = (struct cz_synth_snap){0};
}

void cz_synth_snap_json(char out[1024], const struct cz_synth_snap *snap) {
    char hex[3][65];
    cz_hex_encode(hex[0], snap->comm_d_new, 32);
    cz_hex_encode(hex[1], snap->comm_r_new, 32);
    cz_hex_encode(hex[2], snap->comm_r_old, 32);
    (void)snprintf(out, 1024,
                   "{\n  \"comm_d_new\": \"%s\",\n  \"comm_r_new\": \"%s\",\n  \"comm_r_old\": \"%s\",\n"
                   "  \"h\": %" PRIu32 ",\n  \"registered_update_proof\": \"%s\",\n"
                   "  \"registered_proof\": %u,\n  \"partitions\": %" PRIu32 ",\n"
                   "  \"made_by\": \"cuzk-bench gen-vanilla, seed %" PRIu64 "\"\n}\n",
                   hex[0], hex[1], hex[2], snap->h, cz_registered_update_name(snap->proof), (unsigned)snap->proof,
                   snap->num_partitions, snap->seed);
}
