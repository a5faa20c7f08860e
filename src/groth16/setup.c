#include "groth16/setup.h"

#include "base/bytes.h"
#include "base/file.h"
#include "base/time.h"
#include "curve/encoding.h"

#include <openssl/evp.h>

/* Points made, encoded, hashed and written at a time: 6 MiB of G1, and the batches of a fixed base stay long. */
#define BLOCK_POINTS 65536
#define ENCODE_GRAIN 512
#define LAGRANGE_GRAIN 4096

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

/* One setup under way. The vectors over variables hold inputs first, then aux. */
struct setup {
    const struct cz_r1cs *r1cs;
    const struct cz_toxic_waste *waste;
    struct cz_device *dev;
    struct cz_pool *pool;
    void (*progress)(void *ctx, double done);
    void *progress_ctx;
    struct cz_error *err;

    size_t rows, variables;  /* rows with those of the inputs */
    struct cz_fr z;          /* tau^m - 1 */
    struct cz_fr *lagrange;  /* rows */
    struct cz_fr *at_tau[3]; /* u, v, w: variables each; w becomes (beta·u + alpha·v + w)/(gamma or delta) */
    struct cz_fr *scalar;    /* BLOCK_POINTS */
    struct cz_g1_affine *g1; /* BLOCK_POINTS */
    struct cz_g2_affine *g2; /* BLOCK_POINTS */
    uint8_t *encoded;        /* BLOCK_POINTS of G2 */
    struct cz_fixed_base_g1 *fixed_g1;
    struct cz_fixed_base_g2 *fixed_g2;
    struct cz_file_writer *params, *vk;
    EVP_MD_CTX *hash;
    uint64_t written;
    double points_done, points_total;
};

static void wipe_free(void *p, size_t n, size_t size) {
    if (p) cz_memzero(p, n * size);
    cz_free(p);
}

static void free_lagrange(struct setup *s) {
    wipe_free(s->lagrange, s->rows, sizeof *s->lagrange);
    s->lagrange = NULL;
}

static void setup_done(struct setup *s) {
    free_lagrange(s);
    for (int m = 0; m < 3; m++) wipe_free(s->at_tau[m], s->variables, sizeof *s->at_tau[m]);
    wipe_free(s->scalar, BLOCK_POINTS, sizeof *s->scalar);
    cz_memzero(&s->z, sizeof s->z);
    cz_free(s->g1);
    cz_free(s->g2);
    cz_free(s->encoded);
    cz_fixed_base_g1_destroy(s->fixed_g1);
    cz_fixed_base_g2_destroy(s->fixed_g2);
    cz_file_writer_abort(s->params);
    cz_file_writer_abort(s->vk);
    EVP_MD_CTX_free(s->hash);
}

static enum cz_status no_memory(struct setup *s, const char *what) {
    return cz_error_set(s->err, CZ_ERR_MEMORY, "setup: no memory for %s", what);
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
    if (cz_fr_is_zero(&s->z)) {
        return cz_error_set(s->err, CZ_ERR_ARGUMENT, "toxic waste: tau is in the evaluation domain");
    }
    return CZ_OK;
}

/* Lagrange coefficients: L_k(tau) = (tau^m - 1)/m · omega^k/(tau - omega^k), one inversion a range. */

struct lagrange_job {
    struct cz_fr *out;
    struct cz_fr *scratch; /* LAGRANGE_GRAIN a worker */
    struct cz_fr omega, tau, factor;
};

static void lagrange_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct lagrange_job *job = ctx;
    struct cz_fr *out = job->out + first, power;
    size_t n = last - first;
    cz_fr_pow_vartime(&power, &job->omega, first);
    for (size_t i = 0; i < n; i++) {
        cz_fr_sub(&out[i], &job->tau, &power);
        cz_fr_mul(&power, &power, &job->omega);
    }
    cz_fr_inv_n(out, out, job->scratch + (size_t)worker * LAGRANGE_GRAIN, n);
    cz_fr_pow_vartime(&power, &job->omega, first);
    cz_fr_mul(&power, &power, &job->factor);
    for (size_t i = 0; i < n; i++) {
        cz_fr_mul(&out[i], &out[i], &power);
        cz_fr_mul(&power, &power, &job->omega);
    }
    cz_memzero(&power, sizeof power);
}

static enum cz_status make_lagrange(struct setup *s, unsigned log2m) {
    size_t scratch = (size_t)cz_pool_threads(s->pool) * LAGRANGE_GRAIN;
    s->lagrange = cz_malloc_array(s->rows, sizeof *s->lagrange);
    struct lagrange_job job = {.out = s->lagrange, .tau = s->waste->tau};
    job.scratch = cz_malloc_array(scratch, sizeof *job.scratch);
    if (!s->lagrange || !job.scratch) {
        cz_free(job.scratch);
        return no_memory(s, "the Lagrange coefficients");
    }
    struct cz_fr m;
    cz_fr_from_u64(&m, UINT64_C(1) << log2m);
    cz_fr_inv(&m, &m);
    cz_fr_mul(&job.factor, &s->z, &m);
    cz_fr_root_of_unity(&job.omega, log2m);
    cz_pool_for(s->pool, s->rows, LAGRANGE_GRAIN, lagrange_range, &job);
    wipe_free(job.scratch, scratch, sizeof *job.scratch);
    cz_memzero(&job, sizeof job);
    return CZ_OK;
}

/* u, v, w: every term adds coefficient·L_row to its variable. */

static size_t variable_index(const struct cz_r1cs *r1cs, cz_r1cs_var var) {
    return var & CZ_R1CS_INPUT ? var & ~CZ_R1CS_INPUT : (size_t)r1cs->num_inputs + var;
}

static void add_instance(struct cz_fr *acc, const struct cz_fr *lagrange, const struct cz_r1cs *r1cs,
                         const struct cz_r1cs_instance *inst, int matrix) {
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    const uint32_t *row = t->row[matrix];
    const cz_r1cs_var *external = r1cs->external + inst->first_external;
    struct cz_fr *local = acc + r1cs->num_inputs + inst->first_aux;
    for (uint32_t k = 0; k < t->num_constraints; k++) {
        const struct cz_fr *l = &lagrange[inst->first_constraint + k];
        for (uint32_t j = row[k]; j < row[k + 1]; j++) {
            const struct cz_r1cs_term *term = &t->term[matrix][j];
            uint32_t col = term->col;
            struct cz_fr *to = col > t->num_external ? &local[col - t->num_external - 1]
                               : col == 0            ? &acc[0]
                                                     : &acc[variable_index(r1cs, external[col - 1])];
            struct cz_fr product;
            switch (term->coef) {
            case CZ_R1CS_COEF_ZERO:
                break;
            case CZ_R1CS_COEF_ONE:
                cz_fr_add(to, to, l);
                break;
            case CZ_R1CS_COEF_MINUS_ONE:
                cz_fr_sub(to, to, l);
                break;
            default:
                cz_fr_mul(&product, l, &r1cs->coef[term->coef]);
                cz_fr_add(to, to, &product);
            }
        }
    }
}

/* One matrix a task: instances share externals, so a matrix is not cut further. */
static void add_matrices(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct setup *s = ctx;
    (void)worker;
    for (size_t matrix = first; matrix < last; matrix++) {
        struct cz_fr *acc = s->at_tau[matrix];
        for (uint32_t i = 0; i < s->r1cs->num_instances; i++) {
            add_instance(acc, s->lagrange, s->r1cs, &s->r1cs->instance[i], (int)matrix);
        }
        if (matrix != CZ_R1CS_A) continue;
        for (uint32_t i = 0; i < s->r1cs->num_inputs; i++) {
            cz_fr_add(&acc[i], &acc[i], &s->lagrange[s->r1cs->num_constraints + i]);
        }
    }
}

static enum cz_status make_u_v_w(struct setup *s) {
    for (int m = 0; m < 3; m++) {
        s->at_tau[m] = cz_calloc(s->variables, sizeof *s->at_tau[m]);
        if (!s->at_tau[m]) return no_memory(s, "u, v, w");
    }
    cz_pool_for(s->pool, 3, 1, add_matrices, s);
    free_lagrange(s);
    return CZ_OK;
}

static bool bit_of(const uint64_t *bit, size_t i) {
    return bit[i / 64] >> (i % 64) & 1;
}

/*
 * The files leave out points by value, and provers take the densities from the structure. Where the two differ (the
 * coefficients of a variable cancel), no prover could use the files.
 */
static enum cz_status check_densities(struct setup *s) {
    const struct cz_r1cs *r1cs = s->r1cs;
    size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64, input_words = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *a_aux = cz_calloc(2 * aux_words + input_words, sizeof *a_aux);
    if (!a_aux) return no_memory(s, "the densities");
    uint64_t *b_aux = a_aux + aux_words, *b_input = b_aux + aux_words;
    cz_r1cs_density(r1cs, a_aux, b_aux, b_input);
    enum cz_status status = CZ_OK;
    for (size_t i = 0; i < s->variables && status == CZ_OK; i++) {
        bool input = i < r1cs->num_inputs;
        size_t index = input ? i : i - r1cs->num_inputs;
        bool want_a = input || bit_of(a_aux, index), want_b = bit_of(input ? b_input : b_aux, index);
        bool has_a = !cz_fr_is_zero(&s->at_tau[CZ_R1CS_A][i]), has_b = !cz_fr_is_zero(&s->at_tau[CZ_R1CS_B][i]);
        if (has_a == want_a && has_b == want_b) continue;
        status = cz_error_set(s->err, CZ_ERR_MISMATCH,
                              "setup: %s variable %zu: its value at tau in %s and its density disagree",
                              input ? "input" : "aux", index, has_a == want_a ? "B" : "A");
    }
    cz_free(a_aux);
    return status;
}

struct combine_job {
    struct setup *s;
    struct cz_fr gamma_inv, delta_inv;
};

/* w[i] becomes (beta·u[i] + alpha·v[i] + w[i])/(gamma for inputs, delta for aux). */
static void combine_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct combine_job *job = ctx;
    const struct setup *s = job->s;
    struct cz_fr sum, t;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        cz_fr_mul(&sum, &s->at_tau[CZ_R1CS_A][i], &s->waste->beta);
        cz_fr_mul(&t, &s->at_tau[CZ_R1CS_B][i], &s->waste->alpha);
        cz_fr_add(&sum, &sum, &t);
        cz_fr_add(&sum, &sum, &s->at_tau[CZ_R1CS_C][i]);
        cz_fr_mul(&s->at_tau[CZ_R1CS_C][i], &sum, i < s->r1cs->num_inputs ? &job->gamma_inv : &job->delta_inv);
    }
    cz_memzero(&sum, sizeof sum);
    cz_memzero(&t, sizeof t);
}

static enum cz_status combine(struct setup *s) {
    struct combine_job job = {.s = s};
    cz_fr_inv(&job.gamma_inv, &s->waste->gamma);
    cz_fr_inv(&job.delta_inv, &s->waste->delta);
    cz_pool_for(s->pool, s->variables, LAGRANGE_GRAIN, combine_range, &job);
    cz_memzero(&job, sizeof job);
    for (size_t i = 0; i < s->variables; i++) {
        if (!cz_fr_is_zero(&s->at_tau[CZ_R1CS_C][i])) continue;
        bool input = i < s->r1cs->num_inputs;
        return cz_error_set(s->err, CZ_ERR_UNSATISFIED, "setup: %s variable %zu is unconstrained",
                            input ? "input" : "aux", input ? i : i - s->r1cs->num_inputs);
    }
    return CZ_OK;
}

/* Output: hashed while it is written. */

static enum cz_status emit(struct setup *s, const void *data, size_t len) {
    if (EVP_DigestUpdate(s->hash, data, len) != 1) {
        return cz_error_set(s->err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
    }
    s->written += len;
    return cz_file_writer_append(s->params, data, len, s->err);
}

static enum cz_status emit_count(struct setup *s, size_t count) {
    uint8_t be[4];
    cz_store_be32(be, (uint32_t)count);
    return emit(s, be, sizeof be);
}

static void encode_g1_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct setup *s = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) cz_g1_encode_uncompressed(s->encoded + i * CZ_G1_UNCOMPRESSED, &s->g1[i]);
}

static void encode_g2_range(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct setup *s = ctx;
    (void)worker;
    for (size_t i = first; i < last; i++) cz_g2_encode_uncompressed(s->encoded + i * CZ_G2_UNCOMPRESSED, &s->g2[i]);
}

static void points_progress(struct setup *s, double points) {
    s->points_done += points;
    if (s->progress) s->progress(s->progress_ctx, 0.03 + 0.97 * s->points_done / s->points_total);
}

/* Points of the first n scalars of the block, encoded, to the file. */
static enum cz_status emit_block_g1(struct setup *s, const struct cz_fr *scalar, size_t n) {
    enum cz_status status = cz_fixed_base_g1_mul_n(s->g1, s->fixed_g1, scalar, n);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: points of G1: %s", cz_status_text(status));
    cz_pool_for(s->pool, n, ENCODE_GRAIN, encode_g1_range, s);
    status = emit(s, s->encoded, n * CZ_G1_UNCOMPRESSED);
    points_progress(s, (double)n);
    return status;
}

static enum cz_status emit_block_g2(struct setup *s, const struct cz_fr *scalar, size_t n) {
    enum cz_status status = cz_fixed_base_g2_mul_n(s->g2, s->fixed_g2, scalar, n);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: points of G2: %s", cz_status_text(status));
    cz_pool_for(s->pool, n, ENCODE_GRAIN, encode_g2_range, s);
    status = emit(s, s->encoded, n * CZ_G2_UNCOMPRESSED);
    points_progress(s, 3 * (double)n);
    return status;
}

/* tau^i·(tau^m - 1)/delta for i < m - 1 */
static enum cz_status emit_h(struct setup *s, size_t count) {
    enum cz_status status = emit_count(s, count);
    struct cz_fr power;
    cz_fr_inv(&power, &s->waste->delta);
    cz_fr_mul(&power, &power, &s->z);
    for (size_t first = 0; first < count && status == CZ_OK; first += BLOCK_POINTS) {
        size_t n = count - first < BLOCK_POINTS ? count - first : BLOCK_POINTS;
        for (size_t i = 0; i < n; i++) {
            s->scalar[i] = power;
            cz_fr_mul(&power, &power, &s->waste->tau);
        }
        status = emit_block_g1(s, s->scalar, n);
    }
    cz_memzero(&power, sizeof power);
    return status;
}

typedef enum cz_status emit_block_fn(struct setup *s, const struct cz_fr *scalar, size_t n);

/* The points of all non-zero scalars. */
static enum cz_status emit_dense(struct setup *s, const struct cz_fr *scalar, size_t n, size_t count,
                                 emit_block_fn *emit_block) {
    enum cz_status status = emit_count(s, count);
    size_t fill = 0;
    for (size_t i = 0; i < n && status == CZ_OK; i++) {
        if (cz_fr_is_zero(&scalar[i])) continue;
        s->scalar[fill++] = scalar[i];
        if (fill < BLOCK_POINTS) continue;
        status = emit_block(s, s->scalar, fill);
        fill = 0;
    }
    if (status == CZ_OK && fill > 0) status = emit_block(s, s->scalar, fill);
    return status;
}

static size_t count_nonzero(const struct cz_fr *scalar, size_t n) {
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += !cz_fr_is_zero(&scalar[i]);
    return count;
}

/* The key's points, all by the fixed bases. The caller frees vk->ic. */
static enum cz_status make_vk(struct cz_vk *vk, struct setup *s) {
    const struct cz_toxic_waste *w = s->waste;
    const uint32_t n = s->r1cs->num_inputs;
    struct cz_fr scalar[3] = {w->alpha, w->beta, w->delta};
    struct cz_g1_affine g1[3];
    struct cz_g2_affine g2[3];
    vk->num_ic = n;
    vk->ic = cz_malloc_array(n, sizeof *vk->ic);
    if (!vk->ic) return no_memory(s, "the verifying key");
    enum cz_status status = cz_fixed_base_g1_mul_n(g1, s->fixed_g1, scalar, 3);
    if (status == CZ_OK) status = cz_fixed_base_g1_mul_n(vk->ic, s->fixed_g1, s->at_tau[CZ_R1CS_C], n);
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

static enum cz_status emit_vk(struct setup *s, uint8_t sha256[32]) {
    struct cz_vk vk = {0};
    size_t len = cz_vk_bytes(s->r1cs->num_inputs);
    uint8_t *bytes = cz_malloc_array(len, 1);
    enum cz_status status = bytes ? make_vk(&vk, s) : no_memory(s, "the verifying key");
    if (status == CZ_OK) {
        cz_vk_write(bytes, &vk);
        if (EVP_Digest(bytes, len, sha256, NULL, EVP_sha256(), NULL) != 1) {
            status = cz_error_set(s->err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
        }
    }
    if (status == CZ_OK) status = cz_file_writer_append(s->vk, bytes, len, s->err);
    if (status == CZ_OK) status = emit(s, bytes, len);
    cz_free(bytes);
    cz_vk_done(&vk);
    return status;
}

static enum cz_status prepare_points(struct setup *s, const char *params_path, const char *vk_path) {
    s->scalar = cz_malloc_array(BLOCK_POINTS, sizeof *s->scalar);
    s->g1 = cz_malloc_array(BLOCK_POINTS, sizeof *s->g1);
    s->g2 = cz_malloc_array(BLOCK_POINTS, sizeof *s->g2);
    s->encoded = cz_malloc_array(BLOCK_POINTS, CZ_G2_UNCOMPRESSED);
    s->hash = EVP_MD_CTX_new();
    if (!s->scalar || !s->g1 || !s->g2 || !s->encoded || !s->hash) return no_memory(s, "blocks of points");
    if (EVP_DigestInit_ex(s->hash, EVP_sha256(), NULL) != 1) {
        return cz_error_set(s->err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
    }
    enum cz_status status = cz_file_writer_create(&s->params, params_path, s->err);
    if (status == CZ_OK) status = cz_file_writer_create(&s->vk, vk_path, s->err);
    return status;
}

static enum cz_status make_tables(struct setup *s, size_t num_g1, size_t num_g2) {
    enum cz_status status = cz_fixed_base_g1_create(&s->fixed_g1, s->dev, &s->waste->g1, num_g1);
    if (status == CZ_OK) status = cz_fixed_base_g2_create(&s->fixed_g2, s->dev, &s->waste->g2, num_g2);
    if (status != CZ_OK) return cz_error_set(s->err, status, "setup: fixed-base tables: %s", cz_status_text(status));
    return CZ_OK;
}

static enum cz_status emit_all(struct setup *s, size_t domain, uint8_t vk_sha256[32]) {
    const struct cz_fr *u = s->at_tau[CZ_R1CS_A], *v = s->at_tau[CZ_R1CS_B];
    const struct cz_fr *l = s->at_tau[CZ_R1CS_C] + s->r1cs->num_inputs;
    size_t num_a = count_nonzero(u, s->variables), num_b = count_nonzero(v, s->variables);
    size_t num_g1 = domain - 1 + s->r1cs->num_aux + num_a + num_b;
    s->points_total = (double)num_g1 + 3 * (double)num_b;
    enum cz_status status = make_tables(s, num_g1, num_b);
    if (status == CZ_OK) status = emit_vk(s, vk_sha256);
    if (status == CZ_OK) status = emit_h(s, domain - 1);
    if (status == CZ_OK) status = emit_dense(s, l, s->r1cs->num_aux, s->r1cs->num_aux, emit_block_g1);
    if (status == CZ_OK) status = emit_dense(s, u, s->variables, num_a, emit_block_g1);
    if (status == CZ_OK) status = emit_dense(s, v, s->variables, num_b, emit_block_g1);
    if (status == CZ_OK) status = emit_dense(s, v, s->variables, num_b, emit_block_g2);
    return status;
}

static enum cz_status commit(struct setup *s, struct cz_setup_result *result) {
    unsigned length = 0;
    if (EVP_DigestFinal_ex(s->hash, result->params_sha256, &length) != 1) {
        return cz_error_set(s->err, CZ_ERR_INTERNAL, "setup: SHA-256 failed");
    }
    result->params_bytes = s->written;
    struct cz_file_writer *params = s->params, *vk = s->vk;
    s->params = NULL; /* commit frees them */
    enum cz_status status = cz_file_writer_commit(params, s->err);
    if (status != CZ_OK) return status;
    s->vk = NULL;
    return cz_file_writer_commit(vk, s->err);
}

enum cz_status cz_setup_write(struct cz_setup_result *result, const char *params_path, const char *vk_path,
                              const struct cz_r1cs *r1cs, const struct cz_toxic_waste *waste, struct cz_device *dev,
                              struct cz_pool *pool, void (*progress)(void *ctx, double done), void *ctx,
                              struct cz_error *err) {
    uint64_t start = cz_time_now_ns();
    struct cz_setup_result done = {0};
    struct setup s = {
        .r1cs = r1cs,
        .waste = waste,
        .dev = dev,
        .pool = pool,
        .progress = progress,
        .progress_ctx = ctx,
        .err = err,
        .rows = (size_t)r1cs->num_constraints + r1cs->num_inputs,
        .variables = (size_t)r1cs->num_inputs + r1cs->num_aux,
    };
    unsigned log2m = cz_r1cs_domain_log2(r1cs);
    if (log2m >= CZ_FR_TWO_ADICITY) {
        return cz_error_set(err, CZ_ERR_LIMIT, "setup: the circuit has %zu constraints, at most 2^31 are possible",
                            s.rows);
    }
    size_t domain = (size_t)1 << log2m;
    cz_fr_pow_vartime(&s.z, &waste->tau, domain);
    cz_fr_sub(&s.z, &s.z, &CZ_FR_ONE);

    enum cz_status status = check_waste(&s);
    if (status == CZ_OK) status = prepare_points(&s, params_path, vk_path);
    if (status == CZ_OK) status = make_lagrange(&s, log2m);
    if (status == CZ_OK) status = make_u_v_w(&s);
    if (status == CZ_OK) status = check_densities(&s);
    if (status == CZ_OK) status = combine(&s);
    if (status == CZ_OK) {
        done.seconds_qap = cz_time_since(start);
        if (progress) progress(ctx, 0.03);
        uint64_t points_start = cz_time_now_ns();
        status = emit_all(&s, domain, done.vk_sha256);
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
