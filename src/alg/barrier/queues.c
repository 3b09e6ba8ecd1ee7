/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/queues.c - baseline: gather and scatter through queues of cells in the leader's memory,
 * as paper 02 compares them.
 *
 * Source    paper 02 (Zhang, Meng, Huo), 4.1 and 5.1.  form = two: MVAPICH 1.1, a queue for each
 *           phase, cells next to each other, so that several share a line.  As in its source
 *           (shmem_coll.c) who has waited for a cell sets it back: the leader after it has seen
 *           all, a child at once.  packed: the same, but nobody sets a cell back.  one: one queue
 *           for both phases, a line for each cell, which child and leader write in turn.  levels:
 *           the same, child, chip leader, node leader.  cells.c is our form of it: there a leader
 *           answers by one line.  All queues are rank 0's, as one process makes the segment.
 * Shape     p ranks; 2 (p - 1) posts, two: twice as many.  Chips are the groups of the lowest
 *           level; all ranks are one where form is not `levels`.
 * Cost      T = 2 (l + (c - 2) g) + 2 (L + (n - 2) G) + (c + n) w    ns; c ranks of a chip, n
 *           chips; l, L one line transfer within a chip, between chips; g, G one more overlapped; w
 *           a write to a line that another rank polls.  two, packed: a post also takes the line
 *           from all who poll its neighbours.
 * Accepts   any number of ranks and groups.
 *
 * Line                    written by        read by     value means
 *   slot[0].gather[r]     r                 its leader  two, packed: 2 k - 1, r has entered
 *                                                       operation k
 *                         rank 0                        two: 2 k, it has seen that
 *   slot[0].scatter[r]    rank 0            r           two, packed: 2 k - 1, all have entered
 *                                                       operation k
 *                         r                             two: 2 k, it has seen that
 *   slot[0].cell[r]       r                 its leader  2 k - 1: r, and the chip that it leads,
 *                                                       have entered operation k
 *                         its leader        r           2 k: all have entered operation k
 *
 * Edges     R1 -> A1   a rank's entry, and those that it has seen  happen before  its leader's
 *                      next post
 *           R2 -> A2   all entries, as a leader has seen them  happen before  the exits below it
 */
#include "alg/alg.h"

enum param { FORM };
enum form { TWO, ONE, LEVELS, PACKED };

static const char *const forms[] = { "two", "one", "levels", "packed", NULL };

static const struct alg_param params[] = {
    [FORM] = { "form", "",
               "two: a queue of packed cells for each phase, which are set back; one: one queue, a "
               "line for each cell; levels: the same, by chips; packed: as two, not set back",
               TWO, PACKED, TWO, forms },
    { .name = NULL },
};

/* The queues, and the chip of this rank. */
struct queues {
    struct mem *m;
    uint64_t op;
    bool back;                  /* cells are set back */
    mem_cell *gather, *scatter; /* NULL: there is one queue, */
    mem_flag *cell;             /* this one */
    const int *chip;            /* NULL: all ranks */
    int count;
};

static size_t packed_bytes(int ranks)
{
    return mem_lines((size_t)ranks * sizeof(mem_cell));
}

static bool is_packed(const long *param)
{
    return param[FORM] == TWO || param[FORM] == PACKED;
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = is_packed(param) ? 2 * packed_bytes(ranks) : (size_t)ranks * sizeof(mem_flag);

    return bytes <= max_bytes ? bytes : 0;
}

static struct queues queues_of(struct mem *m, const struct coll *c)
{
    struct queues q = { .m = m, .op = c->op, .cell = mem_slot(m, 0), .count = mem_size(m) };

    if (is_packed(c->param)) {
        q.back = c->param[FORM] == TWO;
        q.gather = mem_slot(m, 0);
        q.scatter = (mem_cell *)((char *)mem_slot(m, 0) + packed_bytes(mem_size(m)));
    } else if (c->param[FORM] == LEVELS) {
        q.chip = shape_members(c->groups, 0, mem_rank(m), &q.count);
    }
    return q;
}

static int member(const struct queues *q, int i)
{
    return q->chip ? q->chip[i] : i;
}

/* A rank's own cell, or another's that it has seen. */
static void post_cell(const struct queues *q, mem_cell *cell, uint64_t value)
{
    mem_post_cell(q->m, cell, value); /* R1 */
}

/* Enters, and waits to be let go. */
static void arrive(const struct queues *q)
{
    int me = mem_rank(q->m);

    if (q->gather) {
        post_cell(q, &q->gather[me], 2 * q->op - 1);
        mem_await_cell(q->m, &q->scatter[me], 2 * q->op - 1); /* A2 */
        if (q->back)
            post_cell(q, &q->scatter[me], 2 * q->op);
    } else {
        mem_post(q->m, &q->cell[me], 2 * q->op - 1); /* R1 */
        mem_await(q->m, &q->cell[me], 2 * q->op);    /* A2 */
    }
}

static void await(const struct queues *q, int rank)
{
    if (q->gather)
        mem_await_cell(q->m, &q->gather[rank], 2 * q->op - 1); /* A1 */
    else
        mem_await(q->m, &q->cell[rank], 2 * q->op - 1); /* A1 */
}

static void release(const struct queues *q, int rank)
{
    if (q->gather)
        mem_post_cell(q->m, &q->scatter[rank], 2 * q->op - 1); /* R2 */
    else
        mem_post(q->m, &q->cell[rank], 2 * q->op); /* R2 */
}

/* The node leader: the leaders of the other chips enter, or are let go. */
static void each_chip(const struct queues *q, const struct coll *c,
                      void (*what)(const struct queues *q, int rank))
{
    const struct shape_level *chips = &c->groups->level[0];

    for (int chip = 0; q->chip && chip < chips->groups; chip++)
        if (chips->members[chips->first[chip]] != 0)
            what(q, chips->members[chips->first[chip]]);
}

static void barrier_queues(struct mem *m, const struct coll *c)
{
    const struct queues q = queues_of(m, c);
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
        for (int i = 1; q.back && i < q.count; i++)
            post_cell(&q, &q.gather[member(&q, i)], 2 * q.op);
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
    .doc = "baseline: two queues of packed cells, one with a line for each cell, or one by chips",
    .source = "paper 02, Barrier: MVAPICH 1.1, and its own forms",
    .baseline = true,
    .family = &family,
    .run = barrier_queues,
};
