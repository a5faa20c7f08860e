#ifndef CUZK_BASE_STATUS_H
#define CUZK_BASE_STATUS_H

/*
 * One status enum for the whole program. Every fallible function returns it.
 *
 * Three classes matter to callers (cz_status_class): bad input rejects the request and says which field; a failed
 * job may be retried; a lost device is retired. "This proof is invalid" is a result, not a status.
 */

#include <stdbool.h>

#define CZ_STATUS_TABLE(X)                                                                                             \
    X(CZ_OK, "ok")                                                                                                     \
    /* bad input */                                                                                                    \
    X(CZ_ERR_ARGUMENT, "invalid argument")                                                                             \
    X(CZ_ERR_FORMAT, "malformed data")                                                                                 \
    X(CZ_ERR_LENGTH, "wrong length")                                                                                   \
    X(CZ_ERR_LIMIT, "a limit is exceeded")                                                                             \
    X(CZ_ERR_FIELD_RANGE, "field element is not below the modulus")                                                    \
    X(CZ_ERR_POINT_FORM, "point's compression flag does not fit the form")                                             \
    X(CZ_ERR_POINT_INFINITY_BITS, "point at infinity has other bits set")                                              \
    X(CZ_ERR_POINT_SIGN, "uncompressed point has the sign bit set")                                                    \
    X(CZ_ERR_POINT_NOT_ON_CURVE, "point is not on the curve")                                                          \
    X(CZ_ERR_POINT_SUBGROUP, "point is not in the prime-order subgroup")                                               \
    X(CZ_ERR_POINT_INFINITY, "point at infinity is not allowed")                                                       \
    X(CZ_ERR_UNSUPPORTED, "not supported")                                                                             \
    X(CZ_ERR_NOT_FOUND, "not found")                                                                                   \
    X(CZ_ERR_EXISTS, "exists already")                                                                                 \
    X(CZ_ERR_MISMATCH, "does not match what was expected")                                                             \
    /* the job failed */                                                                                               \
    X(CZ_ERR_MEMORY, "out of memory")                                                                                  \
    X(CZ_ERR_IO, "input/output error")                                                                                 \
    X(CZ_ERR_FULL, "queue is full")                                                                                    \
    X(CZ_ERR_BUDGET, "does not fit the memory budget")                                                                 \
    X(CZ_ERR_SHUTDOWN, "shutting down")                                                                                \
    X(CZ_ERR_CANCELLED, "cancelled")                                                                                   \
    X(CZ_ERR_TIMEOUT, "timed out")                                                                                     \
    X(CZ_ERR_UNSATISFIED, "constraint system is not satisfied")                                                        \
    X(CZ_ERR_PROOF_INVALID, "the proof made does not verify")                                                          \
    X(CZ_ERR_RANDOM, "the system gives no randomness")                                                                 \
    X(CZ_ERR_NETWORK, "network error")                                                                                 \
    X(CZ_ERR_INTERNAL, "internal error")                                                                               \
    /* the device is lost */                                                                                           \
    X(CZ_ERR_DEVICE, "device failed")

enum cz_status {
#define CZ_STATUS_ENUM(name, text) name,
    CZ_STATUS_TABLE(CZ_STATUS_ENUM)
#undef CZ_STATUS_ENUM
};

enum cz_status_class { CZ_CLASS_OK, CZ_CLASS_BAD_INPUT, CZ_CLASS_JOB_FAILED, CZ_CLASS_DEVICE_LOST };

#define CZ_MUST_CHECK __attribute__((warn_unused_result))
#define CZ_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

/** A static, English text for `status`; never NULL. */
const char *cz_status_text(enum cz_status status);

/** The class of `status`. */
enum cz_status_class cz_status_class(enum cz_status status);

/**
 * A status with one line of detail that names the field, file or offset. The caller owns it and clears it with
 * `= {0}`. Functions that take a `struct cz_error *` accept NULL and write it only when they fail.
 */
struct cz_error {
    enum cz_status status;
    char detail[400];
};

/**
 * Fills `err` (may be NULL) and gives `status`, so that `return cz_error_set(err, CZ_ERR_…, "…")` reads well. A macro,
 * so that compilers and analyzers see which status comes back.
 */
#define cz_error_set(err, status, ...)                                                                                 \
    __extension__({                                                                                                    \
        enum cz_status cz_error_status_ = (status);                                                                    \
        cz_error_write((err), cz_error_status_, __VA_ARGS__);                                                          \
        cz_error_status_;                                                                                              \
    })
void cz_error_write(struct cz_error *err, enum cz_status status, const char *fmt, ...) CZ_PRINTF(3, 4);

/** Puts "prefix: " before the detail of `err` (may be NULL); returns err->status or CZ_ERR_INTERNAL for NULL. */
enum cz_status cz_error_prefix(struct cz_error *err, const char *fmt, ...) CZ_PRINTF(2, 3);

#endif
