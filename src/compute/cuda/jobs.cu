// Scalars to sorted digits to lists of additions. The sorted pairs of a bucket are a binary tree laid over its slots:
// in round r the element at bucket-relative position q = 0 mod 2^(r+1) takes in the one at q + 2^r. Its sum lies at
// slot / 2 of the sums, which no other pair uses; an element that has not met a partner stays among the points and is
// fetched from there, so nothing is ever copied, and any skew stays parallel.
#include "compute/cuda/fp.cuh"
#include "compute/cuda/kernels.h"

__device__ __constant__ uint32_t c_r[8] = {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                                           0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
__device__ __constant__ uint32_t c_half[8] = {0x80000000u, 0x7fffffffu, 0x7fff2dffu, 0xa9ded201u,
                                              0x04d0ec02u, 0x199cec04u, 0x94cebea4u, 0x39f6d3a9u};

// x / 2^256 mod r: Montgomery form to canonical. -1/r mod 2^32 is -1.
static __device__ void from_montgomery(uint32_t (&x)[8]) {
    for (int i = 0; i < 8; i++) {
        uint32_t m = 0u - x[0];
        uint64_t c = ((uint64_t)m * c_r[0] + x[0]) >> 32;
#pragma unroll
        for (int j = 1; j < 8; j++) {
            c += (uint64_t)m * c_r[j] + x[j];
            x[j - 1] = (uint32_t)c;
            c >>= 32;
        }
        x[7] = (uint32_t)c;
    }
    uint32_t t[8]; // below 2 r is not reached: x < r gives a result of at most r
    t[0] = sub_cc(x[0], c_r[0]);
#pragma unroll
    for (int j = 1; j < 8; j++) t[j] = subc_cc(x[j], c_r[j]);
    uint32_t borrow = subc(0, 0);
#pragma unroll
    for (int j = 0; j < 8; j++) x[j] = borrow ? x[j] : t[j];
}

static __global__ void k_digits(const uint32_t *scalar, const uint32_t *index, uint32_t n,
                                const __grid_constant__ cz_cuda_digits a, uint32_t *key, uint32_t *value) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const uint4 *q = (const uint4 *)(scalar + (size_t)8 * i);
        uint4 lo = q[0], hi = q[1];
        uint32_t x[8] = {lo.x, lo.y, lo.z, lo.w, hi.x, hi.y, hi.z, hi.w}, t[8];
        if (a.montgomery) from_montgomery(x);
        // x > r/2: x = r - x
        t[0] = sub_cc(c_half[0], x[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) t[j] = subc_cc(c_half[j], x[j]);
        const uint32_t flip = subc(0, 0);
        t[0] = sub_cc(c_r[0], x[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) t[j] = subc_cc(c_r[j], x[j]);
#pragma unroll
        for (int j = 0; j < 8; j++) x[j] = flip ? t[j] : x[j];
        x[0] = add_cc(x[0], a.add[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) x[j] = addc_cc(x[j], a.add[j]);
        const uint32_t at = index ? index[i] : i;
        for (uint32_t k = 0; k < a.count; k++) {
            const uint32_t w = a.off[k] >> 5, sh = a.off[k] & 31;
            uint64_t two = 0;
#pragma unroll
            for (uint32_t j = 0; j < 8; j++) two |= j == w ? (uint64_t)x[j] : j == w + 1 ? (uint64_t)x[j] << 32 : 0;
            const uint32_t raw = (uint32_t)(two >> sh) & ((1u << a.bits[k]) - 1);
            const int32_t d = k == a.top ? (int32_t)raw : (int32_t)raw - (1 << (a.bits[k] - 1));
            const uint32_t neg = d < 0, m = neg ? -d : d;
            key[(size_t)k * n + i] = m ? m - 1 : a.none[k];
            value[(size_t)k * n + i] = (a.first[k] + at) | ((neg ^ (flip & 1)) << 31);
        }
    }
}

extern "C" enum cz_status cz_cuda_k_digits(struct cz_cuda_worker *w, cudaStream_t stream,
                                           const struct cz_cuda_digits *digits, const uint32_t *d_scalar,
                                           const uint32_t *d_index, uint32_t n, uint32_t *d_key, uint32_t *d_value) {
    CZ_CUDA_LAUNCH(w, k_digits, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, stream, d_scalar,
                   d_index, n, *digits, d_key, d_value);
    return CZ_OK;
}

static __global__ void k_check(const uint32_t *scalar, size_t n, uint32_t *bad) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        sub_cc(scalar[8 * i], c_r[0]);
#pragma unroll
        for (int j = 1; j < 8; j++) subc_cc(scalar[8 * i + j], c_r[j]);
        if (subc(0, 0) == 0) *bad = 1;
    }
}

extern "C" enum cz_status cz_cuda_scalars_check(struct cz_cuda_worker *w, bool *ok, const uint32_t *d_scalar,
                                                size_t n) {
    struct cz_cuda_mark mark = cz_cuda_mark(w);
    uint32_t *d_bad = (uint32_t *)cz_cuda_mem(w, 1, 4), *bad = (uint32_t *)cz_cuda_pinned(w, 1, 4);
    if (!d_bad || !bad) return cz_cuda_full(w, "a check of scalars");
    CZ_CUDA(w, cudaMemsetAsync(d_bad, 0, 4, w->stream));
    CZ_CUDA_LAUNCH(w, k_check, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, w->stream, d_scalar, n,
                   d_bad);
    CZ_CUDA(w, cudaMemcpyAsync(bad, d_bad, 4, cudaMemcpyDeviceToHost, w->stream));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    *ok = *bad == 0;
    cz_cuda_release(w, mark);
    return CZ_OK;
}

// start and end are zeroed beforehand, so an empty bucket has end - start = 0.
static __global__ void k_bounds(const uint32_t *key, uint32_t n, uint32_t slot0, uint32_t bucket0, uint32_t num,
                                uint32_t *start, uint32_t *end) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        uint32_t k = key[i];
        if (k >= num) continue; // zero digits
        if (i == 0 || key[i - 1] != k) start[bucket0 + k] = slot0 + i;
        if (i == n - 1 || key[i + 1] != k) end[bucket0 + k] = slot0 + i + 1;
    }
}

extern "C" enum cz_status cz_cuda_k_bounds(struct cz_cuda_worker *w, cudaStream_t stream, const struct cz_cuda_set *set,
                                           uint32_t *d_start, uint32_t *d_end) {
    CZ_CUDA_LAUNCH(w, k_bounds, cz_cuda_grid(cz_cuda_device_info(w->cuda), set->n, 256, 16), 256, 0, stream, set->key,
                   set->n, set->slot0, set->bucket0, set->num, d_start, d_end);
    return CZ_OK;
}

static __global__ void k_longest(const uint32_t *start, const uint32_t *end, uint32_t n, uint32_t *longest) {
    uint32_t m = 0;
    for (uint32_t b = blockIdx.x * blockDim.x + threadIdx.x; b < n; b += gridDim.x * blockDim.x)
        m = max(m, end[b] - start[b]);
    for (int i = 16; i; i >>= 1) m = max(m, __shfl_xor_sync(0xffffffffu, m, i));
    if ((threadIdx.x & 31) == 0 && m) atomicMax(longest, m);
}

extern "C" enum cz_status cz_cuda_k_longest(struct cz_cuda_worker *w, cudaStream_t stream, const uint32_t *d_start,
                                            const uint32_t *d_end, uint32_t n, uint32_t *d_longest) {
    CZ_CUDA_LAUNCH(w, k_longest, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 4), 256, 0, stream, d_start, d_end,
                   n, d_longest);
    return CZ_OK;
}

// Appends the jobs of the block's threads with one atomic a block: the order of the list is only roughly that of the
// slots, which is enough.
static __device__ __forceinline__ void append(bool want, cz_cuda_job job, cz_cuda_job *out, uint32_t *count) {
    __shared__ uint32_t warp_sum[33];
    uint32_t lane = threadIdx.x & 31, wid = threadIdx.x >> 5, nw = blockDim.x >> 5;
    uint32_t ballot = __ballot_sync(0xffffffffu, want);
    if (lane == 0) warp_sum[wid] = __popc(ballot);
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t s = 0;
        for (uint32_t i = 0; i < nw; i++) {
            uint32_t t = warp_sum[i];
            warp_sum[i] = s;
            s += t;
        }
        warp_sum[32] = s ? atomicAdd(count, s) : 0;
    }
    __syncthreads();
    if (want)
        *(uint4 *)&out[warp_sum[32] + warp_sum[wid] + __popc(ballot & ((1u << lane) - 1))] =
            make_uint4(job.a, job.b, job.slot, job.bucket);
    __syncthreads();
}

static __global__ void __launch_bounds__(256)
    k_jobs_first(const __grid_constant__ cz_cuda_set set, const uint32_t *start, const uint32_t *end, cz_cuda_job *out,
                 uint32_t *count) {
    for (uint32_t block = blockIdx.x * blockDim.x; block < set.n; block += gridDim.x * blockDim.x) {
        uint32_t i = block + threadIdx.x;
        bool want = false;
        cz_cuda_job job = {0, 0, 0, 0};
        if (i < set.n) {
            uint32_t k = set.key[i];
            if (k < set.num) {
                uint32_t s = start[set.bucket0 + k], e = end[set.bucket0 + k], q = set.slot0 + i - s;
                want = !(q & 1) && set.slot0 + i + 1 < e;
                if (want) job = {set.value[i], set.value[i + 1], set.slot0 + i, set.bucket0 + k};
            }
        }
        append(want, job, out, count);
    }
}

extern "C" enum cz_status cz_cuda_k_jobs_first(struct cz_cuda_worker *w, cudaStream_t stream,
                                               const struct cz_cuda_set *set, const uint32_t *d_start,
                                               const uint32_t *d_end, struct cz_cuda_job *d_job, uint32_t *d_count) {
    CZ_CUDA_LAUNCH(w, k_jobs_first, cz_cuda_grid(cz_cuda_device_info(w->cuda), set->n, 256, 8), 256, 0, stream, *set,
                   d_start, d_end, d_job, d_count);
    return CZ_OK;
}

// The left operand is a sum, the right one a sum or a single point.
static __global__ void __launch_bounds__(256)
    k_jobs_next(const cz_cuda_job *in, const uint32_t *in_count, unsigned round, const uint32_t *value, uint32_t sums,
                const uint32_t *start, const uint32_t *end, cz_cuda_job *out, uint32_t *count) {
    const uint32_t n = *in_count;
    for (uint32_t block = blockIdx.x * blockDim.x; block < n; block += gridDim.x * blockDim.x) {
        uint32_t i = block + threadIdx.x;
        bool want = false;
        cz_cuda_job job = {0, 0, 0, 0};
        if (i < n) {
            uint4 t = *(const uint4 *)&in[i];
            job = {t.x, t.y, t.z, t.w};
            uint32_t s = start[job.bucket], e = end[job.bucket], q = job.slot - s, rem = e - job.slot;
            uint32_t right = job.slot + (1u << round);
            want = !(q & ((2u << round) - 1)) && rem > (1u << round);
            if (want) {
                job.a = sums + (job.slot >> 1);
                job.b = rem == (1u << round) + 1 ? value[right] : sums + (right >> 1);
            }
        }
        append(want, job, out, count);
    }
}

extern "C" enum cz_status cz_cuda_k_jobs_next(struct cz_cuda_worker *w, cudaStream_t stream,
                                              const struct cz_cuda_job *d_in, const uint32_t *d_in_count,
                                              unsigned round, const uint32_t *d_value, uint32_t sums,
                                              const uint32_t *d_start, const uint32_t *d_end, struct cz_cuda_job *d_out,
                                              uint32_t *d_count) {
    unsigned grid = (unsigned)cz_cuda_device_info(w->cuda)->sms * 8;
    CZ_CUDA_LAUNCH(w, k_jobs_next, grid, 256, 0, stream, d_in, d_in_count, round, d_value, sums, d_start, d_end, d_out,
                   d_count);
    return CZ_OK;
}
