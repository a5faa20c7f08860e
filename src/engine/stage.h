#ifndef CUZK_ENGINE_STAGE_H
#define CUZK_ENGINE_STAGE_H

/*
 * What the engine schedules, as a table of functions: the prover of prover.c, or a stand-in in tests. Every function
 * may be called from several threads at once, and without the engine's lock, unless it says otherwise.
 */

#include "base/status.h"
#include "filecoin/input.h"

#include <stddef.h>
#include <stdint.h>

#define CZ_STAGE_PROOF_BYTES 192

/** Host bytes that one partition of a circuit takes in each stage. */
struct cz_stage_plan {
    size_t witness; /* from the start of assign to the end of compute */
    size_t compute; /* during compute, beside the witness */
};

#define CZ_NO_LANE (-1)

/** Where the engine calls compute from, and what it reserved for the call. */
struct cz_stage_slot {
    unsigned worker; /* below CZ_ENGINE_MAX_WORKERS */
    size_t bytes;    /* the plan's `compute` of then */
    int lane;        /* taken by `lane`, given back by the call; CZ_NO_LANE: none */
    /* For the timeline. */
    const char *job; /* NULL: none */
    uint32_t partition;
};

/** One device, as status calls and metrics show it. */
struct cz_device_status {
    char name[32];  /* "cpu", "cuda:0" */
    char model[96]; /* "NVIDIA H200"; "" for the CPU */
    uint32_t ordinal;
    bool gpu, lost;
    char reason[256];                                     /* why it is lost */
    uint64_t workers;                                     /* bit w: compute worker w is on it */
    uint32_t capacity;                                    /* partitions at once */
    uint64_t vram_total, vram_free, vram_taken, vram_srs; /* taken at the start; of that, parameters */
    uint64_t pinned;                                      /* host bytes for copies */
    uint64_t partitions, failures;
    int utilisation, temperature, power_mw; /* per cent, degrees Celsius; -1: not known */
    char throttle[96];                      /* why clocks are held back; "" */
};

struct cz_stage_ops {
    /** Builds the circuit and its plan. Called once per circuit; may take a second. CZ_ERR_UNSUPPORTED: no such
     * circuit. */
    enum cz_status (*circuit_open)(void *ctx, void **circuit, struct cz_stage_plan *plan, enum cz_circuit_kind kind,
                                   const struct cz_sector_info *sector, struct cz_error *err);
    void (*circuit_close)(void *ctx, void *circuit);

    /** Bytes to reserve before srs_load. CZ_ERR_NOT_FOUND names the missing file. */
    enum cz_status (*srs_bytes)(void *ctx, void *circuit, size_t *bytes, struct cz_error *err);
    /**
     * Loads; *bytes is what it takes now. Never two at once for one circuit. CZ_ERR_FULL: when another circuit's SRS is
     * unloaded it may work.
     */
    enum cz_status (*srs_load)(void *ctx, void *circuit, size_t *bytes, struct cz_error *err);
    void (*srs_unload)(void *ctx, void *circuit);

    size_t (*input_bytes)(void *ctx, const struct cz_input *input);
    /** Native check of the vanilla proofs; the error says sector, challenge and reason. */
    enum cz_status (*input_check)(void *ctx, const struct cz_input *input, struct cz_error *err);
    void (*input_free)(void *ctx, struct cz_input *input);

    /** Makes the witness: a new *work. The SRS is loaded in this and the following. */
    enum cz_status (*assign)(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition, void **work,
                             struct cz_error *err);
    /**
     * Uses a device, and has freed the witness on return, whether it worked or not. CZ_ERR_DEVICE: no device is left
     * that does with slot->bytes; `plan` then says what it takes now.
     */
    enum cz_status (*compute)(void *ctx, void *circuit, void *work, const struct cz_stage_slot *slot,
                              struct cz_error *err);
    /**
     * Optional. Takes a place on a device for one call of compute for this circuit, whose SRS is loaded; CZ_NO_LANE:
     * there is none before another such call returns. These two alone are called with the engine's lock held: quick.
     */
    int (*lane)(void *ctx, void *circuit, unsigned worker);
    /** Gives back one that was not used. */
    void (*lane_free)(void *ctx, void *circuit, unsigned worker, int lane);
    /**
     * Optional. The plan of a circuit as things are: devices may have been lost since circuit_open. Also while its SRS
     * is loaded or unloaded.
     */
    void (*plan)(void *ctx, void *circuit, struct cz_stage_plan *plan);
    /** Optional. Fills at most max; how many there are. Never waits for work. */
    uint32_t (*devices)(void *ctx, struct cz_device_status *out, uint32_t max);
    /** Assembles the proof. */
    enum cz_status (*finish)(void *ctx, void *circuit, void *work, uint8_t proof[CZ_STAGE_PROOF_BYTES],
                             struct cz_error *err);
    /** Checks a proof as a verifier does: from its bytes and public inputs derived from the input. */
    enum cz_status (*verify)(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition,
                             const uint8_t proof[CZ_STAGE_PROOF_BYTES], bool *valid, struct cz_error *err);
    /** Frees what assign made, at any stage. Accepts NULL. */
    void (*work_free)(void *ctx, void *work);

    /** Optional. Finds out why no valid proof comes out: fills `text`, within seconds. One call at a time. */
    void (*explain)(void *ctx, void *circuit, const struct cz_input *input, uint32_t partition, char *text,
                    size_t size);
};

#endif
