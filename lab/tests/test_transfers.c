/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_transfers.c - the order of accesses, and lines of a made-up machine (made_up.h) on slow
 * links between its sockets: a line takes 64 ns, and lines delay each other.
 *
 * Rank r is bound to core r: ranks 0 to 63 are on one socket, FAR and above on a die of the other.
 * All ranks make one call together, but are delayed by late_ns.
 */
#include "lab/sim/timing.h"
#include "made_up.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
/* needs the headers above */
#include <cmocka.h>

enum { DIE = 32, FAR = 2 * DIE, RANKS = FAR + 4, ARENA = 1 << 16 };

struct job {
    struct alg alg;
    double revoke_ns, late_ns[RANKS];
    double begin_ns, leave_ns[RANKS]; /* time at which the ranks without delay begin; time from then
                                       * until each rank leaves */
    double bytes;                     /* bytes from socket 0 to socket 1 */
    struct sim_team *team;
};

static void body(struct sim *s, int rank, void *arg)
{
    static const size_t no_blocks[RANKS]; /* empty blocks: a reduce_scatter that promises nothing */
    static const struct alg_place all = { .slot_bytes = ARENA };
    const struct coll c = { .op = 1, .place = &all, .block_bytes = no_blocks };
    struct job *job = arg;
    struct mem *m = hud_sim_team_mem(job->team, rank);

    (void)s;
    hud_sim_meet(m);
    job->begin_ns = hud_sim_now(m);
    hud_sim_spend(m, job->late_ns[rank]);
    hud_sim_call(m, &job->alg, &c);
    job->leave_ns[rank] = hud_sim_now(m) - job->begin_ns;
}

static void run(struct job *job, const char *name,
                void (*call)(struct mem *m, const struct coll *c))
{
    struct sim_machine *machine = made_up_machine(2, DIE);

    job->alg = (struct alg){ .coll = "reduce_scatter", .name = name, .run = call };
    machine->links.socket_gbps = 1;
    machine->lines.revoke_ns[MADE_UP_MACHINE] = job->revoke_ns;
    struct sim *s = made_up_sim(machine, RANKS, ARENA, 0, &job->team);
    if (!hud_sim_run(s, body, job))
        fail_msg("%s", hud_sim_report(s));
    for (int i = 0; i < hud_sim_resources(s); i++) {
        struct sim_traffic t = hud_sim_traffic(s, i);
        job->bytes += strcmp(t.name, "socket 0 to 1") == 0 ? t.bytes : 0;
    }
    hud_sim_free(s);
    made_up_free(machine);
}

/*
 * Polls for 2 at FAR. The post of 1 at 500 is visible at 1500, when FAR will look at the line. This
 * future look must not delay FAR + 1, which loads another line at 600, but delays FAR + 2 at 1510.
 * FAR fetches the line again for 2, from 3000 + 1000 on.
 */
static void poll_far(struct mem *m, const struct coll *c)
{
    mem_flag *polled = mem_slot(m, 0), *other = mem_slot(m, 1), *third = mem_slot(m, 3);

    (void)c;
    if (mem_rank(m) == 0)
        mem_post(m, polled, 1);
    if (mem_rank(m) == FAR)
        mem_await(m, polled, 2);
    if (mem_rank(m) == FAR + 1)
        mem_peek(m, other);
    if (mem_rank(m) == FAR + 2)
        mem_peek(m, third);
    if (mem_rank(m) == 2) {
        mem_await(m, polled, 1);
        mem_post(m, polled, 2);
    }
}

static void future_poll_does_not_occupy_the_link(void **state)
{
    struct job job = { .revoke_ns = 1000,
                       .late_ns = { [0] = 500, [2] = 3000, [FAR + 1] = 600, [FAR + 2] = 1510 } };

    (void)state;
    run(&job, "poll_far", poll_far);
    assert_true(job.leave_ns[FAR + 1] == 600 + 40);
    assert_true(job.leave_ns[FAR + 2] == 1500 + 64 + 40);
    assert_true(job.bytes >= 5 * 64); /* FAR at first, for 1 and for 2; FAR + 1; FAR + 2 */
    assert_true(job.leave_ns[FAR] > 4000);
}

/* Claims two lines, which cross the link, too. The second line is available when both have
 * crossed. */
static void claim_far(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);
    mem_flag *flag = mem_slot(m, me < FAR + 2 ? me % FAR : me);

    (void)c;
    if (me == FAR || me == FAR + 1)
        mem_prefetch_own(m, flag, 1);
    mem_peek(m, flag);
}

static void claimed_lines_cross_the_link(void **state)
{
    struct job job = { .late_ns = { [FAR] = 10, [FAR + 1] = 11 } };

    (void)state;
    run(&job, "claim_far", claim_far);
    assert_true(job.bytes == 2 * 64);
    assert_true(job.leave_ns[FAR] == 10 + 40 && job.leave_ns[FAR + 1] == 10 + 64 + 40);
}

/* Occupies the link for 64 per line: FAR + 2 claims the flags of `lines` ranks of socket 0, one
 * after the other. */
static void occupy_link(struct mem *m, int lines)
{
    enum { FIRST = 10 };
    int me = mem_rank(m);

    if (me >= FIRST && me < FIRST + lines)
        mem_peek(m, mem_slot(m, me)); /* makes the memory a flag */
    for (int r = FIRST; me == FAR + 2 && r < FIRST + lines; r++)
        mem_prefetch_own(m, mem_slot(m, r), 1);
}

/* Loads a line at FAR, which waits until 513 for the link and arrives at 553. FAR + 1 gets the line
 * from FAR after this, and so does FAR + 3, which FAR serves later. */
static void share_far(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);

    (void)c;
    occupy_link(m, 8);
    if (me == FAR || me == FAR + 1 || me == FAR + 3)
        mem_peek(m, mem_slot(m, 1));
}

static void later_readers_wait_for_a_delayed_line(void **state)
{
    struct job job = { .late_ns = { [FAR + 2] = 1, [FAR] = 2, [FAR + 1] = 3, [FAR + 3] = 4 } };

    (void)state;
    run(&job, "share_far", share_far);
    assert_true(job.leave_ns[FAR] == 513 + 40);
    assert_true(job.leave_ns[FAR + 1] == 553 + 10 && job.leave_ns[FAR + 3] == 553 + 3 + 10);
}

/*
 * Looks at a polled line. FAR polls for 2 and only sees the post of 1 at 500, visible at 1500,
 * while the link is occupied until 1746. FAR + 1 asks FAR for the line at 600, and FAR + 3 later.
 */
static void look_far(struct mem *m, const struct coll *c)
{
    mem_flag *polled = mem_slot(m, 0);

    (void)c;
    if (mem_rank(m) == 0)
        mem_post(m, polled, 1);
    if (mem_rank(m) == FAR)
        mem_await(m, polled, 2);
    if (mem_rank(m) == FAR + 1 || mem_rank(m) == FAR + 3)
        assert_int_equal(mem_peek(m, polled), 1);
    occupy_link(m, 4);
    if (mem_rank(m) == 2) {
        mem_await(m, polled, 1);
        mem_post(m, polled, 2);
    }
}

static void later_readers_wait_for_a_delayed_poll(void **state)
{
    struct job job = {
        .revoke_ns = 1000,
        .late_ns = { [0] = 500, [2] = 9000, [FAR + 1] = 600, [FAR + 2] = 1490, [FAR + 3] = 1510 }
    };

    (void)state;
    run(&job, "look_far", look_far);
    assert_true(job.leave_ns[FAR + 1] == 1746 + 40 + 10 &&
                job.leave_ns[FAR + 3] == 1746 + 40 + 3 + 10);
}

/*
 * Stores at FAR, at 505, to a line that rank 2 has claimed and owns exclusively from 1500 on. The
 * line crosses the link only then. This must not delay FAR + 1 at 510. The link is occupied until
 * 1746, so rank 3 sees the value only after FAR has waited for the line.
 */
static void store_far(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);
    mem_flag *stored = mem_slot(m, 1);

    (void)c;
    if (me == FAR + 3)
        mem_peek(m, stored);
    if (me == 2)
        mem_prefetch_own(m, stored, 1);
    if (me == FAR)
        mem_post(m, stored, 1);
    if (me == FAR + 1)
        mem_peek(m, mem_slot(m, 3));
    occupy_link(m, 4);
    if (me == 3)
        assert_int_equal(mem_peek(m, stored), 1);
}

static void future_store_does_not_occupy_the_link(void **state)
{
    struct job job = { .revoke_ns = 1000,
                       .late_ns = { [FAR + 3] = 100,
                                    [2] = 500,
                                    [FAR] = 505,
                                    [FAR + 1] = 510,
                                    [FAR + 2] = 1490,
                                    [3] = 1600 } };

    (void)state;
    run(&job, "store_far", store_far);
    assert_true(job.leave_ns[FAR] == 505.25 && job.leave_ns[FAR + 1] == 510 + 40);
    assert_true(job.leave_ns[3] == 1746 + 1000 + 40);
}

/*
 * Adds at several ranks. An addition delayed by links delays the additions queued behind it, and
 * readers of the sum. Rank 2 adds to a line of its die from 0 to 12, and FAR + 1 and FAR + 3 queue
 * at 1 and 2. The link is occupied by FAR's line from 11 to 75. So the sum reaches FAR + 1 in 63 +
 * 40, then FAR + 3 in 10, and then FAR + 2, which asked at 50.
 */
static void add_far(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);
    mem_flag *other = mem_slot(m, 0), *sum = mem_slot(m, 1);

    (void)c;
    if (me == FAR)
        mem_add(m, other, 1);
    if (me == 2 || me == FAR + 1 || me == FAR + 3)
        mem_add(m, sum, 1);
    if (me == FAR + 2)
        assert_int_equal(mem_peek(m, sum), 3);
}

static void delayed_addition_delays_those_behind_it(void **state)
{
    struct job job = { .late_ns = { [FAR + 1] = 1, [FAR + 3] = 2, [FAR] = 11, [FAR + 2] = 50 } };
    const double first = 12 + 63 + 40 + 2, second = first + 10 + 2;

    (void)state;
    run(&job, "add_far", add_far);
    assert_true(job.leave_ns[2] == 12 && job.leave_ns[FAR] == 11 + 40 + 2);
    assert_true(job.leave_ns[FAR + 1] == first && job.leave_ns[FAR + 3] == second);
    assert_true(job.leave_ns[FAR + 2] == second + 10);
}

/* Copies and posts at rank 2 while rank 3 polls. The poller must wake when the copy ends, even if
 * no other rank has an event until long after. */
static void copy_and_post(struct mem *m, const struct coll *c)
{
    enum { BYTES = 4096 };
    mem_flag *flag = mem_slot(m, 2);
    char *from = (char *)(flag + 1);

    (void)c;
    if (mem_rank(m) == 2) {
        mem_copy(m, from + BYTES, from, BYTES);
        mem_post(m, flag, 1);
    }
    while (mem_rank(m) == 3 && mem_peek(m, flag) != 1) {
    }
}

static void poller_wakes_at_the_end_of_a_copy(void **state)
{
    struct job job = { .late_ns = { [4] = 1e6 } };

    (void)state;
    run(&job, "copy_and_post", copy_and_post);
    assert_true(job.leave_ns[2] > 100 && job.leave_ns[3] > job.leave_ns[2] &&
                job.leave_ns[3] < job.leave_ns[2] + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(future_poll_does_not_occupy_the_link),
        cmocka_unit_test(claimed_lines_cross_the_link),
        cmocka_unit_test(later_readers_wait_for_a_delayed_line),
        cmocka_unit_test(later_readers_wait_for_a_delayed_poll),
        cmocka_unit_test(future_store_does_not_occupy_the_link),
        cmocka_unit_test(delayed_addition_delays_those_behind_it),
        cmocka_unit_test(poller_wakes_at_the_end_of_a_copy),
    };

    return cmocka_run_group_tests_name("transfers", tests, NULL, NULL);
}
