/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * slices.h - the family `slices`: the result is cut over ranks that own its slices; an owner
 * reduces its own slice of all contributions in one pass.
 *
 * The message goes by fragments, and a fragment has a piece of each owner's slice.  The slot of a
 * rank holds two sets of cells: in the cells of others lies what the rank contributes to their
 * pieces, in its own cell the result of its own piece.  For a fragment a rank
 *
 *   copies its contributions in, but for its own piece | awaits all others' |
 *   reduces its piece, in rank order, and announces it | copies the others' results out
 *
 * No acknowledgement: who has announced its contributions to fragment k has left fragment k - 1, so
 * who has awaited all of these may write the set of k - 1 again, for k + 1.  A third set would let
 * it copy in k + 1 before it copies out k; but large pieces do more than that: lines that lie
 * modified in the nearest cache of another processor come slowly, and of pieces of 32K most no
 * longer do.  Two bound ranks, line transfer 56-66 ns: two sets in 128K: 64K 8.4 us, 256K 32.6, 1M
 * 148, 4M 700; three in 96K 11.1, 45.6, 140, 671, in 192K 8.3, 30.8, 140, 674.  Eight ranks on two
 * cores: 63, 258, 1104, 4580; 69, 267, 1126, 4730; 63, 254, 1058, 4320.
 *
 * Owners: ranks first, first + 1, ... around, as the collective says; how slices are cut:
 * shape/pieces.h.
 *
 * What a rank does with a fragment, lines and edges: slices_steps.h.
 */
#ifndef HUD_ALG_SLICES_H
#define HUD_ALG_SLICES_H

#include "alg/slices_steps.h"

enum slices_param { SLICES_FRAGMENT, SLICES_BUDGET };

static const struct alg_param slices_params[] = {
    [SLICES_FRAGMENT] = { "fragment", "B", "bytes of a piece of a slice; 0: what the window holds",
                          0, 1 << 24, 0, NULL, .per_call = true, .tune = "4K,8K,16K,32K" },
    [SLICES_BUDGET] = { "budget", "B",
                        "bytes of the window, two fragments; 0: what the lease holds", 0, 1 << 24,
                        252 << 10, NULL },
    { .name = NULL },
};

static inline size_t slices_slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    (void)ranks;
    return cut_slot_bytes(sizeof(struct slices_slot), SLICES_SETS, param[SLICES_BUDGET], max_bytes);
}

static inline void slices_run(struct mem *m, const struct coll *c, const struct slices_way *way)
{
    const size_t *blocks = way->blocks ? c->block_bytes : NULL;
    struct pieces cut = cut_of(c, way->count, blocks, sizeof(struct slices_slot), SLICES_SETS,
                               c->param[SLICES_FRAGMENT]);
    struct slices s = { .m = m, .c = c, .way = *way, .cut = cut };
    struct slices_slot *mine = mem_slot(m, mem_rank(m));
    struct pieces_place now = { .at = mem_get(m, &mine->at) };

    for (pieces_begin(&s.cut, &now); pieces_more(&s.cut, &now); pieces_next(&s.cut, &now)) {
        slices_contribute(&s, &now);
        slices_await(&s, &now);
        slices_own(&s, &now);
        if (way->collects)
            slices_collect(&s, &now);
    }
    mem_put(m, &mine->at, now.at);
}

#endif
