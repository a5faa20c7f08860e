// Multiples of a fixed base: the table's seed, lists of additions, and the results' way out.
#include "compute/cuda/ec.cuh"
#include "compute/cuda/fixed.h"
#include "compute/cuda/fr.cuh"

#define THREADS 256

template <class F> static __global__ void k_place(aff<F> *table, const aff<F> *power, cz_cuda_fixed_shape s) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.windows * (s.bits + 1);
         i += gridDim.x * blockDim.x) {
        const uint32_t k = i / (s.bits + 1), j = i % (s.bits + 1);
        if (j < s.bits)
            table[(size_t)k * s.stride + (1u << j)] = power[k * s.bits + j];
        else
            table[(size_t)k * s.stride] = aff_inf<F>();
    }
}

extern "C" enum cz_status cz_cuda_k_fixed_place(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_table,
                                                const void *d_power, const struct cz_cuda_fixed_shape *shape) {
    if (group == CZ_CUDA_G1)
        CZ_CUDA_LAUNCH(w, k_place<fp>, 2, THREADS, 0, w->stream, (aff<fp> *)d_table, (const aff<fp> *)d_power, *shape);
    else
        CZ_CUDA_LAUNCH(w, k_place<fp2>, 2, THREADS, 0, w->stream, (aff<fp2> *)d_table, (const aff<fp2> *)d_power,
                       *shape);
    return CZ_OK;
}

static __device__ void store_job(cz_cuda_job *to, uint32_t a, uint32_t b, uint32_t slot) {
    *(uint4 *)to = make_uint4(a, b, slot, 0);
}

static __global__ void k_table(cz_cuda_fixed_shape s, uint32_t m, cz_cuda_job *job) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < s.windows * (m - 1); i += gridDim.x * blockDim.x) {
        const uint32_t window = i / (m - 1) * s.stride, j = i % (m - 1) + 1;
        store_job(&job[i], s.table + window + m, s.table + window + j, 2 * (window + m + j));
    }
}

extern "C" enum cz_status cz_cuda_k_fixed_table(struct cz_cuda_worker *w, const struct cz_cuda_fixed_shape *shape,
                                                unsigned round, struct cz_cuda_job *d_job) {
    const uint32_t m = 1u << round;
    CZ_CUDA_LAUNCH(w, k_table, cz_cuda_grid(cz_cuda_device_info(w->cuda), (size_t)shape->windows * m, THREADS, 16),
                   THREADS, 0, w->stream, *shape, m, d_job);
    return CZ_OK;
}

static __global__ void k_scalars(Fr *scalar, uint32_t n) {
    const Mod M = fr_mod();
    Fr one = fr_zero();
    one.v[0] = 1;
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        fr_store(&scalar[i], fr_mul(fr_load(&scalar[i]), one, M));
}

extern "C" enum cz_status cz_cuda_k_fixed_scalars(struct cz_cuda_worker *w, uint32_t *d_scalar, uint32_t n) {
    CZ_CUDA_LAUNCH(w, k_scalars, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, THREADS, 16), THREADS, 0, w->stream,
                   (Fr *)d_scalar, n);
    return CZ_OK;
}

// Reference of the entry of window k, with the digit's sign.
static __device__ uint32_t entry(const uint32_t (&x)[9], const cz_cuda_fixed_shape &s, uint32_t k) {
    const uint32_t off = k * s.bits, word = off >> 5;
    uint64_t two = 0;
#pragma unroll
    for (uint32_t j = 0; j < 9; j++) two |= j == word ? (uint64_t)x[j] : j == word + 1 ? (uint64_t)x[j] << 32 : 0;
    const uint32_t raw = (uint32_t)(two >> (off & 31)) & ((1u << s.bits) - 1);
    const int32_t d = (int32_t)raw - (int32_t)(1u << (s.bits - 1));
    return (s.table + k * s.stride + (uint32_t)abs(d)) | (d < 0 ? 1u << 31 : 0);
}

static __global__ void k_jobs(const __grid_constant__ cz_cuda_fixed_shape s, uint32_t k, const Fr *scalar, uint32_t n,
                              uint32_t sums, cz_cuda_job *job) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const Fr t = fr_load(&scalar[i]);
        uint32_t x[9];
        x[0] = add_cc(t.v[0], s.add[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) x[j] = addc_cc(t.v[j], s.add[j]);
        x[8] = addc(s.add[8], 0);
        store_job(&job[i], k == 1 ? entry(x, s, 0) : sums + i, entry(x, s, k), 2 * i);
    }
}

extern "C" enum cz_status cz_cuda_k_fixed_jobs(struct cz_cuda_worker *w, const struct cz_cuda_fixed_shape *shape,
                                               unsigned k, const uint32_t *d_scalar, uint32_t n, uint32_t sums,
                                               struct cz_cuda_job *d_job) {
    CZ_CUDA_LAUNCH(w, k_jobs, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, THREADS, 16), THREADS, 0, w->stream, *shape,
                   k, (const Fr *)d_scalar, n, sums, d_job);
    return CZ_OK;
}

// Montgomery form to 48 bytes big endian.
static __device__ fp to_be(const fp &a) {
    fp one = fp_zero(), r;
    one.v[0] = 1;
    const fp t = mul_called(a, one);
#pragma unroll
    for (int i = 0; i < 12; i++) r.v[11 - i] = __byte_perm(t.v[i], 0, 0x0123);
    return r;
}

static __global__ void k_out_g1(aff<fp> *point, uint32_t n, bool encoded) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        fp x, y;
        ld_fp(x, &point[i].x);
        ld_fp(y, &point[i].y);
        if (x_is_inf(x)) {
            x = fp_zero();
            y = x;
            if (encoded) x.v[0] = 0x40;
        } else if (encoded) {
            x = to_be(x);
            y = to_be(y);
        }
        st_fp(&point[i].x, x);
        st_fp(&point[i].y, y);
    }
}

// In the file c1 comes before c0.
static __global__ void k_out_g2(aff<fp2> *point, uint32_t n, bool encoded) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        fp c[4];
        ld_fp(c[0], &point[i].x.c0);
        ld_fp(c[1], &point[i].x.c1);
        ld_fp(c[2], &point[i].y.c0);
        ld_fp(c[3], &point[i].y.c1);
        if (x_is_inf(c[0])) {
#pragma unroll
            for (int j = 0; j < 4; j++) c[j] = fp_zero();
            if (encoded) c[1].v[0] = 0x40;
        } else if (encoded) {
#pragma unroll
            for (int j = 0; j < 4; j++) c[j] = to_be(c[j]);
        }
        st_fp(&point[i].x.c0, encoded ? c[1] : c[0]);
        st_fp(&point[i].x.c1, encoded ? c[0] : c[1]);
        st_fp(&point[i].y.c0, encoded ? c[3] : c[2]);
        st_fp(&point[i].y.c1, encoded ? c[2] : c[3]);
    }
}

extern "C" enum cz_status cz_cuda_k_fixed_out(struct cz_cuda_worker *w, enum cz_cuda_group group, void *d_point,
                                              uint32_t n, bool encoded) {
    const unsigned grid = cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 128, 32);
    if (group == CZ_CUDA_G1)
        CZ_CUDA_LAUNCH(w, k_out_g1, grid, 128, 0, w->stream, (aff<fp> *)d_point, n, encoded);
    else
        CZ_CUDA_LAUNCH(w, k_out_g2, grid, 128, 0, w->stream, (aff<fp2> *)d_point, n, encoded);
    return CZ_OK;
}
