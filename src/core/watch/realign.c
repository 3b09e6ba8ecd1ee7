/* SPDX-License-Identifier: BSD-3-Clause */
/* realign.c - see realign.h. */
#include "core/watch/realign.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"

/* The rules, by their numbers. */
enum realign_rule { RULE_NONE, RULE_FAILS, RULE_FOLLOWS, RULE_ENDS };

struct realign {
    struct hud_team *team;
    bool is_own;
    enum realign_rule rule; /* rule found to apply */
};

/* The program's calls of a member.  Signed, since the words are not read at once. */
struct made {
    int64_t in_huddle, by_host;
};

/* Reads a member's counts.  Includes only calls that have begun: agreements are counted before the
 * slot counts them, and are read after the slot.  Returns false if the member has left a call to
 * the host meanwhile. */
static bool read_made(const struct member_state *member, struct made *made)
{
    uint64_t by_host = mem_count_observe(&member->calls[MEMBER_FELL_BACK]), sum = 0;

    for (int s = 0; s < MEMBER_FELL_BACK; s++)
        sum += mem_count_observe(&member->calls[s]);
    sum += mem_count_observe(&member->unslotted);
    made->in_huddle = (int64_t)(sum - mem_count_observe(&member->agreements));
    made->by_host = (int64_t)by_host;
    return mem_count_observe(&member->calls[MEMBER_FELL_BACK]) == by_host;
}

/* Returns the rule that applies to the next call.  Reads first whether a member has given up or
 * left, and then the member's counts, which grow by these rules only from then on. */
static enum realign_rule find_rule(const struct realign *next)
{
    struct hud_team *team = next->team;
    struct made mine, theirs;
    bool all = true, in_huddle = false, by_host = false;

    read_made(team->shm.mine, &mine);
    for (int r = 0; r < team->id.size; r++) {
        const struct member_state *member = team_member(team, r);
        bool gave_up =
                 mem_count_observe(&member->gave_up) != 0 || mem_count_observe(&member->left) != 0,
             known = read_made(member, &theirs),
             ahead = known && theirs.in_huddle + theirs.by_host > mine.in_huddle + mine.by_host;
        all = all && known && gave_up;
        in_huddle = in_huddle || (ahead && theirs.in_huddle > mine.in_huddle);
        by_host = by_host || (ahead && theirs.by_host > mine.by_host &&
                              (next->is_own || theirs.in_huddle <= mine.in_huddle));
    }
    return by_host ? RULE_FOLLOWS : in_huddle ? RULE_FAILS : all ? RULE_ENDS : RULE_NONE;
}

/* Observes the wait, and leaves it once a rule applies. */
static void watch(struct mem_wait *wait, bool over, void *arg)
{
    struct realign *next = arg;
    int status = hud_longwait_look(next->team, wait, over);

    if (over)
        return;
    next->rule = find_rule(next);
    if (next->rule == RULE_NONE && status == HUD_OK)
        return;
    hud_longwait_look(next->team, wait, true);
    hud_guard_leave(status != HUD_OK ? status : HUD_PASS);
}

/* Waits until all members have given up. */
static void await_all(void *arg)
{
    struct hud_team *team = ((struct realign *)arg)->team;
    struct mem_policy policy = team->shm.policy;
    struct mem mem = team->shm.mem;

    policy.watch = watch;
    policy.watch_arg = arg;
    mem.policy = &policy;
    for (int r = 0; r < team->id.size; r++)
        hud_mem_wait(&mem, &team_member(team, r)->gave_up.value, 1, __FILE__, __LINE__);
}

int hud_realign(struct hud_team *team, bool is_own)
{
    struct realign next = { .team = team, .is_own = is_own };
    int status = HUD_PASS;

    for (next.rule = find_rule(&next); next.rule == RULE_NONE && status <= HUD_PASS;) {
        status = hud_guard_call(await_all, &next);
        if (status == HUD_OK)
            next.rule = find_rule(&next);
    }
    if (status > HUD_PASS || next.rule == RULE_FAILS)
        member_count_unslotted(team->shm.mine);
    if (status > HUD_PASS || next.rule == RULE_ENDS)
        team->state.now = TEAM_BROKEN;
    return status > HUD_PASS ? status : next.rule == RULE_FAILS ? HUD_ERR_UNLIKE : HUD_PASS;
}
