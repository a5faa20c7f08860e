/* Witnesses without their squares, against an array of all values. */

#include "r1cs/witness.h"

#include "base/bytes.h"
#include "hash/sha256.h"
#include "r1cs/assign.h"
#include "r1cs/builder.h"
#include "support.h"

/* Bits, elements and squares mixed, over a square of the instance before: 1000 elements or so, two rank blocks. */
enum { INSTANCES = 200, LOCALS = 9, ELEMS = 7, SQUARES = 2, AUX = INSTANCES * LOCALS + 2 };

/* Locals: b, x0, x0^2, y, b', x1, x1^2, z, z', with y = x0^2·e, e external, and z = x1^2·b + 2·x0^2, z' = 2·y. */
static void record(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    uint32_t e = cz_recorder_external(0), b = cz_bit_col(cz_recorder_alloc_bit(r));
    uint32_t x0 = cz_recorder_elem(r), s0 = cz_recorder_square(r), y = cz_recorder_elem(r);
    (void)cz_recorder_alloc_bit(r);
    uint32_t x1 = cz_recorder_elem(r), s1 = cz_recorder_square(r), z = cz_recorder_elem(r), z2 = cz_recorder_elem(r);
    const uint32_t product[5][3] = {{x0, x0, s0}, {x1, x1, s1}, {s0, e, y}, {s1, b, z}, {y, 0, z2}};
    for (int i = 0; i < 5; i++) {
        cz_recorder_add(r, &r->a, product[i][0], i < 4 ? CZ_R1CS_COEF_ONE : CZ_R1CS_COEF_TWO);
        cz_recorder_add(r, &r->b, product[i][1], CZ_R1CS_COEF_ONE);
        cz_recorder_add(r, &r->c, product[i][2], CZ_R1CS_COEF_ONE);
        if (i == 3) cz_recorder_add(r, &r->c, s0, CZ_R1CS_COEF_MINUS_TWO);
        cz_recorder_enforce(r);
    }
    cz_recorder_output(r, cz_bit_is(s1));
}

static void record_first(struct cz_recorder *r, const void *ctx) {
    (void)ctx;
    uint32_t x = cz_recorder_elem(r), s = cz_recorder_square(r);
    cz_recorder_add(r, &r->a, x, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->b, x, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->c, s, CZ_R1CS_COEF_ONE);
    cz_recorder_enforce(r);
    cz_recorder_output(r, cz_bit_is(s));
}

static struct cz_r1cs *build(void) {
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    cz_wire out;
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    struct cz_builder_place first = {.name = "first", .record = record_first};
    cz_builder_place(b, &first, &out, 1);
    for (int i = 0; i < INSTANCES; i++) {
        cz_r1cs_var e = cz_wire_var(out);
        struct cz_builder_place place = {.name = "some", .external = &e, .num_external = 1, .record = record};
        cz_builder_place(b, &place, &out, 1);
    }
    assert_int_equal(cz_builder_finish(&r1cs, b, NULL), CZ_OK);
    return r1cs;
}

static void random_fr(struct cz_fr *out, uint64_t *seed) {
    uint64_t limb[4];
    for (int i = 0; i < 4; i++) limb[i] = test_random(seed) >> (i == 3 ? 2 : 0);
    assert_int_equal(cz_fr_from_limbs(out, limb), CZ_OK);
}

/* Stores a value in both; squares only in `all`. */
static void put(struct cz_assign *a, struct cz_fr *all, uint32_t *at, const struct cz_fr *v, bool square) {
    all[(*at)++] = *v;
    if (!square) cz_assign_elem(a, v);
}

static void put_bit(struct cz_assign *a, struct cz_fr *all, uint32_t *at, bool bit) {
    all[(*at)++] = bit ? CZ_FR_ONE : CZ_FR_ZERO;
    cz_assign_bits(a, bit, 1);
}

static void fill(struct cz_witness *w, struct cz_fr *all) {
    struct cz_assign a;
    struct cz_error err = {0};
    struct cz_fr x, s0, s1, y, z, e;
    uint32_t at = 0;
    uint64_t seed = 5;
    cz_assign_init(&a, w);
    random_fr(&x, &seed);
    cz_fr_sqr(&e, &x);
    put(&a, all, &at, &x, false);
    put(&a, all, &at, &e, true);
    for (int i = 0; i < INSTANCES; i++) {
        bool b = test_random(&seed) & 1;
        put_bit(&a, all, &at, b);
        random_fr(&x, &seed);
        cz_fr_sqr(&s0, &x);
        cz_fr_mul(&y, &s0, &e);
        put(&a, all, &at, &x, false);
        put(&a, all, &at, &s0, true);
        put(&a, all, &at, &y, false);
        put_bit(&a, all, &at, test_random(&seed) & 1);
        random_fr(&x, &seed);
        cz_fr_sqr(&s1, &x);
        cz_fr_dbl(&z, &s0);
        if (b) cz_fr_add(&z, &z, &s1);
        put(&a, all, &at, &x, false);
        put(&a, all, &at, &s1, true);
        put(&a, all, &at, &z, false);
        cz_fr_dbl(&z, &y);
        put(&a, all, &at, &z, false);
        e = s1;
    }
    assert_int_equal(at, AUX);
    if (cz_assign_finish(&a, &err)) fail_msg("%s", err.detail);
}

static void digest_of(uint8_t out[32], const struct cz_fr *all) {
    struct cz_sha256 sha;
    uint8_t buf[32];
    cz_sha256_init(&sha);
    cz_store_le64(buf, 1);
    cz_store_le64(buf + 8, AUX);
    cz_sha256_update(&sha, buf, 16);
    cz_fr_to_le(buf, &CZ_FR_ONE);
    cz_sha256_update(&sha, buf, 32);
    for (uint32_t i = 0; i < AUX; i++) {
        cz_fr_to_le(buf, &all[i]);
        cz_sha256_update(&sha, buf, 32);
    }
    cz_sha256_final(&sha, out);
}

static void row_of(struct cz_fr *out, const struct cz_r1cs *r1cs, const struct cz_r1cs_instance *inst, int m,
                   uint32_t k, const struct cz_fr *all) {
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    *out = CZ_FR_ZERO;
    for (uint32_t n = t->row[m][k]; n < t->row[m][k + 1]; n++) {
        cz_r1cs_var var = cz_r1cs_column_var(r1cs, inst, t->term[m][n].col);
        struct cz_fr z = var & CZ_R1CS_INPUT ? CZ_FR_ONE : all[var];
        cz_fr_mul(&z, &z, &r1cs->coef[t->term[m][n].coef]);
        cz_fr_add(out, out, &z);
    }
}

static void squares_are_made_when_needed(void **state) {
    (void)state;
    static struct cz_fr all[AUX], v[3][8 * INSTANCES];
    struct cz_r1cs *r1cs = build();
    struct cz_witness w;
    struct cz_fr x;
    uint8_t got[32], want[32];
    const char *name = NULL;
    assert_int_equal(r1cs->num_squares, INSTANCES * SQUARES + 1);
    assert_int_equal(cz_r1cs_num_elems(r1cs), INSTANCES * ELEMS + 2);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(w.num_elems, INSTANCES * (ELEMS - SQUARES) + 1);
    assert_int_equal(cz_witness_bytes(r1cs), 32 * (w.num_elems + 1) + (2 * INSTANCES + 63) / 64 * 8);
    fill(&w, all);
    for (uint32_t i = 0; i < AUX; i++) {
        cz_witness_get(&x, &w, r1cs, i);
        if (!cz_fr_eq(&x, &all[i])) fail_msg("aux %u", i);
    }
    cz_witness_digest(got, &w, r1cs);
    digest_of(want, all);
    assert_memory_equal(got, want, 32);

    assert_true(r1cs->num_constraints <= 8 * INSTANCES);
    cz_witness_eval(v[0], v[1], v[2], &w, r1cs, 0, r1cs->num_instances);
    for (uint32_t i = 0; i < r1cs->num_instances; i++)
        for (uint32_t k = 0; k < r1cs->tmpl[r1cs->instance[i].template_id].num_constraints; k++)
            for (int m = 0; m < 3; m++) {
                row_of(&x, r1cs, &r1cs->instance[i], m, k, all);
                if (!cz_fr_eq(&x, &v[m][r1cs->instance[i].first_constraint + k])) fail_msg("%u, %u, %d", i, k, m);
            }
    assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, &name), r1cs->num_constraints);

    /* Another root: its square follows, and the first row over the square fails. */
    uint32_t slot = cz_r1cs_elem_slot(r1cs, 2 + ELEMS * 100 + 1);
    assert_int_equal(slot & 3, CZ_R1CS_SLOT_SQUARE);
    cz_fr_add(&w.elem[slot >> 2], &w.elem[slot >> 2], &CZ_FR_ONE);
    assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, &name), r1cs->instance[101].first_constraint + 4);
    assert_string_equal(name, "some");

    assert_true(cz_witness_fits(&w, r1cs));
    w.num_elems += r1cs->num_squares;
    assert_false(cz_witness_fits(&w, r1cs));
    w.num_elems -= r1cs->num_squares;
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_are_made_when_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
