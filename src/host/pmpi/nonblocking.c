/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - wrappers of the nonblocking collectives, including those of neighbourhoods and
 * MPI_Comm_idup, which huddle does not handle.
 *
 * Order      The MPI numbers its own nonblocking collectives of a communicator as they start, so
 *            they must start in the same order on all ranks.  Whether huddle carries out a request
 *            may be known only later (its team is being set up).  Therefore, while requests are in
 *            flight, a call that falls back takes a place in the order of huddle's requests.  It
 *            returns at once, as MPI demands; the MPI's own collective starts in its turn.
 * At once    If it is known that no earlier request falls back, a call that huddle never handles
 *            need not wait for its turn.  A collective of neighbours starts as soon as this is
 *            known (HUD_PLACE_EARLY), because a rank without neighbours need not come.  The
 *            duplication of a communicator starts at once, with the attributes of that time, or in
 *            its turn (HUD_PLACE_NOW), because the program's functions that copy attributes may
 *            wait.
 */
#include "host/pmpi/nonblocking.h"

#define TOPOLOGY(name) real.name
#include "host/topology.h"

/* ---- arguments that outlive the call --------------------------------------------------------- */

/* Keep objects alive until the request is freed, because the user may free them at once, and in
 * practice also frees arrays (saved.h).  They return false if out of memory. */

static bool keep_op(struct request *r, MPI_Op op)
{
    hud_op_hold(r->op = op);
    return true;
}

static bool keep_type(struct request *r, MPI_Datatype type)
{
    return hud_request_hold_type(r, type);
}

static bool keep_types(struct request *r, const MPI_Datatype *types, int count)
{
    return hud_request_hold_types(r, types, count);
}

#define SAVED(Name, Inner, MAY_SEND, MAY_GET, ...)                                                 \
    SAVED_BY(hold_##Name, Name, MAY_SEND, MAY_GET,                                                 \
             JOIN(COPY, __VA_ARGS__) JOIN(KEEP, __VA_ARGS__))                                      \
    static int begin_##Name(struct request *r)                                                     \
    {                                                                                              \
        const struct saved_##Name *s = &r->saved.Name;                                             \
        return real.Inner(MAP(FROM_SAVED, __VA_ARGS__), &r->inner);                                \
    }
#define PLAIN(Name, name, ...) SAVED(Name, I##name, true, true, __VA_ARGS__)
#define HANDLED(Name, name, ...)                                                                   \
    SAVED(Name, I##name, true, true, __VA_ARGS__)                                                  \
    SAVED(Name##_c, I##name##_c, true, true, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#define SENDS_OF(ID) (COLL_FLAGS_##ID & COLL_TO_ROOT) || r->comm->rank == s->root
#define GETS_OF(ID) coll_from_root(COLL_FLAGS_##ID) || r->comm->rank == s->root
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    SAVED(Name, I##name, SENDS_OF(ID), GETS_OF(ID), __VA_ARGS__)                                   \
    SAVED(Name##_c, I##name##_c, SENDS_OF(ID), GETS_OF(ID), __VA_ARGS__)
#define HANDLED_ROOTED_ARRAYS HANDLED_ROOTED
#define NEIGHBORS(Name, name, ...)                                                                 \
    SAVED(Neighbor_##name, Ineighbor_##name, true, true, __VA_ARGS__)                              \
    SAVED(Neighbor_##name##_c, Ineighbor_##name##_c, true, true, __VA_ARGS__)
#include "host/signatures.def"

/* ---- the wrappers ---------------------------------------------------------------------------- */

/* Starts a request.  Returns HUD_PASS if the MPI's own collective must be started instead. */
static int launch(struct request *r, int status, MPI_Request *request)
{
    static const struct hud_args in_order = { .collective = HUD_PLACE };

    if (status == HUD_OK || status == HUD_PASS)
        status = hud_request_issue(r, status == HUD_OK ? &r->call.args : &in_order, request);
    if (status == HUD_OK)
        return HUD_OK;
    if (r->call.opened)
        (void)hud_call_settle(&r->call, status);
    hud_pool_give(r);
    return status;
}

/* Ends the start of the MPI's own collective.  Adopts its request if necessary.  Returns `code`. */
static int started(struct comm *comm, int code, MPI_Request *request)
{
    if (hud_job_adopts && code == MPI_SUCCESS && comm && comm->team)
        hud_request_adopt(comm, request);
    return code;
}

/* Returns the communicator, or NULL if no requests are in flight on the communicator.  The MPI's
 * own calls take a place among requests in flight. */
static struct comm *find_busy(MPI_Comm handle)
{
    struct comm *comm = hud_comm_find(handle);

    return comm && comm->team && local_count(&comm->in_flight) > 0 ? comm : NULL;
}

/* Takes a place for a call that huddle handles on no rank.  Returns false if the MPI's own
 * collective must be started; without memory for the request, the earlier requests are waited
 * for. */
static bool place(const struct comm *comm, struct request *r, int where, bool held,
                  MPI_Request *request)
{
    const struct hud_args args = { .collective = where };
    int status = r && held ? hud_request_issue(r, &args, request) : HUD_ERR_MEMORY;

    if (status == HUD_OK)
        return true;
    if (r)
        hud_pool_give(r);
    if (status != HUD_PASS)
        hud_team_flush(comm->team);
    return false;
}

#define WRAPPER(Name, name, Inner, ...)                                                            \
    static int wrap_I##Inner(MAP(PARAM, __VA_ARGS__), MPI_Request *request)                        \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        struct request *r = NULL;                                                                  \
        int status = HUD_PASS;                                                                     \
        if (ours && ours->team && request)                                                         \
            status = (r = hud_pool_take(ours)) ? HUD_OK : HUD_ERR_MEMORY;                          \
        if (r) {                                                                                   \
            struct call *call = &r->call;                                                          \
            status = hud_open_##name(MAP(TAKE, __VA_ARGS__));                                      \
            r->saved.Name = (struct saved_##Name){ __VA_ARGS__ };                                  \
            r->start_inner = begin_##Name;                                                         \
            if (status == HUD_PASS && local_count(&ours->in_flight) == 0)                          \
                hud_pool_give(r);                                                                  \
            else                                                                                   \
                status = launch(                                                                   \
                    r, hold_##Name(r, ours->size, ours->size) ? status : HUD_ERR_MEMORY, request); \
        }                                                                                          \
        if (status == HUD_ERR_MEMORY)                                                              \
            status = hud_request_fail(ours->team);                                                 \
        if (status == HUD_PASS)                                                                    \
            return started(ours, real.I##Inner(__VA_ARGS__, request), request);                    \
        return status == HUD_OK ? MPI_SUCCESS : hud_comm_fail(ours, "MPI_I" #Inner, status);       \
    }

#define NEIGHBOR(name, ...)                                                                        \
    static int wrap_Ineighbor_##name(MAP(PARAM, __VA_ARGS__), MPI_Request *request)                \
    {                                                                                              \
        struct comm *busy = request ? find_busy(comm) : NULL;                                      \
        int sent, got;                                                                             \
        if (busy && topology_blocks(comm, busy->rank, &sent, &got)) {                              \
            struct request *r = hud_pool_take(busy);                                               \
            bool held = r != NULL;                                                                 \
            if (r) {                                                                               \
                r->saved.Neighbor_##name = (struct saved_Neighbor_##name){ __VA_ARGS__ };          \
                r->start_inner = begin_Neighbor_##name;                                            \
                held = hold_Neighbor_##name(r, sent, got);                                         \
            }                                                                                      \
            if (place(busy, r, HUD_PLACE_EARLY, held, request))                                    \
                return MPI_SUCCESS;                                                                \
        }                                                                                          \
        return started(hud_comm_find(comm), real.Ineighbor_##name(__VA_ARGS__, request), request); \
    }

#define COUNT int
#define PLACE int
#define MANY(array) ((struct many){ (array), false, false })
#define NEIGHBORS(Name, name, ...) NEIGHBOR(name, __VA_ARGS__)
#define PLAIN(Name, name, ...) WRAPPER(Name, name, name, __VA_ARGS__)
#define HANDLED PLAIN
#define HANDLED_ARRAYS PLAIN
#include "host/signatures.def"
#undef COUNT
#undef PLACE
#undef MANY

#define COUNT MPI_Count
#define PLACE MPI_Aint
#define MANY(array) ((struct many){ (array), true, false })
#define NEIGHBORS(Name, name, ...) NEIGHBOR(name##_c, __VA_ARGS__)
#define HANDLED(Name, name, ...) WRAPPER(Name##_c, name, name##_c, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"

/* ---- duplicates of a communicator ------------------------------------------------------------ */

static int begin_idup(struct request *r)
{
    return real.Comm_idup(r->saved.duplicate.comm, r->saved.duplicate.made, &r->inner);
}

static int begin_idup_with_info(struct request *r)
{
    return real.Comm_idup_with_info(r->saved.duplicate.comm, r->info, r->saved.duplicate.made,
                                    &r->inner);
}

static int wrap_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request)
{
    struct comm *busy = made && request ? find_busy(comm) : NULL;
    struct request *r = busy ? hud_pool_take(busy) : NULL;

    if (r) {
        r->saved.duplicate.comm = comm;
        r->saved.duplicate.made = made;
        r->start_inner = begin_idup;
    }
    if (busy && place(busy, r, HUD_PLACE_NOW, true, request))
        return MPI_SUCCESS;
    return started(hud_comm_find(comm), real.Comm_idup(comm, made, request), request);
}

static int wrap_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made,
                                    MPI_Request *request)
{
    struct comm *busy = made && request ? find_busy(comm) : NULL;
    struct request *r = busy ? hud_pool_take(busy) : NULL;
    bool held = true;

    if (r) {
        r->saved.duplicate.comm = comm;
        r->saved.duplicate.made = made;
        r->start_inner = begin_idup_with_info;
        held = info == MPI_INFO_NULL || real.Info_dup(info, &r->info) == MPI_SUCCESS;
    }
    if (busy && place(busy, r, HUD_PLACE_NOW, held, request))
        return MPI_SUCCESS;
    return started(hud_comm_find(comm), real.Comm_idup_with_info(comm, info, made, request),
                   request);
}

/* ---- mpi_f08: routines that do not call C; a handle is a structure of one integer ---- */

static void wrap_ibarrier_f08(const MPI_Comm *comm, MPI_Request *request, MPI_Fint *error)
{
    answer_f08(error, wrap_Ibarrier(*comm, request));
}

static void wrap_idup_f08(const MPI_Comm *comm, MPI_Comm *made, MPI_Request *request,
                          MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_idup(*comm, made, request));
}

static void wrap_idup_with_info_f08(const MPI_Comm *comm, const MPI_Info *info, MPI_Comm *made,
                                    MPI_Request *request, MPI_Fint *error)
{
    answer_f08(error, wrap_Comm_idup_with_info(*comm, *info, made, request));
}

/* ---- the table ------------------------------------------------------------------------------- */

#define W(name) { "MPI_" #name, (void (*)(void))wrap_##name },
const struct hud_wrapper hud_nonblocking_wrappers[] = {
    W(Comm_idup) W(Comm_idup_with_info){ "mpi_ibarrier_f08_", (void (*)(void))wrap_ibarrier_f08 },
    { "mpi_comm_idup_f08_", (void (*)(void))wrap_idup_f08 },
    { "mpi_comm_idup_with_info_f08_", (void (*)(void))wrap_idup_with_info_f08 },
#define PLAIN(Name, name, ...) W(I##name)
#define HANDLED(Name, name, ...) W(I##name) W(I##name##_c)
#define HANDLED_ARRAYS HANDLED
#define NEIGHBORS(Name, name, ...) W(Ineighbor_##name) W(Ineighbor_##name##_c)
#include "host/signatures.def"
    { NULL, NULL },
};
