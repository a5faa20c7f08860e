// Points to the device layout: from .params bytes or from the host's structs.
#include "compute/cuda/ec.cuh"
#include "compute/cuda/points.h"

// 48 bytes big endian to Montgomery form. The top three bits of a point's first byte are flags.
static __device__ fp from_be(const uint32_t *in, bool flags) {
    fp a, r2 = {{0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u, 0x4c95b6d5u, 0x8de5476cu, 0x939d83c0u, 0x67eb88a9u,
                 0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u}};
#pragma unroll
    for (int i = 0; i < 12; i++) a.v[i] = __byte_perm(in[11 - i], 0, 0x0123);
    if (flags) a.v[11] &= 0x1fffffffu;
    return mul_called(a, r2);
}

template <bool ENCODED> static __global__ void k_g1(aff<fp> *to, const aff<fp> *from, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        aff<fp> p, q;
        ld_fp(p.x, &from[i].x);
        ld_fp(p.y, &from[i].y);
        bool inf;
        if (ENCODED) {
            inf = p.x.v[0] & 0x40;
            q.x = from_be(p.x.v, true);
            q.y = from_be(p.y.v, false);
        } else {
            inf = fp_is_zero(p.x) && fp_is_zero(p.y);
            q = p;
        }
        if (inf) q = aff_inf<fp>();
        st_fp(&to[i].x, q.x);
        st_fp(&to[i].y, q.y);
    }
}
// In the file c1 comes before c0.
template <bool ENCODED> static __global__ void k_g2(aff<fp2> *to, const aff<fp2> *from, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        aff<fp2> p, q;
        ld_fp(p.x.c0, &from[i].x.c0);
        ld_fp(p.x.c1, &from[i].x.c1);
        ld_fp(p.y.c0, &from[i].y.c0);
        ld_fp(p.y.c1, &from[i].y.c1);
        bool inf;
        if (ENCODED) {
            inf = p.x.c0.v[0] & 0x40;
            q.x.c1 = from_be(p.x.c0.v, true);
            q.x.c0 = from_be(p.x.c1.v, false);
            q.y.c1 = from_be(p.y.c0.v, false);
            q.y.c0 = from_be(p.y.c1.v, false);
        } else {
            inf = f_is_zero(p.x) && f_is_zero(p.y);
            q = p;
        }
        if (inf) q = aff_inf<fp2>();
        st_fp(&to[i].x.c0, q.x.c0);
        st_fp(&to[i].x.c1, q.x.c1);
        st_fp(&to[i].y.c0, q.y.c0);
        st_fp(&to[i].y.c1, q.y.c1);
    }
}

extern "C" enum cz_status cz_cuda_points_convert(struct cz_cuda_worker *w, cudaStream_t stream,
                                                 enum cz_cuda_group group, void *d_to, const void *d_from, size_t n,
                                                 bool encoded) {
    if (n == 0) return CZ_OK;
    const unsigned grid = cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 128, 32);
    if (group == CZ_CUDA_G1) {
        aff<fp> *to = (aff<fp> *)d_to;
        const aff<fp> *from = (const aff<fp> *)d_from;
        if (encoded)
            CZ_CUDA_LAUNCH(w, (k_g1<true>), grid, 128, 0, stream, to, from, n);
        else
            CZ_CUDA_LAUNCH(w, (k_g1<false>), grid, 128, 0, stream, to, from, n);
    } else {
        aff<fp2> *to = (aff<fp2> *)d_to;
        const aff<fp2> *from = (const aff<fp2> *)d_from;
        if (encoded)
            CZ_CUDA_LAUNCH(w, (k_g2<true>), grid, 128, 0, stream, to, from, n);
        else
            CZ_CUDA_LAUNCH(w, (k_g2<false>), grid, 128, 0, stream, to, from, n);
    }
    return CZ_OK;
}

static __global__ void k_nothing() {}

// Fails where the binary has no code for the device; nothing is launched.
extern "C" cudaError_t cz_cuda_kernel_check(void) {
    struct cudaFuncAttributes a;
    return cudaFuncGetAttributes(&a, (const void *)k_nothing);
}
