/* SPDX-License-Identifier: BSD-3-Clause */
/* longwait.c - long waits: the note, and the checks whether a call can still end. */
#define _GNU_SOURCE
#include "core/team/longwait.h"
#include "alg/nodes/nodes.h"
#include "core/check/differ.h"
#include "core/config/log.h"
#include "core/hash.h"
#include "core/process.h"
#include "core/team/guard.h"
#include "core/team/unlike.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    LOOKS_PER_DEATH = 4, /* looks from one question about processes to the next: 200 ms */
    LOOKS_AT_SIZES = 20, /* looks before sizes that differ end a call: 1 s */
    ASKED_PER_LOOK = 16  /* members that such a look asks about */
};

static struct arena_head *head_of(const struct hud_team *team, int rank)
{
    return (struct arena_head *)((uintptr_t)team->slices[rank] & team->mem.home_mask);
}

void hud_longwait_name(const struct hud_team *team, char *name, size_t bytes)
{
    const struct hud_exchange *x = &team->exchange;

    name[0] = '\0';
    if (x->name)
        x->name(x->arg, name, bytes);
    if (name[0] == '\0')
        snprintf(name, bytes, x->world_rank ? "a communicator" : "a team");
}

bool hud_longwait_says(struct hud_team *team)
{
    return mem_count_claim(&team_member(team, 0)->said);
}

void hud_longwait_begin(struct hud_team *team, const struct peer_card *cards, uint64_t offset)
{
    uint64_t number = hash_number(HASH_START, offset);

    hud_process_note();
    for (size_t i = 0; i < ARENA_NONCE; i++)
        number = hash_number(number, cards[0].nonce[i]);
    team->number = number;
    team->mine = team_member(team, team->rank);
    for (int r = 0; r < team->size; r++)
        team->process[r] = (struct team_process){ .pid = peer_pid(&cards[team->rank], &cards[r]) };
}

/* ---- the note ---- */

static void put(char *to, size_t bytes, const char *from)
{
    snprintf(to, bytes, "%s", from);
}

/* The rank in whose slice the flag lies. */
static int owner_of(const struct hud_team *team, const void *flag)
{
    int r = 0;

    while (r < team->size && ((const char *)flag < team->slices[r] ||
                              (const char *)flag >= team->slices[r] + team->bytes))
        r++;
    return r < team->size ? r : -1;
}

/* Reads what another member waits for, in this team; false: it is in no long wait of it. */
static bool read_note(const struct hud_team *team, int rank, union wait_words *words)
{
    const struct arena_head *head = head_of(team, rank);

    for (int i = 0; i < NOTE_COUNT; i++)
        if (mem_note_read(&head->note[i], words->word) && words->is.team == team->number)
            return true;
    return false;
}

/* On the team of a node of a span, one of those that no list names. */
static const struct alg *running(const struct hud_team *team)
{
    const struct plan_entry *entry = team->entry;

    return entry->row >= 0 ? hud_shm_algs[entry->row] : hud_shm_nodes_algs[entry->slot];
}

/* inside: of a call, or of the set-up of a span; otherwise of the roll call before it. */
static void describe(const struct hud_team *team, const struct mem_wait *wait, bool inside,
                     struct wait_note *note)
{
    const struct alg *alg = inside && team->entry ? running(team) : NULL;
    union wait_words other;

    note->team = team->number;
    note->call = hud_differ_calls(team_member(team, team->rank));
    note->since_ns = (uint64_t)wait->begin_ns;
    note->world_rank = team->context->host.world_rank;
    note->rank = team->rank;
    note->size = team->size;
    note->owner = owner_of(team, wait->flag);
    note->line = wait->line;
    note->root = -1;
    if (alg) {
        note->bytes = team->call->bytes;
        note->root = coll_has(hud_coll_kind(alg->coll), COLL_ROOTED) ? team->call->root : -1;
        put(note->collective, sizeof note->collective, alg->coll);
        put(note->algorithm, sizeof note->algorithm, alg->name);
    } else {
        put(note->collective, sizeof note->collective, inside ? "set-up" : "roll call");
    }
    put(note->file, sizeof note->file, wait->file);
    put(note->label, sizeof note->label, hud_edge_label(wait->file, wait->line));
    hud_longwait_name(team, note->communicator, sizeof note->communicator);
    for (int r = 0; r < team->size; r++) {
        if (r == team->rank || read_note(team, r, &other))
            continue;
        if (note->missing < NOTE_MISSING) {
            note->absent[note->missing].rank = r;
            note->absent[note->missing].pid = team->process[r].pid;
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
    words.is = *note;
    mem_note_write(wait->state, words.word);
}

static void withdraw(struct mem_wait *wait)
{
    if (wait->state)
        mem_note_drop(wait->state);
    wait->state = NULL;
}

/* ---- calls that differ ---- */

/*
 * Another member's wait in the call of that number.  A roll call comes before its call is counted:
 * a member that waits in one has the number of the call before, which it has completed.
 */
static bool waits_in(const struct wait_note *note, uint64_t call)
{
    return note->call == call && note->algorithm[0] != '\0';
}

/* All ranks know the call's size.  A broadcast's receivers learn it from the root, and report a
 * truncation themselves.  Where sizes alone differ, other calls may end that way, too, once a rank
 * that is late has come; so they get a while longer. */
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

/* By what both count. */
static bool differs(const struct hud_team *team, int rank, bool counted, bool sized,
                    struct unlike_pair *calls)
{
    const struct member_state *own = team->mine, *their = team_member(team, rank);
    uint64_t shape;

    if (counted && hud_differ_in_calls(own, their)) {
        int slot = hud_differ_call(own, their, calls->own.kind, &shape);
        calls->other = hud_unlike_of_shape(slot, shape);
        /* this rank may be a call ahead: what it waits in is not what the other should have made */
        slot = hud_differ_call(their, own, calls->other.kind, &shape);
        struct unlike_call made = hud_unlike_of_shape(slot, shape);
        if (made.kind >= 0 && (made.kind != calls->own.kind || made.bytes != calls->own.bytes))
            calls->own = made;
        return true;
    }
    if (!hud_differ_in_shape(own, their, team->entry->slot, sized, &shape))
        return false;
    calls->other = hud_unlike_of_shape(team->entry->slot, shape);
    return true;
}

/* The status of a call in which the members differ; 0: none is known to. */
static int compare_calls(struct hud_team *team, const struct wait_note *mine, bool sized)
{
    union wait_words theirs;

    for (int r = 0; r < team->size; r++) {
        struct unlike_pair calls = { .own = hud_unlike_of_note(mine) };
        if (r == team->rank)
            continue;
        bool waits = read_note(team, r, &theirs) && waits_in(&theirs.is, mine->call);
        if (waits && (!same_call(mine, &theirs.is) || (sized && mine->bytes != theirs.is.bytes)))
            calls.other = hud_unlike_of_note(&theirs.is);
        else if (!differs(team, r, !waits, sized, &calls))
            continue;
        hud_unlike_say(team, r, &calls);
        return HUD_ERR_UNLIKE;
    }
    return 0;
}

/* ---- processes that end ---- */

static void say_death(struct hud_team *team, int rank, const struct mem_wait *wait,
                      const struct wait_note *mine)
{
    char host[64] = "this node";
    bool aborts = team->context->config.number[SET_ON_DEATH] == DEATH_ABORT;

    if (!mem_count_claim(&head_of(team, rank)->obituary))
        return;
    gethostname(host, sizeof host - 1);
    hud_log(&team->context->config, LOG_ERROR,
            "rank %d of %s (%d ranks), process %d on %s, has ended; rank %d has waited in %s for "
            "%.1f s%s",
            rank, mine->communicator, team->size, team->process[rank].pid, host, team->rank,
            mine->collective, (double)(wait->now_ns - wait->begin_ns) * 1e-9,
            aborts ? "; aborting (HUDDLE_ON_DEATH=abort)" : "");
}

static void abort_job(struct hud_team *team)
{
    const struct hud_host *host = &team->context->host;

    mem_count_claim(&head_of(team, team->rank)
                         ->obituary); /* this rank's own end must not be reported by the others */
    if (host->abort)
        host->abort(host->arg);
    abort();
}

/*
 * Asks the kernel.  When a process started is read here alone, the first time that it is found
 * alive: in another time namespace its own reading of that is another one.
 */
static bool ask(struct team_process *process)
{
    process->ended = process->ended || hud_process_ended(process->pid, process->started);
    if (!process->ended && process->started == 0 && process->pid != 0)
        process->started = hud_process_started(process->pid);
    return process->ended;
}

/*
 * Members whose processes have ended without leaving the team.  Whether one has left it is read
 * after it has ended.  A look asks about some members, in turn: a question takes tens of
 * microseconds, and may take them from a rank that works.
 */
static bool find_deaths(struct hud_team *team, const struct mem_wait *wait,
                        const struct wait_note *mine)
{
    int asked = team->size < ASKED_PER_LOOK ? team->size : ASKED_PER_LOOK;
    bool died = false;

    for (int i = 0; i < asked; i++)
        ask(&team->process[(team->asked + i) % team->size]);
    team->asked = (team->asked + asked) % team->size;
    for (int r = 0; r < team->size; r++) {
        if (!team->process[r].ended || mem_count_observe(&team_member(team, r)->left) != 0)
            continue;
        say_death(team, r, wait, mine);
        died = true;
    }
    if (died && team->context->config.number[SET_ON_DEATH] == DEATH_ABORT)
        abort_job(team);
    return died;
}

/* ---- the look ---- */

/* The status with which this call must end; 0: it may still end well. */
static int find_end(struct hud_team *team, const struct mem_wait *wait, bool inside,
                    const struct wait_note *mine)
{
    if (team->exchange.interrupted && team->exchange.interrupted(team->exchange.arg)) {
        find_deaths(team, wait, mine); /* names the rank, where that is why */
        return HUD_ERR_FAILED;
    }
    for (int r = 0; r < team->size; r++) {
        uint64_t gave_up = mem_count_observe(&team_member(team, r)->gave_up);
        if (gave_up != 0)
            return gave_up <= HUD_ERR_FAILED + 1 ? (int)gave_up - 1 : HUD_ERR_FAILED;
    }
    bool sized = wait->looks >= LOOKS_AT_SIZES && is_sized(mine);
    int status = inside && team->entry ? compare_calls(team, mine, sized)
                                       : 0; /* a roll call tells by itself where they differ */
    if (status != 0 || wait->looks % LOOKS_PER_DEATH != 1 || !find_deaths(team, wait, mine))
        return status;
    return team->context->host.fault_tolerant ? HUD_ERR_FAILED : 0;
}

/* inside: of a call; otherwise of the roll call before it. */
static void look(struct hud_team *team, struct mem_wait *wait, bool over, bool inside)
{
    struct wait_note mine = { .team = 0 };

    if (over) {
        withdraw(wait);
        return;
    }
    describe(team, wait, inside, &mine);
    publish(wait, head_of(team, team->rank), &mine);
    if (mem_wait_is_over(wait))
        return; /* nothing to tell */
    int status = find_end(team, wait, inside, &mine);
    if (status == 0 || mem_wait_is_over(wait)) /* what ends later calls does not end this one */
        return;
    withdraw(wait);
    hud_guard_leave(status);
}

void hud_longwait_roll(struct mem_wait *wait, bool over, void *arg)
{
    look(arg, wait, over, false);
}

void hud_longwait_watch(struct mem_wait *wait, bool over, void *arg)
{
    look(arg, wait, over, true);
}

void hud_longwait_leave(struct hud_team *team)
{
    mem_count_step(&team_member(team, team->rank)->left);
}

static bool has_ended(void *arg, int rank)
{
    struct hud_team *team = arg;

    return ask(&team->process[rank]);
}

void hud_longwait_give_up(struct hud_team *team, int status)
{
    /* first: the others leave while this one waits */
    mem_count_put(&team_member(team, team->rank)->gave_up, 1 + (uint64_t)status);
    if (team->mem_team.peers)
        hud_mem_close(&team->mem, has_ended, team);
}
