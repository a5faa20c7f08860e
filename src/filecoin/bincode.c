#include "filecoin/bincode.h"

#include "base/bytes.h"

#include <stdarg.h>
#include <stdio.h>

void cz_bincode_init(struct cz_bincode *r, const uint8_t *data, size_t len, struct cz_error *err) {
    *r = (struct cz_bincode){.data = data, .len = len, .err = err};
}

enum cz_status cz_bincode_finish(struct cz_bincode *r) {
    if (r->status == CZ_OK && r->at != r->len)
        r->status = cz_error_set(r->err, CZ_ERR_LENGTH, "%zu bytes after the end, offset %zu", r->len - r->at, r->at);
    return r->status;
}

void cz_bincode_enter(struct cz_bincode *r, const char *name, uint64_t index) {
    if (r->depth < CZ_BINCODE_DEPTH) {
        r->path[r->depth].name = name;
        r->path[r->depth].index = index;
    }
    r->depth++;
}

void cz_bincode_leave(struct cz_bincode *r) {
    r->depth--;
}

/* "a.b[3].field" */
static void path_text(char *out, size_t size, const struct cz_bincode *r, const char *field) {
    size_t at = 0;
    out[0] = 0;
    for (unsigned i = 0; i < r->depth && i < CZ_BINCODE_DEPTH && at < size; i++) {
        bool plain = r->path[i].index == CZ_BINCODE_NO_INDEX;
        int n = plain
                    ? snprintf(out + at, size - at, "%s.", r->path[i].name)
                    : snprintf(out + at, size - at, "%s[%llu].", r->path[i].name, (unsigned long long)r->path[i].index);
        at += n > 0 ? (size_t)n : 0;
    }
    if (at < size) snprintf(out + at, size - at, "%s", field);
}

void cz_bincode_fail(struct cz_bincode *r, enum cz_status status, const char *field, const char *fmt, ...) {
    char path[160], what[160];
    va_list args;
    if (r->status != CZ_OK) return;
    r->status = status;
    if (!r->err) return;
    path_text(path, sizeof path, r, field);
    va_start(args, fmt);
    vsnprintf(what, sizeof what, fmt, args);
    va_end(args);
    cz_error_set(r->err, status, "%s: %s, offset %zu", path, what, r->at);
}

/* n bytes, or NULL. */
static const uint8_t *take(struct cz_bincode *r, const char *field, size_t n) {
    if (r->status != CZ_OK) return NULL;
    if (n > r->len - r->at) {
        cz_bincode_fail(r, CZ_ERR_LENGTH, field, "%zu bytes wanted, %zu left", n, r->len - r->at);
        return NULL;
    }
    const uint8_t *p = r->data + r->at;
    r->at += n;
    return p;
}

uint32_t cz_bincode_u32(struct cz_bincode *r, const char *field) {
    const uint8_t *p = take(r, field, 4);
    return p ? cz_load_le32(p) : 0;
}

uint64_t cz_bincode_u64(struct cz_bincode *r, const char *field) {
    const uint8_t *p = take(r, field, 8);
    return p ? cz_load_le64(p) : 0;
}

bool cz_bincode_length(struct cz_bincode *r, const char *field, uint64_t want) {
    uint64_t n = cz_bincode_u64(r, field);
    if (r->status != CZ_OK) return false;
    if (n == want) return true;
    r->at -= 8;
    cz_bincode_fail(r, CZ_ERR_LENGTH, field, "%llu entries, expected %llu", (unsigned long long)n,
                    (unsigned long long)want);
    return false;
}

static const uint8_t MODULUS_LE[32] = {0x01, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0xff, 0xfe, 0x5b, 0xfe,
                                       0xff, 0x02, 0xa4, 0xbd, 0x53, 0x05, 0xd8, 0xa1, 0x09, 0x08, 0xd8,
                                       0x39, 0x33, 0x48, 0x7d, 0x9d, 0x29, 0x53, 0xa7, 0xed, 0x73};

static bool below_modulus(const uint8_t *node) {
    for (int i = 24; i >= 0; i -= 8) {
        uint64_t a = cz_load_le64(node + i), b = cz_load_le64(MODULUS_LE + i);
        if (a != b) return a < b;
    }
    return false;
}

const cz_node *cz_bincode_nodes(struct cz_bincode *r, const char *field, size_t n) {
    size_t size;
    if (!cz_mul_size(n, sizeof(cz_node), &size)) size = SIZE_MAX;
    size_t start = r->at;
    const cz_node *node = (const cz_node *)take(r, field, size);
    if (!node) return NULL;
    for (size_t i = 0; i < n; i++)
        if (!below_modulus(node[i])) {
            r->at = start + i * sizeof *node;
            cz_bincode_fail(r, CZ_ERR_FIELD_RANGE, field, "not below the field's modulus");
            return NULL;
        }
    return node;
}

void cz_bincode_node(struct cz_bincode *r, const char *field, cz_node out) {
    const cz_node *node = cz_bincode_nodes(r, field, 1);
    if (node)
        memcpy(out, *node, sizeof *node);
    else
        memset(out, 0, sizeof(cz_node));
}

struct cz_bincode_tree cz_bincode_tree_r(const struct cz_sector_info *sector) {
    return (struct cz_bincode_tree){sector->base_levels, 8, sector->sub_arity, sector->top_arity};
}

struct cz_bincode_tree cz_bincode_tree_d(const struct cz_sector_info *sector) {
    return (struct cz_bincode_tree){sector->nodes_log2, 2, 0, 0};
}

uint32_t cz_bincode_tree_levels(const struct cz_bincode_tree *tree) {
    return tree->base_levels + (tree->sub_arity ? 1 : 0) + (tree->top_arity ? 1 : 0);
}

/* One InclusionPath: `levels` levels of one arity. */
static void read_path(struct cz_bincode *r, const char *name, uint32_t levels, uint32_t arity,
                      struct cz_merkle_level *level) {
    bool ok = cz_bincode_length(r, name, levels);
    for (uint32_t i = 0; ok && i < levels; i++) {
        cz_bincode_enter(r, name, i);
        ok = cz_bincode_length(r, "hashes", arity - 1);
        if (ok) {
            level[i].num_siblings = arity - 1;
            level[i].sibling = cz_bincode_nodes(r, "hashes", arity - 1);
            uint64_t index = cz_bincode_u64(r, "index");
            if (r->status == CZ_OK && index >= arity) {
                r->at -= 8;
                cz_bincode_fail(r, CZ_ERR_FORMAT, "index", "%llu, not below the arity %u", (unsigned long long)index,
                                arity);
            }
            level[i].index = (uint32_t)index;
            ok = r->status == CZ_OK;
        }
        cz_bincode_leave(r);
    }
}

void cz_bincode_merkle(struct cz_bincode *r, const struct cz_bincode_tree *tree, struct cz_merkle_level *level,
                       struct cz_merkle_proof *out) {
    static const char *const KIND[] = {"Single", "Sub", "Top"};
    unsigned kind = tree->top_arity ? 2 : tree->sub_arity ? 1 : 0;
    uint32_t tag = cz_bincode_u32(r, "tag");
    out->num_levels = 0;
    out->level = level;
    if (r->status == CZ_OK && tag != kind) {
        r->at -= 4;
        cz_bincode_fail(r, CZ_ERR_FORMAT, "tag", "%u, expected %u (%s)", tag, kind, KIND[kind]);
    }
    if (kind == 0) { /* the paths come last */
        cz_bincode_node(r, "root", out->root);
        cz_bincode_node(r, "leaf", out->leaf);
    }
    read_path(r, kind ? "base" : "path", tree->base_levels, tree->base_arity, level);
    level += tree->base_levels;
    if (tree->sub_arity) read_path(r, "sub", 1, tree->sub_arity, level++);
    if (tree->top_arity) read_path(r, "top", 1, tree->top_arity, level);
    if (kind != 0) {
        cz_bincode_node(r, "root", out->root);
        cz_bincode_node(r, "leaf", out->leaf);
    }
    if (r->status == CZ_OK) out->num_levels = cz_bincode_tree_levels(tree);
}
