#ifndef CUZK_ENGINE_BUDGET_H
#define CUZK_ENGINE_BUDGET_H

/*
 * The budget of host memory: plain accounting, no locks, no waiting (the engine does both).
 *
 *     total = inputs (at most an eighth) + work
 *     work  = SRS + witnesses + working memory of the devices
 *
 * Parsed inputs of queued jobs have a share of their own, so that a long queue never takes what a running proof needs.
 * Within the work share a grant is given only when what the later stages need stays free: after an SRS, the largest
 * witness and the largest working memory of any circuit in use, which need not be the same one's; after a witness, the
 * largest working memory. So the pipeline never stands still with everyone waiting for memory: when all that computes
 * has ended, the next partition fits.
 */

#include "base/status.h"

#include <stddef.h>

enum cz_budget_class { CZ_BUDGET_INPUT, CZ_BUDGET_SRS, CZ_BUDGET_WITNESS, CZ_BUDGET_COMPUTE, CZ_BUDGET_CLASSES };

struct cz_budget {
    size_t total, input_cap;
    size_t used[CZ_BUDGET_CLASSES];
    size_t peak;          /* most ever used, all classes together */
    size_t floor_witness; /* largest of the circuits in use, each for itself */
    size_t floor_compute;
};

/** What one job needs at least. Bytes. */
struct cz_budget_need {
    size_t input, srs, witness, compute;
};

void cz_budget_init(struct cz_budget *b, size_t total);

/** CZ_ERR_BUDGET with the numbers when `need` would not fit an otherwise empty budget. `what` names the circuit. */
CZ_MUST_CHECK enum cz_status cz_budget_check(const struct cz_budget *b, const struct cz_budget_need *need,
                                             const char *what, struct cz_error *err);

/** What later stages need: the largest witness and the largest working memory of the circuits in use. */
void cz_budget_set_floor(struct cz_budget *b, size_t witness, size_t compute);
/** Whether a partition of any circuit in use would fit beside the SRS: false only after a plan has grown. */
bool cz_budget_floors_fit(const struct cz_budget *b);

/** Takes `bytes` when they fit now and the floors stay free; false and nothing changed otherwise. */
bool cz_budget_try(struct cz_budget *b, enum cz_budget_class cls, size_t bytes);

/** Adds without asking: the true size of something that is there already. */
void cz_budget_force(struct cz_budget *b, enum cz_budget_class cls, size_t bytes);
void cz_budget_release(struct cz_budget *b, enum cz_budget_class cls, size_t bytes);
size_t cz_budget_used(const struct cz_budget *b);

#endif
