#ifndef CUZK_FILECOIN_SYNTH_POREP_H
#define CUZK_FILECOIN_SYNTH_POREP_H

/*
 * A valid C1 output from a seed, without a sector. The data are zeros, as in a sector without deals. Interactive
 * challenges follow from replica_id and seed (spec/porep-circuit.md §5), not from the trees, so they come first: only
 * the challenged nodes and their parents have columns. A challenged node's labels are computed, a parent's that is not
 * challenged itself are random; all other leaves of trees C and R are one value each. The same seed gives the same
 * bytes on every machine and on any number of threads.
 */

#include "base/thread.h"
#include "filecoin/c1.h"
#include "filecoin/registered.h"

struct cz_synth_porep_request {
    enum cz_registered_seal proof; /* V1 or V1_1 */
    uint64_t seed;
    uint64_t miner; /* actor id, for prover_id */
};

/**
 * The C1 output of an invented sector, whose number is in it; the caller ends it with cz_c1_destroy. About 0.8 s of
 * processor time for 32 GiB; pool may be NULL. CZ_ERR_UNSUPPORTED for synthetic and non-interactive proofs: their
 * challenges depend on comm_r, so that the whole sector would have to be there. *out is untouched on failure.
 */
CZ_MUST_CHECK enum cz_status cz_synth_porep_make(struct cz_c1 **out, const struct cz_synth_porep_request *request,
                                                 struct cz_pool *pool, struct cz_error *err);

/**
 * The JSON that the reference's seal commit phase 1 would write, gzipped when the path ends in ".gz". What struct cz_c1
 * leaves out (the labelling proofs' parents) is taken from the parents' columns, which is right for every valid C1
 * output. The file shows only when it is whole.
 */
CZ_MUST_CHECK enum cz_status cz_synth_porep_write(const char *path, const struct cz_c1 *c1, struct cz_error *err);

#endif
