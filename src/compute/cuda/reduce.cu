// Buckets to window sums: sum of (b + 1) B_b. A set's 2^k buckets form a table of 2^(k-h) rows and 2^h columns; the
// sums of rows and columns are plain sums, so they run as affine additions in the same kernel as the buckets: 2 (5M +
// 1S) a bucket against 20M + 4S for running sums in XYZZ. What is left is added up by the bits of its index, one block
// a bit, and the host does the rest.
#include "compute/cuda/ec.cuh"
#include "compute/cuda/kernels.h"

static __global__ void k_fold_first(uint32_t bucket0, unsigned k, const uint32_t *start, const uint32_t *end,
                                    const uint32_t *value, uint32_t sums, uint32_t infinity, uint32_t row,
                                    uint32_t column, cz_cuda_job *out) {
    // Rows take (2j, 2j + 1), columns (j, j + 2^(k-1)).
    uint32_t half = 1u << (k - 1), t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= 2 * half) return;
    uint32_t j = t & (half - 1), b[2] = {t < half ? 2 * j : j, t < half ? 2 * j + 1 : j + half}, ref[2];
    for (int i = 0; i < 2; i++) {
        uint32_t s = start[bucket0 + b[i]], m = end[bucket0 + b[i]] - s;
        ref[i] = m == 0 ? infinity : m == 1 ? value[s] : sums + (s >> 1);
    }
    *(uint4 *)&out[t] = make_uint4(ref[0], ref[1], ((t < half ? row : column) + j) * 2, 0);
}

extern "C" enum cz_status cz_cuda_k_fold_first(struct cz_cuda_worker *w, cudaStream_t stream, uint32_t bucket0,
                                               unsigned k, const uint32_t *d_start, const uint32_t *d_end,
                                               const uint32_t *d_value, uint32_t sums, uint32_t infinity, uint32_t row,
                                               uint32_t column, struct cz_cuda_job *d_job) {
    CZ_CUDA_LAUNCH(w, k_fold_first, ((1u << k) + 255) / 256, 256, 0, stream, bucket0, k, d_start, d_end, d_value, sums,
                   infinity, row, column, d_job);
    return CZ_OK;
}

static __global__ void k_fold_next(const __grid_constant__ cz_cuda_fold f, uint32_t sums, cz_cuda_job *out) {
    uint32_t t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= f.job0[f.segments]) return;
    uint32_t s = 0;
    while (t >= f.job0[s + 1]) s++;
    uint32_t j = t - f.job0[s], half = f.job0[s + 1] - f.job0[s], src = sums + f.src[s], to = (f.dst[s] + j) * 2;
    *(uint4 *)&out[t] =
        s & 1 ? make_uint4(src + j, src + j + half, to, 0) : make_uint4(src + 2 * j, src + 2 * j + 1, to, 0);
}

extern "C" enum cz_status cz_cuda_k_fold_next(struct cz_cuda_worker *w, cudaStream_t stream,
                                              const struct cz_cuda_fold *fold, uint32_t sums,
                                              struct cz_cuda_job *d_job) {
    CZ_CUDA_LAUNCH(w, k_fold_next, (fold->job0[fold->segments] + 255) / 256, 256, 0, stream, *fold, sums, d_job);
    return CZ_OK;
}

// Copies in 16-byte pieces.
template <class F> static __device__ __forceinline__ void copy(xyzz<F> *to, const xyzz<F> *from) {
    fp *t = (fp *)to;
    const fp *f = (const fp *)from;
#pragma unroll
    for (unsigned i = 0; i < sizeof(xyzz<F>) / sizeof(fp); i++) {
        fp c;
        ld_fp(c, f + i);
        st_fp(t + i, c);
    }
}

// The sum of a block's accumulators, in sh[0].
template <class F, int T> static __device__ void block_sum(xyzz<F> *sh, const xyzz<F> &mine) {
    copy(&sh[threadIdx.x], &mine);
    __syncthreads();
#pragma unroll 1
    for (int m = T / 2; m >= 1; m >>= 1) {
        if ((int)threadIdx.x < m) {
            xyzz<F> t;
            copy(&t, &sh[threadIdx.x]);
            xyzz_add(t, sh[threadIdx.x + m]);
            copy(&sh[threadIdx.x], &t);
        }
        __syncthreads();
    }
}

template <class F, int T>
static __global__ void __launch_bounds__(T)
    k_bit_sums(const __grid_constant__ cz_cuda_bit_sums b, const aff<F> *base, xyzz<F> *out) {
    __shared__ xyzz<F> sh[T];
    const uint32_t seg = blockIdx.y, id = blockIdx.x, lg = b.log2[seg];
    if (id >= lg && id != CZ_CUDA_SUMS - 1) return;
    const bool all = id == CZ_CUDA_SUMS - 1;
    const aff<F> *v = base + b.at[seg];
    const uint32_t n = all ? 1u << lg : 1u << (lg - 1);
    xyzz<F> s = xyzz_inf<F>();
    for (uint32_t i = threadIdx.x; i < n; i += T)
        xyzz_add_aff(s, v[all ? i : ((i >> id) << (id + 1)) | (1u << id) | (i & ((1u << id) - 1))]);
    block_sum<F, T>(sh, s);
    if (threadIdx.x == 0) copy(&out[seg * CZ_CUDA_SUMS + id], &sh[0]);
}

extern "C" enum cz_status cz_cuda_k_bit_sums(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                             const struct cz_cuda_bit_sums *sums, void *d_out) {
    dim3 grid(CZ_CUDA_SUMS, sums->segments);
    if (group == CZ_CUDA_G1)
        CZ_CUDA_LAUNCH(w, (k_bit_sums<fp, 128>), grid, 128, 0, stream, *sums, (const aff<fp> *)cz_cuda_base(w->cuda),
                       (xyzz<fp> *)d_out);
    else
        CZ_CUDA_LAUNCH(w, (k_bit_sums<fp2, 64>), grid, 64, 0, stream, *sums, (const aff<fp2> *)cz_cuda_base(w->cuda),
                       (xyzz<fp2> *)d_out);
    return CZ_OK;
}

template <class F, int T>
static __global__ void __launch_bounds__(T) k_last(const uint32_t *ref, uint32_t n, const aff<F> *base, xyzz<F> *out) {
    __shared__ xyzz<F> sh[T];
    xyzz<F> s = xyzz_inf<F>();
    for (uint32_t i = blockIdx.x * T + threadIdx.x; i < n; i += gridDim.x * T) xyzz_add_aff(s, base[ref[i]]);
    block_sum<F, T>(sh, s);
    if (threadIdx.x == 0) copy(&out[blockIdx.x], &sh[0]);
}

extern "C" enum cz_status cz_cuda_k_last(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                         const uint32_t *d_ref, uint32_t n, void *d_out) {
    if (group == CZ_CUDA_G1)
        CZ_CUDA_LAUNCH(w, (k_last<fp, 128>), CZ_CUDA_LAST_BLOCKS, 128, 0, stream, d_ref, n,
                       (const aff<fp> *)cz_cuda_base(w->cuda), (xyzz<fp> *)d_out);
    else
        CZ_CUDA_LAUNCH(w, (k_last<fp2, 64>), CZ_CUDA_LAST_BLOCKS, 64, 0, stream, d_ref, n,
                       (const aff<fp2> *)cz_cuda_base(w->cuda), (xyzz<fp2> *)d_out);
    return CZ_OK;
}

template <class F> static __global__ void k_infinity(aff<F> *p) {
    *p = aff_inf<F>();
}

extern "C" enum cz_status cz_cuda_k_infinity(struct cz_cuda_worker *w, cudaStream_t stream, enum cz_cuda_group group,
                                             uint32_t ref) {
    if (group == CZ_CUDA_G1)
        CZ_CUDA_LAUNCH(w, (k_infinity<fp>), 1, 1, 0, stream, (aff<fp> *)cz_cuda_base(w->cuda) + ref);
    else
        CZ_CUDA_LAUNCH(w, (k_infinity<fp2>), 1, 1, 0, stream, (aff<fp2> *)cz_cuda_base(w->cuda) + ref);
    return CZ_OK;
}
