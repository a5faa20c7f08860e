#ifndef CUZK_FIELD_SAFEGCD_H
#define CUZK_FIELD_SAFEGCD_H

/*
 * Modular inverse by division steps (Bernstein, Yang: "Fast constant-time gcd computation and modular inversion", 2019,
 * §8-11; the variant that starts at delta = 1/2 is by Wuille). Constant time: the number of steps is fixed.
 *
 * Numbers are n limbs of 62 bits, low to high, the top one signed. Invariants: f·s = d·x and g·s = e·x modulo m for the
 * start value s of e; so that when g = 0 and f = ±1, d = ±s/x. Private to src/field; n is a constant wherever it is
 * inlined.
 */

#include <stdint.h>

#define SAFEGCD_MAX 7
#define SAFEGCD_MASK (UINT64_MAX >> 2)

#define SAFEGCD_INLINE static inline __attribute__((always_inline))

struct safegcd_modulus {
    int64_t m[SAFEGCD_MAX];     /* the modulus */
    int64_t start[SAFEGCD_MAX]; /* s, below the modulus */
    uint64_t inverse;           /* 1/m mod 2^62 */
};

/* 62 steps as a matrix: (f, g) becomes (u·f + v·g, q·f + r·g)/2^62. */
struct safegcd_matrix {
    int64_t u, v, q, r;
};

/*
 * eta is -(delta + 1/2), so its sign says whether delta is positive. A step with delta positive and g odd is
 * (f, g) = (g, (g - f)/2); another is (f, (g + (g mod 2)·f)/2). f, u, v are doubled where g, q, r would be halved.
 */
SAFEGCD_INLINE int64_t safegcd_steps(struct safegcd_matrix *t, int64_t eta, uint64_t f, uint64_t g) {
    uint64_t u = 1, v = 0, q = 0, r = 1;
    for (int i = 0; i < 62; i++) {
        uint64_t positive = (uint64_t)(eta >> 63), odd = (uint64_t)0 - (g & 1);
        g += ((f ^ positive) - positive) & odd;
        q += ((u ^ positive) - positive) & odd;
        r += ((v ^ positive) - positive) & odd;
        uint64_t swap = positive & odd;
        eta = (eta ^ (int64_t)swap) - 1;
        f += g & swap;
        u += q & swap;
        v += r & swap;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    *t = (struct safegcd_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

SAFEGCD_INLINE void safegcd_update_fg(int64_t *f, int64_t *g, const struct safegcd_matrix *t, int n) {
    __int128 cf = (__int128)t->u * f[0] + (__int128)t->v * g[0];
    __int128 cg = (__int128)t->q * f[0] + (__int128)t->r * g[0];
    cf >>= 62; /* the low 62 bits are zero by construction */
    cg >>= 62;
#pragma GCC unroll 7
    for (int i = 1; i < n; i++) {
        cf += (__int128)t->u * f[i] + (__int128)t->v * g[i];
        cg += (__int128)t->q * f[i] + (__int128)t->r * g[i];
        f[i - 1] = (int64_t)((uint64_t)cf & SAFEGCD_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & SAFEGCD_MASK);
        cf >>= 62;
        cg >>= 62;
    }
    f[n - 1] = (int64_t)cf;
    g[n - 1] = (int64_t)cg;
}

/*
 * The same for (d, e), modulo m: multiples of m make the division exact and keep both in (-2m, m). kd and ke count m:
 * first what lifts a negative d or e by m, then what clears the low 62 bits.
 */
SAFEGCD_INLINE void safegcd_update_de(int64_t *d, int64_t *e, const struct safegcd_matrix *t,
                                      const struct safegcd_modulus *mod, int n) {
    const int64_t d_negative = d[n - 1] >> 63, e_negative = e[n - 1] >> 63;
    int64_t kd = (t->u & d_negative) + (t->v & e_negative);
    int64_t ke = (t->q & d_negative) + (t->r & e_negative);
    __int128 cd = (__int128)t->u * d[0] + (__int128)t->v * e[0];
    __int128 ce = (__int128)t->q * d[0] + (__int128)t->r * e[0];
    kd -= (int64_t)((mod->inverse * (uint64_t)cd + (uint64_t)kd) & SAFEGCD_MASK);
    ke -= (int64_t)((mod->inverse * (uint64_t)ce + (uint64_t)ke) & SAFEGCD_MASK);
    cd = (cd + (__int128)mod->m[0] * kd) >> 62;
    ce = (ce + (__int128)mod->m[0] * ke) >> 62;
#pragma GCC unroll 7
    for (int i = 1; i < n; i++) {
        cd += (__int128)t->u * d[i] + (__int128)t->v * e[i] + (__int128)mod->m[i] * kd;
        ce += (__int128)t->q * d[i] + (__int128)t->r * e[i] + (__int128)mod->m[i] * ke;
        d[i - 1] = (int64_t)((uint64_t)cd & SAFEGCD_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & SAFEGCD_MASK);
        cd >>= 62;
        ce >>= 62;
    }
    d[n - 1] = (int64_t)cd;
    e[n - 1] = (int64_t)ce;
}

/* d += m when d is negative, limbs carried. */
SAFEGCD_INLINE void safegcd_lift(int64_t *d, const struct safegcd_modulus *mod, int n) {
    const int64_t negative = d[n - 1] >> 63;
    int64_t carry = 0;
#pragma GCC unroll 7
    for (int i = 0; i < n - 1; i++) {
        int64_t sum = d[i] + (mod->m[i] & negative) + carry;
        carry = sum >> 62;
        d[i] = (int64_t)((uint64_t)sum & SAFEGCD_MASK);
    }
    d[n - 1] += (mod->m[n - 1] & negative) + carry;
}

/** out = start/in mod m, both of `words` 64-bit limbs, in < m odd; 0 gives 0. `rounds` times 62 steps must suffice. */
SAFEGCD_INLINE void safegcd_invert(uint64_t *out, const uint64_t *in, const struct safegcd_modulus *mod, int words,
                                   int n, int rounds) {
    int64_t d[SAFEGCD_MAX] = {0}, e[SAFEGCD_MAX], f[SAFEGCD_MAX], g[SAFEGCD_MAX], eta = -1;
#pragma GCC unroll 7
    for (int i = 0; i < n; i++) {
        int word = 62 * i / 64, offset = 62 * i % 64;
        uint64_t x = word < words ? in[word] >> offset : 0;
        if (offset > 2 && word + 1 < words) x |= in[word + 1] << (64 - offset);
        g[i] = (int64_t)(x & SAFEGCD_MASK);
        f[i] = mod->m[i];
        e[i] = mod->start[i];
    }
    for (int i = 0; i < rounds; i++) {
        struct safegcd_matrix t;
        eta = safegcd_steps(&t, eta, (uint64_t)f[0] | (uint64_t)f[1] << 62, (uint64_t)g[0] | (uint64_t)g[1] << 62);
        safegcd_update_de(d, e, &t, mod, n);
        safegcd_update_fg(f, g, &t, n);
    }
    safegcd_lift(d, mod, n);
    const int64_t flip = f[n - 1] >> 63;
#pragma GCC unroll 7
    for (int i = 0; i < n; i++) d[i] = (d[i] ^ flip) - flip;
    int64_t carry = 0;
#pragma GCC unroll 7
    for (int i = 0; i < n - 1; i++) {
        int64_t sum = d[i] + carry;
        carry = sum >> 62;
        d[i] = (int64_t)((uint64_t)sum & SAFEGCD_MASK);
    }
    d[n - 1] += carry;
    safegcd_lift(d, mod, n);
#pragma GCC unroll 7
    for (int i = 0; i < words; i++) {
        int limb = 64 * i / 62, offset = 64 * i % 62;
        out[i] = (uint64_t)d[limb] >> offset | (limb + 1 < n ? (uint64_t)d[limb + 1] << (62 - offset) : 0);
    }
}

#endif
