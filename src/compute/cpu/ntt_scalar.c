#include "compute/cpu/ntt.h"

#include "field/fr_inline.h"

typedef struct {
    struct cz_fr e[8];
} VE;
typedef struct cz_fr TW;
#define DATA_FIX 1
#define OPS cz_ntt_scalar

static inline void v_load(VE *r, const struct cz_fr *p) {
    for (int i = 0; i < 8; i++) r->e[i] = p[i];
}
static inline void v_load_rows(VE *r, const struct cz_fr *p, size_t stride) {
    for (size_t i = 0; i < 8; i++) r->e[i] = p[i * stride];
}
static inline void v_store(struct cz_fr *p, const VE *a) {
    for (int i = 0; i < 8; i++) p[i] = a->e[i];
}
static inline void v_store_rows(struct cz_fr *p, size_t stride, const VE *a) {
    for (size_t i = 0; i < 8; i++) p[i * stride] = a->e[i];
}
static inline void v_lanes(VE *r, const struct cz_fr f[8]) {
    v_load(r, f);
}
static inline void tw_from_fr(TW *r, const struct cz_fr *f) {
    *r = *f;
}
static inline void v_mul_factor(VE *r, const VE *a, const VE *f) {
    for (int i = 0; i < 8; i++) cz_fr_mul(&r->e[i], &a->e[i], &f->e[i]);
}
static inline void v_mul_data(VE *r, const VE *a, const VE *b) {
    v_mul_factor(r, a, b);
}
static inline void v_mul_tw(VE *r, const VE *a, const TW *w) {
    for (int i = 0; i < 8; i++) cz_fr_mul(&r->e[i], &a->e[i], w);
}
static inline void v_sub(VE *r, const VE *a, const VE *b) {
    for (int i = 0; i < 8; i++) cz_fr_inline_sub(&r->e[i], &a->e[i], &b->e[i]);
}
static inline void v_butterfly_1(VE *x, VE *y) {
    for (int i = 0; i < 8; i++) {
        struct cz_fr t = y->e[i];
        cz_fr_inline_sub(&y->e[i], &x->e[i], &t);
        cz_fr_inline_add(&x->e[i], &x->e[i], &t);
    }
}
static inline void v_butterfly(VE *x, VE *y, const TW *w) {
    v_mul_tw(y, y, w);
    v_butterfly_1(x, y);
}

#include "compute/cpu/ntt_template.h"

/* Plain loops for small sizes, shared by both tables. */

static void transform_plain(struct cz_fr *v, unsigned log2n, bool inverse) {
    size_t n = (size_t)1 << log2n;
    for (size_t i = 0; i < n; i++) {
        size_t j = reverse_bits(i, log2n);
        if (j <= i) continue;
        struct cz_fr t = v[i];
        v[i] = v[j];
        v[j] = t;
    }
    for (unsigned s = 1; s <= log2n; s++) {
        size_t len = (size_t)1 << (s - 1);
        struct cz_fr root, w, t;
        cz_fr_root_of_unity(&root, s);
        if (inverse) cz_fr_inv(&root, &root);
        for (size_t block = 0; block < n; block += 2 * len) {
            w = CZ_FR_ONE;
            for (size_t j = block; j < block + len; j++) {
                cz_fr_mul(&t, &v[j + len], &w);
                cz_fr_sub(&v[j + len], &v[j], &t);
                cz_fr_add(&v[j], &v[j], &t);
                cz_fr_mul(&w, &w, &root);
            }
        }
    }
}

/* v[i] *= scale·base^i */
static void scale_powers(struct cz_fr *v, size_t n, struct cz_fr scale, const struct cz_fr *base) {
    for (size_t i = 0; i < n; i++) {
        cz_fr_mul(&v[i], &v[i], &scale);
        cz_fr_mul(&scale, &scale, base);
    }
}

void cz_ntt_small(struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    size_t n = (size_t)1 << log2n;
    struct cz_fr coset, scale;
    cz_fr_from_u64(&coset, CZ_FR_GENERATOR);
    cz_fr_from_u64(&scale, n);
    cz_fr_inv(&scale, &scale);
    if (kind == CZ_NTT_COSET_FORWARD) scale_powers(v, n, CZ_FR_ONE, &coset);
    transform_plain(v, log2n, kind == CZ_NTT_INVERSE || kind == CZ_NTT_COSET_INVERSE);
    if (kind == CZ_NTT_INVERSE) scale_powers(v, n, scale, &CZ_FR_ONE);
    if (kind == CZ_NTT_COSET_INVERSE) {
        cz_fr_inv(&coset, &coset);
        scale_powers(v, n, scale, &coset);
    }
}

void cz_ntt_small_quotient(struct cz_fr *a, struct cz_fr *b, struct cz_fr *c, unsigned log2n) {
    size_t n = (size_t)1 << log2n;
    struct cz_fr *const input[3] = {a, b, c};
    struct cz_fr z_inv, plain;
    cz_fr_from_u64(&z_inv, CZ_FR_GENERATOR);
    cz_fr_pow_vartime(&z_inv, &z_inv, n);
    cz_fr_sub(&z_inv, &z_inv, &CZ_FR_ONE);
    cz_fr_inv(&z_inv, &z_inv);
    for (int i = 0; i < 3; i++) {
        cz_ntt_small(input[i], log2n, CZ_NTT_INVERSE);
        cz_ntt_small(input[i], log2n, CZ_NTT_COSET_FORWARD);
    }
    for (size_t i = 0; i < n; i++) {
        cz_fr_mul(&b[i], &a[i], &b[i]);
        cz_fr_sub(&b[i], &b[i], &c[i]);
        cz_fr_mul(&b[i], &b[i], &z_inv);
    }
    cz_ntt_small(b, log2n, CZ_NTT_COSET_INVERSE);
    for (size_t i = 0; i < n; i++) {
        cz_fr_to_limbs(plain.l, &b[i]);
        b[i] = plain;
    }
}
