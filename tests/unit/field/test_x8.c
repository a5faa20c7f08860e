#include "support.h"

#include "field/fp_x8.h"
#include "field/fr_x8.h"
#include "field_support.h"

/* main must not run vector code before it has asked the processor, so this file's tests stand behind cz_field_select.
 */

#ifdef __AVX512IFMA__

/* The canonical element of each lane. */
static void fp_out(struct cz_fp out[8], const struct cz_fp_x8 *a) {
    struct cz_fp_x8 t;
    cz_fp_x8_reduce_weak(&t, a);
    cz_fp_x8_reduce(&t, &t);
    cz_fp_x8_store(out, &t);
}

static void fp_expect(const struct cz_fp_x8 *got, const struct cz_fp want[8]) {
    struct cz_fp out[8];
    for (int i = 0; i < 8; i++) { /* limbs are carried */
        uint64_t limb[8];
        memcpy(limb, &got->l[i], sizeof limb);
        for (int k = 0; k < 8; k++) assert_int_equal(limb[k] >> 52, 0);
    }
    fp_out(out, got);
    assert_memory_equal(out, want, sizeof out);
}

/* Random elements, and edge patterns in some lanes. */
static void fp_data(struct cz_fp a[8]) {
    uint64_t limbs[EDGES][6];
    edge_limbs(limbs, CZ_FP_MODULUS, 6);
    for (int k = 0; k < 8; k++) {
        random_fp(&a[k]);
        if (random_u64() % 4 == 0) memcpy(a[k].l, limbs[random_u64() % EDGES], sizeof a[k].l);
    }
}

static void fp_lanes(void **state) {
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct cz_fp a[8], b[8], want[8];
        struct cz_fp_x8 x, y, xs, r, s;
        fp_data(a), fp_data(b);
        cz_fp_x8_load(&x, a);
        cz_fp_x8_load(&y, b);
        cz_fp_x8_load_shl32(&xs, a);
        fp_expect(&x, a);
        for (int k = 0; k < 8; k++) cz_fp_mul(&want[k], &a[k], &b[k]);
        cz_fp_x8_mul(&r, &xs, &y);
        fp_expect(&r, want);
        cz_fp_x8_mul(&r, &y, &xs);
        fp_expect(&r, want);
        cz_fp_x8_from_384(&r, &x); /* there, multiply, and back */
        cz_fp_x8_from_384(&s, &y);
        cz_fp_x8_mul(&r, &r, &s);
        cz_fp_x8_to_384(&r, &r);
        fp_expect(&r, want);
        cz_fp_x8_from_384(&r, &x);
        cz_fp_x8_mul(&s, &r, &y); /* a constant of the other form leaves memory's form */
        fp_expect(&s, want);
        cz_fp_x8_mul(&s, &r, &r);
        cz_fp_x8_sqr(&r, &r);
        for (int i = 0; i < 8; i++) assert_memory_equal(&r.l[i], &s.l[i], 64);
        for (int k = 0; k < 8; k++) cz_fp_add(&want[k], &a[k], &b[k]);
        cz_fp_x8_add(&r, &x, &y);
        fp_expect(&r, want);
        for (int k = 0; k < 8; k++) cz_fp_sub(&want[k], &a[k], &b[k]);
        cz_fp_x8_sub(&r, &x, &y);
        fp_expect(&r, want);
        for (int k = 0; k < 8; k++) cz_fp_neg(&want[k], &a[k]);
        cz_fp_x8_neg(&r, &x);
        fp_expect(&r, want);
        __mmask8 lanes = (__mmask8)random_u64();
        for (int k = 0; k < 8; k++)
            if (!(lanes >> k & 1)) want[k] = a[k];
        cz_fp_x8_neg_lanes(&r, &x, lanes);
        fp_expect(&r, want);
        for (int k = 0; k < 8; k++) want[k] = lanes >> k & 1 ? b[k] : a[k];
        cz_fp_x8_select(&r, &x, &y, lanes);
        fp_expect(&r, want);
    }
}

/* The largest values that each function's contract allows. */
static void fp_bounds(void **state) {
    (void)state;
    struct cz_fp a[8], b[8], want[8];
    struct cz_fp_x8 x, y, r, modulus, top;
    for (int k = 0; k < 8; k++) {
        random_fp(&a[k]);
        a[k].l[6 - 1] = CZ_FP_MODULUS[6 - 1] - 1; /* close to the modulus */
        random_fp(&b[k]);
    }
    cz_fp_x8_set(&modulus, CZ_FP_X8_MODULUS);
    cz_fp_x8_load(&x, a);
    int k = 1;
    for (; k < 4096 - 1; k++) { /* x = a + k·m for each k up to the limit */
        cz_fp_x8_add(&x, &x, &modulus);
        fp_expect(&x, a);
        if (k > 40 && k % 61) continue;
        cz_fp_x8_load(&y, b);
        cz_fp_x8_mul(&r, &x, &y);
        for (int i = 0; i < 8; i++) cz_fp_mul(&want[i], &a[i], &b[i]);
        cz_fp_x8_from_384(&r, &r); /* the factor 2^32 that load_shl32 would have brought */
        fp_expect(&r, want);
    }
    cz_fp_x8_mul(&top, &x, &x); /* both at the limit */
    cz_fp_x8_reduce_weak(&r, &x);
    cz_fp_x8_mul(&r, &r, &r);
    fp_out(a, &r);
    fp_expect(&top, a);
    cz_fp_x8_sqr(&top, &x);
    fp_expect(&top, a);
    cz_fp_x8_set(&x, CZ_FP_X8_MULTIPLE); /* the largest b that sub takes */
    cz_fp_x8_load(&y, b);
    cz_fp_x8_sub(&r, &y, &x);
    fp_expect(&r, b);
    cz_fp_x8_neg(&r, &x);
    for (int i = 0; i < 8; i++) b[i] = CZ_FP_ZERO;
    fp_expect(&r, b);
}

static void fp_zero_lanes(void **state) {
    (void)state;
    struct cz_fp a[8];
    struct cz_fp_x8 x, modulus, r;
    fp_data(a);
    a[0] = a[3] = CZ_FP_ZERO;
    __mmask8 want = 0;
    for (int k = 0; k < 8; k++) want |= (__mmask8)(cz_fp_is_zero(&a[k]) << k);
    cz_fp_x8_load(&x, a);
    assert_int_equal(cz_fp_x8_zero_lanes(&x), want);
    cz_fp_x8_set(&modulus, CZ_FP_X8_MODULUS);
    cz_fp_x8_add(&r, &x, &modulus);
    assert_int_equal(cz_fp_x8_zero_lanes(&r), want);
    cz_fp_x8_mul(&r, &x, &modulus);
    assert_int_equal(cz_fp_x8_zero_lanes(&r), 0xff);
}

/* The canonical element of each lane. */
static void fr_out(struct cz_fr out[8], const struct cz_fr_x8 *a) {
    struct cz_fr_x8 t;
    cz_fr_x8_reduce_weak(&t, a);
    cz_fr_x8_reduce(&t, &t);
    cz_fr_x8_store(out, &t);
}

static void fr_expect(const struct cz_fr_x8 *got, const struct cz_fr want[8]) {
    struct cz_fr out[8];
    for (int i = 0; i < 5; i++) { /* limbs are carried */
        uint64_t limb[8];
        memcpy(limb, &got->l[i], sizeof limb);
        for (int k = 0; k < 8; k++) assert_int_equal(limb[k] >> 52, 0);
    }
    fr_out(out, got);
    assert_memory_equal(out, want, sizeof out);
}

/* Random elements, and edge patterns in some lanes. */
static void fr_data(struct cz_fr a[8]) {
    uint64_t limbs[EDGES][6];
    edge_limbs(limbs, CZ_FR_MODULUS, 4);
    for (int k = 0; k < 8; k++) {
        random_fr(&a[k]);
        if (random_u64() % 4 == 0) memcpy(a[k].l, limbs[random_u64() % EDGES], sizeof a[k].l);
    }
}

static void fr_lanes(void **state) {
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct cz_fr a[8], b[8], want[8];
        struct cz_fr_x8 x, y, xs, r, s;
        fr_data(a), fr_data(b);
        cz_fr_x8_load(&x, a);
        cz_fr_x8_load(&y, b);
        cz_fr_x8_load_shl4(&xs, a);
        fr_expect(&x, a);
        for (int k = 0; k < 8; k++) cz_fr_mul(&want[k], &a[k], &b[k]);
        cz_fr_x8_mul(&r, &xs, &y);
        fr_expect(&r, want);
        cz_fr_x8_mul(&r, &y, &xs);
        fr_expect(&r, want);
        cz_fr_x8_from_256(&r, &x); /* there, multiply, and back */
        cz_fr_x8_from_256(&s, &y);
        cz_fr_x8_mul(&r, &r, &s);
        cz_fr_x8_to_256(&r, &r);
        fr_expect(&r, want);
        cz_fr_x8_from_256(&r, &x);
        cz_fr_x8_mul(&s, &r, &y); /* a constant of the other form leaves memory's form */
        fr_expect(&s, want);
        cz_fr_x8_mul(&s, &r, &r);
        cz_fr_x8_sqr(&r, &r);
        for (int i = 0; i < 5; i++) assert_memory_equal(&r.l[i], &s.l[i], 64);
        for (int k = 0; k < 8; k++) cz_fr_add(&want[k], &a[k], &b[k]);
        cz_fr_x8_add(&r, &x, &y);
        fr_expect(&r, want);
        for (int k = 0; k < 8; k++) cz_fr_sub(&want[k], &a[k], &b[k]);
        cz_fr_x8_sub(&r, &x, &y);
        fr_expect(&r, want);
        for (int k = 0; k < 8; k++) cz_fr_neg(&want[k], &a[k]);
        cz_fr_x8_neg(&r, &x);
        fr_expect(&r, want);
        __mmask8 lanes = (__mmask8)random_u64();
        for (int k = 0; k < 8; k++)
            if (!(lanes >> k & 1)) want[k] = a[k];
        cz_fr_x8_neg_lanes(&r, &x, lanes);
        fr_expect(&r, want);
        for (int k = 0; k < 8; k++) want[k] = lanes >> k & 1 ? b[k] : a[k];
        cz_fr_x8_select(&r, &x, &y, lanes);
        fr_expect(&r, want);
    }
}

/* The largest values that each function's contract allows. */
static void fr_bounds(void **state) {
    (void)state;
    struct cz_fr a[8], b[8], want[8];
    struct cz_fr_x8 x, y, r, modulus, top;
    for (int k = 0; k < 8; k++) {
        random_fr(&a[k]);
        a[k].l[4 - 1] = CZ_FR_MODULUS[4 - 1] - 1; /* close to the modulus */
        random_fr(&b[k]);
    }
    cz_fr_x8_set(&modulus, CZ_FR_X8_MODULUS);
    cz_fr_x8_load(&x, a);
    int k = 1;
    for (; k < 32 - 1; k++) { /* x = a + k·m for each k up to the limit */
        cz_fr_x8_add(&x, &x, &modulus);
        fr_expect(&x, a);
        if (k > 40 && k % 61) continue;
        cz_fr_x8_load(&y, b);
        cz_fr_x8_mul(&r, &x, &y);
        for (int i = 0; i < 8; i++) cz_fr_mul(&want[i], &a[i], &b[i]);
        cz_fr_x8_from_256(&r, &r); /* the factor 2^4 that load_shl4 would have brought */
        fr_expect(&r, want);
    }
    cz_fr_x8_mul(&top, &x, &x); /* both at the limit */
    cz_fr_x8_reduce_weak(&r, &x);
    cz_fr_x8_mul(&r, &r, &r);
    fr_out(a, &r);
    fr_expect(&top, a);
    cz_fr_x8_sqr(&top, &x);
    fr_expect(&top, a);
    cz_fr_x8_set(&x, CZ_FR_X8_MULTIPLE); /* the largest b that sub takes */
    cz_fr_x8_load(&y, b);
    cz_fr_x8_sub(&r, &y, &x);
    fr_expect(&r, b);
    cz_fr_x8_neg(&r, &x);
    for (int i = 0; i < 8; i++) b[i] = CZ_FR_ZERO;
    fr_expect(&r, b);
}

static void fr_zero_lanes(void **state) {
    (void)state;
    struct cz_fr a[8];
    struct cz_fr_x8 x, modulus, r;
    fr_data(a);
    a[0] = a[3] = CZ_FR_ZERO;
    __mmask8 want = 0;
    for (int k = 0; k < 8; k++) want |= (__mmask8)(cz_fr_is_zero(&a[k]) << k);
    cz_fr_x8_load(&x, a);
    assert_int_equal(cz_fr_x8_zero_lanes(&x), want);
    cz_fr_x8_set(&modulus, CZ_FR_X8_MODULUS);
    cz_fr_x8_add(&r, &x, &modulus);
    assert_int_equal(cz_fr_x8_zero_lanes(&r), want);
    cz_fr_x8_mul(&r, &x, &modulus);
    assert_int_equal(cz_fr_x8_zero_lanes(&r), 0xff);
}

static void fp_gather_scatter(void **state) {
    (void)state;
    struct cz_fp pool[16], out[16];
    const struct cz_fp *from[8];
    struct cz_fp *to[8];
    struct cz_fp_x8 x;
    for (int i = 0; i < 16; i++) random_fp(&pool[i]);
    memset(out, 0x5a, sizeof out);
    for (int k = 0; k < 8; k++) {
        from[k] = &pool[(5 * k + 3) % 16];
        to[k] = &out[(7 * k + 1) % 16];
    }
    cz_fp_x8_gather(&x, from);
    cz_fp_x8_scatter(to, &x, 0xb7);
    for (int k = 0; k < 8; k++) {
        if (0xb7 >> k & 1)
            assert_true(cz_fp_eq(to[k], from[k]));
        else
            assert_int_equal(to[k]->l[0], 0x5a5a5a5a5a5a5a5a);
    }
}

int main(void) {
    if (cz_field_select(CZ_FIELD_IFMA) != CZ_OK) {
        puts("skipped: this processor has no AVX-512 IFMA");
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fp_lanes),          cmocka_unit_test(fp_bounds), cmocka_unit_test(fp_zero_lanes),
        cmocka_unit_test(fr_lanes),          cmocka_unit_test(fr_bounds), cmocka_unit_test(fr_zero_lanes),
        cmocka_unit_test(fp_gather_scatter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void) {
    puts("skipped: not compiled for AVX-512 IFMA");
    return 0;
}
#endif
