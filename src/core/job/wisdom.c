/* SPDX-License-Identifier: BSD-3-Clause */
/* wisdom.c - see wisdom.h. */
#include "core/job/wisdom.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint32_t short_ns(uint64_t ns)
{
    return ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
}

/* Sets the classes whose largest sizes a rule covers.  Returns false if there are none. */
static bool set_classes(const struct rule *rule, struct wisdom_line *line)
{
    int class = 0;

    while (class < PLAN_CLASSES && plan_class_bytes(class) < rule->min_bytes)
        class ++;
    line->first_class = (uint8_t) class;
    while (class < PLAN_CLASSES && plan_class_bytes(class) <= rule->max_bytes)
        class ++;
    line->last_class = (uint8_t)(class - 1);
    return class > line->first_class;
}

bool hud_wisdom_line(const struct config *config, const struct rule *rule, struct wisdom_line *line)
{
    const int all = (1 << PLAN_AXES / COLL_KINDS) - 1;
    long param[ALG_PARAMS] = { 0 };

    if (rule->direct >= 0 || rule->quick >= 0 || rule->than >= 0 || !rule_is_current(rule))
        return false;
    for (int p = 0; p < ALG_PARAMS && rule->nodes != 0; p++)
        param[p] = rule->given[p] ? rule->param[p] : -1; /* -1: the network determines it */
    if (rule->row >= 0 && rule->nodes == 0)
        hud_plan_params(config, rule, rule->row, param);
    *line = (struct wisdom_line){ .name = hud_wisdom_name(rule->row, param),
                                  .ns = short_ns(rule->ns),
                                  .min_ranks = (int32_t)rule->min_ranks,
                                  .max_ranks = (int32_t)rule->max_ranks,
                                  .nodes = rule->nodes,
                                  .oversubscribed = (int8_t)rule->oversubscribed,
                                  .divided = (int8_t)rule->divided,
                                  .kind = (uint8_t)rule->kind,
                                  .axes = (uint8_t)(rule->reduction >= 0 ? 1 << rule->reduction
                                                                         : all) };
    memcpy(line->within, rule->within, TOPO_NAME);
    return set_classes(rule, line);
}

/* Returns whether two lines are about the same cells. */
static bool same_cells(const struct wisdom_line *a, const struct wisdom_line *b)
{
    return a->kind == b->kind && a->axes == b->axes && a->first_class == b->first_class &&
           a->last_class == b->last_class && a->min_ranks == b->min_ranks &&
           a->max_ranks == b->max_ranks && a->nodes == b->nodes &&
           a->oversubscribed == b->oversubscribed && a->divided == b->divided &&
           strncmp(a->within, b->within, TOPO_NAME) == 0;
}

/* Makes room for more elements in an array that grows by doubling.  Returns the array, or NULL. */
static void *grow(void *array, size_t element_bytes, int count, int more, int *room)
{
    int wanted = *room == 0 ? 16 : *room;

    while (wanted < count + more)
        wanted *= 2;
    void *grown = wanted > *room ? realloc(array, (size_t)wanted * element_bytes) : array;
    *room = grown ? wanted : *room;
    return grown;
}

static bool has_room(struct wisdom *w, int more)
{
    struct wisdom_line *line = grow(w->line, sizeof *line, w->lines, more, &w->room);

    w->digest_ranks = 0; /* the caller changes the lines */
    w->line = line ? line : w->line;
    return line != NULL;
}

/* Drops the decisions for the file that serve the same calls. */
static void drop_own(struct wisdom *w, const struct rule *rule)
{
    int left = 0;

    for (int i = 0; i < w->owns; i++)
        if (!hud_rule_same_calls(&w->own[i], rule))
            w->own[left++] = w->own[i];
    w->owns = left;
}

/* Keeps a decision for the file. */
static void keep_own(struct wisdom *w, const struct rule *rule)
{
    struct rule *own =
        w->owns < WISDOM_OWN ? grow(w->own, sizeof *own, w->owns, 1, &w->own_room) : NULL;

    if (!own)
        return;
    w->own = own;
    w->own[w->owns++] = *rule;
}

struct rule hud_wisdom_rule(const struct plan_facts *facts, int at)
{
    int axis = at / PLAN_CLASSES, class = at % PLAN_CLASSES, kind = axis % COLL_KINDS;
    struct rule rule = { .kind = kind,
                         .than = -1,
                         .oversubscribed = facts->oversubscribed,
                         .direct = -1,
                         .quick = -1,
                         .divided = facts->nodes != 0 ? -1 : facts->divided,
                         .reduction = coll_has(kind, COLL_REDUCES) ? axis / COLL_KINDS : -1,
                         .nodes = facts->nodes,
                         .min_ranks = facts->ranks,
                         .max_ranks = facts->ranks,
                         .max_bytes = SIZE_MAX };

    if (!coll_has(kind, COLL_UNSIZED)) {
        rule.min_bytes = class > 0 ? plan_class_bytes(class - 1) + 1 : 0;
        rule.max_bytes = plan_class_bytes(class);
    }
    if (facts->nodes == 0)
        memcpy(rule.within, facts->within, TOPO_NAME);
    time_t now = time(NULL);
    struct tm day;
    if (gmtime_r(&now, &day))
        strftime(rule.date, sizeof rule.date, "%Y-%m-%d", &day);
    return rule;
}

/* Drops this program's lines about a cell.  Puts the last line with another choice behind the lines
 * that are left, and returns its index, or -1 if there is none. */
static int drop_lines(struct wisdom *w, const struct wisdom_line *line)
{
    struct wisdom_line other = { .name = 0 };
    int left = w->from_file;

    for (int i = w->from_file; i < w->lines; i++)
        if (!same_cells(&w->line[i], line))
            w->line[left++] = w->line[i];
        else if (w->line[i].name != line->name)
            other = w->line[i];
    w->lines = left;
    if (other.name == 0)
        return -1;
    w->line[left] = other;
    return left;
}

/* Returns the last decision of another team about the same calls, with another choice. */
static struct rule find_own(const struct wisdom *w, const struct rule *rule)
{
    struct rule found = { .kind = -1 };

    for (int i = 0; i < w->owns && found.kind < 0; i++)
        if (hud_rule_same_calls(&w->own[i], rule) && !hud_rule_same_choice(&w->own[i], rule))
            found = w->own[i];
    return found;
}

void hud_wisdom_store(struct wisdom *w, const struct config *config, const struct rule *rule,
                      const struct rule *before, bool writes)
{
    struct wisdom_line line, other;
    bool two = before && hud_wisdom_line(config, before, &other);

    if (!hud_wisdom_line(config, rule, &line) || !has_room(w, 2))
        return;
    if (writes) {
        struct rule own = find_own(w, rule);
        if (two && (own.kind < 0 || !hud_rule_same_choice(&own, before)))
            own = *before; /* winner of an earlier program; the file has the samples */
        own.ns = two ? before->ns : own.ns;
        drop_own(w, rule);
        keep_own(w, rule);
        if (own.kind >= 0)
            keep_own(w, &own);
    }
    int dropped = drop_lines(w, &line);
    if (two)
        w->line[w->lines] = other;
    w->lines += two || dropped >= 0;
    w->line[w->lines++] = line;
}

void hud_wisdom_store_open(struct wisdom *w, const struct config *config, const struct rule *rule,
                           int64_t balance_ns)
{
    struct wisdom_line line;

    if (!hud_wisdom_line(config, rule, &line) || !has_room(w, 2))
        return;
    line.open = true;
    line.balance_ns = balance_ns;
    w->lines += drop_lines(w, &line) >= 0;
    w->line[w->lines++] = line;
}

void hud_wisdom_add_file(struct wisdom *w, const struct wisdom_line *line, int lines)
{
    if (lines == 0 || !has_room(w, lines))
        return;
    memmove(w->line + lines, w->line, (size_t)w->lines * sizeof *line);
    memcpy(w->line, line, (size_t)lines * sizeof *line);
    for (int i = 0; i < lines; i++) {
        w->line[i].within[TOPO_NAME - 1] = '\0'; /* lines from another rank may lack the end */
        w->line[i].unchecked = true;
    }
    w->lines += lines;
    w->from_file += lines;
}

static bool concerns(const struct wisdom_line *line, int ranks)
{
    return line->nodes == 0 && ranks >= line->min_ranks && ranks <= line->max_ranks;
}

static uint64_t hash_line(uint64_t h, const struct wisdom_line *line)
{
    h = hash_number(h, (uint64_t)line->name << 32 | line->ns);
    h = hash_number(h, (uint64_t)line->balance_ns);
    h = hash_number(h, (uint64_t)(uint8_t)line->oversubscribed << 24 |
                           (uint64_t)(uint8_t)line->divided << 16 | (uint64_t)line->kind << 8 |
                           line->axes);
    h = hash_number(h, (uint64_t)line->first_class << 24 | (uint64_t)line->last_class << 16 |
                           (uint64_t)line->unchecked << 8 | line->open);
    return hash_text(h, line->within);
}

uint64_t hud_wisdom_digest(struct wisdom *w, int ranks)
{
    uint64_t h = HASH_START;

    for (int i = 0; i < w->lines && w->digest_ranks != ranks; i++)
        h = concerns(&w->line[i], ranks) ? hash_line(h, &w->line[i]) : h;
    w->digest = w->digest_ranks != ranks ? h | 1 : w->digest;
    w->digest_ranks = ranks;
    return w->digest;
}

int hud_wisdom_copy(const struct wisdom *w, int ranks, struct wisdom_line *to)
{
    int count = 0;

    for (int i = 0; i < w->lines; i++)
        if (concerns(&w->line[i], ranks)) {
            if (to)
                to[count] = w->line[i];
            count++;
        }
    return count;
}

static bool is_about(const struct wisdom_line *line, const struct plan_facts *facts)
{
    return facts->nodes == line->nodes && facts->ranks >= line->min_ranks &&
           facts->ranks <= line->max_ranks &&
           (line->oversubscribed < 0 || line->oversubscribed == facts->oversubscribed) &&
           (line->divided < 0 || line->divided == facts->divided) &&
           hud_plan_is_within(line->within, facts);
}

int hud_wisdom_select(const struct wisdom *w, const struct plan_facts *facts,
                      struct wisdom_line *to)
{
    int count = 0;

    for (int i = 0; i < w->lines; i++) {
        if (facts && !is_about(&w->line[i], facts))
            continue;
        if (to)
            to[count] = w->line[i];
        count++;
    }
    return count;
}

static void tabulate(const struct wisdom_line *line, struct wisdom_table *table)
{
    for (int axis = 0; axis < PLAN_AXES / COLL_KINDS; axis++)
        for (int class = line->first_class; (line->axes >> axis & 1) && class <= line->last_class;
             class ++) {
            struct wisdom_known *known =
                &table->known[(axis * COLL_KINDS + line->kind) * PLAN_CLASSES + class];
            known->before_name = known->name;
            known->before_ns = known->ns;
            known->name = line->name;
            known->ns = line->ns;
            known->open = line->open != 0;
            known->unchecked = line->unchecked != 0;
            known->balance_ns = line->balance_ns;
        }
}

void hud_wisdom_tabulate(const struct wisdom_line *line, int lines, const struct plan_facts *facts,
                         struct wisdom_table *table)
{
    memset(table, 0, sizeof *table);
    for (int i = 0; i < lines; i++) {
        struct wisdom_line one = line[i]; /* a copy: shared memory is read once */
        one.within[TOPO_NAME - 1] = '\0';
        if (one.kind < COLL_KINDS && one.last_class < PLAN_CLASSES && is_about(&one, facts))
            tabulate(&one, table);
    }
}

void hud_wisdom_free(struct wisdom *w)
{
    free(w->line);
    free(w->own);
    free(w->path);
    *w = (struct wisdom){ .line = NULL };
}
