/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * call.h - a call of huddle, made from MPI's arguments (handled.c): all that hud_args refers to.  A
 * blocking call has it on the stack, a request in its own memory.
 */
#ifndef HUD_OPENMPI_CALL_H
#define HUD_OPENMPI_CALL_H

#include "module.h"

/* One direction: a buffer, or what the buffers of the room share. */
struct side {
    struct hud_view view;
    struct view_state state;
    struct view_convertor *convertor; /* NULL: to be made for a view that needs one */
};

struct call {
    struct hud_args args;
    struct side in, out;
    struct per_rank *room; /* of SHAPE_MANY, SHAPE_COUNTS */
    int ranks;             /* of SHAPE_MANY; 0: this rank has no such buffers */
    struct hud_reduction own;
    struct hud_announced about; /* of a call that was not opened, or SHAPE_NAMED */
};

/* What of a call is in use. */
enum shape {
    SHAPE_IN = 1,        /* one buffer to read */
    SHAPE_OUT = 2,       /* one buffer to write */
    SHAPE_OP = 4,        /* an operation */
    SHAPE_COUNTS = 8,    /* bytes of each rank's block */
    SHAPE_NAMED = 16,    /* HUDDLE_CHECK knows it by another name than huddle */
    SHAPE_MANY_IN = 32,  /* a buffer for each rank; at the root alone, if there is one */
    SHAPE_MANY_OUT = 64, /* a buffer for what each rank sends; the same */
    SHAPE_MANY = SHAPE_MANY_IN | SHAPE_MANY_OUT
};

/* Shapes of the rows of signatures.def, but HANDLED_BLOCKS and HANDLED_ROOTED. */
enum shapes {
    SHAPE_barrier = 0,
    SHAPE_bcast = SHAPE_OUT,
    SHAPE_reduce = SHAPE_IN | SHAPE_OUT | SHAPE_OP,
    SHAPE_allreduce = SHAPE_reduce,
    SHAPE_scan = SHAPE_reduce,
    SHAPE_exscan = SHAPE_reduce,
    SHAPE_reduce_scatter = SHAPE_reduce | SHAPE_COUNTS,
    SHAPE_reduce_scatter_block = SHAPE_reduce_scatter | SHAPE_NAMED,
    SHAPE_allgatherv = SHAPE_IN | SHAPE_MANY_OUT,
    SHAPE_gatherv = SHAPE_allgatherv,
    SHAPE_scatterv = SHAPE_MANY_IN | SHAPE_OUT,
    SHAPE_alltoallv = SHAPE_MANY,
    SHAPE_alltoallw = SHAPE_MANY | SHAPE_NAMED,
#define HANDLED_BLOCKS(Name, name, ...) SHAPE_##name = SHAPE_IN | SHAPE_OUT,
#define HANDLED_ROOTED HANDLED_BLOCKS
#include "host/signatures.def"
};

/*
 * hud_open_<name>: the call into *c, whose room and convertors the caller has set.  HUD_OK: to be
 * closed; HUD_PASS: not huddle's, on all ranks alike; HUD_ERR_MEMORY: an error of this rank's.
 */
#define PLAIN(Name, name, ...) int hud_open_##name(struct call *c, MAP(PARAM_, __VA_ARGS__));
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"

/* One side of a call: a buffer for each rank, counts[i] elements at an offset of at[i]. */
struct blocks {
    const void *base;
    const int *counts, *at;
    const TYPE *type;   /* of all; offsets are in its extents */
    TYPE *const *types; /* NULL: `type`; otherwise one each, and offsets are in bytes */
};

/* many.c: calls of SHAPE_MANY, opened and closed.  The last two: one block of this rank's, and all
 * blocks; NULL: this rank does not have them. */
int hud_many_exchange(struct call *c, const struct blocks *in, const struct blocks *out, COMM *comm,
                      MODULE *module);
int hud_many_gather(struct call *c, const void *in, int ins, const TYPE *in_type,
                    const struct blocks *out, COMM *comm, MODULE *module);
int hud_many_scatter(struct call *c, const struct blocks *in, void *out, int outs,
                     const TYPE *out_type, COMM *comm, MODULE *module);
int hud_many_close(struct call *c, unsigned shape, int status);

/* Gives the data of the call back to the user, and returns its status. */
int hud_call_close(struct call *c, unsigned shape, int status);
/* What the caller of MPI gets. */
int hud_call_answer(COMM *comm, int status);

#endif
