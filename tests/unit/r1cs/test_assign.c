#include "r1cs/assign.h"

#include "base/bytes.h"
#include "r1cs/builder.h"
#include "r1cs/gadgets/num.h"
#include "support.h"

/* A system of `bits` bits, `elems` elements and one input. */
static struct cz_r1cs *system_of(uint32_t bits, uint32_t elems) {
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    cz_wire wire[300];
    cz_r1cs_var var[CZ_NUM_MAX_ALLOC];
    assert_true(bits <= 300 && elems <= CZ_NUM_MAX_ALLOC);
    assert_int_equal(cz_builder_create(&b), CZ_OK);
    if (bits) cz_num_alloc_bits(b, wire, bits);
    if (elems) cz_num_alloc(b, var, elems);
    (void)cz_builder_input(b);
    assert_int_equal(cz_builder_finish(&r1cs, b, NULL), CZ_OK);
    return r1cs;
}

static void bits_at_every_offset(void **state) {
    (void)state;
    struct cz_r1cs *r1cs = system_of(200, 1);
    for (unsigned first = 0; first <= 64; first++) {
        for (unsigned second = 0; second <= 64; second++) {
            struct cz_witness w;
            struct cz_assign a;
            assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
            cz_assign_init(&a, &w);
            uint64_t seed = first * 100 + second, v[4];
            unsigned len[4] = {first, second, 64, 200 - 64 - first - second}, at = 0;
            if (len[3] > 64) {
                len[2] = 0;
                len[3] = 0;
            }
            for (int i = 0; i < 4; i++) {
                v[i] = test_random(&seed);
                if (len[i] < 64) v[i] &= (1ull << len[i]) - 1;
                cz_assign_bits(&a, v[i], len[i]);
                at += len[i];
            }
            for (; at < 200; at++) cz_assign_bits(&a, 1, 1);
            cz_assign_elem(&a, &CZ_FR_ONE);
            cz_assign_input_u64(&a, 7);
            assert_int_equal(cz_assign_finish(&a, NULL), CZ_OK);
            at = 0;
            for (int i = 0; i < 4; i++)
                for (unsigned k = 0; k < len[i]; k++, at++)
                    assert_int_equal(w.bit[at / 64] >> (at % 64) & 1, v[i] >> k & 1);
            cz_witness_done(&w);
        }
    }
    cz_r1cs_destroy(r1cs);
}

/* Fills a witness of `have` bits and elements as if it had the given numbers. */
static enum cz_status fill(uint32_t bits, uint32_t elems, uint32_t inputs, const uint8_t *node) {
    struct cz_r1cs *r1cs = system_of(130, 3);
    struct cz_witness w;
    struct cz_assign a;
    struct cz_error err = {0};
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    cz_assign_init(&a, &w);
    for (uint32_t i = 0; i < bits; i++) cz_assign_bits(&a, 1, 1);
    for (uint32_t i = 0; i < elems; i++) {
        struct cz_fr v = CZ_FR_ONE;
        if (node) cz_assign_decode(&a, &v, node);
        cz_assign_elem(&a, &v);
    }
    for (uint32_t i = 0; i < inputs; i++) cz_assign_input(&a, &CZ_FR_ONE);
    enum cz_status status = cz_assign_finish(&a, &err);
    assert_int_equal(err.status, status);
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
    return status;
}

static void counts_are_held(void **state) {
    (void)state;
    uint8_t modulus[32], below[32];
    for (int i = 0; i < 4; i++) cz_store_le64(modulus + 8 * i, CZ_FR_MODULUS[i]);
    for (int i = 0; i < 32; i++) below[i] = modulus[i];
    below[0]--;
    assert_int_equal(fill(130, 3, 1, NULL), CZ_OK);
    assert_int_equal(fill(129, 3, 1, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(131, 3, 1, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(1000, 3, 1, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(130, 2, 1, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(130, 4, 1, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(130, 3, 0, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(130, 3, 2, NULL), CZ_ERR_INTERNAL);
    assert_int_equal(fill(130, 3, 1, below), CZ_OK);
    assert_int_equal(fill(130, 3, 1, modulus), CZ_ERR_FIELD_RANGE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_at_every_offset),
        cmocka_unit_test(counts_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
