/* Sector updates without a sector: accepted by the native check in every size, a satisfied circuit, the same bytes. */

#include "base/thread.h"
#include "filecoin/circuits/update.h"
#include "filecoin/synth/snap.h"
#include "support.h"

static struct cz_synth_snap make(unsigned proof, uint64_t seed, struct cz_pool *pool) {
    const struct cz_synth_snap_request q = {.proof = (enum cz_registered_update)proof, .seed = seed};
    struct cz_synth_snap snap = {0};
    struct cz_error err = {0};
    if (cz_synth_snap_make(&snap, &q, pool, &err) != CZ_OK) fail_msg("proof %u: %s", proof, err.detail);
    return snap;
}

static struct cz_update *parse(const struct cz_synth_snap *s) {
    const struct cz_update_request q = {.proof = s->proof,
                                        .comm_r_old = s->comm_r_old,
                                        .comm_r_new = s->comm_r_new,
                                        .comm_d_new = s->comm_d_new,
                                        .vanilla = s->vanilla,
                                        .num_vanilla = s->num_partitions};
    struct cz_update *update = NULL;
    struct cz_error err = {0};
    if (cz_update_parse(&update, &q, &err) != CZ_OK) fail_msg("proof %u: %s", (unsigned)s->proof, err.detail);
    return update;
}

static void two_kib(void **state) {
    (void)state;
    struct cz_r1cs *r1cs = NULL;
    struct cz_witness w;
    struct cz_error err = {0};
    assert_int_equal(cz_update_circuit_build(&r1cs, CZ_CIRCUIT_UPDATE, cz_sector_by_name("2KiB"), &err), CZ_OK);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    for (uint64_t seed = 0; seed < 2; seed++) {
        struct cz_synth_snap s = make(0, seed, NULL);
        struct cz_update *update = parse(&s);
        if (cz_update_check(update, &err) != CZ_OK) fail_msg("%s", err.detail);
        assert_int_equal(cz_update_circuit_assign(&w, r1cs, update, 0, &err), CZ_OK);
        assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
        cz_update_destroy(update);
        cz_synth_snap_done(&s);
        assert_null(s.owned);
    }
    cz_witness_done(&w);
    cz_r1cs_destroy(r1cs);
}

/* All partitions parse; the first, the last and one between are checked (0.2 s each at 32 GiB). */
static void every_size(void **state) {
    (void)state;
    static const uint32_t PARTITIONS[] = {1, 4, 16, 16, 16};
    for (unsigned proof = 0; proof < CZ_REGISTERED_UPDATE_COUNT; proof++) {
        struct cz_synth_snap s = make(proof, 5 + proof, NULL);
        assert_int_equal(s.num_partitions, PARTITIONS[proof]);
        assert_int_equal(s.h, proof ? 10 : 1);
        struct cz_update *update = parse(&s);
        const uint32_t check[] = {0, s.num_partitions / 3, s.num_partitions - 1};
        for (size_t i = 0; i < 3; i++) {
            struct cz_error err = {0};
            if (cz_update_check_partition(update, check[i], &err) != CZ_OK) fail_msg("proof %u: %s", proof, err.detail);
        }
        cz_update_destroy(update);
        cz_synth_snap_done(&s);
    }
}

/* The new replica is not one value: leaves of two ranges differ, those of one do not. */
static void ranges(void **state) {
    (void)state;
    struct cz_synth_snap s = make(1, 9, NULL);
    struct cz_update *update = parse(&s);
    const struct cz_update_challenge *first = update->partition[0].challenge;
    bool differ = false;
    for (uint32_t i = 1; i < update->shape.challenges; i++) {
        assert_memory_equal(first[0].r_old.leaf, first[i].r_old.leaf, 32);
        differ |= memcmp(first[0].r_new.leaf, first[i].r_new.leaf, 32) != 0;
    }
    assert_true(differ);
    cz_update_destroy(update);
    cz_synth_snap_done(&s);
}

static bool same(const struct cz_synth_snap *a, const struct cz_synth_snap *b) {
    if (a->num_partitions != b->num_partitions || memcmp(a->comm_r_new, b->comm_r_new, 32) != 0) return false;
    for (uint32_t i = 0; i < a->num_partitions; i++) {
        if (a->vanilla[i].len != b->vanilla[i].len) return false;
        if (memcmp(a->vanilla[i].data, b->vanilla[i].data, a->vanilla[i].len) != 0) return false;
    }
    return true;
}

static void deterministic(void **state) {
    (void)state;
    struct cz_pool *pool = NULL;
    assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
    struct cz_synth_snap a = make(3, 11, NULL), b = make(3, 11, pool), c = make(3, 12, pool);
    assert_true(same(&a, &b));
    assert_false(same(&a, &c));
    assert_memory_not_equal(a.comm_r_old, c.comm_r_old, 32);
    assert_memory_not_equal(a.comm_d_new, c.comm_d_new, 32);
    cz_synth_snap_done(&a);
    cz_synth_snap_done(&b);
    cz_synth_snap_done(&c);
    cz_pool_destroy(pool);
}

static void refusals_and_json(void **state) {
    (void)state;
    const struct cz_synth_snap_request q = {.proof = CZ_REGISTERED_UPDATE_COUNT};
    struct cz_synth_snap s = {.seed = 42};
    struct cz_error err = {0};
    char text[1024], hex[65];
    assert_int_equal(cz_synth_snap_make(&s, &q, NULL, &err), CZ_ERR_ARGUMENT);
    assert_non_null(strstr(err.detail, "unknown"));
    assert_int_equal(s.seed, 42);

    s = make(0, UINT64_MAX, NULL);
    cz_synth_snap_json(text, &s);
    cz_hex_encode(hex, s.comm_r_new, 32);
    const char *at = strstr(text, "\"comm_r_new\": \"");
    assert_non_null(at);
    assert_memory_equal(at + 15, hex, 64);
    assert_non_null(strstr(text, "\"registered_update_proof\": \"StackedDrg2KiBV1\""));
    assert_non_null(strstr(text, "seed 18446744073709551615"));
    assert_string_equal(text + strlen(text) - 3, "\n}\n");
    cz_synth_snap_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kib),       cmocka_unit_test(every_size),        cmocka_unit_test(ranges),
        cmocka_unit_test(deterministic), cmocka_unit_test(refusals_and_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
