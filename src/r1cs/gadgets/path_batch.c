#include "r1cs/gadgets/path_batch.h"

#include "base/bytes.h"
#include "r1cs/gadgets/insert.h"
#include "r1cs/gadgets/poseidon.h"

#include <string.h>

static uint32_t level_elems(const struct cz_path_batch *b, unsigned arity) {
    return (b->known ? 0 : arity - 1) + cz_insert_num_elems(arity) + cz_poseidon_trace_len(cz_poseidon_params(arity));
}

void cz_path_batch_init(struct cz_path_batch *b, const struct cz_path_shape *shape, bool known) {
    b->shape = shape;
    b->known = known;
    b->n = 0;
    b->num_elems = 0;
    for (uint32_t i = 0; i < shape->num_levels; i++) b->num_elems += level_elems(b, shape->arity[i]);
}

static void hash_rows(struct cz_path_batch *b) {
    struct cz_fr in[CZ_PATH_BATCH * CZ_PATH_MAX_ROW], out[CZ_PATH_BATCH], tag, *trace[CZ_PATH_BATCH];
    uint32_t len = 0;
    size_t n = 0;
    for (unsigned k = 0; k < b->n; k++) {
        const struct cz_path_job *job = &b->job[k];
        if (!job->row_len) continue;
        len = job->row_len; /* a circuit has one number of layers */
        memcpy(in + n * len, job->row, len * sizeof *in);
        trace[n++] = job->row_elem;
    }
    if (!n) return;
    cz_poseidon_merkle_tag(&tag, len);
    cz_poseidon_hash_n(out, &tag, in, n, cz_poseidon_params(len), trace);
    n = 0;
    for (unsigned k = 0; k < b->n; k++)
        if (b->job[k].row_len) b->job[k].node = out[n++];
}

/* Siblings, insertion, and the node's children. */
static void open_level(struct cz_path_job *job, struct cz_fr *children, uint32_t level, unsigned arity, bool known) {
    struct cz_fr sibling[CZ_INSERT_MAX_ARITY];
    for (unsigned i = 0; i + 1 < arity; i++) cz_assign_decode(job->a, &sibling[i], job->values.sibling[level][i]);
    if (!known) {
        memcpy(job->elem, sibling, (arity - 1) * sizeof *sibling);
        job->elem += arity - 1;
    }
    cz_insert_values(job->elem, children, arity, &job->node, job->values.index[level] & (arity - 1), sibling);
    job->elem += cz_insert_num_elems(arity);
}

void cz_path_batch_finish(struct cz_path_batch *b) {
    struct cz_fr in[CZ_PATH_BATCH * CZ_INSERT_MAX_ARITY], out[CZ_PATH_BATCH], tag, *trace[CZ_PATH_BATCH];
    hash_rows(b);
    for (uint32_t level = 0; level < b->shape->num_levels; level++) {
        const unsigned arity = b->shape->arity[level];
        const struct cz_poseidon_params *p = cz_poseidon_params(arity);
        for (unsigned k = 0; k < b->n; k++) {
            open_level(&b->job[k], in + (size_t)k * arity, level, arity, b->known);
            trace[k] = b->job[k].elem;
            b->job[k].elem += cz_poseidon_trace_len(p);
        }
        cz_poseidon_merkle_tag(&tag, arity);
        cz_poseidon_hash_n(out, &tag, in, b->n, p, trace);
        for (unsigned k = 0; k < b->n; k++) b->job[k].node = out[k];
    }
    b->n = 0;
}

/* Bits of all levels and the packed index: a path's own variables that no hash decides. */
static void assign_index(struct cz_assign *a, const struct cz_path_shape *shape, const uint32_t *index, bool known) {
    uint64_t packed[4] = {0};
    unsigned at = 0;
    for (uint32_t i = 0; i < shape->num_levels; i++) {
        const unsigned arity = shape->arity[i], bits = (unsigned)__builtin_ctz(arity);
        const uint64_t position = index[i] & (arity - 1);
        if (!known) cz_assign_bits(a, position, bits);
        cz_insert_assign_bits(a, arity, (unsigned)position);
        packed[at / 64] |= position << (at % 64);
        if (at % 64 + bits > 64) packed[at / 64 + 1] |= position >> (64 - at % 64);
        at += bits;
    }
    if (known) return;
    struct cz_fr v;
    uint8_t le[32];
    for (unsigned k = 0; k < 4; k++) cz_store_le64(le + 8 * k, packed[k]);
    cz_assign_decode(a, &v, le);
    cz_assign_input(a, &v);
}

static struct cz_path_job *next_job(struct cz_path_batch *b, struct cz_assign *a, const struct cz_path_values *values) {
    if (b->n == CZ_PATH_BATCH) cz_path_batch_finish(b);
    struct cz_path_job *job = &b->job[b->n];
    job->a = a;
    job->row_len = 0;
    memcpy(job->values.index, values->index, b->shape->num_levels * sizeof *values->index);
    memcpy(job->values.sibling, values->sibling, b->shape->num_levels * sizeof *values->sibling);
    return job;
}

static void add(struct cz_path_batch *b, struct cz_path_job *job) {
    assign_index(job->a, b->shape, job->values.index, b->known);
    job->elem = cz_assign_reserve(job->a, b->num_elems);
    if (job->elem) b->n++;
}

void cz_path_batch_add(struct cz_path_batch *b, struct cz_assign *a, const struct cz_path_values *values) {
    struct cz_path_job *job = next_job(b, a, values);
    cz_assign_decode(a, &job->node, values->leaf);
    add(b, job);
}

void cz_path_batch_add_hashed(struct cz_path_batch *b, struct cz_assign *a, const struct cz_fr *row, uint32_t row_len,
                              const struct cz_path_values *values) {
    struct cz_path_job *job = next_job(b, a, values);
    memcpy(job->row, row, row_len * sizeof *row);
    job->row_len = row_len;
    job->row_elem = cz_assign_reserve(a, cz_poseidon_trace_len(cz_poseidon_params(row_len)));
    if (job->row_elem) add(b, job);
}
