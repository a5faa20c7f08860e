/* C1 outputs in every form: parsed and used, or refused with one line of reason. */

#include "filecoin/c1_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    struct cz_fr inputs[3 + 18 * CZ_C1_MAX_CHALLENGES];
    enum cz_status status = cz_c1_parse(&c1, data, size, &err);
    if (status != CZ_OK) {
        if (c1 || err.status != status || !*err.detail || strchr(err.detail, '\n')) abort();
        return 0;
    }
    /* What parses has public inputs, and the check may read all of it. */
    const size_t count = 3 + 18 * (size_t)c1->challenges_per_partition;
    if (cz_c1_public_inputs(inputs, count, c1, c1->num_partitions - 1, &err) != CZ_OK) abort();
    (void)!cz_c1_check_partition(c1, 0, &err);
    cz_c1_destroy(c1);
    return 0;
}
