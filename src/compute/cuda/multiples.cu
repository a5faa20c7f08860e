// Tables of multiples of fixed bases: 2^k·P for every point of a table, by doublings in XYZZ and one inversion a
// thread.
#include "compute/cuda/ec.cuh"
#include "compute/cuda/points.h"

#define T 128
#define CHUNK 32 // points of a thread

// tmp: ZZ, ZZZ and the prefix product of each point. Points of a thread stand gridDim.x T apart.
static __global__ void __launch_bounds__(T)
    k_multiples(const aff<fp> *from, aff<fp> *to, size_t n, unsigned doublings, fp *tmp) {
    const size_t step = (size_t)gridDim.x * T, t = (size_t)blockIdx.x * T + threadIdx.x;
    if (t >= n) return;
    fp acc = fp_one();
    size_t i = t;
    for (; i < n; i += step) {
        aff<fp> p;
        ld_fp(p.x, &from[i].x);
        ld_fp(p.y, &from[i].y);
        fp zz = fp_one(), zzz = zz;
        if (!x_is_inf(p.x)) {
#pragma unroll 1
            for (unsigned k = 0; k < doublings; k++) { // EFD shortw-xyzz dbl-2008-s-1; y is never 0 in the subgroup
                fp u = fp_dbl(p.y), v = f_mul(u, u), w = f_mul(u, v), s = f_mul(p.x, v), m = f_mul(p.x, p.x);
                m = fp_add(fp_dbl(m), m);
                p.x = fp_sub(f_mul(m, m), fp_dbl(s));
                p.y = fp_sub(f_mul(m, fp_sub(s, p.x)), f_mul(w, p.y));
                zz = f_mul(v, zz);
                zzz = f_mul(w, zzz);
            }
        }
        st_fp(&to[i].x, p.x);
        st_fp(&to[i].y, p.y);
        st_fp(&tmp[3 * i], zz);
        st_fp(&tmp[3 * i + 1], zzz);
        st_fp(&tmp[3 * i + 2], acc);
        acc = f_mul(acc, zzz);
    }
    fp inv;
    fp_inv(&inv, &acc);
    while (i > t) {
        i -= step;
        fp zz, zzz, pre;
        aff<fp> p;
        ld_fp(zz, &tmp[3 * i]);
        ld_fp(zzz, &tmp[3 * i + 1]);
        ld_fp(pre, &tmp[3 * i + 2]);
        ld_fp(p.x, &to[i].x);
        ld_fp(p.y, &to[i].y);
        fp zi = f_mul(inv, pre), q = f_mul(zz, zi); // 1/ZZZ, 1/Z
        inv = f_mul(inv, zzz);
        if (x_is_inf(p.x)) continue;
        st_fp(&to[i].x, f_mul(p.x, f_mul(q, q)));
        st_fp(&to[i].y, f_mul(p.y, zi));
    }
}

extern "C" enum cz_status cz_cuda_msm_multiples(struct cz_cuda_worker *w, void *d_point, unsigned tables, size_t n) {
    const size_t batch = (size_t)cz_cuda_device_info(w->cuda)->sms * 4 * T * CHUNK;
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    fp *tmp = (fp *)cz_cuda_mem(w, batch < n ? batch : n, 3 * sizeof(fp));
    if (!tmp) return cz_cuda_full(w, "tables of multiples");
    for (unsigned t = 1; t < tables; t++) {
        const unsigned doublings = cz_cuda_msm_shift(tables, t) - cz_cuda_msm_shift(tables, t - 1);
        const aff<fp> *from = (const aff<fp> *)d_point + (t - 1) * n;
        for (size_t at = 0; at < n; at += batch) {
            const size_t m = n - at < batch ? n - at : batch;
            CZ_CUDA_LAUNCH(w, k_multiples, (unsigned)((m + T * CHUNK - 1) / (T * CHUNK)), T, 0, w->stream, from + at,
                           (aff<fp> *)d_point + t * n + at, m, doublings, tmp);
        }
    }
    cz_cuda_release(w, mark);
    return CZ_OK;
}
