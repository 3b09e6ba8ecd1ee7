/* SPDX-License-Identifier: BSD-3-Clause */
/* shots.c - see shots.h. */
#include "shots.h"

#include "cold.h"
#include "idle.h"

#include <stdlib.h>
#include <string.h>

enum { PAUSE_NS = 20000, MAX_PAUSE_NS = 20000000, LINE_NS = 40000000, NAP_NS = 500000 };
/* Limits, in multiples of a figure's time: for the minimum number of shots; for the first shot. */
enum { PATIENCE = 20, FIRST = 1000 };
enum { SPARE = 200 }; /* late shots that are allowed */
enum { CALM = 16 };   /* shots on time after which a pause is much shorter */
/* Larger buffers leave no data of the previous call in a core's caches. */
enum { CACHED_BYTES = 1 << 18 };
/* A turn of one of several hosts: uncounted shots, until about SETTLED_BYTES went through its
 * windows, then counted shots. */
enum { SETTLED_BYTES = 1 << 20, MIN_SETTLING = 16, MAX_SETTLING = 64, TURN = 16 };
/* Reads between two yields; yields between two calls of progress. */
enum { SPINS = 1024, LONG_WAIT = 64 };

/* Values that ranks exchange after a shot: the latest END, and the sums of all others. */
enum { END, LATE, WRONG, REFUSED, CPU, VALUES };

struct cell {
    _Alignas(128) _Atomic uint64_t round;
    int64_t value[VALUES];
    cpu_set_t processors; /* processors that this rank may use */
};

struct shots_page {
    struct line line[LINE_PEERS];
    struct cell result; /* written by rank 0 when all cells are filled */
    struct cell published[];
};

size_t shots_buffer_bytes(const struct shots_coll *coll, size_t bytes, int ranks)
{
    return coll->moves == SHOTS_PER_PAIR ? bytes * (size_t)ranks : bytes;
}

size_t shots_page_bytes(int ranks)
{
    return sizeof(struct shots_page) + (size_t)ranks * sizeof(struct cell);
}

/* Waits for a cell's round.  quiet: leaves the processors to other ranks if oversubscribed. */
static void await(const struct shots *s, struct cell *cell, bool quiet)
{
    unsigned yields = 0;

    for (unsigned spin = 1; atomic_load_explicit(&cell->round, memory_order_acquire) < s->round;
         spin++) {
        if (quiet && s->oversubscribed)
            idle_sleep(0, NAP_NS);
        else if (s->naps)
            idle_sleep(0, IDLE_NAP_NS);
        else if (s->oversubscribed || spin % SPINS == 0)
            sched_yield();
        else
            continue;
        if (s->progress && (s->naps || (quiet && s->oversubscribed) || ++yields % LONG_WAIT == 0))
            s->progress();
    }
}

/* Combines the values of all ranks, and stores the result on all ranks. */
static void meet(struct shots *s, int64_t *value, bool quiet)
{
    struct cell *mine = s->rank == 0 ? &s->page->result : &s->page->published[s->rank];

    s->round++;
    for (int r = 1; s->rank == 0 && r < s->ranks; r++) {
        struct cell *other = &s->page->published[r];
        await(s, other, quiet);
        value[END] = other->value[END] > value[END] ? other->value[END] : value[END];
        for (int v = END + 1; v < VALUES; v++)
            value[v] += other->value[v];
    }
    memcpy(mine->value, value, sizeof mine->value);
    atomic_store_explicit(&mine->round, s->round, memory_order_release);
    if (s->rank == 0)
        return;
    await(s, &s->page->result, quiet);
    memcpy(value, s->page->result.value, sizeof mine->value);
}

/* Returns the latest of all ranks' moments. */
static int64_t meet_at(struct shots *s, int64_t mine, bool quiet)
{
    int64_t value[VALUES] = { [END] = mine };

    meet(s, value, quiet);
    return value[END];
}

/* Returns the last rank that does not measure on rank 0's processor, or 0 if all ranks do. */
static int partner_of(const struct shots_page *page, int rank)
{
    int first = line_processor(0, &page->published[0].processors);

    while (rank > 0 && line_processor(1, &page->published[rank].processors) == first)
        rank--;
    return rank;
}

/* Asks the oversubscribed ranks.  One alone may share its processor with another program. */
static bool several_yield_to_nobody(struct shots *s)
{
    int64_t value[VALUES] = { 0 };

    meet(s, value, false);
    value[LATE] = idle_yields_to_nobody();
    meet(s, value, false);
    return value[LATE] > 1;
}

void shots_join(struct shots *s, struct shots_page *page, int rank, int ranks,
                void (*progress)(void))
{
    cpu_set_t all;

    *s = (struct shots){
        .page = page, .rank = rank, .ranks = ranks, .oversubscribed = true, .progress = progress
    };
    sched_getaffinity(0, sizeof all, &page->published[rank].processors);
    meet_at(s, 0, false);
    CPU_ZERO(&all);
    for (int r = 0; r < ranks; r++)
        CPU_OR(&all, &all, &page->published[r].processors);
    s->oversubscribed = ranks > CPU_COUNT(&all);
    s->partner = partner_of(page, ranks - 1);
    s->naps = s->oversubscribed && several_yield_to_nobody(s);
}

/* Returns the slowest transfer between rank 0 and some others: all of them if they are few, always
 * including the last, and a single rank if they share processors.  Two ranks measure at a time on
 * processors of their own: the others have their own, or sleep. */
static double line_now(struct shots *s, const struct shots_plan *plan)
{
    int others = s->oversubscribed ? s->partner : s->ranks - 1;
    int peers = s->oversubscribed ? others > 0 : others < LINE_PEERS ? others : LINE_PEERS;
    double slowest = peers > 0 ? 0 : -1;

    if (plan->unlabelled)
        return -1;
    for (int p = 0; p < peers; p++) {
        int peer = others * (p + 1) / peers;
        int64_t until = meet_at(s, clock_ns(), true) + LINE_NS;
        double ns = -1;
        if (s->rank == 0 || s->rank == peer)
            ns = line_measure(&s->page->line[p], s->rank != 0, &s->line_count[p], until);
        if (ns < 0 || (slowest >= 0 && ns > slowest))
            slowest = ns;
    }
    return (double)meet_at(s, s->rank == 0 ? (int64_t)(slowest * 1000) : INT64_MIN, true) / 1000;
}

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 31) * 0x9E3779B97F4A7C15u;
    return x ^ x >> 29;
}

static int64_t offset_of(const struct shots_plan *plan, const struct shots_call *call, int rank)
{
    if (plan->skew_ns == 0)
        return 0;
    if (plan->one_late)
        return call->stamp % (uint64_t)call->ranks == (uint64_t)rank ? plan->skew_ns : 0;
    return (int64_t)(mixed(call->stamp * 65536 + (uint64_t)rank + 1) %
                     (uint64_t)(plan->skew_ns + 1));
}

/* Waits until a moment.  Returns whether the moment had already passed. */
static bool wait_for(const struct shots *s, int64_t when_ns)
{
    bool late = clock_ns() > when_ns;

    while (clock_ns() < when_ns)
        if (s->naps)
            idle_sleep(TIMER_ABSTIME, when_ns);
        else if (s->oversubscribed)
            sched_yield();
    return late;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Returns the median over short batches: other work on the processor spoils few of them. */
double shots_start_ns(void)
{
    enum { BATCHES = 101, READINGS = 200 };
    double ns[BATCHES];

    for (int b = 0; b < BATCHES; b++) {
        int64_t begin = clock_ns(), now = begin;
        for (int i = 0; i < READINGS; i++)
            now = clock_ns();
        ns[b] = (double)(now - begin) / READINGS;
    }
    qsort(ns, BATCHES, sizeof *ns, by_value);
    return ns[BATCHES / 2];
}

/* Prepares data for the next shot.  In a loop all calls use the same data. */
static void prepare(const struct shots_plan *plan, const struct shots_coll *coll,
                    struct shots_call *call)
{
    call->stamp++;
    call->kind = coll->kind;
    call->root =
        plan->root == SHOTS_SHIFT ? (int)(call->stamp % (uint64_t)call->ranks) : plan->root;
    if (coll->fill)
        coll->fill(call);
    if (plan->cold) {
        throw_out(call->in, shots_buffer_bytes(coll, call->bytes, call->ranks));
        throw_out(call->out, shots_buffer_bytes(coll, call->bytes, call->ranks));
    }
}

/* Makes the call, or the calls of a loop.  Returns how many were refused.  Only the data of
 * call->root are valid for the shot.  So this root's call is the first, which distributes the data,
 * and the last, which restores them. */
static int make_calls(const struct shots_plan *plan, const struct shots_coll *coll,
                      struct shots_call *call)
{
    int refused = coll->call(call) != 0, root = call->root;

    for (int i = 1; i < plan->loop; i++) {
        if (plan->root == SHOTS_SHIFT)
            call->root = i == plan->loop - 1 ? root : (call->root + 1) % call->ranks;
        refused += coll->call(call) != 0;
    }
    return refused;
}

/* Runs a shot.  Returns the ns of a call; the combined values of all ranks are in `value`. */
static double shoot(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                    struct shots_call *call, int64_t pause_ns, int64_t *value)
{
    int64_t last = 0, cpu = 0, when;

    prepare(plan, coll, call);
    for (int r = 0; r < s->ranks && plan->skew_ns != 0; r++)
        last = offset_of(plan, call, r) > last ? offset_of(plan, call, r) : last;
    when = meet_at(s, clock_ns(), false) + pause_ns;
    bool late = wait_for(s, when + offset_of(plan, call, s->rank));
    if (plan->skew_ns != 0)
        cpu = clock_cpu_ns();
    int refused = make_calls(plan, coll, call);
    int64_t end = clock_ns();
    if (plan->skew_ns != 0)
        cpu = clock_cpu_ns() - cpu;
    memcpy(value, (int64_t[VALUES]){ [END] = end, [LATE] = late, [REFUSED] = refused, [CPU] = cpu },
           VALUES * sizeof *value);
    value[WRONG] = coll->wrong ? coll->wrong(call) : 0;
    meet(s, value, false);
    return (double)(value[END] - when - last) / (plan->loop > 0 ? plan->loop : 1);
}

/* State shared by the shots of a measurement. */
struct pace {
    int64_t pause_ns;         /* time before a shot */
    int64_t begin_ns, end_ns; /* moments of the first shot and of the latest */
    int tries;
};

/* Returns whether the time limit has not been reached; the same on all ranks. */
static bool in_limit(const struct shots_plan *plan, const struct pace *pace)
{
    return plan->limit_ns == 0 || pace->end_ns - pace->begin_ns < plan->limit_ns;
}

static bool goes_on(const struct shots_plan *plan, const struct shots_figure *f, int count,
                    const struct pace *pace)
{
    int min = f->shots, max = f->shots;

    for (int i = 1; i < count; i++) {
        min = f[i].shots < min ? f[i].shots : min;
        max = f[i].shots > max ? f[i].shots : max;
    }
    int64_t patience = min == 0 ? FIRST : min < plan->min ? PATIENCE : 1;
    return max < plan->max && pace->tries < 2 * plan->max + plan->warmups + SPARE &&
           pace->end_ns - pace->begin_ns < count * plan->figure_ns * patience &&
           in_limit(plan, pace);
}

/* Takes a shot for a figure.  Returns whether the shot was in time. */
static bool take(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                 struct shots_call *call, bool counted, struct pace *pace, struct shots_figure *f)
{
    int64_t value[VALUES] = { 0 };
    double took_ns = shoot(s, plan, coll, call, pace->pause_ns, value);

    pace->end_ns = value[END];
    f->wrong += value[REFUSED] == 0 ? value[WRONG] : 0; /* unmoved bytes cannot be wrong */
    f->refused += value[REFUSED];
    if (value[LATE]) {
        f->late++;
        pace->pause_ns =
            pace->pause_ns * 3 / 2 < MAX_PAUSE_NS ? pace->pause_ns * 3 / 2 : MAX_PAUSE_NS;
    } else if (counted) {
        f->took_ns[f->shots++] = took_ns;
        f->cpu_ns += (double)value[CPU] / s->ranks;
    }
    if (!value[LATE]) /* a machine may be busy for a while only */
        pace->pause_ns -= (pace->pause_ns - PAUSE_NS) / CALM;
    return !value[LATE];
}

struct turn {
    int settling, counted; /* numbers of shots */
};

/*
 * Returns the numbers of shots of a host's turn.  The other hosts used the caches in between.  A
 * window whose lines they have evicted from the reader's caches is much faster than a window that a
 * host uses call after call, so a few shots are not enough.  Oversubscribed ranks pay for context
 * switches, not for lines.
 */
static struct turn turn_of(const struct shots *s, const struct shots_plan *plan, size_t bytes,
                           int count)
{
    size_t shots = SETTLED_BYTES / (bytes > 0 ? bytes : 1);

    if (count == 1 || plan->loop != 0 || bytes > CACHED_BYTES)
        return (struct turn){ .counted = 1 };
    if (s->oversubscribed)
        return (struct turn){ .settling = 1, .counted = 1 };
    return (struct turn){ .settling = shots < MIN_SETTLING   ? MIN_SETTLING
                                      : shots > MAX_SETTLING ? MAX_SETTLING
                                                             : (int)shots,
                          .counted = TURN };
}

void shots_compare(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, void *const *host, int count, struct shots_figure *f)
{
    struct pace pace = { .pause_ns = s->pause_ns / 2 > PAUSE_NS
                                         ? s->pause_ns / 2
                                         : PAUSE_NS }; /* half of the last pause */
    double line_ns = line_now(s, plan);
    struct turn turn = turn_of(s, plan, shots_buffer_bytes(coll, call->bytes, s->ranks), count);
    int warmups = plan->warmups;

    for (int i = 0; i < count; i++)
        f[i] = (struct shots_figure){ .took_ns = f[i].took_ns, .line_before_ns = line_ns };
    call->rank = s->rank;
    call->ranks = s->ranks;
    pace.begin_ns = pace.end_ns = meet_at(s, clock_ns(), false);
    for (; goes_on(plan, f, count, &pace); pace.tries++) {
        bool in_time = false;
        for (int i = 0; i < count && in_limit(plan, &pace); i++) {
            call->host = host[i];
            for (int shot = 0; shot < turn.settling && in_limit(plan, &pace); shot++)
                take(s, plan, coll, call, false, &pace, &f[i]);
            for (int shot = 0; shot < turn.counted && f[i].shots < plan->max; shot++)
                if (in_limit(plan, &pace))
                    in_time |= take(s, plan, coll, call, warmups == 0, &pace, &f[i]);
        }
        warmups -= in_time && warmups > 0;
    }
    s->pause_ns = pace.pause_ns;
    line_ns = line_now(s, plan);
    for (int i = 0; i < count; i++) {
        f[i].line_after_ns = line_ns;
        f[i].cpu_ns /= f[i].shots > 0 ? f[i].shots : 1;
        qsort(f[i].took_ns, (size_t)f[i].shots, sizeof *f[i].took_ns, by_value);
    }
}

void shots_measure(struct shots *s, const struct shots_plan *plan, const struct shots_coll *coll,
                   struct shots_call *call, struct shots_figure *f)
{
    shots_compare(s, plan, coll, call, &call->host, 1, f);
}

double shots_percentile(const struct shots_figure *f, double percent)
{
    size_t at = (size_t)(percent / 100 * f->shots);

    return f->shots == 0 ? 0 : f->took_ns[at < (size_t)f->shots ? at : (size_t)f->shots - 1];
}
