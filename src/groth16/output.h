#ifndef CUZK_GROTH16_OUTPUT_H
#define CUZK_GROTH16_OUTPUT_H

/* A long file under way in blocks: hashed by one thread and written by another while the caller makes the next block.
 */

#include "base/file.h"

struct cz_output;

/**
 * To a file (`path`: as cz_file_writer), or to `memory` of `size` bytes (borrowed) when path is NULL. Blocks have
 * block_bytes. Without `hash` the SHA-256 of the result is zeros.
 */
CZ_MUST_CHECK enum cz_status cz_output_create(struct cz_output **out, const char *path, uint8_t *memory, size_t size,
                                              bool hash, size_t block_bytes, struct cz_error *err);
/** The next block to fill; waits until one is free. NULL after a failure, which cz_output_put or _finish tells. */
uint8_t *cz_output_block(struct cz_output *o);
/** Hands over the first len bytes of that block. */
CZ_MUST_CHECK enum cz_status cz_output_put(struct cz_output *o, size_t len, struct cz_error *err);
/** A few bytes, in a block of their own. */
CZ_MUST_CHECK enum cz_status cz_output_append(struct cz_output *o, const void *data, size_t len, struct cz_error *err);

struct cz_output_result {
    uint8_t sha256[32];
    uint64_t bytes;
    double wait, hash, write, sync; /* seconds: the caller's for free blocks; busy in each thread; the end */
};
/** Waits for all of it; the file appears. Frees o whether it worked or not. */
CZ_MUST_CHECK enum cz_status cz_output_finish(struct cz_output *o, struct cz_output_result *result,
                                              struct cz_error *err);
/** Drops everything. Accepts NULL. */
void cz_output_abort(struct cz_output *o);

#endif
