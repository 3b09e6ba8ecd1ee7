/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - alltoall/messages, baseline: the exchanges of send and receive that paper 02's tiles
 * are compared with.  Slot, lines and edges: messages.h.
 *
 * Source    paper 02, 4.3: MVAPICH's Bruck for small blocks (Bruck et al. 1997), isend/irecv for
 *           medium ones, pairwise exchange for large ones.
 * Shape     p ranks, n bytes a block.  pairwise: p - 1 steps, in each of which two ranks exchange:
 *           rank ^ step where p is a power of two, else step - rank.  isend: all pairs at once,
 *           fragment by fragment.  bruck: ceil(log2 p) steps; in step k a rank sends the blocks
 *           whose distance has bit k to the rank 2^k further on.
 * Cost      l ns one line transfer, t ns per byte copied in and out, f bytes of a fragment:
 *             pairwise, isend   T = (p - 1) (ceil(n / f) l + n t)
 *             bruck             T = ceil(log2 p) l + (p / 2 ceil(log2 p) + p) n t
 * Accepts   any block, if the lease has room for a cell between each two ranks; bruck: of at most
 *           256 bytes.
 *
 * Deadlock freedom
 *   1. pairwise, bruck: a rank is at (s, k) until it has sent and received fragment k of step s.
 *      It waits there for a cell that its receiver frees at an earlier (s, k), or for a fragment
 *      that its sender sends at this one, which waits for an earlier one at most.  So one at the
 *      minimum waits for nobody.
 *   2. isend: the same with k alone.
 *   3. Of ranks whose blocks differ, one that has sent or received its last fragment of a step goes
 *      on with the other half alone.
 *
 * Safety
 *   1. In place: fragment k of a block is sent before fragment k of the same block is received, and
 *      all but the last are full.
 *   2. bruck: a cell holds the same number of blocks whatever their bytes, and chunk k is sent
 *      before chunk k is received.  So a block on its way is not overwritten before it was sent.
 */
#include "alg/block.h"
#include "alg/messages/messages.h"

enum param { FRAGMENT, CELLS, FORM };
enum form { PAIRWISE, ISEND, BRUCK };
enum { BRUCK_MAX = 256, BRUCK_STRIDE = 8 + BRUCK_MAX }; /* bytes of a block, and with its length */

static const char *const forms[] = { "pairwise", "isend", "bruck", NULL };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a message that go at once", HUD_ELEMENT_MAX,
                   1 << 20, HUD_ELEMENT_MAX, NULL },
    [CELLS] = { "cells", "1", "of a pair's queue; fewer where the lease holds fewer", 1, 256, 4,
                NULL },
    [FORM] = { "form", "", "which of MVAPICH's exchanges", PAIRWISE, BRUCK, PAIRWISE, forms },
    { .name = NULL },
};

static struct messages_form form_of(const long *param, int ranks)
{
    return (struct messages_form){ (size_t)param[FRAGMENT], (size_t)param[CELLS],
                                   param[FORM] == BRUCK ? (size_t)ranks * BRUCK_STRIDE : 0 };
}

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    const struct messages_form form = form_of(param, ranks);

    return messages_bytes(&form, ranks, max_bytes);
}

static bool accepts(const struct coll *c, int ranks)
{
    (void)ranks;
    return c->param[FORM] != BRUCK || c->bytes <= BRUCK_MAX;
}

/* Sends the next fragment of the block for a rank.  False: it was the last. */
static bool send_next(const struct messages *x, const struct coll *c, int to, size_t *done)
{
    size_t rest = c->bytes - *done, bytes = rest < x->max_bytes ? rest : x->max_bytes;
    mem_flag *cell = messages_free_cell(x, to);

    mem_in_all(x->m, messages_data(cell), c->in, (size_t)to * c->bytes + *done, bytes);
    messages_send(x, to, cell, fragment_header(bytes, rest));
    *done += bytes;
    return *done < c->bytes;
}

/* The same of the block from a rank. */
static bool receive_next(const struct messages *x, const struct coll *c, int from, size_t *done)
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

static void pairwise(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m);
    bool power = (ranks & (ranks - 1)) == 0;

    for (int step = 0; step < ranks; step++) {
        int peer = power ? me ^ step : (step + ranks - me) % ranks;
        bool sends = peer != me, receives = sends;
        for (size_t sent = 0, got = 0; sends || receives;) {
            sends = sends && send_next(x, c, peer, &sent);
            receives = receives && receive_next(x, c, peer, &got);
        }
    }
}

static void isend(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m), open = ranks - 1;

    for (int r = 0; r < ranks; r++)
        mem_put(x->m, &messages_pair(x, me, r)->open, r != me);
    for (size_t done = 0; open > 0 || done == 0 || done < c->bytes; done += x->max_bytes) {
        for (int k = 1; k < ranks && (done == 0 || done < c->bytes); k++) {
            size_t sent = done;
            send_next(x, c, (me + k) % ranks, &sent);
        }
        for (int k = 1; k < ranks; k++) {
            int from = (me + ranks - k) % ranks;
            uint64_t *more = &messages_pair(x, me, from)->open;
            size_t got = done;
            if (mem_get(x->m, more) == 0)
                continue;
            mem_put(x->m, more, receive_next(x, c, from, &got));
            open -= mem_get(x->m, more) == 0;
        }
    }
}

/* ---- bruck: blocks by their distance, each with its length ---- */

static char *kept_at(const struct messages *x, int distance)
{
    char *behind = (char *)messages_pair(x, mem_rank(x->m), mem_size(x->m));

    return behind + (size_t)distance * BRUCK_STRIDE;
}

/* The next distance with this bit; at least `ranks`: there is none. */
static int next_of(int bit, int distance)
{
    for (distance++; !(distance & bit);)
        distance++;
    return distance;
}

static size_t copy_block(struct mem *m, char *to, const char *from)
{
    size_t bytes = mem_get(m, (const uint64_t *)(const void *)from);

    mem_put(m, (uint64_t *)(void *)to, bytes);
    mem_copy(m, to + 8, from + 8, bytes);
    return BRUCK_STRIDE;
}

/* Moves as many blocks as a cell holds, from this distance on, into it or out of it.  Returns the
 * distance of the next one. */
static int move_blocks(const struct messages *x, char *cell, int bit, int distance, bool send)
{
    size_t room = x->max_bytes / BRUCK_STRIDE;

    for (; room > 0 && distance < mem_size(x->m); distance = next_of(bit, distance), room--) {
        char *kept = kept_at(x, distance);
        cell += copy_block(x->m, send ? cell : kept, send ? kept : cell);
    }
    return distance;
}

static void bruck_step(const struct messages *x, int bit)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m), to = (me + bit) % ranks,
        from = (me + ranks - bit) % ranks;

    for (int at = bit, end; at < ranks; at = end) {
        mem_flag *cell = messages_free_cell(x, to);
        end = move_blocks(x, messages_data(cell), bit, at, true);
        messages_send(x, to, cell, 0);
        move_blocks(x, messages_data(messages_await(x, from)), bit, at, false);
        messages_acknowledge(x, from);
    }
}

static void bruck(const struct messages *x, const struct coll *c)
{
    int me = mem_rank(x->m), ranks = mem_size(x->m);

    for (int k = 0; k < ranks; k++) {
        char *kept = kept_at(x, k);
        mem_put(x->m, (uint64_t *)(void *)kept, c->bytes);
        mem_in_all(x->m, kept + 8, c->in, (size_t)((me + k) % ranks) * c->bytes, c->bytes);
    }
    for (int bit = 1; bit < ranks; bit *= 2)
        bruck_step(x, bit);
    for (int k = 0; k < ranks; k++) {
        char *kept = kept_at(x, k);
        const struct mem_span to = block_at(c->out, c->bytes, (me + ranks - k) % ranks);
        block_out(x->m, &to, c->bytes, kept + 8, mem_get(x->m, (uint64_t *)(void *)kept));
    }
}

static void alltoall_messages(struct mem *m, const struct coll *c)
{
    static void (*const run[])(const struct messages *x, const struct coll *c) = {
        [PAIRWISE] = pairwise, [ISEND] = isend, [BRUCK] = bruck
    };
    const struct messages_form form = form_of(c->param, mem_size(m));
    const struct shape_tree none = { .ranks = mem_size(m) };
    const struct messages x = messages_begin(m, c, &form, &none);
    const struct mem_span in = block_at(c->in, c->bytes, mem_rank(m)),
                          out = block_at(c->out, c->bytes, mem_rank(m));

    run[c->param[FORM]](&x, c);
    if (c->param[FORM] != BRUCK && !coll_in_place(c))
        mem_move(m, &out, &in, c->bytes);
}

static const struct alg_family family = {
    .params = params,
    .slot_bytes = slot_bytes,
};

ALG_DEFINE(alltoall, messages) = {
    .coll = "alltoall",
    .name = "messages",
    .doc = "baseline: messages between each two ranks, by pairs, all at once, or Bruck's way",
    .source = "paper 02, Alltoall: MVAPICH 1.1",
    .baseline = true,
    .family = &family,
    .accepts = accepts,
    .run = alltoall_messages,
};
