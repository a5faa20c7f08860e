#include "base/random.h"

#include "base/bytes.h"

#include <errno.h>
#include <sys/random.h>

enum cz_status cz_random_bytes(void *out, size_t n) {
    uint8_t *p = out;
    size_t done = 0;
    while (done < n) {
        ssize_t got = getrandom(p + done, n - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) {
            cz_memzero(out, n);
            return CZ_ERR_RANDOM;
        }
        done += (size_t)got;
    }
    return CZ_OK;
}
