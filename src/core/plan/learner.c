/* SPDX-License-Identifier: BSD-3-Clause */
/* learner.c - see learner.h. */
#include "core/plan/learner_sweep.h"

#include <stddef.h>

enum {
    WARM_UP_SAMPLES = 4,
    VERIFIED_SAMPLES = 16, /* at most, if their times are now longer and now shorter */
    COMPARE_SWEEPS = 4,
    CHECK_SWEEPS = 2,
    COMPARABLE_SWEEPS = 2,
    KEPT_PERCENT = 95, /* a candidate replaces the present choice with at most this share of time */
    KEPT_PERCENT_MPI = 97
};

/* Each team has a cell for each class of sizes, so cells must stay small. */
_Static_assert(sizeof(struct learner) <= 256, "size of a cell");
_Static_assert(LEARNER_CANDIDATES *TURN_SAMPLES <= LEARNER_SETTLES && LEARNER_CANDIDATES <= 8,
               "a sweep");

/* ---- trials ---- */

static void set_decided(struct learner *l)
{
    l->phase = LEARNER_DECIDED;
    l->decisions++;
}

static void decide(struct learner *l)
{
    uint64_t ns = measured(l, l->present), next = UINT64_MAX;

    bool again = l->winner[0].candidate == l->present && l->winner[1].candidate >= 0 &&
                 l->winner[1].candidate != l->present;
    l->winner[1] = again ? l->winner[1] : l->winner[0];
    l->winner[0] = (struct learner_winner){ ns, l->present };
    l->runner_up = -1;
    for (int c = 0; c < LEARNER_CANDIDATES; c++) {
        if (c == l->present || l->count[c] == 0)
            continue;
        l->predicted_percent[c] = percent_of(measured(l, c), ns);
        if (measured(l, c) < next) {
            next = measured(l, c);
            l->runner_up = (int8_t)c;
        }
    }
    set_decided(l);
}

/* Starts a trial of the candidates that are left.  ns: the present choice's time. */
static void start(struct learner *l, enum learner_phase phase, unsigned left, uint64_t ns)
{
    l->phase = (uint8_t)phase;
    l->left = (uint8_t)left;
    l->first = l->present;
    l->first_ns = ns;
    l->saved_ns = 0;
    l->sweep = l->calls = 0;
    for (int c = 0; c < LEARNER_CANDIDATES; c++) {
        if (is_left(l, c))
            forget_samples(l, c);
    }
    order_sweep(l);
    if (l->turns == 1)
        decide(l);
}

static void start_all(struct learner *l, uint64_t ns)
{
    start(l, LEARNER_TRIES, (1U << l->candidates) - 1, ns);
}

static void exchange_winners(struct learner *l)
{
    struct learner_winner last = l->winner[0];

    l->winner[0] = l->winner[1];
    l->winner[1] = last;
}

static bool is_as_recorded(const struct learner *l, struct learner_winner winner)
{
    return near(measured(l, winner.candidate), winner.ns);
}

/* Ends the comparison of the last two winners. */
static void end_comparison(struct learner *l)
{
    uint64_t ns = measured(l, l->present);

    if (!is_as_recorded(l, l->winner[0]) && !is_as_recorded(l, l->winner[1])) {
        start_all(l, ns);
        return;
    }
    if (l->present != l->winner[0].candidate)
        exchange_winners(l);
    l->winner[0].ns = ns;
    l->runner_up = l->winner[1].candidate;
    for (int c = 0; c < LEARNER_CANDIDATES; c++)
        l->count[c] = is_left(l, c) ? l->count[c] : 0; /* times in another state of the machine */
    set_decided(l);
}

/* Ends the check of a known choice. */
static void end_check(struct learner *l)
{
    int known = l->winner[0].candidate;

    if (l->present != known && measured(l, l->present) * 100 <= measured(l, known) * KEPT_PERCENT) {
        start_all(l, measured(l, l->present));
        return;
    }
    l->present = (int8_t)known;
    l->phase = LEARNER_DECIDED;
}

static void end_sweep(struct learner *l)
{
    bool all = l->phase == LEARNER_TRIES, checks = hud_learner_checks(l);

    l->sweep++;
    if (all && l->sweep == 2)
        drop_slower(l, 150);
    if (all && l->sweep == 4)
        drop_slower(l, 125);
    if (checks)
        drop_slower(l, 110);
    order_sweep(l);
    if (all && (l->sweep == 7 || l->turns == 1))
        decide(l);
    else if (checks && (l->sweep == CHECK_SWEEPS || l->turns == 1))
        end_check(l);
    else if (!all && !checks && l->sweep == COMPARE_SWEEPS)
        end_comparison(l);
}

/* Makes the fastest candidate the present choice, if it is faster by enough. */
static void improve(struct learner *l)
{
    int present = l->present;
    uint64_t present_ns = measured(l, present), best = present_ns;

    for (int c = 0; c < LEARNER_CANDIDATES; c++) {
        uint64_t percent = c == l->mpi ? KEPT_PERCENT_MPI : KEPT_PERCENT;
        if (!is_left(l, c) || l->count[c] == 0 || measured(l, c) * 100 > present_ns * percent ||
            measured(l, c) >= best)
            continue;
        best = measured(l, c);
        l->present = (int8_t)c;
    }
}

static void take(struct learner *l, int candidate, uint64_t ns)
{
    uint64_t *low = l->low_ns[candidate];

    l->lost_ns += loss(l, candidate, ns);
    low[1] = ns < low[0] ? low[0] : min_ns(low[1], ns);
    low[0] = min_ns(low[0], ns);
    l->count[candidate]++;
}

/* Ends the first turn of the MPI's own collective, which is no sample.  The same turn follows. */
static void warm_mpi(struct learner *l, uint64_t ns)
{
    l->lost_ns += loss(l, l->mpi, ns);
    l->mpi_is_warm = true;
    l->turn--;
}

/* Takes the samples of a turn of the first sweep, or of a whole sweep. */
static void take_batch(struct learner *l, const uint64_t ns[])
{
    int turns = l->batch / TURN_SAMPLES;
    const uint8_t *order = &l->order[l->turn - turns];

    l->charged_ns = 0;
    if (order[0] == l->mpi && !l->mpi_is_warm) {
        warm_mpi(l, min_ns(min_ns(ns[0], ns[1]), LONGEST_NS));
        return;
    }
    for (int i = 0; i < turns; i++)
        take(l, order[i], lower_quartile(&ns[TURN_SAMPLES * i], TURN_SAMPLES));
    improve(l);
    if (l->sweep == 0 && measured(l, order[0]) > measured(l, l->present) * LEARNER_HOPELESS)
        drop(l, order[0]);
    if (l->turn == l->turns)
        end_sweep(l);
}

/* ---- decided cells ---- */

/* Opens a cell.  Measures nothing if the last winner is as fast as at an earlier time. */
static void open_again(struct learner *l, uint64_t ns)
{
    int last = l->winner[0].candidate, before = l->winner[1].candidate;

    l->changed = 0;
    l->rival = -1;
    if (before >= 0 && before != last)
        start(l, LEARNER_COMPARES, 1U << last | 1U << before, ns);
    else if (before == last && near(ns, l->winner[1].ns))
        exchange_winners(l);
    else
        start_all(l, ns);
}

/* Compares a verified choice with its rivals.  ns: the choice's time. */
static void check(struct learner *l, uint64_t ns)
{
    int before = l->winner[1].candidate;
    unsigned present = 1U << l->present,
             left = present | 1U << l->rival | (before >= 0 ? 1U << before : 0);

    l->rival = -1;
    if (left != present)
        start(l, LEARNER_CHECKS, left, ns);
}

/* Compares the lower quartile of a batch with the record. */
static void watch(struct learner *l, uint64_t ns)
{
    uint64_t *record = &l->winner[0].ns;
    *record = *record != 0 ? *record : ns; /* a line of a file may have no time */
    bool slower = ns > *record && ns * 2 >= *record * 3,
         faster = ns < *record && ns * 3 <= *record * 2;
    int changed = slower - faster;
    bool again = changed != 0 && changed == l->changed;

    l->changed = (int8_t)changed;
    if (changed == 0 || again || l->samples >= VERIFIED_SAMPLES)
        l->phase = LEARNER_DECIDED; /* a known choice is verified, or opened below */
    if (again)
        open_again(l, ns);
    else if (hud_learner_decided(l) && l->rival >= 0)
        check(l, ns);
    else if (changed == 0 && l->batch == LEARNER_BATCH)
        *record = min_ns(*record, ns);
}

/* ---- the caller's ---- */

void hud_learner_begin(struct learner *l, int candidates, int present, int mpi,
                       const uint16_t predicted_percent[])
{
    *l = (struct learner){ .phase = LEARNER_WARMS,
                           .candidates = (uint8_t)candidates,
                           .present = (int8_t)present,
                           .mpi = (int8_t)mpi,
                           .warm_left = LEARNER_WARM_UP - WARM_UP_SAMPLES,
                           .mpi_is_warm = mpi == present,
                           .winner = { { 0, -1 }, { 0, -1 } },
                           .runner_up = -1,
                           .rival = -1 };
    for (int c = 0; predicted_percent && c < candidates; c++)
        l->predicted_percent[c] = predicted_percent[c];
}

void hud_learner_known(struct learner *l, int candidates, int mpi, struct learner_winner last,
                       struct learner_winner before)
{
    hud_learner_begin(l, candidates, last.candidate, mpi, NULL);
    l->phase = LEARNER_VERIFIES;
    last.ns = min_ns(last.ns, LONGEST_NS);
    before.ns = min_ns(before.ns, LONGEST_NS);
    l->winner[0] = last;
    l->winner[1] = before;
    if (before.candidate >= 0 && before.candidate != last.candidate && last.ns != 0)
        l->predicted_percent[before.candidate] = percent_of(before.ns, last.ns);
}

int64_t hud_learner_balance(const struct learner *l)
{
    uint64_t may = l->taken_ns / 100 * BUDGET_PERCENT + l->saved_ns,
             spent = l->lost_ns + l->charged_ns;

    return (int64_t)min_ns(may, LONGEST_NS) - (int64_t)min_ns(spent, LONGEST_NS);
}

void hud_learner_resume(struct learner *l, int64_t balance_ns)
{
    int64_t most = LONGEST_NS;

    balance_ns = balance_ns < -most ? -most : balance_ns > most ? most : balance_ns;
    l->lost_ns = balance_ns < 0 ? (uint64_t)-balance_ns : 0;
    l->taken_ns = balance_ns > 0 ? (uint64_t)balance_ns / BUDGET_PERCENT * 100 : 0;
}

/* Returns whether the batch must be agreed before the next call. */
static bool is_due(const struct learner *l)
{
    if (l->phase == LEARNER_WARMS || l->phase == LEARNER_VERIFIES)
        return l->batch == WARM_UP_SAMPLES;
    if (l->phase == LEARNER_DECIDED)
        return l->batch >= hud_learner_watched(l);
    return l->batch > 0 && l->calls == 0 && (l->sweep == 0 || l->turn == l->turns);
}

/* Makes the next call of a trial. */
static struct learner_step next_of_trial(struct learner *l)
{
    struct learner_step step = { .candidate = l->present, .sample = -1 };
    int candidate = l->order[l->turn];
    uint32_t calls = l->rests ? LEARNER_EVERY : 1;

    l->taken_ns += measured(l, l->present) * calls;
    l->saved_ns += saved_per_call(l) * calls;
    if (l->wait == 0 && l->calls == 0)
        l->wait = calls_to_wait(l, candidate);
    l->lost_ns += l->rests ? 0 : l->open_ns;
    if (l->wait > 0) {
        l->wait -= l->wait < calls ? l->wait : calls;
        l->rests = l->wait > 0 && is_costly(l);
        return step;
    }
    step.candidate = candidate;
    if (l->calls == 0)
        l->charged_ns += loss(l, candidate, expected(l, candidate));
    l->calls++;
    if (l->calls > turn_calls(l) - TURN_SAMPLES)
        step.sample = l->batch++;
    if (l->calls == turn_calls(l)) {
        l->turn++;
        l->calls = 0;
    }
    return step;
}

struct learner_step hud_learner_next(struct learner *l)
{
    struct learner_step step = { .candidate = l->present, .sample = -1 };

    step.agree = is_due(l);
    if (step.agree)
        return step;
    if (hud_learner_tries(l))
        return next_of_trial(l);
    if (has_record(l))
        l->taken_ns += l->winner[0].ns *
                       (hud_learner_decided(l) && !hud_learner_confirms(l) ? LEARNER_EVERY : 1);
    if (l->phase == LEARNER_VERIFIES)
        l->lost_ns += l->open_ns;
    if (l->phase != LEARNER_DECIDED && l->warm_up < UINT16_MAX)
        l->warm_up++;
    if (l->phase != LEARNER_DECIDED && l->warm_left > 0) {
        l->warm_left--;
        return step;
    }
    step.sample = l->batch++;
    return step;
}

/* Takes the samples of a batch of the present choice. */
static void take_present(struct learner *l, const uint64_t ns[])
{
    uint64_t quartile = lower_quartile(ns, l->batch);
    bool warms = l->phase != LEARNER_DECIDED && ns[LEARNER_SETTLES] != 0 &&
                 2 * l->warm_up <= LEARNER_SETTLED;

    if (warms) {
        l->warm_left = (uint16_t)(l->warm_up - WARM_UP_SAMPLES);
        l->samples -= l->batch; /* these do not count, nor as samples of a verification */
        return;
    }
    if (has_record(l)) {
        watch(l, quartile);
        return;
    }
    l->taken_ns += quartile * l->warm_up;
    l->lost_ns += l->open_ns * l->warm_up;
    start_all(l, quartile);
}

void hud_learner_agreed(struct learner *l, const uint64_t ns[LEARNER_BATCH])
{
    l->samples += l->batch;
    if (l->phase != LEARNER_DECIDED && ns[LEARNER_OPEN] != 0)
        l->open_ns = min_ns(ns[LEARNER_OPEN], l->open_ns != 0 ? l->open_ns : LONGEST_NS / 100);
    if (hud_learner_tries(l))
        take_batch(l, ns);
    else
        take_present(l, ns);
    l->batch = 0;
}

uint64_t hud_learner_ns(const struct learner *l, int candidate)
{
    if (l->phase == LEARNER_WARMS || candidate < 0)
        return 0;
    return l->count[candidate] > 0 || candidate == l->present ? measured(l, candidate) : 0;
}

uint64_t hud_learner_mpi_ns(const struct learner *l)
{
    return l->mpi >= 0 && l->count[l->mpi] >= COMPARABLE_SWEEPS ? measured(l, l->mpi) : 0;
}
