/* SPDX-License-Identifier: BSD-3-Clause */
/* longwait.c - long waits: the note, and the checks whether a call can still end. */
#define _GNU_SOURCE
#include "core/watch/longwait.h"
#include "alg/nodes/nodes.h"
#include "base/hash.h"
#include "base/process.h"
#include "core/config/log.h"
#include "core/watch/deaths.h"
#include "core/watch/follow_root.h"
#include "core/watch/guard.h"
#include "core/watch/mismatch_detect.h"
#include "core/watch/mismatch_report.h"

#include <stdio.h>

enum {
    OBSERVED_PER_DEATH = 4, /* observations between two questions about processes: 200 ms */
    OBSERVED_FOR_SIZES = 20 /* observations before sizes that differ end a call: 1 s */
};

void hud_longwait_name(const struct hud_team *team, char *name, size_t bytes)
{
    const struct hud_exchange *x = &team->hooks.exchange;

    name[0] = '\0';
    if (x->name)
        x->name(x->arg, name, bytes);
    if (name[0] == '\0')
        snprintf(name, bytes, x->world_rank ? "a communicator" : "a team");
}

bool hud_longwait_claim_report(struct hud_team *team)
{
    return mem_count_claim(&team_member(team, 0)->reported);
}

void hud_longwait_begin(struct hud_team *team, const struct peer_card *cards, uint64_t offset)
{
    uint64_t number = hash_number(HASH_START, offset);

    hud_process_note();
    for (size_t i = 0; i < ARENA_NONCE; i++)
        number = hash_number(number, cards[0].nonce[i]);
    team->id.number = number;
    team->shm.mine = team_member(team, team->id.rank);
    team->shm.policy.watch = hud_longwait_watch;
    team->shm.policy.watch_arg = team;
    for (int r = 0; r < team->id.size; r++)
        team->peers.process[r] =
            (struct team_process){ .pid = peer_pid(&cards[team->id.rank], &cards[r]) };
}

/* ---- the note ---- */

static void put(char *to, size_t bytes, const char *from)
{
    snprintf(to, bytes, "%s", from);
}

/* Returns the rank in whose slice the flag lies. */
static int owner_of(const struct hud_team *team, const void *flag)
{
    int r = 0;

    while (r < team->id.size && ((const char *)flag < team->shm.slices[r] ||
                                 (const char *)flag >= team->shm.slices[r] + team->shm.bytes))
        r++;
    return r < team->id.size ? r : -1;
}

/* Reads the note of another member about a wait in this team.  Returns false if there is no long
 * wait. */
static bool read_note(const struct hud_team *team, int rank, union wait_words *words)
{
    const struct arena_head *head = deaths_head(team, rank);

    for (int i = 0; i < NOTE_COUNT; i++)
        if (mem_note_read(&head->note[i], words->word) && words->note.team == team->id.number)
            return true;
    return false;
}

/* Returns the algorithm of the team's current call.  Without a row, the team is the node of a span,
 * and the slot is the index of an algorithm between nodes. */
static const struct alg *running(const struct hud_team *team)
{
    const struct plan_entry *entry = team->plan.entry;

    return entry->row >= 0 ? hud_shm_algs[entry->row] : hud_shm_nodes_algs[entry->slot];
}

/* Describes the running call.  While an allreduce of huddle's own runs, this is the program's call:
 * the program's collective decides the error, and users know no other call. */
static void describe_call(const struct hud_team *team, const struct alg *alg,
                          struct wait_note *note)
{
    const uint64_t *shape = team->hooks.precedes;
    const struct coll *call = team->plan.call;
    int kind = shape ? member_shape_kind(*shape) : hud_coll_kind(alg->coll);

    note->bytes = shape ? member_shape_size(*shape) : call->bytes;
    if (coll_has(kind, COLL_ROOTED))
        note->root = shape ? member_shape_root(*shape) : call->root;
    put(note->collective, sizeof note->collective, coll_name(kind));
    put(note->algorithm, sizeof note->algorithm, shape ? "agreement" : alg->name);
}

/* Describes a wait.  outside: the purpose of a wait outside of calls and of the set-up of a span,
 * or NULL. */
static void describe(const struct hud_team *team, const struct mem_wait *wait, const char *outside,
                     struct wait_note *note)
{
    const struct alg *alg = !outside && team->plan.entry ? running(team) : NULL;
    union wait_words other;

    note->team = team->id.number;
    note->call = hud_mismatch_count_calls(team_member(team, team->id.rank));
    note->since_ns = (uint64_t)wait->begin_ns;
    note->world_rank = team->context->host.world_rank;
    note->rank = team->id.rank;
    note->size = team->id.size;
    note->owner = owner_of(team, wait->flag);
    note->line = wait->line;
    note->root = -1;
    if (alg)
        describe_call(team, alg, note);
    else
        put(note->collective, sizeof note->collective, outside ? outside : "set-up");
    put(note->file, sizeof note->file, wait->file);
    put(note->label, sizeof note->label, hud_edge_label(wait->file, wait->line));
    hud_longwait_name(team, note->communicator, sizeof note->communicator);
    for (int r = 0; r < team->id.size; r++) {
        if (r == team->id.rank || read_note(team, r, &other))
            continue;
        if (note->missing < NOTE_MISSING) {
            note->absent[note->missing].rank = r;
            note->absent[note->missing].pid = team->peers.process[r].pid;
        }
        note->missing++;
    }
}

static void publish(struct mem_wait *wait, struct arena_head *head, const struct wait_note *note)
{
    union wait_words words = { .word = { 0 } };

    if (!wait->state)
        wait->state = mem_note_claim(head->note, NOTE_COUNT);
    if (!wait->state)
        return;
    words.note = *note;
    mem_note_write(wait->state, words.word);
}

static void withdraw(struct mem_wait *wait)
{
    if (wait->state)
        mem_note_drop(wait->state);
    wait->state = NULL;
}

/* ---- calls that differ ---- */

/* Returns whether a note is of a wait in the call of a number.  A roll call comes before its
 * call is counted: a member that waits in a roll call has the number of the completed call
 * before. */
static bool waits_in(const struct wait_note *note, uint64_t call)
{
    return note->call == call && note->algorithm[0] != '\0';
}

/* Returns whether all ranks know the call's size.  A broadcast's receivers learn the size from
 * the root, and report a truncation themselves.  Where sizes alone differ, other calls may end
 * in the same way, once a late rank has come; so they get more time. */
static bool is_sized(const struct wait_note *note)
{
    int kind = hud_coll_kind(note->collective);

    return kind < 0 || !coll_has(kind, COLL_ONE_BUFFER);
}

static bool same_call(const struct wait_note *a, const struct wait_note *b)
{
    return strcmp(a->collective, b->collective) == 0 && strcmp(a->algorithm, b->algorithm) == 0 &&
           a->root == b->root;
}

/* Compares the counts of both members. */
static bool differs(const struct hud_team *team, int rank, bool counted, bool sized,
                    struct mismatch_pair *calls)
{
    const struct member_state *own = team->shm.mine, *their = team_member(team, rank);
    uint64_t shape;

    if (counted && hud_mismatch_in_calls(own, their)) {
        int slot = hud_mismatch_find_call(own, their, calls->own.kind, &shape);
        calls->other = hud_mismatch_of_shape(slot, shape);
        /* this rank may be a call ahead, so the other rank may have missed an earlier call */
        slot = hud_mismatch_find_call(their, own, calls->other.kind, &shape);
        struct mismatch_call made = hud_mismatch_of_shape(slot, shape);
        if (made.kind >= 0 && (made.kind != calls->own.kind || made.bytes != calls->own.bytes))
            calls->own = made;
        return true;
    }
    if (!hud_mismatch_in_shape(own, their, team->plan.entry->slot, sized, &shape))
        return false;
    calls->other = hud_mismatch_of_shape(team->plan.entry->slot, shape);
    return true;
}

/* Returns the status of calls that differ.  MPIs report a truncated message if only sizes do. */
static int status_of(const struct mismatch_pair *calls)
{
    bool sizes = calls->own.kind >= 0 && calls->own.kind == calls->other.kind &&
                 calls->own.root == calls->other.root;

    return sizes ? HUD_ERR_TRUNCATE : HUD_ERR_UNLIKE;
}

/* Returns the status of a call in which the members differ, or 0 if none is known to. */
static int compare_calls(struct hud_team *team, const struct wait_note *mine, bool sized)
{
    union wait_words theirs;

    for (int r = 0; r < team->id.size; r++) {
        struct mismatch_pair calls = { .own = hud_mismatch_of_note(mine) };
        uint64_t follows = mem_count_observe(&team_member(team, r)->follows);
        if (r == team->id.rank || hud_follow_root_will(team, r))
            continue;
        bool waits = read_note(team, r, &theirs) && waits_in(&theirs.note, mine->call);
        if (waits &&
            (!same_call(mine, &theirs.note) || (sized && mine->bytes != theirs.note.bytes)))
            calls.other = hud_mismatch_of_note(&theirs.note);
        else if (!differs(team, r, !waits, sized, &calls))
            continue;
        if (hud_follow_root_is_left(team, r, &calls) || hud_follow_root_will(team, r) ||
            !hud_mismatch_only_grown(team_member(team, r), follows))
            continue;
        hud_mismatch_report(team, r, &calls);
        return status_of(&calls);
    }
    return 0;
}

/* ---- the observer ---- */

/* Returns whether the host reports that the wait cannot end. */
static bool is_interrupted(struct hud_team *team, const struct mem_wait *wait,
                           const struct wait_note *mine)
{
    bool is = team->hooks.exchange.interrupted &&
              team->hooks.exchange.interrupted(team->hooks.exchange.arg);

    if (is)
        hud_deaths_find(team, wait, mine); /* reports a rank that has ended, if there is one */
    return is;
}

/* Returns whether a member's process has ended, and the host expects an error. */
static bool is_ended(struct hud_team *team, const struct mem_wait *wait,
                     const struct wait_note *mine)
{
    return wait->observed % OBSERVED_PER_DEATH == 1 && hud_deaths_find(team, wait, mine) &&
           team->context->host.fault_tolerant;
}

/* Returns the status with which a member has given up the team, or 0 if none has. */
static int given_up(const struct hud_team *team)
{
    uint64_t gave_up = 0;

    for (int r = 0; r < team->id.size && gave_up == 0; r++)
        gave_up = mem_count_observe(&team_member(team, r)->gave_up);
    return gave_up == 0 ? 0 : gave_up <= HUD_ERR_FAILED + 1 ? (int)gave_up - 1 : HUD_ERR_FAILED;
}

bool hud_longwait_is_given_up(const struct hud_team *team)
{
    return given_up(team) != 0;
}

/* Returns the status with which this call must end, or FOLLOW_ROOT with an entry, or 0 if the call
 * may still end well. */
static int find_end(struct hud_team *team, const struct mem_wait *wait, const char *outside,
                    const struct wait_note *mine)
{
    if (is_interrupted(team, wait, mine))
        return HUD_ERR_FAILED;
    int status = given_up(team);
    if (status != 0)
        return status;
    int entry = !outside ? hud_follow_root_entry(team) : -1;
    if (entry >= 0)
        return FOLLOW_ROOT + entry;
    bool sized = wait->observed >= OBSERVED_FOR_SIZES && is_sized(mine);
    status = !outside && team->plan.entry ? compare_calls(team, mine, sized)
                                          : 0; /* a roll call finds by itself where they differ */
    return status == 0 && is_ended(team, wait, mine) ? HUD_ERR_FAILED : status;
}

/* Publishes a wait, or withdraws a wait that is over.  Returns whether the wait goes on. */
static bool announce(struct hud_team *team, struct mem_wait *wait, bool over, const char *outside,
                     struct wait_note *mine)
{
    if (over) {
        withdraw(wait);
        return false;
    }
    *mine = (struct wait_note){ .team = 0 };
    describe(team, wait, outside, mine);
    publish(wait, deaths_head(team, team->id.rank), mine);
    return !mem_wait_is_over(wait);
}

/* Observes a wait.  outside: as for describe(). */
static void observe(struct hud_team *team, struct mem_wait *wait, bool over, const char *outside)
{
    struct wait_note mine;

    if (!announce(team, wait, over, outside, &mine))
        return; /* nothing to report */
    int status = find_end(team, wait, outside, &mine);
    if (status == 0 || mem_wait_is_over(wait)) /* what ends later calls does not end this one */
        return;
    withdraw(wait);
    hud_guard_leave(status);
}

void hud_longwait_roll(struct mem_wait *wait, bool over, void *arg)
{
    observe(arg, wait, over, "check of calls");
}

void hud_longwait_watch(struct mem_wait *wait, bool over, void *arg)
{
    observe(arg, wait, over, NULL);
}

int hud_longwait_look(struct hud_team *team, struct mem_wait *wait, bool over)
{
    struct wait_note mine;

    return announce(team, wait, over, "error recovery", &mine) &&
                   (is_interrupted(team, wait, &mine) || is_ended(team, wait, &mine))
               ? HUD_ERR_FAILED
               : HUD_OK;
}

int hud_longwait_abandon(struct hud_team *team, int status)
{
    /* first: the others leave while this one waits */
    mem_count_put(&team_member(team, team->id.rank)->gave_up, 1 + (uint64_t)status);
    for (int r = 0; r < team->id.size; r++)
        mem_count_put(&team_member(team, r)->ends, 1);
    if (team->shm.mem_team.peers)
        hud_mem_close(&team->shm.mem, hud_deaths_has_ended, team);
    /* after a failure, and of a single-call team, no call is the next one of all members */
    team->state.now =
        status == HUD_ERR_FAILED || team->plan.single_call.enabled ? TEAM_BROKEN : TEAM_ENDING;
    team->state.reason = REASON_BROKEN;
    return status;
}

int hud_longwait_abandon_early(struct hud_team *team, int status)
{
    member_count_unslotted(team->shm.mine); /* first: other members read it once they know */
    return hud_longwait_abandon(team, status);
}

void hud_longwait_join(struct hud_team *team)
{
    if (team->state.now == TEAM_READY && !team->hooks.check &&
        mem_count_observe(&team->shm.mine->ends) != 0)
        hud_longwait_abandon(team, given_up(team));
}
