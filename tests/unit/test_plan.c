/* SPDX-License-Identifier: BSD-3-Clause */
/* test_plan.c - from rules to a plan: who takes which sizes, and what a slice holds. */
#include "core/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { KB = 1 << 10, MB = 1 << 20 };

static struct config config;
static struct rules tuning;
static struct plan plan;
static bool direct;

static void read_settings(const char *const *settings)
{
    hud_config_read(settings, &config);
    assert_string_equal(config.error, "");
}

#define SETTINGS(...) read_settings((const char *const[]){ __VA_ARGS__, NULL })

static void tune(const char *text)
{
    char error[512] = "";

    hud_rules_free(&tuning);
    if (!hud_rules_read(&tuning, "t", text, strlen(text), error, sizeof error))
        fail_msg("%s", error);
}

static bool direct; /* of the teams */

static void make(int ranks, bool crowded, const char *within, size_t bytes, bool windows)
{
    struct plan_facts facts = { .ranks = ranks, .crowded = crowded, .direct = direct };

    strncpy(facts.within, within, TOPO_NAME - 1);
    hud_plan_make(&config, &tuning, &facts, bytes, windows, &plan);
}

/* "queue", or "mpi" */
static const char *taker(enum coll_kind kind, size_t bytes)
{
    const struct plan_entry *e = plan_find(&plan, (int)kind, bytes);

    return e->slot < 0 ? "mpi" : hud_shm_algs[e->row]->name;
}

static long param(size_t bytes, int p)
{
    return plan_find(&plan, COLL_BCAST, bytes)->param[p];
}

/* Slots for barriers and broadcasts: what the other collectives have is not these tests' affair. */
static int slots(void)
{
    int count = 0;

    for (int s = 0; s < plan.slots; s++)
        count += hud_coll_kind(hud_shm_algs[plan.slot[s].row]->coll) <= COLL_BCAST;
    return count;
}

/* What must hold of any plan. */
static void check_whole(void)
{
    size_t end = PLACE_OFFSET;

    for (int kind = 0; kind < COLL_KINDS; kind++) {
        assert_true(plan.first[kind] < plan.first[kind + 1]);
        assert_true(plan.entry[plan.first[kind + 1] - 1].most_bytes == SIZE_MAX);
        for (int e = plan.first[kind]; e < plan.first[kind + 1]; e++) {
            assert_true(e == plan.first[kind] || plan.entry[e].most_bytes > plan.entry[e - 1].most_bytes);
            assert_true(plan.entry[e].slot < plan.slots);
            assert_true(plan.entry[e].slot < 0 || hud_coll_kind(hud_shm_algs[plan.entry[e].row]->coll) == kind);
        }
    }
    for (int s = 0; s < plan.slots; s++) {
        size_t from = plan.slot[s].offset, to = from + plan.slot[s].bytes;
        assert_true(from >= PLACE_OFFSET && from % HUD_LINE == 0 && to > from);
        for (int o = 0; o < s; o++)
            assert_true(to <= plan.slot[o].offset || from >= plan.slot[o].offset + plan.slot[o].bytes);
        end = to > end ? to : end;
    }
    assert_true(plan.slots == 0 || end <= plan.most_bytes);
    assert_true(plan.total_bytes == (plan.slots ? end : 0));
}

static int reset(void **state)
{
    (void)state;
    hud_config_read(NULL, &config);
    hud_rules_free(&tuning);
    return 0;
}

static void the_built_in_table_takes_all(void **state)
{
    (void)state;
    make(8, false, "machine", 256 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_BARRIER, 0), "groups");
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
    assert_string_equal(taker(COLL_BCAST, 64 * KB), "queue");
    assert_string_equal(taker(COLL_BCAST, SIZE_MAX), "queue");
    assert_int_equal(slots(), 4);
    make(8, false, "machine", 256 * KB, false);
    check_whole();
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
    assert_string_equal(taker(COLL_BCAST, 64 * KB), "mpi");
}

static void what_is_forced_comes_first_and_alone(void **state)
{
    (void)state;
    SETTINGS("HUDDLE_BCAST=inline", "HUDDLE_BARRIER=mpi");
    tune("[[bcast]]\nalgorithm = \"queue\"\n[[barrier]]\nalgorithm = \"groups\"\n");
    make(4, false, "machine", 256 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_BARRIER, 0), "mpi");
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
    assert_string_equal(taker(COLL_BCAST, MB), "mpi");
    assert_int_equal(slots(), 1);
}

static void the_first_rule_that_fits_serves(void **state)
{
    (void)state;
    tune("[[bcast]]\nranks = \"3-\"\nalgorithm = \"mpi\"\n"
         "[[bcast]]\ncrowded = true\nbytes = \"1-64\"\nalgorithm = \"mpi\"\n"
         "[[bcast]]\nwithin = \"l3\"\nbytes = \"1M-\"\nalgorithm = \"mpi\"\n"
         "[[bcast]]\nbytes = \"32K-64K\"\nalgorithm = \"queue\"\nfragment = \"4K\"\ntree = \"chain\"\n");
    make(2, false, "machine", 256 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
    assert_string_equal(taker(COLL_BCAST, 4 * MB), "queue");
    assert_int_equal(param(32 * KB, 0), 4096);
    assert_int_equal(param(64 * KB, 0), 4096);
    assert_int_equal(param(64 * KB + 1, 0), 0);
    assert_int_equal(param(32 * KB - 1, 0), 0);
    make(2, true, "machine", 256 * KB, true);
    assert_string_equal(taker(COLL_BCAST, 64), "mpi");
    assert_string_equal(taker(COLL_BCAST, 65), "inline");
    make(2, false, "l3", 256 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_BCAST, MB - 1), "queue");
    assert_string_equal(taker(COLL_BCAST, MB), "mpi");
    make(3, false, "machine", 256 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_BCAST, 8), "mpi");
    assert_string_equal(taker(COLL_BARRIER, 0), "groups");
}

static void a_users_parameter_wins_over_a_rules(void **state)
{
    (void)state;
    SETTINGS("HUDDLE_BCAST_QUEUE_FRAGMENT=8K");
    tune("[[bcast]]\nbytes = \"1K-\"\nalgorithm = \"queue\"\nfragment = \"4K\"\ntree = \"chain\"\n");
    make(4, false, "machine", 256 * KB, true);
    assert_int_equal(param(MB, 0), 8192);
}

/* Slots of different shapes stand side by side; what differs only from call to call shares one. */
static void rules_share_a_slot_unless_it_has_another_shape(void **state)
{
    (void)state;
    tune("[[bcast]]\nbytes = \"1K-8K\"\nalgorithm = \"queue\"\ntree = \"chain\"\n"
         "[[bcast]]\nbytes = \"8K-64K\"\nalgorithm = \"queue\"\ntree = \"flat\"\n"
         "[[bcast]]\nbytes = \"64K-\"\nalgorithm = \"queue\"\nsets = 2\n");
    make(4, false, "machine", 256 * KB, true);
    check_whole();
    assert_int_equal(plan_find(&plan, COLL_BCAST, 2 * KB)->slot, plan_find(&plan, COLL_BCAST, 16 * KB)->slot);
    assert_int_not_equal(plan_find(&plan, COLL_BCAST, 2 * KB)->slot, plan_find(&plan, COLL_BCAST, MB)->slot);
    assert_true(plan.total_bytes > 200 * KB);
}

static void whatever_the_place_the_plan_fits_what_was_reserved(void **state)
{
    static const char *const within[] = { "l2", "l3", "numa", "machine" };

    (void)state;
    tune("[[bcast]]\nwithin = \"l3\"\nalgorithm = \"inline\"\n[[bcast]]\ncrowded = true\nalgorithm = \"mpi\"\n");
    for (size_t most = 0; most < 300 * KB; most += 777)
        for (int windows = 0; windows < 2; windows++) {
            size_t reserved = hud_plan_bytes(&config, &tuning, 8, most, windows, &direct);
            for (int w = 0; w < 4; w++)
                for (int crowded = 0; crowded < 2; crowded++) {
                    direct = (w + crowded) % 2;
                    make(8, crowded, within[w], most, windows);
                    check_whole();
                    assert_true(plan.total_bytes <= reserved);
                }
        }
}

static void single_copy_serves_where_there_is_one(void **state)
{
    (void)state;
    tune("[[bcast]]\nbytes = \"64K-\"\nalgorithm = \"single\"\n[[bcast]]\nbytes = \"1K-\"\nalgorithm = \"queue\"\n");
    size_t reserved = hud_plan_bytes(&config, &tuning, 3, 200 * KB, true, &direct);
    for (int i = 0; i < 2; i++) {
        direct = i == 1;
        make(3, false, "machine", 200 * KB, true);
        check_whole();
        assert_string_equal(taker(COLL_BCAST, MB), direct ? "single" : "queue");
        assert_string_equal(taker(COLL_BCAST, 32 * KB), "queue");
        assert_true(plan.total_bytes <= reserved);
    }
    direct = false;
    SETTINGS("HUDDLE_BCAST=single");
    make(3, false, "machine", 200 * KB, true);
    assert_string_equal(taker(COLL_BCAST, MB), "mpi");
}

/* Rules in plenty that serve nothing take no place from those that do. */
static void rules_that_serve_nothing_cost_nothing(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 1; i <= 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "[[bcast]]\nbytes = \"1K-\"\nalgorithm = \"queue\"\nbudget = %d\n",
                                 4096 * (8 + i));
    tune(text);
    make(4, false, "machine", 256 * KB, true);
    check_whole();
    assert_false(plan.too_rich);
    assert_string_equal(taker(COLL_BCAST, MB), "queue");
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
    assert_string_equal(taker(COLL_BARRIER, 0), "groups");
    assert_int_equal(slots(), 3 + 1); /* between inline and 1K the built-in small queue */
}

/* More choices than a plan holds, in pieces or in slots: the built-in table serves, and the plan says so. */
static void a_file_that_is_too_rich_is_left_aside(void **state)
{
    static char text[32768];

    (void)state;
    for (int many = 0; many < 2; many++) {
        size_t used = 0;
        for (int i = 1; i <= (many ? 200 : 30); i++)
            used += (size_t)snprintf(text + used, sizeof text - used, "[[bcast]]\nbytes = \"%d\"\nalgorithm = \"queue\"\n%s = %d\n",
                                     1000 * i, many ? "fragment" : "budget", 4096 * (many ? i % 3 + 1 : i + 8));
        tune(text);
        make(4, false, "machine", 4 * MB, true);
        check_whole();
        assert_true(plan.too_rich);
        assert_string_equal(taker(COLL_BCAST, MB), "queue");
        assert_string_equal(taker(COLL_BARRIER, 0), "groups");
    }
}

/* Partial results by levels only where links are crossed and ranks are many; never where the ranks' order must be kept. */
static void many_ranks_over_a_link_reduce_by_levels(void **state)
{
    (void)state;
    make(128, false, "machine", 1536 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_ALLREDUCE, 4 * MB), "levels");
    assert_true(plan.slot[plan_find(&plan, COLL_ALLREDUCE, 4 * MB)->slot].bytes > 256 * KB);
    const struct plan_entry *e = plan_find(&plan, plan_axis(COLL_ALLREDUCE, true), 4 * MB);
    assert_true(e->slot >= 0 && hud_shm_algs[e->row]->ordered);
    make(128, false, "socket", 1536 * KB, true);
    assert_string_equal(taker(COLL_ALLREDUCE, 4 * MB), "slices");
    make(4, false, "machine", 1536 * KB, true);
    assert_string_equal(taker(COLL_ALLREDUCE, 4 * MB), "slices");
}

/* Not where they share processors, and never where the ranks' order must be kept. */
static void many_ranks_reduce_in_slices_or_by_nested_trees(void **state)
{
    (void)state;
    make(16, false, "machine", 1536 * KB, true);
    assert_string_equal(taker(COLL_REDUCE, KB), "gather");
    assert_string_equal(taker(COLL_REDUCE, 2 * KB), "slices");
    make(64, false, "socket", 1536 * KB, true);
    for (int kind = COLL_REDUCE; kind <= COLL_ALLREDUCE; kind++) {
        const struct plan_entry *e = plan_find(&plan, kind, 4 * KB), *o = plan_find(&plan, plan_axis((enum coll_kind)kind, true), 4 * KB);
        assert_true(e->slot >= 0 && strcmp(hud_shm_algs[e->row]->name, "tree") == 0 && e->param[3] == SHAPE_NESTED);
        assert_true(o->slot >= 0 && hud_shm_algs[o->row]->ordered);
    }
    make(64, true, "machine", 1536 * KB, true);
    assert_string_equal(taker(COLL_REDUCE, 2 * KB), "gather");
}

static void the_time_model_says_from_where_a_rule_serves(void **state)
{
    const struct plan_facts facts = { .ranks = 64, .within = "machine" };

    (void)state;
    tune("[[allreduce]]\nalgorithm = \"levels\"\ncheaper_than = \"slices\"\n[[allreduce]]\nalgorithm = \"slices\"\n"
         "[[allreduce]]\nalgorithm = \"slices\"\ncheaper_than = \"levels\"\n");
    size_t from = hud_rule_least_bytes(&tuning.rule[0], &facts);
    assert_in_range(from, 1, MB);
    assert_int_equal(hud_rule_least_bytes(&tuning.rule[2], &facts), SIZE_MAX); /* never so for all larger ones */
    assert_string_equal(hud_rule_misfit(&tuning.rule[0], &facts, from - 1), "another takes less, by the time model");
    assert_null(hud_rule_misfit(&tuning.rule[0], &facts, from));
    make(64, false, "machine", 1536 * KB, true);
    check_whole();
    assert_string_equal(taker(COLL_ALLREDUCE, from - 1), "slices");
    assert_string_equal(taker(COLL_ALLREDUCE, from), "levels");
}

static void offers_are_a_quarter_then_control_lines_then_nothing(void **state)
{
    size_t control = hud_plan_bytes(&config, &tuning, 8, SIZE_MAX / 2, false, &direct);

    (void)state;
    assert_int_equal(hud_plan_offer(&config, &tuning, 8, 10 * MB, 10 * MB), 1536 * KB);
    assert_int_equal(hud_plan_offer(&config, &tuning, 8, 10 * MB, 400 * KB), 100 * KB);
    assert_int_equal(hud_plan_offer(&config, &tuning, 8, 10 * MB, 2 * control), control);
    assert_int_equal(hud_plan_offer(&config, &tuning, 8, 10 * MB, control - 1), 0);
    make(8, false, "machine", control, true);
    check_whole();
    assert_string_equal(taker(COLL_BCAST, 8), "inline");
}

/* More rules for one team than are looked at: the same, even where what comes after them would matter. */
static void a_file_of_too_many_rules_is_left_aside(void **state)
{
    static char text[32768];
    size_t used = 0;

    (void)state;
    for (int i = 0; i < 250; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "[[bcast]]\nbytes = \"%d\"\nalgorithm = \"queue\"\n", i % 2 + 1);
    snprintf(text + used, sizeof text - used, "[[allreduce]]\nalgorithm = \"mpi\"\n");
    tune(text);
    make(4, false, "machine", 4 * MB, true);
    check_whole();
    assert_true(plan.too_rich);
    assert_string_equal(taker(COLL_BCAST, 1), "inline");
    assert_string_equal(taker(COLL_ALLREDUCE, 8), "inline");
}

/* However little a team is offered, and however many there are before it. */
static void fixed_order_holds_where_memory_is_short(void **state)
{
    (void)state;
    SETTINGS("HUDDLE_REDUCE_ORDER=fixed");
    for (int ranks = 2; ranks <= 128; ranks *= 2) {
        size_t least = hud_plan_offer(&config, &tuning, ranks, 10 * MB, 10 * MB), free_bytes = 10 * MB;
        int teams = 0;
        for (size_t offer; (offer = hud_plan_offer(&config, &tuning, ranks, 10 * MB, free_bytes)) != 0; teams++) {
            least = offer < least ? offer : least;
            free_bytes -= hud_plan_bytes(&config, &tuning, ranks, offer, true, &direct);
        }
        assert_true(teams >= (ranks <= 16 ? 200 : 50));
        for (size_t bytes = least; bytes < least + 300 * KB; bytes += 7777)
            for (int facts = 0; facts < 4; facts++) {
                direct = facts / 2;
                make(ranks, facts % 2, "machine", bytes, true);
                check_whole();
                for (int kind = COLL_REDUCE; kind <= COLL_REDUCE_SCATTER; kind++)
                    for (int e = plan.first[kind]; e < plan.first[kind + 1]; e++)
                        assert_true(plan.entry[e].slot >= 0 && hud_shm_algs[plan.entry[e].row]->ordered);
            }
    }
}

/* Its slot holds less than all the memory would: what that still takes it serves, and the rest goes to others. */
static void a_small_slot_serves_small_messages(void **state)
{
    (void)state;
    SETTINGS("HUDDLE_ALLTOALL=inline", "HUDDLE_ALLTOALL_INLINE_BUDGET=1M");
    make(8, false, "machine", 256 * KB, true);
    check_whole();
    const struct plan_entry *e = plan_find(&plan, COLL_ALLTOALL, 8);
    assert_string_equal(taker(COLL_ALLTOALL, 8), "inline");
    assert_string_equal(taker(COLL_ALLTOALL, e->most_bytes + 1), "mpi");
    size_t room = plan.slot[e->slot].bytes / 2;
    assert_true(room < 100 * KB && e->most_bytes * 7 <= room && (e->most_bytes + 1) * 7 > room - HUD_LINE);
}

/* Paper 01, "Segment": W ceil(4p/W) + q W + p s (W + f) is 780 KiB for p = 8, s = 8, f = 8K, q = 2, W = 4K.  A control block is a page there, so that it can be
   placed; here it is a line for each 4K of a slice that is placed as a whole. */
static void queue_takes_no_more_than_the_paper(void **state)
{
    enum { P = 8, S = 8, F = 8192, Q = 2, W = 4096 };
    size_t paper = W * ((4 * P + W - 1) / W) + Q * W + P * S * (W + F);

    (void)state;
    assert_int_equal(paper, 780 * KB);
    SETTINGS("HUDDLE_BCAST_QUEUE_FRAGMENT=8K", "HUDDLE_BCAST_QUEUE_BUFFERS=8", "HUDDLE_BCAST_QUEUE_SETS=2", "HUDDLE_BCAST=queue");
    make(P, false, "machine", 1 * MB, true);
    size_t bytes = plan.slot[plan_find(&plan, COLL_BCAST, MB)->slot].bytes;
    assert_int_equal(bytes, 2 * HUD_LINE + S * F + S * F / W * HUD_LINE);
    assert_true(P * bytes <= paper);
}

static void the_lowest_level_that_holds_all_is_found(void **state)
{
    _Alignas(8) unsigned char memory[sizeof(struct place_table) + 64] = { 0 };
    struct place_table *table = (struct place_table *)(void *)memory;
    static const int16_t unit[] = { 0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0 };
    char within[TOPO_NAME];

    (void)state;
    table->levels = 3;
    strcpy(table->name[0], "l3");
    strcpy(table->name[1], "numa");
    strcpy(table->name[2], "socket");
    memcpy(table->unit, unit, sizeof unit);
    hud_plan_within(table, 4, within);
    assert_string_equal(within, "numa");
    table->unit[4] = -1; /* unbound there */
    hud_plan_within(table, 4, within);
    assert_string_equal(within, "socket");
    table->levels = 1;
    hud_plan_within(table, 4, within);
    assert_string_equal(within, "machine");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_built_in_table_takes_all, reset),
        cmocka_unit_test_setup(what_is_forced_comes_first_and_alone, reset),
        cmocka_unit_test_setup(the_first_rule_that_fits_serves, reset),
        cmocka_unit_test_setup(a_users_parameter_wins_over_a_rules, reset),
        cmocka_unit_test_setup(rules_share_a_slot_unless_it_has_another_shape, reset),
        cmocka_unit_test_setup(whatever_the_place_the_plan_fits_what_was_reserved, reset),
        cmocka_unit_test_setup(single_copy_serves_where_there_is_one, reset),
        cmocka_unit_test_setup(rules_that_serve_nothing_cost_nothing, reset),
        cmocka_unit_test_setup(a_file_that_is_too_rich_is_left_aside, reset),
        cmocka_unit_test_setup(many_ranks_over_a_link_reduce_by_levels, reset),
        cmocka_unit_test_setup(many_ranks_reduce_in_slices_or_by_nested_trees, reset),
        cmocka_unit_test_setup(the_time_model_says_from_where_a_rule_serves, reset),
        cmocka_unit_test_setup(offers_are_a_quarter_then_control_lines_then_nothing, reset),
        cmocka_unit_test_setup(a_file_of_too_many_rules_is_left_aside, reset),
        cmocka_unit_test_setup(fixed_order_holds_where_memory_is_short, reset),
        cmocka_unit_test_setup(a_small_slot_serves_small_messages, reset),
        cmocka_unit_test_setup(queue_takes_no_more_than_the_paper, reset),
        cmocka_unit_test(the_lowest_level_that_holds_all_is_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);

    hud_rules_free(&tuning);
    return failed;
}
