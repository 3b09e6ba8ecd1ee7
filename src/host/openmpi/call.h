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
    struct room *room; /* of SHAPE_MANY, SHAPE_COUNTS */
    int ranks;         /* of SHAPE_MANY */
    struct hud_reduction own;
    struct hud_announced about; /* of a call that was not opened, or SHAPE_NAMED */
};

/* What of a call is in use. */
enum shape {
    SHAPE_IN = 1,     /* one buffer to read */
    SHAPE_OUT = 2,    /* one buffer to write */
    SHAPE_OP = 4,     /* an operation */
    SHAPE_COUNTS = 8, /* bytes of each rank's block */
    SHAPE_MANY = 16,  /* buffers for and from each rank */
    SHAPE_NAMED = 32  /* HUDDLE_CHECK knows it by another name than huddle */
};

/* Shapes of the rows of signatures.def, but HANDLED_BLOCKS. */
enum shapes {
    SHAPE_barrier = 0,
    SHAPE_bcast = SHAPE_OUT,
    SHAPE_reduce = SHAPE_IN | SHAPE_OUT | SHAPE_OP,
    SHAPE_allreduce = SHAPE_reduce,
    SHAPE_scan = SHAPE_reduce,
    SHAPE_exscan = SHAPE_reduce,
    SHAPE_reduce_scatter = SHAPE_reduce | SHAPE_COUNTS,
    SHAPE_reduce_scatter_block = SHAPE_reduce_scatter | SHAPE_NAMED,
    SHAPE_alltoallv = SHAPE_MANY,
    SHAPE_alltoallw = SHAPE_MANY | SHAPE_NAMED,
#define HANDLED_BLOCKS(Name, name, ...) SHAPE_##name = SHAPE_IN | SHAPE_OUT,
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

/* Gives the data of the call back to the user, and returns its status. */
int hud_call_close(struct call *c, unsigned shape, int status);
/* What the caller of MPI gets. */
int hud_call_answer(COMM *comm, int status);

#endif
