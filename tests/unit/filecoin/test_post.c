/* PoSt inputs: parsing, partitions and padding, challenges, the native check, refusals of the circuit. */

#include "base/file.h"
#include "filecoin/circuits/post.h"
#include "support.h"

#define WINDOW CZ_SHARED_DIR "/vectors/reference/2kib/window-v1"
#define WINNING CZ_SHARED_DIR "/vectors/reference/2kib/winning"
#define SECTORS 3

/* Offsets in a 2 KiB blob (one base path of two levels). */
#define AT_COMM_R 8
#define AT_SECTORS 40
#define AT_PROOFS 48
#define AT_TAG 56
#define AT_ROOT 60
#define AT_LEAF 92
#define AT_LEVELS 124
#define AT_HASHES 132
#define AT_SIBLING 140
#define AT_INDEX (AT_SIBLING + 7 * 32)
#define PROOF_BYTES (4 + 64 + 8 + 2 * (8 + 7 * 32 + 8))

struct fixture {
    uint8_t *file[SECTORS]; /* originals */
    uint8_t *copy[SECTORS];
    struct cz_bytes vanilla[SECTORS];
    uint8_t randomness[32], prover_id[32];
    struct cz_post_request q;
};

static void load(struct fixture *f, const char *dir, size_t n, enum cz_registered_post proof) {
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < n; i++) {
        char path[400];
        size_t len;
        snprintf(path, sizeof path, "%s/vanilla-%zu.bin", dir, i);
        assert_int_equal(cz_file_read(&f->file[i], &len, path, 1 << 20, NULL), CZ_OK);
        f->copy[i] = malloc(len + 1);
        assert_non_null(f->copy[i]);
        memcpy(f->copy[i], f->file[i], len);
        f->vanilla[i] = (struct cz_bytes){f->copy[i], len};
    }
    memset(f->randomness, 0x65, 32);
    f->randomness[31] = 0x1f;
    memcpy(f->prover_id, "\x25\xb8\x26\x57\xa4\x01\x24\xfa\xa3\x63", 10);
    f->q = (struct cz_post_request){
        .proof = proof,
        .randomness = f->randomness,
        .prover_id = f->prover_id,
        .vanilla = f->vanilla,
        .num_vanilla = n,
    };
}

static void done(struct fixture *f) {
    for (size_t i = 0; i < SECTORS; i++) {
        cz_free(f->file[i]);
        free(f->copy[i]);
    }
}

static void load_window(struct fixture *f) {
    load(f, WINDOW, SECTORS, 5);
}

static struct cz_post *parse(const struct fixture *f) {
    struct cz_post *post = NULL;
    struct cz_error err = {0};
    if (cz_post_parse(&post, &f->q, &err)) fail_msg("%s", err.detail);
    return post;
}

/* *out stays as it was. */
static void refused(const struct fixture *f, enum cz_status status, const char *text) {
    struct cz_post *post = (struct cz_post *)f;
    struct cz_error err = {0};
    enum cz_status got = cz_post_parse(&post, &f->q, &err);
    if (got != status || !strstr(err.detail, text))
        fail_msg("%s: \"%s\", expected %s with \"%s\"", cz_status_text(got), err.detail, cz_status_text(status), text);
    assert_ptr_equal(post, f);
}

static void names(void **state) {
    (void)state;
    enum cz_registered_post proof;
    for (unsigned i = 0; i < CZ_REGISTERED_POST_COUNT; i++) {
        const char *rust = cz_registered_post_name((enum cz_registered_post)i);
        const char *go = cz_registered_post_go_name((enum cz_registered_post)i);
        assert_int_equal(cz_registered_post_parse(&proof, rust, strlen(rust)), CZ_OK);
        assert_int_equal(proof, i);
        assert_int_equal(cz_registered_post_parse(&proof, go, strlen(go)), CZ_OK);
        assert_int_equal(proof, i);
        assert_int_equal(cz_registered_post_is_winning(proof), i < 5);
        assert_int_equal(cz_registered_post_is_v1_2(proof), i >= 10);
        assert_int_equal(cz_registered_post_parse(&proof, rust, strlen(rust) - 1), CZ_ERR_FORMAT);
    }
    assert_string_equal(cz_registered_post_name(3), "StackedDrgWinning32GiBV1");
    assert_string_equal(cz_registered_post_name(8), "StackedDrgWindow32GiBV1");
    assert_string_equal(cz_registered_post_name(14), "StackedDrgWindow64GiBV1_2");
    assert_string_equal(cz_registered_post_go_name(14), "StackedDrgWindow64GiBV1_1");
    assert_string_equal(cz_registered_post_sector(11)->name, "8MiB");
    assert_string_equal(cz_registered_post_name(15), "unknown");
    assert_null(cz_registered_post_sector(15));
}

static void shapes(void **state) {
    (void)state;
    assert_int_equal(cz_post_sectors(CZ_CIRCUIT_WINDOW, cz_sector_by_name("32GiB")), 2349);
    assert_int_equal(cz_post_sectors(CZ_CIRCUIT_WINDOW, cz_sector_by_name("64GiB")), 2300);
    assert_int_equal(cz_post_sectors(CZ_CIRCUIT_WINDOW, cz_sector_by_name("512MiB")), 2);
    assert_int_equal(cz_post_sectors(CZ_CIRCUIT_WINNING, cz_sector_by_name("32GiB")), 66);
    assert_int_equal(cz_post_challenges(CZ_CIRCUIT_WINDOW), 10);
    assert_int_equal(cz_post_challenges(CZ_CIRCUIT_WINNING), 1);
}

static void partitions_and_padding(void **state) {
    (void)state;
    struct fixture f;
    load_window(&f);
    struct cz_post *post = parse(&f);
    assert_int_equal(post->num_partitions, 2);
    assert_int_equal(post->num_sectors, 3);
    assert_ptr_equal(cz_post_place(post, 0, 1), &post->sector[1]);
    assert_ptr_equal(cz_post_place(post, 1, 0), &post->sector[2]);
    assert_ptr_equal(cz_post_place(post, 1, 1), &post->sector[2]);
    for (uint32_t n = 0; n < 10; n++) {
        assert_ptr_equal(cz_post_inclusion(post, 0, 1, n), &post->sector[1].inclusion[n]);
        /* V1 counts on over the partitions; padding does not. */
        uint64_t leaf = cz_post_leaf_challenge(post, post->sector[2].number, 20 + n);
        assert_int_equal(cz_post_challenge(post, 1, 0, n), leaf);
        assert_int_equal(cz_post_challenge(post, 1, 1, n), leaf);
    }
    struct cz_fr inputs[22], one[22];
    assert_int_equal(cz_post_num_public_inputs(post), 22);
    assert_int_equal(cz_post_public_inputs(inputs, 22, post, 1, NULL), CZ_OK);
    assert_memory_equal(inputs, inputs + 11, 11 * sizeof *inputs);
    assert_int_equal(cz_post_public_inputs(inputs, 21, post, 1, NULL), CZ_ERR_LENGTH);
    assert_int_equal(cz_post_public_inputs(inputs, 22, post, 2, NULL), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_check_partition(post, 2, NULL), CZ_ERR_ARGUMENT);

    /* Partition 1 alone. */
    f.q.vanilla += 2;
    f.q.num_vanilla = 1;
    f.q.has_partition = true;
    f.q.partition_index = 1;
    struct cz_post *single = parse(&f);
    assert_int_equal(single->num_partitions, 1);
    assert_int_equal(cz_post_public_inputs(one, 22, single, 0, NULL), CZ_OK);
    assert_memory_equal(one, inputs, sizeof one);
    assert_int_equal(cz_post_check(single, NULL), CZ_OK);
    cz_post_destroy(single);

    f.q.vanilla -= 2;
    f.q.num_vanilla = 3;
    refused(&f, CZ_ERR_LENGTH, "3 vanilla proofs for one partition of 2");
    cz_post_destroy(post);
    cz_post_destroy(NULL);
    done(&f);
}

static void bad_requests(void **state) {
    (void)state;
    struct fixture f;
    load_window(&f);
    f.q.proof = 15;
    refused(&f, CZ_ERR_ARGUMENT, "registered PoSt proof 15");
    f.q.proof = 5;
    f.q.num_vanilla = 0;
    refused(&f, CZ_ERR_ARGUMENT, "no vanilla proof");
    f.q.num_vanilla = CZ_POST_MAX_SECTORS + 1;
    refused(&f, CZ_ERR_LIMIT, "vanilla proofs");
    f.q.num_vanilla = 3;
    f.q.randomness = NULL;
    refused(&f, CZ_ERR_ARGUMENT, "randomness");
    f.q.randomness = f.randomness;
    f.randomness[31] = 0x74;
    refused(&f, CZ_ERR_FIELD_RANGE, "randomness");
    f.randomness[31] = 0x1f;
    memset(f.prover_id, 0xff, 32);
    refused(&f, CZ_ERR_FIELD_RANGE, "prover_id");
    memset(f.prover_id, 0, 32);
    f.vanilla[1].data = NULL;
    refused(&f, CZ_ERR_LENGTH, "vanilla proof 1");
    done(&f);

    load(&f, WINNING, 1, 0);
    f.q.has_partition = true;
    cz_post_destroy(parse(&f));
    f.q.partition_index = 1;
    refused(&f, CZ_ERR_ARGUMENT, "partition_index 1");
    f.q.has_partition = false;
    f.vanilla[1] = f.vanilla[0];
    f.q.num_vanilla = 2;
    refused(&f, CZ_ERR_LENGTH, "2 vanilla proofs");
    done(&f);
}

/* Sets `size` bytes of blob 1 to the little-endian value, expects the refusal, and undoes it. */
static void poke(struct fixture *f, size_t at, uint64_t value, size_t size, enum cz_status status, const char *text) {
    uint8_t le[8];
    cz_store_le64(le, value);
    memcpy(f->copy[1] + at, le, size);
    refused(f, status, text);
    memcpy(f->copy[1] + at, f->file[1] + at, size);
}

static void bad_blobs(void **state) {
    (void)state;
    struct fixture f;
    load_window(&f);
    size_t len = f.vanilla[1].len, last = AT_TAG + 10 * PROOF_BYTES;
    assert_int_equal(len, last + 64);
    poke(&f, AT_SECTORS, 2, 8, CZ_ERR_LENGTH,
         "vanilla proof 1: vanilla_proof.sectors: 2 entries, expected 1, offset 40");
    poke(&f, AT_PROOFS, 1ull << 60, 8, CZ_ERR_LENGTH, "vanilla_proof.inclusion_proofs: ");
    poke(&f, AT_PROOFS, 66, 8, CZ_ERR_LENGTH, "66 entries, expected 10, offset 48");
    poke(&f, AT_TAG, 1, 4, CZ_ERR_FORMAT, "inclusion_proofs[0].tag: 1, expected 0 (Single), offset 56");
    poke(&f, AT_LEVELS, 3, 8, CZ_ERR_LENGTH, "inclusion_proofs[0].path: 3 entries, expected 2, offset 124");
    poke(&f, AT_HASHES, 8, 8, CZ_ERR_LENGTH, "inclusion_proofs[0].path[0].hashes: 8 entries, expected 7");
    poke(&f, AT_INDEX, 8, 8, CZ_ERR_FORMAT, "inclusion_proofs[0].path[0].index: 8, not below the arity 8, offset 364");
    poke(&f, AT_INDEX, 1ull << 32, 8, CZ_ERR_FORMAT, "path[0].index");
    poke(&f, AT_TAG + 9 * PROOF_BYTES, 2, 4, CZ_ERR_FORMAT, "inclusion_proofs[9].tag");

    static const struct {
        size_t at;
        const char *name;
    } NODE[] = {{AT_COMM_R, "vanilla proof 1: comm_r: not below the field's modulus, offset 8"},
                {AT_ROOT, "inclusion_proofs[0].root"},
                {AT_LEAF, "inclusion_proofs[0].leaf"},
                {AT_SIBLING + 6 * 32, "path[0].hashes: not below the field's modulus, offset 332"},
                {AT_TAG + 10 * PROOF_BYTES, "vanilla_proof.comm_c"},
                {AT_TAG + 10 * PROOF_BYTES + 32, "vanilla_proof.comm_r_last"}};
    for (size_t i = 0; i < sizeof NODE / sizeof *NODE; i++)
        poke(&f, NODE[i].at + 24, UINT64_MAX, 8, CZ_ERR_FIELD_RANGE, NODE[i].name);

    for (size_t n = 0; n < len; n += n < 400 || n > len - 70 ? 1 : 97) {
        f.vanilla[1].len = n;
        refused(&f, CZ_ERR_LENGTH, "vanilla proof 1");
    }
    f.vanilla[1].len = len + 1;
    refused(&f, CZ_ERR_LENGTH, "1 bytes after the end");
    f.vanilla[1].len = len;
    cz_post_destroy(parse(&f));
    done(&f);
}

/* Flips a bit of blob `blob`; the check has to give the reason. */
static void check_refuses(struct fixture *f, size_t blob, size_t at, const char *text) {
    struct cz_error err = {0};
    f->copy[blob][at] ^= 1;
    struct cz_post *post = parse(f);
    enum cz_status status = cz_post_check(post, &err);
    if (status != CZ_ERR_MISMATCH || !strstr(err.detail, text))
        fail_msg("%s: \"%s\", expected \"%s\"", cz_status_text(status), err.detail, text);
    f->copy[blob][at] ^= 1;
    cz_post_destroy(post);
}

static void native_check(void **state) {
    (void)state;
    struct fixture f;
    load_window(&f);
    struct cz_post *post = parse(&f);
    assert_int_equal(cz_post_check(post, NULL), CZ_OK);
    cz_post_destroy(post);
    size_t comm_c = AT_TAG + 10 * PROOF_BYTES;
    check_refuses(&f, 1, AT_COMM_R, "partition 0, sector 3225915410: comm_r: not the hash");
    check_refuses(&f, 2, comm_c, "partition 1, sector 254412089: comm_r: not the hash");
    check_refuses(&f, 2, comm_c + 32, "sector 254412089: comm_r");
    check_refuses(&f, 0, AT_ROOT, "challenge 0 (leaf 31): the root is not comm_r_last");
    check_refuses(&f, 0, AT_LEAF, "sector 3032579445, challenge 0 (leaf 31): the path does not lead to the root");
    check_refuses(&f, 0, AT_SIBLING + 3 * PROOF_BYTES, "challenge 3 (leaf 32): the path does not lead to the root");
    check_refuses(&f, 1, AT_INDEX, "sector 3225915410, challenge 0 (leaf 14): the path of another leaf");
    check_refuses(&f, 1, 0, "the path of another leaf"); /* sector number */
    f.randomness[0] ^= 1;
    check_refuses(&f, 0, AT_COMM_R, "comm_r");
    post = parse(&f);
    assert_int_equal(cz_post_check(post, NULL), CZ_ERR_MISMATCH);
    cz_post_destroy(post);
    f.randomness[0] ^= 1;
    f.q.proof = 10; /* the other index rule: only sector 0 agrees */
    post = parse(&f);
    struct cz_error err = {0};
    assert_int_equal(cz_post_check(post, &err), CZ_ERR_MISMATCH);
    assert_non_null(strstr(err.detail, "sector 3225915410, challenge 0 "));
    assert_int_equal(cz_post_check_places(post, 0, 0, 1, &err), CZ_OK);
    assert_int_equal(cz_post_check_places(post, 0, 1, 2, &err), CZ_ERR_MISMATCH);
    assert_int_equal(cz_post_check_places(post, 1, 1, 2, &err), CZ_OK); /* padding: checked in its first place */
    assert_int_equal(cz_post_check_places(post, 0, 1, 3, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_check_places(post, 0, 1, 0, &err), CZ_ERR_ARGUMENT);
    cz_post_destroy(post);
    done(&f);

    load(&f, WINNING, 1, 0);
    post = parse(&f);
    assert_int_equal(cz_post_check(post, NULL), CZ_OK);
    assert_int_equal(cz_post_num_public_inputs(post), 132);
    cz_post_destroy(post);
    check_refuses(&f, 0, AT_LEAF + 65 * PROOF_BYTES, "challenge 65 (leaf");
    done(&f);
}

static void circuit_refusals(void **state) {
    (void)state;
    struct fixture f;
    struct cz_r1cs *r1cs, *other;
    struct cz_witness w;
    struct cz_error err = {0};
    uint8_t digest[32];
    bool satisfied;
    const struct cz_sector_info *sector = cz_sector_by_name("2KiB");
    assert_int_equal(cz_post_circuit_build(&r1cs, CZ_CIRCUIT_POREP, sector, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_circuit_build(&r1cs, CZ_CIRCUIT_WINDOW, sector, &err), CZ_OK);
    assert_int_equal(cz_post_circuit_build(&other, CZ_CIRCUIT_WINDOW, cz_sector_by_name("8MiB"), &err), CZ_OK);
    load_window(&f);
    struct cz_post *post = parse(&f);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(cz_post_circuit_assign(&w, r1cs, post, 0, &err), CZ_OK);
    assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
    for (uint32_t partition = 0; partition < 2; partition++) { /* the same on several threads */
        struct cz_witness many;
        struct cz_pool *pool;
        assert_int_equal(cz_pool_create(&pool, 3), CZ_OK);
        assert_int_equal(cz_witness_init(&many, r1cs), CZ_OK);
        assert_int_equal(cz_post_circuit_assign(&w, r1cs, post, partition, &err), CZ_OK);
        assert_int_equal(cz_post_circuit_assign_pool(&many, r1cs, post, partition, pool, &err), CZ_OK);
        assert_memory_equal(many.elem, w.elem, w.num_elems * sizeof *w.elem);
        assert_memory_equal(many.bit, w.bit, (w.num_bits + 63) / 64 * sizeof *w.bit);
        assert_memory_equal(many.input, w.input, w.num_inputs * sizeof *w.input);
        cz_witness_done(&many);
        cz_pool_destroy(pool);
    }
    assert_int_equal(cz_post_circuit_assign(&w, r1cs, post, 2, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_circuit_assign(&w, other, post, 0, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_circuit_digest(digest, &satisfied, post, 2, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_post_circuit_digest(digest, &satisfied, post, 1, &err), CZ_OK);
    assert_true(satisfied);
    cz_witness_done(&w);

    /* The right counts, but of another size. */
    assert_int_equal(cz_witness_init(&w, other), CZ_OK);
    assert_int_equal(cz_post_circuit_assign(&w, other, post, 0, &err), CZ_ERR_INTERNAL);
    cz_witness_done(&w);
    cz_post_destroy(post);

    /* Wrong values: a witness that does not hold. */
    f.copy[2][AT_SIBLING] ^= 1;
    post = parse(&f);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(cz_post_circuit_assign(&w, r1cs, post, 1, &err), CZ_OK);
    assert_true(cz_witness_first_unsatisfied(&w, r1cs, NULL) < r1cs->num_constraints);
    assert_int_equal(cz_post_circuit_digest(digest, &satisfied, post, 1, &err), CZ_OK);
    assert_false(satisfied);
    assert_int_equal(cz_post_circuit_digest(digest, &satisfied, post, 0, &err), CZ_OK);
    assert_true(satisfied);
    cz_witness_done(&w);
    cz_post_destroy(post);
    cz_r1cs_destroy(r1cs);
    cz_r1cs_destroy(other);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(shapes),
        cmocka_unit_test(partitions_and_padding),
        cmocka_unit_test(bad_requests),
        cmocka_unit_test(bad_blobs),
        cmocka_unit_test(native_check),
        cmocka_unit_test(circuit_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
