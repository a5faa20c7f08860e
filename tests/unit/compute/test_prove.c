/*
 * The five sums of a partition of a small circuit made by hand, against their definition in spec/r1cs-and-prover.md:
 * every base is a known multiple of a generator, so the sums are checked as numbers. h comes from plain polynomial
 * arithmetic.
 */

#include "base/bytes.h"
#include "compute/compute.h"
#include "curve/encoding.h"
#include "field/cpu.h"
#include "r1cs/r1cs.h"
#include "r1cs/witness.h"
#include "support.h"

#include <pthread.h>
#include <string.h>

/*
 * The template: an external wire e, bits b0 … b6, an element t, its square s, which a witness does not hold.
 *     (1 - b_i)·b_i = 0,   (Σ 2^i·b_i + e)·(e + 3·ONE) = t,   t·t = s
 * e is the t of the instance before, its s in two of five or, in every fifth, input 2: so some s are in neither A nor
 * B, and input 1 is in its own row alone. Bit 6 is left out of the sum.
 */
enum { BITS = 7, LOCALS = BITS + 2, ROWS = BITS + 2, INSTANCES = 77, INPUTS = 3, AUX = INSTANCES * LOCALS };
enum { M = 1024 }; /* 77·9 + 3 rows */

static struct cz_r1cs_term term_a[64], term_b[64], term_c[64];
static uint32_t row_a[ROWS + 1], row_b[ROWS + 1], row_c[ROWS + 1];
static const uint64_t local_is_bit[1] = {0x7f};
static struct cz_r1cs_template tmpl[1];
static struct cz_r1cs_instance instance[INSTANCES];
static uint32_t local_slot[LOCALS], external_slot[INSTANCES];
static uint64_t density[2][1];
static cz_r1cs_var external[INSTANCES];
static struct cz_fr coef[16];
static uint64_t aux_is_bit[(AUX + 63) / 64];
static uint32_t aux_bit_rank[AUX / 512 + 2];
static const uint64_t tmpl_square[1] = {2};
static uint64_t elem_is_square[2 * INSTANCES / 64 + 1];
static const uint32_t elem_square_rank[1] = {0};
static struct cz_r1cs r1cs;

static void make_r1cs(void) {
    uint32_t a = 0, b = 0, c = 0;
    coef[CZ_R1CS_COEF_ZERO] = CZ_FR_ZERO;
    coef[CZ_R1CS_COEF_ONE] = CZ_FR_ONE;
    cz_fr_neg(&coef[CZ_R1CS_COEF_MINUS_ONE], &CZ_FR_ONE);
    cz_fr_from_u64(&coef[CZ_R1CS_COEF_TWO], 2);
    cz_fr_neg(&coef[CZ_R1CS_COEF_MINUS_TWO], &coef[CZ_R1CS_COEF_TWO]);
    for (uint32_t i = 0; i < 6; i++) cz_fr_from_u64(&coef[CZ_R1CS_COEF_FIXED + i], i == 0 ? 3 : 2u << i);
    for (uint32_t i = 0; i < BITS; i++) {
        row_a[i] = a;
        row_b[i] = b;
        row_c[i] = c;
        term_a[a++] = (struct cz_r1cs_term){0, CZ_R1CS_COEF_ONE};
        term_a[a++] = (struct cz_r1cs_term){2 + i, CZ_R1CS_COEF_MINUS_ONE};
        term_b[b++] = (struct cz_r1cs_term){2 + i, CZ_R1CS_COEF_ONE};
    }
    row_a[BITS] = a;
    row_b[BITS] = b;
    row_c[BITS] = c;
    term_a[a++] = (struct cz_r1cs_term){1, CZ_R1CS_COEF_ONE};
    for (uint32_t i = 0; i < BITS - 1; i++)
        term_a[a++] = (struct cz_r1cs_term){2 + i, i == 0   ? CZ_R1CS_COEF_ONE
                                                   : i == 1 ? CZ_R1CS_COEF_TWO
                                                            : CZ_R1CS_COEF_FIXED + i - 1};
    term_b[b++] = (struct cz_r1cs_term){0, CZ_R1CS_COEF_FIXED};
    term_b[b++] = (struct cz_r1cs_term){1, CZ_R1CS_COEF_ONE};
    term_c[c++] = (struct cz_r1cs_term){2 + BITS, CZ_R1CS_COEF_ONE};
    row_a[BITS + 1] = a;
    row_b[BITS + 1] = b;
    row_c[BITS + 1] = c;
    term_a[a++] = (struct cz_r1cs_term){2 + BITS, CZ_R1CS_COEF_ONE};
    term_b[b++] = (struct cz_r1cs_term){2 + BITS, CZ_R1CS_COEF_ONE};
    term_c[c++] = (struct cz_r1cs_term){3 + BITS, CZ_R1CS_COEF_ONE};
    row_a[ROWS] = a;
    row_b[ROWS] = b;
    row_c[ROWS] = c;
    for (uint32_t i = 0; i < BITS; i++) local_slot[i] = CZ_R1CS_SLOT(i, CZ_R1CS_SLOT_BIT);
    local_slot[BITS] = CZ_R1CS_SLOT(0, CZ_R1CS_SLOT_ELEM);
    local_slot[BITS + 1] = CZ_R1CS_SLOT(0, CZ_R1CS_SLOT_SQUARE);
    for (uint32_t i = 0; i < a; i++) density[0][0] |= UINT64_C(1) << term_a[i].col;
    for (uint32_t i = 0; i < b; i++) density[1][0] |= UINT64_C(1) << term_b[i].col;
    tmpl[0] = (struct cz_r1cs_template){.name = "test",
                                        .num_external = 1,
                                        .num_local = LOCALS,
                                        .num_constraints = ROWS,
                                        .num_bits = BITS,
                                        .num_squares = 1,
                                        .elem_is_square = tmpl_square,
                                        .local_is_bit = local_is_bit,
                                        .local_slot = local_slot,
                                        .density = {density[0], density[1]},
                                        .row = {row_a, row_b, row_c},
                                        .term = {term_a, term_b, term_c}};
    for (uint32_t i = 0; i < INSTANCES; i++) {
        instance[i] = (struct cz_r1cs_instance){0, i, i * LOCALS, i * BITS, i * ROWS, i};
        uint32_t square = i % 5 == 2 || i % 5 == 4;
        external[i] = i % 5 == 0 ? CZ_R1CS_INPUT | 2 : (i - 1) * LOCALS + BITS + square;
        external_slot[i] = i % 5 == 0 ? CZ_R1CS_SLOT(2, CZ_R1CS_SLOT_INPUT)
                                      : CZ_R1CS_SLOT(i - 1, square ? CZ_R1CS_SLOT_SQUARE : CZ_R1CS_SLOT_ELEM);
        elem_is_square[(2 * i + 1) / 64] |= UINT64_C(1) << (2 * i + 1) % 64;
        for (uint32_t j = 0; j < BITS; j++) {
            uint32_t v = i * LOCALS + j;
            aux_is_bit[v / 64] |= UINT64_C(1) << v % 64;
        }
    }
    uint32_t rank = 0;
    for (uint32_t v = 0; v < AUX; v++) {
        if (v % 512 == 0) aux_bit_rank[v / 512] = rank;
        rank += aux_is_bit[v / 64] >> v % 64 & 1;
    }
    r1cs = (struct cz_r1cs){.num_inputs = INPUTS,
                            .num_aux = AUX,
                            .num_bits = INSTANCES * BITS,
                            .num_squares = INSTANCES,
                            .num_constraints = INSTANCES * ROWS,
                            .num_templates = 1,
                            .num_instances = INSTANCES,
                            .num_externals = INSTANCES,
                            .num_coefs = CZ_R1CS_COEF_FIXED + 6,
                            .tmpl = tmpl,
                            .instance = instance,
                            .external = external,
                            .external_slot = external_slot,
                            .coef = coef,
                            .aux_is_bit = aux_is_bit,
                            .aux_bit_rank = aux_bit_rank,
                            .elem_is_square = elem_is_square,
                            .elem_square_rank = elem_square_rank};
}

static void make_witness(struct cz_witness *w) {
    uint64_t seed = 99;
    assert_int_equal(cz_witness_init(w, &r1cs), CZ_OK);
    cz_fr_from_u64(&w->input[1], 0); /* an input of 0, in no constraint but its own row */
    cz_fr_from_u64(&w->input[2], 0xfedcba9876543210u);
    for (uint32_t i = 0; i < INSTANCES; i++) {
        struct cz_fr e, sum, t;
        uint64_t bits = test_random(&seed) & 0x7f;
        for (uint32_t j = 0; j < BITS; j++) {
            uint32_t at = i * BITS + j;
            w->bit[at / 64] |= (bits >> j & 1) << at % 64;
        }
        cz_witness_get(&e, w, &r1cs, external[i]);
        cz_fr_from_u64(&sum, bits & 0x3f);
        cz_fr_add(&sum, &sum, &e);
        cz_fr_from_u64(&t, 3);
        cz_fr_add(&t, &t, &e);
        cz_fr_mul(&w->elem[i], &sum, &t);
    }
    assert_int_equal(cz_witness_first_unsatisfied(w, &r1cs, NULL), r1cs.num_constraints);
}

/* A vector of n bases k·G with k = start, start + 1, …, encoded. */
static uint8_t *bases_g1(size_t n, uint64_t start) {
    uint8_t *out = malloc(n * CZ_G1_UNCOMPRESSED);
    struct cz_g1 p, g;
    assert_non_null(out);
    cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
    cz_g1_mul_limbs(&p, &g, &start, 1);
    for (size_t i = 0; i < n; i++) {
        struct cz_g1_affine a;
        cz_g1_to_affine(&a, &p);
        cz_g1_encode_uncompressed(out + i * CZ_G1_UNCOMPRESSED, &a);
        cz_g1_add(&p, &p, &g);
    }
    return out;
}

static uint8_t *bases_g2(size_t n, uint64_t start) {
    uint8_t *out = malloc(n * CZ_G2_UNCOMPRESSED);
    struct cz_g2 p, g;
    assert_non_null(out);
    cz_g2_from_affine(&g, &CZ_G2_GENERATOR);
    cz_g2_mul_limbs(&p, &g, &start, 1);
    for (size_t i = 0; i < n; i++) {
        struct cz_g2_affine a;
        cz_g2_to_affine(&a, &p);
        cz_g2_encode_uncompressed(out + i * CZ_G2_UNCOMPRESSED, &a);
        cz_g2_add(&p, &p, &g);
    }
    return out;
}

enum { START_H = 11, START_L = 100003, START_A = 200003, START_B = 300007 };

static void add_term(struct cz_fr *sum, const struct cz_fr *value, uint64_t multiple) {
    struct cz_fr k;
    cz_fr_from_u64(&k, multiple);
    cz_fr_mul(&k, &k, value);
    cz_fr_add(sum, sum, &k);
}

static bool in_matrix(int matrix, cz_r1cs_var var) {
    if (matrix == CZ_R1CS_A && var & CZ_R1CS_INPUT) return true;
    for (uint32_t i = 0; i < INSTANCES; i++)
        for (uint32_t k = tmpl[0].row[matrix][0]; k < tmpl[0].row[matrix][ROWS]; k++)
            if (cz_r1cs_column_var(&r1cs, &instance[i], tmpl[0].term[matrix][k].col) == var) return true;
    return false;
}

/* Σ value·base over the variables in a matrix, inputs first; counts them. */
static uint32_t sum_matrix(struct cz_fr *sum, int matrix, const struct cz_witness *w, uint64_t start) {
    uint32_t n = 0;
    struct cz_fr z;
    *sum = CZ_FR_ZERO;
    for (uint32_t i = 0; i < INPUTS + AUX; i++) {
        cz_r1cs_var var = i < INPUTS ? CZ_R1CS_INPUT | i : i - INPUTS;
        if (!in_matrix(matrix, var)) continue;
        cz_witness_get(&z, w, &r1cs, var);
        add_term(sum, &z, start + n++);
    }
    return n;
}

static void evaluate_row(struct cz_fr *out, int matrix, uint32_t row, const struct cz_witness *w) {
    const struct cz_r1cs_instance *inst = &instance[row / ROWS];
    *out = CZ_FR_ZERO;
    for (uint32_t k = tmpl[0].row[matrix][row % ROWS]; k < tmpl[0].row[matrix][row % ROWS + 1]; k++) {
        struct cz_fr z;
        const struct cz_r1cs_term *t = &tmpl[0].term[matrix][k];
        cz_witness_get(&z, w, &r1cs, cz_r1cs_column_var(&r1cs, inst, t->col));
        cz_fr_mul(&z, &z, &coef[t->coef]);
        cz_fr_add(out, out, &z);
    }
}

/* Coefficients from values over the domain, by the definition. */
static void interpolate(struct cz_fr *out, const struct cz_fr *v) {
    struct cz_fr root, x, scale;
    cz_fr_root_of_unity(&root, 10);
    cz_fr_inv(&root, &root);
    cz_fr_from_u64(&scale, M);
    cz_fr_inv(&scale, &scale);
    x = CZ_FR_ONE;
    for (size_t k = 0; k < M; k++) {
        struct cz_fr sum = CZ_FR_ZERO;
        for (size_t i = M; i-- > 0;) {
            cz_fr_mul(&sum, &sum, &x);
            cz_fr_add(&sum, &sum, &v[i]);
        }
        cz_fr_mul(&out[k], &sum, &scale);
        cz_fr_mul(&x, &x, &root);
    }
}

/* Σ h_i·(START_H + i): the product polynomial less c, whose upper half is the quotient by X^m - 1. */
static void sum_h(struct cz_fr *out, const struct cz_witness *w) {
    static struct cz_fr value[M], p[3][M], product[2 * M];
    for (int m = 0; m < 3; m++) {
        memset(value, 0, sizeof value);
        for (uint32_t k = 0; k < r1cs.num_constraints; k++) evaluate_row(&value[k], m, k, w);
        for (uint32_t i = 0; m == CZ_R1CS_A && i < INPUTS; i++) value[r1cs.num_constraints + i] = w->input[i];
        interpolate(p[m], value);
    }
    memset(product, 0, sizeof product);
    for (size_t i = 0; i < M; i++) {
        for (size_t j = 0; j < M; j++) {
            struct cz_fr t;
            cz_fr_mul(&t, &p[0][i], &p[1][j]);
            cz_fr_add(&product[i + j], &product[i + j], &t);
        }
    }
    *out = CZ_FR_ZERO;
    for (size_t i = 0; i < M; i++) {
        struct cz_fr rest; /* product - c = h·X^m - h */
        cz_fr_add(&rest, &product[i], &product[i + M]);
        assert_true(cz_fr_eq(&rest, &p[2][i]));
        if (i + 1 < M) add_term(out, &product[i + M], START_H + i);
    }
}

static bool is_g1(const struct cz_g1 *p, const struct cz_fr *multiple) {
    struct cz_g1 g;
    cz_g1_from_affine(&g, &CZ_G1_GENERATOR);
    cz_g1_mul(&g, &g, multiple);
    return cz_g1_eq(p, &g);
}

struct fixture {
    struct cz_witness witness;
    struct cz_srs_view view;
    struct cz_fr h, l, a, b;
};

static int set_up(void **state) {
    static struct fixture f;
    make_r1cs();
    assert_int_equal(cz_r1cs_domain_log2(&r1cs), 10);
    make_witness(&f.witness);
    f.view.num_h = M - 1;
    f.view.num_l = AUX;
    f.view.num_a = sum_matrix(&f.a, CZ_R1CS_A, &f.witness, START_A);
    f.view.num_b = sum_matrix(&f.b, CZ_R1CS_B, &f.witness, START_B);
    assert_in_range(f.view.num_a, INPUTS + 1, INPUTS + AUX - 1);
    assert_in_range(f.view.num_b, 10, f.view.num_a - 1);
    f.l = CZ_FR_ZERO;
    for (uint32_t i = 0; i < AUX; i++) {
        struct cz_fr z;
        cz_witness_get(&z, &f.witness, &r1cs, i);
        add_term(&f.l, &z, START_L + i);
    }
    sum_h(&f.h, &f.witness);
    f.view.h = bases_g1(f.view.num_h, START_H);
    f.view.l = bases_g1(f.view.num_l, START_L);
    f.view.a = bases_g1(f.view.num_a, START_A);
    f.view.b_g1 = bases_g1(f.view.num_b, START_B);
    f.view.b_g2 = bases_g2(f.view.num_b, START_B);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    cz_witness_done(&f->witness);
    free((void *)(uintptr_t)f->view.h);
    free((void *)(uintptr_t)f->view.l);
    free((void *)(uintptr_t)f->view.a);
    free((void *)(uintptr_t)f->view.b_g1);
    free((void *)(uintptr_t)f->view.b_g2);
    return 0;
}

static void sums_are_right(void **state) {
    const struct fixture *f = *state;
    for (int level = 0; level <= (int)cz_field_supported(); level++) {
        for (unsigned threads = 1; threads <= 3; threads += 2) {
            struct cz_pool *pool;
            struct cz_device *dev;
            struct cz_srs *srs;
            struct cz_error err = {0};
            struct cz_partition_sums sums;
            struct cz_partition_timing timing;
            assert_int_equal(cz_field_select((enum cz_field_level)level), CZ_OK);
            assert_int_equal(cz_pool_create(&pool, threads), CZ_OK);
            assert_int_equal(cz_device_create_cpu(&dev, pool), CZ_OK);
            assert_int_equal(cz_srs_create(&srs, dev, &r1cs, &f->view, &err), CZ_OK);
            assert_ptr_equal(cz_srs_r1cs(srs), &r1cs);
            assert_true(cz_srs_bytes(srs) > 0);
            assert_true(cz_device_partition_bytes(dev, &r1cs) >= 3 * M * sizeof(struct cz_fr));
            assert_int_equal(cz_device_prove_partition(&sums, &timing, srs, &f->witness, &err), CZ_OK);
            assert_true(is_g1(&sums.h, &f->h));
            assert_true(is_g1(&sums.l, &f->l));
            assert_true(is_g1(&sums.a, &f->a));
            assert_true(is_g1(&sums.b_g1, &f->b));
            struct cz_g2 g;
            cz_g2_from_affine(&g, &CZ_G2_GENERATOR);
            cz_g2_mul(&g, &g, &f->b);
            assert_true(cz_g2_eq(&sums.b_g2, &g));
            assert_true(timing.total >= timing.msm_h && timing.msm_h > 0);
            cz_srs_destroy(srs);
            cz_device_destroy(dev);
            cz_pool_destroy(pool);
        }
    }
}

struct caller {
    const struct fixture *f;
    struct cz_srs *srs;
    bool right;
};

static void *prove_again(void *arg) {
    struct caller *c = arg;
    c->right = true;
    for (int i = 0; i < 5; i++) {
        struct cz_partition_sums sums;
        enum cz_status status = cz_device_prove_partition(&sums, NULL, c->srs, &c->f->witness, NULL);
        c->right = c->right && status == CZ_OK && is_g1(&sums.h, &c->f->h) && is_g1(&sums.a, &c->f->a);
    }
    return NULL;
}

static void threads_prove_at_once(void **state) {
    const struct fixture *f = *state;
    struct cz_pool *pool;
    struct cz_device *dev;
    struct cz_srs *srs;
    struct caller caller[3];
    pthread_t thread[3];
    assert_int_equal(cz_pool_create(&pool, 2), CZ_OK);
    assert_int_equal(cz_device_create_cpu(&dev, pool), CZ_OK);
    assert_int_equal(cz_srs_create(&srs, dev, &r1cs, &f->view, NULL), CZ_OK);
    for (int i = 0; i < 3; i++) {
        caller[i] = (struct caller){f, srs, false};
        assert_int_equal(pthread_create(&thread[i], NULL, prove_again, &caller[i]), 0);
    }
    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
        assert_true(caller[i].right);
    }
    cz_srs_destroy(srs);
    cz_device_destroy(dev);
    cz_pool_destroy(pool);
}

static void wrong_counts_are_refused(void **state) {
    const struct fixture *f = *state;
    struct cz_device *dev;
    struct cz_srs *srs = NULL;
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    for (int i = 0; i < 8; i++) {
        struct cz_srs_view view = f->view;
        struct cz_error err = {0};
        uint32_t *const count[] = {&view.num_h, &view.num_l, &view.num_a, &view.num_b};
        static const char *const name[] = {"vector h", "vector l", "vector a", "vector b"};
        *count[i / 2] += i % 2 ? 1 : UINT32_MAX;
        assert_int_equal(cz_srs_create(&srs, dev, &r1cs, &view, &err), CZ_ERR_MISMATCH);
        assert_non_null(strstr(err.detail, name[i / 2]));
        assert_null(srs);
    }
    struct cz_error err = {0};
    struct cz_partition_sums sums;
    assert_int_equal(cz_srs_create(&srs, dev, &r1cs, &f->view, &err), CZ_OK);
    struct cz_witness other = f->witness;
    other.num_bits--;
    assert_int_equal(cz_device_prove_partition(&sums, NULL, srs, &other, &err), CZ_ERR_MISMATCH);
    cz_srs_destroy(srs);
    cz_srs_destroy(NULL);
    cz_device_destroy(dev);
    cz_device_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_right),
        cmocka_unit_test(threads_prove_at_once),
        cmocka_unit_test(wrong_counts_are_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
