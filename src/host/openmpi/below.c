/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * below.c - the modules from which a communicator's module takes over.
 *
 * Modules are enabled in ascending priority.  So the functions in the communicator's table, when
 * huddle's module is enabled, are those that would have served without it.  They are kept, and
 * their modules retained.
 *
 * A module may replace itself in the table during a call: han does, where nodes have different
 * numbers of ranks.  Ranks without huddle then call the replacement from the next call on, and han
 * itself finds out again in each call that it cannot serve it, or calls the table's function, which
 * would be huddle's, for ever.  So, where ranks are on several nodes, a call that goes below finds
 * the functions of those below in the table, and what it leaves there is kept.  The table's
 * references to modules are theirs meanwhile.
 */
#include "module.h"

void hud_below_keep(hud_module *m)
{
    const mca_coll_base_comm_coll_t *table = m->comm->c_coll;

#define KEEP(slot)                                                                                 \
    if (table->coll_##slot != NULL) {                                                              \
        m->below.slot = table->coll_##slot;                                                        \
        m->below.slot##_module = table->coll_##slot##_module;                                      \
        OBJ_RETAIN(m->below.slot##_module);                                                        \
    }
#define KEEP_ALIKE(slot)                                                                           \
    if (m->nonblocking)                                                                            \
    KEEP(slot)
#define PLAIN(Name, name, ...) KEEP(name) KEEP_ALIKE(i##name) KEEP_ALIKE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) KEEP_ALIKE(ineighbor_##name) KEEP_ALIKE(neighbor_##name##_init)
#include "host/signatures.def"
    m->below.may_change = ompi_group_have_remote_peers(m->comm->c_local_group);
}

void hud_below_release(hud_module *m)
{
#define RELEASE(slot)                                                                              \
    if (m->below.slot##_module != NULL)                                                            \
        OBJ_RELEASE(m->below.slot##_module);
#define PLAIN(Name, name, ...) RELEASE(name) RELEASE(i##name) RELEASE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) RELEASE(ineighbor_##name) RELEASE(neighbor_##name##_init)
#include "host/signatures.def"
}

bool hud_below_lend(hud_module *m)
{
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;

    if (m->below.lent)
        return false;
    m->below.lent = true;
#define PLAIN(Name, name, ...)                                                                     \
    m->below.name##_lent = table->coll_##name##_module == &m->super;                               \
    if (m->below.name##_lent) {                                                                    \
        table->coll_##name = m->below.name;                                                        \
        table->coll_##name##_module = m->below.name##_module;                                      \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    return true;
}

void hud_below_return(hud_module *m)
{
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;

#define PLAIN(Name, name, ...)                                                                     \
    if (m->below.name##_lent) {                                                                    \
        m->below.name = table->coll_##name;                                                        \
        m->below.name##_module = table->coll_##name##_module;                                      \
        table->coll_##name = m->super.coll_##name;                                                 \
        table->coll_##name##_module = &m->super;                                                   \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    m->below.lent = false;
}
