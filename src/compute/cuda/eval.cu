/* Witness bits and elements to a, b, c, to the bitmap of values and to the scalars of the sums. */

#include "compute/cuda/circuit.h"
#include "compute/cuda/fr.cuh"

#include "r1cs/r1cs.h"


static __device__ __forceinline__ uint32_t bit_at(const uint32_t *bit, uint32_t rank) {
    return __ldg(bit + (rank >> 5)) >> (rank & 31) & 1;
}

/* An integer times 1: from the table, else by a product with 2^256. */
static __device__ __forceinline__ Fr from_integer(int64_t n, const Fr *table, const Mod &M) {
    if (n >= -CZ_CUDA_EVAL_SMALL && n <= CZ_CUDA_EVAL_SMALL) return fr_load_const(table + n);
    const uint64_t u = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    Fr r = fr_zero();
    r.v[0] = (uint32_t)u;
    r.v[1] = (uint32_t)(u >> 32);
    r = fr_mul(r, fr_load_const(table + CZ_CUDA_EVAL_SMALL + 1), M);
    return n < 0 ? fr_sub(fr_zero(), r, M) : r;
}

/* What the terms of a row need to find their values. */
struct place {
    uint32_t first_bit, first_elem, first_external;
};

/* Terms at, at + step, … below end: integers into the result, anything else into sum. */
static __device__ __forceinline__ int64_t add_terms(Fr &sum, bool &have, uint32_t at, uint32_t end, uint32_t step,
                                                    const struct place where, const struct cz_cuda_circuit &k,
                                                    const Fr *elem, const Fr *input, const uint32_t *bit,
                                                    const Mod &M) {
    int64_t integer = 0;
#pragma unroll 1
    for (; at < end; at += step) {
        const uint2 term = __ldg((const uint2 *)k.term + at);
        uint32_t kind = term.x & 3, rank = term.x >> 2;
        const int64_t coef = __ldg((const long long *)k.integer + term.y);
        if (kind == CZ_CUDA_TERM_EXTERNAL) {
            const uint32_t slot = __ldg(k.external_slot + where.first_external + rank);
            kind = (slot & 3) == CZ_R1CS_SLOT_INPUT ? 4u : slot & 3;
            rank = slot >> 2;
        } else {
            rank += kind == CZ_CUDA_TERM_BIT ? where.first_bit : kind == CZ_CUDA_TERM_ELEM ? where.first_elem : 0;
        }
        const Fr *const coefs = (const Fr *)k.coef;
        if (kind == CZ_CUDA_TERM_ONE || kind == CZ_CUDA_TERM_BIT) { /* only the coefficient enters */
            if (kind == CZ_CUDA_TERM_BIT && !bit_at(bit, rank)) continue;
            if (coef != CZ_CUDA_EVAL_NO_INTEGER) {
                integer += coef;
                continue;
            }
            sum = fr_add(sum, fr_load_const(coefs + term.y), M);
        } else {
            const Fr z = fr_load_const((kind == CZ_CUDA_TERM_ELEM ? elem : input) + rank);
            if (coef == 1)
                sum = fr_add(sum, z, M);
            else if (coef == -1)
                sum = fr_sub(sum, z, M);
            else
                sum = fr_add(sum, fr_mul(z, fr_load_const(coefs + term.y), M), M);
        }
        have = true;
    }
    return integer;
}

/* A row of a matrix with more terms than this is done by the whole warp. */
#define LONG_ROW 12

/*
 * A thread a row, its three matrices one after another: rows of one instance stand together, so a warp's terms lie
 * together (they come from L2: a template has a few MiB) and so do its results. Bits with integers as coefficients add
 * up as integers; nearly every row needs nothing else and takes its value from a table. One row in 30 or so packs or
 * adds words and has some hundred terms: the warp's 32 lanes share those, or 31 would wait.
 */
static __global__ void __launch_bounds__(CZ_CUDA_EVAL_ROWS)
    k_eval(Fr *a, Fr *b, Fr *c, struct cz_cuda_circuit k, const Fr *elem, const Fr *input, const uint32_t *bit) {
    const uint32_t row = blockIdx.x * CZ_CUDA_EVAL_ROWS + threadIdx.x, lane = threadIdx.x & 31, all = 0xffffffffu;
    const bool valid = row < k.num_constraints;
    uint32_t lo = k.block[blockIdx.x], hi = k.block[blockIdx.x + 1];
    while (lo < hi) { /* the last instance that begins at or before the row */
        const uint32_t mid = (lo + hi + 1) / 2;
        if (__ldg(&k.instance[mid].first_constraint) <= row)
            lo = mid;
        else
            hi = mid - 1;
    }
    const struct cz_cuda_instance *inst = k.instance + lo;
    const struct place where = {__ldg(&inst->first_bit), __ldg(&inst->first_elem), __ldg(&inst->first_external)};
    uint4 bounds = make_uint4(0, 0, 0, 0);
    if (valid)
        bounds = __ldg((const uint4 *)k.row + __ldg(&inst->row) + (row - __ldg(&inst->first_constraint)));
    const Fr *const table = (const Fr *)k.small;
    const Mod M = fr_mod();
#pragma unroll 1
    for (int m = 0; m < 3; m++) {
        const uint32_t start = m == 0 ? bounds.x : m == 1 ? bounds.y : bounds.z,
                       end = m == 0 ? bounds.y : m == 1 ? bounds.z : bounds.w;
        const bool is_long = end - start > LONG_ROW;
        Fr sum = fr_zero();
        bool have = false;
        int64_t integer = add_terms(sum, have, start, is_long ? start : end, 1, where, k, elem, input, bit, M);
        uint32_t todo = __ballot_sync(all, is_long);
#pragma unroll 1
        while (todo) {
            const int from = __ffs((int)todo) - 1;
            todo &= todo - 1;
            const struct place its = {__shfl_sync(all, where.first_bit, from),
                                      __shfl_sync(all, where.first_elem, from),
                                      __shfl_sync(all, where.first_external, from)};
            const uint32_t s = __shfl_sync(all, start, from), e = __shfl_sync(all, end, from);
            Fr part = fr_zero();
            bool part_have = false;
            long long n = add_terms(part, part_have, s + lane, e, 32, its, k, elem, input, bit, M);
            __syncwarp();
#pragma unroll
            for (int d = 16; d; d /= 2) n += __shfl_xor_sync(all, n, d);
            part_have = __any_sync(all, part_have);
            if (part_have) {
#pragma unroll 1
                for (int d = 16; d; d /= 2) {
                    Fr other;
#pragma unroll
                    for (int i = 0; i < 8; i++) other.v[i] = __shfl_xor_sync(all, part.v[i], d);
                    part = fr_add(part, other, M);
                }
            }
            if ((int)lane == from) {
                sum = part;
                have = part_have;
                integer = n;
            }
        }
        if (integer || !have) {
            const Fr v = from_integer(integer, table, M);
            sum = have ? fr_add(sum, v, M) : v;
        }
        if (valid) fr_store((m == 0 ? a : m == 1 ? b : c) + row, sum);
    }
}

extern "C" enum cz_status cz_cuda_eval(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                       const struct cz_cuda_witness *witness, struct cz_fr *d_a, struct cz_fr *d_b,
                                       struct cz_fr *d_c) {
    const size_t rows = c->num_constraints, n = (size_t)1 << c->log_domain, size = sizeof *d_a;
    const unsigned blocks = (unsigned)((rows + CZ_CUDA_EVAL_ROWS - 1) / CZ_CUDA_EVAL_ROWS);
    if (blocks)
        CZ_CUDA_LAUNCH(w, k_eval, blocks, CZ_CUDA_EVAL_ROWS, 0, w->stream, (Fr *)d_a, (Fr *)d_b, (Fr *)d_c, *c,
                       (const Fr *)witness->elem, (const Fr *)witness->input, (const uint32_t *)witness->bit);
    CZ_CUDA(w, cudaMemcpyAsync(d_a + rows, witness->input, c->num_inputs * size, cudaMemcpyDeviceToDevice, w->stream));
    CZ_CUDA(w, cudaMemsetAsync(d_a + rows + c->num_inputs, 0, (n - rows - c->num_inputs) * size, w->stream));
    CZ_CUDA(w, cudaMemsetAsync(d_b + rows, 0, (n - rows) * size, w->stream));
    CZ_CUDA(w, cudaMemsetAsync(d_c + rows, 0, (n - rows) * size, w->stream));
    return CZ_OK;
}

/* A word of the bitmap a thread: 99 of 100 words are all bits, which makes it a shifted copy. */
static __global__ void k_expand(uint64_t *value, struct cz_cuda_circuit k, const uint64_t *bit) {
    const size_t words = ((size_t)k.num_aux + 63) / 64;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x) {
        uint32_t rank = k.bit_rank[i / 8];
        for (size_t j = i / 8 * 8; j < i; j++) rank += (uint32_t)__popcll(k.is_bit[j]);
        const uint32_t s = rank & 63;
        const uint64_t *from = bit + (rank >> 6);
        const uint64_t next = from[0] >> s | (s ? from[1] << (64 - s) : 0);
        uint64_t mask = k.is_bit[i], out = next;
        if (i == words - 1 && k.num_aux % 64) mask &= (UINT64_C(1) << k.num_aux % 64) - 1;
        if (~mask) {
            out = 0;
            for (unsigned t = 0; mask; t++, mask &= mask - 1)
                if (next >> t & 1) out |= mask & (0 - mask);
        }
        value[i] = out;
    }
}

extern "C" enum cz_status cz_cuda_expand(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                         const struct cz_cuda_witness *witness, uint64_t *d_value) {
    const size_t words = ((size_t)c->num_aux + 63) / 64;
    CZ_CUDA_LAUNCH(w, k_expand, cz_cuda_grid(cz_cuda_device_info(w->cuda), words, 256, 16), 256, 0, w->stream, d_value,
                   *c, witness->bit);
    return CZ_OK;
}

/* A square is made by the thread of its root, the one before. */
static __global__ void k_unpack(Fr *elem, struct cz_cuda_circuit k, const Fr *stored) {
    const size_t n = k.num_aux - k.num_bits;
    const Mod M = fr_mod();
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const uint64_t word = __ldg((const unsigned long long *)k.is_square + i / 64);
        if (word >> i % 64 & 1) continue;
        uint32_t squares = __ldg(k.square_rank + i / 512);
        for (size_t j = i / 512 * 8; j < i / 64; j++) squares += (uint32_t)__popcll(k.is_square[j]);
        squares += (uint32_t)__popcll(word & ((UINT64_C(1) << i % 64) - 1));
        const Fr x = fr_load_const(stored + (i - squares));
        fr_store(elem + i, x);
        if (i + 1 < n && k.is_square[(i + 1) / 64] >> (i + 1) % 64 & 1) fr_store(elem + i + 1, fr_mul(x, x, M));
    }
}

extern "C" enum cz_status cz_cuda_unpack(struct cz_cuda_worker *w, const struct cz_cuda_circuit *c,
                                         const struct cz_fr *d_stored, struct cz_fr *d_elem) {
    const size_t n = c->num_aux - c->num_bits;
    if (!n) return CZ_OK;
    CZ_CUDA_LAUNCH(w, k_unpack, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, w->stream, (Fr *)d_elem,
                   *c, (const Fr *)d_stored);
    return CZ_OK;
}

static __global__ void k_gather(Fr *scalar, const Fr *elem, const Fr *input, const uint32_t *slot, size_t n) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
        const uint32_t s = slot[i];
        fr_store(scalar + i, fr_load_const(s & CZ_R1CS_INPUT ? input + (s & ~CZ_R1CS_INPUT) : elem + s));
    }
}

extern "C" enum cz_status cz_cuda_gather(struct cz_cuda_worker *w, const struct cz_cuda_witness *witness,
                                         const uint32_t *d_slot, size_t n, struct cz_fr *d_scalar) {
    if (!n) return CZ_OK;
    CZ_CUDA_LAUNCH(w, k_gather, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, w->stream,
                   (Fr *)d_scalar, (const Fr *)witness->elem, (const Fr *)witness->input, d_slot, n);
    return CZ_OK;
}

static __global__ void k_rebase(uint32_t *to, const uint32_t *from, size_t n, uint32_t first) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
        to[i] = from[i] - first;
}

extern "C" enum cz_status cz_cuda_rebase(struct cz_cuda_worker *w, uint32_t *d_to, const uint32_t *d_from, size_t n,
                                         uint32_t first) {
    if (!n) return CZ_OK;
    CZ_CUDA_LAUNCH(w, k_rebase, cz_cuda_grid(cz_cuda_device_info(w->cuda), n, 256, 16), 256, 0, w->stream, d_to, d_from,
                   n, first);
    return CZ_OK;
}
