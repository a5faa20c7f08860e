#ifndef CUZK_COMPUTE_CUDA_FR_CUH
#define CUZK_COMPUTE_CUDA_FR_CUH

/*
 * Fr on the device: 8 limbs of 32 bits, Montgomery form with radix 2^256, the same bytes as struct cz_fr.
 *
 * The two lowest limbs of r are 1 and 2^32 - 1: r = 1 + (2^32 - 1)·2^32 + r2·2^64 + …, so -1/r = -1 mod 2^32, the factor
 * of a reduction step is m = -t0, and m·r = m·2^64 - (m - c)·2^32 + (products by r2 … r7) + c·2^32 with c = (t0 != 0):
 * six wide products a step instead of eight.
 */

#include <stdint.h>

struct Fr {
    uint32_t v[8];
};

/*
 * The modulus has to sit in ordinary registers: as immediates or from constant memory at a uniform index ptxas keeps it
 * in uniform registers, which the fused IMAD.WIDE with carry does not take (48 of 112 products then cost 3 slots, not
 * 2). An index that only looks as if it differed between threads keeps it out of them.
 */
static __constant__ uint32_t FR_MODULUS[8] = {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                              0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
struct Mod {
    uint32_t r[8];
};

static __device__ __forceinline__ Mod fr_mod() {
    Mod m;
    uint32_t z;
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(z));
    z >>= 5; /* always 0 */
#pragma unroll
    for (int j = 0; j < 8; j++) m.r[j] = FR_MODULUS[j + z];
    return m;
}

static __device__ __forceinline__ Fr fr_zero() {
    Fr r;
#pragma unroll
    for (int i = 0; i < 8; i++) r.v[i] = 0;
    return r;
}

/* t < 2r to t < r. */
static __device__ __forceinline__ void fr_reduce_once(uint32_t t[8], const Mod &M) {
    uint32_t d[8], b;
    asm("sub.cc.u32 %0,%9,1;  subc.cc.u32 %1,%10,0xffffffff; subc.cc.u32 %2,%11,%17; subc.cc.u32 %3,%12,%18;"
        "subc.cc.u32 %4,%13,%19; subc.cc.u32 %5,%14,%20; subc.cc.u32 %6,%15,%21; subc.cc.u32 %7,%16,%22;"
        "subc.u32 %8,0,0;"
        : "=&r"(d[0]), "=&r"(d[1]), "=&r"(d[2]), "=&r"(d[3]), "=&r"(d[4]), "=&r"(d[5]), "=&r"(d[6]), "=&r"(d[7]),
          "=&r"(b)
        : "r"(t[0]), "r"(t[1]), "r"(t[2]), "r"(t[3]), "r"(t[4]), "r"(t[5]), "r"(t[6]), "r"(t[7]), "r"(M.r[2]),
          "r"(M.r[3]), "r"(M.r[4]), "r"(M.r[5]), "r"(M.r[6]), "r"(M.r[7]));
#pragma unroll
    for (int i = 0; i < 8; i++) t[i] = b ? t[i] : d[i];
}

/* e holds columns 0 … 7 as pairs at even places, o pairs at odd places: o[j] has weight j + 1. */
static __device__ __forceinline__ void fr_row_first(uint32_t e[8], uint32_t o[8], const uint32_t a[8], uint32_t b) {
#pragma unroll
    for (int j = 0; j < 8; j += 2) {
        asm("mul.lo.u32 %0,%2,%3; mul.hi.u32 %1,%2,%3;" : "=&r"(e[j]), "=&r"(e[j + 1]) : "r"(a[j]), "r"(b));
        asm("mul.lo.u32 %0,%2,%3; mul.hi.u32 %1,%2,%3;" : "=&r"(o[j]), "=&r"(o[j + 1]) : "r"(a[j + 1]), "r"(b));
    }
}

/* Shifts by one limb and adds a row; e and o change roles. */
static __device__ __forceinline__ void fr_row_next(uint32_t e[8], uint32_t o[8], const uint32_t a[8], uint32_t b) {
    uint32_t x[8], y[8];
    asm("add.cc.u32 %0,%9,%10;"
        "madc.lo.cc.u32 %1,%17,%21,%11; madc.hi.cc.u32 %2,%17,%21,%12;"
        "madc.lo.cc.u32 %3,%18,%21,%13; madc.hi.cc.u32 %4,%18,%21,%14;"
        "madc.lo.cc.u32 %5,%19,%21,%15; madc.hi.cc.u32 %6,%19,%21,%16;"
        "madc.lo.cc.u32 %7,%20,%21,0;   madc.hi.u32 %8,%20,%21,0;"
        : "=&r"(o[0]), "=&r"(x[0]), "=&r"(x[1]), "=&r"(x[2]), "=&r"(x[3]), "=&r"(x[4]), "=&r"(x[5]), "=&r"(x[6]),
          "=&r"(x[7])
        : "r"(o[0]), "r"(e[1]), "r"(e[2]), "r"(e[3]), "r"(e[4]), "r"(e[5]), "r"(e[6]), "r"(e[7]), "r"(a[1]), "r"(a[3]),
          "r"(a[5]), "r"(a[7]), "r"(b));
    /* o[1 …] still has to enter: y = old o with its new lowest limb. */
#pragma unroll
    for (int j = 0; j < 8; j++) y[j] = o[j];
    asm("mad.lo.cc.u32 %0,%9,%13,%0;  madc.hi.cc.u32 %1,%9,%13,%1;"
        "madc.lo.cc.u32 %2,%10,%13,%2; madc.hi.cc.u32 %3,%10,%13,%3;"
        "madc.lo.cc.u32 %4,%11,%13,%4; madc.hi.cc.u32 %5,%11,%13,%5;"
        "madc.lo.cc.u32 %6,%12,%13,%6; madc.hi.cc.u32 %7,%12,%13,%7; addc.u32 %8,%8,0;"
        : "+&r"(y[0]), "+&r"(y[1]), "+&r"(y[2]), "+&r"(y[3]), "+&r"(y[4]), "+&r"(y[5]), "+&r"(y[6]), "+&r"(y[7]),
          "+&r"(x[7])
        : "r"(a[0]), "r"(a[2]), "r"(a[4]), "r"(a[6]), "r"(b));
#pragma unroll
    for (int j = 0; j < 8; j++) {
        e[j] = y[j];
        o[j] = x[j];
    }
}

/* Adds m·r so that the lowest limb vanishes. m by a product: a negation that ptxas sees keeps lo and hi from fusing. */
static __device__ __forceinline__ void fr_step(uint32_t e[8], uint32_t o[8], const Mod &M) {
    uint32_t t = e[0], m = t * M.r[1], c = t ? 1u : 0u, h = m - c;
    asm("add.cc.u32 %0,%0,%8; addc.cc.u32 %1,%1,%9;"
        "madc.lo.cc.u32 %2,%10,%13,%2; madc.hi.cc.u32 %3,%10,%13,%3;"
        "madc.lo.cc.u32 %4,%11,%13,%4; madc.hi.cc.u32 %5,%11,%13,%5;"
        "madc.lo.cc.u32 %6,%12,%13,%6; madc.hi.u32 %7,%12,%13,%7;"
        : "+&r"(o[0]), "+&r"(o[1]), "+&r"(o[2]), "+&r"(o[3]), "+&r"(o[4]), "+&r"(o[5]), "+&r"(o[6]), "+&r"(o[7])
        : "r"(t), "r"(h), "r"(M.r[3]), "r"(M.r[5]), "r"(M.r[7]), "r"(m));
    asm("add.cc.u32 %0,%0,%8; madc.lo.cc.u32 %1,%9,%12,%1; madc.hi.cc.u32 %2,%9,%12,%2;"
        "madc.lo.cc.u32 %3,%10,%12,%3; madc.hi.cc.u32 %4,%10,%12,%4;"
        "madc.lo.cc.u32 %5,%11,%12,%5; madc.hi.cc.u32 %6,%11,%12,%6; addc.u32 %7,%7,0;"
        : "+&r"(e[1]), "+&r"(e[2]), "+&r"(e[3]), "+&r"(e[4]), "+&r"(e[5]), "+&r"(e[6]), "+&r"(e[7]), "+&r"(o[7])
        : "r"(c), "r"(M.r[2]), "r"(M.r[4]), "r"(M.r[6]), "r"(m));
}

/*
 * a·b/2^256 below r, for any a of 256 bits and b < r. The limbs that are gone through are a's: sums on the way stay below
 * b + r then. The other way round an a above r overflows them.
 */
static __device__ __forceinline__ Fr fr_mul(const Fr &a, const Fr &b, const Mod &M) {
    uint32_t e[8], o[8];
    fr_row_first(e, o, b.v, a.v[0]);
    fr_step(e, o, M);
#pragma unroll
    for (int i = 1; i < 8; i++) {
        fr_row_next(e, o, b.v, a.v[i]);
        fr_step(e, o, M);
    }
    Fr r;
    asm("add.cc.u32 %0,%8,%16; addc.cc.u32 %1,%9,%17; addc.cc.u32 %2,%10,%18; addc.cc.u32 %3,%11,%19;"
        "addc.cc.u32 %4,%12,%20; addc.cc.u32 %5,%13,%21; addc.cc.u32 %6,%14,%22; addc.u32 %7,%15,0;"
        : "=&r"(r.v[0]), "=&r"(r.v[1]), "=&r"(r.v[2]), "=&r"(r.v[3]), "=&r"(r.v[4]), "=&r"(r.v[5]), "=&r"(r.v[6]),
          "=&r"(r.v[7])
        : "r"(o[0]), "r"(o[1]), "r"(o[2]), "r"(o[3]), "r"(o[4]), "r"(o[5]), "r"(o[6]), "r"(o[7]), "r"(e[1]), "r"(e[2]),
          "r"(e[3]), "r"(e[4]), "r"(e[5]), "r"(e[6]), "r"(e[7]));
    fr_reduce_once(r.v, M);
    return r;
}

static __device__ __forceinline__ Fr fr_add(const Fr &a, const Fr &b, const Mod &M) {
    Fr t;
    asm("add.cc.u32 %0,%8,%16; addc.cc.u32 %1,%9,%17; addc.cc.u32 %2,%10,%18; addc.cc.u32 %3,%11,%19;"
        "addc.cc.u32 %4,%12,%20; addc.cc.u32 %5,%13,%21; addc.cc.u32 %6,%14,%22; addc.u32 %7,%15,%23;"
        : "=&r"(t.v[0]), "=&r"(t.v[1]), "=&r"(t.v[2]), "=&r"(t.v[3]), "=&r"(t.v[4]), "=&r"(t.v[5]), "=&r"(t.v[6]),
          "=&r"(t.v[7])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(a.v[4]), "r"(a.v[5]), "r"(a.v[6]), "r"(a.v[7]),
          "r"(b.v[0]), "r"(b.v[1]), "r"(b.v[2]), "r"(b.v[3]), "r"(b.v[4]), "r"(b.v[5]), "r"(b.v[6]), "r"(b.v[7]));
    fr_reduce_once(t.v, M);
    return t;
}

static __device__ __forceinline__ Fr fr_sub(const Fr &a, const Fr &b, const Mod &M) {
    Fr t;
    uint32_t m;
    asm("sub.cc.u32 %0,%9,%17; subc.cc.u32 %1,%10,%18; subc.cc.u32 %2,%11,%19; subc.cc.u32 %3,%12,%20;"
        "subc.cc.u32 %4,%13,%21; subc.cc.u32 %5,%14,%22; subc.cc.u32 %6,%15,%23; subc.cc.u32 %7,%16,%24;"
        "subc.u32 %8,0,0;"
        : "=&r"(t.v[0]), "=&r"(t.v[1]), "=&r"(t.v[2]), "=&r"(t.v[3]), "=&r"(t.v[4]), "=&r"(t.v[5]), "=&r"(t.v[6]),
          "=&r"(t.v[7]), "=&r"(m)
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(a.v[4]), "r"(a.v[5]), "r"(a.v[6]), "r"(a.v[7]),
          "r"(b.v[0]), "r"(b.v[1]), "r"(b.v[2]), "r"(b.v[3]), "r"(b.v[4]), "r"(b.v[5]), "r"(b.v[6]), "r"(b.v[7]));
    asm("add.cc.u32 %0,%0,%8; addc.cc.u32 %1,%1,%9; addc.cc.u32 %2,%2,%10; addc.cc.u32 %3,%3,%11;"
        "addc.cc.u32 %4,%4,%12; addc.cc.u32 %5,%5,%13; addc.cc.u32 %6,%6,%14; addc.u32 %7,%7,%15;"
        : "+&r"(t.v[0]), "+&r"(t.v[1]), "+&r"(t.v[2]), "+&r"(t.v[3]), "+&r"(t.v[4]), "+&r"(t.v[5]), "+&r"(t.v[6]),
          "+&r"(t.v[7])
        : "r"(m & 1u), "r"(m), "r"(m & M.r[2]), "r"(m & M.r[3]), "r"(m & M.r[4]), "r"(m & M.r[5]), "r"(m & M.r[6]),
          "r"(m & M.r[7]));
    return t;
}

/* a - b + r below 2r, for a following product. */
static __device__ __forceinline__ Fr fr_sub_lazy(const Fr &a, const Fr &b, const Mod &M) {
    Fr t;
    asm("sub.cc.u32 %0,%8,%16; subc.cc.u32 %1,%9,%17; subc.cc.u32 %2,%10,%18; subc.cc.u32 %3,%11,%19;"
        "subc.cc.u32 %4,%12,%20; subc.cc.u32 %5,%13,%21; subc.cc.u32 %6,%14,%22; subc.u32 %7,%15,%23;"
        : "=&r"(t.v[0]), "=&r"(t.v[1]), "=&r"(t.v[2]), "=&r"(t.v[3]), "=&r"(t.v[4]), "=&r"(t.v[5]), "=&r"(t.v[6]),
          "=&r"(t.v[7])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(a.v[4]), "r"(a.v[5]), "r"(a.v[6]), "r"(a.v[7]),
          "r"(b.v[0]), "r"(b.v[1]), "r"(b.v[2]), "r"(b.v[3]), "r"(b.v[4]), "r"(b.v[5]), "r"(b.v[6]), "r"(b.v[7]));
    asm("add.cc.u32 %0,%0,1; addc.cc.u32 %1,%1,0xffffffff; addc.cc.u32 %2,%2,%8; addc.cc.u32 %3,%3,%9;"
        "addc.cc.u32 %4,%4,%10; addc.cc.u32 %5,%5,%11; addc.cc.u32 %6,%6,%12; addc.u32 %7,%7,%13;"
        : "+&r"(t.v[0]), "+&r"(t.v[1]), "+&r"(t.v[2]), "+&r"(t.v[3]), "+&r"(t.v[4]), "+&r"(t.v[5]), "+&r"(t.v[6]),
          "+&r"(t.v[7])
        : "r"(M.r[2]), "r"(M.r[3]), "r"(M.r[4]), "r"(M.r[5]), "r"(M.r[6]), "r"(M.r[7]));
    return t;
}
/* a + b below 2r, for a following product. */
static __device__ __forceinline__ Fr fr_add_lazy(const Fr &a, const Fr &b) {
    Fr t;
    asm("add.cc.u32 %0,%8,%16; addc.cc.u32 %1,%9,%17; addc.cc.u32 %2,%10,%18; addc.cc.u32 %3,%11,%19;"
        "addc.cc.u32 %4,%12,%20; addc.cc.u32 %5,%13,%21; addc.cc.u32 %6,%14,%22; addc.u32 %7,%15,%23;"
        : "=&r"(t.v[0]), "=&r"(t.v[1]), "=&r"(t.v[2]), "=&r"(t.v[3]), "=&r"(t.v[4]), "=&r"(t.v[5]), "=&r"(t.v[6]),
          "=&r"(t.v[7])
        : "r"(a.v[0]), "r"(a.v[1]), "r"(a.v[2]), "r"(a.v[3]), "r"(a.v[4]), "r"(a.v[5]), "r"(a.v[6]), "r"(a.v[7]),
          "r"(b.v[0]), "r"(b.v[1]), "r"(b.v[2]), "r"(b.v[3]), "r"(b.v[4]), "r"(b.v[5]), "r"(b.v[6]), "r"(b.v[7]));
    return t;
}

static __device__ __forceinline__ Fr fr_from_halves(const uint4 &a, const uint4 &b) {
    Fr r;
    r.v[0] = a.x, r.v[1] = a.y, r.v[2] = a.z, r.v[3] = a.w;
    r.v[4] = b.x, r.v[5] = b.y, r.v[6] = b.z, r.v[7] = b.w;
    return r;
}
static __device__ __forceinline__ Fr fr_load(const Fr *p) {
    const uint4 *q = (const uint4 *)p;
    return fr_from_halves(q[0], q[1]);
}
/* Of memory that no kernel writes meanwhile. */
static __device__ __forceinline__ Fr fr_load_const(const Fr *p) {
    const uint4 *q = (const uint4 *)p;
    return fr_from_halves(__ldg(q), __ldg(q + 1));
}
static __device__ __forceinline__ void fr_store(Fr *p, const Fr &r) {
    uint4 *q = (uint4 *)p;
    q[0] = make_uint4(r.v[0], r.v[1], r.v[2], r.v[3]);
    q[1] = make_uint4(r.v[4], r.v[5], r.v[6], r.v[7]);
}

#endif
