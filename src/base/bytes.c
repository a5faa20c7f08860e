#include "base/bytes.h"

#include <stdlib.h>

void cz_memzero(void *p, size_t n) {
    if (n) explicit_bzero(p, n);
}

void *cz_malloc_array(size_t n, size_t size) {
    size_t bytes;
    if (!cz_mul_size(n, size, &bytes) || bytes > SIZE_MAX - 64) return NULL;
    return aligned_alloc(64, bytes ? (bytes + 63) / 64 * 64 : 64);
}

void *cz_calloc(size_t n, size_t size) {
    void *p = cz_malloc_array(n, size);
    if (p) memset(p, 0, n * size);
    return p;
}

void cz_free(void *p) {
    free(p);
}

void cz_hex_encode(char *out, const uint8_t *in, size_t n) {
    static const char DIGIT[] = "0123456789abcdef";
    for (size_t i = 0; i < n; i++) {
        out[2 * i] = DIGIT[in[i] >> 4];
        out[2 * i + 1] = DIGIT[in[i] & 15];
    }
    out[2 * n] = 0;
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

enum cz_status cz_hex_decode(uint8_t *out, size_t n, const char *text) {
    size_t len = strnlen(text, 2 * n + 1);
    if (len != 2 * n) return CZ_ERR_LENGTH;
    for (size_t i = 0; i < 2 * n; i++) {
        if (hex_value(text[i]) < 0) return CZ_ERR_FORMAT;
    }
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)((unsigned)hex_value(text[2 * i]) << 4 | (unsigned)hex_value(text[2 * i + 1]));
    return CZ_OK;
}

size_t cz_utf8_length(const unsigned char *s) {
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) return (s[1] & 0xc0) == 0x80 ? 2 : 0;
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80) return 0;
        if (s[0] == 0xe0 && s[1] < 0xa0) return 0;
        if (s[0] == 0xed && s[1] > 0x9f) return 0;
        return 3;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        if ((s[1] & 0xc0) != 0x80 || (s[2] & 0xc0) != 0x80 || (s[3] & 0xc0) != 0x80) return 0;
        if (s[0] == 0xf0 && s[1] < 0x90) return 0;
        if (s[0] == 0xf4 && s[1] > 0x8f) return 0;
        return 4;
    }
    return 0;
}
