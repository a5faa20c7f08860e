#ifndef CUZK_TESTS_VECTORS_GROTH16_COMMON_H
#define CUZK_TESTS_VECTORS_GROTH16_COMMON_H

/* One key and its proofs as bytes, and what changing any of these bytes must do. */

#include "base/bytes.h"
#include "base/file.h"
#include "groth16/verify.h"
#include "support.h"

struct proof_case {
    const char *name;
    uint8_t *key;
    size_t key_len;
    bool compressed;
    uint8_t *proof; /* 192 each */
    size_t num_proofs;
    uint8_t *inputs;   /* 32 each, little endian, without ONE, proof by proof */
    size_t num_inputs; /* of each proof */
};

static inline enum cz_status case_read_key(const struct proof_case *c, struct cz_vk *vk) {
    return c->compressed ? cz_vk_read_compressed(vk, c->key, c->key_len, NULL)
                         : cz_vk_read(vk, c->key, c->key_len, NULL, NULL);
}

/** CZ_OK and valid; a proof or input that does not decode gives its error. */
static inline enum cz_status case_verify_with(const struct proof_case *c, const struct cz_vk *vk, bool *valid) {
    *valid = false;
    enum cz_status status = CZ_OK;
    struct cz_proof *proof = cz_malloc_array(c->num_proofs, sizeof *proof);
    struct cz_fr *input = cz_malloc_array(c->num_proofs * c->num_inputs, sizeof *input);
    assert_true(proof && input);
    for (size_t j = 0; j < c->num_proofs && status == CZ_OK; j++) {
        status = cz_proof_read(&proof[j], c->proof + j * CZ_PROOF_BYTES, NULL);
    }
    for (size_t i = 0; i < c->num_proofs * c->num_inputs && status == CZ_OK; i++) {
        status = cz_fr_from_le(&input[i], c->inputs + 32 * i);
    }
    if (status == CZ_OK) status = cz_verify_batch(valid, vk, proof, c->num_proofs, input, c->num_inputs);
    cz_free(proof);
    cz_free(input);
    return status;
}

static inline enum cz_status case_verify(const struct proof_case *c, bool *valid) {
    struct cz_vk vk;
    *valid = false;
    enum cz_status status = case_read_key(c, &vk);
    if (status != CZ_OK) return status;
    status = case_verify_with(c, &vk, valid);
    cz_vk_done(&vk);
    return status;
}

static inline void assert_case_valid(const struct proof_case *c) {
    bool valid = false;
    enum cz_status status = case_verify(c, &valid);
    if (status != CZ_OK || !valid) fail_msg("%s: %s, valid %d", c->name, cz_status_text(status), valid);
}

/** With byte `at` of `data` (part of c) changed, the case must not verify. vk: the decoded key, NULL: decode it again.
 */
static inline void assert_byte_matters(const struct proof_case *c, const struct cz_vk *vk, uint8_t *data, size_t at,
                                       uint8_t flip, const char *what) {
    bool valid = false;
    data[at] ^= flip;
    enum cz_status status = vk ? case_verify_with(c, vk, &valid) : case_verify(c, &valid);
    data[at] ^= flip;
    if (status == CZ_OK && valid) fail_msg("%s: still valid with byte %zu of %s ^ %02x", c->name, at, what, flip);
    if (status != CZ_OK && cz_status_class(status) != CZ_CLASS_BAD_INPUT) {
        fail_msg("%s: byte %zu of %s: %s", c->name, at, what, cz_status_text(status));
    }
}

/** A new flip, never 0. */
static inline uint8_t next_flip(uint64_t *seed) {
    return (uint8_t)(1u << (test_random(seed) >> 61));
}

/** Every step-th byte of proofs, inputs and key, and the sign bits of the last proof. */
static inline void assert_bytes_matter(const struct proof_case *c, size_t proof_step, size_t input_step,
                                       size_t key_step) {
    static const size_t SIGN[] = {0, 48, 144};
    uint64_t seed = 1;
    struct cz_vk vk;
    assert_int_equal(case_read_key(c, &vk), CZ_OK);
    for (size_t i = 0; i < c->num_proofs * CZ_PROOF_BYTES; i += proof_step) {
        assert_byte_matters(c, &vk, c->proof, i, next_flip(&seed), "the proof");
    }
    for (size_t i = 0; i < 3; i++) {
        size_t last = (c->num_proofs - 1) * CZ_PROOF_BYTES;
        assert_byte_matters(c, &vk, c->proof, last + SIGN[i], 0x20, "the proof");
    }
    for (size_t i = 0; i < c->num_proofs * c->num_inputs * 32; i += input_step) {
        assert_byte_matters(c, &vk, c->inputs, i, next_flip(&seed), "the inputs");
    }
    cz_vk_done(&vk);
    /* The prover's half of the key, beta_g1 and delta_g1, takes no part in the equation but must still decode. */
    for (size_t i = 0; i < c->key_len; i += key_step) {
        assert_byte_matters(c, NULL, c->key, i, next_flip(&seed), "the key");
    }
}

#endif
