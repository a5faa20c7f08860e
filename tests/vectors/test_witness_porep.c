/* Witnesses of PoRep partitions against the reference. */

#include "base/time.h"
#include "filecoin/circuits/porep.h"
#include "hash/sha256.h"
#include "r1cs_common.h"

/* In `text`, the 32 bytes of item k of the array `name` that begins in partition number `index`'s object. */
static const char *partition_text(const char *text, unsigned index, const char *key) {
    const char *p = strstr(text, "\"partition\"");
    assert_non_null(p);
    for (unsigned i = 0; i <= index; i++) {
        p = strstr(p + 1, key);
        if (!p) return NULL;
    }
    return p + strlen(key);
}

static void hex32(uint8_t out[32], const char *p) {
    char hex[65];
    p = strchr(p, '"');
    assert_non_null(p);
    assert_true(strlen(p) > 65);
    memcpy(hex, p + 1, 64);
    hex[64] = 0;
    assert_int_equal(cz_hex_decode(out, 32, hex), CZ_OK);
}

static void compare_low16(const char *dir, unsigned partition, const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    char path[400];
    size_t len;
    snprintf(path, sizeof path, VECTORS "%s/witness-%u.low16.gz", dir, partition);
    gzFile probe = gzopen(path, "rb");
    if (!probe) return;
    gzclose(probe);
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

static void check_satisfied(const struct cz_witness *w, const struct cz_r1cs *r1cs) {
    const char *name = "";
    uint32_t row = cz_witness_first_unsatisfied(w, r1cs, &name);
    if (row != r1cs->num_constraints) fail_msg("constraint %u (%s) does not hold", row, name);
}

/* `entry`: which entry of expected.json's list it is. */
static void check_partition(const char *dir, const char *expected, unsigned entry, unsigned partition,
                            const struct cz_c1 *c1, const struct cz_r1cs *r1cs) {
    struct cz_witness w;
    struct cz_error err = {0};
    uint8_t digest[32], want[32], le[32];
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    uint64_t start = cz_time_now_ns();
    if (cz_porep_circuit_assign(&w, r1cs, c1, partition, &err)) fail_msg("%s: %s", dir, err.detail);
    print_message("%s, partition %u: witness in %.1f ms\n", dir, partition, 1e3 * cz_time_since(start));
    compare_low16(dir, partition, &w, r1cs);

    cz_witness_digest(digest, &w, r1cs);
    hex32(want, partition_text(expected, entry, "\"sha256\":"));
    assert_memory_equal(digest, want, 32);

    const char *p = partition_text(expected, entry, "\"public_inputs\":");
    for (uint32_t i = 1; p && i < w.num_inputs; i++) {
        hex32(want, p);
        p = strchr(strchr(p, '"') + 1, '"') + 1;
        cz_fr_to_le(le, &w.input[i]);
        if (memcmp(le, want, 32)) fail_msg("%s, partition %u: input %u differs", dir, partition, i);
    }
    if (!p) { /* full-size vectors hold a digest of the inputs */
        struct cz_sha256 sha;
        cz_sha256_init(&sha);
        for (uint32_t i = 1; i < w.num_inputs; i++) {
            cz_fr_to_le(le, &w.input[i]);
            cz_sha256_update(&sha, le, 32);
        }
        cz_sha256_final(&sha, digest);
        hex32(want, partition_text(expected, entry, "\"inputs_sha256\":"));
        assert_memory_equal(digest, want, 32);
    }
    if (r1cs->num_aux < 10000000) check_satisfied(&w, r1cs);
    cz_witness_done(&w);
}

static void check_sector(const char *dir, const unsigned *partition, unsigned num_partitions) {
    char path[400];
    uint8_t *expected;
    size_t len;
    struct cz_c1 *c1;
    struct cz_r1cs *r1cs;
    struct cz_error err = {0};
    snprintf(path, sizeof path, VECTORS "%s/expected.json", dir);
    assert_int_equal(cz_file_read(&expected, &len, path, 1 << 20, NULL), CZ_OK);
    snprintf(path, sizeof path, VECTORS "%s/c1.json.gz", dir);
    if (cz_c1_parse_file(&c1, path, &err)) fail_msg("%s: %s", dir, err.detail);
    if (cz_porep_circuit_build(&r1cs, cz_sector_by_size(c1->sector_size), &err)) fail_msg("%s: %s", dir, err.detail);
    for (unsigned i = 0; i < num_partitions; i++) check_partition(dir, (char *)expected, i, partition[i], c1, r1cs);
    cz_r1cs_destroy(r1cs);
    cz_c1_destroy(c1);
    cz_free(expected);
}

static void test_sizes_agree(void **state) {
    (void)state;
    static const char *const DIRS[] = {"2kib/porep-v1", "2kib/porep-v1_1", "2kib/porep-v1_1-synthetic",
                                       "2kib/porep-v1_2-non-interactive", "8mib/porep-v1_1"};
    static const unsigned PARTITIONS[] = {0, 1};
    for (size_t i = 0; i < sizeof DIRS / sizeof *DIRS; i++)
        check_sector(DIRS[i], PARTITIONS, strstr(DIRS[i], "non-interactive") ? 2 : 1);
}

static void full_size_agrees(void **state) {
    (void)state;
    static const unsigned PARTITIONS[] = {0, 9};
    struct cz_r1cs *r1cs;
    check_sector("32gib/porep-v1_1", PARTITIONS, 2);
    assert_int_equal(cz_porep_circuit_build(&r1cs, cz_sector_by_name("32GiB"), NULL), CZ_OK);
    assert_in_range(cz_witness_bytes(r1cs), 1, 64 << 20); /* what travels to a device */
    cz_r1cs_destroy(r1cs);
}

/* Evaluation against the definition: every term through cz_witness_get. */
static void evaluation_is_the_sum(void **state) {
    (void)state;
    struct cz_c1 *c1;
    struct cz_r1cs *r1cs;
    struct cz_witness w;
    struct cz_error err = {0};
    if (cz_c1_parse_file(&c1, VECTORS "2kib/porep-v1_1/c1.json.gz", &err)) fail_msg("%s", err.detail);
    assert_int_equal(cz_porep_circuit_build(&r1cs, cz_sector_by_name("2KiB"), NULL), CZ_OK);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(cz_porep_circuit_assign(&w, r1cs, c1, 0, NULL), CZ_OK);
    struct cz_fr *v[3], sum, z;
    for (int m = 0; m < 3; m++) assert_non_null(v[m] = cz_calloc(r1cs->num_constraints, sizeof *v[m]));
    cz_witness_eval(v[0], v[1], v[2], &w, r1cs, 0, r1cs->num_instances); /* touches the pages */
    uint64_t start = cz_time_now_ns();
    cz_witness_eval(v[0], v[1], v[2], &w, r1cs, 0, r1cs->num_instances);
    print_message("2KiB: a, b, c in %.1f ms\n", 1e3 * cz_time_since(start));
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
        if (t->num_constraints > 10000 && i % 16) continue; /* a few of the SHA-256 blocks */
        for (uint32_t k = 0; k < t->num_constraints; k++)
            for (int m = 0; m < 3; m++) {
                sum = CZ_FR_ZERO;
                for (uint32_t n = t->row[m][k]; n < t->row[m][k + 1]; n++) {
                    cz_witness_get(&z, &w, r1cs, cz_r1cs_column_var(r1cs, inst, t->term[m][n].col));
                    cz_fr_mul(&z, &z, &r1cs->coef[t->term[m][n].coef]);
                    cz_fr_add(&sum, &sum, &z);
                }
                assert_true(cz_fr_eq(&sum, &v[m][inst->first_constraint + k]));
            }
    }
    for (int m = 0; m < 3; m++) cz_free(v[m]);

    /* A wrong value anywhere is found. */
    w.bit[w.num_bits / 128] ^= 1;
    assert_true(cz_witness_first_unsatisfied(&w, r1cs, NULL) < r1cs->num_constraints);
    w.bit[w.num_bits / 128] ^= 1;
    cz_fr_add(&w.elem[w.num_elems - 1], &w.elem[w.num_elems - 1], &CZ_FR_ONE);
    assert_true(cz_witness_first_unsatisfied(&w, r1cs, NULL) < r1cs->num_constraints);

    /* Refusals. */
    assert_int_equal(cz_porep_circuit_assign(&w, r1cs, c1, 1, &err), CZ_ERR_ARGUMENT);
    w.num_bits--;
    assert_int_equal(cz_porep_circuit_assign(&w, r1cs, c1, 0, &err), CZ_ERR_ARGUMENT);
    w.num_bits++;
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
    cz_c1_destroy(c1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes_agree),
        cmocka_unit_test(evaluation_is_the_sum),
        cmocka_unit_test(full_size_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
