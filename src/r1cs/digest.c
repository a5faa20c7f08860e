#include "r1cs/digest.h"

#include "base/bytes.h"
#include "r1cs/r1cs_int.h"

#include <openssl/evp.h>
#include <string.h>

#define TERM_BYTES 41
#define CHUNK (1u << 16)

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

static size_t write_constraint(struct writer *w, uint8_t *p, const struct cz_r1cs_instance *inst, uint32_t k) {
    uint8_t *start = p;
    for (int m = 0; m < 3; m++) {
        uint32_t n = cz_r1cs_row(w->row, w->r1cs, inst, m, k);
        cz_store_be64(p, n);
        p += 8;
        for (uint32_t i = 0; i < n; i++, p += TERM_BYTES) {
            cz_r1cs_var var = w->row[i].var;
            p[0] = var & CZ_R1CS_INPUT ? 'I' : 'A';
            cz_store_be64(p + 1, var & ~CZ_R1CS_INPUT);
            memcpy(p + 9, w->coef[w->row[i].coef], 32);
        }
    }
    return (size_t)(p - start);
}

enum cz_status cz_digest_r1cs(uint8_t out[32], const struct cz_r1cs *r1cs) {
    struct writer w;
    enum cz_status status = writer_init(&w, r1cs);
    if (status) return status;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t digest[EVP_MAX_MD_SIZE];
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_blake2s256(), NULL);
    cz_store_be64(w.buf, r1cs->num_inputs);
    cz_store_be64(w.buf + 8, r1cs->num_aux);
    cz_store_be64(w.buf + 16, r1cs->num_constraints);
    size_t fill = 24;
    for (uint32_t i = 0; ok && i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        uint32_t n = r1cs->tmpl[inst->template_id].num_constraints;
        for (uint32_t k = 0; ok && k < n; k++) {
            fill += write_constraint(&w, w.buf + fill, inst, k);
            if (fill < CHUNK) continue;
            ok = EVP_DigestUpdate(ctx, w.buf, fill);
            fill = 0;
        }
    }
    ok = ok && EVP_DigestUpdate(ctx, w.buf, fill) && EVP_DigestFinal_ex(ctx, digest, NULL);
    if (ok) memcpy(out, digest, 32);
    EVP_MD_CTX_free(ctx);
    writer_done(&w);
    return ok ? CZ_OK : CZ_ERR_INTERNAL;
}

enum cz_status cz_digest_trace(uint8_t *out, const struct cz_r1cs *r1cs) {
    struct writer w;
    enum cz_status status = writer_init(&w, r1cs);
    if (status) return status;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    uint8_t digest[EVP_MAX_MD_SIZE];
    bool ok = ctx && EVP_DigestInit_ex(ctx, EVP_blake2s256(), NULL);
    for (uint32_t i = 0; ok && i < r1cs->num_instances; i++) {
        const struct cz_r1cs_instance *inst = &r1cs->instance[i];
        uint32_t n = r1cs->tmpl[inst->template_id].num_constraints;
        for (uint32_t k = 0; ok && k < n; k++) {
            size_t len = write_constraint(&w, w.buf, inst, k);
            ok = EVP_DigestInit_ex(ctx, NULL, NULL) && EVP_DigestUpdate(ctx, w.buf, len) &&
                 EVP_DigestFinal_ex(ctx, digest, NULL);
            if (ok) memcpy(out + 2 * ((size_t)inst->first_constraint + k), digest, 2);
        }
    }
    EVP_MD_CTX_free(ctx);
    writer_done(&w);
    return ok ? CZ_OK : CZ_ERR_INTERNAL;
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
