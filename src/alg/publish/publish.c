/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publish.c - the family `publish`: each rank copies its block into its window once, and all others
 * copy it out.  allgather/publish has equal blocks, allgatherv/publish blocks of any sizes.  Slot,
 * lines, edges, and the path of a tile: publish.h.
 *
 * Source    this project, after paper 05: shared queues with many readers.
 * Shape     p ranks, blocks of n bytes, in rounds of a tile for each rank.  The window of a rank
 *           has two sets, of a tile each, used in turn.  In a round a rank
 *             copies its tile in, and announces it | copies out those of all others, from the next
 *             rank on
 * Cost      n / f rounds of tiles of f bytes, l ns one line transfer, t ns per byte copied:
 *             T = (n / f) p l + p n t
 *           traffic: n bytes of each rank beyond those read from `in` and written to `out`
 * Accepts   any block, if the lease has a window.
 *
 * Deadlock freedom
 *   1. A rank announces its tile of a round before it waits in that round.  It waits only for the
 *      others' tiles of the same round, which are announced once the previous round is finished.
 *   2. All ranks go through the same rounds: each rank reads the headers of all, and a round is the
 *      last if all its headers report that no tile follows.
 *
 * Safety    In place, a rank's own block stays where it is, and no rank writes there.
 */
#include "alg/publish/publish.h"

enum publish_param { PUBLISH_TILE, PUBLISH_BUDGET };

static const struct alg_param publish_params[] = {
    [PUBLISH_TILE] = { "tile", "B",
                       "bytes of a tile, the unit that is published; 0: half of the window", 0,
                       1 << 24, 0, NULL, .per_call = true, .tune = "16K,64K" },
    [PUBLISH_BUDGET] = { "budget", "B", "bytes of a rank's window; 0: as much as the lease allows",
                         0, 1 << 28, 256 << 10, NULL, .tune = "128K,512K" },
    { .name = NULL },
};

static size_t publish_window_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t set = HUD_LINE * PUBLISH_SETS, wanted = (size_t)param[PUBLISH_BUDGET];

    (void)ranks;
    return (wanted != 0 && wanted < max_bytes ? wanted : max_bytes) / set * set;
}

static const struct alg_family family = {
    .params = publish_params,
    .fixed_bytes = sizeof(struct publish_slot),
    .window_bytes = publish_window_bytes,
};

static void publish_keep_own(const struct publish *p, const struct mem_span *out, size_t room)
{
    if (p->own_bytes > room)
        block_truncate(p->m);
    if (!block_same(&p->own, out))
        mem_move(p->m, out, &p->own, p->own_bytes < room ? p->own_bytes : room);
}

static void publish_run(struct mem *m, const struct coll *c, bool parts)
{
    int me = mem_rank(m), ranks = mem_size(m);
    struct publish_slot *mine = mem_slot(m, me);
    size_t set = c->place->window_bytes / PUBLISH_SETS, tile = (size_t)c->param[PUBLISH_TILE], room;
    struct publish p = { .m = m,
                         .c = c,
                         .parts = parts,
                         .set_bytes = set,
                         .tile_bytes = tile != 0 && tile < set ? mem_lines(tile) : set,
                         .own = { .view = c->in },
                         .own_bytes = c->in->bytes,
                         .round = mem_get(m, &mine->round) };
    const struct mem_span out = publish_block(&p, me, &room);
    uint64_t more;

    if (!parts && coll_in_place(c))
        p.own = out, p.own_bytes = c->bytes;
    do {
        more = publish_own(&p) & FRAGMENT_MORE;
        if (p.done == 0)
            publish_keep_own(&p, &out, room);
        for (int k = 1; k < ranks; k++)
            more |= publish_copy_out(&p, (me + k) % ranks) & FRAGMENT_MORE;
        p.round++;
        p.done += p.tile_bytes;
    } while (more);
    mem_put(m, &mine->round, p.round);
}

static void allgather_publish(struct mem *m, const struct coll *c)
{
    publish_run(m, c, false);
}

ALG_DEFINE(allgather, publish) = {
    .coll = "allgather",
    .name = "publish",
    .doc = "every rank copies its block into its window; all other ranks copy the block from there",
    .source = "this project, after paper 05",
    .family = &family,
    .run = allgather_publish,
};

static void allgatherv_publish(struct mem *m, const struct coll *c)
{
    publish_run(m, c, true);
}

ALG_DEFINE(allgatherv, publish) = {
    .coll = "allgatherv",
    .name = "publish",
    .doc = "every rank copies its block, of any size, into its window; all other ranks copy the "
           "block from there",
    .source = "this project, after paper 05",
    .family = &family,
    .run = allgatherv_publish,
};
