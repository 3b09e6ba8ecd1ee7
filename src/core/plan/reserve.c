/* SPDX-License-Identifier: BSD-3-Clause */
/* reserve.c - creates planners, and finds the size of a team's slices before the places of its
 * ranks are known. */
#include "base/hash.h"
#include "base/setuid.h"
#include "core/plan/plan_builder.h"

#include <stdlib.h>
#include <string.h>

/* Size of a window in which any reduction can combine the ranks in order (alg/slices/). */
enum { ORDERED_BYTES = 12 << 10 };

/* The number of values of `within`, including the empty one, and of the combinations of the other
 * facts. */
enum { NAMES = 9, KINDS = 12 };

static int add_level(char names[][TOPO_NAME], int count, const char name[TOPO_NAME])
{
    int n = 0;

    while (n < count && strcmp(names[n], name) != 0)
        n++;
    if (n == count && count < NAMES)
        memcpy(names[count++], name, TOPO_NAME);
    return count;
}

/* Lists the empty name, the levels that rules name, and "machine" if there are such levels.
 * Returns the number of names. */
static int list_levels(const struct planner *p, char names[][TOPO_NAME])
{
    static const char none[TOPO_NAME] = "machine";
    const struct rules *all[] = { p->tuning, hud_planner_prior(p) };
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

struct planner *hud_planner_create(struct config *config, const struct rules *tuning)
{
    struct planner *p = calloc(1, sizeof *p);
    const char *prior = config->text[SET_PRIOR];

    if (!p)
        return NULL;
    p->config = config;
    p->tuning = tuning;
    if (prior[0] != '\0' && config->error[0] == '\0' && !process_is_elevated())
        hud_rules_read_file(&p->prior, "HUDDLE_LAB_PRIOR", prior, config->error,
                            sizeof config->error);
    return p;
}

const struct rules *hud_planner_prior(const struct planner *planner)
{
    return planner->prior.file[0] != '\0' ? &planner->prior : hud_rules_builtin();
}

void hud_planner_free(struct planner *planner)
{
    if (planner)
        hud_rules_free(&planner->prior);
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

/* Returns the entry of a single-call team's call in the plan that was made last. */
static const struct plan_entry *chosen(const struct planner *p, const struct plan_single_call *only)
{
    int class = plan_class(only->bytes);

    return &p->plan.entry[hud_plan_builder_chosen(&p->builder, only->axis, class)];
}

/* Makes all plans of such teams, but equal ones only once, and without other candidates: their
 * memory is bounded (others.c). */
static struct reserved reserve(struct planner *p, int ranks, const struct plan_single_call *only,
                               size_t max_bytes, bool windows)
{
    char names[NAMES][TOPO_NAME] = { "" };
    int count = list_levels(p, names);
    struct reserved all = {
        .ranks = ranks, .single_call = *only, .windows = windows, .max_bytes = max_bytes
    };

    hud_plan_cache_begin(&p->cache, p->tuning, hud_planner_prior(p),
                         &(struct plan_facts){ .ranks = ranks, .single_call = *only });
    for (int i = 0; i < KINDS * count; i++) {
        struct plan_facts facts = { .ranks = ranks,
                                    .single_call = *only,
                                    .oversubscribed = i % 2,
                                    .divided = i / 2 % 2,
                                    .direct = i / 4 % 3 > 0,
                                    .quick = i / 4 % 3 > 1 };
        memcpy(facts.within, names[i / KINDS], TOPO_NAME);
        if (hud_plan_cache_seen(&p->cache, &facts))
            continue;
        hud_plan_make_slots(p, &facts, max_bytes, windows, &p->plan);
        all.bytes = p->plan.total_bytes > all.bytes ? p->plan.total_bytes : all.bytes;
        all.direct = all.direct || uses_direct(&p->plan);
        if (only->enabled)
            all.choices = add_choice(all.choices, chosen(p, only));
    }
    return all;
}

/* Finds the smallest slice with which a single-call team has the same algorithm as with the largest
 * slice.  Sizes double, beginning at a few times the call's bytes, or at a few tiles if the bytes
 * are not known. */
static struct reserved reserve_least(struct planner *p, int ranks,
                                     const struct plan_single_call *only)
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

static const struct reserved *find(struct planner *planner, int ranks,
                                   const struct plan_single_call *only, size_t max_bytes,
                                   bool windows)
{
    const struct reserved *found = NULL;

    for (int i = 0; i < RESERVED_KEPT && !found; i++) {
        const struct reserved *r = &planner->kept[i];
        if (r->ranks == ranks && (only->enabled || r->max_bytes == max_bytes) &&
            r->windows == windows && hud_plan_single_call_equal(&r->single_call, only))
            found = r;
    }
    if (!found) {
        struct reserved *r = &planner->kept[planner->next++ % RESERVED_KEPT];
        *r = only->enabled ? reserve_least(planner, ranks, only)
                           : reserve(planner, ranks, only, max_bytes, windows);
        found = r;
    }
    return found;
}

size_t hud_plan_bytes(struct planner *planner, int ranks, size_t max_bytes, bool windows,
                      bool *direct)
{
    const struct plan_single_call any = { .enabled = false };
    const struct reserved *found = find(planner, ranks, &any, max_bytes, windows);
    bool others = found->bytes != 0 && hud_others_wanted(planner->config, windows);

    *direct = found->direct || others; /* an other candidate may be direct */
    return others ? hud_others_bytes(found->bytes, max_bytes) : found->bytes;
}

size_t hud_plan_single_call_bytes(struct planner *planner, int ranks,
                                  const struct plan_single_call *only, size_t *max_bytes,
                                  bool *direct)
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

size_t hud_plan_single_call_offer(size_t arena_bytes, size_t free_bytes)
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
