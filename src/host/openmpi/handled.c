/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handled.c - the collectives that huddle handles.
 *
 * take_<name> describes a call to huddle as views and an operation.  Calls for which huddle returns
 * HUD_PASS go to the module below, with the caller's own arguments.  So do calls during the team's
 * own set-up, and operations that only Open MPI knows.  The decision is the same on every rank.  A
 * call that huddle serves by another collective is announced by its own name.
 */
#include "buffer.h"
#include "coll/coll.h"
#include "host/status.h"

/* What the caller gets.  A call fails on a communicator whose process has failed, or that was
 * revoked: the latter has its own code. */
static int answer(COMM *comm, int status)
{
    bool revoked = status == HUD_ERR_FAILED && compat_revoked(comm);

    return status_code(status, revoked ? COMPAT_ERR_REVOKED : COMPAT_ERR_PROC_FAILED);
}

static int take_barrier(COMM *comm, hud_module *m)
{
    (void)comm;
    return hud_barrier(m->team);
}

/* ---- one buffer ------------------------------------------------------------------------------ */

static int take_bcast(void *buffer, int count, TYPE *type, int root, COMM *comm, hud_module *m)
{
    struct buffer b;

    (void)comm;
    open_buffer(&b, buffer, (size_t)count, type);
    return close_buffer(&b, hud_bcast(m->team, &b.view, root));
}

/* What needs room for each rank finds none: the team was declined for that, and has no lease.  It
 * may not know that yet. */
static int without_room(hud_module *m)
{
    return hud_barrier(m->team) == HUD_PASS ? HUD_PASS : HUD_ERR_MEMORY;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* What a reduction is about: buffers, counts of elements of both, operation. */
struct reduction {
    const struct hud_op *op;
    struct hud_reduction own;
    struct buffer in, out;
};

static int open_reduction(struct reduction *r, const void *in, int64_t ins, void *out, int64_t outs,
                          TYPE *type, OP *op)
{
    int status = hud_reduction_open(op, type, &r->own, &r->op);

    if (status != HUD_OK)
        return status;
    open_buffer(&r->in, in == MPI_IN_PLACE ? out : in, (size_t)ins, type);
    open_buffer(&r->out, out, (size_t)outs, type);
    return HUD_OK;
}

static int close_reduction(struct reduction *r, int status)
{
    hud_reduction_close(&r->own);
    return close_buffer(&r->out, close_buffer(&r->in, status));
}

/* The status of a reduction that was not opened: huddle is not asked. */
static int unasked(hud_module *m, int status, const char *name, const char *kind, int root,
                   size_t bytes, OP *op)
{
    if (status == HUD_ERR_MEMORY)
        return hud_team_fail(m->team);
    if (status == HUD_PASS && !m->setting_up)
        hud_team_enter(m->team, &(struct hud_announced){ .name = name,
                                                         .root = root,
                                                         .bytes = bytes,
                                                         .detail = hud_reduction_name(op),
                                                         .unasked = kind });
    return status;
}

static int take_reduce(const void *in, void *out, int count, TYPE *type, OP *op, int root,
                       COMM *comm, hud_module *m)
{
    struct reduction r;

    int status =
        open_reduction(&r, in, count, out, ompi_comm_rank(comm) == root ? count : 0, type, op);
    if (status != HUD_OK)
        return unasked(m, status, "reduce", NULL, root, bytes_of(count, type), op);
    return close_reduction(&r, hud_reduce(m->team, &r.in.view, &r.out.view, r.op, root));
}

static int take_allreduce(const void *in, void *out, int count, TYPE *type, OP *op, COMM *comm,
                          hud_module *m)
{
    struct reduction r;

    (void)comm;
    int status = open_reduction(&r, in, count, out, count, type, op);
    if (status != HUD_OK)
        return unasked(m, status, "allreduce", NULL, -1, bytes_of(count, type), op);
    return close_reduction(&r, hud_allreduce(m->team, &r.in.view, &r.out.view, r.op));
}

/* The results of the ranks up to each rank, or before it: these leave rank 0's buffer alone. */
static int take_prefix(int kind, const char *name, const void *in, void *out, int count, TYPE *type,
                       OP *op, COMM *comm, hud_module *m)
{
    bool gets = kind != COLL_EXSCAN || ompi_comm_rank(comm) != 0;
    struct reduction r;

    int status = open_reduction(&r, in, count, out, gets ? count : 0, type, op);
    if (status != HUD_OK)
        return unasked(m, status, name, NULL, -1, bytes_of(count, type), op);
    const struct hud_args args = {
        .collective = kind, .in = &r.in.view, .out = &r.out.view, .op = r.op
    };
    return close_reduction(&r, hud_call(m->team, &args));
}

static int take_scan(const void *in, void *out, int count, TYPE *type, OP *op, COMM *comm,
                     hud_module *m)
{
    return take_prefix(COLL_SCAN, "scan", in, out, count, type, op, comm, m);
}

static int take_exscan(const void *in, void *out, int count, TYPE *type, OP *op, COMM *comm,
                       hud_module *m)
{
    return take_prefix(COLL_EXSCAN, "exscan", in, out, count, type, op, comm, m);
}

static int take_reduce_scatter(const void *in, void *out, const int *outs, TYPE *type, OP *op,
                               COMM *comm, hud_module *m)
{
    int64_t n = sum_of(outs, comm);
    struct reduction r;

    if (!hud_module_make_room(m))
        return without_room(m);
    int status = open_reduction(&r, in, n, out, outs[ompi_comm_rank(comm)], type, op);
    if (status != HUD_OK)
        return unasked(m, status, "reduce_scatter", NULL, -1, bytes_of(n, type), op);
    for (int i = 0; i < ompi_comm_size(comm); i++)
        m->block_bytes[i] = bytes_of(outs[i], type);
    return close_reduction(
        &r, hud_reduce_scatter(m->team, &r.in.view, &r.out.view, m->block_bytes, r.op));
}

static int take_reduce_scatter_block(const void *in, void *out, int count, TYPE *type, OP *op,
                                     COMM *comm, hud_module *m)
{
    int64_t n = (int64_t)count * ompi_comm_size(comm);
    struct reduction r;

    if (!hud_module_make_room(m))
        return without_room(m);
    int status = open_reduction(&r, in, n, out, count, type, op);
    if (status != HUD_OK)
        return unasked(m, status, "reduce_scatter_block", "reduce_scatter", -1, bytes_of(n, type),
                       op);
    for (int i = 0; i < ompi_comm_size(comm); i++)
        m->block_bytes[i] = bytes_of(count, type);
    hud_module_enter(m, "reduce_scatter_block", -1, bytes_of(n, type), r.op->name);
    status = hud_reduce_scatter(m->team, &r.in.view, &r.out.view, m->block_bytes, r.op);
    return hud_module_leave(m, close_reduction(&r, status));
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* A block for each rank, or the same for all: in place, that lies where its own copy belongs. */
static inline int take_blocks(int kind, unsigned flags, const void *in, int ins, TYPE *in_type,
                              void *out, int outs, TYPE *out_type, COMM *comm, hud_module *m)
{
    bool in_place = in == MPI_IN_PLACE;
    size_t ranks = (size_t)ompi_comm_size(comm), sent = flags & COLL_SAME_TO_ALL ? 1 : ranks;
    struct buffer from, to;

    open_buffer(&from, in_place ? out : in, in_place ? (size_t)outs * ranks : (size_t)ins * sent,
                in_place ? out_type : in_type);
    open_buffer(&to, out, (size_t)outs * ranks, out_type);
    const struct hud_args args = { .collective = kind, .in = &from.view, .out = &to.view };
    return close_buffer(&to, close_buffer(&from, hud_call(m->team, &args)));
}

/* To a root, or from it.  Elsewhere a rank has one buffer of one block, and the other arguments are
 * not to be looked at. */
static inline int take_rooted(int kind, unsigned flags, const void *in, int ins, TYPE *in_type,
                              void *out, int outs, TYPE *out_type, int root, COMM *comm,
                              hud_module *m)
{
    size_t ranks = (size_t)ompi_comm_size(comm);
    bool is_root = ompi_comm_rank(comm) == root, to_root = flags & COLL_TO_ROOT,
         in_place = is_root && (to_root ? in : out) == MPI_IN_PLACE;
    struct buffer one, all;

    open_nothing(&all);
    if (is_root)
        open_buffer(&all, to_root ? out : in, (size_t)(to_root ? outs : ins) * ranks,
                    to_root ? out_type : in_type);
    open_nothing(&one);
    if (!in_place)
        open_buffer(&one, to_root ? in : out, (size_t)(to_root ? ins : outs),
                    to_root ? in_type : out_type);
    const struct hud_view *single = in_place ? &all.view : &one.view;
    const struct hud_args args = { .collective = kind,
                                   .root = root,
                                   .in = to_root ? single : &all.view,
                                   .out = to_root ? &all.view : single };
    return close_buffer(&one, close_buffer(&all, hud_call(m->team, &args)));
}

#define HANDLED_BLOCKS(Name, name, ID, ...)                                                        \
    static int take_##name(const void *in, int ins, TYPE *in_type, void *out, int outs,            \
                           TYPE *out_type, COMM *comm, hud_module *m)                              \
    {                                                                                              \
        return take_blocks(COLL_##ID, COLL_FLAGS_##ID, __VA_ARGS__, m);                            \
    }
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    static int take_##name(const void *in, int ins, TYPE *in_type, void *out, int outs,            \
                           TYPE *out_type, int root, COMM *comm, hud_module *m)                    \
    {                                                                                              \
        return take_rooted(COLL_##ID, COLL_FLAGS_##ID, __VA_ARGS__, m);                            \
    }
#include "host/signatures.def"

/* One side of an exchange: a block for each rank, counts[i] elements at an offset of at[i]. */
struct blocks {
    const void *base;
    const int *counts, *at;
    const TYPE *type;   /* of all; offsets are in its extents */
    TYPE *const *types; /* NULL: `type`; otherwise one each, and offsets are in bytes */
    struct view_convertor convertor;
};

static void open_blocks(struct blocks *b, int ranks, struct view_state *states,
                        struct hud_view *views)
{
    hud_convertor_open(&b->convertor);
    for (int i = 0; i < ranks; i++) {
        const TYPE *type = b->types != NULL ? b->types[i] : b->type;
        ptrdiff_t unit = b->types != NULL ? 1 : type->super.ub - type->super.lb;
        hud_view_open((char *)(uintptr_t)b->base + b->at[i] * unit, (size_t)b->counts[i], type,
                      &states[i], &b->convertor, &views[i]);
    }
}

static int close_blocks(struct blocks *b, int ranks, struct hud_view *views, int status)
{
    for (int i = 0; i < ranks; i++)
        status = hud_view_close(&views[i]) ? status : HUD_ERR_MEMORY;
    hud_convertor_close(&b->convertor);
    return status;
}

static int exchange(hud_module *m, struct blocks *in, struct blocks *out)
{
    int ranks = ompi_comm_size(m->comm);

    if (!hud_module_make_room(m))
        return without_room(m);
    if (in->base == MPI_IN_PLACE)
        *in = *out;
    open_blocks(in, ranks, m->in_states, m->in_views);
    open_blocks(out, ranks, m->out_states, m->out_views);
    int status = hud_alltoallv(m->team, m->in_views, m->out_views);
    status = close_blocks(in, ranks, m->in_views, status);
    return close_blocks(out, ranks, m->out_views, status);
}

static int take_alltoallv(const void *in, const int *ins, const int *from, TYPE *in_type, void *out,
                          const int *outs, const int *at, TYPE *out_type, COMM *comm, hud_module *m)
{
    struct blocks source, target;

    (void)comm;
    source.base = in, source.counts = ins, source.at = from, source.type = in_type,
    source.types = NULL;
    target.base = out, target.counts = outs, target.at = at, target.type = out_type,
    target.types = NULL;
    return exchange(m, &source, &target);
}

static int take_alltoallw(const void *in, const int *ins, const int *from, TYPE *const *in_types,
                          void *out, const int *outs, const int *at, TYPE *const *out_types,
                          COMM *comm, hud_module *m)
{
    struct blocks source, target;

    (void)comm;
    source.base = in, source.counts = ins, source.at = from, source.type = NULL,
    source.types = in_types;
    target.base = out, target.counts = outs, target.at = at, target.type = NULL,
    target.types = out_types;
    hud_module_enter(m, "alltoallw", -1, HUD_ANY_BYTES, NULL);
    return hud_module_leave(m, exchange(m, &source, &target));
}

/* ---- one block, and blocks of any sizes ---- */

/* A call of a rank with one block, and one for each rank, NULL: it has no such side.  In place, the
 * one is its own of those. */
static int join(hud_module *m, struct hud_args *args, bool gathers, struct buffer *one,
                struct blocks *all)
{
    int ranks = ompi_comm_size(m->comm);
    struct hud_view *views;

    if (all != NULL && !hud_module_make_room(m))
        return without_room(m);
    views = m->out_views;
    if (all != NULL)
        open_blocks(all, ranks, m->out_states, views);
    const struct hud_view *single = one != NULL ? &one->view : &views[ompi_comm_rank(m->comm)];
    args->in = gathers ? single : views;
    args->out = gathers ? views : single;
    int status = hud_call(m->team, args);
    return all != NULL ? close_blocks(all, ranks, views, status) : status;
}

/* The same with MPI's arguments for the one. */
static int join_one(hud_module *m, struct hud_args *args, bool gathers, const void *buffer,
                    int count, const TYPE *type, struct blocks *all)
{
    struct buffer one;

    if (buffer == MPI_IN_PLACE && all != NULL)
        return join(m, args, gathers, NULL, all);
    open_buffer(&one, buffer, (size_t)count, type);
    return close_buffer(&one, join(m, args, gathers, &one, all));
}

static int take_allgatherv(const void *in, int ins, TYPE *in_type, void *out, const int *outs,
                           const int *at, TYPE *out_type, COMM *comm, hud_module *m)
{
    struct hud_args args = { .collective = COLL_ALLGATHERV };
    struct blocks all;

    (void)comm;
    all.base = out, all.counts = outs, all.at = at, all.type = out_type, all.types = NULL;
    return join_one(m, &args, true, in, ins, in_type, &all);
}

static int take_gatherv(const void *in, int ins, TYPE *in_type, void *out, const int *outs,
                        const int *at, TYPE *out_type, int root, COMM *comm, hud_module *m)
{
    struct hud_args args = { .collective = COLL_GATHERV, .root = root };
    struct blocks all;

    all.base = out, all.counts = outs, all.at = at, all.type = out_type, all.types = NULL;
    return join_one(m, &args, true, in, ins, in_type, ompi_comm_rank(comm) == root ? &all : NULL);
}

static int take_scatterv(const void *in, const int *ins, const int *at, TYPE *in_type, void *out,
                         int outs, TYPE *out_type, int root, COMM *comm, hud_module *m)
{
    struct hud_args args = { .collective = COLL_SCATTERV, .root = root };
    struct blocks all;

    all.base = in, all.counts = ins, all.at = at, all.type = in_type, all.types = NULL;
    return join_one(m, &args, false, out, outs, out_type,
                    ompi_comm_rank(comm) == root ? &all : NULL);
}

/* ---- as Open MPI calls them ------------------------------------------------------------------ */

#define PLAIN(Name, name, ...)                                                                     \
    static int handled_##name(MAP(PARAM_, __VA_ARGS__))                                            \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        int status = m->setting_up ? HUD_PASS : take_##name(__VA_ARGS__, m);                       \
        return status != HUD_PASS                                                                  \
                   ? answer(comm, status)                                                          \
                   : hud_module_leave(m, m->below.name(__VA_ARGS__, m->below.name##_module));      \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

void hud_handled_install(hud_module *m)
{
#define PLAIN(Name, name, ...)                                                                     \
    if (m->below.name != NULL)                                                                     \
        m->super.coll_##name = handled_##name;
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
}
