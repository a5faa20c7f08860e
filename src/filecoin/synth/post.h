#ifndef CUZK_FILECOIN_SYNTH_POST_H
#define CUZK_FILECOIN_SYNTH_POST_H

/*
 * Valid inputs of winning and window PoSt from a seed, without a sector: only the challenged leaves of tree R exist,
 * all others of a sector are one value, so that a subtree without a challenge is known from its height alone. The
 * challenges do not depend on the trees (spec/post-circuits.md §3), so they come first. Every sector has its own comm_c
 * and tree. The same seed gives the same bytes on every machine and on any number of threads.
 */

#include "base/bytes.h"
#include "base/thread.h"
#include "filecoin/c1.h"
#include "filecoin/registered.h"

/** Most sectors of one call: the commands read no more vanilla proofs. */
#define CZ_SYNTH_POST_MAX_SECTORS (1u << 16)

struct cz_synth_post_request {
    enum cz_registered_post proof;
    uint64_t seed;
    uint64_t miner;       /* actor id, for prover_id */
    uint32_t num_sectors; /* winning: 1. Window: K sectors fill a partition, the last one is padded by the prover */
    /** Window: the number of the first partition within its deadline; shifts the challenges of V1. Winning: 0. */
    uint32_t first_partition;
};

struct cz_synth_post {
    enum cz_registered_post proof;
    uint64_t seed;
    cz_node randomness, prover_id;
    uint32_t num_sectors, first_partition;
    struct cz_bytes *vanilla; /* num_sectors blobs, ascending by sector number; they lie in `owned` */
    void *owned;
};

/**
 * Fills *out; the caller ends it with cz_synth_post_done. About 5 ms for each window sector of 32 GiB and thread; pool
 * may be NULL. CZ_ERR_ARGUMENT or CZ_ERR_LIMIT say what cannot be made; *out is untouched then.
 */
CZ_MUST_CHECK enum cz_status cz_synth_post_make(struct cz_synth_post *out, const struct cz_synth_post_request *request,
                                                struct cz_pool *pool, struct cz_error *err);
/** Accepts a zeroed struct; leaves it zeroed. */
void cz_synth_post_done(struct cz_synth_post *post);

/** What a proof needs beside the vanilla files, as one JSON object (a NUL-terminated text of at most 1 KiB). */
void cz_synth_post_json(char out[1024], const struct cz_synth_post *post);

#endif
