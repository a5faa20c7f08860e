#include "support.h"

#include "base/bytes.h"
#include "base/time.h"
#include "field/cpu.h"
#include "hash/poseidon.h"
#include "hash/sha256.h"

static void assert_limbs(const struct cz_fr *got, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
    uint64_t limb[4];
    cz_fr_to_limbs(limb, got);
    assert_int_equal(limb[0], a);
    assert_int_equal(limb[1], b);
    assert_int_equal(limb[2], c);
    assert_int_equal(limb[3], d);
}

static void hash_count(struct cz_fr *out, unsigned arity) {
    struct cz_fr in[CZ_POSEIDON_MAX_T];
    for (unsigned i = 0; i < arity; i++) cz_fr_from_u64(&in[i], i);
    cz_poseidon_hash(out, in, arity);
}

/* spec/known-values.md §3 */
static void test_published(void **state) {
    (void)state;
    struct cz_fr h;
    hash_count(&h, 2);
    assert_limbs(&h, 0x2e203c369a02e7ff, 0xa6fba9339d05a69d, 0x739e0fd902efe161, 0x396508d75e76a56b);
    hash_count(&h, 4);
    assert_limbs(&h, 0x019814ff6662075d, 0xfb6b4605bf1327ec, 0x00db3c6579229399, 0x58a54b10a9e5848a);
    hash_count(&h, 8);
    assert_limbs(&h, 0x2a9934f56d38a5e6, 0x4b682e9d9cc4aed9, 0x1201004211677077, 0x2394611da3a5de55);
    hash_count(&h, 11);
    assert_limbs(&h, 0xcee3bbc32b693163, 0x09f3dcd8ccb08fc1, 0x6ca537e232ebe87a, 0x0c0fc1b2e5227f28);
}

static void test_tree_and_aliasing(void **state) {
    (void)state;
    struct cz_fr a[2] = {CZ_FR_ONE, CZ_FR_ZERO}, b[2] = {CZ_FR_ZERO, CZ_FR_ONE};
    cz_poseidon_hash(&a[0], a, 2);
    assert_limbs(&a[0], 0xb339ff6079800b5e, 0xec5907b3dc3094af, 0x93c003cc74a24f26, 0x042f94ffbe786bc3);
    cz_poseidon_hash(&a[1], b, 2);
    cz_poseidon_hash(&a[1], a, 2);
    assert_limbs(&a[1], 0xefbb8be3e291e671, 0x77cc72b8cb2b5ad2, 0x30eb6385ae6b74ae, 0x1effebb7b26ad9eb);
}

static void test_tag_matters(void **state) {
    (void)state;
    struct cz_fr in[2] = {CZ_FR_ONE, CZ_FR_ZERO}, tag, plain, other;
    cz_poseidon_merkle_tag(&tag, 11);
    assert_limbs(&tag, 0x7ff, 0, 0, 0);
    cz_poseidon_merkle_tag(&tag, 2);
    cz_poseidon_hash(&plain, in, 2);
    cz_poseidon_hash_tag(&other, &tag, in, 2);
    assert_true(cz_fr_eq(&plain, &other));
    cz_fr_from_u64(&tag, UINT64_C(1) << 40);
    cz_poseidon_hash_tag(&other, &tag, in, 2);
    assert_false(cz_fr_eq(&plain, &other));
}

/*
 * The textbook permutation (add t constants, S-box, M) over the largest values: checks the inner products' carries and
 * the sparse factorisation together. The raw round constants follow from the compressed ones.
 */
static void mat_vec(struct cz_fr *out, const struct cz_fr *m, const struct cz_fr *v, unsigned t) {
    for (unsigned i = 0; i < t; i++) {
        struct cz_fr sum = CZ_FR_ZERO, x;
        for (unsigned j = 0; j < t; j++) {
            cz_fr_mul(&x, &m[j * t + i], &v[j]);
            cz_fr_add(&sum, &sum, &x);
        }
        out[i] = sum;
    }
}

static void sbox(struct cz_fr *x) {
    struct cz_fr y;
    cz_fr_mul(&y, x, x);
    cz_fr_mul(&y, &y, &y);
    cz_fr_mul(x, x, &y);
}

static void plain_hash(struct cz_fr *out, const struct cz_fr *in, unsigned arity) {
    const struct cz_poseidon_params *p = cz_poseidon_params(arity);
    const unsigned t = p->t;
    struct cz_fr s[CZ_POSEIDON_MAX_T], x[CZ_POSEIDON_MAX_T], v;
    cz_poseidon_merkle_tag(&s[0], arity);
    memcpy(s + 1, in, arity * sizeof *s);
    const struct cz_fr *c = p->comp, *sparse = p->sparse;
    for (unsigned i = 0; i < t; i++) cz_fr_add(&s[i], &s[i], c++);
    for (unsigned q = 0; q < 8 + p->partial_rounds; q++) {
        const bool full = q < 4 || q >= 4 + p->partial_rounds, last = q + 1 == 8 + p->partial_rounds;
        for (unsigned i = 0; i < (full ? t : 1); i++) {
            sbox(&s[i]);
            if (!last) cz_fr_add(&s[i], &s[i], c++);
        }
        if (full) {
            mat_vec(x, q == 3 ? p->pre_sparse : p->mds, s, t);
        } else {
            x[0] = CZ_FR_ZERO;
            for (unsigned i = 0; i < t; i++) {
                cz_fr_mul(&v, &sparse[i], &s[i]);
                cz_fr_add(&x[0], &x[0], &v);
            }
            for (unsigned j = 1; j < t; j++) {
                cz_fr_mul(&v, &sparse[t + j - 1], &s[0]);
                cz_fr_add(&x[j], &s[j], &v);
            }
            sparse += 2 * t - 1;
        }
        memcpy(s, x, t * sizeof *s);
    }
    *out = s[1];
}

static void test_against_plain_sums(void **state) {
    (void)state;
    static const unsigned arities[] = {2, 4, 8, 11};
    uint64_t seed = 7;
    for (unsigned a = 0; a < 4; a++)
        for (unsigned round = 0; round < 20; round++) {
            struct cz_fr in[11], got, want;
            for (unsigned i = 0; i < arities[a]; i++) {
                uint64_t limb[4] = {CZ_FR_MODULUS[0] - 1, CZ_FR_MODULUS[1], CZ_FR_MODULUS[2], CZ_FR_MODULUS[3]};
                if (round) {
                    for (unsigned j = 0; j < 4; j++) limb[j] = test_random(&seed);
                    limb[3] >>= 2;
                }
                assert_int_equal(cz_fr_from_limbs(&in[i], limb), CZ_OK);
            }
            cz_poseidon_hash(&got, in, arities[a]);
            plain_hash(&want, in, arities[a]);
            assert_true(cz_fr_eq(&got, &want));
        }
}

/* comp and M of arity 8 as canonical bytes have the published SHA-256: the Montgomery forms are right. */
static void test_constants(void **state) {
    (void)state;
    const struct cz_poseidon_params *p = cz_poseidon_params(8);
    struct cz_sha256 s;
    uint8_t out[32];
    char hex[65];
    cz_sha256_init(&s);
    for (unsigned i = 0; i < 8 * p->t + p->partial_rounds; i++) {
        cz_fr_to_le(out, &p->comp[i]);
        cz_sha256_update(&s, out, 32);
    }
    cz_sha256_final(&s, out);
    cz_hex_encode(hex, out, 32);
    assert_string_equal(hex, "f5a94aea73a583d080abdf7d71259fab9107f5523a4a1eddc41468f94564dd16");
    assert_null(cz_poseidon_params(3));
    assert_null(cz_poseidon_params(12));
    assert_int_equal(cz_poseidon_params(11)->partial_rounds, 57);
}

/* Any number of hashes at once, at every level of the field: hashes and traces are those of single ones. */
static void test_many(void **state) {
    (void)state;
    static const unsigned arities[] = {2, 4, 8, 11};
    static const uint64_t edge[] = {0, 1};
    enum { N = 19, MAX_TRACE = 600 };
    static struct cz_fr in[N * 11], got[N], want[N], traced[N][MAX_TRACE + 1], single[MAX_TRACE];
    uint64_t seed = 11;
    for (unsigned a = 0; a < 4; a++) {
        const struct cz_poseidon_params *p = cz_poseidon_params(arities[a]);
        const unsigned len = cz_poseidon_trace_len(p);
        struct cz_fr tag, *trace[N];
        assert_true(len <= MAX_TRACE);
        cz_poseidon_merkle_tag(&tag, arities[a]);
        for (unsigned i = 0; i < N * arities[a]; i++) {
            uint64_t limb[4] = {CZ_FR_MODULUS[0] - 1, CZ_FR_MODULUS[1], CZ_FR_MODULUS[2], CZ_FR_MODULUS[3]};
            for (unsigned j = 0; i >= 2 * arities[a] && j < 4; j++) limb[j] = test_random(&seed);
            if (i >= 2 * arities[a]) limb[3] >>= 2;
            assert_int_equal(cz_fr_from_limbs(&in[i], limb), CZ_OK);
            if (i / arities[a] == 2) cz_fr_from_u64(&in[i], edge[i & 1]);
        }
        for (unsigned i = 0; i < N; i++) plain_hash(&want[i], in + (size_t)i * arities[a], arities[a]);
        for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++) {
            assert_int_equal(cz_field_select((enum cz_field_level)level), CZ_OK);
            for (unsigned n = 0; n <= N; n++) {
                memset(got, 0xff, sizeof got);
                memset(traced, 0xa5, sizeof traced);
                for (unsigned i = 0; i < N; i++) trace[i] = traced[i];
                cz_poseidon_hash_n(got, &tag, in, n, p, n & 1 ? NULL : trace);
                assert_memory_equal(got, want, n * sizeof *got);
                for (unsigned i = 0; i < n && !(n & 1); i++) {
                    struct cz_fr *one = single, past;
                    memset(&past, 0xa5, sizeof past);
                    assert_true(cz_fr_eq(&traced[i][len - 1], &want[i]));
                    cz_poseidon_hash_n(&got[i], &tag, in + (size_t)i * arities[a], 1, p, &one);
                    assert_memory_equal(traced[i], single, len * sizeof *single);
                    assert_memory_equal(&traced[i][len], &past, sizeof past);
                }
            }
        }
    }
}

static void test_speed(void **state) {
    (void)state;
    enum { N = 64, ROUNDS = 20 };
    static struct cz_fr in[N * 8], out[N], traced[N][600];
    struct cz_fr tag, *trace[N];
    cz_poseidon_merkle_tag(&tag, 8);
    for (unsigned i = 0; i < N * 8; i++) cz_fr_from_u64(&in[i], i);
    for (unsigned i = 0; i < N; i++) trace[i] = traced[i];
    for (int level = CZ_FIELD_PORTABLE; level <= (int)cz_field_supported(); level++) {
        double us[2];
        assert_int_equal(cz_field_select((enum cz_field_level)level), CZ_OK);
        for (int with = 0; with < 2; with++) {
            uint64_t start = cz_time_now_ns();
            for (int i = 0; i < ROUNDS; i++)
                cz_poseidon_hash_n(out, &tag, in, N, cz_poseidon_params(8), with ? trace : NULL);
            us[with] = cz_time_since(start) / (N * ROUNDS) * 1e6;
        }
        print_message("poseidon of arity 8, %s: %.1f us, %.1f with its trace\n",
                      cz_field_level_name((enum cz_field_level)level), us[0], us[1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),   cmocka_unit_test(test_tree_and_aliasing),
        cmocka_unit_test(test_tag_matters), cmocka_unit_test(test_against_plain_sums),
        cmocka_unit_test(test_constants),   cmocka_unit_test(test_many),
        cmocka_unit_test(test_speed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
