#ifndef CUZK_FIELD_CPU_H
#define CUZK_FIELD_CPU_H

/*
 * Which arithmetic runs: chosen once, at the first use or by cz_field_select, from what the processor has.
 * Tests run every level that the machine supports and compare them.
 */

#include "base/status.h"

enum cz_field_level {
    CZ_FIELD_PORTABLE, /* C with 128-bit products */
    CZ_FIELD_ADX,      /* x86-64 with mulx, adcx, adox */
    CZ_FIELD_IFMA,     /* ADX for single elements, AVX-512 IFMA for batches of eight */
};

/** The best level that this processor supports. */
enum cz_field_level cz_field_supported(void);
/** The level in use. CUZK_FIELD=portable|adx|ifma in the environment lowers it. */
enum cz_field_level cz_field_current(void);
/** Switches the level; CZ_ERR_UNSUPPORTED when the processor lacks it. Not while other threads compute. */
CZ_MUST_CHECK enum cz_status cz_field_select(enum cz_field_level level);
const char *cz_field_level_name(enum cz_field_level level);

#endif
