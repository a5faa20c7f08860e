#include "base/time.h"

#include <time.h>

uint64_t cz_time_now_ns(void) {
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

double cz_time_since(uint64_t start_ns) {
    return (double)(cz_time_now_ns() - start_ns) * 1e-9;
}
