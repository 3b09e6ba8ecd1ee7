/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.h - nonblocking collectives of the front end for the MPICH family.
 *
 * nonblocking.c  the wrappers
 * request.c      a request of huddle as a generalized request of the MPI
 * grequest_query_cancel.c
 *                the callbacks of a generalized request: query and cancel
 * pool.c         unused requests, and the objects that used requests keep
 * order.c        wrappers of blocking calls that have a place in the MPI's order of nonblocking
 *                calls, and of functions that free objects which a request still uses
 * fortran.c      the same for mpi_f08
 */
#ifndef HUD_PMPI_NONBLOCKING_H
#define HUD_PMPI_NONBLOCKING_H

#include "host/pmpi/call.h"
#include "host/saved.h"

#define COUNT int
#define PLACE int
#define PLAIN(Name, name, ...)                                                                     \
    struct saved_##Name {                                                                          \
        JOIN(FIELD, __VA_ARGS__)                                                                   \
    };
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) PLAIN(Neighbor_##name, , __VA_ARGS__)
#include "host/signatures.def"
#undef COUNT
#undef PLACE
#define COUNT MPI_Count
#define PLACE MPI_Aint
#define HANDLED(Name, name, ...)                                                                   \
    struct saved_##Name##_c {                                                                      \
        JOIN(FIELD, __VA_ARGS__)                                                                   \
    };
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...) HANDLED(Neighbor_##name, , __VA_ARGS__)
#include "host/signatures.def"
#undef COUNT
#undef PLACE

union saved {
#define PLAIN(Name, name, ...) struct saved_##Name Name;
#define HANDLED(Name, name, ...)                                                                   \
    struct saved_##Name Name;                                                                      \
    struct saved_##Name##_c Name##_c;
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...) HANDLED(Neighbor_##name, , __VA_ARGS__)
#include "host/signatures.def"
    struct {
        MPI_Comm comm, *made;
    } duplicate;
};

enum request_state { WITH_HUDDLE, WITH_MPI, ENDED };

struct request {
    struct request *next, *before; /* neighbours in the pool or in flight */
    struct call call;
    struct comm *comm;
    hud_request *request;                  /* huddle's request */
    MPI_Request handle, inner;             /* handle: the user's; inner: the MPI's own */
    int (*start_inner)(struct request *r); /* starts `inner` */
    enum request_state state;
    bool complete;      /* the MPI was told of the completion, or is being told */
    bool polled;        /* a thread is polling it */
    bool reported;      /* the error handler was called */
    int code;           /* MPI's code of the result */
    MPI_Op op;          /* a user's operation in use, or MPI_OP_NULL */
    MPI_Info info;      /* an info in use, or MPI_INFO_NULL */
    MPI_Datatype *held; /* types made of the types in use, to keep these alive */
    int held_count, held_room;
    MPI_Request holder;           /* keeps a freed communicator alive; to be freed with the types */
    struct scratch_array scratch; /* memory for the call */
    struct saved_arrays arrays;
    union saved saved;
};

/* ---- pool.c ---- */
struct request *hud_pool_take(struct comm *comm);
void hud_requests_finish(void); /* frees the requests of the pool */
void hud_pool_give(struct request *r);
/* Keeps a type, or an array of types (or NULL), alive until the request is freed.  Returns false if
 * out of memory. */
bool hud_request_hold_type(struct request *r, MPI_Datatype type);
bool hud_request_hold_types(struct request *r, const MPI_Datatype *types, int count);

/* ---- request.c ---- */
/* Finds the MPI's functions.  Returns false if this MPI has no generalized requests that it polls
 * for progress. */
struct object;
bool hud_requests_find(const struct object *mpi);
/* Returns whether every wait of this MPI advances requests. */
bool hud_requests_polled(bool threads);
/* Creates and starts a request for these arguments: those of r->call, or of a place.  After HUD_OK,
 * *request is the user's. */
int hud_request_issue(struct request *r, const struct hud_args *args, MPI_Request *request);
/* Turns a started request of the MPI into a request of huddle; comm must have a team. */
void hud_request_adopt(struct comm *comm, MPI_Request *request);
/* Keeps a communicator that the program frees until its requests are complete. */
void hud_requests_hold(struct comm *comm, MPI_Comm handle);
/* Waits until the communicator's requests are complete and no longer need it. */
void hud_requests_drain(struct comm *comm);
/* Returns whether requests are in flight. */
bool hud_requests_in_flight(void);
/* Polls the request of a user's handle.  Returns false if the request is not huddle's. */
bool hud_request_poll(MPI_Request handle);

/* ---- grequest_query_cancel.c: callbacks of a generalized request ---- */
int hud_request_query(void *state, MPI_Status *status);
int hud_request_cancel(void *state, int complete); /* fails, because a collective cannot be
                                                      cancelled */

/* ---- imports.c ---- */
/* Returns whether the program may wait in functions where this MPI does not advance requests.
 * Searches only once. */
bool hud_imports_waits(void);

/* ---- nonblocking.c ---- */
extern const struct hud_wrapper hud_nonblocking_wrappers[];

/* ---- fortran.c ---- */
extern const struct hud_wrapper hud_fortran_wrappers[];

/* ---- order.c ---- */
extern const struct hud_wrapper hud_order_wrappers[];
/* Waits before a call that takes a number in the communicator's order of nonblocking calls of the
 * MPI. */
void hud_order_flush(MPI_Comm handle);
/* Polls a request that a program looks at, because some MPIs do not poll a generalized request
 * then. */
void hud_order_look(MPI_Request request);
void hud_op_hold(MPI_Op op);
void hud_op_drop(MPI_Op op);

#endif
