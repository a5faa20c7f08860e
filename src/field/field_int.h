#ifndef CUZK_FIELD_FIELD_INT_H
#define CUZK_FIELD_FIELD_INT_H

/* What the files of src/field share: the table of the level in use, and each level's products. */

#include "field/cpu.h"
#include "field/fp.h"
#include "field/fr.h"

#if defined(__x86_64__)
#define FIELD_X86_64 1
#else
#define FIELD_X86_64 0
#endif

struct cz_field_ops {
    void (*fr_mul)(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
    void (*fr_sqr)(struct cz_fr *r, const struct cz_fr *a);
    void (*fp_mul)(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
    void (*fp_sqr)(struct cz_fp *r, const struct cz_fp *a);
};

/** Portable until the constructor in cpu.c has run. */
extern struct cz_field_ops cz_field_ops;

void cz_fr_mul_portable(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
void cz_fr_sqr_portable(struct cz_fr *r, const struct cz_fr *a);
void cz_fp_mul_portable(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
void cz_fp_sqr_portable(struct cz_fp *r, const struct cz_fp *a);

#if FIELD_X86_64
void cz_fr_mul_adx(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b);
void cz_fr_sqr_adx(struct cz_fr *r, const struct cz_fr *a);
void cz_fp_mul_adx(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b);
void cz_fp_sqr_adx(struct cz_fp *r, const struct cz_fp *a);

/* Batches of eight lanes, as the functions of the same names without _ifma. */
void cz_fr_mul_n_ifma(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *b, size_t n);
void cz_fr_scale_n_ifma(struct cz_fr *r, const struct cz_fr *a, const struct cz_fr *k, size_t n);
void cz_fr_to_limbs_n_ifma(uint64_t *out, const struct cz_fr *a, size_t n);
void cz_fr_inv_n_ifma(struct cz_fr *r, const struct cz_fr *a, struct cz_fr *scratch, size_t n);
void cz_fp_mul_n_ifma(struct cz_fp *r, const struct cz_fp *a, const struct cz_fp *b, size_t n);
void cz_fp_inv_n_ifma(struct cz_fp *r, const struct cz_fp *a, struct cz_fp *scratch, size_t n);
#endif

/** True when batches go through the _ifma functions. */
extern bool cz_field_ifma;

#endif
