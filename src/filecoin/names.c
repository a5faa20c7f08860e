#include "filecoin/names.h"

#include "base/bytes.h"
#include "hash/sha256.h"

#include <inttypes.h>
#include <stdio.h>

#define WINNING_SECTORS 66
#define WINDOW_CHALLENGES 10

static const struct {
    const char *name, *id_prefix;
} KIND[] = {
    [CZ_CIRCUIT_POREP] = {"porep", "porep-"},
    [CZ_CIRCUIT_WINNING] = {"winning", "winning-"},
    [CZ_CIRCUIT_WINDOW] = {"window", "wpost-"},
    [CZ_CIRCUIT_UPDATE] = {"update", "snap-"},
    [CZ_CIRCUIT_UPDATE_POSEIDON] = {"update-poseidon", "snap-poseidon-"},
};
#define NUM_KINDS (sizeof KIND / sizeof *KIND)

static unsigned window_sectors(const struct cz_sector_info *sector) {
    if (sector->nodes_log2 == 30) return 2349;
    if (sector->nodes_log2 == 31) return 2300;
    return 2;
}

/* The string whose SHA-256 is in the file's name. Always fits 512 bytes. */
static int format_identifier(char *out, size_t size, enum cz_circuit_kind kind, const struct cz_sector_info *sector,
                             const char *tree) {
    const uint64_t nodes = UINT64_C(1) << sector->nodes_log2;
    switch (kind) {
    case CZ_CIRCUIT_POREP:
        return snprintf(out, size,
                        "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{expansion_degree: 8 "
                        "base_graph: drgraph::BucketGraph{size: %" PRIu64 "; degree: 6; hasher: poseidon_hasher} }, "
                        "challenges: LayerChallenges { layers: %u, max_count: %u }, tree: %s }",
                        nodes, sector->layers, sector->challenges, tree);
    case CZ_CIRCUIT_WINNING:
    case CZ_CIRCUIT_WINDOW:
        return snprintf(out, size,
                        "FallbackPoSt::PublicParams{sector_size: %" PRIu64 ", challenge_count: %u, sector_count: %u}",
                        sector->size, kind == CZ_CIRCUIT_WINNING ? 1 : WINDOW_CHALLENGES,
                        kind == CZ_CIRCUIT_WINNING ? WINNING_SECTORS : window_sectors(sector));
    case CZ_CIRCUIT_UPDATE:
    case CZ_CIRCUIT_UPDATE_POSEIDON:
        return snprintf(out, size, "empty_sector_update::PublicParams{ sector_nodes: %" PRIu64 " }", nodes);
    }
    return -1;
}

enum cz_status cz_params_stem(char *out, size_t size, enum cz_circuit_kind kind, const struct cz_sector_info *sector) {
    if ((unsigned)kind >= NUM_KINDS || !sector) return CZ_ERR_ARGUMENT;
    char tree[64], identifier[512], stem[256], hex[65];
    uint8_t digest[32];
    snprintf(tree, sizeof tree, "merkletree-poseidon_hasher-8-%u-%u", sector->sub_arity, sector->top_arity);
    int len = format_identifier(identifier, sizeof identifier, kind, sector, tree);
    if (len < 0 || (size_t)len >= sizeof identifier) return CZ_ERR_INTERNAL;
    cz_sha256_bytes(digest, identifier, (size_t)len);
    cz_hex_encode(hex, digest, sizeof digest);

    static const char *const prefix[NUM_KINDS] = {
        [CZ_CIRCUIT_POREP] = "stacked-proof-of-replication-",
        [CZ_CIRCUIT_WINNING] = "proof-of-spacetime-fallback-",
        [CZ_CIRCUIT_WINDOW] = "proof-of-spacetime-fallback-",
        [CZ_CIRCUIT_UPDATE] = "empty-sector-update-",
        [CZ_CIRCUIT_UPDATE_POSEIDON] = "empty-sector-update-poseidon-",
    };
    len = snprintf(stem, sizeof stem, "v28-%s%s%s-%s", prefix[kind], tree,
                   kind == CZ_CIRCUIT_POREP ? "-sha256_hasher" : "", hex);
    if (len < 0 || (size_t)len >= sizeof stem) return CZ_ERR_INTERNAL;
    if ((size_t)len >= size) return CZ_ERR_LENGTH;
    memcpy(out, stem, (size_t)len + 1);
    return CZ_OK;
}

enum cz_status cz_circuit_kind_parse(enum cz_circuit_kind *out, const char *name) {
    for (unsigned i = 0; i < NUM_KINDS; i++)
        if (strcmp(KIND[i].name, name) == 0) {
            *out = (enum cz_circuit_kind)i;
            return CZ_OK;
        }
    return CZ_ERR_NOT_FOUND;
}

const char *cz_circuit_kind_name(enum cz_circuit_kind kind) {
    return (unsigned)kind < NUM_KINDS ? KIND[kind].name : "unknown";
}

enum cz_status cz_circuit_id(char *out, size_t size, enum cz_circuit_kind kind, const struct cz_sector_info *sector) {
    if ((unsigned)kind >= NUM_KINDS || !sector) return CZ_ERR_ARGUMENT;
    static const char unit[] = {'k', 'm', 'g'};
    uint64_t amount = sector->size >> 10;
    unsigned u = 0;
    for (; amount >= 1024 && u + 1 < sizeof unit; u++) amount >>= 10;
    char id[64];
    int len = snprintf(id, sizeof id, "%s%" PRIu64 "%c", KIND[kind].id_prefix, amount, unit[u]);
    if (len < 0 || (size_t)len >= sizeof id) return CZ_ERR_INTERNAL;
    if ((size_t)len >= size) return CZ_ERR_LENGTH;
    memcpy(out, id, (size_t)len + 1);
    return CZ_OK;
}

enum cz_status cz_circuit_id_parse(enum cz_circuit_kind *kind, const struct cz_sector_info **sector, const char *id) {
    for (unsigned k = 0; k < NUM_KINDS; k++)
        for (uint32_t s = 0; s < CZ_NUM_SECTORS; s++) {
            char name[64];
            enum cz_status status = cz_circuit_id(name, sizeof name, (enum cz_circuit_kind)k, &CZ_SECTORS[s]);
            if (status != CZ_OK) return status;
            if (strcmp(name, id) == 0) {
                *kind = (enum cz_circuit_kind)k;
                *sector = &CZ_SECTORS[s];
                return CZ_OK;
            }
        }
    return CZ_ERR_NOT_FOUND;
}
