/* SPDX-License-Identifier: BSD-3-Clause */
/* views.c - buffers of the simulated ranks. */
#include "views.h"

#include "check/grow.h"

#include <string.h>

enum { ELEMENT = 12, STEP = 16 };

static size_t place(size_t at)
{
    return at / ELEMENT * STEP + at % ELEMENT;
}

/* Returns the bytes from `at` to the end of its element, at most `max`. */
static size_t run(size_t at, size_t max)
{
    size_t rest = ELEMENT - at % ELEMENT;

    return rest < max ? rest : max;
}

/* Packs whole elements if possible, or any number of bytes. */
static size_t pack_at(struct user_buffer *b, void *dst, size_t offset_bytes, size_t max_bytes)
{
    size_t taken = max_bytes, beyond = (offset_bytes + max_bytes) % ELEMENT;

    if (hud_sim_random(b->s, 2) == 0)
        taken = 1 + hud_sim_random(b->s, max_bytes - 1);
    else if (offset_bytes + max_bytes < b->view.bytes && beyond < max_bytes)
        taken -= beyond;
    for (size_t i = 0, n; i < taken; i += n) {
        n = run(offset_bytes + i, taken - i);
        memcpy((char *)dst + i, b->memory + place(offset_bytes + i), n);
    }
    return taken;
}

static void unpack_at(struct user_buffer *b, const void *src, size_t offset_bytes, size_t bytes)
{
    for (size_t i = 0, n; i < bytes; i += n) {
        n = run(offset_bytes + i, bytes - i);
        memcpy(b->memory + place(offset_bytes + i), (const char *)src + i, n);
    }
}

static size_t pack(const struct hud_view *view, void *dst, size_t offset_bytes, size_t max_bytes)
{
    return pack_at(view->host, dst, offset_bytes, max_bytes);
}

static void unpack(const struct hud_view *view, const void *src, size_t offset_bytes, size_t bytes)
{
    unpack_at(view->host, src, offset_bytes, bytes);
}

static size_t pack_part(const struct hud_view *view, void *dst, size_t offset_bytes,
                        size_t max_bytes)
{
    const struct user_part *part = view->host;

    return pack_at(part->buffer, dst, part->offset_bytes + offset_bytes, max_bytes);
}

static void unpack_part(const struct hud_view *view, const void *src, size_t offset_bytes,
                        size_t bytes)
{
    const struct user_part *part = view->host;

    unpack_at(part->buffer, src, part->offset_bytes + offset_bytes, bytes);
}

struct hud_view user_part_view(struct user_part *part, struct user_buffer *b, size_t offset_bytes,
                               size_t bytes)
{
    struct hud_view view = { .base = b->memory + offset_bytes, .bytes = bytes };

    *part = (struct user_part){ b, offset_bytes };
    if (b->view.pack) {
        view.pack = pack_part;
        view.unpack = unpack_part;
        view.host = part;
    }
    return view;
}

struct user_buffer *user_buffer_create(struct sim *s, size_t max_bytes)
{
    size_t room = place(max_bytes) + STEP;
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
    memset(b->memory, USER_NOTHING,
           place(bytes) + STEP < b->room_bytes ? place(bytes) + STEP : b->room_bytes);
}

void user_buffer_fill(struct user_buffer *b, const unsigned char *message)
{
    if (b->view.pack)
        unpack_at(b, message, 0, b->view.bytes);
    else
        memcpy(b->memory, message, b->view.bytes);
}

void user_buffer_read(const struct user_buffer *b, size_t offset_bytes, size_t bytes,
                      unsigned char *to)
{
    for (size_t i = offset_bytes; i < offset_bytes + bytes; i++)
        *to++ = b->memory[b->view.pack ? place(i) : i];
}

size_t user_buffer_differs(const struct user_buffer *b, const unsigned char *message, size_t bytes)
{
    for (size_t i = 0, n; i < bytes; i += n) {
        n = b->view.pack ? run(i, bytes - i) : bytes;
        const unsigned char *got = b->memory + (b->view.pack ? place(i) : i);
        if (memcmp(got, message + i, n) == 0)
            continue;
        while (*got == message[i])
            got++, i++;
        return i;
    }
    return bytes;
}
