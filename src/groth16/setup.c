#include "groth16/setup.h"

#include "base/bytes.h"
#include "base/time.h"
#include "compute/gpu.h"
#include "curve/encoding.h"
#include "groth16/output.h"
#include "groth16/qap.h"

#include <openssl/evp.h>

/* Points of G1 made, hashed and written at a time, of G2 half as many: the batches of a fixed base stay long. */
#define BLOCK_CPU ((size_t)1 << 16)
#define BLOCK_GPU ((size_t)1 << 20)
#define POWERS_GRAIN 4096

enum cz_status cz_toxic_waste_random(struct cz_toxic_waste *out) {
    struct cz_toxic_waste waste;
    struct cz_fr k[2];
    struct cz_fr *const scalar[] = {&k[0], &k[1], &waste.alpha, &waste.beta, &waste.gamma, &waste.delta, &waste.tau};
    enum cz_status status = CZ_OK;
    for (size_t i = 0; i < sizeof scalar / sizeof scalar[0] && status == CZ_OK; i++) {
        do status = cz_fr_random(scalar[i]);
        while (status == CZ_OK && cz_fr_is_zero(scalar[i]));
    }
    if (status == CZ_OK) {
        struct cz_g1 g1;
        struct cz_g2 g2;
        cz_g1_from_affine(&g1, &CZ_G1_GENERATOR);
        cz_g1_mul(&g1, &g1, &k[0]);
        cz_g1_to_affine(&waste.g1, &g1);
        cz_g2_from_affine(&g2, &CZ_G2_GENERATOR);
        cz_g2_mul(&g2, &g2, &k[1]);
        cz_g2_to_affine(&waste.g2, &g2);
        *out = waste;
    }
    cz_memzero(k, sizeof k);
    cz_memzero(&waste, sizeof waste);
    return status;
}

void cz_toxic_waste_set(struct cz_toxic_waste *out, uint64_t g1_times, uint64_t g2_times,
                        const struct cz_fr scalar[5]) {
    struct cz_g1 g1;
    struct cz_g2 g2;
    cz_g1_from_affine(&g1, &CZ_G1_GENERATOR);
    cz_g1_mul_limbs(&g1, &g1, &g1_times, 1);
    cz_g1_to_affine(&out->g1, &g1);
    cz_g2_from_affine(&g2, &CZ_G2_GENERATOR);
    cz_g2_mul_limbs(&g2, &g2, &g2_times, 1);
    cz_g2_to_affine(&out->g2, &g2);
    out->alpha = scalar[0];
    out->beta = scalar[1];
    out->gamma = scalar[2];
    out->delta = scalar[3];
    out->tau = scalar[4];
}

void cz_toxic_waste_wipe(struct cz_toxic_waste *waste) {
    cz_memzero(waste, sizeof *waste);
}

/* One setup under way. */
struct setup {
    const struct cz_r1cs *r1cs;
    const struct cz_toxic_waste *waste;
    struct cz_device *dev;
    struct cz_pool *pool;
    void (*progress)(void *ctx, double done);
    void *progress_ctx;
    struct cz_error *err;

    struct cz_qap qap;
    size_t block;         /* points of G1 */
    bool sample;          /* one point of a block is made anew by the host */
    struct cz_fr *scalar; /* a block of them */
    struct cz_fixed_base_g1 *fixed_g1;
    struct cz_fixed_base_g2 *fixed_g2;
    struct cz_output *params;
    struct cz_file_writer *vk_file;
    struct cz_vk vk;
    double points_done, points_total, seconds_device;
    uint64_t samples;
};

static void setup_init(struct setup *s, const struct cz_r1cs *r1cs, const struct cz_toxic_waste *waste,
                       struct cz_device *dev, struct cz_pool *pool, struct cz_error *err) {
    struct cz_gpu_info gpu;
    bool is_gpu = cz_gpu_describe(&gpu, dev);
    *s = (struct setup){.r1cs = r1cs,
                        .waste = waste,
                        .dev = dev,
                        .pool = pool,
                        .err = err,
                        .block = is_gpu ? BLOCK_GPU : BLOCK_CPU,
                        .sample = is_gpu};
}

static void setup_done(struct setup *s) {
    cz_qap_done(&s->qap, s->pool);
    if (s->scalar) cz_memzero(s->scalar, s->block * sizeof *s->scalar);
    cz_free(s->scalar);
    cz_fixed_base_g1_destroy(s->fixed_g1);
    cz_fixed_base_g2_destroy(s->fixed_g2);
    cz_output_abort(s->params);
    cz_file_writer_abort(s->vk_file);
    cz_vk_done(&s->vk);
}

static enum cz_status check_waste(struct setup *s) {
    const struct cz_toxic_waste *w = s->waste;
    const struct {
        const char *name;
        const struct cz_fr *value;
    } scalar[] = {
        {"alpha", &w->alpha}, {"beta", &w->beta}, {"gamma", &w->gamma}, {"delta", &w->delta}, {"tau", &w->tau}};
    for (size_t i = 0; i < sizeof scalar / sizeof scalar[0]; i++) {
        if (cz_fr_is_zero(scalar[i].value)) {
            return cz_error_set(s->err, CZ_ERR_ARGUMENT, "toxic waste: %s is 0", scalar[i].name);
        }
    }
    if (cz_g1_affine_is_infinity(&w->g1) || cz_g2_affine_is_infinity(&w->g2)) {
        return cz_error_set(s->err, CZ_ERR_ARGUMENT, "toxic waste: a generator is the point at infinity");
    }
    return CZ_OK;
}

static enum cz_status make_qap(struct setup *s, bool inputs_only) {
    const struct cz_toxic_waste *w = s->waste;
    const struct cz_qap_secrets secrets = {&w->alpha, &w->beta, &w->gamma, &w->delta, &w->tau};
    return cz_qap_make(&s->qap, s->r1cs, &secrets, inputs_only, s->pool, s->err);
}

/* Output. */

static enum cz_status emit_count(struct setup *s, size_t count) {
    uint8_t be[4];
    cz_store_be32(be, (uint32_t)count);
    return cz_output_append(s->params, be, sizeof be, s->err);
}

static void points_progress(struct setup *s, double points) {
    s->points_done += points;
    if (s->progress) s->progress(s->progress_ctx, 0.03 + 0.97 * s->points_done / s->points_total);
}

/* A device's arithmetic is not the host's: one point of each block must be what the host finds. */
static bool sample_holds(struct setup *s, bool g2, const uint8_t *encoded, const struct cz_fr *scalar, size_t n) {
    if (!s->sample) return true;
    const size_t i = (s->samples++ * 0x9e3779b97f4a7c15u >> 20) % n;
    uint8_t want[CZ_G2_UNCOMPRESSED];
    if (g2) {
        struct cz_g2 p;
        struct cz_g2_affine a;
        cz_g2_from_affine(&p, &s->waste->g2);
        cz_g2_mul(&p, &p, &scalar[i]);
        cz_g2_to_affine(&a, &p);
        cz_g2_encode_uncompressed(want, &a);
        return memcmp(want, encoded + i * CZ_G2_UNCOMPRESSED, CZ_G2_UNCOMPRESSED) == 0;
    }
    struct cz_g1 p;
    struct cz_g1_affine a;
    cz_g1_from_affine(&p, &s->waste->g1);
    cz_g1_mul(&p, &p, &scalar[i]);
    cz_g1_to_affine(&a, &p);
    cz_g1_encode_uncompressed(want, &a);
    return memcmp(want, encoded + i * CZ_G1_UNCOMPRESSED, CZ_G1_UNCOMPRESSED) == 0;
}

/* The points of at most a block's scalars to the file. */
static enum cz_status emit_block(struct setup *s, bool g2, const struct cz_fr *scalar, size_t n) {
    uint8_t *block = cz_output_block(s->params);
    if (!block) return cz_output_put(s->params, 0, s->err);
    const char *group = g2 ? "G2" : "G1";
    const uint64_t start = cz_time_now_ns();
    enum cz_status status = g2 ? cz_fixed_base_g2_encode_n(block, s->fixed_g2, scalar, n)
                               : cz_fixed_base_g1_encode_n(block, s->fixed_g1, scalar, n);
    s->seconds_device += cz_time_since(start);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: points of %s: %s", group, cz_status_text(status));
    if (!sample_holds(s, g2, block, scalar, n))
        return cz_error_set(s->err, CZ_ERR_DEVICE, "setup: %s made a wrong point of %s", cz_device_name(s->dev), group);
    status = cz_output_put(s->params, n * (g2 ? CZ_G2_UNCOMPRESSED : CZ_G1_UNCOMPRESSED), s->err);
    points_progress(s, (g2 ? 3 : 1) * (double)n);
    return status;
}

struct powers_job {
    struct cz_fr *out;
    struct cz_fr first, base;
};

static void powers_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct powers_job *job = ctx;
    struct cz_fr power;
    (void)worker;
    cz_fr_pow_vartime(&power, &job->base, first);
    cz_fr_mul(&power, &power, &job->first);
    for (size_t i = first; i < last; i++) {
        job->out[i] = power;
        cz_fr_mul(&power, &power, &job->base);
    }
    cz_memzero(&power, sizeof power);
}

/* tau^i·(tau^m - 1)/delta for i < m - 1 */
static enum cz_status emit_h(struct setup *s, size_t count) {
    enum cz_status status = emit_count(s, count);
    struct powers_job job = {.out = s->scalar, .base = s->waste->tau};
    cz_fr_inv(&job.first, &s->waste->delta);
    cz_fr_mul(&job.first, &job.first, &s->qap.z);
    for (size_t first = 0; first < count && status == CZ_OK; first += s->block) {
        size_t n = count - first < s->block ? count - first : s->block;
        cz_pool_for(s->pool, n, POWERS_GRAIN, powers_range, &job);
        status = emit_block(s, false, s->scalar, n);
        if (n == s->block) cz_fr_mul(&job.first, &s->scalar[n - 1], &job.base);
    }
    cz_memzero(&job, sizeof job);
    return status;
}

/* The points of all scalars, none of which is 0. */
static enum cz_status emit_l(struct setup *s) {
    const struct cz_fr *l = s->qap.l + s->r1cs->num_inputs;
    const size_t count = s->r1cs->num_aux;
    enum cz_status status = emit_count(s, count);
    for (size_t first = 0; first < count && status == CZ_OK; first += s->block)
        status = emit_block(s, false, l + first, count - first < s->block ? count - first : s->block);
    return status;
}

/* The points of all non-zero scalars. */
static enum cz_status emit_dense(struct setup *s, bool g2, const struct cz_fr *scalar, size_t count) {
    const size_t block = g2 ? s->block / 2 : s->block;
    enum cz_status status = emit_count(s, count);
    size_t fill = 0;
    for (size_t i = 0; i < s->qap.variables && status == CZ_OK; i++) {
        if (cz_fr_is_zero(&scalar[i])) continue;
        s->scalar[fill++] = scalar[i];
        if (fill < block) continue;
        status = emit_block(s, g2, s->scalar, fill);
        fill = 0;
    }
    if (status == CZ_OK && fill > 0) status = emit_block(s, g2, s->scalar, fill);
    return status;
}

/* The key's points, all by the fixed bases. */
static enum cz_status make_vk(struct setup *s) {
    const struct cz_toxic_waste *w = s->waste;
    const uint32_t n = s->r1cs->num_inputs;
    struct cz_vk *vk = &s->vk;
    struct cz_fr scalar[3] = {w->alpha, w->beta, w->delta};
    struct cz_g1_affine g1[3];
    struct cz_g2_affine g2[3];
    vk->num_ic = n;
    vk->ic = cz_malloc_array(n, sizeof *vk->ic);
    if (!vk->ic) return cz_error_set(s->err, CZ_ERR_MEMORY, "setup: no memory for the verifying key");
    enum cz_status status = cz_fixed_base_g1_mul_n(g1, s->fixed_g1, scalar, 3);
    if (status == CZ_OK) status = cz_fixed_base_g1_mul_n(vk->ic, s->fixed_g1, s->qap.l, n);
    scalar[0] = w->gamma;
    if (status == CZ_OK) status = cz_fixed_base_g2_mul_n(g2, s->fixed_g2, scalar, 3);
    cz_memzero(scalar, sizeof scalar);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: verifying key: %s", cz_status_text(status));
    vk->alpha_g1 = g1[0];
    vk->beta_g1 = g1[1];
    vk->delta_g1 = g1[2];
    vk->gamma_g2 = g2[0];
    vk->beta_g2 = g2[1];
    vk->delta_g2 = g2[2];
    return CZ_OK;
}

/* To the key's file and the head of the parameters, whichever there are. */
static enum cz_status emit_vk(struct setup *s, uint8_t sha256[32]) {
    size_t len = cz_vk_bytes(s->r1cs->num_inputs);
    uint8_t *bytes = cz_malloc_array(len, 1);
    if (!bytes) return cz_error_set(s->err, CZ_ERR_MEMORY, "setup: no memory for the verifying key");
    enum cz_status status = make_vk(s);
    if (status == CZ_OK) {
        cz_vk_write(bytes, &s->vk);
        if (EVP_Digest(bytes, len, sha256, NULL, EVP_sha256(), NULL) != 1) {
            status = cz_error_set(s->err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
        }
    }
    if (status == CZ_OK && s->vk_file) status = cz_file_writer_append(s->vk_file, bytes, len, s->err);
    if (status == CZ_OK && s->params) status = cz_output_append(s->params, bytes, len, s->err);
    cz_free(bytes);
    return status;
}

static enum cz_status make_tables(struct setup *s, size_t num_g1, size_t num_g2) {
    enum cz_status status = cz_fixed_base_g1_create(&s->fixed_g1, s->dev, &s->waste->g1, num_g1);
    if (status == CZ_OK) status = cz_fixed_base_g2_create(&s->fixed_g2, s->dev, &s->waste->g2, num_g2);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: fixed-base tables: %s", cz_status_text(status));
    return CZ_OK;
}

static size_t num_h(const struct setup *s) {
    return ((size_t)1 << cz_r1cs_domain_log2(s->r1cs)) - 1;
}

static enum cz_status emit_all(struct setup *s, uint8_t vk_sha256[32]) {
    const struct cz_qap *q = &s->qap;
    const size_t num_g1 = num_h(s) + s->r1cs->num_aux + q->num_u + q->num_v;
    s->points_total = (double)num_g1 + 3 * (double)q->num_v;
    s->scalar = cz_malloc_array(s->block, sizeof *s->scalar);
    if (!s->scalar) return cz_error_set(s->err, CZ_ERR_MEMORY, "setup: no memory for blocks of points");
    enum cz_status status = make_tables(s, num_g1, q->num_v);
    if (status == CZ_OK) status = emit_vk(s, vk_sha256);
    if (status == CZ_OK) status = emit_h(s, num_h(s));
    if (status == CZ_OK) status = emit_l(s);
    if (status == CZ_OK) status = emit_dense(s, false, q->u, q->num_u);
    if (status == CZ_OK) status = emit_dense(s, false, q->v, q->num_v);
    if (status == CZ_OK) status = emit_dense(s, true, q->v, q->num_v);
    return status;
}

/* The end of both files; `done` is filled in whole. */
static enum cz_status commit(struct setup *s, struct cz_setup_result *done) {
    enum cz_status status = CZ_OK;
    if (s->params) {
        struct cz_output *params = s->params;
        struct cz_output_result r;
        s->params = NULL; /* finish frees it */
        status = cz_output_finish(params, &r, s->err);
        if (status != CZ_OK) return status;
        memcpy(done->params_sha256, r.sha256, sizeof r.sha256);
        done->params_bytes = r.bytes;
        done->seconds_wait = r.wait;
        done->seconds_hash = r.hash;
        done->seconds_write = r.write;
        done->seconds_sync = r.sync;
    }
    done->seconds_device = s->seconds_device;
    done->samples = s->samples;
    if (!s->vk_file) return CZ_OK;
    struct cz_file_writer *vk = s->vk_file;
    s->vk_file = NULL;
    return cz_file_writer_commit(vk, s->err);
}

enum cz_status cz_setup_write(struct cz_setup_result *result, const char *params_path, const char *vk_path, bool hash,
                              const struct cz_r1cs *r1cs, const struct cz_toxic_waste *waste, struct cz_device *dev,
                              struct cz_pool *pool, void (*progress)(void *ctx, double done), void *ctx,
                              struct cz_error *err) {
    uint64_t start = cz_time_now_ns();
    struct cz_setup_result done = {0};
    struct setup s;
    setup_init(&s, r1cs, waste, dev, pool, err);
    s.progress = progress;
    s.progress_ctx = ctx;
    enum cz_status status = check_waste(&s);
    /* The files first: a path that cannot be written to is known at once. */
    if (status == CZ_OK)
        status = cz_output_create(&s.params, params_path, NULL, 0, hash, s.block * CZ_G1_UNCOMPRESSED, err);
    if (status == CZ_OK) status = cz_file_writer_create(&s.vk_file, vk_path, err);
    if (status == CZ_OK) status = make_qap(&s, false);
    if (status == CZ_OK) {
        done.seconds_qap = cz_time_since(start);
        if (progress) progress(ctx, 0.03);
        uint64_t points_start = cz_time_now_ns();
        status = emit_all(&s, done.vk_sha256);
        done.seconds_points = cz_time_since(points_start);
    }
    if (status == CZ_OK) status = commit(&s, &done);
    if (status == CZ_OK) {
        done.seconds_total = cz_time_since(start);
        *result = done;
    }
    setup_done(&s);
    return status;
}

enum cz_status cz_setup_write_vk(struct cz_setup_result *result, const char *vk_path, const struct cz_r1cs *r1cs,
                                 const struct cz_toxic_waste *waste, struct cz_device *dev, struct cz_pool *pool,
                                 struct cz_error *err) {
    uint64_t start = cz_time_now_ns();
    struct cz_setup_result done = {0};
    struct setup s;
    setup_init(&s, r1cs, waste, dev, pool, err);
    enum cz_status status = check_waste(&s);
    if (status == CZ_OK) status = cz_file_writer_create(&s.vk_file, vk_path, err);
    if (status == CZ_OK) status = make_qap(&s, true);
    done.seconds_qap = cz_time_since(start);
    if (status == CZ_OK) status = make_tables(&s, r1cs->num_inputs, 3);
    if (status == CZ_OK) status = emit_vk(&s, done.vk_sha256);
    if (status == CZ_OK) status = commit(&s, &done);
    if (status == CZ_OK) {
        done.seconds_total = cz_time_since(start);
        *result = done;
    }
    setup_done(&s);
    return status;
}

static enum cz_status make_srs(struct cz_setup_srs *out, struct setup *s, struct cz_setup_result *done) {
    const struct cz_qap *q = &s->qap;
    const size_t vk = cz_vk_bytes(s->r1cs->num_inputs), h = num_h(s), l = s->r1cs->num_aux;
    out->size = vk + 5 * 4 + (h + l + q->num_u + q->num_v) * CZ_G1_UNCOMPRESSED + q->num_v * CZ_G2_UNCOMPRESSED;
    out->bytes = cz_malloc_array(out->size, 1);
    if (!out->bytes) return cz_error_set(s->err, CZ_ERR_MEMORY, "setup: no memory for the parameters");
    enum cz_status status =
        cz_output_create(&s->params, NULL, out->bytes, out->size, true, s->block * CZ_G1_UNCOMPRESSED, s->err);
    if (status == CZ_OK) status = emit_all(s, done->vk_sha256);
    if (status == CZ_OK) status = commit(s, done);
    if (status != CZ_OK) return status;
    struct cz_srs_view *v = &out->view;
    v->num_h = (uint32_t)h;
    v->num_l = (uint32_t)l;
    v->num_a = (uint32_t)q->num_u;
    v->num_b = (uint32_t)q->num_v;
    v->h = out->bytes + vk + 4;
    v->l = v->h + h * CZ_G1_UNCOMPRESSED + 4;
    v->a = v->l + l * CZ_G1_UNCOMPRESSED + 4;
    v->b_g1 = v->a + q->num_u * CZ_G1_UNCOMPRESSED + 4;
    v->b_g2 = v->b_g1 + q->num_v * CZ_G1_UNCOMPRESSED + 4;
    out->vk = s->vk;
    s->vk = (struct cz_vk){0};
    return CZ_OK;
}

enum cz_status cz_setup_make_srs(struct cz_setup_srs *out, struct cz_setup_result *result, const struct cz_r1cs *r1cs,
                                 const struct cz_toxic_waste *waste, struct cz_device *dev, struct cz_pool *pool,
                                 struct cz_error *err) {
    uint64_t start = cz_time_now_ns();
    struct cz_setup_srs srs = {0};
    struct cz_setup_result done = {0};
    struct setup s;
    setup_init(&s, r1cs, waste, dev, pool, err);
    enum cz_status status = check_waste(&s);
    if (status == CZ_OK) status = make_qap(&s, false);
    done.seconds_qap = cz_time_since(start);
    if (status == CZ_OK) status = make_srs(&srs, &s, &done);
    setup_done(&s);
    if (status != CZ_OK) {
        cz_setup_srs_done(&srs);
        return status;
    }
    done.seconds_total = cz_time_since(start);
    if (result) *result = done;
    *out = srs;
    return CZ_OK;
}

void cz_setup_srs_done(struct cz_setup_srs *srs) {
    cz_vk_done(&srs->vk);
    cz_free(srs->bytes);
    *srs = (struct cz_setup_srs){0};
}
