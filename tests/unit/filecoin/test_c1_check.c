#include "c1_support.h"

#include "base/time.h"
#include "filecoin/c1_check.h"

static struct cz_c1 *load(const char *path) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_c1_parse_file(&c1, path, &err) != CZ_OK) fail_msg("%s", err.detail);
    return c1;
}

static void test_vectors(void **state) {
    (void)state;
    static const char *const paths[] = {
        C1_OF("porep-v1"),
        C1_OF("porep-v1_1"),
        C1_OF("porep-v1_1-synthetic"),
        C1_OF("porep-v1_2-non-interactive"),
        CZ_SHARED_DIR "/spec/vectors/c1-2kib.json",
        CZ_SHARED_DIR "/vectors/reference/8mib/porep-v1_1/c1.json.gz",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct cz_c1 *c1 = load(paths[i]);
        struct cz_error err = {0};
        uint64_t start = cz_time_now_ns();
        if (cz_c1_check_vanilla(c1, &err) != CZ_OK) fail_msg("%s: %s", paths[i], err.detail);
        print_message("%.2f ms a challenge\n",
                      cz_time_since(start) * 1e3 / (c1->num_partitions * c1->challenges_per_partition));
        cz_c1_destroy(c1);
    }
}

/* 32 GiB has sub levels, eleven layers, ten partitions. One of them, and the time of the parse. */
static void test_32gib(void **state) {
    (void)state;
    uint64_t start = cz_time_now_ns();
    struct cz_c1 *c1 = load(CZ_SHARED_DIR "/vectors/reference/32gib/porep-v1_1/c1.json.gz");
    print_message("parsed in %.0f ms\n", cz_time_since(start) * 1e3);
    struct cz_error err = {0};
    start = cz_time_now_ns();
    if (cz_c1_check_partition(c1, 9, &err) != CZ_OK) fail_msg("%s", err.detail);
    print_message("%.2f ms a challenge\n", cz_time_since(start) * 1e3 / 18);
    cz_c1_destroy(c1);
}

/* Each part made wrong in turn, in challenge 1, by one bit; the reason names it. */
static uint8_t *sibling(const struct cz_merkle_proof *m, unsigned level) {
    return (uint8_t *)m->level[level].sibling[0];
}

static struct cz_c1 *c1;
static void assert_reason(const char *reason) {
    struct cz_error err = {0};
    assert_int_equal(cz_c1_check_vanilla(c1, &err), CZ_ERR_MISMATCH);
    if (!strstr(err.detail, reason)) fail_msg("\"%s\" instead of \"%s\"", err.detail, reason);
}
static void flip(uint8_t *byte, const char *reason) {
    *byte ^= 1;
    assert_reason(reason);
    *byte ^= 1;
}

static void test_wrong(void **state) {
    (void)state;
    c1 = load(C1_OF("porep-v1_1"));
    struct cz_porep_challenge *c = (struct cz_porep_challenge *)&c1->challenge[1];
    flip(c1->comm_r, "challenge 0: comm_r: not the hash");
    flip(c1->comm_d, "challenge 0: comm_d_proofs: the root is not comm_d");
    flip(c1->seed, "but the challenge is");
    flip((uint8_t *)&c->node, "partition 0, challenge 1: node ");
    flip(sibling(&c->comm_d, 3), "partition 0, challenge 1: comm_d_proofs: the path does not lead");
    flip(c->comm_d.leaf, "challenge 1: comm_r_last_proof: the leaf is not the encoded data");
    flip(c->comm_d.root, "challenge 1: comm_d_proofs: the root is not comm_d");
    flip((uint8_t *)&c->comm_d.level[0].index, "comm_d_proofs: the path of another node");
    flip(sibling(&c->comm_r_last, 1), "challenge 1: comm_r_last_proof: the path does not lead");
    flip(c->comm_r_last.leaf, "challenge 1: comm_r_last_proof: the leaf is not the encoded data");
    flip(c->comm_r_last.root, "challenge 1: comm_r_last_proof: the root is not");
    flip((uint8_t *)&c->comm_r_last.level[1].index, "comm_r_last_proof: the path of another node");
    flip((uint8_t *)&c->c_x.index, "challenge 1: c_x: the column of another node");
    flip((uint8_t *)c->c_x.row[0], "challenge 1: the label of layer 1 is wrong");
    flip((uint8_t *)c->c_x.row[1], "challenge 1: the label of layer 2 is wrong");
    flip((uint8_t *)c->drg[0].row[0], "challenge 1: the label of layer 1 is wrong");
    flip((uint8_t *)c->exp[7].row[0], "challenge 1: the label of layer 2 is wrong");
    flip((uint8_t *)c->exp[7].row[1], "challenge 1: exp_parents[7]: the leaf is not the column's hash");
    flip(c->c_x.inclusion.leaf, "challenge 1: c_x: the leaf is not the column's hash");
    flip(sibling(&c->c_x.inclusion, 0), "challenge 1: c_x: the path does not lead");
    flip((uint8_t *)&c->drg[3].index, "challenge 1: drg_parents[3]: the column of another node");
    flip((uint8_t *)c->drg[5].inclusion.leaf, "challenge 1: drg_parents[5]: the leaf is not");
    flip((uint8_t *)&c->exp[7].inclusion.level[0].index, "challenge 1: exp_parents[7]: the path of another node");
    flip(c->exp[0].inclusion.root, "challenge 1: exp_parents[0]: the root is not comm_c");
    flip(sibling(&c->exp[6].inclusion, 1), "challenge 1: exp_parents[6]: the path does not lead");
    /* The replica id changes the challenges first. */
    flip(c1->replica_id, "but the challenge is");
    struct cz_error err = {0};
    assert_int_equal(cz_c1_check_vanilla(c1, &err), CZ_OK);
    assert_int_equal(cz_c1_check_partition(c1, 1, &err), CZ_ERR_ARGUMENT);
    cz_c1_destroy(c1);
}

/* A proof of one version under another version's name has other challenges or parents. */
static void test_wrong_version(void **state) {
    (void)state;
    c1 = load(C1_OF("porep-v1"));
    c1->proof = (enum cz_registered_seal)5; /* same challenges, other parents */
    assert_reason("the column of another node");
    c1->proof = (enum cz_registered_seal)10;
    assert_reason("but the challenge is");
    cz_c1_destroy(c1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_vectors), cmocka_unit_test(test_32gib),
                                       cmocka_unit_test(test_wrong), cmocka_unit_test(test_wrong_version)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
