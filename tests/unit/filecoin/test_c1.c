#include "c1_support.h"

#include "base/bytes.h"
#include "filecoin/c1_int.h"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static char *plain; /* porep-v1_1 */

static int setup(void **state) {
    (void)state;
    plain = test_read(C1_OF("porep-v1_1"), NULL);
    return 0;
}

static int teardown(void **state) {
    (void)state;
    free(plain);
    return 0;
}

static struct cz_c1 *parse_ok(const void *data, size_t len) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_c1_parse(&c1, data, len, &err) != CZ_OK) fail_msg("%s", err.detail);
    return c1;
}

static void assert_hex(const uint8_t *got, const char *want) {
    char hex[65];
    cz_hex_encode(hex, got, 32);
    assert_string_equal(hex, want);
}

static void assert_same(const struct cz_c1 *a, const struct cz_c1 *b) {
    assert_int_equal(a->proof, b->proof);
    assert_memory_equal(a->comm_r, b->comm_r, 32);
    assert_memory_equal(a->seed, b->seed, 32);
    assert_memory_equal(a->ticket, b->ticket, 32);
    assert_int_equal(a->num_partitions, b->num_partitions);
    for (uint32_t i = 0; i < a->num_partitions * a->challenges_per_partition; i++) {
        const struct cz_porep_challenge *x = &a->challenge[i], *y = &b->challenge[i];
        assert_int_equal(x->node, y->node);
        const struct cz_column_proof *p = &x->exp[7], *q = &y->exp[7];
        assert_int_equal(p->index, q->index);
        assert_memory_equal(p->row, q->row, 64);
        assert_memory_equal(p->inclusion.leaf, q->inclusion.leaf, 32);
        for (uint32_t l = 0; l < p->inclusion.num_levels; l++) {
            const struct cz_merkle_level *u = &p->inclusion.level[l], *v = &q->inclusion.level[l];
            assert_int_equal(u->index, v->index);
            assert_memory_equal(u->sibling, v->sibling, 32 * u->num_siblings);
        }
    }
}

static void test_reference(void **state) {
    (void)state;
    struct cz_c1 *c1 = parse_ok(plain, strlen(plain));
    assert_int_equal(c1->proof, 5);
    assert_int_equal(c1->sector_size, 2048);
    assert_int_equal(c1->num_partitions, 1);
    assert_int_equal(c1->challenges_per_partition, 2);
    assert_false(c1->has_sector_number);
    const struct cz_porep_challenge *c = &c1->challenge[1];
    assert_int_equal(c->comm_d.num_levels, 6);
    assert_int_equal(c->comm_d.level[5].num_siblings, 1);
    assert_int_equal(c->c_x.inclusion.num_levels, 2);
    assert_int_equal(c->drg[5].inclusion.level[1].num_siblings, 7);
    assert_int_equal(c->node, c->c_x.index);
    /* Roots agree over all paths: nothing went to the wrong place. */
    for (unsigned i = 0; i < 2; i++) {
        c = &c1->challenge[i];
        assert_memory_equal(c->comm_d.root, c1->comm_d, 32);
        assert_memory_equal(c->comm_r_last.root, c1->challenge[0].comm_r_last.root, 32);
        for (unsigned j = 0; j < 6; j++) assert_memory_equal(c->drg[j].inclusion.root, c->c_x.inclusion.root, 32);
        for (unsigned j = 0; j < 8; j++) assert_memory_equal(c->exp[j].inclusion.root, c->c_x.inclusion.root, 32);
    }
    cz_c1_destroy(c1);
    cz_c1_destroy(NULL);
}

/* The model's C1 of spec/known-values.md §8: contents known. */
static void test_known_sector(void **state) {
    (void)state;
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    if (cz_c1_parse_file(&c1, CZ_SHARED_DIR "/spec/vectors/c1-2kib.json", &err) != CZ_OK) fail_msg("%s", err.detail);
    assert_hex(c1->comm_d, "a56f68b58b6d151ea91b65299d9204dd0c392d2c66a61d00825fb527e3fbd020");
    assert_hex(c1->comm_r, "bab25baf29c288cd3e9a21d9bdacb80e2c3e1674eba353cbbe509ea62e32121e");
    assert_hex(c1->replica_id, "760cf0641d5cd2d034014aef10d8e2ba9644fbe5ba8c39a37ad963aa1fce050f");
    assert_hex(c1->challenge[0].c_x.inclusion.root, "8bbecb3b6f42b015cf93e88750efea5f3fa3c6d8aaa6eca4a7d77d794489b96f");
    assert_hex(c1->challenge[1].comm_r_last.root, "8d09d55574d62d067957a931f8a2e5b6f6e4cbdae74e82342e59b4e64c05b62b");
    assert_int_equal(c1->challenge[0].node, 19);
    assert_int_equal(c1->challenge[1].node, 37);
    static const unsigned exp[] = {60, 41, 36, 34, 62, 6, 47, 18};
    for (unsigned i = 0; i < 8; i++) assert_int_equal(c1->challenge[1].exp[i].index, exp[i]);
    cz_c1_destroy(c1);
}

static void test_all_vectors(void **state) {
    (void)state;
    static const struct {
        const char *path;
        unsigned proof, partitions;
    } cases[] = {
        {C1_OF("porep-v1"), 0, 1},
        {C1_OF("porep-v1_1-synthetic"), 10, 1},
        {C1_OF("porep-v1_2-non-interactive"), 15, 13},
    };
    for (size_t i = 0; i < 3; i++) {
        struct cz_c1 *c1 = NULL;
        struct cz_error err = {0};
        if (cz_c1_parse_file(&c1, cases[i].path, &err) != CZ_OK) fail_msg("%s", err.detail);
        assert_int_equal(c1->proof, cases[i].proof);
        assert_int_equal(c1->num_partitions, cases[i].partitions);
        cz_c1_destroy(c1);
    }
}

static void test_forms(void **state) {
    (void)state;
    struct cz_c1 *bare = parse_ok(plain, strlen(plain));
    char *envelope = test_envelope(plain, "2048");
    struct cz_c1 *c1 = parse_ok(envelope, strlen(envelope));
    assert_true(c1->has_sector_number);
    assert_int_equal(c1->sector_number, 7);
    assert_same(bare, c1);
    cz_c1_destroy(c1);
    size_t len;
    uint8_t *gz = test_gzip(envelope, strlen(envelope), &len);
    c1 = parse_ok(gz, len);
    assert_same(bare, c1);
    cz_c1_destroy(c1);
    free(gz);
    gz = test_gzip(plain, strlen(plain), &len);
    c1 = parse_ok(gz, len);
    assert_same(bare, c1);
    cz_c1_destroy(c1);
    /* Every cut is an error, and so is a byte too many. */
    struct cz_error err;
    for (size_t cut = 0; cut < len; cut += 97) assert_int_not_equal(cz_c1_parse(&c1, gz, cut, &err), CZ_OK);
    assert_int_equal(cz_c1_parse(&c1, gz, len - 1, &err), CZ_ERR_FORMAT);
    assert_non_null(strstr(err.detail, "cut short"));
    gz = realloc(gz, len + 1);
    gz[len] = 0;
    assert_int_equal(cz_c1_parse(&c1, gz, len + 1, &err), CZ_ERR_FORMAT);
    free(gz);
    free(envelope);
    cz_c1_destroy(bare);
}

/* Fed in pieces of every small size, the result is the same. */
static void test_pieces(void **state) {
    (void)state;
    struct cz_c1 *bare = parse_ok(plain, strlen(plain));
    const size_t len = strlen(plain);
    for (size_t piece = 1; piece < 40; piece += 6) {
        struct cz_c1_parser *p = NULL;
        struct cz_c1 *c1 = NULL;
        assert_int_equal(cz_c1_parser_create(&p, true, NULL), CZ_OK);
        for (size_t at = 0; at < len; at += piece)
            assert_int_equal(
                cz_c1_parser_feed(p, (const uint8_t *)plain + at, len - at < piece ? len - at : piece, NULL), CZ_OK);
        assert_int_equal(cz_c1_parser_finish(p, &c1, NULL), CZ_OK);
        cz_c1_parser_destroy(p);
        assert_same(bare, c1);
        cz_c1_destroy(c1);
    }
    cz_c1_destroy(bare);
}

/* Keys in another order, and keys that nobody knows. */
static void test_order_and_unknown(void **state) {
    (void)state;
    struct cz_c1 *bare = parse_ok(plain, strlen(plain));
    const char *proofs = strstr(plain, "\"vanilla_proofs\""), *comm_r = strstr(plain, "\"comm_r\":");
    assert_true(proofs && comm_r && proofs < comm_r);
    size_t size = strlen(plain) + 200;
    char *swapped = malloc(size);
    snprintf(swapped, size,
             "{\"x\":[{\"a\":[1,null,true,\"s\"]},-1.5e3],%.*s,%.*s,\"registered_proof\":\"StackedDrg2KiBV1_1\"}",
             (int)(strlen(comm_r) - 1), comm_r, (int)(comm_r - proofs - 1), proofs);
    struct cz_c1 *c1 = parse_ok(swapped, strlen(swapped));
    assert_same(bare, c1);
    cz_c1_destroy(c1);
    free(swapped);
    char *extra = test_replace(plain, "\"index\":", 3, "\"more\":{\"index\":[[]]},\"index\":");
    c1 = parse_ok(extra, strlen(extra));
    assert_same(bare, c1);
    cz_c1_destroy(c1);
    free(extra);
    cz_c1_destroy(bare);
}

/* The whole text at once takes the shortcut of c1_bytes.c; short pieces all go through yajl. The same error, to the
 * byte. */
static void assert_bad_in_pieces(const char *text, size_t len) {
    struct cz_c1 *c1 = NULL;
    struct cz_c1_parser *p = NULL;
    struct cz_error whole = {0}, err = {0};
    const size_t piece = 61;
    enum cz_status want = cz_c1_parse(&c1, (const uint8_t *)text, len, &whole);
    enum cz_status got = cz_c1_parser_create(&p, true, &err);
    for (size_t at = 0; at < len && got == CZ_OK; at += piece)
        got = cz_c1_parser_feed(p, (const uint8_t *)text + at, len - at < piece ? len - at : piece, &err);
    if (got == CZ_OK) got = cz_c1_parser_finish(p, &c1, &err);
    cz_c1_parser_destroy(p);
    assert_null(c1);
    if (got != want || !strstr(whole.detail, err.detail))
        fail_msg("\"%s\", in pieces \"%s\"", whole.detail, err.detail);
}

/* What an array's numbers are, read slowly; 0 when the shortcut must not take it. */
static size_t slow_scan(uint8_t out[32], const char *s) {
    const char *start = s;
    const bool gap = strchr(s, ',') && strchr(s, ',')[1] == ' ';
    for (unsigned i = 0; i < 32; i++) {
        unsigned v = 0, n = 0;
        for (; s[n] >= '0' && s[n] <= '9' && n < 4; n++) v = 10 * v + (unsigned)(s[n] - '0');
        if (n == 0 || n > 3 || v > 255 || (n > 1 && s[0] == '0')) return 0;
        out[i] = (uint8_t)v;
        s += n;
        if (i == 31) break;
        if (*s++ != ',') return 0;
        if (gap && *s++ != ' ') return 0;
    }
    return *s == ']' ? (size_t)(s - start) : 0;
}

/* Arrays of every value, and each with one character changed to every other. */
static void test_bytes_scan(void **state) {
    (void)state;
    uint8_t got[32], want[32];
    unsigned accepted = 0, refused = 0;
    for (unsigned value = 0; value < 256; value++) {
        char text[CZ_C1_BYTES_SPAN + 64];
        size_t len = 0;
        for (unsigned i = 0; i < 32; i++)
            len += (size_t)snprintf(text + len, sizeof text - len, "%u%s", (value + i * 37) % 256,
                                    i == 31     ? "]"
                                    : value % 2 ? ", "
                                                : ",");
        memset(text + len, '1', sizeof text - len);
        text[sizeof text - 1] = 0;
        assert_int_equal(cz_c1_bytes_scan(got, (const uint8_t *)text), len - 1);
        for (unsigned i = 0; i < 32; i++) assert_int_equal(got[i], (value + i * 37) % 256);
        for (size_t at = value % 7; at < len; at += 7) {
            const char was = text[at];
            for (unsigned c = 1; c < 256; c++) {
                text[at] = (char)c;
                const size_t n = slow_scan(want, text);
                assert_int_equal(cz_c1_bytes_scan(got, (const uint8_t *)text), n);
                if (n) assert_memory_equal(got, want, 32);
                accepted += n > 0;
                refused += n == 0;
            }
            text[at] = was;
        }
    }
    assert_true(accepted > 10000 && refused > 100000);
}

struct bad {
    const char *find;
    unsigned nth;
    const char *with;
    enum cz_status status;
    const char *text; /* part of the message */
};

#define R_BYTES                                                                                                        \
    "1,0,0,0,255,255,255,255,254,91,254,255,2,164,189,83,5,216,161,9,8,216,57,51,72,125,157,41,83,167,237,115"
#define ZEROS "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0"
#define ONES "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"

/* The array after the key is replaced by a good one: `with` is what comes before it. */
static const struct bad BAD[] = {
    /* wrong names */
    {"StackedDrg2KiBV1_1", 0, "StackedDrg2KiBV1_9", CZ_ERR_FORMAT,
     "registered_proof: unknown proof \"StackedDrg2KiBV1_9\""},
    {"\"StackedDrg2KiBV1_1\"", 0, "7", CZ_ERR_FORMAT, "registered_proof: expected a string, found a number"},
    {"StackedDrg2KiBV1_1\"", 0, "StackedDrg8MiBV1_1\"", CZ_ERR_MISMATCH,
     "proofs of 2KiB, but registered_proof is StackedDrg8MiBV1_1"},
    {"StackedDrg2KiBV1_1\"", 0, "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep\"", CZ_ERR_LENGTH,
     "1 partitions, but StackedDrg2KiBV1_2_Feat_NonInteractivePoRep has 13"},
    {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg2KiBV1_1\"", CZ_ERR_FORMAT,
     "vanilla_proofs: \"StackedDrg2KiBV1_1\" is not"},
    {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg8MiBV1\"", CZ_ERR_LENGTH,
     "vanilla_proofs[0][0].comm_d_proofs.data.Single.path: 6 elements, expected 18"},
    {"\"StackedDrg2KiBV1\"", 0, "\"StackedDrg32GiBV1\"", CZ_ERR_LENGTH,
     "comm_d_proofs.data.Single.path: 6 elements, expected 30"},
    {"\"StackedDrg2KiBV1\":", 0, "\"\\u0000\\n\":", CZ_ERR_FORMAT, "\"??\" is not the name"},
    {"{\"StackedDrg2KiBV1\":", 0, "{\"StackedDrg2KiBV1\":[],\"StackedDrg2KiBV1\":", CZ_ERR_FORMAT,
     "vanilla_proofs: more than one key"},
    {"\"Single\"", 0, "\"Sub\"", CZ_ERR_MISMATCH, "comm_d_proofs.data: \"Sub\", but a tree of this size is \"Single\""},
    {"\"Single\"", 1, "\"Top\"", CZ_ERR_MISMATCH, "comm_r_last_proof.data: \"Top\""},
    /* missing and repeated */
    {"\"comm_r\":", 0, "\"comm_q\":", CZ_ERR_FORMAT, "top level: field comm_r is missing"},
    {"\"comm_d\":", 0, "\"comm_r\":", CZ_ERR_FORMAT, "comm_r: given twice"},
    {"\"leaf\":", 5, "\"left\":", CZ_ERR_FORMAT, "inclusion_proof.data.Single: field leaf is missing"},
    {"\"c_x\":", 0, "\"c_y\":", CZ_ERR_FORMAT, "vanilla_proofs[0][0].replica_column_proofs: field c_x is missing"},
    {"\"encoding_proof\":", 1, "\"encoding\":", CZ_ERR_FORMAT, "vanilla_proofs[0][1]: field encoding_proof is missing"},
    {"\"hashes\":", 2, "\"hash\":", CZ_ERR_FORMAT, "comm_d_proofs.data.Single.path[2]: field hashes is missing"},
    {"\"node\":", 1, "\"layer_index\":", CZ_ERR_FORMAT, "labeling_proofs[1].layer_index: given twice"},
    /* envelope */
    {"\"comm_r\":", 0, "\"SectorNum\":1,\"comm_r\":", CZ_ERR_FORMAT, "of an envelope in one"},
    {"\"comm_r\":", 0, "\"Phase1Out\":\"AAAA\",\"comm_r\":", CZ_ERR_FORMAT, "Phase1Out: "},
    /* bytes */
    {"\"seed\":[", 0, "\"seed\":[256,", CZ_ERR_FORMAT, "seed[0]: expected a number from 0 to 255"},
    {"\"seed\":[", 0, "\"seed\":[-1,", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[1.0,", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[1e1,", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[null,", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[[],", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[{},", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[\"1\",", CZ_ERR_FORMAT, "seed[0]: expected"},
    {"\"seed\":[", 0, "\"seed\":[01,", CZ_ERR_FORMAT, "malformed JSON"},
    {"\"seed\":[", 0, "\"seed\":[7,", CZ_ERR_LENGTH, "seed[32]: more than 32 bytes"},
    {"\"seed\":[", 0, "\"seed\":[1],\"s\":[", CZ_ERR_LENGTH, "seed: 1 bytes, expected 32"},
    {"\"seed\":[", 0, "\"seed\":\"x\",\"s\":[", CZ_ERR_FORMAT, "seed: expected an array of 32 bytes, found a string"},
    {"\"seed\":[", 0, "\"seed\":{},\"s\":[", CZ_ERR_FORMAT, "seed: expected an array of 32 bytes, found an object"},
    {"\"seed\":[", 0, "\"seed\":[" ZEROS "],\"s\":[", CZ_ERR_FORMAT, "seed: all zero"},
    {"\"comm_r\":[", 0, "\"comm_r\":[" ZEROS "],\"s\":[", CZ_ERR_FORMAT, "comm_r: all zero"},
    {"\"comm_d\":[", 0, "\"comm_d\":[" ZEROS "],\"s\":[", CZ_ERR_FORMAT, "comm_d: all zero"},
    /* field elements */
    {"\"comm_r\":[", 0, "\"comm_r\":[" R_BYTES "],\"s\":[", CZ_ERR_FIELD_RANGE, "comm_r: not below"},
    {"\"replica_id\":[", 0, "\"replica_id\":[" R_BYTES "],\"s\":[", CZ_ERR_FIELD_RANGE, "replica_id: not below"},
    {"\"root\":[", 9, "\"root\":[" R_BYTES "],\"s\":[", CZ_ERR_FIELD_RANGE,
     "exp_parents[0].inclusion_proof.data.Single.root: not below"},
    {"\"rows\":[", 3, "\"rows\":[[" R_BYTES "],", CZ_ERR_FIELD_RANGE, "drg_parents[2].column.rows[0]: not below"},
    {"\"hashes\":[", 6, "\"hashes\":[[" R_BYTES "],", CZ_ERR_FIELD_RANGE,
     "comm_r_last_proof.data.Single.path[0].hashes[0]: not below"},
    {"\"parents\":[", 2, "\"parents\":[[" R_BYTES "],", CZ_ERR_FIELD_RANGE, "encoding_proof.parents[0]: not below"},
    /* counts */
    {"\"hashes\":[", 0, "\"hashes\":[[" ONES "],", CZ_ERR_LENGTH,
     "comm_d_proofs.data.Single.path[0].hashes[1]: more than 1 elements"},
    {"\"hashes\":[", 6, "\"hashes\":[[" ONES "],", CZ_ERR_LENGTH,
     "comm_r_last_proof.data.Single.path[0].hashes[7]: more than 7 elements"},
    {"\"rows\":[", 0, "\"rows\":[[" ONES "],", CZ_ERR_LENGTH, "c_x.column.rows[2]: more than 2 elements"},
    {"\"rows\":[", 0, "\"rows\":[[" ONES "]],\"x\":[", CZ_ERR_LENGTH, "c_x.column.rows: 1 elements, expected 2"},
    {"\"parents\":[", 0, "\"parents\":[[" ONES "],", CZ_ERR_LENGTH,
     "labeling_proofs[0].parents[37]: more than 37 elements"},
    {"\"drg_parents\":[", 0, "\"drg_parents\":[],\"x\":[", CZ_ERR_LENGTH, "drg_parents: 0 elements, expected 6"},
    {"\"exp_parents\":[", 1, "\"exp_parents\":[],\"x\":[", CZ_ERR_LENGTH,
     "vanilla_proofs[0][1].replica_column_proofs.exp_parents: 0 elements, expected 8"},
    {"\"labeling_proofs\":[", 0, "\"labeling_proofs\":[],\"x\":[", CZ_ERR_LENGTH,
     "labeling_proofs: 0 elements, expected 2"},
    {"{\"StackedDrg2KiBV1\":[", 0, "{\"StackedDrg2KiBV1\":[[],", CZ_ERR_LENGTH,
     "vanilla_proofs[0]: 0 elements, expected 2"},
    {"{\"StackedDrg2KiBV1\":[", 0, "{\"StackedDrg2KiBV1\":[]},\"x\":{\"y\":[", CZ_ERR_LENGTH,
     "vanilla_proofs: 0 partitions"},
    {"{\"StackedDrg2KiBV1\":[", 0, "{},\"x\":{\"y\":[", CZ_ERR_FORMAT, "vanilla_proofs: empty object"},
    /* numbers */
    {"\"index\":", 0, "\"index\":2,\"x\":", CZ_ERR_FORMAT, "comm_d_proofs.data.Single.path[0].index: 2 exceeds 1"},
    {"\"index\":", 6, "\"index\":8,\"x\":", CZ_ERR_FORMAT, "path[0].index: 8 exceeds 7"},
    {"\"column\":{\"index\":", 0, "\"column\":{\"index\":4294967296,\"x\":", CZ_ERR_FORMAT,
     "column.index: 4294967296 exceeds 32 bits"},
    {"\"node\":", 0, "\"node\":18446744073709551616,\"x\":", CZ_ERR_FORMAT,
     "node: \"18446744073709551616\" is not a whole number"},
    {"\"node\":", 0, "\"node\":123456789012345678901234567890123456789012345678901234567890,\"x\":", CZ_ERR_FORMAT,
     "\"1234567890123456789012345678901234567890…\" is not"},
    {"\"node\":", 0, "\"node\":-1,\"x\":", CZ_ERR_FORMAT, "node: \"-1\" is not"},
    {"\"node\":", 0, "\"node\":1.5,\"x\":", CZ_ERR_FORMAT, "node: \"1.5\" is not"},
    {"\"node\":", 0, "\"node\":true,\"x\":", CZ_ERR_FORMAT, "node: expected a number, found a boolean"},
    {"\"_h\":null", 0, "\"_h\":0", CZ_ERR_FORMAT, "column._h: expected null, found a number"},
    {"\"column\":{", 0, "\"column\":null,\"x\":{", CZ_ERR_FORMAT, "column: expected an object, found null"},
    {"\"labeling_proofs\":[", 0, "\"labeling_proofs\":{},\"x\":[", CZ_ERR_FORMAT,
     "labeling_proofs: expected an array, found an object"},
    /* not JSON */
    {"\"seed\":", 0, "\"se\xff\x80\":1,\"seed\":", CZ_ERR_FORMAT, "invalid bytes in UTF8 string"},
    {"\"seed\":", 0, "\"seed\"", CZ_ERR_FORMAT, "malformed JSON"},
    {"\"seed\":", 0, "/* no */\"seed\":", CZ_ERR_FORMAT, "malformed JSON"},
    {"\"seed\":[", 0, "\"seed\":[,", CZ_ERR_FORMAT, "malformed JSON"},
};

static void assert_bad(const char *text, size_t len, enum cz_status status, const char *part) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    enum cz_status got = cz_c1_parse(&c1, (const uint8_t *)text, len, &err);
    assert_null(c1);
    if (got != status || !strstr(err.detail, part))
        fail_msg("status %d, \"%s\"; wanted %d, \"%s\"", got, err.detail, status, part);
    assert_int_equal(err.status, status);
    assert_null(strchr(err.detail, '\n'));
}

static void test_bad(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        char *text = test_replace(plain, BAD[i].find, BAD[i].nth, BAD[i].with);
        assert_bad(text, strlen(text), BAD[i].status, BAD[i].text);
        assert_bad_in_pieces(text, strlen(text));
        free(text);
    }
    /* The largest value below r is fine. */
    char *text = test_replace(plain, "\"comm_r\":[", 0,
                              "\"comm_r\":[0,0"
                              "," R_BYTES "],\"x\":[");
    char *fixed = test_replace(text, "[0,0,1,0,0,0,255", 0, "[0,0,0,0,255");
    struct cz_c1 *c1 = parse_ok(fixed, strlen(fixed));
    cz_c1_destroy(c1);
    free(text);
    free(fixed);
}

static void test_offset(void **state) {
    (void)state;
    char *text = test_replace(plain, "\"ticket\":[", 0, "\"ticket\":[999,");
    char want[64];
    snprintf(want, sizeof want, "(at byte %zu)", (size_t)(strstr(text, "999,") - text) + 3);
    assert_bad(text, strlen(text), CZ_ERR_FORMAT, want);
    free(text);
}

static void test_bad_whole(void **state) {
    (void)state;
    const size_t len = strlen(plain);
    for (size_t cut = 1; cut < len; cut += 211) assert_bad(plain, cut, CZ_ERR_FORMAT, "C1 output: ");
    assert_bad(plain, len - 1, CZ_ERR_FORMAT, "premature EOF");
    assert_bad("", 0, CZ_ERR_FORMAT, "empty");
    assert_bad("   ", 3, CZ_ERR_FORMAT, "C1 output: ");
    assert_bad("[]", 2, CZ_ERR_FORMAT, "top level: expected an object, found an array");
    assert_bad("12", 2, CZ_ERR_FORMAT, "top level: expected an object, found a number");
    assert_bad("{}", 2, CZ_ERR_FORMAT, "field registered_proof is missing");
    assert_bad("<html>", 6, CZ_ERR_FORMAT, "malformed JSON");
    assert_bad("\x1f\x8b", 2, CZ_ERR_FORMAT, "gzip");
    assert_bad("\x1f\x8bxxxxxxxxxxxxxxxxxxxxxxx", 25, CZ_ERR_FORMAT, "gzip");
    char *twice = malloc(2 * len + 1);
    memcpy(twice, plain, len);
    memcpy(twice + len, plain, len);
    assert_bad(twice, 2 * len, CZ_ERR_FORMAT, "trailing garbage");
    free(twice);
}

static void test_large(void **state) {
    (void)state;
    const size_t n = 10 << 20;
    char *text = malloc(n + 64);
    /* Ten megabytes of digits, of opening brackets, of one string, of one key. */
    size_t at = (size_t)snprintf(text, 64, "{\"comm_r\":[");
    memset(text + at, '7', n);
    assert_bad(text, at + n, CZ_ERR_FORMAT, "comm_r[0]: expected a number from 0 to 255");
    memcpy(text + at + n, "]}", 2);
    assert_bad(text, at + n + 2, CZ_ERR_FORMAT, "comm_r[0]: expected a number from 0 to 255");
    at = (size_t)snprintf(text, 64, "{\"x\":");
    memset(text + at, '[', n);
    assert_bad(text, at + n, CZ_ERR_LIMIT, "nested deeper than 100");
    memset(text, '[', n);
    assert_bad(text, n, CZ_ERR_FORMAT, "top level: expected an object");
    at = (size_t)snprintf(text, 64, "{\"registered_proof\":\"");
    memset(text + at, 'S', n);
    memcpy(text + at + n, "\"}", 2);
    assert_bad(text, at + n + 2, CZ_ERR_FORMAT, "unknown proof \"SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS\"");
    memset(text, 'k', n);
    text[0] = '{', text[1] = '"';
    assert_bad(text, n, CZ_ERR_FORMAT, "premature EOF");
    free(text);
}

/* 260 MiB of spaces in 260 KB of gzip, with a number here and there. */
static void test_zip_bomb(void **state) {
    (void)state;
    const size_t n = 260u << 20, gap = 1000000;
    char *text = malloc(n);
    memset(text, ' ', n);
    size_t len = (size_t)snprintf(text, 8, "{\"x\":[0");
    text[len] = ' ';
    for (size_t at = gap; at + 2 < n; at += gap) memcpy(text + at, ",0", 2);
    uint8_t *gz = test_gzip(text, n, &len);
    assert_true(len < n / 900);
    assert_bad((char *)gz, len, CZ_ERR_LIMIT, "more than 256 MiB when decompressed");
    assert_bad(text, n, CZ_ERR_LIMIT, "more than 256 MiB");
    free(gz);
    free(text);
}

/* Tokens of 20 MB that come in pieces: refused early, since the parser reads them again with each piece. */
static void test_long_tokens(void **state) {
    (void)state;
    static const char *const start[] = {"{\"x\":", "{\"seed\":", "{\"x\":\"", "{\"SectorNum\":", "{\"", "", "\""};
    const size_t n = 20000000;
    char *text = malloc(n + 1);
    text[n] = 0;
    for (size_t i = 0; i < sizeof start / sizeof *start; i++) {
        memset(text, '9', n);
        memcpy(text, start[i], strlen(start[i]));
        size_t len;
        uint8_t *gz = test_gzip(text, n, &len);
        assert_bad((char *)gz, len, CZ_ERR_LIMIT, "more than 1048576 bytes");
        free(gz);
    }
    memset(text, '9', n);
    text[4000000] = 0;
    char *envelope = test_envelope(text, "2048");
    assert_bad(envelope, strlen(envelope), CZ_ERR_LIMIT, "Phase1Out: top level: a value or a gap");
    free(envelope);
    free(text);
}

/* Only Phase1Out may be long: an envelope of 30 MB in gzip. */
static void test_long_envelope(void **state) {
    (void)state;
    const size_t gap = 1000000, gaps = 20, n = strlen(plain);
    char *text = malloc(n + gaps * gap + 1), *to = text;
    size_t comma = 0;
    for (size_t i = 0; i < n; i++) {
        *to++ = plain[i];
        if (plain[i] != ',' || comma++ >= gaps) continue;
        memset(to, ' ', gap);
        to += gap;
    }
    *to = 0;
    char *envelope = test_envelope(text, "2048");
    size_t len;
    uint8_t *gz = test_gzip(envelope, strlen(envelope), &len);
    struct cz_c1 *bare = parse_ok(plain, n), *c1 = parse_ok(gz, len);
    assert_same(bare, c1);
    cz_c1_destroy(bare);
    cz_c1_destroy(c1);
    free(gz);
    free(envelope);
    free(text);
}

static void test_bad_envelope(void **state) {
    (void)state;
    char *good = test_envelope(plain, "2048");
    static const struct bad cases[] = {
        {"\"SectorSize\":2048", 0, "\"SectorSize\":8388608", CZ_ERR_MISMATCH,
         "SectorSize: 8388608, but Phase1Out holds a proof of 2048 bytes"},
        {"\"SectorSize\":2048", 0, "\"SectorSize\":\"2048\"", CZ_ERR_FORMAT,
         "SectorSize: expected a number, found a string"},
        {",\"SectorSize\":2048", 0, "", CZ_ERR_FORMAT, "field SectorSize is missing"},
        {"\"SectorNum\":7,", 0, "", CZ_ERR_FORMAT, "field SectorNum is missing"},
        {"\"SectorNum\":7", 0, "\"SectorNum\":-7", CZ_ERR_FORMAT, "SectorNum: \"-7\" is not"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"A", CZ_ERR_FORMAT, "Phase1Out: base64 of"},
        {"\"Phase1Out\":\"e", 0, "\"Phase1Out\":\"*", CZ_ERR_FORMAT, "Phase1Out: not base64 at character 0"},
        {"\"Phase1Out\":\"eyJy", 0, "\"Phase1Out\":\"eyJ=", CZ_ERR_FORMAT, "Phase1Out: not base64 at character 3"},
        {"\"Phase1Out\":\"eyJy", 0, "\"Phase1Out\":\"e\\nJy", CZ_ERR_FORMAT, "Phase1Out: not base64 at character 1"},
        {"\"Phase1Out\":\"eyJy", 0, "\"Phase1Out\":\"eyJ5", CZ_ERR_FORMAT,
         "Phase1Out: top level: field registered_proof is missing"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"\",\"x\":\"", CZ_ERR_FORMAT, "Phase1Out: base64 of 0"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"e30=\",\"x\":\"", CZ_ERR_FORMAT,
         "Phase1Out: top level: field registered_proof is missing"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"e31=\",\"x\":\"", CZ_ERR_FORMAT,
         "Phase1Out: not base64 at character 2"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"ew==\",\"x\":\"", CZ_ERR_FORMAT,
         "Phase1Out: top level: malformed JSON"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":\"====\",\"x\":\"", CZ_ERR_FORMAT,
         "Phase1Out: not base64 at character 0"},
        {"\"Phase1Out\":\"", 0, "\"Phase1Out\":[],\"x\":\"", CZ_ERR_FORMAT,
         "Phase1Out: expected a string, found an array"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = test_replace(good, cases[i].find, cases[i].nth, cases[i].with);
        assert_bad(text, strlen(text), cases[i].status, cases[i].text);
        free(text);
    }
    /* No envelope in an envelope. */
    char *nested = test_envelope(good, "2048");
    assert_bad(nested, strlen(nested), CZ_ERR_FORMAT, "Phase1Out: top level: field registered_proof is missing");
    free(nested);
    /* An error inside names its field there. */
    char *inner = test_replace(plain, "\"seed\":[", 0, "\"seed\":[777,");
    char *outer = test_envelope(inner, "2048");
    assert_bad(outer, strlen(outer), CZ_ERR_FORMAT, "Phase1Out: seed[0]: expected a number from 0 to 255");
    free(inner);
    free(outer);
    free(good);
}

static void test_missing_file(void **state) {
    (void)state;
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    assert_int_not_equal(cz_c1_parse_file(&c1, "/nonexistent/c1.json", &err), CZ_OK);
    assert_non_null(strstr(err.detail, "/nonexistent/c1.json"));
}

/* Nothing is read past the end, whatever the text is: it ends where a page does that may not be touched. */
static void test_bytes_end(void **state) {
    (void)state;
    static const char *const FIRST[] = {"1,", "1, ", "123,", "123, ", "123, 1, "};
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *map = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(map != MAP_FAILED);
    char *const end = map + page;
    assert_int_equal(mprotect(end, page, PROT_NONE), 0);
    for (size_t i = 0; i < sizeof FIRST / sizeof *FIRST; i++) {
        uint8_t got[32];
        memset(map, '1', page);
        memcpy(end - CZ_C1_BYTES_SPAN, FIRST[i], strlen(FIRST[i]));
        assert_int_equal(cz_c1_bytes_scan(got, (const uint8_t *)end - CZ_C1_BYTES_SPAN), 0);
        static const char START[] = "{\"seed\":[";
        for (size_t n = 100; n < 300; n++) {
            memset(map, '1', page);
            char *const text = end - n - strlen(START);
            memcpy(text, START, strlen(START));
            memcpy(end - n, FIRST[i], strlen(FIRST[i]));
            assert_bad(text, n + strlen(START), CZ_ERR_FORMAT, "expected a number from 0 to 255");
        }
    }
    assert_int_equal(munmap(map, 2 * page), 0);
}

/* Brackets in strings, in keys and in what nobody knows, at every place of the text. */
static void test_brackets(void **state) {
    (void)state;
    struct cz_c1 *bare = parse_ok(plain, strlen(plain));
    static const char *const keys[] = {"\"seed\":", "\"rows\":", "\"hashes\":", "\"comm_r\":", "\"index\":"};
    for (unsigned i = 0; i < sizeof keys / sizeof *keys; i++) {
        char with[200];
        snprintf(with, sizeof with, "\"[a[\":\"[1,2[\",\"b\":[[\"[\\\"[\"],{\"[\":[[],[1]]}],\"[[\":\"\",%s", keys[i]);
        char *text = test_replace(plain, keys[i], 0, with);
        struct cz_c1 *c1 = parse_ok(text, strlen(text));
        assert_same(bare, c1);
        cz_c1_destroy(c1);
        free(text);
    }
    cz_c1_destroy(bare);
    /* Megabytes of brackets in a string: the time stays linear. */
    const size_t n = 30 << 20;
    char *text = malloc(n + 64);
    const size_t at = (size_t)snprintf(text, 64, "{\"x\":\"");
    memset(text + at, '[', n);
    const double start = test_cpu_seconds();
    assert_bad(text, at + n, CZ_ERR_FORMAT, "premature EOF");
    assert_true(test_cpu_seconds() - start < 10);
    free(text);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define MEASURED false
#elif defined(__has_feature)
#define MEASURED                                                                                                       \
    !(__has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || __has_feature(thread_sanitizer))
#else
#define MEASURED true
#endif

/* Most memory held since the last reset, MiB; 0 when the kernel does not tell. */
static double peak_mib(bool reset) {
    char line[128];
    unsigned long kib = 0;
    if (reset) {
        FILE *f = fopen("/proc/self/clear_refs", "w");
        if (!f) return 0;
        fputs("5", f);
        if (fclose(f) != 0) return 0;
    }
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "VmHWM: %lu kB", &kib) == 1) break;
    if (f) fclose(f);
    return (double)kib / 1024;
}

static void measured_parse(const char *what, const char *text, size_t len) {
    struct timespec start, end;
    const double before = peak_mib(true);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    struct cz_c1 *c1 = parse_ok(text, len);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) * 1e-9;
    const double more = peak_mib(false) - before, mb = (double)len / 1e6;
    print_message("%s: %.1f MB in %.3f s of CPU, %.3f s for 50 MB, peak + %.1f MiB\n", what, mb, seconds,
                  seconds * 50 / mb, more);
    assert_int_equal(c1->num_partitions, 10);
    cz_c1_destroy(c1);
    if (!MEASURED) return;
    assert_true(seconds * 50 / mb < 0.5);
    /* The result takes 12 MiB, and the text is there already. */
    if (before > 0) assert_true(more < 20);
}

/* A 32 GiB output: 50 MB in under 0.5 s and without a second copy of the text, bare and in the envelope. */
static void test_large_output(void **state) {
    (void)state;
    size_t len;
    char *text = test_read(CZ_SHARED_DIR "/vectors/reference/32gib/porep-v1_1/c1.json.gz", &len);
    measured_parse("bare", text, len);
    char *envelope = test_envelope(text, "34359738368");
    free(text);
    measured_parse("envelope", envelope, strlen(envelope));
    free(envelope);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_output), /* first: nothing freed that could hide a copy */

        cmocka_unit_test(test_reference),     cmocka_unit_test(test_known_sector),
        cmocka_unit_test(test_all_vectors),   cmocka_unit_test(test_forms),
        cmocka_unit_test(test_pieces),        cmocka_unit_test(test_order_and_unknown),
        cmocka_unit_test(test_bad),           cmocka_unit_test(test_offset),
        cmocka_unit_test(test_bad_whole),     cmocka_unit_test(test_large),
        cmocka_unit_test(test_zip_bomb),      cmocka_unit_test(test_long_tokens),
        cmocka_unit_test(test_long_envelope), cmocka_unit_test(test_bad_envelope),
        cmocka_unit_test(test_missing_file),  cmocka_unit_test(test_bytes_scan),
        cmocka_unit_test(test_brackets),      cmocka_unit_test(test_bytes_end),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
