/* SPDX-License-Identifier: BSD-3-Clause */
/* sharers.c - a bit for each core, once a line has a second copy. */
#include "lab/sim/sharers.h"
#include "check/grow.h"

#include <string.h>

struct sim_line hud_line_first(int core, int home)
{
    return (struct sim_line){ .owner = core, .home = home, .agent = -1, .copies = 1 };
}

void hud_line_clear(struct sim_line *line)
{
    free(line->held);
    free(line->share);
    hud_delays_free(&line->delays);
    line->held = NULL;
    line->share = NULL;
}

static size_t words(const struct sim_machine *machine)
{
    return ((size_t)machine->cores + 63) / 64;
}

bool hud_sharers_has(const struct sim_line *line, int core)
{
    return line->copies == 1 ? line->owner == core : line->held[core / 64] >> (core % 64) & 1;
}

void hud_sharers_add(struct sim_line *line, int core, const struct sim_machine *machine)
{
    if (!line->held)
        line->held = hud_must(calloc(words(machine), sizeof *line->held));
    if (line->copies == 1) {
        memset(line->held, 0, words(machine) * sizeof *line->held);
        line->held[line->owner / 64] |= UINT64_C(1) << (line->owner % 64);
    }
    line->held[core / 64] |= UINT64_C(1) << (core % 64);
    line->copies++;
}

int hud_sharers_farthest(const struct sim_line *line, int core, const struct sim_machine *machine)
{
    int max = machine_class(machine, line->owner, core);

    for (size_t w = 0; line->copies > 1 && w < words(machine); w++)
        for (uint64_t bits = line->held[w]; bits != 0; bits &= bits - 1) {
            int class = machine_class(machine, (int)(w * 64) + __builtin_ctzll(bits), core);
            max = class > max ? class : max;
        }
    return max;
}
