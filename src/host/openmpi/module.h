/* SPDX-License-Identifier: BSD-3-Clause */
/* module.h - one communicator under huddle, as module.c and checked.c see it. */
#ifndef HUD_OPENMPI_MODULE_H
#define HUD_OPENMPI_MODULE_H

#include "component.h"

#include <stdbool.h>

enum { GROWTH = 64 }; /* pointers that a later release of the series may add to its own part: 5.0.10 has added one */

/* With HUDDLE_CHECK: the collectives that huddle does not take, and the modules that they are of. */
struct below {
#define CHECKED(name, ...)                                                                                                                 \
    mca_coll_base_module_##name##_fn_t name;                                                                                               \
    mca_coll_base_module_t *name##_module;
#include "checked.def"
#undef CHECKED
};

typedef struct {
    mca_coll_base_module_t super;
    void *growth[GROWTH]; /* written by the constructor of super's class, in the length of the release that runs */
    ompi_communicator_t *comm;
    hud_context *context;
    hud_team *team;
    bool setting_up; /* inside the team's allgather, which may itself call a barrier or a broadcast of this communicator */
    mca_coll_base_module_barrier_fn_t barrier;
    mca_coll_base_module_t *barrier_module;
    mca_coll_base_module_bcast_fn_t bcast;
    mca_coll_base_module_t *bcast_module;
    struct below below;
} hud_module;

/* checked.c: takes the collectives from what serves them now, to announce them to the team before they go there; gives their modules back. */
void hud_checked_take(hud_module *m, const mca_coll_base_comm_coll_t *table);
void hud_checked_release(hud_module *m);

#endif
