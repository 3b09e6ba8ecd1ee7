/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - one communicator under huddle, for module.c, handled.c and nonblocking.c. */
#ifndef HUD_OPENMPI_MODULE_H
#define HUD_OPENMPI_MODULE_H

#include "component.h"
#include "core/local.h"
#include "host/grown.h"

#include "host/map.h"

#include "ompi/op/op.h"

#include <stdbool.h>

enum {
    GROWTH = 64
}; /* pointers that a later release of the series may add to its own part: 5.0.10 has added one */

/* What served the communicator before, and the modules that it is of; NULL: nothing did, or nobody
 * asks.  lent: it is in the communicator's table at the moment, in place of huddle's. */
struct below {
#define BELOW(slot)                                                                                \
    __typeof__(((mca_coll_base_module_t *)NULL)->coll_##slot) slot;                                \
    mca_coll_base_module_t *slot##_module;                                                         \
    bool slot##_lent;
#define PLAIN(Name, name, ...) BELOW(name) BELOW(i##name) BELOW(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) BELOW(ineighbor_##name) BELOW(neighbor_##name##_init)
#include "host/signatures.def"
#undef BELOW
    bool may_change; /* ranks are on several nodes */
    bool lent;
};

/* What calls need for each rank, in one piece of memory. */
struct per_rank {
    struct view_state *in_states, *out_states; /* alltoallv */
    struct hud_view *in_views, *out_views;
    size_t *block_bytes; /* reduce_scatter */
    struct grown memory;
    size_t ranks; /* that it is for; 0: none */
};

/* An allgather of a set-up that is under way (exchange.c).  One at a time: a set-up's allgathers
 * follow each other, and before a persistent request sets up a team of its own, all that the
 * module's team has begun is complete (hud_team_flush). */
struct hud_pending {
    char *all; /* part r is of rank r */
    size_t bytes;
    int distance;               /* of this round; parts that are here */
    ompi_request_t *message[4]; /* of this round; NULL: complete, or none */
    unsigned tests;             /* so far */
    bool failed;                /* one of them, or one before */
};

typedef struct hud_module {
    mca_coll_base_module_t super;
    void *growth[GROWTH]; /* written by the constructor of super's class, in the length of the
                             release that runs */
    ompi_communicator_t *comm;
    hud_context *context;
    hud_team *team;
    bool nonblocking;                /* nonblocking collectives are handled, too */
    atomic_int in_flight;            /* requests of `team` that are not complete */
    struct request *oldest, *newest; /* of them, in the order of their starts: progress.c's */
    struct hud_module *next_carrying;
    struct below below;
    struct per_rank room; /* for the duration of a blocking call, see hud_module_make_room */
    struct hud_pending pending;
    enum { DEVICES_UNKNOWN, DEVICES_MAYBE, DEVICES_NONE } devices; /* what its info asserts */
} hud_module;

typedef ompi_communicator_t COMM;
typedef ompi_datatype_t TYPE;
typedef ompi_op_t OP;
typedef mca_coll_base_module_t MODULE;

/* Parameters and arguments of a collective's function here, by the kinds of signatures.def. */
#define PARAM_buffer void *buffer
#define PARAM_in const void *in
#define PARAM_out void *out
#define PARAM_count int count
#define PARAM_ins int ins
#define PARAM_outs int outs
#define PARAM_counts const int *counts
#define PARAM_in_counts const int *in_counts
#define PARAM_out_counts const int *out_counts
#define PARAM_in_places const int *in_places
#define PARAM_out_places const int *out_places
#define PARAM_type TYPE *type
#define PARAM_in_type TYPE *in_type
#define PARAM_out_type TYPE *out_type
#define PARAM_in_bytes const MPI_Aint *in_bytes
#define PARAM_out_bytes const MPI_Aint *out_bytes
#define PARAM_in_types TYPE *const *in_types
#define PARAM_out_types TYPE *const *out_types
#define PARAM_op OP *op
#define PARAM_root int root
#define PARAM_comm COMM *comm, MODULE *module

/* below.c: keeps what is in the communicator's table, of the blocking collectives and, where those
 * are handled, of the others; and lets go of it. */
void hud_below_keep(hud_module *m);
void hud_below_release(hud_module *m);
/* Puts the blocking ones into the table for the duration of a call that goes below: see below.c.
 * False: they are there already. */
bool hud_below_lend(hud_module *m);
void hud_below_return(hud_module *m);

/* handled.c: puts the collectives that huddle serves into the module, those that have something
 * below. */
void hud_handled_install(hud_module *m);
/* nonblocking.c: the same of their nonblocking and persistent forms. */
void hud_nonblocking_install(hud_module *m);

/* Room for what calls need for each rank.  May be called again. */
bool hud_per_rank_allocate(struct per_rank *room, size_t ranks);
void hud_per_rank_free(struct per_rank *room);

static inline bool hud_per_rank_make(struct per_rank *room, size_t ranks)
{
    return room->ranks == ranks || hud_per_rank_allocate(room, ranks);
}

/* The module's.  Made with it where its team may have a lease, so that no call of one can fail
 * without it. */
static inline bool hud_module_make_room(hud_module *m)
{
    return hud_per_rank_make(&m->room, (size_t)ompi_comm_size(m->comm));
}

/* With ULFM: the communicator was revoked, or a process of it has failed.  Not all ranks come to a
 * collective of it any more. */
bool hud_module_interrupted(const hud_module *m);

/* Returns true if the program has asserted that no buffer of its calls is on a device. */
bool hud_module_has_no_devices(hud_module *m);

/* The way to the members of a team of that communicator. */
struct hud_exchange hud_module_exchange(hud_module *m);

/* A call that went below, and was announced, has returned. */
int hud_module_leave(hud_module *m, int code);

static inline size_t bytes_of(int64_t count, const TYPE *type)
{
    return (size_t)count * type->super.size;
}

static inline int64_t sum_of(const int *counts, COMM *comm)
{
    int64_t sum = 0;

    for (int i = 0; i < ompi_comm_size(comm); i++)
        sum += counts[i];
    return sum;
}

#endif
