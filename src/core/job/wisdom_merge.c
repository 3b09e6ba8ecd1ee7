/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom_merge.c - makes the new text of a file of wisdom: this rank's rules, then the lines of the
 * old text that remain. */
#include "core/config/text.h"
#include "core/job/wisdom_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char heading[] =
    "# What huddle has learned about the collectives of this machine and MPI.  Programs with "
    "huddle\n"
    "# read this file when they start, and rewrite it when they end (HUDDLE_WISDOM).  Lines can "
    "be\n"
    "# changed or deleted; comments are lost.  `huddle wisdom` shows it.\n";

/* A line of the new text. */
struct piece {
    const char *text; /* a line of the old text; NULL: rule is written */
    size_t bytes;     /* length, including the newline */
    const struct rule *rule;
    char date[RULE_DATE]; /* "": none */
    bool dropped;
};

/* Returns the last decision that is usable and has the same conditions, or NULL. */
static const struct rule *find(const struct rule *rule, int rules, const struct rule *like)
{
    for (int i = 0; i < rules; i++)
        if (hud_rule_same_calls(&rule[i], like) && rule_is_current(&rule[i]))
            return &rule[i];
    return NULL;
}

/* Returns whether an old decision has the choice of a new one, from as many samples, on the same
 * day.  If several teams of a job learn the same, only the first team then writes. */
static bool is_known(const struct rule *old, const struct rule *rule)
{
    return old && hud_rule_same_choice(old, rule) && strcmp(old->date, rule->date) == 0 &&
           old->samples >= rule->samples;
}

/* Returns the beginning of the line after `text`. */
static const char *next_line(const char *text, const char *end)
{
    const char *newline = memchr(text, '\n', (size_t)(end - text));

    return newline ? newline + 1 : end;
}

/* The rules of the old text, and the new ones. */
struct sides {
    const struct rules *kept;
    const struct rule *rule;
    int rules;
};

/* Returns the last old decision for the same calls with another choice, or NULL. */
static const struct rule *find_other(const struct rules *kept, const struct rule *rule)
{
    for (int i = 0; i < kept->count; i++)
        if (hud_rule_same_calls(&kept->rule[i], rule) && rule_is_current(&kept->rule[i]) &&
            !hud_rule_same_choice(&kept->rule[i], rule))
            return &kept->rule[i];
    return NULL;
}

/* Returns the second of the new rules for the same calls, or NULL. */
static const struct rule *find_second(const struct sides *s, const struct rule *first)
{
    return find(first + 1, s->rules - (int)(first + 1 - s->rule), first);
}

/* Returns whether the file already has what the new rules say about the calls of their first
 * rule. */
static bool all_known(const struct sides *s, const struct rule *first)
{
    const struct rule *second = find_second(s, first), *other = find_other(s->kept, first);

    return is_known(find(s->kept->rule, s->kept->count, first), first) &&
           (!second || hud_rule_same_choice(second, first) ||
            (other && hud_rule_same_choice(other, second)));
}

/* Returns whether an old rule remains.  New rules replace the old rules about their calls.  But a
 * single new rule, of a program for which the machine had a single state, leaves the last old rule
 * with another choice. */
static bool remains(const struct sides *s, const struct rule *old)
{
    const struct rule *new = rule_is_current(old) ? find(s->rule, s->rules, old) : NULL;

    if (!new || all_known(s, new))
        return true;
    return !find_second(s, new) && old == find_other(s->kept, new);
}

static void find_date(const char *line, char date[RULE_DATE])
{
    static const char note[] = " date=";
    const char *at = strstr(line, note);

    if (at && strspn(at + strlen(note), "0123456789-") == RULE_DATE - 1)
        hud_text_copy(date, RULE_DATE, at + strlen(note));
}

/* Returns whether a line may be one of another version: text, but no comment and no line `machine`.
 * Finds its date. */
static bool is_of_another_version(const char *text, size_t bytes, char date[RULE_DATE])
{
    char line[RULE_LINE], first[sizeof "machine"] = "";
    int end = 0;

    if (bytes >= sizeof line || memchr(text, '\0', bytes))
        return false;
    memcpy(line, text, bytes);
    line[bytes] = '\0';
    for (char *c = line; (c = strpbrk(c, "\t\r")) != NULL;)
        *c = ' ';
    if (!hud_text_is_plain(line) || sscanf(line, "%7s%n", first, &end) != 1 || first[0] == '#' ||
        (strcmp(first, "machine") == 0 && (line[end] == ' ' || line[end] == '\0')))
        return false;
    find_date(line, date);
    return true;
}

/* Adds the remaining lines of the old text, either the rules or the other lines. */
static int add_kept(bool rules_only, const char *text, const char *end, const struct sides *s,
                    struct piece *piece)
{
    const struct rules *kept = s->kept;
    const char *next;
    int count = 0, i = 0;

    for (int line = 1; text < end; line++, text = next) {
        next = next_line(text, end);
        struct piece one = { .text = text, .bytes = (size_t)(next - text) + (next[-1] != '\n') };
        bool is_rule = i < kept->count && kept->rule[i].line == line;
        if (is_rule)
            memcpy(one.date, kept->rule[i].date, RULE_DATE);
        if (is_rule == rules_only &&
            (is_rule ? remains(s, &kept->rule[i])
                     : is_of_another_version(text, one.bytes - 1, one.date)))
            piece[count++] = one;
        i += is_rule;
    }
    return count;
}

static int by_date(const void *a, const void *b)
{
    const struct piece *const *one = a, *const *other = b;
    int order = strcmp((*one)->date, (*other)->date);

    return order != 0 ? order : *one < *other ? 1 : -1; /* later lines are older ones */
}

/* Drops the oldest lines until the rest fits.  Returns false if out of memory. */
static bool drop_oldest(struct piece *piece, int count, size_t bytes)
{
    const struct piece **order = malloc(((size_t)count + 1) * sizeof *order);

    if (!order)
        return false;
    for (int i = 0; i < count; i++)
        order[i] = &piece[i];
    qsort(order, (size_t)count, sizeof *order, by_date);
    for (int i = 0; i < count && bytes > WISDOM_MAX; i++) {
        piece[order[i] - piece].dropped = true;
        bytes -= order[i]->bytes;
    }
    free(order);
    return true;
}

static size_t put_pieces(const struct piece *piece, int count, char *to, size_t used)
{
    for (int i = 0; i < count; i++) {
        if (piece[i].dropped)
            continue;
        if (piece[i].text)
            memcpy(to + used, piece[i].text, piece[i].bytes - 1);
        else
            hud_rule_write(piece[i].rule, to + used, piece[i].bytes);
        used += piece[i].bytes;
        to[used - 1] = '\n';
    }
    return used;
}

static ssize_t put_all(const char *machine, struct piece *piece, int count, char *to)
{
    size_t used = strlen(heading) + strlen(machine) + 1, total = used;

    for (int i = 0; i < count; i++)
        total += piece[i].bytes;
    if (total > WISDOM_MAX && !drop_oldest(piece, count, total))
        return -1;
    memcpy(to, heading, strlen(heading));
    memcpy(to + strlen(heading), machine, strlen(machine));
    to[used - 1] = '\n';
    return (ssize_t)put_pieces(piece, count, to, used);
}

static size_t count_lines(const char *text, const char *end)
{
    size_t lines = 0;

    for (; text < end; text = next_line(text, end))
        lines++;
    return lines;
}

/* Returns the new rule, or the old rule with the same calls and choice if the new rule has no
 * samples: the winner that an earlier program has found. */
static const struct rule *find_measured(const struct sides *s, const struct rule *rule)
{
    const struct rule *found = rule;

    for (int i = 0; i < s->kept->count && found->samples == 0; i++) {
        const struct rule *old = &s->kept->rule[i];
        if (hud_rule_same_calls(old, rule) && rule_is_current(old) &&
            hud_rule_same_choice(old, rule))
            found = old;
    }
    return found;
}

ssize_t hud_wisdom_merge(const char *machine, const char *old, size_t old_bytes,
                         const struct rules *kept, const struct rule *rule, int rules, char *to)
{
    const struct sides sides = { kept, rule, rules };
    const char *end = old + old_bytes;
    struct piece *piece = malloc(((size_t)rules + count_lines(old, end)) * sizeof *piece);
    char line[RULE_LINE];
    int count = 0;

    for (int i = 0; piece && i < rules; i++) {
        const struct rule *written = find_measured(&sides, &rule[i]);
        if (all_known(&sides, find(rule, rules, &rule[i])) ||
            !hud_rule_write(written, line, sizeof line))
            continue;
        piece[count] = (struct piece){ .bytes = strlen(line) + 1, .rule = written };
        memcpy(piece[count++].date, written->date, RULE_DATE);
    }
    bool changes = count > 0;
    if (changes) {
        count += add_kept(true, old, end, &sides, piece + count);
        /* these last, since hud_rules_read_some ends after some that it does not understand */
        count += add_kept(false, old, end, &sides, piece + count);
    }
    ssize_t bytes = !piece ? -1 : changes ? put_all(machine, piece, count, to) : 0;
    free(piece);
    return bytes;
}
