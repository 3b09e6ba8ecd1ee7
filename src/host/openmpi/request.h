/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * request.h - a request of MPI for a nonblocking or persistent collective: Open MPI's object, the
 * call, huddle's request for it, and, where huddle does not carry it out, Open MPI's own.
 *
 * Open MPI keeps a call's types and operation alive by the request that it gets, which must be of
 * its class for collectives.
 */
#ifndef HUD_OPENMPI_REQUEST_H
#define HUD_OPENMPI_REQUEST_H

#include "call.h"
#include "host/saved.h"

#include "ompi/mca/coll/base/coll_base_util.h"

#define COUNT int
#define PLACE int
#define SAVED_TYPE TYPE *
#define SAVED_TYPES TYPE *const *
#define SAVED_OP OP *
#define SAVED_COMM COMM *

struct saved {
    union {
#define PLAIN(Name, name, ...)                                                                     \
    struct saved_##name {                                                                          \
        JOIN(FIELD_, __VA_ARGS__)                                                                  \
    } name;
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) PLAIN(, neighbor_##name, __VA_ARGS__)
#include "host/signatures.def"
    };
};

struct request;
typedef int request_below(struct request *r, ompi_request_t **inner);

enum request_state { WITH_HUDDLE, WITH_MPI, ENDED };

struct request {
    ompi_coll_base_nbc_request_t super;
    void *growth[GROWTH]; /* as in a module */
    hud_module *module;
    struct request *next; /* in the pool or in a list */
    /* Cleared when the request is given back, up to `call`: */
    hud_request *request;  /* NULL: none */
    ompi_request_t *inner; /* Open MPI's own; NULL: not started, or persistent */
    request_below *below;  /* starts it */
    hud_team *team;        /* of a persistent one alone; NULL: the module's */
    bool early;            /* may end before those that were launched before it */
    int broken;            /* why no call of that team is handled any more */
    enum request_state state;
    unsigned shape;
    /* Written by each call; of the first, convertors are cleared: */
    struct call call;
    struct saved saved;
    opal_object_t **kept; /* operation and types of a persistent one */
    int kept_count;
    /* Memory that is kept from call to call: */
    struct per_rank room;
    struct saved_arrays arrays; /* none of a persistent one */
    struct grown convertors[2];
};

/* One for the module, that holds its communicator; NULL: out of memory. */
struct request *hud_request_take(hud_module *m, bool persistent);
/* Undoes it, and all that was made for the call. */
void hud_request_give(struct request *r);

/* The call is open: what it needs beyond the stack of a blocking one.  False: out of memory. */
bool hud_request_furnish(struct request *r);
/* Keeps an operation or a type alive until the request is freed.  False: no memory. */
bool hud_request_keep(struct request *r, const void *object);

/* Huddle's request for those arguments: r->call's, or a place's. */
int hud_request_make(struct request *r, const struct hud_args *args);
/* Starts it: HUD_OK: *request is the caller's; HUD_PASS: Open MPI's own is to be started now; or an
 * error. */
int hud_request_launch(struct request *r, ompi_request_t **request);

/*
 * persistent.c: a persistent request for r->call, which was opened with that status, in a team of
 * its own.  All ranks come here, and wait for each other.  r may be NULL: out of memory.  HUD_OK:
 * it can be started; HUD_PASS: it cannot, on all ranks alike.
 */
int hud_persistent_make(hud_module *m, struct request *r, int status);
/* MPI_Start. */
int hud_persistent_start(size_t count, ompi_request_t **requests);
/* Of a call of such a request: the status that the user gets. */
int hud_persistent_judge(struct request *r, int status);

/* For progress.c: r has been started. */
void hud_request_hand_over(struct request *r);
/* Huddle's part of it has ended. */
void hud_request_absorb(struct request *r, int status);

void hud_progress_begin(bool threads);
void hud_progress_end(void);

/* When the component opens and closes.  False: this Open MPI's requests have another layout. */
bool hud_requests_begin(bool threads);
void hud_requests_end(void);

#endif
