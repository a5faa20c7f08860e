/* The memory plan of the circuits and cards that matter, and NVML where there is none. No GPU is needed. */

#include "compute/cuda/nvml.h"
#include "compute/cuda/plan.h"
#include "filecoin/input.h"
#include "support.h"

#include <string.h>

static struct cz_r1cs *r1cs;

static int build(void **state) {
    (void)state;
    return cz_input_circuit_build(&r1cs, CZ_CIRCUIT_POREP, cz_sector_by_name("32GiB"), NULL) == CZ_OK ? 0 : 1;
}
static int done(void **state) {
    (void)state;
    cz_r1cs_destroy(r1cs);
    return 0;
}

static const struct cz_gpu_plan_item *item(const struct cz_gpu_plan *p, const char *name) {
    for (size_t i = 0; i < p->num_items; i++)
        if (strcmp(p->item[i].name, name) == 0) return &p->item[i];
    fail_msg("no item %s", name);
    return NULL;
}

/* What holds of every plan. */
static void check_sums(const struct cz_gpu_plan *p) {
    size_t resident = 0, streamed = 0;
    for (size_t i = 0; i < p->num_items; i++) {
        if (p->item[i].place == CZ_GPU_RESIDENT) resident += p->item[i].bytes;
        if (p->item[i].place == CZ_GPU_STREAMED) streamed += p->item[i].bytes;
    }
    assert_true(resident == p->residents && streamed == p->streamed);
    assert_true(p->worker >= p->vectors + p->witness);
    assert_true(p->worker >= p->sums_least + p->witness);
}

static void cards(void **state) {
    (void)state;
    static const unsigned gib[] = {16, 20, 24, 28, 32, 36, 40, 48, 56, 64, 70, 72, 80, 96, 141};
    size_t streamed = SIZE_MAX;
    for (size_t i = 0; i < sizeof gib / sizeof *gib; i++) {
        struct cz_gpu_plan p;
        struct cz_error err = {0};
        const size_t vram = (size_t)gib[i] << 30;
        if (cz_gpu_plan_make(&p, r1cs, vram, 1, &err) != CZ_OK) fail_msg("%u GiB: %s", gib[i], err.detail);
        assert_int_equal(p.log_domain, 27);
        check_sums(&p);
        assert_true(p.peak <= vram);
        assert_true(CZ_GPU_PLAN_RESERVE + p.residents + p.worker <= vram);
        assert_true(p.streamed <= streamed); /* more memory never streams more */
        streamed = p.streamed;
        assert_int_equal(item(&p, "circuit")->place, CZ_GPU_RESIDENT);
        if (gib[i] == 16) assert_int_equal(item(&p, "H and its index")->place, CZ_GPU_STREAMED);
        if (gib[i] >= 80) assert_true(p.streamed == 0);
        if (gib[i] == 141) assert_int_equal(item(&p, "tables of 2^27")->place, CZ_GPU_RESIDENT);
        assert_int_equal(item(&p, "neighbours of B in G2")->place, gib[i] == 141 ? CZ_GPU_RESIDENT : CZ_GPU_LEFT_OUT);
    }
}

/* More memory than references to points reach is no use. */
static void large(void **state) {
    (void)state;
    struct cz_gpu_plan most, more;
    assert_int_equal(cz_gpu_plan_make(&most, r1cs, CZ_GPU_PLAN_MOST + CZ_GPU_PLAN_RESERVE, 1, NULL), CZ_OK);
    assert_int_equal(cz_gpu_plan_make(&more, r1cs, (size_t)288 << 30, 1, NULL), CZ_OK);
    assert_true(most.residents + most.worker <= CZ_GPU_PLAN_MOST);
    assert_true(more.residents == most.residents && more.worker == most.worker);
}

static void workers(void **state) {
    (void)state;
    struct cz_gpu_plan one, two;
    assert_int_equal(cz_gpu_plan_make(&one, r1cs, (size_t)141 << 30, 1, NULL), CZ_OK);
    assert_int_equal(cz_gpu_plan_make(&two, r1cs, (size_t)141 << 30, 2, NULL), CZ_OK);
    check_sums(&two);
    assert_true(two.worker < one.worker);
    assert_true(two.residents + 2 * two.worker <= (size_t)141 << 30);
}

static void refused(void **state) {
    (void)state;
    struct cz_gpu_plan p;
    struct cz_error err = {0};
    assert_int_equal(cz_gpu_plan_make(&p, r1cs, (size_t)12 << 30, 1, &err), CZ_ERR_BUDGET);
    assert_non_null(strstr(err.detail, "too little"));
    assert_true(p.peak > (size_t)12 << 30); /* says what it would take */
    assert_int_equal(cz_gpu_plan_make(&p, r1cs, (size_t)16 << 30, 2, NULL), CZ_ERR_BUDGET);
    assert_int_equal(cz_gpu_plan_make(&p, r1cs, 0, 1, NULL), CZ_ERR_BUDGET);
    assert_int_equal(cz_gpu_plan_make(&p, r1cs, (size_t)16 << 30, 0, NULL), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_gpu_plan_make(&p, r1cs, (size_t)16 << 30, 9, NULL), CZ_ERR_ARGUMENT);
}

static void telemetry(void **state) {
    (void)state;
    struct cz_nvml *nvml = NULL;
    struct cz_error err = {0};
    char text[32];
    if (cz_nvml_open(&nvml, &err) == CZ_OK) {
        struct cz_nvml_card card;
        assert_false(cz_nvml_read(&card, nvml, cz_nvml_count(nvml)));
        cz_nvml_close(nvml);
    } else {
        assert_int_equal(err.status, CZ_ERR_UNSUPPORTED);
        assert_non_null(strstr(err.detail, "NVML"));
    }
    cz_nvml_throttle_text(text, sizeof text, 0);
    assert_string_equal(text, "");
    cz_nvml_throttle_text(text, sizeof text, 0x24);
    assert_string_equal(text, "power cap, thermal");
    cz_nvml_throttle_text(text, 8, 0x24); /* cut, and ended */
    assert_int_equal(strlen(text), 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cards),   cmocka_unit_test(large),     cmocka_unit_test(workers),
        cmocka_unit_test(refused), cmocka_unit_test(telemetry),
    };
    return cmocka_run_group_tests(tests, build, done);
}
