#ifndef CUZK_TESTS_DIFF_CASES_H
#define CUZK_TESTS_DIFF_CASES_H

/*
 * One table of cases for the operations of a device. A case runs the operation and holds the result against an answer
 * that does not come from a device (known multiples of a generator, sums over definitions), so the same table tests the
 * CPU device at every level of arithmetic and any other device.
 */

#include "compute/compute.h"

struct diff_case {
    const char *name;
    /** True when the device gave the right answer. */
    bool (*run)(struct cz_device *dev);
};

extern const struct diff_case diff_cases[];
extern const size_t diff_num_cases;

#endif
