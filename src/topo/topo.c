/* SPDX-License-Identifier: BSD-3-Clause */
/* topo/topo.c - answers queries from plain tables: which unit of a level contains a rank's
 * processors? */
#include "topo/topo.h"

#include "base/name.h"
#include "topo/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char hud_topo_kinds[TOPO_KINDS][TOPO_NAME] = {
    [TOPO_NUMA] = "numa", [TOPO_SOCKET] = "socket", [TOPO_L3] = "l3",
    [TOPO_DIE] = "die",   [TOPO_L2] = "l2",         [TOPO_GROUP] = "group",
};

struct topo *hud_topo_load(void)
{
    return hud_topo_discover(NULL);
}

struct topo *hud_topo_load_described(const char *description)
{
    return hud_topo_discover(description);
}

void hud_topo_free(struct topo *t)
{
    if (t)
        free(t->node);
    free(t);
}

/* ---- levels and units ------------------------------------------------------------------------ */

int hud_topo_levels(const struct topo *t)
{
    return t->levels;
}

const char *hud_topo_level_name(const struct topo *t, int level)
{
    return hud_topo_kinds[t->level[level].kind];
}

int hud_topo_level_of(const struct topo *t, const char *name)
{
    for (int l = 0; l < t->levels; l++)
        for (int kind = 0; kind < TOPO_KINDS; kind++)
            if (((int)t->level[l].kind == kind || t->level[l].also >> kind & 1) &&
                strcmp(hud_topo_kinds[kind], name) == 0)
                return l;
    return -1;
}

int hud_topo_level_units(const struct topo *t, int level)
{
    return t->level[level].units.count;
}

uint64_t hud_topo_memory(const struct topo *t)
{
    uint64_t bytes = 0;

    for (int n = 0; n < t->nodes; n++)
        bytes += t->node[n].bytes;
    return bytes;
}

int hud_topo_cores(const struct topo *t)
{
    return t->cores;
}

void hud_topo_all(const struct topo *t, struct topo_cpus *cpus)
{
    *cpus = t->cpus;
}

static int unit_of(const struct topo_units *units, const struct topo_cpus *cpus)
{
    int unit = -1;

    for (int word = 0; word < TOPO_CPUS / 64; word++)
        for (uint64_t left = cpus->word[word]; left; left &= left - 1) {
            int of = units->of[64 * word + __builtin_ctzll(left)];

            if (of < 0 || (unit >= 0 && of != unit))
                return -1;
            unit = of;
        }
    return unit;
}

int hud_topo_unit(const struct topo *t, int level, const struct topo_cpus *cpus)
{
    return unit_of(&t->level[level].units, cpus);
}

struct topo_caches hud_topo_caches(const struct topo *t)
{
    return (struct topo_caches){ .count = t->caches.count, .bytes = (int64_t)t->cache_bytes };
}

void hud_topo_cache_units(const struct topo *t, const struct topo_cpus *cpus, int ranks, int *unit)
{
    for (int r = 0; r < ranks; r++)
        unit[r] = t->caches.count != 0 ? unit_of(&t->caches, &cpus[r]) : -1;
}

/* Returns the cache share of a rank.  Ranks that are not bound within a single cache are assumed to
 * spread over all caches. */
uint64_t hud_topo_cache_share(const struct topo_caches *caches, const int *unit, int ranks)
{
    int64_t spread = 0, max = 0;

    if (caches->count == 0 || ranks == 0)
        return 0;
    for (int r = 0; r < ranks; r++) {
        int64_t here = 0; /* ranks of the unit, from r on */
        for (int other = r; other < ranks; other++)
            here += unit[other] == unit[r];
        spread += unit[r] < 0;
        max = unit[r] >= 0 && here > max ? here : max;
    }
    return (uint64_t)(caches->bytes / (max + (spread + caches->count - 1) / caches->count));
}

/* ---- levels switched off --------------------------------------------------------------------- */

/* Finds the next name of a comma-separated list, and advances *list behind it.  Returns the name's
 * length, or -1 at the end of the list. */
static int next_name(const char **list, const char **name)
{
    size_t length;

    if (!*list)
        return -1;
    *name = *list;
    length = strcspn(*list, ",");
    *list = (*list)[length] ? *list + length + 1 : NULL;
    return (int)length;
}

static bool is_listed(const char *list, const char *wanted)
{
    const char *name;

    for (int length; (length = next_name(&list, &name)) >= 0;)
        if (name_is(wanted, name, (size_t)length))
            return true;
    return false;
}

int hud_topo_names_valid(const char *list)
{
    const char *name;

    if (!list || !*list)
        return 1;
    for (int length; (length = next_name(&list, &name)) >= 0;) {
        bool known = false;

        for (int kind = 0; kind < TOPO_KINDS; kind++)
            known = known || name_is(hud_topo_kinds[kind], name, (size_t)length);
        if (!known)
            return 0;
    }
    return 1;
}

/* Returns the first of a level's names that is not in `off`, or NULL if all are and the level is
 * off.  TOPO_GROUP is not an additional name: hwloc may put a group around another object. */
static const char *kept_name(const struct topo *t, int level, const char *off)
{
    const char *name = hud_topo_level_name(t, level);

    for (int kind = 0; kind < TOPO_GROUP && is_listed(off, name); kind++)
        if (t->level[level].also >> kind & 1)
            name = hud_topo_kinds[kind];
    return is_listed(off, name) ? NULL : name;
}

int hud_topo_kept(const struct topo *t, const char *off, char names[][TOPO_NAME])
{
    int kept = 0;

    for (int l = 0; l < t->levels; l++) {
        const char *name = kept_name(t, l, off);
        if (name)
            snprintf(names[kept++], TOPO_NAME, "%s", name);
    }
    return kept;
}

int hud_topo_place(const struct topo *t, const struct topo_cpus *cpus, int ranks, const char *off,
                   struct shape_place *place)
{
    int *unit = malloc(((size_t)t->levels * (size_t)ranks + 1) * sizeof *unit);
    int kept = 0;

    *place = (struct shape_place){ .ranks = ranks };
    if (!unit)
        return -1;
    for (int l = 0; l < t->levels; l++) {
        if (!kept_name(t, l, off))
            continue;
        for (int r = 0; r < ranks; r++)
            unit[kept * ranks + r] = hud_topo_unit(t, l, &cpus[r]);
        kept++;
    }
    place->levels = kept;
    place->unit = unit;
    return 0;
}
