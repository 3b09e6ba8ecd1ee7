/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - buffers of the simulated ranks. */
#include "views.h"

#include "sim/grow.h"

#include <string.h>

enum { ELEMENT = 12, STEP = 16, NOTHING = 0xEE };

static size_t place(size_t at)
{
    return at / ELEMENT * STEP + at % ELEMENT;
}

/* Whole elements if it can, or any cut at all. */
static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t most_bytes)
{
    struct user_buffer *b = view->host;
    size_t taken = most_bytes, beyond = (offset_bytes + most_bytes) % ELEMENT;
    unsigned char *to = dst;

    if (hud_sim_random(b->s, 2) == 0)
        taken = 1 + hud_sim_random(b->s, most_bytes - 1);
    else if (offset_bytes + most_bytes < view->bytes && beyond < most_bytes)
        taken -= beyond;
    for (size_t i = 0; i < taken; i++)
        to[i] = b->memory[place(offset_bytes + i)];
    return taken;
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    struct user_buffer *b = view->host;
    const unsigned char *from = src;

    for (size_t i = 0; i < bytes; i++)
        b->memory[place(offset_bytes + i)] = from[i];
}

struct user_buffer *user_buffer_create(struct sim *s, size_t most_bytes)
{
    size_t room = place(most_bytes) + STEP;
    struct user_buffer *b = hud_must(calloc(1, sizeof *b + room));

    b->s = s;
    b->room_bytes = room;
    return b;
}

void user_buffer_reset(struct user_buffer *b, size_t bytes, bool packed)
{
    b->view = (struct hud_view){ .base = b->memory, .bytes = bytes };
    if (packed) {
        b->view.pack = pack;
        b->view.unpack = unpack;
        b->view.host = b;
    }
    memset(b->memory, NOTHING, place(bytes) + STEP < b->room_bytes ? place(bytes) + STEP : b->room_bytes);
}

unsigned char *user_buffer_at(struct user_buffer *b, size_t at)
{
    return &b->memory[b->view.pack ? place(at) : at];
}
