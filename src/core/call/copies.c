/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copies.c - a request's own copy of its arguments.
 *
 * The functions of the host in it run on the caller's stack, since that of a fiber may be too
 * small for them: each is replaced by one that asks the fiber's resumer to call it.
 */
#include "core/call/args.h"
#include "core/call/core_request.h"
#include "ops/ops.h"

/* ---- functions of the host ---- */

/* Returns the task on which a request runs. */
static struct fiber_task *task_of(const struct hud_request *r)
{
    return r->team->queue.calls.task;
}

struct packing {
    const struct hud_view *user;
    void *dst;
    const void *src;
    size_t offset_bytes, bytes, done;
};

static bool pack_outside(void *arg)
{
    struct packing *p = arg;

    p->done = p->user->pack(p->user, p->dst, p->offset_bytes, p->bytes);
    return true;
}

static bool unpack_outside(void *arg)
{
    struct packing *p = arg;

    p->user->unpack(p->user, p->src, p->offset_bytes, p->bytes);
    return true;
}

static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    const struct request_packed *packed = view->host;
    struct packing p = {
        .user = &packed->user, .dst = dst, .offset_bytes = offset_bytes, .bytes = max_bytes
    };

    hud_fiber_task_ask(task_of(packed->request), pack_outside, &p);
    return p.done;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    const struct request_packed *packed = view->host;
    struct packing p = {
        .user = &packed->user, .src = src, .offset_bytes = offset_bytes, .bytes = bytes
    };

    hud_fiber_task_ask(task_of(packed->request), unpack_outside, &p);
}

struct combining {
    const struct hud_op *user;
    void *dst;
    const void *const *src;
    int sources;
    size_t elements;
};

static bool combine_outside(void *arg)
{
    struct combining *c = arg;

    c->user->combine(c->user, c->dst, c->src, c->sources, c->elements);
    return true;
}

static void combine(const struct hud_op *op, void *dst, const void *const *src, int sources,
                    size_t elements)
{
    struct hud_request *r =
        (struct hud_request *)((uintptr_t)op - offsetof(struct hud_request, op));
    struct combining c = {
        .user = &r->user_op, .dst = dst, .src = src, .sources = sources, .elements = elements
    };

    hud_fiber_task_ask(task_of(r), combine_outside, &c);
}

/* Returns whether an operation is huddle's own function, which needs little stack. */
static bool is_kernel(struct hud_team *team, const struct hud_op *op)
{
    const struct hud_ops_path *path;

    if (op->combine == team->hooks.kernel)
        return true;
    for (int i = 0; (path = hud_ops_path_at(i)) != NULL; i++)
        for (int o = 0; o < HUD_OPERATIONS; o++)
            for (int t = 0; t < HUD_TYPES; t++)
                if (path->kernels[o][t] == op->combine) {
                    team->hooks.kernel = op->combine;
                    return true;
                }
    return false;
}

/* ---- copies ---- */

static void copy_view(struct hud_request *r, const struct hud_view *from, struct hud_view *to,
                      struct request_packed *packed)
{
    *to = *from;
    if (!from->pack && !from->unpack)
        return;
    *packed = (struct request_packed){ .user = *from, .request = r };
    to->host = packed;
    to->pack = from->pack ? pack : NULL;
    to->unpack = from->unpack ? unpack : NULL;
}

/* Returns how many views a rank's call reads, and below writes.  Its other arguments may be
 * anything. */
static size_t in_views(const struct hud_team *team, const struct hud_args *a)
{
    unsigned flags = hud_collectives[a->collective].flags;

    if (!args_moves(flags) || (flags & COLL_ONE_BUFFER) || !args_sends(flags, team, a))
        return 0;
    return coll_in_views(flags) ? (size_t)team->id.size : 1;
}

static size_t out_views(const struct hud_team *team, const struct hud_args *a)
{
    unsigned flags = hud_collectives[a->collective].flags;

    if (!args_moves(flags) || !args_gets(flags, team, a))
        return 0;
    return coll_out_views(flags) ? (size_t)team->id.size : 1;
}

/* Returns the bytes of an array of views.  A single view has its place in the request. */
static size_t array_bytes(size_t views)
{
    return views > 1 ? views * (sizeof(struct hud_view) + sizeof(struct request_packed)) : 0;
}

static size_t block_bytes(const struct hud_team *team, const struct hud_args *a)
{
    bool cuts = coll_has(a->collective, COLL_COUNTS) && coll_has(a->collective, COLL_REDUCES);

    return cuts ? (size_t)team->id.size * sizeof *a->block_bytes : 0;
}

size_t hud_request_room(const struct hud_team *team, const struct hud_args *a)
{
    return array_bytes(in_views(team, a)) + array_bytes(out_views(team, a)) + block_bytes(team, a);
}

/* Copies views into the request's array at *at, or a single view into `one`. */
static const struct hud_view *copy_views(struct hud_request *r, const struct hud_view *from,
                                         size_t views, struct hud_view *one,
                                         struct request_packed *packed, char **at)
{
    struct hud_view *to = one;

    if (views == 0)
        return NULL;
    if (views > 1) {
        to = (struct hud_view *)(void *)*at;
        packed = (struct request_packed *)(void *)(to + views);
        *at = (char *)(packed + views);
    }
    for (size_t i = 0; i < views; i++)
        copy_view(r, &from[i], &to[i], &packed[i]);
    return to;
}

static void copy_op(struct hud_request *r, const struct hud_op *op)
{
    r->args.op = NULL;
    if (!op)
        return;
    r->op = *op;
    r->args.op = &r->op;
    if (is_kernel(r->team, op))
        return;
    r->user_op = *op;
    r->op.combine = combine;
}

void hud_request_copy(struct hud_request *r, const struct hud_args *a)
{
    size_t in = in_views(r->team, a), out = out_views(r->team, a), blocks = block_bytes(r->team, a);
    bool same = in != 0 && in == out && a->in == a->out; /* many views, in place */
    char *at = r->more;

    r->args = *a;
    copy_op(r, coll_has(a->collective, COLL_REDUCES) ? a->op : NULL);
    r->args.in = copy_views(r, a->in, in, &r->in, &r->packed_in, &at);
    r->args.out = same ? r->args.in : copy_views(r, a->out, out, &r->out, &r->packed_out, &at);
    r->args.block_bytes = blocks != 0 ? memcpy(at, a->block_bytes, blocks) : NULL;
}
