/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmpi.h - declarations that the files of the front end for the MPICH family share.
 *
 * attach.c    the calls of the MPI, found by name
 * abi_check.c whether the MPI has the ABI of the headers
 * wrap.c      the wrappers, from host/signatures.def
 * reduce.c    reductions, from MPI's arguments to huddle's
 * exchange.c  exchanges, gathers and scatters, from MPI's arguments to huddle's
 * pmi_kvs.c   the ranks of all nodes that use huddle
 * life.c      the process's context, from the first collective (or the return of MPI_Init) to
 *             MPI_Finalize
 * nonblocking.c  wrappers of the nonblocking collectives, and of MPI_Comm_idup
 * request.c   their requests, as generalized requests of the MPI
 * pool.c      unused requests, and the objects that used requests keep
 * order.c     wrappers of functions that wait for requests, or must keep objects that they use
 * call.c      common parts of calls of all collectives
 * comm.c      huddle's data about a communicator
 * type.c      huddle's data about a datatype
 * message.c   a user's buffer as a huddle view
 * runs.c      the runs of memory of a datatype, for buffers on a device
 * op.c        an MPI operation as a huddle operation
 * local.c     operations that the MPI carries out
 * messages.c  messages between nodes
 * imports.c   whether the program may wait where the MPI advances no requests
 *
 * One build against MPICH's headers serves all MPIs of its ABI: handles are ints whose bits encode
 * the kind of object.
 */
#ifndef HUD_PMPI_H
#define HUD_PMPI_H

#include "base/process_atomics.h"
#include "coll/coll.h"
#include "host/device/device.h"
#include "host/kinds.h"
#include "host/loader/front.h"
#include "host/scratch_array.h"
#include "huddle/huddle.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

/* See host/kinds.h.  COUNT and PLACE differ between the functions with int counts and the
 * others. */
#define TYPE_HANDLE MPI_Datatype
#define OP_HANDLE MPI_Op
#define COMM_HANDLE MPI_Comm

/* TAKE(kind): the argument of hud_open_<name>, where an array of counts is a MANY. */
#define TAKE(kind) KIND(TAKE_OF, kind)
#define TAKE_OF(name, type, side, copied, kept, passed, ...) TAKE_##passed(name)
#define TAKE_AS_IS(name) name
#define TAKE_MANY_OF(name) MANY(name)
#define TAKE_AS_CALL(name) call

/* PMPI_Bcast is real.Bcast. */
struct calls {
#define CALL(name) __typeof__(&PMPI_##name) name;
#include "host/pmpi/calls.def"
#undef CALL
};
extern struct calls real;

/* Checks the bits of a handle that encode its kind, to skip invalid handles.  Handles of a null
 * kind pass, but not the null handles. */
static inline bool handle_is_comm(MPI_Comm comm)
{
    return ((unsigned)comm >> 26 & 0xf) == 1 && (unsigned)comm >> 30 != 0;
}

static inline bool handle_is_type(MPI_Datatype type)
{
    return ((unsigned)type >> 26 & 0xf) == 3 && (unsigned)type >> 30 != 0;
}

/* Ends a routine of mpi_f08, where the error argument is optional. */
static inline void answer_f08(MPI_Fint *error, int code)
{
    if (error)
        *error = code;
}

/* ---- wrap.c ---- */
extern const struct hud_wrapper hud_wrappers[];

/* ---- abi_check.c ---- */
/* Returns why the MPI in this library cannot be served, or NULL.  Called before MPI_Init. */
const char *hud_abi_refusal(const struct object *mpi, const char *version);
/* Returns which of the MPI's objects differ from the headers, or NULL.  Called after MPI_Init. */
const char *hud_abi_misfit(void);
/* Reports an MPI that is served without having been tested. */
void hud_abi_report_untested(void);

/* ---- life.c ---- */
/* Keeps the MPI's version for messages.  From now on there may be a context. */
void hud_life_name(const char *version);

/* ---- job.c ---- */
/* Returns the process's context, created by the first call between MPI_Init and MPI_Finalize, or
 * NULL outside of these or if this process has none. */
hud_context *hud_job_context(void);
/* Is true if several threads may call at once.  Set when the context is created. */
extern bool hud_job_threaded;
/* Is true if the MPI's blocking collectives of a neighbourhood use numbers of its order of
 * nonblocking collectives (Intel MPI).  MPICH's have their own numbers. */
extern bool hud_job_one_order;
/* Is true with HUDDLE_NONBLOCKING=on if the MPI's waits do not advance such collectives.  Set when
 * the context is created. */
extern bool hud_job_adopts;
/* Is true if teams may span nodes.  Set when the context is created. */
extern bool hud_job_spans;
/* Returns the number of the job's ranks on this node, or in the whole job if the launcher does not
 * tell. */
int hud_job_local_ranks(void);
/* Progresses the MPI's messages.  The argument is not used. */
void hud_job_progress(void *nothing);
/* Returns COMM_WORLD's group; valid while there is a context. */
MPI_Group hud_job_world(void);
/* Sets the function that creates the context, under a lock; *never: there will be no context. */
void hud_job_started_by(hud_context *(*how)(bool *never));
/* Ends the life of the context.  Returns the context, or NULL if there was none. */
hud_context *hud_job_end(void);
/* Keeps the facts that are valid while there is a context.  Returns false if the MPI fails. */
bool hud_job_learn(int local_ranks);
void hud_job_forget(void);

/* ---- comm.c ---- */
struct comm {
    hud_team *team; /* NULL: every collective is the MPI's own */
    MPI_Comm handle;
    int rank, size;
    int *world;                   /* ranks in COMM_WORLD, or -1; NULL: not translated yet */
    struct scratch_array scratch; /* memory for the running collective */
    MPI_Request exchange;         /* exchange of the team's set-up */
    MPI_Comm between;             /* communicator of messages to other nodes, or MPI_COMM_NULL */
    bool spoilt;                  /* may have messages that are never received */
    enum {
        DEVICES_UNKNOWN,
        DEVICES_MAYBE,
        DEVICES_NONE
    } devices;            /* assertion of the communicator's info */
    atomic_int in_flight; /* requests of huddle that are not complete */
    MPI_Request holder;   /* keeps a communicator that the user has freed, or MPI_REQUEST_NULL */
    struct comm *prev, *next; /* list of all communicators of the process */
};

/* Returns huddle's data about a communicator, or NULL if the handle is invalid or huddle is off.
 * Valid until the communicator is freed.  The usual case takes a few ns. */
struct comm *hud_comm_find(MPI_Comm handle);
/* Returns true if the program has asserted that no buffer of its calls is on a device. */
bool hud_comm_has_no_devices(MPI_Comm handle);
/* Passes an MPI error code that huddle itself has detected to the error handler.  Ends the job if
 * errors of the communicator are fatal.  function: the program's call, for the line. */
void hud_comm_raise(struct comm *comm, const char *function, int code);
/* Does the same for a status of huddle.  Returns MPI's code. */
int hud_comm_fail(struct comm *comm, const char *function, int status);
/* Starts or ends the handling of communicators in this process.  Returns 0 or an MPI error. */
int hud_comm_start(void);
void hud_comm_finish(void);

/* ---- messages.c ---- */
extern const struct hud_messages hud_pmpi_messages;

/* ---- type.c ---- */
struct type {
    MPI_Count bytes;         /* size of an element's signature */
    MPI_Count extent, begin; /* extent: from element to element; begin: of the first byte in the
                                element */
    MPI_Count reach;         /* bytes from the element's first byte to the end of its last */
    bool run;                /* an element's bytes are one run of memory, in order */
    bool staged;             /* elements are so large that messages are packed as a whole */
};

enum { ELEMENT_MAX = 4096 }; /* bytes of an element that is packed by itself */

/* The predefined types of one run, by the low byte of the handle; the next byte is the size, which
 * is never 0. */
extern const MPI_Datatype hud_type_predefined[256];

static inline bool hud_type_is_plain(MPI_Datatype handle)
{
    return hud_type_predefined[handle & 0xff] == handle;
}

/* Returns the bytes of a predefined type of one run. */
static inline MPI_Count hud_type_plain_bytes(MPI_Datatype handle)
{
    return handle >> 8 & 0xff;
}

/* Describes a type.  Returns false if the handle is not a type, or not usable for communication,
 * which the MPI reports. */
bool hud_type_find(MPI_Datatype handle, struct type *type);
/* Returns the runs of an element, to be dropped by the caller, or NULL if out of memory. */
struct hud_runs *hud_type_runs(MPI_Datatype handle);
/* Returns true if an element's bytes are certainly one run of memory, in order. */
bool hud_type_is_run(MPI_Datatype handle);
/* Frees the types that MPI_Type_get_contents has returned. */
void hud_type_release(MPI_Datatype *types, MPI_Count count);
int hud_type_start(void);
void hud_type_finish(void);

/* ---- runs.c ---- */
/* Adds the runs of a type's element.  Returns false without memory, or for a type that MPI has not
 * had when this was written. */
bool hud_type_flatten(MPI_Datatype handle, struct hud_runs *runs);

/* Adds the runs of a type's element.  Returns false if out of memory, or for a type that MPI did
 * not have when this was written. */
struct message {
    struct hud_view view;
    struct type type;
    MPI_Datatype handle;
    MPI_Comm comm;
    bool closes;     /* closing is necessary; the other fields are set only then, or if a view is
                        packed */
    char *first;     /* element 0, in MPI's sense */
    MPI_Count count; /* number of elements */
    char *stage;     /* packed form of the whole message; NULL: packed piece by piece */
    size_t filled;   /* end of the data that has been unpacked into the stage */
    bool packed;     /* the stage has the sender's bytes */
    struct hud_device_view device; /* memory on a device */
};

/*
 * Opens a buffer as a view.  Returns HUD_OK, after which the message must be closed; HUD_PASS if
 * huddle does not handle the message (erroneous or absurd); or HUD_ERR_MEMORY if this rank has no
 * memory for staging, which makes the call fail, because other ranks handle their messages.
 */
int hud_message_open(const void *buffer, MPI_Count count, MPI_Datatype handle, MPI_Comm comm,
                     struct message *message);
/* Prepares a message to be read and written in place: fills the stage with the user's bytes. */
void hud_message_fill(struct message *message);
/* Unpacks staged data into the user's buffer.  Returns false if a copy of a device has failed. */
bool hud_message_close(struct message *message);
/* Packs or unpacks elements; the packed form has `bytes` bytes.  The first element may be at a null
 * address (MPI_BOTTOM). */
void hud_message_pack(const char *first, size_t count, MPI_Datatype handle, MPI_Comm comm,
                      size_t bytes, void *packed);
void hud_message_unpack(const void *packed, size_t bytes, size_t count, MPI_Datatype handle,
                        MPI_Comm comm, char *first);

/* Returns true for most messages: then the view is set, and there is nothing to close. */
static inline bool message_is_plain(const void *buffer, MPI_Count count, MPI_Datatype handle,
                                    struct message *message)
{
    if (!hud_type_is_plain(handle) || count <= 0 || count >= 1 << 30 ||
        !hud_device_is_plain(buffer))
        return false; /* a null buffer and MPI_IN_PLACE are not plain, either */
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
    bool direct;     /* elements are contiguous, as in their packed form */
    size_t max;      /* elements that fit the scratch */
    MPI_Count first; /* place of MPI's element 0 in the scratch */
    char *wide;      /* scratch of two elements of wide_bytes each, if they are too wide for the
                        stack; otherwise NULL */
    size_t wide_bytes;
};

/*
 * Converts an operation on a type to a hud_op.  Returns HUD_OK; HUD_PASS if huddle handles it on no
 * rank, as the signature of an element decides; or HUD_ERR_MEMORY, see hud_message_open.  The
 * result may be in *local, which must be passed to hud_op_close after HUD_OK.
 */
int hud_op_open(MPI_Op op, MPI_Datatype type, struct local_op *local, const struct hud_op **found);
const char *hud_op_name(MPI_Op op);
void hud_op_start(void);

/* ---- local.c ---- */
/* Opens an operation as hud_op_open does. */
int hud_local_open(MPI_Op operation, MPI_Datatype handle, struct local_op *local);
void hud_local_close(const struct local_op *local);

static inline void hud_op_close(const struct local_op *local)
{
    if (__builtin_expect(local->wide != NULL, 0))
        hud_local_close(local);
}

/* An array argument: of ints, or of the large integers of a function in _c; or a single number for
 * all members. */
struct many {
    const void *at;
    bool large, same;
};

static inline MPI_Count many_at(struct many many, int member)
{
    int index = many.same ? 0 : member;

    return many.large ? ((const MPI_Count *)many.at)[index] : ((const int *)many.at)[index];
}

/* Returns the bytes of scratch for a communicator of `ranks` ranks. */
size_t hud_exchange_bytes(int ranks);

#endif
