/* The .prf files of fil-blst, with the verification of what decodes. */

#include "groth16/verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_error err;
    bool valid;
    uint64_t num_proofs;
    (void)!cz_verify_prf(&valid, &num_proofs, data, size, &err);
    return 0;
}
