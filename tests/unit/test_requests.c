/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_requests.c - random sequences of nonblocking, persistent and blocking calls on several
 * teams, completed in an order that each rank draws for itself. Every result is verified, and the
 * calls that fall back to the host must have the same order on all ranks.
 */
#define _GNU_SOURCE
#include "base/hash.h"
#include "calls.h"
#include "core/team/team.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { FLIGHT = 40, KEPT = 4, LARGE_BYTES = HUD_ELEMENT_MAX + 4 };

static struct hud_op operations[] = {
    { .element_bytes = 4, .commutative = 1, .combine = add_words, .name = "sum" }, /* replaced by
                                                                                   * huddle's own
                                                                                   * operation */
    { .element_bytes = 12, .combine = compose_words, .name = "compose" },
    { .element_bytes = 100, .commutative = 1, .combine = add_words, .name = "add" },
    { .element_bytes = LARGE_BYTES, .commutative = 1, .combine = add_words, .name = "large" },
};

static const size_t sizes[] = { 2, 100, 1300, 17000, 140000, 600000 };

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- the host's functions, which must run on the host's own stack ---- */

static bool on_own_stack(void)
{
    pthread_attr_t attributes;
    void *stack;
    size_t bytes;
    char here;

    if (pthread_getattr_np(pthread_self(), &attributes) != 0 ||
        pthread_attr_getstack(&attributes, &stack, &bytes) != 0)
        abort();
    pthread_attr_destroy(&attributes);
    return (uintptr_t)&here - (uintptr_t)stack < bytes;
}

static size_t pack(const struct hud_view *view, void *dst, size_t at, size_t max)
{
    if (!on_own_stack())
        abort();
    memcpy(dst, (const char *)view->base + at, max);
    return max;
}

static void unpack(const struct hud_view *view, const void *src, size_t at, size_t bytes)
{
    if (!on_own_stack())
        abort();
    memcpy((char *)view->base + at, src, bytes);
}

static void add(const struct hud_op *op, void *dst, const void *const *src, int sources,
                size_t elements)
{
    if (op->host != &operations[2] || !on_own_stack())
        abort();
    add_words(op, dst, src, sources, elements);
}

/* ---- requests ---- */

struct flight {
    struct rank_team *on;
    hud_request *request;
    struct call *call;
    int number;
    bool kept, flies; /* kept: persistent */
};

struct state {
    struct rank *me;
    unsigned shared, own; /* random seeds: for the calls of all ranks, and for this rank only */
    int calls, taken;
    struct flight flight[FLIGHT];
};

static void note_own(struct rank_team *t, int number)
{
    t->history = hash_number(t->history + 1, (uint64_t)number);
    t->turns++;
}

static void start_own(void *arg)
{
    struct flight *f = arg;

    if (f->on->of->context->calls.queues.threads == 0 && !on_own_stack())
        abort();
    note_own(f->on, f->number);
}

static void land(struct state *s, struct flight *f, int status)
{
    f->flies = false;
    s->taken += status == HUD_OK;
    MUST(s->me, status == HUD_OK || status == HUD_PASS);
    MUST(s->me, status != HUD_OK || call_check(f->call));
    if (f->kept)
        return;
    hud_request_free(f->request);
    MUST(s->me, call_end(f->call));
    f->request = NULL;
}

static void wait_for(struct state *s, struct flight *f)
{
    if (f->flies)
        land(s, f, hud_request_wait(f->request));
}

static void test(struct state *s, struct flight *f)
{
    int done = 0, status;

    if (!f->flies)
        return;
    status = hud_request_test(f->request, &done);
    if (done)
        land(s, f, status);
}

static void start(struct state *s, struct flight *f)
{
    int status = hud_request_start(f->request);

    f->flies = true;
    MUST(s->me, status == HUD_OK || status == HUD_PASS);
    if (status == HUD_PASS)
        note_own(f->on, f->number);
    if (status == HUD_PASS)
        land(s, f, status);
}

static struct call_what draw(struct state *s)
{
    int kind = rand_r(&s->shared) % COLL_KINDS;
    const struct hud_op *op = &operations[(size_t)rand_r(&s->shared) % COUNT(operations)];
    size_t bytes = sizes[(size_t)rand_r(&s->shared) % COUNT(sizes)], one = op->element_bytes;

    return (struct call_what){ kind,
                               s->calls++,
                               s->me->ranks,
                               op,
                               (bytes + one - 1) / one * one,
                               rand_r(&s->shared) % 2 != 0 };
}

static void prepare(struct state *s, struct flight *f, struct rank_team *t, bool kept)
{
    struct call_what what = draw(s);

    what.in_place = what.in_place && !kept;
    f->call = call_begin(&what, s->me->rank);
    f->on = t;
    f->number = what.number;
    f->kept = kept;
    if (rand_r(&s->shared) % 3 == 0 && what.kind != COLL_BARRIER)
        call_pack(f->call, &(struct hud_view){ .pack = pack, .unpack = unpack });
    struct hud_args args = *call_args(f->call);
    struct hud_op op = *args.op;
    args.op = &op;
    if (!coll_has(what.kind, COLL_COUNTS))
        args.block_bytes = (const size_t *)(uintptr_t)1; /* not used, so not read */
    if (coll_has(what.kind, COLL_ONE_BUFFER))
        args.in = (const struct hud_view *)(uintptr_t)1;
    MUST(s->me, hud_request_create(t->team, &args, &(struct hud_passed){ start_own, f },
                                   &f->request) == HUD_OK);
    memset(&op, 0xA5, sizeof op);
    memset(&args, 0xA5, sizeof args);
}

static void call(struct state *s, struct rank_team *t)
{
    struct call_what what = draw(s);
    struct call *c = call_begin(&what, s->me->rank);
    int status = hud_call(t->team, call_args(c));

    MUST(s->me, status == HUD_OK || status == HUD_PASS);
    MUST(s->me, status != HUD_OK || call_check(c));
    MUST(s->me, call_end(c));
    if (status == HUD_PASS)
        note_own(t, what.number);
}

/* Makes a step that is equal on all ranks. */
static void step(struct state *s)
{
    struct rank_team *t = &s->me->teams[rand_r(&s->shared) % s->me->team_count];
    int way = rand_r(&s->shared) % 8, at = rand_r(&s->shared);
    struct flight *f = &s->flight[way < 2 ? at % KEPT : KEPT + at % (FLIGHT - KEPT)];

    if (way == 7) {
        call(s, t);
        return;
    }
    wait_for(s, f);
    if (!f->request)
        prepare(s, f, t, way < 2);
    start(s, f);
}

/* Makes a step that differs from rank to rank. */
static void stray(struct state *s)
{
    int way = rand_r(&s->own) % 6;
    struct flight *f = &s->flight[rand_r(&s->own) % FLIGHT];

    if (way == 0)
        wait_for(s, f);
    else if (way == 1)
        test(s, f);
    else if (way == 2)
        (void)hud_progress(s->me->context);
    else if (way == 3)
        sched_yield();
}

static unsigned seed;
static int steps;

static void sequence(struct rank *me)
{
    struct state *s = calloc(1, sizeof *s);

    MUST(me, s != NULL);
    s->me = me;
    s->shared = seed;
    s->own = seed * 31 + (unsigned)me->rank;
    for (int i = 0; i < steps && !me->self->failed; i++) {
        step(s);
        stray(s);
    }
    for (int i = FLIGHT; i > 0; i--)
        wait_for(s, &s->flight[(i * 7 + me->rank) % FLIGHT]);
    for (int i = 0; i < FLIGHT; i++)
        wait_for(s, &s->flight[i]);
    for (int i = 0; i < KEPT; i++) {
        hud_request_free(s->flight[i].request);
        if (s->flight[i].request)
            MUST(me, call_end(s->flight[i].call));
    }
    MUST(me, hud_progress(me->context) == 0);
    MUST(me, s->taken > steps / 2);
    for (int t = 0; t < me->team_count; t++)
        MUST(me, ranks_agree(me, t, me->teams[t].history));
    free(s);
}

/* Runs random sequences. With HUD_TEST_FULL there are `rounds` rounds, each with other numbers of
 * ranks and teams. Otherwise there are a third of them. */
static void random_sequences(const char *const *settings, bool processes, int rounds, int length)
{
    if (!getenv("HUD_TEST_FULL"))
        rounds = (rounds + 2) / 3;
    hud_op_find(HUD_SUM, HUD_UINT32, &operations[0]);
    operations[2].combine = add;
    operations[2].host = &operations[2];
    for (int i = 0; i < rounds; i++) {
        seed = (unsigned)i + 1;
        steps = length;
        ranks_run(&(struct ranks){ .ranks = 2 + i % 3,
                                   .teams = 1 + i % 4,
                                   .processes = processes,
                                   .settings = settings,
                                   .body = sequence });
    }
}

static const char *const plain[] = { "HUDDLE_TUNING=off", NULL };

static void random_sequences_are_right_in_threads(void **state)
{
    (void)state;
    random_sequences(plain, false, 12, 150);
}

static void random_sequences_are_right_in_processes(void **state)
{
    (void)state;
    random_sequences(plain, true, 12, 150);
}

static void random_sequences_are_right_with_huddle_check(void **state)
{
    static const char *const settings[] = { "HUDDLE_CHECK=on", "HUDDLE_LOG=quiet", NULL };

    (void)state;
    random_sequences(settings, false, 6, 100);
}

static void random_sequences_are_right_with_sleeping_waits(void **state)
{
    static const char *const settings[] = { "HUDDLE_WAIT=sleep", NULL };

    (void)state;
    random_sequences(settings, true, 3, 60);
}

static void random_sequences_are_right_with_trials(void **state)
{
    static const char *const settings[] = { "HUDDLE_WISDOM=on", NULL };

    (void)state;
    random_sequences(settings, false, 3, 300);
}

static void random_sequences_are_right_with_late_teams(void **state)
{
    static const char *const settings[] = { "HUDDLE_FIRST=3", NULL };

    (void)state;
    random_sequences(settings, false, 3, 60);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_sequences_are_right_in_threads),
        cmocka_unit_test(random_sequences_are_right_in_processes),
        cmocka_unit_test(random_sequences_are_right_with_huddle_check),
        cmocka_unit_test(random_sequences_are_right_with_sleeping_waits),
        cmocka_unit_test(random_sequences_are_right_with_trials),
        cmocka_unit_test(random_sequences_are_right_with_late_teams)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
