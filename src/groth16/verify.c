#include "groth16/verify.h"

#include "base/bytes.h"
#include "base/random.h"
#include "curve/pairing.h"

/*
 * Sum of scalar[i]·base[i] for the inputs of a proof: 39 … 25,839 terms, most of them small numbers in PoRep and full
 * size in PoSt. Pippenger with signed digits; windows stop at the longest scalar, zero digits cost nothing.
 */

#define MAX_WINDOW 11

static unsigned bit_length(const uint64_t limb[4]) {
    for (int i = 3; i >= 0; i--) {
        if (limb[i]) return (unsigned)i * 64 + 64 - (unsigned)__builtin_clzll(limb[i]);
    }
    return 0;
}

/* Bits [at, at + width) of a scalar, zero past the end. */
static uint32_t bits_at(const uint64_t limb[4], unsigned at, unsigned width) {
    if (at >= 256) return 0;
    unsigned word = at / 64, shift = at % 64;
    uint64_t v = limb[word] >> shift;
    if (shift + width > 64 && word < 3) v |= limb[word + 1] << (64 - shift);
    return (uint32_t)(v & ((1u << width) - 1));
}

static unsigned choose_window(size_t n) {
    static const size_t UP_TO[] = {0, 0, 8, 24, 80, 200, 500, 1200, 3000, 8000, 20000};
    unsigned width = 2;
    while (width < MAX_WINDOW && n > UP_TO[width]) width++;
    return width;
}

/* The digit of window w in -2^(width-1) … 2^(width-1): the bits and the carry from the one below (Booth). */
static int32_t signed_digit(const uint64_t limb[4], unsigned w, unsigned width) {
    uint32_t below = w ? bits_at(limb, w * width - 1, 1) : 0;
    uint32_t v = bits_at(limb, w * width, width);
    int32_t digit = (int32_t)(v + below);
    if (v >> (width - 1)) digit -= 1 << width;
    return digit;
}

static enum cz_status input_sum(struct cz_g1 *out, const struct cz_g1_affine *base, const struct cz_fr *scalar,
                                size_t n) {
    uint64_t *limb = cz_malloc_array(n, 4 * sizeof *limb);
    if (!limb) return CZ_ERR_MEMORY;
    cz_fr_to_limbs_n(limb, scalar, n);
    unsigned longest = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned length = bit_length(limb + 4 * i);
        if (length > longest) longest = length;
    }
    unsigned width = choose_window(n);
    struct cz_g1 bucket[(1 << (MAX_WINDOW - 1)) + 1];
    struct cz_g1 sum = CZ_G1_INFINITY;
    /* One window more than the bits fill: the top bit of the highest one carries into it. */
    for (unsigned w = longest / width + 1; w-- > 0;) {
        for (unsigned i = 0; i < width && !cz_g1_is_infinity(&sum); i++) cz_g1_dbl(&sum, &sum);
        uint32_t top = 0;
        for (uint32_t b = 1; b <= 1u << (width - 1); b++) bucket[b] = CZ_G1_INFINITY;
        for (size_t i = 0; i < n; i++) {
            int32_t digit = signed_digit(limb + 4 * i, w, width);
            if (digit == 0) continue;
            uint32_t b = digit < 0 ? (uint32_t)-digit : (uint32_t)digit;
            struct cz_g1_affine p = base[i];
            if (digit < 0) cz_g1_affine_neg(&p, &p);
            cz_g1_add_affine(&bucket[b], &bucket[b], &p);
            if (b > top) top = b;
        }
        struct cz_g1 running = CZ_G1_INFINITY;
        for (uint32_t b = top; b > 0; b--) {
            if (!cz_g1_is_infinity(&bucket[b])) cz_g1_add(&running, &running, &bucket[b]);
            cz_g1_add(&sum, &sum, &running);
        }
    }
    cz_free(limb);
    *out = sum;
    return CZ_OK;
}

static bool has_infinity(const struct cz_proof *proof) {
    return cz_g1_affine_is_infinity(&proof->a) || cz_g2_affine_is_infinity(&proof->b) ||
           cz_g1_affine_is_infinity(&proof->c);
}

enum cz_status cz_verify(bool *valid, const struct cz_vk *vk, const struct cz_proof *proof, const struct cz_fr *input,
                         size_t num_inputs) {
    if (num_inputs + 1 != vk->num_ic) return CZ_ERR_LENGTH;
    struct cz_g1 ic = CZ_G1_INFINITY;
    if (num_inputs > 0) {
        enum cz_status status = input_sum(&ic, vk->ic + 1, input, num_inputs);
        if (status != CZ_OK) return status;
    }
    cz_g1_add_affine(&ic, &ic, &vk->ic[0]);
    cz_g1_neg(&ic, &ic);

    struct cz_g1_affine p[4] = {proof->a};
    cz_g1_affine_neg(&p[1], &vk->alpha_g1);
    cz_g1_to_affine(&p[2], &ic);
    cz_g1_affine_neg(&p[3], &proof->c);
    const struct cz_g2_affine q[4] = {proof->b, vk->beta_g2, vk->gamma_g2, vk->delta_g2};
    *valid = !has_infinity(proof) && cz_pairing_product_is_one(p, q, 4);
    return CZ_OK;
}

/* The work of a batch, in one allocation each. */
struct batch {
    struct cz_fr *weight; /* n */
    struct cz_fr *input;  /* num_inputs + 1: of ONE first */
    struct cz_g1_affine *p;
    struct cz_g2_affine *q; /* n + 3 pairs each */
};

static enum cz_status draw_weights(struct cz_fr *weight, size_t n) {
    for (size_t j = 0; j < n; j++) {
        uint64_t limb[4] = {0};
        do {
            enum cz_status status = cz_random_bytes(limb, 16);
            if (status != CZ_OK) return status;
        } while ((limb[0] | limb[1]) == 0);
        enum cz_status status = cz_fr_from_limbs(&weight[j], limb);
        if (status != CZ_OK) return status;
    }
    return CZ_OK;
}

/* input[0] = Σ z_j, input[i + 1] = Σ z_j·x_ji */
static void combine_inputs(struct batch *b, size_t n, const struct cz_fr *input, size_t num_inputs) {
    for (size_t i = 0; i <= num_inputs; i++) b->input[i] = CZ_FR_ZERO;
    for (size_t j = 0; j < n; j++) {
        cz_fr_add(&b->input[0], &b->input[0], &b->weight[j]);
        for (size_t i = 0; i < num_inputs; i++) {
            struct cz_fr t;
            cz_fr_mul(&t, &input[j * num_inputs + i], &b->weight[j]);
            cz_fr_add(&b->input[i + 1], &b->input[i + 1], &t);
        }
    }
}

/* r = z·p for a weight of 128 bits. */
static void mul_weight(struct cz_g1 *r, const struct cz_g1_affine *p, const struct cz_fr *z) {
    uint64_t limb[4];
    cz_fr_to_limbs(limb, z);
    cz_g1_from_affine(r, p);
    cz_g1_mul_limbs(r, r, limb, 2);
}

static enum cz_status batch_equation(bool *valid, struct batch *b, const struct cz_vk *vk, const struct cz_proof *proof,
                                     size_t n, size_t num_inputs) {
    struct cz_g1 c = CZ_G1_INFINITY, t;
    for (size_t j = 0; j < n; j++) {
        mul_weight(&t, &proof[j].a, &b->weight[j]);
        cz_g1_to_affine(&b->p[j], &t);
        b->q[j] = proof[j].b;
        mul_weight(&t, &proof[j].c, &b->weight[j]);
        cz_g1_add(&c, &c, &t);
    }
    struct cz_g1 ic, alpha;
    enum cz_status status = input_sum(&ic, vk->ic, b->input, num_inputs + 1);
    if (status != CZ_OK) return status;
    cz_g1_from_affine(&alpha, &vk->alpha_g1);
    cz_g1_mul(&alpha, &alpha, &b->input[0]);

    const struct cz_g1 *left[3] = {&alpha, &ic, &c};
    const struct cz_g2_affine *right[3] = {&vk->beta_g2, &vk->gamma_g2, &vk->delta_g2};
    for (size_t k = 0; k < 3; k++) {
        cz_g1_neg(&t, left[k]);
        cz_g1_to_affine(&b->p[n + k], &t);
        b->q[n + k] = *right[k];
    }
    *valid = cz_pairing_product_is_one(b->p, b->q, n + 3);
    return CZ_OK;
}

enum cz_status cz_verify_batch(bool *valid, const struct cz_vk *vk, const struct cz_proof *proof, size_t n,
                               const struct cz_fr *input, size_t num_inputs) {
    if (n == 0) return CZ_ERR_ARGUMENT;
    if (num_inputs + 1 != vk->num_ic) return CZ_ERR_LENGTH;
    if (n == 1) return cz_verify(valid, vk, proof, input, num_inputs);
    for (size_t j = 0; j < n; j++) {
        if (!has_infinity(&proof[j])) continue;
        *valid = false;
        return CZ_OK;
    }
    struct batch b = {
        .weight = cz_malloc_array(n, sizeof *b.weight),
        .input = cz_malloc_array(num_inputs + 1, sizeof *b.input),
        .p = cz_malloc_array(n + 3, sizeof *b.p),
        .q = cz_malloc_array(n + 3, sizeof *b.q),
    };
    enum cz_status status = b.weight && b.input && b.p && b.q ? CZ_OK : CZ_ERR_MEMORY;
    if (status == CZ_OK) status = draw_weights(b.weight, n);
    if (status == CZ_OK) {
        combine_inputs(&b, n, input, num_inputs);
        status = batch_equation(valid, &b, vk, proof, n, num_inputs);
    }
    cz_free(b.weight);
    cz_free(b.input);
    cz_free(b.p);
    cz_free(b.q);
    return status;
}

/*
 * .prf files, all numbers big endian:
 *
 *     single    0 proof 192 · 192 n u64 · 200 inputs, 32 each · key with n + 1 ic points
 *     batch     0 proofs u64 · 8 n u64 · 16 key with n + 1 ic points · then for each proof: proof 192, inputs 32·n
 *
 * A proof starts with the bit for "compressed" set, a count does not; the length must fit exactly as well.
 */

struct prf {
    uint64_t proofs, inputs; /* inputs of each proof */
    const uint8_t *key;
    const uint8_t *first; /* proof, followed by its inputs */
    bool single;
};

static bool fits_single(struct prf *prf, const uint8_t *data, size_t len) {
    if (len < 200) return false;
    uint64_t n = cz_load_be64(data + 192);
    if (n >= CZ_VK_MAX_IC || len != 200 + 32 * n + cz_vk_bytes((uint32_t)n + 1)) return false;
    *prf = (struct prf){.proofs = 1, .inputs = n, .key = data + 200 + 32 * n, .first = data, .single = true};
    return true;
}

static bool fits_batch(struct prf *prf, const uint8_t *data, size_t len) {
    if (len < 16) return false;
    uint64_t proofs = cz_load_be64(data), n = cz_load_be64(data + 8);
    if (n >= CZ_VK_MAX_IC || proofs == 0 || proofs > len / 192) return false;
    size_t key = cz_vk_bytes((uint32_t)n + 1);
    if (len < 16 + key || (len - 16 - key) / (192 + 32 * n) != proofs || (len - 16 - key) % (192 + 32 * n) != 0) {
        return false;
    }
    *prf = (struct prf){.proofs = proofs, .inputs = n, .key = data + 16, .first = data + 16 + key};
    return true;
}

static enum cz_status read_prf_proofs(struct cz_proof *proof, struct cz_fr *input, const struct prf *prf,
                                      struct cz_error *err) {
    const uint8_t *at = prf->first;
    for (uint64_t j = 0; j < prf->proofs; j++) {
        enum cz_status status = cz_proof_read(&proof[j], at, err);
        if (status != CZ_OK) {
            (void)cz_error_prefix(err, "proof %llu", (unsigned long long)j);
            return status;
        }
        at += CZ_PROOF_BYTES + (prf->single ? 8 : 0);
        for (uint64_t i = 0; i < prf->inputs; i++, at += 32) {
            status = cz_fr_from_be(&input[j * prf->inputs + i], at);
            if (status == CZ_OK) continue;
            return cz_error_set(err, status, "proof %llu: input %llu: %s", (unsigned long long)j, (unsigned long long)i,
                                cz_status_text(status));
        }
    }
    return CZ_OK;
}

enum cz_status cz_verify_prf(bool *valid, uint64_t *num_proofs, const uint8_t *data, size_t len, struct cz_error *err) {
    struct prf prf;
    if (!fits_single(&prf, data, len) && !fits_batch(&prf, data, len)) {
        return cz_error_set(err, CZ_ERR_LENGTH,
                            ".prf: the length of %zu bytes fits neither a single proof nor a batch with its counts",
                            len);
    }
    uint32_t num_ic = cz_load_be32(prf.key + CZ_VK_HEADER_BYTES - 4);
    if (num_ic != prf.inputs + 1) {
        return cz_error_set(err, CZ_ERR_MISMATCH, ".prf: %llu inputs, its key has %u ic points",
                            (unsigned long long)prf.inputs, num_ic);
    }
    /* Both counts are bounded by len. Proofs first: they are quicker to refuse than a key. */
    struct cz_vk vk = {0};
    struct cz_proof *proof = cz_malloc_array(prf.proofs, sizeof *proof);
    struct cz_fr *input = cz_malloc_array(prf.proofs * prf.inputs, sizeof *input);
    enum cz_status status = CZ_OK;
    if (!proof || !input) {
        status = cz_error_set(err, CZ_ERR_MEMORY, ".prf: no memory for %llu proofs", (unsigned long long)prf.proofs);
        goto out;
    }
    status = read_prf_proofs(proof, input, &prf, err);
    if (status != CZ_OK) goto out;
    status = cz_vk_read(&vk, prf.key, (size_t)(data + len - prf.key), NULL, err);
    if (status != CZ_OK) goto out;
    bool result;
    status = cz_verify_batch(&result, &vk, proof, prf.proofs, input, prf.inputs);
    if (status != CZ_OK) {
        (void)cz_error_set(err, status, ".prf: %s", cz_status_text(status));
        goto out;
    }
    *valid = result;
    if (num_proofs) *num_proofs = prf.proofs;
out:
    cz_free(proof);
    cz_free(input);
    cz_vk_done(&vk);
    return status;
}
