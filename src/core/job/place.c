/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * place.c - sends the placement of a team's ranks from rank 0 to all.
 *
 * A place is a function of the processors that a rank may use.  So each process keeps the table of
 * the largest team that it was in, with a hash of each member's processors.  Rank 0 of a later team
 * finds its members' places there, by their processors now, and does not ask hwloc.  It alone
 * decides: all ranks read the table that it writes, and need not know how it came about.
 */
#include "core/job/place.h"
#include "base/hash.h"
#include "core/job/context.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Gives each unit the number of its first rank, so that all numbers are below the number of
 * ranks. */
static void number_units(const int *unit, int ranks, int16_t *numbered)
{
    for (int r = 0; r < ranks; r++) {
        int first = 0;
        while (unit[first] != unit[r])
            first++;
        numbered[r] = (int16_t)(unit[r] < 0 || first > INT16_MAX ? -1 : first);
    }
}

/* Writes the row behind the levels. `unit` is of the caches.  Does not read the table, which
 * may be in shared memory. */
static void end_table(struct place_table *table, int levels, struct topo_caches caches,
                      const int *unit, int ranks)
{
    table->levels = levels;
    table->caches = caches;
    table->cache_bytes = (int64_t)hud_topo_cache_share(&caches, unit, ranks);
    number_units(unit, ranks, table->unit + levels * ranks);
    table->seen = 1;
}

void hud_place_see(const struct topo *machine, const char *off, const union hello *hello, int ranks,
                   struct place_table *table)
{
    struct topo_cpus *cpus = malloc((size_t)ranks * sizeof *cpus);
    int *unit = malloc((size_t)ranks * sizeof *unit);
    struct shape_place place = { .unit = NULL };

    for (int r = 0; cpus && r < ranks; r++)
        cpus[r] = hello[r].fields.cpus;
    if (machine && cpus && unit && hud_topo_place(machine, cpus, ranks, off, &place) == 0) {
        int levels = place.levels < PLACE_LEVELS ? place.levels : PLACE_LEVELS;
        hud_topo_kept(machine, off, table->name);
        for (int l = 0; l < levels; l++)
            number_units(place.unit + l * ranks, ranks, table->unit + l * ranks);
        hud_topo_cache_units(machine, cpus, ranks, unit);
        end_table(table, levels, hud_topo_caches(machine), unit, ranks);
    }
    free((void *)(uintptr_t)place.unit);
    free(unit);
    free(cpus);
}

/* ---- what is kept ---------------------------------------------------------------------------- */

static uint64_t hash_cpus(const struct topo_cpus *cpus)
{
    uint64_t h = HASH_START;

    for (unsigned w = 0; w < TOPO_CPUS / 64; w++)
        if (cpus->word[w] != 0)
            h = hash_number(hash_number(h, w), cpus->word[w]);
    return h;
}

/* Returns the offset of the hashes behind the table. */
static size_t hashes_offset(int ranks)
{
    return (place_bytes(ranks) + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static uint64_t *hashes_of(struct place_table *table, int ranks)
{
    return (uint64_t *)(void *)((char *)table + hashes_offset(ranks));
}

size_t hud_place_kept_bytes(int ranks)
{
    return hashes_offset(ranks) + (size_t)ranks * sizeof(uint64_t);
}

void hud_place_keep(struct places *places, struct place_table **table, const union hello *hello,
                    int ranks)
{
    struct place_table *before = places->table;

    if (!(*table)->seen || ranks < places->ranks)
        return;
    for (int r = 0; r < ranks; r++)
        hashes_of(*table, ranks)[r] = hash_cpus(&hello[r].fields.cpus);
    *places = (struct places){ .table = *table, .ranks = ranks };
    *table = before;
}

/* Finds for each rank a rank of the kept team with the same processors.  Teams are often of
 * ranks in the same order, so the search continues where the last search ended. */
static bool find_all(const struct places *places, const union hello *hello, int ranks, int *at)
{
    const uint64_t *hash = hashes_of(places->table, places->ranks);
    int next = 0;

    for (int r = 0; r < ranks; r++) {
        uint64_t wanted = hash_cpus(&hello[r].fields.cpus);
        int left = places->ranks;
        for (; left > 0 && hash[next] != wanted; left--)
            next = next + 1 < places->ranks ? next + 1 : 0;
        if (left == 0)
            return false;
        at[r] = next;
        next = next + 1 < places->ranks ? next + 1 : 0;
    }
    return true;
}

/* Looks up the units of the ranks that find_all has found. */
static void find_units(const struct places *places, int level, const int *at, int ranks, int *unit)
{
    for (int r = 0; r < ranks; r++)
        unit[r] = places->table->unit[level * places->ranks + at[r]];
}

bool hud_place_recall(const struct places *places, const union hello *hello, int ranks,
                      struct place_table *table)
{
    const struct place_table *known = places->table;
    int *at = known ? malloc((size_t)ranks * sizeof *at) : NULL,
        *unit = at ? malloc((size_t)ranks * sizeof *unit) : NULL;
    bool found = unit && find_all(places, hello, ranks, at);

    if (found) {
        memcpy(table->name, known->name, sizeof table->name);
        for (int l = 0; l < known->levels; l++) {
            find_units(places, l, at, ranks, unit);
            number_units(unit, ranks, table->unit + l * ranks);
        }
        find_units(places, known->levels, at, ranks, unit);
        end_table(table, known->levels, known->caches, unit, ranks);
    }
    free(unit);
    free(at);
    return found;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void unite(struct topo_cpus *all, const struct topo_cpus *cpus)
{
    for (int w = 0; w < TOPO_CPUS / 64; w++)
        all->word[w] |= cpus->word[w];
}

bool hud_place_shares_processors(struct hud_context *c, const union hello *hello, int rank,
                                 int ranks)
{
    uint64_t boot = hello[rank].fields.boot_id;
    struct topo_cpus all = { { 0 } };
    int here = 0;

    for (int r = 0; r < ranks; r++)
        if (boot != 0 && hello[r].fields.boot_id == boot) {
            unite(&all, &hello[r].fields.cpus);
            here++;
        }
    pthread_mutex_lock(&c->lock);
    c->machine.shares_processors = c->machine.shares_processors || here > hud_topo_cpus_count(&all);
    bool shares = c->machine.shares_processors;
    pthread_mutex_unlock(&c->lock);
    return shares;
}

bool hud_place_oversubscribed(struct hud_context *c, const union hello *hello, int rank, int size)
{
    int quota = INT_MAX;
    int local = c->host.local_ranks > size ? c->host.local_ranks : size;
    const struct topo_cpus *own = &hello[rank].fields.cpus;
    struct topo_cpus all = { { 0 } };
    bool same = true;

    for (int r = 0; r < size; r++) {
        const struct topo_cpus *cpus = &hello[r].fields.cpus;
        unite(&all, cpus);
        same = same && memcmp(cpus, own, sizeof *own) == 0;
        quota = hello[r].fields.quota < quota ? hello[r].fields.quota : quota;
    }
    pthread_mutex_lock(&c->lock);
    unite(&c->machine.seen_cpus, &all);
    c->machine.seen_ranks = size > c->machine.seen_ranks ? size : c->machine.seen_ranks;
    bool seen_all = c->machine.seen_ranks >= local;
    int seen = hud_topo_cpus_count(&c->machine.seen_cpus);
    pthread_mutex_unlock(&c->lock);
    if (size > hud_topo_cpus_count(&all) || local > quota)
        return true;
    return seen_all ? local > seen : same && local > hud_topo_cpus_count(own);
}

void hud_place_write(struct hud_context *c, const union hello *hello, int ranks,
                     struct place_table *table)
{
    table->levels = 0;
    table->cache_bytes = 0;
    table->caches = (struct topo_caches){ .count = 0 };
    table->seen = 0;
    table->oversubscribed = hud_place_oversubscribed(c, hello, 0, ranks);
    pthread_mutex_lock(&c->lock);
    bool known = !c->machine.topo && hud_place_recall(&c->machine.places, hello, ranks, table);
    pthread_mutex_unlock(&c->lock);
    if (!known)
        hud_place_see(hud_context_topo(c), c->config.text[SET_LEVELS_OFF], hello, ranks, table);
}

/* Returns whether each unit has the number of its first rank, or is none. */
static bool is_numbered(const int16_t *unit, int ranks)
{
    bool good = true;

    for (int r = 0; good && r < ranks; r++)
        good = unit[r] == -1 || (unit[r] >= 0 && unit[r] <= r && unit[unit[r]] == unit[r]);
    return good;
}

static bool is_sane(const struct place_table *table, int ranks)
{
    bool good = table->levels >= 0 && table->levels <= PLACE_LEVELS && table->cache_bytes >= 0 &&
                table->caches.count >= 0 && table->caches.count <= TOPO_CPUS &&
                table->caches.bytes >= 0;

    for (int l = 0; good && l < table->levels; l++)
        good =
            memchr(table->name[l], '\0', TOPO_NAME) && is_numbered(table->unit + l * ranks, ranks);
    return good && (!table->seen || is_numbered(table->unit + table->levels * ranks, ranks));
}

void hud_place_read(const struct place_table *table, int ranks, struct place_table *copy)
{
    memcpy(copy, table, place_bytes(ranks));
    copy->oversubscribed = copy->oversubscribed != 0;
    if (is_sane(copy, ranks))
        return;
    copy->levels = 0;
    copy->seen = 0;
    copy->caches = (struct topo_caches){ .count = 0 };
    copy->cache_bytes = 0;
    memset(copy->name, 0, sizeof copy->name);
}
