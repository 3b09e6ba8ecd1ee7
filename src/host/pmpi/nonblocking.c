/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nonblocking.c - wrappers of the nonblocking collectives.
 *
 * The MPI numbers its own nonblocking collectives of a communicator as they start, so they must
 * start in the same order on all ranks.  Whether huddle carries a request out may be known only
 * later (its team is being set up).  As long as requests are in flight, a call that falls back
 * therefore takes a place in the order of huddle's requests.
 */
#include "host/pmpi/nonblocking.h"

/* ---- arguments that outlive the call --------------------------------------------------------- */

/* The user may free types and operations at once, and does so with arrays (saved.h).  sends, gets:
 * what the rank's arguments say of what it sends, or gets, is to be looked at. */
#define ARRAY(field, used)                                                                         \
    held = held && saved_array(&r->arrays, used, (size_t)r->comm->size * sizeof *s->field,         \
                               (const void **)(uintptr_t)&s->field);
#define SENDS (sends && s->in != MPI_IN_PLACE)
#define HOLD_buffer
#define HOLD_in
#define HOLD_out
#define HOLD_count
#define HOLD_ins
#define HOLD_outs
#define HOLD_counts ARRAY(counts, true)
#define HOLD_in_counts ARRAY(in_counts, SENDS)
#define HOLD_out_counts ARRAY(out_counts, gets)
#define HOLD_in_places ARRAY(in_places, SENDS)
#define HOLD_out_places ARRAY(out_places, gets)
#define HOLD_type held = held && hud_request_hold_type(r, s->type);
#define HOLD_in_type held = held && (!SENDS || hud_request_hold_type(r, s->in_type));
#define HOLD_out_type                                                                              \
    held = held && (!gets || s->out == MPI_IN_PLACE || hud_request_hold_type(r, s->out_type));
#define HOLD_in_types ARRAY(in_types, SENDS) held = held && hud_request_hold_types(r, s->in_types);
#define HOLD_out_types                                                                             \
    ARRAY(out_types, gets) held = held && hud_request_hold_types(r, s->out_types);
#define HOLD_op hud_op_hold(r->op = s->op);
#define HOLD_root
#define HOLD_comm

#define SAVED(Name, name, MAY_SEND, MAY_GET, ...)                                                  \
    static bool hold_##Name(struct request *r)                                                     \
    {                                                                                              \
        struct saved_##Name *s = &r->saved.Name;                                                   \
        bool held = true, sends = MAY_SEND, gets = MAY_GET;                                        \
        (void)s, (void)sends, (void)gets;                                                          \
        JOIN(HOLD_, __VA_ARGS__)                                                                   \
        return held;                                                                               \
    }                                                                                              \
    static int begin_##Name(struct request *r)                                                     \
    {                                                                                              \
        const struct saved_##Name *s = &r->saved.Name;                                             \
        return real.I##name(MAP(SAVED_, __VA_ARGS__), &r->inner);                                  \
    }
#define PLAIN(Name, name, ...) SAVED(Name, name, true, true, __VA_ARGS__)
#define HANDLED(Name, name, ...)                                                                   \
    SAVED(Name, name, true, true, __VA_ARGS__) SAVED(Name##_c, name##_c, true, true, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#define SENDS_OF(ID) (COLL_FLAGS_##ID & COLL_TO_ROOT) || r->comm->rank == s->root
#define GETS_OF(ID) coll_from_root(COLL_FLAGS_##ID) || r->comm->rank == s->root
#define HANDLED_ROOTED(Name, name, ID, ...)                                                        \
    SAVED(Name, name, SENDS_OF(ID), GETS_OF(ID), __VA_ARGS__)                                      \
    SAVED(Name##_c, name##_c, SENDS_OF(ID), GETS_OF(ID), __VA_ARGS__)
#define HANDLED_ROOTED_ARRAYS HANDLED_ROOTED
#include "host/signatures.def"

/* ---- the wrappers ---------------------------------------------------------------------------- */

/* What becomes of it.  HUD_PASS: nothing, and the MPI's own is to be started. */
static int launch(struct request *r, int status, MPI_Request *request)
{
    if (status == HUD_OK || status == HUD_PASS)
        status = hud_request_launch(r, status == HUD_OK, request);
    if (status == HUD_OK)
        return HUD_OK;
    if (r->call.opened)
        hud_call_settle(&r->call);
    hud_request_give(r);
    return status;
}

#define WRAPPER(Name, name, Inner, ...)                                                            \
    static int wrap_I##Inner(MAP(PARAM_, __VA_ARGS__), MPI_Request *request)                       \
    {                                                                                              \
        struct comm *ours = hud_comm_find(comm);                                                   \
        struct request *r = NULL;                                                                  \
        int status = HUD_PASS;                                                                     \
        if (ours && ours->team && request)                                                         \
            status = (r = hud_request_take(ours)) ? HUD_OK : HUD_ERR_MEMORY;                       \
        if (r) {                                                                                   \
            struct call *call = &r->call;                                                          \
            status = hud_open_##name(MAP(TAKE_, __VA_ARGS__));                                     \
            r->saved.Name = (struct saved_##Name){ __VA_ARGS__ };                                  \
            r->below = begin_##Name;                                                               \
            if (status == HUD_PASS && local_count(&ours->in_flight) == 0)                          \
                hud_request_give(r);                                                               \
            else                                                                                   \
                status = launch(r, hold_##Name(r) ? status : HUD_ERR_MEMORY, request);             \
        }                                                                                          \
        if (status == HUD_PASS)                                                                    \
            return real.I##Inner(__VA_ARGS__, request);                                            \
        return status == HUD_OK ? MPI_SUCCESS : hud_comm_fail(ours, status);                       \
    }

#define COUNT int
#define PLACE int
#define MANY(array) ((struct many){ (array), false, false })
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
#define HANDLED(Name, name, ...) WRAPPER(Name##_c, name, name##_c, __VA_ARGS__)
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"

const struct hud_wrapper hud_nonblocking_wrappers[] = {
#define PLAIN(Name, name, ...) { "MPI_I" #name, (void (*)(void))wrap_I##name },
#define HANDLED(Name, name, ...)                                                                   \
    { "MPI_I" #name, (void (*)(void))wrap_I##name },                                               \
        { "MPI_I" #name "_c", (void (*)(void))wrap_I##name##_c },
#define HANDLED_ARRAYS HANDLED
#include "host/signatures.def"
    { NULL, NULL },
};
