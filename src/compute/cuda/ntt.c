#include "compute/cuda/ntt.h"

#include "base/bytes.h"
#include "compute/cuda/device_cuda.h"
#include "compute/cuda/ntt_types.h"

#include <pthread.h>
#include <string.h>

#define POWERS (CZ_CUDA_LOW + CZ_CUDA_HIGH)
/* A root's powers of each direction, the shift's of each, the powers of order 512 of each. */
enum { ROOT, ROOT_INVERSE, SHIFT, SHIFT_INVERSE, NUM_POWERS };
#define SMALL_TABLES ((size_t)NUM_POWERS * POWERS + 2 * 512)

struct cz_cuda_tables {
    struct cz_cuda *cuda;
    struct cz_fr *small;
    struct cz_cuda_powers power[NUM_POWERS];
    const struct cz_fr *w512[2]; /* [inverse] */
    /* For h at 2^27: passes 1 and 2 down with inverse roots, up with the coset's powers, and the middle's. */
    struct cz_fr *large;
    const struct cz_fr *down[2], *up[2], *middle;
    const struct cz_fr *down_h[2], *last; /* down with the inverse powers of the shift */
    bool has_large;
    pthread_mutex_t lock;
};

static void fill_powers(struct cz_fr *out, size_t n, const struct cz_fr *base) {
    out[0] = CZ_FR_ONE;
    for (size_t i = 1; i < n; i++) cz_fr_mul(&out[i], &out[i - 1], base);
}

static void fill_small(struct cz_fr *out) {
    struct cz_fr base[NUM_POWERS], high;
    cz_fr_root_of_unity(&base[ROOT], CZ_CUDA_NTT_MAX);
    cz_fr_from_u64(&base[SHIFT], CZ_FR_GENERATOR);
    cz_fr_inv(&base[ROOT_INVERSE], &base[ROOT]);
    cz_fr_inv(&base[SHIFT_INVERSE], &base[SHIFT]);
    for (int i = 0; i < NUM_POWERS; i++) {
        fill_powers(out + (size_t)i * POWERS, CZ_CUDA_LOW, &base[i]);
        cz_fr_pow_vartime(&high, &base[i], CZ_CUDA_LOW);
        fill_powers(out + (size_t)i * POWERS + CZ_CUDA_LOW, CZ_CUDA_HIGH, &high);
    }
    for (int i = 0; i < 2; i++) {
        cz_fr_pow_vartime(&high, &base[i], UINT64_C(1) << (CZ_CUDA_NTT_MAX - 9));
        fill_powers(out + (size_t)NUM_POWERS * POWERS + (size_t)i * 512, 512, &high);
    }
}

enum cz_status cz_cuda_tables_create(struct cz_cuda_tables **out, struct cz_cuda *cuda, struct cz_error *err) {
    struct cz_cuda_worker *w = NULL;
    struct cz_cuda_tables *t = cz_calloc(1, sizeof *t);
    struct cz_fr *host = cz_malloc_array(SMALL_TABLES, sizeof *host);
    enum cz_status status = CZ_ERR_MEMORY;
    if (!t || !host) goto out;
    t->cuda = cuda;
    (void)pthread_mutex_init(&t->lock, NULL);
    t->small = cz_cuda_resident_alloc(cuda, SMALL_TABLES * sizeof *host);
    if (!t->small) {
        status =
            cz_error_set(err, CZ_ERR_BUDGET, "transforms: tables of %zu KiB do not fit into the vram for residents",
                         SMALL_TABLES * sizeof *host >> 10);
        goto out;
    }
    fill_small(host);
    for (int i = 0; i < NUM_POWERS; i++) {
        const struct cz_fr *at = t->small + (size_t)i * POWERS;
        t->power[i] = (struct cz_cuda_powers){at, at + CZ_CUDA_LOW};
    }
    for (int i = 0; i < 2; i++) t->w512[i] = t->small + (size_t)NUM_POWERS * POWERS + (size_t)i * 512;
    status = cz_cuda_take(&w, cuda, err);
    if (status != CZ_OK) goto out;
    status = cz_cuda_upload(w, t->small, host, SMALL_TABLES * sizeof *host);
    if (status != CZ_OK && err) *err = w->err;
    cz_cuda_give(w);
out:
    cz_free(host);
    if (status == CZ_OK)
        *out = t;
    else
        cz_cuda_tables_destroy(t);
    return status;
}

void cz_cuda_tables_destroy(struct cz_cuda_tables *t) {
    if (!t) return;
    if (t->cuda) {
        cz_cuda_resident_free(t->cuda, t->large);
        cz_cuda_resident_free(t->cuda, t->small);
        (void)pthread_mutex_destroy(&t->lock);
    }
    cz_free(t);
}

#define N27 ((size_t)1 << 27)
#define N18 ((size_t)1 << 18)

size_t cz_cuda_tables_large_bytes(void) {
    return cz_cuda_rounded(3 * N27 + 3 * N18 + 2 * 512, sizeof(struct cz_fr));
}

static enum cz_status fill_large(struct cz_cuda_tables *t, struct cz_cuda_worker *w) {
    const struct cz_cuda_powers none = {NULL, NULL};
    struct cz_fr *first[3], *second[3], *middle = t->large + 3 * N27 + 3 * N18;
    struct cz_fr *host = cz_cuda_pinned(w, 2 * 512, sizeof *host), base, n_inverse;
    if (!host) return cz_cuda_full(w, "a pinned table");
    for (int i = 0; i < 3; i++) { /* down, up, down_h */
        const struct cz_cuda_powers root = t->power[i == 1 ? ROOT : ROOT_INVERSE];
        const struct cz_cuda_powers shift = i == 0 ? none : t->power[i == 1 ? SHIFT : SHIFT_INVERSE];
        first[i] = t->large + (size_t)i * N27;
        second[i] = t->large + 3 * N27 + (size_t)i * N18;
        CZ_CUDA_TRY(cz_cuda_k_twiddles(w, first[i], 27, 9, root, shift, 1));
        CZ_CUDA_TRY(cz_cuda_k_twiddles(w, second[i], 18, 9, root, shift, 512));
    }
    cz_fr_from_u64(&base, CZ_FR_GENERATOR);
    cz_fr_pow_vartime(&base, &base, N18);
    fill_powers(host, 512, &base);
    cz_fr_inv(&base, &base);
    fill_powers(host + 512, 512, &base);
    cz_fr_from_u64(&n_inverse, N27);
    cz_fr_inv(&n_inverse, &n_inverse);
    for (int i = 0; i < 512; i++) cz_fr_mul(&host[i], &host[i], &n_inverse);
    CZ_CUDA(w, cudaMemcpyAsync(middle, host, 2 * 512 * sizeof *host, cudaMemcpyHostToDevice, w->stream));
    CZ_CUDA(w, cudaStreamSynchronize(w->stream));
    t->down[0] = first[0];
    t->down[1] = second[0];
    t->up[0] = first[1];
    t->up[1] = second[1];
    t->down_h[0] = first[2];
    t->down_h[1] = second[2];
    t->middle = middle;
    t->last = middle + 512;
    return CZ_OK;
}

enum cz_status cz_cuda_tables_large(struct cz_cuda_tables *t, struct cz_cuda_worker *w) {
    enum cz_status status = CZ_OK;
    pthread_mutex_lock(&t->lock);
    if (!t->has_large) t->large = cz_cuda_resident_alloc(t->cuda, cz_cuda_tables_large_bytes());
    if (!t->has_large && t->large) {
        struct cz_cuda_mark mark = cz_cuda_mark(w);
        status = fill_large(t, w);
        cz_cuda_release(w, mark);
        if (status == CZ_OK) {
            __atomic_store_n(&t->has_large, true, __ATOMIC_RELEASE);
        } else {
            (void)cudaStreamSynchronize(w->stream); /* what was launched writes there */
            cz_cuda_resident_free(t->cuda, t->large);
            t->large = NULL;
        }
    }
    pthread_mutex_unlock(&t->lock);
    return status;
}

static enum cz_status run_pass(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                               struct cz_cuda_pass p, bool inverse) {
    p.w512 = t->w512[inverse];
    p.root = t->power[inverse ? ROOT_INVERSE : ROOT];
    if (p.twiddle != CZ_CUDA_TWIDDLE_TABLE)
        p.twiddle = p.log_m == p.bits ? CZ_CUDA_TWIDDLE_NONE : CZ_CUDA_TWIDDLE_POWER;
    return p.bits == 9 && p.log_n > 9 ? cz_cuda_k_pass512(w, d_x, &p) : cz_cuda_k_pass_small(w, d_x, &p);
}

enum cz_status cz_cuda_ntt_down(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                                unsigned log2n, bool inverse) {
    for (unsigned m = log2n, s; m; m -= s) {
        s = m < 9 ? m : 9;
        struct cz_cuda_pass p = {.log_n = log2n, .log_m = m, .bits = s};
        CZ_CUDA_TRY(run_pass(w, t, d_x, p, inverse));
    }
    return CZ_OK;
}

enum cz_status cz_cuda_ntt_up(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                              unsigned log2n, bool inverse) {
    unsigned s = log2n % 9 ? log2n % 9 : 9;
    for (unsigned m = s; m <= log2n && log2n; m += 9, s = 9) {
        struct cz_cuda_pass p = {.log_n = log2n, .log_m = m, .bits = s, .up = true};
        CZ_CUDA_TRY(run_pass(w, t, d_x, p, inverse));
    }
    return CZ_OK;
}

enum cz_status cz_cuda_ntt_reorder(struct cz_cuda_worker *w, struct cz_fr *d_to, const struct cz_fr *d_from,
                                   unsigned log2n, bool unreverse) {
    return cz_cuda_k_reorder(w, d_to, d_from, log2n, unreverse);
}

enum cz_status cz_cuda_ntt_scale(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                                 unsigned log2n, const struct cz_fr *factor, bool inverse, bool reversed) {
    return cz_cuda_k_scale(w, d_x, log2n, t->power[inverse ? SHIFT_INVERSE : SHIFT], factor, reversed);
}

enum cz_status cz_cuda_ntt_index(struct cz_cuda_worker *w, uint32_t *d_index, unsigned log2n) {
    return cz_cuda_k_index(w, d_index, log2n);
}

/* Passes 1 and 2 of 2^27 by table: the values' own order, so that they are read like the values. */
static enum cz_status two_passes(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                                 const struct cz_fr *const table[2], bool up) {
    for (int i = 0; i < 2; i++) {
        const bool outer = up ? i == 1 : i == 0;
        struct cz_cuda_pass p = {
            .log_n = 27, .log_m = outer ? 27 : 18, .bits = 9, .up = up, .twiddle = CZ_CUDA_TWIDDLE_TABLE};
        p.table = table[!outer];
        CZ_CUDA_TRY(run_pass(w, t, d_x, p, !up));
    }
    return CZ_OK;
}

static enum cz_status to_coset_plain(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x,
                                     unsigned log2n) {
    struct cz_fr factor;
    cz_fr_from_u64(&factor, UINT64_C(1) << log2n);
    cz_fr_inv(&factor, &factor);
    CZ_CUDA_TRY(cz_cuda_ntt_down(w, t, d_x, log2n, true));
    CZ_CUDA_TRY(cz_cuda_ntt_scale(w, t, d_x, log2n, &factor, false, true));
    return cz_cuda_ntt_up(w, t, d_x, log2n, false);
}

static enum cz_status to_coset_large(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *d_x) {
    CZ_CUDA_TRY(two_passes(w, t, d_x, t->down, false));
    CZ_CUDA_TRY(cz_cuda_k_pass_middle(w, d_x, 27, t->w512[1], t->w512[0], t->middle));
    return two_passes(w, t, d_x, t->up, true);
}

enum cz_status cz_cuda_ntt_quotient(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *factor,
                                    struct cz_fr *d_a, struct cz_fr *d_b, struct cz_fr *d_c, unsigned log2n,
                                    bool plain) {
    const bool large = log2n == 27 && !plain && __atomic_load_n(&t->has_large, __ATOMIC_ACQUIRE);
    const uint64_t n = UINT64_C(1) << log2n;
    struct cz_fr z;
    cz_fr_from_u64(&z, CZ_FR_GENERATOR);
    cz_fr_pow_vartime(&z, &z, n);
    cz_fr_sub(&z, &z, &CZ_FR_ONE);
    cz_fr_from_u64(factor, n);
    cz_fr_mul(factor, factor, &z);
    cz_fr_inv(factor, factor);
    if (!large) {
        CZ_CUDA_TRY(to_coset_plain(w, t, d_a, log2n));
        CZ_CUDA_TRY(to_coset_plain(w, t, d_b, log2n));
        CZ_CUDA_TRY(cz_cuda_k_product(w, d_a, d_b, n));
        CZ_CUDA_TRY(cz_cuda_ntt_down(w, t, d_c, log2n, true));
        CZ_CUDA_TRY(cz_cuda_ntt_down(w, t, d_a, log2n, true));
        return cz_cuda_k_combine(w, d_a, d_c, log2n, t->power[SHIFT_INVERSE]);
    }
    const struct cz_cuda_pass last = {.log_n = 27, .log_m = 9, .bits = 9};
    CZ_CUDA_TRY(to_coset_large(w, t, d_a));
    CZ_CUDA_TRY(to_coset_large(w, t, d_b));
    CZ_CUDA_TRY(cz_cuda_k_product(w, d_a, d_b, n));
    CZ_CUDA_TRY(two_passes(w, t, d_c, t->down, false));
    CZ_CUDA_TRY(run_pass(w, t, d_c, last, true));
    CZ_CUDA_TRY(two_passes(w, t, d_a, t->down_h, false));
    return cz_cuda_k_pass_last(w, d_a, 27, t->w512[1], t->last, d_c);
}

/* The single operation of compute.h: natural order on both sides. Up for forward kinds and down for inverse ones, so
   that tests of it see all passes. */
static enum cz_status transform_on(struct cz_cuda_worker *w, const struct cz_cuda_tables *t, struct cz_fr *v,
                                   unsigned log2n, enum cz_ntt_kind kind) {
    const size_t n = (size_t)1 << log2n;
    struct cz_fr *x = cz_cuda_mem(w, n, sizeof *x), *y = cz_cuda_mem(w, n, sizeof *y), factor = CZ_FR_ONE;
    if (!x || !y) return cz_cuda_full(w, "a transform");
    CZ_CUDA_TRY(cz_cuda_upload(w, x, v, n * sizeof *v));
    if (kind == CZ_NTT_FORWARD || kind == CZ_NTT_COSET_FORWARD) {
        if (kind == CZ_NTT_COSET_FORWARD) CZ_CUDA_TRY(cz_cuda_ntt_scale(w, t, x, log2n, &factor, false, false));
        CZ_CUDA_TRY(cz_cuda_ntt_reorder(w, y, x, log2n, false));
        CZ_CUDA_TRY(cz_cuda_ntt_up(w, t, y, log2n, false));
    } else {
        const struct cz_cuda_powers none = {NULL, NULL};
        cz_fr_from_u64(&factor, n);
        cz_fr_inv(&factor, &factor);
        CZ_CUDA_TRY(cz_cuda_ntt_down(w, t, x, log2n, true));
        CZ_CUDA_TRY(
            cz_cuda_k_scale(w, x, log2n, kind == CZ_NTT_INVERSE ? none : t->power[SHIFT_INVERSE], &factor, true));
        CZ_CUDA_TRY(cz_cuda_ntt_reorder(w, y, x, log2n, true));
    }
    return cz_cuda_download(w, v, y, n * sizeof *v);
}

enum cz_status cz_cuda_ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    struct cz_cuda_device *d = (struct cz_cuda_device *)dev;
    struct cz_cuda_worker *w;
    if (log2n > CZ_CUDA_NTT_MAX) return cz_device_ntt(d->cpu, v, log2n, kind);
    CZ_CUDA_TRY(cz_cuda_take(&w, d->cuda, NULL));
    enum cz_status status = transform_on(w, d->tables, v, log2n, kind);
    cz_cuda_give(w);
    return status;
}
