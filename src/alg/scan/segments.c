/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * segments.c - every rank reduces the contributions of the ranks below it in its own segment, and
 * one sum of each earlier segment: scan/segments, exscan/segments (prefix.h).
 *
 * Shape     p ranks, n bytes; s consecutive ranks are a segment.  The last rank of each segment
 *           publishes the sum of the segment instead of its contribution, without waiting for
 *           earlier segments.
 * Cost      T = 2 l + (s - 2 + p / s) g + (s + p / s) (o + n t)     ns; terms as in inline.c
 *           traffic: n bytes written; (s + p / s) n read
 *
 * Deadlock freedom
 *   1. A sum is posted after a wait for contributions only.
 * Safety
 *   1. The contribution of the last rank of a segment is in the sum, which is computed before.
 */
#include "alg/scan/prefix.h"

static int segment_ranks(const struct prefix *p)
{
    int ranks = (int)p->c->param[PREFIX_SEGMENT];

    for (int root = 1; p->c->param[PREFIX_SEGMENT] == 0 && ranks == 0; root++)
        ranks = root * root >= p->ranks ? root : 0;
    return ranks;
}

/* Publishes the sum of the segment that begins with rank `first` and ends with this rank. */
static void publish(const struct prefix *p, int first)
{
    mem_flag *cell = prefix_cell(p, p->c->op, p->me);
    const struct mem_span total = { .shared = contribution_at(cell) };
    struct sources all;

    prefix_enter(p);
    prefix_await(p, first, 1);
    sources_begin(&all, p->m, p->c, &total, p->c->bytes);
    prefix_add(p, first, p->me, 1, &all);
    sources_add(&all, (struct mem_span){ .view = p->c->in });
    sources_reduce(&all, &total, NULL);
    prefix_announce(p);
}

static void run_segments(struct mem *m, const struct coll *c, bool exclusive)
{
    const struct prefix p = prefix_of(m, c);
    int ranks = segment_ranks(&p), first = p.me / ranks * ranks;
    bool publishes = p.me == first + ranks - 1 && p.me < p.ranks - 1;
    const struct mem_span out = { .view = c->out };
    struct sources all;

    if (publishes) {
        publish(&p, first);
    } else {
        prefix_contribute(&p);
        prefix_await(&p, first, 1);
    }
    prefix_await(&p, ranks - 1, ranks);
    sources_begin(&all, m, c, &out, c->bytes);
    prefix_add(&p, ranks - 1, first, ranks, &all);
    if (!publishes || exclusive)
        prefix_add(&p, first, p.me, 1, &all);
    if (!exclusive)
        sources_add(&all, publishes ? prefix_cell_span(&p, p.me) : prefix_own_span(&p));
    prefix_finish(&p, &all, &out);
}

static void scan_segments(struct mem *m, const struct coll *c)
{
    run_segments(m, c, false);
}

static void exscan_segments(struct mem *m, const struct coll *c)
{
    run_segments(m, c, true);
}

/* Fields of both rows. */
#define SEGMENTS(coll_)                                                                            \
    .coll = #coll_, .name = "segments",                                                            \
    .doc = "ranks form segments; every rank reduces its segment's contributions and the sums of "  \
           "earlier segments",                                                                     \
    .source = "this project, after papers 01 (sets) and 05", .accepts = prefix_accepts,            \
    .family = &HUD_BACKEND(prefix_family), .run = coll_##_segments

ALG_DEFINE(scan, segments) = { SEGMENTS(scan) };

ALG_DEFINE(exscan, segments) = { SEGMENTS(exscan) };
