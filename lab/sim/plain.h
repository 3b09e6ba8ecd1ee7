/* SPDX-License-Identifier: BSD-3-Clause */
/* plain.h - makes the lines of messages plain.  A request may contain any text, but each message is
 * a single line without escape sequences or parts of characters. */
#ifndef HUD_SIM_PLAIN_H
#define HUD_SIM_PLAIN_H

static inline void plain_make(char *text)
{
    /* Where char is signed, bytes of UTF-8 are below the range, otherwise above. */
    for (; *text; text++)
        if (*text < ' ' || *text > '~')
            *text = '?';
}

#endif
