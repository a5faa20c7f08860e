#include "r1cs/builder.h"

#include "base/bytes.h"
#include "r1cs/r1cs_int.h"

#include <string.h>

/* A recorded template with what only building needs: its key and its outputs. */
struct entry {
    uint64_t hash;
    uint8_t *key; /* name, NUL, the rest */
    size_t key_len;
    cz_bit *out;
    uint32_t num_out;
};

struct cz_builder {
    enum cz_status status;
    const char *why;
    struct cz_r1cs *sys; /* tmpl and the like are filled in at the end */
    struct cz_coefs coefs;
    struct cz_recorder rec;
    struct entry *entry;
    struct cz_r1cs_template *tmpl;
    uint32_t num_templates, entry_cap, tmpl_cap;
    struct cz_r1cs_instance *instance;
    uint32_t instance_cap;
    cz_r1cs_var *external;
    uint32_t external_cap;
    uint8_t *key;
    uint32_t key_cap;
    /* To find repeated externals: open addressing, emptied by raising the stamp. */
    uint64_t *seen;
    uint32_t seen_cap, stamp;
    /* Scratch of cz_builder_place_wires. */
    cz_bit *bit;
    cz_r1cs_var *var;
    uint8_t *kind;
    uint32_t bit_cap, var_cap, kind_cap;
};

/* Aux indices have to fit a slot (30 bits). */
#define MAX_AUX (1u << 30)

static void fail(struct cz_builder *b, enum cz_status status, const char *why) {
    if (b->status) return;
    b->status = status;
    b->why = why;
}

static bool grow(struct cz_builder *b, void **array, uint32_t *cap, uint64_t need, size_t size) {
    if (need <= *cap) return true;
    uint64_t next = *cap ? *cap : 64;
    while (next < need) next *= 2;
    void *p = next > UINT32_MAX ? NULL : cz_malloc_array(next, size);
    if (!p) {
        fail(b, CZ_ERR_MEMORY, "growing a table");
        return false;
    }
    if (*cap) memcpy(p, *array, *cap * size);
    memset((uint8_t *)p + *cap * size, 0, (next - *cap) * size);
    cz_free(*array);
    *array = p;
    *cap = (uint32_t)next;
    return true;
}

enum cz_status cz_builder_create(struct cz_builder **out) {
    struct cz_builder *b = cz_calloc(1, sizeof *b);
    if (!b) return CZ_ERR_MEMORY;
    b->sys = cz_calloc(1, sizeof *b->sys);
    if (!b->sys || cz_coefs_init(&b->coefs)) {
        cz_builder_destroy(b);
        return CZ_ERR_MEMORY;
    }
    cz_recorder_init(&b->rec, &b->coefs);
    b->sys->num_inputs = 1;
    *out = b;
    return CZ_OK;
}

void cz_builder_destroy(struct cz_builder *b) {
    if (!b) return;
    for (uint32_t i = 0; i < b->num_templates; i++) {
        cz_free(b->entry[i].key);
        cz_free(b->entry[i].out);
        if (b->tmpl) cz_r1cs_template_done(&b->tmpl[i]);
    }
    cz_free(b->entry);
    cz_free(b->tmpl);
    cz_free(b->instance);
    cz_free(b->external);
    cz_free(b->key);
    cz_free(b->seen);
    cz_free(b->bit);
    cz_free(b->var);
    cz_free(b->kind);
    cz_recorder_done(&b->rec);
    cz_coefs_done(&b->coefs);
    cz_r1cs_destroy(b->sys);
    cz_free(b);
}

cz_r1cs_var cz_builder_input(struct cz_builder *b) {
    if (b->sys->num_inputs >= MAX_AUX) {
        fail(b, CZ_ERR_LIMIT, "too many inputs");
        return CZ_R1CS_INPUT;
    }
    return CZ_R1CS_INPUT | b->sys->num_inputs++;
}

static uint64_t hash_bytes(const uint8_t *p, size_t n) {
    uint64_t h = 0xcbf29ce484222325u;
    for (; n >= 8; p += 8, n -= 8) h = (h ^ cz_load_le64(p)) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    for (; n; p++, n--) h = (h ^ *p) * 0x100000001b3u;
    return h ^ h >> 32;
}

/* Copies what the recorder holds into template number b->num_templates. */
static bool keep_template(struct cz_builder *b, uint64_t hash, size_t key_len) {
    uint32_t id = b->num_templates;
    if (!grow(b, (void **)&b->entry, &b->entry_cap, id + 1, sizeof *b->entry) ||
        !grow(b, (void **)&b->tmpl, &b->tmpl_cap, id + 1, sizeof *b->tmpl))
        return false;
    struct entry *e = &b->entry[id];
    b->num_templates++; /* from here on cz_builder_destroy frees what is there */
    e->key = cz_malloc_array(key_len, 1);
    e->out = cz_malloc_array(b->rec.num_out ? b->rec.num_out : 1, sizeof *e->out);
    if (!e->key || !e->out || !cz_r1cs_template_init(&b->tmpl[id], &b->rec, (const char *)b->key)) {
        fail(b, CZ_ERR_MEMORY, "keeping a template");
        return false;
    }
    memcpy(e->key, b->key, key_len);
    if (b->rec.num_out) memcpy(e->out, b->rec.out, b->rec.num_out * sizeof *e->out);
    e->hash = hash;
    e->key_len = key_len;
    e->num_out = b->rec.num_out;
    return true;
}

/* The template's number, recorded now when it is new; UINT32_MAX on failure. */
static uint32_t find_template(struct cz_builder *b, const struct cz_builder_place *p) {
    size_t name_len = strlen(p->name) + 1, len = name_len + p->key_len;
    if (!grow(b, (void **)&b->key, &b->key_cap, len, 1)) return UINT32_MAX;
    memcpy(b->key, p->name, name_len);
    if (p->key_len) memcpy(b->key + name_len, p->key, p->key_len);
    uint64_t hash = hash_bytes(b->key, len);
    for (uint32_t i = 0; i < b->num_templates; i++) {
        const struct entry *e = &b->entry[i];
        if (e->hash == hash && e->key_len == len && !memcmp(e->key, b->key, len)) return i;
    }
    cz_recorder_start(&b->rec, p->num_external);
    p->record(&b->rec, p->ctx);
    if (b->rec.failed || b->coefs.failed) {
        fail(b, CZ_ERR_MEMORY, "recording a template");
        return UINT32_MAX;
    }
    return keep_template(b, hash, len) ? b->num_templates - 1 : UINT32_MAX;
}

static bool externals_valid(struct cz_builder *b, const cz_r1cs_var *ext, uint32_t n) {
    if (!grow(b, (void **)&b->seen, &b->seen_cap, 4 * (uint64_t)n, sizeof *b->seen)) return false;
    uint32_t mask = b->seen_cap - 1;
    b->stamp++;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t index = ext[i] & ~CZ_R1CS_INPUT;
        bool input = ext[i] & CZ_R1CS_INPUT;
        if (input ? index == 0 || index >= b->sys->num_inputs : index >= b->sys->num_aux) return false;
        uint64_t value = (uint64_t)b->stamp << 32 | ext[i];
        uint32_t at = ext[i] * 0x9e3779b1u >> 7 & mask;
        for (; b->seen[at] >> 32 == b->stamp; at = (at + 1) & mask)
            if (b->seen[at] == value) return false;
        b->seen[at] = value;
    }
    return true;
}

void cz_builder_place(struct cz_builder *b, const struct cz_builder_place *p, cz_wire *out, uint32_t num_out) {
    for (uint32_t i = 0; i < num_out; i++) out[i] = CZ_BIT_FALSE;
    if (b->status) return;
    struct cz_r1cs *sys = b->sys;
    uint32_t n = p->num_external;
    if (!externals_valid(b, p->external, n)) {
        fail(b, CZ_ERR_INTERNAL, p->name);
        return;
    }
    uint32_t id = find_template(b, p);
    if (id == UINT32_MAX) return;
    const struct cz_r1cs_template *t = &b->tmpl[id];
    if (t->num_external != n || b->entry[id].num_out != num_out) {
        fail(b, CZ_ERR_INTERNAL, p->name);
        return;
    }
    if (t->num_local > MAX_AUX - sys->num_aux || t->num_constraints > INT32_MAX - sys->num_constraints) {
        fail(b, CZ_ERR_LIMIT, "too many variables or constraints");
        return;
    }
    if (!grow(b, (void **)&b->instance, &b->instance_cap, (uint64_t)sys->num_instances + 1, sizeof *b->instance) ||
        !grow(b, (void **)&b->external, &b->external_cap, (uint64_t)sys->num_externals + n, sizeof *b->external))
        return;
    b->instance[sys->num_instances++] = (struct cz_r1cs_instance){
        .template_id = id,
        .first_external = sys->num_externals,
        .first_aux = sys->num_aux,
        .first_bit = sys->num_bits,
        .first_constraint = sys->num_constraints,
        .first_square = sys->num_squares,
    };
    if (n) memcpy(b->external + sys->num_externals, p->external, n * sizeof *p->external);
    for (uint32_t i = 0; i < num_out; i++) {
        cz_bit bit = b->entry[id].out[i];
        uint32_t col = cz_bit_col(bit);
        if (cz_bit_is_const(bit))
            out[i] = bit;
        else if (col <= n)
            out[i] = (uint64_t)p->external[col - 1] << 2 | (bit & 3);
        else
            out[i] = (uint64_t)(sys->num_aux + col - n - 1) << 2 | (bit & 3);
    }
    sys->num_externals += n;
    sys->num_aux += t->num_local;
    sys->num_bits += t->num_bits;
    sys->num_squares += t->num_squares;
    sys->num_constraints += t->num_constraints;
}

void cz_builder_place_wires(struct cz_builder *b, const char *name, const cz_wire *wire, uint32_t num_wires,
                            const cz_r1cs_var *extra, uint32_t num_extra, cz_builder_record *record, const void *ctx,
                            cz_wire *out, uint32_t num_out) {
    for (uint32_t i = 0; i < num_out; i++) out[i] = CZ_BIT_FALSE;
    if (!grow(b, (void **)&b->bit, &b->bit_cap, num_wires, sizeof *b->bit) ||
        !grow(b, (void **)&b->kind, &b->kind_cap, num_wires, 1) ||
        !grow(b, (void **)&b->var, &b->var_cap, (uint64_t)num_wires + num_extra, sizeof *b->var))
        return;
    uint32_t n = 0;
    for (; n < num_extra; n++) b->var[n] = extra[n];
    for (uint32_t i = 0; i < num_wires; i++) {
        unsigned kind = cz_wire_kind(wire[i]);
        b->kind[i] = (uint8_t)kind;
        b->bit[i] = kind;
        if (kind < CZ_BIT_IS) continue;
        b->bit[i] |= cz_recorder_external(n) << 2;
        b->var[n++] = cz_wire_var(wire[i]);
    }
    struct cz_builder_wires wires = {b->bit, num_wires, ctx};
    struct cz_builder_place place = {name, b->kind, num_wires, b->var, n, record, &wires};
    cz_builder_place(b, &place, out, num_out);
}

enum cz_status cz_builder_finish(struct cz_r1cs **out, struct cz_builder *b, struct cz_error *err) {
    struct cz_r1cs *sys = b->sys;
    if (!b->status) {
        sys->tmpl = b->tmpl;
        sys->num_templates = b->num_templates;
        sys->instance = b->instance;
        sys->external = b->external;
        sys->coef = b->coefs.coef;
        sys->num_coefs = b->coefs.num;
        b->tmpl = NULL;
        b->instance = NULL;
        b->external = NULL;
        b->coefs.coef = NULL;
        if (!cz_r1cs_index(sys)) fail(b, CZ_ERR_MEMORY, "indexing");
    }
    enum cz_status status = b->status;
    if (status)
        cz_error_set(err, status, "constraint system: %s", b->why);
    else {
        *out = sys;
        b->sys = NULL;
    }
    cz_builder_destroy(b);
    return status;
}
