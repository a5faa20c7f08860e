#include "hash/poseidon_int.h"

#include "field/cpu.h"
#include "hash/poseidon_constants.inc"

#include <string.h>

#define PARAMS(a, rp)                                                                                                  \
    {                                                                                                                  \
        .arity = (a), .t = (a) + 1, .partial_rounds = (rp), .comp = COMP_##a, .mds = MDS_##a,                          \
        .pre_sparse = PRE_SPARSE_##a, .sparse = SPARSE_##a                                                             \
    }

static const struct cz_poseidon_params PARAMS_OF[] = {PARAMS(2, 55), PARAMS(4, 56), PARAMS(8, 57), PARAMS(11, 57)};

const struct cz_poseidon_params *cz_poseidon_params(unsigned arity) {
    for (size_t i = 0; i < sizeof PARAMS_OF / sizeof *PARAMS_OF; i++)
        if (PARAMS_OF[i].arity == arity) return &PARAMS_OF[i];
    return NULL;
}

/* ---- inner products with one reduction at the end: half the work of multiplying and adding ---- */

typedef unsigned __int128 u128;

struct wide {
    uint64_t l[9]; /* up to CZ_POSEIDON_MAX_T products of values below r */
};

static inline void wide_mul_add(struct wide *w, const struct cz_fr *a, const struct cz_fr *b) {
    for (unsigned i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            u128 v = (u128)a->l[i] * b->l[j] + w->l[i + j] + carry;
            w->l[i + j] = (uint64_t)v;
            carry = (uint64_t)(v >> 64);
        }
        for (unsigned j = i + 4; j < 9; j++) carry = __builtin_add_overflow(w->l[j], carry, &w->l[j]);
    }
}

/* v -= m when v >= m; five limbs. */
static inline void sub_if_ge(uint64_t v[5], const uint64_t m[5]) {
    uint64_t d[5], borrow = 0;
    for (unsigned i = 0; i < 5; i++) {
        u128 x = (u128)v[i] - m[i] - borrow;
        d[i] = (uint64_t)x;
        borrow = (uint64_t)(x >> 64) & 1;
    }
    for (unsigned i = 0; i < 5; i++) v[i] = borrow ? v[i] : d[i];
}

/* v -= 2^shift·r when that is not negative. */
static inline void take_off(uint64_t v[5], unsigned shift) {
    const uint64_t *m = CZ_FR_MODULUS;
    uint64_t s[5] = {m[0] << shift, 0, 0, 0, 0};
    for (unsigned i = 1; i < 4; i++) s[i] = shift ? m[i] << shift | m[i - 1] >> (64 - shift) : m[i];
    s[4] = shift ? m[3] >> (64 - shift) : 0;
    sub_if_ge(v, s);
}

/*
 * r = w / 2^256. w < t·r² gives less than t·r·(r/2^256) + r: below 6.5·r for t <= 12, so 4r, 2r and r are taken off;
 * below 17.8·r for t <= 37, so 16r and 8r before them.
 */
static void wide_reduce(struct cz_fr *r, struct wide *w, unsigned t) {
    static const uint64_t N = 0xfffffffeffffffffu; /* -1/r mod 2^64 */
    const uint64_t *m = CZ_FR_MODULUS;
    for (unsigned i = 0; i < 4; i++) {
        uint64_t k = w->l[i] * N, carry = 0;
        for (unsigned j = 0; j < 4; j++) {
            u128 v = (u128)k * m[j] + w->l[i + j] + carry;
            w->l[i + j] = (uint64_t)v;
            carry = (uint64_t)(v >> 64);
        }
        for (unsigned j = i + 4; j < 9; j++) carry = __builtin_add_overflow(w->l[j], carry, &w->l[j]);
    }
    uint64_t v[5] = {w->l[4], w->l[5], w->l[6], w->l[7], w->l[8]};
    if (t > 12)
        for (unsigned shift = 5; shift-- > 3;) take_off(v, shift);
    for (unsigned shift = 3; shift-- > 0;) take_off(v, shift);
    memcpy(r->l, v, sizeof r->l);
}

/* Appends to the trace, when there is one. */
static inline void note(struct cz_fr **trace, const struct cz_fr *v) {
    if (*trace) *(*trace)++ = *v;
}

/* x = (x + pre)^5 + post; either constant may be NULL. */
static inline void sbox(struct cz_fr *x, const struct cz_fr *pre, const struct cz_fr *post, struct cz_fr **trace) {
    struct cz_fr l2, l4;
    if (pre) cz_fr_add(x, x, pre);
    cz_fr_sqr(&l2, x);
    note(trace, &l2);
    cz_fr_sqr(&l4, &l2);
    cz_fr_mul(x, x, &l4);
    if (post) cz_fr_add(x, x, post);
    note(trace, x);
}

/* An S-box after the first round, whose input is traced too. */
static inline void inner_sbox(struct cz_fr *x, const struct cz_fr *post, struct cz_fr **trace) {
    note(trace, x);
    sbox(x, NULL, post, trace);
}

/* s = s·m: element j is the sum over i of s[i]·m[i][j]. */
static void dense_layer(struct cz_fr *s, const struct cz_fr *m, unsigned t) {
    struct cz_fr in[CZ_POSEIDON_MAX_T];
    memcpy(in, s, t * sizeof *s);
    for (unsigned j = 0; j < t; j++) {
        struct wide w = {0};
        for (unsigned i = 0; i < t; i++) wide_mul_add(&w, &in[i], &m[i * t + j]);
        wide_reduce(&s[j], &w, t);
    }
}

/* spec/gadgets.md §6.2; s[0] is the tag. */
static void permute(struct cz_fr *s, const struct cz_poseidon_params *p, struct cz_fr *trace) {
    const unsigned t = p->t, half = CZ_POSEIDON_FULL_ROUNDS / 2;
    const struct cz_fr *comp = p->comp + t, *sparse = p->sparse;
    struct cz_fr *none = NULL; /* element 0 is a constant in the first round: the circuit has no variable for it */
    for (unsigned i = 0; i < t; i++) sbox(&s[i], &p->comp[i], &comp[i], i ? &trace : &none);
    comp += t;
    dense_layer(s, p->mds, t);
    for (unsigned q = 1; q < half; q++, comp += t) {
        for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], &comp[i], &trace);
        dense_layer(s, q + 1 < half ? p->mds : p->pre_sparse, t);
    }
    for (unsigned q = 0; q < p->partial_rounds; q++, comp++, sparse += 2 * t - 1) {
        inner_sbox(&s[0], comp, &trace);
        struct wide w = {0};
        for (unsigned i = 0; i < t; i++) wide_mul_add(&w, &s[i], &sparse[i]);
        for (unsigned j = 1; j < t; j++) {
            struct cz_fr v;
            cz_fr_mul(&v, &sparse[t + j - 1], &s[0]);
            cz_fr_add(&s[j], &s[j], &v);
        }
        wide_reduce(&s[0], &w, t);
    }
    for (unsigned q = 0; q + 1 < half; q++, comp += t) {
        for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], &comp[i], &trace);
        dense_layer(s, p->mds, t);
    }
    for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], NULL, &trace);
    /* Only element 1 of the last layer is the result. */
    struct wide w = {0};
    for (unsigned i = 0; i < t; i++) wide_mul_add(&w, &s[i], &p->mds[i * t + 1]);
    wide_reduce(&s[1], &w, t);
    note(&trace, &s[1]);
}

unsigned cz_poseidon_trace_len(const struct cz_poseidon_params *p) {
    return 2 * p->arity + 3 * ((CZ_POSEIDON_FULL_ROUNDS - 1) * p->t + p->partial_rounds) + 1;
}

void cz_poseidon_merkle_tag(struct cz_fr *tag, unsigned arity) {
    cz_fr_from_u64(tag, (UINT64_C(1) << arity) - 1);
}

static void hash_one(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                     const struct cz_poseidon_params *p, struct cz_fr *trace) {
    struct cz_fr s[CZ_POSEIDON_MAX_T];
    s[0] = *tag;
    memcpy(s + 1, in, p->arity * sizeof *s);
    permute(s, p, trace);
    *out = s[1];
}

void cz_poseidon_hash_n(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in, size_t n,
                        const struct cz_poseidon_params *p, struct cz_fr *const *trace) {
    size_t i = 0;
    if (cz_field_current() == CZ_FIELD_IFMA && p == cz_poseidon_params(p->arity)) {
        /* Eight lanes cost as much as a hash and a half by itself. */
        for (size_t left = n; left > 1; left = n - i) {
            size_t lanes = left < 8 ? left : 8;
            cz_poseidon_hash_x8(out + i, tag, in + i * p->arity, (unsigned)lanes, p, trace ? trace + i : NULL);
            i += lanes;
        }
    }
    for (; i < n; i++) hash_one(&out[i], tag, in + i * p->arity, p, trace ? trace[i] : NULL);
}

void cz_poseidon_hash_params(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in,
                             const struct cz_poseidon_params *p) {
    hash_one(out, tag, in, p, NULL);
}

void cz_poseidon_hash_tag(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in, unsigned arity) {
    cz_poseidon_hash_params(out, tag, in, cz_poseidon_params(arity));
}

void cz_poseidon_hash(struct cz_fr *out, const struct cz_fr *in, unsigned arity) {
    struct cz_fr tag;
    cz_poseidon_merkle_tag(&tag, arity);
    cz_poseidon_hash_tag(out, &tag, in, arity);
}

void cz_poseidon_hash_md(struct cz_fr *out, const struct cz_fr *in, size_t n, const struct cz_poseidon_params *p) {
    struct cz_fr tag, block[CZ_POSEIDON_MAX_T] = {in[0]};
    cz_poseidon_merkle_tag(&tag, p->arity);
    for (size_t at = 1, len; at < n; at += len) {
        len = n - at < p->arity - 1 ? n - at : p->arity - 1;
        memcpy(block + 1, in + at, len * sizeof *block);
        memset(block + 1 + len, 0, (p->arity - 1 - len) * sizeof *block);
        cz_poseidon_hash_params(&block[0], &tag, block, p);
    }
    *out = block[0];
}
