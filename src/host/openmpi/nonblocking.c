/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - nonblocking and persistent collectives, as Open MPI calls them.
 *
 * Order       Open MPI numbers its own nonblocking collectives of a communicator as they start, and
 *             so they must start in the same order on all ranks.  Whether huddle carries out a
 *             request may be known only later (its team is being set up).  Therefore, while
 *             requests are in flight, a call that falls back takes a place in the order of huddle's
 *             requests, including collectives of neighbourhoods: the call returns at once, and Open
 *             MPI's own collective starts in its turn, or at once (`early` below).  The
 *             initialisation of persistent collectives, which MPI allows to wait, waits for its
 *             turn.  Persistent collectives are started in any order, and are not part of this
 *             order (persistent.c).
 * Within Open MPI
 *             A new communicator's number is agreed upon by nonblocking collectives of its parent.
 *             Open MPI starts them from its progress, at moments that differ from rank to rank
 *             (MPI_Comm_idup), which the order of huddle's calls does not allow.  They are
 *             recognized by their caller, which is not the MPI function of the same name.  They
 *             fall back, as do collectives of other components (coll/han on communicators within a
 *             call); at once, if it is known that no earlier request falls back.
 */
#include "callers.h"
#include "coll/coll.h"
#include "request.h"

#define TOPOLOGY(name) OWN(name)
#include "host/topology.h"

/* ---- arguments that outlive the call --------------------------------------------------------- */

/* Keep objects of a persistent request alive until it is freed; Open MPI keeps those of other
 * requests.  They return false if out of memory. */

static bool keep_op(struct request *r, const OP *op)
{
    return hud_request_keep(r, op);
}

static bool keep_type(struct request *r, const TYPE *type)
{
    return hud_request_keep(r, type);
}

static bool keep_types(struct request *r, TYPE *const *types, int count)
{
    bool kept = true;

    for (int i = 0; i < count; i++)
        kept = kept && hud_request_keep(r, types[i]);
    return kept;
}

#define SAVED(name, SLOT, MAY_SEND, MAY_GET, ...)                                                  \
    SAVED_BY(save_##name, name, MAY_SEND, MAY_GET, JOIN(COPY, __VA_ARGS__))                        \
    static int begin_##name(struct request *r, ompi_request_t **inner)                             \
    {                                                                                              \
        const struct saved_##name *s = &r->saved.name;                                             \
        const struct fallback_modules *b = &r->module->fallback;                                   \
        return b->SLOT(MAP(FROM_SAVED, __VA_ARGS__), inner, b->SLOT##_module);                     \
    }
#define BOTH(name, MAY_SEND, MAY_GET, ...)                                                         \
    SAVED(name, i##name, MAY_SEND, MAY_GET, __VA_ARGS__)                                           \
    SAVED_BY(keep_##name, name, MAY_SEND, MAY_GET, JOIN(KEEP, __VA_ARGS__))
#define PLAIN(Name, name, ...) BOTH(name, true, true, __VA_ARGS__)
#define IS_ROOT (ompi_comm_rank(s->comm) == s->root)
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    BOTH(name, (COLL_FLAGS_##ID & COLL_TO_ROOT) || IS_ROOT,                                        \
         coll_from_root(COLL_FLAGS_##ID) || IS_ROOT, __VA_ARGS__)
#define HANDLED_ROOTED_ARRAYS HANDLED_ROOTED
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...) SAVED(neighbor_##name, ineighbor_##name, true, true, __VA_ARGS__)
#include "host/signatures.def"

/* ---- the functions that Open MPI calls ------------------------------------------------------- */

/* Returns a request for a call of this shape, before the call is opened, or NULL if out of
 * memory. */
static struct request *prepare(hud_module *m, unsigned shape, bool persistent)
{
    struct request *r = hud_request_take(m, persistent);

    if (r == NULL)
        return NULL;
    r->shape = 0; /* nothing is open yet */
    r->call.room = &r->room;
    if (!(shape & (SHAPE_VECTORS | SHAPE_COUNTS)) ||
        hud_per_rank_make(&r->room, (size_t)ompi_comm_size(m->comm)))
        return r;
    hud_request_give(r);
    return NULL;
}

/* Arguments for a place.  early: Open MPI's own collective starts at once if no earlier request
 * falls back.  A collective of all ranks needs no early start.  But a rank without neighbours need
 * not call a collective of neighbourhoods, and Open MPI makes its own calls at another moment on
 * each rank. */
static const struct hud_args in_order = { .collective = HUD_PLACE },
                             early = { .collective = HUD_PLACE_EARLY };

/* Makes huddle's request for a call that was opened with this status; for HUD_PASS, only a
 * place.  saved: whether there was memory for its arguments. */
static int make(struct request *r, unsigned shape, int status, bool saved,
                const struct hud_args *place_args)
{
    if (status == HUD_OK)
        r->shape = shape;
    if (!saved || (status == HUD_OK && !hud_request_furnish(r)))
        return HUD_ERR_MEMORY;
    if (status == HUD_PASS)
        return hud_request_make(r, place_args);
    return status == HUD_OK ? hud_request_make(r, &r->call.args) : status;
}

/* Starts a request.  Returns HUD_PASS if Open MPI's own collective must be started instead. */
static int launch(hud_module *m, struct request *r, int status, ompi_request_t **request)
{
    if (status == HUD_OK)
        status = hud_request_launch(r, request);
    if (status == HUD_OK)
        return HUD_OK;
    hud_request_give(r);
    return status == HUD_ERR_MEMORY ? hud_request_fail(m->team) : status;
}

/* Takes a place for a call that huddle handles on no rank.  Returns HUD_PASS if Open MPI's own
 * collective must be started; without memory for the request, first waits for the earlier
 * requests. */
static int place(hud_module *m, struct request *r, bool saved, ompi_request_t **request)
{
    int status = saved ? hud_request_make(r, &early) : HUD_ERR_MEMORY;

    if (status == HUD_OK)
        status = hud_request_launch(r, request);
    if (status == HUD_OK)
        return HUD_OK;
    if (r != NULL)
        hud_request_give(r);
    if (status != HUD_PASS)
        hud_team_flush(m->team);
    return HUD_PASS;
}

#define PLAIN(Name, name, ...)                                                                     \
    static int handled_i##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request, MODULE *module)  \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        bool users = hud_callers_is_users(AT_##name, __builtin_return_address(0));                 \
        if (!users && local_count(&m->in_flight) == 0)                                             \
            return m->fallback.i##name(__VA_ARGS__, request, m->fallback.i##name##_module);        \
        struct request *r = prepare(m, SHAPE_##name, false);                                       \
        int status = r == NULL ? hud_request_fail(m->team) : HUD_PASS;                             \
        if (r != NULL && users)                                                                    \
            status = hud_open_##name(&r->call, __VA_ARGS__, module);                               \
        if (r != NULL) {                                                                           \
            r->saved.name = (struct saved_##name){ __VA_ARGS__ };                                  \
            bool saved = save_##name(r, ompi_comm_size(comm), ompi_comm_size(comm));               \
            r->start_inner = begin_##name;                                                         \
            if (status != HUD_PASS || local_count(&m->in_flight) > 0)                              \
                status =                                                                           \
                    launch(m, r, make(r, SHAPE_##name, status, saved, users ? &in_order : &early), \
                           request);                                                               \
            else                                                                                   \
                hud_request_give(r);                                                               \
        }                                                                                          \
        return status != HUD_PASS                                                                  \
                   ? hud_call_answer(comm, status)                                                 \
                   : m->fallback.i##name(__VA_ARGS__, request, m->fallback.i##name##_module);      \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    static int placed_ineighbor_##name(MAP(PARAM, __VA_ARGS__), ompi_request_t **request,          \
                                       MODULE *module)                                             \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        int sent, got, status = HUD_PASS;                                                          \
        if (local_count(&m->in_flight) > 0 &&                                                      \
            topology_blocks(comm, ompi_comm_rank(comm), &sent, &got)) {                            \
            struct request *r = hud_request_take(m, false);                                        \
            bool saved = r != NULL;                                                                \
            if (saved) {                                                                           \
                r->saved.neighbor_##name = (struct saved_neighbor_##name){ __VA_ARGS__ };          \
                saved = save_neighbor_##name(r, sent, got);                                        \
                r->start_inner = begin_neighbor_##name;                                            \
            }                                                                                      \
            status = place(m, r, saved, request);                                                  \
        }                                                                                          \
        return status == HUD_OK                                                                    \
                   ? OMPI_SUCCESS                                                                  \
                   : m->fallback.ineighbor_##name(__VA_ARGS__, request,                            \
                                                  m->fallback.ineighbor_##name##_module);          \
    }
#include "host/signatures.def"

#define PLAIN(Name, name, ...)                                                                     \
    static int handled_##name##_init(MAP(PARAM, __VA_ARGS__), struct ompi_info_t *info,            \
                                     ompi_request_t **request, MODULE *module)                     \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        struct request *r = prepare(m, SHAPE_##name, true);                                        \
        int status = HUD_ERR_MEMORY;                                                               \
        if (r != NULL) {                                                                           \
            status = hud_open_##name(&r->call, __VA_ARGS__, module);                               \
            r->saved.name = (struct saved_##name){ __VA_ARGS__ };                                  \
            r->shape = status == HUD_OK ? SHAPE_##name : 0;                                        \
        }                                                                                          \
        if (status == HUD_OK && !keep_##name(r, ompi_comm_size(comm), ompi_comm_size(comm)))       \
            status = HUD_ERR_MEMORY;                                                               \
        hud_team_flush(m->team);                                                                   \
        if (status != HUD_PASS)                                                                    \
            status = hud_persistent_make(m, r, status);                                            \
        if (status == HUD_OK) {                                                                    \
            *request = &r->super.super;                                                            \
            return OMPI_SUCCESS;                                                                   \
        }                                                                                          \
        if (r != NULL)                                                                             \
            hud_request_give(r);                                                                   \
        return m->fallback.name##_init(__VA_ARGS__, info, request,                                 \
                                       m->fallback.name##_init_module);                            \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    static int ordered_neighbor_##name##_init(MAP(PARAM, __VA_ARGS__), struct ompi_info_t *info,   \
                                              ompi_request_t **request, MODULE *module)            \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        hud_team_flush(m->team);                                                                   \
        return m->fallback.neighbor_##name##_init(__VA_ARGS__, info, request,                      \
                                                  m->fallback.neighbor_##name##_init_module);      \
    }
#include "host/signatures.def"

void hud_nonblocking_install(hud_module *m)
{
#define INSTALL(slot, function)                                                                    \
    if (m->fallback.slot != NULL)                                                                  \
        m->super.coll_##slot = function;
#define PLAIN(Name, name, ...)                                                                     \
    INSTALL(i##name, handled_i##name) INSTALL(name##_init, handled_##name##_init)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    INSTALL(ineighbor_##name, placed_ineighbor_##name)                                             \
    INSTALL(neighbor_##name##_init, ordered_neighbor_##name##_init)
#include "host/signatures.def"
}
