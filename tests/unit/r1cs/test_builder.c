#include "r1cs/builder.h"

#include "base/bytes.h"
#include "r1cs/digest.h"
#include "r1cs/gadgets/num.h"
#include "support.h"

#include <string.h>

static void nothing(struct cz_recorder *r, const void *ctx) {
    (void)r;
    (void)ctx;
}

static void assert_row(const struct cz_r1cs *r1cs, uint32_t row, const char *expected) {
    char *text;
    assert_int_equal(cz_digest_row_text(&text, r1cs, row), CZ_OK);
    assert_string_equal(text, expected);
    cz_free(text);
}

static void templates_are_shared(void **state) {
    (void)state;
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    cz_r1cs_var x[3], sum;
    cz_wire bit[3];
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    cz_num_alloc(b, x, 3);
    sum = cz_num_add(b, x[2], x[0]);
    sum = cz_num_add(b, x[1], sum);
    cz_num_alloc_bits(b, bit, 3);
    cz_num_equal(b, cz_num_inputize(b, sum), x[1]);
    /* Equal patterns share, others do not: the complement, the constant, the order of kinds. */
    cz_wire first[3] = {bit[0], bit[1] ^ 1, CZ_BIT_TRUE}, second[3] = {bit[2], bit[0] ^ 1, CZ_BIT_TRUE};
    cz_wire third[3] = {bit[2], bit[0], CZ_BIT_TRUE};
    cz_num_pack(b, first, 3);
    cz_num_pack(b, second, 3);
    cz_num_pack(b, third, 3);
    assert_int_equal(cz_builder_finish(&r1cs, b, NULL), CZ_OK);
    assert_int_equal(r1cs->num_instances, 9);
    assert_int_equal(r1cs->num_templates, 6); /* alloc, add, bits, equal, two of pack */
    assert_int_equal(r1cs->num_aux, 3 + 2 + 3 + 3);
    assert_int_equal(r1cs->num_bits, 3);
    assert_int_equal(r1cs->num_inputs, 2);
    assert_int_equal(r1cs->num_constraints, 2 + 3 + 2 + 3);
    assert_row(r1cs, 0, "A0*1 A2*1 ; I0*1 ; A3*1"); /* sorted though given the other way round */
    assert_row(r1cs, 1, "A1*1 A3*1 ; I0*1 ; A4*1");
    assert_row(r1cs, 2, "I0*1 A5*-1 ; A5*1 ; ");
    assert_row(r1cs, 5, "I1*1 ; I0*1 ; A4*1");
    assert_row(r1cs, 6, "I1*1 ; I0*1 ; A1*1");
    assert_row(r1cs, 8,
               "I0*0x6 A5*0x73eda753299d7d483339d80809a1d80553bda402fffe5bfefffffffeffffffff A7*1 ; I0*1 ; A9*1");

    /* Every aux stands once, in its own slot. */
    uint32_t slot, bits = 0, elems = 0;
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        bool is_bit = cz_r1cs_aux_slot(r1cs, i, &slot);
        assert_int_equal(is_bit, i >= 5 && i < 8);
        assert_int_equal(slot, is_bit ? bits++ : elems++);
    }
    /* Rows belong to the instance that holds them, also next to instances without constraints. */
    for (uint32_t row = 0; row < r1cs->num_constraints; row++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[cz_r1cs_instance_of_row(r1cs, row)];
        assert_true(inst->first_constraint <= row);
        assert_true(row - inst->first_constraint < r1cs->tmpl[inst->template_id].num_constraints);
    }
    uint64_t a[1], bm[1], input[1];
    cz_r1cs_density(r1cs, a, bm, input);
    assert_int_equal(a[0], 0xef);  /* all of A: 0 1 2 3 5 6 7, not 4 */
    assert_int_equal(bm[0], 0xe0); /* the three bits */
    assert_int_equal(input[0], 1);
    assert_int_equal(cz_r1cs_domain_log2(r1cs), 4); /* 10 and 2 rows */
    cz_r1cs_destroy(r1cs);
    cz_r1cs_destroy(NULL);
}

static enum cz_status place_externals(const cz_r1cs_var *ext, uint32_t n, uint32_t outputs) {
    struct cz_builder *b;
    struct cz_r1cs *r1cs = NULL;
    struct cz_error err = {0};
    cz_r1cs_var x[2];
    cz_wire out[2];
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    cz_num_alloc(b, x, 2);
    (void)cz_builder_input(b);
    struct cz_builder_place place = {"nothing", NULL, 0, ext, n, nothing, NULL};
    cz_builder_place(b, &place, out, outputs);
    cz_num_alloc(b, x, 2); /* ignored after a failure */
    enum cz_status status = cz_builder_finish(&r1cs, b, &err);
    if (status) {
        assert_null(r1cs);
        assert_non_null(strstr(err.detail, "nothing"));
    }
    cz_r1cs_destroy(r1cs);
    return status;
}

static void rules_are_held(void **state) {
    (void)state;
    const cz_r1cs_var good[] = {1, 0, CZ_R1CS_INPUT | 1}, twice[] = {1, 0, 1}, later[] = {2}, one[] = {CZ_R1CS_INPUT},
                      no_input[] = {CZ_R1CS_INPUT | 2};
    assert_int_equal(place_externals(good, 3, 0), CZ_OK);
    assert_int_equal(place_externals(NULL, 0, 0), CZ_OK);
    assert_int_equal(place_externals(twice, 3, 0), CZ_ERR_INTERNAL);
    assert_int_equal(place_externals(later, 1, 0), CZ_ERR_INTERNAL);
    assert_int_equal(place_externals(one, 1, 0), CZ_ERR_INTERNAL);
    assert_int_equal(place_externals(no_input, 1, 0), CZ_ERR_INTERNAL);
    assert_int_equal(place_externals(good, 3, 1), CZ_ERR_INTERNAL); /* it declares no output */
}

static void empty_system(void **state) {
    (void)state;
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    uint64_t nnz[3];
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    assert_int_equal(cz_builder_finish(&r1cs, b, NULL), CZ_OK);
    assert_int_equal(r1cs->num_inputs, 1);
    assert_int_equal(r1cs->num_aux + r1cs->num_constraints, 0);
    assert_int_equal(cz_r1cs_domain_log2(r1cs), 0);
    cz_r1cs_nnz(r1cs, nnz);
    assert_int_equal(nnz[0] + nnz[1] + nnz[2], 0);
    cz_r1cs_destroy(r1cs);
    cz_builder_destroy(NULL);
}

struct told {
    uint32_t calls;
    double last;
};

static void tell(void *ctx, double done) {
    struct told *t = ctx;
    assert_true(done >= t->last && done <= 1);
    t->last = done;
    t->calls++;
}

/* More constraints than one step of the progress; the digest is the same with and without. */
static void digest_progress(void **state) {
    (void)state;
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    cz_wire bit[1000];
    for (int i = 0; i < 200; i++) cz_num_alloc_bits(b, bit, 1000);
    assert_int_equal(cz_builder_finish(&r1cs, b, NULL), CZ_OK);
    assert_int_equal(r1cs->num_constraints, 200000);
    struct told told = {0};
    uint8_t with[32], without[32];
    assert_int_equal(cz_digest_r1cs_progress(with, r1cs, tell, &told), CZ_OK);
    assert_int_equal(cz_digest_r1cs(without, r1cs), CZ_OK);
    assert_memory_equal(with, without, 32);
    assert_true(told.calls >= 3);
    assert_true(told.last == 1);
    cz_r1cs_destroy(r1cs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(templates_are_shared),
        cmocka_unit_test(rules_are_held),
        cmocka_unit_test(empty_system),
        cmocka_unit_test(digest_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
