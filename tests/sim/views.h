/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views.h - a user's buffer of one rank: contiguous, or elements of 12 bytes in steps of 16 whose
 * pack takes less than it is asked for.
 */
#ifndef HUD_VIEWS_H
#define HUD_VIEWS_H

#include "sim/sim.h"

enum { USER_NOTHING = 0xEE }; /* what an empty buffer holds, and no message */

struct user_buffer {
    struct sim *s; /* for the cuts of pack */
    struct hud_view view;
    size_t room_bytes;
    unsigned char memory[];
};

/* A buffer of a rank for views of at most max_bytes. */
struct user_buffer *user_buffer_create(struct sim *s, size_t max_bytes);
/* The view of the next call; fills the memory with USER_NOTHING. */
void user_buffer_reset(struct user_buffer *b, size_t bytes, bool packed);
/* Puts view.bytes bytes of a message into it. */
void user_buffer_fill(struct user_buffer *b, const unsigned char *message);
/* Bytes of the message that it holds. */
void user_buffer_read(const struct user_buffer *b, size_t offset_bytes, size_t bytes,
                      unsigned char *to);
/* The first of so many bytes that is not the message's; bytes: none. */
size_t user_buffer_differs(const struct user_buffer *b, const unsigned char *message, size_t bytes);

/* A stretch of a buffer as a view of its own. */
struct user_part {
    struct user_buffer *buffer;
    size_t offset_bytes;
};
struct hud_view user_part_view(struct user_part *part, struct user_buffer *b, size_t offset_bytes,
                               size_t bytes);

#endif
