#include "filecoin/registered.h"

#include "base/bytes.h"

#include <strings.h>

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

/* size, name, log2 nodes, base levels, sub, top, layers, partitions, challenges, NI partitions, NI challenges */
const struct cz_sector_info CZ_SECTORS[] = {
    {2 * KIB, "2KiB", 6, 2, 0, 0, 2, 1, 2, 13, 2},         {4 * KIB, "4KiB", 7, 2, 2, 0, 2, 1, 2, 13, 2},
    {16 * KIB, "16KiB", 9, 2, 8, 0, 2, 1, 2, 13, 2},       {32 * KIB, "32KiB", 10, 2, 8, 2, 2, 1, 2, 13, 2},
    {8 * MIB, "8MiB", 18, 6, 0, 0, 2, 1, 2, 13, 2},        {16 * MIB, "16MiB", 19, 6, 2, 0, 2, 1, 2, 13, 2},
    {512 * MIB, "512MiB", 24, 8, 0, 0, 2, 1, 2, 13, 2},    {1 * GIB, "1GiB", 25, 8, 2, 0, 2, 1, 2, 13, 2},
    {32 * GIB, "32GiB", 30, 9, 8, 0, 11, 10, 18, 126, 18}, {64 * GIB, "64GiB", 31, 9, 8, 2, 11, 10, 18, 126, 18},
};
const uint32_t CZ_NUM_SECTORS = sizeof CZ_SECTORS / sizeof *CZ_SECTORS;

const struct cz_sector_info *cz_sector_by_size(uint64_t bytes) {
    for (uint32_t i = 0; i < CZ_NUM_SECTORS; i++)
        if (CZ_SECTORS[i].size == bytes) return &CZ_SECTORS[i];
    return NULL;
}

const struct cz_sector_info *cz_sector_by_name(const char *name) {
    for (uint32_t i = 0; i < CZ_NUM_SECTORS; i++)
        if (strcasecmp(CZ_SECTORS[i].name, name) == 0) return &CZ_SECTORS[i];
    return NULL;
}

/* The five sizes that have registered proofs, in the order of their numbers. */
#define SIZES 5
static const uint64_t SIZE_OF[SIZES] = {2 * KIB, 8 * MIB, 512 * MIB, 32 * GIB, 64 * GIB};

#define NAMES_OF_VERSION(suffix)                                                                                       \
    "StackedDrg2KiB" suffix, "StackedDrg8MiB" suffix, "StackedDrg512MiB" suffix, "StackedDrg32GiB" suffix,             \
        "StackedDrg64GiB" suffix
static const char *const NAME_OF[CZ_SEAL_COUNT] = {
    NAMES_OF_VERSION("V1"),
    NAMES_OF_VERSION("V1_1"),
    NAMES_OF_VERSION("V1_1_Feat_SyntheticPoRep"),
    NAMES_OF_VERSION("V1_2_Feat_NonInteractivePoRep"),
};

enum cz_status cz_registered_seal_parse(enum cz_registered_seal *out, const char *name, size_t len) {
    for (unsigned i = 0; i < CZ_SEAL_COUNT; i++)
        if (strlen(NAME_OF[i]) == len && memcmp(NAME_OF[i], name, len) == 0) {
            *out = (enum cz_registered_seal)i;
            return CZ_OK;
        }
    return CZ_ERR_FORMAT;
}

const char *cz_registered_seal_name(enum cz_registered_seal proof) {
    return (unsigned)proof < CZ_SEAL_COUNT ? NAME_OF[proof] : "unknown";
}

enum cz_seal_version cz_registered_seal_version(enum cz_registered_seal proof) {
    return (enum cz_seal_version)((unsigned)proof / SIZES);
}

const struct cz_sector_info *cz_registered_seal_sector(enum cz_registered_seal proof) {
    return cz_sector_by_size(SIZE_OF[(unsigned)proof % SIZES]);
}

void cz_registered_seal_porep_id(uint8_t out[32], enum cz_registered_seal proof) {
    memset(out, 0, 32);
    cz_store_le64(out, (uint64_t)proof);
}

#define POST_NAMES(kind, suffix)                                                                                       \
    "StackedDrg" kind "2KiB" suffix, "StackedDrg" kind "8MiB" suffix, "StackedDrg" kind "512MiB" suffix,               \
        "StackedDrg" kind "32GiB" suffix, "StackedDrg" kind "64GiB" suffix
static const char *const POST_NAME[CZ_REGISTERED_POST_COUNT] = {
    POST_NAMES("Winning", "V1"),
    POST_NAMES("Window", "V1"),
    POST_NAMES("Window", "V1_2"),
};
static const char *const POST_GO_NAME[CZ_REGISTERED_POST_COUNT] = {
    POST_NAMES("Winning", "V1"),
    POST_NAMES("Window", "V1"),
    POST_NAMES("Window", "V1_1"),
};

enum cz_status cz_registered_post_parse(enum cz_registered_post *out, const char *name, size_t len) {
    for (unsigned i = 0; i < CZ_REGISTERED_POST_COUNT; i++)
        for (unsigned go = 0; go < 2; go++) {
            const char *known = go ? POST_GO_NAME[i] : POST_NAME[i];
            if (strlen(known) == len && memcmp(known, name, len) == 0) {
                *out = (enum cz_registered_post)i;
                return CZ_OK;
            }
        }
    return CZ_ERR_FORMAT;
}

const char *cz_registered_post_name(enum cz_registered_post proof) {
    return (unsigned)proof < CZ_REGISTERED_POST_COUNT ? POST_NAME[proof] : "unknown";
}

const char *cz_registered_post_go_name(enum cz_registered_post proof) {
    return (unsigned)proof < CZ_REGISTERED_POST_COUNT ? POST_GO_NAME[proof] : "unknown";
}

bool cz_registered_post_is_winning(enum cz_registered_post proof) {
    return (unsigned)proof / SIZES == 0;
}

bool cz_registered_post_is_v1_2(enum cz_registered_post proof) {
    return (unsigned)proof / SIZES == 2;
}

const struct cz_sector_info *cz_registered_post_sector(enum cz_registered_post proof) {
    return (unsigned)proof < CZ_REGISTERED_POST_COUNT ? cz_sector_by_size(SIZE_OF[(unsigned)proof % SIZES]) : NULL;
}

void cz_registered_prover_id(uint8_t out[32], uint64_t miner) {
    memset(out, 0, 32);
    for (unsigned i = 0;; i++, miner >>= 7) {
        out[i] = miner & 127;
        if (miner < 128) return;
        out[i] |= 128;
    }
}

/* The names are those of seal proofs 0 to 4. */
enum cz_status cz_registered_update_parse(enum cz_registered_update *out, const char *name, size_t len) {
    for (unsigned i = 0; i < CZ_REGISTERED_UPDATE_COUNT; i++)
        if (strlen(NAME_OF[i]) == len && memcmp(NAME_OF[i], name, len) == 0) {
            *out = (enum cz_registered_update)i;
            return CZ_OK;
        }
    return CZ_ERR_FORMAT;
}

const char *cz_registered_update_name(enum cz_registered_update proof) {
    return (unsigned)proof < CZ_REGISTERED_UPDATE_COUNT ? NAME_OF[proof] : "unknown";
}

const struct cz_sector_info *cz_registered_update_sector(enum cz_registered_update proof) {
    return (unsigned)proof < CZ_REGISTERED_UPDATE_COUNT ? cz_sector_by_size(SIZE_OF[proof]) : NULL;
}
