// G1 and G2 on the device, one thread a point: what runs rarely or on few points (ends of reductions, rare cases).
// The bulk of the additions is in add.cuh. XYZZ accumulators: x = X/ZZ, y = Y/ZZZ; ZZ = 0 is infinity.
#ifndef CUZK_COMPUTE_CUDA_EC_CUH
#define CUZK_COMPUTE_CUDA_EC_CUH

#include "compute/cuda/fp.cuh"

#ifdef __CUDA_ARCH__
#define CALLED static __device__ __noinline__
#else
#define CALLED static inline
#endif

struct alignas(16) fp2 {
    fp c0, c1;
};

CALLED fp mul_called(fp a, fp b) {
    return fp_mul(a, b);
}

// The operations of both fields under one name. Products are called, not inlined: no code here is worth the space.
HD fp f_add(const fp &a, const fp &b) {
    return fp_add(a, b);
}
HD fp f_sub(const fp &a, const fp &b) {
    return fp_sub(a, b);
}
HD fp f_mul(const fp &a, const fp &b) {
    return mul_called(a, b);
}
HD bool f_is_zero(const fp &a) {
    return fp_is_zero(a);
}
HD bool f_eq(const fp &a, const fp &b) {
    return fp_eq(a, b);
}
HD fp f_neg(const fp &a) {
    return fp_sub(fp_zero(), a);
}
HD void f_set_one(fp &a) {
    a = fp_one();
}
HD void f_set_zero(fp &a) {
    a = fp_zero();
}

HD fp2 f_add(const fp2 &a, const fp2 &b) {
    return {fp_add(a.c0, b.c0), fp_add(a.c1, b.c1)};
}
HD fp2 f_sub(const fp2 &a, const fp2 &b) {
    return {fp_sub(a.c0, b.c0), fp_sub(a.c1, b.c1)};
}
HD fp2 f_mul(const fp2 &a, const fp2 &b) {
    fp t0 = mul_called(a.c0, b.c0), t1 = mul_called(a.c1, b.c1);
    fp t2 = mul_called(fp_add(a.c0, a.c1), fp_add(b.c0, b.c1));
    return {fp_sub(t0, t1), fp_sub(fp_sub(t2, t0), t1)};
}
HD bool f_is_zero(const fp2 &a) {
    return fp_is_zero(a.c0) && fp_is_zero(a.c1);
}
HD bool f_eq(const fp2 &a, const fp2 &b) {
    return fp_eq(a.c0, b.c0) && fp_eq(a.c1, b.c1);
}
HD fp2 f_neg(const fp2 &a) {
    return {f_neg(a.c0), f_neg(a.c1)};
}
HD void f_set_one(fp2 &a) {
    a.c0 = fp_one();
    a.c1 = fp_zero();
}
HD void f_set_zero(fp2 &a) {
    a.c0 = fp_zero();
    a.c1 = fp_zero();
}
template <class F> HD F f_sqr(const F &a) {
    return f_mul(a, a);
}
template <class F> HD F f_dbl(const F &a) {
    return f_add(a, a);
}

// Infinity is marked in the top limb of each component of x, which a canonical x never fills, so that a lane that has
// one component alone sees it.
#define MARK_INF 0xffffffffu
template <class F> struct alignas(16) aff { F x, y; };
HD bool x_is_inf(const fp &x) {
    return x.v[11] == MARK_INF;
}
HD bool x_is_inf(const fp2 &x) {
    return x_is_inf(x.c0);
}
HD void x_mark(fp &x) {
    x.v[11] = MARK_INF;
}
HD void x_mark(fp2 &x) {
    x_mark(x.c0);
    x_mark(x.c1);
}
template <class F> HD aff<F> aff_inf() {
    aff<F> p;
    f_set_zero(p.x);
    f_set_zero(p.y);
    x_mark(p.x);
    return p;
}

template <class F> struct alignas(16) xyzz { F x, y, zz, zzz; };
template <class F> HD xyzz<F> xyzz_inf() {
    xyzz<F> r;
    f_set_zero(r.x);
    f_set_zero(r.y);
    f_set_zero(r.zz);
    f_set_zero(r.zzz);
    return r;
}
template <class F> HD bool xyzz_is_inf(const xyzz<F> &a) {
    return f_is_zero(a.zz);
}
template <class F> HD void xyzz_set(xyzz<F> &r, const aff<F> &p) {
    r.x = p.x;
    r.y = p.y;
    f_set_one(r.zz);
    f_set_one(r.zzz);
}
// Inlined, with called products: given to a called function by reference, nvcc 13.0 lost the first 16 bytes of such a
// point on its way to shared memory (seen in the PTX of the kernels in reduce.cu).
// Doubling and both additions: formulas of the EFD (shortw-xyzz: dbl-2008-s-1, madd-2008-s, add-2008-s).
template <class F> HD void xyzz_dbl(xyzz<F> &p) {
    if (xyzz_is_inf(p)) return;
    F u = f_dbl(p.y), v = f_sqr(u), w = f_mul(u, v), s = f_mul(p.x, v), m = f_sqr(p.x);
    m = f_add(f_dbl(m), m);
    F x = f_sub(f_sqr(m), f_dbl(s));
    p.y = f_sub(f_mul(m, f_sub(s, x)), f_mul(w, p.y));
    p.x = x;
    p.zz = f_mul(v, p.zz);
    p.zzz = f_mul(w, p.zzz);
}
template <class F> HD void xyzz_add_aff(xyzz<F> &a, const aff<F> &p) {
    if (x_is_inf(p.x)) return;
    if (xyzz_is_inf(a)) {
        xyzz_set(a, p);
        return;
    }
    F d = f_sub(f_mul(p.x, a.zz), a.x), r = f_sub(f_mul(p.y, a.zzz), a.y);
    if (f_is_zero(d)) {
        if (f_is_zero(r))
            xyzz_dbl(a);
        else
            a = xyzz_inf<F>();
        return;
    }
    F pp = f_sqr(d), ppp = f_mul(d, pp), q = f_mul(a.x, pp);
    a.x = f_sub(f_sub(f_sqr(r), ppp), f_dbl(q));
    a.y = f_sub(f_mul(r, f_sub(q, a.x)), f_mul(a.y, ppp));
    a.zz = f_mul(a.zz, pp);
    a.zzz = f_mul(a.zzz, ppp);
}
template <class F> HD void xyzz_add(xyzz<F> &a, const xyzz<F> &b) {
    if (xyzz_is_inf(b)) return;
    if (xyzz_is_inf(a)) {
        a = b;
        return;
    }
    F u1 = f_mul(a.x, b.zz), s1 = f_mul(a.y, b.zzz);
    F d = f_sub(f_mul(b.x, a.zz), u1), r = f_sub(f_mul(b.y, a.zzz), s1);
    if (f_is_zero(d)) {
        if (f_is_zero(r))
            xyzz_dbl(a);
        else
            a = xyzz_inf<F>();
        return;
    }
    F pp = f_sqr(d), ppp = f_mul(d, pp), q = f_mul(u1, pp);
    a.x = f_sub(f_sub(f_sqr(r), ppp), f_dbl(q));
    a.y = f_sub(f_mul(r, f_sub(q, a.x)), f_mul(s1, ppp));
    a.zz = f_mul(f_mul(a.zz, b.zz), pp);
    a.zzz = f_mul(f_mul(a.zzz, b.zzz), ppp);
}

// 16-byte loads and stores of one component.
HD void ld_fp(fp &r, const fp *p) {
    const uint4 *q = (const uint4 *)p;
#pragma unroll
    for (int i = 0; i < 3; i++) {
        uint4 t = q[i];
        r.v[4 * i] = t.x;
        r.v[4 * i + 1] = t.y;
        r.v[4 * i + 2] = t.z;
        r.v[4 * i + 3] = t.w;
    }
}
HD void st_fp(fp *p, const fp &r) {
    uint4 *q = (uint4 *)p;
#pragma unroll
    for (int i = 0; i < 3; i++) q[i] = make_uint4(r.v[4 * i], r.v[4 * i + 1], r.v[4 * i + 2], r.v[4 * i + 3]);
}

#endif
