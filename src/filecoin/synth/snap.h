#ifndef CUZK_FILECOIN_SYNTH_SNAP_H
#define CUZK_FILECOIN_SYNTH_SNAP_H

/*
 * Valid inputs of an empty sector update (SnapDeals) from a seed, without a sector. The challenges depend on
 * comm_r_new, so the whole new replica has to be known: the old replica is one value at every node and so is the new
 * data, which makes the new replica constant on each of the 2^h ranges that share a rho (spec/update-circuit.md §2).
 * All three trees then have few different nodes, and every partition is of the same sector.
 */

#include "base/bytes.h"
#include "base/thread.h"
#include "filecoin/c1.h"
#include "filecoin/registered.h"

struct cz_synth_snap_request {
    enum cz_registered_update proof;
    uint64_t seed;
};

struct cz_synth_snap {
    enum cz_registered_update proof;
    uint64_t seed;
    cz_node comm_r_old, comm_r_new, comm_d_new;
    uint32_t h;
    uint32_t num_partitions;
    struct cz_bytes *vanilla; /* one PartitionProof each, all partitions; they lie in `owned` */
    void *owned;
};

/**
 * Fills *out; the caller ends it with cz_synth_snap_done. Well under a second for any size; pool may be NULL. On
 * failure *out is untouched.
 */
CZ_MUST_CHECK enum cz_status cz_synth_snap_make(struct cz_synth_snap *out, const struct cz_synth_snap_request *request,
                                                struct cz_pool *pool, struct cz_error *err);
/** Accepts a zeroed struct; leaves it zeroed. */
void cz_synth_snap_done(struct cz_synth_snap *snap);

/** What a proof needs beside the vanilla files, as one JSON object (a NUL-terminated text of at most 1 KiB). */
void cz_synth_snap_json(char out[1024], const struct cz_synth_snap *snap);

#endif
