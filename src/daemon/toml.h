#ifndef CUZK_DAEMON_TOML_H
#define CUZK_DAEMON_TOML_H

/* toml11 behind one function: the keys of a file, two levels deep, in the order of their lines. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/status.h"

enum cz_toml_type { CZ_TOML_STRING, CZ_TOML_INTEGER, CZ_TOML_BOOL, CZ_TOML_ARRAY, CZ_TOML_TABLE, CZ_TOML_OTHER };

/** One key. Valid during the call. A [section] itself comes as a table with an empty key. */
struct cz_toml_item {
    const char *section; /* "" for keys above the first section */
    const char *key;
    unsigned line; /* 1 is the first */
    enum cz_toml_type type;
    const char *string; /* STRING, without NUL inside */
    int64_t integer;
    bool boolean;
    const struct cz_toml_item *elem; /* ARRAY; section, key and line are not set in the elements */
    size_t num_elems;
};

typedef enum cz_status cz_toml_fn(void *ctx, const struct cz_toml_item *item, struct cz_error *err);

/**
 * Reads `len` bytes at `text` and calls fn for each key until it fails; returns its status. CZ_ERR_FORMAT with the line
 * for a syntax error. Files over 1 MiB or nested deeper than 64 are refused (CZ_ERR_LIMIT).
 */
CZ_MUST_CHECK enum cz_status cz_toml_parse(const char *text, size_t len, cz_toml_fn *fn, void *ctx,
                                           struct cz_error *err);

#ifdef __cplusplus
}
#endif

#endif
