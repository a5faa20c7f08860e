/* Proofs: what decodes is written back as it was. */

#include "groth16/vk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_proof proof;
    struct cz_error err;
    uint8_t again[CZ_PROOF_BYTES];
    if (size < CZ_PROOF_BYTES || cz_proof_read(&proof, data, &err) != CZ_OK) return 0;
    cz_proof_write(again, &proof);
    if (memcmp(again, data, sizeof again) != 0) abort();
    return 0;
}
