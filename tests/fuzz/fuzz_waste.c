/* Toxic-waste files: read, or refused with one line that has nothing of the text in it. */

#include "base/bytes.h"
#include "cli/toxic_waste.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_toxic_waste waste;
    struct cz_error err = {0};
    char *text = cz_malloc_array(size + 1, 1);
    if (!text) abort();
    if (size) memcpy(text, data, size);
    text[size] = 0;
    enum cz_status status = cz_toxic_waste_parse(&waste, text, size, &err);
    if (status == CZ_OK) {
        if (cz_fr_is_zero(&waste.tau)) abort();
        cz_toxic_waste_wipe(&waste);
    } else if (err.status != status || strlen(err.detail) > 60 || !*err.detail || strchr(err.detail, '\n')) {
        abort();
    }
    cz_free(text);
    return 0;
}
