/* PoSt inputs without a sector: accepted by the native check in every size, satisfied circuits, the same bytes again.
 */

#include "base/thread.h"
#include "filecoin/circuits/post.h"
#include "filecoin/synth/post.h"
#include "support.h"

/* 2 KiB; the sizes follow in order. */
#define WINNING 0u
#define WINDOW_V1 5u
#define WINDOW_V1_2 10u

static struct cz_synth_post make(unsigned proof, uint64_t seed, uint32_t sectors, uint32_t partition,
                                 struct cz_pool *pool) {
    const struct cz_synth_post_request q = {.proof = (enum cz_registered_post)proof,
                                            .seed = seed,
                                            .miner = 1000,
                                            .num_sectors = sectors,
                                            .first_partition = partition};
    struct cz_synth_post post = {0};
    struct cz_error err = {0};
    if (cz_synth_post_make(&post, &q, pool, &err) != CZ_OK) fail_msg("proof %u: %s", proof, err.detail);
    assert_int_equal(post.num_sectors, sectors);
    return post;
}

static struct cz_post *parse(const struct cz_synth_post *s, bool has_partition, uint32_t partition) {
    const struct cz_post_request q = {.proof = s->proof,
                                      .randomness = s->randomness,
                                      .prover_id = s->prover_id,
                                      .vanilla = s->vanilla,
                                      .num_vanilla = s->num_sectors,
                                      .has_partition = has_partition,
                                      .partition_index = partition};
    struct cz_post *post = NULL;
    struct cz_error err = {0};
    if (cz_post_parse(&post, &q, &err) != CZ_OK) fail_msg("proof %u: %s", (unsigned)s->proof, err.detail);
    return post;
}

static void check(const struct cz_post *post) {
    struct cz_error err = {0};
    if (cz_post_check(post, &err) != CZ_OK) fail_msg("proof %u: %s", (unsigned)post->proof, err.detail);
}

static void satisfied(const struct cz_post *post) {
    for (uint32_t k = 0; k < post->num_partitions; k++) {
        uint8_t digest[32];
        bool holds = false;
        assert_int_equal(cz_post_circuit_digest(digest, &holds, post, k, NULL), CZ_OK);
        assert_true(holds);
    }
}

static void two_kib(void **state) {
    (void)state;
    static const unsigned PROOF[] = {WINNING, WINDOW_V1, WINDOW_V1_2};
    for (size_t i = 0; i < sizeof PROOF / sizeof *PROOF; i++) {
        for (uint64_t seed = 0; seed < 3; seed++) {
            uint32_t sectors = PROOF[i] == WINNING ? 1 : 1 + (uint32_t)seed * 2; /* 1, 3, 5: the last one padded */
            struct cz_synth_post s = make(PROOF[i], seed, sectors, 0, NULL);
            struct cz_post *post = parse(&s, false, 0);
            assert_int_equal(post->num_partitions, (sectors + post->places - 1) / post->places);
            check(post);
            satisfied(post);
            cz_post_destroy(post);
            cz_synth_post_done(&s);
            assert_null(s.owned);
        }
    }
}

static void every_size(void **state) {
    (void)state;
    for (unsigned proof = 0; proof < CZ_REGISTERED_POST_COUNT; proof++) {
        struct cz_synth_post s = make(proof, UINT64_MAX - proof, proof < WINDOW_V1 ? 1 : 3, 0, NULL);
        struct cz_post *post = parse(&s, false, 0);
        struct cz_error err = {0};
        /* Of real sizes only the places with a sector of their own: the rest repeats the last. */
        for (uint32_t k = 0; k < post->num_partitions; k++) {
            uint32_t places = proof < WINDOW_V1 ? 8 : post->places < 3 ? post->places : 3;
            if (cz_post_check_places(post, k, 0, places, &err) != CZ_OK) fail_msg("proof %u: %s", proof, err.detail);
        }
        cz_post_destroy(post);
        cz_synth_post_done(&s);
    }
}

/* Sectors are ascending, and nothing but the shape is shared between two. */
static void sectors_differ(void **state) {
    (void)state;
    struct cz_synth_post s = make(WINDOW_V1_2 + 1, 7, 40, 0, NULL);
    struct cz_post *post = parse(&s, false, 0);
    for (uint32_t i = 1; i < 40; i++) {
        const struct cz_post_sector *a = &post->sector[i - 1], *b = &post->sector[i];
        assert_true(a->number < b->number);
        assert_memory_not_equal(a->comm_r, b->comm_r, 32);
        assert_memory_not_equal(a->comm_c, b->comm_c, 32);
        assert_memory_not_equal(a->comm_r_last, b->comm_r_last, 32);
    }
    cz_post_destroy(post);
    cz_synth_post_done(&s);
}

/* The challenges of V1 count over the deadline, those of V1_2 within a sector. */
static void later_partition(void **state) {
    (void)state;
    struct cz_synth_post s = make(WINDOW_V1, 3, 2, 4, NULL);
    struct cz_post *post = parse(&s, true, 4);
    check(post);
    cz_post_destroy(post);
    post = parse(&s, true, 3);
    assert_int_equal(cz_post_check(post, NULL), CZ_ERR_MISMATCH);
    cz_post_destroy(post);
    cz_synth_post_done(&s);

    s = make(WINDOW_V1_2, 3, 2, 4, NULL);
    post = parse(&s, true, 3);
    check(post);
    cz_post_destroy(post);
    cz_synth_post_done(&s);
}

static bool same(const struct cz_synth_post *a, const struct cz_synth_post *b) {
    if (a->num_sectors != b->num_sectors || memcmp(a->randomness, b->randomness, 32) != 0) return false;
    for (uint32_t i = 0; i < a->num_sectors; i++) {
        if (a->vanilla[i].len != b->vanilla[i].len) return false;
        if (memcmp(a->vanilla[i].data, b->vanilla[i].data, a->vanilla[i].len) != 0) return false;
    }
    return true;
}

static void deterministic(void **state) {
    (void)state;
    struct cz_pool *pool = NULL;
    assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
    struct cz_synth_post a = make(WINDOW_V1_2 + 3, 11, 9, 0, NULL), b = make(WINDOW_V1_2 + 3, 11, 9, 0, pool);
    struct cz_synth_post c = make(WINDOW_V1_2 + 3, 12, 9, 0, pool);
    assert_true(same(&a, &b));
    assert_false(same(&a, &c));
    assert_int_equal(a.vanilla[0].len, 24960); /* spec/post-circuits.md §4 */
    cz_synth_post_done(&a);
    cz_synth_post_done(&b);
    cz_synth_post_done(&c);
    cz_pool_destroy(pool);
}

static void refusals(void **state) {
    (void)state;
    static const struct {
        struct cz_synth_post_request q;
        enum cz_status status;
        const char *text;
    } CASES[] = {
        {{.proof = CZ_REGISTERED_POST_COUNT, .num_sectors = 1}, CZ_ERR_ARGUMENT, "unknown"},
        {{.proof = (enum cz_registered_post)WINDOW_V1}, CZ_ERR_ARGUMENT, "0 sectors"},
        {{.proof = (enum cz_registered_post)WINNING, .num_sectors = 2}, CZ_ERR_ARGUMENT, "winning PoSt is of one"},
        {{.proof = (enum cz_registered_post)WINNING, .num_sectors = 1, .first_partition = 1},
         CZ_ERR_ARGUMENT,
         "one partition"},
        {{.proof = (enum cz_registered_post)WINDOW_V1, .num_sectors = CZ_SYNTH_POST_MAX_SECTORS + 1},
         CZ_ERR_LIMIT,
         "at most 65536"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_synth_post s = {.seed = 42};
        struct cz_error err = {0};
        assert_int_equal(cz_synth_post_make(&s, &CASES[i].q, NULL, &err), CASES[i].status);
        if (!strstr(err.detail, CASES[i].text)) fail_msg("\"%s\", expected \"%s\"", err.detail, CASES[i].text);
        assert_int_equal(s.seed, 42);
        assert_null(s.owned);
    }
}

static void json(void **state) {
    (void)state;
    char text[1024];
    struct cz_synth_post s = make(WINDOW_V1_2 + 3, UINT64_MAX, 2, 0, NULL);
    cz_synth_post_json(text, &s);
    assert_non_null(strstr(text, "\"prover_id\": \"e80700000000"));
    assert_non_null(strstr(text, "\"registered_post_proof\": \"StackedDrgWindow32GiBV1_2\""));
    assert_non_null(strstr(text, "\"registered_proof\": 13,")); /* the chain's number */
    assert_non_null(strstr(text, "\"sectors\": 2,"));
    assert_non_null(strstr(text, "seed 18446744073709551615"));
    assert_string_equal(text + strlen(text) - 3, "\n}\n");
    cz_synth_post_done(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_kib),        cmocka_unit_test(every_size),
        cmocka_unit_test(sectors_differ), cmocka_unit_test(later_partition),
        cmocka_unit_test(deterministic),  cmocka_unit_test(refusals),
        cmocka_unit_test(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
