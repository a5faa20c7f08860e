#ifndef CUZK_TESTS_UNIT_GROTH16_XOR_DEMO_H
#define CUZK_TESTS_UNIT_GROTH16_XOR_DEMO_H

/*
 * The XorDemo circuit by hand (spec/known-values.md §7): input c, aux a, b;
 * (1 - a)·a = 0, (1 - b)·b = 0, (a + a)·b = a + b - c. Toxic waste, witness and folder for its files.
 */

#include "groth16/setup.h"

/** A copy to change; the arrays behind it are separate for each xor_demo_init. */
struct xor_demo {
    struct cz_r1cs r1cs;
    struct cz_r1cs_template tmpl;
    struct cz_r1cs_instance instance;
    cz_r1cs_var external[1];
    struct cz_fr coef[CZ_R1CS_COEF_FIXED + 1];
    struct cz_r1cs_term term[3][8];
    uint32_t row[3][4];
    uint64_t density[2][1];
    uint32_t local_slot[2], external_slot[1];
    uint64_t local_is_bit[1], aux_is_bit[1];
    uint32_t aux_bit_rank[1];
    struct cz_fr input[2];
    uint64_t bit[1];
    struct cz_witness witness; /* a = 1, b = 0, c = 1; do not pass to cz_witness_done */
    struct cz_toxic_waste waste;
};

void xor_demo_init(struct xor_demo *demo);
/** Makes the densities again after a change of the terms; coefficient 0 counts as no term. */
void xor_demo_index(struct xor_demo *demo);

/** Makes an empty folder; its path to `out`, size >= 64. */
void xor_demo_folder(char *out, size_t size);
/** Number of entries of the folder. */
unsigned xor_demo_folder_entries(const char *folder);
/** Removes the folder and the files in it. */
void xor_demo_folder_remove(const char *folder);

/** Runs setup of the demo into folder/x.params and folder/x.vk; it must work. */
void xor_demo_setup(const struct xor_demo *demo, const char *folder, struct cz_setup_result *result);
/** folder/name to `out`. */
void xor_demo_path(char *out, size_t size, const char *folder, const char *name);

#endif
