/* Fails each allocation in turn while a small circuit is built: an error every time, and nothing lost or broken. */

#include "base/bytes.h"
#include "r1cs/digest.h"
#include "r1cs/gadgets/num.h"
#include "r1cs/gadgets/path.h"
#include "r1cs/gadgets/poseidon.h"
#include "r1cs/witness.h"
#include "support.h"

static long calls, fail_at = -1, live;

void *__real_cz_calloc(size_t n, size_t size);
void *__real_cz_malloc_array(size_t n, size_t size);
void __real_cz_free(void *p);
void *__wrap_cz_calloc(size_t n, size_t size);
void *__wrap_cz_malloc_array(size_t n, size_t size);
void __wrap_cz_free(void *p);

void *__wrap_cz_calloc(size_t n, size_t size) {
    if (calls++ == fail_at) return NULL;
    void *p = __real_cz_calloc(n, size);
    live += p != NULL;
    return p;
}
void *__wrap_cz_malloc_array(size_t n, size_t size) {
    if (calls++ == fail_at) return NULL;
    void *p = __real_cz_malloc_array(n, size);
    live += p != NULL;
    return p;
}
void __wrap_cz_free(void *p) {
    live -= p != NULL;
    __real_cz_free(p);
}

static enum cz_status build_and_use(void) {
    struct cz_builder *b;
    struct cz_r1cs *r1cs;
    struct cz_error err = {0};
    struct cz_witness w;
    uint8_t digest[32];
    enum cz_status status = cz_builder_create(&b);
    if (status) return status;
    const struct cz_path_shape shape = {CZ_PATH_POSEIDON, 2, {8, 2}};
    cz_r1cs_var x[2];
    cz_wire bits[256];
    cz_num_alloc(b, x, 2);
    cz_path_constrain(b, &shape, x[0], x[1]);
    cz_num_to_sha_bits(b, bits, x[0]);
    cz_sha256_constrain(b, bits, bits, 256);
    cz_num_pack_into_inputs(b, bits, 256);
    status = cz_builder_finish(&r1cs, b, &err);
    if (status) return status;
    status = cz_witness_init(&w, r1cs);
    if (!status) status = cz_digest_r1cs(digest, r1cs);
    if (!status)
        cz_witness_done(&w);
    else if (w.bit)
        cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
    return status;
}

static void each_allocation_fails(void **state) {
    (void)state;
    long total;
    calls = 0;
    assert_int_equal(build_and_use(), CZ_OK);
    total = calls;
    assert_int_equal(live, 0);
    assert_true(total > 50);
    for (long n = 0; n < total; n++) {
        calls = 0;
        fail_at = n;
        assert_int_equal(build_and_use(), CZ_ERR_MEMORY);
        assert_int_equal(live, 0);
    }
    fail_at = -1;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_allocation_fails)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
