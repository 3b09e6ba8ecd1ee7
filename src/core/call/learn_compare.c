/* SPDX-License-Identifier: BSD-3-Clause */
/* learn_compare.c - the ranks of a team agree on times, and on sizes of broadcasts (learn.h). */
#include "core/call/carry_out.h"
#include "core/call/learn.h"
#include "core/config/log.h"
#include "core/watch/longwait.h"

/* What the ranks of a broadcast compare, as maxima.  The complements give the minima. */
struct compared {
    uint64_t bytes, bytes_not, calls, calls_not;
};

_Static_assert(sizeof(struct compared) == PLAN_COMPARED, "learn.compare");

int hud_learn_agree(struct hud_team *team, const struct plan_entry *entry, void *mine, void *all,
                    size_t bytes)
{
    const struct hud_view in = { .base = mine, .bytes = bytes },
                          out = { .base = all, .bytes = bytes };
    struct coll call = {
        .bytes = bytes, .in = &in, .out = &out, .reduction = &team->hooks.learn->max
    };

    mem_count_step(&team->shm.mine->agreements);
    team->hooks.precedes = &team->hooks.learn->shape;
    int status = carry_out(team, entry, &call, team->hooks.learn->shape, &(bool){ false });
    team->hooks.precedes = NULL;
    return status;
}

/* Compares the ranks' sizes of a broadcast, and their numbers of calls.  Sets *all, the same on all
 * ranks.  Returns HUD_OK, or the status of a failed call. */
static int compare_sizes(struct hud_team *team, size_t bytes, struct compared *all)
{
    struct learn *l = team->hooks.learn;
    struct compared mine = { bytes, ~(uint64_t)bytes, l->calls, ~l->calls };

    return hud_learn_agree(team, l->compare, &mine, all, sizeof mine);
}

static bool is_equal(const struct compared *all)
{
    return all->bytes == ~all->bytes_not && all->calls == ~all->calls_not;
}

/* Sets *entry to the first choice for the largest size that a rank passes.  The call fails if the
 * ranks are in different calls. */
static int choose_for_largest(struct hud_team *team, int at, const struct compared *all,
                              const struct plan_entry **entry)
{
    char name[64];

    *entry = plan_find(team->plan.shared, at / PLAN_CLASSES, (size_t)all->bytes);
    if (all->calls == ~all->calls_not)
        return HUD_OK;
    hud_longwait_name(team, name, sizeof name);
    if (hud_longwait_claim_report(team))
        hud_log(&team->context->config, LOG_ERROR,
                "ranks of %s (%d ranks) make different calls: one rank has made %llu calls more "
                "than another; the call fails, and later calls fall back to %s "
                "(HUDDLE_CHECK=on reports more)",
                name, team->id.size, (unsigned long long)(all->calls - ~all->calls_not),
                team->context->id.owner);
    return HUD_ERR_UNLIKE;
}

int hud_learn_compare(struct hud_team *team, int at, size_t bytes, bool *equal,
                      const struct plan_entry **entry)
{
    struct compared all;
    int status = compare_sizes(team, bytes, &all);

    *equal = status == HUD_OK && is_equal(&all);
    return status == HUD_OK && !*equal ? choose_for_largest(team, at, &all, entry) : status;
}
