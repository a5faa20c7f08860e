#ifndef CUZK_BASE_TIME_H
#define CUZK_BASE_TIME_H

#include <stdint.h>

/** Nanoseconds of the monotonic clock. */
uint64_t cz_time_now_ns(void);

/** Seconds since `start_ns` (a value of cz_time_now_ns). */
double cz_time_since(uint64_t start_ns);

#endif
