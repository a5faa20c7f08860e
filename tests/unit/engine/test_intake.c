/* Requests of clients: identity and validation. */

#include "base/bytes.h"
#include "base/file.h"
#include "engine/intake.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define VECTOR(name) CZ_SHARED_DIR "/vectors/reference/2kib/" name "/c1.json.gz"

static struct cz_bytes file(const char *path) {
    struct cz_bytes b = {0};
    uint8_t *data;
    struct cz_error err = {0};
    if (cz_file_read(&data, &b.len, path, 1 << 20, &err) != CZ_OK) fail_msg("%s", err.detail);
    b.data = data;
    return b;
}

static void test_digest(void **state) {
    (void)state;
    static const uint8_t A[64] = {1}, B[64] = {2};
    const struct cz_bytes list[2] = {{A, 3}, {B, 2}}, other_list[2] = {{A, 2}, {B, 3}};
    const struct cz_intake base = {.request_id = "x",
                                   .proof_kind = 1,
                                   .sector_size = 2048,
                                   .registered_proof = 5,
                                   .vanilla_proof = {A, 10},
                                   .vanilla_proofs = list,
                                   .num_vanilla_proofs = 2,
                                   .randomness = {A, 32}};
    struct cz_intake v[16];
    size_t n = 0;
    for (size_t i = 0; i < 16; i++) v[i] = base;
    v[n++].proof_kind = 2;
    v[n++].sector_size++;
    v[n++].registered_proof++;
    v[n++].sector_number++;
    v[n++].miner_id++;
    v[n++].partition_index++;
    v[n++].vanilla_proof = (struct cz_bytes){B, 10};
    v[n++].vanilla_proof = (struct cz_bytes){A, 11};
    v[n++].vanilla_proofs = other_list;
    v[n++].num_vanilla_proofs = 1;
    v[n++].randomness = (struct cz_bytes){B, 32};
    v[n++].comm_r_old = (struct cz_bytes){A, 32};
    v[n++].comm_r_new = (struct cz_bytes){A, 32};
    v[n++].comm_d_new = (struct cz_bytes){A, 32};
    uint8_t d0[32], d[16][32];
    assert_int_equal(cz_intake_digest(d0, &base), CZ_OK);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(cz_intake_digest(d[i], &v[i]), CZ_OK);
        assert_memory_not_equal(d[i], d0, 32);
        for (size_t k = 0; k < i; k++) assert_memory_not_equal(d[i], d[k], 32);
    }
    /* Neither name nor priority makes another input. */
    struct cz_intake same = base;
    same.request_id = "y";
    same.priority = 4;
    assert_int_equal(cz_intake_digest(d[0], &same), CZ_OK);
    assert_memory_equal(d[0], d0, 32);
}

static void expect(const struct cz_intake *in, enum cz_status status, const char *says) {
    struct cz_engine_request r;
    struct cz_error err = {0};
    enum cz_status st = cz_intake_parse(&r, in, &err);
    if (st == CZ_OK) cz_c1_destroy(r.c1);
    if (st != status || !strstr(err.detail, says)) fail_msg("status %d: \"%s\"", (int)st, err.detail);
}

static void test_validation(void **state) {
    (void)state;
    struct cz_bytes c1 = file(VECTOR("porep-v1_1"));
    const struct cz_intake base = {.request_id = "", .proof_kind = 1, .vanilla_proof = c1};
    struct cz_intake in = base;
    expect(&in, CZ_OK, "");
    in.sector_size = 2048;
    in.registered_proof = 5;
    in.priority = 4;
    expect(&in, CZ_OK, "");
    in.sector_size = 8u << 20;
    expect(&in, CZ_ERR_MISMATCH, "sector_size");
    in.sector_size = 2049;
    expect(&in, CZ_ERR_ARGUMENT, "sector_size");
    in = base;
    in.registered_proof = 10;
    expect(&in, CZ_ERR_MISMATCH, "registered_proof");
    in.registered_proof = 20;
    expect(&in, CZ_ERR_ARGUMENT, "registered_proof");
    in.registered_proof = UINT64_MAX;
    expect(&in, CZ_ERR_ARGUMENT, "registered_proof");
    in = base;
    in.proof_kind = 0;
    expect(&in, CZ_ERR_ARGUMENT, "proof_kind");
    in.proof_kind = 5;
    expect(&in, CZ_ERR_ARGUMENT, "proof_kind");
    in.proof_kind = -1;
    expect(&in, CZ_ERR_ARGUMENT, "proof_kind");
    in.proof_kind = 4;
    expect(&in, CZ_ERR_UNSUPPORTED, "winning-post");
    in = base;
    in.priority = 5;
    expect(&in, CZ_ERR_ARGUMENT, "priority");
    in = base;
    in.vanilla_proof.len = 0;
    expect(&in, CZ_ERR_ARGUMENT, "vanilla_proof");
    in = base;
    in.vanilla_proofs = &c1;
    in.num_vanilla_proofs = 1;
    expect(&in, CZ_ERR_ARGUMENT, "vanilla_proofs");
    in = base;
    in.vanilla_proof.len /= 2;
    expect(&in, CZ_ERR_FORMAT, "vanilla_proof");
    char long_id[CZ_REQUEST_ID_MAX + 2];
    memset(long_id, 'x', sizeof long_id);
    long_id[sizeof long_id - 1] = 0;
    in = base;
    in.request_id = long_id;
    expect(&in, CZ_ERR_LIMIT, "request_id");
    cz_free((void *)c1.data);
}

static void test_versions(void **state) {
    (void)state;
    static const struct {
        const char *path;
        enum cz_status status;
        const char *says;
    } CASE[] = {{VECTOR("porep-v1"), CZ_OK, ""},
                {VECTOR("porep-v1_1"), CZ_OK, ""},
                {VECTOR("porep-v1_1-synthetic"), CZ_OK, ""},
                {VECTOR("porep-v1_2-non-interactive"), CZ_ERR_UNSUPPORTED, "aggregation"}};
    for (size_t i = 0; i < sizeof CASE / sizeof *CASE; i++) {
        struct cz_bytes c1 = file(CASE[i].path);
        struct cz_intake in = {.proof_kind = 1, .vanilla_proof = c1};
        expect(&in, CASE[i].status, CASE[i].says);
        cz_free((void *)c1.data);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest),
        cmocka_unit_test(test_validation),
        cmocka_unit_test(test_versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
