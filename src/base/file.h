#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

/* Files: read-only mappings, bounded reads, and writing that shows only when it is complete. */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** A file mapped read-only. Regular files only. One that is made shorter meanwhile ends its reader by SIGBUS. */
struct cz_map {
    const uint8_t *data;
    size_t size;
};

CZ_MUST_CHECK enum cz_status cz_map_open(struct cz_map *out, const char *path, struct cz_error *err);
/** Accepts a zeroed map; leaves it zeroed. */
void cz_map_close(struct cz_map *map);

/**
 * Reads a whole file of at most `limit` bytes into a new buffer (NUL appended, not counted); the caller frees it with
 * cz_free. CZ_ERR_LIMIT names the file and the limit.
 */
CZ_MUST_CHECK enum cz_status cz_file_read(uint8_t **out, size_t *len, const char *path, size_t limit,
                                          struct cz_error *err);

/**
 * A file under way: without a name in the folder of `path` until commit, so that nothing is left when the process is
 * killed (where the file system cannot do that: under a temporary name, which then stays). What is there and no regular
 * file is not replaced.
 */
struct cz_file_writer;

CZ_MUST_CHECK enum cz_status cz_file_writer_create(struct cz_file_writer **out, const char *path, struct cz_error *err);
/** Appends (buffered). After a failure every later call fails with the same error. */
CZ_MUST_CHECK enum cz_status cz_file_writer_append(struct cz_file_writer *w, const void *data, size_t len,
                                                   struct cz_error *err);
/** Flushes, syncs the file, gives it its name, syncs the folder, and frees w whether it worked or not. */
CZ_MUST_CHECK enum cz_status cz_file_writer_commit(struct cz_file_writer *w, struct cz_error *err);
/** Drops the file and frees w. Accepts NULL. */
void cz_file_writer_abort(struct cz_file_writer *w);

/** Whole buffer to `path` by way of a cz_file_writer. */
CZ_MUST_CHECK enum cz_status cz_file_write(const char *path, const void *data, size_t len, struct cz_error *err);

#endif
