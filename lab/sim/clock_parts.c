/* SPDX-License-Identifier: BSD-3-Clause */
/* clock_parts.c - creates and frees a clock and its parts, one per node. */
#include "check/grow.h"
#include "lab/sim/mem_ops.h"

void hud_clock_create(struct sim *s)
{
    struct sim_clock *c = hud_must(calloc(1, sizeof *c));
    const struct sim_timing *timing = s->options.timing;
    const struct sim_machine *machine = timing->machine;
    size_t ranks = (size_t)sim_ranks(s),
           lines = s->options.arena_bytes / (size_t)machine->lines.size_bytes + 1;

    s->clock = c;
    c->timing = *timing;
    c->machine = machine;
    c->parts = timing->nodes > 1 ? timing->nodes : 1;
    c->rank = hud_must(calloc(ranks, sizeof *c->rank));
    for (int r = 0; r < s->options.ranks; r++) {
        c->rank[r].core = timing->core[r];
        c->rank[r].node = c->parts > 1 ? timing->node_of[r] : 0;
    }
    c->part = hud_must(calloc((size_t)c->parts, sizeof *c->part));
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        p->lines = hud_lines_create(machine);
        p->links = hud_links_create(machine);
        p->transfers = hud_transfers_create(p->lines, p->links);
    }
    if (c->parts > 1)
        c->ports = hud_ports_create(c->parts, &machine->network);
    hud_mem_ops_create(s, c);
    c->trace = hud_trace_create(sim_ranks(s));
    c->line_count = lines;
    c->line = hud_must(calloc(ranks, sizeof *c->line));
    for (size_t r = 0; r < ranks; r++)
        c->line[r] = hud_must(calloc(lines, sizeof **c->line));
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

void hud_clock_free(struct sim *s)
{
    struct sim_clock *c = s->clock;

    free_lines(c, sim_ranks(s));
    hud_mem_ops_free(c);
    for (struct sim_part *p = c->part; p < c->part + c->parts; p++) {
        hud_transfers_free(p->transfers);
        hud_lines_free(p->lines);
        hud_links_free(p->links);
    }
    free(c->part);
    free(c->rank);
    hud_ports_free(c->ports);
    hud_time_queue_free(&c->queue);
    hud_trace_free(&c->trace);
    free(c);
}
