/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_share.c - what a new team knows from other teams and earlier programs, and what later ones
 * will know from this team (core/job/wisdom.h). */
#include "core/call/learn.h"
#include "core/config/log.h"
#include "core/job/wisdom_context.h"

#include <stdlib.h>

static size_t area_bytes(int lines)
{
    return sizeof(struct wisdom_area) + (size_t)lines * sizeof(struct wisdom_line);
}

/* Writes the lines about such teams, or all lines if facts is NULL, into an area of the arena.
 * Returns false if the arena has no room. */
static bool write_area(struct hud_context *c, const struct plan_facts *facts, uint64_t digest,
                       struct reply_known *known)
{
    const char *why;
    int lines = hud_wisdom_select(&c->learn.wisdom, facts, NULL);
    size_t offset =
        lines == 0 ? 0 : hud_arena_reserve(&c->memory.arena, area_bytes(lines), 1, &why);

    *known = (struct reply_known){ .offset = offset, .whole = !facts, .digest = digest };
    if (offset == 0)
        return lines == 0;
    struct wisdom_area *area = (void *)((char *)c->memory.arena.head + offset);
    hud_wisdom_select(&c->learn.wisdom, facts, area->line);
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
    uint64_t digest = hud_wisdom_digest(&c->learn.wisdom, team->id.size);
    bool written =
        (all && write_area(c, NULL, digest, known)) || write_area(c, &facts, digest, known);
    pthread_mutex_unlock(&c->lock);
    return written;
}

void hud_learn_announce(struct hud_team *team, union hello *mine)
{
    struct hud_context *c = team->context;
    struct learn *l = team->hooks.learn;

    if (!l)
        return;
    pthread_mutex_lock(&c->lock);
    free(l->line); /* the copy of an early round */
    l->lines = hud_wisdom_copy(&c->learn.wisdom, team->id.size, NULL);
    l->line = malloc(((size_t)l->lines + 1) * sizeof *l->line);
    if (l->line) {
        hud_wisdom_copy(&c->learn.wisdom, team->id.size, l->line);
        mine->fields.known = hud_wisdom_digest(&c->learn.wisdom, team->id.size);
    }
    pthread_mutex_unlock(&c->lock);
}

/* Returns whether all ranks have announced the same. */
static bool is_alike(const struct hud_team *team, const union hello *hello)
{
    bool alike = hello[0].fields.known != 0;

    for (int r = 1; r < team->id.size; r++)
        alike = alike && hello[r].fields.known == hello[0].fields.known;
    return alike;
}

bool hud_learn_share(struct hud_team *team, const union hello *hello,
                     const struct place_table *places, struct reply_known *known)
{
    if (!team->hooks.learn)
        return true;
    bool has_read = hud_wisdom_load(team->context);
    if (!has_read && is_alike(team, hello)) {
        *known = (struct reply_known){ .alike = true, .digest = hello[0].fields.known };
        return true;
    }
    if (write_lines(team, places, has_read, known))
        return true;
    hud_log(&team->context->config, LOG_INFO,
            "no shared memory for the known choices of such teams");
    return false;
}

void hud_learn_unshare(struct hud_team *team, struct reply_known known)
{
    struct hud_context *c = team->context;

    pthread_mutex_lock(&c->lock);
    if (known.lines != 0)
        hud_arena_cancel(&c->memory.arena, (size_t)known.offset, area_bytes((int)known.lines));
    pthread_mutex_unlock(&c->lock);
}

/* Keeps all lines of the file, for teams with this rank as rank 0. */
static void keep(struct hud_context *c, const struct wisdom_line *line, int lines)
{
    pthread_mutex_lock(&c->lock);
    if (!c->learn.wisdom.file_read)
        hud_wisdom_add_file(&c->learn.wisdom, line, lines);
    c->learn.wisdom.file_read = true;
    pthread_mutex_unlock(&c->lock);
}

/* Leaves the area, which rank 0 leases again when all ranks have left it. */
static void leave(struct hud_team *team, char *area, struct reply_known known)
{
    struct hud_context *c = team->context;
    struct mem mem = team->shm.mem;
    size_t bytes = area_bytes((int)known.lines);

    mem.rank = 0;
    mem.size = 1;
    mem.slices = &area;
    hud_shm_team_leave(&mem, bytes);
    if (team->id.rank != 0)
        return;
    pthread_mutex_lock(&c->lock);
    hud_arena_leave(&c->memory.arena, (size_t)known.offset, bytes, team->id.size);
    pthread_mutex_unlock(&c->lock);
}

/* Makes the start of teams with this plan, in memory allocated before the rounds. */
static struct wisdom_start *make_start(const struct hud_team *team, const struct wisdom_line *line,
                                       int lines, uint64_t digest)
{
    struct learn *l = team->hooks.learn;
    struct wisdom_start *start = l->spare;

    l->spare = NULL;
    start->plan = team->plan.shared;
    start->digest = digest;
    hud_wisdom_tabulate(line, lines, &start->plan->facts, &start->table);
    hud_learn_fill(team, start);
    hud_wisdom_start_add(team->context, start);
    return start;
}

void hud_learn_take(struct hud_team *team, char *arena, struct reply_known known)
{
    struct learn *l = team->hooks.learn;
    char *area = arena + known.offset;
    const struct wisdom_line *line = ((const struct wisdom_area *)(const void *)area)->line;

    if (l) {
        l->start = hud_wisdom_start_find(team->context, team->plan.shared, known.digest);
        if (!l->start && known.alike)
            l->start = make_start(team, l->line, l->lines, known.digest);
        else if (!l->start)
            l->start = make_start(team, line, (int)known.lines, known.digest);
        free(l->line);
        hud_wisdom_start_return(team->context, l->spare);
        l->line = NULL;
        l->spare = NULL;
    }
    if (known.whole && team->id.rank != 0)
        keep(team->context, line, (int)known.lines);
    if (known.lines != 0)
        leave(team, area, known);
}
