/* SPDX-License-Identifier: BSD-3-Clause */
/* move.c - a copy between spans: one of memory to memory where it can be, by pieces through the stack from packed view to packed view. */
#include "mem/mem.h"

enum { PIECE = 8192 }; /* bytes */

static void give(const struct mem *m, const struct mem_span *to, const void *bytes_at, size_t bytes)
{
    if (to->shared)
        memcpy(to->shared, bytes_at, bytes);
    else
        mem_unpack(m, to->view, bytes_at, to->offset_bytes, bytes);
}

void hud_mem_move(struct mem *m, const struct mem_span *to, const struct mem_span *from, size_t bytes)
{
    char aside[PIECE];
    bool packs = !from->shared && from->view->pack, unpacks = !to->shared && to->view->unpack;

    bytes = mem_span_fits(m, to, bytes);
    if (!packs && bytes != 0)
        give(m, to, mem_span_at(from), bytes);
    for (size_t done = 0, n; packs && done < bytes; done += n) {
        size_t most = unpacks && bytes - done > PIECE ? PIECE : bytes - done;
        n = mem_in(m, unpacks ? aside : mem_span_at(to) + done, from->view, from->offset_bytes + done, most);
        if (unpacks)
            to->view->unpack(to->view, aside, to->offset_bytes + done, n);
    }
}
