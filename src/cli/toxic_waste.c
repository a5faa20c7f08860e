#include "cli/toxic_waste.h"

#include "base/bytes.h"
#include "base/file.h"

#include <yajl/yajl_parse.h>
#include <yajl/yajl_tree.h>

#define MAX_BYTES 65536u

static const char *const SCALAR[5] = {"alpha", "beta", "gamma", "delta", "tau"};

static enum cz_status read_times(uint64_t *out, yajl_val root, const char *name, struct cz_error *err) {
    const char *path[] = {name, NULL};
    yajl_val v = yajl_tree_get(root, path, yajl_t_number);
    if (!v || !YAJL_IS_INTEGER(v) || YAJL_GET_INTEGER(v) < 1) {
        return cz_error_set(err, CZ_ERR_FORMAT, "%s: wants a positive integer", name);
    }
    *out = (uint64_t)YAJL_GET_INTEGER(v);
    return CZ_OK;
}

static enum cz_status read_scalar(struct cz_fr *out, yajl_val root, const char *name, struct cz_error *err) {
    const char *path[] = {name, NULL};
    yajl_val v = yajl_tree_get(root, path, yajl_t_string);
    uint8_t bytes[32];
    if (!v || cz_hex_decode(bytes, 32, YAJL_GET_STRING(v)) != CZ_OK) {
        return cz_error_set(err, CZ_ERR_FORMAT, "%s: wants 64 hex digits", name);
    }
    enum cz_status status = cz_fr_from_le(out, bytes);
    cz_memzero(bytes, sizeof bytes);
    if (status != CZ_OK) return cz_error_set(err, status, "%s: not below r", name);
    if (cz_fr_is_zero(out)) return cz_error_set(err, CZ_ERR_FORMAT, "%s: must not be 0", name);
    return CZ_OK;
}

/* The tree's copies of the scalars. */
static void wipe_tree(yajl_val root) {
    for (size_t i = 0; YAJL_IS_OBJECT(root) && i < root->u.object.len; i++) {
        yajl_val v = root->u.object.values[i];
        if (YAJL_IS_STRING(v)) cz_memzero(v->u.string, strlen(v->u.string));
    }
    yajl_tree_free(root);
}

/*
 * The first byte that is no JSON, or the length when the end is missing. yajl_tree_parse has no place in its error,
 * only the text around it, and that may be a secret.
 */
static size_t bad_byte(const char *text, size_t len) {
    yajl_handle h = yajl_alloc(NULL, NULL, NULL);
    if (!h) return 0;
    bool bad = yajl_parse(h, (const unsigned char *)text, len) != yajl_status_ok;
    size_t at = bad ? yajl_get_bytes_consumed(h) : len;
    yajl_free(h);
    return at;
}

enum cz_status cz_toxic_waste_parse(struct cz_toxic_waste *out, const char *text, size_t len, struct cz_error *err) {
    memset(out, 0, sizeof *out);
    if (strlen(text) != len) { return cz_error_set(err, CZ_ERR_FORMAT, "not JSON (at byte %zu)", strlen(text)); }
    char why[4]; /* without it yajl prints the error itself */
    yajl_val root = yajl_tree_parse(text, why, sizeof why);
    if (!root) return cz_error_set(err, CZ_ERR_FORMAT, "not JSON (at byte %zu)", bad_byte(text, len));
    uint64_t times[2] = {0};
    struct cz_fr scalar[5] = {0};
    enum cz_status status = read_times(&times[0], root, "g1_generator_times", err);
    if (status == CZ_OK) status = read_times(&times[1], root, "g2_generator_times", err);
    for (int i = 0; i < 5 && status == CZ_OK; i++) status = read_scalar(&scalar[i], root, SCALAR[i], err);
    if (status == CZ_OK) cz_toxic_waste_set(out, times[0], times[1], scalar);
    cz_memzero(scalar, sizeof scalar);
    wipe_tree(root);
    return status;
}

enum cz_status cz_toxic_waste_read(struct cz_toxic_waste *out, const char *path, struct cz_error *err) {
    uint8_t *text = NULL;
    size_t len = 0;
    memset(out, 0, sizeof *out);
    enum cz_status status = cz_file_read(&text, &len, path, MAX_BYTES, err);
    if (status != CZ_OK) return status;
    status = cz_toxic_waste_parse(out, (const char *)text, len, err);
    if (status != CZ_OK) (void)cz_error_prefix(err, "%s", path);
    cz_memzero(text, len);
    cz_free(text);
    return status;
}
