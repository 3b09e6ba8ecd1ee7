/* SPDX-License-Identifier: BSD-3-Clause */
/* crossings.c - a heap of times, one for each crossing in a table. */
#include "sim/crossings.h"
#include "sim/grow.h"
#include "sim/turns.h"

struct crossing {
    struct sim_line *line;
    int core;
    struct sim_fetch f;
    int next_free; /* of its place, when it is done; -1: the last */
};

struct sim_crossings {
    struct sim_lines *lines;
    struct sim_links *links;
    struct crossing *crossing;
    int places, room, free;
    struct sim_turns turns; /* whose rank is a place */
    uint64_t came;
};

struct sim_crossings *hud_crossings_create(struct sim_lines *lines, struct sim_links *links)
{
    struct sim_crossings *all = hud_must(calloc(1, sizeof *all));

    all->lines = lines;
    all->links = links;
    all->free = -1;
    return all;
}

void hud_crossings_free(struct sim_crossings *all)
{
    if (!all)
        return;
    hud_turns_free(&all->turns);
    free(all->crossing);
    free(all);
}

static int find_place(struct sim_crossings *all)
{
    int place = all->free;

    if (place >= 0) {
        all->free = all->crossing[place].next_free;
        return place;
    }
    all->crossing = hud_grow(all->crossing, all->places + 1, &all->room, sizeof *all->crossing);
    return all->places++;
}

void hud_crossings_add(struct sim_crossings *all, struct sim_line *line, int core,
                       const struct sim_fetch *f, double now_ns)
{
    int place = find_place(all);

    all->crossing[place] = (struct crossing){ .line = line, .core = core, .f = *f };
    hud_turns_add(&all->turns, (struct sim_turn){ .ns = f->begin_ns > now_ns ? f->begin_ns : now_ns,
                                                  .draw = all->came++,
                                                  .rank = place });
}

void hud_crossings_until(struct sim_crossings *all, double now_ns)
{
    while (all->turns.count != 0 && all->turns.turn[0].ns <= now_ns) {
        struct sim_turn turn = hud_turns_take(&all->turns);
        struct crossing *c = &all->crossing[turn.rank];
        double begin_ns = hud_lines_begin(all->lines, c->line, c->core, &c->f);
        if (begin_ns > turn.ns) { /* what it comes behind has come later */
            turn.ns = begin_ns;
            hud_turns_add(&all->turns, turn);
            continue;
        }
        double delay_ns =
            c->f.from < 0 ? 0 : hud_links_cross(all->links, c->f.from, c->core, turn.ns);
        if (delay_ns > 0)
            hud_lines_delay(all->lines, c->line, c->core, &c->f, delay_ns);
        c->next_free = all->free;
        all->free = turn.rank;
    }
}
