#ifndef CUZK_TESTS_SUPPORT_H
#define CUZK_TESTS_SUPPORT_H

/* What cmocka wants before its own header, a fixed-seed generator for test data, and a clock. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

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

/** Seconds that this thread has computed: for limits that hold on a busy machine too. */
static inline double test_cpu_seconds(void) {
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#endif
