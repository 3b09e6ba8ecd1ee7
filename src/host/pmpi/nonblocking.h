/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.h - nonblocking collectives of the front end for the MPICH family.
 *
 * nonblocking.c  the wrappers
 * request.c      a request of huddle as a generalized request of the MPI
 * outcome.c      what the MPI learns of one that is over
 * pool.c         requests that are not in use, and what those in use keep
 * order.c        wrappers of blocking calls that have a place in the MPI's order of nonblocking
 *                ones, and of what frees what a request still uses
 * fortran.c      the same for mpi_f08
 */
#ifndef HUD_PMPI_NONBLOCKING_H
#define HUD_PMPI_NONBLOCKING_H

#include "host/pmpi/call.h"
#include "host/saved.h"

#define SAVED_TYPE MPI_Datatype
#define SAVED_TYPES const MPI_Datatype *
#define SAVED_OP MPI_Op
#define SAVED_COMM MPI_Comm
#define COUNT int
#define PLACE int
#define PLAIN(Name, name, ...)                                                                     \
    struct saved_##Name {                                                                          \
        JOIN(FIELD_, __VA_ARGS__)                                                                  \
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
        JOIN(FIELD_, __VA_ARGS__)                                                                  \
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
    struct request *next, *before; /* in the pool or in flight */
    struct call call;
    struct comm *comm;
    hud_request *request;            /* huddle's */
    MPI_Request handle, inner;       /* the user's; the MPI's own */
    int (*below)(struct request *r); /* starts the latter */
    enum request_state state;
    bool complete;      /* the MPI was told, or is being told */
    bool polled;        /* by a thread */
    bool reported;      /* the error handler was called */
    int code;           /* its result */
    MPI_Op op;          /* a user's operation that it uses, or MPI_OP_NULL */
    MPI_Info info;      /* the same, MPI_INFO_NULL: none */
    MPI_Datatype *held; /* types made of those that it uses, which keep them alive */
    int held_count, held_room;
    MPI_Request holder;   /* of its communicator, to be freed with those */
    struct grown scratch; /* of the call */
    struct saved_arrays arrays;
    union saved saved;
};

/* ---- pool.c ---- */
struct request *hud_request_take(struct comm *comm);
void hud_requests_finish(void); /* those of the pool */
void hud_request_give(struct request *r);
/* Keeps a type, or an array of them (NULL: none), until the request is freed.  False: no
 * memory. */
bool hud_request_hold_type(struct request *r, MPI_Datatype type);
bool hud_request_hold_types(struct request *r, const MPI_Datatype *types, int count);

/* ---- request.c ---- */
/* False: this MPI has no generalized requests that it asks for progress. */
struct object;
bool hud_requests_find(const struct object *mpi);
/* Every wait of this MPI advances requests. */
bool hud_requests_polled(bool threads);
/* Makes and starts it, for those arguments: r->call's, or a place's.  HUD_OK: *request is the
 * user's. */
int hud_request_launch(struct request *r, const struct hud_args *args, MPI_Request *request);
/* Makes a request of the MPI's own, which has started, one of ours; comm has a team. */
void hud_request_adopt(struct comm *comm, MPI_Request *request);
/* A communicator that the program frees lasts until its requests are complete. */
void hud_requests_hold(struct comm *comm, MPI_Comm handle);
/* Waits until its requests are complete; they need it no more. */
void hud_requests_end(struct comm *comm);
/* Some are in flight. */
bool hud_requests_fly(void);
/* The request of a user's handle, to be polled; false: not one of ours. */
bool hud_request_poll(MPI_Request handle);

/* ---- outcome.c: functions of a generalized request ---- */
int hud_request_query(void *state, MPI_Status *status);
int hud_request_cancel(void *state, int complete); /* a collective cannot be cancelled */

/* ---- imports.c ---- */
/* The program may wait where this MPI does not advance requests.  Asked once. */
bool hud_imports_waits(void);

/* ---- nonblocking.c ---- */
extern const struct hud_wrapper hud_nonblocking_wrappers[];

/* ---- fortran.c ---- */
extern const struct hud_wrapper hud_fortran_wrappers[];

/* ---- order.c ---- */
extern const struct hud_wrapper hud_order_wrappers[];
/* Before a call that takes a number in the MPI's order of nonblocking ones of the communicator. */
void hud_order_flush(MPI_Comm handle);
/* Some MPIs do not ask a generalized request for progress where a program looks at it. */
void hud_order_look(MPI_Request request);
void hud_op_hold(MPI_Op op);
void hud_op_drop(MPI_Op op);

#endif
