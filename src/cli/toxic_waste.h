#ifndef CUZK_CLI_TOXIC_WASTE_H
#define CUZK_CLI_TOXIC_WASTE_H

#include "groth16/setup.h"

/**
 * Reads a JSON object with g1_generator_times and g2_generator_times (integers of 1 to 2^63 - 1) and alpha, beta,
 * gamma, delta, tau (64 hex digits, little endian, non-zero, below r). Other keys are ignored. Wipes what it read.
 */
CZ_MUST_CHECK enum cz_status cz_toxic_waste_read(struct cz_toxic_waste *out, const char *path, struct cz_error *err);

/** The same of a file's contents, len bytes and a NUL after them, which it leaves as they are. */
CZ_MUST_CHECK enum cz_status cz_toxic_waste_parse(struct cz_toxic_waste *out, const char *text, size_t len,
                                                  struct cz_error *err);

#endif
