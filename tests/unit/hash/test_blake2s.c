/* BLAKE2s-256 against OpenSSL's, in both codes, at every length and cut. */

#include "hash/blake2s.h"

#include "support.h"

#include <openssl/evp.h>

static void reference(uint8_t out[32], const uint8_t *data, size_t len) {
    uint8_t digest[EVP_MAX_MD_SIZE];
    assert_int_equal(EVP_Digest(data, len, digest, NULL, EVP_blake2s256(), NULL), 1);
    memcpy(out, digest, 32);
}

static void agrees(int vector) {
    uint8_t data[700], want[32], got[32];
    if (cz_blake2s_vector(vector) != vector) {
        print_message("skipped: no AVX-512VL here\n");
        return;
    }
    for (size_t i = 0; i < sizeof data; i++) data[i] = (uint8_t)(i * 151 + (i >> 8) * 7 + 3);
    for (size_t len = 0; len <= sizeof data; len++) {
        struct cz_blake2s s;
        reference(want, data, len);
        for (size_t cut = 0; cut <= len; cut += 1 + cut / 3) {
            cz_blake2s_init(&s);
            cz_blake2s_update(&s, data, cut);
            cz_blake2s_update(&s, data + cut, len - cut);
            cz_blake2s_final(&s, got);
            assert_memory_equal(got, want, 32);
        }
        cz_blake2s_init(&s);
        for (size_t i = 0; i < len; i++) cz_blake2s_update(&s, data + i, 1);
        cz_blake2s_final(&s, got);
        assert_memory_equal(got, want, 32);
    }
    cz_blake2s_vector(1);
}

static void portable(void **state) {
    (void)state;
    agrees(0);
}

static void vector(void **state) {
    (void)state;
    agrees(1);
}

/* RFC 7693, appendix B. */
static void abc(void **state) {
    (void)state;
    static const uint8_t WANT[] = {0x50, 0x8c, 0x5e, 0x8c, 0x32, 0x7c, 0x14, 0xe2};
    struct cz_blake2s s;
    uint8_t got[32];
    cz_blake2s_init(&s);
    cz_blake2s_update(&s, "abc", 3);
    cz_blake2s_final(&s, got);
    assert_memory_equal(got, WANT, sizeof WANT);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(abc), cmocka_unit_test(portable), cmocka_unit_test(vector)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
