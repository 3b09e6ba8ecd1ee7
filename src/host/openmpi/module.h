/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - one communicator under huddle, as module.c, handled.c and checked.c see it. */
#ifndef HUD_OPENMPI_MODULE_H
#define HUD_OPENMPI_MODULE_H

#include "component.h"

#include "ompi/op/op.h"

#include <stdbool.h>

enum {
    GROWTH = 64
}; /* pointers that a later release of the series may add to its own part: 5.0.10 has added one */

/* What served the communicator before, and the modules that it is of; NULL: nothing did, or (of
 * what is only checked) nobody asks. */
struct below {
#define TAKEN(name, ...)                                                                           \
    mca_coll_base_module_##name##_fn_t name;                                                       \
    mca_coll_base_module_t *name##_module;
#define CHECKED(name, ...) TAKEN(name)
#include "collectives.def"
};

typedef struct {
    mca_coll_base_module_t super;
    void *growth[GROWTH]; /* written by the constructor of super's class, in the length of the
                             release that runs */
    ompi_communicator_t *comm;
    hud_context *context;
    hud_team *team;
    bool setting_up; /* inside the team's allgather, which may itself call other collectives of this
                        communicator */
    struct below below;
    /* [ranks], for the duration of a call; one piece of memory, see hud_module_make_room: */
    struct view_state *in_states, *out_states; /* alltoallv */
    struct hud_view *in_views, *out_views;
    size_t *block_bytes; /* reduce_scatter */
} hud_module;

/* Types of parameters in collectives.def. */
typedef ompi_communicator_t COMM;
typedef ompi_datatype_t TYPE;
typedef ompi_op_t OP;
typedef mca_coll_base_module_t MODULE;

/* handled.c: puts the collectives that huddle serves into the module, those that have something
 * below. */
void hud_handled_install(hud_module *m);
/* checked.c: the same of those that it only announces. */
void hud_checked_install(hud_module *m);

/* Room for what calls need for each rank.  Made with the module where its team may have a lease, so
 * that no call of one can fail without it. */
bool hud_module_make_room(hud_module *m);

/* Announces a call that goes below, if it is the user's; and its return. */
void hud_module_enter(hud_module *m, const char *name, int root, size_t bytes, const char *detail);
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
