/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - nonblocking and persistent collectives, as Open MPI calls them.
 *
 * Order       Open MPI numbers its own nonblocking collectives of a communicator as they start, and
 *             so they must start in the same order on all ranks.  Whether huddle carries a request
 *             out may be known only later (its team is being set up).  As long as requests are in
 *             flight, what goes to Open MPI's own therefore takes a place in the order of huddle's
 *             requests, collectives of neighbourhoods among them: the call returns at once, and
 *             Open MPI's own starts in its turn, or at once (early, below).  The initialisation of
 *             persistent ones, which MPI allows to wait, waits for its turn.  Persistent ones are
 *             started in any order, and have no part in this one (persistent.c).
 * Within Open MPI
 *             A new communicator's number is agreed upon by nonblocking collectives of its parent.
 *             Open MPI starts them from its progress, at moments that differ from rank to rank
 *             (MPI_Comm_idup), which an order of huddle's calls does not allow.  They are known by
 *             their caller: it is not the MPI function of that name.  They go to Open MPI's own, as
 *             do those of other components (coll/han on communicators within a call); at once,
 *             where it is known that no request before them does.
 */
#include "nonblocking.h"
#include "coll/coll.h"
#include "core/local.h"
#include "request.h"

#define TOPOLOGY(name) OWN(name)
#include "host/topology.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

/* ---- who calls ------------------------------------------------------------------------------- */

enum {
#define PLAIN(Name, name, ...) AT_##name,
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    AT_REQUEST_FREE,
    FUNCTIONS
};

static struct function {
    const char *name;
    char *from;
    _Atomic(void *) end; /* NULL: not asked for yet; from: not known */
} functions[FUNCTIONS] = {
#define PLAIN(Name, name, ...) { "PMPI_I" #name, NULL, NULL },
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
    { "PMPI_Request_free", NULL, NULL },
};

/* Asked for when a function is called: the dynamic linker looks at all symbols of Open MPI. */
static char *end_of(struct function *f)
{
    void *symbol = NULL;
    char *end = local_get(&f->end);
    Dl_info info;

    if (__builtin_expect(end == NULL, 0)) {
        bool known = dladdr1(f->from, &info, &symbol, RTLD_DL_SYMENT) && symbol != NULL;
        end = f->from + (known ? ((const ElfW(Sym) *)symbol)->st_size : 0);
        local_set(&f->end, end);
    }
    return end;
}

/* Where one has a size, all have. */
bool hud_nonblocking_find(void)
{
    for (int i = 0; i < FUNCTIONS; i++) {
        functions[i].from = hud_openmpi_function(functions[i].name, NULL);
        if (functions[i].from == NULL)
            return false;
    }
    return end_of(&functions[AT_REQUEST_FREE]) > functions[AT_REQUEST_FREE].from;
}

static bool is_users(int at, const void *caller)
{
    struct function *f = &functions[at];

    return (uintptr_t)caller > (uintptr_t)f->from && (uintptr_t)caller <= (uintptr_t)end_of(f);
}

bool hud_is_users_free(const void *caller)
{
    return is_users(AT_REQUEST_FREE, caller);
}

/* ---- arguments that outlive the call --------------------------------------------------------- */

/* sends, gets: the rank's arguments about what it sends, or gets, are to be looked at.  sent, got:
 * of how many blocks they are. */
#define ARRAY(field, blocks, used)                                                                 \
    saved = saved && saved_array(&r->arrays, used, (size_t)blocks * sizeof *s->field,              \
                                 (const void **)(uintptr_t)&s->field);
#define SENDS (sends && s->in != MPI_IN_PLACE)
#define COPY_buffer
#define COPY_in
#define COPY_out
#define COPY_count
#define COPY_ins
#define COPY_outs
#define COPY_counts ARRAY(counts, sent, true)
#define COPY_in_counts ARRAY(in_counts, sent, SENDS)
#define COPY_out_counts ARRAY(out_counts, got, gets)
#define COPY_in_places ARRAY(in_places, sent, SENDS)
#define COPY_out_places ARRAY(out_places, got, gets)
#define COPY_in_bytes ARRAY(in_bytes, sent, true)
#define COPY_out_bytes ARRAY(out_bytes, got, true)
#define COPY_type
#define COPY_in_type
#define COPY_out_type
#define COPY_in_types ARRAY(in_types, sent, SENDS)
#define COPY_out_types ARRAY(out_types, got, gets)
#define COPY_op
#define COPY_root
#define COPY_comm

/* What a persistent request must keep alive; of the others Open MPI takes care. */
#define KEPT_buffer
#define KEPT_in
#define KEPT_out
#define KEPT_count
#define KEPT_ins
#define KEPT_outs
#define KEPT_counts
#define KEPT_in_counts
#define KEPT_out_counts
#define KEPT_in_places
#define KEPT_out_places
#define KEPT_type kept = kept && hud_request_keep(r, s->type);
#define KEPT_in_type                                                                               \
    if (SENDS)                                                                                     \
        kept = kept && hud_request_keep(r, s->in_type);
#define KEPT_out_type                                                                              \
    if (gets && s->out != MPI_IN_PLACE)                                                            \
        kept = kept && hud_request_keep(r, s->out_type);
#define KEPT_in_types                                                                              \
    for (int i = 0; i < ranks && SENDS; i++)                                                       \
        kept = kept && hud_request_keep(r, s->in_types[i]);
#define KEPT_out_types                                                                             \
    for (int i = 0; i < ranks; i++)                                                                \
        kept = kept && hud_request_keep(r, s->out_types[i]);
#define KEPT_op kept = kept && hud_request_keep(r, s->op);
#define KEPT_root
#define KEPT_comm

#define SAVED(name, BELOW, MAY_SEND, MAY_GET, ...)                                                 \
    static bool save_##name(struct request *r, int sent, int got)                                  \
    {                                                                                              \
        struct saved_##name *s = &r->saved.name;                                                   \
        bool saved = true, sends = MAY_SEND, gets = MAY_GET;                                       \
        (void)s, (void)sent, (void)got, (void)sends, (void)gets;                                   \
        JOIN(COPY_, __VA_ARGS__)                                                                   \
        return saved;                                                                              \
    }                                                                                              \
    static int begin_##name(struct request *r, ompi_request_t **inner)                             \
    {                                                                                              \
        const struct saved_##name *s = &r->saved.name;                                             \
        const struct below *b = &r->module->below;                                                 \
        return b->BELOW(MAP(SAVED_, __VA_ARGS__), inner, b->BELOW##_module);                       \
    }
#define KEPT(name, MAY_SEND, MAY_GET, ...)                                                         \
    static bool keep_##name(struct request *r, int ranks)                                          \
    {                                                                                              \
        const struct saved_##name *s = &r->saved.name;                                             \
        bool kept = true, sends = MAY_SEND, gets = MAY_GET;                                        \
        (void)s, (void)ranks, (void)sends, (void)gets;                                             \
        JOIN(KEPT_, __VA_ARGS__)                                                                   \
        return kept;                                                                               \
    }
#define BOTH(name, MAY_SEND, MAY_GET, ...)                                                         \
    SAVED(name, i##name, MAY_SEND, MAY_GET, __VA_ARGS__) KEPT(name, MAY_SEND, MAY_GET, __VA_ARGS__)
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

/* ---- as Open MPI calls them ------------------------------------------------------------------ */

/* A request for a call of this shape, before it is opened. */
static struct request *prepare(hud_module *m, unsigned shape, bool persistent)
{
    struct request *r = hud_request_take(m, persistent);

    if (r == NULL)
        return NULL;
    r->shape = 0; /* until something is open */
    r->call.room = &r->room;
    if (!(shape & (SHAPE_MANY | SHAPE_COUNTS)) ||
        hud_per_rank_make(&r->room, (size_t)ompi_comm_size(m->comm)))
        return r;
    hud_request_give(r);
    return NULL;
}

/* early: what is Open MPI's starts at once where no request before it will be.  A call of all ranks
 * need not; but a rank that is no neighbour need not come, and what Open MPI itself calls comes at
 * another moment on each rank. */
static const struct hud_args in_order = { .collective = HUD_PLACE },
                             early = { .collective = HUD_PLACE_EARLY };

/* The request of a call that was opened with that status; HUD_PASS: for that place alone.  saved:
 * there was memory for its arguments. */
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

/* What becomes of it.  HUD_PASS: nothing, and Open MPI's own is to be started. */
static int launch(hud_module *m, struct request *r, int status, ompi_request_t **request)
{
    if (status == HUD_OK)
        status = hud_request_launch(r, request);
    if (status == HUD_OK)
        return HUD_OK;
    hud_request_give(r);
    return status == HUD_ERR_MEMORY ? hud_request_fail(m->team) : status;
}

/* Of a call that huddle handles on no rank.  HUD_PASS: Open MPI's own is to be started; without
 * memory for the request, after those that come before it. */
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

#undef PARAM_comm
#define PARAM_comm COMM *comm, ompi_request_t **request, MODULE *module
#define PLAIN(Name, name, ...)                                                                     \
    static int handled_i##name(MAP(PARAM_, __VA_ARGS__))                                           \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        bool users = is_users(AT_##name, __builtin_return_address(0));                             \
        if (!users && local_count(&m->in_flight) == 0)                                             \
            return m->below.i##name(__VA_ARGS__, request, m->below.i##name##_module);              \
        struct request *r = prepare(m, SHAPE_##name, false);                                       \
        int status = r == NULL ? hud_request_fail(m->team) : HUD_PASS;                             \
        if (r != NULL && users)                                                                    \
            status = hud_open_##name(&r->call, __VA_ARGS__, module);                               \
        if (r != NULL) {                                                                           \
            r->saved.name = (struct saved_##name){ __VA_ARGS__ };                                  \
            bool saved = save_##name(r, ompi_comm_size(comm), ompi_comm_size(comm));               \
            r->below = begin_##name;                                                               \
            if (status != HUD_PASS || local_count(&m->in_flight) > 0)                              \
                status =                                                                           \
                    launch(m, r, make(r, SHAPE_##name, status, saved, users ? &in_order : &early), \
                           request);                                                               \
            else                                                                                   \
                hud_request_give(r);                                                               \
        }                                                                                          \
        return status != HUD_PASS                                                                  \
                   ? hud_call_answer(comm, status)                                                 \
                   : m->below.i##name(__VA_ARGS__, request, m->below.i##name##_module);            \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    static int placed_ineighbor_##name(MAP(PARAM_, __VA_ARGS__))                                   \
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
                r->below = begin_neighbor_##name;                                                  \
            }                                                                                      \
            status = place(m, r, saved, request);                                                  \
        }                                                                                          \
        return status == HUD_OK ? OMPI_SUCCESS                                                     \
                                : m->below.ineighbor_##name(__VA_ARGS__, request,                  \
                                                            m->below.ineighbor_##name##_module);   \
    }
#include "host/signatures.def"

#undef PARAM_comm
#define PARAM_comm COMM *comm, struct ompi_info_t *info, ompi_request_t **request, MODULE *module
#define PLAIN(Name, name, ...)                                                                     \
    static int handled_##name##_init(MAP(PARAM_, __VA_ARGS__))                                     \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        struct request *r = prepare(m, SHAPE_##name, true);                                        \
        int status = HUD_ERR_MEMORY;                                                               \
        if (r != NULL) {                                                                           \
            status = hud_open_##name(&r->call, __VA_ARGS__, module);                               \
            r->saved.name = (struct saved_##name){ __VA_ARGS__ };                                  \
            r->shape = status == HUD_OK ? SHAPE_##name : 0;                                        \
        }                                                                                          \
        if (status == HUD_OK && !keep_##name(r, ompi_comm_size(comm)))                             \
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
        return m->below.name##_init(__VA_ARGS__, info, request, m->below.name##_init_module);      \
    }
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#define NEIGHBORS(Name, name, ...)                                                                 \
    static int ordered_neighbor_##name##_init(MAP(PARAM_, __VA_ARGS__))                            \
    {                                                                                              \
        hud_module *m = (hud_module *)module;                                                      \
        hud_team_flush(m->team);                                                                   \
        return m->below.neighbor_##name##_init(__VA_ARGS__, info, request,                         \
                                               m->below.neighbor_##name##_init_module);            \
    }
#include "host/signatures.def"

void hud_nonblocking_install(hud_module *m)
{
#define INSTALL(slot, function)                                                                    \
    if (m->below.slot != NULL)                                                                     \
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
