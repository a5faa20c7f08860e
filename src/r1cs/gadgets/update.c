#include "r1cs/gadgets/update.h"

#include "r1cs/gadgets/num.h"

#include <string.h>

static void record_bits_of(struct cz_recorder *r, const void *ctx) {
    uint32_t n = *(const uint32_t *)ctx;
    for (uint32_t i = 0; i < n; i++) cz_recorder_output(r, cz_recorder_alloc_bit(r));
    for (uint32_t i = 0; i < n; i++) cz_recorder_add_bit(r, &r->lhs, cz_bit_is(2 + i), i, false);
    cz_recorder_add(r, &r->rhs, cz_recorder_external(0), CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
}

void cz_update_bits_of(struct cz_builder *b, cz_wire *out, uint32_t n, cz_r1cs_var x) {
    struct cz_builder_place place = {"update.bits", &n, sizeof n, &x, 1, record_bits_of, &n};
    cz_builder_place(b, &place, out, n);
}

void cz_update_tag(struct cz_fr *tag) {
    cz_fr_from_u64(tag, UINT64_C(1) << 40);
}

cz_r1cs_var cz_update_hash_constrain(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y) {
    struct cz_fr tag;
    cz_r1cs_var in[2] = {x, y};
    cz_update_tag(&tag);
    return cz_poseidon_constrain_tag(b, &tag, in, 2);
}

void cz_update_hash_assign(struct cz_assign *a, struct cz_fr *out, const struct cz_fr *x, const struct cz_fr *y) {
    struct cz_fr tag, in[2] = {*x, *y};
    cz_update_tag(&tag);
    cz_poseidon_assign_tag(a, out, &tag, in, 2);
}

struct digest {
    uint32_t digests, j;
};

/* The reference has a term ONE with coefficient 0 when j is 0; it counts nowhere and is left out. */
static void record_index(struct cz_recorder *r, const void *ctx) {
    const struct digest *d = ctx;
    struct cz_fr v;
    uint32_t index = cz_recorder_elem(r);
    cz_fr_from_u64(&v, d->digests);
    cz_recorder_add_fr(r, &r->lhs, cz_recorder_external(0), &v);
    if (d->j) {
        cz_fr_from_u64(&v, d->j);
        cz_recorder_add_fr(r, &r->lhs, 0, &v);
    }
    cz_recorder_add(r, &r->rhs, index, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    cz_recorder_output(r, cz_bit_is(index));
}

void cz_update_digest_constrain(struct cz_builder *b, cz_wire out[255], cz_r1cs_var partition, cz_r1cs_var comm_r_new,
                                uint32_t digests, uint32_t j) {
    struct digest d = {digests, j};
    cz_wire index;
    struct cz_builder_place place = {"update.digest_index", &d, sizeof d, &partition, 1, record_index, &d};
    cz_builder_place(b, &place, &index, 1);
    cz_update_bits_of(b, out, CZ_NUM_BITS, cz_update_hash_constrain(b, comm_r_new, cz_wire_var(index)));
}

void cz_update_digest_assign(struct cz_assign *a, uint8_t le[32], const struct cz_fr *comm_r_new, uint64_t index) {
    struct cz_fr v;
    cz_fr_from_u64(&v, index);
    cz_assign_elem(a, &v);
    cz_update_hash_assign(a, &v, comm_r_new, &v);
    cz_fr_to_le(le, &v);
    cz_num_to_bits_assign(a, le);
}

static unsigned highest(const uint8_t h[CZ_UPDATE_NUM_H]) {
    unsigned max = 0;
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++) max = h[k] > max ? h[k] : max;
    return max;
}

/* Externals: the six select bits, the top bits. */
static void record_high(struct cz_recorder *r, const void *ctx) {
    const uint8_t *h = ctx;
    unsigned max = highest(h);
    uint32_t x[CZ_UPDATE_NUM_H];
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++) {
        uint32_t high = cz_recorder_elem(r);
        for (unsigned i = 0; i < h[k]; i++)
            cz_recorder_add_bit(r, &r->lhs, cz_bit_is(cz_recorder_external(CZ_UPDATE_NUM_H + max - h[k] + i)), i,
                                false);
        cz_recorder_add(r, &r->rhs, high, CZ_R1CS_COEF_ONE);
        cz_recorder_enforce_equal(r);
        x[k] = cz_recorder_elem(r);
        cz_recorder_add(r, &r->a, high, CZ_R1CS_COEF_ONE);
        cz_recorder_add(r, &r->b, cz_recorder_external(k), CZ_R1CS_COEF_ONE);
        cz_recorder_add(r, &r->c, x[k], CZ_R1CS_COEF_ONE);
        cz_recorder_enforce(r);
    }
    uint32_t sum = cz_recorder_elem(r);
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++) cz_recorder_add(r, &r->lhs, x[k], CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->rhs, sum, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    cz_recorder_output(r, cz_bit_is(sum));
}

cz_r1cs_var cz_update_high_constrain(struct cz_builder *b, const uint8_t h[CZ_UPDATE_NUM_H], const cz_wire *top,
                                     const cz_wire select[CZ_UPDATE_NUM_H]) {
    cz_r1cs_var ext[CZ_UPDATE_NUM_H + CZ_UPDATE_MAX_H];
    unsigned max = highest(h);
    cz_wire out;
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++) ext[k] = cz_wire_var(select[k]);
    for (unsigned i = 0; i < max; i++) ext[CZ_UPDATE_NUM_H + i] = cz_wire_var(top[i]);
    struct cz_builder_place place = {"update.high", h, CZ_UPDATE_NUM_H, ext, CZ_UPDATE_NUM_H + max, record_high, h};
    cz_builder_place(b, &place, &out, 1);
    return cz_wire_var(out);
}

void cz_update_high_assign(struct cz_assign *a, struct cz_fr *high, const uint8_t h[CZ_UPDATE_NUM_H], uint32_t top,
                           uint32_t select) {
    unsigned max = highest(h);
    struct cz_fr v;
    *high = CZ_FR_ZERO;
    for (unsigned k = 0; k < CZ_UPDATE_NUM_H; k++) {
        cz_fr_from_u64(&v, top >> (max - h[k]));
        cz_assign_elem(a, &v);
        if (!(select >> k & 1)) v = CZ_FR_ZERO;
        cz_assign_elem(a, &v);
        cz_fr_add(high, high, &v);
    }
    cz_assign_elem(a, high);
}

static void record_encode(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    uint32_t r_old = cz_recorder_elem(r), d_new = cz_recorder_elem(r), product = cz_recorder_elem(r);
    cz_recorder_add(r, &r->a, d_new, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->b, cz_recorder_external(0), CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->c, product, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce(r);
    uint32_t r_new = cz_recorder_elem(r);
    cz_recorder_add(r, &r->lhs, r_old, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->lhs, product, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->rhs, r_new, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    cz_recorder_output(r, cz_bit_is(r_old));
    cz_recorder_output(r, cz_bit_is(d_new));
    cz_recorder_output(r, cz_bit_is(r_new));
}

struct cz_update_leaves cz_update_encode_constrain(struct cz_builder *b, cz_r1cs_var rho) {
    cz_wire out[3];
    struct cz_builder_place place = {"update.encode", NULL, 0, &rho, 1, record_encode, NULL};
    cz_builder_place(b, &place, out, 3);
    return (struct cz_update_leaves){cz_wire_var(out[0]), cz_wire_var(out[1]), cz_wire_var(out[2])};
}

void cz_update_encode_assign(struct cz_assign *a, struct cz_fr *r_new, const struct cz_fr *r_old,
                             const struct cz_fr *d_new, const struct cz_fr *rho) {
    struct cz_fr product;
    cz_fr_mul(&product, d_new, rho);
    cz_assign_elem(a, r_old);
    cz_assign_elem(a, d_new);
    cz_assign_elem(a, &product);
    cz_fr_add(r_new, r_old, &product);
    cz_assign_elem(a, r_new);
}
