/* SPDX-License-Identifier: BSD-3-Clause */
/* rule_words.c - the words of a line of a table of choices, and messages about that line. */
#include "core/config/text.h"
#include "core/plan/rules_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Keeps the end of a long path, so that the line has room for the message.  Makes the message
 * plain, whatever the file holds. */
int hud_rules_reader_complain(struct reader *r, const char *format, ...)
{
    enum { SHOWN = 80 };
    va_list args;
    size_t length = strlen(r->rules->file), cut = length > SHOWN ? length - SHOWN : 0;
    int used = snprintf(r->error, r->error_bytes, "%s%s:%d: ", cut != 0 ? "..." : "",
                        r->rules->file + cut, r->line);

    va_start(args, format);
    if (used > 0 && (size_t)used < r->error_bytes)
        vsnprintf(r->error + used, r->error_bytes - (size_t)used, format, args);
    va_end(args);
    hud_text_make_plain(r->error);
    return -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Returns the end of a word: a blank, a comment, the end of the line, or a character `also`.
 * strcspn would prepare a table of characters at each call, and a file has thousands of words. */
static char *end_of(char *c, char also)
{
    while (*c != '\0' && *c != '#' && *c != also && !is_blank(*c))
        c++;
    return c;
}

int hud_rules_reader_word(struct reader *r, struct word *word)
{
    char *c = r->at, *end;
    bool quoted;

    while (is_blank(*c))
        c++;

    if (*c == '\0' || *c == '#')
        return 0;
    *word = (struct word){ .name = c };
    end = end_of(c, '=');
    if (*end == '=') {
        *end++ = '\0';
        quoted = *end == '"';
        word->value = end += quoted;
        end = !quoted ? end_of(end, '#') : strchr(end, '"') ? strchr(end, '"') : end + strlen(end);
        if (quoted && *end != '"')
            return hud_rules_reader_complain(
                r, "%.60s=\"%.60s: the text has no end (accepted: %.60s=\"TEXT\")", word->name,
                word->value, word->name);
        if (quoted)
            *end++ = '\0';
    }
    if (*end != '\0' && *end != '#' && !is_blank(*end))
        return hud_rules_reader_complain(
            r, "%.60s: no space before the next word (accepted: words with spaces between them)",
            end);
    r->at = end + (*end != '\0');
    if (*end == '#')
        r->at = end + strlen(end); /* only a comment follows */
    *end = '\0';
    return 1;
}
