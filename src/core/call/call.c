/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - the public calls on a team: set up at the first collective, choose, run, count. */
#include "base/clock.h"
#include "base/hash.h"
#include "core/call/args.h"
#include "core/call/carry_out.h"
#include "core/call/core_request.h"
#include "core/call/fallback.h"
#include "core/call/learn.h"
#include "core/span/span.h"
#include "core/watch/check.h"
#include "core/watch/longwait.h"
#include "core/watch/mismatch_report.h"

#include <stdio.h>

/* Checks a call, with HUDDLE_CHECK.  Returns HUD_OK if all ranks of the team make this call,
 * HUD_PASS if they do not, or the status with which the call fails. */
static int agree(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at)
{
    const struct hud_announced what = { .name = coll_name((int)kind),
                                        .root = coll_has((int)kind, COLL_ROOTED) ? call->root : -1,
                                        .bytes = coll_has((int)kind, COLL_UNSIZED) ? HUD_ANY_BYTES
                                                                                   : call->bytes,
                                        .detail = call->reduction ? call->reduction->name : NULL };

    return hud_fallback_check(team, &what, fallback_is_fixed(team, call, at));
}

/* Looks up the entry that serves a call of the plan's cell `at`: the team's choice.  Returns NULL
 * if none serves; every rank gets the same answer. */
static ALWAYS_INLINE const struct plan_entry *find(const struct hud_team *team,
                                                   const struct coll *call, int at, bool is_request)
{
    if (team->state.now != TEAM_READY || !fallback_elements_fit(call))
        return NULL;
    const struct plan_entry *entry = team->plan.choice[at];
    if (is_request && entry->slot < 0)
        entry = hud_learn_by_huddle(team, at);
    return entry->slot >= 0 ? entry : NULL;
}

/* Leaves a call to the host for a reason. */
static int fall_back(struct hud_team *team, enum coll_kind kind, size_t bytes, enum reason why)
{
    context_count_call(team->context, kind, bytes, why);
    hud_fallback_record(why);
    fallback_publish(team, kind, bytes);
    hud_fallback_report_order(team, kind, why);
    return HUD_PASS;
}

static __attribute__((noinline)) int pass(struct hud_team *team, enum coll_kind kind,
                                          const struct coll *call, int at)
{
    enum reason passed = team->hooks.span ? hud_span_take_passed(team->hooks.span) : REASON_NONE;
    enum reason why = passed != REASON_NONE           ? passed
                      : team->state.now != TEAM_READY ? team->state.reason
                      : !fallback_elements_fit(call)  ? REASON_ELEMENT
                                                      : hud_fallback_reason(team, at);

    return fall_back(team, kind, call->bytes, why);
}

/* Checks a call, and chooses an entry if the cell is open or the call is a sample.  Returns the
 * entry, or NULL to leave the call to the host.  *status: HUD_OK, or the status to return. */
static __attribute__((noinline)) const struct plan_entry *
enter_slow_path(struct hud_team *team, enum coll_kind kind, const struct coll *call, int at,
                const struct plan_entry *entry, bool is_request, int *status)
{
    int fast_calls = team->state.fast_calls;

    *status = HUD_OK;
    team->state.fast_calls = 0;
    if (team->state.now != TEAM_READY)
        return NULL;
    *status = team->hooks.check ? agree(team, kind, call, at) : HUD_OK;
    bool unlike = *status == HUD_PASS, given_up = team->state.now != TEAM_READY;

    bool learns = *status == HUD_OK && !given_up && team->hooks.learn && !is_request;
    if (!team->hooks.check && !is_request)
        team->state.fast_calls = !learns ? TEAM_SLOW_CALL : fast_calls > 0 ? fast_calls : 0;
    if (learns && fallback_elements_fit(call)) {
        hud_learn_count_fast(team, fast_calls + 1);
        int left = learn_left(team, fast_calls);
        int agreed = hud_learn_enter(team, at, call, left < 0, &entry);
        entry = agreed == HUD_OK && entry->slot >= 0 ? entry : NULL;
        learn_go_on(team, left >= 0 ? left : hud_learn_distance(team), !entry);
        if (agreed != HUD_OK)
            *status = hud_fallback_disagree(team, kind, call->bytes, agreed);
    }
    if (*status != HUD_OK)
        context_count_call(team->context, kind, call->bytes,
                           unlike ? REASON_UNLIKE : REASON_BROKEN);
    if (unlike)
        hud_fallback_record(REASON_UNLIKE);
    return entry;
}

/* Returns whether enter_slow_path has begun this call.  Also returns true for the last call before
 * the next such call, for which exit_slow_path does nothing. */
static ALWAYS_INLINE bool is_slow(const struct hud_team *team, bool is_request)
{
    return is_request ? team->hooks.check != NULL
                      : (unsigned)(team->state.fast_calls - 1) >= TEAM_SLOW_CALL - 1;
}

static __attribute__((noinline)) void exit_slow_path(struct hud_team *team)
{
    learn_exit(team);
    if (team->hooks.check)
        hud_check_exit(team);
}

/* Returns the entry that serves a call, or NULL.  *status: HUD_OK, or the status to return. */
static ALWAYS_INLINE const struct plan_entry *choose(struct hud_team *team, enum coll_kind kind,
                                                     const struct coll *call, int at,
                                                     bool is_request, int *status)
{
    const struct plan_entry *entry = find(team, call, at, is_request);
    bool slow = is_request ? team->hooks.check != NULL : --team->state.fast_calls < 0 || !entry;

    if (__builtin_expect(slow, 0))
        return enter_slow_path(team, kind, call, at, entry, is_request, status);
    *status = HUD_OK;
    return entry;
}

/* Runs a call that every rank of the team makes alike, of the plan's cell `at`.  shape: the same on
 * all ranks, published for ranks in long waits.  task: task of the request, or NULL. */
static ALWAYS_INLINE int run_on(struct fiber_task *task, struct hud_team *team, enum coll_kind kind,
                                struct coll *call, uint64_t shape, int at)
{
    int status;
    bool truncated;

    if (__builtin_expect(task || team->state.pending, 0))
        hud_fallback_precede(team, task);
    if (task && !hud_request_handled(team) && team_counts(team))
        return fall_back(team, kind, call->bytes, REASON_NONBLOCKING);
    const struct plan_entry *entry = choose(team, kind, call, at, task != NULL, &status);
    if (__builtin_expect(!entry || status != HUD_OK, 0)) {
        if (status != HUD_OK)
            return status;
        if (team->hooks.span && !task)
            status = hud_span_call(team, kind, call, shape, at);
        else
            status = hud_fallback_realign(team, kind, call, at);
        return status == HUD_PASS ? pass(team, kind, call, at) : status;
    }
    context_count_call(team->context, kind, call->bytes, REASON_NONE);
    uint64_t start = team->state.timed ? clock_ns() : 0;
    status = carry_out(team, entry, call, shape, &truncated);
    if (team->state.timed)
        mem_count(&context_stats(team->context)->coll[kind].ns, clock_ns() - start,
                  team->context->host.threads != 0);
    if (__builtin_expect(is_slow(team, task != NULL), 0))
        exit_slow_path(team);
    if (__builtin_expect(status != 0, 0))
        return hud_end_early(team, call, shape, status);
    return truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}

/* Runs a blocking call.  Separate copies of run_on(), so that the blocking path does not test
 * for requests. */
static int run(struct hud_team *team, enum coll_kind kind, struct coll *call, uint64_t shape,
               int at)
{
    return run_on(NULL, team, kind, call, shape, at);
}

static int run_request(struct fiber_task *task, struct hud_team *team, enum coll_kind kind,
                       struct coll *call, uint64_t shape, int at)
{
    return run_on(task, team, kind, call, shape, at);
}

/* Ends a call of zero bytes, before anything is set up.  Some MPIs return early on count 0, and a
 * rank may describe nothing as five empty elements.  So the call may not reach huddle on every
 * rank: members do not count the call, and it waits for nothing.  If a member has no huddle, all
 * ranks fall back. */
static int end_empty(struct hud_team *team, enum coll_kind kind)
{
    bool present = hud_team_is_present(team);

    mem_count(&context_stats(team->context)->coll[kind].empty, 1, team->context->host.threads != 0);
    return present ? HUD_OK : HUD_PASS;
}

/* Ends a call of a member whose sent blocks have another size than its received blocks.  No MPI
 * finds out by the arguments of a single rank, so the others are in the call.  This member tells
 * them by giving up the team.  With HUDDLE_CHECK the roll call tells them, and all fall back. */
static int fail_unequal(struct hud_team *team, enum coll_kind kind, size_t sent, size_t received,
                        struct fiber_task *task)
{
    struct coll call = { .bytes = received };
    char detail[64];
    int status, at = plan_at((int)kind, received);

    if (task || team->state.pending)
        hud_fallback_precede(team, task);
    if (team->hooks.check) {
        snprintf(detail, sizeof detail, "%zu bytes sent, %zu received", sent, received);
        const struct hud_announced what = {
            .name = coll_name((int)kind), .root = -1, .bytes = HUD_ANY_BYTES, .detail = detail
        };
        bool ready = team->state.now == TEAM_READY;
        status = ready ? hud_fallback_check(team, &what, false)
                       : hud_fallback_realign(team, kind, &call, at);
        if (status == HUD_PASS && !ready)
            fallback_publish(team, kind, received);
        return status == HUD_OK ? HUD_PASS : status;
    }
    if (!task && team->hooks.span) {
        status = hud_span_fail(team, kind, &call, at, HUD_ERR_TRUNCATE);
        if (status != HUD_PASS)
            return status;
    }
    bool serves = choose(team, kind, &call, at, task != NULL, &status);
    if (status == HUD_OK && !serves) {
        status = hud_fallback_realign(team, kind, &call, at);
        if (status == HUD_PASS)
            fallback_publish(team, kind, received);
    }
    if (status != HUD_OK)
        return status;
    hud_mismatch_report_sizes(team, (int)kind, sent, received);
    context_count_call(team->context, kind, call.bytes, REASON_BROKEN);
    return hud_longwait_abandon_early(team, HUD_ERR_TRUNCATE);
}

/* ---- the collectives ---- */

static const struct hud_view nothing;

/* Fills only the fields that run() and the collective's algorithms read, to keep small calls
 * short. */
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
        call->in = args_sends(flags, team, a) ? a->in : &nothing;
    if (args_in_place(flags, team, a) && coll_from_root(flags))
        call->out = a->in;
    else if (args_in_place(flags, team, a))
        call->in = a->out;
}

/* Counts the bytes that this rank sends, as the bytes of all ranks together are not known. */
static void count_views(struct hud_team *team, enum coll_kind kind, const struct hud_args *a)
{
    unsigned flags = hud_collectives[kind].flags;
    int views = !args_sends(flags, team, a) ? 0 : coll_in_views(flags) ? team->id.size : 1;
    size_t sent = 0;

    for (int r = 0; r < views; r++)
        sent += a->in[r].bytes;
    mem_count(&context_stats(team->context)->coll[kind].bytes, sent,
              team->context->host.threads != 0);
}

/* Hashes how the blocks cut the whole. */
static uint64_t cut_of(unsigned flags, const struct hud_team *team, const struct hud_args *a)
{
    uint64_t cut = HASH_START;

    for (int r = 0; r < team->id.size; r++)
        cut = (cut ^ (flags & COLL_VIEWS ? a->out[r].bytes : a->block_bytes[r])) * HASH_FACTOR;
    return cut;
}

/* Makes a call of any collective.  Its flags are known where this function is inlined. */
static ALWAYS_INLINE int make(struct hud_team *team, enum coll_kind kind, unsigned flags,
                              const struct hud_args *a, struct fiber_task *task)
{
    struct coll call;

    if (!team || !args_valid(flags, team, a))
        return HUD_ERR_ARGUMENT;
    if (args_sizes_known(flags) && args_sent(flags, team, a) != args_received(flags, team, a))
        return fail_unequal(team, kind, args_sent(flags, team, a), args_received(flags, team, a),
                            task);
    size_t bytes = args_bytes(flags, team, a);
    if (!(flags & COLL_UNSIZED) && bytes == 0)
        return end_empty(team, kind);
    if ((flags & COLL_VIEWS) && (flags & COLL_UNSIZED))
        count_views(team, kind, a);
    describe(&call, flags, team, a, bytes);
    uint64_t shape = member_shape((int)kind, flags & COLL_ROOTED ? a->root : -1,
                                  flags & COLL_COUNTS ? cut_of(flags, team, a) : bytes);
    if (flags & COLL_ONE_BUFFER)
        shape = member_shape_of_call(shape, team->state.fast_calls);
    int at = plan_at(plan_axis(kind, call.reduction), bytes);
    return task ? run_request(task, team, kind, &call, shape, at)
                : run(team, kind, &call, shape, at);
}

int hud_collective(const char *name)
{
    return name ? hud_coll_kind(name) : -1;
}

/* Calls a collective.  Compiled once for each collective: in a call of a few bytes, tests of its
 * flags count. */
int hud_call(hud_team *team, const struct hud_args *args)
{
    switch (args ? args->collective : -1) {
#define COLL(ID, ...)                                                                              \
    case COLL_##ID:                                                                                \
        return make(team, COLL_##ID, COLL_FLAGS_##ID, args, NULL);
#include "coll/coll.def"
#undef COLL
    default:
        return HUD_ERR_ARGUMENT;
    }
}

int hud_request_carry_out(struct hud_team *team, const struct hud_args *args,
                          struct fiber_task *task)
{
    return make(team, (enum coll_kind)args->collective, hud_collectives[args->collective].flags,
                args, task);
}

int hud_request_decline(struct hud_team *team, const struct hud_args *args)
{
    unsigned flags = hud_collectives[args->collective].flags;
    size_t bytes = args_bytes(flags, team, args);

    if (!(flags & COLL_UNSIZED) && bytes == 0)
        return end_empty(team, (enum coll_kind)args->collective);
    return fall_back(team, (enum coll_kind)args->collective, bytes, REASON_NONBLOCKING);
}

bool hud_request_settled(const struct hud_team *team, const struct hud_args *args)
{
    unsigned flags = hud_collectives[args->collective].flags;

    if (team->state.now != TEAM_READY || team->hooks.check || !hud_request_handled(team) ||
        (args_sizes_known(flags) &&
         args_sent(flags, team, args) != args_received(flags, team, args)))
        return false;
    const struct coll call = { .bytes = args_bytes(flags, team, args),
                               .reduction = flags & COLL_REDUCES ? args->op : NULL };
    return (!(flags & COLL_UNSIZED) && call.bytes == 0) ||
           find(team, &call,
                plan_at(plan_axis((enum coll_kind)args->collective, call.reduction), call.bytes),
                true) != NULL;
}

#define MAKE(ID, ...)                                                                              \
    make(team, COLL_##ID, COLL_FLAGS_##ID, &(const struct hud_args){ __VA_ARGS__ }, NULL)

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
