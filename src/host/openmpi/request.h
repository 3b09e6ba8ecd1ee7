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

#include "ompi/mca/coll/base/coll_base_util.h"

/* MPI's arguments, for when Open MPI's own collective is started later. */
#define FIELD_buffer void *buffer;
#define FIELD_in const void *in;
#define FIELD_out void *out;
#define FIELD_count int count;
#define FIELD_ins int ins;
#define FIELD_outs int outs;
#define FIELD_counts const int *counts;
#define FIELD_in_counts const int *in_counts;
#define FIELD_out_counts const int *out_counts;
#define FIELD_in_places const int *in_places;
#define FIELD_out_places const int *out_places;
#define FIELD_type TYPE *type;
#define FIELD_in_type TYPE *in_type;
#define FIELD_out_type TYPE *out_type;
#define FIELD_in_types TYPE *const *in_types;
#define FIELD_out_types TYPE *const *out_types;
#define FIELD_op OP *op;
#define FIELD_root int root;
#define FIELD_comm COMM *comm;

enum { SAVED_ARRAYS = 6 };

struct saved {
    union {
#define PLAIN(Name, name, ...)                                                                     \
    struct saved_##name {                                                                          \
        JOIN(FIELD_, __VA_ARGS__)                                                                  \
    } name;
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
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
    struct request *next;  /* in the pool or in a list */
    hud_request *request;  /* NULL: none */
    ompi_request_t *inner; /* Open MPI's own; NULL: not started */
    request_below *below;  /* starts it, or, of a persistent one, makes it */
    enum request_state state;
    unsigned shape;
    struct call call;
    struct room room;
    struct saved saved;
    void *arrays[SAVED_ARRAYS]; /* copies of those in `saved` */
    opal_object_t **kept;       /* operation and types of a persistent one */
    int kept_count;
};

/* One for the module, that holds its communicator; NULL: out of memory. */
struct request *hud_request_take(hud_module *m, bool persistent);
/* Undoes it, and all that was made for the call. */
void hud_request_give(struct request *r);

/* The call is open: what it needs beyond the stack of a blocking one.  False: out of memory. */
bool hud_request_furnish(struct request *r);
/* A copy of an array in `saved`, which Open MPI's Fortran functions free early.  NULL too if there
 * is no memory. */
const void *hud_request_copy(struct request *r, const void *array, size_t bytes);
/* Keeps an operation or a type alive until the request is freed.  False: no memory. */
bool hud_request_keep(struct request *r, const void *object);

/* Huddle's request for what r->call says, or, if not handled, for a place in the order of the
 * team's calls. */
int hud_request_make(struct request *r, bool handled);
/* Starts it: HUD_OK: *request is the caller's; HUD_PASS: Open MPI's own is to be started now; or an
 * error. */
int hud_request_launch(struct request *r, ompi_request_t **request);

/* When the component opens and closes.  False: this Open MPI's requests have another layout. */
bool hud_requests_fit(void);
void hud_requests_end(void);

#endif
