/* SPDX-License-Identifier: BSD-3-Clause */
/* first_words.h - the first words of an MPI's version text, for lines of huddle. */
#ifndef HUD_HOST_FIRST_WORDS_H
#define HUD_HOST_FIRST_WORDS_H

#include <stddef.h>
#include <string.h>

enum { FIRST_WORDS = 80 };

/* Copies the words before the first comma or end of a line, with a blank between two words. */
static inline void first_words(const char *text, char words[FIRST_WORDS])
{
    size_t used = 0;

    for (const char *c = text; *c && !strchr("\n,", *c) && used < FIRST_WORDS - 1; c++)
        if (!strchr(" \t", *c) || (used > 0 && words[used - 1] != ' '))
            words[used++] = *c == '\t' ? ' ' : *c;
    words[used] = '\0';
}

#endif
