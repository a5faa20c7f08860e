/* One lane for points_template.h: elements as the field has them. No include guard: points_g1.c and points_g2.c. */

#include "compute/cpu/points.h"
#include "curve/encoding.h"

#include <string.h>

#define LANES 1
typedef FE VE;
struct spoint {
    FE x, y;
};

static inline void v_load_x(VE *r, const struct spoint *const *p) {
    *r = p[0]->x;
}
static inline void v_load_y(VE *r, const struct spoint *const *p) {
    *r = p[0]->y;
}
static inline void v_store(struct spoint *const *p, const VE *x, const VE *y) {
    p[0]->x = *x;
    p[0]->y = *y;
}
static inline void v_sub(VE *r, const VE *a, const VE *b) {
    SUB(r, a, b);
}
static inline void v_mul(VE *r, const VE *a, const VE *b) {
    F(mul)(r, a, b);
}
static inline void v_sqr(VE *r, const VE *a) {
    F(sqr)(r, a);
}
static inline void v_triple(VE *r, const VE *a) {
    VE t;
    F(dbl)(&t, a);
    F(add)(r, &t, a);
}
static inline void v_neg_lanes(VE *r, unsigned lanes) {
    if (lanes & 1) F(neg)(r, r);
}
static inline void v_rise(VE *t, const VE *p, const VE *q, unsigned neg) {
    if (neg & 1) {
        F(add)(t, p, q);
        F(neg)(t, t);
    } else {
        SUB(t, p, q);
    }
}
static inline void v_sum_x(VE *x, const VE *s, const VE *p, const VE *q) {
    SUB(x, s, p);
    SUB(x, x, q);
}
static inline void v_sum_y(VE *y, const VE *s, const VE *p) {
    SUB(y, s, p);
}
static inline void v_one(VE *r) {
    *r = FE_ONE;
}
static inline void v_one_lanes(VE *r, unsigned lanes) {
    if (lanes & 1) *r = FE_ONE;
}
static inline void v_select(VE *r, const VE *b, unsigned lanes) {
    if (lanes & 1) *r = *b;
}
static inline unsigned v_zero_lanes(const VE *a) {
    return F(is_zero)(a);
}
static inline void v_inv(VE *r) {
    F(inv)(r, r);
}

static inline void stored_from_affine(struct spoint *r, const AFFINE *a) {
    r->x = a->x;
    r->y = a->y;
}
static inline void stored_to_affine(AFFINE *r, const struct spoint *a) {
    r->x = a->x;
    r->y = a->y;
}
static inline void stored_to_affine_n(AFFINE *r, const struct spoint *a, size_t n) {
    for (size_t i = 0; i < n; i++) stored_to_affine(&r[i], &a[i]);
}
static inline void stored_neg_y(struct spoint *a) {
    F(neg)(&a->y, &a->y);
}

/* Bases [first, first + n) of the source; the stored value of an infinite one means nothing. */
static void load_points(struct spoint *r, uint8_t *infinite, const struct cz_point_source *base, size_t first,
                        size_t n) {
    const AFFINE *affine = base->affine;
    for (size_t i = 0; i < n; i++) {
        size_t at = base->index ? base->index[first + i] : first + i;
        AFFINE p;
        if (affine)
            p = affine[at];
        else
            G(load_unchecked_n)(&p, base->encoded + at * SIZE_ENCODED, 1);
        infinite[i] = G(affine_is_infinity)(&p);
        stored_from_affine(&r[i], &p);
    }
}
