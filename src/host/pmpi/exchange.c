/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * exchange.c - alltoall, alltoallv and alltoallw: MPI's arguments as views of huddle's.
 *
 * Of alltoall all blocks are one message, in either direction.  The others have a message for each member and direction, and alltoallv is an alltoallw
 * whose types are all the same.
 */
#include "host/pmpi/pmpi.h"

/* Messages that are staged when read in place hold the user's bytes before any is written. */
static int in_place(struct comm *c, struct message *m)
{
    hud_message_fill(m);
    int status = hud_alltoall(c->team, &m->view, &m->view);
    hud_message_close(m);
    return status;
}

int hud_take_alltoall(struct comm *c, const void *in, MPI_Count ins, MPI_Datatype in_type, void *out, MPI_Count outs, MPI_Datatype out_type)
{
    struct message from, to;
    MPI_Count sent, received;

    if (__builtin_mul_overflow(outs, c->size, &received))
        return HUD_PASS;
    int status = message_open(out, received, out_type, c->handle, &to);
    if (status != HUD_OK)
        return status;
    if (in == MPI_IN_PLACE)
        return in_place(c, &to);
    status = __builtin_mul_overflow(ins, c->size, &sent) ? HUD_PASS : message_open(in, sent, in_type, c->handle, &from);
    if (status == HUD_OK) {
        bool wrong = from.view.bytes != to.view.bytes || (from.view.base == to.view.base && to.view.bytes > 0); /* for the MPI to name */
        status = wrong ? HUD_PASS : hud_alltoall(c->team, &from.view, &to.view);
        hud_message_close(&from);
    }
    hud_message_close(&to);
    return status;
}

/* ---- a message for each member ---- */

/* One direction of the call, in the communicator's scratch. */
struct side {
    struct message *messages;
    struct hud_view *views;
};

static int open_block(const struct comm *c, const struct blocks *b, int r, MPI_Count extent, struct message *message)
{
    MPI_Count place = many_at(b->places, r);

    return message_open((const char *)b->buffer + place * extent, many_at(b->counts, r), b->types ? b->types[r] : b->type, c->handle,
                        message);
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

    if (!b->counts.at || !b->places.at || (!b->types && !hud_type_find(b->type, &type)))
        return HUD_PASS;
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

static int exchange_in_place(struct comm *c, const struct side *both)
{
    for (int r = 0; r < c->size; r++)
        hud_message_fill(&both->messages[r]);
    return hud_alltoallv(c->team, both->views, both->views);
}

/* An error that the MPI will name.  One buffer may be both without being in place: its blocks lie elsewhere in it. */
static bool wrong(const struct blocks *in, const struct blocks *out)
{
    return out->buffer == MPI_IN_PLACE || (in->buffer == out->buffer && in->counts.at == out->counts.at && in->places.at == out->places.at);
}

int hud_take_alltoallv(struct comm *c, const struct blocks *in, const struct blocks *out)
{
    size_t ranks = (size_t)c->size;
    struct message *messages = hud_comm_scratch(c, 2 * ranks * (sizeof *messages + sizeof(struct hud_view)));
    struct hud_view *views = (struct hud_view *)(messages + 2 * ranks);
    struct side from = { messages, views }, to = { messages + ranks, views + ranks };

    if (!messages)
        return HUD_ERR_MEMORY;
    if (wrong(in, out))
        return HUD_PASS;
    int status = open_side(c, out, &to);
    if (status != HUD_OK)
        return status;
    if (in->buffer == MPI_IN_PLACE) {
        status = exchange_in_place(c, &to);
    } else if ((status = open_side(c, in, &from)) == HUD_OK) {
        status = hud_alltoallv(c->team, from.views, to.views);
        close_side(&from, c->size);
    }
    close_side(&to, c->size);
    return status;
}
