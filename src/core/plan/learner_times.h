/* SPDX-License-Identifier: BSD-3-Clause */
/* learner_times.h - the times of a cell's candidates, and the budget of its trials (learner.h).
 * Included only by learner.c. */
#ifndef HUD_LEARNER_TIMES_H
#define HUD_LEARNER_TIMES_H

#include "core/plan/learner.h"

enum {
    BUDGET_PERCENT = 3,
    UNKNOWN_PERCENT = 150,
    TURN_SAMPLES = 2 /* the last calls of a turn */
};

#define ALLOWANCE_NS UINT64_C(1000000)
#define LONGEST_NS (UINT64_C(1) << 44) /* keeps sums and products in 64 bits */

/* ---- times ---- */

static inline uint64_t min_ns(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t lower_quartile(const uint64_t ns[], int count)
{
    uint64_t sorted[LEARNER_BATCH] = { 0 };

    for (int i = 0; i < count; i++) {
        int at = i;
        for (; at > 0 && sorted[at - 1] > ns[i]; at--)
            sorted[at] = sorted[at - 1];
        sorted[at] = ns[i];
    }
    return min_ns(sorted[count / 4], LONGEST_NS);
}

/* Returns whether the present choice is the last winner, with its recorded time. */
static inline bool has_record(const struct learner *l)
{
    return l->phase == LEARNER_DECIDED || l->phase == LEARNER_VERIFIES;
}

/* Returns the time of a candidate that has been measured. */
static inline uint64_t measured(const struct learner *l, int candidate)
{
    uint64_t ns = l->low_ns[candidate][l->count[candidate] >= 4];

    if (has_record(l) && candidate == l->present)
        return l->winner[0].ns;
    return candidate == l->first && l->count[candidate] < 2 ? min_ns(ns, l->first_ns) : ns;
}

static inline uint64_t expected(const struct learner *l, int candidate)
{
    uint64_t unknown = measured(l, l->present) * UNKNOWN_PERCENT / 100;

    if (l->count[candidate] > 0 || candidate == l->first)
        return measured(l, candidate);
    if (l->phase == LEARNER_COMPARES && l->winner[1].ns != 0)
        return l->winner[1].ns;
    uint64_t percent = l->predicted_percent[candidate];
    return percent != 0 ? l->first_ns * percent / 100 : unknown;
}

static inline bool near(uint64_t a, uint64_t b)
{
    return a * 4 <= b * 5 && b * 4 <= a * 5;
}

/* Returns the number of calls of a turn in this sweep: 2, 4, then 8. */
static inline int turn_calls(const struct learner *l)
{
    return 2 << (l->sweep < 4 ? l->sweep / 2 : 2);
}

/* Returns the time lost in a turn of a candidate whose calls take `ns` each. */
static inline uint64_t loss(const struct learner *l, int candidate, uint64_t ns)
{
    uint64_t calls = (uint64_t)turn_calls(l);

    return candidate != l->present ? calls * (ns - min_ns(ns, measured(l, l->present))) : 0;
}

static inline uint16_t percent_of(uint64_t ns, uint64_t of_ns)
{
    uint64_t percent = ns * 100 / (of_ns != 0 ? of_ns : 1);

    return percent < UINT16_MAX ? (uint16_t)percent : UINT16_MAX;
}

/* ---- the budget ---- */

static inline uint64_t saved_per_call(const struct learner *l)
{
    return l->first_ns - min_ns(l->first_ns, measured(l, l->present));
}

/* Returns whether the calls that wait for a turn would lose too much by being open. */
static inline bool is_costly(const struct learner *l)
{
    return l->open_ns * 100 > measured(l, l->present);
}

/* Returns how many calls the present choice must make before a turn of the candidate. */
static inline uint32_t calls_to_wait(const struct learner *l, int candidate)
{
    uint64_t turn =
                 loss(l, candidate, expected(l, candidate)) + (uint64_t)turn_calls(l) * l->open_ns,
             spent = l->lost_ns + l->charged_ns + turn,
             may = l->taken_ns / 100 * BUDGET_PERCENT + ALLOWANCE_NS + l->saved_ns,
             per_call = measured(l, l->present) * BUDGET_PERCENT + saved_per_call(l) * 100;

    if (l->unlimited || spent <= may || (candidate == l->present && turn == 0))
        return 0;
    if (is_costly(l))
        spent += l->open_ns; /* costs of this call, as the next calls rest */
    else
        per_call -= l->open_ns * 100;
    per_call = per_call != 0 ? per_call : 1;
    uint64_t calls = ((spent - may) * 100 + per_call - 1) / per_call;
    return calls < UINT32_MAX ? (uint32_t)calls : UINT32_MAX;
}

#endif
