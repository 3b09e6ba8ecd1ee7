/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - exchanges: MPI's arguments as huddle's views.
 *
 * Equal blocks are one message in either direction.  alltoallv and alltoallw have a message for
 * each member and direction; alltoallv is an alltoallw with one type.
 */
#include "host/pmpi/pmpi.h"

/* Messages that are staged when read in place hold the user's bytes before any is written. */
static int in_place(int kind, struct comm *c, struct message *m)
{
    hud_message_fill(m);
    int status = hud_call(
        c->team, &(struct hud_args){ .collective = kind, .in = &m->view, .out = &m->view });
    hud_message_close(m);
    return status;
}

/*
 * What a rank sends lies where its own part of what it gets belongs, and is described alike.  Only
 * then do MPIs call it an error; otherwise they go through with the call, and so must this rank, as
 * the others do.
 */
static bool is_twice(unsigned flags, const struct comm *c, const struct message *from,
                     const struct message *to)
{
    size_t own = flags & COLL_SAME_TO_ALL ? to->view.bytes / (size_t)c->size * (size_t)c->rank : 0;

    return to->view.bytes > 0 && from->view.base == (char *)to->view.base + own;
}

int hud_take_blocks(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, struct comm *c)
{
    struct message from, to;
    MPI_Count sent = ins, received;

    if (__builtin_mul_overflow(outs, c->size, &received))
        return HUD_PASS;
    int status = message_open(out, received, out_type, c->handle, &to);
    if (status != HUD_OK)
        return status;
    if (in == MPI_IN_PLACE)
        return in_place(kind, c, &to);
    status = !(flags & COLL_SAME_TO_ALL) && __builtin_mul_overflow(ins, c->size, &sent)
                 ? HUD_PASS
                 : message_open(in, sent, in_type, c->handle, &from);
    if (status == HUD_OK) {
        const struct hud_args args = { .collective = kind, .in = &from.view, .out = &to.view };
        bool named = ins == outs && in_type == out_type && is_twice(flags, c, &from, &to);
        status = named ? HUD_PASS : hud_call(c->team, &args);
        hud_message_close(&from);
    }
    hud_message_close(&to);
    return status;
}

/* ---- to a root, or from it ---- */

/* What a call says of a buffer. */
struct described {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
};

/* The root's single block lies where the block of all for it is, and is described alike: as
 * is_twice. */
static bool is_within(const struct comm *c, const struct described *one,
                      const struct described *all, const struct message *single,
                      const struct message *whole)
{
    size_t own = whole->view.bytes / (size_t)c->size * (size_t)c->rank;

    return whole->view.bytes > 0 && one->count == all->count && one->type == all->type &&
           single->view.base == (char *)whole->view.base + own;
}

/* A rank other than the root has one block; what else its arguments say is not to be looked at. */
static int other_rooted(struct hud_args *args, bool to_root, const struct described *one,
                        struct comm *c)
{
    struct message single;
    int status = message_open(one->buffer, one->count, one->type, c->handle, &single);

    if (status != HUD_OK)
        return status;
    *(to_root ? &args->in : &args->out) = &single.view;
    status = hud_call(c->team, args);
    hud_message_close(&single);
    return status;
}

static int root_rooted(struct hud_args *args, bool to_root, const struct described *one,
                       const struct described *all, struct comm *c)
{
    bool in_place = one->buffer == MPI_IN_PLACE;
    struct message single, whole;
    MPI_Count elements;

    if (__builtin_mul_overflow(all->count, c->size, &elements))
        return HUD_PASS;
    int status = message_open(all->buffer, elements, all->type, c->handle, &whole);
    if (status != HUD_OK)
        return status;
    if (in_place && to_root)
        hud_message_fill(&whole);
    if (!in_place)
        status = message_open(one->buffer, one->count, one->type, c->handle, &single);
    if (status == HUD_OK) {
        args->in = to_root && !in_place ? &single.view : &whole.view;
        args->out = to_root || in_place ? &whole.view : &single.view;
        status = !in_place && is_within(c, one, all, &single, &whole) ? HUD_PASS
                                                                      : hud_call(c->team, args);
        if (!in_place)
            hud_message_close(&single);
    }
    hud_message_close(&whole);
    return status;
}

int hud_take_rooted(int kind, unsigned flags, const void *in, MPI_Count ins, MPI_Datatype in_type,
                    void *out, MPI_Count outs, MPI_Datatype out_type, int root, struct comm *c)
{
    bool to_root = flags & COLL_TO_ROOT;
    const struct described sent = { in, ins, in_type }, received = { out, outs, out_type };
    struct hud_args args = { .collective = kind, .root = root };

    if (root < 0 || root >= c->size)
        return HUD_PASS;
    return c->rank == root ? root_rooted(&args, to_root, to_root ? &sent : &received,
                                         to_root ? &received : &sent, c)
                           : other_rooted(&args, to_root, to_root ? &sent : &received, c);
}

/* ---- a message for each member ---- */

/* What a rank sends, or receives, in an alltoallv or alltoallw. */
struct blocks {
    const void *buffer;
    struct many counts, places;
    MPI_Datatype type;
    const MPI_Datatype *types; /* of each block, and places are in bytes; NULL: all are of `type`,
                                  and places in its extents */
};

/* One direction of the call, in the communicator's scratch. */
struct side {
    struct message *messages;
    struct hud_view *views;
};

/*
 * A block of no elements is one of no bytes, whatever else is said of it: an MPI does not look at
 * its type, place and buffer, and other members cannot know of these.
 */
static int open_block(const struct comm *c, const struct blocks *b, int r, MPI_Count extent,
                      struct message *message)
{
    MPI_Count count = many_at(b->counts, r);

    if (count == 0) {
        message->view = (struct hud_view){ .bytes = 0 };
        message->stage = NULL;
        return HUD_OK;
    }
    if (!b->places.at)
        return HUD_PASS;
    return message_open((const char *)b->buffer + many_at(b->places, r) * extent, count,
                        b->types ? b->types[r] : b->type, c->handle, message);
}

static void close_side(const struct side *side, int count)
{
    for (int r = 0; r < count; r++)
        hud_message_close(&side->messages[r]);
}

/* Nothing is left open but after HUD_OK. */
static int open_side(const struct comm *c, const struct blocks *b, struct side *side)
{
    struct type type = { .extent = 1 };

    if (!b->counts.at)
        return HUD_PASS;
    if (!b->types)
        hud_type_find(b->type, &type); /* where it is none, a block that has elements reports it */
    for (int r = 0; r < c->size; r++) {
        int status = open_block(c, b, r, type.extent, &side->messages[r]);
        if (status != HUD_OK) {
            close_side(side, r);
            return status;
        }
        side->views[r] = side->messages[r].view;
    }
    return HUD_OK;
}

/* HUDDLE_CHECK knows an alltoallw by its own name. */
static int run(struct comm *c, const struct blocks *out, const struct hud_view *sent,
               const struct hud_view *received)
{
    if (out->types)
        hud_checked_enter(c, "alltoallw", HUD_ANY_BYTES, NULL);
    int status = hud_alltoallv(c->team, sent, received);
    if (out->types)
        hud_team_exit(c->team);
    return status;
}

static int exchange_in_place(struct comm *c, const struct blocks *out, const struct side *both)
{
    for (int r = 0; r < c->size; r++)
        hud_message_fill(&both->messages[r]);
    return run(c, out, both->views, both->views);
}

/*
 * An error that the MPI will name: some block is received where it is sent from, or at no place.
 * Never so of a correct call, whose arguments may well be the same twice: a member that has nothing
 * to exchange gives arrays of zeros and no buffer, and types of absolute addresses tell two
 * messages apart.
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

static int exchange(struct comm *c, const struct blocks *in, const struct blocks *out)
{
    size_t ranks = (size_t)c->size;
    struct message *messages = hud_comm_scratch(c, hud_exchange_bytes(c->size));
    struct hud_view *views = (struct hud_view *)(messages + 2 * ranks);
    struct side from = { messages, views }, to = { messages + ranks, views + ranks };

    if (!messages)
        return hud_comm_without_scratch(c);
    int status = open_side(c, out, &to);
    if (status != HUD_OK)
        return status;
    if (wrong(c, in, out, to.views)) {
        status = HUD_PASS;
    } else if (in->buffer == MPI_IN_PLACE) {
        status = exchange_in_place(c, out, &to);
    } else if ((status = open_side(c, in, &from)) == HUD_OK) {
        status = run(c, out, from.views, to.views);
        close_side(&from, c->size);
    }
    close_side(&to, c->size);
    return status;
}

int hud_take_alltoallv(const void *in, struct many in_counts, struct many in_places,
                       MPI_Datatype in_type, void *out, struct many out_counts,
                       struct many out_places, MPI_Datatype out_type, struct comm *c)
{
    return exchange(c, &(struct blocks){ in, in_counts, in_places, in_type, NULL },
                    &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

int hud_take_alltoallw(const void *in, struct many in_counts, struct many in_places,
                       const MPI_Datatype in_types[], void *out, struct many out_counts,
                       struct many out_places, const MPI_Datatype out_types[], struct comm *c)
{
    return exchange(c, &(struct blocks){ in, in_counts, in_places, MPI_DATATYPE_NULL, in_types },
                    &(struct blocks){ out, out_counts, out_places, MPI_DATATYPE_NULL, out_types });
}

/* ---- one block, and blocks of any sizes ---- */

/* The call of a rank whose own block is described, and the blocks of all. */
static int join(struct comm *c, struct hud_args *args, bool gathers, const struct described *one,
                const struct blocks *all)
{
    struct message *messages = hud_comm_scratch(c, hud_exchange_bytes(c->size)), single;
    struct side side = { messages, (struct hud_view *)(messages + 2 * (size_t)c->size) };
    const struct hud_view *own = &single.view;
    bool in_place = one->buffer == MPI_IN_PLACE;

    if (!messages)
        return hud_comm_without_scratch(c);
    int status = open_side(c, all, &side);
    if (status != HUD_OK)
        return status;
    if (in_place)
        own = &side.views[c->rank];
    else
        status = message_open(one->buffer, one->count, one->type, c->handle, &single);
    if (status == HUD_OK) {
        bool twice = !in_place && one->type == all->type && own->bytes > 0 &&
                     own->base == side.views[c->rank].base; /* for the MPI to name */
        args->in = gathers ? own : side.views;
        args->out = gathers ? side.views : own;
        status = twice ? HUD_PASS : hud_call(c->team, args);
        if (!in_place)
            hud_message_close(&single);
    }
    close_side(&side, c->size);
    return status;
}

int hud_take_allgatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                        struct many out_counts, struct many out_places, MPI_Datatype out_type,
                        struct comm *c)
{
    struct hud_args args = { .collective = COLL_ALLGATHERV };

    return join(c, &args, true, &(struct described){ in, ins, in_type },
                &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

/* The root's arguments for all are not to be looked at elsewhere. */
static int join_root(struct comm *c, int kind, int root, const struct described *one,
                     const struct blocks *all)
{
    struct hud_args args = { .collective = kind, .root = root };
    bool gathers = kind == COLL_GATHERV;

    if (root < 0 || root >= c->size)
        return HUD_PASS;
    return c->rank == root ? join(c, &args, gathers, one, all)
                           : other_rooted(&args, gathers, one, c);
}

int hud_take_gatherv(const void *in, MPI_Count ins, MPI_Datatype in_type, void *out,
                     struct many out_counts, struct many out_places, MPI_Datatype out_type,
                     int root, struct comm *c)
{
    return join_root(c, COLL_GATHERV, root, &(struct described){ in, ins, in_type },
                     &(struct blocks){ out, out_counts, out_places, out_type, NULL });
}

int hud_take_scatterv(const void *in, struct many in_counts, struct many in_places,
                      MPI_Datatype in_type, void *out, MPI_Count outs, MPI_Datatype out_type,
                      int root, struct comm *c)
{
    return join_root(c, COLL_SCATTERV, root, &(struct described){ out, outs, out_type },
                     &(struct blocks){ in, in_counts, in_places, in_type, NULL });
}
