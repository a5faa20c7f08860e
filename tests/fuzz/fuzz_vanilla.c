/* Files of vanilla proofs: every byte of what is read is there, or it is refused with one line of reason. */

#include "cli/vanilla.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_vanilla v = {0};
    struct cz_error err = {0};
    uint8_t *copy = cz_malloc_array(size ? size : 1, 1);
    if (!copy) abort();
    if (size) memcpy(copy, data, size);
    enum cz_status status = cz_vanilla_add(&v, "file", copy, size, &err);
    if (status != CZ_OK && (err.status != status || !*err.detail || strchr(err.detail, '\n'))) abort();
    size_t total = 0;
    uint8_t all = 0;
    for (size_t i = 0; i < v.n; i++) {
        total += v.blob[i].len;
        for (size_t k = 0; k < v.blob[i].len; k++) all |= v.blob[i].data[k];
    }
    if (total > size || (all && !total)) abort();
    cz_vanilla_done(&v);
    return 0;
}
