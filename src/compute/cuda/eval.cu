/* Witness bits and elements to a, b, c, to the bitmap of values and to the scalars of the sums. */

#include "compute/cuda/circuit.h"
#include "compute/cuda/fr.cuh"

#include "r1cs/r1cs.h"


static __device__ __forceinline__ uint32_t bit_at(const uint32_t *bit, uint32_t rank) {
    return __ldg(bit + (rank >> 5)) >> (rank & 31) & 1;
}

/* r as an integer times 1, for results that the table does not hold. */
static __device__ Fr from_int(int small, const Fr *coef_one, const Mod &M) {
    const uint32_t n = small < 0 ? -(uint32_t)small : (uint32_t)small;
    Fr r = fr_zero();
    const Fr one = fr_load_const(coef_one);
#pragma unroll 1
    for (int b = 31; b >= 0; b--) {
        r = fr_add(r, r, M);
        if (n >> b & 1) r = fr_add(r, one, M);
    }
    return small < 0 ? fr_sub(fr_zero(), r, M) : r;
}

/*
 * A thread a row, its three matrices one after another: rows of one instance stand together, so a warp's terms lie
 * together (they come from L2: a template has a few MiB) and so do its results. Small coefficients over bits add up
 * as integers; nearly every row needs nothing else and takes its value from a table.
 */
static __global__ void __launch_bounds__(CZ_CUDA_EVAL_ROWS)
    k_eval(Fr *a, Fr *b, Fr *c, struct cz_cuda_circuit k, const Fr *elem, const Fr *input, const uint32_t *bit) {
    const uint32_t row = blockIdx.x * CZ_CUDA_EVAL_ROWS + threadIdx.x;
    if (row >= k.num_constraints) return;
    uint32_t lo = k.block[blockIdx.x], hi = k.block[blockIdx.x + 1];
    while (lo < hi) { /* the last instance that begins at or before the row */
        const uint32_t mid = (lo + hi + 1) / 2;
        if (__ldg(&k.instance[mid].first_constraint) <= row)
            lo = mid;
        else
            hi = mid - 1;
    }
    const struct cz_cuda_instance *inst = k.instance + lo;
    const uint32_t local = row - __ldg(&inst->first_constraint), first_bit = __ldg(&inst->first_bit),
                   first_elem = __ldg(&inst->first_elem);
    const uint32_t *external = k.external_slot + __ldg(&inst->first_external);
    const Fr *const coef = (const Fr *)k.coef, *const table = (const Fr *)k.small;
    const Mod M = fr_mod();
#pragma unroll 1
    for (int m = 0; m < 3; m++) {
        const uint32_t *bounds = k.row + __ldg(&inst->row[m]) + local;
        uint32_t at = __ldg(bounds);
        const uint32_t end = __ldg(bounds + 1);
        Fr sum = fr_zero();
        bool have = false;
        int small = 0;
#pragma unroll 1
        for (; at < end; at++) {
            const uint2 term = __ldg((const uint2 *)k.term + at);
            uint32_t kind = term.x & 3, rank = term.x >> 2;
            if (kind == CZ_CUDA_TERM_EXTERNAL) {
                const uint32_t slot = __ldg(external + rank);
                kind = (slot & 3) == CZ_R1CS_SLOT_INPUT ? 4u : slot & 3;
                rank = slot >> 2;
            } else {
                rank += kind == CZ_CUDA_TERM_BIT ? first_bit : kind == CZ_CUDA_TERM_ELEM ? first_elem : 0;
            }
            /* Of constants and bits only the coefficient enters. */
            if (kind == CZ_CUDA_TERM_ONE || kind == CZ_CUDA_TERM_BIT) {
                if (kind == CZ_CUDA_TERM_BIT && !bit_at(bit, rank)) continue;
                if (term.y < CZ_R1CS_COEF_FIXED) {
                    /* 0, 1, -1, 2, -2 */
                    const int magnitude = (int)(term.y + 1) / 2;
                    small += term.y & 1 ? magnitude : -magnitude;
                    continue;
                }
                sum = fr_add(sum, fr_load_const(coef + term.y), M);
            } else {
                const Fr z = fr_load_const((kind == CZ_CUDA_TERM_ELEM ? elem : input) + rank);
                if (term.y == CZ_R1CS_COEF_ONE)
                    sum = fr_add(sum, z, M);
                else if (term.y == CZ_R1CS_COEF_MINUS_ONE)
                    sum = fr_sub(sum, z, M);
                else
                    sum = fr_add(sum, fr_mul(z, fr_load_const(coef + term.y), M), M);
            }
            have = true;
        }
        if (small || !have) {
            const bool in_table = small >= -CZ_CUDA_EVAL_SMALL && small <= CZ_CUDA_EVAL_SMALL;
            const Fr v = in_table ? fr_load_const(table + small) : from_int(small, coef + CZ_R1CS_COEF_ONE, M);
            sum = have ? fr_add(sum, v, M) : v;
        }
        fr_store((m == 0 ? a : m == 1 ? b : c) + row, sum);
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
