/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learner.h - decides which candidate makes each call of a cell, from measured times.
 *
 * Cell      A collective, an order of the reduction, a shape of the team and a class of sizes.  Its
 *           candidates are numbers here.  The present choice is the candidate that makes a call
 *           unless another candidate has its turn.
 * Agreement All ranks of a team ask at the same calls, and are given the same times
 *           (hud_learner_agreed).  The learner is a pure function of those times.  So all ranks
 *           choose the same candidate for each call.
 * Warm-up   The present choice makes the first LEARNER_WARM_UP calls.  The last 4 are samples.
 *           While a rank tries how to treat the cache lines of its shared memory (mem/lines.c),
 *           these calls take longer than later ones, so the warm-up goes on.  Each time it takes
 *           twice as many calls in all, up to LEARNER_SETTLED.
 * Known     A cell that an earlier run has decided begins with the last winners of that run.  The
 *           last one is the present choice, and its time the record.  The machine may be in another
 *           state than then, so the choice is verified: after the warm-up the cell is decided, or
 *           opened again as by the watch, with batches of 4 samples of calls in a row.
 * Check     Another process may have disturbed the earlier run in such a way that a slow candidate
 *           won, with a time that looks good today.  Only a comparison with other candidates shows
 *           that.  So a verified choice is compared with the rival that the caller names, which is
 *           the choice without the earlier run, and with the winner in another state.  A candidate
 *           that takes more than 1.1 times as long as the best one is dropped after each of 2
 *           sweeps.  So a right choice costs one turn of each rival in most runs.  If the known
 *           choice is no longer the present one, all candidates have a trial.
 * Turn      2 calls of a candidate in a row, 4 from the third sweep on, and 8 from the fifth.  The
 *           first calls pay for the change: for the handover of windows, and for lines that other
 *           candidates have evicted from the caches.  The last two calls are timed.  The shorter of
 *           them is the sample, since a call may also be interrupted.
 * MPI       An MPI sets up connections, and communicators of its own, in its first calls.  So the
 *           first turn of the MPI's own collective is no sample, and its second turn is the next.
 *           The time that the first turn loses counts, since the program has lost it: an MPI that
 *           polls on a shared processor is as slow in all turns.  The time of the MPI's own
 *           collective is recorded if it is from at least 2 sweeps, as the winner's is.  Without a
 *           budget it is never dropped, so that both are from 7 sweeps.
 * Sweep     A turn of each candidate that has not been dropped.  In the first sweep the likeliest
 *           candidates come first, and each turn is followed by an agreement.  A candidate that
 *           takes more than LEARNER_HOPELESS times as long as the present choice is dropped at
 *           once.  A later sweep has one agreement.  The order of its turns has no period, so that
 *           it does not coincide with a period of the program.
 * Halving   After 2 sweeps candidates are dropped that take more than 1.5 times as long as the best
 *           one, after 4 sweeps more than 1.25 times.  After 7 sweeps, or when one candidate is
 *           left, the cell is decided.  Of 2 or 3 samples the shortest counts.  Of 4 or 7 samples
 *           the second shortest counts, which is their lower quartile.  Noise only lengthens calls.
 * Present   At each agreement of a trial a candidate becomes the present choice if it takes at
 *           least 5 % less time (the MPI's own collective: 3 % less).
 * Budget    Each call of a slower candidate loses its difference to the present choice.  What the
 *           change of the algorithm itself costs is not counted.  The turn waits until its
 *           expected loss fits:
 *
 *               lost <= 3 % of the time taken + 1 ms + saved
 *
 *           The time taken counts each call of the cell with the time of the present choice.
 *           Compared with the first choice of a trial, later calls of the trial save time.  That
 *           time may be spent in the same trial, since a slow first choice would be replaced late
 *           otherwise.  A candidate is expected to take as long as its samples, else as predicted,
 *           else 1.5 times as long as the present choice.
 * Resumed   A trial that ends with its communicator continues on the next communicator with the
 *           budget that is left and with the best candidate so far, but without samples.  So a
 *           program with many short communicators loses no more than with one.
 * Open      A call of an open cell may cost more than the same call of a decided cell: ranks
 *           compare their sizes before it (core/call/learn.h).  These costs are lost, too, those of
 *           the warm-up included.  While a turn waits, a cell with such costs *rests* if they are
 *           more than 1 % of the time of a call: its calls go on as if it were decided.  The caller
 *           asks at one call in LEARNER_EVERY, which stands for as many calls and loses nothing
 *           more than in a decided cell.  So every wait ends.
 * Watch     Of a decided cell, one call in LEARNER_EVERY on average is a sample.  The caller varies
 *           the distance, so that it does not coincide with a period of the program.  A batch of
 *           samples is agreed when its calls and those between have taken 180 us, so that an
 *           agreement of 1.8 us costs 1 %, and more while the team confirms a change.  A batch has
 *           2 samples to LEARNER_BATCH, of 2 or 3 of which the shortest counts, else their lower
 *           quartile.  If the batch is 1.5 times as slow as the record, or 1.5 times as fast, and
 *           so is the next one, the cell is opened again.  Of short calls noise is often as large.
 *           So LEARNER_BATCH samples are the next batch, for which the caller takes a sample every
 *           few calls.  Calls of 20 us or longer need only 2.  The lower quartile of LEARNER_BATCH
 *           samples below the record lowers the record.  Smaller batches do not, since the record
 *           would end at the shortest time of all.
 * Winners   A cell remembers its last two winners with their times.  An opened cell first compares
 *           both in 4 sweeps.  If one of them takes about as long as it did when it won, the
 *           machine is back in a known state, and the better one is chosen.  Otherwise all
 *           candidates have a trial.  A candidate that has won twice, with two times, needs no
 *           comparison if it takes the other time.
 *
 * Bounds, which the tests check at every call
 *   1. The first LEARNER_WARM_UP calls try nothing.
 *   2. The time lost exceeds the budget by the loss of one turn at most, and the costs of an open
 *      cell in its two calls and the warm-up, while the costs of the candidates are constant.  A
 *      machine that changes within a sweep adds one turn of each candidate.
 *   3. With constant costs a cell that a trial has decided takes at most 1 / 0.95 of the best
 *      candidate's time.  A trial of n candidates takes at most 36 * n calls, and waits.  The
 *      MPI's own collective takes 2 calls more.  A known choice that its check has confirmed stays
 *      as long as it takes less than 1.5 times its recorded time.
 *   4. With constant costs, no predictions and no costs of open cells, the slowest of 6 candidates
 *      as the first choice is replaced within 200 calls by a candidate that takes at most 1 / 0.95
 *      of the best candidate's time.
 *   5. If a machine returns to a state whose winner the cell remembers, and the other winner takes
 *      at most 7 times as long there, calls of 1 us or longer have the better winner within 500
 *      calls, and other calls within 2100.  A cell with known winners has the better one within
 *      4 + 4 calls after its warm-up.
 *   6. With constant costs and 7 candidates that differ by more than 5 %, all calls take at most
 *      103 % of the time of the best candidate, 1 ms, 200 calls of the first choice, and one turn
 *      of the slowest candidate.
 */
#ifndef HUD_LEARNER_H
#define HUD_LEARNER_H

#include <stdbool.h>
#include <stdint.h>

enum {
    LEARNER_CANDIDATES = 7, /* at most */
    LEARNER_BATCH = 16,     /* samples between two agreements, at most */
    LEARNER_SETTLES = 14,   /* the element of an open cell's batch that is no sample: not 0 if a
                               rank tries how to treat its lines */
    LEARNER_OPEN = 15,      /* the element of an open cell's batch that is no sample: how much
                               longer its calls take than those of a decided cell */
    LEARNER_BATCH_OF_LONG = 2,
    LEARNER_WARM_UP = 12, /* calls */
    LEARNER_SETTLED = 96, /* calls of the longest warm-up */
    LEARNER_EVERY = 61,   /* the caller asks for one call of so many on average, once decided */
    LEARNER_HOPELESS = 16,
    LEARNER_LONG_NS = 20000,      /* calls so long need few samples */
    LEARNER_AGREEMENT_NS = 180000 /* calls take as long between two agreements of a short cell */
};

enum learner_phase {
    LEARNER_WARMS,
    LEARNER_VERIFIES, /* a known choice */
    LEARNER_TRIES,
    LEARNER_COMPARES, /* the last two winners */
    LEARNER_CHECKS,   /* a known choice against its rivals */
    LEARNER_DECIDED
};

struct learner_winner {
    uint64_t ns;
    int8_t candidate; /* -1: none */
};

struct learner {
    uint64_t low_ns[LEARNER_CANDIDATES][2]; /* the two shortest samples of a trial */
    uint64_t first_ns;                      /* time of the choice with which the trial began */
    uint64_t taken_ns, lost_ns, saved_ns;   /* see Budget */
    uint64_t charged_ns;                    /* expected losses of turns that have not been agreed */
    uint64_t open_ns;                       /* see Open */
    struct learner_winner winner[2];        /* the last winner, and the one before */
    uint32_t wait;                          /* calls of the present choice before the next turn */
    uint32_t samples, seed;                 /* seed: for the order of the turns of sweeps */
    uint16_t predicted_percent[LEARNER_CANDIDATES];
    uint16_t warm_up, warm_left; /* calls of the warm-up so far, and calls until its next samples */
    uint8_t count[LEARNER_CANDIDATES];     /* samples of a candidate in a trial */
    uint8_t order[LEARNER_CANDIDATES];     /* candidates in the order of the sweep's turns */
    uint8_t phase, candidates, left;       /* left: a bit for each candidate in the trial */
    uint8_t turns, turn, sweep, batch;     /* turn: the next one; batch: samples not agreed yet */
    uint8_t calls;                         /* calls made of the turn */
    uint8_t decisions;                     /* decisions by measurement, modulo 256 */
    int8_t present, first, mpi, runner_up; /* candidates, or -1 */
    int8_t rival;     /* see Check; or -1.  The caller sets it after the beginning */
    int8_t changed;   /* 1, -1: the last batch of a decided cell was slower, faster */
    bool rests;       /* see Open */
    bool mpi_is_warm; /* the MPI's own collective has had a turn, or is the first choice */
    bool unlimited;   /* no budget: turns do not wait.  The caller sets it after the beginning */
};

struct learner_step {
    bool agree; /* the samples of the batch must be agreed first; then the caller asks again */
    int candidate;
    int sample; /* index of the call's sample in the batch, or -1 */
};

/* Starts a cell of which nothing is known.  mpi: the MPI's own collective, or -1.
 * predicted_percent: each candidate's time in percent of the present choice's time, 0 if unknown;
 * or NULL. */
void hud_learner_begin(struct learner *l, int candidates, int present, int mpi,
                       const uint16_t predicted_percent[]);
/* Starts a cell that an earlier run has decided.  last: its winner.  before: its winner in another
 * state of the machine, or the candidate -1. */
void hud_learner_known(struct learner *l, int candidates, int mpi, struct learner_winner last,
                       struct learner_winner before);

/* Returns the budget that is left of an open trial, without the 1 ms of each trial.  Negative if
 * more is lost. */
int64_t hud_learner_balance(const struct learner *l);
/* Lets a cell that has just begun continue with the balance of an earlier trial. */
void hud_learner_resume(struct learner *l, int64_t balance_ns);

/* Returns the step for a call.  The caller asks at each call, or at one call in LEARNER_EVERY if
 * the cell rests. */
struct learner_step hud_learner_next(struct learner *l);
/* Takes the durations of the samples of the batch.  Of an open cell also takes ns[LEARNER_SETTLES],
 * and ns[LEARNER_OPEN], or 0 if it was not measured again.  All ranks pass the same. */
void hud_learner_agreed(struct learner *l, const uint64_t ns[LEARNER_BATCH]);

static inline bool hud_learner_decided(const struct learner *l)
{
    return l->phase == LEARNER_DECIDED;
}

/* Returns whether the present choice makes the next calls.  The caller then asks at one call in
 * LEARNER_EVERY. */
static inline bool hud_learner_rests(const struct learner *l)
{
    return hud_learner_decided(l) || l->rests;
}

/* Returns whether a change of a decided cell of short calls is to be confirmed.  The caller then
 * takes the next samples at small distances. */
static inline bool hud_learner_confirms(const struct learner *l)
{
    return hud_learner_decided(l) && l->changed != 0;
}

/* Returns the number of samples of a decided cell that are agreed together. */
static inline int hud_learner_watched(const struct learner *l)
{
    uint64_t ns = l->winner[0].ns != 0 ? l->winner[0].ns : 1,
             samples = LEARNER_AGREEMENT_NS / LEARNER_EVERY / ns + 1;

    if (ns >= LEARNER_LONG_NS || (l->changed == 0 && samples < LEARNER_BATCH_OF_LONG))
        return LEARNER_BATCH_OF_LONG;
    return l->changed != 0 || samples > LEARNER_BATCH ? LEARNER_BATCH : (int)samples;
}

/* Returns whether a trial is going on. */
static inline bool hud_learner_tries(const struct learner *l)
{
    return l->phase == LEARNER_TRIES || l->phase == LEARNER_COMPARES || l->phase == LEARNER_CHECKS;
}

/* Returns whether a known choice is being compared with its rivals.  If the cell is decided next,
 * the comparison has confirmed the choice. */
static inline bool hud_learner_checks(const struct learner *l)
{
    return l->phase == LEARNER_CHECKS;
}

/* Returns the number of decisions from measurements, modulo 256.  A change tells the caller that
 * there is something to store. */
static inline int hud_learner_decisions(const struct learner *l)
{
    return l->decisions;
}

/* Returns the winner in another state of the machine, or the candidate -1. */
static inline struct learner_winner hud_learner_before(const struct learner *l)
{
    return l->winner[1];
}

/* Returns the present choice. */
static inline int hud_learner_choice(const struct learner *l)
{
    return l->present;
}

/* Returns the second best candidate, or -1 if none is known. */
static inline int hud_learner_runner_up(const struct learner *l)
{
    return l->runner_up;
}

/* Returns the number of samples that have been agreed. */
static inline uint32_t hud_learner_samples(const struct learner *l)
{
    return l->samples;
}

/* Returns the time of a candidate, or 0 if it has not been measured. */
uint64_t hud_learner_ns(const struct learner *l, int candidate);
/* Returns the time of the MPI's own collective, or 0 if its samples are too few to compare it with
 * the winner. */
uint64_t hud_learner_mpi_ns(const struct learner *l);

#endif
