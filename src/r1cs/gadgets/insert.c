#include "r1cs/gadgets/insert.h"

/*
 * The picks of each arity as a program, run by both halves: step k makes register FIRST_PICK + k.
 * Registers: 0 the node, 1 … arity - 1 the siblings, then the picks.
 */
enum { COND_0, COND_1, COND_2, COND_NOR, COND_BOTH, NUM_CONDS };

struct step {
    uint8_t cond, yes, no;
    int8_t out; /* -1, or which output this is */
};

#define P(k) (CZ_INSERT_MAX_ARITY + (k)) /* the pick of step k */

static const struct step ARITY_2[] = {{COND_0, 1, 0, 0}, {COND_0, 0, 1, 1}};

static const struct step ARITY_4[] = {
    {COND_0, 1, 0, -1}, {COND_1, 1, P(0), 0}, {COND_0, 0, 1, -1}, {COND_1, 2, P(2), 1},
    {COND_0, 3, 0, -1}, {COND_1, P(4), 2, 2}, {COND_0, 0, 3, -1}, {COND_1, P(6), 3, 3},
};

/* siblings b … h are registers 1 … 7 */
static const struct step ARITY_8[] = {
    {COND_NOR, 0, 1, -1},  {COND_2, 1, P(0), 0},                          /* p0 */
    {COND_0, 0, 1, -1},    {COND_1, 2, P(2), -1},  {COND_2, 2, P(3), 1},  /* p1 */
    {COND_0, 3, 0, -1},    {COND_1, P(5), 2, -1},  {COND_2, 3, P(6), 2},  /* p2 */
    {COND_BOTH, 0, 3, -1}, {COND_2, 4, P(8), 3},                          /* p3 */
    {COND_NOR, 0, 5, -1},  {COND_2, P(10), 4, 4},                         /* p4 */
    {COND_0, 0, 5, -1},    {COND_1, 6, P(12), -1}, {COND_2, P(13), 5, 5}, /* p5 */
    {COND_0, 7, 0, -1},    {COND_1, P(15), 6, -1}, {COND_2, P(16), 6, 6}, /* p6 */
    {COND_BOTH, 0, 7, -1}, {COND_2, P(18), 7, 7},                         /* p7 */
};

#define MAX_STEPS (sizeof ARITY_8 / sizeof *ARITY_8)

static const struct step *program(unsigned arity, unsigned *n) {
    switch (arity) {
    case 2:
        *n = sizeof ARITY_2 / sizeof *ARITY_2;
        return ARITY_2;
    case 4:
        *n = sizeof ARITY_4 / sizeof *ARITY_4;
        return ARITY_4;
    default:
        *n = MAX_STEPS;
        return ARITY_8;
    }
}

uint32_t cz_insert_record_pick(struct cz_recorder *r, cz_bit cond, uint32_t a, uint32_t b) {
    uint32_t c = cz_recorder_elem(r);
    cz_recorder_add(r, &r->a, b, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->a, a, CZ_R1CS_COEF_MINUS_ONE);
    cz_recorder_add_bit(r, &r->b, cond, 0, false);
    cz_recorder_add(r, &r->c, b, CZ_R1CS_COEF_ONE);
    cz_recorder_add(r, &r->c, c, CZ_R1CS_COEF_MINUS_ONE);
    cz_recorder_enforce(r);
    return c;
}

void cz_insert_record(struct cz_recorder *r, uint32_t *out, unsigned arity, uint32_t node, const cz_bit *bit,
                      const uint32_t *sibling) {
    unsigned n;
    const struct step *step = program(arity, &n);
    uint32_t reg[CZ_INSERT_MAX_ARITY + MAX_STEPS] = {node};
    for (unsigned i = 1; i < arity; i++) reg[i] = sibling[i - 1];
    cz_bit cond[NUM_CONDS] = {bit[0]};
    if (arity >= 4) cond[COND_1] = bit[1];
    if (arity == 8) {
        cond[COND_2] = bit[2];
        cond[COND_NOR] = cz_recorder_and(r, bit[0] ^ 1, bit[1] ^ 1);
        cond[COND_BOTH] = cz_recorder_and(r, bit[0], bit[1]);
    }
    for (unsigned k = 0; k < n; k++) {
        reg[P(k)] = cz_insert_record_pick(r, cond[step[k].cond], reg[step[k].yes], reg[step[k].no]);
        if (step[k].out >= 0) out[step[k].out] = reg[P(k)];
    }
}

static void conditions(bool cond[NUM_CONDS], unsigned index) {
    cond[COND_0] = index & 1;
    cond[COND_1] = index >> 1 & 1;
    cond[COND_2] = index >> 2 & 1;
    cond[COND_NOR] = (index & 3) == 0;
    cond[COND_BOTH] = (index & 3) == 3;
}

void cz_insert_assign_bits(struct cz_assign *a, unsigned arity, unsigned index) {
    bool cond[NUM_CONDS];
    if (arity != 8) return;
    conditions(cond, index);
    cz_assign_bits(a, cond[COND_NOR], 1);
    cz_assign_bits(a, cond[COND_BOTH], 1);
}

unsigned cz_insert_num_elems(unsigned arity) {
    unsigned n;
    (void)program(arity, &n);
    return n;
}

void cz_insert_values(struct cz_fr *elem, struct cz_fr *out, unsigned arity, const struct cz_fr *node, unsigned index,
                      const struct cz_fr *sibling) {
    unsigned n;
    const struct step *step = program(arity, &n);
    const struct cz_fr *reg[CZ_INSERT_MAX_ARITY + MAX_STEPS] = {node};
    bool cond[NUM_CONDS];
    for (unsigned i = 1; i < arity; i++) reg[i] = &sibling[i - 1];
    conditions(cond, index);
    for (unsigned k = 0; k < n; k++) {
        reg[P(k)] = cond[step[k].cond] ? reg[step[k].yes] : reg[step[k].no];
        elem[k] = *reg[P(k)];
        if (step[k].out >= 0) out[step[k].out] = *reg[P(k)];
    }
}

void cz_insert_assign(struct cz_assign *a, struct cz_fr *out, unsigned arity, const struct cz_fr *node, unsigned index,
                      const struct cz_fr *sibling) {
    struct cz_fr unwritten[MAX_STEPS], *room = cz_assign_reserve(a, cz_insert_num_elems(arity));
    cz_insert_assign_bits(a, arity, index);
    cz_insert_values(room ? room : unwritten, out, arity, node, index, sibling);
}
