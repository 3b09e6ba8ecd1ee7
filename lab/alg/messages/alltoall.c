/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoall/messages, baseline: the exchanges by send and receive with which paper 02's
 * tiles are compared.  The forms pairwise and isend are in blocks.h, bruck is in bruck.h.  Slot,
 * lines and edges: messages.h.
 *
 * Source    paper 02, 4.3: MVAPICH's Bruck for small blocks (Bruck et al. 1997), isend/irecv for
 *           medium ones, pairwise exchange for large ones.
 * Shape     p ranks, n bytes a block.  pairwise: p - 1 steps, in each of which two ranks exchange:
 *           rank ^ step if p is a power of two, else step - rank.  isend: all pairs at once,
 *           fragment by fragment.  bruck: ceil(log2 p) steps; in step k a rank sends the blocks
 *           whose distance has bit k to the rank 2^k further on.
 * Cost      l ns one line transfer, t ns per byte copied in and out, f bytes of a fragment:
 *             pairwise, isend   T = (p - 1) (ceil(n / f) l + n t)
 *             bruck             T = ceil(log2 p) l + (p / 2 ceil(log2 p) + p) n t
 * Accepts   any block, if the lease has room for a cell between each two ranks; bruck: blocks of at
 *           most 256 bytes.
 */
#include "lab/alg/messages/blocks.h"
#include "lab/alg/messages/bruck.h"

enum param { FRAGMENT, CELLS, FORM };
enum form { PAIRWISE, ISEND, BRUCK };

static const char *const forms[] = { "pairwise", "isend", "bruck", NULL };

static const struct alg_param params[] = {
    [FRAGMENT] = { "fragment", "B", "f, bytes of a fragment of a message", HUD_ELEMENT_MAX, 1 << 20,
                   HUD_ELEMENT_MAX, NULL },
    [CELLS] = { "cells", "1",
                "number of cells of the queue of a pair of ranks; fewer if the lease is too small",
                1, 256, 4, NULL },
    [FORM] = { "form", "", "algorithm of MVAPICH's exchange", PAIRWISE, BRUCK, PAIRWISE, forms },
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

static void alltoall_messages(struct mem *m, const struct coll *c)
{
    static void (*const run[])(const struct messages *x, const struct coll *c) = {
        [PAIRWISE] = blocks_pairwise, [ISEND] = blocks_isend, [BRUCK] = bruck_run
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
    .doc = "baseline: messages between all pairs of ranks: pairwise, all at once, or by Bruck's "
           "algorithm",
    .source = "paper 02, Alltoall: MVAPICH 1.1",
    .baseline = true,
    .sends = true,
    .family = &family,
    .accepts = accepts,
    .run = alltoall_messages,
};
