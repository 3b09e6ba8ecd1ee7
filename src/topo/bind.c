/* SPDX-License-Identifier: BSD-3-Clause */
/* topo/bind.c - where a launcher would bind ranks: each rank to a processor, round robin over the
 * units of a level. */
#include "topo/machine.h"

#include <stdlib.h>
#include <string.h>

/* The processors of unit u are cpu[first[u]] .. cpu[first[u + 1] - 1].  Level -1 has a single unit
 * with all processors. */
struct lists {
    int units, first[TOPO_CPUS + 1], cpu[TOPO_CPUS];
};

static void list_cpus(const struct topo *t, const struct topo_cpus *usable, int level,
                      struct lists *l)
{
    int count = 0;

    l->units = level < 0 ? 1 : t->level[level].units.count;
    for (int u = 0; u < l->units; u++) {
        l->first[u] = count;
        for (int c = 0; c < TOPO_CPUS; c++)
            if (topo_has(usable, c) && (level < 0 || t->level[level].units.of[c] == u))
                l->cpu[count++] = c;
    }
    l->first[l->units] = count;
}

/* Returns the k-th processor of a unit, round robin, or -1 if the unit has none. */
static int pick(const struct lists *l, int unit, int k)
{
    int count = l->first[unit + 1] - l->first[unit];

    return count == 0 ? -1 : l->cpu[l->first[unit] + k % count];
}

bool hud_topo_bind(const struct topo *t, const struct topo_cpus *usable, const char *map, int ranks,
                   struct topo_cpus *cpus)
{
    int level = hud_topo_level_of(t, map);
    struct lists *l = malloc(2 * sizeof *l), *all = l, *units = l + 1;

    if (!l)
        return false;
    list_cpus(t, usable, -1, all);
    list_cpus(t, usable, level, units);
    for (int r = 0; r < ranks; r++) {
        int cpu = pick(units, r % units->units, r / units->units);
        memset(&cpus[r], 0, sizeof cpus[r]);
        cpu = cpu < 0 ? pick(all, 0, r / units->units) : cpu;
        if (strcmp(map, "none") == 0)
            cpus[r] = *usable;
        else if (cpu >= 0)
            topo_add(&cpus[r], cpu);
    }
    free(l);
    return true;
}
