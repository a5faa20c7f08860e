#include "filecoin/circuits/post.h"

#include "base/bytes.h"
#include "filecoin/merkle.h"
#include "hash/sha256.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path_batch.h"
#include "r1cs/gadgets/poseidon.h"

#include <string.h>

static void tree_shape(struct cz_path_shape *shape, const struct cz_sector_info *sector) {
    memset(shape, 0, sizeof *shape);
    shape->hash = CZ_PATH_POSEIDON;
    for (uint32_t i = 0; i < sector->base_levels; i++) shape->arity[shape->num_levels++] = 8;
    if (sector->sub_arity) shape->arity[shape->num_levels++] = (uint8_t)sector->sub_arity;
    if (sector->top_arity) shape->arity[shape->num_levels++] = (uint8_t)sector->top_arity;
}

/* ---- constrain ---- */

static void constrain_place(struct cz_builder *b, const struct cz_path_shape *tree, uint32_t challenges) {
    cz_r1cs_var node[3]; /* comm_r_last, comm_c, comm_r */
    cz_num_alloc(b, node, 3);
    cz_num_inputize(b, node[2]);
    cz_r1cs_var combined[2] = {node[1], node[0]};
    cz_num_equal(b, node[2], cz_poseidon_constrain(b, combined, 2));
    for (uint32_t n = 0; n < challenges; n++) {
        cz_r1cs_var leaf;
        cz_num_alloc(b, &leaf, 1);
        cz_path_constrain(b, tree, leaf, node[0]);
    }
}

static enum cz_status build_places(struct cz_r1cs **out, const struct cz_sector_info *sector, uint32_t places,
                                   uint32_t challenges, struct cz_error *err) {
    struct cz_path_shape tree;
    struct cz_builder *b;
    if (sector->base_levels + 2 > CZ_PATH_MAX_LEVELS)
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "%s: tree too high", sector->name);
    if (cz_builder_create(&b)) return cz_error_set(err, CZ_ERR_MEMORY, "PoSt circuit");
    tree_shape(&tree, sector);
    for (uint32_t i = 0; i < places; i++) constrain_place(b, &tree, challenges);
    return cz_builder_finish(out, b, err);
}

static bool kind_is_post(enum cz_circuit_kind kind) {
    return kind == CZ_CIRCUIT_WINNING || kind == CZ_CIRCUIT_WINDOW;
}

enum cz_status cz_post_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                     const struct cz_sector_info *sector, struct cz_error *err) {
    if (!kind_is_post(kind)) return cz_error_set(err, CZ_ERR_ARGUMENT, "not a kind of PoSt");
    return build_places(out, sector, cz_post_sectors(kind, sector), cz_post_challenges(kind), err);
}

/* ---- assign ---- */

/*
 * Values of one place, in the order of the circuit's. All places have the same number of bits, elements and inputs, so
 * each is a witness of its own, and the whole one is their concatenation.
 */
#define MAX_PLACE_BITS (CZ_POST_WINDOW_CHALLENGES * CZ_PATH_MAX_LEVELS * 5) /* three of the index, two of insertion */

struct place {
    struct cz_assign a;
    struct cz_witness w; /* views; input[0] is ONE */
    uint64_t bit[MAX_PLACE_BITS / 64];
    struct cz_fr input[2 + CZ_POST_WINDOW_CHALLENGES];
};

static void place_init(struct place *p, uint32_t num_bits, uint32_t num_elems, uint32_t challenges) {
    memset(p, 0, sizeof *p);
    p->input[0] = CZ_FR_ONE;
    p->w = (struct cz_witness){
        .num_inputs = 2 + challenges,
        .num_bits = num_bits,
        .num_elems = num_elems,
        .input = p->input,
        .bit = p->bit,
    };
}

/* Whether place i's values are those of the place before. */
static bool place_repeats(const struct cz_post *post, uint32_t partition, uint32_t i) {
    return post->kind == CZ_CIRCUIT_WINDOW && i &&
           cz_post_place(post, partition, i) == cz_post_place(post, partition, i - 1);
}

static void assign_inclusion(struct cz_assign *a, struct cz_path_batch *batch, const struct cz_merkle_proof *proof) {
    struct cz_path_values v = {.leaf = proof->leaf};
    struct cz_fr leaf;
    for (uint32_t i = 0; i < batch->shape->num_levels; i++) {
        v.index[i] = proof->level[i].index;
        v.sibling[i] = proof->level[i].sibling;
    }
    cz_assign_decode(a, &leaf, proof->leaf);
    cz_assign_elem(a, &leaf);
    cz_path_batch_add(batch, a, &v);
}

/* elem: room for the place's elements; they are there when the batch is finished. */
static void assign_place(struct place *p, struct cz_fr *elem, struct cz_path_batch *batch, const struct cz_post *post,
                         uint32_t partition, uint32_t i) {
    const struct cz_post_sector *s = cz_post_place(post, partition, i);
    struct cz_fr node[3], combined[2], hash;
    struct cz_assign *a = &p->a;
    p->w.elem = elem;
    cz_assign_init(a, &p->w);
    cz_assign_decode(a, &node[0], s->comm_r_last);
    cz_assign_decode(a, &node[1], s->comm_c);
    cz_assign_decode(a, &node[2], s->comm_r);
    for (int k = 0; k < 3; k++) cz_assign_elem(a, &node[k]);
    cz_assign_input(a, &node[2]);
    combined[0] = node[1];
    combined[1] = node[0];
    cz_poseidon_assign(a, &hash, combined, 2);
    for (uint32_t n = 0; n < post->challenges; n++)
        assign_inclusion(a, batch, cz_post_inclusion(post, partition, i, n));
}

static enum cz_status finish_place(struct place *p, const struct cz_post *post, uint32_t partition, uint32_t i,
                                   struct cz_error *err) {
    enum cz_status status = cz_assign_finish(&p->a, err);
    if (status && err)
        cz_error_prefix(err, "sector %llu", (unsigned long long)cz_post_place(post, partition, i)->number);
    return status;
}

static void append_place(struct cz_assign *a, const struct place *p) {
    for (uint32_t k = 1; k < p->w.num_inputs; k++) cz_assign_input(a, &p->w.input[k]);
    uint32_t left = p->w.num_bits;
    for (uint32_t k = 0; left; k++) {
        uint32_t n = left < 64 ? left : 64;
        cz_assign_bits(a, p->w.bit[k], n);
        left -= n;
    }
    a->elems += p->w.num_elems;
}

static enum cz_status check_partition(const struct cz_post *post, uint32_t partition, struct cz_error *err) {
    if (partition >= post->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, post->num_partitions);
    return CZ_OK;
}

/* One partition being assigned; its first `real` places differ, the rest repeat the last of them. */
struct assigning {
    struct cz_witness *w;
    const struct cz_post *post;
    uint32_t partition, real, num_elems;
    struct cz_path_shape tree;
    struct place *place; /* real */
    enum cz_status *status;
};

static struct cz_fr *place_elems(const struct assigning *s, size_t i) {
    return s->w->elem + i * s->num_elems;
}

static void assign_range(void *ctx, size_t first, size_t last, unsigned worker) {
    struct assigning *s = ctx;
    struct cz_path_batch batch;
    (void)worker;
    cz_path_batch_init(&batch, &s->tree, false);
    for (size_t i = first; i < last; i++)
        assign_place(&s->place[i], place_elems(s, i), &batch, s->post, s->partition, (uint32_t)i);
    cz_path_batch_finish(&batch);
    for (size_t i = first; i < last; i++) s->status[i] = cz_assign_finish(&s->place[i].a, NULL);
}

static void repeat_range(void *ctx, size_t first, size_t last, unsigned worker) {
    struct assigning *s = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++)
        memcpy(place_elems(s, s->real + i), place_elems(s, s->real - 1), s->num_elems * sizeof(struct cz_fr));
}

static enum cz_status assign_all(struct assigning *s, struct cz_pool *pool, struct cz_error *err) {
    struct cz_assign a;
    uint32_t places = s->post->places;
    /* Forty or eight paths: whole batches. */
    cz_pool_for(pool, s->real, s->post->kind == CZ_CIRCUIT_WINDOW ? 4 : 8, assign_range, s);
    for (uint32_t i = 0; i < s->real; i++)
        if (s->status[i]) return finish_place(&s->place[i], s->post, s->partition, i, err); /* once more for the text */
    cz_pool_for(pool, places - s->real, 8, repeat_range, s);
    cz_assign_init(&a, s->w);
    for (uint32_t i = 0; i < places; i++) append_place(&a, &s->place[i < s->real ? i : s->real - 1]);
    return cz_assign_finish(&a, err);
}

enum cz_status cz_post_circuit_assign_pool(struct cz_witness *w, const struct cz_r1cs *r1cs, const struct cz_post *post,
                                           uint32_t partition, struct cz_pool *pool, struct cz_error *err) {
    enum cz_status status = check_partition(post, partition, err);
    if (status) return status;
    uint32_t num_elems = w->num_elems / post->places, num_bits = w->num_bits / post->places;
    struct assigning s = {.w = w, .post = post, .partition = partition, .real = 1, .num_elems = num_elems};
    if (!cz_witness_fits(w, r1cs) || w->num_inputs != 1 + cz_post_num_public_inputs(post) ||
        num_elems * post->places != w->num_elems || num_bits * post->places != w->num_bits || num_bits > MAX_PLACE_BITS)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "the witness is not one of this circuit");
    while (s.real < post->places && !place_repeats(post, partition, s.real)) s.real++;
    tree_shape(&s.tree, post->sector_info);
    s.place = cz_malloc_array(s.real, sizeof *s.place);
    s.status = cz_calloc(s.real, sizeof *s.status);
    if (s.place && s.status) {
        for (uint32_t i = 0; i < s.real; i++) place_init(&s.place[i], num_bits, num_elems, post->challenges);
        status = assign_all(&s, pool, err);
    } else {
        status = cz_error_set(err, CZ_ERR_MEMORY, "PoSt witness");
    }
    cz_free(s.place);
    cz_free(s.status);
    return status;
}

enum cz_status cz_post_circuit_assign(struct cz_witness *w, const struct cz_r1cs *r1cs, const struct cz_post *post,
                                      uint32_t partition, struct cz_error *err) {
    return cz_post_circuit_assign_pool(w, r1cs, post, partition, NULL, err);
}

/* ---- digest ---- */

struct digesting {
    const struct cz_post *post;
    uint32_t partition;
    struct cz_r1cs *one;  /* the circuit of one place */
    struct cz_witness w;  /* of it */
    uint8_t (*value)[32]; /* aux values of a place, serialized */
    struct cz_sha256 sha;
};

static void digest_inputs(struct digesting *d) {
    const struct cz_post *post = d->post;
    uint8_t buf[32] = {0};
    cz_store_le64(buf, 1 + cz_post_num_public_inputs(post));
    cz_store_le64(buf + 8, (uint64_t)d->one->num_aux * post->places);
    cz_sha256_update(&d->sha, buf, 16);
    memset(buf, 0, sizeof buf);
    buf[0] = 1;
    cz_sha256_update(&d->sha, buf, 32);
    for (uint32_t i = 0; i < post->places; i++) {
        cz_sha256_update(&d->sha, cz_post_place(post, d->partition, i)->comm_r, 32);
        for (uint32_t n = 0; n < post->challenges; n++) {
            memset(buf, 0, sizeof buf);
            cz_store_le64(buf, cz_merkle_leaf_index(cz_post_inclusion(post, d->partition, i, n)));
            cz_sha256_update(&d->sha, buf, 32);
        }
    }
}

static void serialize(struct digesting *d) {
    struct cz_fr square;
    for (uint32_t i = 0, bits = 0, elems = 0, stored = 0; i < d->one->num_aux; i++) {
        if (!(d->one->aux_is_bit[i / 64] >> (i % 64) & 1)) {
            bool is_square = cz_r1cs_is_square(d->one, elems++);
            if (is_square) cz_fr_sqr(&square, &d->w.elem[stored - 1]);
            cz_fr_to_le(d->value[i], is_square ? &square : &d->w.elem[stored++]);
            continue;
        }
        memset(d->value[i], 0, 32);
        d->value[i][0] = d->w.bit[bits / 64] >> (bits % 64) & 1;
        bits++;
    }
}

static enum cz_status digest_places(struct digesting *d, bool *satisfied, struct cz_error *err) {
    const struct cz_post *post = d->post;
    struct cz_path_shape tree;
    struct cz_path_batch batch;
    struct place p;
    tree_shape(&tree, post->sector_info);
    cz_path_batch_init(&batch, &tree, false);
    place_init(&p, d->w.num_bits, d->w.num_elems, post->challenges);
    digest_inputs(d);
    for (uint32_t i = 0; i < post->places; i++) {
        if (!place_repeats(post, d->partition, i)) {
            assign_place(&p, d->w.elem, &batch, post, d->partition, i);
            cz_path_batch_finish(&batch);
            enum cz_status status = finish_place(&p, post, d->partition, i, err);
            if (status) return status;
            memcpy(d->w.bit, p.bit, ((size_t)p.w.num_bits + 63) / 64 * sizeof *p.bit);
            memcpy(d->w.input, p.input, p.w.num_inputs * sizeof *p.input);
            if (satisfied && cz_witness_first_unsatisfied(&d->w, d->one, NULL) != d->one->num_constraints)
                *satisfied = false;
            serialize(d);
        }
        cz_sha256_update(&d->sha, d->value, 32 * (size_t)d->one->num_aux);
    }
    return CZ_OK;
}

enum cz_status cz_post_circuit_digest(uint8_t out[32], bool *satisfied, const struct cz_post *post, uint32_t partition,
                                      struct cz_error *err) {
    struct digesting d = {.post = post, .partition = partition};
    enum cz_status status = check_partition(post, partition, err);
    if (satisfied) *satisfied = true;
    if (status == CZ_OK) status = build_places(&d.one, post->sector_info, 1, post->challenges, err);
    if (status) return status;
    d.value = cz_malloc_array(d.one->num_aux, sizeof *d.value);
    if (!d.value || cz_witness_init(&d.w, d.one)) {
        status = cz_error_set(err, CZ_ERR_MEMORY, "PoSt witness");
    } else if (d.w.num_bits > MAX_PLACE_BITS) {
        status = cz_error_set(err, CZ_ERR_INTERNAL, "PoSt witness: %u bits a sector", d.w.num_bits);
    } else {
        cz_sha256_init(&d.sha);
        status = digest_places(&d, satisfied, err);
        if (status == CZ_OK) cz_sha256_final(&d.sha, out);
    }
    cz_witness_done(&d.w);
    cz_free(d.value);
    cz_r1cs_destroy(d.one);
    return status;
}
