/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c - sends the placement of a team's ranks from rank 0 to all. */
#include "core/team/place.h"
#include "core/team/policy.h"

#include <stdlib.h>

/* Units get the number of the first rank in them: fewer than there are ranks, whatever the machine
 * calls them. */
static void number_units(const int *unit, int ranks, int16_t *numbered)
{
    for (int r = 0; r < ranks; r++) {
        int first = 0;
        while (unit[first] != unit[r])
            first++;
        numbered[r] = (int16_t)(unit[r] < 0 || first > INT16_MAX ? -1 : first);
    }
}

void hud_place_write(struct hud_team *team, const union hello *hello, struct place_table *table)
{
    const struct topo *machine = hud_context_topo(team->context);
    const char *off = team->context->config.text[SET_LEVELS_OFF];
    struct topo_cpus *cpus = malloc((size_t)team->size * sizeof *cpus);
    struct shape_place place = { .unit = NULL };

    table->levels = 0;
    table->oversubscribed = hud_policy_oversubscribed(team, hello);
    table->intel = hud_topo_vendor() == TOPO_INTEL;
    for (int r = 0; cpus && r < team->size; r++)
        cpus[r] = hello[r].is.cpus;
    table->cache_bytes =
        machine && cpus ? (int64_t)hud_topo_cache_share(machine, cpus, team->size) : 0;
    if (machine && cpus && hud_topo_place(machine, cpus, team->size, off, &place) == 0) {
        int levels = place.levels < SHAPE_LEVELS ? place.levels : SHAPE_LEVELS;
        hud_topo_kept(machine, off, table->name);
        for (int i = 0; i < levels; i++)
            number_units(place.unit + i * team->size, team->size, table->unit + i * team->size);
        table->levels = levels;
    }
    free((void *)(uintptr_t)place.unit);
    free(cpus);
}

/* Each unit has the number of the first rank in it, or is none. */
static bool is_numbered(const int16_t *unit, int ranks)
{
    bool good = true;

    for (int r = 0; good && r < ranks; r++)
        good = unit[r] == -1 || (unit[r] >= 0 && unit[r] <= r && unit[unit[r]] == unit[r]);
    return good;
}

static bool is_sane(const struct place_table *table, int ranks)
{
    bool good = table->levels >= 0 && table->levels <= SHAPE_LEVELS && table->cache_bytes >= 0;

    for (int l = 0; good && l < table->levels; l++)
        good =
            memchr(table->name[l], '\0', TOPO_NAME) && is_numbered(table->unit + l * ranks, ranks);
    return good;
}

void hud_place_read(const struct place_table *table, int ranks, struct place_table *copy)
{
    memcpy(copy, table, place_bytes(ranks));
    copy->oversubscribed = copy->oversubscribed != 0;
    copy->intel = copy->intel != 0;
    if (is_sane(copy, ranks))
        return;
    copy->levels = 0;
    copy->cache_bytes = 0;
    memset(copy->name, 0, sizeof copy->name);
}
