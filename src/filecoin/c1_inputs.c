/* Public inputs of a PoRep partition, derived from what a verifier has (spec/porep-circuit.md §5, §6). */

#include "filecoin/c1.h"
#include "filecoin/c1_check.h"
#include "filecoin/graph.h"

#define COMMON_INPUTS 3 /* replica_id, comm_d, comm_r */
#define INPUTS_PER_CHALLENGE (4 + CZ_GRAPH_BASE_PARENTS + CZ_GRAPH_EXP_PARENTS)

enum cz_status cz_c1_derive_challenges(uint64_t *out, size_t count, const struct cz_c1 *c1, uint32_t partition,
                                       struct cz_error *err) {
    if (partition >= c1->num_partitions)
        return cz_error_set(err, CZ_ERR_ARGUMENT, "partition %u of %u", partition, c1->num_partitions);
    if (count != c1->challenges_per_partition)
        return cz_error_set(err, CZ_ERR_LENGTH, "room for %zu challenges, expected %u", count,
                            c1->challenges_per_partition);
    const struct cz_challenge_seed seed = {
        .version = cz_registered_seal_version(c1->proof),
        .nodes = c1->sector_size / 32,
        .replica_id = c1->replica_id,
        .comm_r = c1->comm_r,
        .seed = c1->seed,
    };
    return cz_graph_challenges(out, partition * c1->challenges_per_partition, c1->challenges_per_partition, &seed, err);
}

enum cz_status cz_c1_public_inputs(struct cz_fr *out, size_t count, const struct cz_c1 *c1, uint32_t partition,
                                   struct cz_error *err) {
    const size_t challenges = c1->challenges_per_partition;
    uint64_t challenge[CZ_C1_MAX_CHALLENGES] = {0};
    if (count != COMMON_INPUTS + INPUTS_PER_CHALLENGE * challenges || challenges > CZ_C1_MAX_CHALLENGES)
        return cz_error_set(err, CZ_ERR_LENGTH, "room for %zu public inputs, expected %zu", count,
                            COMMON_INPUTS + INPUTS_PER_CHALLENGE * challenges);
    enum cz_status status = cz_c1_derive_challenges(challenge, challenges, c1, partition, err);
    if (status != CZ_OK) return status;

    const struct {
        const char *name;
        const uint8_t *bytes;
    } common[COMMON_INPUTS] = {{"replica_id", c1->replica_id}, {"comm_d", c1->comm_d}, {"comm_r", c1->comm_r}};
    for (unsigned i = 0; i < COMMON_INPUTS; i++)
        if ((status = cz_fr_from_le(out++, common[i].bytes)) != CZ_OK)
            return cz_error_set(err, status, "%s: not below the field's modulus", common[i].name);

    struct cz_graph graph;
    cz_graph_init_seal(&graph, c1->proof);
    for (size_t i = 0; i < challenges; i++) {
        uint32_t parent[CZ_GRAPH_BASE_PARENTS + CZ_GRAPH_EXP_PARENTS];
        cz_graph_base_parents(parent, &graph, challenge[i]);
        status = cz_graph_exp_parents(parent + CZ_GRAPH_BASE_PARENTS, &graph, challenge[i], err);
        if (status != CZ_OK) return status;
        cz_fr_from_u64(out++, challenge[i]);
        for (unsigned j = 0; j < sizeof parent / sizeof *parent; j++) cz_fr_from_u64(out++, parent[j]);
        for (unsigned j = 0; j < 3; j++) cz_fr_from_u64(out++, challenge[i]);
    }
    return CZ_OK;
}
