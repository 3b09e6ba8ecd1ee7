/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * text.h - plain text: valid UTF-8 without control characters.  Lines for people hold nothing else,
 * whatever a user's value holds: a newline would make two lines of one, an escape sequence would
 * move the cursor, and JSON has no place for bytes that are not UTF-8.
 */
#ifndef HUD_TEXT_H
#define HUD_TEXT_H

#include <stdbool.h>

bool hud_text_is_plain(const char *text);

/* Replaces each byte that is not plain by '?'.  A character that was cut at the end goes the same
 * way. */
void hud_text_make_plain(char *text);

#endif
