/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * layout.c - where each slot of a plan lies in a slice.
 *
 * Flags first.  Then slots that hold data of their own: the smallest first, the others in
 * equal parts of what is left, but no more than they want, so that the others' parts grow; the
 * team's window counts as one of them.  Then the slots that use the team's window in turn, and the
 * window itself: all that remains, at most what one of them wants.
 *
 * A window of up to PLAN_OWN_WINDOW bytes is its algorithm's own.  Where that would take more than
 * half of the slice, or leave no room for a slot, the largest of these share the team's window,
 * too.
 */
#include "core/choose/plan.h"

/* Slots in the order in which they are laid out, and how many there are of each class. */
struct layout {
    int turn[PLAN_SLOTS];
    int fixed, own, shared; /* of fixed size; with data of their own; with the team's window */
    size_t widest_bytes;    /* the largest window of those with their own */
};

/* Bytes that a slot would take of all there is; what has a fixed size wants nothing more than the
 * others, and what uses the team's window more.  own_bytes: of the largest window that is its
 * algorithm's own. */
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

/* A window that nobody else would use is the slot's own.  Returns the bytes that all slots with
 * data of their own want. */
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

/* Slots that use the team's window: it gets what their lines leave of all that is left.  Returns
 * -1, or the slot that has no room. */
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

/* Places the slots from byte `at` on. */
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
    size_t at =
        PLACE_OFFSET + mem_lines(sizeof(struct place_table) +
                                 SHAPE_LEVELS * (size_t)plan->facts.ranks * sizeof(int16_t));
    bool checked = config->number[SET_CHECK] == SWITCH_ON;
    struct layout l = { .widest_bytes = PLAN_OWN_WINDOW + 1 };
    int without = -1;

    plan->roll_offset = at;
    at += checked ? sizeof(struct roll_slot) : 0;
    for (bool again = true; again;) {
        bool much = order(plan, l.widest_bytes - 1, &l) > plan->max_bytes / 2;
        without = place(plan, &l, at);
        again = (much || without >= 0) && l.widest_bytes != 0;
    }
    if ((plan->slots == 0 && !checked) || plan->total_bytes > plan->max_bytes)
        plan->total_bytes = 0;
    return without;
}
