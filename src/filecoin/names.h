#ifndef CUZK_FILECOIN_NAMES_H
#define CUZK_FILECOIN_NAMES_H

/* Parameter file names and circuit ids (spec/fields-and-encodings.md §6, service.md §1). */

#include "filecoin/registered.h"

enum cz_circuit_kind {
    CZ_CIRCUIT_POREP,
    CZ_CIRCUIT_WINNING,
    CZ_CIRCUIT_WINDOW,
    CZ_CIRCUIT_UPDATE,
    CZ_CIRCUIT_UPDATE_POSEIDON
};

/** "v28-stacked-proof-of-replication-…-<hash>" without extension; `size` >= 256. */
CZ_MUST_CHECK enum cz_status cz_params_stem(char *out, size_t size, enum cz_circuit_kind kind,
                                            const struct cz_sector_info *sector);
/** "porep", "winning", "window", "update", "update-poseidon"; CZ_ERR_NOT_FOUND otherwise. */
CZ_MUST_CHECK enum cz_status cz_circuit_kind_parse(enum cz_circuit_kind *out, const char *name);
const char *cz_circuit_kind_name(enum cz_circuit_kind kind);
/** "porep-2k", "porep-32g", "wpost-32g", "winning-8m", "snap-64g" …; writes at most size bytes. */
CZ_MUST_CHECK enum cz_status cz_circuit_id(char *out, size_t size, enum cz_circuit_kind kind,
                                           const struct cz_sector_info *sector);
CZ_MUST_CHECK enum cz_status cz_circuit_id_parse(enum cz_circuit_kind *kind, const struct cz_sector_info **sector,
                                                 const char *id);

#endif
