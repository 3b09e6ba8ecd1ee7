/* SPDX-License-Identifier: BSD-3-Clause */
/* check.c - HUDDLE_CHECK: the roll call before each collective, and the watch while it lasts. */
#include "core/check.h"
#include "core/clock.h"

#include <stdlib.h>

enum { NS_PER_S = 1000000000, LOOK_EVERY_NS = 20000000 };

static bool same_call(const struct roll_record *a, const struct roll_record *b)
{
    return memcmp(a, b, offsetof(struct roll_record, entered_ns)) == 0;
}

static void put_text(const char *from, char *to, size_t bytes)
{
    for (size_t i = 0; i + 1 < bytes && from && from[i] != '\0'; i++)
        to[i] = from[i];
}

static struct roll_record record_of(const char *name, const struct hud_call *call)
{
    struct roll_record r;

    memset(&r, 0, sizeof r);
    put_text(name, r.name, sizeof r.name);
    r.entered_ns = clock_ns();
    r.root = call ? call->root : -1;
    r.bytes = call ? call->bytes : HUD_ANY_BYTES;
    put_text(call ? call->detail : NULL, r.detail, sizeof r.detail);
    return r;
}

/* Of those that are in the current call the first speaks, when the one that came first has waited long enough. */
static void look(struct hud_team *team, uint64_t now)
{
    struct check *check = team->check;
    uint64_t first = now;
    int speaker = -1;

    for (int r = 0; r < team->size; r++) {
        struct check_member *m = &check->member[r];
        m->there = hud_shm_roll_look(&check->mem, check->call, r, &m->said);
        if (m->there && m->said.entered_ns < first)
            first = m->said.entered_ns;
        if (m->there && speaker < 0)
            speaker = r;
    }
    if (now - first < check->due_ns)
        return;
    if (speaker == team->rank)
        hud_complain_wait(team, now - first, now);
    check->due_ns *= 2;
}

/* The wait's progress: the host's own, and now and then a look at who is missing. */
static void watch(void *arg)
{
    struct hud_team *team = arg;
    struct check *check = team->check;
    uint64_t now = clock_ns();

    if (team->policy.progress)
        team->policy.progress(team->policy.arg);
    if (check->due_ns == 0 || now < check->look_ns)
        return;
    check->look_ns = now + LOOK_EVERY_NS;
    look(team, now);
}

bool hud_check_enter(struct hud_team *team, const struct hud_call *call)
{
    struct check *check = team->check;
    const struct roll_record mine = record_of(call->name, call);
    bool same = true;
    int speaker = -1; /* the first that is still in the team */

    if (check->depth++ > 0 || call->bytes == 0)
        return true;
    check->entered = true;
    check->call++;
    check->due_ns = (uint64_t)team->context->config.number[SET_CHECK_TIMEOUT] * NS_PER_S;
    check->look_ns = mine.entered_ns + LOOK_EVERY_NS;
    hud_shm_roll_enter(&check->mem, check->call, &mine);
    for (int r = 0; r < team->size; r++) {
        hud_shm_roll_hear(&check->mem, check->call, r, &check->member[r].said);
        check->member[r].there = true;
        same = same && same_call(&check->member[r].said, &mine);
        if (speaker < 0 && strcmp(check->member[r].said.name, CHECK_GONE) != 0)
            speaker = r;
    }
    if (!same && !check->said && team->rank == speaker)
        hud_complain_difference(team);
    check->said = check->said || !same;
    return same;
}

void hud_check_exit(struct hud_team *team)
{
    struct check *check = team->check;

    if (check->depth == 0 || --check->depth > 0 || !check->entered)
        return;
    check->entered = false;
    hud_shm_roll_leave(&check->mem, check->call, clock_ns());
}

struct check *hud_check_create(int ranks)
{
    return calloc(1, sizeof(struct check) + (size_t)ranks * sizeof(struct check_member));
}

void hud_check_start(struct hud_team *team, const struct peer_card *cards)
{
    struct check *check = team->check;
    uint64_t space = cards[team->rank].pid_namespace;

    check->mem = team->mem;
    check->mem.offset = team->plan->roll_offset;
    check->mem.policy = &check->policy;
    check->policy = team->policy;
    check->policy.progress = watch;
    check->policy.arg = team;
    for (int r = 0; r < team->size; r++)
        check->member[r].pid = space != 0 && cards[r].pid_namespace == space ? cards[r].pid : 0;
}

void hud_check_free(struct hud_team *team)
{
    struct check *check = team->check;

    if (check && team->state == TEAM_READY && check->depth == 0) {
        const struct roll_record gone = record_of(CHECK_GONE, NULL);
        hud_shm_roll_enter(&check->mem, check->call + 1, &gone);
    }
    free(check);
    team->check = NULL;
}
