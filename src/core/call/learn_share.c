/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_share.c - what a new team knows from other teams and earlier programs, and what later ones
 * will know from this team (core/job/wisdom.h). */
#include "core/call/learn.h"
#include "core/config/log.h"
#include "core/job/wisdom_file.h"

#include <stdlib.h>

/* Writes the lines about such teams, or all lines if facts is NULL, into an area of the arena.
 * Returns false if the arena has no room. */
static bool write_area(struct hud_context *c, const struct plan_facts *facts,
                       struct reply_known *known)
{
    const char *why;
    int lines = hud_wisdom_select(&c->wisdom, facts, NULL);
    size_t bytes = sizeof(struct wisdom_area) + (size_t)lines * sizeof(struct wisdom_line),
           offset = lines == 0 ? 0 : hud_arena_reserve(&c->arena, bytes, 1, &why);

    *known = (struct reply_known){ .offset = offset, .whole = !facts };
    if (offset == 0)
        return lines == 0;
    struct wisdom_area *area = (void *)((char *)c->arena.head + offset);
    hud_wisdom_select(&c->wisdom, facts, area->line);
    known->lines = (uint32_t)lines;
    return true;
}

/* Writes all lines if `all` is set and there is room, else those about such teams.  Returns false
 * if the arena has no room. */
static bool write_lines(struct hud_team *team, const struct place_table *places, bool all,
                        struct reply_known *known)
{
    struct hud_context *c = team->context;
    struct plan_facts facts = { .ranks = team->id.size,
                                .oversubscribed = places->oversubscribed != 0 };

    hud_plan_locate(places, &facts);
    pthread_mutex_lock(&c->lock);
    bool written = (all && write_area(c, NULL, known)) || write_area(c, &facts, known);
    pthread_mutex_unlock(&c->lock);
    return written;
}

bool hud_learn_share(struct hud_team *team, const struct place_table *places,
                     struct reply_known *known)
{
    if (!team->hooks.learn)
        return true;
    bool has_read = hud_wisdom_load(team->context);
    if (write_lines(team, places, has_read, known))
        return true;
    hud_log(&team->context->config, LOG_INFO, "no lease for what is known about such teams");
    return false;
}

void hud_learn_unshare(struct hud_team *team, struct reply_known known)
{
    struct hud_context *c = team->context;

    pthread_mutex_lock(&c->lock);
    if (known.lines != 0)
        hud_arena_release(&c->arena, (size_t)known.offset);
    pthread_mutex_unlock(&c->lock);
}

/* Keeps all lines of the file, for teams with this rank as rank 0. */
static void keep(struct hud_context *c, const struct wisdom_line *line, int lines)
{
    pthread_mutex_lock(&c->lock);
    if (!c->wisdom.asked)
        hud_wisdom_add_file(&c->wisdom, line, lines);
    c->wisdom.asked = true;
    pthread_mutex_unlock(&c->lock);
}

/* Leaves the area, which rank 0 leases again when all ranks have left it. */
static void leave(struct hud_team *team, char *area, struct reply_known known)
{
    struct hud_context *c = team->context;
    struct mem mem = team->shm.mem;

    mem.rank = 0;
    mem.size = 1;
    mem.slices = &area;
    hud_shm_team_leave(&mem);
    if (team->id.rank != 0)
        return;
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->arena, (size_t)known.offset, team->id.size);
    pthread_mutex_unlock(&c->lock);
}

void hud_learn_take(struct hud_team *team, char *arena, struct reply_known known)
{
    struct learn *l = team->hooks.learn;
    char *area = arena + known.offset;
    const struct wisdom_line *line = ((const struct wisdom_area *)(const void *)area)->line;

    if (l && known.lines != 0) {
        hud_wisdom_tabulate(line, (int)known.lines, &team->plan.shared->facts, &l->table);
        l->known = &l->table;
    }
    if (known.whole && team->id.rank != 0)
        keep(team->context, line, (int)known.lines);
    if (known.lines != 0)
        leave(team, area, known);
}
