#include "compute/cuda/xyzz.h"

#include <string.h>

/*
 * x = X/ZZ, y = Y/ZZZ with ZZ³ = ZZZ². With Z = ZZZ: Z² = ZZ³, so the Jacobian coordinates are X·ZZ², Y·ZZZ², ZZZ.
 */
static void g1_from_xyzz(struct cz_g1 *r, const void *p) {
    struct cz_fp c[4], t;
    memcpy(c, p, sizeof c);
    if (cz_fp_is_zero(&c[2])) {
        *r = CZ_G1_INFINITY;
        return;
    }
    cz_fp_sqr(&t, &c[2]);
    cz_fp_mul(&r->x, &c[0], &t);
    cz_fp_sqr(&t, &c[3]);
    cz_fp_mul(&r->y, &c[1], &t);
    r->z = c[3];
}

static void g2_from_xyzz(struct cz_g2 *r, const void *p) {
    struct cz_fp2 c[4], t;
    memcpy(c, p, sizeof c);
    if (cz_fp2_is_zero(&c[2])) {
        *r = CZ_G2_INFINITY;
        return;
    }
    cz_fp2_sqr(&t, &c[2]);
    cz_fp2_mul(&r->x, &c[0], &t);
    cz_fp2_sqr(&t, &c[3]);
    cz_fp2_mul(&r->y, &c[1], &t);
    r->z = c[3];
}

void cz_cuda_sum_init(struct cz_cuda_sum *sum, enum cz_cuda_group group) {
    sum->group = group;
    sum->highest = 0;
    for (int i = 0; i < 320; i++) {
        if (group == CZ_CUDA_G1)
            sum->at.g1[i] = CZ_G1_INFINITY;
        else
            sum->at.g2[i] = CZ_G2_INFINITY;
    }
}

void cz_cuda_sum_add(struct cz_cuda_sum *sum, unsigned exponent, const void *p) {
    if (exponent > sum->highest) sum->highest = exponent;
    if (sum->group == CZ_CUDA_G1) {
        struct cz_g1 a;
        g1_from_xyzz(&a, p);
        cz_g1_add(&sum->at.g1[exponent], &sum->at.g1[exponent], &a);
    } else {
        struct cz_g2 a;
        g2_from_xyzz(&a, p);
        cz_g2_add(&sum->at.g2[exponent], &sum->at.g2[exponent], &a);
    }
}

void cz_cuda_sum_finish(void *out, const struct cz_cuda_sum *sum) {
    struct cz_g1 g1 = CZ_G1_INFINITY;
    struct cz_g2 g2 = CZ_G2_INFINITY;
    for (unsigned e = sum->highest + 1; e-- > 0;) {
        if (sum->group == CZ_CUDA_G1) {
            cz_g1_dbl(&g1, &g1);
            cz_g1_add(&g1, &g1, &sum->at.g1[e]);
        } else {
            cz_g2_dbl(&g2, &g2);
            cz_g2_add(&g2, &g2, &sum->at.g2[e]);
        }
    }
    if (sum->group == CZ_CUDA_G1)
        memcpy(out, &g1, sizeof g1);
    else
        memcpy(out, &g2, sizeof g2);
}
