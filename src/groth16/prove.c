#include "groth16/prove.h"

#include "base/bytes.h"

enum cz_status cz_blinding_random(struct cz_blinding *out) {
    struct cz_blinding blinding;
    enum cz_status status = cz_fr_random(&blinding.r);
    if (status == CZ_OK) status = cz_fr_random(&blinding.s);
    if (status == CZ_OK) *out = blinding;
    cz_memzero(&blinding, sizeof blinding);
    return status;
}

/* acc += k·p */
static void add_product_g1(struct cz_g1 *acc, const struct cz_g1 *p, const struct cz_fr *k) {
    struct cz_g1 kp;
    cz_g1_mul(&kp, p, k);
    cz_g1_add(acc, acc, &kp);
}

static void add_product_affine(struct cz_g1 *acc, const struct cz_g1_affine *p, const struct cz_fr *k) {
    struct cz_g1 jacobian;
    cz_g1_from_affine(&jacobian, p);
    add_product_g1(acc, &jacobian, k);
}

enum cz_status cz_prove_finish(struct cz_proof *out, const struct cz_partition_sums *sums, const struct cz_vk *vk,
                               const struct cz_blinding *blinding, struct cz_error *err) {
    if (cz_g1_affine_is_infinity(&vk->delta_g1) || cz_g2_affine_is_infinity(&vk->delta_g2)) {
        return cz_error_set(err, CZ_ERR_POINT_INFINITY, "verifying key: delta is the point at infinity");
    }

    struct cz_g1 a = sums->a;
    cz_g1_add_affine(&a, &a, &vk->alpha_g1);
    add_product_affine(&a, &vk->delta_g1, &blinding->r);

    struct cz_g2 b = sums->b_g2, s_delta;
    cz_g2_from_affine(&s_delta, &vk->delta_g2);
    cz_g2_mul(&s_delta, &s_delta, &blinding->s);
    cz_g2_add_affine(&b, &b, &vk->beta_g2);
    cz_g2_add(&b, &b, &s_delta);

    /* C = H + L + s·(ΣA + α) + r·(ΣB₁ + β₁) + rs·δ₁ = H + L + s·A + r·(ΣB₁ + β₁), as A = ΣA + α + r·δ₁. */
    struct cz_g1 c, b_g1 = sums->b_g1;
    cz_g1_add(&c, &sums->h, &sums->l);
    add_product_g1(&c, &a, &blinding->s);
    cz_g1_add_affine(&b_g1, &b_g1, &vk->beta_g1);
    add_product_g1(&c, &b_g1, &blinding->r);

    const char *infinite = cz_g1_is_infinity(&a)   ? "A"
                           : cz_g2_is_infinity(&b) ? "B"
                           : cz_g1_is_infinity(&c) ? "C"
                                                   : NULL;
    if (infinite) {
        return cz_error_set(err, CZ_ERR_POINT_INFINITY, "proof: %s came out as the point at infinity", infinite);
    }
    cz_g1_to_affine(&out->a, &a);
    cz_g2_to_affine(&out->b, &b);
    cz_g1_to_affine(&out->c, &c);
    return CZ_OK;
}

enum cz_status cz_prove(struct cz_proof *out, struct cz_partition_timing *timing, struct cz_srs *srs,
                        const struct cz_vk *vk, const struct cz_witness *witness, const struct cz_blinding *blinding,
                        struct cz_error *err) {
    if (witness->num_inputs != vk->num_ic) {
        return cz_error_set(err, CZ_ERR_MISMATCH, "witness: %u inputs, the key is for %u", witness->num_inputs,
                            vk->num_ic);
    }
    struct cz_blinding fresh = {0};
    struct cz_partition_sums sums;
    enum cz_status status = CZ_OK;
    if (!blinding) {
        status = cz_blinding_random(&fresh);
        if (status != CZ_OK) return cz_error_set(err, status, "blinding: %s", cz_status_text(status));
        blinding = &fresh;
    }
    status = cz_device_prove_partition(&sums, timing, srs, witness, err);
    if (status == CZ_OK) status = cz_prove_finish(out, &sums, vk, blinding, err);
    cz_memzero(&fresh, sizeof fresh);
    return status;
}
