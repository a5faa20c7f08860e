#ifndef CUZK_TESTS_SUPPORT_H
#define CUZK_TESTS_SUPPORT_H

/* What cmocka wants before its own header, and a fixed-seed generator for test data. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/** xorshift64*: the same data in every run. */
static inline uint64_t test_random(uint64_t *state) {
    uint64_t x = *state ? *state : 0x9e3779b97f4a7c15u;
    x ^= x >> 12;
    x ^= x << 25;
    x ^= x >> 27;
    *state = x;
    return x * 0x2545f4914f6cdd1du;
}

#endif
