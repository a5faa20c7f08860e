#include "engine/budget.h"

#include <assert.h>
#include <string.h>

void cz_budget_init(struct cz_budget *b, size_t total) {
    memset(b, 0, sizeof *b);
    b->total = total;
    b->input_cap = total / 8;
}

/* Saturating: a sum past SIZE_MAX fits nothing. */
static size_t add(size_t a, size_t b) {
    size_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (size_t)-1 : sum;
}

size_t cz_budget_used(const struct cz_budget *b) {
    size_t sum = 0;
    for (int i = 0; i < CZ_BUDGET_CLASSES; i++) sum = add(sum, b->used[i]);
    return sum;
}

enum cz_status cz_budget_check(const struct cz_budget *b, const struct cz_budget_need *need, const char *what,
                               struct cz_error *err) {
    size_t cap = b->total - b->input_cap;
    if (need->input > b->input_cap) {
        return cz_error_set(err, CZ_ERR_BUDGET,
                            "%s can never fit: the input takes %zu bytes, and inputs may take %zu of the budget of %zu",
                            what, need->input, b->input_cap, b->total);
    }
    size_t work = add(add(need->srs, need->witness), need->compute);
    if (work > cap) {
        return cz_error_set(err, CZ_ERR_BUDGET,
                            "%s can never fit: parameters %zu + witness %zu + working memory %zu = %zu bytes, and the "
                            "budget of %zu leaves %zu beside inputs (memory.total_budget)",
                            what, need->srs, need->witness, need->compute, work, b->total, cap);
    }
    return CZ_OK;
}

void cz_budget_set_floor(struct cz_budget *b, size_t witness, size_t compute) {
    b->floor_witness = witness;
    b->floor_compute = compute;
}

bool cz_budget_floors_fit(const struct cz_budget *b) {
    return add(add(b->used[CZ_BUDGET_SRS], b->floor_witness), b->floor_compute) <= b->total - b->input_cap;
}

bool cz_budget_try(struct cz_budget *b, enum cz_budget_class cls, size_t bytes) {
    size_t cap = b->total - b->input_cap;
    if (cls == CZ_BUDGET_INPUT) {
        if (add(b->used[CZ_BUDGET_INPUT], bytes) > b->input_cap) return false;
    } else {
        size_t srs = b->used[CZ_BUDGET_SRS], witness = b->used[CZ_BUDGET_WITNESS];
        size_t after = add(add(add(srs, witness), b->used[CZ_BUDGET_COMPUTE]), bytes);
        if (after > cap) return false;
        if (cls == CZ_BUDGET_SRS && add(add(add(srs, bytes), b->floor_witness), b->floor_compute) > cap) return false;
        if (cls != CZ_BUDGET_COMPUTE && add(add(add(srs, witness), bytes), b->floor_compute) > cap) return false;
    }
    cz_budget_force(b, cls, bytes);
    return true;
}

void cz_budget_force(struct cz_budget *b, enum cz_budget_class cls, size_t bytes) {
    b->used[cls] = add(b->used[cls], bytes);
    size_t used = cz_budget_used(b);
    if (used > b->peak) b->peak = used;
}

void cz_budget_release(struct cz_budget *b, enum cz_budget_class cls, size_t bytes) {
    assert(b->used[cls] >= bytes);
    b->used[cls] -= bytes;
}
