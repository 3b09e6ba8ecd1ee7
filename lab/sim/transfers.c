/* SPDX-License-Identifier: BSD-3-Clause */
/* transfers.c - a heap of times with an entry for each crossing in a table. */
#include "lab/sim/transfers.h"
#include "check/grow.h"
#include "lab/sim/time_queue.h"

struct crossing {
    struct sim_line *line;
    int core;
    struct sim_fetch f;
    int next_free; /* next free place, once this one is free; -1 ends the list */
};

struct sim_transfers {
    struct sim_lines *lines;
    struct sim_links *links;
    struct crossing *crossing;
    int places, room, free;
    struct sim_time_queue queue; /* places in `crossing` */
    uint64_t came;
};

struct sim_transfers *hud_transfers_create(struct sim_lines *lines, struct sim_links *links)
{
    struct sim_transfers *all = hud_must(calloc(1, sizeof *all));

    all->lines = lines;
    all->links = links;
    all->free = -1;
    return all;
}

void hud_transfers_free(struct sim_transfers *all)
{
    if (!all)
        return;
    hud_time_queue_free(&all->queue);
    free(all->crossing);
    free(all);
}

static int find_place(struct sim_transfers *all)
{
    int place = all->free;

    if (place >= 0) {
        all->free = all->crossing[place].next_free;
        return place;
    }
    all->crossing = hud_grow(all->crossing, all->places + 1, &all->room, sizeof *all->crossing);
    return all->places++;
}

double hud_transfers_delay(struct sim_links *links, int core, const struct sim_fetch *f,
                           double now_ns)
{
    double way_ns = f->from < 0 ? 0 : hud_links_cross(links, f->from, core, now_ns),
           home_ns = f->agent < 0 ? 0 : hud_links_ask(links, f->agent, now_ns);

    return way_ns < 0 || home_ns < 0 ? -1 : way_ns > home_ns ? way_ns : home_ns;
}

void hud_transfers_add(struct sim_transfers *all, struct sim_line *line, int core,
                       const struct sim_fetch *f, double now_ns)
{
    int place = find_place(all);

    all->crossing[place] = (struct crossing){ .line = line, .core = core, .f = *f };
    hud_time_queue_add(&all->queue,
                       (struct sim_time_entry){ .ns = f->begin_ns > now_ns ? f->begin_ns : now_ns,
                                                .draw = all->came++,
                                                .who = place });
}

void hud_transfers_until(struct sim_transfers *all, double now_ns)
{
    while (all->queue.count != 0 && all->queue.entry[0].ns <= now_ns) {
        struct sim_time_entry next = hud_time_queue_take(&all->queue);
        struct crossing *c = &all->crossing[next.who];
        double begin_ns = hud_lines_begin(all->lines, c->line, c->core, &c->f);
        if (begin_ns > next.ns) { /* an earlier use that it depends on was delayed */
            next.ns = begin_ns;
            hud_time_queue_add(&all->queue, next);
            continue;
        }
        double delay_ns = hud_transfers_delay(all->links, c->core, &c->f, next.ns);
        if (delay_ns > 0)
            hud_lines_delay(all->lines, c->line, c->core, &c->f, delay_ns);
        hud_lines_close(all->lines, c->line, c->core, &c->f);
        c->next_free = all->free;
        all->free = next.who;
    }
}
