/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * blocks.h - alltoall/messages in the forms pairwise and isend: each block goes in fragments from
 * its rank to the rank that receives it.
 *
 * Source    paper 02, 4.3: MVAPICH's pairwise exchange for large blocks, isend/irecv for medium
 *           ones.
 * Shape     p ranks.  pairwise: p - 1 steps, in each of which two ranks exchange: rank ^ step if p
 *           is a power of two, else step - rank.  isend: all pairs at once, fragment by fragment.
 *
 * Line                     written by  read by  meaning
 *   slot[r].pair[d].open   r           r        (plain) isend: more fragments will come from d
 *
 * Deadlock freedom
 *   1. pairwise: a rank is at (s, k) until it has sent and received fragment k of step s.  It waits
 *      there for a cell that its receiver frees at an earlier (s, k), or for a fragment that its
 *      sender sends at this (s, k).  The sender itself waits at most for an earlier (s, k).  So a
 *      rank at the minimum waits for no other rank.
 *   2. isend: the same with k alone.
 *   3. If ranks have blocks of different sizes, a rank that has sent or received its last fragment
 *      of a step continues with only the other direction.
 *
 * Safety
 *   1. In place: fragment k of a block is sent before fragment k of the same block is received,
 *      and all fragments except the last are full.
 */
#ifndef HUD_ALG_MESSAGES_BLOCKS_H
#define HUD_ALG_MESSAGES_BLOCKS_H

#include "alg/block.h"
#include "lab/alg/messages/messages.h"

/* Sends the next fragment of the block for a rank.  Returns false if this was the last fragment. */
static inline bool blocks_send(const struct messages *x, const struct coll *c, int to, size_t *done)
{
    size_t rest = c->bytes - *done, bytes = rest < x->max_bytes ? rest : x->max_bytes;
    mem_flag *cell = messages_free_cell(x, to);

    mem_in_all(x->m, messages_data(cell), c->in, (size_t)to * c->bytes + *done, bytes);
    messages_send(x, to, cell, fragment_header(bytes, rest));
    *done += bytes;
    return *done < c->bytes;
}

/* Receives the next fragment of the block from a rank.  Returns false if this was the last
 * fragment. */
static inline bool blocks_receive(const struct messages *x, const struct coll *c, int from,
                                  size_t *done)
{
    mem_flag *cell = messages_await(x, from);
    uint64_t header = mem_get(x->m, cell->payload);
    size_t room = block_left(c->bytes, *done);
    const struct mem_span to = { .view = c->out,
                                 .offset_bytes = (size_t)(from + 1) * c->bytes - room };

    block_out(x->m, &to, room, messages_data(cell), fragment_bytes(header));
    messages_acknowledge(x, from);
    *done += fragment_bytes(header);
    return header & FRAGMENT_MORE;
}

/* Exchanges all blocks except this rank's own, pair by pair. */
static inline void blocks_pairwise(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m);
    bool power = (ranks & (ranks - 1)) == 0;

    for (int step = 0; step < ranks; step++) {
        int peer = power ? me ^ step : (step + ranks - me) % ranks;
        bool sends = peer != me, receives = sends;
        for (size_t sent = 0, got = 0; sends || receives;) {
            sends = sends && blocks_send(x, c, peer, &sent);
            receives = receives && blocks_receive(x, c, peer, &got);
        }
    }
}

/* Exchanges all blocks except this rank's own, all pairs at once. */
static inline void blocks_isend(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m), open = ranks - 1;

    for (int r = 0; r < ranks; r++)
        mem_put(x->m, &messages_pair(x, me, r)->open, r != me);
    for (size_t done = 0; open > 0 || done == 0 || done < c->bytes; done += x->max_bytes) {
        for (int k = 1; k < ranks && (done == 0 || done < c->bytes); k++) {
            size_t sent = done;
            blocks_send(x, c, (me + k) % ranks, &sent);
        }
        for (int k = 1; k < ranks; k++) {
            int from = (me + ranks - k) % ranks;
            uint64_t *more = &messages_pair(x, me, from)->open;
            size_t got = done;
            if (mem_get(x->m, more) == 0)
                continue;
            mem_put(x->m, more, blocks_receive(x, c, from, &got));
            open -= mem_get(x->m, more) == 0;
        }
    }
}

#endif
