/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * inline.c - every rank reduces the contributions of all ranks below it: scan/inline,
 * exscan/inline (prefix.h).
 *
 * Shape     p ranks, n bytes.  Rank r reads the contributions of ranks 0 ... r - 1.
 * Cost      T = l + (p - 2) g + p o + p n t     ns; l one line transfer, g one more overlapped
 *           line, o a copy or reduction of n bytes in the L1 cache, t per byte copied, for bytes
 *           that do not fit into a line
 *           traffic: n bytes written; p n read
 */
#include "alg/scan/prefix.h"

static const struct alg_param params[] = {
    [PREFIX_BUDGET] = { "budget", "B",
                        "bytes of the window, which holds 16 contributions with their flags",
                        PREFIX_RING *HUD_LINE, 1 << 24, 132 << 10, NULL },
    [PREFIX_SEGMENT] = { "segment", "1",
                         "ranks of a segment (algorithm segments only); 0: about the square root "
                         "of all ranks",
                         0, 1 << 16, 0, NULL, .per_call = true },
    { .name = NULL },
};

static size_t slot_bytes(const long *param, int ranks, size_t max_bytes)
{
    size_t lines = sizeof(struct prefix_slot), wanted = lines + (size_t)param[PREFIX_BUDGET],
           bytes = wanted < max_bytes ? wanted : max_bytes;

    (void)ranks;
    return bytes < lines + (size_t)PREFIX_RING * HUD_LINE ? 0 : bytes / HUD_LINE * HUD_LINE;
}

const struct alg_family HUD_BACKEND(prefix_family) = {
    .params = params,
    .slot_bytes = slot_bytes,
};

static void run_inline(struct mem *m, const struct coll *c, bool exclusive)
{
    const struct prefix p = prefix_of(m, c);
    const struct mem_span out = { .view = c->out };
    struct sources all;

    prefix_contribute(&p);
    prefix_await(&p, 0, 1);
    sources_begin(&all, m, c, &out, c->bytes);
    prefix_add(&p, 0, p.me, 1, &all);
    if (!exclusive)
        sources_add(&all, prefix_own_span(&p));
    prefix_finish(&p, &all, &out);
}

static void scan_inline(struct mem *m, const struct coll *c)
{
    run_inline(m, c, false);
}

static void exscan_inline(struct mem *m, const struct coll *c)
{
    run_inline(m, c, true);
}

/* Fields of both rows. */
#define INLINE(coll_)                                                                              \
    .coll = #coll_, .name = "inline",                                                              \
    .doc =                                                                                         \
        "a flag publishes each contribution; every rank reduces the contributions of all lower "   \
        "ranks",                                                                                   \
    .source = "this project, after papers 01 (sets) and 05", .ordered = true,                      \
    .accepts = prefix_accepts, .family = &HUD_BACKEND(prefix_family), .run = coll_##_inline

ALG_DEFINE(scan, inline) = { INLINE(scan) };

ALG_DEFINE(exscan, inline) = { INLINE(exscan) };
