#ifndef CUZK_GROTH16_VK_H
#define CUZK_GROTH16_VK_H

/*
 * Verifying key and proof, in memory and in their file forms (spec/fields-and-encodings.md §3, §4).
 *
 *     .vk     0 alpha_g1 96 · beta_g1 96 · beta_g2 192 · gamma_g2 192 · delta_g1 96 · delta_g2 192
 *             864 n, u32 big endian · 868 ic[0 … n), 96 each
 *     proof   A 48 · B 96 · C 48, compressed
 */

#include "curve/g1.h"
#include "curve/g2.h"

#define CZ_PROOF_BYTES 192
#define CZ_VK_HEADER_BYTES 868
/** Most ic points accepted in a key: window 32 GiB has 25,840. */
#define CZ_VK_MAX_IC (1u << 20)

struct cz_vk {
    struct cz_g1_affine alpha_g1, beta_g1, delta_g1;
    struct cz_g2_affine beta_g2, gamma_g2, delta_g2;
    uint32_t num_ic; /* inputs with ONE */
    struct cz_g1_affine *ic;
};

struct cz_proof {
    struct cz_g1_affine a, c;
    struct cz_g2_affine b;
};

/**
 * Reads a key from the first bytes of data; *used (may be NULL) says how many. Every point is checked: range, curve,
 * subgroup, not infinity. Errors name the field. `len` may be longer (a .params file starts with its key).
 */
CZ_MUST_CHECK enum cz_status cz_vk_read(struct cz_vk *out, const uint8_t *data, size_t len, size_t *used,
                                        struct cz_error *err);
CZ_MUST_CHECK enum cz_status cz_vk_read_file(struct cz_vk *out, const char *path, struct cz_error *err);
/** A key in compressed encoding (.vkc: the same fields, 436 + 48·n bytes). */
CZ_MUST_CHECK enum cz_status cz_vk_read_compressed(struct cz_vk *out, const uint8_t *data, size_t len,
                                                   struct cz_error *err);
size_t cz_vk_bytes(uint32_t num_ic);
/** cz_vk_bytes(vk->num_ic) bytes. */
void cz_vk_write(uint8_t *out, const struct cz_vk *vk);
void cz_vk_done(struct cz_vk *vk);

/** Rejects infinity, points off the curve or outside the subgroup; the error names A, B or C. */
CZ_MUST_CHECK enum cz_status cz_proof_read(struct cz_proof *out, const uint8_t in[CZ_PROOF_BYTES],
                                           struct cz_error *err);
void cz_proof_write(uint8_t out[CZ_PROOF_BYTES], const struct cz_proof *proof);

#endif
