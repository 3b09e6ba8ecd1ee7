/* SPDX-License-Identifier: BSD-3-Clause */
/* test_wisdom.c - what a context knows about its machine: lines, by shape and cell. */
#include "core/job/wisdom_start.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct wisdom wisdom;
static struct wisdom_table table;
static struct config config;
static struct rules rules;

/* Reads rules of a text. */
static const struct rule *read_rules(const char *text)
{
    char error[2 * SET_TEXT];

    hud_rules_free(&rules);
    if (!hud_rules_read(&rules, "t", text, strlen(text), error, sizeof error))
        fail_msg("%s", error);
    return rules.rule;
}

static int begin(void **state)
{
    (void)state;
    hud_config_read(NULL, &config);
    hud_wisdom_free(&wisdom);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hud_wisdom_free(&wisdom);
    hud_rules_free(&rules);
    return 0;
}

static void store(const char *text)
{
    hud_wisdom_store(&wisdom, &config, read_rules(text), NULL, true);
}

static const struct wisdom_known *known(const struct plan_facts *facts, int axis, size_t bytes)
{
    hud_wisdom_tabulate(wisdom.line, wisdom.lines, facts, &table);
    return &table.known[plan_at(axis, bytes)];
}

static uint32_t name_of(const char *algorithm, enum coll_kind kind)
{
    for (int a = 0; hud_shm_algs[a]; a++)
        if (strcmp(hud_shm_algs[a]->name, algorithm) == 0 &&
            hud_coll_kind(hud_shm_algs[a]->coll) == (int)kind)
            return hud_wisdom_name(a, config.param[a]);
    return strcmp(algorithm, "mpi") == 0 ? hud_wisdom_name(-1, NULL) : 0;
}

static const struct plan_facts two = { .ranks = 2, .within = "l3" };

#define TWO "ranks=2 oversubscribed=no divided=no within=l3"

static void last_decision_of_a_cell_is_known(void **state)
{
    struct plan_facts shared = two;

    (void)state;
    shared.oversubscribed = true;
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1000 samples=3");
    store("bcast bytes=16385-32K " TWO " -> levels | ns=2000 samples=3");
    store("bcast bytes=8193-16K " TWO " -> mpi | ns=5000000000 samples=3");
    store("bcast bytes=8193-16K ranks=2 oversubscribed=yes divided=no within=l3 -> queue | ns=9");
    assert_int_equal(known(&two, COLL_BCAST, 16384)->name, name_of("mpi", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 10000)->ns, UINT32_MAX);
    assert_int_equal(known(&two, COLL_BCAST, 16385)->name, name_of("levels", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 8192)->name, 0);
    assert_int_equal(known(&two, COLL_BCAST, 32769)->name, 0);
    assert_int_equal(known(&shared, COLL_BCAST, 16384)->name, name_of("queue", COLL_BCAST));
    assert_int_equal(known(&shared, COLL_BCAST, 16385)->name, 0);
    assert_int_equal(known(&two, COLL_BCAST, 16384)->before_name, name_of("levels", COLL_BCAST));
    assert_int_equal(wisdom.lines, 4);
    assert_int_equal(wisdom.owns, 4);
}

/* Checks that a digest changes with the copied lines. */
static void digest_covers_the_known_choices_of_such_teams(void **state)
{
    struct wisdom_line line[2];
    uint64_t nothing = hud_wisdom_digest(&wisdom, 2);

    (void)state;
    assert_int_not_equal(nothing, 0);
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1000");
    uint64_t first = hud_wisdom_digest(&wisdom, 2);
    assert_int_not_equal(first, nothing);
    assert_int_equal(hud_wisdom_digest(&wisdom, 3), nothing);
    store("bcast bytes=8193-16K ranks=3 -> levels | ns=1000");
    store("bcast bytes=8193-16K nodes=2 ranks=2 -> mpi | ns=1000");
    assert_int_equal(hud_wisdom_digest(&wisdom, 2), first);
    assert_int_not_equal(hud_wisdom_digest(&wisdom, 3), nothing);
    assert_int_equal(hud_wisdom_copy(&wisdom, 2, NULL), 1);
    assert_int_equal(hud_wisdom_copy(&wisdom, 2, line), 1);
    assert_int_equal(line->name, name_of("levels", COLL_BCAST));
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1001");
    assert_int_not_equal(hud_wisdom_digest(&wisdom, 2), first);
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1000");
    assert_int_equal(hud_wisdom_digest(&wisdom, 2), first);
}

/* Stores decisions with the winner in another state of the machine.  A line of the file, or of an
 * earlier decision, is the winner in another state, too. */
static void two_states_of_a_cell_are_known(void **state)
{
    static const char first[] = "bcast bytes=8193-16K " TWO " -> levels | ns=1000";
    struct rules both;
    struct wisdom_line line;
    char error[2 * SET_TEXT];
    static const char text[] = "bcast bytes=8193-16K " TWO " -> queue | ns=2000\n"
                               "bcast bytes=8193-16K " TWO " -> mpi | ns=3000\n";

    (void)state;
    assert_true(hud_wisdom_line(&config, read_rules(first), &line));
    hud_wisdom_add_file(&wisdom, &line, 1);
    store("bcast bytes=8193-16K " TWO " -> queue | ns=1500");
    assert_int_equal(known(&two, COLL_BCAST, 16384)->name, name_of("queue", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 16384)->before_name, name_of("levels", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 16384)->before_ns, 1000);
    assert_true(hud_rules_read(&both, "t", text, sizeof text - 1, error, sizeof error));
    hud_wisdom_store(&wisdom, &config, &both.rule[0], &both.rule[1], true);
    hud_rules_free(&both);
    assert_int_equal(known(&two, COLL_BCAST, 16384)->ns, 2000);
    assert_int_equal(known(&two, COLL_BCAST, 16384)->before_name, name_of("mpi", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 16384)->before_ns, 3000);
    assert_int_equal(wisdom.lines, 3);
    assert_int_equal(wisdom.owns, 2);
    assert_int_equal(wisdom.own[0].ns, 2000);
}

/* Stores two decisions of teams of this program, of which the second one knows the first winner
 * without its samples. */
static void winner_in_another_state_keeps_its_samples(void **state)
{
    static const char text[] = "bcast bytes=8193-16K " TWO " -> queue | ns=2000 samples=9\n"
                               "bcast bytes=8193-16K " TWO " -> levels | ns=900\n"
                               "bcast bytes=8193-16K " TWO " -> mpi | ns=900 date=2026-11-29\n";
    struct rules lines;
    char error[2 * SET_TEXT];

    (void)state;
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1000 samples=7 date=2026-11-28");
    assert_true(hud_rules_read(&lines, "t", text, sizeof text - 1, error, sizeof error));
    hud_wisdom_store(&wisdom, &config, &lines.rule[0], &lines.rule[1], true);
    assert_int_equal(wisdom.owns, 2);
    assert_int_equal(wisdom.own[1].ns, 900);
    assert_int_equal(wisdom.own[1].samples, 7);
    assert_string_equal(wisdom.own[1].date, "2026-11-28");
    hud_wisdom_store(&wisdom, &config, &lines.rule[0], &lines.rule[2], true);
    assert_int_equal(wisdom.owns, 2);
    assert_int_equal(wisdom.own[1].row, -1);
    assert_int_equal(wisdom.own[1].samples, 0);
    hud_rules_free(&lines);
}

/* Keeps the trial of a team, until another team decides. */
static void open_trial_is_known(void **state)
{
    (void)state;
    hud_wisdom_store_open(&wisdom, &config,
                          read_rules("bcast bytes=8193-16K " TWO " -> queue | ns=1500"), -77);
    assert_true(known(&two, COLL_BCAST, 16384)->open);
    assert_int_equal(known(&two, COLL_BCAST, 16384)->balance_ns, -77);
    assert_int_equal(wisdom.owns, 0);
    store("bcast bytes=8193-16K " TWO " -> levels | ns=1000");
    assert_false(known(&two, COLL_BCAST, 16384)->open);
    assert_int_equal(known(&two, COLL_BCAST, 16384)->name, name_of("levels", COLL_BCAST));
    assert_int_equal(wisdom.owns, 1);
}

static void line_has_parameters_and_an_axis(void **state)
{
    (void)state;
    store("allreduce reduction=inexact bytes=0-8 " TWO " -> mpi | ns=5");
    store("bcast bytes=0-8 " TWO " -> queue fragment=4K | ns=5");
    assert_int_equal(known(&two, COLL_ALLREDUCE, 8)->name, 0);
    assert_int_equal(known(&two, COLL_ALLREDUCE + PLAN_IN_ORDER, 8)->name, 0);
    assert_int_not_equal(known(&two, COLL_ALLREDUCE + PLAN_INEXACT, 8)->name, 0);
    assert_int_not_equal(known(&two, COLL_BCAST, 8)->name, name_of("queue", COLL_BCAST));
    assert_int_not_equal(known(&two, COLL_BCAST, 8)->name, 0);
}

static void reachable_memory_is_no_part_of_a_shape(void **state)
{
    struct plan_facts facts = two;

    (void)state;
    store("barrier " TWO " -> mpi | ns=10");
    facts.direct = facts.quick = true;
    assert_int_not_equal(known(&facts, COLL_BARRIER, 0)->name, 0);
}

/* Uses a tuning file as wisdom: a line covers several cells, and the first line counts. */
static void lines_of_a_file_may_cover_many_cells(void **state)
{
    const struct rule *rule = read_rules("bcast ranks=2-8 bytes=4K-1M -> queue\nbcast -> levels\n");
    struct wisdom_line line[2];
    struct plan_facts nine = { .ranks = 9, .within = "machine" };

    (void)state;
    assert_true(hud_wisdom_line(&config, &rule[0], &line[1]));
    assert_true(hud_wisdom_line(&config, &rule[1], &line[0]));
    store("bcast bytes=4097-8K " TWO " -> mpi | ns=1"); /* a decision counts, though it is older */
    hud_wisdom_add_file(&wisdom, line, 2);
    assert_int_equal(known(&two, COLL_BCAST, 4096)->name, name_of("queue", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 2048)->name, name_of("levels", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 1 << 20)->name, name_of("queue", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 1 << 30)->name, name_of("levels", COLL_BCAST));
    assert_int_equal(known(&two, COLL_BCAST, 8192)->name, name_of("mpi", COLL_BCAST));
    assert_true(known(&two, COLL_BCAST, 4096)->unchecked);
    assert_false(known(&two, COLL_BCAST, 8192)->unchecked);
    assert_int_equal(known(&nine, COLL_BCAST, 4096)->name, name_of("levels", COLL_BCAST));
    store("bcast bytes=4097-8K " TWO " -> queue | ns=1");
    assert_int_equal(known(&two, COLL_BCAST, 8192)->name, name_of("queue", COLL_BCAST));
    assert_int_equal(wisdom.lines, 4);
}

static void rules_of_other_kinds_are_not_read_as_wisdom(void **state)
{
    static const char *const texts[] = { "bcast quick=yes -> mpi",
                                         "bcast direct=no -> mpi",
                                         "allreduce cheaper_than=slices -> levels",
                                         "bcast bytes=9-15 -> mpi",
                                         "bcast -> mpi | version=1",
                                         "bcast -> queue | version=77" };
    struct wisdom_line line;

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_false(hud_wisdom_line(&config, read_rules(texts[i]), &line));
}

static void lines_of_a_shape_are_selected(void **state)
{
    struct wisdom_line line[3];
    struct plan_facts three = { .ranks = 3, .within = "l3" };

    (void)state;
    store("barrier " TWO " -> mpi | ns=10");
    store("barrier ranks=3 oversubscribed=no divided=no within=l3 -> mpi | ns=10");
    store("bcast bytes=0-8 " TWO " -> mpi | ns=10");
    assert_int_equal(hud_wisdom_select(&wisdom, &two, NULL), 2);
    assert_int_equal(hud_wisdom_select(&wisdom, NULL, NULL), 3);
    assert_int_equal(hud_wisdom_select(&wisdom, &three, line), 1);
    assert_int_equal(line[0].min_ranks, 3);
}

/* Tries random lines, as if another rank had written them. */
static void lines_that_are_not_valid_are_ignored(void **state)
{
    struct wisdom_line line[200];
    unsigned seed = 1;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        for (size_t i = 0; i < sizeof line; i++)
            ((unsigned char *)line)[i] = (unsigned char)(rand_r(&seed) >> 8);
        for (size_t i = 0; i < sizeof line / sizeof *line; i++)
            if (rand_r(&seed) & 1)
                line[i].min_ranks = line[i].max_ranks = 2;
        hud_wisdom_tabulate(line, sizeof line / sizeof *line, &two, &table);
    }
}

static void lines_of_another_rank_get_an_end(void **state)
{
    struct wisdom_line line;

    (void)state;
    assert_true(hud_wisdom_line(&config, read_rules("barrier " TWO " -> mpi | ns=10"), &line));
    memset(line.within, 'l', TOPO_NAME);
    hud_wisdom_add_file(&wisdom, &line, 1);
    assert_int_equal(strnlen(wisdom.line[0].within, TOPO_NAME), TOPO_NAME - 1);
}

static void decisions_of_other_ranks_are_not_written(void **state)
{
    (void)state;
    hud_wisdom_store(&wisdom, &config, read_rules("barrier " TWO " -> mpi | ns=10"), NULL, false);
    assert_int_equal(wisdom.lines, 1);
    assert_int_equal(wisdom.owns, 0);
}

static void names_differ_by_algorithm_and_parameters(void **state)
{
    static const long none[ALG_PARAMS], other[ALG_PARAMS] = { [2] = 4096 };

    (void)state;
    assert_int_not_equal(hud_wisdom_name(3, none), hud_wisdom_name(4, none));
    assert_int_not_equal(hud_wisdom_name(3, none), hud_wisdom_name(3, other));
    assert_int_equal(hud_wisdom_name(-1, none), hud_wisdom_name(-1, other));
    assert_int_not_equal(hud_wisdom_name(-1, none), 0);
}

/* Adds the start of a plan, which a team uses. */
static struct wisdom_start *add_start(struct hud_context *context, const struct plan *plan)
{
    struct wisdom_start *start = calloc(1, sizeof *start);

    assert_non_null(start);
    start->plan = plan;
    hud_wisdom_start_add(context, start);
    return start;
}

static void starts_end_with_their_plans(void **state)
{
    static struct hud_context context = { .lock = PTHREAD_MUTEX_INITIALIZER };
    static const struct plan plan[2];
    struct wisdom_start *first = add_start(&context, &plan[0]),
                        *second = add_start(&context, &plan[1]);

    (void)state;
    hud_wisdom_start_forget(&context, &plan[0]);
    assert_ptr_equal(second->next, first); /* a team uses it */
    hud_wisdom_start_leave(&context, first);
    hud_wisdom_start_forget(&context, &plan[0]);
    assert_ptr_equal(context.learn.starts, second);
    assert_null(second->next);
    hud_wisdom_start_forget(&context, NULL); /* the end of a context, with a team never freed */
    assert_null(context.learn.starts);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(last_decision_of_a_cell_is_known),
        TEST(two_states_of_a_cell_are_known),
        TEST(winner_in_another_state_keeps_its_samples),
        TEST(open_trial_is_known),
        TEST(line_has_parameters_and_an_axis),
        TEST(reachable_memory_is_no_part_of_a_shape),
        TEST(lines_of_a_file_may_cover_many_cells),
        TEST(rules_of_other_kinds_are_not_read_as_wisdom),
        TEST(lines_of_a_shape_are_selected),
        TEST(digest_covers_the_known_choices_of_such_teams),
        TEST(lines_that_are_not_valid_are_ignored),
        TEST(lines_of_another_rank_get_an_end),
        TEST(decisions_of_other_ranks_are_not_written),
        TEST(names_differ_by_algorithm_and_parameters),
        TEST(starts_end_with_their_plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
