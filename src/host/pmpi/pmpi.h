/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmpi.h - what the files of the MPICH-family front end share.
 *
 * attach.c   the calls of the MPI, found by name; the table of wrappers for the loader
 * wrap.c     the wrappers
 * life.c     the process's context, from the first collective (or the return of MPI_Init) to MPI_Finalize
 * checked.c  more wrappers, with HUDDLE_CHECK
 * comm.c     what is known of a communicator
 * type.c     what is known of a datatype
 * message.c  a user's buffer as a view of huddle
 *
 * One build against MPICH's headers serves all MPIs of its ABI: handles are ints whose bits tell the kind of object.
 */
#ifndef HUD_PMPI_H
#define HUD_PMPI_H

#include "host/loader/front.h"
#include "huddle/huddle.h"

#include <mpi.h>
#include <stdbool.h>

/* PMPI_Bcast is real.Bcast. */
struct calls {
#define CALL(name) __typeof__(&PMPI_##name) name;
#include "host/pmpi/calls.def"
#undef CALL
};
extern struct calls real;

/* The bits of a handle that tell its kind; a handle with others is not worth a look.  True of the null handles' kinds too, not of null handles. */
static inline bool handle_is_comm(MPI_Comm comm)
{
    return ((unsigned)comm >> 26 & 0xf) == 1 && (unsigned)comm >> 30 != 0;
}

static inline bool handle_is_type(MPI_Datatype type)
{
    return ((unsigned)type >> 26 & 0xf) == 3 && (unsigned)type >> 30 != 0;
}

/* ---- wrap.c ---- */
int hud_wrap_barrier(MPI_Comm comm);
int hud_wrap_bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm);
int hud_wrap_bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void hud_wrap_barrier_f08(const MPI_Comm *comm, MPI_Fint *error);

/* ---- checked.c: of all collectives that wrap.c does not wrap ---- */
extern const struct hud_wrapper hud_checked_wrappers[];

/* ---- life.c ---- */
/* Remembers the MPI's version, for messages. */
void hud_life_name(const char *version);
/* The process's context, created by the first call between MPI_Init and MPI_Finalize.  NULL: outside these, or not for this process. */
hud_context *hud_life_context(void);
/* Several threads may call at a time.  Settled when the context is created. */
extern bool hud_life_threaded;
/* COMM_WORLD's group; valid while there is a context. */
MPI_Group hud_life_world(void);

/* ---- comm.c ---- */
struct comm {
    hud_team *team; /* NULL: every collective is the MPI's own */
    MPI_Comm handle;
    int rank, size;
    int *world;               /* ranks in COMM_WORLD, -1: not there; NULL: not asked yet */
    struct comm *prev, *next; /* all of the process */
};

/* NULL: not a communicator, or huddle is not on.  Valid until the communicator is freed; the usual case costs a few ns. */
struct comm *hud_comm_find(MPI_Comm handle);
/* Two moments of the process's life: 0 or an MPI error. */
int hud_comm_start(void);
void hud_comm_finish(void);

/* ---- type.c ---- */
struct type {
    MPI_Count bytes;         /* of one element's signature */
    MPI_Count extent, begin; /* from element to element; of the first byte in the element */
    bool run;                /* an element's bytes are one run of memory, in order */
    bool staged;             /* an element is so large that messages are packed as a whole */
};

enum { ELEMENT_MOST = 4096 }; /* bytes of an element that is packed by itself */

/* The predefined types of one run, by the low byte of the handle; the next byte is the size. */
extern const MPI_Datatype hud_type_predefined[256];

/* Bytes of a predefined type of one run; 0: another type. */
static inline MPI_Count hud_type_plain(MPI_Datatype handle)
{
    return hud_type_predefined[handle & 0xff] == handle ? handle >> 8 & 0xff : 0;
}

/* False: not a type, or not one to communicate with: the MPI will say so. */
bool hud_type_find(MPI_Datatype handle, struct type *type);
int hud_type_start(void);
void hud_type_finish(void);

/* ---- message.c ---- */
struct message {
    struct hud_view view;
    struct type type;
    MPI_Datatype handle;
    MPI_Comm comm;
    char *first;     /* element 0, as MPI counts */
    MPI_Count count; /* elements */
    char *stage;     /* packed form of the whole message; NULL: packed piece by piece */
    size_t filled;   /* end of what has been unpacked into the stage */
    bool packed;     /* the stage holds the sender's bytes */
};

/*
 * HUD_OK; HUD_PASS: huddle does not take it (erroneous or absurd); HUD_ERR_MEMORY: this rank has no memory to stage it in, which is an error of
 * the call, as other ranks take it.  Nothing to close but after HUD_OK.
 */
int hud_message_open(void *buffer, MPI_Count count, MPI_Datatype handle, MPI_Comm comm, struct message *message);
/* Moves what is staged into the user's buffer. */
void hud_message_close(struct message *message);

#endif
