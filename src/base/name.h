/* SPDX-License-Identifier: BSD-3-Clause */
/* name.h - compares a name with a word that is part of a longer text. */
#ifndef HUD_BASE_NAME_H
#define HUD_BASE_NAME_H

#include <stdbool.h>
#include <string.h>

/* Returns whether a name is the word of `length` bytes at the beginning of a text.  The word
 * contains no zero byte. */
static inline bool name_is(const char *name, const char *text, size_t length)
{
    return strncmp(name, text, length) == 0 && name[length] == '\0';
}

/* Returns whether a text is NAME or NAME=VALUE. */
static inline bool name_is_before_equals(const char *name, const char *text)
{
    return name_is(name, text, strcspn(text, "="));
}

#endif
