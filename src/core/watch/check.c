/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * check.c - HUDDLE_CHECK: the roll call before each collective, and the data that the watch reads.
 */
#include "core/watch/check.h"
#include "base/clock.h"
#include "core/watch/deaths.h"
#include "core/watch/guard.h"
#include "core/watch/longwait.h"
#include "core/watch/watch.h"

#include <stdio.h>
#include <stdlib.h>

enum { NS_PER_S = 1000000000 };

static bool same_call(const struct roll_record *a, const struct roll_record *b)
{
    return memcmp(a, b, offsetof(struct roll_record, entered_ns)) == 0;
}

static void put_text(const char *from, char *to, size_t bytes)
{
    for (size_t i = 0; i + 1 < bytes && from && from[i] != '\0'; i++)
        to[i] = from[i];
}

static struct roll_record record_of(const char *name, const struct hud_announced *call)
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

static void lock(const struct hud_team *team)
{
    pthread_mutex_lock(&team->context->calls.watch->lock);
}

static void unlock(const struct hud_team *team)
{
    pthread_mutex_unlock(&team->context->calls.watch->lock);
}

/* ---- under the lock ---- */

static void begin(struct check *check, enum check_stage stage)
{
    check->stage = stage;
    check->since_ns = clock_ns();
    check->due_ns = (uint64_t)check->team->context->config.number[SET_CHECK_TIMEOUT] * NS_PER_S;
}

/* Finds the members in the current call, with their words about the call, and the members back
 * from the call, which do not matter if members differ. */
static void read_members(struct check *check, bool differ)
{
    for (int r = 0; r < check->team->id.size; r++) {
        struct check_member *m = &check->member[r];
        m->there = hud_shm_roll_peek(&check->watch_mem, check->call, r, &m->record);
        m->back =
            !differ && m->there && hud_shm_roll_left_ns(&check->watch_mem, check->call + 1, r) != 0;
    }
}

/* Returns whether this rank is the first in the call, which speaks for all. */
static bool speaks(const struct check *check)
{
    int r = 0;

    while (r < check->team->id.rank && (!check->member[r].there || check->member[r].back ||
                                        strcmp(check->member[r].record.name, CHECK_GONE) == 0))
        r++;
    return r == check->team->id.rank;
}

void hud_check_report_missing(struct check *check)
{
    uint64_t now = clock_ns(), since = check->since_ns;

    if (check->stage == CHECK_IDLE)
        return;
    if (check->stage != CHECK_SET_UP)
        read_members(check, false);
    for (int r = 0; check->stage == CHECK_COMING && r < check->team->id.size; r++)
        if (check->member[r].there && check->member[r].record.entered_ns < since)
            since = check->member[r].record.entered_ns;
    if (now - since < check->due_ns)
        return;
    check->due_ns *= 2;
    if (check->stage == CHECK_SET_UP || speaks(check))
        hud_rollcall_report_wait(check, now - since, now);
}

/* ---- calls ---- */

/* Asks for the user's name of the communicator now; the host's functions are for this thread. */
static void name_team(struct hud_team *team, char name[CHECK_NAME])
{
    const struct hud_exchange *x = &team->hooks.exchange;

    name[0] = '\0';
    if (x->name)
        x->name(x->arg, name, CHECK_NAME);
    if (name[0] == '\0' && x->world_rank)
        snprintf(name, CHECK_NAME, "the communicator whose first is rank %d of the job",
                 x->world_rank(x->arg, 0));
    else if (name[0] == '\0')
        snprintf(name, CHECK_NAME, "a team");
}

struct roll_wait {
    struct hud_team *team;
    const struct roll_record *mine;
    bool same;
};

/* Waits for all members. */
static void await_all(void *arg)
{
    struct roll_wait *h = arg;
    struct check *check = h->team->hooks.check;
    struct roll_record theirs;

    for (int r = 0; r < h->team->id.size; r++) {
        hud_shm_roll_await(&check->mem, check->call, r, &theirs);
        h->same = h->same && same_call(&theirs, h->mine);
    }
}

static int roll_call(struct hud_team *team, const struct roll_record *mine)
{
    struct check *check = team->hooks.check;
    struct roll_wait all = { .team = team, .mine = mine, .same = true };
    bool aborts = false;
    int status;

    hud_shm_roll_enter(&check->mem, check->call, mine);
    status = hud_guard_call(await_all, &all);
    lock(team);
    begin(check, CHECK_INSIDE);
    if (status == 0 && !all.same && !check->reported) {
        read_members(check, true);
        if (speaks(check)) {
            hud_rollcall_report_difference(check);
            aborts = team->context->config.check_aborts;
        }
        check->reported = true;
    }
    unlock(team);
    if (aborts)
        hud_deaths_end_job(team);
    check->alike = all.same;
    return status != 0 ? status : all.same ? HUD_OK : HUD_PASS;
}

int hud_check_enter(struct hud_team *team, const struct hud_announced *call)
{
    struct check *check = team->hooks.check;
    const struct roll_record mine = record_of(call->name, call);
    char name[CHECK_NAME];

    if (check->depth++ > 0)
        return check->alike ? HUD_OK : HUD_PASS;
    check->alike = true;
    if (call->bytes == 0)
        return HUD_OK;
    check->entered = true;
    name_team(team, name);
    lock(team);
    memcpy(check->name, name, sizeof name);
    check->call++;
    begin(check, CHECK_COMING);
    unlock(team);
    return roll_call(team, &mine);
}

void hud_check_exit(struct hud_team *team)
{
    struct check *check = team->hooks.check;

    if (check->depth == 0 || --check->depth > 0 || !check->entered)
        return;
    check->entered = false;
    lock(team);
    check->stage = CHECK_IDLE;
    unlock(team);
    hud_shm_roll_leave(&check->mem, check->call, clock_ns());
}

/* ---- life ---- */

struct check *hud_check_create(struct hud_team *team)
{
    struct check *check =
        calloc(1, sizeof *check + (size_t)team->id.size * sizeof check->member[0]);
    struct watch *watch = team->context->calls.watch;

    if (!check)
        return NULL;
    check->team = team;
    name_team(team, check->name);
    hud_watch_start(watch);
    lock(team);
    begin(check, CHECK_SET_UP);
    check->next = watch->first;
    if (check->next)
        check->next->prev = check;
    watch->first = check;
    unlock(team);
    return check;
}

void hud_check_start(struct hud_team *team, const struct peer_card *cards)
{
    struct check *check = team->hooks.check;

    lock(team);
    check->stage = CHECK_IDLE;
    check->policy = team->shm.policy;
    check->policy.watch = hud_longwait_roll;
    check->mem = team->shm.mem;
    check->mem.policy = &check->policy;
    check->mem.slot_offset = team->plan.shared->roll_offset;
    check->watch_mem = check->mem;
    for (int r = 0; r < team->id.size; r++)
        check->member[r].pid = peer_pid(&cards[team->id.rank], &cards[r]);
    unlock(team);
}

void hud_check_free(struct hud_team *team)
{
    struct check *check = team->hooks.check;

    if (!check)
        return;
    lock(team);
    *(check->prev ? &check->prev->next : &team->context->calls.watch->first) = check->next;
    if (check->next)
        check->next->prev = check->prev;
    unlock(team);
    if (team->state.now == TEAM_READY && check->depth == 0) {
        const struct roll_record gone = record_of(CHECK_GONE, NULL);
        hud_shm_roll_enter(&check->mem, check->call + 1, &gone);
    }
    free(check);
    team->hooks.check = NULL;
}
