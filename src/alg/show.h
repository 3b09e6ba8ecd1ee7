/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * show.h - the family `contributions`: ranks show fragments of theirs in their own queues, and who wants the sum reads them in all queues, from rank
 * 0's on.
 *
 * Line                      written by   read by          value k means
 *   slot[r].word[k % units]   r            who reduces      r's contribution at position k - 1 is in its queue
 *   data                      r            who reduces      contributions
 * and those of walk.h.
 *
 * Edges     R1 -> A1   a rank's copy-in        happens before  the reading of it
 *                      a rank's earlier reads  happen before   the next write there by those who read what it shows
 */
#ifndef HUD_ALG_SHOW_H
#define HUD_ALG_SHOW_H

#include "alg/contribution.h"
#include "alg/walk.h"

enum show_param { SHOW_FRAGMENT, SHOW_SETS, SHOW_BUDGET };

static const struct alg_param show_params[] = {
    [SHOW_FRAGMENT] = { "fragment", "B", "f, bytes shown at once; less at a set's end", 1, 1 << 24, 32 << 10, NULL, .per_call = true,
                        .tune = "8K,16K,64K" },
    [SHOW_SETS] = { "sets", "1", "q, sets of buffers of a queue; no fragment crosses from one into the next", 1, 8, 3, NULL },
    [SHOW_BUDGET] = { "budget", "B", "b, bytes of each queue; 0: what the lease holds", 0, 1 << 24, 96 << 10, NULL, .tune = "24K,192K" },
    { .name = NULL },
};

static inline size_t show_slot_bytes(const long *param, int ranks, size_t most_bytes)
{
    (void)ranks;
    return walk_slot_bytes(param[SHOW_BUDGET], param[SHOW_SETS], most_bytes);
}

/* Shows the fragment at w, where nobody reads any more. */
static inline void show_fragment(struct mem *m, const struct coll *c, const struct shape_ring *ring, const struct walk *w)
{
    struct queue_slot *mine = mem_slot(m, mem_rank(m));

    mem_in_all(m, queue_data(mine, ring, &w->at), &c->in, w->done, w->bytes);
    mem_post(m, &mine->word[w->at.unit], w->at.at + 1); /* R1 */
}

/* The sum of what all show at w, into `out`; the own contribution need not be shown if it stays where it is (contribution.h). */
static inline void show_reduce(struct mem *m, const struct coll *c, const struct shape_ring *ring, const struct walk *w)
{
    const struct mem_span out = { .view = &c->out, .offset_bytes = w->done };
    struct sources all;

    sources_begin(&all, m, c, &out, w->bytes);
    for (int r = 0; r < mem_size(m); r++) {
        struct queue_slot *slot = mem_slot(m, r);
        if (r != mem_rank(m))
            mem_await(m, &slot->word[w->at.unit], w->at.at + 1); /* A1 */
        sources_add(&all, contribution_of(m, c, r, queue_data(slot, ring, &w->at), w->done));
    }
    sources_reduce(&all, &out, NULL);
}

#endif
