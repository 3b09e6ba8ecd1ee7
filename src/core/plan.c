/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * plan.c - from rules to a plan.
 *
 * 1. Candidates: rules that fit the team, in order, each with the largest message that its algorithm takes; without those whose slot has no room.
 * 2. The sizes at which a candidate begins or ends cut the axis of sizes; each piece goes to the first candidate that covers it.
 * 3. Candidates that got a piece get slots: flags first, then windows, in equal parts of what is left unless they want less.
 * A window that finds less room than it needs drops its candidates, and all is done again.
 */
#include "core/plan.h"

#include <string.h>

struct candidate {
    const struct rule *rule; /* NULL: forced */
    const struct rules *rules;
    int kind, row; /* row -1: left to the MPI */
    size_t least_bytes, most_bytes;
    long param[ALG_PARAMS];
    int slot;
};

struct making {
    const struct config *config;
    const struct rules *tuning;
    struct plan *plan;
    struct candidate candidate[PLAN_RULES];
    int count;
    bool barred[PLAN_SLOTS]; /* slots that have no room */
    struct plan_slot wanted[PLAN_SLOTS];
    int slots;
    int from[PLAN_SLOTS]; /* wanted slot of each of the plan's */
};

static bool lacks_direct(int row, const struct plan_facts *facts)
{
    return row >= 0 && hud_shm_algs[row]->direct && !facts->direct;
}

const char *hud_rule_misfit(const struct rule *rule, const struct plan_facts *facts, size_t bytes)
{
    return facts->ranks < rule->least_ranks || facts->ranks > rule->most_ranks ? "for other numbers of ranks"
           : rule->crowded >= 0 && rule->crowded != facts->crowded ? rule->crowded ? "for crowded ranks" : "for ranks that are not crowded"
           : rule->within[0] != '\0' && strcmp(rule->within, facts->within) != 0 ? "for ranks within another level"
           : lacks_direct(rule->row, facts)                                      ? "for ranks that can reach each other's memory"
           : bytes < rule->least_bytes || bytes > rule->most_bytes               ? "for other sizes"
                                                                                 : NULL;
}

static bool fits(const struct rule *rule, const struct plan_facts *facts)
{
    return hud_rule_misfit(rule, facts, rule->least_bytes) == NULL;
}

/* The user's wish, else the rule's, else the algorithm's. */
static void set_params(const struct config *config, const struct rule *rule, int row, long param[ALG_PARAMS])
{
    for (int p = 0; p < ALG_PARAMS; p++)
        param[p] = rule && rule->given[p] && !config->given[row][p] ? rule->param[p] : config->param[row][p];
}

static bool same_shape(const struct alg *alg, const long *a, const long *b)
{
    for (int p = 0; alg->params && alg->params[p].name; p++)
        if (!alg->params[p].per_call && a[p] != b[p])
            return false;
    return true;
}

/* The slot that a candidate would use; -1: there can be no more. */
static int want_slot(struct making *k, const struct candidate *c)
{
    for (int s = 0; s < k->slots; s++)
        if (k->wanted[s].row == c->row && same_shape(hud_shm_algs[c->row], k->wanted[s].param, c->param))
            return s;
    if (k->slots == PLAN_SLOTS)
        return -1;
    k->wanted[k->slots].row = c->row;
    memcpy(k->wanted[k->slots].param, c->param, sizeof c->param);
    return k->slots++;
}

static bool takes(const struct candidate *c, size_t bytes, size_t slot_bytes, int ranks)
{
    const struct coll call = { .buf = { .bytes = bytes }, .param = c->param, .slot_bytes = slot_bytes };

    return alg_accepts(hud_shm_algs[c->row], &call, ranks);
}

/* The largest message up to most_bytes that it takes, by halving; false: not even the least. */
static bool limit(struct candidate *c, size_t slot_bytes, int ranks)
{
    size_t good = c->least_bytes, bad = c->most_bytes;

    if (!takes(c, good, slot_bytes, ranks))
        return false;
    if (takes(c, bad, slot_bytes, ranks))
        return true;
    while (bad - good > 1) {
        size_t middle = good + (bad - good) / 2;
        if (takes(c, middle, slot_bytes, ranks))
            good = middle;
        else
            bad = middle;
    }
    c->most_bytes = good;
    return true;
}

static void add(struct making *k, struct candidate c)
{
    const struct plan *plan = k->plan;

    if (k->count == PLAN_RULES || lacks_direct(c.row, &plan->facts))
        return;
    if (c.row >= 0) {
        const struct alg *alg = hud_shm_algs[c.row];
        set_params(k->config, c.rule, c.row, c.param);
        c.slot = want_slot(k, &c);
        if (c.slot < 0 || k->barred[c.slot] || (alg->slot_bytes && !plan->windows))
            return;
        if (!limit(&c, alg_slot_bytes(alg, c.param, plan->facts.ranks, plan->most_bytes), plan->facts.ranks))
            return;
    }
    k->candidate[k->count++] = c;
}

static void add_rules(struct making *k, const struct rules *rules)
{
    for (int i = 0; rules && i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (fits(r, &k->plan->facts) && hud_config_forced(k->config, r->kind) == -1)
            add(k, (struct candidate){ .rule = r,
                                       .rules = rules,
                                       .kind = r->kind,
                                       .row = r->row,
                                       .least_bytes = r->least_bytes,
                                       .most_bytes = r->most_bytes });
    }
}

static void collect(struct making *k)
{
    k->count = 0;
    for (int kind = 0; kind < COLL_KINDS; kind++) {
        int forced = hud_config_forced(k->config, kind);
        if (forced != -1)
            add(k, (struct candidate){ .kind = kind, .row = forced >= 0 ? forced : -1, .most_bytes = SIZE_MAX });
    }
    add_rules(k, k->tuning);
    add_rules(k, hud_rules_builtin());
}

/* The first candidate of a kind that covers a size, and the size up to which that stays so; NULL: none. */
static const struct candidate *cover(const struct making *k, int kind, size_t bytes, size_t *most_bytes)
{
    *most_bytes = SIZE_MAX;
    for (int i = 0; i < k->count; i++) {
        const struct candidate *c = &k->candidate[i];
        if (c->kind != kind || bytes > c->most_bytes)
            continue;
        if (bytes >= c->least_bytes) {
            *most_bytes = c->most_bytes < *most_bytes ? c->most_bytes : *most_bytes;
            return c;
        }
        *most_bytes = c->least_bytes - 1 < *most_bytes ? c->least_bytes - 1 : *most_bytes;
    }
    return NULL;
}

static void write_entry(struct plan *plan, int at, const struct candidate *c, size_t most_bytes)
{
    struct plan_entry *e = &plan->entry[at];

    *e = (struct plan_entry){ .most_bytes = most_bytes, .slot = -1 };
    if (c) {
        e->rule = c->rule;
        e->rules = c->rules;
        e->slot = c->row >= 0 ? c->slot : -1;
        memcpy(e->param, c->param, sizeof e->param);
    }
}

/* Cuts the axis of sizes; the entries name wanted slots. */
static void cut(struct making *k)
{
    struct plan *plan = k->plan;
    int at = 0;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        const struct candidate *before = NULL;
        size_t bytes = 0, most;
        int room = PLAN_ENTRIES - (COLL_KINDS - kind); /* for the last piece of this kind, so that the others find one too */

        plan->first[kind] = at;
        for (bool more = true; more; bytes = most + 1) {
            const struct candidate *c = cover(k, kind, bytes, &most);
            if (at == room) {
                c = NULL; /* what no plan can hold is left to the MPI */
                most = SIZE_MAX;
            }
            more = most != SIZE_MAX;
            if (at > plan->first[kind] && c == before)
                plan->entry[at - 1].most_bytes = most;
            else
                write_entry(plan, at++, c, most);
            before = c;
        }
    }
    plan->first[COLL_KINDS] = at;
}

static bool is_used(const struct plan *plan, int slot)
{
    for (int e = 0; e < plan->first[COLL_KINDS]; e++)
        if (plan->entry[e].slot == slot)
            return true;
    return false;
}

/* Lays the used slots out: those of fixed size, then windows.  Returns -1, or the wanted slot that has no room. */
static int lay_out(struct making *k)
{
    struct plan *plan = k->plan;
    size_t at = PLACE_OFFSET + mem_lines(sizeof(struct place_table) + SHAPE_LEVELS * (size_t)plan->facts.ranks * sizeof(int16_t));
    bool checked = k->config->number[SET_CHECK] == SWITCH_ON;
    int windows = 0, number[PLAN_SLOTS] = { 0 };

    plan->roll_offset = at;
    at += checked ? sizeof(struct roll_slot) : 0;
    plan->slots = 0;
    for (int s = 0; s < k->slots; s++)
        windows += is_used(plan, s) && hud_shm_algs[k->wanted[s].row]->slot_bytes;
    for (int pass = 0; pass < 2; pass++)
        for (int s = 0; s < k->slots; s++) {
            const struct alg *alg = hud_shm_algs[k->wanted[s].row];
            if (!is_used(plan, s) || (alg->slot_bytes != NULL) != (pass == 1))
                continue;
            size_t left = at < plan->most_bytes ? plan->most_bytes - at : 0;
            size_t most = pass == 1 ? left / (size_t)windows-- / HUD_LINE * HUD_LINE : left;
            struct plan_slot *slot = &plan->slot[plan->slots];
            *slot = k->wanted[s];
            slot->offset = at;
            slot->bytes = alg_slot_bytes(alg, slot->param, plan->facts.ranks, most);
            if (slot->bytes == 0)
                return s;
            at += slot->bytes;
            k->from[plan->slots] = s;
            number[s] = plan->slots++;
        }
    for (int e = 0; e < plan->first[COLL_KINDS]; e++)
        if (plan->entry[e].slot >= 0)
            plan->entry[e].slot = number[plan->entry[e].slot];
    plan->total_bytes = (plan->slots != 0 || checked) && at <= plan->most_bytes ? at : 0;
    return -1;
}

/* Returns -1, or the wanted slot that, as laid out, does not take the largest message of one of its entries. */
static int check(const struct making *k)
{
    const struct plan *plan = k->plan;

    for (int e = 0; e < plan->first[COLL_KINDS]; e++) {
        const struct plan_entry *entry = &plan->entry[e];
        struct candidate c = { .row = entry->slot >= 0 ? plan->slot[entry->slot].row : -1 };
        memcpy(c.param, entry->param, sizeof c.param);
        if (c.row >= 0 && !takes(&c, entry->most_bytes, plan->slot[entry->slot].bytes, plan->facts.ranks))
            return k->from[entry->slot];
    }
    return -1;
}

void hud_plan_make(const struct config *config, const struct rules *tuning, const struct plan_facts *facts, size_t most_bytes, bool windows,
                   struct plan *plan)
{
    struct making k = { .config = config, .tuning = tuning, .plan = plan };
    int bad;

    memset(plan, 0, sizeof *plan);
    plan->facts = *facts;
    plan->most_bytes = most_bytes;
    plan->windows = windows;
    do {
        collect(&k);
        cut(&k);
        bad = lay_out(&k);
        bad = bad < 0 ? check(&k) : bad;
        if (bad >= 0)
            k.barred[bad] = true;
    } while (bad >= 0);
}

/* ---- before it is known where the ranks are ---- */

/* Adds the levels that rules name. */
static int list_levels(const struct rules *rules, char names[][TOPO_NAME], int count)
{
    for (int i = 0; rules && i < rules->count; i++) {
        int n = 0;
        while (n < count && strcmp(names[n], rules->rule[i].within) != 0)
            n++;
        if (n == count && count < SHAPE_LEVELS)
            memcpy(names[count++], rules->rule[i].within, TOPO_NAME);
    }
    return count;
}

size_t hud_plan_bytes(const struct config *config, const struct rules *tuning, int ranks, size_t most_bytes, bool windows)
{
    char names[SHAPE_LEVELS + 1][TOPO_NAME] = { "" };
    int count = list_levels(hud_rules_builtin(), names, list_levels(tuning, names, 1));
    size_t bytes = 0;
    struct plan plan;

    for (int i = 0; i < 4 * count; i++) {
        struct plan_facts facts = { .ranks = ranks, .crowded = i % 2, .direct = i / 2 % 2 };
        memcpy(facts.within, names[i / 4], TOPO_NAME);
        hud_plan_make(config, tuning, &facts, most_bytes, windows, &plan);
        bytes = plan.total_bytes > bytes ? plan.total_bytes : bytes;
    }
    return bytes;
}

size_t hud_plan_lease_bytes(const struct config *config)
{
    return config->number[SET_LEASE] < 0 ? (size_t)512 << 10 : (size_t)config->number[SET_LEASE];
}

size_t hud_plan_offer(const struct config *config, const struct rules *tuning, int ranks, size_t free_bytes)
{
    size_t control = hud_plan_bytes(config, tuning, ranks, SIZE_MAX / 2, false);
    size_t most = hud_plan_lease_bytes(config);

    if (free_bytes / 4 >= control && most >= control)
        return free_bytes / 4 < most ? free_bytes / 4 : most;
    return free_bytes >= control ? control : 0;
}

void hud_plan_within(const struct place_table *table, int ranks, char within[TOPO_NAME])
{
    memcpy(within, "machine", sizeof "machine");
    for (int l = table->levels - 1; l >= 0; l--) {
        const int16_t *unit = table->unit + l * ranks;
        bool one = unit[0] >= 0;
        for (int r = 1; r < ranks; r++)
            one = one && unit[r] == unit[0];
        if (one)
            memcpy(within, table->name[l], TOPO_NAME);
    }
}
