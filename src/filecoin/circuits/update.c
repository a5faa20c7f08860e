#include "filecoin/circuits/update.h"

#include "r1cs/gadgets/known_path.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path_batch.h"
#include "r1cs/gadgets/poseidon.h"

#define MAX_PARTITION_BITS 4
#define MAX_SIBLINGS (CZ_PATH_MAX_LEVELS * 7)

/* Shapes of the paths: trees R, the data's tree below the apex, and above it. */
struct shapes {
    struct cz_update_shape n;
    bool poseidon;
    struct cz_path_shape r, data, top;
};

static void binary_shape(struct cz_path_shape *shape, uint32_t levels) {
    shape->hash = CZ_PATH_SHA256;
    for (uint32_t i = 0; i < levels; i++) shape->arity[shape->num_levels++] = 2;
}

static enum cz_status shapes_init(struct shapes *s, enum cz_circuit_kind kind, const struct cz_sector_info *sector,
                                  struct cz_error *err) {
    memset(s, 0, sizeof *s);
    if (kind != CZ_CIRCUIT_UPDATE && kind != CZ_CIRCUIT_UPDATE_POSEIDON)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "not a kind of update");
    cz_update_shape_init(&s->n, kind, sector);
    s->poseidon = kind == CZ_CIRCUIT_UPDATE_POSEIDON;
    if (sector->base_levels + 2 > CZ_PATH_MAX_LEVELS || s->n.challenge_bits > CZ_PATH_MAX_LEVELS)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: tree too high", sector->name);
    s->r.hash = CZ_PATH_POSEIDON;
    for (uint32_t i = 0; i < sector->base_levels; i++) s->r.arity[s->r.num_levels++] = 8;
    if (sector->sub_arity) s->r.arity[s->r.num_levels++] = (uint8_t)sector->sub_arity;
    if (sector->top_arity) s->r.arity[s->r.num_levels++] = (uint8_t)sector->top_arity;
    if (cz_known_path_num_bits(&s->r) != s->n.challenge_bits)
        return cz_error_set(err, CZ_ERR_INTERNAL, "%s: trees of different heights", sector->name);
    if (s->poseidon) {
        s->data = s->r;
    } else {
        binary_shape(&s->data, s->n.random_bits - s->n.apex_bits);
        binary_shape(&s->top, s->n.partition_bits);
    }
    return CZ_OK;
}

/* Number of the highest bits of a challenge that some h uses. */
static uint32_t top_bits(const struct cz_update_shape *n) {
    return n->h[CZ_UPDATE_NUM_H - 1]; /* the largest comes last */
}

/* ---- constrain ---- */

struct wires {
    cz_wire partition[MAX_PARTITION_BITS], select[CZ_UPDATE_NUM_H];
    cz_r1cs_var comm_d_new, comm_r_new, phi, root_r_old, root_r_new;
    cz_r1cs_var apex[CZ_UPDATE_MAX_APEX];
    cz_wire (*digest)[CZ_NUM_BITS];
};

/* Hashes rows of nodes, from the leaves up; node 0 becomes the root. */
static cz_r1cs_var constrain_apex(struct cz_builder *b, const cz_r1cs_var *leaf, uint32_t n) {
    cz_r1cs_var node[CZ_UPDATE_MAX_APEX] = {0};
    memcpy(node, leaf, n * sizeof *node);
    for (n /= 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++) node[i] = cz_path_constrain_node(b, node[2 * i], node[2 * i + 1]);
    return node[0];
}

static void constrain_head(struct cz_builder *b, struct wires *w, const struct shapes *s) {
    cz_wire bit[MAX_PARTITION_BITS + CZ_UPDATE_NUM_H];
    cz_r1cs_var k_and_h, partition = 0, comm_r_old, root[3], sibling[MAX_PARTITION_BITS], pair[2];
    uint32_t pb = s->n.partition_bits;
    cz_num_alloc(b, &k_and_h, 1);
    cz_num_inputize(b, k_and_h);
    cz_update_bits_of(b, bit, pb + CZ_UPDATE_NUM_H, k_and_h);
    memcpy(w->partition, bit, pb * sizeof *bit);
    memcpy(w->select, bit + pb, sizeof w->select);
    if (!s->poseidon) partition = cz_num_pack(b, w->partition, pb);
    cz_num_alloc(b, &comm_r_old, 1);
    cz_num_inputize(b, comm_r_old);
    cz_num_alloc(b, &w->comm_d_new, 1);
    cz_num_inputize(b, w->comm_d_new);
    cz_num_alloc(b, &w->comm_r_new, 1);
    cz_num_inputize(b, w->comm_r_new);
    w->phi = cz_update_hash_constrain(b, w->comm_d_new, comm_r_old);
    cz_num_alloc(b, root, 3); /* comm_c, root_r_old, root_r_new */
    w->root_r_old = root[1];
    w->root_r_new = root[2];
    for (uint32_t at = 0; at < s->n.apex; at += 8) cz_num_alloc(b, w->apex + at, 8);
    cz_known_path_alloc(b, sibling, &s->top);
    for (unsigned i = 0; i < 2; i++) {
        pair[0] = root[0];
        pair[1] = root[1 + i];
        cz_num_equal(b, cz_poseidon_constrain(b, pair, 2), i ? w->comm_r_new : comm_r_old);
    }
    if (s->poseidon)
        cz_num_alloc(b, &partition, 1); /* 0, and bound by nothing */
    else
        cz_known_path_constrain(b, &s->top, constrain_apex(b, w->apex, s->n.apex), w->partition, sibling,
                                w->comm_d_new);
    for (uint32_t j = 0; j < s->n.digests; j++)
        cz_update_digest_constrain(b, w->digest[j], partition, w->comm_r_new, s->n.digests, j);
}

static void constrain_path(struct cz_builder *b, const struct cz_path_shape *shape, cz_r1cs_var leaf,
                           const cz_wire *bit, cz_r1cs_var root) {
    cz_r1cs_var sibling[MAX_SIBLINGS];
    cz_known_path_alloc(b, sibling, shape);
    cz_known_path_constrain(b, shape, leaf, bit, sibling, root);
}

static void constrain_challenge(struct cz_builder *b, const struct wires *w, const struct shapes *s, uint32_t i) {
    const struct cz_update_shape *n = &s->n;
    uint32_t below = n->random_bits - n->apex_bits;
    cz_wire bit[CZ_PATH_MAX_LEVELS];
    memcpy(bit, w->digest[i / n->per_digest] + i % n->per_digest * n->random_bits, n->random_bits * sizeof *bit);
    memcpy(bit + n->random_bits, w->partition, n->partition_bits * sizeof *bit);
    cz_r1cs_var high = cz_update_high_constrain(b, n->h, bit + n->challenge_bits - top_bits(n), w->select);
    struct cz_update_leaves leaf = cz_update_encode_constrain(b, cz_update_hash_constrain(b, w->phi, high));
    constrain_path(b, &s->r, leaf.r_old, bit, w->root_r_old);
    constrain_path(b, &s->r, leaf.r_new, bit, w->root_r_new);
    cz_r1cs_var root = s->poseidon ? w->comm_d_new : cz_select_constrain(b, w->apex, bit + below, n->apex_bits);
    constrain_path(b, &s->data, leaf.d_new, bit, root);
}

enum cz_status cz_update_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                       const struct cz_sector_info *sector, struct cz_error *err) {
    struct shapes s;
    struct wires w = {0};
    struct cz_builder *b = NULL;
    enum cz_status status = shapes_init(&s, kind, sector, err);
    if (status) return status;
    w.digest = cz_malloc_array(s.n.digests, sizeof *w.digest);
    if (!w.digest || cz_builder_create(&b)) {
        cz_free(w.digest);
        return cz_error_set(err, CZ_ERR_MEMORY, "update circuit");
    }
    constrain_head(b, &w, &s);
    for (uint32_t i = 0; i < s.n.challenges; i++) constrain_challenge(b, &w, &s, i);
    cz_free(w.digest);
    return cz_builder_finish(out, b, err);
}

/* ---- assign ---- */

struct assigning {
    struct cz_assign a;
    const struct cz_update *update;
    const struct cz_update_partition *partition;
    struct shapes s;
    struct cz_path_batch batch; /* of s.r */
    struct cz_path_plans plans;
    struct cz_fr phi;
    struct cz_fr apex[CZ_UPDATE_MAX_APEX];
    uint64_t challenge[CZ_UPDATE_MAX_CHALLENGES];
    uint32_t select;
};

static void assign_decoded(struct cz_assign *a, struct cz_fr *out, const uint8_t *le) {
    cz_assign_decode(a, out, le);
    cz_assign_elem(a, out);
}

/* A path's siblings from level `first` of the proof on; the index is the challenge's. */
static void path_values(struct cz_path_values *v, const struct cz_path_shape *shape,
                        const struct cz_merkle_proof *proof, uint32_t first, const uint8_t *leaf, uint64_t index) {
    v->leaf = leaf;
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        v->index[i] = (uint32_t)index & (shape->arity[i] - 1u);
        v->sibling[i] = proof->level[first + i].sibling;
        index /= shape->arity[i];
    }
}

static void assign_apex(struct assigning *s, cz_node root) {
    cz_node node[CZ_UPDATE_MAX_APEX];
    memcpy(node, s->partition->apex, s->s.n.apex * sizeof *node);
    for (uint32_t n = s->s.n.apex / 2; n; n /= 2)
        for (uint32_t i = 0; i < n; i++) cz_path_assign_node(&s->a, &s->plans, node[i], node[2 * i], node[2 * i + 1]);
    memcpy(root, node[0], sizeof node[0]);
}

/* All digests of the partition, and the challenges from them. */
static void assign_digests(struct assigning *s, const struct cz_fr *comm_r_new) {
    const struct cz_update_shape *n = &s->s.n;
    uint8_t le[32];
    for (uint32_t j = 0; j < n->digests; j++)
        cz_update_digest_assign(&s->a, le, comm_r_new, (uint64_t)s->partition->index * n->digests + j);
    cz_update_challenges(s->challenge, n, comm_r_new, s->partition->index);
}

static void assign_head(struct assigning *s) {
    const struct cz_update *u = s->update;
    const struct cz_update_partition *p = s->partition;
    const struct cz_update_shape *n = &s->s.n;
    const struct cz_update_challenge *first = &p->challenge[0];
    struct cz_assign *a = &s->a;
    struct cz_fr v, comm_r_old, comm_d_new, comm_r_new, comm_c, root[2];
    struct cz_path_values top;
    cz_node apex_root;
    uint32_t k_and_h = p->index | s->select << n->partition_bits;
    cz_fr_from_u64(&v, k_and_h);
    cz_assign_elem(a, &v);
    cz_assign_input(a, &v);
    cz_assign_bits(a, k_and_h, n->partition_bits + CZ_UPDATE_NUM_H);
    cz_fr_from_u64(&v, p->index);
    cz_assign_elem(a, &v);
    assign_decoded(a, &comm_r_old, u->comm_r_old);
    cz_assign_input(a, &comm_r_old);
    assign_decoded(a, &comm_d_new, u->comm_d_new);
    cz_assign_input(a, &comm_d_new);
    assign_decoded(a, &comm_r_new, u->comm_r_new);
    cz_assign_input(a, &comm_r_new);
    cz_update_hash_assign(a, &s->phi, &comm_d_new, &comm_r_old);
    assign_decoded(a, &comm_c, p->comm_c);
    assign_decoded(a, &root[0], first->r_old.root);
    assign_decoded(a, &root[1], first->r_new.root);
    for (uint32_t i = 0; i < n->apex; i++) assign_decoded(a, &s->apex[i], p->apex[i]);
    path_values(&top, &s->s.top, &first->d_new, n->random_bits, apex_root, p->index);
    cz_known_path_assign_siblings(a, &s->s.top, &top);
    for (unsigned i = 0; i < 2; i++) {
        struct cz_fr pair[2] = {comm_c, root[i]};
        cz_poseidon_assign(a, &v, pair, 2);
    }
    assign_apex(s, apex_root);
    cz_known_path_assign(a, &s->s.top, &s->plans, &top);
    assign_digests(s, &comm_r_new);
}

static void assign_replica_path(struct assigning *s, const struct cz_merkle_proof *proof, const uint8_t *leaf,
                                uint64_t challenge) {
    struct cz_path_values v;
    path_values(&v, &s->s.r, proof, 0, leaf, challenge);
    cz_known_path_assign_siblings(&s->a, &s->s.r, &v);
    cz_path_batch_add(&s->batch, &s->a, &v);
}

static void assign_challenge(struct assigning *s, uint32_t i) {
    const struct cz_update_shape *n = &s->s.n;
    const struct cz_update_challenge *ch = &s->partition->challenge[i];
    uint64_t challenge = s->challenge[i];
    uint32_t below = n->random_bits - n->apex_bits;
    struct cz_fr high, rho, r_old, d_new, r_new;
    struct cz_path_values data;
    uint8_t le[32];
    cz_update_high_assign(&s->a, &high, n->h, (uint32_t)(challenge >> (n->challenge_bits - top_bits(n))), s->select);
    cz_update_hash_assign(&s->a, &rho, &s->phi, &high);
    cz_assign_decode(&s->a, &r_old, ch->r_old.leaf);
    cz_assign_decode(&s->a, &d_new, ch->d_new.leaf);
    cz_update_encode_assign(&s->a, &r_new, &r_old, &d_new, &rho);
    assign_replica_path(s, &ch->r_old, ch->r_old.leaf, challenge);
    cz_fr_to_le(le, &r_new);
    assign_replica_path(s, &ch->r_new, le, challenge);
    cz_select_assign(&s->a, s->apex, (uint32_t)(challenge >> below) & (n->apex - 1), n->apex_bits);
    path_values(&data, &s->s.data, &ch->d_new, 0, ch->d_new.leaf, challenge);
    cz_known_path_assign_siblings(&s->a, &s->s.data, &data);
    cz_known_path_assign(&s->a, &s->s.data, &s->plans, &data);
}

enum cz_status cz_update_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                        const struct cz_update *update, uint32_t partition, struct cz_error *err) {
    if (partition >= update->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, update->num_partitions);
    if (!cz_witness_fits(w, r1cs)) return cz_error_set(err, CZ_ERR_ARGUMENT, "the witness is not one of this circuit");
    struct assigning *s = cz_calloc(1, sizeof *s);
    if (!s) return cz_error_set(err, CZ_ERR_MEMORY, "update witness");
    s->update = update;
    s->partition = &update->partition[partition];
    enum cz_status status = shapes_init(&s->s, CZ_CIRCUIT_UPDATE, update->sector_info, err);
    if (status == CZ_OK) {
        s->select = cz_update_h_select(&s->s.n, update->h);
        cz_path_plans_init(&s->plans);
        cz_path_batch_init(&s->batch, &s->s.r, true);
        cz_assign_init(&s->a, w);
        assign_head(s);
        for (uint32_t i = 0; i < s->s.n.challenges; i++) assign_challenge(s, i);
        cz_path_batch_finish(&s->batch);
        status = cz_assign_finish(&s->a, err);
    }
    cz_free(s);
    return status;
}
