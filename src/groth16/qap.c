#include "groth16/qap.h"

#include "base/bytes.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define GRAIN 4096
#define WIPE_GRAIN 65536

/* Of one making. */
struct make {
    struct cz_qap *qap;
    const struct cz_r1cs *r1cs;
    const struct cz_qap_secrets *secret;
    bool inputs_only;
    struct cz_pool *pool;
    struct cz_error *err;

    size_t rows; /* with those of the inputs */
    struct cz_fr *lagrange;
    struct cz_fr *value[3];    /* u, v, w over the variables */
    struct cz_fr *external[3]; /* what each external of each instance gets */
    struct cz_fr *one[3];      /* what ONE gets from each instance */
    struct cz_fr gamma_inv, delta_inv;
    const uint64_t *a_aux, *b_aux, *b_input; /* densities */
    _Atomic size_t bad, unconstrained;       /* the first variable, or SIZE_MAX */
    _Atomic size_t num_u, num_v;
};

/* Big arrays are zeroed and wiped by all threads: the page faults of one took as long as all the arithmetic. */

static void zero_range(void *ctx, size_t first, size_t last, unsigned worker) {
    (void)worker;
    memset((struct cz_fr *)ctx + first, 0, (last - first) * sizeof(struct cz_fr));
}
static void wipe_range(void *ctx, size_t first, size_t last, unsigned worker) {
    (void)worker;
    cz_memzero((struct cz_fr *)ctx + first, (last - first) * sizeof(struct cz_fr));
}

static struct cz_fr *big_array(struct cz_pool *pool, size_t n) {
    struct cz_fr *p = cz_malloc_array(n, sizeof *p);
    if (!p) return NULL;
    uintptr_t from = ((uintptr_t)p + 4095) & ~(uintptr_t)4095, to = (uintptr_t)(p + n) & ~(uintptr_t)4095;
    if (n >= WIPE_GRAIN) (void)madvise((void *)from, to - from, MADV_HUGEPAGE); /* a wish */
    cz_pool_for(pool, n, WIPE_GRAIN, zero_range, p);
    return p;
}
static void big_free(struct cz_pool *pool, struct cz_fr **p, size_t n) {
    if (*p) cz_pool_for(pool, n, WIPE_GRAIN, wipe_range, *p);
    cz_free(*p);
    *p = NULL;
}

/* Lagrange coefficients: L_k(tau) = (tau^m - 1)/m · omega^k/(tau - omega^k), one inversion a range. */

struct lagrange_job {
    struct cz_fr *out;
    struct cz_fr *scratch; /* GRAIN a worker */
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
    cz_fr_inv_n(out, out, job->scratch + (size_t)worker * GRAIN, n);
    cz_fr_pow_vartime(&power, &job->omega, first);
    cz_fr_mul(&power, &power, &job->factor);
    for (size_t i = 0; i < n; i++) {
        cz_fr_mul(&out[i], &out[i], &power);
        cz_fr_mul(&power, &power, &job->omega);
    }
    cz_memzero(&power, sizeof power);
}

static enum cz_status make_lagrange(struct make *m, unsigned log2m) {
    size_t scratch = (size_t)cz_pool_threads(m->pool) * GRAIN;
    m->lagrange = big_array(m->pool, m->rows);
    struct lagrange_job job = {.out = m->lagrange, .tau = *m->secret->tau};
    job.scratch = cz_malloc_array(scratch, sizeof *job.scratch);
    if (!m->lagrange || !job.scratch) {
        cz_free(job.scratch);
        return cz_error_set(m->err, CZ_ERR_MEMORY, "setup: no memory for the Lagrange coefficients");
    }
    struct cz_fr inv;
    cz_fr_from_u64(&inv, UINT64_C(1) << log2m);
    cz_fr_inv(&inv, &inv);
    cz_fr_mul(&job.factor, &m->qap->z, &inv);
    cz_fr_root_of_unity(&job.omega, log2m);
    cz_pool_for(m->pool, m->rows, GRAIN, lagrange_range, &job);
    cz_memzero(job.scratch, scratch * sizeof *job.scratch);
    cz_free(job.scratch);
    cz_memzero(&job, sizeof job);
    return CZ_OK;
}

/*
 * u, v, w: every term adds coefficient·L_row to its variable. An instance's locals belong to it alone; what it adds to
 * ONE and to its externals is kept apart and added afterwards, so that instances run side by side.
 */

static void add_term(struct cz_fr *to, const struct cz_fr *l, const struct cz_r1cs *r1cs, uint32_t coef) {
    struct cz_fr product;
    switch (coef) {
    case CZ_R1CS_COEF_ZERO:
        break;
    case CZ_R1CS_COEF_ONE:
        cz_fr_add(to, to, l);
        break;
    case CZ_R1CS_COEF_MINUS_ONE:
        cz_fr_sub(to, to, l);
        break;
    default:
        cz_fr_mul(&product, l, &r1cs->coef[coef]);
        cz_fr_add(to, to, &product);
    }
}

static void add_instance(const struct make *m, uint32_t i, int matrix) {
    const struct cz_r1cs *r1cs = m->r1cs;
    const struct cz_r1cs_instance *inst = &r1cs->instance[i];
    const struct cz_r1cs_template *t = &r1cs->tmpl[inst->template_id];
    const uint32_t *row = t->row[matrix];
    struct cz_fr *external = m->external[matrix] + inst->first_external;
    struct cz_fr *local = m->inputs_only ? NULL : m->value[matrix] + r1cs->num_inputs + inst->first_aux;
    for (uint32_t k = 0; k < t->num_constraints; k++) {
        const struct cz_fr *l = &m->lagrange[inst->first_constraint + k];
        for (uint32_t j = row[k]; j < row[k + 1]; j++) {
            const struct cz_r1cs_term *term = &t->term[matrix][j];
            uint32_t col = term->col;
            if (col > t->num_external) {
                if (local) add_term(&local[col - t->num_external - 1], l, r1cs, term->coef);
            } else {
                add_term(col ? &external[col - 1] : &m->one[matrix][i], l, r1cs, term->coef);
            }
        }
    }
}

static void add_instances(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct make *m = ctx;
    (void)worker;
    for (int matrix = 0; matrix < 3; matrix++)
        for (size_t i = first; i < last; i++) add_instance(m, (uint32_t)i, matrix);
}

/* One matrix a task. */
static void add_shared(void *ctx, size_t first, size_t last, unsigned worker) {
    const struct make *m = ctx;
    const struct cz_r1cs *r1cs = m->r1cs;
    (void)worker;
    for (size_t matrix = first; matrix < last; matrix++) {
        struct cz_fr *value = m->value[matrix];
        for (uint32_t i = 0; i < r1cs->num_instances; i++) cz_fr_add(&value[0], &value[0], &m->one[matrix][i]);
        for (uint32_t e = 0; e < r1cs->num_externals; e++) {
            cz_r1cs_var var = r1cs->external[e];
            bool input = var & CZ_R1CS_INPUT;
            if (!input && m->inputs_only) continue;
            size_t at = input ? var & ~CZ_R1CS_INPUT : (size_t)r1cs->num_inputs + var;
            cz_fr_add(&value[at], &value[at], &m->external[matrix][e]);
        }
        if (matrix != CZ_R1CS_A) continue;
        for (uint32_t i = 0; i < r1cs->num_inputs; i++)
            cz_fr_add(&value[i], &value[i], &m->lagrange[r1cs->num_constraints + i]);
    }
}

static void free_terms(struct make *m) {
    big_free(m->pool, &m->lagrange, m->rows);
    for (int k = 0; k < 3; k++) {
        big_free(m->pool, &m->external[k], m->r1cs->num_externals);
        big_free(m->pool, &m->one[k], m->r1cs->num_instances);
    }
}

static enum cz_status make_u_v_w(struct make *m) {
    for (int k = 0; k < 3; k++) {
        m->value[k] = big_array(m->pool, m->qap->variables);
        m->external[k] = big_array(m->pool, m->r1cs->num_externals);
        m->one[k] = big_array(m->pool, m->r1cs->num_instances);
        if (!m->value[k] || !m->external[k] || !m->one[k])
            return cz_error_set(m->err, CZ_ERR_MEMORY, "setup: no memory for u, v, w");
    }
    size_t grain = m->r1cs->num_instances / (32 * (size_t)cz_pool_threads(m->pool)) + 1;
    cz_pool_for(m->pool, m->r1cs->num_instances, grain, add_instances, m);
    cz_pool_for(m->pool, 3, 1, add_shared, m);
    return CZ_OK;
}

static bool bit_of(const uint64_t *bit, size_t i) {
    return bit[i / 64] >> (i % 64) & 1;
}

static void note_first(_Atomic size_t *at, size_t i) {
    size_t seen = atomic_load(at);
    while (i < seen && !atomic_compare_exchange_weak(at, &seen, i)) continue;
}

/*
 * The files leave out points by value, and provers take the densities from the structure. Where the two differ (the
 * coefficients of a variable cancel), no prover could use the files.
 */
static void has_densities(const struct make *m, size_t i, bool *a, bool *b) {
    bool input = i < m->r1cs->num_inputs;
    size_t index = input ? i : i - m->r1cs->num_inputs;
    *a = cz_fr_is_zero(&m->value[CZ_R1CS_A][i]) == !(input || bit_of(m->a_aux, index));
    *b = cz_fr_is_zero(&m->value[CZ_R1CS_B][i]) == !bit_of(input ? m->b_input : m->b_aux, index);
}

/* w[i] becomes (beta·u[i] + alpha·v[i] + w[i])/(gamma for inputs, delta for aux). */
static void combine_range(void *ctx, size_t first, size_t last, unsigned worker) {
    struct make *m = ctx;
    struct cz_fr sum, t;
    size_t num_u = 0, num_v = 0;
    (void)worker;
    for (size_t i = first; i < last; i++) {
        const struct cz_fr *u = &m->value[CZ_R1CS_A][i], *v = &m->value[CZ_R1CS_B][i];
        struct cz_fr *w = &m->value[CZ_R1CS_C][i];
        bool a, b;
        has_densities(m, i, &a, &b);
        if (!a || !b) note_first(&m->bad, i);
        num_u += !cz_fr_is_zero(u);
        num_v += !cz_fr_is_zero(v);
        cz_fr_mul(&sum, u, m->secret->beta);
        cz_fr_mul(&t, v, m->secret->alpha);
        cz_fr_add(&sum, &sum, &t);
        cz_fr_add(&sum, &sum, w);
        cz_fr_mul(w, &sum, i < m->r1cs->num_inputs ? &m->gamma_inv : &m->delta_inv);
        if (cz_fr_is_zero(w)) note_first(&m->unconstrained, i);
    }
    atomic_fetch_add(&m->num_u, num_u);
    atomic_fetch_add(&m->num_v, num_v);
    cz_memzero(&sum, sizeof sum);
    cz_memzero(&t, sizeof t);
}

static enum cz_status combine(struct make *m) {
    const struct cz_r1cs *r1cs = m->r1cs;
    size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64, input_words = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *bits = cz_calloc(2 * aux_words + input_words, sizeof *bits);
    if (!bits) return cz_error_set(m->err, CZ_ERR_MEMORY, "setup: no memory for the densities");
    cz_r1cs_density(r1cs, bits, bits + aux_words, bits + 2 * aux_words);
    m->a_aux = bits;
    m->b_aux = bits + aux_words;
    m->b_input = bits + 2 * aux_words;
    m->bad = m->unconstrained = SIZE_MAX;
    cz_fr_inv(&m->gamma_inv, m->secret->gamma);
    cz_fr_inv(&m->delta_inv, m->secret->delta);
    cz_pool_for(m->pool, m->qap->variables, GRAIN, combine_range, m);
    m->qap->num_u = m->num_u;
    m->qap->num_v = m->num_v;

    size_t i = m->bad != SIZE_MAX ? m->bad : m->unconstrained;
    bool input = i < r1cs->num_inputs, a = true, b = true;
    if (m->bad != SIZE_MAX) has_densities(m, i, &a, &b);
    cz_free(bits);
    if (i == SIZE_MAX) return CZ_OK;
    const char *kind = input ? "input" : "aux";
    size_t index = input ? i : i - r1cs->num_inputs;
    if (m->bad != SIZE_MAX)
        return cz_error_set(m->err, CZ_ERR_MISMATCH,
                            "setup: %s variable %zu: its value at tau in %s and its density disagree", kind, index,
                            a ? "B" : "A");
    return cz_error_set(m->err, CZ_ERR_UNSATISFIED, "setup: %s variable %zu is unconstrained", kind, index);
}

enum cz_status cz_qap_make(struct cz_qap *out, const struct cz_r1cs *r1cs, const struct cz_qap_secrets *secrets,
                           bool inputs_only, struct cz_pool *pool, struct cz_error *err) {
    *out = (struct cz_qap){.variables = (size_t)r1cs->num_inputs + (inputs_only ? 0 : r1cs->num_aux)};
    struct make m = {.qap = out,
                     .r1cs = r1cs,
                     .secret = secrets,
                     .inputs_only = inputs_only,
                     .pool = pool,
                     .err = err,
                     .rows = (size_t)r1cs->num_constraints + r1cs->num_inputs};
    unsigned log2m = cz_r1cs_domain_log2(r1cs);
    if (log2m >= CZ_FR_TWO_ADICITY)
        return cz_error_set(err, CZ_ERR_LIMIT, "setup: the circuit has %zu constraints, at most 2^31 are possible",
                            m.rows);
    cz_fr_pow_vartime(&out->z, secrets->tau, UINT64_C(1) << log2m);
    cz_fr_sub(&out->z, &out->z, &CZ_FR_ONE);
    if (cz_fr_is_zero(&out->z))
        return cz_error_set(err, CZ_ERR_ARGUMENT, "toxic waste: tau is in the evaluation domain");
    enum cz_status status = make_lagrange(&m, log2m);
    if (status == CZ_OK) status = make_u_v_w(&m);
    free_terms(&m);
    out->u = m.value[CZ_R1CS_A];
    out->v = m.value[CZ_R1CS_B];
    out->l = m.value[CZ_R1CS_C];
    if (status == CZ_OK) status = combine(&m);
    cz_memzero(&m, sizeof m);
    return status;
}

void cz_qap_done(struct cz_qap *qap, struct cz_pool *pool) {
    big_free(pool, &qap->u, qap->variables);
    big_free(pool, &qap->v, qap->variables);
    big_free(pool, &qap->l, qap->variables);
    cz_memzero(qap, sizeof *qap);
}
