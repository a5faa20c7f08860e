/*
 * Eight lanes for points_template.h with AVX-512 IFMA. No include guard: points_g1_ifma.c and points_g2_ifma.c, which
 * define DIM (1 for Fp, 2 for Fp2).
 *
 * A stored coordinate is eight limbs of 52 bits in the form of radix 2^416, a cache line, so that loading eight of them
 * is eight loads and a transposition. Bounds, in multiples of m: stored at most 2; products below 1.1 for Fp and below
 * SLACK + 1.1 for Fp2; v_sub takes b up to SLACK and gives a + SLACK. Differences that are stored go through
 * weak_uncarried.
 */

#include "base/bytes.h"
#include "compute/cpu/points.h"
#include "curve/encoding.h"
#include "field/fp_x8.h"

#include <stdalign.h>
#include <string.h>

#define LANES 8
#define SLACK (DIM == 1 ? 4 : 16)

typedef struct {
    alignas(64) uint64_t l[DIM][8];
} FE;
typedef struct {
    struct cz_fp_x8 c[DIM];
} VE;
struct spoint {
    FE x, y;
};

/* 2^832 mod m: a product with it takes plain values to the form of radix 2^416. */
static const uint64_t plain_to_416[8] = {0xa5bf4cb89af51, 0x3afbba7ca31a2, 0x2646160ec71f1, 0xa84d710465903,
                                         0x3480a4a188311, 0x98e5907ad91f5, 0x2075d74507266, 0x0000000008746};

#define INLINE static inline __attribute__((always_inline))

/* r = a - b + SLACK·m */
INLINE void x8_sub(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b) {
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++)
        r->l[i] = _mm512_add_epi64(_mm512_sub_epi64(a->l[i], b->l[i]),
                                   _mm512_set1_epi64((long long)(SLACK * CZ_FP_X8_MODULUS[i])));
    cz_fp_x8_carry(r);
}

/* Out of line: one copy of each product keeps the loops within the instruction cache. */
static __attribute__((noinline)) void x8_mul(struct cz_fp_x8 *r, const struct cz_fp_x8 *a, const struct cz_fp_x8 *b) {
    cz_fp_x8_mul(r, a, b);
}

INLINE void x8_load_rows(struct cz_fp_x8 *r, const uint64_t *const row[8]) {
    __m512i in[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) in[i] = _mm512_load_si512(row[i]);
    cz_fp_x8_transpose(r->l, in);
}

INLINE void v_load_x(VE *r, const struct spoint *const *p) {
    for (int d = 0; d < DIM; d++) {
        const uint64_t *row[8];
        for (int i = 0; i < 8; i++) row[i] = p[i]->x.l[d];
        x8_load_rows(&r->c[d], row);
    }
}
INLINE void v_load_y(VE *r, const struct spoint *const *p) {
    for (int d = 0; d < DIM; d++) {
        const uint64_t *row[8];
        for (int i = 0; i < 8; i++) row[i] = p[i]->y.l[d];
        x8_load_rows(&r->c[d], row);
    }
}
INLINE void v_store(struct spoint *const *p, const VE *x, const VE *y) {
    __m512i out[8];
    for (int d = 0; d < DIM; d++) {
        cz_fp_x8_transpose(out, x->c[d].l);
        for (int i = 0; i < 8; i++) _mm512_store_si512(p[i]->x.l[d], out[i]);
        cz_fp_x8_transpose(out, y->c[d].l);
        for (int i = 0; i < 8; i++) _mm512_store_si512(p[i]->y.l[d], out[i]);
    }
}

INLINE void v_sub(VE *r, const VE *a, const VE *b) {
    for (int d = 0; d < DIM; d++) x8_sub(&r->c[d], &a->c[d], &b->c[d]);
}
/*
 * To below 2m from limbs not yet carried (each below 2^55 in absolute value) of a value of at least m: the quotient is
 * taken from the top limb less what carries from below could take away. It falls short by at most one.
 */
INLINE void weak_uncarried(struct cz_fp_x8 *r) {
    const __m512i top = _mm512_sub_epi64(r->l[7], _mm512_set1_epi64(8));
    /* floor(2^52 / (top limb of m + 1)) */
    const __m512i q = _mm512_madd52hi_epu64(_mm512_setzero_si512(), top, _mm512_set1_epi64(0x00009d8307de6));
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) {
        const __m512i m = _mm512_set1_epi64((long long)CZ_FP_X8_COMPLEMENT[i]);
        r->l[i] = _mm512_madd52lo_epu64(r->l[i], q, m);
        if (i < 7) r->l[i + 1] = _mm512_madd52hi_epu64(r->l[i + 1], q, m);
    }
    cz_fp_x8_carry(r);
    r->l[7] = _mm512_and_si512(r->l[7], CZ_FP_X8_MASK);
}
/* The operands of these three, other than s, are stored values, so at most 2m. */
INLINE void v_rise(VE *t, const VE *p, const VE *q, unsigned neg) {
    for (int d = 0; d < DIM; d++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            __m512i k = _mm512_set1_epi64((long long)(SLACK * CZ_FP_X8_MODULUS[i]));
            k = _mm512_sub_epi64(k, q->c[d].l[i]);
            t->c[d].l[i] = _mm512_mask_sub_epi64(_mm512_add_epi64(k, p->c[d].l[i]), (__mmask8)neg, k, p->c[d].l[i]);
        }
        cz_fp_x8_carry(&t->c[d]);
    }
}
INLINE void v_sum_x(VE *x, const VE *s, const VE *p, const VE *q) {
    for (int d = 0; d < DIM; d++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            __m512i k = _mm512_set1_epi64((long long)(5 * CZ_FP_X8_MODULUS[i]));
            k = _mm512_add_epi64(k, s->c[d].l[i]);
            x->c[d].l[i] = _mm512_sub_epi64(k, _mm512_add_epi64(p->c[d].l[i], q->c[d].l[i]));
        }
        weak_uncarried(&x->c[d]);
    }
}
INLINE void v_sum_y(VE *y, const VE *s, const VE *p) {
    for (int d = 0; d < DIM; d++) {
#pragma GCC unroll 8
        for (int i = 0; i < 8; i++) {
            __m512i k = _mm512_set1_epi64((long long)(5 * CZ_FP_X8_MODULUS[i]));
            y->c[d].l[i] = _mm512_sub_epi64(_mm512_add_epi64(k, s->c[d].l[i]), p->c[d].l[i]);
        }
        weak_uncarried(&y->c[d]);
    }
}
INLINE void v_neg_lanes(VE *r, unsigned lanes) {
    struct cz_fp_x8 zero, t;
    for (int i = 0; i < 8; i++) zero.l[i] = _mm512_setzero_si512();
    for (int d = 0; d < DIM; d++) {
        x8_sub(&t, &zero, &r->c[d]);
        cz_fp_x8_select(&r->c[d], &r->c[d], &t, (__mmask8)lanes);
    }
}
INLINE void v_one(VE *r) {
    memset(r, 0, sizeof *r);
    cz_fp_x8_set(&r->c[0], CZ_FP_X8_ONE);
}
INLINE void v_one_lanes(VE *r, unsigned lanes) {
    struct cz_fp_x8 one, zero;
    cz_fp_x8_set(&one, CZ_FP_X8_ONE);
    for (int i = 0; i < 8; i++) zero.l[i] = _mm512_setzero_si512();
    cz_fp_x8_select(&r->c[0], &r->c[0], &one, (__mmask8)lanes);
    if (DIM == 2) cz_fp_x8_select(&r->c[DIM - 1], &r->c[DIM - 1], &zero, (__mmask8)lanes);
}
INLINE void v_select(VE *r, const VE *b, unsigned lanes) {
    for (int d = 0; d < DIM; d++) cz_fp_x8_select(&r->c[d], &r->c[d], &b->c[d], (__mmask8)lanes);
}
INLINE void v_triple(VE *r, const VE *a) {
    for (int d = 0; d < DIM; d++) {
        struct cz_fp_x8 t;
        cz_fp_x8_add(&t, &a->c[d], &a->c[d]);
        cz_fp_x8_add(&r->c[d], &t, &a->c[d]);
    }
}

static __attribute__((noinline)) unsigned zero_lanes_exact(const VE *a) {
    unsigned lanes = 0xff;
    for (int d = 0; d < DIM; d++) {
        struct cz_fp_x8 t;
        cz_fp_x8_reduce_weak(&t, &a->c[d]);
        lanes &= cz_fp_x8_zero_lanes(&t);
    }
    return lanes;
}

/* For values up to (SLACK + 2)·m. The lowest limbs of the multiples of m all but decide it. */
INLINE unsigned v_zero_lanes(const VE *a) {
    __mmask8 maybe = 0;
#pragma GCC unroll 20
    for (uint64_t k = 0; k <= SLACK + 2; k++) {
        const uint64_t low = k * CZ_FP_X8_MODULUS[0] & ((UINT64_C(1) << 52) - 1);
        maybe |= _mm512_cmpeq_epi64_mask(a->c[0].l[0], _mm512_set1_epi64((long long)low));
    }
    return __builtin_expect(maybe != 0, 0) ? zero_lanes_exact(a) : 0;
}

#if DIM == 1
static __attribute__((noinline)) void x8_sqr(struct cz_fp_x8 *r, const struct cz_fp_x8 *a) {
    cz_fp_x8_sqr(r, a);
}
INLINE void v_mul(VE *r, const VE *a, const VE *b) {
    x8_mul(&r->c[0], &a->c[0], &b->c[0]);
}
INLINE void v_sqr(VE *r, const VE *a) {
    x8_sqr(&r->c[0], &a->c[0]);
}
#else
static __attribute__((noinline)) void v_mul(VE *r, const VE *a, const VE *b) {
    struct cz_fp_x8 t0, t1, s, u;
    cz_fp_x8_add(&s, &a->c[0], &a->c[1]);
    cz_fp_x8_add(&u, &b->c[0], &b->c[1]);
    x8_mul(&t0, &a->c[0], &b->c[0]);
    x8_mul(&t1, &a->c[1], &b->c[1]);
    x8_mul(&s, &s, &u);
    x8_sub(&r->c[0], &t0, &t1);
    cz_fp_x8_add(&t0, &t0, &t1);
    x8_sub(&r->c[1], &s, &t0);
}
static __attribute__((noinline)) void v_sqr(VE *r, const VE *a) {
    struct cz_fp_x8 s, t, u;
    cz_fp_x8_add(&s, &a->c[0], &a->c[1]);
    cz_fp_x8_add(&t, &a->c[0], &a->c[0]);
    cz_fp_x8_reduce_weak(&u, &a->c[1]);
    x8_sub(&u, &a->c[0], &u);
    x8_mul(&r->c[1], &t, &a->c[1]);
    x8_mul(&r->c[0], &s, &u);
}
#endif

static void x8_to_plain(struct cz_fp out[8], const struct cz_fp_x8 *a) {
    struct cz_fp_x8 t;
    cz_fp_x8_to_384(&t, a);
    cz_fp_x8_reduce(&t, &t);
    cz_fp_x8_store(out, &t);
}

static __attribute__((noinline)) void v_inv(VE *r) {
    struct cz_fp t[8], scratch[8];
#if DIM == 1
    x8_to_plain(t, &r->c[0]);
    cz_fp_inv_n(t, t, scratch, 8);
    cz_fp_x8_load(&r->c[0], t);
    cz_fp_x8_from_384(&r->c[0], &r->c[0]);
#else
    struct cz_fp2 v[8], scratch2[8];
    for (int d = 0; d < 2; d++) {
        x8_to_plain(t, &r->c[d]);
        for (int i = 0; i < 8; i++) *(d ? &v[i].c1 : &v[i].c0) = t[i];
    }
    cz_fp2_inv_n(v, v, scratch2, 8);
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < 8; i++) t[i] = d ? v[i].c1 : v[i].c0;
        cz_fp_x8_load(&r->c[d], t);
        cz_fp_x8_from_384(&r->c[d], &r->c[d]);
    }
    (void)scratch;
#endif
}

/* Up to eight rows of six words, times `factor`, to the stored element `part` (x parts, then y parts) of r[i]. */
static void store_converted(struct spoint *r, unsigned part, uint64_t row[8][8], const uint64_t factor[8], size_t n) {
    struct cz_fp_x8 v, k;
    __m512i in[8], c[8];
    for (int i = 0; i < 8; i++) in[i] = _mm512_load_si512(row[i]);
    cz_fp_x8_transpose(c, in);
    cz_fp_x8_split(&v, c, 0);
    cz_fp_x8_set(&k, factor);
    x8_mul(&v, &v, &k);
    cz_fp_x8_transpose(in, v.l);
    for (size_t i = 0; i < n; i++) {
        FE *to = part < DIM ? &r[i].x : &r[i].y;
        _mm512_store_si512(to->l[part % DIM], in[i]);
    }
}

/* Bases [first, first + n) of the source; the stored value of an infinite one means nothing. */
static void load_points(struct spoint *r, uint8_t *infinite, const struct cz_point_source *base, size_t first,
                        size_t n) {
    alignas(64) uint64_t row[2 * DIM][8][8];
    memset(row, 0, sizeof row);
    for (size_t at = 0; at < n; at += 8) {
        size_t count = n - at < 8 ? n - at : 8;
        for (size_t i = 0; i < count; i++) {
            size_t index = base->index ? base->index[first + at + i] : first + at + i;
            if (base->affine) {
                const struct cz_fp *p = (const struct cz_fp *)base->affine + 2 * DIM * index;
                uint64_t any = 0;
                for (int d = 0; d < 2 * DIM; d++) {
                    memcpy(row[d][i], p[d].l, sizeof p[d].l);
                    for (int k = 0; k < 6; k++) any |= p[d].l[k];
                }
                infinite[at + i] = any == 0;
            } else {
                const uint8_t *p = base->encoded + SIZE_ENCODED * index;
                infinite[at + i] = p[0] >> 6 & 1;
                for (int d = 0; d < 2 * DIM; d++) { /* the parts of a coordinate stand high to low */
                    const uint8_t *q = p + 48 * (DIM == 1 ? d : d ^ 1);
                    for (int k = 0; k < 6; k++) row[d][i][k] = cz_load_be64(q + 8 * (5 - k));
                }
                if (infinite[at + i])
                    for (int d = 0; d < 2 * DIM; d++) memset(row[d][i], 0, sizeof row[d][i]);
            }
        }
        for (unsigned d = 0; d < 2 * DIM; d++)
            store_converted(r + at, d, row[d], base->affine ? CZ_FP_X8_TO_416 : plain_to_416, count);
    }
}

static void stored_to_affine_n(AFFINE *r, const struct spoint *a, size_t n) {
    for (size_t at = 0; at < n; at += 8) {
        const uint64_t *row[8];
        struct cz_fp_x8 v;
        struct cz_fp out[8];
        for (int d = 0; d < 2 * DIM; d++) {
            for (size_t i = 0; i < 8; i++) {
                const struct spoint *p = &a[at + i < n ? at + i : at];
                row[i] = d < DIM ? p->x.l[d % DIM] : p->y.l[d % DIM];
            }
            x8_load_rows(&v, row);
            x8_to_plain(out, &v);
            for (size_t i = 0; i < 8 && at + i < n; i++) ((struct cz_fp *)&r[at + i])[d] = out[i];
        }
    }
}

static void stored_from_affine(struct spoint *r, const AFFINE *a) {
    struct cz_point_source source = {.affine = a};
    uint8_t infinite;
    load_points(r, &infinite, &source, 0, 1);
}

static void stored_to_affine(AFFINE *r, const struct spoint *a) {
    stored_to_affine_n(r, a, 1);
}

/* y becomes 2m - y. */
static void stored_neg_y(struct spoint *a) {
    for (int d = 0; d < DIM; d++) {
        int64_t carry = 0;
        for (int i = 0; i < 8; i++) {
            carry += (int64_t)(2 * CZ_FP_X8_MODULUS[i]) - (int64_t)a->y.l[d][i];
            a->y.l[d][i] = (uint64_t)carry & ((UINT64_C(1) << 52) - 1);
            carry >>= 52;
        }
    }
}
