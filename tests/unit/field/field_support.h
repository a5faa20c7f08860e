#ifndef CUZK_TESTS_FIELD_SUPPORT_H
#define CUZK_TESTS_FIELD_SUPPORT_H

/* Numbers for the field's tests: a fixed generator, and the patterns where carries go wrong. */

#include "field/cpu.h"
#include "field/fp.h"
#include "field/fp2.h"
#include "field/fr.h"

static uint64_t support_state = 0x0123456789abcdefu;

/* splitmix64 */
static inline uint64_t random_u64(void) {
    uint64_t z = (support_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Below the modulus by clearing top bits; now and then limbs of all ones or zeros. */
static inline uint64_t random_limb(void) {
    uint64_t kind = random_u64() % 16;
    return kind == 0 ? 0 : kind == 1 ? UINT64_MAX : random_u64();
}

static inline void random_fr(struct cz_fr *r) {
    for (int i = 0; i < 4; i++) r->l[i] = random_limb();
    r->l[3] &= 0x3fffffffffffffffu;
}

static inline void random_fp(struct cz_fp *r) {
    for (int i = 0; i < 6; i++) r->l[i] = random_limb();
    r->l[5] &= 0x0fffffffffffffffu;
}

static inline void random_fp2(struct cz_fp2 *r) {
    random_fp(&r->c0);
    random_fp(&r->c1);
}

/* 0, 1, 2^64k - 1, m - 1, m - 2, R mod m … as raw (Montgomery) limbs. */
#define EDGES 12
static inline void edge_limbs(uint64_t (*out)[6], const uint64_t *modulus, int n) {
    for (int k = 0; k < EDGES; k++)
        for (int i = 0; i < 6; i++) out[k][i] = 0;
    out[1][0] = 1;
    out[2][0] = 2;
    for (int i = 0; i < n; i++) out[3][i] = out[4][i] = out[5][i] = modulus[i];
    out[3][0] -= 1;
    out[4][0] -= 2 - (modulus[0] == 1 ? 1 : 0); /* r ends in 1: r - 2 would borrow, so r - 1 again */
    out[5][n - 1] -= 1;
    for (int i = 0; i < n - 1; i++) out[6][i] = UINT64_MAX;
    out[7][0] = UINT64_MAX;
    out[8][n - 1] = modulus[n - 1] - 1;
    for (int i = 0; i < n - 1; i++) out[9][i] = UINT64_MAX;
    out[9][n - 1] = modulus[n - 1] - 1;
    for (int i = 0; i < n; i++) out[10][i] = (modulus[i] >> 1) | (i + 1 < n ? modulus[i + 1] << 63 : 0);
    out[11][1] = UINT64_MAX;
    out[11][2] = 1;
}

/* Each level of this processor in turn; the best one is left selected. */
#define FOR_EACH_LEVEL(level)                                                                                          \
    for (int level = CZ_FIELD_PORTABLE;                                                                                \
         level <= (int)cz_field_supported() && cz_field_select((enum cz_field_level)level) == CZ_OK; level++)

#endif
