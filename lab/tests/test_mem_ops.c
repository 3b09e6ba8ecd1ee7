/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_mem_ops.c - calls of mem.h that move bytes, in simulated time, on the made-up machine
 * (made_up.h). The expected times are computed by hand.
 *
 * Rank r is bound to core r. The user's buffer of a rank is in the rank's caches, and rank 0 enters
 * last. The algorithms are made up, too.
 */
#include "lab/sim/timing.h"
#include "made_up.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 8, ARENA = 1 << 20, BYTES = 4096, CALLS = 3, DIE = 4, LATE = 100 };

struct job {
    struct alg alg;
    struct sim_team *team;
    int ranks;
    size_t bytes;
    char *user; /* [ranks][bytes] */
    double enter_ns[CALLS][RANKS], leave_ns[CALLS][RANKS];
};

struct slot {
    mem_flag flag;
    char data[8 * BYTES];
};

/* ---- the algorithms ---- */

/* Copies in to shared memory at the root and out at the other ranks.  `last` is that of
 * mem_out_as(). */
static void copy_through(struct mem *m, const struct coll *c, void *shared, bool last)
{
    struct slot *root = mem_slot(m, 0);

    if (mem_rank(m) == 0) {
        mem_in_all(m, shared, c->out, 0, c->out->bytes);
        mem_post(m, &root->flag, c->op); /* R1 */
    } else {
        mem_await(m, &root->flag, c->op); /* A1 */
        mem_out_as(m, c->out, shared, 0, c->out->bytes, last);
    }
}

static void through_memory(struct mem *m, const struct coll *c)
{
    copy_through(m, c, ((struct slot *)mem_slot(m, 0))->data, false);
}

/* Reads as the last reader, so only with two ranks. */
static void returned_lines(struct mem *m, const struct coll *c)
{
    copy_through(m, c, ((struct slot *)mem_slot(m, 0))->data, true);
}

static void in_the_line_of_the_flag(struct mem *m, const struct coll *c)
{
    copy_through(m, c, ((struct slot *)mem_slot(m, 0))->flag.payload, false);
}

/* Copies from the root's buffer to the other ranks' buffers by the kernel. */
static void by_the_kernel(struct mem *m, const struct coll *c)
{
    struct slot *root = mem_slot(m, 0);
    struct mem_span to = { .view = c->out };

    if (mem_rank(m) == 0) {
        mem_put(m, root->flag.payload, mem_expose(m, c->out));
        mem_post(m, &root->flag, c->op);                             /* R1 */
        mem_await(m, &((struct slot *)mem_slot(m, 1))->flag, c->op); /* A2 */
    } else {
        mem_await(m, &root->flag, c->op); /* A1 */
        mem_pull(m, &to, 0, mem_get(m, root->flag.payload), 0, c->out->bytes);
        mem_post(m, &((struct slot *)mem_slot(m, 1))->flag, c->op); /* R2 */
    }
}

/* ---- runs ---- */

/* Numbers of the made-up machine in a single test. */
static double store_gap_ns, return_gbps;

static void body(struct sim *s, int rank, void *arg)
{
    struct job *job = arg;
    struct mem *m = hud_sim_team_mem(job->team, rank);
    char *user = job->user + (size_t)rank * job->bytes;
    const struct hud_view view = { .base = user, .bytes = job->bytes };
    static const struct alg_place all = { .slot_bytes = ARENA };
    struct coll c = { .out = &view, .bytes = job->bytes, .place = &all };

    (void)s;
    for (int call = 0; call < CALLS; call++) {
        c.op = (uint64_t)call + 1;
        if (rank == 0)
            memset(user, call + 1, job->bytes);
        hud_sim_wrote(m, user, job->bytes);
        hud_sim_gather(m);
        if (rank == 0)
            hud_sim_spend(m, LATE);
        job->enter_ns[call][rank] = hud_sim_now(m);
        hud_sim_call(m, &job->alg, &c);
        job->leave_ns[call][rank] = hud_sim_now(m);
    }
}

static void run_with(struct job *job, void (*algorithm)(struct mem *m, const struct coll *c),
                     bool sends, int ranks, size_t bytes, const struct machine_call *call)
{
    struct sim_machine *machine = made_up_machine(1, DIE);

    machine->call = *call;
    machine->lines.store_gap_ns[MADE_UP_NUMA] = store_gap_ns;
    machine->copy.return_gbps[MADE_UP_NUMA] = return_gbps;
    *job = (struct job){
        .alg = { .coll = "bcast", .name = "made up", .sends = sends, .run = algorithm },
        .ranks = ranks,
        .bytes = bytes,
    };
    job->user = calloc((size_t)ranks, bytes);
    struct sim *s = made_up_sim(machine, ranks, ARENA, 0, &job->team);
    if (!hud_sim_run(s, body, job))
        fail_msg("%s", hud_sim_report(s));
    for (size_t i = 0; i < (size_t)ranks * bytes; i++)
        assert_int_equal(job->user[i], CALLS);
    free(job->user);
    hud_sim_free(s);
    made_up_free(machine);
}

static void run(struct job *job, void (*algorithm)(struct mem *m, const struct coll *c), int ranks,
                size_t bytes)
{
    run_with(job, algorithm, false, ranks, bytes, &(struct machine_call){ 0 });
}

/* Checks the time from the root's entry to a rank's return. */
static void expect(const struct job *job, int call, int rank, double wanted)
{
    double is = job->leave_ns[call][rank] - job->enter_ns[call][0];

    if (fabs(is - wanted) > 1e-6 * wanted)
        fail_msg("call %d, rank %d: took %.9g ns, expected %.9g", call, rank, is, wanted);
}

/*
 * Copies in: the first line takes 10, and a byte .05 plus its destination, which takes .25 in the
 * first call, from memory, and .1 later, when the reader gives it up. The flag crosses in 10.
 * Copying out takes 10, and .1 a byte.
 */
static void copy_in_and_copy_out_take_computed_time(void **state)
{
    struct job job;

    (void)state;
    run(&job, through_memory, 2, BYTES);
    expect(&job, 0, 0, 10 + .25 * BYTES + .25);
    expect(&job, 0, 1, 10 + .25 * BYTES + 10 + 10 + .1 * BYTES);
    expect(&job, 1, 1, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
    expect(&job, 2, 1, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* Writes lines after the other rank's read in .2 per byte. The other rank returns the lines in
 * .025, if the algorithm names this rank the last reader. The root then writes the lines in
 * .075. */
static void last_reader_returns_lines(void **state)
{
    struct job job;

    (void)state;
    store_gap_ns = 12.8;
    return_gbps = 8;
    run(&job, through_memory, 2, BYTES);
    expect(&job, 2, 1, 10 + (.025 + .2) * BYTES + 10 + 10 + .1 * BYTES);
    run(&job, returned_lines, 2, BYTES);
    expect(&job, 2, 1, 10 + (.025 + .075) * BYTES + 10 + 10 + (.1 + .025) * BYTES);
    run(&job, returned_lines, 2, BYTES / 2); /* too short for a rank to do so */
    expect(&job, 2, 1, 10 + (.025 + .2) * BYTES / 2 + 10 + 10 + .1 * BYTES / 2);
    store_gap_ns = return_gbps = 0;
}

/* Copies to all ranks of one die. Their flags come 3 apart. A later reader finds the bytes on
 * their way to the shared cache, and ends with the first. */
static void concurrent_readers_end_together(void **state)
{
    struct job job;

    (void)state;
    run(&job, through_memory, DIE, BYTES);
    for (int r = 1; r < DIE; r++)
        expect(&job, 1, r, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* Sends bytes in the line of a flag, so that only this line crosses. Its writer stores the flag
 * in .25, each side copies the bytes in .5 and .05 each, and the reader's look at the line takes
 * .5. */
static void bytes_in_the_line_of_a_flag_arrive_with_the_flag(void **state)
{
    enum { FEW = 40 };
    struct job job;

    (void)state;
    run(&job, in_the_line_of_the_flag, 2, FEW);
    expect(&job, 1, 1, .5 + .05 * FEW + .25 + 10 + .5 + .5 + .05 * FEW);
}

/* Copies by a call of the kernel, which takes 100 and copies at 8 GB/s in a core's own cache.
 * From the root's cache a byte takes .05 more. The address arrives first, in the line of a flag. */
static void kernel_copy_takes_computed_time(void **state)
{
    struct job job;

    (void)state;
    run(&job, by_the_kernel, 2, BYTES);
    expect(&job, 1, 1, .25 + 10 + .5 + 110 + BYTES * (1 / 8. + .05) + .25);
}

/* Adds the front end's time before the first access, on both sides at the same time: 7, and 5
 * more with data. A reduction would take 3 more, but this is none. The MPI in front takes 2. */
static void front_end_time_is_added_before_the_first_access(void **state)
{
    const struct machine_call call = { .enter_ns = 7, .data_ns = 5, .reduce_ns = 3, .host_ns = 2 };
    struct job job;

    (void)state;
    run_with(&job, through_memory, false, 2, BYTES, &call);
    expect(&job, 1, 1, 7 + 5 + 2 + 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* Adds an MPI's own time for a message, 30 at either end, only if posts are ends of messages. */
static void message_time_is_added_only_for_messages(void **state)
{
    const struct machine_call call = { .message_ns = 60 };
    struct job job;

    (void)state;
    for (int sends = 0; sends <= 1; sends++) {
        run_with(&job, through_memory, sends, 2, BYTES, &call);
        expect(&job, 1, 1, 10 + .1 * BYTES + 30 * sends + 10 + 10 + .1 * BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(copy_in_and_copy_out_take_computed_time),
        cmocka_unit_test(last_reader_returns_lines),
        cmocka_unit_test(concurrent_readers_end_together),
        cmocka_unit_test(bytes_in_the_line_of_a_flag_arrive_with_the_flag),
        cmocka_unit_test(kernel_copy_takes_computed_time),
        cmocka_unit_test(front_end_time_is_added_before_the_first_access),
        cmocka_unit_test(message_time_is_added_only_for_messages),
    };

    return cmocka_run_group_tests_name("mem_ops", tests, NULL, NULL);
}
