/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reductions: MPI's arguments as huddle's views and operation.
 *
 * Elements that huddle handles are never staged (hud_op_open refuses larger ones, on all ranks
 * alike), so no view has to be closed.
 */
#include "host/pmpi/pmpi.h"

/* What a reduction reads and writes; in place: twice the same. */
struct operands {
    struct message from, to;
    const struct hud_view *in;
};

/* Buffers that are one without MPI_IN_PLACE are an error, which the MPI will name. */
static int open_both(const struct comm *c, const void *in, void *out, MPI_Count count,
                     MPI_Datatype type, struct operands *o)
{
    int status = message_open(out, count, type, c->handle, &o->to);

    o->in = in == MPI_IN_PLACE ? &o->to.view : &o->from.view;
    if (status != HUD_OK || in == MPI_IN_PLACE)
        return status;
    status = message_open(in, count, type, c->handle, &o->from);
    return status == HUD_OK && o->from.view.base == o->to.view.base && o->in->bytes > 0 ? HUD_PASS
                                                                                        : status;
}

/* The status of an operation that was not opened.  What huddle does not take on any rank is
 * counted, and with HUDDLE_CHECK announced. */
static int decline(const struct comm *c, int status, const char *name, const char *kind, int root,
                   MPI_Count count, MPI_Datatype handle, MPI_Op op)
{
    struct hud_announced call = {
        .name = name, .root = root, .detail = hud_op_name(op), .unasked = kind
    };
    struct type type;

    if (status != HUD_PASS)
        return status;
    if (count > 0 && hud_type_find(handle, &type)) /* otherwise the MPI finds it wrong */
        call.bytes = (size_t)count * (size_t)type.bytes;
    hud_team_enter(c->team, &call);
    return status;
}

int hud_take_allreduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                       struct comm *c)
{
    const struct hud_op *found;
    struct local_op local;
    struct operands o;

    int status = hud_op_open(op, type, &local, &found);
    if (status != HUD_OK)
        return decline(c, status, "allreduce", NULL, -1, count, type, op);
    status = open_both(c, in, out, count, type, &o);
    if (status == HUD_OK)
        status = hud_allreduce(c->team, o.in, &o.to.view, found);
    hud_op_close(&local);
    return status;
}

/* Of the ranks up to each rank, or before it: rank 0 then gets nothing, and its buffer, which need
 * not be one, is left alone. */
static int prefix(int kind, const char *name, const void *in, void *out, MPI_Count count,
                  MPI_Datatype type, MPI_Op op, struct comm *c)
{
    bool receives = kind != COLL_EXSCAN || c->rank != 0;
    const struct hud_op *found;
    struct local_op local;
    struct operands o;

    int status = hud_op_open(op, type, &local, &found);
    if (status != HUD_OK)
        return decline(c, status, name, NULL, -1, count, type, op);
    o.in = &o.from.view;
    status = receives
                 ? open_both(c, in, out, count, type, &o)
                 : message_open(in == MPI_IN_PLACE ? out : in, count, type, c->handle, &o.from);
    const struct hud_args args = {
        .collective = kind, .in = o.in, .out = receives ? &o.to.view : NULL, .op = found
    };
    if (status == HUD_OK)
        status = hud_call(c->team, &args);
    hud_op_close(&local);
    return status;
}

int hud_take_scan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  struct comm *c)
{
    return prefix(COLL_SCAN, "scan", in, out, count, type, op, c);
}

int hud_take_exscan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    struct comm *c)
{
    return prefix(COLL_EXSCAN, "exscan", in, out, count, type, op, c);
}

int hud_take_reduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    int root, struct comm *c)
{
    bool receives = c->rank == root;
    const struct hud_op *found;
    struct local_op local;
    struct operands o;

    if (root < 0 || root >= c->size)
        return HUD_PASS;
    int status = hud_op_open(op, type, &local, &found);
    if (status != HUD_OK)
        return decline(c, status, "reduce", NULL, root, count, type, op);
    o.in = &o.from.view;
    status = receives ? open_both(c, in, out, count, type, &o)
                      : message_open(in, count, type, c->handle, &o.from);
    if (status == HUD_OK)
        status = hud_reduce(c->team, o.in, receives ? &o.to.view : NULL, found, root);
    hud_op_close(&local);
    return status;
}

/* The bytes of each member's block into c->scratch, and the elements of all.  False: they are not
 * to be counted. */
static bool size_blocks(const struct comm *c, struct many counts, MPI_Count element,
                        size_t *block_bytes, MPI_Count *total)
{
    MPI_Count bytes;

    *total = 0;
    for (int r = 0; r < c->size; r++) {
        MPI_Count count = many_at(counts, r);
        if (count < 0 || __builtin_add_overflow(*total, count, total) ||
            __builtin_mul_overflow(*total, element, &bytes))
            return false;
        block_bytes[r] = (size_t)(count * element);
    }
    return true;
}

/* The views of a call whose blocks have been sized: in place, its own block goes to the beginning
 * of what was read. */
static int scatter(struct comm *c, const void *in, void *out, MPI_Count own, MPI_Count total,
                   MPI_Datatype type, const size_t *block_bytes, const struct hud_op *op)
{
    struct message from, to;
    int status = message_open(in == MPI_IN_PLACE ? out : in, total, type, c->handle, &from);

    if (status != HUD_OK)
        return status;
    to.view = from.view;
    if (in != MPI_IN_PLACE) {
        status = message_open(out, own, type, c->handle, &to);
        if (status != HUD_OK)
            return status;
        if (from.view.base == to.view.base && to.view.bytes > 0)
            return HUD_PASS; /* for the MPI to name */
    }
    to.view.bytes = block_bytes[c->rank];
    return hud_reduce_scatter(c->team, &from.view, &to.view, block_bytes, op);
}

/* Whose counts are an array, or all the same. */
static int reduce_scatter(struct comm *c, const char *name, const void *in, void *out,
                          struct many counts, MPI_Datatype type, MPI_Op op)
{
    size_t *block_bytes = hud_comm_scratch(c, (size_t)c->size * sizeof *block_bytes);
    const struct hud_op *found;
    struct local_op local;
    MPI_Count total;

    if (!block_bytes)
        return hud_comm_without_scratch(c);
    int status = hud_op_open(op, type, &local, &found);
    if (status != HUD_OK)
        return size_blocks(c, counts, 1, block_bytes, &total)
                   ? decline(c, status, name, "reduce_scatter", -1, total, type, op)
                   : status;
    MPI_Count element = found == &local.op ? local.type.bytes : (MPI_Count)found->element_bytes;
    status = HUD_PASS;
    if (size_blocks(c, counts, element, block_bytes, &total)) {
        if (counts.same)
            hud_checked_enter(c, name, (size_t)(total * element), found->name);
        status = scatter(c, in, out, many_at(counts, c->rank), total, type, block_bytes, found);
        if (counts.same)
            hud_team_exit(c->team);
    }
    hud_op_close(&local);
    return status;
}

int hud_take_reduce_scatter(const void *in, void *out, struct many counts, MPI_Datatype type,
                            MPI_Op op, struct comm *c)
{
    return counts.at ? reduce_scatter(c, "reduce_scatter", in, out, counts, type, op) : HUD_PASS;
}

int hud_take_reduce_scatter_block(const void *in, void *out, MPI_Count count, MPI_Datatype type,
                                  MPI_Op op, struct comm *c)
{
    return reduce_scatter(c, "reduce_scatter_block", in, out, (struct many){ &count, true, true },
                          type, op);
}
