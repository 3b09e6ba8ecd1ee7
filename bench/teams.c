/* SPDX-License-Identifier: BSD-3-Clause */
/* teams.c - see teams.h. */
#include "teams.h"

#include "data.h"

enum { MAX_RANKS = 1024 };

static hud_team *team_of(const struct shots_call *c)
{
    return ((struct teams_host *)c->host)->team;
}

static const struct hud_op *sum(void)
{
    static struct hud_op op;

    if (!op.combine)
        hud_op_find(HUD_SUM, HUD_DOUBLE, &op);
    return &op;
}

static int call_barrier(const struct shots_call *c)
{
    return hud_barrier(team_of(c));
}

static int call_bcast(const struct shots_call *c)
{
    return hud_bcast(team_of(c), &(struct hud_view){ .base = c->out, .bytes = c->bytes }, c->root);
}

static int call_reduce(const struct shots_call *c)
{
    const struct hud_view in = { .base = c->in, .bytes = data_elements(c) * sizeof(double) },
                          out = { .base = c->out, .bytes = in.bytes };

    return hud_reduce(team_of(c), &in, &out, sum(), c->root);
}

static int call_allreduce(const struct shots_call *c)
{
    const struct hud_view in = { .base = c->in, .bytes = data_elements(c) * sizeof(double) },
                          out = { .base = c->out, .bytes = in.bytes };

    return hud_allreduce(team_of(c), &in, &out, sum());
}

static int call_reduce_scatter(const struct shots_call *c)
{
    const struct hud_view in = { .base = c->in, .bytes = data_elements(c) * sizeof(double) };
    const struct hud_view out = { .base = c->out,
                                  .bytes = data_block(c, c->rank) * sizeof(double) };
    size_t blocks[MAX_RANKS];

    for (int r = 0; r < c->ranks; r++)
        blocks[r] = data_block(c, r) * sizeof(double);
    return hud_reduce_scatter(team_of(c), &in, &out, blocks, sum());
}

static int call_alltoall(const struct shots_call *c)
{
    const struct hud_view in = { .base = c->in, .bytes = c->bytes * (size_t)c->ranks },
                          out = { .base = c->out, .bytes = in.bytes };

    return hud_alltoall(team_of(c), &in, &out);
}

/* The blocks of an alltoall, one by one. */
static int call_alltoallv(const struct shots_call *c)
{
    struct hud_view in[MAX_RANKS], out[MAX_RANKS];

    for (int r = 0; r < c->ranks; r++) {
        in[r] =
            (struct hud_view){ .base = (char *)c->in + (size_t)r * c->bytes, .bytes = c->bytes };
        out[r] =
            (struct hud_view){ .base = (char *)c->out + (size_t)r * c->bytes, .bytes = c->bytes };
    }
    return hud_alltoallv(team_of(c), in, out);
}

const struct shots_coll teams_colls[] = {
#define DATA(name, moves, fill, wrong) { #name, moves, call_##name, fill, wrong },
#include "data.def"
#undef DATA
    { .name = NULL },
};
