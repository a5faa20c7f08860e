#include "hash/poseidon_int.h"

#include "field/fr_x8.h"

/* Compiled for IFMA whatever the rest is compiled for; poseidon.c calls it only where the processor has it. */

#ifdef __AVX512IFMA__

#include <pthread.h>
#include <string.h>

/*
 * The state is in the form of radix 2^260, so that its products with itself and with constants of that form stay in it.
 * Bounds (m for the modulus): constants below m; an S-box's input at most 8m, so x^2 < 2.9m, x^4 < 1.3m, x^5 < 1.3m and
 * with a constant 2.3m; a sum of t <= 12 products with elements below B·m is below (1 + t·B/35)·m. In the partial
 * rounds elements 1 … t - 1 grow by less than 1.1m a round and are reduced every 16, so B < 20.
 */
#define MAX_T 12
#define REDUCE_EVERY 16

struct limbs {
    uint64_t l[5];
};

/* Constants of one width, made at its first use. */
#define MAX_PARTIAL 57
struct width {
    struct limbs comp[8 * MAX_T + MAX_PARTIAL];
    struct limbs mds[MAX_T * MAX_T], pre_sparse[MAX_T * MAX_T];
    struct limbs sparse[MAX_PARTIAL * (2 * MAX_T - 1)];
};
static struct width WIDTH[4];

static void convert(struct limbs *out, const struct cz_fr *in, size_t n) {
    struct cz_fr sixteen, v;
    cz_fr_from_u64(&sixteen, 16);
    for (size_t i = 0; i < n; i++) {
        cz_fr_mul(&v, &in[i], &sixteen); /* a·2^256·2^4 mod m */
        out[i] = (struct limbs){{v.l[0], v.l[0] >> 52 | v.l[1] << 12, v.l[1] >> 40 | v.l[2] << 24,
                                 v.l[2] >> 28 | v.l[3] << 36, v.l[3] >> 16}};
        for (int k = 0; k < 5; k++) out[i].l[k] &= (UINT64_C(1) << 52) - 1;
    }
}

static void make_widths(void) {
    static const unsigned arity[4] = {2, 4, 8, 11};
    for (int i = 0; i < 4; i++) {
        const struct cz_poseidon_params *p = cz_poseidon_params(arity[i]);
        convert(WIDTH[i].comp, p->comp, 8 * p->t + p->partial_rounds);
        convert(WIDTH[i].mds, p->mds, p->t * p->t);
        convert(WIDTH[i].pre_sparse, p->pre_sparse, p->t * p->t);
        convert(WIDTH[i].sparse, p->sparse, (size_t)p->partial_rounds * (2 * p->t - 1));
    }
}

static const struct width *width_of(unsigned arity) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, make_widths);
    return &WIDTH[arity == 2 ? 0 : arity == 4 ? 1 : arity == 8 ? 2 : 3];
}

static inline void set(struct cz_fr_x8 *r, const struct limbs *c) {
    cz_fr_x8_set(r, c->l);
}

static inline void add(struct cz_fr_x8 *r, const struct limbs *c) {
    struct cz_fr_x8 k;
    set(&k, c);
    cz_fr_x8_add(r, r, &k);
}

/* r = sum of s[i]·m[i·stride] over t elements, one reduction: ten columns of 2·5·t products of 52 bits at most. */
static inline void dot(struct cz_fr_x8 *r, const struct cz_fr_x8 *s, const struct limbs *m, unsigned stride,
                       unsigned t) {
    const __m512i zero = _mm512_setzero_si512(), inv = _mm512_set1_epi64(CZ_FR_X8_INV), mask = CZ_FR_X8_MASK;
    __m512i c[10];
#pragma GCC unroll 10
    for (int k = 0; k < 10; k++) c[k] = zero;
    for (unsigned i = 0; i < t; i++, m += stride) {
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            const __m512i b = _mm512_set1_epi64((long long)m->l[j]);
#pragma GCC unroll 5
            for (int k = 0; k < 5; k++) {
                c[j + k] = _mm512_madd52lo_epu64(c[j + k], s[i].l[k], b);
                c[j + k + 1] = _mm512_madd52hi_epu64(c[j + k + 1], s[i].l[k], b);
            }
        }
    }
    /* As in cz_fr_x8_sqr: the low product of the limb that becomes zero is not made. */
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        const __m512i q = _mm512_madd52lo_epu64(zero, c[i], inv);
        c[i + 1] = _mm512_add_epi64(c[i + 1], _mm512_srli_epi64(_mm512_add_epi64(c[i], mask), 52));
#pragma GCC unroll 5
        for (int j = 0; j < 5; j++) {
            c[i + j + 1] = _mm512_madd52hi_epu64(c[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j]));
            if (j + 1 < 5)
                c[i + j + 1] =
                    _mm512_madd52lo_epu64(c[i + j + 1], q, _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[j + 1]));
        }
    }
#pragma GCC unroll 5
    for (int k = 0; k < 5; k++) r->l[k] = c[k + 5];
    cz_fr_x8_carry(r);
}

static void dense_layer(struct cz_fr_x8 *s, const struct limbs *m, unsigned t) {
    struct cz_fr_x8 in[MAX_T];
    memcpy(in, s, t * sizeof *s);
    for (unsigned j = 0; j < t; j++) dot(&s[j], in, m + j, t, t);
}

/* r = a/2^4 mod m, below 1.5m for a below 9m: k·m with k < 16 makes the low four bits zero; m is 1 mod 16. */
static inline void over_16(struct cz_fr_x8 *r, const struct cz_fr_x8 *a) {
    const __m512i zero = _mm512_setzero_si512(), mask = CZ_FR_X8_MASK;
    const __m512i k = _mm512_and_si512(_mm512_sub_epi64(zero, a->l[0]), _mm512_set1_epi64(15));
    struct cz_fr_x8 t = *a;
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        const __m512i m = _mm512_set1_epi64((long long)CZ_FR_X8_MODULUS[i]);
        t.l[i] = _mm512_madd52lo_epu64(t.l[i], k, m);
        if (i < 4) t.l[i + 1] = _mm512_madd52hi_epu64(t.l[i + 1], k, m);
    }
    cz_fr_x8_carry(&t);
#pragma GCC unroll 5
    for (int i = 0; i < 5; i++) {
        r->l[i] = _mm512_srli_epi64(t.l[i], 4);
        if (i < 4) r->l[i] = _mm512_or_si512(r->l[i], _mm512_and_si512(_mm512_slli_epi64(t.l[i + 1], 48), mask));
    }
}

/* Canonical and in memory's form. */
static inline void to_memory(struct cz_fr out[8], const struct cz_fr_x8 *a) {
    struct cz_fr_x8 t;
    over_16(&t, a);
    cz_fr_x8_reduce(&t, &t);
    cz_fr_x8_store(out, &t);
}

struct trace {
    struct cz_fr *at[8]; /* of each lane; lanes == 0: no trace */
    unsigned lanes;
};

static inline void note(struct trace *trace, const struct cz_fr_x8 *v) {
    struct cz_fr eight[8];
    if (!trace->lanes) return;
    to_memory(eight, v);
    for (unsigned i = 0; i < trace->lanes; i++) *trace->at[i]++ = eight[i];
}

/* x = x^5 + post */
static inline void sbox(struct cz_fr_x8 *x, const struct limbs *post, struct trace *trace) {
    struct cz_fr_x8 l2, l4;
    cz_fr_x8_sqr(&l2, x);
    note(trace, &l2);
    cz_fr_x8_sqr(&l4, &l2);
    cz_fr_x8_mul(x, x, &l4);
    if (post) add(x, post);
    note(trace, x);
}

static inline void inner_sbox(struct cz_fr_x8 *x, const struct limbs *post, struct trace *trace) {
    note(trace, x);
    sbox(x, post, trace);
}

/* poseidon.c's, eight times. */
static void permute(struct cz_fr_x8 *s, unsigned t, unsigned partial_rounds, const struct width *w,
                    struct trace *trace) {
    const unsigned half = CZ_POSEIDON_FULL_ROUNDS / 2;
    const struct limbs *comp = w->comp + t, *sparse = w->sparse;
    struct trace none = {.lanes = 0};
    for (unsigned i = 0; i < t; i++) {
        add(&s[i], &w->comp[i]);
        sbox(&s[i], &comp[i], i ? trace : &none);
    }
    comp += t;
    dense_layer(s, w->mds, t);
    for (unsigned q = 1; q < half; q++, comp += t) {
        for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], &comp[i], trace);
        dense_layer(s, q + 1 < half ? w->mds : w->pre_sparse, t);
    }
    for (unsigned q = 0; q < partial_rounds; q++, comp++, sparse += 2 * t - 1) {
        struct cz_fr_x8 first, v, k;
        inner_sbox(&s[0], comp, trace);
        dot(&first, s, sparse, 1, t);
        for (unsigned j = 1; j < t; j++) {
            set(&k, &sparse[t + j - 1]);
            cz_fr_x8_mul(&v, &k, &s[0]);
            cz_fr_x8_add(&s[j], &s[j], &v);
            if (q % REDUCE_EVERY == REDUCE_EVERY - 1) cz_fr_x8_reduce_weak(&s[j], &s[j]);
        }
        s[0] = first;
    }
    for (unsigned j = 1; j < t; j++) cz_fr_x8_reduce_weak(&s[j], &s[j]);
    for (unsigned q = 0; q + 1 < half; q++, comp += t) {
        for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], &comp[i], trace);
        dense_layer(s, w->mds, t);
    }
    for (unsigned i = 0; i < t; i++) inner_sbox(&s[i], NULL, trace);
    dot(&s[0], s, w->mds + 1, t, t);
    note(trace, &s[0]);
}

void cz_poseidon_hash_x8(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in, unsigned lanes,
                         const struct cz_poseidon_params *p, struct cz_fr *const *trace) {
    struct cz_fr_x8 s[MAX_T];
    struct cz_fr eight[8];
    struct trace to = {.lanes = trace ? lanes : 0};
    for (unsigned i = 0; trace && i < lanes; i++) to.at[i] = trace[i];
    for (unsigned e = 0; e < p->t; e++) {
        for (unsigned i = 0; i < 8; i++) eight[i] = e ? in[(i < lanes ? i : 0) * p->arity + e - 1] : *tag;
        cz_fr_x8_load(&s[e], eight);
        cz_fr_x8_from_256(&s[e], &s[e]);
    }
    permute(s, p->t, p->partial_rounds, width_of(p->arity), &to);
    to_memory(eight, &s[0]);
    memcpy(out, eight, lanes * sizeof *out);
}

#else

void cz_poseidon_hash_x8(struct cz_fr *out, const struct cz_fr *tag, const struct cz_fr *in, unsigned lanes,
                         const struct cz_poseidon_params *p, struct cz_fr *const *trace) {
    (void)out, (void)tag, (void)in, (void)lanes, (void)p, (void)trace; /* no processor of this kind comes here */
}

#endif
