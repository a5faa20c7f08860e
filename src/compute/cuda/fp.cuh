// Base field of BLS12-381 on the device: 12 limbs of 32 bits, Montgomery form with R = 2^384: the bytes of struct
// cz_fp. Values are canonical (< p) unless a name says _raw: then the bound stands at the function; 9 p still fits 384
// bits. The same source runs on the host with an emulated carry flag, so that tests need no GPU (tests/unit/compute).
#ifndef CUZK_COMPUTE_CUDA_FP_CUH
#define CUZK_COMPUTE_CUDA_FP_CUH

#include <cstdint>

#define HD __host__ __device__ __forceinline__

struct alignas(16) fp {
    uint32_t v[12];
};

#ifndef __CUDA_ARCH__
static thread_local uint32_t emu_cc;
#endif

// One PTX instruction each; ptxas fuses a mad.lo.cc / madc.hi.cc pair into one IMAD.WIDE.U32(.X).
#ifdef __CUDA_ARCH__
#define CZ_OP2(name, ins)                                                                                              \
    HD uint32_t name(uint32_t a, uint32_t b) {                                                                         \
        uint32_t d;                                                                                                    \
        asm volatile(ins " %0, %1, %2;" : "=r"(d) : "r"(a), "r"(b));                                                   \
        return d;                                                                                                      \
    }
#define CZ_OP3(name, ins)                                                                                              \
    HD uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                                             \
        uint32_t d;                                                                                                    \
        asm volatile(ins " %0, %1, %2, %3;" : "=r"(d) : "r"(a), "r"(b), "r"(c));                                       \
        return d;                                                                                                      \
    }
CZ_OP2(add_cc, "add.cc.u32")
CZ_OP2(addc_cc, "addc.cc.u32")
CZ_OP2(addc, "addc.u32")
CZ_OP2(sub_cc, "sub.cc.u32")
CZ_OP2(subc_cc, "subc.cc.u32") CZ_OP2(subc, "subc.u32") CZ_OP3(mad_lo_cc, "mad.lo.cc.u32")
    CZ_OP3(madc_lo_cc, "madc.lo.cc.u32") CZ_OP3(madc_hi_cc, "madc.hi.cc.u32") CZ_OP3(madc_hi, "madc.hi.u32")
#else
HD uint32_t emu_add(uint32_t a, uint32_t b, uint32_t c, bool out) {
    uint64_t s = (uint64_t)a + b + c;
    if (out) emu_cc = s >> 32;
    return s;
}
HD uint32_t emu_sub(uint32_t a, uint32_t b, uint32_t c, bool out) {
    uint64_t s = (uint64_t)a - b - c;
    if (out) emu_cc = (s >> 32) & 1;
    return s;
}
HD uint32_t add_cc(uint32_t a, uint32_t b) {
    return emu_add(a, b, 0, true);
}
HD uint32_t addc_cc(uint32_t a, uint32_t b) {
    return emu_add(a, b, emu_cc, true);
}
HD uint32_t addc(uint32_t a, uint32_t b) {
    return emu_add(a, b, emu_cc, false);
}
HD uint32_t sub_cc(uint32_t a, uint32_t b) {
    return emu_sub(a, b, 0, true);
}
HD uint32_t subc_cc(uint32_t a, uint32_t b) {
    return emu_sub(a, b, emu_cc, true);
}
HD uint32_t subc(uint32_t a, uint32_t b) {
    return emu_sub(a, b, emu_cc, false);
}
HD uint32_t emu_hi(uint32_t a, uint32_t b) {
    return ((uint64_t)a * b) >> 32;
}
HD uint32_t mad_lo_cc(uint32_t a, uint32_t b, uint32_t c) {
    return emu_add(a * b, c, 0, true);
}
HD uint32_t madc_lo_cc(uint32_t a, uint32_t b, uint32_t c) {
    return emu_add(a * b, c, emu_cc, true);
}
HD uint32_t madc_hi_cc(uint32_t a, uint32_t b, uint32_t c) {
    return emu_add(emu_hi(a, b), c, emu_cc, true);
}
HD uint32_t madc_hi(uint32_t a, uint32_t b, uint32_t c) {
    return emu_add(emu_hi(a, b), c, emu_cc, false);
}
#endif
        HD constexpr uint32_t P_(int i) {
    constexpr uint32_t p[12] = {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu, 0xf6b0f624u, 0x6730d2a0u,
                                0xf38512bfu, 0x64774b84u, 0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
    return p[i];
}
#define FP_NP 0xfffcfffdu // -1/p mod 2^32
HD fp fp_one() {
    return {{0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu, 0x53c758bau, 0x5f489857u, 0x70525745u, 0x77ce5853u,
             0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u}};
}
HD fp fp_r3() {
    return {{0xd94ca1e0u, 0xed48ac6bu, 0x03a7adf8u, 0x315f831eu, 0x615e29ddu, 0x9a53352au, 0x921e1761u, 0x34c04e5eu,
             0x65724728u, 0x2512d435u, 0x91755d4du, 0x0aa63460u}};
}
HD fp fp_zero() {
    fp r;
    for (int i = 0; i < 12; i++) r.v[i] = 0;
    return r;
}
HD bool fp_is_zero(const fp &a) {
    uint32_t x = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) x |= a.v[i];
    return x == 0;
}
HD bool fp_eq(const fp &a, const fp &b) {
    uint32_t x = 0;
#pragma unroll
    for (int i = 0; i < 12; i++) x |= a.v[i] ^ b.v[i];
    return x == 0;
}

// t in [0, 2p) -> [0, p)
HD fp fp_csub(const fp &a) {
    fp t;
    t.v[0] = sub_cc(a.v[0], P_(0));
#pragma unroll
    for (int i = 1; i < 12; i++) t.v[i] = subc_cc(a.v[i], P_(i));
    uint32_t borrow = subc(0, 0);
#pragma unroll
    for (int i = 0; i < 12; i++) t.v[i] = borrow ? a.v[i] : t.v[i];
    return t;
}
HD fp fp_add(const fp &a, const fp &b) {
    fp s;
    s.v[0] = add_cc(a.v[0], b.v[0]);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = addc_cc(a.v[i], b.v[i]);
    s.v[11] = addc(a.v[11], b.v[11]);
    return fp_csub(s);
}
HD fp fp_sub(const fp &a, const fp &b) {
    fp s;
    s.v[0] = sub_cc(a.v[0], b.v[0]);
#pragma unroll
    for (int i = 1; i < 12; i++) s.v[i] = subc_cc(a.v[i], b.v[i]);
    uint32_t mask = subc(0, 0);
    s.v[0] = add_cc(s.v[0], P_(0) & mask);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = addc_cc(s.v[i], P_(i) & mask);
    s.v[11] = addc(s.v[11], P_(11) & mask);
    return s;
}
// a - b + p for a, b <= p, not reduced: in [0, 2p]. *zero says whether a = b.
HD fp fp_sub_raw(const fp &a, const fp &b, bool *zero) {
    fp s;
    s.v[0] = sub_cc(a.v[0], b.v[0]);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = subc_cc(a.v[i], b.v[i]);
    s.v[11] = subc(a.v[11], b.v[11]);
    if (zero) *zero = fp_is_zero(s);
    s.v[0] = add_cc(s.v[0], P_(0));
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = addc_cc(s.v[i], P_(i));
    s.v[11] = addc(s.v[11], P_(11));
    return s;
}
HD fp fp_neg(const fp &a) { // zero maps to p, which no caller meets: y = 0 does not occur on this curve
    fp s;
    s.v[0] = sub_cc(P_(0), a.v[0]);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = subc_cc(P_(i), a.v[i]);
    s.v[11] = subc(P_(11), a.v[11]);
    return s;
}
HD fp fp_dbl(const fp &a) {
    return fp_add(a, a);
}

// a + b and 2p - a, not reduced.
HD fp fp_add_raw(const fp &a, const fp &b) {
    fp s;
    s.v[0] = add_cc(a.v[0], b.v[0]);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = addc_cc(a.v[i], b.v[i]);
    s.v[11] = addc(a.v[11], b.v[11]);
    return s;
}
HD constexpr uint32_t P2_(int i) {
    return (P_(i) << 1) | (i ? P_(i - 1) >> 31 : 0);
}
HD fp fp_neg2_raw(const fp &a) {
    fp s;
    s.v[0] = sub_cc(P2_(0), a.v[0]);
#pragma unroll
    for (int i = 1; i < 11; i++) s.v[i] = subc_cc(P2_(i), a.v[i]);
    s.v[11] = subc(P2_(11), a.v[11]);
    return s;
}

// ---- products. Accumulators come in two rows: E holds limbs 0.., O holds limbs 1.., so that every carry chain is
// unbroken.

// E[0..11] += x[0,2,..,10] * y  (carry out returned through c12), O[0..11] += x[1,3,..,11] * y
#define CZ_ROW(E, O, X, y)                                                                                             \
    do {                                                                                                               \
        O[0] = mad_lo_cc(X(1), y, O[0]);                                                                               \
        O[1] = madc_hi_cc(X(1), y, O[1]);                                                                              \
        _Pragma("unroll") for (int j_ = 2; j_ < 10; j_ += 2) {                                                         \
            O[j_] = madc_lo_cc(X(j_ + 1), y, O[j_]);                                                                   \
            O[j_ + 1] = madc_hi_cc(X(j_ + 1), y, O[j_ + 1]);                                                           \
        }                                                                                                              \
        O[10] = madc_lo_cc(X(11), y, O[10]);                                                                           \
        O[11] = madc_hi(X(11), y, O[11]);                                                                              \
        E[0] = mad_lo_cc(X(0), y, E[0]);                                                                               \
        E[1] = madc_hi_cc(X(0), y, E[1]);                                                                              \
        _Pragma("unroll") for (int j_ = 2; j_ < 12; j_ += 2) {                                                         \
            E[j_] = madc_lo_cc(X(j_), y, E[j_]);                                                                       \
            E[j_ + 1] = madc_hi_cc(X(j_), y, E[j_ + 1]);                                                               \
        }                                                                                                              \
        O[11] = addc(O[11], 0);                                                                                        \
    } while (0)

// Divides by 2^32 (E[0] is 0) and adds x*y: the shift costs nothing, as the chain reads other registers than it writes.
#define CZ_ROW_SHIFT(E, O, X, y)                                                                                       \
    do {                                                                                                               \
        uint32_t N_[12];                                                                                               \
        O[0] = add_cc(O[0], E[1]);                                                                                     \
        _Pragma("unroll") for (int j_ = 0; j_ < 10; j_ += 2) {                                                         \
            N_[j_] = madc_lo_cc(X(j_ + 1), y, E[j_ + 2]);                                                              \
            N_[j_ + 1] = madc_hi_cc(X(j_ + 1), y, E[j_ + 3]);                                                          \
        }                                                                                                              \
        N_[10] = madc_lo_cc(X(11), y, 0);                                                                              \
        N_[11] = madc_hi(X(11), y, 0);                                                                                 \
        _Pragma("unroll") for (int j_ = 0; j_ < 12; j_++) {                                                            \
            E[j_] = O[j_];                                                                                             \
            O[j_] = N_[j_];                                                                                            \
        }                                                                                                              \
        E[0] = mad_lo_cc(X(0), y, E[0]);                                                                               \
        E[1] = madc_hi_cc(X(0), y, E[1]);                                                                              \
        _Pragma("unroll") for (int j_ = 2; j_ < 12; j_ += 2) {                                                         \
            E[j_] = madc_lo_cc(X(j_), y, E[j_]);                                                                       \
            E[j_ + 1] = madc_hi_cc(X(j_), y, E[j_ + 1]);                                                               \
        }                                                                                                              \
        O[11] = addc(O[11], 0);                                                                                        \
    } while (0)

// Interleaved product and reduction: 288 wide products. Without the last subtraction the result is below p + a b /
// 2^384, and p is 0.102 x 2^384: for a < s p, b < t p it is below (1 + 0.102 s t) p.
HD fp fp_mul_raw(const fp &a, const fp &b) {
    uint32_t E[12], O[12];
#define XA_(i) a.v[i]
#define XP_(i) P_(i)
#pragma unroll
    for (int j = 0; j < 12; j += 2) {
        uint64_t e = (uint64_t)a.v[j] * b.v[0], o = (uint64_t)a.v[j + 1] * b.v[0];
        E[j] = (uint32_t)e;
        E[j + 1] = e >> 32;
        O[j] = (uint32_t)o;
        O[j + 1] = o >> 32;
    }
    {
        uint32_t m = E[0] * FP_NP;
        CZ_ROW(E, O, XP_, m);
    }
#pragma unroll
    for (int i = 1; i < 12; i++) {
        CZ_ROW_SHIFT(E, O, XA_, b.v[i]);
        uint32_t m = E[0] * FP_NP;
        CZ_ROW(E, O, XP_, m);
    }
    fp r;
    r.v[0] = add_cc(O[0], E[1]);
#pragma unroll
    for (int i = 1; i < 11; i++) r.v[i] = addc_cc(O[i], E[i + 1]);
    r.v[11] = addc(O[11], 0);
    return r;
}
HD fp fp_mul(const fp &a, const fp &b) {
    return fp_csub(fp_mul_raw(a, b));
}

// (T + m p) / 2^384 for a 24-limb T < p 2^384 * 9: 144 wide products.
HD fp fp_redc_raw(const uint32_t (&T)[24]) {
    uint32_t E[12], O[12];
#pragma unroll
    for (int i = 0; i < 12; i++) {
        E[i] = T[i];
        O[i] = 0;
    }
    {
        uint32_t m = E[0] * FP_NP;
        CZ_ROW(E, O, XP_, m);
    }
#pragma unroll
    for (int i = 1; i < 12; i++) {
        uint32_t m = (O[0] + E[1]) * FP_NP;
        CZ_ROW_SHIFT(E, O, XP_, m);
    }
    fp r;
    r.v[0] = add_cc(O[0], E[1]);
#pragma unroll
    for (int i = 1; i < 11; i++) r.v[i] = addc_cc(O[i], E[i + 1]);
    r.v[11] = addc(O[11], 0);
    r.v[0] = add_cc(r.v[0], T[12]);
#pragma unroll
    for (int i = 1; i < 11; i++) r.v[i] = addc_cc(r.v[i], T[12 + i]);
    r.v[11] = addc(r.v[11], T[23]);
    return r;
}
HD fp fp_redc(const uint32_t (&T)[24]) {
    return fp_csub(fp_redc_raw(T));
}

// a b + c d with one reduction: 432 wide products. For factors below 2 p it is below 1.82 p:
// (1 + 0.1016 (s t + u v)) p in general, for bounds s, t, u, v of the factors in p.
HD fp fp_mul2_raw(const fp &a, const fp &b, const fp &c, const fp &d) {
    uint32_t E[12], O[12];
#define XC_(i) c.v[i]
#pragma unroll
    for (int j = 0; j < 12; j += 2) {
        uint64_t e = (uint64_t)a.v[j] * b.v[0], o = (uint64_t)a.v[j + 1] * b.v[0];
        E[j] = (uint32_t)e;
        E[j + 1] = e >> 32;
        O[j] = (uint32_t)o;
        O[j + 1] = o >> 32;
    }
    CZ_ROW(E, O, XC_, d.v[0]);
    {
        uint32_t m = E[0] * FP_NP;
        CZ_ROW(E, O, XP_, m);
    }
#pragma unroll
    for (int i = 1; i < 12; i++) {
        CZ_ROW_SHIFT(E, O, XA_, b.v[i]);
        CZ_ROW(E, O, XC_, d.v[i]);
        uint32_t m = E[0] * FP_NP;
        CZ_ROW(E, O, XP_, m);
    }
    fp r;
    r.v[0] = add_cc(O[0], E[1]);
#pragma unroll
    for (int i = 1; i < 11; i++) r.v[i] = addc_cc(O[i], E[i + 1]);
    r.v[11] = addc(O[11], 0);
    return r;
}

// Square: 66 cross products once, doubled, and 12 diagonal ones, then the reduction.
HD fp fp_sqr(const fp &a) {
    uint32_t E[24], O[24];
#pragma unroll
    for (int i = 0; i < 24; i++) E[i] = O[i] = 0;
#pragma unroll
    for (int i = 0; i < 11; i++) {
        // pairs j > i; i + j even -> E[i + j], odd -> O[i + j - 1]
        const int jo = i + 1, je = i + 2;
        if (jo < 12) {
            O[i + jo - 1] = mad_lo_cc(a.v[i], a.v[jo], O[i + jo - 1]);
            O[i + jo] = madc_hi_cc(a.v[i], a.v[jo], O[i + jo]);
            int last = jo;
#pragma unroll
            for (int j = jo + 2; j < 12; j += 2) {
                O[i + j - 1] = madc_lo_cc(a.v[i], a.v[j], O[i + j - 1]);
                O[i + j] = madc_hi_cc(a.v[i], a.v[j], O[i + j]);
                last = j;
            }
            O[i + last + 1] = addc(O[i + last + 1], 0);
        }
        if (je < 12) {
            E[i + je] = mad_lo_cc(a.v[i], a.v[je], E[i + je]);
            E[i + je + 1] = madc_hi_cc(a.v[i], a.v[je], E[i + je + 1]);
            int last = je;
#pragma unroll
            for (int j = je + 2; j < 12; j += 2) {
                E[i + j] = madc_lo_cc(a.v[i], a.v[j], E[i + j]);
                E[i + j + 1] = madc_hi_cc(a.v[i], a.v[j], E[i + j + 1]);
                last = j;
            }
            E[i + last + 2] = addc(E[i + last + 2], 0);
        }
    }
    uint32_t T[24];
    T[0] = 0;
    T[1] = add_cc(E[1], O[0]);
#pragma unroll
    for (int i = 2; i < 23; i++) T[i] = addc_cc(E[i], O[i - 1]);
    T[23] = addc(E[23], O[22]);
#pragma unroll
    for (int i = 23; i > 0; i--) T[i] = (T[i] << 1) | (T[i - 1] >> 31);
    T[0] = mad_lo_cc(a.v[0], a.v[0], 0);
    T[1] = madc_hi_cc(a.v[0], a.v[0], T[1]);
#pragma unroll
    for (int i = 1; i < 11; i++) {
        T[2 * i] = madc_lo_cc(a.v[i], a.v[i], T[2 * i]);
        T[2 * i + 1] = madc_hi_cc(a.v[i], a.v[i], T[2 * i + 1]);
    }
    T[22] = madc_lo_cc(a.v[11], a.v[11], T[22]);
    T[23] = madc_hi(a.v[11], a.v[11], T[23]);
    return fp_redc(T);
}
// ---- inversion: Bernstein-Yang divsteps on 30-bit words, variable time, one lane. About 27 batches of 30 divsteps.
HD constexpr int32_t P30_(int i) {
    constexpr int32_t p[13] = {0x3fffaaab, 0x27fbffff, 0x153ffffb, 0x2affffac, 0x30f6241e, 0x034a83da, 0x112bf673,
                               0x12e13ce1, 0x2cd76477, 0x1ed90d2e, 0x29a4b1ba, 0x3a8e5ff9, 0x001a0111};
    return p[i];
}
#define FP_NP30 0x3ffcfffd
#define M30_ 0x3fffffff

HD int ctz32(uint32_t x) {
#ifdef __CUDA_ARCH__
    return __ffs((int)x) - 1;
#else
    return __builtin_ctz(x);
#endif
}

#ifdef __CUDA_ARCH__
static __device__ __noinline__
#else
static inline
#endif
    void
    fp_inv(fp *out, const fp *in) {
    int32_t f[13], g[13], d[13], e[13];
#pragma unroll
    for (int i = 0; i < 13; i++) {
        int lo = 30 * i, w = lo >> 5, s = lo & 31;
        uint64_t two = (uint64_t)in->v[w] | ((w + 1 < 12) ? (uint64_t)in->v[w + 1] << 32 : 0);
        g[i] = (int32_t)((two >> s) & M30_);
        f[i] = P30_(i);
        d[i] = 0;
        e[i] = 0;
    }
    e[0] = 1;
    int delta2 = 1; // twice delta, delta starts at 1/2
    for (;;) {
        uint32_t nz = 0;
#pragma unroll
        for (int i = 0; i < 13; i++) nz |= (uint32_t)g[i];
        if (nz == 0) break;
        int32_t u = 1, v = 0, q = 0, r = 1;
        uint32_t ff = (uint32_t)f[0] | ((uint32_t)f[1] << 30), gg = (uint32_t)g[0] | ((uint32_t)g[1] << 30);
        for (int left = 30;;) {
            int z = ctz32(gg | (1u << left));
            gg >>= z;
            u <<= z;
            v <<= z;
            delta2 += 2 * z;
            left -= z;
            if (left == 0) break;
            if (delta2 > 0) { // gg odd: swap the roles
                delta2 = -delta2;
                uint32_t t = ff;
                ff = gg;
                gg = 0u - t;
                int32_t s = u;
                u = q;
                q = -s;
                s = v;
                v = r;
                r = -s;
            }
            gg += ff;
            q += u;
            r += v;
        }
        int64_t cf = (int64_t)u * f[0] + (int64_t)v * g[0], cg = (int64_t)q * f[0] + (int64_t)r * g[0];
        cf >>= 30;
        cg >>= 30;
#pragma unroll
        for (int i = 1; i < 13; i++) {
            cf += (int64_t)u * f[i] + (int64_t)v * g[i];
            cg += (int64_t)q * f[i] + (int64_t)r * g[i];
            f[i - 1] = (int32_t)cf & M30_;
            g[i - 1] = (int32_t)cg & M30_;
            cf >>= 30;
            cg >>= 30;
        }
        f[12] = (int32_t)cf;
        g[12] = (int32_t)cg;
        // d, e: add a multiple of p that makes the division exact; |d| grows by at most p/2 a batch, so it stays below
        // 16 p
        int64_t cd = (int64_t)u * d[0] + (int64_t)v * e[0], ce = (int64_t)q * d[0] + (int64_t)r * e[0];
        int32_t md = (int32_t)(((uint32_t)cd * (uint32_t)FP_NP30) << 2) >> 2,
                me = (int32_t)(((uint32_t)ce * (uint32_t)FP_NP30) << 2) >> 2;
        cd += (int64_t)md * P30_(0);
        ce += (int64_t)me * P30_(0);
        cd >>= 30;
        ce >>= 30;
#pragma unroll
        for (int i = 1; i < 13; i++) {
            cd += (int64_t)u * d[i] + (int64_t)v * e[i] + (int64_t)md * P30_(i);
            ce += (int64_t)q * d[i] + (int64_t)r * e[i] + (int64_t)me * P30_(i);
            d[i - 1] = (int32_t)cd & M30_;
            e[i - 1] = (int32_t)ce & M30_;
            cd >>= 30;
            ce >>= 30;
        }
        d[12] = (int32_t)cd;
        e[12] = (int32_t)ce;
    }
    // f = +-1 and d * a = f: take d * f + 16 p, bring it below 8 p
    int32_t s = f[12] < 0 ? -1 : 1;
    int64_t c = 0;
#pragma unroll
    for (int i = 0; i < 13; i++) {
        c += (int64_t)s * d[i] + ((int64_t)P30_(i) << 4);
        d[i] = i < 12 ? (int32_t)c & M30_ : (int32_t)c;
        c >>= 30;
    }
#pragma unroll
    for (int sh = 4; sh >= 3; sh--) {
        c = 0;
#pragma unroll
        for (int i = 0; i < 13; i++) {
            c += (int64_t)d[i] - ((int64_t)P30_(i) << sh);
            e[i] = i < 12 ? (int32_t)c & M30_ : (int32_t)c;
            c >>= 30;
        }
        bool ge = e[12] >= 0;
#pragma unroll
        for (int i = 0; i < 13; i++) d[i] = ge ? e[i] : d[i];
    }
    fp t;
#pragma unroll
    for (int i = 0; i < 12; i++) {
        int lo = 32 * i, w = lo / 30, sh = lo % 30;
        uint64_t two = (uint64_t)(uint32_t)d[w] | ((uint64_t)(uint32_t)d[w + 1] << 30);
        t.v[i] = (uint32_t)(two >> sh);
    }
    *out = fp_mul(t, fp_r3());
}

#endif
