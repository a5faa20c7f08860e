#include "r1cs/digest.h"

#include "base/bytes.h"
#include "hash/blake2s.h"
#include "r1cs/r1cs_int.h"

#include <string.h>

#define TERM_BYTES 41
#define CHUNK (1u << 14) /* stays in the first-level cache */

#define PROGRESS_STEP (1u << 16) /* constraints: tens of milliseconds */

/* Constraints in order as bytes, and the tables that this needs. */
struct writer {
    const struct cz_r1cs *r1cs;
    uint8_t (*coef)[32]; /* big endian */
    struct cz_r1cs_var_term *row;
    uint8_t *buf;   /* CHUNK and one constraint */
    size_t longest; /* bytes of the longest constraint at most */
};

static void writer_done(struct writer *w) {
    cz_free(w->coef);
    cz_free(w->row);
    cz_free(w->buf);
}

static enum cz_status writer_init(struct writer *w, const struct cz_r1cs *r1cs) {
    uint32_t longest = cz_r1cs_longest_row(r1cs);
    *w = (struct writer){.r1cs = r1cs, .longest = 3 * (8 + (size_t)TERM_BYTES * longest)};
    w->coef = cz_malloc_array(r1cs->num_coefs + 1, sizeof *w->coef);
    w->row = cz_malloc_array((size_t)longest + 1, sizeof *w->row);
    w->buf = cz_malloc_array(CHUNK + w->longest, 1);
    if (!w->coef || !w->row || !w->buf) {
        writer_done(w);
        return CZ_ERR_MEMORY;
    }
    for (uint32_t i = 0; i < r1cs->num_coefs; i++) cz_fr_to_be(w->coef[i], &r1cs->coef[i]);
    return CZ_OK;
}

static inline uint8_t *write_term(uint8_t *p, uint8_t space, uint32_t index, const uint8_t coef[32]) {
    p[0] = space;
    cz_store_be64(p + 1, index);
    memcpy(p + 9, coef, 32);
    return p + TERM_BYTES;
}

/* As cz_r1cs_row gives it. Local columns, nearly all of the terms, go straight from the template to the bytes. */
static uint8_t *write_row(struct writer *w, uint8_t *p, const struct cz_r1cs_instance *inst, int m, uint32_t k) {
    const struct cz_r1cs_template *t = &w->r1cs->tmpl[inst->template_id];
    const struct cz_r1cs_term *term = t->term[m] + t->row[m][k], *end = t->term[m] + t->row[m][k + 1];
    cz_store_be64(p, (uint64_t)(end - term));
    p += 8;
    if (term < end && term->col <= t->num_external) {
        uint32_t n = cz_r1cs_row_head(w->row, w->r1cs, inst, m, k);
        for (uint32_t i = 0; i < n; i++) {
            cz_r1cs_var var = w->row[i].var;
            p = write_term(p, var & CZ_R1CS_INPUT ? 'I' : 'A', var & ~CZ_R1CS_INPUT, w->coef[w->row[i].coef]);
        }
        term += n;
    }
    uint32_t base = inst->first_aux - t->num_external - 1;
    for (; term < end; term++) p = write_term(p, 'A', base + term->col, w->coef[term->coef]);
    return p;
}

static size_t write_constraint(struct writer *w, uint8_t *p, const struct cz_r1cs_instance *inst, uint32_t k) {
    uint8_t *start = p;
    for (int m = 0; m < 3; m++) p = write_row(w, p, inst, m, k);
    return (size_t)(p - start);
}

enum cz_status cz_digest_r1cs(uint8_t out[32], const struct cz_r1cs *r1cs) {
    return cz_digest_r1cs_progress(out, r1cs, NULL, NULL);
}

enum cz_status cz_digest_r1cs_progress(uint8_t out[32], const struct cz_r1cs *r1cs,
                                       void (*progress)(void *ctx, double done), void *ctx) {
    struct writer w;
    struct cz_blake2s hash;
    enum cz_status status = writer_init(&w, r1cs);
    if (status) return status;
    cz_blake2s_init(&hash);
    cz_store_be64(w.buf, r1cs->num_inputs);
    cz_store_be64(w.buf + 8, r1cs->num_aux);
    cz_store_be64(w.buf + 16, r1cs->num_constraints);
    size_t fill = 24;
    uint32_t next = 0; /* the constraint to tell of */
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        uint32_t n = r1cs->tmpl[inst->template_id].num_constraints;
        for (uint32_t k = 0; k < n; k++) {
            fill += write_constraint(&w, w.buf + fill, inst, k);
            if (fill < CHUNK) continue;
            cz_blake2s_update(&hash, w.buf, fill);
            fill = 0;
            uint32_t row = inst->first_constraint + k;
            if (!progress || row < next) continue;
            progress(ctx, (double)row / r1cs->num_constraints);
            next = row < UINT32_MAX - PROGRESS_STEP ? row + PROGRESS_STEP : UINT32_MAX;
        }
    }
    cz_blake2s_update(&hash, w.buf, fill);
    cz_blake2s_final(&hash, out);
    writer_done(&w);
    if (progress) progress(ctx, 1);
    return CZ_OK;
}

enum cz_status cz_digest_trace(uint8_t *out, const struct cz_r1cs *r1cs) {
    struct writer w;
    enum cz_status status = writer_init(&w, r1cs);
    if (status) return status;
    for (uint32_t i = 0; i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        uint32_t n = r1cs->tmpl[inst->template_id].num_constraints;
        for (uint32_t k = 0; k < n; k++) {
            struct cz_blake2s hash;
            uint8_t digest[32];
            cz_blake2s_init(&hash);
            cz_blake2s_update(&hash, w.buf, write_constraint(&w, w.buf, inst, k));
            cz_blake2s_final(&hash, digest);
            memcpy(out + 2 * ((size_t)inst->first_constraint + k), digest, 2);
        }
    }
    writer_done(&w);
    return CZ_OK;
}

enum cz_status cz_digest_compare_trace(const struct cz_r1cs *r1cs, const uint8_t *trace, size_t len,
                                       struct cz_error *err) {
    size_t ours = 2 * (size_t)r1cs->num_constraints;
    uint8_t *out = cz_malloc_array(ours + 2, 1);
    if (!out) return cz_error_set(err, CZ_ERR_MEMORY, "trace");
    enum cz_status status = cz_digest_trace(out, r1cs);
    if (status) {
        cz_free(out);
        return cz_error_set(err, status, "trace");
    }
    size_t at = 0, common = ours < len ? ours : len;
    while (at + 2 <= common && !memcmp(out + at, trace + at, 2)) at += 2;
    cz_free(out);
    if (at + 2 <= common) {
        uint32_t row = (uint32_t)(at / 2);
        const struct cz_r1cs_instance *inst = &r1cs->instance[cz_r1cs_instance_of_row(r1cs, row)];
        char *text = NULL;
        if (cz_digest_row_text(&text, r1cs, row)) text = NULL;
        status = cz_error_set(err, CZ_ERR_MISMATCH, "constraint %u (%s, its constraint %u) differs: %.250s", row,
                              r1cs->tmpl[inst->template_id].name, row - inst->first_constraint, text ? text : "");
        cz_free(text);
        return status;
    }
    if (ours != len)
        return cz_error_set(err, CZ_ERR_LENGTH, "%u constraints, the trace has %zu", r1cs->num_constraints, len / 2);
    return CZ_OK;
}

/* "-1", "5", "0x1f…": small values in decimal, and -1 as itself. */
static size_t coef_text(char *out, size_t room, const struct cz_fr *v) {
    uint64_t limb[4];
    struct cz_fr neg;
    cz_fr_neg(&neg, v);
    if (cz_fr_eq(&neg, &CZ_FR_ONE)) return (size_t)snprintf(out, room, "-1");
    cz_fr_to_limbs(limb, v);
    if (!(limb[1] | limb[2] | limb[3]) && limb[0] == 1) return (size_t)snprintf(out, room, "1");
    int top = 3;
    while (top && !limb[top]) top--;
    size_t n = (size_t)snprintf(out, room, "0x%llx", (unsigned long long)limb[top]);
    while (top--) n += (size_t)snprintf(out + n, room - n, "%016llx", (unsigned long long)limb[top]);
    return n;
}

enum cz_status cz_digest_row_text(char **out, const struct cz_r1cs *r1cs, uint32_t row) {
    const struct cz_r1cs_instance *inst = &r1cs->instance[cz_r1cs_instance_of_row(r1cs, row)];
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    uint32_t k = row - inst->first_constraint, longest = 0;
    for (int m = 0; m < 3; m++)
        if (t->row[m][k + 1] - t->row[m][k] > longest) longest = t->row[m][k + 1] - t->row[m][k];
    size_t room = 16 + 3 * 84 * ((size_t)longest + 1), n = 0;
    struct cz_r1cs_var_term *terms = cz_malloc_array((size_t)longest + 1, sizeof *terms);
    char *text = cz_malloc_array(room, 1);
    if (!terms || !text) {
        cz_free(terms);
        cz_free(text);
        return CZ_ERR_MEMORY;
    }
    for (int m = 0; m < 3; m++) {
        uint32_t count = cz_r1cs_row(terms, r1cs, inst, m, k);
        if (m) n += (size_t)snprintf(text + n, room - n, " ; ");
        for (uint32_t i = 0; i < count; i++) {
            cz_r1cs_var var = terms[i].var;
            n += (size_t)snprintf(text + n, room - n, "%s%c%u*", i ? " " : "", var & CZ_R1CS_INPUT ? 'I' : 'A',
                                  var & ~CZ_R1CS_INPUT);
            n += coef_text(text + n, room - n, &r1cs->coef[terms[i].coef]);
        }
    }
    text[n] = 0;
    cz_free(terms);
    *out = text;
    return CZ_OK;
}
