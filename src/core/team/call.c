/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - the public calls on a team: set up at the first collective, choose, run, count. */
#include "core/check/check.h"
#include "core/clock.h"
#include "core/config/log.h"
#include "core/hash.h"
#include "core/team/adapt.h"
#include "core/team/args.h"
#include "core/team/carry_out.h"
#include "core/team/longwait.h"

#include <stdio.h>

static void count(struct hud_team *team, enum coll_kind kind, size_t bytes, enum reason became)
{
    struct stats_coll *s = &context_stats(team->context)->coll[kind];
    bool threads = team->context->host.threads != 0;

    mem_count(&s->calls, 1, threads);
    mem_count(&s->bytes, bytes, threads);
    mem_count(&s->became[became], 1, threads);
}

/* Why no algorithm of a team that is ready takes a call. */
static enum reason unhandled(const struct hud_team *team, enum coll_kind kind,
                             const struct plan_entry *entry)
{
    bool wished = hud_config_forced(&team->context->config, (int)kind) == -2 ||
                  (entry->rule && entry->rule->row < 0);

    return wished ? REASON_FORCED : REASON_REFUSED;
}

/* With HUDDLE_CHECK: HUD_OK: all ranks of the team make this call; HUD_PASS: they do not; or the
 * status with which the call fails. */
static int agree(struct hud_team *team, enum coll_kind kind, const struct coll *call)
{
    const struct hud_announced what = { .name = coll_name((int)kind),
                                        .root = coll_has((int)kind, COLL_ROOTED) ? call->root : -1,
                                        .bytes = coll_has((int)kind, COLL_UNSIZED) ? HUD_ANY_BYTES
                                                                                   : call->bytes,
                                        .detail = call->reduction ? call->reduction->name : NULL };

    return hud_check_enter(team, &what);
}

/* In fixed order: a reduction that the MPI carries out, in an order of its own, is reported
 * in one line by the team's rank 0. */
static void report_order(struct hud_team *team, enum coll_kind kind, enum reason why)
{
    static const char *const helps[REASON_COUNT] = {
        [REASON_LEASE] = "; to avoid that: more HUDDLE_MEMORY",
        [REASON_REFUSED] =
            "; to avoid that: more HUDDLE_MEMORY and HUDDLE_LEASE, or another algorithm",
        [REASON_FORCED] = "; to avoid that: no setting or tuning file that selects the MPI's own",
        [REASON_EARLY] = "; to avoid that: HUDDLE_FIRST=1"
    };
    struct hud_context *c = team->context;

    if (c->config.number[SET_REDUCE_ORDER] != ORDER_FIXED || !coll_has((int)kind, COLL_REDUCES) ||
        why == REASON_ONE_RANK)
        return;
    if (hud_context_first(c, &c->said_order) && team->rank == 0)
        hud_log(&c->config, LOG_WARN,
                "HUDDLE_REDUCE_ORDER=fixed does not hold for this %s of %d ranks, which %s carries "
                "out: %s%s",
                coll_name((int)kind), team->size, c->owner, hud_reason_text[why],
                helps[why] ? helps[why] : "");
}

/* Where a call is looked up, and NULL: nowhere, for reasons that all ranks share. */
static ALWAYS_INLINE const struct plan_entry *find(const struct hud_team *team, enum coll_kind kind,
                                                   const struct coll *call, enum reason *why)
{
    const struct hud_op *reduction = call->reduction;

    *why = team->reason;
    if (team->state != TEAM_READY)
        return NULL;
    *why = REASON_ELEMENT;
    if (reduction && reduction->element_bytes > HUD_ELEMENT_MAX)
        return NULL;
    const struct plan_entry *entry =
        plan_find(team->plan, plan_axis(kind, reduction && !reduction->commutative), call->bytes);
    if (entry->slot >= 0)
        return entry;
    *why = unhandled(team, kind, entry);
    return NULL;
}

/* This member makes no further calls on the team, nor do the others once they know. */
static int give_up(struct hud_team *team, int status)
{
    hud_longwait_give_up(team, status);
    team->state = TEAM_BROKEN;
    team->reason = REASON_BROKEN;
    return status;
}

/* A member did not come to what precedes the call, and cannot. */
static int fail_before(struct hud_team *team, int status)
{
    if (team->check)
        hud_check_exit(team);
    return give_up(team, status);
}

/* A call that is the host's own; counted, as a rank that waits in one of huddle's must see that
 * this one makes another. */
static void fall_back(struct hud_team *team)
{
    if (team->state == TEAM_READY)
        mem_count_step(&team->mine->calls[MEMBER_FELL_BACK]);
}

/* Checked or tried: the entry that serves.  *status: HUD_OK, or what the call returns. */
static __attribute__((noinline)) const struct plan_entry *
enter_apart(struct hud_team *team, enum coll_kind kind, const struct coll *call,
            const struct plan_entry *entry, int *status)
{
    *status = team->check ? agree(team, kind, call) : HUD_OK;
    bool unlike = *status == HUD_PASS;

    if (*status == HUD_OK && team->adapt && entry)
        *status = hud_adapt_enter(team, kind, call, &entry);
    if (*status != HUD_OK)
        count(team, kind, call->bytes, unlike ? REASON_UNLIKE : REASON_BROKEN);
    if (*status != HUD_OK && !unlike)
        fail_before(team, *status);
    return entry;
}

static __attribute__((noinline)) void exit_apart(struct hud_team *team)
{
    adapt_exit(team->adapt);
    if (team->check)
        hud_check_exit(team);
}

/* Runs a call that every rank of the team makes alike.  shape: the same on all of them, published
 * for who waits long. */
static int run(struct hud_team *team, enum coll_kind kind, struct coll *call, uint64_t shape)
{
    enum reason why;

    if (__builtin_expect(team->state <= TEAM_EARLY, 0))
        hud_team_setup(team);
    const struct plan_entry *entry = find(team, kind, call, &why);
    if (__builtin_expect(team->apart && team->state == TEAM_READY, 0)) {
        int status;
        entry = enter_apart(team, kind, call, entry, &status);
        if (status != HUD_OK)
            return status;
    }
    count(team, kind, call->bytes, entry ? REASON_NONE : why);
    if (!entry) {
        fall_back(team);
        report_order(team, kind, why);
        return HUD_PASS;
    }
    uint64_t start = team->context->timed ? clock_ns() : 0;
    bool truncated;
    int status = carry_out(team, entry, call, shape, &truncated);
    if (team->context->timed)
        mem_count(&context_stats(team->context)->coll[kind].ns, clock_ns() - start,
                  team->context->host.threads != 0);
    if (__builtin_expect(team->apart, 0))
        exit_apart(team);
    if (__builtin_expect(status != 0, 0))
        return give_up(team, status);
    return truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}

/*
 * Zero bytes end here, before anything is set up or touched: some MPIs return early on count 0, and
 * a rank may describe nothing as five empty elements.  Only where a member has no huddle must all
 * ranks leave it to the MPI, as that member does.
 */
static int end_empty(struct hud_team *team, enum coll_kind kind)
{
    bool present = hud_team_is_present(team);

    mem_count(&context_stats(team->context)->coll[kind].empty, 1, team->context->host.threads != 0);
    return present ? HUD_OK : HUD_PASS;
}

/*
 * This member sends blocks of another size than it receives, which no MPI finds out by the
 * arguments of one rank; so the others are in the call.  It tells them by giving the team up.  With
 * HUDDLE_CHECK the roll call tells them, and all go to the host's own collective.
 */
static int fail_unequal(struct hud_team *team, enum coll_kind kind, size_t sent, size_t received)
{
    struct coll call = { .bytes = received };
    char detail[64], name[64];
    enum reason why;

    if (team->state <= TEAM_EARLY)
        hud_team_setup(team);
    if (team->check) {
        snprintf(detail, sizeof detail, "%zu bytes sent, %zu received", sent, received);
        const struct hud_announced what = {
            .name = coll_name((int)kind), .root = -1, .bytes = HUD_ANY_BYTES, .detail = detail
        };
        int status = team->state == TEAM_READY ? hud_check_enter(team, &what) : HUD_PASS;
        return status == HUD_OK || status == HUD_PASS ? HUD_PASS : fail_before(team, status);
    }
    if (!find(team, kind, &call, &why)) {
        fall_back(team);
        return HUD_PASS;
    }
    hud_longwait_name(team, name, sizeof name);
    if (hud_longwait_says(team))
        hud_log(&team->context->config, LOG_ERROR,
                "%s of %s (%d ranks): rank %d sends %zu bytes to each rank and receives %zu; "
                "the call fails, later ones are %s's own",
                coll_name((int)kind), name, team->size, team->rank, sent, received,
                team->context->owner);
    count(team, kind, call.bytes, REASON_BROKEN);
    return give_up(team, HUD_ERR_TRUNCATE);
}

/* ---- the collectives ---- */

/*
 * The fields that run() looks at, and those that the collective's algorithms read: small calls are
 * short.
 */
static const struct hud_view nothing;

static ALWAYS_INLINE void describe(struct coll *call, unsigned flags, const struct hud_team *team,
                                   const struct hud_args *a, size_t bytes)
{
    call->bytes = bytes;
    call->root = flags & COLL_ROOTED ? a->root : 0;
    call->reduction = flags & COLL_REDUCES ? a->op : NULL;
    if (flags & COLL_COUNTS)
        call->block_bytes = a->block_bytes;
    if (args_moves(flags))
        call->out = args_gets(flags, team, a) ? a->out : &nothing;
    if (args_moves(flags) && !(flags & COLL_ONE_BUFFER))
        call->in = args_in_place(flags, a) ? a->out : a->in;
}

/* What all ranks send together to choose by is not known: what this one sends is counted. */
static void count_views(struct hud_team *team, enum coll_kind kind, const struct hud_args *a)
{
    size_t sent = 0;

    for (int r = 0; r < team->size; r++)
        sent += a->in[r].bytes;
    mem_count(&context_stats(team->context)->coll[kind].bytes, sent,
              team->context->host.threads != 0);
}

/* How the blocks cut the whole. */
static uint64_t cut_of(const struct hud_team *team, const struct hud_args *a)
{
    uint64_t cut = HASH_START;

    for (int r = 0; r < team->size; r++)
        cut = (cut ^ a->block_bytes[r]) * HASH_FACTOR;
    return cut;
}

/* A call of any collective.  Its flags are known where this is inlined. */
static ALWAYS_INLINE int make(struct hud_team *team, enum coll_kind kind, unsigned flags,
                              const struct hud_args *a)
{
    struct coll call;

    if (!team || !args_valid(flags, team, a))
        return HUD_ERR_ARGUMENT;
    if ((flags & COLL_BLOCKS) && !(flags & COLL_VIEWS) &&
        args_sent(flags, team, a) != args_received(team, a))
        return fail_unequal(team, kind, args_sent(flags, team, a), args_received(team, a));
    size_t bytes = args_bytes(flags, team, a);
    if (!(flags & COLL_UNSIZED) && bytes == 0)
        return end_empty(team, kind);
    if (flags & COLL_VIEWS)
        count_views(team, kind, a);
    describe(&call, flags, team, a, bytes);
    return run(team, kind, &call, flags & COLL_COUNTS ? cut_of(team, a) : bytes);
}

int hud_collective(const char *name)
{
    return name ? hud_coll_kind(name) : -1;
}

int hud_call(hud_team *team, const struct hud_args *args)
{
    if (!args || args->collective < 0 || args->collective >= COLL_KINDS)
        return HUD_ERR_ARGUMENT;
    return make(team, (enum coll_kind)args->collective, hud_collectives[args->collective].flags,
                args);
}

#define MAKE(ID, ...)                                                                              \
    make(team, COLL_##ID, COLL_FLAGS_##ID, &(const struct hud_args){ __VA_ARGS__ })

int hud_barrier(hud_team *team)
{
    return MAKE(BARRIER, .root = 0);
}

int hud_bcast(hud_team *team, const struct hud_view *view, int root)
{
    return MAKE(BCAST, .out = view, .root = root);
}

int hud_allreduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                  const struct hud_op *op)
{
    return MAKE(ALLREDUCE, .in = in, .out = out, .op = op);
}

int hud_reduce(hud_team *team, const struct hud_view *in, const struct hud_view *out,
               const struct hud_op *op, int root)
{
    return MAKE(REDUCE, .in = in, .out = out, .op = op, .root = root);
}

int hud_reduce_scatter(hud_team *team, const struct hud_view *in, const struct hud_view *out,
                       const size_t *block_bytes, const struct hud_op *op)
{
    return MAKE(REDUCE_SCATTER, .in = in, .out = out, .block_bytes = block_bytes, .op = op);
}

int hud_alltoall(hud_team *team, const struct hud_view *in, const struct hud_view *out)
{
    return MAKE(ALLTOALL, .in = in, .out = out);
}

int hud_alltoallv(hud_team *team, const struct hud_view *in, const struct hud_view *out)
{
    return MAKE(ALLTOALLV, .in = in, .out = out);
}

/* ---- calls that huddle does not make ---- */

int hud_team_fail(hud_team *team)
{
    char name[64];

    if (team->state <= TEAM_EARLY)
        hud_team_setup(team);
    hud_longwait_name(team, name, sizeof name);
    if (team->state == TEAM_READY && hud_longwait_says(team))
        hud_log(&team->context->config, LOG_ERROR,
                "rank %d of %s (%d ranks) is out of memory for its call; the call fails, later "
                "ones are %s's own",
                team->rank, name, team->size, team->context->owner);
    return team->state == TEAM_READY ? give_up(team, HUD_ERR_MEMORY) : HUD_ERR_MEMORY;
}

/*
 * Calls that huddle does not handle set a new team up too. All members must agree on that
 * before they communicate, so it rests on what they share: on the name that they are announced
 * under, never on what a rank makes of its other settings.  One with a bad setting, or switched
 * off, comes and reports it. Where there is no such name, the team begins with a call that huddle
 * handles.
 */
static bool begins_with_any_call(const struct hud_team *team)
{
    return team->exchange.world_rank ? team->context->announced_checks
                                     : team->context->config.number[SET_CHECK] == SWITCH_ON;
}

int hud_team_enter(hud_team *team, const struct hud_announced *call)
{
    if (!team || !call || !call->name)
        return HUD_ERR_ARGUMENT;
    int kind = hud_coll_kind(call->unasked ? call->unasked : call->name);
    if (kind >= 0 && call->bytes != 0 && call->bytes != HUD_ANY_BYTES) {
        fall_back(team);
        count(team, (enum coll_kind)kind, call->bytes, REASON_OPERATION);
        report_order(team, (enum coll_kind)kind, REASON_OPERATION);
    }
    if (team->state == TEAM_NEW && call->bytes != 0 && begins_with_any_call(team))
        hud_team_setup(team);
    if (!team->check || team->state != TEAM_READY)
        return HUD_OK;
    int status = hud_check_enter(team, call);
    return status == HUD_OK || status == HUD_PASS ? HUD_OK : fail_before(team, status);
}

void hud_team_exit(hud_team *team)
{
    if (team && team->check)
        hud_check_exit(team);
}
