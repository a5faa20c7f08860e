#ifndef CUZK_FILECOIN_REGISTERED_H
#define CUZK_FILECOIN_REGISTERED_H

/* Registered proofs, sector sizes and the constants that follow from them (spec/porep-circuit.md §1, post-circuits.md
 * §6). */

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

/** RegisteredSealProof numbers: 5·version + size, sizes in the order 2 KiB, 8 MiB, 512 MiB, 32 GiB, 64 GiB. */
enum cz_registered_seal { CZ_SEAL_2KIB_V1 = 0, CZ_SEAL_COUNT = 20 };

enum cz_seal_version { CZ_SEAL_V1, CZ_SEAL_V1_1, CZ_SEAL_SYNTHETIC, CZ_SEAL_NON_INTERACTIVE };

/** Shape of trees C and R: base levels of 8, then at most one sub and one top level (0: absent). */
struct cz_sector_info {
    uint64_t size;    /* bytes */
    const char *name; /* "2KiB" */
    uint32_t nodes_log2;
    uint32_t base_levels, sub_arity, top_arity;
    uint32_t layers;
    uint32_t partitions, challenges; /* per partition */
    uint32_t ni_partitions, ni_challenges;
};

/** Every sector size 2 KiB … 64 GiB that the reference has circuits for, ascending. */
extern const struct cz_sector_info CZ_SECTORS[];
extern const uint32_t CZ_NUM_SECTORS;

/** NULL when there is no such size. */
const struct cz_sector_info *cz_sector_by_size(uint64_t bytes);
/** "2KiB", "32gib" …, any case; NULL when unknown. */
const struct cz_sector_info *cz_sector_by_name(const char *name);

/** "StackedDrg2KiBV1_1_Feat_SyntheticPoRep" …; CZ_ERR_FORMAT when unknown. */
CZ_MUST_CHECK enum cz_status cz_registered_seal_parse(enum cz_registered_seal *out, const char *name, size_t len);
const char *cz_registered_seal_name(enum cz_registered_seal proof);
enum cz_seal_version cz_registered_seal_version(enum cz_registered_seal proof);
const struct cz_sector_info *cz_registered_seal_sector(enum cz_registered_seal proof);
/** LE u64 number ‖ 24 zero bytes. */
void cz_registered_seal_porep_id(uint8_t out[32], enum cz_registered_seal proof);

/** A miner's prover id: its actor id as unsigned LEB128, zero padded (1000: e8 07 00 …). */
void cz_registered_prover_id(uint8_t out[32], uint64_t miner);

/**
 * RegisteredPoStProof numbers: 5·group + size, in the same order of sizes. Groups: winning V1, window V1, window V1_2
 * (which the chain's own types call V1_1).
 */
enum cz_registered_post { CZ_REGISTERED_POST_2KIB_WINNING = 0, CZ_REGISTERED_POST_COUNT = 15 };

/** "StackedDrgWindow32GiBV1_2" or, as go-state-types has it, "StackedDrgWindow32GiBV1_1"; CZ_ERR_FORMAT when unknown.
 */
CZ_MUST_CHECK enum cz_status cz_registered_post_parse(enum cz_registered_post *out, const char *name, size_t len);
/** The name in rust-filecoin-proofs-api, and the one in go-state-types. */
const char *cz_registered_post_name(enum cz_registered_post proof);
const char *cz_registered_post_go_name(enum cz_registered_post proof);
bool cz_registered_post_is_winning(enum cz_registered_post proof);
/** API version 1.2: a challenge's index counts within its sector, not over the whole proof. */
bool cz_registered_post_is_v1_2(enum cz_registered_post proof);
/** NULL when proof is no number of the table. */
const struct cz_sector_info *cz_registered_post_sector(enum cz_registered_post proof);

/** RegisteredUpdateProof numbers: the size's place in the same order. */
enum cz_registered_update { CZ_REGISTERED_UPDATE_2KIB_V1 = 0, CZ_REGISTERED_UPDATE_COUNT = 5 };

/** "StackedDrg32GiBV1"; CZ_ERR_FORMAT when unknown. */
CZ_MUST_CHECK enum cz_status cz_registered_update_parse(enum cz_registered_update *out, const char *name, size_t len);
const char *cz_registered_update_name(enum cz_registered_update proof);
/** NULL when proof is no number of the table. */
const struct cz_sector_info *cz_registered_update_sector(enum cz_registered_update proof);

#endif
