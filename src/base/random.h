#ifndef CUZK_BASE_RANDOM_H
#define CUZK_BASE_RANDOM_H

#include "base/status.h"

#include <stddef.h>

/** n bytes from the system's generator (getrandom). CZ_ERR_RANDOM leaves out zeroed. */
CZ_MUST_CHECK enum cz_status cz_random_bytes(void *out, size_t n);

#endif
