/* SPDX-License-Identifier: BSD-3-Clause */
/* decision.h - gives a cell's learner the agreed times of its samples, and stores and reports what
 * the learner decides: for teams on one node and for spans. */
#ifndef HUD_DECISION_H
#define HUD_DECISION_H

#include "core/job/context.h"
#include "core/plan/learner.h"

/* A cell as a line of the file describes it. */
struct decision {
    const struct plan_facts *facts; /* facts about the team */
    int at;                         /* plan_at() */
    int first;                      /* candidate */
    uint64_t mpi_extra_ns;          /* time in samples of the MPI's own collective that a program
                                       without huddle does not need */
    bool is_rank_0;                 /* this rank reports, and writes to the file */
    struct decision_candidate {
        int row;           /* row of alg.def, or of spans.def if facts->nodes is not 0; -1: the
                              MPI's own collective */
        int params;        /* number of parameters */
        const long *param; /* values; -1 if the network determines it, in a span */
    } candidate[LEARNER_CANDIDATES];
};

/* Sets the choice of a rule, with the parameters that differ from their presets. */
void hud_decision_set(struct rule *rule, const struct decision_candidate *candidate);

/* Keeps a trial that ends with its team, for the next team (hud_wisdom_store_open). */
void hud_decision_keep_open(struct hud_context *context, const struct decision *cell,
                            const struct learner *learner);
/* Gives the learner agreed times, as hud_learner_agreed.  Returns whether the learner has just
 * decided, or has changed its choice. */
bool hud_decision_take(struct hud_context *context, const struct decision *cell,
                       struct learner *learner, const uint64_t ns[LEARNER_BATCH]);

#endif
