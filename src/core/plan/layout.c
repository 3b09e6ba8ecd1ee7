/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.c - places the slots of a plan in a slice, in this order:
 *
 * 1. Slots that hold flags only.
 * 2. Slots with a window of their own, the smallest first.  Each gets an equal part of the
 *    remaining bytes, at most the bytes that it wants, so that the later parts grow.  The team's
 *    window counts as one more part.
 * 3. Slots that share the team's window, which they use in turn.
 * 4. The team's window: all remaining bytes, at most what one of these slots wants.
 *
 * A window of up to PLAN_OWN_WINDOW bytes is its algorithm's own.  If such windows would take more
 * than half of the slice, or a slot does not fit, the largest of them also share the team's window.
 */
#include "core/plan/plan.h"

/* The slots in the order of the layout, and the number of slots of each class. */
struct layout {
    int turn[PLAN_SLOTS];
    int fixed, own, shared; /* flags only; a window of their own; the team's window */
    size_t widest_bytes;    /* size of the largest own window */
};

/* Returns the bytes that a slot would take with unlimited memory.  Returns 0 if the slot holds
 * flags only, and SIZE_MAX if its window exceeds own_bytes and so becomes the team's. */
static size_t wants(const struct plan_slot *slot, int ranks, size_t own_bytes, struct layout *l)
{
    const struct alg *alg = hud_shm_algs[slot->row];
    const struct alg_place all = alg_place_alone(alg, slot->param, ranks, 0, SIZE_MAX / 2);

    if (!alg_holds_data(alg))
        return 0;
    if (all.window_bytes > own_bytes)
        return SIZE_MAX;
    l->widest_bytes = all.window_bytes > l->widest_bytes ? all.window_bytes : l->widest_bytes;
    return alg_place_bytes(&all);
}

/* Orders the slots by the bytes that they want.  Returns the sum for all slots with a window of
 * their own.  If only a single slot would use the team's window, the window becomes its own. */
static size_t order(const struct plan *plan, size_t own_bytes, struct layout *l)
{
    size_t want[PLAN_SLOTS], own = 0;

    *l = (struct layout){ .fixed = 0 };
    for (int s = 0; s < plan->slots; s++) {
        int at = s;
        want[s] = wants(&plan->slot[s], plan->facts.ranks, own_bytes, l);
        l->fixed += want[s] == 0;
        l->own += want[s] != 0 && want[s] != SIZE_MAX;
        own += want[s] != SIZE_MAX ? want[s] : 0;
        l->shared += want[s] == SIZE_MAX;
        for (; at > 0 && want[l->turn[at - 1]] > want[s]; at--)
            l->turn[at] = l->turn[at - 1];
        l->turn[at] = s;
    }
    if (l->shared == 1) {
        l->own++;
        l->shared = 0;
    }
    return own;
}

/* Lays out the slots of the team's window, then the window, with all bytes that remain.  Returns
 * -1, or the number of a slot without room. */
static int lay_out_shared(struct plan *plan, const int *turn, int count, size_t *at)
{
    size_t end = plan->max_bytes / HUD_LINE * HUD_LINE,
           left = *at + HUD_LINE < end ? end - *at - HUD_LINE : 0, max = left, lines = 0,
           window = 0;

    for (size_t excess = 1; excess != 0; max = window - excess) {
        int widest = 0;
        lines = window = 0;
        for (int i = 0; i < count; i++) {
            struct plan_slot *slot = &plan->slot[turn[i]];
            const struct alg *alg = hud_shm_algs[slot->row];
            size_t bytes = alg->family->window_bytes(slot->param, plan->facts.ranks, max);
            slot->place = (struct alg_place){ .window_bytes = bytes, .user = i + 1 };
            slot->place.slot_bytes =
                alg_lines_bytes(alg->family, slot->param, plan->facts.ranks, bytes);
            if (bytes == 0)
                return turn[i];
            widest =
                slot->place.slot_bytes > plan->slot[turn[widest]].place.slot_bytes ? i : widest;
            lines += slot->place.slot_bytes;
            window = bytes > window ? mem_lines(bytes) : window;
        }
        excess = lines + window > left ? lines + window - left : 0;
        if (window <= excess)
            return turn[widest];
    }
    size_t begins = *at + lines + HUD_LINE;
    for (int i = 0; i < count; i++) {
        struct alg_place *place = &plan->slot[turn[i]].place;
        place->slot_offset = *at;
        place->window_offset = begins;
        *at += place->slot_bytes;
    }
    *at = begins + window;
    return -1;
}

/* Lays out the slots, beginning at byte `at`.  Returns -1, or a slot that does not fit. */
static int place(struct plan *plan, const struct layout *l, size_t at)
{
    int placed = l->fixed + l->own;

    for (int i = 0; i < placed; i++) {
        struct plan_slot *slot = &plan->slot[l->turn[i]];
        int parts = i < l->fixed ? 1 : placed - i + (l->shared != 0);
        size_t left = at < plan->max_bytes ? plan->max_bytes - at : 0;
        slot->place = alg_place_alone(hud_shm_algs[slot->row], slot->param, plan->facts.ranks, at,
                                      left / (size_t)parts / HUD_LINE * HUD_LINE);
        if (slot->place.slot_bytes == 0)
            return l->turn[i];
        at += alg_place_bytes(&slot->place);
    }
    int without = l->shared != 0 ? lay_out_shared(plan, l->turn + placed, l->shared, &at) : -1;
    plan->total_bytes = at;
    return without;
}

int hud_plan_lay_out(const struct config *config, struct plan *plan)
{
    size_t at = PLACE_OFFSET + mem_lines(place_bytes(plan->facts.ranks));
    bool checked = config->number[SET_CHECK] == SWITCH_ON;
    struct layout l = { .widest_bytes = PLAN_OWN_WINDOW + 1 };
    int without = -1;

    plan->roll_offset = at;
    at += checked ? sizeof(struct roll_slot) : 0;
    plan->slots_offset = at;
    for (bool again = true; again;) {
        bool much = order(plan, l.widest_bytes - 1, &l) > plan->max_bytes / 2;
        without = place(plan, &l, at);
        again = (much || without >= 0) && l.widest_bytes != 0;
    }
    if ((plan->slots == 0 && !checked) || plan->total_bytes > plan->max_bytes)
        plan->total_bytes = 0;
    return without;
}
