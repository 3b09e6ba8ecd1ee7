/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_learn_bcast.c - teams learn how to broadcast (HUDDLE_WISDOM), and a truncated broadcast ends
 * with an error whatever its two sizes have taught them.
 *
 * The clock is simulated: the test determines the time of a broadcast from its algorithm.
 */
#include "calls.h"
#include "core/call/learn.h"
#include "core/watch/longwait.h"
#include "core/watch/realign.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, SMALL = 5000, LARGE = 20000, LARGER = 70000, CALLS = 20000 };

static _Thread_local struct rank *me;
static _Thread_local uint64_t now_ns;
/* algorithms that take 50 us instead of 10; the MPI's own takes 20 */
static _Thread_local const char *slow[2];
static _Thread_local bool nests;  /* the MPI's own takes 100 us more, and makes a barrier first */
static _Thread_local bool enters; /* a call of rank 0, which enters 7 us before the others */

/* Returns the simulated time.  At the end of a call the team's entry is the call's, or, of the
 * MPI's own, that of the comparison of sizes. */
static uint64_t made_up_ns(void)
{
    uint64_t early_ns = enters && me->rank == 0 ? 7000 : 0;
    const struct alg *alg = hud_shm_algs[me->team->plan.entry->row];
    bool own = strcmp(alg->coll, "bcast") != 0,
         is_slow = strcmp(alg->name, slow[0]) == 0 || strcmp(alg->name, slow[1]) == 0;

    now_ns += own ? 10000 : is_slow ? 50000 : 10000;
    enters = false;
    return now_ns - early_ns;
}

/* Broadcasts, and checks the received bytes.  room: bytes of a receiver's buffer. */
static int broadcast(struct rank *r, size_t sent, size_t room)
{
    int root = r->calls % r->ranks, number = r->calls++;
    size_t bytes = r->rank == root ? sent : room, fits = sent < room ? sent : room;
    unsigned char *at = guarded_buffer(bytes);
    struct hud_view view = view_of(at, bytes);
    bool right = true;

    for (size_t i = 0; i < bytes; i++)
        at[i] = r->rank == root ? call_byte(root, 0, number, i) : 0;
    enters = true;
    int status = hud_bcast(r->team, &view, root);
    if (status == HUD_PASS && nests) {
        rank_check(r, hud_barrier(r->team) == HUD_OK, "nested barrier", sent);
        now_ns += 100000;
    }
    if (status == HUD_PASS)
        hud_team_exit(r->team);
    bool arrived =
        status == HUD_OK || (status == HUD_ERR_TRUNCATE && r->team->state.now == TEAM_READY);
    for (size_t i = 0; i < fits && arrived; i++)
        right = right && at[i] == call_byte(root, 0, number, i);
    rank_check(r, right, "data of a broadcast", sent);
    rank_check(r, guarded_free(at, bytes), "guard of a broadcast", sent);
    return status;
}

static void begin(struct rank *r, const char *slow_0, const char *slow_1)
{
    me = r;
    now_ns = 1000;
    slow[0] = slow_0;
    slow[1] = slow_1;
    rank_check(r, hud_barrier(r->team) == HUD_OK, "barrier", 0);
    rank_check(r, r->team->hooks.learn != NULL, "state", 0);
    for (int n = 0; n < LEARN_EARLY; n++) /* the last one opens the cell */
        rank_check(r, broadcast(r, LARGE, LARGE) == HUD_OK, "first choice", LARGE);
    r->team->hooks.learn->clock_ns = made_up_ns;
}

static const struct plan_entry *choice(const struct rank *r, size_t bytes)
{
    return r->team->plan.choice[plan_at(COLL_BCAST, bytes)];
}

static const char *chosen(const struct rank *r, size_t bytes)
{
    int row = choice(r, bytes)->row;

    return row >= 0 ? hud_shm_algs[row]->name : "mpi";
}

static bool is_decided(const struct rank *r, size_t bytes)
{
    const struct learn *l = r->team->hooks.learn;
    int number = l->cell_of[plan_at(COLL_BCAST, bytes)];

    return number != 0 && hud_learner_decided(&l->cell[number - 1].learner);
}

/* Broadcasts until the cell is decided.  The trial may wait for its budget. */
static void learn(struct rank *r, size_t bytes)
{
    for (int n = 0; n < CALLS && !is_decided(r, bytes); n++) {
        int status = broadcast(r, bytes, bytes);
        rank_check(r, status == HUD_OK || status == HUD_PASS, "status", bytes);
    }
    rank_check(r, is_decided(r, bytes), "decision", bytes);
}

static void run(void (*body)(struct rank *))
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", "HUDDLE_TUNING=off",
                                            "HUDDLE_CMA=off", NULL };

    ranks_run(&(struct ranks){ .ranks = RANKS,
                               .blocking = true,
                               .ends_own_calls = true,
                               .settings = settings,
                               .body = body });
}

/* ---- correct programs ---- */

/* Returns the time that rank 0 has recorded for the MPI's own in the only decided cell. */
static uint64_t recorded_mpi_ns(const struct rank *r)
{
    const struct wisdom *w = &r->team->context->learn.wisdom;

    rank_check(r, w->owns == 1 && w->own[0].kind == COLL_BCAST, "one decision", LARGE);
    return w->own[0].mpi_ns;
}

static uint64_t fell_back(const struct rank *r, enum reason why)
{
    return mem_count_read(&context_stats(r->team->context)->coll[COLL_BCAST].reason_calls[why]);
}

static void levels(struct rank *r)
{
    begin(r, "queue", "inline");
    learn(r, LARGE);
    if (r->rank == 0) /* a sample is 20 us with the comparison of sizes, which takes 10 */
        rank_check(r, recorded_mpi_ns(r) == 10000, "time without the comparison", LARGE);
    rank_check(r, fell_back(r, REASON_TRIED) > 4, "trials of the MPI's own", LARGE);
    rank_check(r, fell_back(r, REASON_FASTER) == 0, "trials are no decisions", LARGE);
    rank_check(r, strcmp(chosen(r, LARGE), "levels") == 0, "fast algorithm", LARGE);
    rank_check(r, choice(r, SMALL) == &r->team->plan.shared->entry[PLAN_OPEN], "other cell", SMALL);
}

static void own(struct rank *r)
{
    begin(r, "queue", "levels");
    learn(r, LARGE);
    rank_check(r, strcmp(chosen(r, LARGE), "mpi") == 0, "the MPI's own", LARGE);
    uint64_t calls = r->team->hooks.learn->calls;
    for (int n = 0; n < 100; n++)
        rank_check(r, broadcast(r, LARGE, LARGE) == HUD_PASS, "the MPI's own", LARGE);
    rank_check(r, r->team->hooks.learn->calls == calls + 100, "calls on the slow path", LARGE);
    rank_check(r, fell_back(r, REASON_TRIED) > 0, "trials before the decision", LARGE);
    rank_check(r, fell_back(r, REASON_FASTER) >= 100, "calls by the decision", LARGE);
}

static void fastest_broadcast_is_kept(void **state)
{
    (void)state;
    run(levels);
    run(own);
}

/* Lets the MPI's own broadcast make a call on the same team.  The time of a sample ends with the
 * outer call, so the MPI's own is the slowest. */
static void nested(struct rank *r)
{
    nests = true;
    begin(r, "queue", "levels");
    learn(r, LARGE);
    rank_check(r, strcmp(chosen(r, LARGE), "mpi") != 0, "an algorithm of huddle's", LARGE);
    rank_check(r, r->team->hooks.learn->nested == 0, "nested calls have ended", LARGE);
    nests = false;
}

static void sample_includes_nested_calls(void **state)
{
    (void)state;
    run(nested);
}

/* ---- the first calls of a team ---- */

static uint64_t comparisons(const struct rank *r)
{
    return mem_count_read(&r->team->shm.mine->agreements);
}

/* Makes the first calls of a team, and the one after them. */
static void first_calls(struct rank *r)
{
    for (int n = 0; n < LEARN_EARLY; n++)
        rank_check(r, broadcast(r, LARGE, LARGE) == HUD_OK, "first choice", LARGE);
    MUST(r, comparisons(r) == 0 && r->team->hooks.learn->cells == 0);
    rank_check(r, broadcast(r, SMALL, SMALL) == HUD_OK, "a comparison", SMALL);
    MUST(r, comparisons(r) == 1 && r->team->hooks.learn->cells == 1);
}

/* Makes the first call of a team.  The MPI's own is known to be the fastest for another size. */
static void first_call_next_to_the_mpi(struct rank *r)
{
    rank_check(r, hud_barrier(r->team) == HUD_OK, "barrier", 0);
    struct wisdom_start *start = r->team->hooks.learn->start;
    start->table.known[plan_at(COLL_BCAST, LARGE)].name = hud_wisdom_name(-1, NULL);
    hud_learn_fill(r->team, start);
    hud_learn_start(r->team);
    MUST(r, comparisons(r) == 0);
    rank_check(r, broadcast(r, SMALL, SMALL) == HUD_OK, "a comparison", SMALL);
    MUST(r, comparisons(r) == 1 && r->team->hooks.learn->cells == 1);
}

static void first_calls_compare_only_where_the_mpi_may_serve(void **state)
{
    (void)state;
    run(first_calls);
    run(first_call_next_to_the_mpi);
}

/* ---- truncations ---- */

/* Passes different sizes while both cells are open, and then lets both decide. */
static void while_open(struct rank *r)
{
    begin(r, "queue", "inline");
    for (int n = 0; n < 24; n++) {
        int root = r->calls % r->ranks;
        int status = broadcast(r, n % 2 == 0 ? LARGER : LARGE, SMALL);
        rank_check(r, status == (r->rank == root ? HUD_OK : HUD_ERR_TRUNCATE), "status", SMALL);
        rank_check(r, broadcast(r, LARGE, LARGE) != HUD_ERR_UNLIKE, "later call", LARGE);
    }
    rank_check(r, choice(r, LARGE) == &r->team->plan.shared->entry[PLAN_OPEN], "open cell", LARGE);
    learn(r, SMALL);
    learn(r, LARGER);
    rank_check(r, strcmp(chosen(r, LARGER), "levels") == 0, "fast algorithm", LARGER);
}

/* Passes three sizes, of which the root's is the mean of the others. */
static void three_sizes(struct rank *r)
{
    static const size_t units[] = { 8, 1024, SMALL };

    begin(r, "queue", "inline");
    for (int n = 0; n < 90; n++) {
        size_t unit = units[n % 3];
        int place = (r->rank - r->calls % r->ranks + r->ranks) % r->ranks; /* 0: the root */
        int status = broadcast(r, 2 * unit, place == 1 ? unit : 3 * unit);
        rank_check(r, status == (place == 1 ? HUD_ERR_TRUNCATE : HUD_OK), "status", unit);
        rank_check(r, broadcast(r, LARGE, LARGE) != HUD_ERR_UNLIKE, "later call", LARGE);
    }
    rank_check(r, r->team->state.now == TEAM_READY, "state", 0);
}

/* Passes sizes of cells that the MPI serves.  They are of the same cell, or of two. */
static void of_the_mpi(struct rank *r)
{
    begin(r, "queue", "levels");
    learn(r, LARGE);
    learn(r, SMALL);
    for (int n = 0; n < 3 * 20; n++) {
        int root = r->calls % r->ranks,
            status = broadcast(r, LARGE, n % 2 == 0 ? LARGE - 1 : SMALL);
        rank_check(r, status == (r->rank == root ? HUD_OK : HUD_ERR_TRUNCATE), "status", SMALL);
        rank_check(r, broadcast(r, LARGE, LARGE) == HUD_PASS, "later call", LARGE);
    }
}

static bool fails(int status)
{
    return status == HUD_ERR_UNLIKE || status == HUD_ERR_TRUNCATE;
}

/* Makes calls until they fall back, in the same call on all ranks. */
static void fall_back_together(struct rank *r)
{
    int first = -1;

    for (int n = 0; n < 20; n++) {
        int status = n % 2 == 0 ? hud_barrier(r->team) : broadcast(r, LARGE, LARGE);
        bool passed = status == HUD_PASS;
        rank_check(r, first < 0 || passed, "later call", LARGE);
        first = first < 0 && passed ? n : first;
    }
    rank_check(r, ranks_agree(r, 0, (uint64_t)(first + 1)), "the first call to fall back", LARGE);
    rank_check(r, first >= 0 && r->team->state.now == TEAM_BROKEN, "given up", LARGE);
}

/* Passes a size of the fast path, and a size with a comparison.  Long waits find the difference.  A
 * root may have returned by then, and from further calls. */
static void end_with_an_error(struct rank *r, size_t sent, size_t room, int further)
{
    int root = r->calls % r->ranks;

    rank_check(r, choice(r, LARGE)->slot >= 0, "a choice of huddle's", LARGE);
    rank_check(r, choice(r, SMALL)->slot < 0, "a comparison", SMALL);
    r->team->state.fast_calls = 40; /* the call of the large size is no sample */
    int status = broadcast(r, sent, room);
    rank_check(r, fails(status) || (r->rank == root && status == HUD_OK), "error", SMALL);
    for (int n = 0; n < further; n++) {
        r->calls += r->ranks - 1; /* the same root */
        int later = broadcast(r, LARGE, LARGE);
        rank_check(r, later != HUD_OK || r->rank == root, "call after an error", LARGE);
    }
    fall_back_together(r);
}

static void of_an_open_cell(struct rank *r)
{
    begin(r, "queue", "inline");
    learn(r, LARGE);
    end_with_an_error(r, LARGE, SMALL, 0);
}

static void of_an_open_cell_and_further_calls(struct rank *r)
{
    begin(r, "queue", "inline");
    learn(r, LARGE);
    end_with_an_error(r, LARGE, SMALL, 3);
}

static void of_an_open_cell_at_the_root(struct rank *r)
{
    begin(r, "queue", "inline");
    learn(r, LARGE);
    end_with_an_error(r, SMALL, LARGE, 0);
}

static void of_the_mpi_and_of_huddle(struct rank *r)
{
    begin(r, "queue", "inline");
    learn(r, LARGE);
    slow[1] = "levels";
    learn(r, SMALL);
    end_with_an_error(r, LARGE, SMALL, 1);
}

static void truncation_is_found_in_any_state(void **state)
{
    (void)state;
    run(while_open);
    run(three_sizes);
    run(of_the_mpi);
    run(of_an_open_cell);
    run(of_an_open_cell_and_further_calls);
    run(of_an_open_cell_at_the_root);
    run(of_the_mpi_and_of_huddle);
}

static bool is_of(int row, const char *coll)
{
    return row < SET_PRODUCT_ALGS && strcmp(hud_shm_algs[row]->coll, coll) == 0;
}

/* Checks two facts of the proof in core/call/learn.h.  No slot serves broadcasts and allreduces.
 * Broadcasts of a slot have the same tree. */
static void each_broadcast_has_a_slot_of_its_own(void **state)
{
    int pairs = 0;

    (void)state;
    for (int b = 0; hud_shm_algs[b]; b++) {
        const struct alg *bcast = hud_shm_algs[b];
        for (int a = 0; is_of(b, "bcast") && hud_shm_algs[a]; a++) {
            assert_false(is_of(a, "allreduce") && hud_shm_algs[a]->family == bcast->family);
            pairs += is_of(a, "allreduce");
        }
        for (int p = 0; is_of(b, "bcast") && alg_param_at(bcast, p); p++)
            assert_true(!alg_param_at(bcast, p)->per_call ||
                        strcmp(alg_param_at(bcast, p)->name, "fragment") == 0);
    }
    assert_true(pairs > 10);
}

/* ---- teams that have been given up ---- */

/* Counts a comparison. */
static void pass_comparison(struct rank *r)
{
    mem_count_step(&r->team->shm.mine->agreements);
    mem_count_step(&r->team->shm.mine->calls[r->team->hooks.learn->compare->slot]);
}

/* Lets rank 1 miss the result of a comparison.  The others have it, leave the call to the host, and
 * fail in the next call.  Their calls are only counted here. */
static void follow_past_a_comparison(struct rank *r)
{
    begin(r, "queue", "inline");
    if (r->rank != 1) {
        pass_comparison(r);
        hud_realign_publish(r->team, 0);
        hud_longwait_abandon_early(r->team, HUD_ERR_UNLIKE);
    } else {
        MUST(r, broadcast(r, LARGE, LARGE) == HUD_PASS && r->team->state.now == TEAM_ENDING);
        MUST(r, hud_barrier(r->team) == HUD_ERR_UNLIKE);
    }
    MUST(r, comparisons(r) == 2);
    MUST(r, hud_barrier(r->team) == HUD_PASS && r->team->state.now == TEAM_BROKEN);
}

/* Lets rank 1 miss that result, too.  The others are in the call, which they make in huddle. */
static void fail_past_a_comparison(struct rank *r)
{
    begin(r, "queue", "inline");
    if (r->rank != 1) {
        pass_comparison(r);
        hud_longwait_abandon_early(r->team, HUD_ERR_TRUNCATE);
    } else {
        MUST(r, broadcast(r, LARGE, LARGE) == HUD_ERR_TRUNCATE);
    }
    MUST(r, hud_barrier(r->team) == HUD_PASS && r->team->state.now == TEAM_BROKEN);
}

/* Lets rank 0 fail in the call before a comparison, which then ends on no rank. */
static void end_before_a_comparison(struct rank *r)
{
    begin(r, "queue", "inline");
    if (r->rank == 0)
        hud_longwait_abandon(r->team, HUD_ERR_UNLIKE);
    MUST(r, broadcast(r, LARGE, LARGE) == HUD_PASS && r->team->state.now == TEAM_BROKEN);
}

static void failed_comparison_ends_as_the_others_calls(void **state)
{
    (void)state;
    run(follow_past_a_comparison);
    run(fail_past_a_comparison);
    run(end_before_a_comparison);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fastest_broadcast_is_kept),
        cmocka_unit_test(sample_includes_nested_calls),
        cmocka_unit_test(first_calls_compare_only_where_the_mpi_may_serve),
        cmocka_unit_test(truncation_is_found_in_any_state),
        cmocka_unit_test(failed_comparison_ends_as_the_others_calls),
        cmocka_unit_test(each_broadcast_has_a_slot_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
