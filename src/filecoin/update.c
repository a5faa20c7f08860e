#include "filecoin/update.h"

#include "filecoin/bincode.h"
#include "filecoin/merkle.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

/* ---- shapes ---- */

void cz_update_shape_init(struct cz_update_shape *shape, enum cz_circuit_kind kind,
                          const struct cz_sector_info *sector) {
    static const uint8_t TINY_H[CZ_UPDATE_NUM_H] = {1, 1, 1, 1, 1, 1};
    static const uint8_t REAL_H[CZ_UPDATE_NUM_H] = {7, 8, 9, 10, 11, 12};
    uint32_t n = sector->nodes_log2;
    *shape = (struct cz_update_shape){.challenge_bits = n, .challenges = n <= 19 ? 10 : CZ_UPDATE_MAX_CHALLENGES};
    shape->partition_bits = n <= 8 ? 0 : n <= 10 ? 1 : n <= 19 ? 2 : 4;
    shape->partitions = 1u << shape->partition_bits;
    shape->apex_bits = n <= 8 ? 3 : 7;
    if (kind == CZ_CIRCUIT_UPDATE_POSEIDON) {
        shape->challenges *= shape->partitions;
        shape->partitions = 1;
        shape->partition_bits = 0;
        shape->apex_bits = 0;
    }
    shape->apex = shape->apex_bits ? 1u << shape->apex_bits : 0;
    shape->random_bits = n - shape->partition_bits;
    shape->per_digest = 254 / shape->random_bits;
    shape->digests = (shape->challenges + shape->per_digest - 1) / shape->per_digest;
    memcpy(shape->h, n <= 10 ? TINY_H : REAL_H, sizeof shape->h);
    shape->h_default = shape->h[3];
}

uint32_t cz_update_h_select(const struct cz_update_shape *shape, uint32_t h) {
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++)
        if (shape->h[k] == h) return 1u << k;
    return 0;
}

/* ---- parsing ---- */

/* What a cz_update owns, in one piece each. */
struct owned {
    struct cz_update update;
    struct cz_update_partition *partition;
    struct cz_update_challenge *challenge;
    struct cz_merkle_level *level;
};

void cz_update_destroy(struct cz_update *update) {
    struct owned *o = (struct owned *)update; /* its first member */
    if (!o) return;
    cz_free(o->partition);
    cz_free(o->challenge);
    cz_free(o->level);
    cz_free(o);
}

static enum cz_status read_comm(cz_node out, const uint8_t *node, const char *name, struct cz_error *err) {
    struct cz_fr value;
    if (!node) return cz_error_set(err, CZ_ERR_ARGUMENT, "%s is missing", name);
    if (cz_fr_from_le(&value, node) != CZ_OK)
        return cz_error_set(err, CZ_ERR_FIELD_RANGE, "%s: not below the field's modulus", name);
    memcpy(out, node, sizeof(cz_node));
    return CZ_OK;
}

/* Fills everything but the partitions. */
static enum cz_status read_request(struct cz_update *u, const struct cz_update_request *q, struct cz_error *err) {
    const struct cz_sector_info *sector = cz_registered_update_sector(q->proof);
    if (!sector) return cz_error_set(err, CZ_ERR_ARGUMENT, "registered update proof %u: unknown", (unsigned)q->proof);
    *u = (struct cz_update){.proof = q->proof, .kind = CZ_CIRCUIT_UPDATE, .sector_info = sector};
    enum cz_status status = read_comm(u->comm_r_old, q->comm_r_old, "comm_r_old", err);
    if (status == CZ_OK) status = read_comm(u->comm_r_new, q->comm_r_new, "comm_r_new", err);
    if (status == CZ_OK) status = read_comm(u->comm_d_new, q->comm_d_new, "comm_d_new", err);
    if (status != CZ_OK) return status;
    cz_update_shape_init(&u->shape, CZ_CIRCUIT_UPDATE, sector);
    u->h = u->shape.h_default;
    if (q->num_vanilla == 0 || !q->vanilla) return cz_error_set(err, CZ_ERR_ARGUMENT, "no vanilla proof");
    if (q->first_partition >= u->shape.partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", q->first_partition, u->shape.partitions);
    if (q->num_vanilla > u->shape.partitions - q->first_partition)
        return cz_error_set(err, CZ_ERR_LENGTH, "%zu vanilla proofs from partition %u on, the sector has %u",
                            q->num_vanilla, q->first_partition, u->shape.partitions);
    u->num_partitions = (uint32_t)q->num_vanilla;
    return CZ_OK;
}

struct trees {
    struct cz_bincode_tree r, d;
    uint32_t levels_r, levels_d;
};

static enum cz_status read_partition(struct cz_update_partition *p, struct cz_update_challenge *challenge,
                                     struct cz_merkle_level *level, const struct cz_update_shape *shape,
                                     const struct trees *trees, const struct cz_bytes *blob, struct cz_error *err) {
    struct cz_bincode r;
    cz_bincode_init(&r, blob->data, blob->len, err);
    cz_bincode_node(&r, "comm_c", p->comm_c);
    if (cz_bincode_length(&r, "apex_leafs", shape->apex)) p->apex = cz_bincode_nodes(&r, "apex_leafs", shape->apex);
    bool ok = cz_bincode_length(&r, "challenge_proofs", shape->challenges);
    for (uint32_t i = 0; ok && i < shape->challenges; i++) {
        cz_bincode_enter(&r, "challenge_proofs", i);
        cz_bincode_enter(&r, "proof_r_old", CZ_BINCODE_NO_INDEX);
        cz_bincode_merkle(&r, &trees->r, level, &challenge[i].r_old);
        level += trees->levels_r;
        cz_bincode_leave(&r);
        cz_bincode_enter(&r, "proof_d_new", CZ_BINCODE_NO_INDEX);
        cz_bincode_merkle(&r, &trees->d, level, &challenge[i].d_new);
        level += trees->levels_d;
        cz_bincode_leave(&r);
        cz_bincode_enter(&r, "proof_r_new", CZ_BINCODE_NO_INDEX);
        cz_bincode_merkle(&r, &trees->r, level, &challenge[i].r_new);
        level += trees->levels_r;
        cz_bincode_leave(&r);
        cz_bincode_leave(&r);
        ok = r.status == CZ_OK;
    }
    p->challenge = challenge;
    return cz_bincode_finish(&r);
}

static enum cz_status read_all(struct owned *o, const struct cz_update_request *q, struct cz_error *err) {
    struct cz_update *u = &o->update;
    const struct cz_update_shape *shape = &u->shape;
    struct trees trees = {.r = cz_bincode_tree_r(u->sector_info), .d = cz_bincode_tree_d(u->sector_info)};
    trees.levels_r = cz_bincode_tree_levels(&trees.r);
    trees.levels_d = cz_bincode_tree_levels(&trees.d);
    /* At most 16 partitions: 6 MiB of levels. */
    size_t n = u->num_partitions, levels = shape->challenges * (size_t)(2 * trees.levels_r + trees.levels_d);
    o->partition = cz_calloc(n, sizeof *o->partition);
    o->challenge = cz_calloc(n * shape->challenges, sizeof *o->challenge);
    o->level = cz_calloc(n * levels, sizeof *o->level);
    if (!o->partition || !o->challenge || !o->level) return cz_error_set(err, CZ_ERR_MEMORY, "vanilla proofs");
    u->partition = o->partition;
    for (uint32_t i = 0; i < n; i++) {
        o->partition[i].index = q->first_partition + i;
        enum cz_status status = read_partition(&o->partition[i], o->challenge + (size_t)i * shape->challenges,
                                               o->level + i * levels, shape, &trees, &q->vanilla[i], err);
        if (status != CZ_OK) {
            if (err) cz_error_prefix(err, "vanilla proof of partition %u", q->first_partition + i);
            return status;
        }
    }
    return CZ_OK;
}

enum cz_status cz_update_parse(struct cz_update **out, const struct cz_update_request *request, struct cz_error *err) {
    struct owned *o = cz_calloc(1, sizeof *o);
    if (!o) return cz_error_set(err, CZ_ERR_MEMORY, "update");
    enum cz_status status = read_request(&o->update, request, err);
    if (status == CZ_OK) status = read_all(o, request, err);
    if (status != CZ_OK) {
        cz_update_destroy(&o->update);
        return status;
    }
    *out = &o->update;
    return CZ_OK;
}

/* ---- encoding, challenges, public inputs ---- */

static void hash_tag(struct cz_fr *out, const struct cz_fr *x, const struct cz_fr *y) {
    struct cz_fr tag, in[2] = {*x, *y};
    cz_update_tag(&tag);
    cz_poseidon_hash_tag(out, &tag, in, 2);
}

void cz_update_phi(struct cz_fr *phi, const struct cz_fr *comm_d_new, const struct cz_fr *comm_r_old) {
    hash_tag(phi, comm_d_new, comm_r_old);
}

void cz_update_rho(struct cz_fr *rho, const struct cz_fr *phi, uint64_t node, uint32_t nodes_log2, uint32_t h) {
    struct cz_fr high;
    cz_fr_from_u64(&high, node >> (nodes_log2 - h));
    hash_tag(rho, phi, &high);
}

/* n <= 32 bits of a 256-bit number from bit `at` on. */
static uint64_t bits_at(const uint64_t limb[4], unsigned at, unsigned n) {
    uint64_t v = limb[at / 64] >> (at % 64);
    if (at % 64 + n > 64) v |= limb[at / 64 + 1] << (64 - at % 64);
    return v & ((UINT64_C(1) << n) - 1);
}

void cz_update_challenges(uint64_t *out, const struct cz_update_shape *shape, const struct cz_fr *comm_r_new,
                          uint32_t k) {
    for (uint32_t j = 0, n = 0; j < shape->digests; j++) {
        struct cz_fr digest;
        uint64_t limb[4];
        cz_fr_from_u64(&digest, (uint64_t)k * shape->digests + j);
        hash_tag(&digest, comm_r_new, &digest);
        cz_fr_to_limbs(limb, &digest);
        for (uint32_t i = 0; i < shape->per_digest && n < shape->challenges; i++)
            out[n++] = bits_at(limb, i * shape->random_bits, shape->random_bits) | (uint64_t)k << shape->random_bits;
    }
}

static enum cz_status check_partition_number(const struct cz_update *u, uint32_t partition, struct cz_error *err) {
    if (partition >= u->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, u->num_partitions);
    return CZ_OK;
}

/* Parsing has checked the commitments, but the struct is the caller's. */
static enum cz_status decode(struct cz_fr *out, const cz_node node, const char *name, struct cz_error *err) {
    enum cz_status status = cz_fr_from_le(out, node);
    return status ? cz_error_set(err, status, "%s: not below the field's modulus", name) : CZ_OK;
}

enum cz_status cz_update_public_inputs(struct cz_fr *out, size_t count, const struct cz_update *u, uint32_t partition,
                                       struct cz_error *err) {
    enum cz_status status = check_partition_number(u, partition, err);
    if (status) return status;
    if (count != CZ_UPDATE_NUM_PUBLIC_INPUTS)
        return cz_error_set(err, CZ_ERR_LENGTH, "room for %zu public inputs, expected %u", count,
                            CZ_UPDATE_NUM_PUBLIC_INPUTS);
    cz_fr_from_u64(&out[0], u->partition[partition].index | (uint64_t)cz_update_h_select(&u->shape, u->h)
                                                                << u->shape.partition_bits);
    status = decode(&out[1], u->comm_r_old, "comm_r_old", err);
    if (status == CZ_OK) status = decode(&out[2], u->comm_d_new, "comm_d_new", err);
    if (status == CZ_OK) status = decode(&out[3], u->comm_r_new, "comm_r_new", err);
    return status;
}

/* ---- the native check ---- */

/* What concerns the partition as a whole. */
static const char *check_roots(const struct cz_update *u, const struct cz_update_partition *p) {
    const struct cz_update_shape *shape = &u->shape;
    const struct cz_update_challenge *first = &p->challenge[0];
    cz_node node[CZ_UPDATE_MAX_APEX];
    if (!cz_merkle_comm_r_ok(u->comm_r_old, p->comm_c, first->r_old.root))
        return "comm_r_old: not the hash of comm_c and proof_r_old's root";
    if (!cz_merkle_comm_r_ok(u->comm_r_new, p->comm_c, first->r_new.root))
        return "comm_r_new: not the hash of comm_c and proof_r_new's root";
    memcpy(node, p->apex, shape->apex * sizeof *node);
    for (uint32_t n = shape->apex / 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++) cz_sha256_node(node[i], node[2 * i], node[2 * i + 1]);
    /* The path's indices are those of the partition when the first challenge is the derived one. */
    cz_merkle_sha256_climb(node[0], &first->d_new, shape->random_bits, shape->challenge_bits);
    if (memcmp(node[0], u->comm_d_new, 32) != 0) return "apex_leafs: do not lead to comm_d_new";
    return NULL;
}

/* Paths of r_old and r_new of up to four challenges together. */
static void check_paths(enum cz_merkle_verdict verdict[8], const struct cz_update_partition *p, uint32_t first,
                        uint32_t challenges) {
    const struct cz_merkle_proof *path[8];
    size_t n = 0;
    for (uint32_t i = first; i < challenges && i < first + 4; i++) {
        path[n++] = &p->challenge[i].r_old;
        path[n++] = &p->challenge[i].r_new;
    }
    cz_merkle_check(verdict, path, n);
}

/* verdict: r_old's and r_new's. */
static const char *check_challenge(const struct cz_update *u, const struct cz_update_partition *p, uint32_t n,
                                   uint64_t challenge, const struct cz_fr *phi,
                                   const enum cz_merkle_verdict verdict[2]) {
    const struct cz_update_shape *shape = &u->shape;
    const struct cz_update_challenge *ch = &p->challenge[n];
    uint32_t below = shape->random_bits - shape->apex_bits;
    struct cz_fr rho, r_old, d_new, r_new;
    cz_node node;
    if (cz_merkle_leaf_index(&ch->r_old) != challenge) return "proof_r_old: the path of another leaf";
    if (cz_merkle_leaf_index(&ch->d_new) != challenge) return "proof_d_new: the path of another leaf";
    if (cz_merkle_leaf_index(&ch->r_new) != challenge) return "proof_r_new: the path of another leaf";
    if (memcmp(ch->r_old.root, p->challenge[0].r_old.root, 32) != 0) return "proof_r_old: another root";
    if (memcmp(ch->r_new.root, p->challenge[0].r_new.root, 32) != 0) return "proof_r_new: another root";
    if (memcmp(ch->d_new.root, u->comm_d_new, 32) != 0) return "proof_d_new: the root is not comm_d_new";
    if (verdict[0] != CZ_MERKLE_OK) return "proof_r_old: the path does not lead to the root";
    if (verdict[1] != CZ_MERKLE_OK) return "proof_r_new: the path does not lead to the root";
    memcpy(node, ch->d_new.leaf, sizeof node);
    cz_merkle_sha256_climb(node, &ch->d_new, 0, below);
    if (memcmp(node, p->apex[challenge >> below & (shape->apex - 1)], 32) != 0)
        return "proof_d_new: the path does not lead to the apex leaf";
    cz_merkle_sha256_climb(node, &ch->d_new, below, ch->d_new.num_levels);
    if (memcmp(node, u->comm_d_new, 32) != 0) return "proof_d_new: the path does not lead to the root";
    if (cz_fr_from_le(&r_old, ch->r_old.leaf) != CZ_OK || cz_fr_from_le(&d_new, ch->d_new.leaf) != CZ_OK ||
        cz_fr_from_le(&r_new, ch->r_new.leaf) != CZ_OK)
        return "a leaf is no field element";
    cz_update_rho(&rho, phi, challenge, shape->challenge_bits, u->h);
    cz_fr_mul(&d_new, &d_new, &rho);
    cz_fr_add(&r_old, &r_old, &d_new);
    return cz_fr_eq(&r_old, &r_new) ? NULL : "the new replica's leaf is not the old one plus data times rho";
}

enum cz_status cz_update_check_partition(const struct cz_update *u, uint32_t partition, struct cz_error *err) {
    struct cz_fr comm_r_old, comm_r_new, comm_d_new, phi;
    uint64_t challenge[CZ_UPDATE_MAX_CHALLENGES] = {0};
    enum cz_status status = check_partition_number(u, partition, err);
    if (status == CZ_OK) status = decode(&comm_r_old, u->comm_r_old, "comm_r_old", err);
    if (status == CZ_OK) status = decode(&comm_r_new, u->comm_r_new, "comm_r_new", err);
    if (status == CZ_OK) status = decode(&comm_d_new, u->comm_d_new, "comm_d_new", err);
    if (status != CZ_OK) return status;
    const struct cz_update_partition *p = &u->partition[partition];
    cz_update_phi(&phi, &comm_d_new, &comm_r_old);
    cz_update_challenges(challenge, &u->shape, &comm_r_new, p->index);
    const char *reason = check_roots(u, p);
    if (reason) return cz_error_set(err, CZ_ERR_MISMATCH, "partition %u: %s", p->index, reason);
    enum cz_merkle_verdict verdict[8] = {CZ_MERKLE_OK};
    for (uint32_t i = 0; i < u->shape.challenges; i++) {
        if (i % 4 == 0) check_paths(verdict, p, i, u->shape.challenges);
        reason = check_challenge(u, p, i, challenge[i], &phi, verdict + 2 * (i % 4));
        if (reason)
            return cz_error_set(err, CZ_ERR_MISMATCH, "partition %u, challenge %u (leaf %llu): %s", p->index, i,
                                (unsigned long long)challenge[i], reason);
    }
    return CZ_OK;
}

enum cz_status cz_update_check(const struct cz_update *u, struct cz_error *err) {
    for (uint32_t i = 0; i < u->num_partitions; i++) {
        enum cz_status status = cz_update_check_partition(u, i, err);
        if (status != CZ_OK) return status;
    }
    return CZ_OK;
}
