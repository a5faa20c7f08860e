#include "compute/inject.h"

#include "base/bytes.h"
#include "compute/device.h"

#include <pthread.h>
#include <stdio.h>

struct rule {
    unsigned calls, from, to; /* fails calls from..to-1, counted from 1 */
    enum cz_status status;
    void (*before)(void *ctx, unsigned before);
    void *before_ctx;
};

struct inject {
    struct cz_device base;
    struct cz_device *inner;
    pthread_mutex_t lock;
    struct rule rule[CZ_INJECT_CALLS];
    bool lost;
    size_t partition_bytes;
    unsigned now, most; /* partitions under way */
};

struct inject_srs {
    struct cz_srs base;
    struct cz_srs *inner;
};
struct inject_fb1 {
    struct cz_fixed_base_g1 base;
    struct cz_fixed_base_g1 *inner;
};
struct inject_fb2 {
    struct cz_fixed_base_g2 base;
    struct cz_fixed_base_g2 *inner;
};

static const char *const NAME[CZ_INJECT_CALLS] = {"srs_create",
                                                  "prove_partition",
                                                  "msm_g1",
                                                  "msm_g2",
                                                  "bitsum_g1",
                                                  "bitsum_g2",
                                                  "ntt",
                                                  "fixed_g1_create",
                                                  "fixed_g1_mul_n",
                                                  "fixed_g1_encode",
                                                  "fixed_g2_create",
                                                  "fixed_g2_mul_n",
                                                  "fixed_g2_encode"};

const char *cz_inject_call_name(enum cz_inject_call call) {
    return (unsigned)call < CZ_INJECT_CALLS ? NAME[call] : "";
}

static struct inject *of(const struct cz_device *dev) {
    return (struct inject *)dev;
}

/* Counts the call, and says whether and how it is to fail. */
static enum cz_status pass(const struct cz_device *dev, enum cz_inject_call call, struct cz_error *err) {
    struct inject *d = of(dev);
    struct rule *r = &d->rule[call];
    (void)pthread_mutex_lock(&d->lock);
    const unsigned n = ++r->calls;
    enum cz_status st = n >= r->from && n < r->to ? r->status : CZ_OK;
    const bool was_lost = d->lost;
    if (was_lost) st = CZ_ERR_DEVICE;
    if (st == CZ_ERR_DEVICE) d->lost = true;
    (void)pthread_mutex_unlock(&d->lock);
    if (r->before) r->before(r->before_ctx, n - 1);
    if (st == CZ_OK) return CZ_OK;
    return cz_error_set(err, st, "%s: %s: %s", d->base.name, NAME[call], was_lost ? "it is lost" : "injected");
}

static void destroy(struct cz_device *dev) {
    struct inject *d = of(dev);
    cz_device_destroy(d->inner);
    (void)pthread_mutex_destroy(&d->lock);
    cz_free(d);
}

static enum cz_status srs_create(struct cz_srs **out, struct cz_device *dev, const struct cz_r1cs *r1cs,
                                 const struct cz_srs_view *view, struct cz_error *err) {
    enum cz_status st = pass(dev, CZ_INJECT_SRS_CREATE, err);
    if (st != CZ_OK) return st;
    struct inject_srs *s = cz_calloc(1, sizeof *s);
    if (!s) return cz_error_set(err, CZ_ERR_MEMORY, "srs");
    st = cz_srs_create(&s->inner, of(dev)->inner, r1cs, view, err);
    if (st != CZ_OK) {
        cz_free(s);
        return st;
    }
    *out = &s->base;
    return CZ_OK;
}

static void srs_destroy(struct cz_srs *srs) {
    cz_srs_destroy(((struct inject_srs *)srs)->inner);
    cz_free(srs);
}

static size_t srs_bytes(const struct cz_srs *srs) {
    return cz_srs_bytes(((const struct inject_srs *)srs)->inner);
}

static enum cz_status prove_partition(struct cz_partition_sums *out, struct cz_partition_timing *timing,
                                      struct cz_srs *srs, const struct cz_witness *witness, struct cz_error *err) {
    struct inject *d = of(srs->dev);
    (void)pthread_mutex_lock(&d->lock);
    d->now++;
    if (d->now > d->most) d->most = d->now;
    (void)pthread_mutex_unlock(&d->lock);
    enum cz_status st = pass(srs->dev, CZ_INJECT_PROVE_PARTITION, err);
    if (st == CZ_OK) st = cz_device_prove_partition(out, timing, ((struct inject_srs *)srs)->inner, witness, err);
    (void)pthread_mutex_lock(&d->lock);
    d->now--;
    (void)pthread_mutex_unlock(&d->lock);
    return st;
}

static size_t partition_bytes(const struct cz_device *dev, const struct cz_r1cs *r1cs) {
    const size_t bytes = of(dev)->partition_bytes;
    return bytes ? bytes : cz_device_partition_bytes(of(dev)->inner, r1cs);
}

#define SUM(fn, call, point, factor)                                                                                   \
    static enum cz_status fn(struct cz_##point *out, struct cz_device *dev, const struct cz_##point##_affine *base,    \
                             const uint64_t *factor, size_t n) {                                                       \
        const enum cz_status st = pass(dev, call, NULL);                                                               \
        return st == CZ_OK ? cz_device_##fn(out, of(dev)->inner, base, factor, n) : st;                                \
    }
SUM(msm_g1, CZ_INJECT_MSM_G1, g1, scalar)
SUM(msm_g2, CZ_INJECT_MSM_G2, g2, scalar)
SUM(bitsum_g1, CZ_INJECT_BITSUM_G1, g1, bit)
SUM(bitsum_g2, CZ_INJECT_BITSUM_G2, g2, bit)

static enum cz_status ntt(struct cz_device *dev, struct cz_fr *v, unsigned log2n, enum cz_ntt_kind kind) {
    const enum cz_status st = pass(dev, CZ_INJECT_NTT, NULL);
    return st == CZ_OK ? cz_device_ntt(of(dev)->inner, v, log2n, kind) : st;
}

#define FIXED(group, type, CREATE, MUL, ENCODE)                                                                        \
    static enum cz_status fixed_##group##_create(struct cz_fixed_base_##group **out, struct cz_device *dev,            \
                                                 const struct cz_##group##_affine *base, size_t expected) {            \
        enum cz_status st = pass(dev, CREATE, NULL);                                                                   \
        struct type *f = st == CZ_OK ? cz_calloc(1, sizeof *f) : NULL;                                                 \
        if (st == CZ_OK && !f) st = CZ_ERR_MEMORY;                                                                     \
        if (st == CZ_OK) st = cz_fixed_base_##group##_create(&f->inner, of(dev)->inner, base, expected);               \
        if (st == CZ_OK) {                                                                                             \
            *out = &f->base;                                                                                           \
        } else {                                                                                                       \
            cz_free(f);                                                                                                \
        }                                                                                                              \
        return st;                                                                                                     \
    }                                                                                                                  \
    static enum cz_status fixed_##group##_mul_n(struct cz_##group##_affine *out, struct cz_fixed_base_##group *fb,     \
                                                const struct cz_fr *scalar, size_t n) {                                \
        const enum cz_status st = pass(fb->dev, MUL, NULL);                                                            \
        return st == CZ_OK ? cz_fixed_base_##group##_mul_n(out, ((struct type *)fb)->inner, scalar, n) : st;           \
    }                                                                                                                  \
    static enum cz_status fixed_##group##_encode_n(uint8_t *out, struct cz_fixed_base_##group *fb,                     \
                                                   const struct cz_fr *scalar, size_t n) {                             \
        const enum cz_status st = pass(fb->dev, ENCODE, NULL);                                                         \
        return st == CZ_OK ? cz_fixed_base_##group##_encode_n(out, ((struct type *)fb)->inner, scalar, n) : st;        \
    }                                                                                                                  \
    static void fixed_##group##_destroy(struct cz_fixed_base_##group *fb) {                                            \
        cz_fixed_base_##group##_destroy(((struct type *)fb)->inner);                                                   \
        cz_free(fb);                                                                                                   \
    }
FIXED(g1, inject_fb1, CZ_INJECT_FIXED_G1_CREATE, CZ_INJECT_FIXED_G1_MUL, CZ_INJECT_FIXED_G1_ENCODE)
FIXED(g2, inject_fb2, CZ_INJECT_FIXED_G2_CREATE, CZ_INJECT_FIXED_G2_MUL, CZ_INJECT_FIXED_G2_ENCODE)

static const struct cz_device_ops OPS = {
    .destroy = destroy,
    .srs_create = srs_create,
    .srs_destroy = srs_destroy,
    .srs_bytes = srs_bytes,
    .prove_partition = prove_partition,
    .partition_bytes = partition_bytes,
    .msm_g1 = msm_g1,
    .msm_g2 = msm_g2,
    .bitsum_g1 = bitsum_g1,
    .bitsum_g2 = bitsum_g2,
    .ntt = ntt,
    .fixed_g1_create = fixed_g1_create,
    .fixed_g1_mul_n = fixed_g1_mul_n,
    .fixed_g1_encode_n = fixed_g1_encode_n,
    .fixed_g1_destroy = fixed_g1_destroy,
    .fixed_g2_create = fixed_g2_create,
    .fixed_g2_mul_n = fixed_g2_mul_n,
    .fixed_g2_encode_n = fixed_g2_encode_n,
    .fixed_g2_destroy = fixed_g2_destroy,
};

enum cz_status cz_inject_create(struct cz_device **out, struct cz_device *inner, const char *name) {
    struct inject *d = cz_calloc(1, sizeof *d);
    if (!d || pthread_mutex_init(&d->lock, NULL) != 0) {
        cz_free(d);
        cz_device_destroy(inner);
        return CZ_ERR_MEMORY;
    }
    d->base.ops = &OPS;
    d->inner = inner;
    (void)snprintf(d->base.name, sizeof d->base.name, "%s", name);
    *out = &d->base;
    return CZ_OK;
}

void cz_inject_fail(struct cz_device *dev, enum cz_inject_call call, unsigned n, unsigned count,
                    enum cz_status status) {
    struct inject *d = of(dev);
    struct rule *r = &d->rule[call];
    (void)pthread_mutex_lock(&d->lock);
    r->from = n ? r->calls + n : 0;
    r->to = n ? r->from + count : 0;
    r->status = status;
    (void)pthread_mutex_unlock(&d->lock);
}

void cz_inject_before(struct cz_device *dev, enum cz_inject_call call, void (*fn)(void *ctx, unsigned before),
                      void *ctx) {
    of(dev)->rule[call].before = fn;
    of(dev)->rule[call].before_ctx = ctx;
}

void cz_inject_partition_bytes(struct cz_device *dev, size_t bytes) {
    of(dev)->partition_bytes = bytes;
}

unsigned cz_inject_calls(struct cz_device *dev, enum cz_inject_call call) {
    struct inject *d = of(dev);
    (void)pthread_mutex_lock(&d->lock);
    const unsigned n = d->rule[call].calls;
    (void)pthread_mutex_unlock(&d->lock);
    return n;
}

unsigned cz_inject_most_at_once(struct cz_device *dev) {
    struct inject *d = of(dev);
    (void)pthread_mutex_lock(&d->lock);
    const unsigned n = d->most;
    (void)pthread_mutex_unlock(&d->lock);
    return n;
}
