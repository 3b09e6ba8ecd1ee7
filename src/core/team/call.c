/* SPDX-License-Identifier: BSD-3-Clause */
/* call.c - the public calls on a team: set up at the first collective, choose, run, count. */
#include "core/check/check.h"
#include "core/clock.h"
#include "core/hash.h"
#include "core/team/adapt.h"
#include "core/team/args.h"
#include "core/team/around.h"
#include "core/team/carry_out.h"
#include "core/team/requests.h"
#include "core/team/span.h"
#include "core/team/unlike.h"

#include <stdio.h>

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
    *why = hud_around_unhandled(team, kind, entry);
    return NULL;
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
        around_count(team, kind, call->bytes, unlike ? REASON_UNLIKE : REASON_BROKEN);
    if (unlike)
        hud_around_tell(REASON_UNLIKE);
    if (*status != HUD_OK && !unlike)
        hud_around_fail_before(team, *status);
    return entry;
}

static __attribute__((noinline)) void exit_apart(struct hud_team *team)
{
    adapt_exit(team->adapt);
    if (team->check)
        hud_check_exit(team);
}

static int decline(struct hud_team *team, enum coll_kind kind, size_t bytes)
{
    around_count(team, kind, bytes, REASON_NONBLOCKING);
    hud_around_tell(REASON_NONBLOCKING);
    around_fall_back(team, kind, bytes);
    hud_around_report_order(team, kind, REASON_NONBLOCKING);
    return HUD_PASS;
}

/* Runs a call that every rank of the team makes alike.  shape: the same on all of them, published
 * for ranks that wait long.  strand: of a request, that it runs on. */
static ALWAYS_INLINE int run_on(struct strand *strand, struct hud_team *team, enum coll_kind kind,
                                struct coll *call, uint64_t shape)
{
    enum reason why;

    if (__builtin_expect(strand || team->before, 0))
        hud_around_precede(team, strand);
    if (strand && team->state == TEAM_READY && !hud_request_handled(team))
        return decline(team, kind, call->bytes);
    const struct plan_entry *entry = find(team, kind, call, &why);
    if (__builtin_expect(team->apart && team->state == TEAM_READY, 0)) {
        int status;
        entry = enter_apart(team, kind, call, entry, &status);
        if (status != HUD_OK)
            return status;
    }
    if (!entry && team->span && !strand && hud_span_takes(team, kind, call))
        return hud_span_run(team, kind, call, shape);
    around_count(team, kind, call->bytes, entry ? REASON_NONE : why);
    if (!entry) {
        hud_around_tell(why);
        around_fall_back(team, kind, call->bytes);
        hud_around_report_order(team, kind, why);
        return HUD_PASS;
    }
    uint64_t start = team->timed ? clock_ns() : 0;
    bool truncated;
    int status = carry_out(team, entry, call, shape, &truncated);
    if (team->timed)
        mem_count(&context_stats(team->context)->coll[kind].ns, clock_ns() - start,
                  team->context->host.threads != 0);
    if (__builtin_expect(team->apart, 0))
        exit_apart(team);
    if (__builtin_expect(status != 0, 0))
        return hud_around_give_up(team, status);
    return truncated ? HUD_ERR_TRUNCATE : HUD_OK;
}

/* Apart, so that a blocking call does not ask what it is. */
static int run(struct hud_team *team, enum coll_kind kind, struct coll *call, uint64_t shape)
{
    return run_on(NULL, team, kind, call, shape);
}

static int run_request(struct strand *strand, struct hud_team *team, enum coll_kind kind,
                       struct coll *call, uint64_t shape)
{
    return run_on(strand, team, kind, call, shape);
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
static int fail_unequal(struct hud_team *team, enum coll_kind kind, size_t sent, size_t received,
                        struct strand *strand)
{
    struct coll call = { .bytes = received };
    char detail[64];
    enum reason why;

    if (strand || team->before)
        hud_around_precede(team, strand);
    if (team->check) {
        snprintf(detail, sizeof detail, "%zu bytes sent, %zu received", sent, received);
        const struct hud_announced what = {
            .name = coll_name((int)kind), .root = -1, .bytes = HUD_ANY_BYTES, .detail = detail
        };
        int status = team->state == TEAM_READY ? hud_check_enter(team, &what) : HUD_PASS;
        return status == HUD_OK || status == HUD_PASS ? HUD_PASS
                                                      : hud_around_fail_before(team, status);
    }
    if (!strand && team->span && hud_span_takes(team, kind, &call))
        return hud_span_give_up(team, HUD_ERR_TRUNCATE);
    if (!find(team, kind, &call, &why)) {
        around_fall_back(team, kind, received);
        return HUD_PASS;
    }
    hud_unlike_say_unequal(team, (int)kind, sent, received);
    around_count(team, kind, call.bytes, REASON_BROKEN);
    return hud_around_give_up(team, HUD_ERR_TRUNCATE);
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
        call->in = args_sends(flags, team, a) ? a->in : &nothing;
    if (args_in_place(flags, team, a) && coll_from_root(flags))
        call->out = a->in;
    else if (args_in_place(flags, team, a))
        call->in = a->out;
}

/* What all ranks send together to choose by is not known: what this one sends is counted. */
static void count_views(struct hud_team *team, enum coll_kind kind, const struct hud_args *a)
{
    unsigned flags = hud_collectives[kind].flags;
    int views = !args_sends(flags, team, a) ? 0 : coll_in_views(flags) ? team->size : 1;
    size_t sent = 0;

    for (int r = 0; r < views; r++)
        sent += a->in[r].bytes;
    mem_count(&context_stats(team->context)->coll[kind].bytes, sent,
              team->context->host.threads != 0);
}

/* How the blocks cut the whole. */
static uint64_t cut_of(unsigned flags, const struct hud_team *team, const struct hud_args *a)
{
    uint64_t cut = HASH_START;

    for (int r = 0; r < team->size; r++)
        cut = (cut ^ (flags & COLL_VIEWS ? a->out[r].bytes : a->block_bytes[r])) * HASH_FACTOR;
    return cut;
}

/* A call of any collective.  Its flags are known where this is inlined. */
static ALWAYS_INLINE int make(struct hud_team *team, enum coll_kind kind, unsigned flags,
                              const struct hud_args *a, struct strand *strand)
{
    struct coll call;

    if (!team || !args_valid(flags, team, a))
        return HUD_ERR_ARGUMENT;
    if (args_sizes_known(flags) && args_sent(flags, team, a) != args_received(flags, team, a))
        return fail_unequal(team, kind, args_sent(flags, team, a), args_received(flags, team, a),
                            strand);
    size_t bytes = args_bytes(flags, team, a);
    if (!(flags & COLL_UNSIZED) && bytes == 0)
        return end_empty(team, kind);
    if ((flags & COLL_VIEWS) && (flags & COLL_UNSIZED))
        count_views(team, kind, a);
    describe(&call, flags, team, a, bytes);
    uint64_t shape = member_shape((int)kind, flags & COLL_ROOTED ? a->root : -1,
                                  flags & COLL_COUNTS ? cut_of(flags, team, a) : bytes);
    return strand ? run_request(strand, team, kind, &call, shape) : run(team, kind, &call, shape);
}

int hud_collective(const char *name)
{
    return name ? hud_coll_kind(name) : -1;
}

/* Compiled once for each collective: in a call of a few bytes, questions about its flags count. */
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

int hud_request_carry_out(struct hud_team *team, const struct hud_args *args, struct strand *strand)
{
    return make(team, (enum coll_kind)args->collective, hud_collectives[args->collective].flags,
                args, strand);
}

int hud_request_decline(struct hud_team *team, const struct hud_args *args)
{
    unsigned flags = hud_collectives[args->collective].flags;
    size_t bytes = args_bytes(flags, team, args);

    if (!(flags & COLL_UNSIZED) && bytes == 0)
        return end_empty(team, (enum coll_kind)args->collective);
    return decline(team, (enum coll_kind)args->collective, bytes);
}

/* With HUDDLE_CHECK not: a call that differs from the others' is passed. */
bool hud_request_settled(const struct hud_team *team, const struct hud_args *args)
{
    unsigned flags = hud_collectives[args->collective].flags;
    enum reason why;

    if (team->state != TEAM_READY || team->apart || !hud_request_handled(team) ||
        (args_sizes_known(flags) &&
         args_sent(flags, team, args) != args_received(flags, team, args)))
        return false;
    const struct coll call = { .bytes = args_bytes(flags, team, args),
                               .reduction = flags & COLL_REDUCES ? args->op : NULL };
    return (!(flags & COLL_UNSIZED) && call.bytes == 0) ||
           find(team, (enum coll_kind)args->collective, &call, &why) != NULL;
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
