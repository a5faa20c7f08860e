#include "r1cs/recorder.h"

#include "base/bytes.h"

#include <string.h>

/* Grows an array to at least `need` elements of `size` bytes, zeroing what is new; false when memory is out. */
static bool grow(void **array, uint32_t *cap, uint32_t need, size_t size) {
    if (need <= *cap) return true;
    uint32_t next = *cap ? *cap : 64;
    while (next < need) {
        if (next > UINT32_MAX / 2) return false;
        next *= 2;
    }
    void *p = cz_calloc(next, size);
    if (!p) return false;
    if (*cap) memcpy(p, *array, *cap * size);
    cz_free(*array);
    *array = p;
    *cap = next;
    return true;
}

static uint32_t hash_fr(const struct cz_fr *v) {
    uint64_t h = v->l[0] * 0x9e3779b97f4a7c15u ^ v->l[1] * 0xc2b2ae3d27d4eb4fu;
    h ^= (v->l[2] * 0x165667b19e3779f9u) ^ (v->l[3] * 0xd6e8feb86659fd93u);
    h *= 0x2545f4914f6cdd1du;
    return (uint32_t)(h >> 32);
}

static bool coefs_rehash(struct cz_coefs *c, uint32_t slots) {
    uint32_t *slot = cz_calloc(slots, sizeof *slot);
    if (!slot) return false;
    for (uint32_t i = 0; i < c->num; i++) {
        uint32_t at = hash_fr(&c->coef[i]) & (slots - 1);
        while (slot[at]) at = (at + 1) & (slots - 1);
        slot[at] = i + 1;
    }
    cz_free(c->slot);
    c->slot = slot;
    c->slot_mask = slots - 1;
    return true;
}

uint32_t cz_coefs_intern(struct cz_coefs *c, const struct cz_fr *value) {
    if (c->failed) return CZ_R1CS_COEF_ZERO; /* the table may be full */
    uint32_t at = hash_fr(value) & c->slot_mask;
    for (; c->slot[at]; at = (at + 1) & c->slot_mask)
        if (cz_fr_eq(&c->coef[c->slot[at] - 1], value)) return c->slot[at] - 1;
    if (!grow((void **)&c->coef, &c->cap, c->num + 1, sizeof *c->coef)) {
        c->failed = true;
        return CZ_R1CS_COEF_ZERO;
    }
    c->coef[c->num++] = *value;
    c->slot[at] = c->num;
    if (c->num > c->slot_mask / 2 && !coefs_rehash(c, (c->slot_mask + 1) * 2)) c->failed = true;
    return c->num - 1;
}

enum cz_status cz_coefs_init(struct cz_coefs *c) {
    memset(c, 0, sizeof *c);
    if (!coefs_rehash(c, 1u << 13)) return CZ_ERR_MEMORY;
    struct cz_fr v = CZ_FR_ONE, neg;
    cz_coefs_intern(c, &CZ_FR_ZERO);
    for (unsigned k = 0; k < CZ_FR_BITS; k++) {
        c->pow[k] = cz_coefs_intern(c, &v);
        cz_fr_neg(&neg, &v);
        c->neg_pow[k] = cz_coefs_intern(c, &neg);
        cz_fr_dbl(&v, &v);
    }
    if (c->failed) {
        cz_coefs_done(c);
        return CZ_ERR_MEMORY;
    }
    return CZ_OK;
}

void cz_coefs_done(struct cz_coefs *c) {
    cz_free(c->coef);
    cz_free(c->slot);
    memset(c, 0, sizeof *c);
}

void cz_recorder_init(struct cz_recorder *r, struct cz_coefs *coefs) {
    memset(r, 0, sizeof *r);
    r->coefs = coefs;
    r->dry = !coefs;
}

static void lc_done(struct cz_lc *lc) {
    cz_free(lc->term);
    cz_free(lc->pos);
}

void cz_recorder_done(struct cz_recorder *r) {
    for (int m = 0; m < 3; m++) {
        cz_free(r->row[m]);
        cz_free(r->term[m]);
    }
    cz_free(r->is_bit);
    cz_free(r->is_square);
    cz_free(r->sort);
    cz_free(r->out);
    lc_done(&r->a);
    lc_done(&r->b);
    lc_done(&r->c);
    lc_done(&r->lhs);
    lc_done(&r->rhs);
    memset(r, 0, sizeof *r);
}

void cz_recorder_start(struct cz_recorder *r, uint32_t num_external) {
    r->num_external = num_external;
    r->num_local = r->num_constraints = r->num_bits = r->num_squares = r->num_out = 0;
    memset(r->num_terms, 0, sizeof r->num_terms);
    if (r->is_bit_cap) memset(r->is_bit, 0, r->is_bit_cap * sizeof *r->is_bit);
    if (r->is_square_cap) memset(r->is_square, 0, r->is_square_cap * sizeof *r->is_square);
}

uint32_t cz_recorder_elem(struct cz_recorder *r) {
    uint32_t local = r->num_local++;
    if (!r->dry && !grow((void **)&r->is_bit, &r->is_bit_cap, local / 64 + 1, sizeof *r->is_bit)) r->failed = true;
    return r->num_external + 1 + local;
}

uint32_t cz_recorder_square(struct cz_recorder *r) {
    uint32_t local = r->num_local, root = local - 1, col = cz_recorder_elem(r);
    r->num_squares++;
    if (r->dry || r->failed) return col;
    if (local == 0 || r->is_bit[root / 64] >> (root % 64) & 1 || cz_recorder_is_square(r, root) ||
        !grow((void **)&r->is_square, &r->is_square_cap, local / 64 + 1, sizeof *r->is_square)) {
        r->failed = true;
        return col;
    }
    r->is_square[local / 64] |= 1ull << (local % 64);
    return col;
}

uint32_t cz_recorder_bit(struct cz_recorder *r) {
    uint32_t local = r->num_local, col = cz_recorder_elem(r);
    r->num_bits++;
    if (!r->dry && !r->failed) r->is_bit[local / 64] |= 1ull << (local % 64);
    return col;
}

cz_bit cz_recorder_alloc_bit(struct cz_recorder *r) {
    cz_bit x = cz_bit_is(cz_recorder_bit(r));
    cz_recorder_add_bit(r, &r->a, x ^ 1, 0, false);
    cz_recorder_add_bit(r, &r->b, x, 0, false);
    cz_recorder_enforce(r);
    return x;
}

void cz_recorder_output(struct cz_recorder *r, cz_bit bit) {
    if (r->dry) return;
    if (!grow((void **)&r->out, &r->out_cap, r->num_out + 1, sizeof *r->out)) {
        r->failed = true;
        return;
    }
    r->out[r->num_out++] = bit;
}

void cz_recorder_add(struct cz_recorder *r, struct cz_lc *lc, uint32_t col, uint32_t coef) {
    if (r->dry || r->failed) return;
    if (col == 0) {
        cz_fr_add(&lc->one, &lc->one, &r->coefs->coef[coef]);
        return;
    }
    if (!grow((void **)&lc->pos, &lc->pos_cap, col + 1, sizeof *lc->pos) ||
        !grow((void **)&lc->term, &lc->cap, lc->num + 1, sizeof *lc->term)) {
        r->failed = true;
        return;
    }
    uint32_t at = lc->pos[col];
    if (at < lc->num && lc->term[at].col == col) {
        struct cz_fr sum;
        cz_fr_add(&sum, &r->coefs->coef[lc->term[at].coef], &r->coefs->coef[coef]);
        lc->term[at].coef = cz_coefs_intern(r->coefs, &sum);
        return;
    }
    lc->pos[col] = lc->num;
    lc->term[lc->num++] = (struct cz_r1cs_term){col, coef};
}

void cz_recorder_add_fr(struct cz_recorder *r, struct cz_lc *lc, uint32_t col, const struct cz_fr *coef) {
    if (r->dry || r->failed) return;
    if (col == 0)
        cz_fr_add(&lc->one, &lc->one, coef);
    else
        cz_recorder_add(r, lc, col, cz_coefs_intern(r->coefs, coef));
}

void cz_recorder_add_bit(struct cz_recorder *r, struct cz_lc *lc, cz_bit bit, unsigned k, bool negative) {
    if (r->dry) return;
    uint32_t plus = negative ? r->coefs->neg_pow[k] : r->coefs->pow[k];
    uint32_t minus = negative ? r->coefs->pow[k] : r->coefs->neg_pow[k];
    switch (bit & 3) {
    case CZ_BIT_FALSE:
        break;
    case CZ_BIT_TRUE:
        cz_recorder_add(r, lc, 0, plus);
        break;
    case CZ_BIT_IS:
        cz_recorder_add(r, lc, cz_bit_col(bit), plus);
        break;
    case CZ_BIT_NOT:
        cz_recorder_add(r, lc, 0, plus);
        cz_recorder_add(r, lc, cz_bit_col(bit), minus);
        break;
    }
}

/* Sorts by column. Long rows (a MultiEq gathers some 1,500 terms) go through a byte-wise radix sort. */
static bool sort_terms(struct cz_recorder *r, struct cz_r1cs_term *t, uint32_t n) {
    if (n <= 48) {
        for (uint32_t i = 1; i < n; i++) {
            struct cz_r1cs_term x = t[i];
            uint32_t j = i;
            for (; j && t[j - 1].col > x.col; j--) t[j] = t[j - 1];
            t[j] = x;
        }
        return true;
    }
    if (!grow((void **)&r->sort, &r->sort_cap, n, sizeof *r->sort)) return false;
    uint32_t top = r->num_external + r->num_local;
    struct cz_r1cs_term *from = t, *to = r->sort;
    for (unsigned shift = 0; shift < 32 && top >> shift; shift += 8) {
        uint32_t count[257] = {0};
        for (uint32_t i = 0; i < n; i++) count[(from[i].col >> shift & 255) + 1]++;
        for (unsigned d = 0; d < 256; d++) count[d + 1] += count[d];
        for (uint32_t i = 0; i < n; i++) to[count[from[i].col >> shift & 255]++] = from[i];
        struct cz_r1cs_term *swap = from;
        from = to;
        to = swap;
    }
    if (from != t) memcpy(t, from, n * sizeof *t);
    return true;
}

static void emit(struct cz_recorder *r, int m, struct cz_lc *lc) {
    uint32_t n = r->num_terms[m];
    if (lc->num > UINT32_MAX - 2 - n ||
        !grow((void **)&r->term[m], &r->term_cap[m], n + lc->num + 1, sizeof *r->term[m]) ||
        !sort_terms(r, lc->term, lc->num)) {
        r->failed = true;
        return;
    }
    struct cz_r1cs_term *out = r->term[m];
    if (!cz_fr_is_zero(&lc->one)) out[n++] = (struct cz_r1cs_term){0, cz_coefs_intern(r->coefs, &lc->one)};
    for (uint32_t i = 0; i < lc->num; i++)
        if (lc->term[i].coef != CZ_R1CS_COEF_ZERO) out[n++] = lc->term[i];
    r->num_terms[m] = n;
    r->row[m][r->num_constraints] = n;
    lc->num = 0;
    lc->one = CZ_FR_ZERO;
}

static void enforce(struct cz_recorder *r, struct cz_lc *a, struct cz_lc *b, struct cz_lc *c) {
    uint32_t k = ++r->num_constraints;
    if (r->dry || r->failed) return;
    for (int m = 0; m < 3; m++) {
        uint32_t cap = r->row_cap;
        if (!grow((void **)&r->row[m], &cap, k + 1, sizeof *r->row[m])) {
            r->failed = true;
            return;
        }
        if (m == 2) r->row_cap = cap;
    }
    emit(r, 0, a);
    emit(r, 1, b);
    emit(r, 2, c);
}

void cz_recorder_enforce(struct cz_recorder *r) {
    enforce(r, &r->a, &r->b, &r->c);
}

void cz_recorder_enforce_equal(struct cz_recorder *r) {
    cz_recorder_add(r, &r->b, 0, CZ_R1CS_COEF_ONE);
    enforce(r, &r->lhs, &r->b, &r->rhs);
}

cz_bit cz_recorder_xor(struct cz_recorder *r, cz_bit a, cz_bit b) {
    if (cz_bit_is_const(a)) return b ^ (a & 1);
    if (cz_bit_is_const(b)) return a ^ (b & 1);
    unsigned flip = (a ^ b) & 1;
    if (flip && (a & 3) == CZ_BIT_NOT) { /* the plain operand goes first */
        cz_bit swap = a;
        a = b;
        b = swap;
    }
    cz_bit x = cz_bit_is(cz_bit_col(a)), y = cz_bit_is(cz_bit_col(b)), c = cz_bit_is(cz_recorder_bit(r));
    cz_recorder_add_bit(r, &r->a, x, 1, false);
    cz_recorder_add_bit(r, &r->b, y, 0, false);
    cz_recorder_add_bit(r, &r->c, x, 0, false);
    cz_recorder_add_bit(r, &r->c, y, 0, false);
    cz_recorder_add_bit(r, &r->c, c, 0, true);
    cz_recorder_enforce(r);
    return c ^ flip;
}

cz_bit cz_recorder_and(struct cz_recorder *r, cz_bit a, cz_bit b) {
    if (a == CZ_BIT_FALSE || b == CZ_BIT_FALSE) return CZ_BIT_FALSE;
    if (a == CZ_BIT_TRUE) return b;
    if (b == CZ_BIT_TRUE) return a;
    if ((a & 3) == CZ_BIT_NOT && (b & 3) == CZ_BIT_IS) { /* the plain operand goes first */
        cz_bit swap = a;
        a = b;
        b = swap;
    }
    cz_bit c = cz_bit_is(cz_recorder_bit(r));
    cz_recorder_add_bit(r, &r->a, a, 0, false);
    cz_recorder_add_bit(r, &r->b, b, 0, false);
    cz_recorder_add_bit(r, &r->c, c, 0, false);
    cz_recorder_enforce(r);
    return c;
}
