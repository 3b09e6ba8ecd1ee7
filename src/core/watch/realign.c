/* SPDX-License-Identifier: BSD-3-Clause */
/* realign.c - see realign.h. */
#include "core/watch/realign.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"

/* The rules, by their numbers. */
enum realign_rule { RULE_NONE, RULE_FAILS, RULE_FOLLOWS, RULE_ENDS };

struct realign {
    struct hud_team *team;
    enum realign_rule rule; /* rule found to apply */
};

static uint64_t count_in_slots(const struct hud_team *team, const struct member_state *member)
{
    uint64_t sum = 0;

    for (int s = 0; s < team->plan.shared->slots; s++)
        sum += mem_count_observe(&member->calls[s]);
    return sum;
}

/* Adds the calls without a slot to the calls in slots, and subtracts huddle's own allreduces.  The
 * result counts only calls that have begun: an agreement is counted before its slot counts the
 * call, and this function reads the agreements after the slots. */
static uint64_t add_outside(uint64_t in_slots, const struct member_state *member)
{
    in_slots += mem_count_observe(&member->unslotted);
    return in_slots - mem_count_observe(&member->agreements);
}

/* Returns how many of the program's calls a member has made in huddle. */
static uint64_t count_in_huddle(const struct hud_team *team, const struct member_state *member)
{
    return add_outside(count_in_slots(team, member), member);
}

static uint64_t count_by_host(const struct member_state *member)
{
    return mem_count_observe(&member->calls[MEMBER_FELL_BACK]);
}

/* Returns how many calls this member has made in huddle.  A program may leave most calls to the
 * host, so this function reads the slots only after another call in huddle. */
static uint64_t count_own(struct hud_team *team)
{
    if (team->plan.call)
        team->shm.in_slots = count_in_slots(team, team->shm.mine);
    team->plan.call = NULL;
    return add_outside(team->shm.in_slots, team->shm.mine);
}

void hud_realign_publish(struct hud_team *team, uint64_t shape)
{
    struct member_state *mine = team->shm.mine;

    if (!team_counts(team))
        return;
    uint64_t call = count_by_host(mine) + 1;
    if (team->hooks.learn) /* otherwise all calls to the host are fixed */
        mem_count_put(&mine->before[call % MEMBER_BEFORE], count_own(team));
    member_count(mine, MEMBER_FELL_BACK, call, shape);
    hud_longwait_join(team); /* last: other members read the count once they know */
}

/* Returns how many calls in huddle a member has made before a call to the host: number `call`, or
 * the oldest call that is kept.  by_host: number of the member's calls to the host.  Clears *known
 * if the answer has been overwritten meanwhile. */
static uint64_t read_before(const struct member_state *member, uint64_t call, uint64_t by_host,
                            bool *known)
{
    uint64_t kept = MEMBER_BEFORE - 1; /* the next place may be written already */

    if (by_host >= kept && call <= by_host - kept)
        call = by_host - kept + 1;
    uint64_t before = mem_count_observe(&member->before[call % MEMBER_BEFORE]);
    *known = *known && count_by_host(member) < call + kept;
    return before;
}

/* Returns the rule by which another member has made the next call, or RULE_NONE if the other member
 * is not ahead.  Clears *known if its counts have changed meanwhile. */
static enum realign_rule find_made(const struct hud_team *team, const struct member_state *theirs,
                                   bool *known)
{
    const struct member_state *mine = team->shm.mine;
    uint64_t in_huddle = count_in_huddle(team, mine), by_host = count_by_host(mine),
             their_by_host = count_by_host(theirs);

    /* If the place is below in_huddle, this member failed a call that the other one made in the
     * host.  The host would match this member's next call with that call, so the call fails. */
    if (team->hooks.learn && their_by_host > by_host)
        return read_before(theirs, by_host + 1, their_by_host, known) == in_huddle ? RULE_FOLLOWS
                                                                                   : RULE_FAILS;
    bool ahead = (int64_t)(count_in_huddle(team, theirs) - in_huddle) > 0;
    *known = *known && count_by_host(theirs) == their_by_host;
    return ahead ? RULE_FAILS : RULE_NONE;
}

/* Returns the rule that applies to the next call.  Reads first whether a member has given up or
 * left, and then the member's counts, which grow by these rules only from then on. */
static enum realign_rule find_rule(const struct realign *next)
{
    struct hud_team *team = next->team;
    bool all = true, fails = false, follows = false;

    for (int r = 0; r < team->id.size; r++) {
        const struct member_state *member = team_member(team, r);
        bool gave_up =
                 mem_count_observe(&member->gave_up) != 0 || mem_count_observe(&member->left) != 0,
             known = true;
        enum realign_rule made = find_made(team, member, &known);
        all = all && known && gave_up;
        fails = fails || (known && made == RULE_FAILS);
        follows = follows || (known && made == RULE_FOLLOWS);
    }
    return follows ? RULE_FOLLOWS : fails ? RULE_FAILS : all ? RULE_ENDS : RULE_NONE;
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

int hud_realign(struct hud_team *team)
{
    struct realign next = { .team = team };
    int status = HUD_PASS;

    for (next.rule = find_rule(&next); next.rule == RULE_NONE && status <= HUD_PASS;) {
        status = hud_guard_call(await_all, &next);
        if (status == HUD_OK) {
            mem_pause(); /* all have given up, but a count has changed while it was read */
            next.rule = find_rule(&next);
        }
    }
    if (status > HUD_PASS || next.rule == RULE_FAILS)
        member_count_unslotted(team->shm.mine);
    if (status > HUD_PASS || next.rule == RULE_ENDS)
        team->state.now = TEAM_BROKEN;
    return status > HUD_PASS ? status : next.rule == RULE_FAILS ? HUD_ERR_UNLIKE : HUD_PASS;
}
