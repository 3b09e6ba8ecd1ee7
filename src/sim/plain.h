/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h - lines about a request, which may contain any text: each is one line, without escape
 * sequences, and no character is cut in two. */
#ifndef HUD_SIM_PLAIN_H
#define HUD_SIM_PLAIN_H

static inline void plain_make(char *text)
{
    for (; *text; text++)
        if (*text < ' ' ||
            *text > '~') /* bytes of UTF-8 are below, where char is signed, or above */
            *text = '?';
}

#endif
