#ifndef CUZK_TESTS_UNIT_FILECOIN_C1_SUPPORT_H
#define CUZK_TESTS_UNIT_FILECOIN_C1_SUPPORT_H

/* The reference's C1 outputs as text, and edits of it. */

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define C1_OF(name) CZ_SHARED_DIR "/vectors/reference/2kib/" name "/c1.json.gz"

/** A whole file, gunzipped when it is gzipped; NUL-terminated, the caller frees it. */
static inline char *test_read(const char *path, size_t *len) {
    size_t cap = 1 << 16, n = 0;
    char *text = malloc(cap);
    gzFile f = gzopen(path, "rb");
    if (!f) fail_msg("cannot open %s", path);
    for (int got; (got = gzread(f, text + n, (unsigned)(cap - n - 1))) > 0;) {
        n += (size_t)got;
        if (cap - n < 2) text = realloc(text, cap *= 2);
    }
    gzclose(f);
    text[n] = 0;
    if (len) *len = n;
    return text;
}

/** A copy of `text` with the nth (from 0) occurrence of `find` replaced. */
static inline char *test_replace(const char *text, const char *find, unsigned nth, const char *with) {
    const char *at = strstr(text, find);
    while (at && nth--) at = strstr(at + 1, find);
    if (!at) fail_msg("no %s in the text", find);
    size_t size = strlen(text) + strlen(with) + 1;
    char *out = malloc(size);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
    return out;
}

/** Standard base64. */
static inline char *test_base64(const char *in, size_t n) {
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char *out = malloc(n / 3 * 4 + 5), *o = out;
    for (size_t i = 0; i < n; i += 3, o += 4) {
        uint32_t v = 0;
        for (size_t j = 0; j < 3; j++) v = v << 8 | (i + j < n ? (uint8_t)in[i + j] : 0);
        for (unsigned j = 0; j < 4; j++) o[j] = i + j > n ? '=' : digit[v >> (18 - 6 * j) & 63];
    }
    *o = 0;
    return out;
}

static inline char *test_envelope(const char *c1, const char *size) {
    char *b64 = test_base64(c1, strlen(c1));
    size_t n = strlen(b64) + 128;
    char *out = malloc(n);
    snprintf(out, n, "{\"SectorNum\":7,\"Phase1Out\":\"%s\",\"SectorSize\":%s}", b64, size);
    free(b64);
    return out;
}

/** gzip of n bytes; the caller frees it. */
static inline uint8_t *test_gzip(const char *in, size_t n, size_t *len) {
    z_stream z = {0};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t cap = deflateBound(&z, n) + 32;
    uint8_t *out = malloc(cap);
    z.next_in = (Bytef *)in;
    z.avail_in = (uInt)n;
    z.next_out = out;
    z.avail_out = (uInt)cap;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    *len = z.total_out;
    deflateEnd(&z);
    return out;
}

#endif
