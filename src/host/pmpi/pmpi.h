/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmpi.h - declarations that the files of the front end for the MPICH family share.
 *
 * attach.c    the calls of the MPI, found by name
 * wrap.c      the wrappers, from host/signatures.def
 * reduce.c    reductions, from MPI's arguments to huddle's
 * exchange.c  the same for exchanges, gathers and scatters
 * far.c       which ranks of all nodes use huddle
 * life.c      the process's context, from the first collective (or the return of MPI_Init) to
 *             MPI_Finalize
 * nonblocking.c  wrappers of the nonblocking collectives, and of MPI_Comm_idup
 * request.c   their requests, as generalized requests of the MPI
 * pool.c      requests that are not in use, and what those in use keep
 * order.c     wrappers of what waits for requests, or must keep what they use
 * call.c      what calls of all collectives have in common
 * comm.c      huddle's data about a communicator
 * type.c      huddle's data about a datatype
 * message.c   a user's buffer as a huddle view
 * runs.c      the runs of memory of a datatype, for buffers on a device
 * op.c        an MPI operation as a huddle operation
 * local.c     operations that the MPI carries out
 * messages.c  messages between nodes
 * imports.c   whether the program may wait where the MPI advances no requests
 *
 * One build against MPICH's headers serves all MPIs of its ABI: handles are ints whose bits tell
 * the kind of object.
 */
#ifndef HUD_PMPI_H
#define HUD_PMPI_H

#include "coll/coll.h"
#include "core/local.h"
#include "host/device/device.h"
#include "host/grown.h"
#include "host/loader/front.h"
#include "host/map.h"
#include "huddle/huddle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* Parameters of the MPI's functions by the kinds of host/signatures.def, for counts of COUNT and
 * places of PLACE; and what hud_open_<name> has of them: an array of counts as a MANY. */
#define PARAM_buffer void *buffer
#define PARAM_in const void *in
#define PARAM_out void *out
#define PARAM_count COUNT count
#define PARAM_ins COUNT ins
#define PARAM_outs COUNT outs
#define PARAM_counts const COUNT counts[]
#define PARAM_in_counts const COUNT in_counts[]
#define PARAM_out_counts const COUNT out_counts[]
#define PARAM_in_places const PLACE in_places[]
#define PARAM_out_places const PLACE out_places[]
#define PARAM_in_bytes const MPI_Aint in_bytes[]
#define PARAM_out_bytes const MPI_Aint out_bytes[]
#define PARAM_type MPI_Datatype type
#define PARAM_in_type MPI_Datatype in_type
#define PARAM_out_type MPI_Datatype out_type
#define PARAM_in_types const MPI_Datatype in_types[]
#define PARAM_out_types const MPI_Datatype out_types[]
#define PARAM_op MPI_Op op
#define PARAM_root int root
#define PARAM_comm MPI_Comm comm
#define TAKE_buffer buffer
#define TAKE_in in
#define TAKE_out out
#define TAKE_count count
#define TAKE_ins ins
#define TAKE_outs outs
#define TAKE_counts MANY(counts)
#define TAKE_in_counts MANY(in_counts)
#define TAKE_out_counts MANY(out_counts)
#define TAKE_in_places MANY(in_places)
#define TAKE_out_places MANY(out_places)
#define TAKE_type type
#define TAKE_in_type in_type
#define TAKE_out_type out_type
#define TAKE_in_types in_types
#define TAKE_out_types out_types
#define TAKE_op op
#define TAKE_root root
#define TAKE_comm call

/* PMPI_Bcast is real.Bcast. */
struct calls {
#define CALL(name) __typeof__(&PMPI_##name) name;
#include "host/pmpi/calls.def"
#undef CALL
};
extern struct calls real;

/* The bits of a handle that tell its kind; a handle with others is not worth a look.  True of the
 * null handles' kinds too, not of null handles. */
static inline bool handle_is_comm(MPI_Comm comm)
{
    return ((unsigned)comm >> 26 & 0xf) == 1 && (unsigned)comm >> 30 != 0;
}

static inline bool handle_is_type(MPI_Datatype type)
{
    return ((unsigned)type >> 26 & 0xf) == 3 && (unsigned)type >> 30 != 0;
}

/* A routine of mpi_f08 ends: the error is optional there. */
static inline void answer_f08(MPI_Fint *error, int code)
{
    if (error)
        *error = code;
}

/* ---- wrap.c ---- */
extern const struct hud_wrapper hud_wrappers[];

/* ---- life.c ---- */
/* Remembers the MPI's version, for messages. */
void hud_life_name(const char *version);
/* The process's context, created by the first call between MPI_Init and MPI_Finalize.  NULL:
 * outside these, or not for this process. */
hud_context *hud_life_context(void);
/* Several threads may call at a time.  Settled when the context is created. */
extern bool hud_life_threaded;
/* The MPI's blocking collectives of a neighbourhood have numbers of its order of nonblocking ones
 * (Intel MPI).  MPICH's have numbers of their own. */
extern bool hud_life_one_order;
/* HUDDLE_NONBLOCKING=on, though waits of the MPI's do not advance such collectives.  Settled then,
 * too. */
extern bool hud_life_adopts;
/* Teams may span nodes.  Settled then, too. */
extern bool hud_life_spans;
/* Ranks of the job on this node, or of the whole job where the launcher does not tell. */
int hud_life_local_ranks(void);
/* Moves the MPI's messages. */
void hud_life_progress(void);
/* COMM_WORLD's group; valid while there is a context. */
MPI_Group hud_life_world(void);

/* ---- comm.c ---- */
struct comm {
    hud_team *team; /* NULL: every collective is the MPI's own */
    MPI_Comm handle;
    int rank, size;
    int *world;           /* ranks in COMM_WORLD, -1: not there; NULL: not asked yet */
    struct grown scratch; /* of the collective that is running */
    MPI_Request exchange; /* of the team's set-up */
    MPI_Comm between;     /* for messages to other nodes; MPI_COMM_NULL: not made */
    bool spoilt;          /* messages that nobody takes may be on it */
    enum { DEVICES_UNKNOWN, DEVICES_MAYBE, DEVICES_NONE } devices; /* what its info asserts */
    atomic_int in_flight; /* requests that huddle has and that are not complete */
    MPI_Request holder;   /* keeps a communicator that the user has freed; MPI_REQUEST_NULL: none */
    struct comm *prev, *next; /* all of the process */
};

/* NULL: not a communicator, or huddle is not on.  Valid until the communicator is freed; the usual
 * case costs a few ns. */
struct comm *hud_comm_find(MPI_Comm handle);
/* Returns true if the program has asserted that no buffer of its calls is on a device. */
bool hud_comm_has_no_devices(MPI_Comm handle);
/* What huddle itself found wrong goes to the error handler.  Returns MPI's code for it. */
int hud_comm_fail(struct comm *comm, int status);
/* Two moments of the process's life: 0 or an MPI error. */
int hud_comm_start(void);
void hud_comm_finish(void);

/* ---- messages.c ---- */
extern const struct hud_messages hud_pmpi_messages;

/* ---- type.c ---- */
struct type {
    MPI_Count bytes;         /* of one element's signature */
    MPI_Count extent, begin; /* from element to element; of the first byte in the element */
    MPI_Count reach;         /* from the element's first byte to the end of its last */
    bool run;                /* an element's bytes are one run of memory, in order */
    bool staged;             /* an element is so large that messages are packed as a whole */
};

enum { ELEMENT_MAX = 4096 }; /* bytes of an element that is packed by itself */

/* The predefined types of one run, by the low byte of the handle; the next byte is the size, which
 * is never 0. */
extern const MPI_Datatype hud_type_predefined[256];

static inline bool hud_type_is_plain(MPI_Datatype handle)
{
    return hud_type_predefined[handle & 0xff] == handle;
}

/* Bytes of a predefined type of one run. */
static inline MPI_Count hud_type_plain_bytes(MPI_Datatype handle)
{
    return handle >> 8 & 0xff;
}

/* False: not a type, or not one to communicate with: the MPI reports it. */
bool hud_type_find(MPI_Datatype handle, struct type *type);
/* Returns the runs of an element, for the caller to drop; NULL without memory. */
struct hud_runs *hud_type_runs(MPI_Datatype handle);
/* Returns true if an element's bytes are certainly one run of memory, in order. */
bool hud_type_is_run(MPI_Datatype handle);
/* Frees what MPI_Type_get_contents has returned. */
void hud_type_release(MPI_Datatype *types, MPI_Count count);
int hud_type_start(void);
void hud_type_finish(void);

/* ---- runs.c ---- */
/* Adds the runs of a type's element.  Returns false without memory, or for a type that MPI has not
 * had when this was written. */
bool hud_type_flatten(MPI_Datatype handle, struct hud_runs *runs);

/* ---- message.c ---- */
struct message {
    struct hud_view view;
    struct type type;
    MPI_Datatype handle;
    MPI_Comm comm;
    bool closes;     /* there is something to do when it is closed; the rest is set only then, or
                        where a view is packed */
    char *first;     /* element 0, as MPI counts */
    MPI_Count count; /* elements */
    char *stage;     /* packed form of the whole message; NULL: packed piece by piece */
    size_t filled;   /* end of what has been unpacked into the stage */
    bool packed;     /* the stage holds the sender's bytes */
    struct hud_device_view device; /* of memory on a device */
};

/*
 * HUD_OK; HUD_PASS: huddle does not take it (erroneous or absurd); HUD_ERR_MEMORY: this rank has no
 * memory to stage it in, which is an error of the call, as other ranks take it.  Nothing to close
 * but after HUD_OK.
 */
int hud_message_open(const void *buffer, MPI_Count count, MPI_Datatype handle, MPI_Comm comm,
                     struct message *message);
/* A message that is read and written in place: what is staged holds the user's bytes from now
 * on. */
void hud_message_fill(struct message *message);
/* Moves what is staged into the user's buffer.  Returns false if a copy of a device has failed. */
bool hud_message_close(struct message *message);
/* Elements from and to their packed form of so many bytes; the first may be at a null address
 * (MPI_BOTTOM). */
void hud_elements_pack(const char *first, size_t count, MPI_Datatype handle, MPI_Comm comm,
                       size_t bytes, void *packed);
void hud_elements_unpack(const void *packed, size_t bytes, size_t count, MPI_Datatype handle,
                         MPI_Comm comm, char *first);

/* Returns true for what most messages are: the view is set, and there is nothing to close. */
static inline bool message_is_plain(const void *buffer, MPI_Count count, MPI_Datatype handle,
                                    struct message *message)
{
    if (!hud_type_is_plain(handle) || count <= 0 || count >= 1 << 30 ||
        !hud_device_is_plain(buffer))
        return false; /* (a null buffer and MPI_IN_PLACE are not plain, either) */
    message->view =
        (struct hud_view){ .base = (void *)(uintptr_t)buffer,
                           .bytes = (size_t)count * (size_t)hud_type_plain_bytes(handle) };
    message->closes = false;
    return true;
}

static inline int message_open(const void *buffer, MPI_Count count, MPI_Datatype handle,
                               MPI_Comm comm, struct message *message)
{
    return message_is_plain(buffer, count, handle, message)
               ? HUD_OK
               : hud_message_open(buffer, count, handle, comm, message);
}

/* ---- op.c ---- */
/* An operation that the MPI carries out. */
struct local_op {
    struct hud_op op;
    MPI_Op operation;
    MPI_Datatype handle;
    struct type type;
    bool direct; /* elements lie one after the other in runs of memory, as they do when packed */
    size_t max;  /* elements that the scratch holds */
    MPI_Count first; /* where MPI's element 0 begins in the scratch */
    char *wide;      /* scratch of two elements, wide_bytes each, that are wider than the one on the
                        stack; NULL: they are not */
    size_t wide_bytes;
};

/*
 * HUD_OK; HUD_PASS: huddle does not take it, on no rank, as the signature of an element decides;
 * HUD_ERR_MEMORY: see hud_message_open.  What is found may be kept in *local, which hud_op_close is
 * to be given after HUD_OK.
 */
int hud_op_open(MPI_Op op, MPI_Datatype type, struct local_op *local, const struct hud_op **found);
const char *hud_op_name(MPI_Op op);
void hud_op_start(void);

/* ---- local.c ---- */
int hud_local_open(MPI_Op operation, MPI_Datatype handle,
                   struct local_op *local); /* as hud_op_open */
void hud_local_close(const struct local_op *local);

static inline void hud_op_close(const struct local_op *local)
{
    if (__builtin_expect(local->wide != NULL, 0))
        hud_local_close(local);
}

/* An array argument: of ints, or of the large integers of a function in _c; or one number for all
 * members. */
struct many {
    const void *at;
    bool large, same;
};

static inline MPI_Count many_at(struct many many, int member)
{
    int index = many.same ? 0 : member;

    return many.large ? ((const MPI_Count *)many.at)[index] : ((const int *)many.at)[index];
}

/* Of scratch, in a communicator of so many ranks. */
size_t hud_exchange_bytes(int ranks);

#endif
