#ifndef CUZK_FIELD_FP2_H
#define CUZK_FIELD_FP2_H

/* Fp2 = Fp[u]/(u² + 1), element c0 + c1·u. Outputs may alias inputs. */

#include "field/fp.h"

struct cz_fp2 {
    struct cz_fp c0, c1;
};

extern const struct cz_fp2 CZ_FP2_ZERO;
extern const struct cz_fp2 CZ_FP2_ONE;

void cz_fp2_add(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b);
void cz_fp2_sub(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b);
void cz_fp2_dbl(struct cz_fp2 *r, const struct cz_fp2 *a);
void cz_fp2_neg(struct cz_fp2 *r, const struct cz_fp2 *a);
/** c0 - c1·u, which is also the Frobenius map a^p. */
void cz_fp2_conj(struct cz_fp2 *r, const struct cz_fp2 *a);
void cz_fp2_mul(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b);
void cz_fp2_sqr(struct cz_fp2 *r, const struct cz_fp2 *a);
void cz_fp2_mul_fp(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp *k);
/** r = (1 + u)·a, the non-residue of the tower. */
void cz_fp2_mul_xi(struct cz_fp2 *r, const struct cz_fp2 *a);
/** r = 1/a; 0 gives 0. */
void cz_fp2_inv(struct cz_fp2 *r, const struct cz_fp2 *a);
bool cz_fp2_sqrt(struct cz_fp2 *r, const struct cz_fp2 *a);
bool cz_fp2_is_zero(const struct cz_fp2 *a);
bool cz_fp2_eq(const struct cz_fp2 *a, const struct cz_fp2 *b);
/** Compares c1 first, then c0 when c1 is 0 (zcash encoding). */
bool cz_fp2_is_largest(const struct cz_fp2 *a);

void cz_fp2_mul_n(struct cz_fp2 *r, const struct cz_fp2 *a, const struct cz_fp2 *b, size_t n);
/** r[i] = 1/a[i] with one inversion; zeros stay zero. `scratch` holds n elements, r may be a. */
void cz_fp2_inv_n(struct cz_fp2 *r, const struct cz_fp2 *a, struct cz_fp2 *scratch, size_t n);

#endif
