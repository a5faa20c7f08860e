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
    if (st == CZ_OK) cz_input_destroy(r.input);
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

static struct cz_bytes vanilla(const char *name, unsigned i) {
    char path[256];
    (void)snprintf(path, sizeof path, CZ_SHARED_DIR "/vectors/reference/2kib/%s/vanilla-%u.bin", name, i);
    return file(path);
}

/* One below r, as every randomness here. */
static const uint8_t RANDOM[32] = {3, 1, 4}, ONES[32] = {1, 1, 1};
static const uint8_t R[32] = {1, 0,   0,   0, 255, 255, 255, 255, 254, 91,  254, 255, 2,  164, 189, 83,
                              5, 216, 161, 9, 8,   216, 57,  51,  72,  125, 157, 41,  83, 167, 237, 115};

static void test_post(void **state) {
    (void)state;
    struct cz_bytes window[3], winning = vanilla("winning", 0);
    for (unsigned i = 0; i < 3; i++) window[i] = vanilla("window-v1", i);
    const struct cz_intake win = {.proof_kind = 4,
                                  .miner_id = 1000,
                                  .randomness = {RANDOM, 32},
                                  .vanilla_proofs = &winning,
                                  .num_vanilla_proofs = 1};
    struct cz_intake in = win;
    expect(&in, CZ_OK, "");
    in.sector_size = 2048;
    expect(&in, CZ_OK, "");
    in.vanilla_proofs = NULL;
    in.num_vanilla_proofs = 0;
    expect(&in, CZ_ERR_ARGUMENT, "vanilla_proofs is empty");
    in.vanilla_proof = winning;
    expect(&in, CZ_OK, ""); /* alone, it may hold the single one */
    in.num_vanilla_proofs = 1;
    in.vanilla_proofs = &winning;
    expect(&in, CZ_ERR_ARGUMENT, "both");
    in = win;
    in.sector_size = 8u << 20; /* the proof's size is the sector's: 0 is not given */
    expect(&in, CZ_ERR_LENGTH, "vanilla proof 0");
    in.sector_size = 4096;
    expect(&in, CZ_ERR_UNSUPPORTED, "sector_size");
    in = win;
    in.registered_proof = 1;
    in.sector_size = 2048;
    expect(&in, CZ_ERR_MISMATCH, "sector_size");
    in.registered_proof = 5;
    expect(&in, CZ_ERR_MISMATCH, "proof_kind is winning-post");
    in.registered_proof = 15;
    expect(&in, CZ_ERR_ARGUMENT, "registered_proof");
    in = win;
    in.partition_index = 1;
    expect(&in, CZ_ERR_ARGUMENT, "partition_index");
    in = win;
    in.randomness.len = 31;
    expect(&in, CZ_ERR_LENGTH, "randomness");
    in.randomness = (struct cz_bytes){R, 32};
    expect(&in, CZ_ERR_FIELD_RANGE, "randomness");
    in = win;
    in.vanilla_proofs = window;
    expect(&in, CZ_ERR_LENGTH, "vanilla proof 0");

    const struct cz_intake base = {.proof_kind = 3,
                                   .registered_proof = 5,
                                   .miner_id = 1000,
                                   .randomness = {RANDOM, 32},
                                   .vanilla_proofs = window,
                                   .num_vanilla_proofs = 2,
                                   .partition_index = 7};
    in = base;
    expect(&in, CZ_OK, "");
    in.registered_proof = 10;
    in.sector_size = 2048;
    expect(&in, CZ_OK, "");
    in.registered_proof = 4;
    expect(&in, CZ_ERR_MISMATCH, "registered_proof");
    in.registered_proof = 0;
    expect(&in, CZ_ERR_ARGUMENT, "registered_proof");
    in.registered_proof = 11;
    expect(&in, CZ_ERR_MISMATCH, "sector_size");
    in = base;
    in.num_vanilla_proofs = 3; /* a partition has two places */
    expect(&in, CZ_ERR_LIMIT, "vanilla_proofs");
    in.num_vanilla_proofs = 0;
    expect(&in, CZ_ERR_ARGUMENT, "vanilla_proofs");
    struct cz_bytes bad[2] = {window[0], {window[1].data, window[1].len - 1}};
    in = base;
    in.vanilla_proofs = bad;
    expect(&in, CZ_ERR_LENGTH, "vanilla proof 1");
    bad[1].len = 0;
    expect(&in, CZ_ERR_LENGTH, "vanilla proof 1");

    /* What the request says reaches the input, and the input stands on its own bytes. */
    struct cz_engine_request r;
    uint8_t *copy = malloc(window[0].len);
    assert_non_null(copy);
    memcpy(copy, window[0].data, window[0].len);
    in = base;
    in.registered_proof = 10;
    in.num_vanilla_proofs = 0;
    in.vanilla_proof = (struct cz_bytes){copy, window[0].len};
    assert_int_equal(cz_intake_parse(&r, &in, NULL), CZ_OK);
    free(copy);
    static const uint8_t MINER[32] = {0xe8, 7};
    const struct cz_post *post = r.input->post;
    assert_memory_equal(post->prover_id, MINER, 32);
    assert_memory_equal(post->randomness, RANDOM, 32);
    assert_int_equal(post->proof, 10);
    assert_int_equal(post->first_partition, 7);
    assert_int_equal(r.input->kind, CZ_CIRCUIT_WINDOW);
    assert_int_equal(r.input->num_partitions, 1);
    assert_int_equal(r.input->sector->size, 2048);
    assert_true(cz_input_bytes(r.input) > window[0].len / 2 && cz_input_bytes(r.input) < 4 * window[0].len);
    struct cz_error err = {0}; /* of another challenge than this randomness asks for */
    assert_int_equal(cz_input_check(r.input, &err), CZ_ERR_MISMATCH);
    assert_non_null(strstr(err.detail, "challenge 0"));
    assert_non_null(strstr(err.detail, "sector"));
    cz_input_destroy(r.input);
    for (unsigned i = 0; i < 3; i++) cz_free((void *)window[i].data);
    cz_free((void *)winning.data);
}

static void test_snap(void **state) {
    (void)state;
    struct cz_bytes blob[2] = {vanilla("update", 0)};
    blob[1] = blob[0];
    const struct cz_intake base = {.proof_kind = 2,
                                   .vanilla_proofs = blob,
                                   .num_vanilla_proofs = 1,
                                   .comm_r_old = {ONES, 32},
                                   .comm_r_new = {ONES, 32},
                                   .comm_d_new = {ONES, 32}};
    struct cz_intake in = base;
    expect(&in, CZ_OK, "");
    in.sector_size = 2048;
    expect(&in, CZ_OK, "");
    in.sector_size = UINT64_C(32) << 30;
    expect(&in, CZ_ERR_LENGTH, "16 partitions");
    in.registered_proof = 1;
    expect(&in, CZ_ERR_MISMATCH, "sector_size");
    in.registered_proof = 5;
    expect(&in, CZ_ERR_ARGUMENT, "registered_proof");
    in = base;
    in.num_vanilla_proofs = 2;
    expect(&in, CZ_ERR_LIMIT, "vanilla_proofs");
    in = base;
    in.vanilla_proofs = NULL;
    in.num_vanilla_proofs = 0;
    expect(&in, CZ_ERR_ARGUMENT, "vanilla_proofs");
    in.vanilla_proof = blob[0];
    expect(&in, CZ_OK, "");
    in = base;
    in.comm_r_old.len = 0;
    expect(&in, CZ_ERR_LENGTH, "comm_r_old");
    in = base;
    in.comm_r_new.len = 33;
    expect(&in, CZ_ERR_LENGTH, "comm_r_new");
    in = base;
    in.comm_d_new.len = 1;
    expect(&in, CZ_ERR_LENGTH, "comm_d_new");
    in = base;
    in.comm_r_new.data = R;
    expect(&in, CZ_ERR_FIELD_RANGE, "comm_r_new");
    in = base;
    blob[0].len--;
    expect(&in, CZ_ERR_LENGTH, "partition 0");
    cz_free((void *)blob[0].data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digest), cmocka_unit_test(test_validation), cmocka_unit_test(test_versions),
        cmocka_unit_test(test_post),   cmocka_unit_test(test_snap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
