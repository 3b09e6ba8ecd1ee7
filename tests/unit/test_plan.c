/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c - plans made from rules: which algorithm serves which sizes, and which rules are
 * ignored. */
#include "plans.h"

#include <stdio.h>
#include <string.h>

static long param(size_t bytes, int p)
{
    return plan_find(&plans.plan, COLL_BCAST, bytes)->param[p];
}

/* Slots for barriers and broadcasts: what the other collectives have is not these tests' affair. */
static int slots(void)
{
    int count = 0;

    for (int s = 0; s < plans.plan.slots; s++)
        count += hud_coll_kind(hud_shm_algs[plans.plan.slot[s].row]->coll) <= COLL_BCAST;
    return count;
}

static void the_built_in_table_takes_all(void **state)
{
    (void)state;
    plans_make(8, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, 64 * KB), "queue");
    assert_string_equal(plans_taker(COLL_BCAST, SIZE_MAX), "queue");
    assert_int_equal(slots(), 5);
    plans_make(8, false, "machine", 256 * KB, false);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, 64 * KB), "mpi");
}

static void what_is_forced_comes_first_and_alone(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_BCAST=inline", "HUDDLE_BARRIER=mpi");
    plans_tune("[[bcast]]\nalgorithm = \"queue\"\n[[barrier]]\nalgorithm = \"groups\"\n");
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "mpi");
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
    assert_int_equal(slots(), 1);
}

static void the_first_rule_that_fits_serves(void **state)
{
    (void)state;
    plans_tune("[[bcast]]\nranks = \"3-\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\noversubscribed = true\nbytes = \"1-64\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nwithin = \"l3\"\nbytes = \"1M-\"\nalgorithm = \"mpi\"\n"
               "[[bcast]]\nbytes = \"32K-64K\"\nalgorithm = \"queue\"\nfragment = \"4K\"\ntree = "
               "\"chain\"\n");
    plans_make(2, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, 4 * MB), "queue");
    assert_int_equal(param(32 * KB, 0), 4096);
    assert_int_equal(param(64 * KB, 0), 4096);
    assert_int_equal(param(64 * KB + 1, 0), 0);
    assert_int_equal(param(32 * KB - 1, 0), 0);
    plans_make(2, true, "machine", 256 * KB, true);
    assert_string_equal(plans_taker(COLL_BCAST, 64), "mpi");
    assert_string_equal(plans_taker(COLL_BCAST, 65), "inline");
    plans_make(2, false, "l3", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, MB - 1), "queue");
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
    plans_make(3, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "mpi");
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
}

static void a_users_parameter_wins_over_a_rules(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_BCAST_QUEUE_FRAGMENT=8K");
    plans_tune(
        "[[bcast]]\nbytes = \"1K-\"\nalgorithm = \"queue\"\nfragment = \"4K\"\ntree = \"chain\"\n");
    plans_make(4, false, "machine", 256 * KB, true);
    assert_int_equal(param(MB, 0), 8192);
}

static void single_copy_serves_where_there_is_one(void **state)
{
    (void)state;
    plans_tune("[[bcast]]\nbytes = \"64K-\"\nalgorithm = \"single\"\n[[bcast]]\nbytes = "
               "\"1K-\"\nalgorithm = \"queue\"\n");
    size_t reserved = hud_plan_bytes(plans.planner, 3, 200 * KB, true, &plans.direct);
    for (int i = 0; i < 2; i++) {
        plans.direct = i == 1;
        plans_make(3, false, "machine", 200 * KB, true);
        plans_check();
        assert_string_equal(plans_taker(COLL_BCAST, MB), plans.direct ? "single" : "queue");
        assert_string_equal(plans_taker(COLL_BCAST, 32 * KB), "queue");
        assert_true(plans.plan.total_bytes <= reserved);
    }
    plans.direct = false;
    PLANS_SETTINGS("HUDDLE_BCAST=single");
    plans_make(3, false, "machine", 200 * KB, true);
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
}

/* Rules in plenty that serve nothing take no place from those that do. */
static void rules_that_serve_nothing_cost_nothing(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 1; i <= 300; i++) /* more than the rest of PLAN_RULES behind the whole table */
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "[[bcast]]\nbytes = \"1K-\"\nalgorithm = \"queue\"\nbudget = %d\n",
                                 4096 * (8 + i % 60));
    plans_tune(text);
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_false(plans.plan.too_rich);
    assert_string_equal(plans_taker(COLL_BCAST, MB), "queue");
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
    assert_int_equal(slots(), 3 + 1); /* between inline and 1K the built-in small queue */
}

/* More choices than a plan holds, in pieces or in slots: the built-in table serves, and the plan
 * records it. */
static void a_file_that_is_too_rich_is_ignored(void **state)
{
    static char text[32768];

    (void)state;
    for (int many = 0; many < 2; many++) {
        size_t used = 0;
        for (int i = 1; i <= (many ? 200 : 30); i++)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "[[bcast]]\nbytes = \"%d\"\nalgorithm = \"queue\"\n%s = %d\n",
                                     1000 * i, many ? "fragment" : "budget",
                                     4096 * (many ? i % 3 + 1 : i + 8));
        plans_tune(text);
        plans_make(4, false, "machine", 4 * MB, true);
        plans_check();
        assert_true(plans.plan.too_rich);
        assert_string_equal(plans_taker(COLL_BCAST, MB), "queue");
        assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
    }
}

/* Partial results by levels only where ranks are many; never where the ranks' order must be
 * kept. */
static void many_ranks_reduce_by_levels(void **state)
{
    (void)state;
    plans_make(128, false, "machine", 1536 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "levels");
    int slot = plan_find(&plans.plan, COLL_ALLREDUCE, 4 * MB)->slot;
    assert_true(plans.plan.slot[slot].place.window_bytes > 256 * KB);
    const struct plan_entry *e = plan_find(&plans.plan, plan_axis(COLL_ALLREDUCE, true), 4 * MB);
    assert_true(e->slot >= 0 && hud_shm_algs[e->row]->ordered);
    plans_make(128, false, "socket", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "levels");
    plans_make(128, true, "socket", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 64 * KB), "tree");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "whole");
    plans_make(128, true, "socket", 256 * KB, true); /* no room for an element of each rank */
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "slices");
    plans_make(4, false, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "whole");
}

/* Not where they share processors, and never where the ranks' order must be kept. */
static void many_ranks_reduce_in_slices_or_by_nested_trees(void **state)
{
    (void)state;
    plans_make(16, false, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_REDUCE, 4 * KB), "tree");
    assert_string_equal(plans_taker(COLL_REDUCE, 256 * KB), "slices");
    plans_make(64, false, "socket", 1536 * KB, true);
    for (int kind = COLL_REDUCE; kind <= COLL_ALLREDUCE; kind++) {
        const struct plan_entry *e = plan_find(&plans.plan, kind, 4 * KB),
                                *o = plan_find(&plans.plan, plan_axis((enum coll_kind)kind, true),
                                               4 * KB);
        assert_true(e->slot >= 0 && strcmp(hud_shm_algs[e->row]->name, "tree") == 0 &&
                    e->param[3] == SHAPE_NESTED);
        assert_true(o->slot >= 0 && hud_shm_algs[o->row]->ordered);
    }
    plans_make(64, true, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_REDUCE, 2 * KB), "gather");
}

/* Ranks with a core each have lines of their own for short messages, and are told of others by a
 * tree of leaders.  Oversubscribed ones share lines, and are told by their groups alone, as are
 * two. */
static void ranks_with_a_core_each_have_lines_and_leaders(void **state)
{
    enum { TREE = 0, LINES = 2, QUEUE_TREE = 5 }; /* parameters */
    static const int ranks[] = { 2, 3, 64 };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
            plans_make(ranks[i], oversubscribed, "machine", 1536 * KB, true);
            const struct plan_entry *small = plan_find(&plans.plan, COLL_BCAST, 8),
                                    *more = plan_find(&plans.plan, COLL_BCAST, KB);
            bool apart = ranks[i] > 2 && !oversubscribed;

            assert_string_equal(hud_shm_algs[small->row]->name, "inline");
            assert_int_equal(small->param[LINES], apart);
            assert_int_equal(small->param[TREE],
                             apart && ranks[i] < 5 ? SHAPE_LEADERS : SHAPE_GROUPED);
            assert_string_equal(hud_shm_algs[more->row]->name, "queue");
            assert_int_equal(more->param[QUEUE_TREE], apart ? SHAPE_LEADERS : SHAPE_GROUPED);
        }
}

static void the_time_model_says_from_where_a_rule_serves(void **state)
{
    const struct plan_facts facts = { .ranks = 64, .within = "machine" };

    (void)state;
    plans_tune("[[allreduce]]\nalgorithm = \"levels\"\ncheaper_than = "
               "\"slices\"\n[[allreduce]]\nalgorithm = \"slices\"\n"
               "[[allreduce]]\nalgorithm = \"slices\"\ncheaper_than = \"levels\"\n");
    size_t from = hud_rule_min_bytes(&plans.tuning.rule[0], &facts);
    assert_in_range(from, 1, MB);
    assert_int_equal(hud_rule_min_bytes(&plans.tuning.rule[2], &facts),
                     SIZE_MAX); /* never so for all larger ones */
    assert_string_equal(hud_rule_misfit(&plans.tuning.rule[0], &facts, from - 1),
                        "another takes less, by the time model");
    assert_null(hud_rule_misfit(&plans.tuning.rule[0], &facts, from));
    plans_make(64, false, "machine", 1536 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_ALLREDUCE, from - 1), "slices");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, from), "levels");
}

/* More rules for one team than are looked at: the same, even where what comes after them would
 * matter. */
static void a_file_of_too_many_rules_is_left_aside(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 0; i < PLAN_RULES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "[[bcast]]\nbytes = \"%d\"\nalgorithm = \"queue\"\n", i % 2 + 1);
    snprintf(text + used, sizeof text - used, "[[allreduce]]\nalgorithm = \"mpi\"\n");
    plans_tune(text);
    plans_make(4, false, "machine", 4 * MB, true);
    plans_check();
    assert_true(plans.plan.too_rich);
    assert_string_equal(plans_taker(COLL_BCAST, 1), "inline");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 8), "inline");
}

static void the_lowest_level_that_holds_all_is_found(void **state)
{
    _Alignas(8) unsigned char memory[sizeof(struct place_table) + 64] = { 0 };
    struct place_table *table = (struct place_table *)(void *)memory;
    static const int16_t unit[] = { 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
    struct plan_facts facts = { .ranks = 4 };

    (void)state;
    table->levels = 3;
    strcpy(table->name[0], "l3");
    strcpy(table->name[1], "numa");
    strcpy(table->name[2], "socket");
    memcpy(table->unit, unit, sizeof unit);
    hud_plan_locate(table, &facts);
    assert_string_equal(facts.within, "numa");
    table->unit[4] = -1; /* unbound there */
    hud_plan_locate(table, &facts);
    assert_string_equal(facts.within, "socket");
    table->levels = 1;
    hud_plan_locate(table, &facts);
    assert_string_equal(facts.within, "machine");
    assert_true(facts.divided);
    memset(table->unit, 0, sizeof unit);
    hud_plan_locate(table, &facts);
    assert_string_equal(facts.within, "l3");
    assert_false(facts.divided);
    table->levels = 0;
    hud_plan_locate(table, &facts);
    assert_string_equal(facts.within, "machine");
    assert_false(facts.divided);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_built_in_table_takes_all, plans_reset),
        cmocka_unit_test_setup(what_is_forced_comes_first_and_alone, plans_reset),
        cmocka_unit_test_setup(the_first_rule_that_fits_serves, plans_reset),
        cmocka_unit_test_setup(a_users_parameter_wins_over_a_rules, plans_reset),
        cmocka_unit_test_setup(single_copy_serves_where_there_is_one, plans_reset),
        cmocka_unit_test_setup(rules_that_serve_nothing_cost_nothing, plans_reset),
        cmocka_unit_test_setup(a_file_that_is_too_rich_is_ignored, plans_reset),
        cmocka_unit_test_setup(many_ranks_reduce_by_levels, plans_reset),
        cmocka_unit_test_setup(many_ranks_reduce_in_slices_or_by_nested_trees, plans_reset),
        cmocka_unit_test_setup(ranks_with_a_core_each_have_lines_and_leaders, plans_reset),
        cmocka_unit_test_setup(the_time_model_says_from_where_a_rule_serves, plans_reset),
        cmocka_unit_test_setup(a_file_of_too_many_rules_is_left_aside, plans_reset),
        cmocka_unit_test(the_lowest_level_that_holds_all_is_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    plans_reset(NULL);
    return failed;
}
