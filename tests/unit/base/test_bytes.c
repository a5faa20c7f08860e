#include "base/bytes.h"
#include "support.h"

static void hex_round_trip(void **state) {
    (void)state;
    uint8_t in[5] = {0, 0x0f, 0xf0, 0xab, 0xff}, back[5];
    char text[11];
    cz_hex_encode(text, in, 5);
    assert_string_equal(text, "000ff0abff");
    assert_int_equal(cz_hex_decode(back, 5, "000FF0aBff"), CZ_OK);
    assert_memory_equal(in, back, 5);
}

static void hex_refuses(void **state) {
    (void)state;
    uint8_t out[2] = {7, 7};
    assert_int_equal(cz_hex_decode(out, 2, "000"), CZ_ERR_LENGTH);
    assert_int_equal(cz_hex_decode(out, 2, "00000"), CZ_ERR_LENGTH);
    assert_int_equal(cz_hex_decode(out, 2, "00g0"), CZ_ERR_FORMAT);
    assert_int_equal(out[0], 7); /* untouched on failure */
}

static void sizes_are_checked(void **state) {
    (void)state;
    size_t n = 5;
    assert_false(cz_mul_size(SIZE_MAX / 2, 3, &n));
    assert_int_equal(n, 5);
    assert_true(cz_mul_size(6, 7, &n));
    assert_int_equal(n, 42);
    assert_null(cz_calloc(SIZE_MAX / 8, 16));
    assert_null(cz_malloc_array(SIZE_MAX - 10, 1));
    uint8_t *p = cz_calloc(3, 5);
    assert_non_null(p);
    assert_int_equal((uintptr_t)p % 64, 0);
    for (int i = 0; i < 15; i++) assert_int_equal(p[i], 0);
    cz_free(p);
}

static void byte_order(void **state) {
    (void)state;
    uint8_t b[8];
    cz_store_be64(b, 0x0102030405060708u);
    assert_int_equal(b[0], 1);
    assert_int_equal(cz_load_be64(b), 0x0102030405060708u);
    assert_int_equal(cz_load_le64(b), 0x0807060504030201u);
    cz_store_be32(b, 0x01020304u);
    assert_int_equal(b[3], 4);
    assert_int_equal(cz_load_be32(b), 0x01020304u);
}

static void wipes(void **state) {
    (void)state;
    uint8_t b[33];
    memset(b, 0xee, sizeof b);
    cz_memzero(b, 32);
    for (int i = 0; i < 32; i++) assert_int_equal(b[i], 0);
    assert_int_equal(b[32], 0xee);
    cz_memzero(NULL, 0);
}

/* Against the table of Unicode 15, 3-7, for every first two bytes. */
static void utf8(void **state) {
    (void)state;
    for (unsigned a = 1; a < 256; a++) {
        for (unsigned b = 0; b < 256; b++) {
            const unsigned char text[5] = {(unsigned char)a, (unsigned char)b, 0x80, 0xbf, 0};
            unsigned least = a == 0xe0   ? 0xa0
                             : a == 0xf0 ? 0x90
                                         : 0x80,
                     most = a == 0xed   ? 0x9f
                            : a == 0xf4 ? 0x8f
                                        : 0xbf;
            size_t n = a < 0x80 ? 1 : a < 0xc2 ? 0 : a < 0xe0 ? 2 : a < 0xf0 ? 3 : a < 0xf5 ? 4 : 0;
            if (n > 1 && (b < least || b > most)) n = 0;
            assert_int_equal(cz_utf8_length(text), n);
        }
    }
    assert_int_equal(cz_utf8_length((const unsigned char *)"\xe2\x82"), 0);
    assert_int_equal(cz_utf8_length((const unsigned char *)"\xf0\x9f\x98"), 0);
    assert_int_equal(cz_utf8_length((const unsigned char *)"\xe2\x82\x7f"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_round_trip), cmocka_unit_test(hex_refuses), cmocka_unit_test(sizes_are_checked),
        cmocka_unit_test(byte_order),     cmocka_unit_test(wipes),       cmocka_unit_test(utf8),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
