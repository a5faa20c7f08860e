// Which points a bit sum adds: bits to a list of references, and lists to rounds of pairs.
#include "compute/cuda/kernels.h"

#define ALL 0xffffffffu
#define T 256 // words a block

static __device__ __forceinline__ uint64_t word(const uint64_t *bit, size_t n, size_t i) {
    if (i >= (n + 63) / 64) return 0;
    uint64_t b = bit[i];
    return i == n / 64 ? b & ((1ull << (n & 63)) - 1) : b;
}
// Chosen bits in the low half, bits of the mask in the high half. Each of them is at most n < 2^32.
static __device__ __forceinline__ uint64_t counts(uint64_t chosen, uint64_t mask) {
    return (uint64_t)__popcll(chosen) | (uint64_t)__popcll(mask) << 32;
}
// Exclusive sum within the block, total in *sum.
static __device__ uint64_t block_scan(uint64_t mine, uint64_t *sum) {
    __shared__ uint64_t warp_sum[32];
    const uint32_t lane = threadIdx.x & 31, wid = threadIdx.x >> 5, warps = blockDim.x >> 5;
    uint64_t s = mine;
    for (int d = 1; d < 32; d <<= 1) {
        uint64_t t = __shfl_up_sync(ALL, s, d);
        if (lane >= d) s += t;
    }
    if (lane == 31) warp_sum[wid] = s;
    __syncthreads();
    uint64_t before = 0, all = 0;
    for (uint32_t i = 0; i < warps; i++) {
        if (i < wid) before += warp_sum[i];
        all += warp_sum[i];
    }
    __syncthreads();
    *sum = all;
    return before + s - mine;
}

// Lower bits of the pairs that have a bit.
static __device__ __forceinline__ uint64_t any_of_pair(uint64_t v) {
    return (v | v >> 1) & 0x5555555555555555ull;
}

template <bool PAIRS>
static __global__ void __launch_bounds__(T)
    k_count(const uint64_t *value, const uint64_t *mask, size_t n, uint64_t *out) {
    const size_t i = (size_t)blockIdx.x * T + threadIdx.x;
    uint64_t m = mask ? word(mask, n, i) : ~0ull, sum;
    uint64_t v = word(value, n, i) & m;
    (void)block_scan(counts(PAIRS ? any_of_pair(v) : v, mask ? m : 0), &sum);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
// Exclusive sums of v in place, by one block.
static __global__ void __launch_bounds__(1024) k_scan(uint64_t *v, uint32_t n, uint32_t *total) {
    uint64_t carry = 0, sum;
    for (uint32_t first = 0; first < n; first += 1024) {
        const uint32_t i = first + threadIdx.x;
        uint64_t before = block_scan(i < n ? v[i] : 0, &sum);
        if (i < n) v[i] = carry + before;
        carry += sum;
    }
    if (threadIdx.x == 0) *total = (uint32_t)carry;
}
// PAIRS: a pair with both bits set takes its sum instead, at reference pair + index of the pair.
template <bool PAIRS>
static __global__ void __launch_bounds__(T)
    k_emit(const uint64_t *value, const uint64_t *mask, size_t n, uint32_t first, uint32_t pair, const uint64_t *before,
           uint32_t *ref) {
    const size_t i = (size_t)blockIdx.x * T + threadIdx.x;
    const uint32_t lane = threadIdx.x & 31;
    uint64_t m = mask ? word(mask, n, i) : ~0ull, c = word(value, n, i) & m, sum;
    uint64_t at = before[blockIdx.x] + block_scan(counts(PAIRS ? any_of_pair(c) : c, mask ? m : 0), &sum);
    // The warp takes its words one by one: writes of a word are next to each other.
    for (int j = 0; j < 32; j++) {
        const uint64_t cw = __shfl_sync(ALL, c, j), mw = __shfl_sync(ALL, m, j), aw = __shfl_sync(ALL, at, j);
        if (!cw) continue;
        if (PAIRS) {
            const uint64_t any = any_of_pair(cw);
            const uint32_t word_at = (uint32_t)(i - lane + j), two = (uint32_t)(cw >> (2 * lane)) & 3;
            if (two)
                ref[(uint32_t)aw + __popcll(any & ((1ull << (2 * lane)) - 1))] =
                    two == 3 ? pair + word_at * 32 + lane : first + word_at * 64 + 2 * lane + (two >> 1);
            continue;
        }
        const uint32_t base = mask ? first + (uint32_t)(aw >> 32) : first + (uint32_t)(i - lane + j) * 64;
#pragma unroll
        for (int h = 0; h < 64; h += 32) {
            const uint32_t b = lane + h;
            if (!(cw >> b & 1)) continue;
            const uint64_t below = (1ull << b) - 1;
            ref[(uint32_t)aw + __popcll(cw & below)] = base + (mask ? __popcll(mw & below) : b);
        }
    }
}

static uint32_t blocks_of(size_t n) {
    return (uint32_t)((n + 64 * T - 1) / (64 * T));
}

extern "C" size_t cz_cuda_select_bytes(size_t n) {
    return 8 * (size_t)(blocks_of(n) + 1);
}

extern "C" enum cz_status cz_cuda_k_select(struct cz_cuda_worker *w, cudaStream_t stream, const uint64_t *d_value,
                                           const uint64_t *d_mask, size_t n, uint32_t first, void *d_tmp,
                                           uint32_t *d_ref, uint32_t *d_total) {
    const uint32_t blocks = blocks_of(n);
    uint64_t *before = (uint64_t *)d_tmp;
    CZ_CUDA_LAUNCH(w, k_count<false>, blocks, T, 0, stream, d_value, d_mask, n, before);
    CZ_CUDA_LAUNCH(w, k_scan, 1, 1024, 0, stream, before, blocks, d_total);
    CZ_CUDA_LAUNCH(w, k_emit<false>, blocks, T, 0, stream, d_value, d_mask, n, first, 0, before, d_ref);
    return CZ_OK;
}

extern "C" enum cz_status cz_cuda_k_select_pairs(struct cz_cuda_worker *w, cudaStream_t stream, const uint64_t *d_value,
                                                 size_t n, uint32_t first, uint32_t pair, void *d_tmp, uint32_t *d_ref,
                                                 uint32_t *d_total) {
    const uint32_t blocks = blocks_of(n);
    uint64_t *before = (uint64_t *)d_tmp;
    const uint64_t *no_mask = nullptr;
    CZ_CUDA_LAUNCH(w, k_count<true>, blocks, T, 0, stream, d_value, no_mask, n, before);
    CZ_CUDA_LAUNCH(w, k_scan, 1, 1024, 0, stream, before, blocks, d_total);
    CZ_CUDA_LAUNCH(w, k_emit<true>, blocks, T, 0, stream, d_value, no_mask, n, first, pair, before, d_ref);
    return CZ_OK;
}

static __global__ void k_compact(const uint64_t *value, const uint64_t *mask, const uint32_t *before, size_t words,
                                 unsigned long long *out) {
    const size_t step = (size_t)gridDim.x * blockDim.x;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += step) {
        const uint64_t m = mask[i];
        uint64_t c = 0;
        for (uint64_t rest = value[i] & m; rest; rest &= rest - 1)
            c |= 1ull << __popcll(m & ((rest & -rest) - 1));
        if (!c) continue;
        const uint32_t at = before[i], shift = at & 63;
        atomicOr(&out[at / 64], c << shift);
        if (shift && c >> (64 - shift)) atomicOr(&out[at / 64 + 1], c >> (64 - shift));
    }
}

extern "C" enum cz_status cz_cuda_k_compact(struct cz_cuda_worker *w, cudaStream_t stream, const uint64_t *d_value,
                                            const uint64_t *d_mask, const uint32_t *d_before, size_t words,
                                            uint64_t *d_out, size_t out_words) {
    CZ_CUDA(w, cudaMemsetAsync(d_out, 0, 8 * out_words, stream));
    if (!words) return CZ_OK;
    CZ_CUDA_LAUNCH(w, k_compact, cz_cuda_grid(cz_cuda_device_info(w->cuda), words, 256, 16), 256, 0, stream, d_value,
                   d_mask, d_before, words, (unsigned long long *)d_out);
    return CZ_OK;
}

static __global__ void k_neighbours(cz_cuda_job *job, uint32_t n, uint32_t first) {
    for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        *(uint4 *)&job[i] = make_uint4(first + 2 * i, first + 2 * i + 1, 2 * i, 0);
}

extern "C" enum cz_status cz_cuda_k_neighbours(struct cz_cuda_worker *w, cudaStream_t stream, struct cz_cuda_job *d_job,
                                               uint32_t n, uint32_t first) {
    CZ_CUDA_LAUNCH(w, k_neighbours, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, stream, d_job, n,
                   first);
    return CZ_OK;
}

// The first round puts sums at to + j; later ones over their left operand, which is a sum and read by nobody else.
static __global__ void k_pairs(const uint32_t *ref, uint32_t n, uint32_t to, bool in_place, cz_cuda_job *job,
                               uint32_t *out) {
    const uint32_t pairs = n / 2;
    for (uint32_t j = blockIdx.x * blockDim.x + threadIdx.x; j <= pairs; j += gridDim.x * blockDim.x) {
        if (j < pairs) {
            uint32_t a = ref[2 * j], b = ref[2 * j + 1], at = in_place ? a : to + j;
            *(uint4 *)&job[j] = make_uint4(a, b, (at - to) * 2, 0);
            out[j] = at;
        } else if (n & 1) {
            out[j] = ref[n - 1];
        }
    }
}

extern "C" enum cz_status cz_cuda_k_pairs(struct cz_cuda_worker *w, cudaStream_t stream, const uint32_t *d_ref,
                                          uint32_t n, uint32_t to, bool in_place, struct cz_cuda_job *d_job,
                                          uint32_t *d_ref_out) {
    CZ_CUDA_LAUNCH(w, k_pairs, cz_cuda_grid(cz_cuda_device_info(w->cuda), n / 2 + 1, 256, 16), 256, 0, stream, d_ref, n,
                   to, in_place, d_job, d_ref_out);
    return CZ_OK;
}
