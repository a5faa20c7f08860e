/*
 * The encodings of one group, included by encoding.c for G1 and for G2 (no include guard). The macros are those of
 * g_template.h, and FE_SIZE, FE_READ, FE_WRITE: bytes of a coordinate and how to read and write it. Undefines all.
 */

enum cz_status G(decode)(AFFINE *r, const uint8_t in[FE_SIZE]) {
    AFFINE a;
    FE yy;
    bool infinite, largest;
    enum cz_status s = read_flags(&infinite, &largest, in, FE_SIZE, true);
    if (s != CZ_OK) return s;
    if (infinite) {
        memset(r, 0, sizeof *r);
        return CZ_OK;
    }
    if ((s = FE_READ(&a.x, in, true)) != CZ_OK) return s;
    G(curve_rhs)(&yy, &a.x);
    if (!F(sqrt)(&a.y, &yy)) return CZ_ERR_POINT_NOT_ON_CURVE;
    if (F(is_largest)(&a.y) != largest) F(neg)(&a.y, &a.y);
    *r = a;
    return CZ_OK;
}

enum cz_status G(decode_uncompressed)(AFFINE *r, const uint8_t in[2 * FE_SIZE]) {
    AFFINE a;
    FE left, right;
    bool infinite, largest;
    enum cz_status s = read_flags(&infinite, &largest, in, (size_t)2 * FE_SIZE, false);
    if (s != CZ_OK) return s;
    if (infinite) {
        memset(r, 0, sizeof *r);
        return CZ_OK;
    }
    if ((s = FE_READ(&a.x, in, true)) != CZ_OK) return s;
    if ((s = FE_READ(&a.y, in + FE_SIZE, false)) != CZ_OK) return s;
    /* not affine_on_curve: (0, 0) written out as a finite point is not on the curve */
    G(curve_rhs)(&right, &a.x);
    F(sqr)(&left, &a.y);
    if (!F(eq)(&left, &right)) return CZ_ERR_POINT_NOT_ON_CURVE;
    *r = a;
    return CZ_OK;
}

void G(encode)(uint8_t out[FE_SIZE], const AFFINE *a) {
    if (G(affine_is_infinity)(a)) {
        memset(out, 0, FE_SIZE);
        out[0] = FLAG_COMPRESSED | FLAG_INFINITY;
        return;
    }
    FE_WRITE(out, &a->x);
    out[0] |= FLAG_COMPRESSED;
    if (F(is_largest)(&a->y)) out[0] |= FLAG_LARGEST;
}

void G(encode_uncompressed)(uint8_t out[2 * FE_SIZE], const AFFINE *a) {
    if (G(affine_is_infinity)(a)) {
        memset(out, 0, (size_t)2 * FE_SIZE);
        out[0] = FLAG_INFINITY;
        return;
    }
    FE_WRITE(out, &a->x);
    FE_WRITE(out + FE_SIZE, &a->y);
}

enum cz_status G(check)(const AFFINE *a) {
    if (G(affine_is_infinity)(a)) return CZ_ERR_POINT_INFINITY;
    return G(affine_in_subgroup)(a) ? CZ_OK : CZ_ERR_POINT_SUBGROUP;
}

#undef G
#undef AFFINE
#undef FE
#undef F
#undef FE_SIZE
#undef FE_READ
#undef FE_WRITE
