#ifndef CUZK_COMPUTE_CUDA_CIRCUIT_H
#define CUZK_COMPUTE_CUDA_CIRCUIT_H

/*
 * A circuit on the device: its templates' rows and terms once, its instances, and what a partition needs to turn a
 * witness in natural form into a, b, c and into the scalars of the sums. All of it lies in residents.
 */

#include "compute/cuda/context.h"
#include "r1cs/witness.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Where a term's value stands, in its lowest two bits; above them the rank, relative to the instance. */
enum cz_cuda_term_kind { CZ_CUDA_TERM_ELEM, CZ_CUDA_TERM_BIT, CZ_CUDA_TERM_EXTERNAL, CZ_CUDA_TERM_ONE };
struct cz_cuda_term {
    uint32_t where, coef;
};

/** A row's terms stand together: of A from start, of B from end[0], of C from end[1] up to end[2]. */
struct cz_cuda_row {
    uint32_t start, end[3];
};

struct cz_cuda_instance {
    uint32_t row; /* the template's first in cz_cuda_circuit.row */
    uint32_t first_external, first_bit, first_elem, first_constraint, end_constraint;
};

/** Rows of a block of the evaluation; `block` holds the instance of each block's first row. */
#define CZ_CUDA_EVAL_ROWS 256
/** Integer results from -SMALL to SMALL come from a table. */
#define CZ_CUDA_EVAL_SMALL 64
/** Coefficients up to this in absolute value add up as integers. */
#define CZ_CUDA_EVAL_INTEGER (INT64_C(1) << 40)
#define CZ_CUDA_EVAL_NO_INTEGER INT64_MIN

/** Device pointers, one resident block. */
struct cz_cuda_circuit {
    void *memory;
    size_t bytes;
    const struct cz_cuda_row *row;
    const struct cz_cuda_term *term;
    const struct cz_cuda_instance *instance;
    const uint32_t *external_slot, *block;
    const struct cz_fr *coef, *small; /* small[CZ_CUDA_EVAL_SMALL + 1]: 2^256, which makes integers field elements */
    const int64_t *integer;           /* of each coefficient, or CZ_CUDA_EVAL_NO_INTEGER */
    const uint64_t *is_bit;           /* of aux variables */
    const uint32_t *bit_rank;         /* bits before each 512 of them */
    const uint64_t *is_square;        /* of elements: the square of the one before, which a witness does not store */
    const uint32_t *square_rank;      /* squares before each 512 of them */
    uint32_t num_inputs, num_aux, num_bits, num_squares, num_constraints, num_instances;
    unsigned log_domain;
};

/** A partition's witness on the device. */
struct cz_cuda_witness {
    struct cz_fr *elem, *input; /* all elements, squares too: ranks here count them */
    uint64_t *bit;              /* with two words of room past the end */
};

/** Bytes of cz_cuda_circuit_create's block. */
size_t cz_cuda_circuit_bytes(const struct cz_r1cs *r1cs);
/** CZ_ERR_BUDGET when the residents have no room. Returns when everything is there. */
CZ_MUST_CHECK enum cz_status cz_cuda_circuit_create(struct cz_cuda_circuit *c, struct cz_cuda_worker *w,
                                                    const struct cz_r1cs *r1cs);
void cz_cuda_circuit_destroy(struct cz_cuda_circuit *c, struct cz_cuda *cuda);

/** Takes worker memory, uploads and makes the squares; ordered on w->stream. The witness fits the circuit. */
CZ_MUST_CHECK enum cz_status cz_cuda_witness_upload(struct cz_cuda_witness *out, struct cz_cuda_worker *w,
                                                    const struct cz_cuda_circuit *c, const struct cz_witness *witness);
/** d_elem[0 .. num_aux - num_bits - 1] from those that the witness stores. Asynchronous on w->stream. */
CZ_MUST_CHECK enum cz_status cz_cuda_unpack(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                            const struct cz_fr *d_stored, struct cz_fr *d_elem);
/** a, b, c over the whole domain, as cz_witness_eval, with input rows and padding. Asynchronous on w->stream. */
CZ_MUST_CHECK enum cz_status cz_cuda_eval(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                          const struct cz_cuda_witness *witness, struct cz_fr *d_a, struct cz_fr *d_b,
                                          struct cz_fr *d_c);
/** The bits at their places among all aux variables, 0 at elements: (num_aux + 63)/64 words. */
CZ_MUST_CHECK enum cz_status cz_cuda_expand(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                            const struct cz_cuda_witness *witness, uint64_t *d_value);
/** scalar[i] = the input or element that slot[i] names: a rank, or with CZ_R1CS_INPUT an input. */
CZ_MUST_CHECK enum cz_status cz_cuda_gather(struct cz_cuda_worker *w, const struct cz_cuda_witness *witness,
                                            const uint32_t *d_slot, size_t n, struct cz_fr *d_scalar);
/** to[i] = from[i] - first */
CZ_MUST_CHECK enum cz_status cz_cuda_rebase(struct cz_cuda_worker *w, uint32_t *d_to, const uint32_t *d_from, size_t n,
                                            uint32_t first);

#ifdef __cplusplus
}
#endif

#endif
