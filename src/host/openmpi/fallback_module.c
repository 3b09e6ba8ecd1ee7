/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fallback_module.c - the modules that served a communicator before huddle's module.
 *
 * Modules are enabled in ascending priority.  So when huddle's module is enabled, the
 * communicator's table has the functions that would serve without huddle.  They are kept, and their
 * modules retained.
 *
 * A module may replace itself in the table during a call: han does if nodes have different numbers
 * of ranks.  Ranks without huddle then call the replacement from the next call on.  With huddle's
 * function in the table, han would detect in each call again that it cannot serve the call, or
 * would call the table's function, which is huddle's, for ever.  Other modules make a collective of
 * several others of the communicator, and a call that falls back must be the MPI's own throughout,
 * because its time is compared with huddle's (core/call/learn.h).  So the previous functions are in
 * the table during a call that falls back, and any change is kept.
 * The table's references to modules belong to the previous modules meanwhile.
 */
#include "module.h"

void hud_fallback_modules_keep(hud_module *m)
{
    const mca_coll_base_comm_coll_t *table = m->comm->c_coll;

#define KEEP(slot)                                                                                 \
    if (table->coll_##slot != NULL) {                                                              \
        m->fallback.slot = table->coll_##slot;                                                     \
        m->fallback.slot##_module = table->coll_##slot##_module;                                   \
        OBJ_RETAIN(m->fallback.slot##_module);                                                     \
    }
#define KEEP_ALIKE(slot)                                                                           \
    if (m->nonblocking)                                                                            \
    KEEP(slot)
#define PLAIN(Name, name, ...) KEEP(name) KEEP_ALIKE(i##name) KEEP_ALIKE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) KEEP_ALIKE(ineighbor_##name) KEEP_ALIKE(neighbor_##name##_init)
#include "host/signatures.def"
}

void hud_fallback_modules_release(hud_module *m)
{
#define RELEASE(slot)                                                                              \
    if (m->fallback.slot##_module != NULL)                                                         \
        OBJ_RELEASE(m->fallback.slot##_module);
#define PLAIN(Name, name, ...) RELEASE(name) RELEASE(i##name) RELEASE(name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) RELEASE(ineighbor_##name) RELEASE(neighbor_##name##_init)
#include "host/signatures.def"
}

bool hud_fallback_modules_lend(hud_module *m)
{
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;

    if (m->fallback.lent)
        return false;
    m->fallback.lent = true;
#define PLAIN(Name, name, ...)                                                                     \
    m->fallback.name##_lent = table->coll_##name##_module == &m->super;                            \
    if (m->fallback.name##_lent) {                                                                 \
        table->coll_##name = m->fallback.name;                                                     \
        table->coll_##name##_module = m->fallback.name##_module;                                   \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    return true;
}

void hud_fallback_modules_return(hud_module *m)
{
    mca_coll_base_comm_coll_t *table = m->comm->c_coll;

#define PLAIN(Name, name, ...)                                                                     \
    if (m->fallback.name##_lent) {                                                                 \
        m->fallback.name = table->coll_##name;                                                     \
        m->fallback.name##_module = table->coll_##name##_module;                                   \
        table->coll_##name = m->super.coll_##name;                                                 \
        table->coll_##name##_module = &m->super;                                                   \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    m->fallback.lent = false;
}
