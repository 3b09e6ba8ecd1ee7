/* SPDX-License-Identifier: BSD-3-Clause */
/* vector_views.c - calls with a buffer for each rank, in one direction or in both.  Their views are
 * in struct per_rank. */
#include "buffer.h"
#include "coll/coll.h"

static void open_views(const struct blocks *b, int ranks, struct buffer *buffer,
                       struct view_state *states, MODULE *module, struct hud_view *views)
{
    begin_buffer(buffer);
    for (int i = 0; i < ranks; i++) {
        const TYPE *type = b->types != NULL ? b->types[i] : b->type;
        ptrdiff_t unit = b->types != NULL ? 1 : type->super.ub - type->super.lb;
        hud_view_open((char *)(uintptr_t)b->base + b->at[i] * unit, (size_t)b->counts[i], type,
                      &states[i], buffer->convertor, (struct hud_module *)module, &views[i]);
    }
}

static int close_views(struct buffer *buffer, int ranks, struct hud_view *views, int status)
{
    for (int i = 0; i < ranks; i++)
        status = hud_view_close(&views[i], status);
    end_buffer(buffer);
    return status;
}

int hud_vector_close(struct call *c, unsigned shape, int status)
{
    if (shape & SHAPE_VECTORS_IN)
        status = close_views(&c->in, c->ranks, c->room->in_views, status);
    if (shape & SHAPE_VECTORS_OUT)
        status = close_views(&c->out, c->ranks, c->room->out_views, status);
    return status;
}

int hud_vector_exchange(struct call *c, const struct blocks *in, const struct blocks *out,
                        COMM *comm, MODULE *module)
{
    int ranks = ompi_comm_size(comm);

    open_views(in->base == MPI_IN_PLACE ? out : in, ranks, &c->in, c->room->in_states, module,
               c->room->in_views);
    open_views(out, ranks, &c->out, c->room->out_states, module, c->room->out_views);
    c->ranks = ranks;
    c->args.collective = COLL_ALLTOALLV;
    c->args.in = c->room->in_views;
    c->args.out = c->room->out_views;
    return HUD_OK;
}

/* Opens the view of a single block.  In place, returns this rank's view among the open views of
 * all. */
static const struct hud_view *open_one(struct buffer *s, const void *buffer, int count,
                                       const TYPE *type, MODULE *module,
                                       const struct hud_view *own_of_all)
{
    bool in_place = buffer == MPI_IN_PLACE && own_of_all != NULL;

    open_buffer_or_none(!in_place, s, buffer, (size_t)count, type, module);
    return in_place ? own_of_all : &s->view;
}

int hud_vector_gather(struct call *c, const void *in, int ins, const TYPE *in_type,
                      const struct blocks *out, COMM *comm, MODULE *module)
{
    struct hud_view *views = c->room->out_views;

    c->ranks = out != NULL ? ompi_comm_size(comm) : 0;
    open_views(out, c->ranks, &c->out, c->room->out_states, module, views);
    c->args.in = open_one(&c->in, in, ins, in_type, module,
                          out != NULL ? &views[ompi_comm_rank(comm)] : NULL);
    c->args.out = views;
    return HUD_OK;
}

int hud_vector_scatter(struct call *c, const struct blocks *in, void *out, int outs,
                       const TYPE *out_type, COMM *comm, MODULE *module)
{
    struct hud_view *views = c->room->in_views;

    c->ranks = in != NULL ? ompi_comm_size(comm) : 0;
    open_views(in, c->ranks, &c->in, c->room->in_states, module, views);
    c->args.in = views;
    c->args.out = open_one(&c->out, out, outs, out_type, module,
                           in != NULL ? &views[ompi_comm_rank(comm)] : NULL);
    return HUD_OK;
}
