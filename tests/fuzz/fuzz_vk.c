/* Verifying keys, uncompressed and compressed (chosen by the first byte). What decodes is written back as it was. */

#include "base/bytes.h"
#include "groth16/vk.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_vk vk;
    struct cz_error err;
    size_t used = 0;
    if (size == 0) return 0;
    if (data[0] & 0x80) {
        if (cz_vk_read_compressed(&vk, data, size, &err) == CZ_OK) cz_vk_done(&vk);
        return 0;
    }
    if (cz_vk_read(&vk, data, size, &used, &err) != CZ_OK) return 0;
    uint8_t *again = cz_malloc_array(used, 1);
    if (!again || used > size || used != cz_vk_bytes(vk.num_ic)) abort();
    cz_vk_write(again, &vk);
    if (memcmp(again, data, used) != 0) abort();
    cz_free(again);
    cz_vk_done(&vk);
    return 0;
}
