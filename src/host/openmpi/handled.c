/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * handled.c - the collectives that huddle handles.
 *
 * open_<name> converts a call to views and an operation.  Calls for which huddle returns HUD_PASS
 * fall back to the previous module, with the caller's own arguments.  So do operations that only
 * Open MPI knows.  The decision is the same on every rank.  A call that huddle serves by another
 * collective is announced by its own name.
 */
#include "buffer.h"
#include "host/short_form.h"
#include "host/status.h"

/* Returns MPI's code for a status.  A call fails on a communicator with a failed process, or on a
 * revoked communicator, which has its own code. */
int hud_call_answer(COMM *comm, int status)
{
    bool revoked = status == HUD_ERR_FAILED && compat_revoked(comm);

    return status_code(status, revoked ? COMPAT_ERR_REVOKED : COMPAT_ERR_PROC_FAILED);
}

/* ---- one buffer ------------------------------------------------------------------------------ */

static ALWAYS_INLINE int open_barrier(struct call *c, COMM *comm, MODULE *module)
{
    (void)comm, (void)module;
    c->args.collective = COLL_BARRIER;
    return HUD_OK;
}

static ALWAYS_INLINE int open_bcast(struct call *c, void *buffer, int count, TYPE *type, int root,
                                    COMM *comm, MODULE *module)
{
    (void)comm;
    open_buffer(&c->out, buffer, (size_t)count, type, module);
    c->args.collective = COLL_BCAST;
    c->args.root = root;
    c->args.out = &c->out.view;
    return HUD_OK;
}

/* ---- reductions ------------------------------------------------------------------------------ */

/* Opens a reduction of `ins` to `outs` elements.  about: the call as announced. */
static ALWAYS_INLINE int open_reduction(struct call *c, int kind, const void *in, int64_t ins,
                                        void *out, int64_t outs, TYPE *type, OP *op, MODULE *module,
                                        struct hud_announced about)
{
    int status = hud_reduction_open(op, type, &c->own, &c->args.op);

    if (__builtin_expect(status != HUD_OK, 0)) {
        about.bytes = bytes_of(ins, type);
        about.detail = hud_reduction_name(op);
        c->about = about;
        return status;
    }
    open_buffer(&c->in, in == MPI_IN_PLACE ? out : in, (size_t)ins, type, module);
    open_buffer(&c->out, out, (size_t)outs, type, module);
    c->args.collective = kind;
    c->args.in = &c->in.view;
    c->args.out = &c->out.view;
    return HUD_OK;
}

static ALWAYS_INLINE int open_reduce(struct call *c, const void *in, void *out, int count,
                                     TYPE *type, OP *op, int root, COMM *comm, MODULE *module)
{
    c->args.root = root;
    return open_reduction(c, COLL_REDUCE, in, count, out, ompi_comm_rank(comm) == root ? count : 0,
                          type, op, module,
                          (struct hud_announced){ .name = "reduce", .root = root });
}

static ALWAYS_INLINE int open_allreduce(struct call *c, const void *in, void *out, int count,
                                        TYPE *type, OP *op, COMM *comm, MODULE *module)
{
    (void)comm;
    return open_reduction(c, COLL_ALLREDUCE, in, count, out, count, type, op, module,
                          (struct hud_announced){ .name = "allreduce", .root = -1 });
}

/* Opens a scan over the ranks up to each rank; an exscan is over the ranks before, and does not
 * write rank 0's buffer. */
static ALWAYS_INLINE int open_scan(struct call *c, const void *in, void *out, int count, TYPE *type,
                                   OP *op, COMM *comm, MODULE *module)
{
    (void)comm;
    return open_reduction(c, COLL_SCAN, in, count, out, count, type, op, module,
                          (struct hud_announced){ .name = "scan", .root = -1 });
}

static ALWAYS_INLINE int open_exscan(struct call *c, const void *in, void *out, int count,
                                     TYPE *type, OP *op, COMM *comm, MODULE *module)
{
    return open_reduction(c, COLL_EXSCAN, in, count, out, ompi_comm_rank(comm) != 0 ? count : 0,
                          type, op, module, (struct hud_announced){ .name = "exscan", .root = -1 });
}

static ALWAYS_INLINE int open_reduce_scatter(struct call *c, const void *in, void *out,
                                             const int *outs, TYPE *type, OP *op, COMM *comm,
                                             MODULE *module)
{
    for (int i = 0; i < ompi_comm_size(comm); i++)
        c->room->block_bytes[i] = bytes_of(outs[i], type);
    c->args.block_bytes = c->room->block_bytes;
    return open_reduction(c, COLL_REDUCE_SCATTER, in, sum_of(outs, comm), out,
                          outs[ompi_comm_rank(comm)], type, op, module,
                          (struct hud_announced){ .name = "reduce_scatter", .root = -1 });
}

static ALWAYS_INLINE int open_reduce_scatter_block(struct call *c, const void *in, void *out,
                                                   int count, TYPE *type, OP *op, COMM *comm,
                                                   MODULE *module)
{
    int64_t n = (int64_t)count * ompi_comm_size(comm);
    struct hud_announced about = { .name = "reduce_scatter_block",
                                   .root = -1,
                                   .unasked = "reduce_scatter" };

    for (int i = 0; i < ompi_comm_size(comm); i++)
        c->room->block_bytes[i] = bytes_of(count, type);
    c->args.block_bytes = c->room->block_bytes;
    int status = open_reduction(c, COLL_REDUCE_SCATTER, in, n, out, count, type, op, module, about);
    if (status == HUD_OK) {
        about.unasked = NULL;
        about.bytes = bytes_of(n, type);
        about.detail = c->args.op->name;
        c->about = about;
    }
    return status;
}

/* ---- exchanges ------------------------------------------------------------------------------- */

/* Opens an exchange of a block per rank, or of a block for all ranks.  In place, this rank's block
 * is already at its place in `out`. */
static ALWAYS_INLINE int open_blocks(struct call *c, int kind, unsigned flags, const void *in,
                                     int ins, TYPE *in_type, void *out, int outs, TYPE *out_type,
                                     COMM *comm, MODULE *module)
{
    bool in_place = in == MPI_IN_PLACE;
    size_t ranks = (size_t)ompi_comm_size(comm), sent = flags & COLL_SAME_TO_ALL ? 1 : ranks;

    open_buffer(&c->in, in_place ? out : in, in_place ? (size_t)outs * ranks : (size_t)ins * sent,
                in_place ? out_type : in_type, module);
    open_buffer(&c->out, out, (size_t)outs * ranks, out_type, module);
    c->args.collective = kind;
    c->args.in = &c->in.view;
    c->args.out = &c->out.view;
    return HUD_OK;
}

/* Opens a collective to or from a root.  Other ranks have a buffer of a single block, and their
 * other arguments must not be read. */
static ALWAYS_INLINE int open_rooted(struct call *c, int kind, unsigned flags, const void *in,
                                     int ins, TYPE *in_type, void *out, int outs, TYPE *out_type,
                                     int root, COMM *comm, MODULE *module)
{
    bool is_root = ompi_comm_rank(comm) == root, to_root = flags & COLL_TO_ROOT,
         in_place = is_root && (to_root ? in : out) == MPI_IN_PLACE;
    struct buffer *one = to_root ? &c->in : &c->out, *all = to_root ? &c->out : &c->in;
    size_t ranks = is_root ? (size_t)ompi_comm_size(comm) : 0;

    open_buffer_or_none(is_root, all, to_root ? out : in, (size_t)(to_root ? outs : ins) * ranks,
                        to_root ? out_type : in_type, module);
    open_buffer_or_none(!in_place, one, to_root ? in : out, (size_t)(to_root ? ins : outs),
                        to_root ? in_type : out_type, module);
    c->args.collective = kind;
    c->args.root = root;
    c->args.in = in_place ? &all->view : &c->in.view;
    c->args.out = in_place ? &all->view : &c->out.view;
    return HUD_OK;
}

#define HANDLED_BLOCKS(Name, name, ID, ...)                                                        \
    static ALWAYS_INLINE int open_##name(struct call *c, MAP(PARAM, __VA_ARGS__), MODULE *module)  \
    {                                                                                              \
        return open_blocks(c, COLL_##ID, COLL_FLAGS_##ID, __VA_ARGS__, module);                    \
    }
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    static ALWAYS_INLINE int open_##name(struct call *c, MAP(PARAM, __VA_ARGS__), MODULE *module)  \
    {                                                                                              \
        return open_rooted(c, COLL_##ID, COLL_FLAGS_##ID, __VA_ARGS__, module);                    \
    }
#include "host/signatures.def"

static ALWAYS_INLINE int open_alltoallv(struct call *c, const void *in, const int *ins,
                                        const int *from, TYPE *in_type, void *out, const int *outs,
                                        const int *at, TYPE *out_type, COMM *comm, MODULE *module)
{
    const struct blocks source = { in, ins, from, in_type, NULL },
                        target = { out, outs, at, out_type, NULL };

    return hud_vector_exchange(c, &source, &target, comm, module);
}

static ALWAYS_INLINE int open_alltoallw(struct call *c, const void *in, const int *ins,
                                        const int *from, TYPE *const *in_types, void *out,
                                        const int *outs, const int *at, TYPE *const *out_types,
                                        COMM *comm, MODULE *module)
{
    const struct blocks source = { in, ins, from, NULL, in_types },
                        target = { out, outs, at, NULL, out_types };

    c->about = (struct hud_announced){ .name = "alltoallw", .root = -1, .bytes = HUD_ANY_BYTES };
    return hud_vector_exchange(c, &source, &target, comm, module);
}

static ALWAYS_INLINE int open_allgatherv(struct call *c, const void *in, int ins, TYPE *in_type,
                                         void *out, const int *outs, const int *at, TYPE *out_type,
                                         COMM *comm, MODULE *module)
{
    const struct blocks all = { out, outs, at, out_type, NULL };

    c->args.collective = COLL_ALLGATHERV;
    return hud_vector_gather(c, in, ins, in_type, &all, comm, module);
}

static ALWAYS_INLINE int open_gatherv(struct call *c, const void *in, int ins, TYPE *in_type,
                                      void *out, const int *outs, const int *at, TYPE *out_type,
                                      int root, COMM *comm, MODULE *module)
{
    const struct blocks all = { out, outs, at, out_type, NULL };

    c->args.collective = COLL_GATHERV;
    c->args.root = root;
    return hud_vector_gather(c, in, ins, in_type, ompi_comm_rank(comm) == root ? &all : NULL, comm,
                             module);
}

static ALWAYS_INLINE int open_scatterv(struct call *c, const void *in, const int *ins,
                                       const int *at, TYPE *in_type, void *out, int outs,
                                       TYPE *out_type, int root, COMM *comm, MODULE *module)
{
    const struct blocks all = { in, ins, at, in_type, NULL };

    c->args.collective = COLL_SCATTERV;
    c->args.root = root;
    return hud_vector_scatter(c, ompi_comm_rank(comm) == root ? &all : NULL, out, outs, out_type,
                              comm, module);
}

/* ---- the call -------------------------------------------------------------------------------- */

static ALWAYS_INLINE int close_call(struct call *c, unsigned shape, int status)
{
    if (shape & SHAPE_OP)
        hud_reduction_close(&c->own);
    if (shape & SHAPE_IN)
        status = close_buffer(&c->in, status);
    if (shape & SHAPE_OUT)
        status = close_buffer(&c->out, status);
    return shape & SHAPE_VECTORS ? hud_vector_close(c, shape, status) : status;
}

int hud_call_close(struct call *c, unsigned shape, int status)
{
    return close_call(c, shape, status);
}

static ALWAYS_INLINE int carry_out(hud_module *m, struct call *c, int kind, unsigned shape)
{
    if (shape & SHAPE_NAMED)
        hud_team_enter(m->team, &c->about);
    int status = close_call(c, shape, short_form_call(m->team, kind, &c->args));
    return shape & SHAPE_NAMED && status != HUD_PASS ? hud_module_leave(m, status) : status;
}

/* Ends a call that was not opened, without asking huddle.  Returns its status. */
static int unasked(hud_module *m, const struct call *c, int status)
{
    if (status == HUD_ERR_MEMORY)
        return hud_team_fail(m->team);
    hud_team_flush(m->team);
    hud_team_enter(m->team, &c->about);
    return status;
}

/* ---- the functions that Open MPI calls ------------------------------------------------------- */

/* The call and its convertors are on the stack. */
#define TAKE(name, shape, ...)                                                                     \
    static ALWAYS_INLINE int take_##name(hud_module *m, MAP(PARAM, __VA_ARGS__), MODULE *module)   \
    {                                                                                              \
        struct view_convertor convertors[2];                                                       \
        struct call c;                                                                             \
        if ((shape) & (SHAPE_VECTORS | SHAPE_COUNTS) && !hud_module_make_room(m))                  \
            return hud_team_fail(m->team);                                                         \
        c.room = &m->room;                                                                         \
        c.in.convertor = &convertors[0];                                                           \
        c.out.convertor = &convertors[1];                                                          \
        int status = open_##name(&c, __VA_ARGS__, module);                                         \
        return __builtin_expect(status == HUD_OK, 1) ? carry_out(m, &c, KIND_##name, shape)        \
                                                     : unasked(m, &c, status);                     \
    }
#define LEAVE_TO(name, ...)                                                                        \
    static int fallback_##name(MAP(PARAM, __VA_ARGS__), MODULE *module)                            \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        bool lends = hud_fallback_modules_lend(m);                                                 \
        int code = m->fallback.name(__VA_ARGS__, m->fallback.name##_module);                       \
        if (lends)                                                                                 \
            hud_fallback_modules_return(m);                                                        \
        return hud_module_leave(m, code);                                                          \
    }
#define PLAIN(Name, name, ...)                                                                     \
    TAKE(name, SHAPE_##name, __VA_ARGS__)                                                          \
    LEAVE_TO(name, __VA_ARGS__)                                                                    \
    static int handled_##name(MAP(PARAM, __VA_ARGS__), MODULE *module)                             \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        int status = take_##name(m, __VA_ARGS__, module);                                          \
        return status != HUD_PASS ? hud_call_answer(comm, status)                                  \
                                  : fallback_##name(__VA_ARGS__, module);                          \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

#define PLAIN(Name, name, ...)                                                                     \
    int hud_open_##name(struct call *c, MAP(PARAM, __VA_ARGS__), MODULE *module)                   \
    {                                                                                              \
        return open_##name(c, __VA_ARGS__, module);                                                \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

void hud_handled_install(hud_module *m)
{
#define PLAIN(Name, name, ...)                                                                     \
    if (m->fallback.name != NULL)                                                                  \
        m->super.coll_##name = handled_##name;
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
}
