// One round of additions. A block takes tiles of (T / L) x K additions and inverts once a tile: every thread multiplies
// its K denominators up (prefixes go to scratch), the totals meet in a product tree in shared memory, one lane inverts
// the root, and the way back gives each denominator's inverse at 3 multiplications. x is gathered twice, as memory has
// room to spare where the multiplier has none.
//
// L lanes work on a point: 1 in G1; 2 in G2, each on one component of Fp2, so that a lane needs the registers of G1's.
// A product in Fp2 is then two products and one reduction a lane (864 wide multiplications a pair, as Karatsuba with
// three full products), and the tree works on norms, so that one inversion in Fp does for both groups.
//
// One kernel serves all rounds and the bucket reduction, so that the code in the instruction caches is one and the
// same. Operands reach the block through cp.async into shared memory, several lanes a point; loads to registers left
// the multiplier idle 36 % of the time.
#ifndef CUZK_COMPUTE_CUDA_ADD_CUH
#define CUZK_COMPUTE_CUDA_ADD_CUH

#include "compute/cuda/add.h"
#include "compute/cuda/ec.cuh"

#define ALL 0xffffffffu

template <int L> struct group_of;
template <> struct group_of<1> { using F = fp; };
template <> struct group_of<2> { using F = fp2; };

// Before sm_80 the copies are plain: slower, not different.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ void cp16(uint32_t dst, const void *src) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}
__device__ __forceinline__ void cp_commit() {
    asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int N> __device__ __forceinline__ void cp_wait() {
    asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}
__device__ __forceinline__ uint32_t warp_max(uint32_t a) {
    return __reduce_max_sync(ALL, a);
}
#else
__device__ __forceinline__ void cp16(uint32_t dst, const void *src) {
    *(uint4 *)__cvta_shared_to_generic(dst) = *(const uint4 *)src;
}
__device__ __forceinline__ void cp_commit() {}
template <int N> __device__ __forceinline__ void cp_wait() {}
__device__ __forceinline__ uint32_t warp_max(uint32_t a) {
    for (int i = 16; i; i >>= 1) a = max(a, __shfl_xor_sync(ALL, a, i));
    return a;
}
#endif

// Staging area of a block: 27 rows of T 16-byte chunks. Forward: four buffers of 6 rows (x left, x right). Backward:
// two buffers of 12 rows (left x, left y, right x, right y) and 3 rows for the prefix product. A thread's own chunks,
// those of its component, are one column, so its reads are free of bank conflicts.
#define ROWS 27
template <int T> __device__ __forceinline__ void st_read(fp &r, const uint4 *sh, int row) {
#pragma unroll
    for (int i = 0; i < 3; i++) {
        uint4 t = sh[(row + i) * T + threadIdx.x];
        r.v[4 * i] = t.x;
        r.v[4 * i + 1] = t.y;
        r.v[4 * i + 2] = t.z;
        r.v[4 * i + 3] = t.w;
    }
}
// Copies R rows (3: x only, 6: x and y) for the warp's points; lanes work together so that a point's chunks are one
// coalesced access. Idle lanes pass reference 0: the copy is then of point 0, which is harmless.
template <int L, int T, int R>
__device__ __forceinline__ void stage(uint32_t sh, int row, const void *base, uint32_t ref) {
    constexpr uint32_t C = R * L; // chunks a point
    const uint32_t lane = threadIdx.x & 31;
    uint32_t who = lane / C, chunk = lane % C;
    sh += (row * T + (threadIdx.x & ~31u)) * 16;
#pragma unroll
    for (int k = 0; k < R; k++) {
        uint32_t p = __shfl_sync(ALL, ref, who * L) & CZ_CUDA_REF_INDEX, at, column;
        if (L == 1) {
            at = chunk;
            column = who;
        } else { // x.c0, x.c1, y.c0, y.c1: three chunks each
            at = chunk % 3 + (chunk >= 6 ? 3 : 0);
            column = 2 * who + (chunk / 3 & 1);
        }
        cp16(sh + (at * T + column) * 16, (const char *)base + (uint64_t)p * (96 * L) + chunk * 16);
        chunk += 32 % C;
        who += 32 / C;
        if (chunk >= C) {
            chunk -= C;
            who++;
        }
    }
}
template <int T> __device__ __forceinline__ void stage_prefix(uint32_t sh, const uint4 *s) {
#pragma unroll
    for (int c = 0; c < 3; c++) cp16(sh + ((24 + c) * T + threadIdx.x) * 16, s + c * T);
}

// ---- products: a lane's component in and out. Inputs below 2 p give results below 1.82 p.
__device__ __forceinline__ fp pick(bool first, const fp &a, const fp &b) {
    fp r;
#pragma unroll
    for (int i = 0; i < 12; i++) r.v[i] = first ? a.v[i] : b.v[i];
    return r;
}
__device__ __forceinline__ fp other_lane(const fp &a) {
    fp r;
#pragma unroll
    for (int i = 0; i < 12; i++) r.v[i] = __shfl_xor_sync(ALL, a.v[i], 1);
    return r;
}
template <int L> __device__ __forceinline__ fp mul(const fp &a, const fp &b) {
    if constexpr (L == 1) {
        return fp_mul_raw(a, b);
    } else { // c0: a0 b0 + (2p - a1) b1, c1: a0 b1 + a1 b0
        const bool odd = threadIdx.x & 1;
        fp ao = other_lane(a), bo = other_lane(b);
        fp first = pick(odd, ao, a), second = pick(odd, a, fp_neg2_raw(ao));
        return fp_mul2_raw(first, b, second, bo);
    }
}
// Canonical.
template <int L> __device__ __forceinline__ fp sqr(const fp &a) {
    if constexpr (L == 1) {
        return fp_sqr(a);
    } else { // c0: (a0 + a1)(a0 - a1 + 2p), c1: 2 a0 a1; below 2.5 p before the subtractions
        const bool odd = threadIdx.x & 1;
        fp ao = other_lane(a);
        fp first = fp_add_raw(ao, pick(odd, ao, a)), second = pick(odd, a, fp_add_raw(a, fp_neg2_raw(ao)));
        return fp_csub(fp_csub(fp_mul_raw(first, second)));
    }
}
// The condition holds for the point, that is, in every lane of it.
template <int L> __device__ __forceinline__ bool both(bool mine) {
    if constexpr (L == 1) return mine;
    unsigned b = __ballot_sync(ALL, mine) >> (threadIdx.x & 30);
    return (b & 3) == 3;
}

// ---- rare cases: an operand at infinity, equal points, opposite points. Each lane works on the whole point by itself.
enum { K_NORMAL, K_LEFT, K_RIGHT, K_INF, K_DOUBLE };
HD void ld_f(fp &r, const fp *p) {
    ld_fp(r, p);
}
HD void ld_f(fp2 &r, const fp2 *p) {
    ld_fp(r.c0, &p->c0);
    ld_fp(r.c1, &p->c1);
}
HD const fp &component(const fp &a) {
    return a;
}
__device__ __forceinline__ fp component(const fp2 &a) {
    return pick(threadIdx.x & 1, a.c1, a.c0);
}
template <class F> __device__ __forceinline__ void ld_x(F &x, const void *base, uint32_t ref) {
    ld_f(x, &((const aff<F> *)base)[ref & CZ_CUDA_REF_INDEX].x);
}
template <class F> __device__ __forceinline__ void ld_y(F &y, const void *base, uint32_t ref) {
    ld_f(y, &((const aff<F> *)base)[ref & CZ_CUDA_REF_INDEX].y);
    if (ref >> 31) y = f_neg(y);
}
template <class F> static __device__ __noinline__ int rare_kind(const void *base, uint32_t a, uint32_t b) {
    F x, ya, yb;
    ld_x(x, base, a);
    if (x_is_inf(x)) return K_RIGHT;
    ld_x(x, base, b);
    if (x_is_inf(x)) return K_LEFT;
    ld_y(ya, base, a);
    ld_y(yb, base, b);
    return f_eq(ya, yb) ? K_DOUBLE : K_INF;
}
// Denominator: 2 y for a doubling, 1 where no division is needed.
template <class F>
static __device__ __noinline__ int rare_denominator_(fp *d, const void *base, uint32_t a, uint32_t b) {
    int kind = rare_kind<F>(base, a, b);
    F y;
    f_set_one(y);
    if (kind == K_DOUBLE) {
        ld_y(y, base, a);
        y = f_dbl(y);
    }
    *d = component(y);
    return kind;
}
template <class F> static __device__ __noinline__ void rare_numerator_(fp *t, const void *base, uint32_t a) {
    F x;
    ld_x(x, base, a);
    x = f_sqr(x);
    *t = component(f_add(f_dbl(x), x));
}
// The results come back through local memory. They are used up here (zero_bits is 0, which the compiler cannot know),
// or else the product after the branch would wait, on the common path too, for the scoreboard that this load shares
// with the fetch of the next job: 12 % of the time.
template <class F>
__device__ __forceinline__ int rare_denominator(fp *d, const void *base, uint32_t a, uint32_t b, uint32_t zero_bits) {
    fp u;
    int kind = rare_denominator_<F>(&u, base, a, b);
#pragma unroll
    for (int i = 0; i < 12; i++) d->v[i] = u.v[i] ^ zero_bits;
    return kind;
}
template <class F>
__device__ __forceinline__ void rare_numerator(fp *t, const void *base, uint32_t a, uint32_t zero_bits) {
    fp u;
    rare_numerator_<F>(&u, base, a);
#pragma unroll
    for (int i = 0; i < 12; i++) t->v[i] = u.v[i] ^ zero_bits;
}
template <class F>
static __device__ __noinline__ void rare_result(int kind, void *base, uint32_t a, uint32_t b, uint32_t out) {
    constexpr int L = sizeof(F) / sizeof(fp);
    aff<F> p = aff_inf<F>();
    uint32_t ref = kind == K_LEFT ? a : b;
    if (kind != K_INF) {
        ld_x(p.x, base, ref);
        ld_y(p.y, base, ref);
    }
    fp *o = (fp *)((aff<F> *)base + out) + (threadIdx.x & (L - 1));
    if (L == 2) __syncwarp(3u << (threadIdx.x & 30)); // the sum may lie over an operand that the other lane reads
    st_fp(o, component(p.x));
    st_fp(o + L, component(p.y));
}

// Left, right and slot only: a 16-byte load would also write the unused fourth register, which the compiler reuses at
// once and then waits for.
struct job3 {
    uint32_t a, b, slot;
};
__device__ __forceinline__ void ld_job(job3 &j, const cz_cuda_job *p) {
    uint2 t = *(const uint2 *)p;
    j.a = t.x;
    j.b = t.y;
    j.slot = p->slot;
}

template <int L, int T, int MINB>
__global__ void __launch_bounds__(T, MINB) k_add(const cz_cuda_job *jobs, const uint32_t *count, uint32_t fixed,
                                                 void *base, uint32_t sums, uint4 *scratch_all, uint32_t kmax) {
    using F = typename group_of<L>::F;
    constexpr int TP = T / L; // points a step, leaves of the tree
    extern __shared__ uint4 sh[];
    fp *heap = (fp *)sh; // 2 TP entries, alive only between the passes; node 1 is the root, leaves are TP .. 2 TP - 1
    const uint32_t tid = threadIdx.x, pair = tid / L, A = count ? *count : fixed;
    const uint32_t sbase = (uint32_t)__cvta_generic_to_shared(sh);
    const uint32_t per_k = gridDim.x * TP;
    uint32_t k_all = (A + per_k - 1) / per_k;
    if (k_all == 0) return;
    const uint32_t tiles = (k_all + kmax - 1) / kmax, K = (k_all + tiles - 1) / tiles;
    const uint32_t zero_bits = kmax >> 31;
    uint4 *scratch = scratch_all + (size_t)blockIdx.x * kmax * 3 * T + tid;

    for (uint32_t tile = 0; tile < tiles; tile++) {
        uint64_t first64 = (uint64_t)(tile * gridDim.x + blockIdx.x) * TP * K;
        if (first64 >= A) return;
        const uint32_t first = (uint32_t)first64 + pair;
        const uint32_t mine = first < A ? min(K, (A - first + TP - 1) / TP) : 0;
        // All lanes of a warp run the same trips: they copy for each other, and in G2 multiply together.
        const uint32_t trips = warp_max(mine);

        // ---- forward. Points three steps ahead, jobs four. Differences are below 2 p, products too: no subtractions.
        fp acc = fp_one();
        if (L == 2 && (tid & 1)) acc = fp_zero();
        uint2 jn = make_uint2(0, 0);
#pragma unroll
        for (uint32_t q = 0; q < 3; q++) {
            if (q < mine) jn = *(const uint2 *)(jobs + first + q * TP);
            stage<L, T, 3>(sbase, 6 * q, base, jn.x);
            stage<L, T, 3>(sbase, 6 * q + 3, base, jn.y);
            cp_commit();
        }
        if (3 < mine) jn = *(const uint2 *)(jobs + first + 3 * TP);
#pragma unroll 1
        for (uint32_t i = 0; i < trips; i++) {
            const int row = (i & 3) * 6, to = ((i + 3) & 3) * 6;
            if (i + 3 < trips) {
                stage<L, T, 3>(sbase, to, base, jn.x);
                stage<L, T, 3>(sbase, to + 3, base, jn.y);
            }
            cp_commit();
            if (i + 4 < mine) jn = *(const uint2 *)(jobs + first + (i + 4) * TP);
            cp_wait<3>();
            __syncwarp();
            if (L == 2 || i < mine) {
                fp x, d;
                bool zero;
                st_read<T>(x, sh, row);
                st_read<T>(d, sh, row + 3);
                bool inf = x_is_inf(x) || x_is_inf(d);
                d = fp_sub_raw(d, x, &zero);
                zero = both<L>(zero);
                if ((inf || zero) && i < mine) {
                    uint2 j = *(const uint2 *)(jobs + first + i * TP);
                    rare_denominator<F>(&d, base, j.x, j.y, zero_bits);
                }
                if (i == 0) {
                    if (i < mine) acc = d;
                } else {
                    uint4 *s = scratch + (size_t)i * 3 * T;
#pragma unroll
                    for (int c = 0; c < 3; c++)
                        s[c * T] = make_uint4(acc.v[4 * c], acc.v[4 * c + 1], acc.v[4 * c + 2], acc.v[4 * c + 3]);
                    if (L == 1)
                        acc = mul<L>(acc, d);
                    else
                        acc = pick(i < mine, mul<L>(acc, d), acc);
                }
            }
            __syncwarp();
        }
        cp_wait<0>();
        __syncthreads();

        // ---- one inversion for the block
        if constexpr (L == 1) {
            heap[TP + tid] = acc;
        } else {
            fp norm = fp_sqr(acc);
            norm = fp_add(norm, other_lane(norm));
            if (!(tid & 1)) heap[TP + pair] = norm;
        }
        __syncthreads();
#pragma unroll 1
        for (int m = TP / 2; m >= 1; m >>= 1) {
            if (tid < m) heap[m + tid] = fp_mul_raw(heap[2 * (m + tid)], heap[2 * (m + tid) + 1]);
            __syncthreads();
        }
        if (tid == 0) {
            fp t = fp_csub(heap[1]), o;
            fp_inv(&o, &t);
            heap[1] = o;
        }
        __syncthreads();
#pragma unroll 1
        for (int m = 2; m <= TP; m <<= 1) { // inverse of a child = inverse of the parent times the sibling
            fp t;
            const bool on = tid < m;
            if (on) t = fp_mul_raw(heap[(m + tid) >> 1], heap[(m + tid) ^ 1]);
            __syncthreads();
            if (on) heap[m + tid] = t;
            __syncthreads();
        }
        if constexpr (L == 1) {
            acc = heap[TP + tid];
        } else { // conjugate over norm
            fp t = pick(tid & 1, fp_neg2_raw(acc), acc);
            acc = fp_mul_raw(t, heap[TP + pair]);
        }
        __syncthreads();

        // ---- backward. Points one step ahead, jobs two, the prefix half a step.
        uint32_t i = trips;
        job3 cur = {0, 0, 0}, nxt = {0, 0, 0};
        if (i > 0) {
            if (i - 1 < mine) ld_job(cur, jobs + first + (i - 1) * TP);
            const int row = ((i - 1) & 1) * 12;
            stage<L, T, 6>(sbase, row, base, cur.a);
            stage<L, T, 6>(sbase, row + 6, base, cur.b);
            stage_prefix<T>(sbase, scratch + (size_t)(i - 1) * 3 * T);
            if (i > 1 && i - 2 < mine) ld_job(nxt, jobs + first + (i - 2) * TP);
        }
        cp_commit();
#pragma unroll 1
        while (i > 0) {
            i--;
            const bool act = i < mine;
            const int row = (i & 1) * 12;
            if (i > 0) {
                stage<L, T, 6>(sbase, 12 - row, base, nxt.a);
                stage<L, T, 6>(sbase, 18 - row, base, nxt.b);
            }
            cp_commit();
            job3 later = {0, 0, 0};
            if (i > 1 && i - 2 < mine) ld_job(later, jobs + first + (i - 2) * TP);
            cp_wait<1>();
            __syncwarp();
            fp inv = acc, t;
            int kind = K_NORMAL;
            {
                fp d;
                bool zero;
                st_read<T>(t, sh, row);
                st_read<T>(d, sh, row + 6);
                bool inf = x_is_inf(t) || x_is_inf(d);
                d = fp_sub_raw(d, t, &zero);
                zero = both<L>(zero);
                if (act && (inf || zero)) kind = rare_denominator<F>(&d, base, cur.a, cur.b, zero_bits);
                if (L == 1) {
                    if (i > 0 && act) {
                        st_read<T>(t, sh, 24);
                        inv = mul<L>(acc, t);
                        acc = mul<L>(acc, d);
                    }
                } else if (i > 0) { // lanes without an addition in this step read what the forward pass left: acc
                    st_read<T>(t, sh, 24);
                    inv = mul<L>(acc, t);
                    acc = pick(act, mul<L>(acc, d), acc);
                }
            }
            if (i > 0) stage_prefix<T>(sbase, scratch + (size_t)(i - 1) * 3 * T);
            cp_commit();
            fp l;
            {
                fp y;
                st_read<T>(y, sh, row + 3);
                st_read<T>(t, sh, row + 9);
                if (cur.a >> 31) y = fp_neg(y);
                if (cur.b >> 31) t = fp_neg(t);
                t = fp_sub_raw(t, y, nullptr);
            }
            if (kind == K_DOUBLE) rare_numerator<F>(&t, base, cur.a, zero_bits);
            l = mul<L>(t, inv);
            t = sqr<L>(l);
            const bool normal = kind == K_NORMAL || kind == K_DOUBLE;
            const uint32_t to = sums + (cur.slot >> 1);
            fp *o = (fp *)((char *)base + (uint64_t)to * (96 * L)) + (tid & (L - 1));
            {
                fp x;
                st_read<T>(x, sh, row + 6);
                t = fp_sub(t, x);
                st_read<T>(x, sh, row);
                t = fp_sub(t, x);
                if (act && normal) st_fp(o, t);
                t = fp_sub_raw(x, t, nullptr);
            }
            t = fp_csub(mul<L>(l, t));
            if (!normal) rare_result<F>(kind, base, cur.a, cur.b, to);
            {
                fp y;
                st_read<T>(y, sh, row + 3);
                if (cur.a >> 31) y = fp_neg(y);
                t = fp_sub(t, y);
            }
            if (act && normal) st_fp(o + L, t);
            cur = nxt;
            nxt = later;
            __syncwarp(); // every lane is done with this buffer
        }
        cp_wait<0>(); // no barrier: a warp stages in its own columns, and the heap is guarded on both sides
        __syncwarp();
    }
}

template <int L, int T, int MINB> struct add_kernel {
    static constexpr int bytes = ROWS * T * 16; // more than the heap's 2 TP x 48
    static cudaError_t setup() {
        return cudaFuncSetAttribute(k_add<L, T, MINB>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    }
    static cudaError_t run(cudaStream_t stream, int sms, const cz_cuda_job *jobs, const uint32_t *count, uint32_t fixed,
                           void *base, uint32_t sums, void *scratch, uint32_t kmax) {
        k_add<L, T, MINB><<<sms * MINB, T, bytes, stream>>>(jobs, count, fixed, base, sums, (uint4 *)scratch, kmax);
        return cudaGetLastError();
    }
};

#endif
