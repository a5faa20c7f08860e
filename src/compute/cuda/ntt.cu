/* The kernels around the passes of 512: passes of fewer bits, tables, reordering, scaling, products by position. */

#include "compute/cuda/fr.cuh"
#include "compute/cuda/ntt_types.h"

#define SMALL_VALUES 512 /* of a block */

static __device__ __forceinline__ Fr power(const Fr *low, const Fr *high, uint32_t e, const Mod &M) {
    return fr_mul(fr_load_const(low + (e & (CZ_CUDA_LOW - 1))), fr_load_const(high + (e >> CZ_CUDA_LOW_BITS)), M);
}

/* The number of the value at a position whose digits are reversed. */
static __host__ __device__ __forceinline__ uint32_t number_at(uint32_t position, uint32_t log_n) {
    uint32_t number = 0, weight = 0;
    while (log_n) {
        const uint32_t s = log_n < 9 ? log_n : 9;
        log_n -= s;
        number |= (position >> log_n & ((1u << s) - 1)) << weight;
        weight += s;
    }
    return number;
}

/* A pass of `bits` <= 9 bits with radix-2 steps in shared memory: for sizes that nines do not make up. */
static __global__ void __launch_bounds__(SMALL_VALUES / 2)
    k_pass_small(Fr *x, uint32_t log_stride, uint32_t bits, uint32_t log_values, bool up, const Fr *w512,
                 const Fr *low, const Fr *high, uint32_t shift) {
    __shared__ Fr sh[SMALL_VALUES];
    const Mod M = fr_mod();
    const uint32_t values = 1u << log_values, log_c = log_values - bits, size = 1u << bits;
    const uint32_t first = blockIdx.x << log_c; /* column */
    for (uint32_t i = threadIdx.x; i < values; i += blockDim.x) {
        const uint32_t r = log_stride ? i >> log_c : i & (size - 1), c = log_stride ? i & ((1u << log_c) - 1) : i >> bits;
        const uint32_t q = first + c, j = q & ((1u << log_stride) - 1);
        Fr v = fr_load(x + ((uint64_t)(q >> log_stride) << (log_stride + bits)) + ((uint64_t)r << log_stride) + j);
        if (up && j) v = fr_mul(v, power(low, high, r * j << shift, M), M);
        sh[((up && bits ? __brev(r) >> (32 - bits) : r) << log_c) + c] = v;
    }
    for (uint32_t k = 0; k < bits; k++) {
        const uint32_t s = up ? k : bits - 1 - k;
        __syncthreads();
        for (uint32_t i = threadIdx.x; i < values / 2; i += blockDim.x) {
            const uint32_t c = i & ((1u << log_c) - 1), p = i >> log_c, lo = p & ((1u << s) - 1);
            const uint32_t a = ((((p >> s) << (s + 1)) | lo) << log_c) + c, b = a + (1u << (s + log_c));
            const Fr f = fr_load_const(w512 + (lo << (8 - s)));
            if (up) {
                const Fr t = fr_mul(sh[b], f, M);
                sh[b] = fr_sub(sh[a], t, M);
                sh[a] = fr_add(sh[a], t, M);
            } else {
                const Fr t = fr_sub(sh[a], sh[b], M);
                sh[a] = fr_add(sh[a], sh[b], M);
                sh[b] = fr_mul(t, f, M);
            }
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < values; i += blockDim.x) {
        const uint32_t r = log_stride ? i >> log_c : i & (size - 1), c = log_stride ? i & ((1u << log_c) - 1) : i >> bits;
        const uint32_t q = first + c, j = q & ((1u << log_stride) - 1);
        Fr v = sh[((!up && bits ? __brev(r) >> (32 - bits) : r) << log_c) + c];
        if (!up && j) v = fr_mul(v, power(low, high, r * j << shift, M), M);
        fr_store(x + ((uint64_t)(q >> log_stride) << (log_stride + bits)) + ((uint64_t)r << log_stride) + j, v);
    }
}

extern "C" enum cz_status cz_cuda_k_pass_small(struct cz_cuda_worker *w, struct cz_fr *d_x,
                                               const struct cz_cuda_pass *p) {
    const uint32_t log_values = p->log_n < 9 ? p->log_n : 9;
    CZ_CUDA_LAUNCH(w, k_pass_small, 1u << (p->log_n - log_values), SMALL_VALUES / 2, 0, w->stream, (Fr *)d_x,
                   p->log_m - p->bits, p->bits, log_values, p->up, (const Fr *)p->w512, (const Fr *)p->root.low,
                   (const Fr *)p->root.high, CZ_CUDA_NTT_MAX - p->log_m);
    return CZ_OK;
}

/* Grid-stride loops over n values. */
#define EACH(i, n) for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < (n); i += (size_t)gridDim.x * blockDim.x)
#define LAUNCH(kernel, n, ...)                                                                                         \
    CZ_CUDA_LAUNCH(w, kernel, cz_cuda_grid(cz_cuda_device_info(w->cuda), (n), 256, 16), 256, 0, w->stream, __VA_ARGS__)

static __global__ void k_twiddles(Fr *table, uint32_t log_m, uint32_t bits, const Fr *low, const Fr *high,
                                  const Fr *shift_low, const Fr *shift_high, uint32_t step) {
    const Mod M = fr_mod();
    const uint32_t log_stride = log_m - bits;
    EACH(i, (size_t)1 << log_m) {
        const uint32_t r = (uint32_t)(i >> log_stride), j = (uint32_t)i & ((1u << log_stride) - 1);
        Fr v = power(low, high, r * j << (CZ_CUDA_NTT_MAX - log_m), M);
        if (shift_low) v = fr_mul(v, power(shift_low, shift_high, r * step, M), M);
        fr_store(table + i, v);
    }
}

extern "C" enum cz_status cz_cuda_k_twiddles(struct cz_cuda_worker *w, struct cz_fr *d_table, uint32_t log_m,
                                             uint32_t bits, struct cz_cuda_powers root, struct cz_cuda_powers shift,
                                             uint32_t step) {
    LAUNCH(k_twiddles, (size_t)1 << log_m, (Fr *)d_table, log_m, bits, (const Fr *)root.low, (const Fr *)root.high,
           (const Fr *)shift.low, (const Fr *)shift.high, step);
    return CZ_OK;
}

static __global__ void k_scale(Fr *x, uint32_t log_n, const Fr *low, const Fr *high, Fr factor, bool reversed) {
    const Mod M = fr_mod();
    EACH(i, (size_t)1 << log_n) {
        const uint32_t e = reversed ? number_at((uint32_t)i, log_n) : (uint32_t)i;
        const Fr f = low ? fr_mul(power(low, high, e, M), factor, M) : factor;
        fr_store(x + i, fr_mul(fr_load(x + i), f, M));
    }
}

static Fr as_fr(const struct cz_fr *f) {
    Fr r;
    memcpy(r.v, f, sizeof r.v);
    return r;
}

extern "C" enum cz_status cz_cuda_k_scale(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                          struct cz_cuda_powers base, const struct cz_fr *factor, bool reversed) {
    LAUNCH(k_scale, (size_t)1 << log_n, (Fr *)d_x, log_n, (const Fr *)base.low, (const Fr *)base.high, as_fr(factor),
           reversed);
    return CZ_OK;
}

static __global__ void k_reorder(Fr *to, const Fr *from, uint32_t log_n, bool unreverse) {
    EACH(p, (size_t)1 << log_n) {
        const uint32_t i = number_at((uint32_t)p, log_n);
        fr_store(to + (unreverse ? i : p), fr_load(from + (unreverse ? p : i)));
    }
}

extern "C" enum cz_status cz_cuda_k_reorder(struct cz_cuda_worker *w, struct cz_fr *d_to, const struct cz_fr *d_from,
                                            uint32_t log_n, bool unreverse) {
    LAUNCH(k_reorder, (size_t)1 << log_n, (Fr *)d_to, (const Fr *)d_from, log_n, unreverse);
    return CZ_OK;
}

static __global__ void k_index(uint32_t *index, uint32_t log_n) {
    EACH(p, (size_t)1 << log_n) index[p] = number_at((uint32_t)p, log_n);
}

extern "C" enum cz_status cz_cuda_k_index(struct cz_cuda_worker *w, uint32_t *d_index, uint32_t log_n) {
    LAUNCH(k_index, (size_t)1 << log_n, d_index, log_n);
    return CZ_OK;
}

static __global__ void k_product(Fr *a, const Fr *b, size_t n) {
    const Mod M = fr_mod();
    EACH(i, n) fr_store(a + i, fr_mul(fr_load(a + i), fr_load(b + i), M));
}

extern "C" enum cz_status cz_cuda_k_product(struct cz_cuda_worker *w, struct cz_fr *d_a, const struct cz_fr *d_b,
                                            size_t n) {
    LAUNCH(k_product, n, (Fr *)d_a, (const Fr *)d_b, n);
    return CZ_OK;
}

static __global__ void k_combine(Fr *x, const Fr *c, uint32_t log_n, const Fr *low, const Fr *high) {
    const Mod M = fr_mod();
    EACH(p, (size_t)1 << log_n) {
        const Fr f = power(low, high, number_at((uint32_t)p, log_n), M);
        fr_store(x + p, fr_sub(fr_mul(fr_load(x + p), f, M), fr_load(c + p), M));
    }
}

extern "C" enum cz_status cz_cuda_k_combine(struct cz_cuda_worker *w, struct cz_fr *d_x, const struct cz_fr *d_c,
                                            uint32_t log_n, struct cz_cuda_powers base) {
    LAUNCH(k_combine, (size_t)1 << log_n, (Fr *)d_x, (const Fr *)d_c, log_n, (const Fr *)base.low,
           (const Fr *)base.high);
    return CZ_OK;
}
