#include "field/cpu.h"

#include "field/field_int.h"

#if FIELD_X86_64
#include <cpuid.h>
#endif

struct cz_field_ops cz_field_ops = {cz_fr_mul_portable, cz_fr_sqr_portable, cz_fp_mul_portable, cz_fp_sqr_portable};
bool cz_field_ifma;
static enum cz_field_level current = CZ_FIELD_PORTABLE;

static const char *const level_names[] = {"portable", "adx", "ifma"};

enum cz_field_level cz_field_supported(void) {
#if FIELD_X86_64
    unsigned a, b = 0, c, d;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return CZ_FIELD_PORTABLE;
    if (!(b & bit_ADX) || !(b & bit_BMI2)) return CZ_FIELD_PORTABLE;
    __builtin_cpu_init();
    /* These also ask whether the operating system saves the registers. */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512ifma"))
        return CZ_FIELD_IFMA;
    return CZ_FIELD_ADX;
#else
    return CZ_FIELD_PORTABLE;
#endif
}

enum cz_field_level cz_field_current(void) {
    return current;
}

const char *cz_field_level_name(enum cz_field_level level) {
    return (unsigned)level <= CZ_FIELD_IFMA ? level_names[level] : "unknown";
}

enum cz_status cz_field_select(enum cz_field_level level) {
    if ((unsigned)level > CZ_FIELD_IFMA || level > cz_field_supported()) return CZ_ERR_UNSUPPORTED;
    struct cz_field_ops ops = {cz_fr_mul_portable, cz_fr_sqr_portable, cz_fp_mul_portable, cz_fp_sqr_portable};
#if FIELD_X86_64
    if (level >= CZ_FIELD_ADX) ops = (struct cz_field_ops){cz_fr_mul_adx, cz_fr_sqr_adx, cz_fp_mul_adx, cz_fp_sqr_adx};
#endif
    cz_field_ops = ops;
    cz_field_ifma = level == CZ_FIELD_IFMA;
    current = level;
    return CZ_OK;
}

/* A constructor, so that no product has to ask whether the choice was made. An unknown name changes nothing. */
__attribute__((constructor)) static void select_at_start(void) {
    enum cz_field_level level = cz_field_supported();
    const char *wanted = getenv("CUZK_FIELD");
    for (int i = 0; wanted && i < (int)level; i++)
        if (strcmp(wanted, level_names[i]) == 0) level = (enum cz_field_level)i;
    if (cz_field_select(level) != CZ_OK) current = CZ_FIELD_PORTABLE;
}
