/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_parts.c - the life of a clock and of its parts, a node each. */
#include "sim/carry.h"
#include "sim/grow.h"

struct sim_clock *hud_clock_create(struct sim *s, const struct sim_machine *machine)
{
    struct sim_clock *c = hud_must(calloc(1, sizeof *c));
    size_t ranks = (size_t)sim_ranks(s),
           lines = s->options.arena_bytes / (size_t)machine->lines.size_bytes + 1;

    c->machine = machine;
    c->parts = s->options.nodes > 1 ? s->options.nodes : 1;
    c->part = hud_must(calloc((size_t)c->parts, sizeof *c->part));
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        p->lines = hud_lines_create(machine);
        p->links = hud_links_create(machine);
        p->crossings = hud_crossings_create(p->lines, p->links);
    }
    if (c->parts > 1)
        c->ports = hud_ports_create(c->parts, &machine->network);
    hud_carry_create(s, c);
    c->trace = hud_trace_create(sim_ranks(s));
    c->line_count = lines;
    c->line = hud_must(calloc(ranks, sizeof *c->line));
    for (size_t r = 0; r < ranks; r++)
        c->line[r] = hud_must(calloc(lines, sizeof **c->line));
    return c;
}

static void free_lines(struct sim_clock *c, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        for (size_t i = 0; i < c->line_count; i++)
            if (c->line[r][i]) {
                hud_line_clear(c->line[r][i]);
                free(c->line[r][i]);
            }
        free(c->line[r]);
    }
    free(c->line);
}

void hud_clock_free(struct sim_clock *c, int ranks)
{
    if (!c)
        return;
    free_lines(c, ranks);
    hud_carry_free(c);
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        hud_crossings_free(p->crossings);
        hud_lines_free(p->lines);
        hud_links_free(p->links);
    }
    free(c->part);
    hud_ports_free(c->ports);
    hud_time_queue_free(&c->queue);
    hud_trace_free(&c->trace);
    free(c);
}
