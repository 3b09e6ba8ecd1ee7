/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_carry.c - calls of mem.h that move bytes, in simulated time, on the made-up machine
 * (made_up.h).  The expected times are computed by hand.
 *
 * Rank r is bound to core r.  The user's buffer of a rank is in the rank's caches, and rank 0
 * enters last.  The algorithms are made up, too.
 */
#include "made_up.h"
#include "sim/sim.h"

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

/* The root copies in, the others out. */
static void through_memory(struct mem *m, const struct coll *c)
{
    struct slot *root = mem_slot(m, 0);

    if (mem_rank(m) == 0) {
        mem_in_all(m, root->data, c->out, 0, c->out->bytes);
        mem_post(m, &root->flag, c->op); /* R1 */
    } else {
        mem_await(m, &root->flag, c->op); /* A1 */
        mem_out(m, c->out, root->data, 0, c->out->bytes);
    }
}

/* The same; with two ranks the reader is the only one. */
static void given_back(struct mem *m, const struct coll *c)
{
    struct slot *root = mem_slot(m, 0);

    if (mem_rank(m) == 0) {
        mem_in_all(m, root->data, c->out, 0, c->out->bytes);
        mem_post(m, &root->flag, c->op); /* R1 */
    } else {
        mem_await(m, &root->flag, c->op); /* A1 */
        mem_out_last(m, c->out, root->data, 0, c->out->bytes);
    }
}

static void beside_the_flag(struct mem *m, const struct coll *c)
{
    struct slot *root = mem_slot(m, 0);

    if (mem_rank(m) == 0) {
        mem_in_all(m, root->flag.payload, c->out, 0, c->out->bytes);
        mem_post(m, &root->flag, c->op); /* R1 */
    } else {
        mem_await(m, &root->flag, c->op); /* A1 */
        mem_out(m, c->out, root->flag.payload, 0, c->out->bytes);
    }
}

/* From the root's buffer to the others'. */
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
    static const int members[RANKS] = { 0, 1, 2, 3, 4, 5, 6, 7 };
    struct sim_machine *machine = made_up_machine(1, DIE);
    const struct sim_options options = {
        .ranks = ranks, .arena_bytes = ARENA, .machine = machine, .core = members
    };
    machine->call = *call;
    struct sim *s = hud_sim_create(&options);

    *job = (struct job){
        .alg = { .coll = "bcast", .name = "made up", .sends = sends, .run = algorithm },
        .ranks = ranks,
        .bytes = bytes,
    };
    job->user = calloc((size_t)ranks, bytes);
    job->team = hud_sim_team_create(s, ranks, members, 0, ARENA);
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

/* From the root's entry to a rank's return. */
static void expect(const struct job *job, int call, int rank, double wanted)
{
    double is = job->leave_ns[call][rank] - job->enter_ns[call][0];

    if (fabs(is - wanted) > 1e-6 * wanted)
        fail_msg("call %d, rank %d: %.9g, not %.9g", call, rank, is, wanted);
}

/*
 * In: the first line, 10, and .05 a byte, .25 in the first call, whose destination comes from
 * memory, .1 in later ones, since the reader gives it up.  The flag crosses in 10.  Out: 10, and .1
 * a byte.
 */
static void copies_in_and_out(void **state)
{
    struct job job;

    (void)state;
    run(&job, through_memory, 2, BYTES);
    expect(&job, 0, 0, 10 + .25 * BYTES + .25);
    expect(&job, 0, 1, 10 + .25 * BYTES + 10 + 10 + .1 * BYTES);
    expect(&job, 1, 1, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
    expect(&job, 2, 1, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
    run(&job, given_back, 2, BYTES);
    expect(&job, 2, 1, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* Readers of one die: their flags come 3 apart; who is later finds the bytes on their way to the
 * shared cache, and ends with the first. */
static void copies_out_by_many(void **state)
{
    struct job job;

    (void)state;
    run(&job, through_memory, DIE, BYTES);
    for (int r = 1; r < DIE; r++)
        expect(&job, 1, r, 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* One line crosses, with the bytes and the flag: its writer has stored them in .25, each side
 * copies them in .5 and .05 each, and to look at the line is .5. */
static void bytes_beside_a_flag_come_with_it(void **state)
{
    enum { FEW = 40 };
    struct job job;

    (void)state;
    run(&job, beside_the_flag, 2, FEW);
    expect(&job, 1, 1, .5 + .05 * FEW + .25 + 10 + .5 + .5 + .05 * FEW);
}

/* A call of the kernel takes 100, and it copies at 8 GB/s in a core's own cache; from the root's
 * cache a byte takes .05 more.  The address arrives first, in the line of a flag. */
static void single_copies(void **state)
{
    struct job job;

    (void)state;
    run(&job, by_the_kernel, 2, BYTES);
    expect(&job, 1, 1, .25 + 10 + .5 + 110 + BYTES * (1 / 8. + .05) + .25);
}

/* What the front end takes is there before the first access, on either side at the same time: 7,
 * and 5 more with data; a reduction would take 3 more, and this is none.  By the MPI in front 2. */
static void front_end(void **state)
{
    const struct machine_call call = { .enter_ns = 7, .data_ns = 5, .reduce_ns = 3, .host_ns = 2 };
    struct job job;

    (void)state;
    run_with(&job, through_memory, false, 2, BYTES, &call);
    expect(&job, 1, 1, 7 + 5 + 2 + 10 + .1 * BYTES + 10 + 10 + .1 * BYTES);
}

/* An MPI's own work for a message, 30 at either end, counts where posts are ends of messages. */
static void messages(void **state)
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
        cmocka_unit_test(copies_in_and_out),
        cmocka_unit_test(copies_out_by_many),
        cmocka_unit_test(bytes_beside_a_flag_come_with_it),
        cmocka_unit_test(single_copies),
        cmocka_unit_test(front_end),
        cmocka_unit_test(messages),
    };

    return cmocka_run_group_tests_name("carry", tests, NULL, NULL);
}
