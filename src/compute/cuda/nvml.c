#include "compute/cuda/nvml.h"

#include "base/bytes.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* NVML's ABI as its documentation gives it: handles are pointers, results int with 0 for success. */
struct memory {
    unsigned long long total, free, used;
};
struct utilisation {
    unsigned gpu, memory;
};

struct cz_nvml {
    void *lib;
    unsigned count;
    int (*shutdown)(void);
    int (*handle)(unsigned, void **);
    int (*handle_by_pci)(const char *, void **);
    int (*index)(void *, unsigned *);
    int (*name)(void *, char *, unsigned);
    int (*memory)(void *, struct memory *);
    int (*utilisation)(void *, struct utilisation *);
    int (*temperature)(void *, int, unsigned *);
    int (*power)(void *, unsigned *);
    int (*clock)(void *, int, unsigned *);
    int (*throttle)(void *, unsigned long long *);
};

static bool find(struct cz_nvml *n, void *slot, const char *name) {
    void *f = dlsym(n->lib, name);
    memcpy(slot, &f, sizeof f);
    return f;
}

enum cz_status cz_nvml_open(struct cz_nvml **out, struct cz_error *err) {
    struct cz_nvml *n = cz_calloc(1, sizeof *n);
    int (*init)(void) = NULL, (*count)(unsigned *) = NULL;
    if (!n) return cz_error_set(err, CZ_ERR_MEMORY, "NVML");
    n->lib = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!n->lib) {
        cz_free(n);
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "NVML: libnvidia-ml.so.1 is not there (no NVIDIA driver)");
    }
    bool all = find(n, &init, "nvmlInit_v2") && find(n, &n->shutdown, "nvmlShutdown") &&
               find(n, &count, "nvmlDeviceGetCount_v2") && find(n, &n->handle, "nvmlDeviceGetHandleByIndex_v2") &&
               find(n, &n->name, "nvmlDeviceGetName") && find(n, &n->memory, "nvmlDeviceGetMemoryInfo");
    /* What older drivers may lack. */
    (void)find(n, &n->handle_by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
    (void)find(n, &n->index, "nvmlDeviceGetIndex");
    (void)find(n, &n->utilisation, "nvmlDeviceGetUtilizationRates");
    (void)find(n, &n->temperature, "nvmlDeviceGetTemperature");
    (void)find(n, &n->power, "nvmlDeviceGetPowerUsage");
    (void)find(n, &n->clock, "nvmlDeviceGetClockInfo");
    (void)find(n, &n->throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    const int result = all ? init() : -1;
    if (result != 0 || count(&n->count) != 0) {
        if (result == 0) (void)n->shutdown();
        (void)dlclose(n->lib);
        cz_free(n);
        return cz_error_set(err, CZ_ERR_UNSUPPORTED, "NVML: it does not start (%d)", result);
    }
    *out = n;
    return CZ_OK;
}

void cz_nvml_close(struct cz_nvml *n) {
    if (!n) return;
    (void)n->shutdown();
    (void)dlclose(n->lib);
    cz_free(n);
}

unsigned cz_nvml_count(const struct cz_nvml *n) {
    return n->count;
}

int cz_nvml_find(const struct cz_nvml *n, const char *pci) {
    void *h;
    unsigned card;
    if (!n->handle_by_pci || !n->index || n->handle_by_pci(pci, &h) != 0 || n->index(h, &card) != 0) return -1;
    return card < n->count ? (int)card : -1;
}

bool cz_nvml_read(struct cz_nvml_card *out, const struct cz_nvml *n, unsigned card) {
    void *h;
    struct memory memory;
    struct utilisation use;
    unsigned v;
    unsigned long long why = 0;
    *out = (struct cz_nvml_card){.utilisation = -1, .temperature = -1, .power_mw = -1, .sm_clock_mhz = -1};
    if (card >= n->count || n->handle(card, &h) != 0) return false;
    if (n->name(h, out->name, sizeof out->name) != 0 || n->memory(h, &memory) != 0) return false;
    out->memory_total = memory.total;
    out->memory_used = memory.used;
    if (n->utilisation && n->utilisation(h, &use) == 0) out->utilisation = (int)use.gpu;
    if (n->temperature && n->temperature(h, 0, &v) == 0) out->temperature = (int)v;
    if (n->power && n->power(h, &v) == 0) out->power_mw = (int)v;
    if (n->clock && n->clock(h, 1, &v) == 0) out->sm_clock_mhz = (int)v;
    if (n->throttle && n->throttle(h, &why) == 0) out->throttle = why & ~1ull; /* bit 0: idle */
    return true;
}

void cz_nvml_throttle_text(char *out, size_t size, uint64_t throttle) {
    static const struct {
        uint64_t bit;
        const char *text;
    } reason[] = {{0x2, "clocks set"}, {0x4, "power cap"}, {0x8, "hardware slowdown"}, {0x10, "sync boost"},
                  {0x20, "thermal"},   {0x40, "hot"},      {0x80, "power brake"},      {0x100, "display clocks"}};
    size_t at = 0;
    if (!size) return;
    out[0] = 0;
    for (size_t i = 0; i < sizeof reason / sizeof *reason && at < size; i++) {
        if (!(throttle & reason[i].bit)) continue;
        int n = snprintf(out + at, size - at, "%s%s", at ? ", " : "", reason[i].text);
        if (n < 0) return;
        at += (size_t)n;
    }
}
