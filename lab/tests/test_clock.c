/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_clock.c - barriers in simulated time, on a made-up machine (made_up.h). A comment at each
 * figure has its computation by hand.
 *
 * Rank r is bound to core r. Times are for one die, with l = 10, g = 1, serve 3 and a store .25,
 * unless a test states otherwise.
 */
#include "lab/sim/timing.h"
#include "lab/sim/trace.h"
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { DIE = 32, RANKS = 4 * DIE, ARENA = 1 << 16, LATE = 1000 };

struct job {
    const struct alg *alg;
    int ranks, calls;
    double late_ns[RANKS]; /* delay before the last call */
    double socket_gbps, store_entries;
    uint64_t seed;
    double enter_ns[RANKS], leave_ns[RANKS]; /* times of the last call */
    struct shape_groups groups;
    struct sim_team *team;
    struct coll call;
    struct sim *sim;
    struct sim_machine *machine; /* kept for queries until finish */
};

/* The family of the algorithms here, which have no parameters. */
static const struct alg_family plain = { .params = NULL };

static void body(struct sim *s, int rank, void *arg)
{
    struct job *job = arg;
    struct mem *m = hud_sim_team_mem(job->team, rank);
    struct coll c = job->call;

    for (c.op = 1; c.op < (uint64_t)job->calls; c.op++)
        hud_sim_call(m, job->alg, &c);
    hud_sim_gather(m);
    if (rank == 0)
        hud_sim_trace(s, true);
    hud_sim_gather(m);
    hud_sim_spend(m, job->late_ns[rank]);
    job->enter_ns[rank] = hud_sim_now(m);
    hud_sim_call(m, job->alg, &c);
    job->leave_ns[rank] = hud_sim_now(m);
}

/* Runs the job. job->sim remains valid until finish. */
static bool run(struct job *job)
{
    int unit[RANKS];
    long param[ALG_PARAMS] = { 0 };
    struct sim_machine *machine = made_up_machine(2, DIE);

    machine->links.socket_gbps = job->socket_gbps;
    machine->lines.store_entries = job->store_entries;
    const struct shape_place place = { .ranks = job->ranks, .levels = 1, .unit = unit };

    for (int r = 0; r < job->ranks; r++)
        unit[r] = r / DIE;
    for (int p = 0; alg_param_at(job->alg, p); p++)
        param[p] = alg_param_at(job->alg, p)->preset;
    assert_int_equal(hud_shape_groups_build(&place, &job->groups), 0);
    job->call.groups = &job->groups;
    job->call.param = param;
    static const struct alg_place all = { .slot_bytes = ARENA };
    job->call.place = &all;
    job->sim = made_up_sim(machine, job->ranks, ARENA, job->seed, &job->team);
    bool clean = hud_sim_run(job->sim, body, job);
    hud_shape_groups_free(&job->groups);
    job->machine = machine;
    return clean;
}

static void finish(struct job *job)
{
    hud_sim_free(job->sim);
    made_up_free(job->machine);
}

static double last_leave(const struct job *job)
{
    double last = 0;

    for (int r = 0; r < job->ranks; r++)
        last = job->leave_ns[r] > last ? job->leave_ns[r] : last;
    return last;
}

/* Returns the time from rank 0's late entry to the last exit. All other ranks have waited. */
static double rank_0_late(const char *name, int ranks, int calls)
{
    struct job job = {
        .alg = made_up_alg("barrier", name), .ranks = ranks, .calls = calls, .late_ns = { LATE }
    };

    if (!run(&job))
        fail_msg("%s", hud_sim_report(job.sim));
    finish(&job);
    return last_leave(&job) - job.enter_ns[0];
}

/* ---- by hand ---- */

static void flat_barriers_take_computed_time(void **state)
{
    (void)state;
    /* A scan takes l + (p - 2) g. All others poll rank 0's store; the last of them is served (p -
     * 2) serves after the first. */
    assert_true(rank_0_late("counters", 4, 1) == 10 + 2 * 1 + 10 + 2 * 3);
    assert_true(rank_0_late("counters", 32, 5) == 10 + 30 * 1 + 10 + 30 * 3);
    /* The same scan, and then p - 1 stores, g apart, to lines that first come from their pollers
     * and then go back to them. */
    assert_true(rank_0_late("gather", 32, 1) == 10 + 30 * 1 + 10 + 30 * 1 + 10);
    /* Rank 0 owns the lines from the second operation on. It only has to invalidate its readers'
     * copies, and these already ask again. */
    assert_true(rank_0_late("gather", 32, 2) == 10 + 30 * 1 + 30 * 1 + 10);
    /* Rank 0 adds last, to a line of another rank: l + 2. Then follow its store and the readers. */
    assert_true(rank_0_late("central", 32, 3) == 10 + 2 + 10 + 30 * 3);
}

/*
 * Runs 64 ranks on two dies: 31 near lines, the last issued at 30, and 32 far lines, 2 apart, 20
 * each. At the release the owner serves the other die last of 32, and 31 ranks get the line there.
 */
static void barrier_of_two_dies_takes_computed_time(void **state)
{
    double scan = 30 + 2 + 20 + 31 * 2, all = rank_0_late("counters", 2 * DIE, 3);

    (void)state;
    assert_true(all >= scan + 20 + 30 * 3 + 10 &&
                all <= scan + 31 * 3 + 20 + 30 * 3 + 10); /* bounds, since the order in which it is
                                                           * served varies */
}

/* Stores 31 times at rank 0, which has gathered at 40. With eight entries the first stores settle
 * at 50, 51, ... 57, and each makes room for a store of 10. */
static void full_store_buffer_delays_stores(void **state)
{
    struct job job = {
        .alg = made_up_alg("barrier", "gather"), .ranks = DIE, .calls = 2, .late_ns = { LATE }
    };

    (void)state;
    for (int entries = 0; entries <= 8; entries += 8) {
        job.store_entries = entries;
        assert_true(run(&job));
        assert_true(job.leave_ns[0] - job.enter_ns[0] ==
                    40 + (entries == 0 ? 31 * .25 : 10 + 10 + 10 + 6 + .25));
        finish(&job);
    }
}

/* Enters two ranks together. Each stores its own line in .25 and then loads the other's line in
 * 10. */
static void ranks_entering_together_take_one_transfer(void **state)
{
    struct job job = { .alg = made_up_alg("barrier", "dissemination"), .ranks = 2, .calls = 100 };

    (void)state;
    assert_true(run(&job));
    for (int r = 0; r < 2; r++)
        assert_true(job.leave_ns[r] - job.enter_ns[r] == 10.25);
    finish(&job);
}

/* Words in the line of a flag: rank 0 may prefetch the line for ownership, then writes two words
 * and posts. Rank 1 awaits or polls the flag, and reads the words. */
static bool claims, polls;

static void words(struct mem *m, const struct coll *c)
{
    mem_flag *there = mem_slot(m, 0), *back = mem_slot(m, 1);

    if (mem_rank(m) == 0) {
        mem_put(m, &there->payload[0], c->op);
        mem_put(m, &there->payload[1], c->op);
        mem_post(m, there, c->op);
        mem_await(m, back, c->op);
        if (claims)
            mem_prefetch_own(m, there, 1);
    } else {
        while (polls && mem_peek(m, there) != c->op) {
        }
        mem_await(m, there, c->op);
        assert_int_equal(mem_get(m, &there->payload[0]) + mem_get(m, &there->payload[1]),
                         2 * c->op);
        mem_post(m, back, c->op);
    }
}

static double words_take(bool claimed, bool polled)
{
    const struct alg alg = { .coll = "barrier", .name = "words", .family = &plain, .run = words };
    struct job job = {
        .alg = &alg, .ranks = 2, .calls = 3, .late_ns = { LATE, polled ? 0 : 2 * LATE }
    };

    claims = claimed;
    polls = polled;
    if (!run(&job))
        fail_msg("%s", hud_sim_report(job.sim));
    finish(&job);
    return job.leave_ns[0] - job.enter_ns[polled ? 0 : 1];
}

static void words_in_the_line_of_a_flag_arrive_with_the_flag(void **state)
{
    double there = 10 + 2 * .5,
           back = 10; /* the flag's line and two words that came with it; the other line */

    (void)state;
    /* Rank 1 enters long after the write, while rank 0 polls its line. */
    assert_true(words_take(false, false) == there + back);
    assert_true(words_take(true, false) == there + back);
    /*
     * Rank 1 polls, and each peek takes .5 until the others' time advances. The first word takes
     * the line away, prefetched or not. The post follows .5 later, and then the line may go back.
     */
    double waited = words_take(false, true);
    assert_true(waited >= .5 + there + back && waited <= .5 + there + back + 1);
    assert_true(words_take(true, true) == waited);
}

/* Rank 0 posts a cell that rank 2 polls. Rank 1 polls another cell, in the same line or the
 * next. */
static bool packed;

static void neighbours(struct mem *m, const struct coll *c)
{
    mem_cell *cells = mem_slot(m, 0), *other = &cells[packed ? 1 : 64 / sizeof *cells];
    mem_flag *entered = mem_slot(m, 1), *back = mem_slot(m, 2);

    if (mem_rank(m) == 0) {
        mem_await(m, entered, c->op);
        mem_post_cell(m, &cells[0], c->op);
        mem_await(m, back, c->op);
        mem_post_cell(m, other, c->op);
    } else if (mem_rank(m) == 1) {
        mem_post(m, entered, c->op);
        mem_await_cell(m, other, c->op);
    } else {
        mem_await_cell(m, &cells[0], c->op);
        mem_post(m, back, c->op);
    }
}

/* Takes 10 for rank 1's entry and 10 for the cell. The post invalidates the line at both ranks
 * polling in it, and they fetch the line in turn, 3 apart. */
static void polling_another_cell_of_the_line_delays_a_reader(void **state)
{
    const struct alg alg = {
        .coll = "barrier", .name = "neighbours", .family = &plain, .run = neighbours
    };

    (void)state;
    for (int together = 0; together < 2; together++) {
        struct job job = { .alg = &alg, .ranks = 3, .calls = 3, .late_ns = { LATE } };
        packed = together != 0;
        assert_true(run(&job));
        assert_true(job.leave_ns[2] - job.enter_ns[0] == 20 + 3 * together + .25);
        finish(&job);
    }
}

/*
 * Combines nothing. In the test below rank 1 adds up a second line of eight other ranks while rank
 * 2 reads a word in the last of these lines. This takes rank 2 a transfer, in either order.
 */
static void sum_nothing(const struct hud_op *op, void *dst, const void *const *src, int sources,
                        size_t elements)
{
    (void)op, (void)dst, (void)src, (void)sources, (void)elements;
}

static void pass(struct mem *m, const struct coll *c)
{
    enum {
        FIRST = 3,
        OTHERS = 8,
        BEHIND = 7
    }; /* word 7 of the payload begins another line of 64 bytes */
    const struct hud_op op = { .element_bytes = 8, .combine = sum_nothing };
    const struct mem_span to = { .shared = (char *)mem_slot(m, mem_rank(m)) + sizeof(mem_flag) };
    struct mem_span from[OTHERS];
    mem_flag *flag[OTHERS];

    if (mem_rank(m) >= FIRST && c->op == 1) {
        flag[0] = mem_slot(m, mem_rank(m));
        mem_put(m, &flag[0]->payload[BEHIND], 1);
        mem_post(m, flag[0], 1);
    }
    for (int i = 0; i < OTHERS; i++) {
        flag[i] = mem_slot(m, FIRST + i);
        from[i] = (struct mem_span){ .shared = &flag[i]->payload[BEHIND] };
        if (mem_rank(m) < FIRST && c->op == 1)
            mem_await(m, flag[i], 1);
    }
    if (mem_rank(m) == 1 && c->op == 2)
        mem_reduce(m, &op, &to, NULL, from, OTHERS, 8);
    if (mem_rank(m) == 2 && c->op == 2)
        mem_get(m, &flag[OTHERS - 1]->payload[BEHIND]);
}

static void call_reading_many_lines_takes_them_in_turn(void **state)
{
    static const size_t no_blocks[RANKS]; /* empty blocks: a reduce_scatter that promises nothing */
    const struct alg alg = {
        .coll = "reduce_scatter", .name = "pass", .family = &plain, .run = pass
    };

    (void)state;
    for (uint64_t seed = 0; seed < 8; seed++) {
        struct job job = {
            .alg = &alg, .ranks = 12, .calls = 2, .seed = seed, .call.block_bytes = no_blocks
        };
        if (!run(&job))
            fail_msg("%s", hud_sim_report(job.sim));
        finish(&job);
        assert_true(job.leave_ns[2] - job.enter_ns[2] == 10);
    }
}

/* Loads 64 lines from the other socket at rank 0, and rank 0's line at a core of each die there. A
 * line takes 64 ns on a slow link. */
static void far_lines_wait_for_a_slow_link(void **state)
{
    struct job job = { .alg = made_up_alg("barrier", "counters"),
                       .ranks = RANKS,
                       .calls = 3,
                       .late_ns = { LATE },
                       .socket_gbps = 1 };
    double between[2] = { 0, 0 };

    (void)state;
    assert_true(run(&job));
    for (int i = 0; i < hud_sim_resources(job.sim); i++) {
        struct sim_traffic t = hud_sim_traffic(job.sim, i);
        between[0] += strcmp(t.name, "socket 0 to 1") == 0 ? t.bytes : 0;
        between[1] += strcmp(t.name, "socket 1 to 0") == 0 ? t.bytes : 0;
    }
    assert_true(between[0] == 2 * 64 && between[1] == 64 * 64);
    finish(&job);
    double slow = last_leave(&job) - job.enter_ns[0], fast = rank_0_late("counters", RANKS, 3);
    assert_true(slow > 64 * 64 && fast < 64 * 64); /* 64 lines, 64 apart */
}

/* ---- general properties ---- */

static double all_together(const struct alg *alg, int ranks, uint64_t seed)
{
    struct job job = { .alg = alg, .ranks = ranks, .calls = 4, .seed = seed };

    if (!run(&job))
        fail_msg("%s", hud_sim_report(job.sim));
    finish(&job);
    return last_leave(&job) - job.enter_ns[0];
}

static void more_ranks_are_not_faster(void **state)
{
    static const char *const flat[] = { "counters", "gather", "central" };

    (void)state;
    for (size_t i = 0; i < sizeof flat / sizeof *flat; i++)
        for (int ranks = 2, step = 1; ranks + step <= RANKS; ranks += step, step += 3)
            assert_true(all_together(made_up_alg("barrier", flat[i]), ranks, 1) <=
                        all_together(made_up_alg("barrier", flat[i]), ranks + step, 1));
}

static void same_seed_gives_the_same_time(void **state)
{
    int differ = 0;

    (void)state;
    for (int a = 0; hud_sim_algs[a]; a++) {
        if (strcmp(hud_sim_algs[a]->coll, "barrier") != 0)
            continue;
        double once = all_together(hud_sim_algs[a], 48, 7);
        assert_true(once > 0 && once == all_together(hud_sim_algs[a], 48, 7));
        differ += once != all_together(hud_sim_algs[a], 48, 8);
    }
    assert_int_not_equal(differ, 0);
}

/* Leaves without waiting, which the checker must report. */
static void leave_early(struct mem *m, const struct coll *c)
{
    if (mem_rank(m) == 0)
        mem_post(m, mem_slot(m, 0), c->op);
}

static void leaving_too_early_is_reported(void **state)
{
    const struct alg alg = {
        .coll = "barrier", .name = "early", .family = &plain, .run = leave_early
    };
    struct job job = { .alg = &alg, .ranks = 3, .calls = 1 };

    (void)state;
    assert_false(run(&job));
    assert_non_null(strstr(hud_sim_report(job.sim), "broken promise"));
    finish(&job);
}

/* ---- trace ---- */

/* Verifies the critical path: rank 0's scan and post, and the wait and load of the rank that leaves
 * last. */
static void trace_has_the_critical_path(void **state)
{
    struct job job = {
        .alg = made_up_alg("barrier", "counters"), .ranks = 32, .calls = 2, .late_ns = { LATE }
    };
    struct sim_leg *legs;
    int last = 0;

    (void)state;
    assert_true(run(&job));
    for (int r = 0; r < job.ranks; r++)
        last = job.leave_ns[r] > job.leave_ns[last] ? r : last;
    int count = hud_trace_path(hud_sim_steps(job.sim), last, &legs);
    assert_int_equal(count,
                     1 + 1 + 31 + 1 +
                         1); /* rank 0 computes, enters, scans, posts; the last reader's load */
    assert_true(legs[1].begin_ns == job.enter_ns[0] && legs[0].begin_ns == job.enter_ns[0] - LATE);
    assert_true(legs[count - 1].end_ns == job.leave_ns[last]);
    for (int i = 0; i < count; i++) {
        assert_int_equal(legs[i].rank, i == count - 1 ? last : 0);
        if (i > 0)
            assert_true(legs[i].begin_ns == legs[i - 1].end_ns);
    }
    assert_string_equal(legs[count - 2].step->what, "posts");
    const struct sim_step *wait = legs[count - 1].step;
    assert_int_equal(wait->by, 0);
    assert_int_equal(wait->by_line, legs[count - 2].step->line);
    assert_true(wait->turn_ns - wait->ready_ns == 30 * 3); /* the other ranks are served first */
    free(legs);
    finish(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flat_barriers_take_computed_time),
        cmocka_unit_test(barrier_of_two_dies_takes_computed_time),
        cmocka_unit_test(full_store_buffer_delays_stores),
        cmocka_unit_test(ranks_entering_together_take_one_transfer),
        cmocka_unit_test(words_in_the_line_of_a_flag_arrive_with_the_flag),
        cmocka_unit_test(polling_another_cell_of_the_line_delays_a_reader),
        cmocka_unit_test(call_reading_many_lines_takes_them_in_turn),
        cmocka_unit_test(far_lines_wait_for_a_slow_link),
        cmocka_unit_test(more_ranks_are_not_faster),
        cmocka_unit_test(same_seed_gives_the_same_time),
        cmocka_unit_test(leaving_too_early_is_reported),
        cmocka_unit_test(trace_has_the_critical_path),
    };

    return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
