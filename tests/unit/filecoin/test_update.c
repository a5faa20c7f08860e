/* Empty sector updates: numbers of the sizes, challenges, parsing, the native
 * check, refusals of the circuit. */

#include "base/file.h"
#include "filecoin/circuits/update.h"
#include "support.h"

#define VECTORS CZ_SHARED_DIR "/vectors/reference/"

/* Offsets in a 2 KiB blob: 8 apex leaves, 10 challenges; tree R has two levels
 * of 8, tree D six of 2. */
#define BLOB_BYTES 15064
#define AT_COMM_C 0
#define AT_APEX_COUNT 32
#define AT_APEX 40
#define AT_COUNT 296
#define AT_CHALLENGE 304
#define R_BYTES (4 + 64 + 8 + 2 * (8 + 7 * 32 + 8))
#define D_BYTES (4 + 64 + 8 + 6 * (8 + 32 + 8))
#define CHALLENGE_BYTES (2 * R_BYTES + D_BYTES)
/* Within a path of either tree. */
#define IN_TAG 0
#define IN_ROOT 4
#define IN_LEAF 36
#define IN_LEVELS 68
#define IN_HASHES 76
#define IN_SIBLING 84
#define R_INDEX (IN_SIBLING + 7 * 32)
#define D_LEVEL_BYTES (8 + 32 + 8)
/* The paths of challenge n. */
#define R_OLD(n) (AT_CHALLENGE + (n)*CHALLENGE_BYTES)
#define D_NEW(n) (R_OLD(n) + R_BYTES)
#define R_NEW(n) (D_NEW(n) + D_BYTES)

struct fixture {
    uint8_t *file[CZ_UPDATE_MAX_PARTITIONS]; /* originals */
    uint8_t *copy[CZ_UPDATE_MAX_PARTITIONS];
    struct cz_bytes vanilla[CZ_UPDATE_MAX_PARTITIONS];
    uint8_t comm_r_old[32], comm_r_new[32], comm_d_new[32];
    struct cz_update_request q;
};

static void load(struct fixture *f, const char *dir, enum cz_registered_update proof, size_t n,
                 const char *const hex[3]) {
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < n; i++) {
        char path[400];
        size_t len;
        snprintf(path, sizeof path, VECTORS "%s/vanilla-%zu.bin", dir, i);
        assert_int_equal(cz_file_read(&f->file[i], &len, path, 1 << 20, NULL), CZ_OK);
        f->copy[i] = malloc(len + 1);
        assert_non_null(f->copy[i]);
        memcpy(f->copy[i], f->file[i], len);
        f->vanilla[i] = (struct cz_bytes){f->copy[i], len};
    }
    assert_int_equal(cz_hex_decode(f->comm_r_old, 32, hex[0]), CZ_OK);
    assert_int_equal(cz_hex_decode(f->comm_r_new, 32, hex[1]), CZ_OK);
    assert_int_equal(cz_hex_decode(f->comm_d_new, 32, hex[2]), CZ_OK);
    f->q = (struct cz_update_request){
        .proof = proof,
        .comm_r_old = f->comm_r_old,
        .comm_r_new = f->comm_r_new,
        .comm_d_new = f->comm_d_new,
        .vanilla = f->vanilla,
        .num_vanilla = n,
    };
}

static void load_2kib(struct fixture *f) {
    static const char *const HEX[3] = {"bf21721f02b76ca815d98b1c53c7e609d754bc3a519a6c6d6ca5d17be4547521",
                                       "bb3340034976ca56e4b85bfa893346c565f033d1a02cee05ec12cf1b12863a04",
                                       "fbca6ea1142deb79e285efc6ddd6d60085955553169c885311d8d9b889acc11b"};
    load(f, "2kib/update", 0, 1, HEX);
    assert_int_equal(f->vanilla[0].len, BLOB_BYTES);
    assert_int_equal(R_OLD(10), BLOB_BYTES);
}

static void load_8mib(struct fixture *f) {
    static const char *const HEX[3] = {"262ffc68a761514715d38d3169d553608b63c82ec2208a719d06419bc75df834",
                                       "2b5bd0080c571986efc790ba01faf6b65e766a415ac043648b4cea8cdb54eb37",
                                       "79dc9d06d247fd2cc20fe648f0f3f3b1206b35b5b72f41acd4c5c5c5bb882111"};
    load(f, "8mib/update", 1, 4, HEX);
}

static void done(struct fixture *f) {
    for (size_t i = 0; i < CZ_UPDATE_MAX_PARTITIONS; i++) {
        cz_free(f->file[i]);
        free(f->copy[i]);
    }
}

static struct cz_update *parse(const struct fixture *f) {
    struct cz_update *update = NULL;
    struct cz_error err = {0};
    if (cz_update_parse(&update, &f->q, &err)) fail_msg("%s", err.detail);
    return update;
}

/* *out stays as it was. */
static void refused(const struct fixture *f, enum cz_status status, const char *text) {
    struct cz_update *update = (struct cz_update *)f;
    struct cz_error err = {0};
    enum cz_status got = cz_update_parse(&update, &f->q, &err);
    if (got != status || !strstr(err.detail, text))
        fail_msg("%s: \"%s\", expected %s with \"%s\"", cz_status_text(got), err.detail, cz_status_text(status), text);
    assert_ptr_equal(update, f);
    assert_int_equal(cz_update_parse(&update, &f->q, NULL), status);
}

/* ---- names, shapes, challenges ---- */

static void names(void **state) {
    (void)state;
    enum cz_registered_update proof;
    for (unsigned i = 0; i < CZ_REGISTERED_UPDATE_COUNT; i++) {
        const char *name = cz_registered_update_name((enum cz_registered_update)i);
        assert_int_equal(cz_registered_update_parse(&proof, name, strlen(name)), CZ_OK);
        assert_int_equal(proof, i);
        assert_int_equal(cz_registered_update_parse(&proof, name, strlen(name) - 1), CZ_ERR_FORMAT);
    }
    assert_string_equal(cz_registered_update_name(0), "StackedDrg2KiBV1");
    assert_string_equal(cz_registered_update_name(3), "StackedDrg32GiBV1");
    assert_string_equal(cz_registered_update_sector(1)->name, "8MiB");
    assert_string_equal(cz_registered_update_sector(4)->name, "64GiB");
    assert_string_equal(cz_registered_update_name(5), "unknown");
    assert_null(cz_registered_update_sector(5));
    assert_int_equal(cz_registered_update_parse(&proof, "StackedDrg2KiBV1_1", 18), CZ_ERR_FORMAT);
}

static void shapes(void **state) {
    (void)state;
    static const struct {
        const char *size;
        uint32_t partitions, challenges, apex, h, per_digest, digests, poseidon_challenges;
    } CASES[] = {
        {"2KiB", 1, 10, 8, 1, 42, 1, 10},         {"4KiB", 1, 10, 8, 1, 36, 1, 10},
        {"16KiB", 2, 10, 128, 1, 31, 1, 20},      {"32KiB", 2, 10, 128, 1, 28, 1, 20},
        {"8MiB", 4, 10, 128, 10, 15, 1, 40},      {"16MiB", 4, 10, 128, 10, 14, 1, 40},
        {"512MiB", 16, 86, 128, 10, 12, 8, 1376}, {"1GiB", 16, 86, 128, 10, 12, 8, 1376},
        {"32GiB", 16, 86, 128, 10, 9, 10, 1376},  {"64GiB", 16, 86, 128, 10, 9, 10, 1376},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_update_shape s;
        cz_update_shape_init(&s, CZ_CIRCUIT_UPDATE, cz_sector_by_name(CASES[i].size));
        assert_int_equal(s.partitions, CASES[i].partitions);
        assert_int_equal(1u << s.partition_bits, s.partitions);
        assert_int_equal(s.challenges, CASES[i].challenges);
        assert_int_equal(s.apex, CASES[i].apex);
        assert_int_equal(1u << s.apex_bits, s.apex);
        assert_int_equal(s.h_default, CASES[i].h);
        assert_int_equal(s.per_digest, CASES[i].per_digest);
        assert_int_equal(s.digests, CASES[i].digests);
        assert_int_equal(cz_update_h_select(&s, s.h_default), CASES[i].h == 1 ? 1 : 8);
        assert_int_equal(cz_update_h_select(&s, 13), 0);
        assert_int_equal(cz_update_h_select(&s, 12), CASES[i].h == 1 ? 0 : 32);
        cz_update_shape_init(&s, CZ_CIRCUIT_UPDATE_POSEIDON, cz_sector_by_name(CASES[i].size));
        assert_int_equal(s.challenges, CASES[i].poseidon_challenges);
        assert_int_equal(s.partitions, 1);
        assert_int_equal(s.apex, 0);
        assert_int_equal(s.random_bits, s.challenge_bits);
    }
}

/* spec/known-values.md §5 */
static void challenges(void **state) {
    (void)state;
    static const struct {
        const char *size;
        uint32_t k;
        uint64_t first[5];
    } CASES[] = {
        {"2KiB", 0, {53, 51, 56, 3, 0}},
        {"4KiB", 0, {117, 25, 62, 0, 72}},
        {"16KiB", 0, {245, 140, 15, 128, 28}},
        {"16KiB", 1, {286, 308, 493, 510, 508}},
        {"32KiB", 0, {245, 454, 3, 400, 193}},
        {"32KiB", 1, {542, 666, 955, 927, 911}},
        {"8MiB", 0, {36085, 32783, 44060, 10950, 3731}},
        {"8MiB", 1, {78878, 130797, 112892, 93994, 78379}},
        {"16MiB", 0, {101621, 16391, 109319, 25944, 41193}},
        {"16MiB", 1, {209950, 163702, 175679, 224741, 197410}},
        {"512MiB", 0, {1019125, 116736, 706220, 59698, 799498}},
        {"512MiB", 1, {2092548, 1213276, 1185483, 1164598, 1095197}},
        {"512MiB", 14, {15212432, 15665918, 15015423, 15012912, 15495223}},
        {"512MiB", 15, {16388544, 15794686, 16637142, 16319148, 16328348}},
        {"32GiB", 0, {1019125, 27985696, 15282860, 11586600, 44651330}},
        {"32GiB", 1, {109168525, 127316247, 80331041, 97065716, 72310052}},
        {"32GiB", 14, {990420169, 955146989, 968005601, 976863263, 944650706}},
        {"32GiB", 15, {1038629497, 1053983614, 1030421316, 1027373887, 1068685433}},
        {"64GiB", 0, {1019125, 13992848, 3820715, 18225541, 57316660}},
        {"64GiB", 1, {243386253, 197875851, 204632136, 171516766, 247789010}},
        {"64GiB", 14, {1997053129, 1920414070, 2003609080, 1900492803, 1963254685}},
        {"64GiB", 15, {2045262457, 2036941247, 2136653521, 2091356007, 2147167623}},
    };
    static const char COMM_R_NEW[] = "6c0740d6edb22eb13054f4587d6d2dcbc688f796c303c7044f60429c4bbe1c10"; /* big-endian
                                                                                                          */
    uint8_t be[32], le[32];
    struct cz_fr comm_r_new;
    assert_int_equal(cz_hex_decode(be, 32, COMM_R_NEW), CZ_OK);
    for (unsigned i = 0; i < 32; i++) le[i] = be[31 - i];
    assert_int_equal(cz_fr_from_le(&comm_r_new, le), CZ_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct cz_update_shape s;
        uint64_t out[CZ_UPDATE_MAX_CHALLENGES];
        cz_update_shape_init(&s, CZ_CIRCUIT_UPDATE, cz_sector_by_name(CASES[i].size));
        cz_update_challenges(out, &s, &comm_r_new, CASES[i].k);
        for (unsigned n = 0; n < 5; n++) assert_int_equal(out[n], CASES[i].first[n]);
        for (unsigned n = 0; n < s.challenges; n++) assert_int_equal(out[n] >> s.random_bits, CASES[i].k);
    }
}

static void partitions(void **state) {
    (void)state;
    struct fixture f;
    struct cz_fr all[4], one[4], want;
    struct cz_error err = {0};
    load_8mib(&f);
    struct cz_update *update = parse(&f);
    assert_int_equal(update->kind, CZ_CIRCUIT_UPDATE);
    assert_int_equal(update->num_partitions, 4);
    assert_int_equal(update->h, 10);
    assert_int_equal(cz_update_num_public_inputs(update), 4);
    assert_int_equal(cz_update_public_inputs(all, 4, update, 3, NULL), CZ_OK);
    cz_fr_from_u64(&want, 3 | 8 << 2);
    assert_true(cz_fr_eq(&all[0], &want));
    assert_int_equal(cz_update_public_inputs(all, 5, update, 3, NULL), CZ_ERR_LENGTH);
    assert_int_equal(cz_update_public_inputs(all, 4, update, 4, NULL), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_update_check_partition(update, 4, NULL), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_update_check(update, NULL), CZ_OK);

    /* The last one alone. */
    f.q.vanilla += 3;
    f.q.num_vanilla = 1;
    f.q.first_partition = 3;
    struct cz_update *single = parse(&f);
    assert_int_equal(single->num_partitions, 1);
    assert_int_equal(single->partition[0].index, 3);
    assert_int_equal(cz_update_check(single, NULL), CZ_OK);
    assert_int_equal(cz_update_public_inputs(one, 4, single, 0, NULL), CZ_OK);
    assert_memory_equal(one, all, sizeof one);
    cz_update_destroy(single);

    /* Under another number its challenges are others. */
    f.q.first_partition = 2;
    single = parse(&f);
    assert_int_equal(cz_update_check(single, &err), CZ_ERR_MISMATCH);
    assert_non_null(strstr(err.detail, "partition 2, challenge 0 (leaf "));
    assert_non_null(strstr(err.detail, "proof_r_old: the path of another leaf"));
    cz_update_destroy(single);
    f.q.first_partition = 4;
    refused(&f, CZ_ERR_ARGUMENT, "partition 4 of 4");
    f.q.first_partition = UINT32_MAX;
    refused(&f, CZ_ERR_ARGUMENT, "of 4");
    f.q.first_partition = 3;
    f.q.num_vanilla = 2;
    refused(&f, CZ_ERR_LENGTH, "2 vanilla proofs");
    cz_update_destroy(update);
    cz_update_destroy(NULL);
    done(&f);
}

/* ---- parsing ---- */

static void bad_requests(void **state) {
    (void)state;
    struct fixture f;
    load_2kib(&f);
    f.q.proof = 5;
    refused(&f, CZ_ERR_ARGUMENT, "registered update proof 5");
    f.q.proof = 1;
    refused(&f, CZ_ERR_LENGTH, "apex_leafs: 8 entries, expected 128, offset 32");
    f.q.proof = 0;
    f.q.num_vanilla = 0;
    refused(&f, CZ_ERR_ARGUMENT, "no vanilla proof");
    f.q.num_vanilla = 2;
    refused(&f, CZ_ERR_LENGTH, "2 vanilla proofs");
    f.q.num_vanilla = 1;
    f.q.vanilla = NULL;
    refused(&f, CZ_ERR_ARGUMENT, "no vanilla proof");
    f.q.vanilla = f.vanilla;
    f.q.comm_r_old = NULL;
    refused(&f, CZ_ERR_ARGUMENT, "comm_r_old is missing");
    f.q.comm_r_old = f.comm_r_old;
    f.comm_r_new[31] = 0x74;
    refused(&f, CZ_ERR_FIELD_RANGE, "comm_r_new");
    f.comm_r_new[31] = 4;
    f.comm_d_new[31] = 0xff;
    refused(&f, CZ_ERR_FIELD_RANGE, "comm_d_new");
    f.comm_d_new[31] = 0x1b;
    f.vanilla[0] = (struct cz_bytes){NULL, 0};
    refused(&f, CZ_ERR_LENGTH, "comm_c");
    done(&f);
}

/* Sets `size` bytes to the little-endian value, expects the refusal, and undoes
 * it. */
static void poke(struct fixture *f, size_t at, uint64_t value, size_t size, enum cz_status status, const char *text) {
    uint8_t le[8];
    cz_store_le64(le, value);
    memcpy(f->copy[0] + at, le, size);
    refused(f, status, text);
    memcpy(f->copy[0] + at, f->file[0] + at, size);
}

static void bad_blobs(void **state) {
    (void)state;
    struct fixture f;
    load_2kib(&f);
    poke(&f, AT_APEX_COUNT, 7, 8, CZ_ERR_LENGTH, "partition 0: apex_leafs: 7 entries, expected 8, offset 32");
    poke(&f, AT_APEX_COUNT, UINT64_MAX, 8, CZ_ERR_LENGTH, "apex_leafs: ");
    poke(&f, AT_COUNT, 11, 8, CZ_ERR_LENGTH, "challenge_proofs: 11 entries, expected 10, offset 296");
    poke(&f, AT_COUNT, 0, 8, CZ_ERR_LENGTH, "challenge_proofs: 0 entries");
    poke(&f, AT_COUNT, 1ull << 60, 8, CZ_ERR_LENGTH, "challenge_proofs: ");
    poke(&f, R_OLD(0) + IN_TAG, 1, 4, CZ_ERR_FORMAT,
         "challenge_proofs[0].proof_r_old.tag: 1, expected 0 (Single), offset "
         "304");
    poke(&f, D_NEW(3) + IN_TAG, 2, 4, CZ_ERR_FORMAT, "challenge_proofs[3].proof_d_new.tag");
    poke(&f, R_NEW(9) + IN_TAG, 9, 4, CZ_ERR_FORMAT, "challenge_proofs[9].proof_r_new.tag");
    poke(&f, R_OLD(1) + IN_LEVELS, 3, 8, CZ_ERR_LENGTH, "challenge_proofs[1].proof_r_old.path: 3 entries, expected 2");
    poke(&f, D_NEW(1) + IN_LEVELS, 5, 8, CZ_ERR_LENGTH, "challenge_proofs[1].proof_d_new.path: 5 entries, expected 6");
    poke(&f, D_NEW(1) + IN_HASHES, 7, 8, CZ_ERR_LENGTH, "path[0].hashes: 7 entries, expected 1");
    poke(&f, R_OLD(0) + R_INDEX, 8, 8, CZ_ERR_FORMAT, "path[0].index: 8, not below the arity 8");
    poke(&f, D_NEW(0) + IN_SIBLING + 32, 2, 8, CZ_ERR_FORMAT, "path[0].index: 2, not below the arity 2");

    static const struct {
        size_t at;
        const char *name;
    } NODE[] = {{AT_COMM_C, "partition 0: comm_c: not below the field's modulus, offset 0"},
                {AT_APEX + 7 * 32, "apex_leafs: not below the field's modulus, offset 264"},
                {R_OLD(0) + IN_ROOT, "proof_r_old.root"},
                {D_NEW(9) + IN_LEAF, "challenge_proofs[9].proof_d_new.leaf"},
                {R_NEW(9) + IN_SIBLING, "challenge_proofs[9].proof_r_new.path[0].hashes"}};
    for (size_t i = 0; i < sizeof NODE / sizeof *NODE; i++)
        poke(&f, NODE[i].at + 24, UINT64_MAX, 8, CZ_ERR_FIELD_RANGE, NODE[i].name);

    for (size_t n = 0; n < BLOB_BYTES; n += n < AT_CHALLENGE + 400 || n > BLOB_BYTES - 300 ? 1 : 97) {
        f.vanilla[0].len = n;
        refused(&f, CZ_ERR_LENGTH, "partition 0");
    }
    f.vanilla[0].len = BLOB_BYTES + 1;
    f.copy[0][BLOB_BYTES] = 0;
    refused(&f, CZ_ERR_LENGTH, "1 bytes after the end");
    f.vanilla[0].len = BLOB_BYTES;
    cz_update_destroy(parse(&f));
    done(&f);
}

/* ---- the native check ---- */

/* Flips a bit of blob 0 (partition 0); the check has to give the reason. */
static void check_refuses(struct fixture *f, uint8_t *byte, const char *text) {
    struct cz_error err = {0};
    *byte ^= 1;
    struct cz_update *update = parse(f);
    enum cz_status status = cz_update_check(update, &err);
    if (status != CZ_ERR_MISMATCH || !strstr(err.detail, text))
        fail_msg("%s: \"%s\", expected \"%s\"", cz_status_text(status), err.detail, text);
    *byte ^= 1;
    cz_update_destroy(update);
}

static void native_check(void **state) {
    (void)state;
    struct fixture f;
    load_2kib(&f);
    uint8_t *b = f.copy[0];
    struct cz_update *update = parse(&f);
    assert_int_equal(cz_update_check(update, NULL), CZ_OK);
    cz_update_destroy(update);
    check_refuses(&f, f.comm_r_old, "partition 0: comm_r_old: not the hash of comm_c");
    check_refuses(&f, f.comm_r_new, "partition 0: comm_r_new: not the hash of comm_c");
    check_refuses(&f, f.comm_d_new, "partition 0: apex_leafs: do not lead to comm_d_new");
    check_refuses(&f, b + AT_COMM_C, "comm_r_old");
    check_refuses(&f, b + AT_APEX + 5 * 32, "apex_leafs");
    check_refuses(&f, b + R_OLD(0) + IN_ROOT, "comm_r_old");
    check_refuses(&f, b + R_NEW(0) + IN_ROOT, "comm_r_new");
    check_refuses(&f, b + R_OLD(4) + IN_ROOT, "partition 0, challenge 4 (leaf ");
    check_refuses(&f, b + R_OLD(4) + IN_ROOT, "proof_r_old: another root");
    check_refuses(&f, b + R_NEW(9) + IN_ROOT, "proof_r_new: another root");
    check_refuses(&f, b + D_NEW(2) + IN_ROOT, "proof_d_new: the root is not comm_d_new");
    check_refuses(&f, b + R_OLD(3) + R_INDEX, "proof_r_old: the path of another leaf");
    check_refuses(&f, b + R_NEW(3) + R_INDEX, "proof_r_new: the path of another leaf");
    check_refuses(&f, b + D_NEW(3) + IN_SIBLING + 32, "proof_d_new: the path of another leaf");
    check_refuses(&f, b + R_OLD(8) + IN_LEAF, "challenge 8 (leaf ");
    check_refuses(&f, b + R_OLD(8) + IN_SIBLING, "proof_r_old: the path does not lead to the root");
    check_refuses(&f, b + R_NEW(8) + IN_LEAF, "proof_r_new: the path does not lead to the root");
    check_refuses(&f, b + D_NEW(8) + IN_LEAF, "proof_d_new: the path does not lead to the apex leaf");
    check_refuses(&f, b + D_NEW(8) + IN_SIBLING + 2 * D_LEVEL_BYTES, "proof_d_new: the path does not lead to the apex");
    check_refuses(&f, b + D_NEW(8) + IN_SIBLING + 3 * D_LEVEL_BYTES, "proof_d_new: the path does not lead to the root");

    /* Another h: other rhos. */
    update = parse(&f);
    struct cz_error err = {0};
    update->h = 2;
    assert_int_equal(cz_update_check(update, &err), CZ_ERR_MISMATCH);
    assert_non_null(strstr(err.detail, "the new replica's leaf is not the old one plus data times rho"));
    cz_update_destroy(update);
    done(&f);
}

/* ---- circuit ---- */

static void circuit_refusals(void **state) {
    (void)state;
    struct fixture f;
    struct cz_r1cs *r1cs, *other;
    struct cz_witness w;
    struct cz_error err = {0};
    const struct cz_sector_info *sector = cz_sector_by_name("2KiB");
    assert_int_equal(cz_update_circuit_build(&r1cs, CZ_CIRCUIT_POREP, sector, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_update_circuit_build(&r1cs, CZ_CIRCUIT_UPDATE, sector, &err), CZ_OK);
    assert_int_equal(cz_update_circuit_build(&other, CZ_CIRCUIT_UPDATE_POSEIDON, sector, &err), CZ_OK);
    load_2kib(&f);
    struct cz_update *update = parse(&f);
    assert_int_equal(cz_witness_init(&w, r1cs), CZ_OK);
    assert_int_equal(cz_update_circuit_assign(&w, r1cs, update, 0, &err), CZ_OK);
    assert_int_equal(cz_witness_first_unsatisfied(&w, r1cs, NULL), r1cs->num_constraints);
    assert_int_equal(cz_update_circuit_assign(&w, r1cs, update, 1, &err), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_update_circuit_assign(&w, other, update, 0, &err), CZ_ERR_ARGUMENT);
    cz_update_destroy(update);

    /* Wrong values: a witness that does not hold, wherever they are. */
    const size_t at[] = {AT_COMM_C,
                         AT_APEX + 6 * 32,
                         D_NEW(0) + IN_LEAF,
                         R_OLD(5) + IN_SIBLING,
                         R_NEW(9) + R_INDEX - 32,
                         D_NEW(9) + IN_SIBLING,
                         R_NEW(0) + IN_ROOT};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        f.copy[0][at[i]] ^= 1;
        update = parse(&f);
        assert_int_not_equal(cz_update_check(update, NULL), CZ_OK);
        assert_int_equal(cz_update_circuit_assign(&w, r1cs, update, 0, &err), CZ_OK);
        if (cz_witness_first_unsatisfied(&w, r1cs, NULL) == r1cs->num_constraints) fail_msg("byte %zu is free", at[i]);
        cz_update_destroy(update);
        f.copy[0][at[i]] ^= 1;
    }
    cz_witness_done(&w);

    /* The right counts for the system, but of the other variant. */
    update = parse(&f);
    assert_int_equal(cz_witness_init(&w, other), CZ_OK);
    assert_int_not_equal(cz_update_circuit_assign(&w, other, update, 0, &err), CZ_OK);
    cz_witness_done(&w);
    cz_update_destroy(update);
    cz_r1cs_destroy(r1cs);
    cz_r1cs_destroy(other);
    done(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),        cmocka_unit_test(shapes),           cmocka_unit_test(challenges),
        cmocka_unit_test(partitions),   cmocka_unit_test(bad_requests),     cmocka_unit_test(bad_blobs),
        cmocka_unit_test(native_check), cmocka_unit_test(circuit_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
