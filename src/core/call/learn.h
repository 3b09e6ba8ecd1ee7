/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * learn.h - a team measures the candidates of its plan's cells while the program runs, the MPI's
 * own collective among them, and keeps the fastest of each (HUDDLE_WISDOM).
 *
 * Cell      a collective, what its reduction asks of the order, and a class of sizes
 *           (core/plan/plan.h).
 * Calls     Which candidate makes a call is decided by core/plan/learner.h, from the number of the
 *           call in its cell and from times that the ranks have agreed on.
 * Opening   The first LEARN_EARLY calls of a team open no cell, and use the known or first choices:
 *           many communicators make only a few calls, which should cost no more than without
 *           learning.  Later a cell begins at its first call.  The order of its first trial comes
 *           from the decided cells of neighbouring sizes (learn_predict.c).
 * Sample    From the time at which the last rank enters the call to that at which the last rank
 *           leaves it.  So a rank that comes late lengthens no sample.  Work that the others have
 *           done before is not in the sample, since the program does not wait for that work.  Each
 *           rank notes both times, by the clock that all processes of a machine share.
 * Agreement Before a call, and before that call's own work: one small allreduce of huddle's own
 *           (maximum) gives all ranks the times of the last rank.
 *
 * Proof that all ranks choose alike
 *   1. All members of a communicator make the same blocking calls, of the same sizes, in the same
 *      order, so all count them alike.
 *   2. The learner is a pure function of these counts and of agreed times.
 *   3. MPI allows any collective to wait for all ranks, so an allreduce may come before any call.
 *   4. Requests do not count, and try nothing.  They use the choices that blocking calls have made,
 *      or known ones.
 *      All members start their blocking calls and requests in the same order.  A blocking call
 *      first finishes the requests before it.  So a request is carried out between the same two
 *      blocking calls on all ranks, with the same choices.
 *
 * Broadcasts: proof that a truncation ends with an error, and no rank waits for ever
 *   MPI lets a rank of a wrong program pass a smaller size than the root, and so another cell.
 *   1. On the slow path the ranks first compare their sizes and the numbers of their calls: an
 *      allreduce gives the largest and the smallest of both.
 *   2. Equal: all ranks are in the same call, and have the same cell.  So the counts of a cell stay
 *      the same on all ranks, and point 2 above holds.
 *   3. Not equal: all ranks find that, and count nothing.  In the same call they use the first
 *      choice for the largest size, in which the receivers find the truncation as without learning.
 *      Otherwise the call fails: a rank was on the fast path in an earlier call, and has returned
 *      from it.
 *   4. The MPI's own broadcast comes only after a comparison of equal sizes.  So no rank is in the
 *      MPI while another rank is in huddle.
 *   5. Otherwise a rank is on the fast path.  Two ranks that have different entries there, or of
 *      which one compares, wait in different slots: comparisons have their own, and entries of a
 *      slot of broadcasts differ only in parameters that the root alone reads.
 *      The ranks' counts then differ, which a long wait finds (core/watch/mismatch_detect.h).  If
 *      neither compares, a receiver follows the root, and finds the truncation
 *      (core/watch/follow_root.h).  Otherwise the call fails.
 *   6. A rank on the fast path may have returned from the call by then.  The ranks with an error
 *      fail their next calls until they are in the call of that rank (core/watch/realign.h).
 *   7. The first LEARN_EARLY calls of a team compare nothing.  All ranks count the calls of a team
 *      alike, whatever their sizes, so they all do.  Their choices are huddle's for all sizes, or
 *      else broadcasts are compared from the first call on.  So a truncation ends as in point 5.
 *   A sample begins after the comparison, except of the MPI's own broadcast, which always needs it.
 *   The time that is recorded for the MPI's own is without it, as in a program without huddle.
 *   Of other collectives sizes are not compared: a program that passes different sizes to them may
 *   wait for ever if one of the sizes falls back to the MPI, as with rules that name the MPI.
 *
 * Known     What rank 0 knew when the team was set up, of teams of the same shape, is the choice
 *           from the first call on (core/job/wisdom.h).  The learner verifies it.
 *           HUDDLE_WISDOM=read uses only what is known, and measures nothing.
 * Nested    The MPI's own collective may make collectives of the same communicator.  Within a
 *           sample all of these take the slow path, where they are counted and change no choice.
 *           So the end of the outer call is the end of the sample.
 * Bits      Candidates that are tried give the same bits as the first choice (core/plan/others.c).
 *           One that may not, as the MPI's own reduction, serves a cell from its first call on, if
 *           it is known, and then for the whole life of the team.
 * Counts    Statistics count calls by where their choice is from, except on the fast path.  Calls
 *           of the fast path count like the next slow call whose cell is not open.  One call in
 *           LEARNER_EVERY is slow, so the counts are estimates if cells differ.
 * Cost      A call of a decided cell costs nothing: the table of choices has its entry.  One call
 *           of a team in LEARNER_EVERY takes the slow path, and is a sample.  While a cell confirms
 *           a change, every few calls are samples, also of other cells.  In a broadcast the
 *           ranks compare their sizes before it.  Comparisons before calls of an open cell are not
 *           in the learner's budget: a cell that rests (core/plan/learner.h) would meet cells that
 *           compare, and a truncation would end as a difference between calls.
 *           With HUDDLE_CHECK all calls take the slow path, and the learner itself counts the calls
 *           between two samples.
 */
#ifndef HUD_LEARN_H
#define HUD_LEARN_H

#include "core/job/wisdom_start.h"
#include "core/plan/learner.h"
#include "core/slice/hello.h"
#include "core/team/team.h"

enum {
    LEARN_CELLS = 128, /* cells of a team; further ones keep their first or known choice */
    LEARN_EARLY = 8,   /* calls of a team that open no cell */
    LEARN_NEAR = 7,    /* maximum number of calls between two samples that confirm a change */
    LEARN_FIXED = 255, /* the number of a cell whose choice is fixed */
    LEARN_STAYS = -1
};

/* Where a choice is from. */
enum learn_source { LEARN_FIRST, LEARN_KNOWN, LEARN_DECIDED };

struct learn_cell {
    struct learner learner;
    int at;                   /* axis * PLAN_CLASSES + class */
    enum learn_source source; /* source of its present choice */
    uint64_t compare_ns;      /* shortest comparison of sizes in samples of the MPI's own, from the
                                 last rank's begin to the last rank's end */
    struct learn_times {
        uint64_t begin_ns[LEARNER_BATCH], end_ns[LEARNER_BATCH];
    } times;
};

struct learn {
    struct learn *next;                          /* another idle one */
    const struct plan_entry *choice[PLAN_CELLS]; /* the team's choices, once they differ from the
                                                    start's; PLAN_OPEN: asks */
    uint8_t cell_of[PLAN_CELLS];                 /* its number plus one; 0: none yet; LEARN_FIXED:
                                                    nothing is tried, or a candidate is known that
                                                    must not be tried */
    struct wisdom_start *start; /* shared with equal teams; what is known is in it */
    struct wisdom_start *spare; /* memory for a start that is not made yet */
    struct wisdom_line *line; /* what this rank knew in the first round of the set-up; NULL later */
    int lines;
    const struct plan_entry *agree, *compare; /* serve allreduces of times, and of a word */
    uint64_t calls; /* blocking calls of the team so far, the same number on all ranks */
    uint64_t shape; /* shape of the running call, for long waits */
    struct hud_op max;
    enum learn_source
        source;     /* source of the choice of the last slow call whose cell is not open */
    int uncounted;  /* calls on the fast path that are not counted by source yet */
    int fast_calls; /* hud_team.state.fast_calls after that call */
    uint64_t (*clock_ns)(void); /* tests have their own */
    uint64_t *end_ns;           /* end of the running sample; NULL: none is running */
    int nested;                 /* calls within this sample that have not ended */
    int resumed;   /* hud_team.state.fast_calls after the call on the slow path, or LEARN_STAYS */
    uint32_t seed; /* number from which the distance between samples follows */
    int closely;   /* number of samples at small distances until the next one at a large distance */
    int checked_calls; /* calls left until the next sample of a decided cell, with HUDDLE_CHECK */
    int cells;
    struct learn_cell cell[LEARN_CELLS]; /* not set before it is used */
};

/* Allocates a team's memory for measurements, if the setting asks for measurements.  Returns false
 * if out of memory. */
bool hud_learn_create(struct hud_team *team);
/* Announces this rank's knowledge in its hello, and keeps a copy until the team is set up. */
void hud_learn_announce(struct hud_team *team, union hello *mine);
/* Decides on rank 0 from where the ranks take its knowledge.  If the hellos differ, writes lines
 * about such teams into rank 0's arena, before the second round.  places: where the ranks are.
 * Writes all lines if rank 0 has just read the file, and they have room.  Returns false if there is
 * no room.  The team is then refused, since a team without known choices could sum in another order
 * than other teams. */
bool hud_learn_share(struct hud_team *team, const union hello *hello,
                     const struct place_table *places, struct reply_known *known);
/* Frees the lines that hud_learn_share wrote, if the team is not set up. */
void hud_learn_unshare(struct hud_team *team, struct reply_known known);
/* Reads rank 0's knowledge, once the team has its plan.  arena: rank 0's arena. */
void hud_learn_take(struct hud_team *team, char *arena, struct reply_known known);
/* Returns how many candidates of a cell this team can try.  *mpi: which of them is the MPI's own,
 * the first or the last one, or -1. */
int hud_learn_tried(const struct hud_team *team, int at, int *mpi);
/* Returns the known winner of a cell in another state of the machine, among the first `count`
 * candidates. */
struct learner_winner hud_learn_known_before(const struct hud_team *team, int at, int count);
/* Fills a start from what its table knows: chooses for all cells. */
void hud_learn_fill(const struct hud_team *team, struct wisdom_start *start);
/* Starts measuring a team's calls, once the team has its plan and its check.  Sets the team's table
 * of choices.  Frees the memory for measurements if every cell is decided, or if ranks cannot agree
 * because small allreduces fall back. */
void hud_learn_start(struct hud_team *team);
void hud_learn_free(struct hud_team *team);
/* Frees what a context keeps for later teams. */
void hud_learn_free_idle(struct hud_context *context);

/* Counts a team's calls on the fast path since its last slow call.  fast_calls: state.fast_calls of
 * the team before this call. */
void hud_learn_count_fast(struct hud_team *team, int fast_calls);
/* Counts the calls of the fast path as calls of such a choice. */
void hud_learn_count_as(struct hud_team *team, enum learn_source source);
/* Counts a call on the slow path.  trial: the entry is not the present choice. */
void hud_learn_count_slow(struct hud_team *team, enum learn_source source, bool trial,
                          const struct plan_entry *entry);
/* Counts a call without a sample.  cell: NULL if the choice is the known or the first one. */
void hud_learn_count_unmeasured(struct hud_team *team, int at, const struct learn_cell *cell,
                                const struct plan_entry *entry);
/* Returns the number of calls on the fast path until the next sample of a decided cell: varying, so
 * that no loop of a program makes the same call each time, and the same on all ranks. */
int hud_learn_distance(struct hud_team *team);
/* Begins a call of cell `at` that all ranks make.  due: a call of a decided cell is a sample, too.
 * Sets *entry to the choice for this call.  Returns HUD_OK, or the status with which an agreement,
 * and so the call, failed. */
int hud_learn_enter(struct hud_team *team, int at, const struct coll *call, bool due,
                    const struct plan_entry **entry);
/* Returns the present choice of cell `at`. */
const struct plan_entry *hud_learn_present(const struct hud_team *team, int at);
/* Returns the choice for requests and nested calls: the present choice, or the first choice if the
 * MPI's own blocking collective is faster.  The team may have no learner. */
const struct plan_entry *hud_learn_by_huddle(const struct hud_team *team, int at);
/* Returns whether a team measures calls of cell `at`, or compares their sizes: then it may handle
 * them although its present choice does not.  The team may have no learner. */
bool hud_learn_may_handle(const struct hud_team *team, int at);
/* Returns how many calls are left until the next sample of a decided cell, negative if this call is
 * a sample.  fast_calls: state.fast_calls of the team in this call. */
static inline int learn_left(struct hud_team *team, int fast_calls)
{
    return team->hooks.check ? --team->hooks.learn->checked_calls : fast_calls;
}

/* Sets how many calls follow on the fast path: none while the MPI's own collective is a sample, and
 * none with HUDDLE_CHECK.  next: how many follow after this call.  is_own: the host makes this
 * call. */
static inline void learn_go_on(struct hud_team *team, int next, bool is_own)
{
    struct learn *l = team->hooks.learn;
    bool nests = l->end_ns && (is_own || l->nested > 0);

    if (team->hooks.check) {
        l->checked_calls = next;
        next = 0;
    }
    if (l->nested == 0)
        l->resumed = is_own && !nests ? LEARN_STAYS : next;
    l->fast_calls = team->state.fast_calls = nests ? 0 : is_own ? next : TEAM_SLOW_CALL;
}

/* Ends a call that took the slow path, of huddle or of the host itself. */
static inline void learn_exit(struct hud_team *team)
{
    struct learn *l = team->hooks.learn;

    team->shm.mem_team.keeps_ways = false;
    if (l && l->nested > 0) {
        l->nested--;
    } else if (l && l->resumed != LEARN_STAYS) {
        if (l->end_ns)
            *l->end_ns = l->clock_ns();
        l->end_ns = NULL;
        l->fast_calls = team->state.fast_calls = l->resumed;
        l->resumed = LEARN_STAYS;
    }
}

/* Makes an allreduce of huddle's own before a call: maxima of numbers of 64 bits.  A long wait
 * reports the call.  Returns HUD_OK, or the status of a failed allreduce. */
int hud_learn_agree(struct hud_team *team, const struct plan_entry *entry, void *mine, void *all,
                    size_t bytes);
/* Compares the ranks' sizes of a broadcast.  If they differ, clears *equal, and sets *entry to the
 * first choice for the largest size.  Returns HUD_OK, or the status of a failed call. */
int hud_learn_compare(struct hud_team *team, int at, size_t bytes, bool *equal,
                      const struct plan_entry **entry);

/* Predicts the times of a cell's candidates, in percent of the first one's, or 0 if unknown. */
void hud_learn_predict(const struct hud_team *team, int at, int candidates, uint16_t percent[]);

/* Returns whether the ranks compare their sizes before calls of a cell that is measured. */
static inline bool learn_may_truncate(const struct plan *plan, int at)
{
    return coll_has(at / PLAN_CLASSES % COLL_KINDS, COLL_ONE_BUFFER) &&
           plan_cell_at(plan, at)->count > 1;
}

/* Returns the entry of a candidate of cell `at`. */
static inline const struct plan_entry *learn_candidate(const struct hud_team *team, int at,
                                                       int candidate)
{
    return &team->plan.shared->entry[plan_cell_at(team->plan.shared, at)->candidate[candidate]];
}

#endif
