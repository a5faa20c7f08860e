/* The configuration: any bytes are read or refused, with one line of reason. */

#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ignore(void *ctx, const char *text) {
    (void)ctx;
    if (!*text) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_config config;
    struct cz_error err = {0};
    if (cz_config_init(&config) != CZ_OK) return 0;
    enum cz_status st = cz_config_parse(&config, (const char *)data, size, ignore, NULL, &err);
    if (st != CZ_OK && (err.status != st || !*err.detail || strchr(err.detail, '\n'))) abort();
    cz_config_done(&config);
    return 0;
}
