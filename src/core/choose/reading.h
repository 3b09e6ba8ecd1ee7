/* SPDX-License-Identifier: BSD-3-Clause */
/* reading.h - a table of choices that is being read, for rules.c and rule_lines.c. */
#ifndef HUD_READING_H
#define HUD_READING_H

#include "core/choose/rules.h"

struct reader {
    struct rules *rules;
    struct rule *rule; /* of rules; room for so many */
    int room;
    bool machine, bare; /* within [machine]; in a rule that has no algorithm yet */
    int network;        /* line of [network], while it is read */
    char cpu[SET_TEXT]; /* of this machine, once it was asked for */
    char *error;
    size_t error_bytes;
};

static inline struct rule *reading_last(struct reader *r)
{
    return &r->rule[r->rules->count - 1];
}

/* Writes the error, "FILE:LINE: what is wrong".  Returns -1. */
int hud_reading_complain(struct reader *r, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* A line of the last rule.  0, or -1 after a complaint. */
int hud_reading_take(struct reader *r, const char *key, const char *value, int line);

#endif
