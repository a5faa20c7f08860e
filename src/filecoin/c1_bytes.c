/*
 * Nine tenths of a C1 output are arrays of 32 numbers below 256, and a JSON lexer spends some 30 ns on each number and
 * its comma. This reads such an array without a branch a number; what is not exactly of that form is left to yajl.
 */

#include "filecoin/c1_int.h"

#include "base/bytes.h"

/* Below the least number of so many digits, or above 255, it is not one; of no or four digits, neither can be met. */
static const uint32_t LEAST[5] = {256, 0, 10, 100, 256};

/* The first number has at most three digits, or that is all; the others step over four, a comma and a space each. */
_Static_assert(CZ_C1_BYTES_SPAN >= 5 + 30 * 6 + 4 + 1, "what the scan looks at");

size_t cz_c1_bytes_scan(uint8_t out[32], const uint8_t *text) {
    const uint8_t *s = text;
    size_t gap = 0;
    uint32_t bad = 0;
    for (unsigned i = 0; i < 32; i++) {
        /* '0' to '9' become 0 to 9; the high bit of a byte marks what is no digit. */
        const uint32_t word = cz_load_le32(s), digits = word ^ 0x30303030u;
        const uint32_t other = (((digits & 0x7f7f7f7fu) + 0x76767676u) | digits) & 0x80808080u;
        const unsigned n = (unsigned)__builtin_ctzll((uint64_t)other | 1ull << 39) / 8;
        const uint32_t right = (uint32_t)((uint64_t)digits << (8 * (4 - n))); /* the last digit in the top byte */
        const uint32_t v = (right >> 24) + 10 * (right >> 16 & 0xff) + 100 * (right >> 8 & 0xff);
        bad |= (uint32_t)(v < LEAST[n]) | (uint32_t)(v > 255);
        out[i] = (uint8_t)v;
        s += n;
        bad |= (uint32_t)(*s ^ (i < 31 ? ',' : ']'));
        if (i == 31) break;
        s++;
        if (i == 0) gap = *s == ' ';
        if (gap) bad |= (uint32_t)(*s ^ ' ');
        s += gap;
        if (i == 0 && bad) return 0;
    }
    return bad ? 0 : (size_t)(s - text);
}
