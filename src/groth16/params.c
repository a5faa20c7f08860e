#include "groth16/params.h"

#include "base/bytes.h"
#include "curve/encoding.h"

#include <stdatomic.h>

/* Inputs (with ONE) and aux variables of the published circuits (spec/known-values.md §1). */
static const struct {
    const char *name;
    uint32_t inputs, aux;
} CIRCUIT[] = {
    {"PoRep 2 KiB", 40, 2685673},
    {"winning PoSt 2 KiB", 133, 91674},
    {"window PoSt 2 KiB", 23, 22128},
    {"PoRep 8 MiB", 40, 3842449},
    {"winning PoSt 8 MiB", 133, 233442},
    {"window PoSt 8 MiB", 23, 65088},
    {"PoRep 512 MiB", 40, 4420837},
    {"winning PoSt 512 MiB", 133, 304326},
    {"window PoSt 512 MiB", 23, 86568},
    {"PoRep 32 GiB", 328, 130169893},
    {"winning PoSt 32 GiB", 133, 375210},
    {"window PoSt 32 GiB", 25840, 126902376},
    {"PoRep 64 GiB", 328, 131076643},
    {"winning PoSt 64 GiB", 133, 396000},
    {"window PoSt 64 GiB", 25301, 131500200},
    {"update 2 KiB", 5, 1703569},
    {"update 8 MiB", 5, 9998039},
    {"update 512 MiB", 5, 57401314},
    {"update 32 GiB", 5, 80978488},
    {"update 64 GiB", 5, 84931220},
    {"update (Poseidon) 32 GiB", 5, 22593319},
    {"update (Poseidon) 64 GiB", 5, 23889511},
};

const char *cz_params_circuit_name(uint32_t num_inputs, uint32_t num_aux) {
    for (size_t i = 0; i < sizeof CIRCUIT / sizeof CIRCUIT[0]; i++) {
        if (CIRCUIT[i].inputs == num_inputs && CIRCUIT[i].aux == num_aux) return CIRCUIT[i].name;
    }
    return NULL;
}

/* The five vectors in the order of the file. */
enum { VEC_H, VEC_L, VEC_A, VEC_B_G1, VEC_B_G2, VECTORS };

struct vector {
    const char *name;
    const uint8_t *data;
    uint32_t count;
    size_t point_bytes;
};

static void vector_table(struct vector out[VECTORS], const struct cz_srs_view *view) {
    out[VEC_H] = (struct vector){"h", view->h, view->num_h, CZ_G1_UNCOMPRESSED};
    out[VEC_L] = (struct vector){"l", view->l, view->num_l, CZ_G1_UNCOMPRESSED};
    out[VEC_A] = (struct vector){"a", view->a, view->num_a, CZ_G1_UNCOMPRESSED};
    out[VEC_B_G1] = (struct vector){"b_g1", view->b_g1, view->num_b, CZ_G1_UNCOMPRESSED};
    out[VEC_B_G2] = (struct vector){"b_g2", view->b_g2, view->num_b, CZ_G2_UNCOMPRESSED};
}

/* A key starts with a coordinate below p, whose first byte is at most 0x1a: a page of text cannot look like one. */
static bool looks_like_text(const uint8_t *data, size_t size) {
    size_t n = size < 64 ? size : 64;
    for (size_t i = 0; i < n; i++) {
        bool text = (data[i] >= 0x20 && data[i] < 0x7f) || data[i] == '\n' || data[i] == '\r' || data[i] == '\t' ||
                    (i < 3 && data[i] == (const uint8_t[]){0xef, 0xbb, 0xbf}[i]);
        if (!text) return false;
    }
    return n > 0;
}

static enum cz_status check_kind(const struct cz_map *map, struct cz_error *err) {
    if (map->size == 0) return cz_error_set(err, CZ_ERR_LENGTH, "the file is empty");
    if (looks_like_text(map->data, map->size)) {
        const char *first = memchr(map->data, '<', map->size < 64 ? map->size : 64);
        return cz_error_set(err, CZ_ERR_FORMAT, "this is %s, not parameters; perhaps a failed download",
                            first ? "an HTML or XML page" : "text");
    }
    return CZ_OK;
}

static enum cz_status walk_vectors(struct vector vec[VECTORS], const struct cz_map *map, size_t at,
                                   struct cz_error *err) {
    static const char *const NAME[VECTORS] = {"h", "l", "a", "b_g1", "b_g2"};
    for (size_t v = 0; v < VECTORS; v++) {
        size_t point = v == VEC_B_G2 ? CZ_G2_UNCOMPRESSED : CZ_G1_UNCOMPRESSED;
        if (map->size - at < 4) {
            return cz_error_set(err, CZ_ERR_LENGTH, "cut short: ends at byte %zu, before the count of %s", map->size,
                                NAME[v]);
        }
        uint32_t count = cz_load_be32(map->data + at);
        at += 4;
        if ((map->size - at) / point < count) {
            return cz_error_set(err, CZ_ERR_LENGTH,
                                "cut short, or the count is wrong: %s has %u points by its count at byte %zu, and only "
                                "%zu bytes follow",
                                NAME[v], count, at - 4, map->size - at);
        }
        vec[v] = (struct vector){NAME[v], map->data + at, count, point};
        at += count * point;
    }
    if (at != map->size) {
        return cz_error_set(err, CZ_ERR_LENGTH, "%zu bytes follow the last vector, which ends at byte %zu",
                            map->size - at, at);
    }
    return CZ_OK;
}

/* What holds for the parameters of any circuit. */
static enum cz_status check_counts(const struct vector vec[VECTORS], uint32_t num_inputs, struct cz_error *err) {
    uint64_t domain = (uint64_t)vec[VEC_H].count + 1, variables = (uint64_t)num_inputs + vec[VEC_L].count;
    if ((domain & (domain - 1)) != 0 || domain > UINT64_C(1) << 31) {
        return cz_error_set(err, CZ_ERR_FORMAT, "h has %u points, which is not one less than a power of two up to 2^31",
                            vec[VEC_H].count);
    }
    if (vec[VEC_A].count < num_inputs || vec[VEC_A].count > variables) {
        return cz_error_set(err, CZ_ERR_FORMAT, "a has %u points, must be %u (inputs) to %llu (variables)",
                            vec[VEC_A].count, num_inputs, (unsigned long long)variables);
    }
    if (vec[VEC_B_G1].count > variables) {
        return cz_error_set(err, CZ_ERR_FORMAT, "b_g1 has %u points, more than the %llu variables", vec[VEC_B_G1].count,
                            (unsigned long long)variables);
    }
    if (vec[VEC_B_G1].count != vec[VEC_B_G2].count) {
        return cz_error_set(err, CZ_ERR_FORMAT, "b_g1 has %u points and b_g2 %u", vec[VEC_B_G1].count,
                            vec[VEC_B_G2].count);
    }
    return CZ_OK;
}

static uint32_t popcount(const uint64_t *bit, size_t words) {
    uint32_t n = 0;
    for (size_t i = 0; i < words; i++) n += (uint32_t)__builtin_popcountll(bit[i]);
    return n;
}

/* Density counts of the circuit: aux in A, and aux and inputs in B. */
static enum cz_status density_counts(uint32_t *a_aux, uint32_t *b, const struct cz_r1cs *r1cs, struct cz_error *err) {
    size_t aux_words = ((size_t)r1cs->num_aux + 63) / 64, input_words = ((size_t)r1cs->num_inputs + 63) / 64;
    uint64_t *bit = cz_calloc(2 * aux_words + input_words, sizeof *bit);
    if (!bit) return cz_error_set(err, CZ_ERR_MEMORY, "no memory for the densities");
    cz_r1cs_density(r1cs, bit, bit + aux_words, bit + 2 * aux_words);
    *a_aux = popcount(bit, aux_words);
    *b = popcount(bit + aux_words, aux_words + input_words);
    cz_free(bit);
    return CZ_OK;
}

static enum cz_status check_circuit(const struct vector vec[VECTORS], uint32_t num_inputs, const struct cz_r1cs *r1cs,
                                    struct cz_error *err) {
    uint32_t a_aux = 0, b = 0;
    enum cz_status status = density_counts(&a_aux, &b, r1cs, err);
    if (status != CZ_OK) return status;
    const struct {
        const char *name;
        uint64_t got, want;
    } check[] = {
        {"ic (inputs)", num_inputs, r1cs->num_inputs},
        {"l (aux variables)", vec[VEC_L].count, r1cs->num_aux},
        {"h (domain - 1)", vec[VEC_H].count, (UINT64_C(1) << cz_r1cs_domain_log2(r1cs)) - 1},
        {"a (variables in A)", vec[VEC_A].count, (uint64_t)r1cs->num_inputs + a_aux},
        {"b (variables in B)", vec[VEC_B_G1].count, b},
    };
    for (size_t i = 0; i < sizeof check / sizeof check[0]; i++) {
        if (check[i].got == check[i].want) continue;
        const char *name = cz_params_circuit_name(num_inputs, vec[VEC_L].count);
        return cz_error_set(err, CZ_ERR_MISMATCH,
                            "parameters of another circuit%s%s%s: %s has %llu points, needed %llu", name ? " (" : "",
                            name ? name : "", name ? ")" : "", check[i].name, (unsigned long long)check[i].got,
                            (unsigned long long)check[i].want);
    }
    return CZ_OK;
}

enum cz_status cz_params_open(struct cz_params *out, const char *path, const struct cz_r1cs *r1cs,
                              struct cz_error *err) {
    struct cz_params params = {0};
    enum cz_status status = cz_map_open(&params.map, path, err);
    if (status != CZ_OK) return status;
    struct vector vec[VECTORS] = {0};
    size_t key = 0;
    status = check_kind(&params.map, err);
    if (status == CZ_OK) status = cz_vk_read(&params.vk, params.map.data, params.map.size, &key, err);
    if (status == CZ_OK) status = walk_vectors(vec, &params.map, key, err);
    if (status == CZ_OK) status = check_counts(vec, params.vk.num_ic, err);
    if (status == CZ_OK && r1cs) status = check_circuit(vec, params.vk.num_ic, r1cs, err);
    if (status != CZ_OK) {
        (void)cz_error_prefix(err, "%s", path);
        cz_params_close(&params);
        return status;
    }
    params.view = (struct cz_srs_view){
        .h = vec[VEC_H].data,
        .l = vec[VEC_L].data,
        .a = vec[VEC_A].data,
        .b_g1 = vec[VEC_B_G1].data,
        .b_g2 = vec[VEC_B_G2].data,
        .num_h = vec[VEC_H].count,
        .num_l = vec[VEC_L].count,
        .num_a = vec[VEC_A].count,
        .num_b = vec[VEC_B_G1].count,
    };
    *out = params;
    return CZ_OK;
}

void cz_params_close(struct cz_params *params) {
    if (!params) return;
    cz_vk_done(&params->vk);
    cz_map_close(&params->map);
    *params = (struct cz_params){0};
}

/* Points checked between two calls of progress; also bounds the work done after a bad one. */
#define CHECK_BLOCK 65536
#define CHECK_GRAIN 256

struct point_check {
    const struct vector *vec;
    uint64_t first;
    _Atomic uint64_t bad; /* least index of a bad point, UINT64_MAX: none */
};

static enum cz_status check_point(const struct vector *vec, uint64_t index) {
    const uint8_t *in = vec->data + index * vec->point_bytes;
    enum cz_status status;
    if (vec->point_bytes == CZ_G2_UNCOMPRESSED) {
        struct cz_g2_affine p;
        status = cz_g2_decode_uncompressed(&p, in);
        return status == CZ_OK ? cz_g2_check(&p) : status;
    }
    struct cz_g1_affine p;
    status = cz_g1_decode_uncompressed(&p, in);
    return status == CZ_OK ? cz_g1_check(&p) : status;
}

static void check_range(void *ctx, size_t first, size_t last, unsigned worker) {
    struct point_check *check = ctx;
    (void)worker;
    for (uint64_t i = check->first + first; i < check->first + last; i++) {
        if (check_point(check->vec, i) == CZ_OK) continue;
        uint64_t bad = atomic_load(&check->bad);
        while (i < bad && !atomic_compare_exchange_weak(&check->bad, &bad, i)) {}
        return;
    }
}

enum cz_status cz_params_check_points(const struct cz_params *params, struct cz_pool *pool,
                                      void (*progress)(void *ctx, double done), void *ctx, struct cz_error *err) {
    struct vector vec[VECTORS];
    vector_table(vec, &params->view);
    /* A point of G2 counts for two. */
    double total = 0, done = 0;
    for (size_t v = 0; v < VECTORS; v++) total += (double)vec[v].count * (double)vec[v].point_bytes;
    for (size_t v = 0; v < VECTORS; v++) {
        for (uint64_t first = 0; first < vec[v].count; first += CHECK_BLOCK) {
            uint64_t n = vec[v].count - first < CHECK_BLOCK ? vec[v].count - first : CHECK_BLOCK;
            struct point_check check = {.vec = &vec[v], .first = first};
            atomic_init(&check.bad, UINT64_MAX);
            cz_pool_for(pool, n, CHECK_GRAIN, check_range, &check);
            uint64_t bad = atomic_load(&check.bad);
            if (bad != UINT64_MAX) {
                enum cz_status status = check_point(&vec[v], bad);
                return cz_error_set(err, status, "parameters: %s[%llu]: %s", vec[v].name, (unsigned long long)bad,
                                    cz_status_text(status));
            }
            done += (double)n * (double)vec[v].point_bytes;
            if (progress) progress(ctx, done / total);
        }
    }
    return CZ_OK;
}
