#ifndef CUZK_COMPUTE_CUDA_NTT_H
#define CUZK_COMPUTE_CUDA_NTT_H

/*
 * Transforms over Fr on the device, up to 2^27, and h from a, b, c.
 *
 * A transform of 2^k values runs in passes of at most 9 bits: k = s1 + s2 + …, each 9 but the last. Forward passes
 * ("down", decimation in frequency) take natural order and leave digits reversed: position (k1, k2, …), k1 on top,
 * holds value k1 + 2^s1·k2 + 2^(s1+s2)·k3 + …. "Up" passes (decimation in time) are their transpose: digits reversed
 * in, natural order out. So an inverse transform down and a transform up need no reordering between them.
 */

#include "compute/cuda/context.h"
#include "field/fr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CZ_CUDA_NTT_MAX 27

/** Tables of roots of unity and of powers of the coset's shift; one set a device. */
struct cz_cuda_tables;

/** Made in residents; a worker is taken for the copies. */
CZ_MUST_CHECK enum cz_status cz_cuda_tables_create(struct cz_cuda_tables **out, struct cz_cuda *cuda,
                                                   struct cz_error *err);
/** Accepts NULL. */
void cz_cuda_tables_destroy(struct cz_cuda_tables *tables);
/** Bytes of the tables that only 2^27 has (three times 4 GiB, and small ones). */
size_t cz_cuda_tables_large_bytes(void);
/** Makes those when the residents have room for them; h at 2^27 is then faster. Once a device. */
CZ_MUST_CHECK enum cz_status cz_cuda_tables_large(struct cz_cuda_tables *tables, struct cz_cuda_worker *w);

/** Down or up, with the roots' inverses when inverse is set; no scaling. Asynchronous on w->stream. */
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_down(struct cz_cuda_worker *w, const struct cz_cuda_tables *tables,
                                              struct cz_fr *d_x, unsigned log2n, bool inverse);
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_up(struct cz_cuda_worker *w, const struct cz_cuda_tables *tables,
                                            struct cz_fr *d_x, unsigned log2n, bool inverse);
/** to[i] = from[position of i] (unreverse), or to[position of i] = from[i]. to != from. */
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_reorder(struct cz_cuda_worker *w, struct cz_fr *d_to,
                                                 const struct cz_fr *d_from, unsigned log2n, bool unreverse);
/** x[i] *= factor·7^±i; positions are those of natural order, or of reversed digits. */
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_scale(struct cz_cuda_worker *w, const struct cz_cuda_tables *tables,
                                               struct cz_fr *d_x, unsigned log2n, const struct cz_fr *factor,
                                               bool inverse, bool reversed);
/** index[position] = value's number, 2^log2n words: which base of H belongs to a position of h. */
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_index(struct cz_cuda_worker *w, uint32_t *d_index, unsigned log2n);

/**
 * h = (a·b - c)/Z from the values of a, b, c over the domain in natural order: h divided by *factor, coefficients in
 * Montgomery form at reversed positions, in place of a. b and c are destroyed. Six transforms: Z is a constant z on the
 * coset and c's degree is below n, so h's coefficients are those of a·b/z less c/z, and c need not go to the coset and
 * back. The factor 1/(n·z) is left to the caller, who has one point to multiply by it, not n coefficients.
 * plain: without the large tables though they are there.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_ntt_quotient(struct cz_cuda_worker *w, const struct cz_cuda_tables *tables,
                                                  struct cz_fr *factor, struct cz_fr *d_a, struct cz_fr *d_b,
                                                  struct cz_fr *d_c, unsigned log2n, bool plain);

#ifdef __cplusplus
}
#endif

#endif
