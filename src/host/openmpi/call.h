/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - a call of huddle, made from MPI's arguments (handled.c), with all data that hud_args
 * refers to.  A blocking call has this structure on the stack, a request in its own memory.
 */
#ifndef HUD_OPENMPI_CALL_H
#define HUD_OPENMPI_CALL_H

#include "module.h"

/* A buffer of the call, or the part shared by the buffers in per_rank. */
struct buffer {
    struct hud_view view;
    struct view_state state;
    struct view_convertor *convertor; /* NULL until a view needs one */
};

struct call {
    struct hud_args args;
    struct buffer in, out;
    struct per_rank *room; /* memory of SHAPE_VECTORS and SHAPE_COUNTS */
    int ranks;             /* buffers of SHAPE_VECTORS; 0: this rank has none */
    struct hud_reduction own;
    struct hud_announced about; /* a call that was not opened, or has SHAPE_NAMED */
};

/* The parts of a call that are in use. */
enum shape {
    SHAPE_IN = 1,           /* a buffer to read */
    SHAPE_OUT = 2,          /* a buffer to write */
    SHAPE_OP = 4,           /* an operation */
    SHAPE_COUNTS = 8,       /* bytes of each rank's block */
    SHAPE_NAMED = 16,       /* HUDDLE_CHECK uses another name than huddle */
    SHAPE_VECTORS_IN = 32,  /* a buffer for each rank; only at the root, if there is one */
    SHAPE_VECTORS_OUT = 64, /* a buffer for the data from each rank; only at the root, if there is
                            one */
    SHAPE_VECTORS = SHAPE_VECTORS_IN | SHAPE_VECTORS_OUT
};

/* Shapes of the rows of signatures.def, except HANDLED_BLOCKS and HANDLED_ROOTED. */
enum shapes {
    SHAPE_barrier = 0,
    SHAPE_bcast = SHAPE_OUT,
    SHAPE_reduce = SHAPE_IN | SHAPE_OUT | SHAPE_OP,
    SHAPE_allreduce = SHAPE_reduce,
    SHAPE_scan = SHAPE_reduce,
    SHAPE_exscan = SHAPE_reduce,
    SHAPE_reduce_scatter = SHAPE_reduce | SHAPE_COUNTS,
    SHAPE_reduce_scatter_block = SHAPE_reduce_scatter | SHAPE_NAMED,
    SHAPE_allgatherv = SHAPE_IN | SHAPE_VECTORS_OUT,
    SHAPE_gatherv = SHAPE_allgatherv,
    SHAPE_scatterv = SHAPE_VECTORS_IN | SHAPE_OUT,
    SHAPE_alltoallv = SHAPE_VECTORS,
    SHAPE_alltoallw = SHAPE_VECTORS | SHAPE_NAMED,
#define HANDLED_BLOCKS(Name, name, ...) SHAPE_##name = SHAPE_IN | SHAPE_OUT,
#define HANDLED_ROOTED HANDLED_BLOCKS
#include "host/signatures.def"
};

/*
 * hud_open_<name>: converts a call to *c, whose room and convertors the caller has set.  Returns
 * HUD_OK, after which the call must be closed; HUD_PASS if huddle does not handle the call, on all
 * ranks; or HUD_ERR_MEMORY if this rank is out of memory.
 */
#define PLAIN(Name, name, ...)                                                                     \
    int hud_open_##name(struct call *c, MAP(PARAM, __VA_ARGS__), MODULE *module);
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

/* A direction with a buffer for each rank: counts[i] elements at offset at[i]. */
struct blocks {
    const void *base;
    const int *counts, *at;
    const TYPE *type;   /* type of all buffers; offsets are in extents of this type */
    TYPE *const *types; /* NULL: use `type`; otherwise a type per rank, and offsets are in bytes */
};

/* Opens or closes calls of SHAPE_VECTORS (vector_views.c).  The gather and scatter have a block of
 * this rank's, and all blocks, or NULL if this rank does not have them. */
int hud_vector_exchange(struct call *c, const struct blocks *in, const struct blocks *out,
                        COMM *comm, MODULE *module);
int hud_vector_gather(struct call *c, const void *in, int ins, const TYPE *in_type,
                      const struct blocks *out, COMM *comm, MODULE *module);
int hud_vector_scatter(struct call *c, const struct blocks *in, void *out, int outs,
                       const TYPE *out_type, COMM *comm, MODULE *module);
int hud_vector_close(struct call *c, unsigned shape, int status);

/* Returns the data of the call to the user, and the status of the call. */
int hud_call_close(struct call *c, unsigned shape, int status);
/* Converts a status to the code that the caller of MPI gets. */
int hud_call_answer(COMM *comm, int status);

#endif
