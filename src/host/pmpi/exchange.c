/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - exchanges, gathers and scatters: converts MPI's arguments to huddle's views.
 *
 * Equal blocks are one message in either direction.  Blocks of any sizes have a message each:
 * alltoallv and alltoallw in both directions, gatherv, scatterv and allgatherv in one.  An
 * alltoallv is an alltoallw with a single type.
 */
#include "host/pmpi/call.h"

/* Opens a call in place.  Staged messages are filled before any byte is written, because they are
 * read in place. */
static int in_place(struct call *c)
{
    hud_message_fill(&c->to);
    c->args.in = c->args.out = &c->to.view;
    c->opened = OPENED_TO;
    return HUD_OK;
}

/*
 * Returns whether this rank's sent part is at the same place as its own part of the received data;
 * the caller checks that both have equal descriptions.  Only then MPIs report an error; otherwise
 * they carry out the call, and so must this rank, like the others.
 */
static bool is_twice(unsigned flags, const struct comm *c, const struct message *from,
                     const struct message *to)
{
    size_t own = flags & COLL_SAME_TO_ALL ? to->view.bytes / (size_t)c->size * (size_t)c->rank : 0;

    return to->view.bytes > 0 && from->view.base == (char *)to->view.base + own;
}

int hud_open_blocks(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, struct call *c)
{
    const struct comm *comm = c->comm;
    MPI_Count sent = ins, received;

    if (__builtin_mul_overflow(outs, comm->size, &received))
        return HUD_PASS;
    int status = message_open(out, received, out_type, comm->handle, &c->to);
    if (status != HUD_OK)
        return status;
    c->args.collective = kind;
    if (in == MPI_IN_PLACE)
        return in_place(c);
    status = !(flags & COLL_SAME_TO_ALL) && __builtin_mul_overflow(ins, comm->size, &sent)
                 ? HUD_PASS
                 : message_open(in, sent, in_type, comm->handle, &c->from);
    if (status == HUD_OK && ins == outs && in_type == out_type &&
        is_twice(flags, comm, &c->from, &c->to)) {
        hud_message_close(&c->from);
        status = HUD_PASS;
    }
    if (status != HUD_OK) {
        hud_message_close(&c->to);
        return status;
    }
    c->args.in = &c->from.view;
    c->args.out = &c->to.view;
    c->opened = OPENED_FROM | OPENED_TO;
    return HUD_OK;
}

/* ---- to a root, or from it ---- */

/* A buffer as described by the arguments of a call. */
struct described {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* Returns whether the root's single block is at its place among the blocks of all, with an equal
 * description; see is_twice. */
static bool is_within(const struct comm *c, const struct described *one,
                      const struct described *all, const struct message *single,
                      const struct message *whole)
{
    size_t own = whole->view.bytes / (size_t)c->size * (size_t)c->rank;

    return whole->view.bytes > 0 && one->count == all->count && one->type == all->type &&
           single->view.base == (char *)whole->view.base + own;
}

/* Opens a call on a rank other than the root, which has a single block.  Its other arguments must
 * not be used. */
static int open_other(struct call *c, bool to_root, const struct described *one)
{
    struct message *single = to_root ? &c->from : &c->to;
    int status = message_open(one->buffer, one->count, one->type, c->comm->handle, single);

    *(to_root ? &c->args.in : &c->args.out) = &single->view;
    if (status == HUD_OK)
        c->opened = to_root ? OPENED_FROM : OPENED_TO;
    return status;
}

static int open_root(struct call *c, bool to_root, const struct described *one,
                     const struct described *all)
{
    struct message *single = to_root ? &c->from : &c->to, *whole = to_root ? &c->to : &c->from;
    bool in_place = one->buffer == MPI_IN_PLACE;
    MPI_Count elements;

    if (__builtin_mul_overflow(all->count, c->comm->size, &elements))
        return HUD_PASS;
    int status = message_open(all->buffer, elements, all->type, c->comm->handle, whole);
    if (status != HUD_OK)
        return status;
    if (in_place && to_root)
        hud_message_fill(whole);
    if (!in_place)
        status = message_open(one->buffer, one->count, one->type, c->comm->handle, single);
    if (status == HUD_OK && !in_place && is_within(c->comm, one, all, single, whole)) {
        hud_message_close(single);
        status = HUD_PASS;
    }
    if (status != HUD_OK) {
        hud_message_close(whole);
        return status;
    }
    c->args.in = in_place ? &whole->view : &c->from.view;
    c->args.out = in_place ? &whole->view : &c->to.view;
    c->opened = !in_place ? OPENED_FROM | OPENED_TO : to_root ? OPENED_TO : OPENED_FROM;
    return HUD_OK;
}

int hud_open_rooted(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, int root, struct call *c)
{
    bool to_root = flags & COLL_TO_ROOT;
    const struct described sent = { in, ins, in_type }, received = { out, outs, out_type };
    const struct described *one = to_root ? &sent : &received;

    if (root < 0 || root >= c->comm->size)
        return HUD_PASS;
    c->args.collective = kind;
    c->args.root = root;
    return c->comm->rank == root ? open_root(c, to_root, one, to_root ? &received : &sent)
                                 : open_other(c, to_root, one);
}

/* ---- a message for each member ---- */

/* The blocks that a rank sends to each rank, or receives from each. */
struct blocks {
    const void *buffer;
    struct many counts, places;
    MPI_Datatype type;
    const MPI_Datatype *types; /* the type of each block, with places in bytes; NULL: all blocks
                                  have `type`, with places in its extents */
};

/*
 * Opens a block.  A block of no elements has no bytes, independent of its other arguments: an MPI
 * does not use its type, place and buffer, and other members cannot know them.
 */
static int open_block(const struct comm *c, const struct blocks *b, int r, MPI_Count extent,
                      struct message *message)
{
    MPI_Count count = many_at(b->counts, r);

    if (count == 0) {
        message->view = (struct hud_view){ .bytes = 0 };
        message->closes = false;
        return HUD_OK;
    }
    if (!b->places.at)
        return HUD_PASS;
    return message_open((const char *)b->buffer + many_at(b->places, r) * extent, count,
                        b->types ? b->types[r] : b->type, c->handle, message);
}

static void close_side(struct message *messages, int count)
{
    for (int r = 0; r < count; r++)
        hud_message_close(&messages[r]);
}

/* Opens the blocks of a direction.  After an error nothing is open. */
static int open_side(const struct comm *c, const struct blocks *b, struct message *messages,
                     struct hud_view *views)
{
    struct type type = { .extent = 1 };

    if (!b->counts.at)
        return HUD_PASS;
    if (!b->types)
        hud_type_find(b->type, &type); /* a block with elements of an invalid type reports
                                          it */
    for (int r = 0; r < c->size; r++) {
        int status = open_block(c, b, r, type.extent, &messages[r]);
        if (status != HUD_OK) {
            close_side(messages, r);
            return status;
        }
        views[r] = messages[r].view;
    }
    return HUD_OK;
}

/*
 * Returns whether the call has an error for the MPI to report: a block is received where it is sent
 * from, or has no place.  Never true for a correct call, although its arguments may be equal in
 * both directions: a member with nothing to exchange passes arrays of zeros and no buffer, and
 * types of absolute addresses distinguish two messages.
 */
static bool wrong(const struct comm *c, const struct blocks *in, const struct blocks *out,
                  const struct hud_view *received)
{
    bool twice = in->buffer == out->buffer && in->counts.at == out->counts.at &&
                 in->places.at == out->places.at && in->types == out->types &&
                 in->type == out->type;
    bool some = false;

    if (!twice && out->buffer != MPI_IN_PLACE)
        return false;
    for (int r = 0; r < c->size && !some; r++)
        some = received[r].bytes > 0;
    return some;
}

size_t hud_exchange_bytes(int ranks)
{
    return 2 * (size_t)ranks * (sizeof(struct message) + sizeof(struct hud_view));
}

static int open_exchange(struct call *c, const struct blocks *in, const struct blocks *out)
{
    const struct comm *comm = c->comm;
    size_t ranks = (size_t)comm->size;
    struct message *messages = scratch_array_reserve(c->scratch, hud_exchange_bytes(comm->size));
    struct hud_view *views = (struct hud_view *)(messages + 2 * ranks);
    int status = HUD_OK;

    if (!messages)
        return HUD_ERR_MEMORY;
    c->in = messages;
    c->out = messages + ranks;
    c->args.collective = COLL_ALLTOALLV;
    c->args.in = c->args.out = views + ranks;
    status = open_side(comm, out, c->out, views + ranks);
    if (status != HUD_OK)
        return status;
    if (wrong(comm, in, out, views + ranks)) {
        status = HUD_PASS;
    } else if (in->buffer == MPI_IN_PLACE) {
        for (int r = 0; r < comm->size; r++)
            hud_message_fill(&c->out[r]);
    } else if ((status = open_side(comm, in, c->in, views)) == HUD_OK) {
        c->args.in = views;
        c->opened = OPENED_IN;
    }
    if (status == HUD_OK)
        c->opened |= OPENED_OUT;
    else
        close_side(c->out, comm->size);
    return status;
}

int hud_open_alltoallv(const void *in, struct many in_counts, struct many in_places,
                       MPI_Datatype in_type, void *out, struct many out_counts,
                       struct many out_places, MPI_Datatype out_type, struct call *c)
{
    return open_exchange(c, &(struct blocks){ in, in_counts, in_places, in_type, NULL },
                         &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

/* Opens an alltoallw, which HUDDLE_CHECK announces by its own name. */
int hud_open_alltoallw(const void *in, struct many in_counts, struct many in_places,
                       const MPI_Datatype in_types[], void *out, struct many out_counts,
                       struct many out_places, const MPI_Datatype out_types[], struct call *c)
{
    c->named = true;
    c->about = (struct hud_announced){ .name = "alltoallw", .root = -1, .bytes = HUD_ANY_BYTES };
    return open_exchange(
        c, &(struct blocks){ in, in_counts, in_places, MPI_DATATYPE_NULL, in_types },
        &(struct blocks){ out, out_counts, out_places, MPI_DATATYPE_NULL, out_types });
}

/* ---- a block of this rank, and a block of each rank ---- */

static int open_join(struct call *c, bool gathers, const struct described *one,
                     const struct blocks *all)
{
    const struct comm *comm = c->comm;
    struct message *messages = scratch_array_reserve(c->scratch, hud_exchange_bytes(comm->size)),
                   *single = gathers ? &c->from : &c->to;
    struct hud_view *views = (struct hud_view *)(messages + comm->size), *own = &single->view;
    bool in_place = one->buffer == MPI_IN_PLACE;

    if (!messages)
        return HUD_ERR_MEMORY;
    int status = open_side(comm, all, messages, views);
    if (status != HUD_OK)
        return status;
    if (in_place)
        own = &views[comm->rank];
    else
        status = message_open(one->buffer, one->count, one->type, comm->handle, single);
    if (in_place && gathers)
        hud_message_fill(&messages[comm->rank]);
    if (status == HUD_OK && !in_place && one->type == all->type && own->bytes > 0 &&
        own->base == views[comm->rank].base) { /* the MPI reports this error */
        hud_message_close(single);
        status = HUD_PASS;
    }
    if (status != HUD_OK) {
        close_side(messages, comm->size);
        return status;
    }
    *(gathers ? &c->out : &c->in) = messages;
    c->args.in = gathers ? own : views;
    c->args.out = gathers ? views : own;
    c->opened = (gathers ? OPENED_OUT : OPENED_IN) | (in_place  ? 0u
                                                      : gathers ? (unsigned)OPENED_FROM
                                                                : (unsigned)OPENED_TO);
    return HUD_OK;
}

int hud_open_allgatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                        struct many out_counts, struct many out_places, MPI_Datatype out_type,
                        struct call *c)
{
    c->args.collective = COLL_ALLGATHERV;
    return open_join(c, true, &(struct described){ in, ins, in_type },
                     &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

/* Opens a gatherv or scatterv.  Only the root may use the arguments about all blocks. */
static int open_rooted_join(struct call *c, int kind, int root, const struct described *one,
                            const struct blocks *all)
{
    bool gathers = kind == COLL_GATHERV;

    if (root < 0 || root >= c->comm->size)
        return HUD_PASS;
    c->args.collective = kind;
    c->args.root = root;
    return c->comm->rank == root ? open_join(c, gathers, one, all) : open_other(c, gathers, one);
}

int hud_open_gatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                     struct many out_counts, struct many out_places, MPI_Datatype out_type,
                     int root, struct call *c)
{
    return open_rooted_join(c, COLL_GATHERV, root, &(struct described){ in, ins, in_type },
                            &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

int hud_open_scatterv(const void *in, struct many in_counts, struct many in_places,
                      MPI_Datatype in_type, void *out, MPI_Count outs, MPI_Datatype out_type,
                      int root, struct call *c)
{
    return open_rooted_join(c, COLL_SCATTERV, root, &(struct described){ out, outs, out_type },
                            &(struct blocks){ in, in_counts, in_places, in_type, NULL });
}
