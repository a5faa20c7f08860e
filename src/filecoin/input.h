#ifndef CUZK_FILECOIN_INPUT_H
#define CUZK_FILECOIN_INPUT_H

/*
 * The input of a proof, whatever its kind: what the engine and the commands hold. Each call goes to the functions of
 * c1.h, post.h or update.h and of the kind's circuit. Partitions are counted within the input.
 */

#include "base/thread.h"
#include "filecoin/c1.h"
#include "filecoin/post.h"
#include "filecoin/update.h"
#include "r1cs/witness.h"

struct cz_input {
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    uint32_t num_partitions;
    /* Exactly one of these, owned. */
    struct cz_c1 *c1;
    struct cz_post *post;
    struct cz_update *update;
    void *blobs; /* what post and update point into, owned; freed with cz_free */
};

/** The constraint system of a circuit; CZ_ERR_UNSUPPORTED when there is none of this kind and size. */
CZ_MUST_CHECK enum cz_status cz_input_circuit_build(struct cz_r1cs **out, enum cz_circuit_kind kind,
                                                    const struct cz_sector_info *sector, struct cz_error *err);

/** Each takes ownership of what it is given, also when it fails (CZ_ERR_MEMORY). blobs may be NULL. */
CZ_MUST_CHECK enum cz_status cz_input_of_c1(struct cz_input **out, struct cz_c1 *c1);
CZ_MUST_CHECK enum cz_status cz_input_of_post(struct cz_input **out, struct cz_post *post, void *blobs);
CZ_MUST_CHECK enum cz_status cz_input_of_update(struct cz_input **out, struct cz_update *update, void *blobs);
/** Accepts NULL. */
void cz_input_destroy(struct cz_input *input);

/** Host bytes that the input holds, about. */
size_t cz_input_bytes(const struct cz_input *input);
/**
 * The native check of every vanilla proof; the error names partition or sector, challenge and reason. Of several wrong
 * ones the first is named.
 */
CZ_MUST_CHECK enum cz_status cz_input_check(const struct cz_input *input, struct cz_error *err);
/** The same on the threads of a pool (NULL: on the caller's alone). */
CZ_MUST_CHECK enum cz_status cz_input_check_pool(const struct cz_input *input, struct cz_pool *pool,
                                                 struct cz_error *err);
/** The witness of a partition; w was made for this kind and size. */
CZ_MUST_CHECK enum cz_status cz_input_assign(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                             const struct cz_input *input, uint32_t partition, struct cz_error *err);
/** The same, where the circuit has parts for it on the threads of a pool (NULL: on the caller's alone). */
CZ_MUST_CHECK enum cz_status cz_input_assign_pool(struct cz_witness *w, const struct cz_r1cs *r1cs,
                                                  const struct cz_input *input, uint32_t partition,
                                                  struct cz_pool *pool, struct cz_error *err);
/** Public inputs without ONE as a verifier derives them; count must be the circuit's inputs less one. */
CZ_MUST_CHECK enum cz_status cz_input_public_inputs(struct cz_fr *out, size_t count, const struct cz_input *input,
                                                    uint32_t partition, struct cz_error *err);

#endif
