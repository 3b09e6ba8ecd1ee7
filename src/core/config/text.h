/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - plain text: valid UTF-8 without control characters.  Lines for users have only plain
 * text, no matter what a user's value contains: a newline would split a line, an escape sequence
 * would move the cursor, and JSON cannot hold bytes that are not UTF-8.
 */
#ifndef HUD_TEXT_H
#define HUD_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Copies a text, cut off to the room, at least one byte.  Returns the bytes copied, without the
 * last zero. snprintf takes longer for the thousands of texts of a start. */
size_t hud_text_copy(char *to, size_t room_bytes, const char *text);

bool hud_text_is_plain(const char *text);

/* Replaces each byte that is not plain by '?', including a character cut at the end. */
void hud_text_make_plain(char *text);

#endif
