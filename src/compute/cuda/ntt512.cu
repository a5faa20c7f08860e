/*
 * The pass of 512 points, three radix-8 steps with exchanges through shared memory. A thread holds 8 values; a block
 * takes two neighbouring columns, so that a row is 64 contiguous bytes.
 *
 * The three steps are one loop body: unrolled, the code of some 40 inlined products outgrows the instruction cache, and
 * a pass takes 19 ms instead of 12 (2^27). 128 threads and 4 blocks a multiprocessor were the fastest of the shapes
 * tried.
 */

#include "compute/cuda/fr.cuh"
#include "compute/cuda/ntt_types.h"

#define COLUMNS 2
#define THREADS (64 * COLUMNS)
#define PLANE (576 * COLUMNS)

static __device__ constexpr int rev3(int i) {
    return ((i & 1) << 2) | (i & 2) | (i >> 2);
}

/*
 * The transform of 8 points; value b ends at x[rev3(b)]. LAZY: all values but the first stay below 2r, for the products
 * that follow.
 */
template <bool LAZY> static __device__ __forceinline__ void dft8(Fr x[8], const Fr *w512, const Mod &M) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
        Fr s = fr_add(x[i], x[i + 4], M);
        if (i == 0)
            x[4] = fr_sub(x[0], x[4], M);
        else
            x[i + 4] = fr_mul(fr_sub_lazy(x[i], x[i + 4], M), fr_load_const(w512 + 64 * i), M);
        x[i] = s;
    }
    const Fr w2 = fr_load_const(w512 + 128);
#pragma unroll
    for (int h = 0; h < 8; h += 4)
#pragma unroll
        for (int i = 0; i < 2; i++) {
            Fr s = fr_add(x[h + i], x[h + i + 2], M);
            if (i == 0)
                x[h + 2] = fr_sub(x[h], x[h + 2], M);
            else
                x[h + 3] = fr_mul(fr_sub_lazy(x[h + 1], x[h + 3], M), w2, M);
            x[h + i] = s;
        }
#pragma unroll
    for (int h = 0; h < 8; h += 2) {
        Fr s = LAZY && h ? fr_add_lazy(x[h], x[h + 1]) : fr_add(x[h], x[h + 1], M);
        x[h + 1] = LAZY ? fr_sub_lazy(x[h], x[h + 1], M) : fr_sub(x[h], x[h + 1], M);
        x[h] = s;
    }
}

/* Two planes of 16-byte halves, one unit of padding in 8 rows: no bank conflicts to speak of. */
struct exchange {
    uint4 *sh;
    int c;
    bool rows;
    __device__ __forceinline__ int at(int row) const {
        return rows ? c * 576 + row + (row >> 3) : (row + (row >> 3)) * COLUMNS + c;
    }
    __device__ __forceinline__ Fr get(int row) const {
        const int p = at(row);
        return fr_from_halves(sh[p], sh[PLANE + p]);
    }
    __device__ __forceinline__ void put(int row, const Fr &y) const {
        const int p = at(row);
        sh[p] = make_uint4(y.v[0], y.v[1], y.v[2], y.v[3]);
        sh[PLANE + p] = make_uint4(y.v[4], y.v[5], y.v[6], y.v[7]);
    }
};

/* TWIDDLE: enum cz_cuda_twiddle. ROWS: the pass over contiguous rows of 512. */
template <bool UP, int TWIDDLE, bool ROWS>
static __global__ void __launch_bounds__(THREADS, 4)
    k_pass512(Fr *x, uint32_t log_stride, const Fr *w512, const Fr *table, const Fr *low, const Fr *high,
              uint32_t shift) {
    __shared__ uint4 sh[2 * PLANE];
    const Mod M = fr_mod();
    const int t = threadIdx.x, c = ROWS ? t >> 6 : t % COLUMNS, g = ROWS ? t & 63 : t / COLUMNS;
    const int hb = g >> 3, hl = g & 7, k0 = hb + 8 * hl;
    const uint32_t column = blockIdx.x * COLUMNS + c, j = ROWS ? 0 : column & ((1u << log_stride) - 1);
    Fr *const base = x + (ROWS ? (uint64_t)column * 512 : ((uint64_t)(column >> log_stride) << (log_stride + 9)) + j);
    const exchange ex = {sh, c, ROWS};
    Fr v[8];
#pragma unroll 1
    for (int step = 0; step < 3; step++) {
        const bool first = step == 0, last = step == 2, outer = UP ? first : last;
        /* Rows that this thread reads and writes: a, a + as, … */
        const int ra = UP ? (first ? k0 : last ? g : hb * 64 + hl) : first ? g : hb * 64 + (last ? 8 * hl : hl);
        const int rs = UP ? (step == 1 ? 8 : 64) : first ? 64 : last ? 1 : 8;
        const int wa = UP ? (first ? hb * 64 + 8 * hl : last ? g : hb * 64 + hl) : first ? g : last ? k0 : hb * 64 + hl;
        const int ws = UP ? (first ? 1 : last ? 64 : 8) : step == 1 ? 8 : 64;
        if (!first) __syncthreads();
#pragma unroll
        for (int b = 0; b < 8; b++)
            v[b] = first ? fr_load(base + ((uint64_t)(ra + rs * b) << log_stride)) : ex.get(ra + rs * b);
        if (!UP) dft8<true>(v, w512, M);
        const uint32_t inner = step == 1 ? 8 * hl : g; /* exponent of the twiddle inside, a multiple of b */
        if (TWIDDLE == CZ_CUDA_TWIDDLE_POWER && outer) {
#pragma unroll
            for (int b = 0; b < 8; b++) {
                const uint32_t e = (uint32_t)(k0 + 64 * b) * j << shift;
                Fr &y = v[UP ? b : rev3(b)];
                y = fr_mul(y, fr_load_const(high + (e >> CZ_CUDA_LOW_BITS)), M);
            }
        }
#pragma unroll
        for (int b = 0; b < 8; b++) {
            Fr &y = v[UP ? b : rev3(b)];
            if (outer ? TWIDDLE == CZ_CUDA_TWIDDLE_NONE : b == 0) {
                if (!UP && outer) fr_reduce_once(y.v, M);
                continue;
            }
            const uint32_t r = k0 + 64 * b;
            const Fr *f = w512 + inner * b;
            if (TWIDDLE == CZ_CUDA_TWIDDLE_POWER && outer) f = low + ((r * j << shift) & (CZ_CUDA_LOW - 1));
            if (TWIDDLE == CZ_CUDA_TWIDDLE_TABLE && outer) f = table + ((r << log_stride) + j);
            y = fr_mul(y, fr_load_const(f), M);
        }
        if (UP) dft8<false>(v, w512, M);
#pragma unroll
        for (int b = 0; b < 8; b++) {
            const Fr &y = v[rev3(b)];
            if (last)
                fr_store(base + ((uint64_t)(wa + ws * b) << log_stride), y);
            else
                ex.put(wa + ws * b, y);
        }
    }
}

/*
 * The last pass down, the scale and the first pass up of the same rows. Up as the transpose has its twiddles before each
 * step; here the thread that writes a value into the exchange multiplies it, so that all six steps have the one form
 * "transform 8 points, multiply, exchange" and are one loop body.
 */
static __global__ void __launch_bounds__(THREADS, 4)
    k_pass_middle(Fr *x, const Fr *down, const Fr *up, const Fr *scale) {
    __shared__ uint4 sh[2 * PLANE];
    const Mod M = fr_mod();
    const int t = threadIdx.x, c = t >> 6, g = t & 63, hb = g >> 3, hl = g & 7, k0 = hb + 8 * hl;
    Fr *const base = x + ((uint64_t)blockIdx.x * COLUMNS + c) * 512;
    const exchange ex = {sh, c, true};
    Fr v[8];
#pragma unroll 1
    for (int step = 0; step < 6; step++) {
        if (step) __syncthreads();
        if (step == 3) { /* what is at row k0 + 64 b is where the first step up wants it */
            Fr u = v[1];
            v[1] = v[4];
            v[4] = u;
            u = v[3];
            v[3] = v[6];
            v[6] = u;
        } else {
            const bool outer = step == 0 || step == 5;
            const int ra = outer ? g : hb * 64 + (step == 2 ? 8 * hl : hl), rs = outer ? 64 : step == 2 ? 1 : 8;
#pragma unroll
            for (int b = 0; b < 8; b++) v[b] = step == 0 ? fr_load(base + ra + rs * b) : ex.get(ra + rs * b);
        }
        dft8<true>(v, step < 3 ? down : up, M);
        const Fr *f = step < 2 ? down : step == 2 ? scale + k0 : step == 3 ? up : up + hl * hb;
        const uint32_t e = step == 0 ? g : step == 2 ? 64 : step == 4 ? 8 * hb : 8 * hl;
        const int wa = step == 0 || step == 5 ? g : hb * 64 + (step == 3 ? 8 * hl : hl),
                  ws = step == 0 || step == 5 ? 64 : step == 3 ? 1 : 8;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            Fr &y = v[rev3(b)];
            if (step == 5) {
                fr_reduce_once(y.v, M);
                fr_store(base + wa + ws * b, y);
                continue;
            }
            if (b || step == 2 || step == 4) y = fr_mul(y, fr_load_const(f + e * b), M);
            if (step != 2) ex.put(wa + ws * b, y);
        }
    }
}

/* The last pass down of a·b's transform, and what is left to do for h: x = x·scale - c. */
static __global__ void __launch_bounds__(THREADS, 4)
    k_pass_last(Fr *x, const Fr *w512, const Fr *scale, const Fr *other) {
    __shared__ uint4 sh[2 * PLANE];
    const Mod M = fr_mod();
    const int t = threadIdx.x, c = t >> 6, g = t & 63, hb = g >> 3, hl = g & 7, k0 = hb + 8 * hl;
    const uint64_t row = ((uint64_t)blockIdx.x * COLUMNS + c) * 512;
    const exchange ex = {sh, c, true};
    Fr v[8];
#pragma unroll 1
    for (int step = 0; step < 3; step++) {
        const int ra = step == 0 ? g : hb * 64 + (step == 2 ? 8 * hl : hl), rs = step == 0 ? 64 : step == 2 ? 1 : 8;
        const int wa = step == 0 ? g : hb * 64 + hl, ws = step == 0 ? 64 : 8;
        if (step) __syncthreads();
#pragma unroll
        for (int b = 0; b < 8; b++) v[b] = step == 0 ? fr_load(x + row + ra + rs * b) : ex.get(ra + rs * b);
        dft8<true>(v, w512, M);
        const Fr *f = step == 2 ? scale + k0 : w512;
        const uint32_t e = step == 2 ? 64 : step == 1 ? 8 * hl : g;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            Fr &y = v[rev3(b)];
            if (b || step == 2) y = fr_mul(y, fr_load_const(f + e * b), M);
            if (step < 2) ex.put(wa + ws * b, y);
        }
    }
#pragma unroll
    for (int b = 0; b < 8; b++) {
        const uint64_t at = row + k0 + 64 * b;
        fr_store(x + at, fr_sub(v[rev3(b)], fr_load(other + at), M));
    }
}

#define PASS(up, twiddle, rows)                                                                                        \
    CZ_CUDA_LAUNCH(w, (k_pass512<up, twiddle, rows>), grid, THREADS, 0, w->stream, (Fr *)d_x, p->log_m - 9,            \
                   (const Fr *)p->w512, (const Fr *)p->table, (const Fr *)p->root.low, (const Fr *)p->root.high,       \
                   CZ_CUDA_NTT_MAX - p->log_m)

extern "C" enum cz_status cz_cuda_k_pass512(struct cz_cuda_worker *w, struct cz_fr *d_x, const struct cz_cuda_pass *p) {
    const unsigned grid = 1u << (p->log_n - 9 - 1);
    if (p->log_m == 9) {
        if (p->up)
            PASS(true, CZ_CUDA_TWIDDLE_NONE, true);
        else
            PASS(false, CZ_CUDA_TWIDDLE_NONE, true);
    } else if (p->twiddle == CZ_CUDA_TWIDDLE_TABLE) {
        if (p->up)
            PASS(true, CZ_CUDA_TWIDDLE_TABLE, false);
        else
            PASS(false, CZ_CUDA_TWIDDLE_TABLE, false);
    } else {
        if (p->up)
            PASS(true, CZ_CUDA_TWIDDLE_POWER, false);
        else
            PASS(false, CZ_CUDA_TWIDDLE_POWER, false);
    }
    return CZ_OK;
}

extern "C" enum cz_status cz_cuda_k_pass_middle(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                                const struct cz_fr *down_w512, const struct cz_fr *up_w512,
                                                const struct cz_fr *scale) {
    CZ_CUDA_LAUNCH(w, k_pass_middle, 1u << (log_n - 10), THREADS, 0, w->stream, (Fr *)d_x, (const Fr *)down_w512,
                   (const Fr *)up_w512, (const Fr *)scale);
    return CZ_OK;
}

extern "C" enum cz_status cz_cuda_k_pass_last(struct cz_cuda_worker *w, struct cz_fr *d_x, uint32_t log_n,
                                              const struct cz_fr *w512, const struct cz_fr *scale,
                                              const struct cz_fr *d_c) {
    CZ_CUDA_LAUNCH(w, k_pass_last, 1u << (log_n - 10), THREADS, 0, w->stream, (Fr *)d_x, (const Fr *)w512,
                   (const Fr *)scale, (const Fr *)d_c);
    return CZ_OK;
}
