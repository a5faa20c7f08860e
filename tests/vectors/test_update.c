/*
 * Empty sector updates against the reference: constraint systems, witnesses, public inputs. The argument "long" adds
 * the digests of all circuits (minutes), partition 15 of 32 GiB and every constraint of the 32 GiB witnesses.
 */

#include "circuit_common.h"
#include "filecoin/circuits/update.h"
#include "support/json.h"

#include <openssl/evp.h>
#include <sys/resource.h>

#define SPEC CZ_SHARED_DIR "/spec/vectors/"
#define MAX_RSS_KIB (500 << 10)

static bool long_tests;

/* ---- constraint systems ---- */

static struct cz_r1cs *build(enum cz_circuit_kind kind, const char *size) {
    return test_build_circuit(cz_update_circuit_build, kind, size);
}

static void trace_agrees(void **state) {
    (void)state;
    struct cz_map trace;
    struct cz_error err = {0};
    struct cz_r1cs *r1cs = build(CZ_CIRCUIT_UPDATE, "2KiB");
    assert_int_equal(cz_map_open(&trace, VECTORS "trace/update-2kib.u16", NULL), CZ_OK);
    if (cz_digest_compare_trace(r1cs, trace.data, trace.size, &err)) fail_msg("%s", err.detail);
    cz_map_close(&trace);
    cz_r1cs_destroy(r1cs);
}

/*
 * The index of a partition's digest j is digests·partition + j·ONE. For j = 0
 * the reference keeps an entry (ONE, 0): it is in no digest, count or density,
 * so it is not stored.
 */
static void zero_entry_is_not_stored(void **state) {
    (void)state;
    struct cz_r1cs *r1cs = build(CZ_CIRCUIT_UPDATE_POSEIDON, "8MiB"); /* 40 challenges from 3 digests */
    uint32_t j = 0;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        char *line, begin[24];
        if (strcmp(t->name, "update.digest_index") != 0) continue;
        assert_int_equal(t->num_constraints, 1);
        assert_int_equal(t->row[CZ_R1CS_A][1] - t->row[CZ_R1CS_A][0], j ? 2 : 1);
        assert_int_equal(t->density[CZ_R1CS_A][0] & 1, j ? 1 : 0); /* column 0 is ONE */
        assert_int_equal(cz_digest_row_text(&line, r1cs, inst->first_constraint), CZ_OK);
        snprintf(begin, sizeof begin, j == 2 ? "I0*0x" : j == 1 ? "I0*1 A" : "A");
        if (strncmp(line, begin, strlen(begin)) != 0) fail_msg("%s does not begin with %s", line, begin);
        cz_free(line);
        j++;
    }
    assert_int_equal(j, 3);
    cz_r1cs_destroy(r1cs);
}

static void sizes_agree(void **state) {
    (void)state;
    static const char *const SHA[] = {"2kib", "4kib", "16kib", "32kib", "8mib", "512mib", "32gib", "64gib"};
    static const char *const POSEIDON[] = {"2kib", "8mib", "512mib", "32gib", "64gib"};
    uint8_t *lines;
    size_t len;
    assert_int_equal(cz_file_read(&lines, &len, VECTORS "r1cs.jsonl", 1 << 20, NULL), CZ_OK);
    for (size_t i = 0; i < sizeof SHA / sizeof *SHA; i++)
        test_check_circuit(cz_update_circuit_build, (char *)lines, CZ_CIRCUIT_UPDATE, SHA[i], long_tests || i < 2);
    for (size_t i = 0; i < sizeof POSEIDON / sizeof *POSEIDON; i++)
        test_check_circuit(cz_update_circuit_build, (char *)lines, CZ_CIRCUIT_UPDATE_POSEIDON, POSEIDON[i],
                           long_tests || i < 2);
    cz_free(lines);
}

static uint64_t popcount(const uint64_t *map, size_t n) {
    uint64_t sum = 0;
    for (size_t i = 0; i < n; i++) sum += (uint64_t)__builtin_popcountll(map[i]);
    return sum;
}

/* spec/known-values.md §1 */
static void densities_agree(void **state) {
    (void)state;
    static const struct {
        enum cz_circuit_kind kind;
        const char *size;
        uint64_t a_aux, b_aux;
        unsigned domain;
    } CASES[] = {
        {CZ_CIRCUIT_UPDATE, "2KiB", 1697189, 444403, 21},
        {CZ_CIRCUIT_UPDATE, "8MiB", 9981015, 2567921, 24},
        {CZ_CIRCUIT_UPDATE, "512MiB", 57212317, 14916879, 26},
        {CZ_CIRCUIT_UPDATE, "32GiB", 80743581, 20983607, 27},
        {CZ_CIRCUIT_UPDATE, "64GiB", 84682725, 22012683, 27},
        {CZ_CIRCUIT_UPDATE_POSEIDON, "32GiB", 17104392, 16340709, 25},
        {CZ_CIRCUIT_UPDATE_POSEIDON, "64GiB", 18078600, 17306661, 25},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_r1cs *r1cs = build(CASES[i].kind, CASES[i].size);
        size_t words = ((size_t)r1cs->num_aux + 63) / 64;
        uint64_t *a = cz_calloc(words, 8), *b = cz_calloc(words, 8), b_input = 0;
        assert_true(a && b);
        cz_r1cs_density(r1cs, a, b, &b_input);
        assert_int_equal(popcount(a, words), CASES[i].a_aux);
        assert_int_equal(popcount(b, words), CASES[i].b_aux);
        assert_int_equal(b_input, 1); /* ONE alone */
        assert_int_equal(cz_r1cs_domain_log2(r1cs), CASES[i].domain);
        cz_free(a);
        cz_free(b);
        cz_r1cs_destroy(r1cs);
    }
}

/* ---- requests ---- */

struct request {
    yajl_val expected;
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
    uint8_t *file[CZ_UPDATE_MAX_PARTITIONS];
    struct cz_bytes vanilla[CZ_UPDATE_MAX_PARTITIONS];
    struct cz_update_request q;
};

static void read_blob(struct request *r, const char *path) {
    struct cz_error err = {0};
    size_t i = r->q.num_vanilla++;
    if (cz_file_read(&r->file[i], &r->vanilla[i].len, path, 1 << 20, &err)) fail_msg("%s", err.detail);
    r->vanilla[i].data = r->file[i];
}

static void comm(uint8_t out[32], const char *hex) {
    assert_int_equal(cz_hex_decode(out, 32, hex), CZ_OK);
}

/* Blobs first … first + n - 1 of a folder. */
static void load_request(struct request *r, const char *dir, uint32_t first, uint32_t n) {
    char path[400];
    memset(r, 0, sizeof *r);
    snprintf(path, sizeof path, VECTORS "%s/expected.json", dir);
    r->expected = test_json_load(path);
    const char *name = test_json_string(r->expected, "registered_update_proof");
    assert_int_equal(cz_registered_update_parse(&r->q.proof, name, strlen(name)), CZ_OK);
    comm(r->comm_r_old, test_json_string(r->expected, "comm_r_old"));
    comm(r->comm_r_new, test_json_string(r->expected, "comm_r_new"));
    comm(r->comm_d_new, test_json_string(r->expected, "comm_d_new"));
    for (uint32_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, VECTORS "%s/vanilla-%u.bin", dir, first + i);
        read_blob(r, path);
    }
    r->q.first_partition = first;
    r->q.comm_r_old = r->comm_r_old;
    r->q.comm_r_new = r->comm_r_new;
    r->q.comm_d_new = r->comm_d_new;
    r->q.vanilla = r->vanilla;
}

static void request_done(struct request *r) {
    for (size_t i = 0; i < CZ_UPDATE_MAX_PARTITIONS; i++) cz_free(r->file[i]);
    if (r->expected) yajl_tree_free(r->expected);
}

static struct cz_update *parse(const struct cz_update_request *q) {
    struct cz_update *update = NULL;
    struct cz_error err = {0};
    uint64_t start = cz_time_now_ns();
    if (cz_update_parse(&update, q, &err)) fail_msg("%s", err.detail);
    print_message("%s: %zu blobs parsed in %.2f ms\n", cz_registered_update_name(q->proof), q->num_vanilla,
                  1e3 * cz_time_since(start));
    return update;
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
        if (memcmp(le, low + 2 * (size_t)i, 2)) fail_msg("%s, partition %u: aux %u differs", dir, partition, i);
    }
    cz_free(low);
}

/* Public inputs, derived and in the witness, against those of the reference. */
static void check_inputs(const struct cz_update *update, uint32_t partition, const struct cz_witness *w,
                         yajl_val inputs) {
    struct cz_fr derived[CZ_UPDATE_NUM_PUBLIC_INPUTS];
    size_t n = cz_update_num_public_inputs(update);
    assert_int_equal(n, CZ_UPDATE_NUM_PUBLIC_INPUTS);
    assert_int_equal(cz_update_public_inputs(derived, n, update, partition, NULL), CZ_OK);
    assert_int_equal(w->num_inputs, n + 1);
    assert_memory_equal(derived, w->input + 1, n * sizeof *derived);
    if (!inputs) return;
    assert_int_equal(YAJL_GET_ARRAY(inputs)->len, n);
    for (size_t i = 0; i < n; i++) {
        uint8_t le[32], want[32];
        comm(want, YAJL_GET_STRING(YAJL_GET_ARRAY(inputs)->values[i]));
        cz_fr_to_le(le, &derived[i]);
        assert_memory_equal(le, want, 32);
    }
}

static void check_partition(const char *dir, const struct cz_update *update, uint32_t partition, yajl_val expected,
                            const struct cz_r1cs *r1cs) {
    struct cz_witness w;
    struct cz_error err = {0};
    uint8_t digest[32], want[32];
    bool big = strstr(dir, "32gib");
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    uint64_t start = cz_time_now_ns();
    if (cz_update_circuit_assign(&w, r1cs, update, partition, &err)) fail_msg("%s: %s", dir, err.detail);
    print_message("%s, partition %u: witness in %.1f ms, %.1f MiB\n", dir, update->partition[partition].index,
                  1e3 * cz_time_since(start), (w.num_bits / 8.0 + w.num_elems * 32.0) / (1 << 20));
    if (strstr(dir, "2kib")) compare_low16(dir, partition, &w, r1cs);
    start = cz_time_now_ns();
    cz_witness_digest(digest, &w, r1cs);
    print_message("%s: digest of the witness in %.2f s\n", dir, cz_time_since(start));
    comm(want, test_json_string(expected, "sha256"));
    assert_memory_equal(digest, want, 32);
    check_inputs(update, partition, &w, test_json_find(expected, "public_inputs"));
    if (!big || long_tests) assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
    cz_witness_done(&w);
}

/* which: the place in expected.json of the first blob's partition. */
static void check_folder(const char *dir, const struct cz_r1cs *r1cs, uint32_t first, uint32_t n, uint32_t which) {
    struct request r;
    struct cz_error err = {0};
    load_request(&r, dir, first, n);
    struct cz_update *update = parse(&r.q);
    assert_int_equal(update->kind, CZ_CIRCUIT_UPDATE);
    assert_int_equal(update->num_partitions, n);
    assert_int_equal(update->h, test_json_integer(r.expected, "h"));
    uint64_t start = cz_time_now_ns();
    if (cz_update_check(update, &err)) fail_msg("%s: %s", dir, err.detail);
    print_message("%s: %u partitions checked in %.1f ms\n", dir, n, 1e3 * cz_time_since(start));
    yajl_val partitions = test_json_find(r.expected, "partition");
    for (uint32_t i = 0; i < n; i++)
        check_partition(dir, update, i, YAJL_GET_ARRAY(partitions)->values[which + i], r1cs);
    cz_update_destroy(update);
    request_done(&r);
}

static void witnesses_agree(void **state) {
    (void)state;
    struct cz_r1cs *r1cs = build(CZ_CIRCUIT_UPDATE, "2KiB");
    check_folder("2kib/update", r1cs, 0, 1, 0);
    cz_r1cs_destroy(r1cs);
    r1cs = build(CZ_CIRCUIT_UPDATE, "8MiB");
    check_folder("8mib/update", r1cs, 0, 4, 0);
    cz_r1cs_destroy(r1cs);
}

static void full_size_agrees(void **state) {
    (void)state;
    struct rusage usage;
    const double start = test_cpu_seconds();
    struct cz_r1cs *r1cs = build(CZ_CIRCUIT_UPDATE, "32GiB");
    assert_true(test_cpu_seconds() - start < 5); /* far below 1 s */
    check_folder("32gib/update", r1cs, 0, 1, 0);
    if (long_tests) check_folder("32gib/update", r1cs, 15, 1, 1);
    cz_r1cs_destroy(r1cs);
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    print_message("peak RSS %ld MiB\n", usage.ru_maxrss >> 10);
#ifndef __SANITIZE_ADDRESS__
    assert_true(usage.ru_maxrss < MAX_RSS_KIB);
#endif
}

/* The specification's model: new node i = LE(1000 + i), h = 1
 * (spec/known-values.md §8). */
static void model_vector_agrees(void **state) {
    (void)state;
    static const uint64_t LEAF[] = {53, 51, 10, 32, 42, 53, 9, 13, 27, 8};
    struct request r = {.expected = NULL};
    struct cz_error err = {0};
    struct cz_witness w;
    struct cz_fr comm_r_new, comm_d_new, comm_r_old, phi;
    uint64_t challenge[CZ_UPDATE_MAX_CHALLENGES];
    uint8_t digest[EVP_MAX_MD_SIZE], want[32], le[32];
    comm(r.comm_r_old, "bab25baf29c288cd3e9a21d9bdacb80e2c3e1674eba353cbbe509ea62e32121e");
    comm(r.comm_r_new, "996c7921f5a72d9d0aa6f5595b3cff92da9d59a7f2f69d53dfee015134982e5e");
    comm(r.comm_d_new, "6c181f2b7658c805f735abb6d8539e20259b294ffe2fbb0e308a8e81a5494610");
    r.q = (struct cz_update_request){0, r.comm_r_old, r.comm_r_new, r.comm_d_new, r.vanilla, 0, 0};
    read_blob(&r, SPEC "update-2kib.bin");
    struct cz_update *update = parse(&r.q);
    assert_int_equal(cz_fr_from_le(&comm_r_old, r.comm_r_old), CZ_OK);
    assert_int_equal(cz_fr_from_le(&comm_r_new, r.comm_r_new), CZ_OK);
    assert_int_equal(cz_fr_from_le(&comm_d_new, r.comm_d_new), CZ_OK);
    cz_update_challenges(challenge, &update->shape, &comm_r_new, 0);
    assert_memory_equal(challenge, LEAF, sizeof LEAF);
    cz_update_phi(&phi, &comm_d_new, &comm_r_old);
    cz_fr_to_le(le, &phi);
    comm(want, "e00db093edc5d889546a5c913dc6f6d40f07272cf4e9cd8b6507e2094f4a8c32");
    assert_memory_equal(le, want, 32);
    if (cz_update_check(update, &err)) fail_msg("%s", err.detail);

    struct cz_r1cs *r1cs = build(CZ_CIRCUIT_UPDATE, "2KiB");
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(cz_update_circuit_assign(&w, r1cs, update, 0, NULL), CZ_OK);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    assert_int_equal(EVP_DigestInit_ex(ctx, EVP_blake2s256(), NULL), 1);
    for (uint32_t i = 0; i < r1cs->num_aux; i++) {
        struct cz_fr v;
        cz_witness_get(&v, &w, r1cs, i);
        cz_fr_to_le(le, &v);
        assert_int_equal(EVP_DigestUpdate(ctx, le, 32), 1);
    }
    assert_int_equal(EVP_DigestFinal_ex(ctx, digest, NULL), 1);
    EVP_MD_CTX_free(ctx);
    comm(want, "0cba308e06f5f7c425691b7d0c3a218fff2659cff063251caffbad3392d0c4cc");
    assert_memory_equal(digest, want, 32);
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
    cz_update_destroy(update);
    request_done(&r);
}

int main(int argc, char **argv) {
    long_tests = test_is_long(argc, argv);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trace_agrees),        cmocka_unit_test(zero_entry_is_not_stored),
        cmocka_unit_test(sizes_agree),         cmocka_unit_test(densities_agree),
        cmocka_unit_test(witnesses_agree),     cmocka_unit_test(full_size_agrees),
        cmocka_unit_test(model_vector_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
