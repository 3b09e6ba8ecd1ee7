/* SPDX-License-Identifier: BSD-3-Clause */
/* reserve.c - a planner, and what a team's slices may need before it is known where its ranks
 * are. */
#include "core/choose/making.h"
#include "core/hash.h"

#include <stdlib.h>
#include <string.h>

/* Of a window in which any reduction can go in the ranks' order (alg/slices/). */
enum { ORDERED_BYTES = 12 << 10 };

/* Names that `within` may have, and the empty one; kinds of teams within one of them. */
enum { NAMES = 9, KINDS = 24 };

static int add_level(char names[][TOPO_NAME], int count, const char name[TOPO_NAME])
{
    int n = 0;

    while (n < count && strcmp(names[n], name) != 0)
        n++;
    if (n == count && count < NAMES)
        memcpy(names[count++], name, TOPO_NAME);
    return count;
}

/* The empty name, the levels that rules name, and "machine" if there are any.  Returns how many. */
static int list_levels(const struct rules *tuning, char names[][TOPO_NAME])
{
    static const char none[TOPO_NAME] = "machine";
    const struct rules *all[] = { tuning, hud_rules_builtin() };
    int count = 1;

    for (int t = 0; t < 2; t++)
        for (int i = 0; all[t] && i < all[t]->count; i++)
            count = add_level(names, count, all[t]->rule[i].within);
    return count > 1 ? add_level(names, count, none) : count;
}

static bool uses_direct(const struct plan *plan)
{
    bool uses = false;

    for (int i = 0; i < plan->slots; i++)
        uses = uses || hud_shm_algs[plan->slot[i].row]->family->direct;
    return uses;
}

struct planner *hud_planner_create(const struct config *config, const struct rules *tuning)
{
    struct planner *p = calloc(1, sizeof *p);

    if (p) {
        p->config = config;
        p->tuning = tuning;
    }
    return p;
}

void hud_planner_free(struct planner *planner)
{
    free(planner);
}

unsigned hud_planner_made(const struct planner *planner)
{
    return planner->made;
}

static uint64_t add_choice(uint64_t h, const struct plan_entry *e)
{
    h = hash_number(h, (uint64_t)e->row * 2 + (e->slot >= 0));
    for (int p = 0; p < ALG_PARAMS; p++)
        h = hash_number(h, (uint64_t)e->param[p]);
    return h;
}

/* Makes every plan that such a team may have, those that are alike once. */
static struct reserved reserve(struct planner *p, int ranks, const struct plan_only *only,
                               size_t max_bytes, bool windows)
{
    char names[NAMES][TOPO_NAME] = { "" };
    int count = list_levels(p->tuning, names);
    struct reserved all = {
        .ranks = ranks, .only = *only, .windows = windows, .max_bytes = max_bytes
    };

    hud_alike_begin(&p->alike, p->tuning, &(struct plan_facts){ .ranks = ranks, .only = *only });
    for (int i = 0; i < KINDS * count; i++) {
        struct plan_facts facts = { .ranks = ranks,
                                    .only = *only,
                                    .oversubscribed = i % 2,
                                    .intel = i / 2 % 2,
                                    .divided = i / 4 % 2,
                                    .direct = i / 8 % 3 > 0,
                                    .quick = i / 8 % 3 > 1 };
        memcpy(facts.within, names[i / KINDS], TOPO_NAME);
        if (hud_alike_seen(&p->alike, &facts))
            continue;
        hud_plan_make(p, &facts, max_bytes, windows, &p->plan);
        all.bytes = p->plan.total_bytes > all.bytes ? p->plan.total_bytes : all.bytes;
        all.direct = all.direct || uses_direct(&p->plan);
        if (only->is)
            all.choices = add_choice(all.choices, plan_find(&p->plan, only->axis, only->bytes));
    }
    return all;
}

/* Of calls that are all alike, with the smallest slice that leaves them their algorithms, and a few
 * times their bytes; where these are not known, from a few tiles on. */
static struct reserved reserve_least(struct planner *p, int ranks, const struct plan_only *only)
{
    enum { FIRST = 16 << 10, TIMES = 4, UNSIZED = 160 << 10 };
    size_t lease = hud_plan_lease_bytes(p->config);
    int kind = only->axis % COLL_KINDS;
    size_t blocks = TIMES * (size_t)(coll_has(kind, COLL_BLOCKS) ? ranks : 1);
    bool sized = !coll_has(kind, COLL_UNSIZED);
    struct reserved largest = reserve(p, ranks, only, lease, true), smallest = largest;

    if (sized && only->bytes > lease / blocks)
        return largest;
    for (size_t bytes = sized ? FIRST + blocks * only->bytes : UNSIZED; bytes < lease; bytes *= 2) {
        smallest = reserve(p, ranks, only, bytes, true);
        if (smallest.choices == largest.choices)
            return smallest;
    }
    return largest;
}

static const struct reserved *find(struct planner *planner, int ranks, const struct plan_only *only,
                                   size_t max_bytes, bool windows)
{
    const struct reserved *found = NULL;

    for (int i = 0; i < RESERVED_KEPT && !found; i++) {
        const struct reserved *r = &planner->kept[i];
        if (r->ranks == ranks && (only->is || r->max_bytes == max_bytes) && r->windows == windows &&
            hud_plan_only_equal(&r->only, only))
            found = r;
    }
    if (!found) {
        struct reserved *r = &planner->kept[planner->next++ % RESERVED_KEPT];
        *r = only->is ? reserve_least(planner, ranks, only)
                      : reserve(planner, ranks, only, max_bytes, windows);
        found = r;
    }
    return found;
}

size_t hud_plan_bytes(struct planner *planner, int ranks, size_t max_bytes, bool windows,
                      bool *direct)
{
    const struct plan_only any = { .is = false };
    const struct reserved *found = find(planner, ranks, &any, max_bytes, windows);

    *direct = found->direct;
    return found->bytes;
}

size_t hud_plan_only_bytes(struct planner *planner, int ranks, const struct plan_only *only,
                           size_t *max_bytes, bool *direct)
{
    const struct reserved *found = find(planner, ranks, only, 0, true);

    *max_bytes = found->max_bytes;
    *direct = found->direct;
    return found->bytes;
}

size_t hud_plan_lease_bytes(const struct config *config)
{
    return config->number[SET_LEASE] < 0 ? (size_t)1536 << 10 : (size_t)config->number[SET_LEASE];
}

int hud_plan_limit(const struct config *config, const struct plan *plan)
{
    return plan->max_bytes >= hud_plan_lease_bytes(config) ? SET_LEASE : SET_MEMORY;
}

size_t hud_plan_only_offer(size_t arena_bytes, size_t free_bytes)
{
    return free_bytes > arena_bytes / 2 ? free_bytes - arena_bytes / 2 : 0;
}

size_t hud_plan_offer(struct planner *planner, int ranks, size_t arena_bytes, size_t free_bytes)
{
    const struct config *config = planner->config;
    bool direct, fixed = config->number[SET_REDUCE_ORDER] == ORDER_FIXED;
    size_t control =
        hud_plan_bytes(planner, ranks, SIZE_MAX / 2, false, &direct) + (fixed ? ORDERED_BYTES : 0);
    size_t kept = fixed ? arena_bytes / 2 : 0, max = hud_plan_lease_bytes(config);
    size_t quarter = free_bytes > kept ? (free_bytes - kept) / 4 : 0;

    if (quarter >= control && max >= control)
        return quarter < max ? quarter : max;
    return free_bytes >= control ? control : 0;
}
