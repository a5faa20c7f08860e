#include "r1cs/gadgets/poseidon.h"

#include "r1cs/gadgets/num.h"

#include <string.h>

/*
 * An element of the state is a combination of `known` columns: those allocated since the last full round began, at
 * most t of them, then one for each partial round; known[0] is ONE.
 */
#define MAX_KNOWN (1 + CZ_POSEIDON_MAX_T + 64)

struct state {
    const struct cz_poseidon_params *p;
    uint32_t known[MAX_KNOWN];
    unsigned num_known;
    struct cz_fr e[CZ_POSEIDON_MAX_T][MAX_KNOWN];
};

/* x := alloc; e·1 = x. */
static uint32_t ensure(struct cz_recorder *r, const struct state *s, unsigned element) {
    uint32_t x = cz_recorder_elem(r);
    for (unsigned k = 0; k < s->num_known; k++)
        if (k || !cz_fr_is_zero(&s->e[element][0])) cz_recorder_add_fr(r, &r->lhs, s->known[k], &s->e[element][k]);
    cz_recorder_add(r, &r->rhs, x, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    return x;
}

/* l2 = (x + pre)^2, l4 = l2^2, y = (x + pre)·l4 + post; returns y. Either constant may be NULL. */
static uint32_t record_sbox(struct cz_recorder *r, uint32_t x, const struct cz_fr *pre, const struct cz_fr *post) {
    uint32_t l2 = cz_recorder_elem(r), l4 = cz_recorder_square(r), y = cz_recorder_elem(r);
    for (int i = 0; i < 2; i++) {
        struct cz_lc *lc = i ? &r->b : &r->a;
        cz_recorder_add(r, lc, x, CZ_R1CS_COEF_ONE);
        if (pre) cz_recorder_add_fr(r, lc, 0, pre);
    }
    cz_recorder_add(r, &r->c, l2, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce(r);
    cz_recorder_add(r, &r->a, l2, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->b, l2, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->c, l4, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce(r);
    cz_recorder_add(r, &r->a, x, CZ_R1CS_COEF_ONE);
    if (pre) cz_recorder_add_fr(r, &r->a, 0, pre);
    cz_recorder_add(r, &r->b, l4, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->c, y, CZ_R1CS_COEF_ONE);
    if (post) {
        struct cz_fr neg;
        cz_fr_neg(&neg, post);
        cz_recorder_add_fr(r, &r->c, 0, &neg);
    }
    cz_recorder_enforce(r);
    return y;
}

/* The state becomes the linear layer of (first, y_1 … y_{t-1}); first is a constant in round 0, else y_0. */
static void dense_layer(struct state *s, const struct cz_fr *m, const struct cz_fr *constant, const uint32_t *y) {
    unsigned t = s->p->t;
    unsigned skip = constant ? 1 : 0; /* element 0 has no column then */
    s->num_known = 1 + t - skip;
    s->known[0] = 0;
    memcpy(s->known + 1, y + skip, (t - skip) * sizeof *y);
    for (unsigned j = 0; j < t; j++) {
        s->e[j][0] = CZ_FR_ZERO;
        if (constant) cz_fr_mul(&s->e[j][0], constant, &m[j]);
        for (unsigned i = skip; i < t; i++) s->e[j][1 + i - skip] = m[i * t + j];
    }
}

/* new e_0 = Σ w_hat[i]·e_i, new e_j = e_j + v_rest[j - 1]·e_0, with e_0 the new column. */
static void sparse_layer(struct state *s, uint32_t y, const struct cz_fr *w_hat, const struct cz_fr *v_rest) {
    unsigned t = s->p->t, last = s->num_known++;
    s->known[last] = y;
    memset(s->e[0], 0, sizeof s->e[0]);
    for (unsigned j = 1; j < t; j++) s->e[j][last] = CZ_FR_ZERO;
    for (unsigned k = 0; k < last; k++) {
        struct cz_fr product;
        for (unsigned j = 1; j < t; j++) {
            cz_fr_mul(&product, &w_hat[j], &s->e[j][k]);
            cz_fr_add(&s->e[0][k], &s->e[0][k], &product);
        }
    }
    s->e[0][last] = w_hat[0];
    for (unsigned j = 1; j < t; j++) s->e[j][last] = v_rest[j - 1];
}

/* The constant that element 0 is after the first S-box: (tag + k)^5 + p. */
static void first_constant(struct cz_fr *out, const struct cz_poseidon_params *p, const struct cz_fr *tag) {
    struct cz_fr x, l;
    cz_fr_add(&x, tag, &p->comp[0]);
    cz_fr_sqr(&l, &x);
    cz_fr_sqr(&l, &l);
    cz_fr_mul(&l, &l, &x);
    cz_fr_add(out, &l, &p->comp[p->t]);
}

static uint32_t record_params(struct cz_recorder *r, const struct cz_fr *tag, const uint32_t *in,
                              const struct cz_poseidon_params *p) {
    struct state s = {.p = p};
    unsigned t = p->t, half = CZ_POSEIDON_FULL_ROUNDS / 2;
    const struct cz_fr *comp = p->comp + t, *sparse = p->sparse;
    uint32_t y[CZ_POSEIDON_MAX_T] = {0};
    struct cz_fr constant;

    first_constant(&constant, p, tag);
    for (unsigned i = 1; i < t; i++) y[i] = record_sbox(r, in[i - 1], &p->comp[i], &comp[i]);
    comp += t;
    dense_layer(&s, p->mds, &constant, y);

    for (unsigned q = 1; q < 2 * half; q++) {
        for (unsigned k = 0; q == half && k < p->partial_rounds; k++) {
            uint32_t y0 = record_sbox(r, ensure(r, &s, 0), NULL, comp++);
            sparse_layer(&s, y0, sparse, sparse + t);
            sparse += 2 * t - 1;
        }
        bool last = q == 2 * half - 1;
        for (unsigned i = 0; i < t; i++) y[i] = record_sbox(r, ensure(r, &s, i), NULL, last ? NULL : &comp[i]);
        comp += t;
        dense_layer(&s, q == half - 1 ? p->pre_sparse : p->mds, NULL, y);
    }
    return ensure(r, &s, 1);
}

uint32_t cz_poseidon_record(struct cz_recorder *r, const uint32_t *in, unsigned arity) {
    struct cz_fr tag;
    cz_poseidon_merkle_tag(&tag, arity);
    return record_params(r, &tag, in, cz_poseidon_params(arity));
}

struct hash { /* no padding: the key of a template */
    struct cz_fr tag;
    const struct cz_poseidon_params *p;
};
_Static_assert(sizeof(struct hash) == sizeof(struct cz_fr) + sizeof(void *), "the key has padding");

static void record(struct cz_recorder *r, const void *ctx) {
    const struct hash *h = ctx;
    uint32_t in[CZ_POSEIDON_MAX_T] = {0};
    for (unsigned i = 0; i < h->p->arity; i++) in[i] = cz_recorder_external(i);
    cz_recorder_output(r, cz_bit_is(record_params(r, &h->tag, in, h->p)));
}

cz_r1cs_var cz_poseidon_constrain_params(struct cz_builder *b, const struct cz_fr *tag, const cz_r1cs_var *in,
                                         const struct cz_poseidon_params *p) {
    char name[32];
    snprintf(name, sizeof name, "poseidon.tag.%u", p->arity);
    struct hash h = {*tag, p};
    cz_wire out;
    struct cz_builder_place place = {name, &h, sizeof h, in, p->arity, record, &h};
    cz_builder_place(b, &place, &out, 1);
    return cz_wire_var(out);
}

cz_r1cs_var cz_poseidon_constrain_tag(struct cz_builder *b, const struct cz_fr *tag, const cz_r1cs_var *in,
                                      unsigned arity) {
    return cz_poseidon_constrain_params(b, tag, in, cz_poseidon_params(arity));
}

cz_r1cs_var cz_poseidon_constrain(struct cz_builder *b, const cz_r1cs_var *in, unsigned arity) {
    char name[24];
    snprintf(name, sizeof name, "poseidon.%u", arity);
    struct hash h = {.p = cz_poseidon_params(arity)};
    cz_poseidon_merkle_tag(&h.tag, arity);
    cz_wire out;
    struct cz_builder_place place = {name, NULL, 0, in, arity, record, &h};
    cz_builder_place(b, &place, &out, 1);
    return cz_wire_var(out);
}

void cz_poseidon_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *in, unsigned arity) {
    struct cz_fr tag;
    cz_poseidon_merkle_tag(&tag, arity);
    cz_poseidon_assign_tag(a, out, &tag, in, arity);
}

void cz_poseidon_assign_tag(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                            unsigned arity) {
    cz_poseidon_assign_params(a, out, tag, in, cz_poseidon_params(arity));
}

void cz_poseidon_assign_params(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                               const struct cz_poseidon_params *p) {
    struct cz_fr *room = cz_assign_reserve(a, cz_poseidon_trace_len(p));
    cz_poseidon_hash_n(out, tag, in, 1, p, room ? &room : NULL);
}

cz_r1cs_var cz_poseidon_md_constrain(struct cz_builder *b, const cz_r1cs_var *in, size_t n,
                                     const struct cz_poseidon_params *p) {
    cz_r1cs_var block[CZ_POSEIDON_MAX_T] = {in[0]};
    struct cz_fr tag;
    cz_poseidon_merkle_tag(&tag, p->arity);
    for (size_t at = 1, len; at < n; at += len) {
        len = n - at < p->arity - 1 ? n - at : p->arity - 1;
        memcpy(block + 1, in + at, len * sizeof *block);
        uint32_t zeros = (uint32_t)(p->arity - 1 - len);
        if (zeros) cz_num_alloc(b, block + 1 + len, zeros);
        block[0] = cz_poseidon_constrain_params(b, &tag, block, p);
    }
    return block[0];
}

void cz_poseidon_md_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *in, size_t n,
                           const struct cz_poseidon_params *p) {
    struct cz_fr tag, block[CZ_POSEIDON_MAX_T] = {in[0]};
    cz_poseidon_merkle_tag(&tag, p->arity);
    for (size_t at = 1, len; at < n; at += len) {
        len = n - at < p->arity - 1 ? n - at : p->arity - 1;
        memcpy(block + 1, in + at, len * sizeof *block);
        for (size_t i = 1 + len; i < p->arity; i++) {
            block[i] = CZ_FR_ZERO;
            cz_assign_elem(a, &block[i]);
        }
        cz_poseidon_assign_params(a, &block[0], &tag, block, p);
    }
    *out = block[0];
}
