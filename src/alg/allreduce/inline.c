/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * allreduce/inline.c - contributions travel in flag lines, and every rank reduces all of them.
 *
 * Source    this project; papers 02 and 05: no barrier on the path.
 * Shape     p ranks, n <= 112 bytes.  Each rank writes its line and reads those of all others,
 *           from rank 0 on.
 * Cost      T = l + (p - 2) g + p o     ns; l one line transfer, g one more overlapped line, o a
 *           copy or reduction of n bytes in the L1 cache
 *           traffic: p lines read or written by a rank
 * Accepts   n <= 112.
 *
 * Two lines are used in turn: a rank that writes the line of operation k has seen all lines of k -
 * 1, whose writers had finished operation k - 2.
 *
 * Line                  written by   read by       value k means
 *   slot[r].line[k % 2]  r            all others    r's contribution to operation k is in this line
 *
 * Edges     R1 -> A1   a rank's contribution       happens before  the others' reading it
 *                      a rank's reads of k - 2     happen before   the others' next write to those
 *                                                                  lines
 *
 * Deadlock  A rank posts its line before it waits, and waits only for lines of the same operation.
 * Safety    A rank writes the line of operation k after it has awaited all lines of k - 1.  Their
 *           writers had then read all lines of k - 2, which is the old content.  All ranks reduce
 *           the same lines in the same order, so their results are equal bit by bit.
 */
#include "alg/reduction.h"

struct slot {
    mem_flag line[2];
};

static mem_flag *line_of(struct mem *m, uint64_t op, int rank)
{
    return &((struct slot *)mem_slot(m, rank))->line[op % 2];
}

static void contribute(struct mem *m, const struct coll *c)
{
    mem_flag *line = line_of(m, c->op, mem_rank(m));

    mem_in_all(m, contribution_at(line), c->in, 0, c->bytes);
    mem_post(m, line, c->op); /* R1 */
}

static void allreduce_inline(struct mem *m, const struct coll *c)
{
    const struct mem_span out = { .view = c->out };
    struct sources all;

    contribute(m, c);
    sources_begin(&all, m, c, &out, c->bytes);
    for (int r = 0; r < mem_size(m); r++) {
        mem_flag *line = line_of(m, c->op, r);
        if (r != mem_rank(m))
            mem_await(m, line, c->op); /* A1 */
        sources_add(&all, contribution_of(m, c, r, contribution_at(line), 0));
    }
    sources_reduce(&all, &out, NULL);
    contribution_prefetch(m, c, line_of(m, c->op + 1, mem_rank(m)));
}

static const struct alg_family family = {
    .fixed_bytes = sizeof(struct slot),
};

ALG_DEFINE(allreduce, inline) = {
    .coll = "allreduce",
    .name = "inline",
    .doc = "each contribution is in its flag's cache line; every rank reduces all contributions",
    .source = "this project, after papers 02 and 05",
    .ordered = true,
    .accepts = contribution_fits,
    .family = &family,
    .run = allreduce_inline,
};
