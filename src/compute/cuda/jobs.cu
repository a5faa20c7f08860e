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

#define TILE_THREADS 256
#define TILE_EACH 8
#define TILE (TILE_THREADS * TILE_EACH)

// First place of the key that stands at place `at`: the keys are sorted.
static __device__ uint32_t run_start(const uint32_t *key, uint32_t at) {
    const uint32_t k = key[at];
    uint32_t lo = 0, hi = at; // key[hi] = k
    while (lo < hi) {
        uint32_t mid = lo + (hi - lo) / 2;
        if (key[mid] < k)
            lo = mid + 1;
        else
            hi = mid;
    }
    return hi;
}

// Exclusive maximum over the block's threads; -1 where none stands before.
static __device__ int32_t scan_max(int32_t mine) {
    __shared__ int32_t warp_max[TILE_THREADS / 32];
    const uint32_t lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    int32_t s = mine;
    for (int d = 1; d < 32; d <<= 1) {
        int32_t t = __shfl_up_sync(0xffffffffu, s, d);
        if (lane >= d) s = max(s, t);
    }
    if (lane == 31) warp_max[wid] = s;
    int32_t before = __shfl_up_sync(0xffffffffu, s, 1);
    if (lane == 0) before = -1;
    __syncthreads();
    for (uint32_t i = 0; i < wid; i++) before = max(before, warp_max[i]);
    __syncthreads();
    return before;
}
// Exclusive sum; *total gets that of all.
static __device__ uint32_t scan_sum(uint32_t mine, uint32_t *total) {
    __shared__ uint32_t warp_sum[TILE_THREADS / 32];
    const uint32_t lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    uint32_t s = mine, before = 0, all = 0;
    for (int d = 1; d < 32; d <<= 1) {
        uint32_t t = __shfl_up_sync(0xffffffffu, s, d);
        if (lane >= d) s += t;
    }
    if (lane == 31) warp_sum[wid] = s;
    __syncthreads();
    for (uint32_t i = 0; i < TILE_THREADS / 32; i++) {
        if (i < wid) before += warp_sum[i];
        all += warp_sum[i];
    }
    __syncthreads();
    *total = all;
    return before + s - mine;
}
// Place in the list for this thread's `mine` jobs: one atomic a tile. The order of the list is only roughly that of the
// slots, which is enough.
static __device__ uint32_t reserve(uint32_t mine, uint32_t *count) {
    __shared__ uint32_t first;
    uint32_t total, before = scan_sum(mine, &total);
    if (threadIdx.x == 0) first = total ? atomicAdd(count, total) : 0;
    __syncthreads();
    uint32_t at = first + before;
    __syncthreads();
    return at;
}

// Bounds of the buckets and the list of round 0, whose operands are points, from one reading of the sorted pairs.
// start and end are zeroed beforehand, so an empty bucket has end - start = 0.
static __global__ void __launch_bounds__(TILE_THREADS)
    k_jobs_first(const __grid_constant__ cz_cuda_set set, uint32_t *start, uint32_t *end, cz_cuda_job *out,
                 uint32_t *count) {
    __shared__ uint32_t key[TILE + 2], value[TILE + 1], before_tile;
    const uint32_t none = 0xffffffffu;
    for (uint64_t tile = (uint64_t)blockIdx.x * TILE; tile < set.n; tile += (uint64_t)gridDim.x * TILE) {
        const uint32_t base = (uint32_t)tile;
        // key[j + 1] is the tile's j-th.
        for (uint32_t j = threadIdx.x; j < TILE + 2; j += TILE_THREADS) {
            const uint64_t i = (uint64_t)base + j;
            key[j] = i >= 1 && i - 1 < set.n ? set.key[i - 1] : none;
            if (j < TILE + 1) value[j] = i < set.n ? set.value[i] : 0;
        }
        __syncthreads();
        if (threadIdx.x == 0 && key[0] == key[1] && key[1] < set.num) before_tile = run_start(set.key, base - 1);
        const uint32_t j0 = threadIdx.x * TILE_EACH;
        int32_t head = -1;
#pragma unroll
        for (uint32_t e = 0; e < TILE_EACH; e++)
            if (key[j0 + e + 1] != key[j0 + e]) head = (int32_t)(j0 + e);
        head = scan_max(head);
        // Where the run of the current element starts, as a place in the set.
        uint32_t s = head >= 0 ? base + (uint32_t)head : before_tile, wants = 0;
        uint32_t run = s;
#pragma unroll
        for (uint32_t e = 0; e < TILE_EACH; e++) {
            const uint32_t k = key[j0 + e + 1], i = base + j0 + e;
            if (k != key[j0 + e]) {
                run = i;
                if (k < set.num) start[set.bucket0 + k] = set.slot0 + i;
            }
            if (k >= set.num) continue; // zero digits, and what lies past the end
            if (k != key[j0 + e + 2])
                end[set.bucket0 + k] = set.slot0 + i + 1;
            else if (!((i - run) & 1))
                wants |= 1u << e;
        }
        uint32_t at = reserve(__popc(wants), count);
#pragma unroll
        for (uint32_t e = 0; e < TILE_EACH; e++)
            if (wants >> e & 1)
                *(uint4 *)&out[at++] = make_uint4(value[j0 + e], value[j0 + e + 1], set.slot0 + base + j0 + e,
                                                  set.bucket0 + key[j0 + e + 1]);
        __syncthreads();
    }
}

extern "C" enum cz_status cz_cuda_k_jobs_first(struct cz_cuda_worker *w, cudaStream_t stream,
                                               const struct cz_cuda_set *set, uint32_t *d_start, uint32_t *d_end,
                                               struct cz_cuda_job *d_job, uint32_t *d_count) {
    CZ_CUDA_LAUNCH(w, k_jobs_first, cz_cuda_grid(cz_cuda_device_info(w->cuda), set->n / TILE_EACH + 1, TILE_THREADS, 8),
                   TILE_THREADS, 0, stream, *set, d_start, d_end, d_job, d_count);
    return CZ_OK;
}

// The left operand is a sum, the right one a sum or a single point. The list keeps its order, so that neighbours in it
// stay neighbours in memory: the counts of the four elements of a thread are scanned side by side, 16 bits each.
#define NEXT_EACH 4
static __global__ void __launch_bounds__(TILE_THREADS)
    k_jobs_next(const cz_cuda_job *in, const uint32_t *in_count, unsigned round, const uint32_t *value, uint32_t sums,
                const uint32_t *start, const uint32_t *end, cz_cuda_job *out, uint32_t *count) {
    __shared__ uint64_t warp_sum[TILE_THREADS / 32];
    __shared__ uint32_t first;
    const uint32_t n = *in_count, lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
    const uint32_t tile = NEXT_EACH * TILE_THREADS;
    for (uint64_t at = (uint64_t)blockIdx.x * tile; at < n; at += (uint64_t)gridDim.x * tile) {
        uint4 job[NEXT_EACH];
        uint64_t wants = 0;
#pragma unroll
        for (uint32_t e = 0; e < NEXT_EACH; e++) {
            const uint64_t i = at + e * TILE_THREADS + threadIdx.x;
            if (i < n) job[e] = *(const uint4 *)&in[i];
        }
#pragma unroll
        for (uint32_t e = 0; e < NEXT_EACH; e++) {
            if (at + e * TILE_THREADS + threadIdx.x >= n) continue;
            const uint32_t slot = job[e].z, s = start[job[e].w], rem = end[job[e].w] - slot;
            const uint32_t right = slot + (1u << round);
            if (((slot - s) & ((2u << round) - 1)) || rem <= 1u << round) continue;
            wants |= 1ull << (16 * e);
            job[e].x = sums + (slot >> 1);
            job[e].y = rem == (1u << round) + 1 ? value[right] : sums + (right >> 1);
        }
        uint64_t s = wants, before = 0, all = 0;
        for (int d = 1; d < 32; d <<= 1) {
            uint64_t t = __shfl_up_sync(0xffffffffu, s, d);
            if (lane >= d) s += t;
        }
        if (lane == 31) warp_sum[wid] = s;
        __syncthreads();
        for (uint32_t i = 0; i < TILE_THREADS / 32; i++) {
            if (i < wid) before += warp_sum[i];
            all += warp_sum[i];
        }
        before += s - wants;
        if (threadIdx.x == 0) {
            uint32_t total = 0;
            for (uint32_t e = 0; e < NEXT_EACH; e++) total += (uint32_t)(all >> (16 * e)) & 0xffff;
            first = total ? atomicAdd(count, total) : 0;
        }
        __syncthreads();
        uint32_t to = first;
#pragma unroll
        for (uint32_t e = 0; e < NEXT_EACH; e++) {
            if (wants >> (16 * e) & 1) *(uint4 *)&out[to + ((uint32_t)(before >> (16 * e)) & 0xffff)] = job[e];
            to += (uint32_t)(all >> (16 * e)) & 0xffff;
        }
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
