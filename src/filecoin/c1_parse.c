/*
 * A push parser for the C1 output, driven by the tables of c1_schema.h. yajl's callbacks move over a stack of frames,
 * one per open object or array, which also is the path that an error names. Array lengths are known before an array
 * starts (from the sector size, which is the key of the object that holds the proofs), so storage is laid out first and
 * filled in place.
 */

#include "filecoin/c1_int.h"
#include "filecoin/c1_schema.h"

#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>
#include <yajl/yajl_parse.h>

#define LABEL_PARENTS 37
#define MAX_FRAMES 24
#define MAX_SKIP_DEPTH 100
/* yajl reads a token that is not whole again with every piece; only Phase1Out may be longer. */
#define MAX_TOKEN (1u << 20)
/* Where text is not looked at for arrays of bytes, yajl gets it in pieces of so many bytes or more. */
#define MIN_PIECE (64u << 10)

/* An open object or array. */
struct frame {
    enum type type;
    uint32_t seen;    /* objects: one bit per field */
    uint32_t index;   /* arrays: of the current element */
    uint32_t limit;   /* arrays: number of elements */
    size_t stride;    /* arrays: from one element's place to the next */
    uint8_t *place;   /* where the value goes; NULL: checked and dropped */
    const char *key;  /* objects: current key, NULL before the first and when unknown */
    enum type child;  /* objects: type of the current key's value */
    size_t child_off; /* objects: its place */
};

struct cz_c1_parser {
    yajl_handle yajl;
    struct cz_error error;
    uint64_t base;  /* bytes fed before the current piece */
    uint64_t quiet; /* bytes of the pieces since the last token */
    unsigned depth, skip;
    uint8_t *bytes; /* the open byte array; its element count is in num_bytes */
    unsigned num_bytes;
    bool envelope, done;
    bool opened;         /* an array opened within the current piece */
    bool astray;         /* the last piece ended at a '[' of a string */
    struct cz_c1 *inner; /* of the envelope */
    const struct cz_sector_info *sector;
    struct top top;
    cz_node dropped;
    struct frame frame[MAX_FRAMES];
};

/* ---- errors ---- */

static void append(char *out, size_t size, size_t *at, const char *fmt, ...) CZ_PRINTF(4, 5);
static void append(char *out, size_t size, size_t *at, const char *fmt, ...) {
    if (*at >= size) return;
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(out + *at, size - *at, fmt, args);
    va_end(args);
    if (n > 0) *at += (size_t)n;
}

/* "vanilla_proofs[0][1].comm_d_proofs.data.Single.root[3]", or "top level". */
static void format_path(const struct cz_c1_parser *p, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (unsigned i = 0; i < p->depth; i++) {
        const struct frame *f = &p->frame[i];
        if (TYPE[f->type].kind == ARRAY) {
            append(out, size, &at, "[%u]", f->index);
        } else if (f->key && !TYPE[f->type].hidden) {
            append(out, size, &at, "%s%s", at ? "." : "", f->key);
        }
    }
    if (p->bytes) append(out, size, &at, "[%u]", p->num_bytes);
    if (!at) append(out, size, &at, "top level");
}

/* The first characters of foreign text, made printable. */
static const char *shown(char out[41], const void *text, size_t len) {
    const uint8_t *in = text;
    size_t n = len < 40 ? len : 40;
    for (size_t i = 0; i < n; i++) out[i] = in[i] >= 0x20 && in[i] < 0x7f ? (char)in[i] : '?';
    out[n] = 0;
    return out;
}

static uint64_t offset_now(const struct cz_c1_parser *p) {
    return p->base + yajl_get_bytes_consumed(p->yajl);
}

/* Records the first error; 0 makes yajl stop. */
static int fail(struct cz_c1_parser *p, enum cz_status status, const char *fmt, ...) CZ_PRINTF(3, 4);
static int fail(struct cz_c1_parser *p, enum cz_status status, const char *fmt, ...) {
    if (p->error.status != CZ_OK) return 0;
    char path[256], text[128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    format_path(p, path, sizeof path);
    cz_error_set(&p->error, status, "%s: %s (at byte %llu)", path, text, (unsigned long long)offset_now(p));
    return 0;
}

static const char *kind_name(enum kind kind) {
    static const char *const name[] = {
        [OBJECT] = "an object", [VARIANT] = "an object", [ARRAY] = "an array", [BYTES] = "an array of 32 bytes",
        [NUMBER] = "a number",  [STRING] = "a string",   [NOTHING] = "null",   [SKIP] = "any value",
    };
    return name[kind];
}

/* ---- the stack ---- */

/* What the next value must be, and its place (NULL: none). False when there may be no next value. */
static bool expect(struct cz_c1_parser *p, enum type *type, uint8_t **place) {
    if (p->bytes) {
        fail(p, CZ_ERR_FORMAT, "expected a number from 0 to 255");
        return false;
    }
    if (p->depth == 0) {
        *type = T_TOP;
        *place = (uint8_t *)&p->top;
        return true;
    }
    struct frame *f = &p->frame[p->depth - 1];
    if (TYPE[f->type].kind == ARRAY) {
        if (f->index >= f->limit) {
            fail(p, CZ_ERR_LENGTH, "more than %u elements", f->limit);
            return false;
        }
        *type = TYPE[f->type].item;
        *place = f->place ? f->place + f->index * f->stride : NULL;
        /* labeling_proofs: only the first one's node has a place. */
        if (f->type == T_LABELINGS && f->index > 0) *place = NULL;
    } else {
        *type = f->child;
        *place = f->place ? f->place + f->child_off : NULL;
        if (f->type == T_CHALLENGE && f->child == T_LABELING) *place = NULL; /* encoding_proof */
    }
    return true;
}

static int wrong_kind(struct cz_c1_parser *p, enum type type, const char *found) {
    return fail(p, CZ_ERR_FORMAT, "expected %s, found %s", kind_name(TYPE[type].kind), found);
}

static struct frame *push(struct cz_c1_parser *p, enum type type, uint8_t *place) {
    /* The schema's depth is fixed and below MAX_FRAMES. */
    struct frame *f = &p->frame[p->depth++];
    *f = (struct frame){.type = type};
    f->place = place;
    return f;
}

/* A value has ended: an array's position moves on. */
static int value_done(struct cz_c1_parser *p) {
    if (p->depth > 0) {
        struct frame *f = &p->frame[p->depth - 1];
        if (TYPE[f->type].kind == ARRAY) f->index++;
    }
    return 1;
}

static int skip_open(struct cz_c1_parser *p) {
    if (p->skip >= MAX_SKIP_DEPTH) return fail(p, CZ_ERR_LIMIT, "nested deeper than %d", MAX_SKIP_DEPTH);
    p->skip++;
    return 1;
}

static int skip_close(struct cz_c1_parser *p) {
    return --p->skip == 0 ? value_done(p) : 1;
}

/* ---- arrays ---- */

/* The levels of one of a path's segments. */
static void start_levels(const struct cz_c1_parser *p, struct frame *f, enum type segment, const uint8_t *place) {
    const struct cz_merkle_proof *m = (const struct cz_merkle_proof *)place;
    const unsigned base = m->level[0].num_siblings > 1 ? p->sector->base_levels : m->num_levels; /* C, R : D */
    unsigned first = 0, count = base;
    if (segment != T_BASE_PATH) {
        first = segment == T_SUB_PATH ? base : base + 1;
        count = 1;
    }
    f->place = (uint8_t *)(m->level + first);
    f->limit = count;
    f->stride = sizeof *m->level;
}

static int start_partition(struct cz_c1_parser *p, struct frame *f, uint32_t partition) {
    f->limit = p->sector->challenges;
    f->stride = sizeof(struct cz_porep_challenge);
    f->place = (uint8_t *)(p->top.c1.challenge + (size_t)partition * p->sector->challenges);
    return 1;
}

static int start_array_of(struct cz_c1_parser *p, enum type type, uint8_t *place) {
    const struct frame *parent = &p->frame[p->depth - 1];
    const uint32_t parent_index = parent->index;
    const enum type segment = parent->type;
    if (!place && type != T_PARENTS) return fail(p, CZ_ERR_INTERNAL, "an array without a place");
    struct frame *f = push(p, type, place);
    switch (type) {
    case T_PARTITIONS:
        f->limit = p->sector->ni_partitions;
        break;
    case T_PARTITION:
        return start_partition(p, f, parent_index);
    case T_DRG_COLUMNS:
    case T_EXP_COLUMNS:
        f->limit = type == T_DRG_COLUMNS ? CZ_DRG_PARENTS : CZ_EXP_PARENTS;
        f->stride = sizeof(struct cz_column_proof);
        break;
    case T_ROWS:
        f->limit = p->sector->layers;
        f->stride = sizeof(cz_node);
        f->place = (uint8_t *)((const struct cz_column_proof *)place)->row;
        break;
    case T_LEVELS:
        start_levels(p, f, segment, place);
        break;
    case T_HASHES:
        f->limit = ((const struct cz_merkle_level *)place)->num_siblings;
        f->stride = sizeof(cz_node);
        f->place = (uint8_t *)((const struct cz_merkle_level *)place)->sibling;
        break;
    case T_LABELINGS:
        f->limit = p->sector->layers;
        break;
    case T_PARENTS:
        f->limit = LABEL_PARENTS;
        f->place = NULL;
        break;
    default:
        return fail(p, CZ_ERR_INTERNAL, "no such array");
    }
    return 1;
}

static int on_start_array(void *ctx) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    p->opened = true;
    if (p->skip) return skip_open(p);
    enum type type;
    uint8_t *place;
    if (!expect(p, &type, &place)) return 0;
    switch (TYPE[type].kind) {
    case BYTES:
        p->bytes = place ? place : p->dropped;
        p->num_bytes = 0;
        return 1;
    case ARRAY:
        return start_array_of(p, type, place);
    case SKIP:
        return skip_open(p);
    default:
        return wrong_kind(p, type, "an array");
    }
}

static bool node_below_r(const uint8_t node[32]) {
    for (unsigned i = 4; i-- > 0;) {
        uint64_t limb = cz_load_le64(node + 8 * i);
        if (limb != CZ_FR_MODULUS[i]) return limb < CZ_FR_MODULUS[i];
    }
    return false;
}

static int end_bytes(struct cz_c1_parser *p) {
    uint8_t *bytes = p->bytes;
    unsigned count = p->num_bytes;
    const struct frame *f = &p->frame[p->depth - 1];
    enum type type = TYPE[f->type].kind == ARRAY ? TYPE[f->type].item : f->child;
    p->bytes = NULL;
    if (count != 32) return fail(p, CZ_ERR_LENGTH, "%u bytes, expected 32", count);
    if (type == T_NODE && !node_below_r(bytes)) return fail(p, CZ_ERR_FIELD_RANGE, "not below the field's modulus");
    return value_done(p);
}

static int on_end_array(void *ctx) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return skip_close(p);
    if (p->bytes) return end_bytes(p);
    const struct frame *f = &p->frame[p->depth - 1];
    const uint32_t count = f->index, limit = f->limit;
    const enum type type = f->type;
    p->depth--;
    if (type == T_PARTITIONS) {
        /* Which number is right depends on registered_proof, which may come later. */
        p->top.c1.num_partitions = count;
    } else if (count != limit) {
        return fail(p, CZ_ERR_LENGTH, "%u elements, expected %u", count, limit);
    }
    return value_done(p);
}

/* ---- objects ---- */

static int on_start_map(void *ctx) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return skip_open(p);
    enum type type;
    uint8_t *place;
    if (!expect(p, &type, &place)) return 0;
    switch (TYPE[type].kind) {
    case OBJECT:
    case VARIANT:
        if (type == T_CHALLENGE &&
            !cz_c1_challenge_layout((struct cz_porep_challenge *)place, &p->top.c1.arena, p->sector))
            return fail(p, CZ_ERR_MEMORY, "out of memory");
        push(p, type, place);
        return 1;
    case SKIP:
        return skip_open(p);
    default:
        return wrong_kind(p, type, "an object");
    }
}

/* vanilla_proofs: the key names the size, from which everything else follows. */
static int vanilla_key(struct cz_c1_parser *p, struct frame *f, const char *key, size_t len) {
    enum cz_registered_seal proof;
    char text[41];
    if (cz_registered_seal_parse(&proof, key, len) != CZ_OK || cz_registered_seal_version(proof) != CZ_SEAL_V1)
        return fail(p, CZ_ERR_FORMAT, "\"%s\" is not the name of a size's proofs", shown(text, key, len));
    p->sector = cz_registered_seal_sector(proof);
    const uint32_t most =
        p->sector->ni_partitions > p->sector->partitions ? p->sector->ni_partitions : p->sector->partitions;
    p->top.c1.challenge =
        cz_c1_arena_alloc(&p->top.c1.arena, (size_t)most * p->sector->challenges * sizeof(struct cz_porep_challenge));
    if (!p->top.c1.challenge) return fail(p, CZ_ERR_MEMORY, "out of memory");
    f->key = cz_registered_seal_name(proof);
    f->child = T_PARTITIONS;
    return 1;
}

static int data_key(struct cz_c1_parser *p, struct frame *f, const char *key, size_t len) {
    static const struct {
        const char *name;
        enum type type;
    } variant[] = {{"Single", T_SINGLE}, {"Sub", T_SUB_TREE}, {"Top", T_TOP_TREE}};
    unsigned want = 0;
    if (f->type == T_DATA) want = p->sector->top_arity ? 2 : p->sector->sub_arity ? 1 : 0;
    if (strlen(variant[want].name) != len || memcmp(variant[want].name, key, len) != 0) {
        char text[41];
        return fail(p, CZ_ERR_MISMATCH, "\"%s\", but a tree of this size is \"%s\"", shown(text, key, len),
                    variant[want].name);
    }
    f->key = variant[want].name;
    f->child = variant[want].type;
    return 1;
}

static int object_key(struct cz_c1_parser *p, struct frame *f, const char *key, size_t len) {
    for (unsigned i = 0; i < TYPE[f->type].num_fields; i++) {
        const struct field *field = &TYPE[f->type].field[i];
        if (strlen(field->name) != len || memcmp(field->name, key, len) != 0) continue;
        if (f->type == T_TOP && i >= BARE_FIELDS && !p->envelope) break;
        f->key = field->name;
        if (f->seen >> i & 1) return fail(p, CZ_ERR_FORMAT, "given twice");
        f->seen |= 1u << i;
        f->child = field->type;
        f->child_off = field->offset;
        return 1;
    }
    /* Ignored, as the reference's decoder does. */
    f->key = NULL;
    f->child = T_UNKNOWN;
    return 1;
}

static int on_map_key(void *ctx, const unsigned char *key, size_t len) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return 1;
    struct frame *f = &p->frame[p->depth - 1];
    if (TYPE[f->type].kind != VARIANT) return object_key(p, f, (const char *)key, len);
    f->key = NULL;
    if (f->seen++) return fail(p, CZ_ERR_FORMAT, "more than one key");
    return f->type == T_VANILLA ? vanilla_key(p, f, (const char *)key, len) : data_key(p, f, (const char *)key, len);
}

/* Which fields must have been there. The top level is either the bare object or the envelope. */
static uint32_t required_fields(const struct frame *f) {
    const uint32_t bare = (1u << BARE_FIELDS) - 1, envelope = ((1u << ENVELOPE_FIELDS) - 1) << BARE_FIELDS;
    if (f->type != T_TOP) return UINT32_MAX;
    return f->seen & envelope ? envelope : bare;
}

static int on_end_map(void *ctx) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return skip_close(p);
    struct frame *f = &p->frame[p->depth - 1];
    f->key = NULL;
    if (TYPE[f->type].kind == VARIANT) {
        if (!f->seen) return fail(p, CZ_ERR_FORMAT, "empty object");
    } else {
        const uint32_t required = required_fields(f);
        if (f->seen & ~required) return fail(p, CZ_ERR_FORMAT, "fields of the C1 output and of an envelope in one");
        for (unsigned i = 0; i < TYPE[f->type].num_fields; i++) {
            const struct field *field = &TYPE[f->type].field[i];
            if (!(required >> i & 1) || field->optional || f->seen >> i & 1) continue;
            return fail(p, CZ_ERR_FORMAT, "field %s is missing", field->name);
        }
        if (f->type == T_TOP) p->done = true;
    }
    p->depth--;
    return value_done(p);
}

/* ---- scalars ---- */

static bool parse_u64(uint64_t *out, const char *s, size_t n) {
    uint64_t v = 0;
    if (n == 0 || n > 20) return false;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9') return false;
        if (__builtin_mul_overflow(v, (uint64_t)10, &v) || __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

static int store_number(struct cz_c1_parser *p, enum type type, uint8_t *place, uint64_t v) {
    if (type == T_U32 && v > UINT32_MAX) return fail(p, CZ_ERR_FORMAT, "%llu exceeds 32 bits", (unsigned long long)v);
    if (type == T_LEVEL_INDEX) {
        const struct frame *f = &p->frame[p->depth - 1];
        uint32_t most = ((const struct cz_merkle_level *)f->place)->num_siblings;
        if (v > most) return fail(p, CZ_ERR_FORMAT, "%llu exceeds %u", (unsigned long long)v, most);
    }
    /* Labeling proofs have a place only for the node of the first. */
    const bool labeling = p->frame[p->depth - 1].type == T_LABELING;
    if (place && (type == T_U64 || type == T_FIRST_NODE)) {
        memcpy(place, &v, sizeof v);
    } else if (place && !labeling) {
        uint32_t v32 = (uint32_t)v;
        memcpy(place, &v32, sizeof v32);
    }
    return value_done(p);
}

static int on_number(void *ctx, const char *s, size_t n) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->bytes) {
        unsigned v = 256, a = (unsigned)(uint8_t)s[0] - '0';
        if (n == 1)
            v = a;
        else if (n == 2 && (uint8_t)(s[1] - '0') < 10)
            v = 10 * a + (unsigned)(s[1] - '0');
        else if (n == 3 && (uint8_t)(s[1] - '0') < 10 && (uint8_t)(s[2] - '0') < 10)
            v = 100 * a + 10 * (unsigned)(s[1] - '0') + (unsigned)(s[2] - '0');
        if (a > 9 || v > 255) return fail(p, CZ_ERR_FORMAT, "expected a number from 0 to 255");
        if (p->num_bytes >= 32) return fail(p, CZ_ERR_LENGTH, "more than 32 bytes");
        p->bytes[p->num_bytes++] = (uint8_t)v;
        return 1;
    }
    if (p->skip) return 1;
    enum type type;
    uint8_t *place;
    uint64_t v;
    if (!expect(p, &type, &place)) return 0;
    if (TYPE[type].kind == SKIP) return value_done(p);
    if (TYPE[type].kind != NUMBER) return wrong_kind(p, type, "a number");
    if (!parse_u64(&v, s, n)) {
        char text[41];
        return fail(p, CZ_ERR_FORMAT, "\"%s%s\" is not a whole number of 64 bits", shown(text, s, n),
                    n > 40 ? "…" : "");
    }
    return store_number(p, type, place, v);
}

/* The envelope's text goes through a parser of its own. */
static int phase1_out(struct cz_c1_parser *p, const uint8_t *s, size_t n) {
    struct cz_c1_parser *inner = NULL;
    struct cz_error err = {0};
    enum cz_status status = cz_c1_parser_create(&inner, false, &err);
    if (status == CZ_OK) status = cz_c1_feed_base64(inner, s, n, "Phase1Out", &err);
    if (status == CZ_OK) {
        status = cz_c1_parser_finish(inner, &p->inner, &err);
        if (status != CZ_OK) (void)cz_error_prefix(&err, "Phase1Out");
    }
    cz_c1_parser_destroy(inner);
    if (status == CZ_OK) return value_done(p);
    if (p->error.status == CZ_OK) p->error = err;
    return 0;
}

static int on_string(void *ctx, const unsigned char *s, size_t n) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return 1;
    enum type type;
    uint8_t *place;
    if (!expect(p, &type, &place)) return 0;
    if (TYPE[type].kind == SKIP) return value_done(p);
    if (TYPE[type].kind != STRING) return wrong_kind(p, type, "a string");
    if (type == T_BASE64) return phase1_out(p, s, n);
    if (cz_registered_seal_parse(&p->top.c1.proof, (const char *)s, n) != CZ_OK) {
        char text[41];
        return fail(p, CZ_ERR_FORMAT, "unknown proof \"%s\"", shown(text, s, n));
    }
    return value_done(p);
}

static int on_null(void *ctx) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    if (p->skip) return 1;
    enum type type;
    uint8_t *place;
    if (!expect(p, &type, &place)) return 0;
    if (TYPE[type].kind != NOTHING && TYPE[type].kind != SKIP) return wrong_kind(p, type, "null");
    return value_done(p);
}

static int on_boolean(void *ctx, int value) {
    struct cz_c1_parser *p = ctx;
    p->quiet = 0;
    (void)value;
    if (p->skip) return 1;
    enum type type;
    uint8_t *place;
    if (!expect(p, &type, &place)) return 0;
    if (TYPE[type].kind != SKIP) return wrong_kind(p, type, "a boolean");
    return value_done(p);
}

/* ---- the parser ---- */

static const yajl_callbacks CALLBACKS = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_map_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

enum cz_status cz_c1_parser_create(struct cz_c1_parser **out, bool envelope, struct cz_error *err) {
    struct cz_c1_parser *p = cz_calloc(1, sizeof *p);
    if (!p) {
        cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
        return CZ_ERR_MEMORY;
    }
    p->yajl = yajl_alloc(&CALLBACKS, NULL, p);
    p->envelope = envelope;
    if (!p->yajl) {
        cz_free(p);
        cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
        return CZ_ERR_MEMORY;
    }
    *out = p;
    return CZ_OK;
}

/* yajl's own complaint, on one line. */
static enum cz_status yajl_failure(struct cz_c1_parser *p, struct cz_error *err) {
    if (p->error.status == CZ_OK) {
        unsigned char *text = yajl_get_error(p->yajl, 0, NULL, 0);
        size_t n = text ? strlen((char *)text) : 0;
        if (n > 0 && text[n - 1] == '\n') text[n - 1] = 0;
        fail(p, CZ_ERR_FORMAT, "malformed JSON: %s", text ? (const char *)text : "unknown error");
        if (text) yajl_free_error(p->yajl, text);
    }
    if (err) *err = p->error;
    return p->error.status;
}

static bool awaits_base64(const struct cz_c1_parser *p) {
    return p->depth == 1 && !p->skip && p->frame[0].key && p->frame[0].child == T_BASE64;
}

/* The next piece for yajl. *open: it ends with its first '['. */
static size_t next_piece(const struct cz_c1_parser *p, const uint8_t *data, size_t len, bool *open) {
    *open = false;
    if (p->skip || p->astray) {
        /* Brackets mean nothing here. yajl reads a string again with each piece, so pieces grow. */
        const uint64_t most = p->quiet > MIN_PIECE / 2 ? 2 * p->quiet : MIN_PIECE;
        return len < most ? len : (size_t)most;
    }
    const uint8_t *bracket = memchr(data, '[', len);
    if (!bracket) return len;
    *open = true;
    return (size_t)(bracket - data) + 1;
}

static enum cz_status feed_piece(struct cz_c1_parser *p, const uint8_t *data, size_t len, struct cz_error *err) {
    p->opened = false;
    p->quiet += len;
    if (yajl_parse(p->yajl, data, len) != yajl_status_ok) return yajl_failure(p, err);
    p->base += len;
    return CZ_OK;
}

/* A token may be as long as what the caller gives at once, or else MAX_TOKEN. */
static enum cz_status check_token(struct cz_c1_parser *p, uint64_t without, struct cz_error *err) {
    if (p->quiet < without) p->quiet = 0; /* there was a token */
    if (p->quiet <= MAX_TOKEN || awaits_base64(p)) return CZ_OK;
    fail(p, CZ_ERR_LIMIT, "a value or a gap of more than %u bytes", MAX_TOKEN);
    if (err) *err = p->error;
    return p->error.status;
}

/*
 * yajl sees the text up to a '['. Has that opened an array of 32 bytes, and are its numbers plain, they are read here
 * and yajl goes on at the ']', as if the array were empty. Everything else, and every error, is yajl's.
 */
enum cz_status cz_c1_parser_feed(struct cz_c1_parser *p, const uint8_t *data, size_t len, struct cz_error *err) {
    const uint64_t without = p->quiet + len;
    for (size_t at = 0; at < len;) {
        bool open;
        const size_t n = next_piece(p, data + at, len - at, &open);
        enum cz_status status = feed_piece(p, data + at, n, err);
        if (status != CZ_OK) return status;
        at += n;
        p->astray = open && !p->opened;
        if (!open || !p->opened || !p->bytes || len - at < CZ_C1_BYTES_SPAN) continue;
        const size_t numbers = cz_c1_bytes_scan(p->bytes, data + at);
        if (numbers) p->num_bytes = 32;
        p->base += numbers;
        at += numbers;
    }
    return check_token(p, without, err);
}

uint64_t cz_c1_parser_quiet(const struct cz_c1_parser *p) {
    return p->quiet;
}

static bool is_zero(const uint8_t b[32]) {
    uint8_t any = 0;
    for (unsigned i = 0; i < 32; i++) any |= b[i];
    return any == 0;
}

/* What needs more than one field. */
static enum cz_status check_whole(const struct cz_c1_parser *p, struct cz_error *err) {
    const struct cz_c1 *c1 = &p->top.c1;
    const struct cz_sector_info *sector = cz_registered_seal_sector(c1->proof);
    if (p->sector != sector)
        return cz_error_set(err, CZ_ERR_MISMATCH, "vanilla_proofs: proofs of %s, but registered_proof is %s",
                            p->sector->name, cz_registered_seal_name(c1->proof));
    const bool ni = cz_registered_seal_version(c1->proof) == CZ_SEAL_NON_INTERACTIVE;
    const uint32_t partitions = ni ? sector->ni_partitions : sector->partitions;
    if (c1->num_partitions != partitions)
        return cz_error_set(err, CZ_ERR_LENGTH, "vanilla_proofs: %u partitions, but %s has %u", c1->num_partitions,
                            cz_registered_seal_name(c1->proof), partitions);
    if (is_zero(c1->comm_r)) return cz_error_set(err, CZ_ERR_FORMAT, "comm_r: all zero");
    if (is_zero(c1->comm_d)) return cz_error_set(err, CZ_ERR_FORMAT, "comm_d: all zero");
    if (is_zero(c1->seed)) return cz_error_set(err, CZ_ERR_FORMAT, "seed: all zero");
    return CZ_OK;
}

enum cz_status cz_c1_parser_finish(struct cz_c1_parser *p, struct cz_c1 **out, struct cz_error *err) {
    if (yajl_complete_parse(p->yajl) != yajl_status_ok) return yajl_failure(p, err);
    if (!p->done) return cz_error_set(err, CZ_ERR_FORMAT, "top level: expected an object");
    if (p->inner) {
        if (p->inner->sector_size != p->top.envelope_size)
            return cz_error_set(err, CZ_ERR_MISMATCH, "SectorSize: %llu, but Phase1Out holds a proof of %llu bytes",
                                (unsigned long long)p->top.envelope_size, (unsigned long long)p->inner->sector_size);
        p->inner->has_sector_number = true;
        p->inner->sector_number = p->top.envelope_number;
        *out = p->inner;
        p->inner = NULL;
        return CZ_OK;
    }
    enum cz_status status = check_whole(p, err);
    if (status != CZ_OK) return status;
    struct cz_c1 *c1 = cz_calloc(1, sizeof *c1);
    if (!c1) return cz_error_set(err, CZ_ERR_MEMORY, "out of memory");
    *c1 = p->top.c1;
    c1->sector_size = p->sector->size;
    c1->challenges_per_partition = p->sector->challenges;
    p->top.c1.arena = NULL;
    *out = c1;
    return CZ_OK;
}

void cz_c1_parser_destroy(struct cz_c1_parser *p) {
    if (!p) return;
    cz_c1_destroy(p->inner);
    cz_c1_arena_free(p->top.c1.arena);
    yajl_free(p->yajl);
    cz_free(p);
}
