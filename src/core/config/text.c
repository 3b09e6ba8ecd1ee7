/* SPDX-License-Identifier: BSD-3-Clause */
/* text.c - see text.h.  Which sequences are valid: Unicode, table 3-7. */
#include "core/config/text.h"

#include <string.h>

/* Sequences by their first byte, and what the second may be; all further bytes are 80 to BF. */
static const struct sequence {
    unsigned char first, last, bytes, min, max;
} sequences[] = {
    { 0x20, 0x7e, 1, 0, 0 },       { 0xc2, 0xc2, 2, 0xa0, 0xbf }, /* 80 to 9F are control characters
                                                                     as well */
    { 0xc3, 0xdf, 2, 0x80, 0xbf }, { 0xe0, 0xe0, 3, 0xa0, 0xbf }, { 0xe1, 0xec, 3, 0x80, 0xbf },
    { 0xed, 0xed, 3, 0x80, 0x9f }, { 0xee, 0xef, 3, 0x80, 0xbf }, { 0xf0, 0xf0, 4, 0x90, 0xbf },
    { 0xf1, 0xf3, 4, 0x80, 0xbf }, { 0xf4, 0xf4, 4, 0x80, 0x8f },
};

/* Returns the bytes of the plain character at text, or 0 if there is none. */
static size_t plain_bytes(const unsigned char *text)
{
    const struct sequence *s = sequences, *end = sequences + sizeof sequences / sizeof *sequences;

    while (s < end && (text[0] < s->first || text[0] > s->last))
        s++;
    if (s == end || (s->bytes > 1 && (text[1] < s->min || text[1] > s->max)))
        return 0;
    for (size_t i = 2; i < s->bytes; i++)
        if (text[i] < 0x80 || text[i] > 0xbf)
            return 0;
    return s->bytes;
}

size_t hud_text_copy(char *to, size_t room_bytes, const char *text)
{
    size_t bytes = strnlen(text, room_bytes - 1);

    memcpy(to, text, bytes);
    to[bytes] = '\0';
    return bytes;
}

bool hud_text_is_plain(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    size_t bytes = 1;

    while (*at && bytes != 0) {
        bytes = plain_bytes(at);
        at += bytes;
    }
    return bytes != 0;
}

void hud_text_make_plain(char *text)
{
    for (char *at = text; *at;) {
        size_t bytes = plain_bytes((const unsigned char *)at);
        if (bytes == 0)
            *at = '?';
        at += bytes != 0 ? bytes : 1;
    }
}
