/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * views.h - a user's buffer of one rank: contiguous, or elements of 12 bytes at a stride of 16
 * bytes, whose pack may return fewer bytes than asked for.
 */
#ifndef HUD_VIEWS_H
#define HUD_VIEWS_H

#include "check/sim.h"

enum { USER_NOTHING = 0xEE }; /* filling of an empty buffer, which occurs in no message */

struct user_buffer {
    struct sim *s; /* source of randomness for pack */
    struct hud_view view;
    size_t room_bytes;
    unsigned char memory[];
};

/* Creates a buffer of a rank for views of at most max_bytes. */
struct user_buffer *user_buffer_create(struct sim *s, size_t max_bytes);
/* Sets the view for the next call, and fills the memory with USER_NOTHING. */
void user_buffer_reset(struct user_buffer *b, size_t bytes, bool packed);
/* Copies a message of view.bytes bytes to the buffer. */
void user_buffer_fill(struct user_buffer *b, const unsigned char *message);
/* Reads bytes of the message in the buffer. */
void user_buffer_read(const struct user_buffer *b, size_t offset_bytes, size_t bytes,
                      unsigned char *to);
/* Returns the index of the first of `bytes` bytes that differs from the message, or `bytes` if none
 * differs. */
size_t user_buffer_differs(const struct user_buffer *b, const unsigned char *message, size_t bytes);

/* A part of a buffer with its own view. */
struct user_part {
    struct user_buffer *buffer;
    size_t offset_bytes;
};
struct hud_view user_part_view(struct user_part *part, struct user_buffer *b, size_t offset_bytes,
                               size_t bytes);

#endif
