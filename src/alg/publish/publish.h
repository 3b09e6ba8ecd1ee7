/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * publish.h - the family `publish`: the slot, and the path of a tile into its rank's window and out
 * of it by all other ranks.  The rounds: publish.c.
 * With two ranks, the reader of a tile returns its lines (mem_out_as).
 *
 * Line              written by   read by       value k means
 *   slot[r].tile    r            all others    r's tile of round k - 1 is in its window; r has
 *                                              finished round k - 2.  With it, the headers of the
 *                                              last two tiles: bytes, and whether more follow
 *   slot[r].round   r            r             (plain) rounds so far, over all operations
 *
 * Edges     R1 -> A1   a rank's copy into its tile  happens before  the others' copies out
 *                      a rank's copies out of the round before  happen before  the others' next
 *                      writes to that set and its header
 *
 * Safety
 *   1. No acknowledgement is needed.  A rank that has announced its tile of round k has finished
 *      round k - 1.  So a rank that has awaited all of these may write the set of k - 1 again, for
 *      k + 1.
 *   2. All tiles of a block except the last are full, so the tile of an operation's round i begins
 *      with byte i f of its block, both in the sender's view and in the receiver's.
 *   3. Bytes beyond the receiver's block are dropped, although a view of equal blocks continues
 *      behind it, and the call reports the truncation.  A shorter block ends where its header says.
 */
#ifndef HUD_ALG_PUBLISH_H
#define HUD_ALG_PUBLISH_H

#include "alg/block.h"
#include "alg/fragment.h"

enum { PUBLISH_SETS = 2 };

struct publish_slot {
    mem_flag tile;
    _Alignas(HUD_LINE) uint64_t round;
};

/* A call on one rank. */
struct publish {
    struct mem *m;
    const struct coll *c;
    bool parts; /* a view for each rank's block; otherwise one view of equal blocks */
    size_t set_bytes, tile_bytes;
    struct mem_span own; /* this rank's block, and its bytes */
    size_t own_bytes;
    uint64_t round; /* number of rounds over all operations */
    size_t done;    /* bytes of each block in the earlier rounds of the call, unless the block
                       has ended */
};

/* Returns the place of a rank's block, and stores its bytes in *bytes. */
static inline struct mem_span publish_block(const struct publish *p, int rank, size_t *bytes)
{
    const struct hud_view *view = p->parts ? &p->c->out[rank] : p->c->out;

    *bytes = p->parts ? view->bytes : p->c->bytes;
    return block_at(view, p->parts ? 0 : p->c->bytes, rank);
}

/* Returns the address of a rank's tile in this round. */
static inline char *publish_tile(const struct publish *p, int rank)
{
    return (char *)mem_window(p->m, rank) + p->round % PUBLISH_SETS * p->set_bytes;
}

/* Publishes this rank's next tile, and returns its header. */
static inline uint64_t publish_own(const struct publish *p)
{
    int me = mem_rank(p->m);
    struct publish_slot *mine = mem_slot(p->m, me);
    size_t rest = block_left(p->own_bytes, p->done),
           bytes = rest < p->tile_bytes ? rest : p->tile_bytes;
    uint64_t header = fragment_header(bytes, rest);

    mem_in_all(p->m, publish_tile(p, me), p->own.view, p->own.offset_bytes + p->done, bytes);
    mem_put(p->m, &mine->tile.payload[p->round % PUBLISH_SETS], header);
    mem_post(p->m, &mine->tile, p->round + 1); /* R1 */
    return header;
}

/* Copies out the same tile of another rank, and returns its header. */
static inline uint64_t publish_copy_out(const struct publish *p, int rank)
{
    struct publish_slot *from = mem_slot(p->m, rank);
    size_t room;
    struct mem_span out = publish_block(p, rank, &room);

    mem_await(p->m, &from->tile, p->round + 1); /* A1 */
    uint64_t header = mem_get(p->m, &from->tile.payload[p->round % PUBLISH_SETS]);
    out.offset_bytes += p->done;
    if (fragment_bytes(header) != 0)
        block_out_as(p->m, &out, block_left(room, p->done), publish_tile(p, rank),
                     fragment_bytes(header), mem_size(p->m) == 2);
    return header;
}

#endif
