#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

/* Byte order, hex, checked size arithmetic, wiping. Inline where a loop calls it. */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/** Bytes of someone else. */
struct cz_bytes {
    const uint8_t *data;
    size_t len;
};

static inline uint32_t cz_load_le32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, 4);
    return v;
}
static inline uint64_t cz_load_le64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, 8);
    return v;
}
static inline uint32_t cz_load_be32(const uint8_t *p) {
    return __builtin_bswap32(cz_load_le32(p));
}
static inline uint64_t cz_load_be64(const uint8_t *p) {
    return __builtin_bswap64(cz_load_le64(p));
}
static inline void cz_store_le32(uint8_t *p, uint32_t v) {
    memcpy(p, &v, 4);
}
static inline void cz_store_le64(uint8_t *p, uint64_t v) {
    memcpy(p, &v, 8);
}
static inline void cz_store_be32(uint8_t *p, uint32_t v) {
    cz_store_le32(p, __builtin_bswap32(v));
}
static inline void cz_store_be64(uint8_t *p, uint64_t v) {
    cz_store_le64(p, __builtin_bswap64(v));
}

/** Overwrites n bytes at p with zeros in a way that the compiler keeps. p may be NULL when n is 0. */
void cz_memzero(void *p, size_t n);

/** *out = a * b, or false on overflow (out untouched). */
static inline bool cz_mul_size(size_t a, size_t b, size_t *out) {
    size_t product;
    if (__builtin_mul_overflow(a, b, &product)) return false;
    *out = product;
    return true;
}

/** Zeroed array of n elements of `size` bytes, 64-byte aligned, or NULL (overflow or no memory). Free with cz_free. */
void *cz_calloc(size_t n, size_t size);
/** Like cz_calloc, contents undefined. */
void *cz_malloc_array(size_t n, size_t size);
/** Accepts NULL. */
void cz_free(void *p);

/** Writes 2n lower-case hex digits and a NUL to out (2n + 1 bytes). */
void cz_hex_encode(char *out, const uint8_t *in, size_t n);

/** Bytes of the well-formed UTF-8 sequence (RFC 3629) at s, in a text that ends with NUL; 0 when there is none. */
size_t cz_utf8_length(const unsigned char *s);

/** Reads exactly 2n hex digits (either case) from the NUL-terminated text; CZ_ERR_LENGTH or CZ_ERR_FORMAT. */
CZ_MUST_CHECK enum cz_status cz_hex_decode(uint8_t *out, size_t n, const char *text);

#endif
