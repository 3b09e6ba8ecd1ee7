/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * barrier/mcs.c - arrive up a tree of four children each, leave down a tree of two; every rank
 * waits only on lines of its own slot.
 *
 * Source    Mellor-Crummey, Scott: Algorithms for scalable synchronization on shared-memory
 *           multiprocessors (1991), Algorithm 11; paper 03 compares with it.  There, a rank's four
 *           children set four bytes of one word, which the rank clears again.  Here, each child has
 *           a line and counts operations in it: a line has one writer, and is never reset.  With
 *           word = one, the four children count in cells of one line, which is as close to the word
 *           as counters can be.
 * Shape     p ranks; 2 (p - 1) lines posted, each with one writer and one reader.
 * Cost      T = a (l + 3 g) + b (l + w)    ns; a, b depths of the two trees, about log4 p and log2
 *           p; l one line transfer, g one more overlapped, w a write to a line that another rank
 *           polls
 * Accepts   any number of ranks.
 *
 * Line                    written by            read by   value k means
 *   slot[r].arrived[i]    4 r + 1 + i           r         4 r + 1 + i, and all below it, have
 *                                                         entered operation k
 *   slot[r].together[i]   4 r + 1 + i           r         one: the same, in one line
 *   slot[r].wake          (r - 1) / 2           r         all have entered operation k
 *
 * Edges     R1 -> A1   the entries below and of a rank  happen before  its parent's own arrival
 *           R2 -> A2   all entries, as rank 0 has seen them  happen before  the exits, parent
 *                      before child
 *
 * Deadlock  Arrivals wait only for arrivals below, so they reach rank 0.  Rank 0 wakes its children
 *           without waiting, and each rank wakes its own after it was woken.
 * Safety    A line, or a cell of the shared line, has one writer, and its values grow.  A rank
 *           posts for operation k + 1 after it has left k, so after all ranks have entered k.
 */
#include "alg/alg.h"

enum { ARRIVE = 4, WAKE = 2 };

enum param { WORD };
enum word { WORD_LINES, WORD_ONE };

static const char *const word_names[] = { "lines", "one", NULL };

static const struct alg_param params[] = {
    [WORD] = { "word", "",
               "lines: one line for each of the four children; one: one line for all four",
               WORD_LINES, WORD_ONE, WORD_LINES, word_names },
    { .name = NULL },
};

struct slot {
    mem_flag arrived[ARRIVE], wake;
    mem_cell together[ARRIVE];
};

/* Waits for the children, then announces the arrival to the parent and waits for the wake-up. */
static void arrive(struct mem *m, uint64_t op, bool one)
{
    int me = mem_rank(m);
    struct slot *mine = mem_slot(m, me);

    for (int i = 0; i < ARRIVE && ARRIVE * me + 1 + i < mem_size(m); i++)
        if (one)
            mem_await_cell(m, &mine->together[i], op); /* A1 */
        else
            mem_await(m, &mine->arrived[i], op); /* A1 */
    if (me == 0)
        return;
    struct slot *parent = mem_slot(m, (me - 1) / ARRIVE);
    if (one)
        mem_post_cell(m, &parent->together[(me - 1) % ARRIVE], op); /* R1 */
    else
        mem_post(m, &parent->arrived[(me - 1) % ARRIVE], op); /* R1 */
    mem_await(m, &mine->wake, op);                            /* A2 */
}

static void barrier_mcs(struct mem *m, const struct coll *c)
{
    int first = WAKE * mem_rank(m) + 1;

    arrive(m, c->op, c->param[WORD] == WORD_ONE);
    for (int child = first; child < first + WAKE && child < mem_size(m); child++) {
        struct slot *below = mem_slot(m, child);
        mem_post(m, &below->wake, c->op); /* R2 */
    }
}

static const struct alg_family family = {
    .params = params,
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(barrier, mcs) = {
    .coll = "barrier",
    .name = "mcs",
    .doc = "arrival up a tree with four children per rank, release down a binary tree; a rank "
           "polls only its own lines",
    .source = "Mellor-Crummey, Scott 1991, Algorithm 11",
    .family = &family,
    .run = barrier_mcs,
};
