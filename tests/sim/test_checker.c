/* SPDX-License-Identifier: BSD-3-Clause */
/* test_checker.c - every fault of faults.c, reduce_faults.c and last_faults.c is reported with its
 * lines, and nothing else is reported. Also tests the parts of the checker. */
#include "check/bytes.h"
#include "check/sim.h"
#include "faults.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { RANKS = FAULT_RANKS, SEEDS = 60, BYTES = 200, ARENA = 16384 };

struct trial {
    const struct fault *fault;
    int calls;
    struct sim_team *team;
    unsigned char user[RANKS][BYTES];
};

static void body(struct sim *s, int rank, void *arg)
{
    struct trial *t = arg;

    (void)s;
    for (int i = 0; i < t->calls; i++) {
        static const struct alg_place place = { .slot_offset = HUD_LINE,
                                                .slot_bytes = sizeof(struct slot) };
        const struct hud_view view = { .base = t->user[rank], .bytes = BYTES };
        struct coll c = { .out = &view, .op = (uint64_t)i + 1, .place = &place };
        hud_sim_call(hud_sim_team_mem(t->team, rank), &t->fault->alg, &c);
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

/* Expects a report of the fault for some seeds or for all, and no other report. */
static void test_fault(void **state)
{
    const struct fault *f = *state;
    struct trial t = { .fault = f, .calls = f->calls };
    int found = 0, seeds = f->expected && !f->always ? SEEDS : SEEDS / 4;

    for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++) {
        const struct sim_options options = { .ranks = RANKS,
                                             .arena_bytes = ARENA,
                                             .seed = seed,
                                             .strategy =
                                                 (enum sim_strategy)(seed % SIM_STRATEGIES) };
        struct sim *s = start(&t, &options);
        const char *report = hud_sim_report(s);
        if (*report &&
            (!f->expected || !strstr(report, f->expected) || count(report, "faults.c:") < f->lines))
            fail_msg("expected '%s' in\n%s", f->expected ? f->expected : "", report);
        found += *report != '\0';
        hud_sim_free(s);
    }
    if (f->expected)
        assert_in_range(found, f->always ? seeds : 1, seeds);
}

static const struct fault bcast_right = {
    .alg = { .coll = "bcast", .name = "right", .run = right_bcast }
};
static const struct fault barrier_right = {
    .alg = { .coll = "barrier", .name = "right", .run = right_barrier }
};

static void same_seed_gives_the_same_run(void **state)
{
    const struct sim_options options = {
        .ranks = RANKS, .arena_bytes = ARENA, .seed = 7, .strategy = SIM_RANDOM
    };
    const struct sim_options other = {
        .ranks = RANKS, .arena_bytes = ARENA, .seed = 8, .strategy = SIM_RANDOM
    };
    struct trial polls = { .fault = &barrier_right, .calls = 40 };
    struct sim *a = start(&polls, &options), *b = start(&polls, &options),
               *c = start(&polls, &other);

    (void)state;
    assert_int_equal(hud_sim_events(a), hud_sim_events(b));
    assert_int_not_equal(hud_sim_events(a), hud_sim_events(c));
    hud_sim_free(a);
    hud_sim_free(b);
    hud_sim_free(c);
}

/* Returns the first seed with a report when the ordering of a line is dropped, or 0. Counts in
 * *mutated how often the line was reached. */
static int first_found(int line, int drop, unsigned long *mutated)
{
    struct sim_options options = {
        .ranks = RANKS, .arena_bytes = ARENA, .mutate_file = "faults.c", .mutate_line = line
    };

    struct trial t = { .fault = &bcast_right, .calls = FAULT_CALLS };
    options.mutate = drop;
    *mutated = 0;
    for (options.seed = 1; options.seed <= SEEDS; options.seed++) {
        struct sim *s = start(&t, &options);
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
    FILE *f = fopen(FAULTS_SOURCE, "r");

    assert_non_null(f);
    do
        line++;
    while (fgets(text, sizeof text, f) && !strstr(text, what));
    fclose(f);
    return line;
}

static void dropped_ordering_is_reported(void **state)
{
    unsigned long mutated;

    (void)state;
    assert_int_not_equal(
        first_found(line_of("mem_post(m, &mine->full, c->op);"), SIM_DROP_RELEASE, &mutated), 0);
    assert_int_not_equal(mutated, 0);
    assert_int_not_equal(
        first_found(line_of("mem_await(m, &slot_of(m, r)->done, op);"), SIM_DROP_ACQUIRE, &mutated),
        0);
    assert_int_equal(
        first_found(line_of("mem_post(m, &mine->full, c->op);"), SIM_DROP_ACQUIRE, &mutated), 0);
    assert_int_not_equal(first_found(line_of("mem_out(m, c->out, root->data, 0, c->out->bytes);"),
                                     SIM_RETURN_LINES, &mutated),
                         0);
    assert_int_equal(
        first_found(line_of("mem_post(m, &mine->full, c->op);"), SIM_RETURN_LINES, &mutated), 0);
    assert_int_equal(first_found(1, SIM_DROP_RELEASE, &mutated), 0);
    assert_int_equal(mutated, 0);
}

/* ---- the parts of the checker ---- */

/* Writes in the middle of a range. The parts next to the write and accesses next to the range are
 * kept. */
static void write_within_a_range_keeps_its_other_parts(void **state)
{
    struct sim_order *mine = hud_order_create(2), *others = hud_order_create(2);
    const struct sim_event first = { .rank = 0, .time = 1 }, second = { .rank = 0, .time = 2 },
                           other = { .rank = 1, .time = 1 };
    struct sim_bytes b = { NULL, 0, 0 };
    size_t at;

    (void)state;
    hud_order_set(mine, 0, 9);
    hud_order_set(others, 1, 9);
    assert_null(hud_bytes_write(&b, 0, 100, &first, mine, &at));
    assert_null(hud_bytes_write(&b, 50, 60, &second, mine, &at));
    assert_null(hud_bytes_read(&b, 70, 80, &second, mine, &at));
    assert_null(hud_bytes_write(&b, 100, 120, &other, others, &at));
    assert_int_equal(hud_bytes_read(&b, 49, 50, &other, others, &at)->time, 1);
    assert_int_equal(hud_bytes_read(&b, 59, 61, &other, others, &at)->time, 2);
    assert_int_equal(at, 59);
    assert_int_equal(hud_bytes_read(&b, 60, 61, &other, others, &at)->time, 1);
    assert_int_equal(hud_bytes_read(&b, 90, 130, &other, others, &at)->time, 1);
    assert_null(hud_bytes_read(&b, 100, 130, &other, others, &at));
    assert_int_equal(hud_bytes_write(&b, 110, 111, &second, mine, &at)->rank, 1);
    hud_bytes_free(&b);
    hud_order_free(mine);
    hud_order_free(others);
}

/* Verifies that clocks sharing leaves remain independent. */
static void clocks_with_shared_leaves_are_independent(void **state)
{
    enum { SOME = 3 * ORDER_LEAF };
    struct sim_order *a = hud_order_create(SOME), *b;

    (void)state;
    hud_order_set(a, 5, 7);
    hud_order_set(a, 100, 3);
    b = hud_order_copy(a);
    hud_order_set(b, 5, 8);
    hud_order_set(a, 6, 1);
    hud_order_set(b, 150, 2);
    assert_int_equal(order_time(a, 5), 7);
    assert_int_equal(order_time(b, 6), 0);
    hud_order_join(a, b);
    assert_int_equal(order_time(a, 5), 8);
    assert_int_equal(order_time(a, 6), 1);
    assert_int_equal(order_time(a, 100), 3);
    assert_int_equal(order_time(a, 150), 2);
    assert_ptr_equal(a->leaf[2], b->leaf[2]);
    hud_order_set(a, 150, 9);
    assert_int_equal(order_time(b, 150), 2);
    assert_int_equal(order_time(b, 6), 0);
    hud_order_join(b, a);
    assert_ptr_equal(a->leaf[0], b->leaf[0]);
    hud_order_free(a);
    assert_int_equal(order_time(b, 6), 1);
    hud_order_free(b);
}

/* Uses rank 0's slice at rank 1, while rank 0 leases it anew, with or without a gather before. */
static void lease_body(struct sim *s, int rank, void *arg)
{
    struct trial *t = arg;
    struct mem *m = hud_sim_team_mem(t->team, rank);

    (void)s;
    if (rank == 1)
        mem_peek(m, mem_slot(m, 0));
    if (rank == 2)
        mem_get(m, &((struct slot *)mem_slot(m, 0))->word);
    if (t->calls != 0)
        hud_sim_gather(m);
    if (rank == 0)
        hud_sim_lease(m);
}

static void lease_without_a_gather_is_reported(void **state)
{
    static const int members[RANKS] = { 0, 1, 2 };

    (void)state;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const struct sim_options options = { .ranks = RANKS, .arena_bytes = ARENA, .seed = seed };
        struct trial t = { .calls = (int)(seed % 2) };
        struct sim *s = hud_sim_create(&options);
        t.team = hud_sim_team_create(s, RANKS, members, 0, ARENA);
        assert_int_equal(hud_sim_run(s, lease_body, &t), seed % 2);
        if (seed % 2 == 0)
            assert_non_null(strstr(hud_sim_report(s), "zeroes its slice"));
        hud_sim_free(s);
    }
}

static void add_faults(const struct fault *f, struct CMUnitTest *tests, size_t room, size_t *count)
{
    for (; f->alg.name; f++) {
        if (*count == room)
            abort(); /* more faults than `room` */
        tests[(*count)++] = (struct CMUnitTest){ .name = f->alg.name,
                                                 .test_func = test_fault,
                                                 .initial_state = (void *)(uintptr_t)f };
    }
}

int main(void)
{
    struct CMUnitTest tests[64] = {
        cmocka_unit_test(write_within_a_range_keeps_its_other_parts),
        cmocka_unit_test(clocks_with_shared_leaves_are_independent),
        cmocka_unit_test(lease_without_a_gather_is_reported),
        cmocka_unit_test(same_seed_gives_the_same_run),
        cmocka_unit_test(dropped_ordering_is_reported),
    };
    size_t count = 5;

    add_faults(faults, tests, sizeof tests / sizeof *tests, &count);
    add_faults(reduce_faults, tests, sizeof tests / sizeof *tests, &count);
    add_faults(last_faults, tests, sizeof tests / sizeof *tests, &count);
    return cmocka_run_group_tests_name("checker", tests, NULL, NULL);
}
