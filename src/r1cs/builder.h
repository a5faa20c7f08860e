#ifndef CUZK_R1CS_BUILDER_H
#define CUZK_R1CS_BUILDER_H

/*
 * Builds a cz_r1cs: a circuit places gadgets in order of synthesis; the first placement of a gadget with a given
 * pattern of constant inputs records its template, every later one only adds an instance.
 *
 * Nothing here returns a status: the first failure (memory, a limit, a broken rule) is kept and cz_builder_finish
 * returns it. Until then calls are safe and their results meaningless.
 */

#include "r1cs/recorder.h"

/** A Boolean of the circuit: constant, variable or complemented variable. x ^ 1 is its complement. */
typedef uint64_t cz_wire;

static inline cz_wire cz_wire_const(bool value) {
    return value ? CZ_BIT_TRUE : CZ_BIT_FALSE;
}
static inline cz_wire cz_wire_is(cz_r1cs_var var) {
    return (uint64_t)var << 2 | CZ_BIT_IS;
}
static inline unsigned cz_wire_kind(cz_wire w) {
    return w & 3;
}
/** The variable of a wire that is none of the constants. */
static inline cz_r1cs_var cz_wire_var(cz_wire w) {
    return (cz_r1cs_var)(w >> 2);
}

struct cz_builder;

CZ_MUST_CHECK enum cz_status cz_builder_create(struct cz_builder **out);
/** Accepts NULL. */
void cz_builder_destroy(struct cz_builder *b);
/** Ends b whether it works or not; *out is the caller's, to be ended with cz_r1cs_destroy. */
CZ_MUST_CHECK enum cz_status cz_builder_finish(struct cz_r1cs **out, struct cz_builder *b, struct cz_error *err);

/** The next public input. */
cz_r1cs_var cz_builder_input(struct cz_builder *b);

/** Records the constraints of a gadget. ctx is what the placement gave. */
typedef void cz_builder_record(struct cz_recorder *r, const void *ctx);

struct cz_builder_place {
    const char *name; /* "poseidon.8": shown to people, part of the key */
    const void *key;  /* the rest of the key: whatever the constraints depend on besides the name */
    size_t key_len;
    const cz_r1cs_var *external; /* distinct, earlier than what is placed now, not ONE */
    uint32_t num_external;
    cz_builder_record *record;
    const void *ctx; /* for record; a function of name and key */
};

/** Places an instance and writes the gadget's num_out outputs (those that the recording declared). */
void cz_builder_place(struct cz_builder *b, const struct cz_builder_place *place, cz_wire *out, uint32_t num_out);

/**
 * The same for a gadget over wires: wires that are variables become externals in order, constants and complements
 * become part of the key. The record function gets a struct cz_builder_wires as ctx, with the wires in local form.
 */
struct cz_builder_wires {
    const cz_bit *bit;
    uint32_t num_bits;
    const void *ctx;
};
void cz_builder_place_wires(struct cz_builder *b, const char *name, const cz_wire *wire, uint32_t num_wires,
                            const cz_r1cs_var *extra, uint32_t num_extra, cz_builder_record *record, const void *ctx,
                            cz_wire *out, uint32_t num_out);

#endif
