/*
 * Setup on the CUDA device: 2 KiB winning PoSt straight into a resident SRS, no file between. Without a GPU it says so
 * and passes; with CZ_REQUIRE_GPU=1 it fails.
 */

#include "base/bytes.h"
#include "compute/gpu.h"
#include "filecoin/input.h"
#include "filecoin/registered.h"
#include "groth16/setup.h"
#include "support.h"

#include <stdlib.h>

static struct cz_pool *pool;

static struct cz_device *open_device(struct cz_error *err) {
    struct cz_device *dev = NULL;
    struct cz_gpu_options o = {.workers = 1, .vram_limit = (size_t)3 << 30, .residents = (size_t)1 << 30};
    return cz_gpu_create(&dev, &o, pool, err) == CZ_OK ? dev : NULL;
}

static void same_as_cpu(void **state) {
    (void)state;
    struct cz_error err = {0};
    struct cz_device *gpu = open_device(&err), *cpu;
    struct cz_toxic_waste waste;
    struct cz_r1cs *r1cs;
    struct cz_setup_srs srs, want;
    struct cz_setup_result result;
    struct cz_srs *resident;
    assert_non_null(gpu);
    assert_int_equal(cz_device_create_cpu(&cpu, pool), CZ_OK);
    assert_int_equal(cz_toxic_waste_random(&waste), CZ_OK);
    assert_int_equal(cz_input_circuit_build(&r1cs, CZ_CIRCUIT_WINNING, cz_sector_by_size(2048), &err), CZ_OK);
    assert_int_equal(cz_setup_make_srs(&srs, &result, r1cs, &waste, gpu, pool, &err), CZ_OK);
    assert_true(result.samples >= 5);
    assert_int_equal(cz_setup_make_srs(&want, NULL, r1cs, &waste, cpu, pool, &err), CZ_OK);
    assert_int_equal(srs.size, want.size);
    assert_memory_equal(srs.bytes, want.bytes, srs.size);
    assert_int_equal(cz_srs_create(&resident, gpu, r1cs, &srs.view, &err), CZ_OK);
    cz_srs_destroy(resident);
    cz_setup_srs_done(&srs);
    cz_setup_srs_done(&want);
    cz_r1cs_destroy(r1cs);
    cz_device_destroy(gpu);
    cz_device_destroy(cpu);
}

int main(void) {
    struct cz_error err = {0};
    const char *require = getenv("CZ_REQUIRE_GPU");
    if (cz_pool_create(&pool, 0) != CZ_OK) return 1;
    struct cz_device *dev = open_device(&err);
    cz_device_destroy(dev);
    int bad = 0;
    if (dev) {
        const struct CMUnitTest test[] = {cmocka_unit_test(same_as_cpu)};
        bad = cmocka_run_group_tests_name("diff/cuda_setup", test, NULL, NULL);
    } else {
        fprintf(stderr, "diff/cuda_setup: skipped: %s\n", err.detail);
        bad = require && strcmp(require, "0") != 0;
    }
    cz_pool_destroy(pool);
    return bad;
}
