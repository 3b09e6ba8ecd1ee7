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

static struct hud_view ins[MAX_RANKS], outs[MAX_RANKS];
static size_t blocks[MAX_RANKS];

/* Prepares a shot: fills data, and sets the views of each rank's block, or of the whole message, as
 * for this rank as root.  Other ranks have the same views, or do not need them, and the next call
 * of a loop may have another root. */
static void prepare(const struct shots_call *c)
{
    struct shots_call own = *c;

    data_fill(c);
    own.root = c->rank;
    for (int r = 0; r < c->ranks; r++) {
        struct coll_piece to = data_piece(&own, c->rank, r), from = data_piece(&own, r, c->rank);
        ins[r] = (struct hud_view){ .base = (char *)c->in + to.in_at, .bytes = to.bytes };
        outs[r] = (struct hud_view){ .base = (char *)c->out + from.out_at, .bytes = from.bytes };
        blocks[r] = to.bytes;
    }
    if (!coll_in_each(c->kind, own.root, c->rank))
        ins[0] = (struct hud_view){ .base = c->in, .bytes = data_sent(&own) };
    if (!coll_out_each(c->kind, own.root, c->rank))
        outs[0] = (struct hud_view){ .base = c->out, .bytes = data_received(&own) };
}

static struct hud_args args_of(const struct shots_call *c)
{
    return (struct hud_args){ .collective = c->kind,
                              .root = c->root,
                              .in = ins,
                              .out = outs,
                              .block_bytes = blocks,
                              .op = sum() };
}

static int call_nonblocking(const struct shots_call *c)
{
    struct hud_args args = args_of(c);
    hud_request *request;
    int status = hud_request_create(team_of(c), &args, NULL, &request);

    if (status != HUD_OK)
        return status;
    status = hud_request_start(request);
    if (status == HUD_OK)
        status = hud_request_wait(request);
    hud_request_free(request);
    return status;
}

/* Makes a persistent call.  The request is prepared once for all calls with the same arguments. */
static int call_persistent(const struct shots_call *c)
{
    struct teams_kept *kept = &((struct teams_host *)c->host)->kept;
    const struct shots_call *of = &kept->of;
    struct hud_args args = args_of(c);

    if (!kept->request || of->kind != c->kind || of->bytes != c->bytes || of->root != c->root ||
        of->in != c->in || of->out != c->out) {
        hud_request_free(kept->request);
        kept->of = *c;
        int status = hud_request_create(team_of(c), &args, NULL, &kept->request);
        if (status != HUD_OK)
            return status;
    }
    int status = hud_request_start(kept->request);
    return status == HUD_OK ? hud_request_wait(kept->request) : status;
}

/* Makes a blocking call, by the collective's own function if there is one. */
static int call_blocking(const struct shots_call *c)
{
    hud_team *team = team_of(c);
    struct hud_args args;

    switch (c->kind) {
    case COLL_BARRIER:
        return hud_barrier(team);
    case COLL_BCAST:
        return hud_bcast(team, outs, c->root);
    case COLL_REDUCE:
        return hud_reduce(team, ins, outs, sum(), c->root);
    case COLL_ALLREDUCE:
        return hud_allreduce(team, ins, outs, sum());
    case COLL_REDUCE_SCATTER:
        return hud_reduce_scatter(team, ins, outs, blocks, sum());
    case COLL_ALLTOALL:
        return hud_alltoall(team, ins, outs);
    case COLL_ALLTOALLV:
        return hud_alltoallv(team, ins, outs);
    default:
        args = args_of(c);
        return hud_call(team, &args);
    }
}

static int call_any(const struct shots_call *c)
{
    static int (*const by_way[])(const struct shots_call *c) = {
        [SHOTS_BLOCKING] = call_blocking,
        [SHOTS_NONBLOCKING] = call_nonblocking,
        [SHOTS_PERSISTENT] = call_persistent,
    };

    return by_way[((struct teams_host *)c->host)->way](c);
}

const struct shots_coll *teams_colls(void)
{
    static struct shots_coll rows[COLL_KINDS + 1];

    data_colls(call_any, prepare, rows);
    return rows;
}
