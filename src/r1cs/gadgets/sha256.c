#include "r1cs/gadgets/sha256.h"

#include "base/bytes.h"
#include "hash/sha256.h"

#include <string.h>

/* A word: 32 Booleans, least significant first. */
struct word {
    cz_bit bit[32];
};

/* The sum of up to 10 words that is not reduced yet. */
struct list {
    struct word word[8];
    unsigned num;
};

struct recording {
    struct cz_recorder *r;
    struct cz_sha256_plan *plan; /* or NULL */
    unsigned used;               /* bits in the open packed equality */
};

/* A packed equality holds fewer bits than this. */
#define CAPACITY 254

static void plan_op(struct recording *s, uint64_t mask, uint32_t flip) {
    struct cz_sha256_plan *plan = s->plan;
    if (!plan || plan->num_ops == CZ_SHA256_MAX_OPS) return;
    plan->op[plan->num_ops++] = (struct cz_sha256_op){
        .mask = mask,
        .flip = flip,
        .num = (uint8_t)__builtin_popcountll(mask),
        .low = !(mask & (mask + 1)),
    };
}

static struct word word_const(uint32_t v) {
    struct word w;
    for (unsigned i = 0; i < 32; i++) w.bit[i] = v >> i & 1;
    return w;
}

static struct word word_rotr(const struct word *w, unsigned k) {
    struct word out;
    for (unsigned i = 0; i < 32; i++) out.bit[i] = w->bit[(i + k) % 32];
    return out;
}

static struct word word_shr(const struct word *w, unsigned k) {
    struct word out;
    for (unsigned i = 0; i < 32; i++) out.bit[i] = i + k < 32 ? w->bit[i + k] : CZ_BIT_FALSE;
    return out;
}

static struct word word_xor(struct recording *s, const struct word *a, const struct word *b) {
    struct word out;
    uint64_t mask = 0;
    uint32_t flip = 0;
    for (unsigned i = 0; i < 32; i++) {
        out.bit[i] = cz_recorder_xor(s->r, a->bit[i], b->bit[i]);
        if (cz_bit_is_const(a->bit[i]) || cz_bit_is_const(b->bit[i])) continue;
        mask |= 1ull << i;
        flip |= (out.bit[i] & 1u) << i;
    }
    plan_op(s, mask, flip);
    return out;
}

/* rotr(a) ^ rotr(b) ^ (rotr or shr)(c) */
static struct word sigma(struct recording *s, const struct word *w, unsigned a, unsigned b, unsigned c, bool shift) {
    struct word x = word_rotr(w, a), y = word_rotr(w, b), z = shift ? word_shr(w, c) : word_rotr(w, c);
    x = word_xor(s, &x, &y);
    return word_xor(s, &x, &z);
}

/* (a and b) xor (not a and c) */
static cz_bit record_ch(struct cz_recorder *r, cz_bit a, cz_bit b, cz_bit c) {
    if (cz_bit_is_const(a) && cz_bit_is_const(b) && cz_bit_is_const(c)) return a == CZ_BIT_TRUE ? b : c;
    if (a == CZ_BIT_FALSE) return c;
    if (b == CZ_BIT_FALSE) return cz_recorder_and(r, a ^ 1, c);
    if (c == CZ_BIT_FALSE) return cz_recorder_and(r, a, b);
    if (c == CZ_BIT_TRUE) return cz_recorder_and(r, a, b ^ 1) ^ 1;
    if (b == CZ_BIT_TRUE) return cz_recorder_and(r, a ^ 1, c ^ 1) ^ 1;
    cz_bit ch = cz_bit_is(cz_recorder_bit(r));
    cz_recorder_add_bit(r, &r->a, b, 0, false);
    cz_recorder_add_bit(r, &r->a, c, 0, true);
    cz_recorder_add_bit(r, &r->b, a, 0, false);
    cz_recorder_add_bit(r, &r->c, ch, 0, false);
    cz_recorder_add_bit(r, &r->c, c, 0, true);
    cz_recorder_enforce(r);
    return ch;
}

/* The majority; the last rule allocates two bits, maj before b and c. */
static cz_bit record_maj(struct cz_recorder *r, cz_bit a, cz_bit b, cz_bit c) {
    if (cz_bit_is_const(a) && cz_bit_is_const(b) && cz_bit_is_const(c)) return (a & b) | (a & c) | (b & c);
    if (a == CZ_BIT_FALSE) return cz_recorder_and(r, b, c);
    if (b == CZ_BIT_FALSE) return cz_recorder_and(r, a, c);
    if (c == CZ_BIT_FALSE) return cz_recorder_and(r, a, b);
    if (c == CZ_BIT_TRUE) return cz_recorder_and(r, a ^ 1, b ^ 1) ^ 1;
    if (b == CZ_BIT_TRUE) return cz_recorder_and(r, a ^ 1, c ^ 1) ^ 1;
    if (a == CZ_BIT_TRUE) return cz_recorder_and(r, b ^ 1, c ^ 1) ^ 1;
    cz_bit maj = cz_bit_is(cz_recorder_bit(r)), bc = cz_recorder_and(r, b, c);
    cz_recorder_add_bit(r, &r->a, bc, 1, false);
    cz_recorder_add_bit(r, &r->a, b, 0, true);
    cz_recorder_add_bit(r, &r->a, c, 0, true);
    cz_recorder_add_bit(r, &r->b, a, 0, false);
    cz_recorder_add_bit(r, &r->c, bc, 0, false);
    cz_recorder_add_bit(r, &r->c, maj, 0, true);
    cz_recorder_enforce(r);
    return maj;
}

static struct word word_ch(struct recording *s, const struct word *a, const struct word *b, const struct word *c) {
    struct word out;
    uint64_t mask = 0;
    uint32_t flip = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = s->r->num_local;
        out.bit[i] = record_ch(s->r, a->bit[i], b->bit[i], c->bit[i]);
        if (s->r->num_local == before) continue;
        mask |= 1ull << i;
        flip |= (out.bit[i] & 1u) << i;
    }
    plan_op(s, mask, flip);
    return out;
}

/* The mask has two bits a position: maj, then b and c. */
static struct word word_maj(struct recording *s, const struct word *a, const struct word *b, const struct word *c) {
    struct word out;
    uint64_t mask = 0;
    uint32_t flip = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t before = s->r->num_local;
        out.bit[i] = record_maj(s->r, a->bit[i], b->bit[i], c->bit[i]);
        uint64_t made = s->r->num_local - before; /* 0, 1 or 2 */
        mask |= ((1ull << made) - 1) << (2 * i);
        if (made) flip |= (out.bit[i] & 1u) << i;
    }
    plan_op(s, mask, flip);
    return out;
}

/* The sum modulo 2^32, through as many bits as the unreduced sum can have. */
static struct word add_many(struct recording *s, const struct list *l) {
    bool all_const = true;
    uint32_t sum = 0;
    for (unsigned k = 0; k < l->num; k++)
        for (unsigned i = 0; i < 32; i++) {
            all_const = all_const && cz_bit_is_const(l->word[k].bit[i]);
            sum += (l->word[k].bit[i] & 1u) << i;
        }
    if (all_const) {
        plan_op(s, 0, 0);
        return word_const(sum);
    }
    struct cz_recorder *r = s->r;
    cz_bit bit[40];
    unsigned n = 0;
    for (uint64_t max = l->num * (uint64_t)UINT32_MAX; max; max >>= 1) bit[n++] = cz_recorder_alloc_bit(r);
    if (s->used + n >= CAPACITY) {
        cz_recorder_enforce_equal(r);
        s->used = 0;
    }
    if (!r->dry) {
        for (unsigned k = 0; k < l->num; k++)
            for (unsigned i = 0; i < 32; i++) cz_recorder_add_bit(r, &r->lhs, l->word[k].bit[i], s->used + i, false);
        for (unsigned i = 0; i < n; i++) cz_recorder_add_bit(r, &r->rhs, bit[i], s->used + i, false);
    }
    s->used += n;
    plan_op(s, (1ull << n) - 1, 0);
    struct word out;
    memcpy(out.bit, bit, sizeof out.bit);
    return out;
}

static void push(struct list *l, const struct word *w) {
    l->word[l->num++] = *w;
}

static struct word add_two(struct recording *s, const struct word *a, const struct word *b) {
    struct list l = {.num = 0};
    push(&l, a);
    push(&l, b);
    return add_many(s, &l);
}

static void schedule(struct recording *s, struct word w[64]) {
    for (unsigned i = 16; i < 64; i++) {
        struct word s0 = sigma(s, &w[i - 15], 7, 18, 3, true);
        struct word s1 = sigma(s, &w[i - 2], 17, 19, 10, true);
        struct list l = {.num = 0};
        push(&l, &w[i - 16]);
        push(&l, &s0);
        push(&l, &w[i - 7]);
        push(&l, &s1);
        w[i] = add_many(s, &l);
    }
}

/* cur is replaced by the new state. The sums a and e stay open until their value is needed. */
static void record_compress(struct recording *s, struct word w[64], struct word cur[8]) {
    schedule(s, w);
    struct list a = {.num = 0}, e = {.num = 0};
    push(&a, &cur[0]);
    push(&e, &cur[4]);
    struct word b = cur[1], c = cur[2], d = cur[3], f = cur[5], g = cur[6], h = cur[7];
    for (unsigned i = 0; i < 64; i++) {
        struct word new_e = e.num == 1 ? e.word[0] : add_many(s, &e);
        struct word s1 = sigma(s, &new_e, 6, 11, 25, false);
        struct word ch = word_ch(s, &new_e, &f, &g);
        struct list temp = {.num = 0};
        struct word k = word_const(CZ_SHA256_K[i]);
        push(&temp, &h);
        push(&temp, &s1);
        push(&temp, &ch);
        push(&temp, &k);
        push(&temp, &w[i]);
        struct word new_a = a.num == 1 ? a.word[0] : add_many(s, &a);
        struct word s0 = sigma(s, &new_a, 2, 13, 22, false);
        struct word maj = word_maj(s, &new_a, &b, &c);
        h = g;
        g = f;
        f = new_e;
        e = temp;
        push(&e, &d);
        d = c;
        c = b;
        b = new_a;
        a = temp;
        push(&a, &s0);
        push(&a, &maj);
    }
    push(&a, &cur[0]);
    cur[0] = add_many(s, &a);
    cur[1] = add_two(s, &cur[1], &b);
    cur[2] = add_two(s, &cur[2], &c);
    cur[3] = add_two(s, &cur[3], &d);
    push(&e, &cur[4]);
    cur[4] = add_many(s, &e);
    cur[5] = add_two(s, &cur[5], &f);
    cur[6] = add_two(s, &cur[6], &g);
    cur[7] = add_two(s, &cur[7], &h);
    if (s->used) cz_recorder_enforce_equal(s->r);
}

/* bit: the block's 512, then the state's 256. */
static void record_block(struct cz_recorder *r, struct cz_sha256_plan *plan, const cz_bit *bit) {
    struct recording s = {r, plan, 0};
    struct word w[64], cur[8];
    for (unsigned k = 0; k < 24; k++)
        for (unsigned i = 0; i < 32; i++) (k < 16 ? &w[k] : &cur[k - 16])->bit[i] = bit[32 * k + 31 - i];
    record_compress(&s, w, cur);
    for (unsigned k = 0; k < 8; k++)
        for (unsigned i = 0; i < 32; i++) cz_recorder_output(r, cur[k].bit[31 - i]);
}

static void record(struct cz_recorder *r, const void *ctx) {
    const struct cz_builder_wires *wires = ctx;
    record_block(r, NULL, wires->bit);
}

void cz_sha256_constrain_block(struct cz_builder *b, cz_wire out[256], const cz_wire state[256],
                               const cz_wire block[512]) {
    cz_wire in[768];
    memcpy(in, block, 512 * sizeof *in);
    memcpy(in + 512, state, 256 * sizeof *in);
    cz_builder_place_wires(b, "sha256.block", in, 768, NULL, 0, record, NULL, out, 256);
}

static void word_wires(cz_wire *out, uint32_t v) {
    for (unsigned i = 0; i < 32; i++) out[i] = cz_wire_const(v >> (31 - i) & 1);
}

void cz_sha256_iv_wires(cz_wire out[256]) {
    for (unsigned k = 0; k < 8; k++) word_wires(out + 32 * k, CZ_SHA256_IV[k]);
}

void cz_sha256_constrain(struct cz_builder *b, cz_wire out[256], const cz_wire *message, size_t n) {
    cz_wire block[512], state[256];
    cz_sha256_iv_wires(state);
    size_t blocks = (n + 1 + 64 + 511) / 512;
    for (size_t k = 0; k < blocks; k++) {
        for (size_t i = 0; i < 512; i++) {
            size_t at = 512 * k + i, from_end = 512 * blocks - 1 - at;
            if (at < n)
                block[i] = message[at];
            else if (at == n)
                block[i] = cz_wire_const(true);
            else
                block[i] = cz_wire_const(from_end < 64 && ((uint64_t)n >> from_end & 1));
        }
        cz_sha256_constrain_block(b, state, state, block);
    }
    memcpy(out, state, sizeof state);
}

void cz_sha256_plan_init(struct cz_sha256_plan *plan, const uint32_t variable[24], const uint32_t value[24]) {
    cz_bit bit[768];
    uint32_t n = 0;
    for (unsigned k = 0; k < 24; k++)
        for (unsigned i = 0; i < 32; i++) {
            unsigned shift = 31 - i;
            bool is = variable[k] >> shift & 1;
            bit[32 * k + i] = is ? cz_bit_is(cz_recorder_external(n)) : (value[k] >> shift & 1);
            n += is;
        }
    struct cz_recorder r;
    cz_recorder_init(&r, NULL);
    cz_recorder_start(&r, n);
    plan->num_ops = 0;
    record_block(&r, plan, bit);
    cz_recorder_done(&r);
}

/* The bits of v where mask is set, packed. */
static uint64_t compress_bits(uint64_t v, uint64_t mask) {
    uint64_t out = 0;
    for (unsigned n = 0; mask; mask &= mask - 1, n++) out |= (v >> __builtin_ctzll(mask) & 1) << n;
    return out;
}

static inline void put(struct cz_assign *a, const struct cz_sha256_op **op, uint64_t v) {
    const struct cz_sha256_op *o = (*op)++;
    v ^= o->flip;
    cz_assign_bits(a, o->low ? v & o->mask : compress_bits(v, o->mask), o->num);
}

/* Bit i goes to bit 2·i. */
static inline uint64_t spread(uint64_t v) {
    v = (v | v << 16) & 0x0000ffff0000ffffu;
    v = (v | v << 8) & 0x00ff00ff00ff00ffu;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fu;
    v = (v | v << 2) & 0x3333333333333333u;
    return (v | v << 1) & 0x5555555555555555u;
}

static inline void put_maj(struct cz_assign *a, const struct cz_sha256_op **op, uint32_t maj, uint32_t bc) {
    const struct cz_sha256_op *o = (*op)++;
    uint64_t v = spread(maj ^ o->flip) | spread(bc) << 1;
    cz_assign_bits(a, o->low ? v & o->mask : compress_bits(v, o->mask), o->num);
}

static inline uint32_t rotr(uint32_t v, unsigned k) {
    return v >> k | v << (32 - k);
}

static inline uint32_t put_sigma(struct cz_assign *a, const struct cz_sha256_op **op, uint32_t x, uint32_t y,
                                 uint32_t z) {
    put(a, op, x ^ y);
    put(a, op, x ^ y ^ z);
    return x ^ y ^ z;
}

/* Step by step the same as record_compress, on values. */
void cz_sha256_assign_block(struct cz_assign *out, const struct cz_sha256_plan *plan, uint32_t state[8],
                            const uint8_t block[64]) {
    struct cz_assign local = *out, *as = &local; /* the cursor in registers */
    const struct cz_sha256_op *op = plan->op;
    uint32_t w[64];
    for (unsigned i = 0; i < 16; i++) w[i] = cz_load_be32(block + 4 * i);
    for (unsigned i = 16; i < 64; i++) {
        uint32_t x = w[i - 15], y = w[i - 2];
        uint32_t s0 = put_sigma(as, &op, rotr(x, 7), rotr(x, 18), x >> 3);
        uint32_t s1 = put_sigma(as, &op, rotr(y, 17), rotr(y, 19), y >> 10);
        uint64_t sum = (uint64_t)w[i - 16] + s0 + w[i - 7] + s1;
        put(as, &op, sum);
        w[i] = (uint32_t)sum;
    }
    /* a and e as unreduced sums */
    uint64_t a = state[0], e = state[4];
    uint32_t b = state[1], c = state[2], d = state[3], f = state[5], g = state[6], h = state[7];
    for (unsigned i = 0; i < 64; i++) {
        if (i) put(as, &op, e);
        uint32_t new_e = (uint32_t)e;
        uint32_t s1 = put_sigma(as, &op, rotr(new_e, 6), rotr(new_e, 11), rotr(new_e, 25));
        uint32_t ch = (new_e & f) ^ (~new_e & g);
        put(as, &op, ch);
        uint64_t temp = (uint64_t)h + s1 + ch + CZ_SHA256_K[i] + w[i];
        if (i) put(as, &op, a);
        uint32_t new_a = (uint32_t)a;
        uint32_t s0 = put_sigma(as, &op, rotr(new_a, 2), rotr(new_a, 13), rotr(new_a, 22));
        uint32_t maj = (new_a & b) | (new_a & c) | (b & c);
        put_maj(as, &op, maj, b & c);
        h = g;
        g = f;
        f = new_e;
        e = temp + d;
        d = c;
        c = b;
        b = new_a;
        a = temp + s0 + maj;
    }
    uint64_t sum[8] = {a + state[0], (uint64_t)b + state[1], (uint64_t)c + state[2], (uint64_t)d + state[3],
                       e + state[4], (uint64_t)f + state[5], (uint64_t)g + state[6], (uint64_t)h + state[7]};
    for (unsigned k = 0; k < 8; k++) {
        put(as, &op, sum[k]);
        state[k] = (uint32_t)sum[k];
    }
    *out = local;
}
