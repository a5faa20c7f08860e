#ifndef CUZK_TESTS_VECTORS_R1CS_COMMON_H
#define CUZK_TESTS_VECTORS_R1CS_COMMON_H

/* The reference's R1CS vectors: gzipped text and lines of r1cs.jsonl and gadgets.jsonl. */

#include "base/bytes.h"
#include "base/file.h"
#include "support.h"

#include <string.h>
#include <zlib.h>

#define VECTORS CZ_SHARED_DIR "/vectors/reference/"

/* The uncompressed file with a NUL after it; free with cz_free. */
static inline uint8_t *test_gunzip(const char *path, size_t limit, size_t *len) {
    gzFile f = gzopen(path, "rb");
    assert_non_null(f);
    uint8_t *buf = cz_malloc_array(limit + 1, 1);
    assert_non_null(buf);
    int n = gzread(f, buf, (unsigned)limit);
    assert_true(n >= 0 && (size_t)n < limit);
    assert_int_equal(gzclose(f), Z_OK);
    buf[n] = 0;
    *len = (size_t)n;
    return buf;
}

/* The line of `text` that holds `"field":"value"` and, when name2 is given, the second pair too; copied to out. */
static inline void test_json_line(char *out, size_t room, const char *text, const char *pair, const char *pair2) {
    for (const char *line = text; *line;) {
        const char *end = strchr(line, '\n');
        size_t n = end ? (size_t)(end - line) : strlen(line);
        assert_true(n < room);
        memcpy(out, line, n);
        out[n] = 0;
        if (strstr(out, pair) && (!pair2 || strstr(out, pair2))) return;
        if (!end) break;
        line = end + 1;
    }
    fail_msg("no line with %s", pair);
}

static inline unsigned long long test_json_number(const char *line, const char *name) {
    char key[40];
    snprintf(key, sizeof key, "\"%s\":", name);
    const char *p = strstr(line, key);
    assert_non_null(p);
    return strtoull(p + strlen(key), NULL, 10);
}

static inline void test_json_hex32(uint8_t out[32], const char *line, const char *name) {
    char key[40], hex[65];
    snprintf(key, sizeof key, "\"%s\":\"", name);
    const char *p = strstr(line, key);
    assert_non_null(p);
    assert_true(strlen(p + strlen(key)) > 64);
    memcpy(hex, p + strlen(key), 64);
    hex[64] = 0;
    assert_int_equal(cz_hex_decode(out, 32, hex), CZ_OK);
}

static inline void test_json_nnz(uint64_t nnz[3], const char *line) {
    const char *p = strstr(line, "\"nnz\":[");
    assert_non_null(p);
    p += 7;
    for (int m = 0; m < 3; m++) {
        char *end;
        nnz[m] = strtoull(p, &end, 10);
        p = end + 1;
    }
}

#endif
