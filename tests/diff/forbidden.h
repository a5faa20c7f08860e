#ifndef CUZK_TESTS_DIFF_FORBIDDEN_H
#define CUZK_TESTS_DIFF_FORBIDDEN_H

/*
 * Calls that the hot path must not make: they stop the whole device, or every worker on it. The linker puts these
 * wrappers between the device's code and the CUDA runtime (CZ_CUDA_WRAP in CMakeLists.txt).
 */

/** How many such calls this process has made so far. */
unsigned test_forbidden_calls(void);
/** The name of the last one, or "". */
const char *test_forbidden_last(void);

#endif
