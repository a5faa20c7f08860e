#ifndef CUZK_CLI_VANILLA_H
#define CUZK_CLI_VANILLA_H

/* Files of vanilla proofs: raw bincode, one proof a file, or a JSON array of base64 strings with any number of them. */

#include "base/bytes.h"

#include <stddef.h>

/** Largest file, and most proofs in all files of one call. */
#define CZ_VANILLA_MAX_BYTES (256u << 20)
#define CZ_VANILLA_MAX_PROOFS (1u << 16)

struct cz_vanilla {
    struct cz_bytes *blob; /* n proofs, in the order of files and array entries */
    size_t n;
    void **owned; /* buffers that the blobs point into */
    size_t num_owned;
};

/**
 * Adds the proofs in the contents of one file, which it takes (from cz_malloc_array; also when it fails). Errors begin
 * with `name` and have the entry of the array. After a failure *v is only good for cz_vanilla_done.
 */
CZ_MUST_CHECK enum cz_status cz_vanilla_add(struct cz_vanilla *v, const char *name, uint8_t *data, size_t len,
                                            struct cz_error *err);
/** Reads n files. Errors name the file and the entry of the array. On failure *out is empty. */
CZ_MUST_CHECK enum cz_status cz_vanilla_read(struct cz_vanilla *out, const char *const *path, size_t n,
                                             struct cz_error *err);
/** Accepts an empty struct. */
void cz_vanilla_done(struct cz_vanilla *v);

#endif
