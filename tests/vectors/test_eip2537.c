/* Every vector of Ethereum's EIP-2537 (shared/vectors/eip-2537), with each arithmetic of this processor: results, and
 * the reason of each failure. */

#include "support/eip2537.h"
#include "support/json.h"

#include "curve/pairing.h"
#include "field/cpu.h"

/* Runs one operation on `len` bytes; writes the answer (at most 256 bytes) and its length. */
typedef enum cz_status operation(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len);

static void write_g1(uint8_t *out, size_t *out_len, const struct cz_g1 *a) {
    struct cz_g1_affine p;
    uint8_t own[CZ_G1_UNCOMPRESSED];
    *out_len = TEST_EIP_G1;
    memset(out, 0, TEST_EIP_G1);
    cz_g1_to_affine(&p, a);
    if (cz_g1_affine_is_infinity(&p)) return;
    cz_g1_encode_uncompressed(own, &p);
    for (int i = 0; i < 2; i++) memcpy(out + 64 * i + 16, own + 48 * i, 48);
}

static void write_g2(uint8_t *out, size_t *out_len, const struct cz_g2 *a) {
    static const int place[4] = {1, 0, 3, 2};
    struct cz_g2_affine p;
    uint8_t own[CZ_G2_UNCOMPRESSED];
    *out_len = TEST_EIP_G2;
    memset(out, 0, TEST_EIP_G2);
    cz_g2_to_affine(&p, a);
    if (cz_g2_affine_is_infinity(&p)) return;
    cz_g2_encode_uncompressed(own, &p);
    for (int i = 0; i < 4; i++) memcpy(out + 64 * i + 16, own + 48 * place[i], 48);
}

/* Σ k·P over (point, scalar) pairs; each product by the endomorphism and by plain limbs, which must agree. */
#define DEFINE_OPERATIONS(g, SIZE)                                                                                     \
    static enum cz_status add_##g(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len) {                      \
        struct cz_##g##_affine a, b;                                                                                   \
        struct cz_##g sum, same, other;                                                                                \
        enum cz_status s;                                                                                              \
        if (len != (size_t)2 * (SIZE)) return CZ_ERR_LENGTH;                                                           \
        if ((s = test_eip_##g(&a, in)) != CZ_OK) return s;                                                             \
        if ((s = test_eip_##g(&b, in + (SIZE))) != CZ_OK) return s;                                                    \
        cz_##g##_from_affine(&sum, &a);                                                                                \
        cz_##g##_from_affine(&other, &b);                                                                              \
        cz_##g##_add(&same, &sum, &other);                                                                             \
        cz_##g##_add_affine(&sum, &sum, &b);                                                                           \
        assert_true(cz_##g##_eq(&sum, &same));                                                                         \
        write_##g(out, out_len, &sum);                                                                                 \
        return CZ_OK;                                                                                                  \
    }                                                                                                                  \
    static enum cz_status msm_##g(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len) {                      \
        const size_t step = (SIZE) + TEST_EIP_SCALAR;                                                                  \
        struct cz_##g sum, term, same;                                                                                 \
        if (len == 0 || len % step != 0) return CZ_ERR_LENGTH;                                                         \
        memset(&sum, 0, sizeof sum);                                                                                   \
        for (; len > 0; in += step, len -= step) {                                                                     \
            struct cz_##g##_affine a;                                                                                  \
            struct cz_fr k;                                                                                            \
            uint64_t limb[4];                                                                                          \
            enum cz_status s = test_eip_##g(&a, in);                                                                   \
            if (s != CZ_OK) return s;                                                                                  \
            if (!cz_##g##_affine_in_subgroup(&a)) return CZ_ERR_POINT_SUBGROUP;                                        \
            test_eip_scalar(limb, in + (SIZE));                                                                        \
            test_eip_scalar_reduced(&k, in + (SIZE));                                                                  \
            cz_##g##_from_affine(&term, &a);                                                                           \
            cz_##g##_mul_limbs(&same, &term, limb, 4);                                                                 \
            cz_##g##_mul(&term, &term, &k);                                                                            \
            assert_true(cz_##g##_eq(&term, &same));                                                                    \
            cz_##g##_add(&sum, &sum, &term);                                                                           \
        }                                                                                                              \
        write_##g(out, out_len, &sum);                                                                                 \
        return CZ_OK;                                                                                                  \
    }                                                                                                                  \
    static enum cz_status mul_##g(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len) {                      \
        return len == (SIZE) + TEST_EIP_SCALAR ? msm_##g(out, out_len, in, len) : CZ_ERR_LENGTH;                       \
    }

DEFINE_OPERATIONS(g1, TEST_EIP_G1)
DEFINE_OPERATIONS(g2, TEST_EIP_G2)

static enum cz_status pairing_check(uint8_t *out, size_t *out_len, const uint8_t *in, size_t len) {
    enum { STEP = TEST_EIP_G1 + TEST_EIP_G2, MOST = 16 };
    struct cz_g1_affine p[MOST];
    struct cz_g2_affine q[MOST];
    size_t n = len / STEP;
    if (len == 0 || len % STEP != 0) return CZ_ERR_LENGTH;
    assert_true(n <= MOST);
    for (size_t i = 0; i < n; i++, in += STEP) {
        enum cz_status s;
        if ((s = test_eip_g1(&p[i], in)) != CZ_OK) return s;
        if (!cz_g1_affine_in_subgroup(&p[i])) return CZ_ERR_POINT_SUBGROUP;
        if ((s = test_eip_g2(&q[i], in + TEST_EIP_G1)) != CZ_OK) return s;
        if (!cz_g2_affine_in_subgroup(&q[i])) return CZ_ERR_POINT_SUBGROUP;
    }
    *out_len = 32;
    memset(out, 0, 32);
    out[31] = cz_pairing_product_is_one(p, q, n);
    return CZ_OK;
}

static enum cz_status status_of(const char *reason) {
    static const struct {
        const char *reason;
        enum cz_status status;
    } table[] = {
        {"invalid input length", CZ_ERR_LENGTH},
        {"invalid field element top bytes", CZ_ERR_FORMAT},
        {"invalid fp.Element encoding", CZ_ERR_FIELD_RANGE},
        {"invalid point: not on curve", CZ_ERR_POINT_NOT_ON_CURVE},
        {"g1 point is not in the correct subgroup", CZ_ERR_POINT_SUBGROUP},
        {"g2 point is not in the correct subgroup", CZ_ERR_POINT_SUBGROUP},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].reason, reason) == 0) return table[i].status;
    fail_msg("unknown reason: %s", reason);
    return CZ_OK;
}

static void run_case(yajl_val test, operation *op, bool fails) {
    const char *name = test_json_string(test, "Name"), *hex = test_json_string(test, "Input");
    uint8_t out[256], expected[256];
    size_t len = strlen(hex) / 2, out_len = 0;
    uint8_t *in = cz_calloc(len + 1, 1);
    assert_non_null(in);
    assert_int_equal(cz_hex_decode(in, len, hex), CZ_OK);
    enum cz_status got = op(out, &out_len, in, len);
    cz_free(in);
    enum cz_status want = fails ? status_of(test_json_string(test, "ExpectedError")) : CZ_OK;
    if (got != want) fail_msg("%s: %s, not %s", name, cz_status_text(got), cz_status_text(want));
    if (fails) return;
    hex = test_json_string(test, "Expected");
    if (strlen(hex) != 2 * out_len) fail_msg("%s: %zu bytes", name, out_len);
    assert_int_equal(cz_hex_decode(expected, out_len, hex), CZ_OK);
    if (memcmp(out, expected, out_len) != 0) fail_msg("%s: another result", name);
}

struct file {
    const char *path;
    operation *op;
    size_t cases;
    bool fails;
};

static void run_file(void **state) {
    const struct file *file = *state;
    yajl_val tree = test_json_load(file->path);
    assert_true(YAJL_IS_ARRAY(tree));
    assert_int_equal(YAJL_GET_ARRAY(tree)->len, file->cases);
    for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++) {
        assert_int_equal(cz_field_select((enum cz_field_level)level), CZ_OK);
        for (size_t i = 0; i < file->cases; i++) run_case(YAJL_GET_ARRAY(tree)->values[i], file->op, file->fails);
    }
    yajl_tree_free(tree);
}

#define DIR CZ_SHARED_DIR "/vectors/eip-2537/"

int main(void) {
    static struct file file[] = {
        {DIR "add_G1.json", add_g1, 9, false},     {DIR "add_G2.json", add_g2, 9, false},
        {DIR "mul_G1.json", mul_g1, 11, false},    {DIR "mul_G2.json", mul_g2, 11, false},
        {DIR "msm_G1.json", msm_g1, 40, false},    {DIR "pairing_check.json", pairing_check, 15, false},
        {DIR "fail-add_G1.json", add_g1, 7, true}, {DIR "fail-add_G2.json", add_g2, 7, true},
        {DIR "fail-mul_G1.json", mul_g1, 8, true}, {DIR "fail-mul_G2.json", mul_g2, 8, true},
        {DIR "fail-msm_G1.json", msm_g1, 8, true}, {DIR "fail-pairing_check.json", pairing_check, 25, true},
    };
    enum { FILES = sizeof file / sizeof *file };
    struct CMUnitTest test[FILES];
    for (size_t i = 0; i < FILES; i++)
        test[i] = (struct CMUnitTest){file[i].path + sizeof DIR - 1, run_file, NULL, NULL, &file[i]};
    return cmocka_run_group_tests(test, NULL, NULL);
}
