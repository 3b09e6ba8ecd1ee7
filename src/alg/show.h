/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show.h - the family `contributions`: ranks show fragments of theirs in their own queues, and who
 * wants the sum reads them in all queues, from rank 0's on.
 *
 * Line                      written by   read by          value k means
 *   slot[r].word[k % units]   r            who reduces      r's contribution at position k - 1 is
 *                                                           in its queue
 *   data                      r            who reduces      contributions
 * and those of walk.h.
 *
 * Edges     R1 -> A1   a rank's copy-in        happens before  the reading of it
 *                      a rank's earlier reads  happen before   the next write there by those who
 *                                                              read what it shows
 */
#ifndef HUD_ALG_SHOW_H
#define HUD_ALG_SHOW_H

#include "alg/contribution.h"
#include "alg/walk.h"

enum show_param { SHOW_FRAGMENT, SHOW_SETS, SHOW_BUDGET };

static const struct alg_param show_params[] = {
    [SHOW_FRAGMENT] = { "fragment", "B", "f, bytes shown at once; less at a set's end", 1, 1 << 24,
                        32 << 10, NULL, .per_call = true, .tune = "8K,16K,64K" },
    [SHOW_SETS] = { "sets", "1",
                    "q, sets of buffers of a queue; no fragment crosses from one into the next", 1,
                    8, 3, NULL },
    [SHOW_BUDGET] = { "budget", "B", "b, bytes of each queue; 0: what the lease holds", 0, 1 << 24,
                      96 << 10, NULL, .tune = "24K,192K" },
    { .name = NULL },
};

static inline size_t show_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return walk_slot_bytes(param[SHOW_BUDGET], param[SHOW_SETS], max_bytes);
}

/* Bytes of the message. */
struct show_bytes {
    size_t begin, end;
};

/* What a rank makes of an operation: the part of the sum that it wants, in `out` from its beginning
 * on. */
struct show_want {
    struct show_bytes part;
    struct show_bytes
        hidden; /* of the own contribution: nobody else wants it, so it is not shown */
    bool stays; /* the own contribution stays where it is until it is read there */
};

/* Those of them that are in the fragment at w. */
static inline struct show_bytes show_within(const struct walk *w, struct show_bytes part)
{
    size_t end = w->done + w->bytes < part.end ? w->done + w->bytes : part.end;

    return (struct show_bytes){ w->done > part.begin ? w->done : part.begin, end };
}

static inline char *show_data(struct mem *m, const struct shape_ring *ring, const struct walk *w,
                              int rank, size_t at)
{
    return queue_data(mem_slot(m, rank), ring, &w->at) + (at - w->done);
}

static inline void show_copy(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                             const struct walk *w, struct show_bytes part)
{
    part = show_within(w, part);
    if (part.begin < part.end)
        mem_in_all(m, show_data(m, ring, w, mem_rank(m), part.begin), &c->in, part.begin,
                   part.end - part.begin);
}

/* Shows the fragment at w, where nobody reads any more. */
static inline void show_fragment(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                                 const struct walk *w, const struct show_want *want)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    show_copy(m, c, ring, w, (struct show_bytes){ 0, want->hidden.begin });
    show_copy(m, c, ring, w, (struct show_bytes){ want->hidden.end, c->bytes });
    mem_post(m, &mine->word[w->at.unit], w->at.at + 1); /* R1 */
}

/* Reduces what all show at w of what this rank wants; false: nothing. */
static inline bool show_reduce(struct mem *m, const struct coll *c, const struct shape_ring *ring,
                               const struct walk *w, const struct show_want *want)
{
    struct show_bytes part = show_within(w, want->part);
    const struct mem_span own = { .view = &c->in, .offset_bytes = part.begin };
    const struct mem_span out = { .view = &c->out, .offset_bytes = part.begin - want->part.begin };
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
                          : (struct mem_span){ .shared = show_data(m, ring, w, r, part.begin) });
    }
    sources_reduce(&all, &out, NULL);
    return true;
}

#endif
