#ifndef CUZK_COMPUTE_CUDA_NVML_H
#define CUZK_COMPUTE_CUDA_NVML_H

/*
 * What the driver's management library says of its cards. Opened with dlopen at run time: builds need nothing of it,
 * and without it only these numbers are missing.
 */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

struct cz_nvml;

struct cz_nvml_card {
    char name[96];
    uint64_t memory_total, memory_used;
    int utilisation, temperature; /* per cent, degrees Celsius; -1: not said */
    int power_mw;                 /* -1: not said */
    int sm_clock_mhz;             /* -1: not said */
    uint64_t throttle;            /* why clocks are held back, bits as NVML's; 0: they are not */
};

/** CZ_ERR_UNSUPPORTED, with the reason, when there is no library or it does not start. */
CZ_MUST_CHECK enum cz_status cz_nvml_open(struct cz_nvml **out, struct cz_error *err);
/** Accepts NULL. */
void cz_nvml_close(struct cz_nvml *nvml);
unsigned cz_nvml_count(const struct cz_nvml *nvml);
/** The card at a PCI address ("0000:65:00.0"; CUDA's order of cards may be another); -1: none, or not said. */
int cz_nvml_find(const struct cz_nvml *nvml, const char *pci);
/** False when the card does not answer. */
bool cz_nvml_read(struct cz_nvml_card *out, const struct cz_nvml *nvml, unsigned card);
/** The reasons in words, "" for none: "power cap, thermal". */
void cz_nvml_throttle_text(char *out, size_t size, uint64_t throttle);

#endif
