/* SPDX-License-Identifier: BSD-3-Clause */
/* rules_reader.h - the state of reading a table of choices, shared by rules.c and the files that
 * read its lines: rule_line.c, rule_keys.c, rule_words.c. */
#ifndef HUD_RULES_READER_H
#define HUD_RULES_READER_H

#include "core/plan/rules.h"

struct reader {
    struct rules *rules;
    struct rule *rule;    /* the rules read so far, which belong to `rules` */
    int room;             /* number of rules for which `rule` has memory */
    int line;             /* number of the current line */
    char text[RULE_LINE]; /* the current line, with a zero after each word taken */
    char *at;             /* position in `text` where the next word may begin */
    const char *than;     /* value of cheaper_than, in `text`, or NULL */
    unsigned seen;        /* bits of the keys that the line has, by their index in rule_keys.c */
    bool out_of_memory;
    bool unknown; /* the line has a name that another version may know, such as an algorithm's */
    char *error;
    size_t error_bytes;
};

/* A word of a line: NAME, NAME=VALUE or NAME="VALUE WITH SPACES". */
struct word {
    const char *name, *value; /* value: NULL if there is no '=' */
};

/* The parts of a line.  Conditions and notes have keys; the algorithm has parameters. */
enum reader_part { CONDITIONS, PARAMS, NOTES };

static inline struct rule *reading_last(struct reader *r)
{
    return &r->rule[r->rules->count - 1];
}

/* Writes the error, "FILE:LINE: what is wrong".  Returns -1. */
int hud_rules_reader_complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Takes the next word.  Returns 1, or 0 at the end of the line, or -1 after a complaint. */
int hud_rules_reader_word(struct reader *r, struct word *word);

/* Takes the rest of a line that began with a collective's name.  Returns 0, or -1 after a
 * complaint. */
int hud_rules_reader_rule(struct reader *r, int kind);

/* Takes a condition or a note of the last rule.  Returns 0, or -1 after a complaint. */
int hud_rules_reader_key(struct reader *r, enum reader_part part, const struct word *word);

/* Returns the row of an algorithm of the last rule's collective, or -1.  with_cost: finds only
 * algorithms that the time model knows. */
int hud_rules_reader_row(struct reader *r, const char *name, bool with_cost);

/* Appends the names that hud_rules_reader_row accepts to a list. */
void hud_rules_reader_rows(struct reader *r, bool with_cost, char names[SET_TEXT]);

/* Appends a name to a list. */
void hud_rules_reader_list(char names[SET_TEXT], const char *name);

#endif
