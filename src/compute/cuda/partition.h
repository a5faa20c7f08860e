#ifndef CUZK_COMPUTE_CUDA_PARTITION_H
#define CUZK_COMPUTE_CUDA_PARTITION_H

/* What partition.c, srs.c and stream.c share: an SRS on the device and the blocks in which points travel. */

#include "compute/cuda/circuit.h"
#include "compute/cuda/device_cuda.h"
#include "compute/cuda/points.h"

/** A vector of the SRS: resident when the vram for residents has room, else streamed for every partition. */
struct cz_cuda_vector {
    enum cz_cuda_group group;
    const uint8_t *encoded; /* in the mapping */
    size_t n;
    void *d_point; /* NULL: streamed */
    void *d_pair;  /* sums of neighbours among the aux variables' bases, or NULL */
};

/** The scalars of one sum that are no bits, bases ascending. slot: an element's rank, or CZ_R1CS_INPUT and an input. */
struct cz_cuda_list {
    uint32_t *base; /* host, for the blocks' bounds */
    uint32_t *d_base, *d_slot;
    size_t n;
};

/** Which aux variables have a base; NULL d_mask: all. */
struct cz_cuda_density {
    uint64_t *mask; /* host; NULL: all */
    uint64_t *d_mask;
    uint32_t *d_before; /* set bits of the mask before each word; NULL when no vector has d_pair */
    size_t first;       /* bases of inputs before them */
};

enum { CZ_CUDA_SUM_L, CZ_CUDA_SUM_A, CZ_CUDA_SUM_B_G1, CZ_CUDA_SUM_B_G2, CZ_CUDA_SUMS_OF_BITS };

struct cz_cuda_srs {
    struct cz_srs base;
    struct cz_cuda_device *dev;
    struct cz_cuda_circuit circuit;
    struct cz_cuda_vector h, vector[CZ_CUDA_SUMS_OF_BITS];
    struct cz_cuda_list list[3]; /* L, A, B */
    struct cz_cuda_density density[3];
    uint32_t *d_h_index; /* which base belongs to a position of h */
    size_t host, device; /* bytes of each */
};

static inline unsigned cz_cuda_list_of(unsigned sum) {
    return sum < CZ_CUDA_SUM_B_G2 ? sum : CZ_CUDA_SUM_B_G1;
}

/** A piece of one vector: the bases [base0, base0 + bases) of the aux variables [aux0, aux0 + aux), aux0 % 64 = 0. */
struct cz_cuda_block {
    const struct cz_cuda_vector *vector;
    size_t aux0, aux, base0, bases, list0, list;
};

/**
 * Cuts `sum`'s vector: the block that begins at *aux0 with at most max bases, and moves *aux0. False at the end. max:
 * at least 64 more than the inputs have, whose bases come with the first block; SIZE_MAX: everything is one block.
 */
bool cz_cuda_block_next(struct cz_cuda_block *out, const struct cz_cuda_srs *srs, unsigned sum, size_t *aux0,
                        size_t *base0, size_t max);

/**
 * How many of n points an MSM takes at once in `room` bytes, with `beside` bytes for each of them: n, half of it, a
 * quarter, …; at least 1 where n is.
 */
size_t cz_cuda_partition_part(const struct cz_cuda_info *info, enum cz_cuda_group group, size_t n, size_t beside,
                              size_t room);
/**
 * The size of each of the two buffers of streamed points that leaves the sums their least in `room` bytes, that of
 * resident vectors, too; 0: there is no such size.
 */
size_t cz_cuda_partition_buffer(const struct cz_cuda_info *info, const struct cz_cuda_srs *srs, size_t room);

/**
 * n points from the mapping to d_to in device layout, on the worker's lanes (one upload a worker at a time) through
 * `pinned`. Not ordered after w->stream. Waits.
 */
CZ_MUST_CHECK enum cz_status cz_cuda_points_upload(struct cz_cuda_worker *w, uint8_t *pinned, size_t pinned_size,
                                                   enum cz_cuda_group group, void *d_to, const uint8_t *encoded,
                                                   size_t n);

/**
 * A thread that brings the blocks of streamed vectors in order, two buffers ahead of the sums. Blocks are asked for in
 * the same order as they are pushed.
 */
struct cz_cuda_feed;
CZ_MUST_CHECK enum cz_status cz_cuda_feed_start(struct cz_cuda_feed **out, struct cz_cuda_worker *w,
                                                const struct cz_cuda_srs *srs, size_t buffer_bytes);
/** The next block's points on the device; done with when the next call comes, or cz_cuda_feed_stop. */
CZ_MUST_CHECK enum cz_status cz_cuda_feed_take(void **d_point, struct cz_cuda_feed *feed);
/** Accepts NULL. Waits for the thread. */
void cz_cuda_feed_stop(struct cz_cuda_feed *feed);

#endif
