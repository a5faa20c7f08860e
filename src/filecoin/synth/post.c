#include "filecoin/synth/post.h"

#include "filecoin/post.h"
#include "filecoin/synth/blob.h"
#include "filecoin/synth/node.h"

#include <inttypes.h>
#include <stdio.h>

#define MAX_PROOFS CZ_POST_WINNING_CHALLENGES
#define FIRST_SECTOR 100
#define SECTOR_GAP 8 /* sector numbers are at most this far apart */

/* What all sectors share. */
struct job {
    struct cz_post post; /* without its sectors: for the challenges */
    uint64_t seed;
    uint32_t proofs; /* per sector */
    struct cz_bincode_tree shape;
    uint32_t levels, arity[CZ_SYNTH_MAX_LEVELS];
    cz_node plain[CZ_SYNTH_MAX_LEVELS + 1]; /* a subtree without a challenge, by level */
    size_t blob_bytes;
    uint8_t *data;
};

/* Nodes of one sector's tree above challenged leaves, ascending by index in each level. */
struct tree {
    uint32_t n[CZ_SYNTH_MAX_LEVELS + 1];
    uint64_t index[CZ_SYNTH_MAX_LEVELS + 1][MAX_PROOFS];
    cz_node value[CZ_SYNTH_MAX_LEVELS + 1][MAX_PROOFS];
};

/* ---- the tree ---- */

static const uint8_t *tree_node(const struct job *job, const struct tree *t, uint32_t level, uint64_t index) {
    uint32_t low = 0, high = t->n[level];
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (t->index[level][mid] < index)
            low = mid + 1;
        else
            high = mid;
    }
    return low < t->n[level] && t->index[level][low] == index ? t->value[level][low] : job->plain[level];
}

/* Every distinct challenge once, ascending. */
static void tree_leaves(struct tree *t, const struct job *job, const uint64_t *challenge, uint32_t sector) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < job->proofs; i++) {
        uint32_t at = 0;
        while (at < n && t->index[0][at] < challenge[i]) at++;
        if (at < n && t->index[0][at] == challenge[i]) continue;
        memmove(&t->index[0][at + 1], &t->index[0][at], (n - at) * sizeof t->index[0][0]);
        t->index[0][at] = challenge[i];
        n++;
    }
    t->n[0] = n;
    for (uint32_t i = 0; i < n; i++)
        cz_synth_node_random(t->value[0][i], job->seed, "post leaf", sector, t->index[0][i]);
}

static void tree_build(struct tree *t, const struct job *job) {
    for (uint32_t l = 0; l < job->levels; l++) {
        uint32_t n = 0, arity = job->arity[l];
        for (uint32_t i = 0; i < t->n[l]; i++) {
            uint64_t parent = t->index[l][i] / arity;
            if (n && t->index[l + 1][n - 1] == parent) continue;
            cz_node child[8];
            for (uint32_t j = 0; j < arity; j++) memcpy(child[j], tree_node(job, t, l, parent * arity + j), 32);
            cz_synth_node_parent(t->value[l + 1][n], (const cz_node *)child, arity);
            t->index[l + 1][n++] = parent;
        }
        t->n[l + 1] = n;
    }
}

static void put_inclusion(struct cz_synth_blob *b, const struct job *job, const struct tree *t, uint64_t leaf) {
    struct cz_merkle_level level[CZ_SYNTH_MAX_LEVELS];
    cz_node sibling[CZ_SYNTH_MAX_LEVELS][7];
    struct cz_merkle_proof proof = {.num_levels = job->levels, .level = level};
    uint64_t at = leaf;
    for (uint32_t l = 0; l < job->levels; l++) {
        uint32_t arity = job->arity[l], k = 0;
        level[l] = (struct cz_merkle_level){(uint32_t)(at % arity), arity - 1, (const cz_node *)sibling[l]};
        at /= arity;
        for (uint32_t j = 0; j < arity; j++)
            if (j != level[l].index) memcpy(sibling[l][k++], tree_node(job, t, l, at * arity + j), 32);
    }
    memcpy(proof.leaf, tree_node(job, t, 0, leaf), 32);
    memcpy(proof.root, t->value[job->levels][0], 32);
    cz_synth_blob_merkle(b, &job->shape, &proof);
}

/* ---- sectors ---- */

/* Ascending, all different. */
static uint64_t sector_number(const struct job *job, uint32_t sector) {
    cz_node random;
    cz_synth_node_random(random, job->seed, "post sector number", sector, 0);
    return FIRST_SECTOR + (uint64_t)sector * SECTOR_GAP + random[0] % SECTOR_GAP;
}

/* The index rules of cz_post_challenge, for sectors that do not exist yet. */
static uint64_t challenge_of(const struct job *job, uint32_t sector, uint64_t number, uint32_t n) {
    uint64_t index = n;
    if (job->post.kind == CZ_CIRCUIT_WINDOW && !cz_registered_post_is_v1_2(job->post.proof))
        index += ((uint64_t)job->post.first_partition * job->post.places + sector) * job->proofs;
    return cz_post_leaf_challenge(&job->post, number, index);
}

static void put_sector(struct cz_synth_blob *b, const struct job *job, uint32_t sector) {
    struct tree t; /* 30 KiB */
    cz_node comm_r, comm_c;
    uint64_t challenge[MAX_PROOFS] = {0}, number = sector_number(job, sector);
    for (uint32_t i = 0; i < job->proofs; i++) challenge[i] = challenge_of(job, sector, number, i);
    tree_leaves(&t, job, challenge, sector);
    tree_build(&t, job);
    cz_synth_node_random(comm_c, job->seed, "post comm_c", sector, 0);
    cz_synth_node_comm_r(comm_r, comm_c, t.value[job->levels][0]);
    cz_synth_blob_u64(b, number);
    cz_synth_blob_nodes(b, (const cz_node *)&comm_r, 1);
    cz_synth_blob_u64(b, 1); /* sectors of this proof */
    cz_synth_blob_u64(b, job->proofs);
    for (uint32_t i = 0; i < job->proofs; i++) put_inclusion(b, job, &t, challenge[i]);
    cz_synth_blob_nodes(b, (const cz_node *)&comm_c, 1);
    cz_synth_blob_nodes(b, (const cz_node *)&t.value[job->levels][0], 1);
}

static void put_sectors(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct job *job = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        struct cz_synth_blob b = {.data = job->data + i * job->blob_bytes};
        put_sector(&b, job, (uint32_t)i);
    }
}

/* ---- the request ---- */

static enum cz_status check_request(const struct cz_synth_post_request *q, struct cz_error *err) {
    if (!cz_registered_post_sector(q->proof))
        return cz_error_set(err, CZ_ERR_ARGUMENT, "registered PoSt proof %u: unknown", (unsigned)q->proof);
    if (q->num_sectors == 0) return cz_error_set(err, CZ_ERR_ARGUMENT, "0 sectors: a PoSt is of at least one");
    if (cz_registered_post_is_winning(q->proof)) {
        if (q->num_sectors != 1)
            return cz_error_set(err, CZ_ERR_ARGUMENT, "%" PRIu32 " sectors: a winning PoSt is of one", q->num_sectors);
        if (q->first_partition)
            return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %" PRIu32 ": a winning PoSt has one partition",
                                q->first_partition);
    }
    if (q->num_sectors > CZ_SYNTH_POST_MAX_SECTORS)
        return cz_error_set(err, CZ_ERR_LIMIT, "%" PRIu32 " sectors, at most %u", q->num_sectors,
                            CZ_SYNTH_POST_MAX_SECTORS);
    return CZ_OK;
}

static void job_init(struct job *job, const struct cz_synth_post_request *q) {
    const struct cz_sector_info *sector = cz_registered_post_sector(q->proof);
    bool winning = cz_registered_post_is_winning(q->proof);
    *job = (struct job){.seed = q->seed, .shape = cz_bincode_tree_r(sector)};
    job->post = (struct cz_post){
        .proof = q->proof,
        .kind = winning ? CZ_CIRCUIT_WINNING : CZ_CIRCUIT_WINDOW,
        .sector_info = sector,
        .first_partition = q->first_partition,
    };
    job->post.places = cz_post_sectors(job->post.kind, sector);
    cz_synth_node_random(job->post.randomness, q->seed, "post randomness", 0, 0);
    cz_registered_prover_id(job->post.prover_id, q->miner);
    job->proofs = winning ? CZ_POST_WINNING_CHALLENGES : CZ_POST_WINDOW_CHALLENGES;
    job->levels = cz_bincode_tree_levels(&job->shape);
    cz_synth_node_random(job->plain[0], q->seed, "post plain leaf", 0, 0);
    for (uint32_t l = 0; l < job->levels; l++) {
        job->arity[l] = cz_synth_node_arity(&job->shape, l);
        cz_synth_node_parent_same(job->plain[l + 1], job->plain[l], job->arity[l]);
    }
    job->blob_bytes = 8 + 32 + 8 + 8 + job->proofs * cz_synth_blob_merkle_bytes(&job->shape) + 32 + 32;
}

enum cz_status cz_synth_post_make(struct cz_synth_post *out, const struct cz_synth_post_request *request,
                                  struct cz_pool *pool, struct cz_error *err) {
    struct job job;
    enum cz_status status = check_request(request, err);
    if (status != CZ_OK) return status;
    job_init(&job, request);
    struct cz_bytes *vanilla = cz_calloc(request->num_sectors, sizeof *vanilla);
    job.data = cz_malloc_array(request->num_sectors, job.blob_bytes);
    if (!vanilla || !job.data) {
        cz_free(vanilla);
        cz_free(job.data);
        return cz_error_set(err, CZ_ERR_MEMORY, "%" PRIu32 " vanilla proofs", request->num_sectors);
    }
    cz_pool_for(pool, request->num_sectors, 4, put_sectors, &job);
    for (uint32_t i = 0; i < request->num_sectors; i++)
        vanilla[i] = (struct cz_bytes){job.data + i * job.blob_bytes, job.blob_bytes};
    *out = (struct cz_synth_post){
        .proof = request->proof,
        .seed = request->seed,
        .num_sectors = request->num_sectors,
        .first_partition = request->first_partition,
        .vanilla = vanilla,
        .owned = job.data,
    };
    memcpy(out->randomness, job.post.randomness, 32);
    memcpy(out->prover_id, job.post.prover_id, 32);
    return CZ_OK;
}

void cz_synth_post_done(struct cz_synth_post *post) {
    cz_free(post->vanilla);
    cz_free(post->owned);
    *post = (struct cz_synth_post){0};
}

void cz_synth_post_json(char out[1024], const struct cz_synth_post *post) {
    char prover_id[65], randomness[65];
    cz_hex_encode(prover_id, post->prover_id, 32);
    cz_hex_encode(randomness, post->randomness, 32);
    (void)snprintf(out, 1024,
                   "{\n  \"prover_id\": \"%s\",\n  \"randomness\": \"%s\",\n  \"registered_post_proof\": \"%s\",\n"
                   "  \"registered_proof\": %u,\n  \"sectors\": %" PRIu32 ",\n  \"first_partition\": %" PRIu32 ",\n"
                   "  \"made_by\": \"cuzk-bench gen-vanilla, seed %" PRIu64 "\"\n}\n",
                   prover_id, randomness, cz_registered_post_name(post->proof), (unsigned)post->proof,
                   post->num_sectors, post->first_partition, post->seed);
}
