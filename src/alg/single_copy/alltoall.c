/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * alltoall.c - alltoall/cma_read, alltoall/cma_write and alltoallv/cma_read: exchange.h with the
 * blocks of the call.
 */
#include "alg/single_copy/exchange.h"

static const char *const steps[] = { "free", "even", NULL };

static const struct alg_param params[] = {
    [OFFERS] = { "offers", "B",
                 "bytes of each of a rank's two areas for small blocks, which pass through shared "
                 "memory instead of the kernel",
                 4096, 512 << 10, 16 << 10, NULL, .tune = "256K" },
    [OFFERS_STEPS] = { "steps", "",
                       "even: after each copy a rank waits until its peer has made the copy of the "
                       "same step; free: no such wait",
                       STEPS_FREE, STEPS_EVEN, STEPS_FREE, steps, .per_call = true,
                       .tune = "even" },
    { .name = NULL },
};

const struct alg_family HUD_BACKEND(exchange_family) = {
    .params = params,
    .direct = true,
    .window_bytes = offers_window_bytes,
    .lines_bytes = offers_lines_bytes,
};

/* ---- alltoall ---- */

static struct block block_sent(const struct coll *c, int rank)
{
    return (struct block){ block_at(c->in, c->bytes, rank), c->bytes };
}

static struct block block_got(const struct coll *c, int rank)
{
    return (struct block){ block_at(c->out, c->bytes, rank), c->bytes };
}

static void alltoall_cma_read(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, block_sent, block_got);
}

static void alltoall_cma_write(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, true, block_sent, block_got);
}

ALG_DEFINE(alltoall, cma_read) = {
    EXCHANGE_ALG(alltoall, cma_read, "every rank reads its blocks from the other ranks' buffers"),
};

ALG_DEFINE(alltoall, cma_write) = {
    EXCHANGE_ALG(alltoall, cma_write, "every rank writes its blocks into the other ranks' buffers"),
};

/* ---- alltoallv ---- */

static struct block view_sent(const struct coll *c, int rank)
{
    return (struct block){ { .view = &c->in[rank] }, c->in[rank].bytes };
}

static struct block view_got(const struct coll *c, int rank)
{
    return (struct block){ { .view = &c->out[rank] }, c->out[rank].bytes };
}

static void alltoallv_cma_read(struct mem *m, const struct coll *c)
{
    exchange_blocks(m, c, false, view_sent, view_got);
}

ALG_DEFINE(alltoallv, cma_read) = {
    EXCHANGE_ALG(alltoallv, cma_read, "every rank reads its blocks from the other ranks' buffers"),
};
