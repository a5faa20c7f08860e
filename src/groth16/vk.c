#include "groth16/vk.h"

#include "base/bytes.h"
#include "base/file.h"
#include "curve/encoding.h"

#define VK_FILE_LIMIT (CZ_VK_HEADER_BYTES + (size_t)CZ_G1_UNCOMPRESSED * CZ_VK_MAX_IC)

/* One of the two encodings of a key: the same fields in the same order, points of the one or the other size. */
struct vk_form {
    const char *name;
    size_t g1_bytes, g2_bytes;
    enum cz_status (*g1)(struct cz_g1_affine *, const uint8_t *);
    enum cz_status (*g2)(struct cz_g2_affine *, const uint8_t *);
};

/* The decoders take arrays of a given size, which are pointers of another spelling. */
static enum cz_status g1_plain(struct cz_g1_affine *r, const uint8_t *in) {
    return cz_g1_decode_uncompressed(r, in);
}
static enum cz_status g2_plain(struct cz_g2_affine *r, const uint8_t *in) {
    return cz_g2_decode_uncompressed(r, in);
}
static enum cz_status g1_short(struct cz_g1_affine *r, const uint8_t *in) {
    return cz_g1_decode(r, in);
}
static enum cz_status g2_short(struct cz_g2_affine *r, const uint8_t *in) {
    return cz_g2_decode(r, in);
}

static const struct vk_form FORM_PLAIN = {"verifying key", CZ_G1_UNCOMPRESSED, CZ_G2_UNCOMPRESSED, g1_plain, g2_plain};
static const struct vk_form FORM_SHORT = {"compressed verifying key", CZ_G1_COMPRESSED, CZ_G2_COMPRESSED, g1_short,
                                          g2_short};

static enum cz_status read_g1(struct cz_g1_affine *out, const uint8_t *in, const struct vk_form *form,
                              const char *field, struct cz_error *err) {
    enum cz_status status = form->g1(out, in);
    if (status == CZ_OK) status = cz_g1_check(out);
    if (status != CZ_OK) return cz_error_set(err, status, "%s: %s: %s", form->name, field, cz_status_text(status));
    return CZ_OK;
}

static enum cz_status read_g2(struct cz_g2_affine *out, const uint8_t *in, const struct vk_form *form,
                              const char *field, struct cz_error *err) {
    enum cz_status status = form->g2(out, in);
    if (status == CZ_OK) status = cz_g2_check(out);
    if (status != CZ_OK) return cz_error_set(err, status, "%s: %s: %s", form->name, field, cz_status_text(status));
    return CZ_OK;
}

/* Alpha to delta; `data` holds the header. */
static enum cz_status read_fixed(struct cz_vk *vk, const uint8_t *data, const struct vk_form *form,
                                 struct cz_error *err) {
    const struct {
        const char *name;
        struct cz_g1_affine *g1;
        struct cz_g2_affine *g2;
    } field[] = {
        {"alpha_g1", &vk->alpha_g1, NULL}, {"beta_g1", &vk->beta_g1, NULL},   {"beta_g2", NULL, &vk->beta_g2},
        {"gamma_g2", NULL, &vk->gamma_g2}, {"delta_g1", &vk->delta_g1, NULL}, {"delta_g2", NULL, &vk->delta_g2},
    };
    for (size_t i = 0; i < sizeof field / sizeof field[0]; i++) {
        enum cz_status status = field[i].g1 ? read_g1(field[i].g1, data, form, field[i].name, err)
                                            : read_g2(field[i].g2, data, form, field[i].name, err);
        if (status != CZ_OK) return status;
        data += field[i].g1 ? form->g1_bytes : form->g2_bytes;
    }
    return CZ_OK;
}

static enum cz_status read_key(struct cz_vk *out, const uint8_t *data, size_t len, size_t *used,
                               const struct vk_form *form, struct cz_error *err) {
    size_t header = 3 * form->g1_bytes + 3 * form->g2_bytes + 4;
    if (len < header) {
        return cz_error_set(err, CZ_ERR_LENGTH, "%s: %zu bytes, the fixed part alone has %zu", form->name, len, header);
    }
    uint32_t n = cz_load_be32(data + header - 4);
    if (n == 0 || n > CZ_VK_MAX_IC) {
        return cz_error_set(err, CZ_ERR_LIMIT, "%s: %u ic points, must be 1 to %u", form->name, n, CZ_VK_MAX_IC);
    }
    if ((len - header) / form->g1_bytes < n) {
        return cz_error_set(err, CZ_ERR_LENGTH, "%s: %u ic points need %zu bytes, there are %zu", form->name, n,
                            header + n * form->g1_bytes, len);
    }

    struct cz_vk vk = {.num_ic = n};
    enum cz_status status = read_fixed(&vk, data, form, err);
    if (status != CZ_OK) return status;
    vk.ic = cz_malloc_array(n, sizeof *vk.ic);
    if (!vk.ic) return cz_error_set(err, CZ_ERR_MEMORY, "%s: no memory for %u ic points", form->name, n);
    for (uint32_t i = 0; i < n; i++) {
        char name[24];
        (void)snprintf(name, sizeof name, "ic[%u]", i);
        status = read_g1(&vk.ic[i], data + header + i * form->g1_bytes, form, name, err);
        if (status != CZ_OK) {
            cz_vk_done(&vk);
            return status;
        }
    }
    *out = vk;
    if (used) *used = header + n * form->g1_bytes;
    return CZ_OK;
}

enum cz_status cz_vk_read(struct cz_vk *out, const uint8_t *data, size_t len, size_t *used, struct cz_error *err) {
    return read_key(out, data, len, used, &FORM_PLAIN, err);
}

enum cz_status cz_vk_read_compressed(struct cz_vk *out, const uint8_t *data, size_t len, struct cz_error *err) {
    struct cz_vk vk = {0};
    size_t used = 0;
    enum cz_status status = read_key(&vk, data, len, &used, &FORM_SHORT, err);
    if (status != CZ_OK) return status;
    if (used != len) {
        cz_vk_done(&vk);
        return cz_error_set(err, CZ_ERR_LENGTH, "%s: %zu bytes follow its end", FORM_SHORT.name, len - used);
    }
    *out = vk;
    return CZ_OK;
}

enum cz_status cz_vk_read_file(struct cz_vk *out, const char *path, struct cz_error *err) {
    uint8_t *data = NULL;
    size_t len = 0, used = 0;
    enum cz_status status = cz_file_read(&data, &len, path, VK_FILE_LIMIT, err);
    if (status != CZ_OK) return status;
    struct cz_vk vk = {0};
    status = cz_vk_read(&vk, data, len, &used, err);
    cz_free(data);
    if (status != CZ_OK) {
        (void)cz_error_prefix(err, "%s", path);
        return status;
    }
    if (used != len) {
        cz_vk_done(&vk);
        return cz_error_set(err, CZ_ERR_LENGTH, "%s: %zu bytes follow the verifying key", path, len - used);
    }
    *out = vk;
    return CZ_OK;
}

size_t cz_vk_bytes(uint32_t num_ic) {
    return CZ_VK_HEADER_BYTES + (size_t)CZ_G1_UNCOMPRESSED * num_ic;
}

void cz_vk_write(uint8_t *out, const struct cz_vk *vk) {
    cz_g1_encode_uncompressed(out, &vk->alpha_g1);
    cz_g1_encode_uncompressed(out + 96, &vk->beta_g1);
    cz_g2_encode_uncompressed(out + 192, &vk->beta_g2);
    cz_g2_encode_uncompressed(out + 384, &vk->gamma_g2);
    cz_g1_encode_uncompressed(out + 576, &vk->delta_g1);
    cz_g2_encode_uncompressed(out + 672, &vk->delta_g2);
    cz_store_be32(out + 864, vk->num_ic);
    for (uint32_t i = 0; i < vk->num_ic; i++) {
        cz_g1_encode_uncompressed(out + CZ_VK_HEADER_BYTES + (size_t)CZ_G1_UNCOMPRESSED * i, &vk->ic[i]);
    }
}

void cz_vk_done(struct cz_vk *vk) {
    if (!vk) return;
    cz_free(vk->ic);
    *vk = (struct cz_vk){0};
}

enum cz_status cz_proof_read(struct cz_proof *out, const uint8_t in[CZ_PROOF_BYTES], struct cz_error *err) {
    struct cz_proof proof;
    const char *part = "A";
    enum cz_status status = cz_g1_decode(&proof.a, in);
    if (status == CZ_OK) status = cz_g1_check(&proof.a);
    if (status != CZ_OK) goto out;
    part = "B";
    status = cz_g2_decode(&proof.b, in + 48);
    if (status == CZ_OK) status = cz_g2_check(&proof.b);
    if (status != CZ_OK) goto out;
    part = "C";
    status = cz_g1_decode(&proof.c, in + 144);
    if (status == CZ_OK) status = cz_g1_check(&proof.c);
    if (status != CZ_OK) goto out;
    *out = proof;
    return CZ_OK;
out:
    return cz_error_set(err, status, "proof: %s: %s", part, cz_status_text(status));
}

void cz_proof_write(uint8_t out[CZ_PROOF_BYTES], const struct cz_proof *proof) {
    cz_g1_encode(out, &proof->a);
    cz_g2_encode(out + 48, &proof->b);
    cz_g1_encode(out + 144, &proof->c);
}
