/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_count.c - counts a team's calls by where their choice is from (see Counts in learn.h). */
#include "core/call/learn.h"

static void count(struct hud_team *team, enum learn_source source, int calls)
{
    struct stats *stats = context_stats(team->context);

    if (source != LEARN_FIRST)
        mem_count(source == LEARN_KNOWN ? &stats->known : &stats->learned, (uint64_t)calls,
                  team->context->host.threads != 0);
}

void hud_learn_count_fast(struct hud_team *team, int fast_calls)
{
    struct learn *l = team->hooks.learn;

    if (l->fast_calls > fast_calls) {
        l->uncounted += l->fast_calls - fast_calls;
        l->calls += (uint64_t)(l->fast_calls - fast_calls);
    }
}

void hud_learn_count_as(struct hud_team *team, enum learn_source source)
{
    struct learn *l = team->hooks.learn;

    count(team, source, l->uncounted);
    l->uncounted = 0;
    l->source = source;
}

void hud_learn_count_slow(struct hud_team *team, enum learn_source source, bool trial,
                          const struct plan_entry *entry)
{
    struct stats *stats = context_stats(team->context);

    if (entry->slot < 0) /* counted by its reason */
        return;
    if (trial)
        mem_count(&stats->tried, 1, team->context->host.threads != 0);
    else
        count(team, source, 1);
}

void hud_learn_count_unmeasured(struct hud_team *team, int at, const struct learn_cell *cell,
                                const struct plan_entry *entry)
{
    const struct wisdom_start *start = team->hooks.learn->start;
    bool known = start->known[at] >= 0 && !start->table.known[at].open;

    hud_learn_count_as(team, cell ? cell->source : known ? LEARN_KNOWN : LEARN_FIRST);
    hud_learn_count_slow(team, team->hooks.learn->source, false, entry);
}
