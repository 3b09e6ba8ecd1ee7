/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/queues.c - baseline: gather and scatter through one queue in rank 0's memory, with a line
 * for each cell; by chips, or not.
 *
 * Source    paper 02 (Zhang, Meng, Huo), 4.1 and 5.1.  Child and leader write a cell in turn.  form
 *           = one: all ranks are children of rank 0.  levels: child, chip leader, node leader.  The
 *           queue is in rank 0's slice, because in the paper one process creates the segment.
 *           two_queues.c is the paper's starting point.  cells.c is our own form, in which a leader
 *           answers by one line.
 * Shape     p ranks; 2 (p - 1) posts.  Chips are the groups of the lowest level; with `one` all
 *           ranks are one chip.
 * Cost      T = 2 (l + (c - 2) g) + 2 (L + (n - 2) G) + (c + n) w    ns; c ranks of a chip, n
 *           chips; l, L one line transfer within a chip, between chips; g, G one more overlapped; w
 *           a write to a line that another rank polls
 * Accepts   any number of ranks and groups.
 *
 * Line                  written by  read by     value means
 *   slot[0].cell[r]     r           its leader  2 k - 1: r, and the chip that it leads, have
 *                                               entered operation k
 *                       its leader  r           2 k: all have entered operation k
 *
 * Edges     R1 -> A1   a rank's entry, and those that it has seen  happen before  its leader's
 *                      next post
 *           R2 -> A2   all entries, as a leader has seen them  happen before  the exits below it
 *
 * Deadlock  A rank posts its arrival before it waits for its release.  Leaders wait for arrivals
 *           below them, then arrive themselves; rank 0 waits only for arrivals.
 * Safety    Rank and leader write a cell in turn: the leader after it has seen the arrival (A1),
 *           the rank after it has seen the release (A2).  So the values of a cell grow.
 */
#include "alg/alg.h"

enum param { FORM };
enum form { ONE, LEVELS };

static const char *const forms[] = { "one", "levels", NULL };

static const struct alg_param params[] = {
    [FORM] = { "form", "", "one: rank 0 is the only leader; levels: one leader per chip", ONE,
               LEVELS, ONE, forms },
    { .name = NULL },
};

/* The queue, and this rank's chip. */
struct queue {
    struct mem *m;
    uint64_t op;
    mem_flag *cell;
    const int *chip; /* NULL: all ranks */
    int count;
};

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = (size_t)ranks * sizeof(mem_flag);

    (void)param;
    return bytes <= max_bytes ? bytes : 0;
}

static struct queue queue_of(struct mem *m, const struct coll *c)
{
    struct queue q = { .m = m, .op = c->op, .cell = mem_slot(m, 0), .count = mem_size(m) };

    if (c->param[FORM] == LEVELS)
        q.chip = shape_members(c->groups, 0, mem_rank(m), &q.count);
    return q;
}

static int member(const struct queue *q, int i)
{
    return q->chip ? q->chip[i] : i;
}

/* Announces the arrival, and waits for the release. */
static void arrive(const struct queue *q)
{
    mem_flag *mine = &q->cell[mem_rank(q->m)];

    mem_post(q->m, mine, 2 * q->op - 1); /* R1 */
    mem_await(q->m, mine, 2 * q->op);    /* A2 */
}

static void await(const struct queue *q, int rank)
{
    mem_await(q->m, &q->cell[rank], 2 * q->op - 1); /* A1 */
}

static void release(const struct queue *q, int rank)
{
    mem_post(q->m, &q->cell[rank], 2 * q->op); /* R2 */
}

/* Calls what() for the leaders of the other chips, at the node leader: to wait for them or to
 * release them. */
static void each_chip(const struct queue *q, const struct coll *c,
                      void (*what)(const struct queue *q, int rank))
{
    const struct shape_level *chips = &c->groups->level[0];

    for (int chip = 0; q->chip && chip < chips->groups; chip++)
        if (chips->members[chips->first[chip]] != 0)
            what(q, chips->members[chips->first[chip]]);
}

static void barrier_queues(struct mem *m, const struct coll *c)
{
    const struct queue q = queue_of(m, c);
    int me = mem_rank(m);

    if (me != member(&q, 0)) {
        arrive(&q);
        return;
    }
    for (int i = 1; i < q.count; i++)
        await(&q, member(&q, i));
    if (me != 0) {
        arrive(&q);
    } else {
        each_chip(&q, c, await);
        each_chip(&q, c, release);
    }
    for (int i = 1; i < q.count; i++)
        release(&q, member(&q, i));
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(barrier, queues) = {
    .coll = "barrier",
    .name = "queues",
    .doc = "baseline: one queue with a cache line per cell, with or without a level of chips",
    .source = "paper 02, Barrier",
    .baseline = true,
    .family = &family,
    .run = barrier_queues,
};
