#include "xor_demo.h"

#include "support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ONE, C, A, B };

static void put(struct xor_demo *demo, int matrix, uint32_t row, uint32_t col, uint32_t coef) {
    uint32_t at = demo->row[matrix][3];
    demo->term[matrix][at] = (struct cz_r1cs_term){col, coef};
    for (uint32_t k = row + 1; k <= 3; k++) demo->row[matrix][k] = at + 1;
}

void xor_demo_index(struct xor_demo *demo) {
    for (int m = 0; m < 2; m++) {
        demo->density[m][0] = 0;
        for (uint32_t j = 0; j < demo->row[m][3]; j++) {
            if (demo->term[m][j].coef != CZ_R1CS_COEF_ZERO) demo->density[m][0] |= UINT64_C(1) << demo->term[m][j].col;
        }
    }
}

void xor_demo_init(struct xor_demo *demo) {
    *demo = (struct xor_demo){0};
    demo->coef[CZ_R1CS_COEF_ONE] = CZ_FR_ONE;
    cz_fr_neg(&demo->coef[CZ_R1CS_COEF_MINUS_ONE], &CZ_FR_ONE);
    cz_fr_from_u64(&demo->coef[CZ_R1CS_COEF_TWO], 2);
    cz_fr_neg(&demo->coef[CZ_R1CS_COEF_MINUS_TWO], &demo->coef[CZ_R1CS_COEF_TWO]);

    put(demo, CZ_R1CS_A, 0, ONE, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_A, 0, A, CZ_R1CS_COEF_MINUS_ONE);
    put(demo, CZ_R1CS_A, 1, ONE, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_A, 1, B, CZ_R1CS_COEF_MINUS_ONE);
    put(demo, CZ_R1CS_A, 2, A, CZ_R1CS_COEF_TWO);
    put(demo, CZ_R1CS_B, 0, A, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_B, 1, B, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_B, 2, B, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_C, 2, C, CZ_R1CS_COEF_MINUS_ONE);
    put(demo, CZ_R1CS_C, 2, A, CZ_R1CS_COEF_ONE);
    put(demo, CZ_R1CS_C, 2, B, CZ_R1CS_COEF_ONE);

    demo->external[0] = CZ_R1CS_INPUT | 1;
    demo->external_slot[0] = CZ_R1CS_SLOT(1, CZ_R1CS_SLOT_INPUT);
    demo->local_slot[0] = CZ_R1CS_SLOT(0, CZ_R1CS_SLOT_BIT);
    demo->local_slot[1] = CZ_R1CS_SLOT(1, CZ_R1CS_SLOT_BIT);
    xor_demo_index(demo);
    demo->local_is_bit[0] = demo->aux_is_bit[0] = 3;
    demo->tmpl = (struct cz_r1cs_template){
        .name = "xor",
        .num_external = 1,
        .num_local = 2,
        .num_constraints = 3,
        .num_bits = 2,
        .local_is_bit = demo->local_is_bit,
        .local_slot = demo->local_slot,
        .density = {demo->density[0], demo->density[1]},
        .row = {demo->row[0], demo->row[1], demo->row[2]},
        .term = {demo->term[0], demo->term[1], demo->term[2]},
    };
    demo->r1cs = (struct cz_r1cs){
        .num_inputs = 2,
        .num_aux = 2,
        .num_bits = 2,
        .num_constraints = 3,
        .num_templates = 1,
        .num_instances = 1,
        .num_externals = 1,
        .num_coefs = CZ_R1CS_COEF_FIXED + 1,
        .tmpl = &demo->tmpl,
        .instance = &demo->instance,
        .external = demo->external,
        .external_slot = demo->external_slot,
        .coef = demo->coef,
        .aux_is_bit = demo->aux_is_bit,
        .aux_bit_rank = demo->aux_bit_rank,
    };

    demo->input[0] = demo->input[1] = CZ_FR_ONE;
    demo->bit[0] = 1;
    demo->witness =
        (struct cz_witness){.num_inputs = 2, .num_bits = 2, .num_elems = 0, .input = demo->input, .bit = demo->bit};

    static const uint64_t WASTE[5] = {48577, 22580, 53332, 5481, 3673};
    struct cz_fr scalar[5];
    for (int i = 0; i < 5; i++) cz_fr_from_u64(&scalar[i], WASTE[i]);
    cz_toxic_waste_set(&demo->waste, 1, 1, scalar);
}

void xor_demo_folder(char *out, size_t size) {
    const char *tmp = getenv("TMPDIR");
    assert_true(snprintf(out, size, "%s/cuzk-groth16-XXXXXX", tmp ? tmp : "/tmp") < (int)size);
    assert_non_null(mkdtemp(out));
}

unsigned xor_demo_folder_entries(const char *folder) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    unsigned n = 0;
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) n += e->d_name[0] != '.';
    closedir(dir);
    return n;
}

void xor_demo_folder_remove(const char *folder) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    for (struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (e->d_name[0] != '.') assert_int_equal(unlinkat(dirfd(dir), e->d_name, 0), 0);
    }
    closedir(dir);
    assert_int_equal(rmdir(folder), 0);
}

void xor_demo_path(char *out, size_t size, const char *folder, const char *name) {
    assert_true(snprintf(out, size, "%s/%s", folder, name) < (int)size);
}

void xor_demo_setup(const struct xor_demo *demo, const char *folder, struct cz_setup_result *result) {
    char params[256], vk[256];
    xor_demo_path(params, sizeof params, folder, "x.params");
    xor_demo_path(vk, sizeof vk, folder, "x.vk");
    struct cz_device *dev;
    struct cz_error err = {0};
    assert_int_equal(cz_device_create_cpu(&dev, NULL), CZ_OK);
    enum cz_status status =
        cz_setup_write(result, params, vk, true, &demo->r1cs, &demo->waste, dev, NULL, NULL, NULL, &err);
    if (status != CZ_OK) fail_msg("%s", err.detail);
    cz_device_destroy(dev);
}
