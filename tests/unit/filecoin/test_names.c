#include "support.h"

#include "filecoin/names.h"

#include <stdio.h>
#include <string.h>

/* spec/fields-and-encodings.md §6: every published parameter file. */
static const struct {
    enum cz_circuit_kind kind;
    const char *sector, *hash;
} PUBLISHED[] = {
    {CZ_CIRCUIT_POREP, "2KiB", "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"},
    {CZ_CIRCUIT_POREP, "8MiB", "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"},
    {CZ_CIRCUIT_POREP, "512MiB", "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"},
    {CZ_CIRCUIT_POREP, "32GiB", "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
    {CZ_CIRCUIT_POREP, "64GiB", "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"},
    {CZ_CIRCUIT_WINNING, "2KiB", "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"},
    {CZ_CIRCUIT_WINNING, "8MiB", "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"},
    {CZ_CIRCUIT_WINNING, "512MiB", "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"},
    {CZ_CIRCUIT_WINNING, "32GiB", "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
    {CZ_CIRCUIT_WINNING, "64GiB", "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"},
    {CZ_CIRCUIT_WINDOW, "2KiB", "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"},
    {CZ_CIRCUIT_WINDOW, "8MiB", "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"},
    {CZ_CIRCUIT_WINDOW, "512MiB", "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"},
    {CZ_CIRCUIT_WINDOW, "32GiB", "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
    {CZ_CIRCUIT_WINDOW, "64GiB", "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"},
    {CZ_CIRCUIT_UPDATE, "2KiB", "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"},
    {CZ_CIRCUIT_UPDATE, "8MiB", "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"},
    {CZ_CIRCUIT_UPDATE, "512MiB", "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"},
    {CZ_CIRCUIT_UPDATE, "32GiB", "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {CZ_CIRCUIT_UPDATE, "64GiB", "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "32GiB", "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {CZ_CIRCUIT_UPDATE_POSEIDON, "64GiB", "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
};

static void test_published(void **state) {
    (void)state;
    static const char *const prefix[] = {"stacked-proof-of-replication-", "proof-of-spacetime-fallback-",
                                         "proof-of-spacetime-fallback-", "empty-sector-update-",
                                         "empty-sector-update-poseidon-"};
    for (size_t i = 0; i < sizeof PUBLISHED / sizeof *PUBLISHED; i++) {
        const char *size = PUBLISHED[i].sector;
        const char *tree = strcmp(size, "64GiB") == 0 ? "8-8-2" : strcmp(size, "32GiB") == 0 ? "8-8-0" : "8-0-0";
        char want[256], got[256];
        snprintf(want, sizeof want, "v28-%smerkletree-poseidon_hasher-%s%s-%s", prefix[PUBLISHED[i].kind], tree,
                 PUBLISHED[i].kind == CZ_CIRCUIT_POREP ? "-sha256_hasher" : "", PUBLISHED[i].hash);
        assert_int_equal(cz_params_stem(got, sizeof got, PUBLISHED[i].kind, cz_sector_by_name(size)), CZ_OK);
        assert_string_equal(got, want);
    }
}

static void test_stem_fails(void **state) {
    (void)state;
    char out[256] = "kept";
    assert_int_equal(cz_params_stem(out, 20, CZ_CIRCUIT_POREP, &CZ_SECTORS[0]), CZ_ERR_LENGTH);
    assert_int_equal(cz_params_stem(out, sizeof out, CZ_CIRCUIT_POREP, NULL), CZ_ERR_ARGUMENT);
    assert_int_equal(cz_params_stem(out, sizeof out, (enum cz_circuit_kind)9, &CZ_SECTORS[0]), CZ_ERR_ARGUMENT);
    assert_string_equal(out, "kept");
}

static void test_kinds(void **state) {
    (void)state;
    for (unsigned k = CZ_CIRCUIT_POREP; k <= CZ_CIRCUIT_UPDATE_POSEIDON; k++) {
        enum cz_circuit_kind kind;
        assert_int_equal(cz_circuit_kind_parse(&kind, cz_circuit_kind_name((enum cz_circuit_kind)k)), CZ_OK);
        assert_int_equal(kind, k);
    }
    enum cz_circuit_kind kind;
    assert_int_equal(cz_circuit_kind_parse(&kind, "PoRep"), CZ_ERR_NOT_FOUND);
    assert_int_equal(cz_circuit_kind_parse(&kind, ""), CZ_ERR_NOT_FOUND);
}

static void test_ids(void **state) {
    (void)state;
    static const struct {
        enum cz_circuit_kind kind;
        const char *sector, *id;
    } cases[] = {
        {CZ_CIRCUIT_POREP, "2KiB", "porep-2k"},
        {CZ_CIRCUIT_POREP, "32GiB", "porep-32g"},
        {CZ_CIRCUIT_WINDOW, "64GiB", "wpost-64g"},
        {CZ_CIRCUIT_WINNING, "8MiB", "winning-8m"},
        {CZ_CIRCUIT_UPDATE, "1GiB", "snap-1g"},
        {CZ_CIRCUIT_POREP, "512MiB", "porep-512m"},
        {CZ_CIRCUIT_UPDATE_POSEIDON, "32GiB", "snap-poseidon-32g"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char id[64];
        enum cz_circuit_kind kind;
        const struct cz_sector_info *sector;
        assert_int_equal(cz_circuit_id(id, sizeof id, cases[i].kind, cz_sector_by_name(cases[i].sector)), CZ_OK);
        assert_string_equal(id, cases[i].id);
        assert_int_equal(cz_circuit_id_parse(&kind, &sector, id), CZ_OK);
        assert_int_equal(kind, cases[i].kind);
        assert_string_equal(sector->name, cases[i].sector);
    }
    enum cz_circuit_kind kind;
    const struct cz_sector_info *sector;
    static const char *const bad[] = {"", "porep", "porep-", "porep-3k", "porep-2K", "porep-2k ", "window-2k"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(cz_circuit_id_parse(&kind, &sector, bad[i]), CZ_ERR_NOT_FOUND);
    char id[64];
    assert_int_equal(cz_circuit_id(id, 8, CZ_CIRCUIT_POREP, &CZ_SECTORS[0]), CZ_ERR_LENGTH);
    assert_int_equal(cz_circuit_id(id, 9, CZ_CIRCUIT_POREP, &CZ_SECTORS[0]), CZ_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_published), cmocka_unit_test(test_stem_fails),
                                       cmocka_unit_test(test_kinds), cmocka_unit_test(test_ids)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
