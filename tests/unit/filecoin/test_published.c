#include "filecoin/published.h"
#include "support.h"

#include <string.h>

static void every_set_has_its_name_and_a_length_that_adds_up(void **state) {
    (void)state;
    assert_int_equal(CZ_NUM_PUBLISHED, 22);
    uint64_t seen = 0;
    for (uint32_t i = 0; i < CZ_NUM_PUBLISHED; i++) {
        const struct cz_published *set = &CZ_PUBLISHED[i];
        const struct cz_sector_info *sector = cz_sector_by_size(set->sector_size);
        char stem[256];
        assert_non_null(sector);
        assert_int_equal(cz_params_stem(stem, sizeof stem, set->kind, sector), CZ_OK);
        assert_int_equal(strncmp(stem, "v28-", 4), 0);
        /* Both files are a header and points of 96 bytes: the vectors end on 4-byte counts, five of them. */
        assert_int_equal((set->vk_bytes - 868) % 96, 0);
        assert_int_equal((set->params_bytes - set->vk_bytes - 5 * 4) % 96, 0);
        for (uint32_t k = 0; k < i; k++) {
            assert_memory_not_equal(set->params_digest, CZ_PUBLISHED[k].params_digest, 16);
            assert_false(set->kind == CZ_PUBLISHED[k].kind && set->sector_size == CZ_PUBLISHED[k].sector_size);
        }
        seen |= 1ull << set->kind;
    }
    assert_int_equal(seen, 31);
}

static void known_digests(void **state) {
    (void)state;
    const uint8_t porep_2k[] = {0x43, 0x4f, 0xb1, 0x33, 0x8e, 0xcf, 0xaf, 0x0f,
                                0x59, 0x25, 0x6f, 0x30, 0xdd, 0xe4, 0x96, 0x8f};
    assert_int_equal(CZ_PUBLISHED[0].sector_size, 2048);
    assert_memory_equal(CZ_PUBLISHED[0].params_digest, porep_2k, 16);
    assert_int_equal(CZ_PUBLISHED[0].params_bytes, 1114707768);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_set_has_its_name_and_a_length_that_adds_up),
        cmocka_unit_test(known_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
