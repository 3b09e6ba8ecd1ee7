/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * adapt.h - a team tries two algorithms during its first calls of a size, and keeps the faster one
 * (HUDDLE_ADAPT).
 *
 * Trial     One per team, piece of the plan, and size class: sizes from a power of two to below the
 *           next.  It has two candidates: the plan's choice, and its second one
 *           (core/choose/second.c).  Calls of which no rank knows all sizes (alltoallv, gatherv)
 *           have none.  Of a broadcast a rank may name a smaller size than the root (a truncation),
 *           so a piece has one trial: ranks whose sizes are of one piece count alike, whatever the
 *           sizes.
 * Calls     A trial takes TRIAL_CALLS calls.  A candidate makes two calls in a row.  The first one
 *           pays for the change: for the handover of the window and for cold lines.  The second one
 *           is a sample.  The order of the pairs has no period, so that it does not coincide with
 *           one of the program.
 * Sample    From the time at which the last rank enters the call to that at which the last rank
 *           leaves it.  So a rank that comes late lengthens no sample.  Each rank notes both times,
 *           by the clock that all processes of a machine share.
 * Decision  At the first call after the trial, before that call's own work: one small allreduce of
 *           huddle's own (maximum) gives all ranks the times of all samples.  Of a candidate
 *           the lower quartile counts, since a busy machine only lengthens samples.  The second one
 *           is kept if it takes at least 5 % less.  Samples of sizes of which one is more than
 *           twice another decide nothing: the trial is held again, TRIAL_HELD times at most.
 *
 * Agreement
 *   1. All members of a communicator make the same calls, of the same sizes, in the same order.  So
 *      all count a trial's calls alike, and choose the same candidate for each.
 *   2. The decision is a pure function of the result of the allreduce, which all ranks have.
 *   3. MPI allows any collective to wait for all ranks, so an allreduce may come before any call.
 * Bits      In fixed order both candidates of a reduction combine the ranks in order (alg.ordered),
 *           so they give the same bits, and so do all calls.
 * Cost      Off: nothing, see hud_team.apart.  On: some ten instructions per call once decided.
 */
#ifndef HUD_ADAPT_H
#define HUD_ADAPT_H

#include "core/team/team.h"

enum {
    TRIAL_OF_EACH = 7, /* samples of each candidate */
    TRIAL_SAMPLES = 2 * TRIAL_OF_EACH,
    TRIAL_CALLS = 2 * TRIAL_SAMPLES,
    TRIAL_HELD = 4,
    TRIAL_CLASSES = 32,
    TRIALS = PLAN_ENTRIES + PLAN_AXES * TRIAL_CLASSES
};

struct trial {
    const struct plan_entry *first; /* candidate; the second one is first->second */
    const struct plan_entry *kept;  /* NULL: not decided */
    int16_t calls, held;            /* so far, up to TRIAL_CALLS, TRIAL_HELD */
    struct trial_times {
        uint64_t begin_ns[TRIAL_SAMPLES], end_ns[TRIAL_SAMPLES];
        uint64_t max_bytes, inverse_min_bytes; /* of a sample; the latter is UINT64_MAX - the least,
                                                  as the allreduce is a maximum */
    } times;
};

struct adapt {
    const struct plan_entry *agree; /* that serves the allreduce */
    struct hud_op max;
    uint64_t (*clock_ns)(void); /* tests have their own */
    uint64_t *end_ns;           /* of the sample that is running; NULL: none is */
    struct trial trial[TRIALS];
};

/* The candidate that makes a trial's call, from call 0 on: 0 or 1. */
int hud_trial_candidate(int call);
/* Whether that call is a sample: its number, or -1. */
int hud_trial_sample(int call);

struct trial_verdict {
    bool mixed;                   /* sizes are too different */
    bool second;                  /* otherwise: the second candidate is kept */
    uint64_t first_ns, second_ns; /* lower quartiles */
};

/* From the times of the last rank: a pure function. */
struct trial_verdict hud_trial_decide(const struct trial_times *times);

/* Sizes from a power of two to below the next; 0: no bytes. */
static inline int trial_class(size_t bytes)
{
    int class = bytes != 0 ? 64 - __builtin_clzll((unsigned long long)bytes) : 0;

    return class < TRIAL_CLASSES ? class : TRIAL_CLASSES - 1;
}

/* Along an axis both the number of the entry and the class only grow: so does their sum, and each
 * pair that occurs has its own. */
static inline int trial_index(int axis, int entry, int class)
{
    return entry + axis * TRIAL_CLASSES + class;
}

/* Memory for a team's trials, where the setting asks for them.  False: there is none. */
bool hud_adapt_create(struct hud_team *team);
/* Once the team has its plan, and knows whether its calls are checked: sets team->apart.  Where
 * there is nothing to try, the memory is freed. */
void hud_adapt_start(struct hud_team *team);
void hud_adapt_free(struct hud_team *team);

/*
 * A call begins that all ranks make.  *entry: the plan's choice; becomes the candidate for this
 * call.  Returns HUD_OK, or the status with which the decision failed, and the call with it.
 */
int hud_adapt_enter(struct hud_team *team, enum coll_kind kind, const struct coll *call,
                    const struct plan_entry **entry);
/* It has ended.  adapt: NULL is allowed. */
static inline void adapt_exit(struct adapt *adapt)
{
    if (adapt && adapt->end_ns)
        *adapt->end_ns = adapt->clock_ns();
}

/* "slices", or "slices (fragment=4096)": what the two differ in. */
void hud_adapt_name(const struct plan_entry *entry, const struct plan_entry *other, char *text,
                    size_t bytes);

#endif
