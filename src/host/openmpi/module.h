/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - a communicator with huddle, for module.c, handled.c and nonblocking.c. */
#ifndef HUD_OPENMPI_MODULE_H
#define HUD_OPENMPI_MODULE_H

#include "base/process_atomics.h"
#include "component.h"
#include "host/scratch_array.h"

#include "ompi/op/op.h"

#include <stdbool.h>

/* Pointers that a later release of the series may add to its own part: 5.0.10 has added one. */
enum { GROWTH = 64 };

/* The functions that served the communicator before, and their modules; NULL if there are none or
 * they are not needed.  lent: the function is in the communicator's table now, instead of
 * huddle's. */
struct fallback_modules {
#define SLOT(slot)                                                                                 \
    __typeof__(((mca_coll_base_module_t *)NULL)->coll_##slot) slot;                                \
    mca_coll_base_module_t *slot##_module;                                                         \
    bool slot##_lent;
#define PLAIN(Name, name, ...) SLOT(name) SLOT(i##name) SLOT(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) SLOT(ineighbor_##name) SLOT(neighbor_##name##_init)
#include "host/signatures.def"
#undef SLOT
    bool lent;
};

/* Data of a call for each rank, in a single piece of memory. */
struct per_rank {
    struct view_state *in_states, *out_states; /* states of alltoallv */
    struct hud_view *in_views, *out_views;
    size_t *block_bytes; /* blocks of reduce_scatter */
    struct scratch_array memory;
    size_t ranks; /* number of ranks; 0: not allocated */
};

/* An allgather of a set-up in progress (exchange.c).  There is only one at a time: a set-up's
 * allgathers are sequential, and before a persistent request sets up its own team, all operations
 * of the module's team are complete (hud_team_flush). */
struct hud_pending {
    char *all; /* part r is of rank r */
    size_t bytes;
    int distance;               /* distance of this round; also the number of parts received */
    ompi_request_t *message[4]; /* messages of this round; NULL: complete, or none */
    unsigned tests;             /* number of tests */
    bool failed;                /* a message of this round or an earlier one has failed */
};

typedef struct hud_module {
    mca_coll_base_module_t super;
    void *growth[GROWTH]; /* written by the constructor of super's class, in the length of the
                             running release */
    ompi_communicator_t *comm;
    hud_context *context;
    hud_team *team;
    bool nonblocking;     /* nonblocking collectives are handled, too */
    atomic_int in_flight; /* number of requests of `team` that are not complete */
    struct request *oldest,
        *newest; /* list of these requests, in the order of their starts; used by
                                        progress.c */
    struct hud_module *next_carrying;
    struct fallback_modules fallback;
    struct per_rank room; /* memory of a blocking call, see hud_module_make_room */
    struct hud_pending pending;
    enum {
        DEVICES_UNKNOWN,
        DEVICES_MAYBE,
        DEVICES_NONE
    } devices; /* assertion of the communicator's info */
} hud_module;

/* Returns the bytes that Open MPI's base class may use in a module of huddle. */
static inline size_t hud_module_room(void)
{
    return offsetof(hud_module, comm);
}

typedef ompi_communicator_t COMM;
typedef ompi_datatype_t TYPE;
typedef ompi_op_t OP;
typedef mca_coll_base_module_t MODULE;

/* See host/kinds.h.  A function of a module has the parameters of MPI's, and the module. */
#define COUNT int
#define PLACE int
#define TYPE_HANDLE TYPE *
#define OP_HANDLE OP *
#define COMM_HANDLE COMM *
#include "host/kinds.h"

/* Keeps the functions in the communicator's table, of the blocking collectives and, if handled, of
 * the nonblocking and persistent ones; releases them again (fallback_module.c). */
void hud_fallback_modules_keep(hud_module *m);
void hud_fallback_modules_release(hud_module *m);
/* Puts the previous blocking functions into the table for the duration of a call that falls back
 * (fallback_module.c).  Returns false if they are already there. */
bool hud_fallback_modules_lend(hud_module *m);
void hud_fallback_modules_return(hud_module *m);

/* Puts the collectives that huddle serves into the module, if a previous function exists
 * (handled.c). */
void hud_handled_install(hud_module *m);
/* Puts the nonblocking and persistent forms into the module (nonblocking.c). */
void hud_nonblocking_install(hud_module *m);

/* Allocates the data that calls need for each rank.  May be called again. */
bool hud_per_rank_allocate(struct per_rank *room, size_t ranks);
void hud_per_rank_free(struct per_rank *room);

static inline bool hud_per_rank_make(struct per_rank *room, size_t ranks)
{
    return room->ranks == ranks || hud_per_rank_allocate(room, ranks);
}

/* Allocates the module's per-rank data if necessary.  If its team may have a lease, the data is
 * allocated with the module, so no later call can fail without memory. */
static inline bool hud_module_make_room(hud_module *m)
{
    return hud_per_rank_make(&m->room, (size_t)ompi_comm_size(m->comm));
}

/* Returns whether all members may be on this node, so that the team may have a lease.  Its calls
 * must then find memory on all ranks.  Members on other nodes may be very many. */
bool hud_module_may_be_near(ompi_communicator_t *comm);

/* Returns whether, with ULFM, the communicator was revoked, or a process has failed.  Not all ranks
 * enter its collectives any more. */
bool hud_module_interrupted(const hud_module *m);

/* Returns true if the program has asserted that no buffer of its calls is on a device. */
bool hud_module_has_no_devices(hud_module *m);

/* Returns the exchange of a team of the module's communicator. */
struct hud_exchange hud_module_exchange(hud_module *m);

/* Ends an announced call that fell back.  Returns `code`. */
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
