/*
 * Cases of one group, included for G1 and for G2 (no include guard): names G, D, POINT, AFFINE, GENERATOR, FIELD.
 * base[i] = exponent[i]·generator, so the right sum is (Σ scalar·exponent)·generator.
 */

static bool NAME(make_bases)(AFFINE *base, struct cz_fr *exponent, size_t n, enum base_kind kind) {
    POINT *p = cz_calloc(n + 1, sizeof *p), step, g;
    FIELD *scratch = cz_calloc(n + 1, sizeof *scratch);
    struct cz_fr e, seven;
    if (!p || !scratch) return false;
    G(from_affine)(&g, &GENERATOR);
    cz_fr_from_u64(&e, 3);
    cz_fr_from_u64(&seven, 7);
    G(mul)(&p[0], &g, &e);
    G(mul)(&step, &g, &seven);
    for (size_t i = 0; i < n; i++) {
        exponent[i] = e;
        if (i + 1 < n) p[i + 1] = p[i];
        if (kind == BASE_EQUAL) continue;
        if (kind == BASE_OPPOSITE) { /* P, -P, P, … */
            G(neg)(&p[i + 1], &p[i]);
            cz_fr_neg(&e, &e);
            continue;
        }
        G(add)(&p[i + 1], &p[i], &step);
        cz_fr_add(&e, &e, &seven);
    }
    if (n) G(to_affine_n)(base, p, scratch, n);
    for (size_t i = 0; i < n; i++) {
        if (kind == BASE_INFINITE || (kind == BASE_SOME_INFINITE && i % 3 == 0)) {
            memset(&base[i], 0, sizeof base[i]);
            exponent[i] = CZ_FR_ZERO;
        }
    }
    cz_free(p);
    cz_free(scratch);
    return true;
}

static bool NAME(is_multiple)(const POINT *p, const struct cz_fr *exponent) {
    POINT g;
    uint64_t k[4];
    G(from_affine)(&g, &GENERATOR);
    cz_fr_to_limbs(k, exponent);
    G(mul_limbs)(&g, &g, k, 4);
    return G(eq)(p, &g);
}

static bool NAME(msm)(struct cz_device *dev, size_t n, enum base_kind base_kind, enum scalar_kind scalar_kind) {
    AFFINE *base = cz_calloc(n + 1, sizeof *base);
    struct cz_fr *exponent = cz_calloc(n + 1, sizeof *exponent), sum = CZ_FR_ZERO, t;
    uint64_t *scalar = cz_calloc(4 * n + 4, sizeof *scalar);
    bool ok = base && exponent && scalar && NAME(make_bases)(base, exponent, n, base_kind);
    for (size_t i = 0; ok && i < n; i++) {
        make_scalar(&t, scalar_kind, i);
        cz_fr_to_limbs(&scalar[4 * i], &t);
        cz_fr_mul(&t, &t, &exponent[i]);
        cz_fr_add(&sum, &sum, &t);
    }
    POINT out;
    ok = ok && D(msm)(&out, dev, base, scalar, n) == CZ_OK && NAME(is_multiple)(&out, &sum);
    cz_free(base);
    cz_free(exponent);
    cz_free(scalar);
    return ok;
}

/* The sum by the definition, without knowing the exponents. */
static bool NAME(msm_naive)(struct cz_device *dev) {
    enum { N = 40 };
    AFFINE base[N];
    struct cz_fr exponent[N], k;
    uint64_t scalar[4 * N];
    POINT sum, term, out;
    if (!NAME(make_bases)(base, exponent, N, BASE_DISTINCT)) return false;
    memset(&sum, 0, sizeof sum);
    for (size_t i = 0; i < N; i++) {
        make_scalar(&k, SCALAR_MIXED, i);
        cz_fr_to_limbs(&scalar[4 * i], &k);
        G(from_affine)(&term, &base[i]);
        G(mul_limbs)(&term, &term, &scalar[4 * i], 4);
        G(add)(&sum, &sum, &term);
    }
    return D(msm)(&out, dev, base, scalar, N) == CZ_OK && G(eq)(&out, &sum);
}

static bool NAME(msm_sizes)(struct cz_device *dev) {
    static const size_t size[] = {0, 1, 2, 3, 7, 8, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65, 100, 255, 511, 513, 777};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        if (!NAME(msm)(dev, size[i], BASE_DISTINCT, SCALAR_RANDOM)) return false;
    return true;
}

static bool NAME(msm_kinds)(struct cz_device *dev) {
    for (unsigned b = 0; b < BASE_KINDS; b++)
        for (unsigned s = 0; s < SCALAR_KINDS; s++)
            if (!NAME(msm)(dev, 300, (enum base_kind)b, (enum scalar_kind)s)) return false;
    return true;
}

static bool NAME(msm_large)(struct cz_device *dev) {
    return NAME(msm)(dev, LARGE, BASE_DISTINCT, SCALAR_RANDOM) && NAME(msm)(dev, LARGE, BASE_DISTINCT, SCALAR_EQUAL) &&
           NAME(msm)(dev, LARGE, BASE_EQUAL, SCALAR_EQUAL) && NAME(msm)(dev, LARGE, BASE_OPPOSITE, SCALAR_MIXED) &&
           NAME(msm)(dev, LARGE, BASE_SOME_INFINITE, SCALAR_MIXED);
}

static bool NAME(msm_repeated)(struct cz_device *dev) {
    return NAME(msm)(dev, 700, BASE_DISTINCT, SCALAR_SEVEN_TIMES) &&
           NAME(msm)(dev, LARGE / 127 * 127, BASE_DISTINCT, SCALAR_127_TIMES);
}

static bool NAME(msm_out_of_range)(struct cz_device *dev) {
    enum { N = 50 };
    AFFINE base[N];
    struct cz_fr exponent[N];
    uint64_t scalar[4 * N] = {0};
    POINT out;
    if (!NAME(make_bases)(base, exponent, N, BASE_DISTINCT)) return false;
    memcpy(&scalar[4 * 33], CZ_FR_MODULUS, sizeof CZ_FR_MODULUS);
    if (D(msm)(&out, dev, base, scalar, N) != CZ_ERR_FIELD_RANGE) return false;
    memset(&scalar[4 * 33], 0xff, 32);
    if (D(msm)(&out, dev, base, scalar, N) != CZ_ERR_FIELD_RANGE) return false;
    memset(&scalar[4 * 2], 0xff, 32);
    return D(msm)(&out, dev, base, scalar, 5) == CZ_ERR_FIELD_RANGE;
}

static bool NAME(bitsum_one)(struct cz_device *dev, size_t n, enum base_kind kind, uint64_t and_mask,
                             uint64_t or_mask) {
    AFFINE *base = cz_calloc(n + 1, sizeof *base);
    struct cz_fr *exponent = cz_calloc(n + 1, sizeof *exponent), sum = CZ_FR_ZERO;
    uint64_t *bit = cz_calloc(n / 64 + 1, sizeof *bit), seed = n + 1;
    bool ok = base && exponent && bit && NAME(make_bases)(base, exponent, n, kind);
    for (size_t i = 0; ok && i < n / 64 + 1; i++) bit[i] = (test_random(&seed) & and_mask) | or_mask;
    for (size_t i = 0; ok && i < n; i++)
        if (bit[i / 64] >> (i % 64) & 1) cz_fr_add(&sum, &sum, &exponent[i]);
    POINT out;
    ok = ok && D(bitsum)(&out, dev, base, bit, n) == CZ_OK && NAME(is_multiple)(&out, &sum);
    cz_free(base);
    cz_free(exponent);
    cz_free(bit);
    return ok;
}

static bool NAME(bitsum)(struct cz_device *dev) {
    static const size_t size[] = {0, 1, 2, 63, 64, 65, 1000, LARGE};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++)
        for (unsigned kind = 0; kind < BASE_KINDS; kind++)
            if (!NAME(bitsum_one)(dev, size[i], (enum base_kind)kind, UINT64_MAX, 0) ||
                (size[i] <= 1000 && !NAME(bitsum_one)(dev, size[i], (enum base_kind)kind, 0, 0)) ||
                (size[i] <= 1000 && !NAME(bitsum_one)(dev, size[i], (enum base_kind)kind, 0, UINT64_MAX)))
                return false;
    return NAME(bitsum_one)(dev, LARGE, BASE_EQUAL, 0, UINT64_MAX);
}

static bool NAME(encoded_alike)(const uint8_t *bytes, const AFFINE *point, size_t n) {
    uint8_t want[sizeof(AFFINE)];
    for (size_t i = 0; i < n; i++) {
        G(encode_uncompressed)(want, &point[i]);
        if (memcmp(want, bytes + i * sizeof want, sizeof want) != 0) return false;
    }
    return true;
}

static bool NAME(fixed_base)(struct cz_device *dev) {
    enum { N = 2100 };
    static const size_t expected[] = {1, 3000, (size_t)1 << 18};
    static struct cz_fr scalar[N];
    static AFFINE out[N];
    static uint8_t bytes[N * sizeof(AFFINE)];
    bool ok = true;
    for (size_t i = 0; i < N; i++) make_scalar(&scalar[i], i < 20 ? SCALAR_MIXED : SCALAR_RANDOM, i);
    scalar[1000] = CZ_FR_ZERO;
    scalar[1001] = CZ_FR_ZERO;
    scalar[1024] = CZ_FR_ONE;
    cz_fr_neg(&scalar[1025], &CZ_FR_ONE);
    for (size_t k = 0; k < 255; k++) { /* 2^k and -2^k: digits at their ends, carries */
        struct cz_fr *s = &scalar[1030 + k];
        cz_fr_add(s, k ? s - 1 : &CZ_FR_ZERO, k ? s - 1 : &CZ_FR_ONE);
        cz_fr_neg(&scalar[1300 + k], s);
    }
    for (size_t e = 0; e < sizeof expected / sizeof expected[0] && ok; e++) {
        CREATE fb;
        if (FIXED(create)(&fb, dev, &GENERATOR, expected[e]) != CZ_OK) return false;
        ok = FIXED(mul_n)(out, fb, scalar, N) == CZ_OK;
        for (size_t i = 0; ok && i < N; i = i < 40 || i > 1560 ? i + 97 - 96 * (i < 40) : i + 1) {
            POINT p;
            G(from_affine)(&p, &out[i]);
            ok = NAME(is_multiple)(&p, &scalar[i]);
        }
        ok = ok && FIXED(encode_n)(bytes, fb, scalar, N) == CZ_OK && NAME(encoded_alike)(bytes, out, N);
        ok = ok && FIXED(encode_n)(bytes, fb, scalar, 0) == CZ_OK && FIXED(mul_n)(out, fb, scalar, 0) == CZ_OK;
        FIXED(destroy)(fb);
        ok = ok && FIXED(create)(&fb, dev, &(AFFINE){0}, 10) == CZ_OK;
        if (!ok) break;
        ok = FIXED(mul_n)(out, fb, scalar, 3) == CZ_OK && G(affine_is_infinity)(&out[2]);
        FIXED(destroy)(fb);
    }
    return ok;
}
