/* The forms in which a C1 output comes (bare, gzipped, in the client's envelope), and its memory. */

#include "filecoin/c1_int.h"

#include "base/bytes.h"
#include "base/file.h"

#include <zlib.h>

#define PIECE (48u << 10) /* a multiple of 3: pieces of base64 end on whole groups */

/* ---- memory ---- */

#define BLOCK_HEADER 16

void *cz_c1_arena_alloc(void **arena, size_t size) {
    size_t total;
    if (__builtin_add_overflow(size, (size_t)BLOCK_HEADER, &total)) return NULL;
    struct cz_c1_block *block = cz_calloc(1, total);
    if (!block) return NULL;
    block->next = *arena;
    *arena = block;
    return (uint8_t *)block + BLOCK_HEADER;
}

void cz_c1_arena_free(void *arena) {
    for (struct cz_c1_block *block = arena, *next; block; block = next) {
        next = block->next;
        cz_free(block);
    }
}

/* Takes what the arrays of one challenge need from one block. */
struct layout {
    struct cz_merkle_level *level;
    cz_node *node;
};

static void layout_tree_d(struct cz_merkle_proof *m, struct layout *at, const struct cz_sector_info *sector) {
    m->num_levels = sector->nodes_log2;
    m->level = at->level;
    for (uint32_t i = 0; i < m->num_levels; i++)
        *at->level++ = (struct cz_merkle_level){.num_siblings = 1, .sibling = at->node++};
}

static uint32_t tree_levels(const struct cz_sector_info *sector) {
    return sector->base_levels + (sector->sub_arity > 0) + (sector->top_arity > 0);
}

static void layout_tree(struct cz_merkle_proof *m, struct layout *at, const struct cz_sector_info *sector) {
    m->num_levels = tree_levels(sector);
    m->level = at->level;
    for (uint32_t i = 0; i < m->num_levels; i++) {
        uint32_t arity = i < sector->base_levels ? 8 : i == sector->base_levels ? sector->sub_arity : sector->top_arity;
        *at->level++ = (struct cz_merkle_level){.num_siblings = arity - 1, .sibling = at->node};
        at->node += arity - 1;
    }
}

static void layout_column(struct cz_column_proof *c, struct layout *at, const struct cz_sector_info *sector) {
    c->row = at->node;
    at->node += sector->layers;
    layout_tree(&c->inclusion, at, sector);
}

bool cz_c1_challenge_layout(struct cz_porep_challenge *c, void **arena, const struct cz_sector_info *sector) {
    const size_t columns = 1 + CZ_DRG_PARENTS + CZ_EXP_PARENTS;
    const size_t siblings = 7 * sector->base_levels + (sector->sub_arity ? sector->sub_arity - 1 : 0) +
                            (sector->top_arity ? sector->top_arity - 1 : 0);
    const size_t levels = sector->nodes_log2 + (1 + columns) * tree_levels(sector);
    const size_t nodes = sector->nodes_log2 + (1 + columns) * siblings + columns * sector->layers;
    struct layout at;
    at.level = cz_c1_arena_alloc(arena, levels * sizeof *at.level + nodes * sizeof *at.node);
    if (!at.level) return false;
    at.node = (cz_node *)(at.level + levels);
    layout_tree_d(&c->comm_d, &at, sector);
    layout_tree(&c->comm_r_last, &at, sector);
    layout_column(&c->c_x, &at, sector);
    for (unsigned i = 0; i < CZ_DRG_PARENTS; i++) layout_column(&c->drg[i], &at, sector);
    for (unsigned i = 0; i < CZ_EXP_PARENTS; i++) layout_column(&c->exp[i], &at, sector);
    return true;
}

void cz_c1_destroy(struct cz_c1 *c1) {
    if (!c1) return;
    cz_c1_arena_free(c1->arena);
    cz_free(c1);
}

/* ---- base64 (RFC 4648 §4) ---- */

/* 64: not a digit. */
static const uint8_t *base64_digits(void) {
    static const uint8_t digit[256] = {
#define D(c, v) [c] = (v) + 1
        D('A', 0),  D('B', 1),  D('C', 2),  D('D', 3),  D('E', 4),  D('F', 5),  D('G', 6),  D('H', 7),
        D('I', 8),  D('J', 9),  D('K', 10), D('L', 11), D('M', 12), D('N', 13), D('O', 14), D('P', 15),
        D('Q', 16), D('R', 17), D('S', 18), D('T', 19), D('U', 20), D('V', 21), D('W', 22), D('X', 23),
        D('Y', 24), D('Z', 25), D('a', 26), D('b', 27), D('c', 28), D('d', 29), D('e', 30), D('f', 31),
        D('g', 32), D('h', 33), D('i', 34), D('j', 35), D('k', 36), D('l', 37), D('m', 38), D('n', 39),
        D('o', 40), D('p', 41), D('q', 42), D('r', 43), D('s', 44), D('t', 45), D('u', 46), D('v', 47),
        D('w', 48), D('x', 49), D('y', 50), D('z', 51), D('0', 52), D('1', 53), D('2', 54), D('3', 55),
        D('4', 56), D('5', 57), D('6', 58), D('7', 59), D('8', 60), D('9', 61), D('+', 62), D('/', 63),
#undef D
    };
    return digit;
}

/* Whole groups of four digits without padding; the position of the first bad one, or n. */
static size_t decode_groups(uint8_t *out, const uint8_t *in, size_t n) {
    const uint8_t *digit = base64_digits();
    for (size_t i = 0; i < n; i += 4, out += 3) {
        unsigned a = digit[in[i]], b = digit[in[i + 1]], c = digit[in[i + 2]], d = digit[in[i + 3]];
        if (!a || !b || !c || !d) return i + (!a ? 0 : !b ? 1 : !c ? 2 : 3);
        uint32_t v = (a - 1) << 18 | (b - 1) << 12 | (c - 1) << 6 | (d - 1);
        out[0] = (uint8_t)(v >> 16);
        out[1] = (uint8_t)(v >> 8);
        out[2] = (uint8_t)v;
    }
    return n;
}

static enum cz_status feed(struct cz_c1_parser *inner, const uint8_t *data, size_t len, const char *what,
                           struct cz_error *err) {
    enum cz_status status = cz_c1_parser_feed(inner, data, len, err);
    if (status != CZ_OK) (void)cz_error_prefix(err, "%s", what);
    return status;
}

static enum cz_status bad_digit(const char *what, size_t at, struct cz_error *err) {
    return cz_error_set(err, CZ_ERR_FORMAT, "%s: not base64 at character %zu", what, at);
}

enum cz_status cz_c1_feed_base64(struct cz_c1_parser *inner, const uint8_t *text, size_t len, const char *what,
                                 struct cz_error *err) {
    if (len % 4 || len == 0)
        return cz_error_set(err, CZ_ERR_FORMAT, "%s: base64 of %zu characters, not a multiple of four", what, len);
    enum cz_status status = CZ_OK;
    uint8_t *piece = cz_malloc_array(PIECE, 1);
    if (!piece) return cz_error_set(err, CZ_ERR_MEMORY, "out of memory");

    const size_t pad = text[len - 1] != '=' ? 0 : text[len - 2] != '=' ? 1 : 2;
    const size_t whole = pad ? len - 4 : len;
    for (size_t at = 0; at < whole && status == CZ_OK;) {
        size_t n = whole - at < PIECE / 3 * 4 ? whole - at : PIECE / 3 * 4;
        size_t good = decode_groups(piece, text + at, n);
        status = good < n ? bad_digit(what, at + good, err) : feed(inner, piece, n / 4 * 3, what, err);
        at += n;
    }
    if (pad && status == CZ_OK) {
        uint8_t last[4] = {text[whole], text[whole + 1], pad == 2 ? 'A' : text[whole + 2], 'A'};
        size_t good = decode_groups(piece, last, 4);
        /* Bits beyond the last byte must be zero: there is one encoding of everything. */
        if (good < 4 || piece[3 - pad])
            status = bad_digit(what, whole + (good < 4 ? good : 3 - pad), err);
        else
            status = feed(inner, piece, 3 - pad, what, err);
    }
    cz_free(piece);
    return status;
}

/* ---- gzip (RFC 1952) ---- */

static enum cz_status feed_gzip(struct cz_c1_parser *p, const uint8_t *data, size_t len, struct cz_error *err) {
    enum cz_status status = CZ_OK;
    z_stream z = {0};
    size_t room = PIECE;
    uint8_t *piece = cz_malloc_array(room, 1);
    if (!piece || inflateInit2(&z, 15 + 16) != Z_OK) {
        cz_free(piece);
        return cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
    }
    uint64_t total = 0;
    z.next_in = (Bytef *)data;
    z.avail_in = (uInt)len; /* len <= CZ_C1_MAX_BYTES */
    for (int rc = Z_OK; rc != Z_STREAM_END && status == CZ_OK;) {
        z.next_out = piece;
        z.avail_out = (uInt)room;
        rc = inflate(&z, Z_NO_FLUSH);
        const size_t n = room - z.avail_out;
        total += n;
        if (rc == Z_MEM_ERROR)
            status = cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
        else if (rc != Z_OK && rc != Z_STREAM_END && n == 0)
            status = cz_error_set(err, CZ_ERR_FORMAT, "gzip: %s at byte %zu",
                                  z.avail_in == 0 && rc == Z_BUF_ERROR ? "cut short"
                                  : z.msg                              ? z.msg
                                                                       : "damaged",
                                  len - z.avail_in);
        else if (total > CZ_C1_MAX_BYTES)
            status = cz_error_set(err, CZ_ERR_LIMIT, "more than %u MiB when decompressed", CZ_C1_MAX_BYTES >> 20);
        else
            status = cz_c1_parser_feed(p, piece, n, err);
        /* Within Phase1Out: what was fed is read again, so each time as much comes on top. */
        if (status == CZ_OK && cz_c1_parser_quiet(p) >= 2 * room) {
            room *= 2;
            cz_free(piece);
            piece = cz_malloc_array(room, 1);
            if (!piece) status = cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
        }
    }
    if (status == CZ_OK && z.avail_in > 0)
        status = cz_error_set(err, CZ_ERR_FORMAT, "gzip: %u bytes after the end", z.avail_in);
    inflateEnd(&z);
    cz_free(piece);
    return status;
}

/* ---- entry ---- */

enum cz_status cz_c1_parse(struct cz_c1 **out, const uint8_t *data, size_t len, struct cz_error *err) {
    if (len == 0) return cz_error_set(err, CZ_ERR_FORMAT, "C1 output: empty");
    if (len > CZ_C1_MAX_BYTES)
        return cz_error_set(err, CZ_ERR_LIMIT, "C1 output: %zu bytes, more than %u MiB", len, CZ_C1_MAX_BYTES >> 20);
    struct cz_c1_parser *p = NULL;
    struct cz_error local = {0};
    enum cz_status status = cz_c1_parser_create(&p, true, &local);
    if (status == CZ_OK) {
        const bool gzip = len >= 2 && data[0] == 0x1f && data[1] == 0x8b;
        status = gzip ? feed_gzip(p, data, len, &local) : cz_c1_parser_feed(p, data, len, &local);
    }
    if (status == CZ_OK) status = cz_c1_parser_finish(p, out, &local);
    cz_c1_parser_destroy(p);
    if (status != CZ_OK) cz_error_set(err, status, "C1 output: %s", local.detail);
    return status;
}

enum cz_status cz_c1_parse_file(struct cz_c1 **out, const char *path, struct cz_error *err) {
    struct cz_map map = {0};
    enum cz_status status = cz_map_open(&map, path, err);
    if (status != CZ_OK) return status;
    status = cz_c1_parse(out, map.data, map.size, err);
    if (status != CZ_OK) (void)cz_error_prefix(err, "%s", path);
    cz_map_close(&map);
    return status;
}
