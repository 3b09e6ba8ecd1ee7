/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - a request of MPI for a nonblocking or persistent collective: Open MPI's object, the
 * call, huddle's request, and Open MPI's own request if huddle does not carry out the call.
 *
 * Open MPI keeps a call's types and operation alive by the returned request, which must be of its
 * class for collectives.
 */
#ifndef HUD_OPENMPI_REQUEST_H
#define HUD_OPENMPI_REQUEST_H

#include "call.h"
#include "host/saved.h"

#include "ompi/mca/coll/base/coll_base_util.h"

struct saved {
    union {
#define PLAIN(Name, name, ...)                                                                     \
    struct saved_##name {                                                                          \
        JOIN(FIELD, __VA_ARGS__)                                                                   \
    } name;
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) PLAIN(, neighbor_##name, __VA_ARGS__)
#include "host/signatures.def"
    };
};

struct request;
typedef int request_start_inner(struct request *r, ompi_request_t **inner);

enum request_state { WITH_HUDDLE, WITH_MPI, ENDED };

struct request {
    ompi_coll_base_nbc_request_t super;
    void *growth[GROWTH]; /* written by the constructor of super's class, as in hud_module */
    hud_module *module;
    struct request *next; /* next one of the pool or of a list */
    /* Cleared when the request is given back, up to `call`: */
    hud_request *request;             /* the core's request, or NULL */
    ompi_request_t *inner;            /* Open MPI's own; NULL: not started, or persistent */
    request_start_inner *start_inner; /* starts `inner` */
    hud_team *team;                   /* team of a persistent request; NULL: team of the module */
    bool early;                       /* may end before requests that were launched earlier */
    int broken;                       /* why no call of the team is handled any more */
    enum request_state state;
    unsigned shape;
    /* Written by each call; only the convertors of `call` are cleared: */
    struct call call;
    struct saved saved;
    opal_object_t **kept; /* operation and types of a persistent request */
    int kept_count;
    /* Memory that is kept from call to call: */
    struct per_rank room;
    struct saved_arrays arrays; /* empty for a persistent request */
    struct scratch_array convertors[2];
};

/* Returns a request of the module, which keeps the communicator alive, or NULL if out of memory. */
struct request *hud_request_take(hud_module *m, bool persistent);
/* Returns a request to the pool, and frees all that was made for the call. */
void hud_request_give(struct request *r);

/* Prepares an open call to outlive the stack of its caller.  Returns false if out of memory. */
bool hud_request_furnish(struct request *r);
/* Keeps an operation or a type alive until the request is freed.  Returns false if out of
 * memory. */
bool hud_request_keep(struct request *r, const void *object);

/* Creates huddle's request for these arguments: those of r->call, or of a place. */
int hud_request_make(struct request *r, const struct hud_args *args);
/* Starts a request.  Returns HUD_OK and *request for the caller, HUD_PASS if Open MPI's own must be
 * started now, or an error. */
int hud_request_launch(struct request *r, ompi_request_t **request);

/*
 * Makes a persistent request for r->call, which was opened with this status, in its own team
 * (persistent.c).  All ranks call this function and wait for each other.  r is NULL if out of
 * memory.  Returns HUD_OK if the request can be started, and HUD_PASS on all ranks if not.
 */
int hud_persistent_make(hud_module *m, struct request *r, int status);
/* Starts persistent requests, for MPI_Start. */
int hud_persistent_start(size_t count, ompi_request_t **requests);
/* Returns the status that the user gets for a call of a persistent request. */
int hud_persistent_judge(struct request *r, int status);

/* Hands over a started request to progress.c. */
void hud_request_hand_over(struct request *r);
/* Ends huddle's part of a request. */
void hud_request_store_result(struct request *r, int status);

void hud_progress_begin(bool threads);
void hud_progress_end(void);

/* Prepares for requests when the component opens, or frees the pool when it closes.  Returns false
 * if this Open MPI's requests have another layout. */
bool hud_requests_begin(bool threads);
void hud_requests_end(void);

#endif
