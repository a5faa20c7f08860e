/* C1 outputs in every form: parsed and used, or refused with one line of reason. */

#include "filecoin/c1_check.h"
#include "filecoin/c1_int.h"

#define PIECE 61 /* too short for the shortcut of c1_bytes.c: every byte goes through yajl */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same text in pieces gives the same verdict; where yajl says that text is malformed depends on the pieces. */
static void same_in_pieces(const uint8_t *data, size_t size, enum cz_status want, const struct cz_error *why) {
    struct cz_c1_parser *p = NULL;
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    enum cz_status status = cz_c1_parser_create(&p, true, &err);
    for (size_t at = 0; at < size && status == CZ_OK; at += PIECE)
        status = cz_c1_parser_feed(p, data + at, size - at < PIECE ? size - at : PIECE, &err);
    if (status == CZ_OK) status = cz_c1_parser_finish(p, &c1, &err);
    cz_c1_parser_destroy(p);
    cz_c1_destroy(c1);
    char *place = strstr(err.detail, "malformed JSON") ? strstr(err.detail, " (at byte ") : NULL;
    if (place) *place = 0;
    if (status != want || (want != CZ_OK && !strstr(why->detail, err.detail))) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct cz_c1 *c1 = NULL;
    struct cz_error err = {0};
    struct cz_fr inputs[3 + 18 * CZ_C1_MAX_CHALLENGES];
    enum cz_status status = cz_c1_parse(&c1, data, size, &err);
    if (size > 0 && size < 256 << 10 && data[0] != 0x1f) same_in_pieces(data, size, status, &err);
    if (status != CZ_OK) {
        if (c1 || err.status != status || !*err.detail || strchr(err.detail, '\n')) abort();
        return 0;
    }
    /* What parses has public inputs, and the check may read all of it. */
    const size_t count = 3 + 18 * (size_t)c1->challenges_per_partition;
    if (cz_c1_public_inputs(inputs, count, c1, c1->num_partitions - 1, &err) != CZ_OK) abort();
    (void)!cz_c1_check_partition(c1, 0, &err);
    cz_c1_destroy(c1);
    return 0;
}
