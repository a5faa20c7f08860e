#include "filecoin/input.h"

#include "base/bytes.h"
#include "filecoin/c1_check.h"
#include "filecoin/circuits/porep.h"
#include "filecoin/circuits/post.h"
#include "filecoin/circuits/update.h"

#include <pthread.h>

enum cz_status cz_input_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                      const struct cz_sector_info *sector, struct cz_error *err) {
    switch (kind) {
    case CZ_CIRCUIT_POREP:
        return cz_porep_circuit_build(out, sector, err);
    case CZ_CIRCUIT_WINNING:
    case CZ_CIRCUIT_WINDOW:
        return cz_post_circuit_build(out, kind, sector, err);
    case CZ_CIRCUIT_UPDATE:
    case CZ_CIRCUIT_UPDATE_POSEIDON:
        return cz_update_circuit_build(out, kind, sector, err);
    }
    return cz_error_set(err, CZ_ERR_UNSUPPORTED, "no circuit of kind %d", (int)kind);
}

/* ---- ownership ---- */

static enum cz_status make(struct cz_input **out, const struct cz_input *from) {
    struct cz_input *input = malloc(sizeof *input);
    if (!input) {
        cz_c1_destroy(from->c1);
        cz_post_destroy(from->post);
        cz_update_destroy(from->update);
        cz_free(from->blobs);
        return CZ_ERR_MEMORY;
    }
    *input = *from;
    *out = input;
    return CZ_OK;
}

enum cz_status cz_input_of_c1(struct cz_input **out, struct cz_c1 *c1) {
    return make(out, &(struct cz_input){
                         .kind = CZ_CIRCUIT_POREP,
                         .sector = cz_sector_by_size(c1->sector_size),
                         .num_partitions = c1->num_partitions,
                         .c1 = c1,
                     });
}

enum cz_status cz_input_of_post(struct cz_input **out, struct cz_post *post, void *blobs) {
    return make(out, &(struct cz_input){
                         .kind = post->kind,
                         .sector = post->sector_info,
                         .num_partitions = post->num_partitions,
                         .post = post,
                         .blobs = blobs,
                     });
}

enum cz_status cz_input_of_update(struct cz_input **out, struct cz_update *update, void *blobs) {
    return make(out, &(struct cz_input){
                         .kind = update->kind,
                         .sector = update->sector_info,
                         .num_partitions = update->num_partitions,
                         .update = update,
                         .blobs = blobs,
                     });
}

void cz_input_destroy(struct cz_input *input) {
    if (!input) return;
    cz_c1_destroy(input->c1);
    cz_post_destroy(input->post);
    cz_update_destroy(input->update);
    cz_free(input->blobs);
    free(input);
}

/* ---- size ---- */

static size_t path_bytes(size_t levels, size_t siblings) {
    return sizeof(struct cz_merkle_proof) + levels * sizeof(struct cz_merkle_level) + siblings * sizeof(cz_node);
}

/* A path in tree R or C, and one in the binary tree D. */
static size_t path_r_bytes(const struct cz_sector_info *s) {
    size_t levels = (size_t)s->base_levels + (s->sub_arity > 0) + (s->top_arity > 0);
    size_t siblings =
        (size_t)s->base_levels * 7 + (s->sub_arity ? s->sub_arity - 1 : 0) + (s->top_arity ? s->top_arity - 1 : 0);
    return path_bytes(levels, siblings);
}
static size_t path_d_bytes(const struct cz_sector_info *s) {
    return path_bytes(s->nodes_log2, s->nodes_log2);
}

static size_t c1_bytes(const struct cz_c1 *c1, const struct cz_sector_info *s) {
    size_t columns = 1 + CZ_DRG_PARENTS + CZ_EXP_PARENTS;
    size_t challenge = sizeof(struct cz_porep_challenge) + path_d_bytes(s) + (columns + 1) * path_r_bytes(s) +
                       columns * s->layers * sizeof(cz_node);
    size_t exact = (size_t)c1->num_partitions * c1->challenges_per_partition * challenge + sizeof *c1;
    return exact + exact / 4; /* the arena's blocks are not full */
}

size_t cz_input_bytes(const struct cz_input *input) {
    const struct cz_sector_info *s = input->sector;
    if (!s) return 0;
    if (input->c1) return c1_bytes(input->c1, s);
    if (input->post) {
        size_t proofs =
            input->kind == CZ_CIRCUIT_WINNING ? CZ_POST_WINNING_CHALLENGES : (size_t)CZ_POST_WINDOW_CHALLENGES;
        return input->post->num_sectors * (sizeof(struct cz_post_sector) + proofs * path_r_bytes(s));
    }
    const struct cz_update_shape *shape = &input->update->shape;
    size_t challenge = 2 * path_r_bytes(s) + path_d_bytes(s);
    return input->num_partitions *
           (sizeof(struct cz_update_partition) + shape->apex * sizeof(cz_node) + (size_t)shape->challenges * challenge);
}

/* ---- check ---- */

struct check {
    const struct cz_input *input;
    uint32_t partition;
    pthread_mutex_t lock;
    size_t first_bad; /* SIZE_MAX: none */
    enum cz_status status;
    struct cz_error error;
};

static bool is_over(struct check *c, size_t at) {
    (void)pthread_mutex_lock(&c->lock);
    bool over = c->first_bad < at;
    (void)pthread_mutex_unlock(&c->lock);
    return over;
}

static void note(struct check *c, size_t at, enum cz_status status, const struct cz_error *error) {
    (void)pthread_mutex_lock(&c->lock);
    if (at < c->first_bad) {
        c->first_bad = at;
        c->status = status;
        c->error = *error;
    }
    (void)pthread_mutex_unlock(&c->lock);
}

static void check_partitions(void *ctx, size_t first, size_t last, unsigned worker) {
    struct check *c = ctx;
    (void)worker;
    for (size_t i = first; i < last && !is_over(c, i); i++) {
        struct cz_error error = {0};
        enum cz_status status = c->input->c1 ? cz_c1_check_partition(c->input->c1, (uint32_t)i, &error)
                                             : cz_update_check_partition(c->input->update, (uint32_t)i, &error);
        if (status != CZ_OK) note(c, i, status, &error);
    }
}

static void check_places(void *ctx, size_t first, size_t last, unsigned worker) {
    struct check *c = ctx;
    (void)worker;
    if (is_over(c, first)) return;
    struct cz_error error = {0};
    enum cz_status status = cz_post_check_places(c->input->post, c->partition, (uint32_t)first, (uint32_t)last, &error);
    if (status != CZ_OK) note(c, first, status, &error);
}

enum cz_status cz_input_check_pool(const struct cz_input *input, struct cz_pool *pool, struct cz_error *err) {
    struct check c = {.input = input, .first_bad = SIZE_MAX};
    if (pthread_mutex_init(&c.lock, NULL) != 0) return cz_error_set(err, CZ_ERR_MEMORY, "a lock");
    if (input->post) {
        /* Ranges long enough that the check of comm_r at their start does not weigh. */
        size_t grain = input->post->places / (4 * (size_t)cz_pool_threads(pool)) + 1;
        for (c.partition = 0; c.partition < input->num_partitions && c.first_bad == SIZE_MAX; c.partition++)
            cz_pool_for(pool, input->post->places, grain, check_places, &c);
    } else {
        cz_pool_for(pool, input->num_partitions, 1, check_partitions, &c);
    }
    (void)pthread_mutex_destroy(&c.lock);
    if (c.first_bad == SIZE_MAX) return CZ_OK;
    return cz_error_set(err, c.status, "%s", c.error.detail);
}

enum cz_status cz_input_check(const struct cz_input *input, struct cz_error *err) {
    return cz_input_check_pool(input, NULL, err);
}

/* ---- witness and public inputs ---- */

enum cz_status cz_input_assign_pool(struct cz_witness *w, const struct cz_r1cs *r1cs, const struct cz_input *input,
                                    uint32_t partition, struct cz_pool *pool, struct cz_error *err) {
    if (input->c1) return cz_porep_circuit_assign(w, r1cs, input->c1, partition, err);
    if (input->post) return cz_post_circuit_assign_pool(w, r1cs, input->post, partition, pool, err);
    return cz_update_circuit_assign(w, r1cs, input->update, partition, err);
}

enum cz_status cz_input_assign(struct cz_witness *w, const struct cz_r1cs *r1cs, const struct cz_input *input,
                               uint32_t partition, struct cz_error *err) {
    return cz_input_assign_pool(w, r1cs, input, partition, NULL, err);
}

enum cz_status cz_input_public_inputs(struct cz_fr *out, size_t count, const struct cz_input *input, uint32_t partition,
                                      struct cz_error *err) {
    if (input->c1) return cz_c1_public_inputs(out, count, input->c1, partition, err);
    if (input->post) return cz_post_public_inputs(out, count, input->post, partition, err);
    return cz_update_public_inputs(out, count, input->update, partition, err);
}
