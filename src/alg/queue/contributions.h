/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * contributions.h - the family `contributions`: ranks publish their contributions, fragment by
 * fragment, in their own queues.  A rank that wants a sum reads the contributions in all queues,
 * from rank 0's queue on.  exchange.c and gather.c differ in which ranks publish and read, and
 * when.  The queue: queue.h; its acknowledgements: cursor.h.
 *
 * Source    this project, after papers 01 (queues of buffers) and 05 (no barriers on the path).
 * Shape     p ranks, n bytes, in fragments of f, which need not end at the ends of blocks; one line
 *           transfer, no second phase.
 * Cost      of each collective in its file: l ns one line transfer, g one more overlapped line, t
 *           ns per byte copied in, t_r per byte read and reduced; traffic beyond n in and out.
 * Returned  lines of contributions, by a rank that alone reads them (mem_reduce_as).
 * Accepts   any n, any root, if the lease has a window.
 *
 * Line                      written by   read by          value k means
 *   slot[r].word[k % units]   r            reducing ranks   r's contribution at position k - 1 is
 *                                                           in its queue
 *   data                      r            reducing ranks   contributions
 * The other lines are in queue.h.
 *
 * Edges     R1 -> A1   a rank's copy-in        happens before  the reading of it
 *                      a rank's earlier reads  happen before   the next write there by the ranks
 *                                                              that read its contributions
 */
#ifndef HUD_ALG_CONTRIBUTIONS_H
#define HUD_ALG_CONTRIBUTIONS_H

#include "alg/queue/cursor.h"
#include "alg/reduction.h"

enum contributions_param { CONTRIBUTIONS_FRAGMENT, CONTRIBUTIONS_SETS, CONTRIBUTIONS_BUDGET };

extern const struct alg_family HUD_BACKEND(contributions_family);

/* A range of bytes of the message. */
struct byte_range {
    size_t begin, end;
};

/* The part of the sum that a rank wants, in `out` from its beginning on. */
struct wanted_sum {
    struct byte_range part;
    struct byte_range unpublished; /* part of its contribution that is not published, because no
                                      other rank wants it */
    bool alone;                    /* no other rank wants this part */
    bool stays;                    /* its contribution stays in the user's buffer until it is
                                      read there */
};

/* Returns the part of a range that is in the fragment at w. */
static inline struct byte_range range_within(const struct cursor *w, struct byte_range part)
{
    size_t end = w->done + w->bytes < part.end ? w->done + w->bytes : part.end;

    return (struct byte_range){ w->done > part.begin ? w->done : part.begin, end };
}

static inline char *contribution_data(struct mem *m, const struct cursor *w, int rank, size_t at)
{
    return queue_data(m, rank, &w->at) + (at - w->done);
}

ALG_INLINE void contribution_publish_range(struct mem *m, const struct coll *c,
                                           const struct cursor *w, struct byte_range part)
{
    part = range_within(w, part);
    if (part.begin < part.end)
        mem_in_all(m, contribution_data(m, w, mem_rank(m), part.begin), c->in, part.begin,
                   part.end - part.begin);
}

/* Publishes the fragment at w.  No other rank reads these buffers any more. */
ALG_INLINE void contribution_publish(struct mem *m, const struct coll *c, const struct cursor *w,
                                     const struct wanted_sum *want)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    contribution_publish_range(m, c, w, (struct byte_range){ 0, want->unpublished.begin });
    contribution_publish_range(m, c, w, (struct byte_range){ want->unpublished.end, c->bytes });
    mem_post(m, &mine->word[w->at.unit], w->at.at + 1); /* R1 */
}

/* Reduces the part of the wanted sum that is in the fragment at w.  Returns false if there is no
 * such part. */
ALG_INLINE bool contribution_reduce(struct mem *m, const struct coll *c, const struct cursor *w,
                                    const struct wanted_sum *want)
{
    struct byte_range part = range_within(w, want->part);
    const struct mem_span own = { .view = c->in, .offset_bytes = part.begin };
    const struct mem_span out = { .view = c->out, .offset_bytes = part.begin - want->part.begin };
    struct sources all;

    if (part.begin >= part.end)
        return false;
    sources_begin(&all, m, c, &out, part.end - part.begin);
    for (int r = 0; r < mem_size(m); r++) {
        struct queue_slot *slot = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &slot->word[w->at.unit], w->at.at + 1); /* A1 */
        bool stays = r == mem_rank(m) && want->stays;
        sources_add(&all,
                    stays ? own
                          : (struct mem_span){ .shared = contribution_data(m, w, r, part.begin) });
    }
    sources_reduce_as(&all, &out, NULL, want->alone);
    return true;
}

/* Returns the maximum number of units of a fragment. */
static inline uint64_t contribution_units(const struct coll *c)
{
    return ring_units_of((uint64_t)c->param[CONTRIBUTIONS_FRAGMENT]);
}

#endif
