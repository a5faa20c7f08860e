#include "support.h"

#include "base/bytes.h"
#include "hash/sha256_int.h"

#include <openssl/evp.h>

static void assert_digest(const uint8_t got[32], const char *want) {
    char hex[65];
    cz_hex_encode(hex, got, 32);
    assert_string_equal(hex, want);
}

/* FIPS 180-4 examples. */
static void test_published(void **state) {
    (void)state;
    uint8_t out[32];
    cz_sha256_bytes(out, "", 0);
    assert_digest(out, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    cz_sha256_bytes(out, "abc", 3);
    assert_digest(out, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    const char *two = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    cz_sha256_bytes(out, two, strlen(two));
    assert_digest(out, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* Every length around the padding's edges, in pieces of every size, against OpenSSL. */
static void test_lengths_and_pieces(void **state) {
    (void)state;
    uint8_t data[300], want[32], got[32];
    uint64_t seed = 1;
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_random(&seed);
    for (size_t len = 0; len <= sizeof data; len++) {
        assert_int_equal(EVP_Digest(data, len, want, NULL, EVP_sha256(), NULL), 1);
        cz_sha256_bytes(got, data, len);
        assert_memory_equal(got, want, 32);
        for (size_t piece = 1; piece < 130; piece += 21) {
            struct cz_sha256 s;
            cz_sha256_init(&s);
            for (size_t at = 0; at < len; at += piece)
                cz_sha256_update(&s, data + at, len - at < piece ? len - at : piece);
            cz_sha256_final(&s, got);
            assert_memory_equal(got, want, 32);
        }
    }
}

static void test_ni_equals_portable(void **state) {
    (void)state;
#if CZ_SHA256_HAVE_NI
    if (!cz_sha256_ni_supported()) {
        print_message("skipped: the processor has no SHA extensions\n");
        skip();
    }
    uint8_t data[64 * 7];
    uint64_t seed = 2;
    for (unsigned round = 0; round < 200; round++) {
        uint32_t a[8], b[8];
        for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)test_random(&seed);
        for (unsigned i = 0; i < 8; i++) a[i] = b[i] = (uint32_t)test_random(&seed);
        cz_sha256_blocks_portable(a, data, round % 8);
        cz_sha256_blocks_ni(b, data, round % 8);
        assert_memory_equal(a, b, sizeof a);
    }
#else
    skip();
#endif
}

static void test_node(void **state) {
    (void)state;
    uint8_t pair[64], want[32], got[32];
    uint64_t seed = 3;
    bool trimmed = false;
    for (unsigned round = 0; round < 20; round++) {
        for (size_t i = 0; i < sizeof pair; i++) pair[i] = (uint8_t)test_random(&seed);
        assert_int_equal(EVP_Digest(pair, sizeof pair, want, NULL, EVP_sha256(), NULL), 1);
        trimmed |= want[31] > 0x3f;
        want[31] &= 0x3f;
        cz_sha256_node(got, pair, pair + 32);
        assert_memory_equal(got, want, 32);
        cz_sha256_node(pair, pair, pair + 32); /* may overwrite its input */
        assert_memory_equal(pair, want, 32);
    }
    assert_true(trimmed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_published),
        cmocka_unit_test(test_lengths_and_pieces),
        cmocka_unit_test(test_ni_equals_portable),
        cmocka_unit_test(test_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
