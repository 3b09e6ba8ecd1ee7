/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bcast.c - bcast/single (cast.h), and the family of all algorithms `single` and `push`.
 *
 * Accepts   any n, if the ranks can reach each other's memory (alg_family.direct) and the lease has
 *           room for a bounce buffer.
 */
#include "alg/single_copy/cast.h"

static void bcast_single(struct mem *m, const struct coll *c)
{
    const struct cast x = { .m = m, .c = c, .root = c->root, .view = c->out };

    cast_run(&x);
}

const struct alg_family HUD_BACKEND(single_family) = {
    .direct = true,
    .window_bytes = single_window_bytes,
    .lines_bytes = single_lines_bytes,
};

ALG_DEFINE(bcast, single) = {
    .coll = "bcast",
    .name = "single",
    .doc = "single copy: receivers read the root's memory while it writes into theirs",
    .source = "this project",
    .family = &HUD_BACKEND(single_family),
    .run = bcast_single,
};
