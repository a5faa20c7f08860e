#ifndef CUZK_TESTS_SUPPORT_JSON_H
#define CUZK_TESTS_SUPPORT_JSON_H

/* JSON files in tests: read whole, look up by key. A missing file or key fails the test. */

#include "base/bytes.h"
#include "base/file.h"
#include "support.h"

#include <yajl/yajl_tree.h>

/** The tree of a file of at most 64 MiB; the caller frees it with yajl_tree_free. */
static inline yajl_val test_json_load(const char *path) {
    char message[200] = "";
    struct cz_error err = {0};
    uint8_t *text = NULL;
    size_t len = 0;
    if (cz_file_read(&text, &len, path, (size_t)64 << 20, &err) != CZ_OK) fail_msg("%s", err.detail);
    yajl_val tree = yajl_tree_parse((const char *)text, message, sizeof message);
    cz_free(text);
    if (!tree) fail_msg("%s: %s", path, message);
    return tree;
}

/** The value under `key`, or NULL. */
static inline yajl_val test_json_find(yajl_val object, const char *key) {
    const char *path[] = {key, NULL};
    return yajl_tree_get(object, path, yajl_t_any);
}

/** The string under `key`, owned by the tree. */
static inline const char *test_json_string(yajl_val object, const char *key) {
    const char *text = YAJL_GET_STRING(test_json_find(object, key));
    if (!text) fail_msg("no string \"%s\"", key);
    return text;
}

/** The integer under `key`. */
static inline long long test_json_integer(yajl_val object, const char *key) {
    yajl_val v = test_json_find(object, key);
    if (!YAJL_IS_INTEGER(v)) fail_msg("no integer \"%s\"", key);
    return YAJL_GET_INTEGER(v);
}

#endif
