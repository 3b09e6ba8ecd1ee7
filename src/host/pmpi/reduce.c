/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reduce.c - reductions: converts MPI's arguments to huddle's views and operation.
 *
 * Elements that huddle handles are never staged (hud_op_open refuses larger ones, on all ranks), so
 * only views of memory on a device have to be closed.
 */
#include "host/pmpi/call.h"

/* Opens a buffer that is not plain.  Separate from open_buffer(), so plain buffers set no bits of
 * c->opened. */
static __attribute__((noinline)) int
open_other(struct call *c, enum opened side, const void *buffer, MPI_Count count, MPI_Datatype type)
{
    struct message *message = side == OPENED_FROM ? &c->from : &c->to;
    int status = hud_message_open(buffer, count, type, c->comm->handle, message);

    if (status == HUD_OK && message->closes)
        c->opened |= side;
    return status;
}

static inline int open_buffer(struct call *c, enum opened side, const void *buffer, MPI_Count count,
                              MPI_Datatype type)
{
    return message_is_plain(buffer, count, type, side == OPENED_FROM ? &c->from : &c->to)
               ? HUD_OK
               : open_other(c, side, buffer, count, type);
}

/* Opens both buffers.  Equal buffers without MPI_IN_PLACE are an error, which the MPI reports. */
static int open_both(const void *in, void *out, MPI_Count count, MPI_Datatype type, struct call *c)
{
    int status = open_buffer(c, OPENED_TO, out, count, type);

    c->args.in = in == MPI_IN_PLACE ? &c->to.view : &c->from.view;
    if (status != HUD_OK || in == MPI_IN_PLACE)
        return status;
    status = open_buffer(c, OPENED_FROM, in, count, type);
    return status == HUD_OK && c->from.view.base == c->to.view.base && c->args.in->bytes > 0
               ? HUD_PASS
               : status;
}

/* Ends a call whose operation was not opened.  If huddle handles the call on no rank, prepares its
 * announcement, by which it is counted and, with HUDDLE_CHECK, checked. */
static int decline(struct call *c, int status, const char *name, const char *kind, int root,
                   MPI_Count count, MPI_Datatype handle, MPI_Op op)
{
    struct type type;

    if (status != HUD_PASS)
        return status;
    c->about = (struct hud_announced){
        .name = name, .root = root, .detail = hud_op_name(op), .unasked = kind
    };
    if (count > 0 && hud_type_find(handle, &type)) /* otherwise the MPI reports an error */
        c->about.bytes = (size_t)count * (size_t)type.bytes;
    return status;
}

/* Ends the opening of a call whose operation is open.  Returns its status. */
static inline int finish(struct call *c, int status)
{
    if (__builtin_expect(status == HUD_OK, 1)) {
        c->opened |= OPENED_OP;
        return status;
    }
    if (c->opened)
        (void)hud_call_settle(c, status);
    c->opened = 0;
    hud_op_close(&c->local);
    return status;
}

int hud_open_allreduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                       struct call *c)
{
    int status = hud_op_open(op, type, &c->local, &c->args.op);

    if (status != HUD_OK)
        return decline(c, status, "allreduce", NULL, -1, count, type, op);
    c->args.collective = COLL_ALLREDUCE;
    c->args.out = &c->to.view;
    return finish(c, open_both(in, out, count, type, c));
}

/* Opens a scan over the ranks up to each rank, or an exscan over the ranks before: then rank 0 gets
 * nothing, and its buffer, which may be invalid, is not used. */
static int open_prefix(int kind, const char *name, const void *in, void *out, MPI_Count count,
                       MPI_Datatype type, MPI_Op op, struct call *c)
{
    bool receives = kind != COLL_EXSCAN || c->comm->rank != 0;
    const void *read = in == MPI_IN_PLACE ? out : in;
    int status = hud_op_open(op, type, &c->local, &c->args.op);

    if (status != HUD_OK)
        return decline(c, status, name, NULL, -1, count, type, op);
    c->args.collective = kind;
    c->args.in = &c->from.view;
    c->args.out = receives ? &c->to.view : NULL;
    return finish(c, receives ? open_both(in, out, count, type, c)
                              : open_buffer(c, OPENED_FROM, read, count, type));
}

int hud_open_scan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                  struct call *c)
{
    return open_prefix(COLL_SCAN, "scan", in, out, count, type, op, c);
}

int hud_open_exscan(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    struct call *c)
{
    return open_prefix(COLL_EXSCAN, "exscan", in, out, count, type, op, c);
}

int hud_open_reduce(const void *in, void *out, MPI_Count count, MPI_Datatype type, MPI_Op op,
                    int root, struct call *c)
{
    bool receives = c->comm->rank == root;

    if (root < 0 || root >= c->comm->size)
        return HUD_PASS;
    int status = hud_op_open(op, type, &c->local, &c->args.op);
    if (status != HUD_OK)
        return decline(c, status, "reduce", NULL, root, count, type, op);
    c->args.collective = COLL_REDUCE;
    c->args.root = root;
    c->args.in = &c->from.view;
    c->args.out = receives ? &c->to.view : NULL;
    return finish(c, receives ? open_both(in, out, count, type, c)
                              : open_buffer(c, OPENED_FROM, in, count, type));
}

/* Computes the bytes of each member's block, and the elements of all.  Returns false if the counts
 * are invalid or too large. */
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

/* Opens the views of a call with known block sizes.  In place, this rank's block goes to the
 * beginning of the input. */
static int open_scatter(struct call *c, const void *in, void *out, MPI_Count own, MPI_Count total,
                        MPI_Datatype type, const size_t *block_bytes)
{
    int status = open_buffer(c, OPENED_FROM, in == MPI_IN_PLACE ? out : in, total, type);

    if (status != HUD_OK)
        return status;
    c->to.view = c->from.view;
    if (in != MPI_IN_PLACE) {
        status = open_buffer(c, OPENED_TO, out, own, type);
        if (status != HUD_OK)
            return status;
        if (c->from.view.base == c->to.view.base && c->to.view.bytes > 0)
            return HUD_PASS; /* the MPI reports this error */
    }
    c->to.view.bytes = block_bytes[c->comm->rank];
    c->args.collective = COLL_REDUCE_SCATTER;
    c->args.in = &c->from.view;
    c->args.out = &c->to.view;
    c->args.block_bytes = block_bytes;
    return HUD_OK;
}

/* Opens a reduce_scatter with an array of counts, or with equal counts; the latter is announced by
 * its own name. */
static int open_reduce_scatter(struct call *c, const char *name, const void *in, void *out,
                               struct many counts, MPI_Datatype type, MPI_Op op)
{
    size_t *block_bytes =
        scratch_array_reserve(c->scratch, (size_t)c->comm->size * sizeof *block_bytes);
    MPI_Count total;

    if (!block_bytes)
        return HUD_ERR_MEMORY;
    int status = hud_op_open(op, type, &c->local, &c->args.op);
    if (status != HUD_OK)
        return size_blocks(c->comm, counts, 1, block_bytes, &total)
                   ? decline(c, status, name, "reduce_scatter", -1, total, type, op)
                   : status;
    MPI_Count element =
        c->args.op == &c->local.op ? c->local.type.bytes : (MPI_Count)c->args.op->element_bytes;
    if (!size_blocks(c->comm, counts, element, block_bytes, &total))
        return finish(c, HUD_PASS);
    c->named = counts.same;
    if (c->named)
        c->about = (struct hud_announced){
            .name = name, .root = -1, .bytes = (size_t)(total * element), .detail = c->args.op->name
        };
    return finish(
        c, open_scatter(c, in, out, many_at(counts, c->comm->rank), total, type, block_bytes));
}

int hud_open_reduce_scatter(const void *in, void *out, struct many counts, MPI_Datatype type,
                            MPI_Op op, struct call *c)
{
    return counts.at ? open_reduce_scatter(c, "reduce_scatter", in, out, counts, type, op)
                     : HUD_PASS;
}

int hud_open_reduce_scatter_block(const void *in, void *out, MPI_Count count, MPI_Datatype type,
                                  MPI_Op op, struct call *c)
{
    return open_reduce_scatter(c, "reduce_scatter_block", in, out,
                               (struct many){ &count, true, true }, type, op);
}
