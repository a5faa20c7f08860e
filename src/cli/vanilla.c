#include "cli/vanilla.h"

#include "base/file.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <yajl/yajl_parse.h>

static bool grow(void *array, size_t count, size_t size) {
    void **p = array;
    if (count & (count - 1)) return true; /* room for the next power of two is there */
    void *grown = realloc(*p, (count ? 2 * count : 1) * size);
    if (grown) *p = grown;
    return grown;
}

static bool keep(struct cz_vanilla *v, void *buffer) {
    if (!grow(&v->owned, v->num_owned, sizeof *v->owned)) return false;
    v->owned[v->num_owned++] = buffer;
    return true;
}

static bool add_blob(struct cz_vanilla *v, const uint8_t *data, size_t len) {
    if (v->n >= CZ_VANILLA_MAX_PROOFS || !grow(&v->blob, v->n, sizeof *v->blob)) return false;
    v->blob[v->n++] = (struct cz_bytes){.data = data, .len = len};
    return true;
}

struct reader {
    struct cz_vanilla *v;
    const char *path;
    struct cz_error *err;
    enum cz_status status;
    unsigned depth;
    size_t entry;
};

static int refuse(struct reader *r, enum cz_status status, const char *what) {
    r->status = cz_error_set(r->err, status, "%s: entry %zu: %s", r->path, r->entry, what);
    return 0;
}

/* Strict base64: EVP_DecodeBlock skips white space at the ends and takes '=' anywhere, so that is refused first. */
static int on_string(void *ctx, const unsigned char *text, size_t len) {
    struct reader *r = ctx;
    if (r->depth != 1) return refuse(r, CZ_ERR_FORMAT, "wants an array of base64 strings");
    if (len == 0 || len % 4 != 0) return refuse(r, CZ_ERR_FORMAT, "not base64: the length is no multiple of 4");
    for (size_t i = 0; i < len; i++) {
        bool pad = text[i] == '=' && (i + 1 == len || (i + 2 == len && text[i + 1] == '='));
        if (!isalnum(text[i]) && text[i] != '+' && text[i] != '/' && !pad) {
            return refuse(r, CZ_ERR_FORMAT, "not base64");
        }
    }
    uint8_t *buffer = cz_malloc_array(len / 4, 3);
    if (!buffer || !keep(r->v, buffer)) {
        cz_free(buffer);
        return refuse(r, CZ_ERR_MEMORY, "no memory");
    }
    int n = EVP_DecodeBlock(buffer, text, (int)len);
    size_t padding = (text[len - 1] == '=') + (size_t)(text[len - 2] == '=');
    if (n < 0 || (size_t)n < padding) return refuse(r, CZ_ERR_FORMAT, "not base64");
    if (!add_blob(r->v, buffer, (size_t)n - padding)) return refuse(r, CZ_ERR_LIMIT, "too many proofs");
    r->entry++;
    return 1;
}

static int on_start(void *ctx) {
    struct reader *r = ctx;
    return r->depth++ == 0 ? 1 : refuse(r, CZ_ERR_FORMAT, "wants an array of base64 strings");
}

static int on_end(void *ctx) {
    (void)ctx;
    return 1;
}

static int on_other(struct reader *r) {
    return refuse(r, CZ_ERR_FORMAT, "wants an array of base64 strings");
}
static int on_null(void *ctx) {
    return on_other(ctx);
}
static int on_bool(void *ctx, int value) {
    return (void)value, on_other(ctx);
}
static int on_number(void *ctx, const char *text, size_t len) {
    return (void)text, (void)len, on_other(ctx);
}
static int on_map(void *ctx) {
    return on_other(ctx);
}

static enum cz_status read_array(struct cz_vanilla *v, const char *path, const uint8_t *data, size_t len,
                                 struct cz_error *err) {
    static const yajl_callbacks CALLBACKS = {.yajl_null = on_null,
                                             .yajl_boolean = on_bool,
                                             .yajl_number = on_number,
                                             .yajl_string = on_string,
                                             .yajl_start_map = on_map,
                                             .yajl_start_array = on_start,
                                             .yajl_end_array = on_end};
    struct reader r = {.v = v, .path = path, .err = err};
    yajl_handle h = yajl_alloc(&CALLBACKS, NULL, &r);
    if (!h) return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", path);
    yajl_status status = yajl_parse(h, data, len);
    if (status == yajl_status_ok) status = yajl_complete_parse(h);
    if (status != yajl_status_ok && r.status == CZ_OK) {
        r.status =
            cz_error_set(err, CZ_ERR_FORMAT, "%s: not a JSON array (at byte %zu)", path, yajl_get_bytes_consumed(h));
    }
    yajl_free(h);
    return r.status;
}

/* A sector's number may start with the byte of '[', but bincode's 8-byte counts always have zero bytes, and JSON none.
 */
static bool is_array(const uint8_t *data, size_t len) {
    size_t i = 0;
    while (i < len && i < 64 && isspace(data[i])) i++;
    return i < len && data[i] == '[' && !memchr(data, 0, len);
}

enum cz_status cz_vanilla_add(struct cz_vanilla *v, const char *name, uint8_t *data, size_t len, struct cz_error *err) {
    if (is_array(data, len)) {
        enum cz_status status = read_array(v, name, data, len, err);
        cz_free(data);
        return status;
    }
    if (!keep(v, data)) {
        cz_free(data);
        return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory", name);
    }
    return add_blob(v, data, len) ? CZ_OK : cz_error_set(err, CZ_ERR_LIMIT, "%s: too many proofs", name);
}

enum cz_status cz_vanilla_read(struct cz_vanilla *out, const char *const *path, size_t n, struct cz_error *err) {
    struct cz_vanilla v = {0};
    enum cz_status status = CZ_OK;
    for (size_t i = 0; i < n && status == CZ_OK; i++) {
        uint8_t *data = NULL;
        size_t len = 0;
        status = cz_file_read(&data, &len, path[i], CZ_VANILLA_MAX_BYTES, err);
        if (status == CZ_OK) status = cz_vanilla_add(&v, path[i], data, len, err);
    }
    if (status != CZ_OK) {
        cz_vanilla_done(&v);
        return status;
    }
    *out = v;
    return CZ_OK;
}

void cz_vanilla_done(struct cz_vanilla *v) {
    for (size_t i = 0; i < v->num_owned; i++) cz_free(v->owned[i]);
    free(v->owned);
    free(v->blob);
    *v = (struct cz_vanilla){0};
}
