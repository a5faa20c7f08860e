#ifndef CUZK_ENGINE_INTAKE_H
#define CUZK_ENGINE_INTAKE_H

/* From the fields of a client's request to a job's input: identity, validation, parsing. */

#include "base/bytes.h"
#include "engine/engine.h"

/** The fields of SubmitProofRequest (spec/service.md §1), with its numbers. Everything is borrowed. */
struct cz_intake {
    const char *request_id;
    int proof_kind;            /* 1 PoRep, 2 SnapDeals, 3 window, 4 winning */
    int priority;              /* 0 … 4 */
    uint64_t sector_size;      /* 0: not given */
    uint64_t registered_proof; /* 0: not given, or the first 2 KiB proof: window PoSt alone needs it */
    uint64_t sector_number, miner_id;
    struct cz_bytes vanilla_proof;
    const struct cz_bytes *vanilla_proofs;
    size_t num_vanilla_proofs;
    struct cz_bytes randomness;
    struct cz_bytes comm_r_old, comm_r_new, comm_d_new;
    uint32_t partition_index;
};

/** Checks numbers and presence, nothing that needs parsing. Errors name the field. */
CZ_MUST_CHECK enum cz_status cz_intake_check(const struct cz_intake *in, struct cz_error *err);

/** SHA-256 over every field that the proof depends on, that is all but request_id and priority. */
CZ_MUST_CHECK enum cz_status cz_intake_digest(uint8_t out[32], const struct cz_intake *in);

/**
 * Parses the input and checks it against the other fields. Fills `out` (its request_id borrowed from `in`) for
 * cz_engine_submit. CZ_ERR_UNSUPPORTED for non-interactive PoRep.
 *
 * PoSt: vanilla_proofs has a FallbackPoStSectorProof a sector, or vanilla_proof holds the only one; window wants the
 * sectors of one partition and its registered_proof (go-state-types' number: 5 to 9 version 1, 10 to 14 the one that is
 * V1_1 there and V1_2 in the reference). SnapDeals: a PartitionProof a partition, all of the sector's. The input keeps
 * copies of them.
 */
CZ_MUST_CHECK enum cz_status cz_intake_parse(struct cz_engine_request *out, const struct cz_intake *in,
                                             struct cz_error *err);

#endif
