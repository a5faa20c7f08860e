/*
 * Winning and window PoSt against the reference: constraint systems, witnesses, public inputs, real vanilla proofs.
 * The argument "long" adds the digests of the 32 and 64 GiB window circuits (minutes).
 */

#include "circuit_common.h"
#include "filecoin/circuits/post.h"
#include "groth16/verify.h"
#include "hash/sha256.h"
#include "support/json.h"

#include <openssl/evp.h>
#include <sys/resource.h>

#define SPEC CZ_SHARED_DIR "/spec/vectors/"
#define MAX_VANILLA 3
#define MAX_RSS_KIB (500 << 10)

static bool long_tests;

static long peak_rss_kib(void) {
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

/* ---- constraint systems ---- */

static struct cz_r1cs *build(enum cz_circuit_kind kind, const char *size) {
    return test_build_circuit(cz_post_circuit_build, kind, size);
}

static void traces_agree(void **state) {
    (void)state;
    for (int winning = 0; winning < 2; winning++) {
        struct cz_map trace;
        struct cz_error err = {0};
        struct cz_r1cs *r1cs = build(winning ? CZ_CIRCUIT_WINNING : CZ_CIRCUIT_WINDOW, "2KiB");
        const char *path = winning ? VECTORS "trace/winning-2kib.u16" : VECTORS "trace/window-2kib.u16";
        assert_int_equal(cz_map_open(&trace, path, NULL), CZ_OK);
        if (cz_digest_compare_trace(r1cs, trace.data, trace.size, &err)) fail_msg("%s", err.detail);
        cz_map_close(&trace);
        cz_r1cs_destroy(r1cs);
    }
}

static void sizes_agree(void **state) {
    (void)state;
    static const char *const WINNING[] = {"2kib", "4kib", "16kib", "32kib", "8mib", "512mib", "32gib", "64gib"};
    static const char *const WINDOW[] = {"2kib", "8mib", "512mib", "32gib", "64gib"};
    uint8_t *lines;
    size_t len;
    assert_int_equal(cz_file_read(&lines, &len, VECTORS "r1cs.jsonl", 1 << 20, NULL), CZ_OK);
    for (size_t i = 0; i < sizeof WINNING / sizeof *WINNING; i++)
        test_check_circuit(cz_post_circuit_build, (char *)lines, CZ_CIRCUIT_WINNING, WINNING[i], true);
    for (size_t i = 0; i < sizeof WINDOW / sizeof *WINDOW; i++)
        test_check_circuit(cz_post_circuit_build, (char *)lines, CZ_CIRCUIT_WINDOW, WINDOW[i],
                           long_tests || !strstr(WINDOW[i], "gib"));
    cz_free(lines);
}

/* ---- requests ---- */

struct request {
    yajl_val expected;
    uint8_t randomness[32], prover_id[32];
    uint8_t *file[MAX_VANILLA];
    struct cz_bytes vanilla[MAX_VANILLA];
    struct cz_post_request q;
};

static void load_request(struct request *r, const char *dir) {
    char path[400];
    struct cz_error err = {0};
    memset(r, 0, sizeof *r);
    snprintf(path, sizeof path, VECTORS "%s/expected.json", dir);
    r->expected = test_json_load(path);
    const char *name = test_json_string(r->expected, "registered_post_proof");
    assert_int_equal(cz_registered_post_parse(&r->q.proof, name, strlen(name)), CZ_OK);
    assert_int_equal(cz_hex_decode(r->randomness, 32, test_json_string(r->expected, "randomness")), CZ_OK);
    assert_int_equal(cz_hex_decode(r->prover_id, 32, test_json_string(r->expected, "prover_id")), CZ_OK);
    r->q.randomness = r->randomness;
    r->q.prover_id = r->prover_id;
    r->q.vanilla = r->vanilla;
    for (size_t i = 0; i < MAX_VANILLA; i++) {
        snprintf(path, sizeof path, VECTORS "%s/vanilla-%zu.bin", dir, i);
        if (cz_file_read(&r->file[i], &r->vanilla[i].len, path, 1 << 20, &err)) break;
        r->vanilla[i].data = r->file[i];
        r->q.num_vanilla++;
    }
    assert_true(r->q.num_vanilla > 0);
}

static void request_done(struct request *r) {
    for (size_t i = 0; i < MAX_VANILLA; i++) cz_free(r->file[i]);
    yajl_tree_free(r->expected);
}

static struct cz_post *parse(const struct cz_post_request *q) {
    struct cz_post *post = NULL;
    struct cz_error err = {0};
    if (cz_post_parse(&post, q, &err)) fail_msg("%s", err.detail);
    return post;
}

/* ---- witnesses ---- */

static void compare_low16(const char *dir, unsigned partition, const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    char path[400];
    size_t len;
    snprintf(path, sizeof path, VECTORS "%s/witness-%u.low16.gz", dir, partition);
    uint8_t *low = test_gunzip(path, 2 * (size_t)r1cs->num_aux + 16, &len), le[32];
    assert_int_equal(len, 2 * (size_t)r1cs->num_aux);
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        struct cz_fr v;
        cz_witness_get(&v, w, r1cs, i);
        cz_fr_to_le(le, &v);
        if (memcmp(le, low + 2 * i, 2)) fail_msg("%s, partition %u: aux %u differs", dir, partition, i);
    }
    cz_free(low);
}

/* Public inputs, derived and in the witness, against those of the reference. */
static void check_inputs(const struct cz_post *post, uint32_t partition, const struct cz_witness *w, yajl_val inputs) {
    size_t n = cz_post_num_public_inputs(post);
    struct cz_fr *derived = cz_malloc_array(n, sizeof *derived);
    assert_non_null(derived);
    assert_int_equal(cz_post_public_inputs(derived, n, post, partition, NULL), CZ_OK);
    assert_int_equal(w->num_inputs, n + 1);
    assert_memory_equal(derived, w->input + 1, n * sizeof *derived);
    if (inputs) {
        assert_int_equal(YAJL_GET_ARRAY(inputs)->len, n);
        for (size_t i = 0; i < n; i++) {
            uint8_t le[32], want[32];
            assert_int_equal(cz_hex_decode(want, 32, YAJL_GET_STRING(YAJL_GET_ARRAY(inputs)->values[i])), CZ_OK);
            cz_fr_to_le(le, &derived[i]);
            assert_memory_equal(le, want, 32);
        }
    }
    cz_free(derived);
}

static void check_streamed(const struct cz_post *post, uint32_t partition, const uint8_t want[32]) {
    uint8_t digest[32];
    bool satisfied = false;
    struct cz_error err = {0};
    uint64_t start = cz_time_now_ns();
    if (cz_post_circuit_digest(digest, &satisfied, post, partition, &err)) fail_msg("%s", err.detail);
    print_message("%s, partition %u: digest of the witness in %.1f ms\n", cz_registered_post_name(post->proof),
                  partition, 1e3 * cz_time_since(start));
    assert_true(satisfied);
    assert_memory_equal(digest, want, 32);
}

static void check_partition(const char *dir, const struct cz_post *post, uint32_t partition, yajl_val expected,
                            const struct cz_r1cs *r1cs) {
    struct cz_witness w;
    struct cz_error err = {0};
    uint8_t digest[32], want[32];
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    uint64_t start = cz_time_now_ns();
    if (cz_post_circuit_assign(&w, r1cs, post, partition, &err)) fail_msg("%s: %s", dir, err.detail);
    print_message("%s, partition %u: witness in %.1f ms\n", dir, partition, 1e3 * cz_time_since(start));
    if (!strstr(dir, "32gib")) compare_low16(dir, post->first_partition + partition, &w, r1cs);
    cz_witness_digest(digest, &w, r1cs);
    assert_int_equal(cz_hex_decode(want, 32, test_json_string(expected, "sha256")), CZ_OK);
    assert_memory_equal(digest, want, 32);
    check_streamed(post, partition, want);
    check_inputs(post, partition, &w, test_json_find(expected, "public_inputs"));
    assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
    cz_witness_done(&w);
}

/* The list of challenges per sector that the reference gives. */
static void check_challenges(const struct cz_post *post, yajl_val expected) {
    yajl_val sectors = test_json_find(expected, "sectors");
    if (!YAJL_IS_ARRAY(sectors)) return;
    assert_int_equal(YAJL_GET_ARRAY(sectors)->len, post->num_sectors);
    for (uint32_t i = 0; i < post->num_sectors; i++) {
        yajl_val s = YAJL_GET_ARRAY(sectors)->values[i];
        yajl_val list = test_json_find(s, "challenges");
        assert_int_equal(YAJL_GET_INTEGER(test_json_find(s, "id")), post->sector[i].number);
        for (uint32_t n = 0; n < YAJL_GET_ARRAY(list)->len; n++) {
            bool winning = post->kind == CZ_CIRCUIT_WINNING;
            uint64_t c = winning ? cz_post_challenge(post, 0, n, 0)
                                 : cz_post_challenge(post, i / post->places, i % post->places, n);
            assert_int_equal(YAJL_GET_INTEGER(YAJL_GET_ARRAY(list)->values[n]), c);
        }
    }
}

static void check_folder(const char *dir, unsigned num_partitions) {
    struct request r;
    struct cz_error err = {0};
    load_request(&r, dir);
    struct cz_post *post = parse(&r.q);
    assert_int_equal(post->num_partitions, num_partitions);
    uint64_t start = cz_time_now_ns();
    if (cz_post_check(post, &err)) fail_msg("%s: %s", dir, err.detail);
    print_message("%s: checked in %.1f ms\n", dir, 1e3 * cz_time_since(start));
    check_challenges(post, r.expected);
    struct cz_r1cs *r1cs = build(post->kind, post->sector_info->name);
    yajl_val partitions = test_json_find(r.expected, "partition");
    assert_int_equal(YAJL_GET_ARRAY(partitions)->len, num_partitions);
    for (uint32_t i = 0; i < num_partitions; i++)
        check_partition(dir, post, i, YAJL_GET_ARRAY(partitions)->values[i], r1cs);
    cz_r1cs_destroy(r1cs);
    cz_post_destroy(post);
    request_done(&r);
}

static void witnesses_agree(void **state) {
    (void)state;
    check_folder("2kib/winning", 1);
    check_folder("2kib/window-v1", 2);
    check_folder("2kib/window-v1_2", 2);
    check_folder("2kib/window-v1_2-two", 1);
    check_folder("8mib/winning", 1);
    check_folder("8mib/window-v1_2", 1);
    check_folder("32gib/winning", 1);
}

/* One partition by its number, from its sectors alone: the same public inputs and witness. */
static void single_partition_agrees(void **state) {
    (void)state;
    static const char *const DIRS[] = {"2kib/window-v1", "2kib/window-v1_2"};
    for (size_t k = 0; k < 2; k++) {
        struct request r;
        load_request(&r, DIRS[k]);
        r.q.vanilla += 2;
        r.q.num_vanilla = 1;
        r.q.has_partition = true;
        r.q.partition_index = 1;
        struct cz_post *post = parse(&r.q);
        struct cz_r1cs *r1cs = build(post->kind, "2KiB");
        assert_int_equal(cz_post_check(post, NULL), CZ_OK);
        check_partition(DIRS[k], post, 0, YAJL_GET_ARRAY(test_json_find(r.expected, "partition"))->values[1], r1cs);
        cz_post_destroy(post);
        if (k == 0) { /* under V1 the partition's number matters */
            r.q.partition_index = 0;
            post = parse(&r.q);
            assert_int_equal(cz_post_check(post, NULL), CZ_ERR_MISMATCH);
            cz_post_destroy(post);
        }
        cz_r1cs_destroy(r1cs);
        request_done(&r);
    }
}

/* 127 million values, never more than one sector's at once. */
static void full_window_agrees(void **state) {
    (void)state;
    struct request r;
    struct cz_error err = {0};
    uint8_t want[32];
    load_request(&r, "32gib/window-v1_2");
    struct cz_post *post = parse(&r.q);
    if (cz_post_check(post, &err)) fail_msg("%s", err.detail);
    yajl_val p = YAJL_GET_ARRAY(test_json_find(r.expected, "partition"))->values[0];
    assert_int_equal(cz_hex_decode(want, 32, test_json_string(p, "sha256")), CZ_OK);
    check_streamed(post, 0, want);
    cz_post_destroy(post);
    request_done(&r);
    print_message("peak RSS %ld MiB\n", peak_rss_kib() >> 10);
    assert_true(peak_rss_kib() < MAX_RSS_KIB);
}

/* ---- real proofs ---- */

static const uint8_t ZERO[32];

static struct cz_post *parse_file(uint8_t **file, const char *path, enum cz_registered_post proof,
                                  const uint8_t *randomness, struct cz_bytes *blob) {
    struct cz_error err = {0};
    if (cz_file_read(file, &blob->len, path, 1 << 20, &err)) fail_msg("%s", err.detail);
    blob->data = *file;
    struct cz_post_request q = {.proof = proof, .randomness = randomness, .prover_id = ZERO, .vanilla = blob};
    q.num_vanilla = 1;
    return parse(&q);
}

/* A real 32 GiB sector's proof; randomness zeros. */
static void golden_window_checks(void **state) {
    (void)state;
    static const uint64_t LEAF[] = {707914199, 439148358, 967788220, 548708700, 1061661429, 6202012};
    struct cz_bytes blob;
    struct cz_error err = {0};
    uint8_t *file;
    struct cz_post *post = parse_file(&file, SPEC "golden-window-32gib.vproof", 8, ZERO, &blob);
    assert_int_equal(blob.len, 24960);
    assert_int_equal(post->sector[0].number, 1);
    for (uint32_t n = 0; n < sizeof LEAF / sizeof *LEAF; n++)
        assert_int_equal(cz_post_challenge(post, 0, 0, n), LEAF[n]);
    if (cz_post_check(post, &err)) fail_msg("%s", err.detail);
    cz_post_destroy(post);
    cz_free(file);
}

/* Sector 1 of the specification's model, randomness 32 × 03 (spec/known-values.md §8). */
static void model_vectors_agree(void **state) {
    (void)state;
    static const uint64_t LEAF[] = {15, 30, 60, 40, 31, 45, 14, 18, 34, 2};
    static const char *const AUX[2] = {"d5fcf6016574fa8c4a68e923863b3fec681046620c46d645805cd6caf29fca85",
                                       "74cc55322d72fe9feb4da96dcd24553f156111ecc9ec1ef66178fdff1bede3f4"};
    uint8_t randomness[32];
    memset(randomness, 3, sizeof randomness);
    for (int winning = 0; winning < 2; winning++) {
        struct cz_bytes blob;
        struct cz_error err = {0};
        uint8_t *file, digest[EVP_MAX_MD_SIZE], want[32];
        struct cz_post *post = parse_file(&file, winning ? SPEC "winning-2kib.bin" : SPEC "window-2kib.bin",
                                          winning ? 0 : 10, randomness, &blob);
        for (uint32_t n = 0; n < 10; n++)
            assert_int_equal(cz_post_challenge(post, 0, winning ? n : 0, winning ? 0 : n), LEAF[n]);
        if (cz_post_check(post, &err)) fail_msg("%s", err.detail);
        struct cz_r1cs *r1cs = build(post->kind, "2KiB");
        struct cz_witness w;
        assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
        assert_int_equal(cz_post_circuit_assign(&w, r1cs, post, 0, NULL), CZ_OK);
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        assert_int_equal(EVP_DigestInit_ex(ctx, EVP_blake2s256(), NULL), 1);
        for (uint32_t i = 0; i < r1cs->num_aux; i++) {
            struct cz_fr v;
            uint8_t le[32];
            cz_witness_get(&v, &w, r1cs, i);
            cz_fr_to_le(le, &v);
            assert_int_equal(EVP_DigestUpdate(ctx, le, 32), 1);
        }
        assert_int_equal(EVP_DigestFinal_ex(ctx, digest, NULL), 1);
        EVP_MD_CTX_free(ctx);
        assert_int_equal(cz_hex_decode(want, 32, AUX[winning]), CZ_OK);
        assert_memory_equal(digest, want, 32);
        cz_witness_done(&w);
        cz_r1cs_destroy(r1cs);
        cz_post_destroy(post);
        cz_free(file);
    }
}

/* A real window proof verifies with the inputs that follow from comm_r, sector 77 and randomness 32 × 01. */
static void real_window_verifies(void **state) {
    (void)state;
    uint8_t randomness[32], *inputs, *key, *bytes;
    size_t len, key_len, proof_len;
    struct cz_post_sector sector = {.number = 77};
    struct cz_vk vk;
    struct cz_proof proof;
    struct cz_fr x[22];
    bool valid = false;
    memset(randomness, 1, sizeof randomness);
    assert_int_equal(cz_file_read(&inputs, &len, SPEC "window-2kib-real.inputs", 1 << 20, NULL), CZ_OK);
    assert_int_equal(cz_file_read(&key, &key_len, SPEC "window-2kib-real.vkc", 1 << 20, NULL), CZ_OK);
    assert_int_equal(cz_file_read(&bytes, &proof_len, SPEC "window-2kib-real.proof", 1 << 20, NULL), CZ_OK);
    assert_int_equal(len, sizeof x / sizeof *x * 32);
    memcpy(sector.comm_r, inputs, 32);
    struct cz_post post = {
        .proof = 10,
        .kind = CZ_CIRCUIT_WINDOW,
        .sector_info = cz_sector_by_name("2KiB"),
        .challenges = 10,
        .places = 2,
        .num_partitions = 1,
        .num_sectors = 1,
        .sector = &sector,
    };
    memcpy(post.randomness, randomness, 32);
    assert_int_equal(cz_post_public_inputs(x, 22, &post, 0, NULL), CZ_OK);
    for (size_t i = 0; i < 22; i++) {
        uint8_t le[32];
        cz_fr_to_le(le, &x[i]);
        assert_memory_equal(le, inputs + 32 * i, 32);
    }
    assert_int_equal(cz_vk_read_compressed(&vk, key, key_len, NULL), CZ_OK);
    assert_int_equal(cz_proof_read(&proof, bytes, NULL), CZ_OK);
    assert_int_equal(cz_verify(&valid, &vk, &proof, x, 22), CZ_OK);
    assert_true(valid);
    cz_fr_add(&x[21], &x[21], &CZ_FR_ONE);
    assert_int_equal(cz_verify(&valid, &vk, &proof, x, 22), CZ_OK);
    assert_false(valid);
    cz_vk_done(&vk);
    cz_free(inputs);
    cz_free(key);
    cz_free(bytes);
}

int main(int argc, char **argv) {
    long_tests = test_is_long(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_agree),        cmocka_unit_test(sizes_agree),
        cmocka_unit_test(witnesses_agree),     cmocka_unit_test(single_partition_agrees),
        cmocka_unit_test(full_window_agrees),  cmocka_unit_test(golden_window_checks),
        cmocka_unit_test(model_vectors_agree), cmocka_unit_test(real_window_verifies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
