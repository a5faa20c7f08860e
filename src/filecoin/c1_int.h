#ifndef CUZK_FILECOIN_C1_INT_H
#define CUZK_FILECOIN_C1_INT_H

/* The JSON parser behind c1.h: fed in pieces of any size, one pass, no tree. */

#include "filecoin/c1.h"

struct cz_c1_parser;

/** `envelope`: whether the client's envelope is accepted as well as the bare object. */
CZ_MUST_CHECK enum cz_status cz_c1_parser_create(struct cz_c1_parser **out, bool envelope, struct cz_error *err);
/** After a failure the parser only takes cz_c1_parser_destroy. */
CZ_MUST_CHECK enum cz_status cz_c1_parser_feed(struct cz_c1_parser *p, const uint8_t *data, size_t len,
                                               struct cz_error *err);
/** Bytes fed since the last whole token: pieces that grow with it keep a long token's cost linear. */
uint64_t cz_c1_parser_quiet(const struct cz_c1_parser *p);
/** The end of the text: the last checks, then *out belongs to the caller. */
CZ_MUST_CHECK enum cz_status cz_c1_parser_finish(struct cz_c1_parser *p, struct cz_c1 **out, struct cz_error *err);
/** Accepts NULL. */
void cz_c1_parser_destroy(struct cz_c1_parser *p);

/** Text after the '[' that cz_c1_bytes_scan may look at, also of what is no array of 32 bytes. */
#define CZ_C1_BYTES_SPAN 192

/**
 * Reads 32 numbers from 0 to 255 of an array whose '[' came just before `text`: all with the same distance, none or one
 * space after each comma. Returns the offset of the closing ']', or 0 when the text is anything else (it may still be
 * JSON, and out is then undefined). Looks at CZ_C1_BYTES_SPAN bytes of text, which the caller must have.
 */
size_t cz_c1_bytes_scan(uint8_t out[32], const uint8_t *text);

/* The memory of one cz_c1: a list of blocks. */
struct cz_c1_block {
    struct cz_c1_block *next;
};

/** Zeroed memory, 16-byte aligned, added to the list at *arena; NULL when there is none. */
void *cz_c1_arena_alloc(void **arena, size_t size);
void cz_c1_arena_free(void *arena);

/** The challenge's arrays, sized and linked as `sector` wants; only the values are still to be filled in. */
CZ_MUST_CHECK bool cz_c1_challenge_layout(struct cz_porep_challenge *c, void **arena,
                                          const struct cz_sector_info *sector);

/** Strict standard base64 (padded, no white space), fed to `inner` piece by piece. `what` names the field. */
CZ_MUST_CHECK enum cz_status cz_c1_feed_base64(struct cz_c1_parser *inner, const uint8_t *text, size_t len,
                                               const char *what, struct cz_error *err);

#endif
