#include "r1cs/assign.h"

#include <string.h>

void cz_assign_init(struct cz_assign *a, struct cz_witness *w) {
    memset(a, 0, sizeof *a);
    a->w = w;
    a->num_words = (w->num_bits + 63) / 64;
    a->inputs = 1; /* ONE is there */
}

enum cz_status cz_assign_finish(struct cz_assign *a, struct cz_error *err) {
    uint64_t bits = (uint64_t)a->words * 64 + a->fill;
    if (a->fill) cz_assign_store(a);
    if (a->bad_value) return cz_error_set(err, CZ_ERR_FIELD_RANGE, "witness: a node is not below the field's modulus");
    if (a->overflow || bits != a->w->num_bits || a->elems != a->w->num_elems || a->inputs != a->w->num_inputs)
        return cz_error_set(
            err, CZ_ERR_INTERNAL, "witness: %llu bits, %u elements, %u inputs assigned; the circuit has %u, %u, %u",
            (unsigned long long)bits, a->elems, a->inputs, a->w->num_bits, a->w->num_elems, a->w->num_inputs);
    return CZ_OK;
}

void cz_assign_input_u64(struct cz_assign *a, uint64_t v) {
    struct cz_fr fr;
    cz_fr_from_u64(&fr, v);
    cz_assign_input(a, &fr);
}

void cz_assign_decode(struct cz_assign *a, struct cz_fr *out, const uint8_t le[32]) {
    if (cz_fr_from_le(out, le)) {
        *out = CZ_FR_ZERO;
        a->bad_value = true;
    }
}
