/* SPDX-License-Identifier: BSD-3-Clause */
/* span_known.c - what the ranks of a span know about such spans, before the span measures
 * (span_learn.h). */
#include "base/clock.h"
#include "base/hash.h"
#include "core/job/wisdom_context.h"
#include "core/span/span_learn.h"

#include <stdlib.h>

/* Fills a table with what this rank knows about spans of such a shape.  The lock is held. */
static bool tabulate(struct hud_context *c, const struct plan_facts *facts,
                     struct span_table *table)
{
    int lines = hud_wisdom_select(&c->learn.wisdom, facts, NULL), count = 0;
    struct wisdom_line *line = malloc(((size_t)lines + 1) * sizeof *line);
    struct wisdom_table *all = malloc(sizeof *all);
    bool allocated = line && all;

    if (allocated) {
        hud_wisdom_select(&c->learn.wisdom, facts, line);
        hud_wisdom_tabulate(line, lines, facts, all);
    }
    for (int at = 0; allocated && at < PLAN_CELLS && count < SPAN_KNOWN; at++)
        if (all->known[at].name != 0)
            table->known[count++] = (struct span_known){ (uint32_t)at, all->known[at] };
    free(line);
    free(all);
    return allocated;
}

const struct span_known *hud_span_find_known(const struct span_learn *l, int at)
{
    const struct span_known *known = l->table[l->facts.oversubscribed].known;
    int i = 0;

    while (i < SPAN_KNOWN && known[i].choice.name != 0 && known[i].at != (uint32_t)at)
        i++;
    return i < SPAN_KNOWN && known[i].choice.name != 0 ? &known[i] : NULL;
}

/* Looks up what this rank knows.  Returns false if out of memory. */
static bool look_up(struct hud_context *c, struct span_learn *l)
{
    bool allocated = true;

    pthread_mutex_lock(&c->lock);
    for (int over = 0; over < 2; over++) {
        l->facts.oversubscribed = over != 0;
        allocated = allocated && tabulate(c, &l->facts, &l->table[over]);
    }
    pthread_mutex_unlock(&c->lock);
    return allocated;
}

bool hud_span_learn_create(struct span *span)
{
    struct hud_context *c = span->whole->context;

    if (c->config.number[SET_WISDOM] == WISDOM_OFF)
        return true;
    struct span_learn *l = span->learn = calloc(1, sizeof *l);
    if (!l || hud_op_find(HUD_MAX, HUD_UINT64, &l->max) != HUD_OK)
        return false;
    l->clock_ns = clock_ns;
    l->facts = (struct plan_facts){ .ranks = span->map.ranks,
                                    .nodes = span->map.nodes,
                                    .within = "machine" };
    if (span->whole->id.rank == 0)
        hud_wisdom_load(c);
    return look_up(c, l);
}

uint32_t hud_span_learn_hash(const struct span *span)
{
    const struct span_learn *l = span->learn;
    uint64_t h = HASH_START;

    for (int over = 0; l && over < 2; over++)
        for (int i = 0; i < SPAN_KNOWN; i++) {
            const struct span_known *known = &l->table[over].known[i];
            h = hash_number(hash_number(h, known->at),
                            (uint64_t)known->choice.name << 32 | known->choice.ns);
            h = hash_number(h, (uint64_t)known->choice.before_name << 32 | known->choice.before_ns);
            h = hash_number(h, known->choice.unchecked);
        }
    return l ? (uint32_t)(h >> 32) | 1 : 0;
}

void hud_span_learn_start(struct span *span, const struct reply *reply)
{
    struct span_learn *l = span->learn;

    if (!l)
        return;
    span_set_distance(l);
    l->facts.oversubscribed = span->oversubscribed;
    for (int r = 0; r < span->map.ranks; r++)
        l->shares = l->shares || reply[r].span_known != reply[0].span_known;
}
