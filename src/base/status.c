#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const TEXT[] = {
#define CZ_STATUS_TEXT(name, text) [name] = (text),
    CZ_STATUS_TABLE(CZ_STATUS_TEXT)
#undef CZ_STATUS_TEXT
};

const char *cz_status_text(enum cz_status status) {
    if ((unsigned)status >= sizeof TEXT / sizeof *TEXT) return "unknown status";
    return TEXT[status];
}

enum cz_status_class cz_status_class(enum cz_status status) {
    if (status == CZ_OK) return CZ_CLASS_OK;
    if (status < CZ_ERR_MEMORY) return CZ_CLASS_BAD_INPUT;
    return status == CZ_ERR_DEVICE ? CZ_CLASS_DEVICE_LOST : CZ_CLASS_JOB_FAILED;
}

void cz_error_write(struct cz_error *err, enum cz_status status, const char *fmt, ...) {
    if (!err) return;
    va_list ap;
    va_start(ap, fmt);
    err->status = status;
    (void)vsnprintf(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
}

enum cz_status cz_error_prefix(struct cz_error *err, const char *fmt, ...) {
    if (!err) return CZ_ERR_INTERNAL;
    char old[sizeof err->detail];
    memcpy(old, err->detail, sizeof old);
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(err->detail, sizeof err->detail, fmt, ap);
    va_end(ap);
    if (n < 0 || (size_t)n + 2 >= sizeof err->detail) return err->status;
    char *end = err->detail + n;
    size_t room = sizeof err->detail - (size_t)n - 3, len = strnlen(old, sizeof old);
    if (len > room) len = room;
    memcpy(end, ": ", 2);
    memcpy(end + 2, old, len);
    end[2 + len] = 0;
    return err->status;
}
