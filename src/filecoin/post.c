#include "filecoin/post.h"

#include "filecoin/bincode.h"
#include "filecoin/merkle.h"
#include "hash/sha256.h"

#define WINNING_PLACES 66
#define WINDOW_PLACES 2 /* test sizes */
#define WINDOW_PLACES_32GIB 2349
#define WINDOW_PLACES_64GIB 2300

uint32_t cz_post_challenges(enum cz_circuit_kind kind) {
    return kind == CZ_CIRCUIT_WINNING ? 1 : CZ_POST_WINDOW_CHALLENGES;
}

uint32_t cz_post_sectors(enum cz_circuit_kind kind, const struct cz_sector_info *sector) {
    if (kind == CZ_CIRCUIT_WINNING) return WINNING_PLACES;
    return sector->nodes_log2 == 30   ? WINDOW_PLACES_32GIB
           : sector->nodes_log2 == 31 ? WINDOW_PLACES_64GIB
                                      : WINDOW_PLACES;
}

/* ---- parsing ---- */

/* What a cz_post owns, in one piece each. */
struct owned {
    struct cz_post post;
    struct cz_post_sector *sector;
    struct cz_merkle_proof *proof;
    struct cz_merkle_level *level;
};

void cz_post_destroy(struct cz_post *post) {
    struct owned *o = (struct owned *)post; /* its first member */
    if (!o) return;
    cz_free(o->sector);
    cz_free(o->proof);
    cz_free(o->level);
    cz_free(o);
}

static enum cz_status check_node(const uint8_t *node, const char *name, struct cz_error *err) {
    struct cz_fr value;
    if (!node) return cz_error_set(err, CZ_ERR_ARGUMENT, "%s is missing", name);
    if (cz_fr_from_le(&value, node) != CZ_OK)
        return cz_error_set(err, CZ_ERR_FIELD_RANGE, "%s: not below the field's modulus", name);
    return CZ_OK;
}

/* Numbers of the request; fills everything of post but the sectors. */
static enum cz_status read_request(struct cz_post *post, const struct cz_post_request *q, struct cz_error *err) {
    const struct cz_sector_info *sector = cz_registered_post_sector(q->proof);
    if (!sector) return cz_error_set(err, CZ_ERR_ARGUMENT, "registered PoSt proof %u: unknown", (unsigned)q->proof);
    bool winning = cz_registered_post_is_winning(q->proof);
    enum cz_status status = check_node(q->randomness, "randomness", err);
    if (status == CZ_OK) status = check_node(q->prover_id, "prover_id", err);
    if (status != CZ_OK) return status;

    *post = (struct cz_post){
        .proof = q->proof,
        .kind = winning ? CZ_CIRCUIT_WINNING : CZ_CIRCUIT_WINDOW,
        .sector_info = sector,
    };
    memcpy(post->randomness, q->randomness, 32);
    memcpy(post->prover_id, q->prover_id, 32);
    post->challenges = cz_post_challenges(post->kind);
    post->places = cz_post_sectors(post->kind, sector);
    if (q->num_vanilla == 0 || !q->vanilla) return cz_error_set(err, CZ_ERR_ARGUMENT, "no vanilla proof");
    if (q->num_vanilla > CZ_POST_MAX_SECTORS)
        return cz_error_set(err, CZ_ERR_LIMIT, "%zu vanilla proofs, at most %u", q->num_vanilla, CZ_POST_MAX_SECTORS);
    post->num_sectors = (uint32_t)q->num_vanilla;
    post->num_partitions = 1;
    if (winning) {
        if (post->num_sectors != 1)
            return cz_error_set(err, CZ_ERR_LENGTH, "%u vanilla proofs, winning PoSt takes 1", post->num_sectors);
        if (q->has_partition && q->partition_index)
            return cz_error_set(err, CZ_ERR_ARGUMENT, "partition_index %u: winning PoSt has one partition",
                                q->partition_index);
    } else if (q->has_partition) {
        if (post->num_sectors > post->places)
            return cz_error_set(err, CZ_ERR_LENGTH, "%u vanilla proofs for one partition of %u", post->num_sectors,
                                post->places);
        post->first_partition = q->partition_index;
    } else {
        post->num_partitions = (post->num_sectors + post->places - 1) / post->places;
    }
    return CZ_OK;
}

static enum cz_status read_vanilla(struct cz_post_sector *s, struct cz_merkle_proof *proof, uint32_t num_proofs,
                                   struct cz_merkle_level *level, const struct cz_bincode_tree *tree,
                                   const struct cz_bytes *blob, struct cz_error *err) {
    struct cz_bincode r;
    uint32_t levels = cz_bincode_tree_levels(tree);
    cz_bincode_init(&r, blob->data, blob->len, err);
    s->number = cz_bincode_u64(&r, "sector_id");
    cz_bincode_node(&r, "comm_r", s->comm_r);
    cz_bincode_length(&r, "vanilla_proof.sectors", 1);
    cz_bincode_enter(&r, "vanilla_proof", CZ_BINCODE_NO_INDEX);
    bool ok = cz_bincode_length(&r, "inclusion_proofs", num_proofs);
    for (uint32_t i = 0; ok && i < num_proofs; i++) {
        cz_bincode_enter(&r, "inclusion_proofs", i);
        cz_bincode_merkle(&r, tree, level + (size_t)i * levels, &proof[i]);
        cz_bincode_leave(&r);
        ok = r.status == CZ_OK;
    }
    cz_bincode_node(&r, "comm_c", s->comm_c);
    cz_bincode_node(&r, "comm_r_last", s->comm_r_last);
    cz_bincode_leave(&r);
    s->inclusion = proof;
    return cz_bincode_finish(&r);
}

static enum cz_status read_all(struct owned *o, const struct cz_post_request *q, struct cz_error *err) {
    const struct cz_bincode_tree tree = cz_bincode_tree_r(o->post.sector_info);
    uint32_t levels = cz_bincode_tree_levels(&tree), n = o->post.num_sectors;
    uint32_t proofs = o->post.kind == CZ_CIRCUIT_WINNING ? CZ_POST_WINNING_CHALLENGES : CZ_POST_WINDOW_CHALLENGES;
    /* n <= 2^20 and a blob has at least its lengths: no more is allocated than the input pays for. */
    size_t least = (size_t)proofs * levels * 16;
    for (uint32_t i = 0; i < n; i++)
        if (!q->vanilla[i].data || q->vanilla[i].len < least)
            return cz_error_set(err, CZ_ERR_LENGTH, "vanilla proof %u: %zu bytes are too few", i, q->vanilla[i].len);
    o->sector = cz_calloc(n, sizeof *o->sector);
    o->proof = cz_calloc((size_t)n * proofs, sizeof *o->proof);
    o->level = cz_calloc((size_t)n * proofs * levels, sizeof *o->level);
    if (!o->sector || !o->proof || !o->level) return cz_error_set(err, CZ_ERR_MEMORY, "vanilla proofs");
    o->post.sector = o->sector;
    for (uint32_t i = 0; i < n; i++) {
        enum cz_status status = read_vanilla(&o->sector[i], o->proof + (size_t)i * proofs, proofs,
                                             o->level + (size_t)i * proofs * levels, &tree, &q->vanilla[i], err);
        if (status != CZ_OK) {
            if (err) cz_error_prefix(err, "vanilla proof %u", i);
            return status;
        }
    }
    return CZ_OK;
}

enum cz_status cz_post_parse(struct cz_post **out, const struct cz_post_request *request, struct cz_error *err) {
    struct owned *o = cz_calloc(1, sizeof *o);
    if (!o) return cz_error_set(err, CZ_ERR_MEMORY, "PoSt");
    enum cz_status status = read_request(&o->post, request, err);
    if (status == CZ_OK) status = read_all(o, request, err);
    if (status != CZ_OK) {
        cz_post_destroy(&o->post);
        return status;
    }
    *out = &o->post;
    return CZ_OK;
}

/* ---- places and challenges ---- */

/* The number of the sector in a place, among those of the request. */
static uint32_t place_sector(const struct cz_post *post, uint32_t partition, uint32_t place) {
    if (post->kind == CZ_CIRCUIT_WINNING) return 0;
    uint64_t at = (uint64_t)partition * post->places + place;
    return at < post->num_sectors ? (uint32_t)at : post->num_sectors - 1;
}

const struct cz_post_sector *cz_post_place(const struct cz_post *post, uint32_t partition, uint32_t place) {
    return &post->sector[place_sector(post, partition, place)];
}

const struct cz_merkle_proof *cz_post_inclusion(const struct cz_post *post, uint32_t partition, uint32_t place,
                                                uint32_t n) {
    uint32_t which = post->kind == CZ_CIRCUIT_WINNING ? place : n;
    return &cz_post_place(post, partition, place)->inclusion[which];
}

uint64_t cz_post_leaf_challenge(const struct cz_post *post, uint64_t number, uint64_t index) {
    uint8_t message[48], digest[32];
    memcpy(message, post->randomness, 32);
    cz_store_le64(message + 32, number);
    cz_store_le64(message + 40, index);
    cz_sha256_bytes(digest, message, sizeof message);
    return cz_load_le64(digest) % (post->sector_info->size / 32);
}

uint64_t cz_post_challenge(const struct cz_post *post, uint32_t partition, uint32_t place, uint32_t n) {
    uint64_t index = n;
    uint32_t sector = place_sector(post, partition, place);
    if (post->kind == CZ_CIRCUIT_WINNING)
        index = place;
    else if (!cz_registered_post_is_v1_2(post->proof)) /* by the sector's number within the whole deadline */
        index += ((uint64_t)post->first_partition * post->places + sector) * post->challenges;
    return cz_post_leaf_challenge(post, post->sector[sector].number, index);
}

size_t cz_post_num_public_inputs(const struct cz_post *post) {
    return (size_t)post->places * (1 + post->challenges);
}

enum cz_status cz_post_public_inputs(struct cz_fr *out, size_t count, const struct cz_post *post, uint32_t partition,
                                     struct cz_error *err) {
    if (partition >= post->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, post->num_partitions);
    if (count != cz_post_num_public_inputs(post))
        return cz_error_set(err, CZ_ERR_LENGTH, "room for %zu public inputs, expected %zu", count,
                            cz_post_num_public_inputs(post));
    for (uint32_t place = 0; place < post->places; place++) {
        enum cz_status status = cz_fr_from_le(out++, cz_post_place(post, partition, place)->comm_r);
        if (status != CZ_OK) return cz_error_set(err, status, "comm_r: not below the field's modulus");
        for (uint32_t n = 0; n < post->challenges; n++)
            cz_fr_from_u64(out++, cz_post_challenge(post, partition, place, n));
    }
    return CZ_OK;
}

/* ---- the native check ---- */

static const char *check_path(const struct cz_merkle_proof *m, enum cz_merkle_verdict verdict,
                              const struct cz_post_sector *s, uint64_t challenge) {
    static const char *const reason[] = {
        [CZ_MERKLE_OK] = NULL,
        [CZ_MERKLE_LEAF] = "the leaf is no field element",
        [CZ_MERKLE_SIBLING] = "a sibling is no field element",
        [CZ_MERKLE_ROOT] = "the path does not lead to the root",
    };
    if (memcmp(m->root, s->comm_r_last, 32) != 0) return "the root is not comm_r_last";
    if (cz_merkle_leaf_index(m) != challenge) return "the path of another leaf";
    return reason[verdict];
}

static enum cz_status check_place(const struct cz_post *post, uint32_t partition, uint32_t place, bool comm_r_too,
                                  const enum cz_merkle_verdict *verdict, struct cz_error *err) {
    const struct cz_post_sector *s = cz_post_place(post, partition, place);
    if (comm_r_too && !cz_merkle_comm_r_ok(s->comm_r, s->comm_c, s->comm_r_last))
        return cz_error_set(err, CZ_ERR_MISMATCH,
                            "partition %u, sector %llu: comm_r: not the hash of comm_c and comm_r_last",
                            post->first_partition + partition, (unsigned long long)s->number);
    for (uint32_t n = 0; n < post->challenges; n++) {
        uint64_t challenge = cz_post_challenge(post, partition, place, n);
        const char *reason = check_path(cz_post_inclusion(post, partition, place, n), verdict[n], s, challenge);
        if (reason)
            return cz_error_set(err, CZ_ERR_MISMATCH, "partition %u, sector %llu, challenge %u (leaf %llu): %s",
                                post->first_partition + partition, (unsigned long long)s->number,
                                post->kind == CZ_CIRCUIT_WINNING ? place : n, (unsigned long long)challenge, reason);
    }
    return CZ_OK;
}

static bool place_repeats(const struct cz_post *post, uint32_t partition, uint32_t place) {
    return place && cz_post_place(post, partition, place - 1) == cz_post_place(post, partition, place);
}

#define PATHS_TOGETHER 40 /* whole batches of eight for ten challenges a sector and for one */

enum cz_status cz_post_check_places(const struct cz_post *post, uint32_t partition, uint32_t first, uint32_t last,
                                    struct cz_error *err) {
    if (partition >= post->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, post->num_partitions);
    if (first > last || last > post->places)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "places %u to %u of %u", first, last, post->places);
    if (post->challenges > PATHS_TOGETHER) return cz_error_set(err, CZ_ERR_ARGUMENT, "%u challenges", post->challenges);
    /* A window's last places may repeat its last sector. */
    for (uint32_t i = first; post->kind == CZ_CIRCUIT_WINDOW && i < last; i++)
        if (place_repeats(post, partition, i)) last = i;
    for (uint32_t place = first, end; place < last; place = end) {
        const struct cz_merkle_proof *path[PATHS_TOGETHER];
        enum cz_merkle_verdict verdict[PATHS_TOGETHER];
        size_t n = 0;
        for (end = place; end < last && n + post->challenges <= PATHS_TOGETHER; end++)
            for (uint32_t i = 0; i < post->challenges; i++) path[n++] = cz_post_inclusion(post, partition, end, i);
        cz_merkle_check(verdict, path, n);
        for (uint32_t i = place; i < end; i++) {
            bool comm_r_too = i == first || !place_repeats(post, partition, i);
            const enum cz_merkle_verdict *own = verdict + (size_t)(i - place) * post->challenges;
            enum cz_status status = check_place(post, partition, i, comm_r_too, own, err);
            if (status) return status;
        }
    }
    return CZ_OK;
}

enum cz_status cz_post_check_partition(const struct cz_post *post, uint32_t partition, struct cz_error *err) {
    return cz_post_check_places(post, partition, 0, post->places, err);
}

enum cz_status cz_post_check(const struct cz_post *post, struct cz_error *err) {
    for (uint32_t i = 0; i < post->num_partitions; i++) {
        enum cz_status status = cz_post_check_partition(post, i, err);
        if (status != CZ_OK) return status;
    }
    return CZ_OK;
}
