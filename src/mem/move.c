/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * move.c - copies between spans: directly from memory to memory if possible, and in pieces through
 * the stack from packed view to packed view.
 *
 * A copy that is too large for the L1 cache uses non-temporal stores.  lab/evidence/copies.csv has
 * exchanges by single copy, which contain such copies.  On an EPYC with 1 MB of L2, non-temporal
 * stores pay from 4 MB on (lab/evidence/E68.csv).
 */
#include "mem/mem.h"

enum { PIECE = 8192 }; /* bytes */

static void give(const struct mem *m, const struct mem_span *to, const void *from, size_t bytes)
{
    size_t min = m->policy->move_bytes;

    if (!to->shared && to->view->unpack)
        to->view->unpack(to->view, from, to->offset_bytes, bytes);
    else if (min != 0 && bytes >= min)
        hud_mem_stream(mem_span_at(to), from, bytes);
    else
        memcpy(mem_span_at(to), from, bytes);
}

void hud_mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from,
                  size_t bytes)
{
    char aside[PIECE];
    bool packs = !from->shared && from->view->pack, unpacks = !to->shared && to->view->unpack;

    bytes = mem_span_fits(m, to, bytes);
    if (!packs && bytes != 0)
        give(m, to, mem_span_at(from), bytes);
    for (size_t done = 0, n; packs && done < bytes; done += n) {
        size_t max = unpacks && bytes - done > PIECE ? PIECE : bytes - done;
        n = from->view->pack(from->view, unpacks ? aside : mem_span_at(to) + done,
                             from->offset_bytes + done, max);
        if (unpacks)
            to->view->unpack(to->view, aside, to->offset_bytes + done, n);
    }
}
