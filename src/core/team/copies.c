/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copies.c - a request's own copy of its arguments.
 *
 * The functions of the host in it run on the caller's stack, since that of a strand may be too
 * small for them: each is replaced by one that asks the strand's resumer to call it.
 */
#include "core/team/args.h"
#include "core/team/requests.h"
#include "ops/ops.h"

/* ---- functions of the host ---- */

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

    hud_strand_ask(packed->request->strand, pack_outside, &p);
    return p.done;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    const struct request_packed *packed = view->host;
    struct packing p = {
        .user = &packed->user, .src = src, .offset_bytes = offset_bytes, .bytes = bytes
    };

    hud_strand_ask(packed->request->strand, unpack_outside, &p);
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

    hud_strand_ask(r->strand, combine_outside, &c);
}

/* Huddle's own functions need little stack. */
static bool is_kernel(struct hud_team *team, const struct hud_op *op)
{
    const struct hud_ops_path *path;

    if (op->combine == team->kernel)
        return true;
    for (int i = 0; (path = hud_ops_path_at(i)) != NULL; i++)
        for (int o = 0; o < HUD_OPERATIONS; o++)
            for (int t = 0; t < HUD_TYPES; t++)
                if (path->kernels[o][t] == op->combine) {
                    team->kernel = op->combine;
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

static bool has_views(const struct hud_args *a)
{
    return coll_has(a->collective, COLL_VIEWS);
}

static bool has_blocks(const struct hud_args *a)
{
    return coll_has(a->collective, COLL_COUNTS) && a->block_bytes;
}

size_t hud_request_room(const struct hud_team *team, const struct hud_args *a)
{
    size_t ranks = (size_t)team->size;
    size_t views = has_views(a) ? 2 * (sizeof(struct hud_view) + sizeof(struct request_packed)) : 0;

    return ranks * (views + (has_blocks(a) ? sizeof *a->block_bytes : 0));
}

/* An array of the request's, at *at. */
static const struct hud_view *copy_views(struct hud_request *r, const struct hud_view *from,
                                         char **at)
{
    size_t ranks = (size_t)r->team->size;
    struct hud_view *to = (struct hud_view *)(void *)*at;
    struct request_packed *packed = (struct request_packed *)(void *)(to + ranks);

    if (!from)
        return NULL;
    *at = (char *)(packed + ranks);
    for (size_t i = 0; i < ranks; i++)
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
    size_t blocks = (size_t)r->team->size * sizeof *a->block_bytes;
    char *at = r->more;

    r->args = *a;
    copy_op(r, coll_has(a->collective, COLL_REDUCES) ? a->op : NULL);
    if (has_views(a)) {
        r->args.in = copy_views(r, a->in, &at);
        r->args.out = a->out == a->in ? r->args.in : copy_views(r, a->out, &at);
    } else {
        if (a->in)
            copy_view(r, a->in, &r->in, &r->packed_in);
        if (a->out)
            copy_view(r, a->out, &r->out, &r->packed_out);
        r->args.in = a->in ? &r->in : NULL;
        r->args.out = a->out ? &r->out : NULL;
    }
    r->args.block_bytes = has_blocks(a) ? memcpy(at, a->block_bytes, blocks) : NULL;
}
