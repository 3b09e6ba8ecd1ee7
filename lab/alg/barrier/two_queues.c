/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/two_queues.c - baseline: gather and scatter, each through a queue of packed cells in rank
 * 0's memory.
 *
 * Source    MVAPICH 1.1, with which paper 02 (Zhang, Meng, Huo), 4.1 and 5.1, compares.  Cells are
 *           next to each other, so several share a line.  back = 1: as in MVAPICH's source
 *           (shmem_coll.c), a rank that has waited for a cell resets it; rank 0 does so after it
 *           has seen all cells, another rank at once.  All queues are in rank 0's slice, because
 *           there one process creates the segment.  queues.c has the paper's forms, and cells.c our
 *           own.
 * Shape     p ranks; 2 (p - 1) posts, or 4 (p - 1) with back.
 * Cost      T = 2 (l + (p - 2) g) + p w    ns; l one line transfer, g one more overlapped; w a
 *           write to a line that other ranks poll: a post takes the line from all that poll its
 *           neighbours
 * Accepts   any number of ranks.
 *
 * Line                    written by  read by  value means
 *   slot[0].gather[r]     r           rank 0   2 k - 1: r has entered operation k
 *                         rank 0               2 k (back): it has seen that
 *   slot[0].scatter[r]    rank 0      r        2 k - 1: all have entered operation k
 *                         r                    2 k (back): it has seen that
 *
 * Edges     R1 -> A1   a rank's entry  happens before  rank 0's next post
 *           R2 -> A2   all entries, as rank 0 has seen them  happen before  the exits
 *
 * Deadlock  The other ranks post before they wait.  Rank 0 waits only for these posts.  No rank
 *           waits for a reset.
 * Safety    With back, a cell has two writers.  Rank 0 resets a cell of `gather` after it has seen
 *           the arrival, and before it releases the rank, which then posts the next arrival.  A
 *           rank resets its cell of `scatter` before its next arrival, which rank 0 sees before it
 *           posts there again.
 */
#include "alg/alg.h"

enum param { BACK };

static const struct alg_param params[] = {
    [BACK] = { "back", "",
               "1: the rank that has waited for a cell resets it; 0: cells are not reset", 0, 1, 1,
               NULL },
    { .name = NULL },
};

static size_t queue_bytes(int ranks)
{
    return mem_lines((size_t)ranks * sizeof(mem_cell));
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t bytes = 2 * queue_bytes(ranks);

    (void)param;
    return bytes <= max_bytes ? bytes : 0;
}

/* Posts a rank's own cell, or resets a cell after the rank has seen it. */
static void post(struct mem *m, mem_cell *cell, uint64_t value)
{
    mem_post_cell(m, cell, value); /* R1 */
}

static void barrier_two_queues(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m), ranks = mem_size(m);
    mem_cell *gather = mem_slot(m, 0),
             *scatter = (mem_cell *)((char *)mem_slot(m, 0) + queue_bytes(ranks));
    bool back = c->param[BACK] != 0;

    if (me != 0) {
        post(m, &gather[me], 2 * c->op - 1);
        mem_await_cell(m, &scatter[me], 2 * c->op - 1); /* A2 */
        if (back)
            post(m, &scatter[me], 2 * c->op);
        return;
    }
    for (int rank = 1; rank < ranks; rank++)
        mem_await_cell(m, &gather[rank], 2 * c->op - 1); /* A1 */
    for (int rank = 1; back && rank < ranks; rank++)
        post(m, &gather[rank], 2 * c->op);
    for (int rank = 1; rank < ranks; rank++)
        mem_post_cell(m, &scatter[rank], 2 * c->op - 1); /* R2 */
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(barrier, two_queues) = {
    .coll = "barrier",
    .name = "two_queues",
    .doc = "baseline: one queue of packed cells for each phase",
    .source = "paper 02, Barrier: MVAPICH 1.1",
    .baseline = true,
    .family = &family,
    .run = barrier_two_queues,
};
