/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c - plans made from rules: which algorithm handles which sizes, and which rules are
 * ignored. */
#include "plans.h"

#include <stdio.h>
#include <string.h>

static long param(size_t bytes, int p)
{
    return plan_find(&plans.plan, COLL_BCAST, bytes)->param[p];
}

/* Returns the number of slots for barriers and broadcasts. These tests ignore the slots of other
 * collectives. */
static int slots(void)
{
    int count = 0;

    for (int s = 0; s < plans.plan.slots; s++)
        count += hud_coll_kind(hud_shm_algs[plans.plan.slot[s].row]->coll) <= COLL_BCAST;
    return count;
}

static void built_in_table_handles_all_sizes(void **state)
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

static void forced_algorithm_is_the_only_choice(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_BCAST=inline", "HUDDLE_BARRIER=mpi");
    plans_tune("bcast -> queue\n"
               "barrier -> groups\n");
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "mpi");
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
    assert_int_equal(slots(), 1);
}

static void first_matching_rule_is_used(void **state)
{
    (void)state;
    plans_tune("bcast ranks=3- -> mpi\n"
               "bcast bytes=1-64 oversubscribed=yes -> mpi\n"
               "bcast bytes=1M- within=l3 -> mpi\n"
               "bcast bytes=32K-64K -> queue fragment=4K tree=chain\n");
    plans_make(2, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BCAST, 4 * MB), "queue");
    assert_int_equal(param(32 * KB, 0), 4096);
    assert_int_equal(param(64 * KB, 0), 4096);
    assert_int_equal(param(64 * KB + 1, 0), 0);
    assert_int_equal(param(32 * KB - 1, 0), 4096); /* a class is chosen for by its largest size */
    assert_int_equal(param(16 * KB, 0), 0);
    plans_make(2, true, "machine", 256 * KB, true);
    assert_string_equal(plans_taker(COLL_BCAST, 64), "mpi");
    assert_string_equal(plans_taker(COLL_BCAST, 65), "inline");
    plans_make(2, false, "l3", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, MB / 2), "queue");
    assert_string_equal(plans_taker(COLL_BCAST, MB / 2 + 1), "mpi");
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
    plans_make(3, false, "machine", 256 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_BCAST, 8), "mpi");
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
}

static void parameter_of_the_user_takes_precedence(void **state)
{
    (void)state;
    PLANS_SETTINGS("HUDDLE_LAB_BCAST_QUEUE_FRAGMENT=8K");
    plans_tune("bcast bytes=1K- -> queue fragment=4K tree=chain\n");
    plans_make(4, false, "machine", 256 * KB, true);
    assert_int_equal(param(MB, 0), 8192);
}

static void single_copy_is_used_if_possible(void **state)
{
    (void)state;
    plans_tune("bcast bytes=64K- -> cma_read\n"
               "bcast bytes=1K- -> queue\n");
    size_t reserved = hud_plan_bytes(plans.planner, 3, 200 * KB, true, &plans.direct);
    for (int i = 0; i < 2; i++) {
        plans.direct = i == 1;
        plans_make(3, false, "machine", 200 * KB, true);
        plans_check();
        assert_string_equal(plans_taker(COLL_BCAST, MB), plans.direct ? "cma_read" : "queue");
        assert_string_equal(plans_taker(COLL_BCAST, 32 * KB), "queue");
        assert_true(plans.plan.total_bytes <= reserved);
    }
    plans.direct = false;
    PLANS_SETTINGS("HUDDLE_BCAST=cma_read");
    plans_make(3, false, "machine", 200 * KB, true);
    assert_string_equal(plans_taker(COLL_BCAST, MB), "mpi");
}

/* Adds many rules without effect, which must not take the place of effective rules. */
static void rules_without_effect_cost_nothing(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 1; i <= 300; i++) /* more than PLAN_RULES leaves after the whole built-in table */
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "bcast bytes=1K- -> queue budget=%d\n", 4096 * (8 + i % 60));
    plans_tune(text);
    plans_make(4, false, "machine", 256 * KB, true);
    plans_check();
    assert_false(plans.plan.too_rich);
    assert_string_equal(plans_taker(COLL_BCAST, MB), "queue");
    assert_string_equal(plans_taker(COLL_BCAST, 8), "inline");
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
    assert_int_equal(slots(), 3 + 1); /* inline and 1K: between them there is the small queue of the
                                       * built-in table */
}

/* Uses more slots than a plan holds. The built-in table must be used, and the plan records this. */
static void file_with_too_many_choices_is_ignored(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 0; i < 20; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "bcast bytes=%d -> queue budget=%d\n"
                                 "alltoall bytes=%d -> windows budget=%d\n",
                                 8 << i, 4096 * (i + 8), 8 << i, 4096 * (i + 64));
    plans_tune(text);
    plans_make(4, false, "machine", 4 * MB, true);
    plans_check();
    assert_true(plans.plan.too_rich);
    assert_string_equal(plans_taker(COLL_BCAST, MB), "queue");
    assert_string_equal(plans_taker(COLL_BARRIER, 0), "groups");
}

static void each_size_is_in_one_class(void **state)
{
    (void)state;
    assert_int_equal(plan_class(0), 0);
    for (int class = 0; class < PLAN_CLASSES; class ++) {
        size_t bytes = plan_class_bytes(class);
        assert_int_equal(plan_class(bytes), class);
        if (class + 1 < PLAN_CLASSES)
            assert_int_equal(plan_class(bytes + 1), class + 1);
    }
}

/* Expects partial results by levels only for many ranks that a level divides, and never if the
 * ranks' order must be kept. */
static void many_ranks_reduce_by_levels(void **state)
{
    (void)state;
    plans_make(128, false, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "whole");
    plans.divided = true;
    plans_make(128, false, "machine", 1536 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "levels");
    int slot = plan_find(&plans.plan, COLL_ALLREDUCE, 4 * MB)->slot;
    assert_true(plans.plan.slot[slot].place.window_bytes > 256 * KB);
    const struct plan_entry *e = plan_find(&plans.plan, PLAN_IN_ORDER + COLL_ALLREDUCE, 4 * MB);
    assert_true(e->slot >= 0 && hud_shm_algs[e->row]->ordered);
    plans_make(128, false, "socket", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "levels");
    plans.divided = false;
    plans_make(128, true, "socket", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 64 * KB), "tree");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "whole");
    plans_make(128, true, "socket", 256 * KB, true); /* no room for an element per rank */
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "slices");
    plans_make(4, false, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 4 * MB), "whole");
}

/* Expects slices or nested trees for many ranks, but not if they share processors or if their order
 * must be kept. */
static void many_ranks_reduce_in_slices_or_by_nested_trees(void **state)
{
    (void)state;
    plans_make(16, false, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_REDUCE, 4 * KB), "tree");
    assert_string_equal(plans_taker(COLL_REDUCE, MB), "slices");
    plans_make(64, false, "socket", 1536 * KB, true);
    for (int kind = COLL_REDUCE; kind <= COLL_ALLREDUCE; kind++) {
        const struct plan_entry *e = plan_find(&plans.plan, kind, 4 * KB),
                                *o = plan_find(&plans.plan, PLAN_IN_ORDER + kind, 4 * KB);
        assert_true(e->slot >= 0 && strcmp(hud_shm_algs[e->row]->name, "tree") == 0 &&
                    e->param[3] == SHAPE_NESTED);
        assert_true(o->slot >= 0 && hud_shm_algs[o->row]->ordered);
    }
    plans_make(64, true, "machine", 1536 * KB, true);
    assert_string_equal(plans_taker(COLL_REDUCE, 2 * KB), "gather");
}

/* Expects many ranks with one core per rank to have their own lines for short messages, and three
 * and more of them a tree of leaders for longer ones. Oversubscribed ranks share lines and use a
 * tree by groups, and so do two ranks. */
static void bound_ranks_have_lines_and_a_tree_of_leaders(void **state)
{
    enum { LINES = 2, QUEUE_TREE = 5 }; /* parameters */
    static const int ranks[] = { 2, 3, 64 };

    (void)state;
    for (int i = 0; i < 3; i++)
        for (int oversubscribed = 0; oversubscribed < 2; oversubscribed++) {
            plans_make(ranks[i], oversubscribed, "machine", 1536 * KB, true);
            const struct plan_entry *small = plan_find(&plans.plan, COLL_BCAST, 8),
                                    *more = plan_find(&plans.plan, COLL_BCAST, KB);
            bool leaders = ranks[i] > 2 && !oversubscribed;

            assert_string_equal(hud_shm_algs[small->row]->name, "inline");
            assert_int_equal(small->param[LINES], ranks[i] > 16 && !oversubscribed);
            assert_string_equal(hud_shm_algs[more->row]->name, "queue");
            assert_int_equal(more->param[QUEUE_TREE], leaders ? SHAPE_LEADERS : SHAPE_GROUPED);
        }
}

static void time_model_determines_the_first_size_of_a_rule(void **state)
{
    const struct plan_facts facts = { .ranks = 64, .within = "machine" };

    (void)state;
    plans_tune("allreduce cheaper_than=slices -> levels\n"
               "allreduce -> slices\n"
               "allreduce cheaper_than=levels -> slices\n");
    size_t from = hud_rule_min_bytes(&plans.tuning.rule[0], &facts);
    assert_in_range(from, 1, MB);
    assert_int_equal(hud_rule_min_bytes(&plans.tuning.rule[2], &facts),
                     SIZE_MAX); /* not cheaper for all larger sizes */
    assert_string_equal(hud_rule_misfit(&plans.tuning.rule[0], &facts, COLL_ALLREDUCE, from - 1),
                        "another takes less, by the time model");
    assert_null(hud_rule_misfit(&plans.tuning.rule[0], &facts, COLL_ALLREDUCE, from));
    plans_make(64, false, "machine", 1536 * KB, true);
    plans_check();
    assert_string_equal(plans_taker(COLL_ALLREDUCE, from / 2), "slices");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, from), "levels");
}

static const char *reducer(int axis)
{
    return hud_shm_algs[plan_find(&plans.plan, axis, 4096)->row]->name;
}

static void rule_of_a_kind_of_reductions_serves_no_others(void **state)
{
    const struct plan_facts facts = { .ranks = 4, .within = "machine" };

    (void)state;
    plans_tune("allreduce reduction=exact -> slices\n"
               "allreduce reduction=inexact -> levels\n"
               "allreduce -> tree\n");
    plans_make(4, false, "machine", 1536 * KB, true);
    plans_check();
    assert_string_equal(reducer(COLL_ALLREDUCE + PLAN_ANY_ORDER), "slices");
    assert_string_equal(reducer(COLL_ALLREDUCE + PLAN_INEXACT), "levels");
    assert_string_not_equal(reducer(COLL_ALLREDUCE + PLAN_IN_ORDER), "slices");
    assert_null(hud_rule_misfit(&plans.tuning.rule[0], &facts, COLL_ALLREDUCE, 8));
    assert_string_equal(hud_rule_misfit(&plans.tuning.rule[1], &facts, COLL_ALLREDUCE, 8),
                        "for other reductions");
}

/* Lets a file name the MPI's own reductions, for which only a setting remains under
 * HUDDLE_REDUCE_ORDER=fixed. */
static void rule_for_the_mpi_serves_no_reduction_in_fixed_order(void **state)
{
    (void)state;
    for (int fixed = 0; fixed < 2; fixed++) {
        PLANS_SETTINGS(fixed ? "HUDDLE_REDUCE_ORDER=fixed" : "HUDDLE_REDUCE_ORDER=any",
                       "HUDDLE_SCAN=mpi");
        plans_tune("allreduce -> mpi\n"
                   "allreduce reduction=exact -> mpi\n"
                   "bcast -> mpi\n");
        plans_make(4, false, "machine", 256 * KB, true);
        for (int order = 0; order < 3; order++) {
            const struct plan_entry *e =
                plan_find(&plans.plan, COLL_ALLREDUCE + order * COLL_KINDS, 8);
            assert_int_equal(e->slot >= 0, fixed);
            assert_true(!fixed || hud_shm_algs[e->row]->ordered);
        }
        assert_int_equal(
            hud_plan_reject(&plans.config, &plans.plan, plans.tuning.rule, -1, COLL_ALLREDUCE, 8),
            fixed ? REJECT_ORDER : REJECT_CALL);
        assert_string_equal(plans_taker(COLL_BCAST, 8), "mpi");
        assert_string_equal(plans_taker(COLL_SCAN, 8), "mpi");
    }
}

/* Uses more rules for one team than a plan considers. The file must be ignored, even if a rule
 * after them would matter. */
static void file_with_too_many_rules_is_ignored(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 0; i < PLAN_RULES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "bcast bytes=%d -> queue\n",
                                 i % 2 + 1);
    snprintf(text + used, sizeof text - used, "allreduce -> mpi\n");
    plans_tune(text);
    plans_make(4, false, "machine", 4 * MB, true);
    plans_check();
    assert_true(plans.plan.too_rich);
    assert_string_equal(plans_taker(COLL_BCAST, 1), "inline");
    assert_string_equal(plans_taker(COLL_ALLREDUCE, 8), "inline");
}

static void lowest_level_with_all_ranks_is_found(void **state)
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
    table->unit[4] = -1; /* unbound at this level */
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
        cmocka_unit_test_setup(built_in_table_handles_all_sizes, plans_reset),
        cmocka_unit_test_setup(forced_algorithm_is_the_only_choice, plans_reset),
        cmocka_unit_test_setup(first_matching_rule_is_used, plans_reset),
        cmocka_unit_test_setup(parameter_of_the_user_takes_precedence, plans_reset),
        cmocka_unit_test_setup(single_copy_is_used_if_possible, plans_reset),
        cmocka_unit_test_setup(rules_without_effect_cost_nothing, plans_reset),
        cmocka_unit_test_setup(file_with_too_many_choices_is_ignored, plans_reset),
        cmocka_unit_test_setup(many_ranks_reduce_by_levels, plans_reset),
        cmocka_unit_test_setup(many_ranks_reduce_in_slices_or_by_nested_trees, plans_reset),
        cmocka_unit_test_setup(bound_ranks_have_lines_and_a_tree_of_leaders, plans_reset),
        cmocka_unit_test_setup(time_model_determines_the_first_size_of_a_rule, plans_reset),
        cmocka_unit_test_setup(rule_of_a_kind_of_reductions_serves_no_others, plans_reset),
        cmocka_unit_test_setup(rule_for_the_mpi_serves_no_reduction_in_fixed_order, plans_reset),
        cmocka_unit_test_setup(file_with_too_many_rules_is_ignored, plans_reset),
        cmocka_unit_test(each_size_is_in_one_class),
        cmocka_unit_test(lowest_level_with_all_ranks_is_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    plans_reset(NULL);
    return failed;
}
