#include "r1cs/gadgets/num.h"

#include "base/bytes.h"

static void record_alloc(struct cz_recorder *r, const void *ctx) {
    for (uint32_t i = 0; i < *(const uint32_t *)ctx; i++) cz_recorder_output(r, cz_bit_is(cz_recorder_elem(r)));
}

void cz_num_alloc(struct cz_builder *b, cz_r1cs_var *out, uint32_t n) {
    cz_wire wire[CZ_NUM_MAX_ALLOC];
    struct cz_builder_place place = {"alloc", &n, sizeof n, NULL, 0, record_alloc, &n};
    cz_builder_place(b, &place, wire, n);
    for (uint32_t i = 0; i < n; i++) out[i] = cz_wire_var(wire[i]);
}

static void record_bits(struct cz_recorder *r, const void *ctx) {
    for (uint32_t i = 0; i < *(const uint32_t *)ctx; i++) cz_recorder_output(r, cz_recorder_alloc_bit(r));
}

void cz_num_alloc_bits(struct cz_builder *b, cz_wire *out, uint32_t n) {
    struct cz_builder_place place = {"bits", &n, sizeof n, NULL, 0, record_bits, &n};
    cz_builder_place(b, &place, out, n);
}

/* external 0 · 1 = external 1 */
static void record_equal(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    cz_recorder_add(r, &r->lhs, cz_recorder_external(0), CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->rhs, cz_recorder_external(1), CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
}

void cz_num_equal(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y) {
    cz_r1cs_var ext[2] = {x, y};
    struct cz_builder_place place = {"equal", NULL, 0, ext, 2, record_equal, NULL};
    cz_builder_place(b, &place, NULL, 0);
}

cz_r1cs_var cz_num_inputize(struct cz_builder *b, cz_r1cs_var x) {
    cz_r1cs_var input = cz_builder_input(b);
    cz_num_equal(b, input, x);
    return input;
}

static void record_add(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    uint32_t sum = cz_recorder_elem(r);
    cz_recorder_add(r, &r->lhs, cz_recorder_external(0), CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->lhs, cz_recorder_external(1), CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->rhs, sum, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    cz_recorder_output(r, cz_bit_is(sum));
}

cz_r1cs_var cz_num_add(struct cz_builder *b, cz_r1cs_var x, cz_r1cs_var y) {
    cz_r1cs_var ext[2] = {x, y};
    cz_wire out;
    struct cz_builder_place place = {"add", NULL, 0, ext, 2, record_add, NULL};
    cz_builder_place(b, &place, &out, 1);
    return cz_wire_var(out);
}

/* The sum is in C alone; A and B are empty. */
static void record_to_bits(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    for (unsigned i = 0; i < CZ_NUM_BITS; i++) cz_recorder_output(r, cz_recorder_alloc_bit(r));
    for (unsigned i = 0; i < CZ_NUM_BITS; i++) cz_recorder_add_bit(r, &r->c, cz_bit_is(2 + i), i, false);
    cz_recorder_add(r, &r->c, cz_recorder_external(0), CZ_R1CS_COEF_MINUS_ONE);
    cz_recorder_enforce(r);
}

void cz_num_to_bits(struct cz_builder *b, cz_wire out[CZ_NUM_BITS], cz_r1cs_var x) {
    struct cz_builder_place place = {"to_bits", NULL, 0, &x, 1, record_to_bits, NULL};
    cz_builder_place(b, &place, out, CZ_NUM_BITS);
}

void cz_num_to_bits_assign(struct cz_assign *a, const uint8_t le[32]) {
    for (unsigned k = 0; k < 3; k++) cz_assign_bits(a, cz_load_le64(le + 8 * k), 64);
    cz_assign_bits(a, cz_load_le64(le + 24) & INT64_MAX, 63);
}

/* Bit i of r - 1; r is odd. */
static bool largest_bit(unsigned i) {
    return i > 0 && CZ_FR_MODULUS[i / 64] >> (i % 64) & 1;
}

static void record_to_bits_strict(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    cz_bit bit[CZ_NUM_BITS] = {0}, run = CZ_BIT_TRUE, last_run = CZ_BIT_TRUE;
    bool any_run = false;
    for (unsigned i = CZ_NUM_BITS; i-- > 0;) {
        if (largest_bit(i)) {
            bit[i] = cz_recorder_alloc_bit(r);
            continue;
        }
        /* The ones since the last zero, from above: ANDed one after the other, then with what held before them. */
        if (i + 1 < CZ_NUM_BITS && largest_bit(i + 1)) {
            unsigned top = i + 1;
            while (top + 1 < CZ_NUM_BITS && largest_bit(top + 1)) top++;
            run = bit[top];
            for (unsigned k = top; k-- > i + 1;) run = cz_recorder_and(r, run, bit[k]);
            last_run = any_run ? cz_recorder_and(r, run, last_run) : run;
            any_run = true;
        }
        uint32_t x = cz_recorder_bit(r);
        bit[i] = cz_bit_is(x);
        cz_recorder_add_bit(r, &r->a, last_run ^ 1, 0, false);
        cz_recorder_add(r, &r->a, x, CZ_R1CS_COEF_MINUS_ONE);
        cz_recorder_add(r, &r->b, x, CZ_R1CS_COEF_ONE);
        cz_recorder_enforce(r);
    }
    for (unsigned i = 0; i < CZ_NUM_BITS; i++) {
        cz_recorder_add_bit(r, &r->c, bit[i], i, false);
        cz_recorder_output(r, bit[i]);
    }
    cz_recorder_add(r, &r->c, cz_recorder_external(0), CZ_R1CS_COEF_MINUS_ONE);
    cz_recorder_enforce(r);
}

void cz_num_to_bits_strict(struct cz_builder *b, cz_wire out[CZ_NUM_BITS], cz_r1cs_var x) {
    struct cz_builder_place place = {"to_bits_strict", NULL, 0, &x, 1, record_to_bits_strict, NULL};
    cz_builder_place(b, &place, out, CZ_NUM_BITS);
}

void cz_num_to_bits_strict_assign(struct cz_assign *a, const uint8_t le[32]) {
    bool last_run = true, any_run = false;
    for (unsigned i = CZ_NUM_BITS; i-- > 0;) {
        bool x = le[i / 8] >> (i % 8) & 1;
        if (!largest_bit(i) && i + 1 < CZ_NUM_BITS && largest_bit(i + 1)) {
            unsigned top = i + 1;
            while (top + 1 < CZ_NUM_BITS && largest_bit(top + 1)) top++;
            bool run = le[top / 8] >> (top % 8) & 1;
            for (unsigned k = top; k-- > i + 1;) {
                run = run && (le[k / 8] >> (k % 8) & 1);
                cz_assign_bits(a, run, 1);
            }
            if (any_run) {
                run = run && last_run;
                cz_assign_bits(a, run, 1);
            }
            last_run = run;
            any_run = true;
        }
        cz_assign_bits(a, x, 1);
    }
}

void cz_num_to_sha_bits(struct cz_builder *b, cz_wire out[256], cz_r1cs_var x) {
    cz_num_to_bits(b, out, x);
    out[255] = cz_wire_const(false);
    cz_num_reverse_bytes(out, out, 256);
}

static void add_packed(struct cz_recorder *r, const struct cz_builder_wires *w) {
    for (uint32_t i = 0; i < w->num_bits; i++) cz_recorder_add_bit(r, &r->lhs, w->bit[i], i, false);
}

static void record_pack(struct cz_recorder *r, const void *ctx) {
    uint32_t v = cz_recorder_elem(r);
    add_packed(r, ctx);
    cz_recorder_add(r, &r->rhs, v, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
    cz_recorder_output(r, cz_bit_is(v));
}

cz_r1cs_var cz_num_pack(struct cz_builder *b, const cz_wire *bit, uint32_t n) {
    cz_wire out;
    cz_builder_place_wires(b, "pack", bit, n < CZ_NUM_PACK ? n : CZ_NUM_PACK, NULL, 0, record_pack, NULL, &out, 1);
    return cz_wire_var(out);
}

static void record_pack_input(struct cz_recorder *r, const void *ctx) {
    add_packed(r, ctx);
    cz_recorder_add(r, &r->rhs, cz_recorder_external(0), CZ_R1CS_COEF_ONE);
    cz_recorder_enforce_equal(r);
}

void cz_num_pack_into_inputs(struct cz_builder *b, const cz_wire *bit, uint32_t n) {
    for (uint32_t at = 0; at < n; at += CZ_NUM_PACK) {
        uint32_t chunk = n - at < CZ_NUM_PACK ? n - at : CZ_NUM_PACK;
        cz_r1cs_var input = cz_builder_input(b);
        cz_builder_place_wires(b, "pack_input", bit + at, chunk, &input, 1, record_pack_input, NULL, NULL, 0);
    }
}

void cz_num_reverse_bytes(cz_wire *out, const cz_wire *in, uint32_t n) {
    for (uint32_t at = 0; at < n; at += 8) {
        for (uint32_t i = 0; i < 4; i++) {
            cz_wire low = in[at + i], high = in[at + 7 - i];
            out[at + i] = high;
            out[at + 7 - i] = low;
        }
    }
}
