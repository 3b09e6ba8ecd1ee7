/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checker.c - small algorithms with one fault each: every fault is reported, with its lines; and right ones are not. */
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = 3, CALLS = 6, SEEDS = 60, BYTES = 200, ARENA = 16384 };

struct slot {
    mem_flag full;
    mem_flag done;
    mem_flag met; /* in rank 0's slot */
    _Alignas(HUD_LINE) uint64_t word;
    _Alignas(HUD_LINE) unsigned char data[256];
};

static struct slot *slot_of(struct mem *m, int rank)
{
    return mem_slot(m, rank);
}

static bool is_root(struct mem *m, const struct coll *c)
{
    return mem_rank(m) == c->root;
}

/* ---- right ones ---- */

static void wait_all(struct mem *m, uint64_t op)
{
    for (int r = 0; r < mem_size(m); r++)
        if (r != mem_rank(m))
            mem_await(m, &slot_of(m, r)->done, op);
}

/* The root publishes its slot, all copy from it; before it does so again, all must be done. */
static void right_bcast(struct mem *m, const struct coll *c)
{
    struct slot *mine = slot_of(m, mem_rank(m)), *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        wait_all(m, c->op - 1);
        mem_in(m, mine->data, &c->buf, 0, c->buf.bytes);
        mem_post(m, &mine->full, c->op);
    } else {
        mem_await(m, &root->full, c->op);
        mem_out(m, &c->buf, root->data, 0, c->buf.bytes);
    }
    mem_post(m, &mine->done, c->op);
}

/* Central counter, polled.  The wrong ones below end with it where they would break their promise, too. */
static void right_barrier(struct mem *m, const struct coll *c)
{
    mem_flag *met = &slot_of(m, 0)->met;

    mem_add(m, met, 1);
    while (mem_peek(m, met) < c->op * (uint64_t)mem_size(m))
        ;
}

/* A flag is never seen to go back, nor older than what is known to have happened: else this leaves its region. */
static void sees_no_past(struct mem *m, const struct coll *c)
{
    mem_flag *zero = &slot_of(m, 0)->full;
    uint64_t first;

    if (mem_rank(m) == 0) {
        mem_post(m, zero, 2 * c->op - 1);
        mem_post(m, zero, 2 * c->op);
    }
    first = mem_peek(m, zero);
    if (mem_peek(m, zero) < first)
        slot_of(m, -1);
    right_barrier(m, c);
    if (mem_peek(m, zero) < 2 * c->op)
        slot_of(m, -1);
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    wait_all(m, c->op);
}

/* ---- order ---- */

static void never_posts(struct mem *m, const struct coll *c)
{
    if (!is_root(m, c))
        mem_await(m, &slot_of(m, c->root)->full, c->op);
}

static void never_waits(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c))
        mem_in(m, root->data, &c->buf, 0, c->buf.bytes);
    else
        mem_out(m, &c->buf, root->data, 0, c->buf.bytes);
    right_barrier(m, c);
}

static void reuses_early(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_in(m, root->data, &c->buf, 0, c->buf.bytes);
        mem_post(m, &root->full, c->op);
    } else {
        mem_await(m, &root->full, c->op);
        mem_out(m, &c->buf, root->data, 0, c->buf.bytes);
    }
}

/* In one byte. */
static void overlaps(struct mem *m, const struct coll *c)
{
    mem_copy(m, slot_of(m, 0)->data + 8 + 7 * mem_rank(m), slot_of(m, mem_rank(m))->data + 128, 8);
    right_barrier(m, c);
}

static void writes_payload_late(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_post(m, &root->full, c->op);
        mem_put(m, &root->full.payload[3], 7);
    } else {
        mem_await(m, &root->full, c->op);
        mem_get(m, &root->full.payload[3]);
    }
}

/* What it writes after its first post is ordered by the second only. */
static void awaits_too_little(struct mem *m, const struct coll *c)
{
    struct slot *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_post(m, &root->full, 2 * c->op - 1);
        mem_put(m, &root->word, 1);
        mem_post(m, &root->full, 2 * c->op);
        wait_all(m, c->op);
    } else {
        mem_await(m, &slot_of(m, c->root)->full, 2 * c->op - 1);
        mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
        mem_await(m, &root->full, 2 * c->op - 1);
        mem_get(m, &root->word);
    }
}

static void breaks_promise(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
    mem_await(m, &slot_of(m, (mem_rank(m) + 1) % mem_size(m))->done, c->op);
}

static void returns_without_root(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->done, c->op);
}

/* Two ranks post their flags, look at each other's, and write if it is not there: right only if a peek always saw the newest. */
static void trusts_a_peek(struct mem *m, const struct coll *c)
{
    int me = mem_rank(m);

    if (me < 2) {
        mem_post(m, &slot_of(m, me)->done, c->op);
        if (mem_peek(m, &slot_of(m, 1 - me)->done) < c->op)
            mem_put(m, &slot_of(m, 0)->word, 1);
    }
    right_barrier(m, c);
}

/* ---- flags ---- */

static void two_writers(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, 0)->full, c->op * 10 + (uint64_t)mem_rank(m));
    right_barrier(m, c);
}

static void does_not_grow(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
}

static void puts_a_flag(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    mem_put(m, (uint64_t *)(void *)&slot_of(m, mem_rank(m))->full, c->op + 1);
}

static void polls_for_ever(struct mem *m, const struct coll *c)
{
    while (mem_peek(m, &slot_of(m, 0)->full) < c->op)
        ;
}

/* ---- memory ---- */

static void dereferences(struct mem *m, const struct coll *c)
{
    mem_post(m, &slot_of(m, mem_rank(m))->full, c->op);
    slot_of(m, mem_rank(m))->word = c->op;
}

static void leaves_its_region(struct mem *m, const struct coll *c)
{
    (void)c;
    mem_put(m, &slot_of(m, mem_rank(m))->word + sizeof(struct slot) / 8, 1);
}

static void copies_private(struct mem *m, const struct coll *c)
{
    unsigned char local[8] = { 0 };

    (void)c;
    mem_copy(m, slot_of(m, mem_rank(m))->data, local, sizeof local);
}

/* The others read the root's own buffer, and the root does not wait for them. */
static void reads_user_late(struct mem *m, const struct coll *c)
{
    struct slot *mine = slot_of(m, mem_rank(m)), *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_put(m, &root->word, (uint64_t)(uintptr_t)c->buf.base);
        mem_post(m, &root->full, c->op);
        wait_all(m, c->op); /* but they say so before they read */
        return;
    }
    mem_await(m, &root->full, c->op);
    struct hud_view roots = { .base = (void *)(uintptr_t)mem_get(m, &root->word), .bytes = c->buf.bytes };
    mem_post(m, &mine->done, c->op);
    mem_in(m, mine->data, &roots, 0, roots.bytes);
    mem_out(m, &c->buf, mine->data, 0, roots.bytes);
}

/* The same, and right: they say so after it. */
static void reads_user_in_time(struct mem *m, const struct coll *c)
{
    struct slot *mine = slot_of(m, mem_rank(m)), *root = slot_of(m, c->root);

    if (is_root(m, c)) {
        mem_put(m, &root->word, (uint64_t)(uintptr_t)c->buf.base);
        mem_post(m, &root->full, c->op);
        wait_all(m, c->op);
        return;
    }
    mem_await(m, &root->full, c->op);
    struct hud_view roots = { .base = (void *)(uintptr_t)mem_get(m, &root->word), .bytes = c->buf.bytes };
    mem_in(m, mine->data, &roots, 0, roots.bytes);
    mem_post(m, &mine->done, c->op);
    mem_out(m, &c->buf, mine->data, 0, roots.bytes);
}

/* ---- */

struct trial {
    struct alg alg;
    int calls, lines;     /* lines of this file that the report must name */
    const char *expected; /* in the report; NULL: none may come */
    struct sim_team *team;
    unsigned char user[RANKS][BYTES];
};

static void body(struct sim *s, int rank, void *arg)
{
    struct trial *t = arg;

    (void)s;
    for (int i = 0; i < t->calls; i++) {
        struct coll c = { .buf = { .base = t->user[rank], .bytes = BYTES }, .op = (uint64_t)i + 1, .slot_bytes = sizeof(struct slot) };
        hud_sim_call(hud_sim_team_mem(t->team, rank), &t->alg, &c, HUD_LINE);
    }
}

static struct sim *start(struct trial *t, const struct sim_options *options)
{
    static const int members[RANKS] = { 0, 1, 2 };
    struct sim *s = hud_sim_create(options);

    t->team = hud_sim_team_create(s, RANKS, members, 0, ARENA);
    hud_sim_run(s, body, t);
    return s;
}

static int count(const char *text, const char *what)
{
    int n = 0;

    while ((text = strstr(text, what)) != NULL) {
        n++;
        text += strlen(what);
    }
    return n;
}

/* A fault must be reported for some seed, and nothing else ever. */
static void test_trial(void **state)
{
    struct trial *t = *state;
    bool found = false;

    for (uint64_t seed = 1; seed <= SEEDS && !found; seed++) {
        const struct sim_options options = {
            .ranks = RANKS, .arena_bytes = ARENA, .seed = seed, .strategy = (enum sim_strategy)(seed % SIM_STRATEGIES)
        };
        struct sim *s = start(t, &options);
        const char *report = hud_sim_report(s);
        if (*report && (!t->expected || !strstr(report, t->expected) || count(report, "test_checker.c:") < t->lines))
            fail_msg("expected '%s' in\n%s", t->expected ? t->expected : "", report);
        found = *report != '\0';
        hud_sim_free(s);
    }
    if (t->expected)
        assert_true(found);
}

static struct trial bcast_right = { .alg = { .coll = "bcast", .name = "right", .run = right_bcast }, .calls = CALLS };

static void test_same_seed_same_run(void **state)
{
    const struct sim_options options = { .ranks = RANKS, .arena_bytes = ARENA, .seed = 7, .strategy = SIM_RANDOM };
    const struct sim_options other = { .ranks = RANKS, .arena_bytes = ARENA, .seed = 8, .strategy = SIM_RANDOM };
    struct trial polls = { .alg = { .coll = "barrier", .name = "right", .run = right_barrier }, .calls = 40 };
    struct sim *a = start(&polls, &options), *b = start(&polls, &options), *c = start(&polls, &other);

    (void)state;
    assert_int_equal(hud_sim_events(a), hud_sim_events(b));
    assert_int_not_equal(hud_sim_events(a), hud_sim_events(c));
    hud_sim_free(a);
    hud_sim_free(b);
    hud_sim_free(c);
}

/* Dropping what one line orders is noticed; a line that is not there changes nothing. */
static int first_found(int line, int drop, unsigned long *mutated)
{
    struct sim_options options = { .ranks = RANKS, .arena_bytes = ARENA, .mutate_file = "test_checker.c", .mutate_line = line };

    options.mutate = drop;
    *mutated = 0;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct sim *s = start(&bcast_right, &options);
        bool found = *hud_sim_report(s) != '\0';
        *mutated += hud_sim_mutated(s);
        hud_sim_free(s);
        if (found)
            return (int)options.seed;
    }
    return 0;
}

static int line_of(const char *what)
{
    char text[256];
    int line = 0;
    FILE *f = fopen(CHECKER_SOURCE, "r");

    assert_non_null(f);
    do
        line++;
    while (fgets(text, sizeof text, f) && !strstr(text, what));
    fclose(f);
    return line;
}

static void test_mutation(void **state)
{
    unsigned long mutated;

    (void)state;
    assert_int_not_equal(first_found(line_of("mem_post(m, &mine->full, c->op);"), SIM_DROP_RELEASE, &mutated), 0);
    assert_int_not_equal(mutated, 0);
    assert_int_not_equal(first_found(line_of("mem_await(m, &slot_of(m, r)->done, op);"), SIM_DROP_ACQUIRE, &mutated), 0);
    assert_int_equal(first_found(line_of("mem_post(m, &mine->full, c->op);"), SIM_DROP_ACQUIRE, &mutated), 0);
    assert_int_equal(first_found(1, SIM_DROP_RELEASE, &mutated), 0);
    assert_int_equal(mutated, 0);
}

#define TRIAL(coll_, function, calls_, lines_, expected_)                                                                                  \
    {                                                                                                                                      \
        .name = #function, .test_func = test_trial, .initial_state = &(struct trial)                                                       \
        {                                                                                                                                  \
            .alg = { .coll = coll_, .name = #function, .run = function }, .calls = calls_, .lines = lines_, .expected = expected_          \
        }                                                                                                                                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRIAL("bcast", right_bcast, CALLS, 0, NULL),
        TRIAL("barrier", right_barrier, CALLS, 0, NULL),
        TRIAL("bcast", reads_user_in_time, CALLS, 0, NULL),
        TRIAL("barrier", sees_no_past, CALLS, 0, NULL),
        TRIAL("bcast", never_posts, 1, 2, "deadlock: 2 of 3 ranks"),
        TRIAL("bcast", never_waits, 1, 2, "race on the arena"),
        TRIAL("bcast", reuses_early, CALLS, 2, "race on the arena"),
        TRIAL("barrier", overlaps, 1, 2, "race on the arena"),
        TRIAL("bcast", writes_payload_late, 1, 2, "race on the arena"),
        TRIAL("bcast", awaits_too_little, 1, 2, "race on the arena"),
        TRIAL("barrier", breaks_promise, 1, 1, "broken promise"),
        TRIAL("bcast", returns_without_root, 1, 1, "broken promise"),
        TRIAL("bcast", trusts_a_peek, 1, 2, "race on the arena"),
        TRIAL("bcast", two_writers, 1, 2, "race on a flag"),
        TRIAL("bcast", does_not_grow, 1, 2, "must grow"),
        TRIAL("bcast", puts_a_flag, 1, 1, "plain access to a flag"),
        TRIAL("barrier", polls_for_ever, 1, 1, "no end"),
        TRIAL("bcast", dereferences, 1, 1, "plain access to shared memory"),
        TRIAL("bcast", leaves_its_region, 1, 1, "outside its region"),
        TRIAL("bcast", copies_private, 1, 1, "not shared memory"),
        TRIAL("bcast", reads_user_late, CALLS, 1, "race on the user buffer"),
        TRIAL("nothing", right_barrier, 1, 0, "no contract"),
        cmocka_unit_test(test_same_seed_same_run),
        cmocka_unit_test(test_mutation),
    };

    return cmocka_run_group_tests_name("checker", tests, NULL, NULL);
}
