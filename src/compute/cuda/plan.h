#ifndef CUZK_COMPUTE_CUDA_PLAN_H
#define CUZK_COMPUTE_CUDA_PLAN_H

/*
 * How a circuit's proving divides a card's memory: what is resident, what is streamed for every partition, what a
 * worker needs. Plain C without CUDA, so that it can be printed and tested anywhere; the device follows the same order.
 */

#include "base/status.h"
#include "r1cs/r1cs.h"

/** Taken from what is free: the driver's own and the context. */
#define CZ_GPU_PLAN_RESERVE ((size_t)512 << 20)
/** What is taken of a card at the most: a reference to a point is 31 bits that count 96 bytes each (add.h). */
#define CZ_GPU_PLAN_MOST ((size_t)192 << 30)

enum cz_gpu_place { CZ_GPU_RESIDENT, CZ_GPU_STREAMED, CZ_GPU_LEFT_OUT };

struct cz_gpu_plan_item {
    const char *name;
    size_t bytes;
    enum cz_gpu_place place;
};

#define CZ_GPU_PLAN_ITEMS 14

struct cz_gpu_plan {
    unsigned log_domain, workers;
    size_t vram;
    struct cz_gpu_plan_item item[CZ_GPU_PLAN_ITEMS]; /* in the order in which they get room */
    size_t num_items;
    size_t residents, streamed; /* bytes; streamed: read by every partition */
    size_t worker;              /* of each worker */
    size_t witness, vectors;    /* of a worker while h is made: the witness, and a, b, c */
    size_t sums_least;          /* of a worker while sums are formed, at the least: h, a bit sum's list, buffers */
    size_t peak;                /* of the whole card */
};

/**
 * workers from 1 to 8. CZ_ERR_BUDGET when the worker's least does not fit; the plan is filled all the same, with what
 * it would take as peak.
 */
CZ_MUST_CHECK enum cz_status cz_gpu_plan_make(struct cz_gpu_plan *out, const struct cz_r1cs *r1cs, size_t vram,
                                              unsigned workers, struct cz_error *err);

#endif
