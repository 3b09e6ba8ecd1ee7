/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test_rule_lines.c - a rule that hud_rule_write writes is read as the same rule: every rule of the
 * built-in table, and random rules with every condition, parameter and note.
 */
#include "core/plan/model.h"
#include "core/plan/rules.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "shape_checks.h"

static const struct rule whole = { .row = -1,
                                   .than = -1,
                                   .line = 1,
                                   .oversubscribed = -1,
                                   .direct = -1,
                                   .quick = -1,
                                   .divided = -1,
                                   .reduction = -1,
                                   .max_ranks = INT_MAX,
                                   .max_bytes = SIZE_MAX,
                                   .runner_up = -1,
                                   .before = -1 };

/* Asserts that two rules are equal but for their lines. */
static void compare(const struct rule *a, const struct rule *b)
{
    assert_true(a->kind == b->kind && a->row == b->row && a->than == b->than);
    assert_true(a->oversubscribed == b->oversubscribed && a->direct == b->direct);
    assert_true(a->quick == b->quick && a->divided == b->divided);
    assert_int_equal(a->reduction, b->reduction);
    assert_int_equal(a->nodes, b->nodes);
    assert_string_equal(a->evidence, b->evidence);
    assert_true(a->min_ranks == b->min_ranks && a->max_ranks == b->max_ranks);
    assert_true(a->min_bytes == b->min_bytes && a->max_bytes == b->max_bytes);
    assert_string_equal(a->within, b->within);
    assert_memory_equal(a->given, b->given, sizeof a->given);
    assert_memory_equal(a->param, b->param, sizeof a->param);
    assert_true(a->ns == b->ns && a->mpi_ns == b->mpi_ns && a->samples == b->samples);
    assert_true(a->runner_up == b->runner_up && a->runner_up_ns == b->runner_up_ns);
    assert_true(a->before == b->before && a->before_ns == b->before_ns);
    assert_int_equal(a->version, b->version);
    assert_string_equal(a->date, b->date);
}

static void check(const struct rule *rule)
{
    char line[RULE_LINE], cut[RULE_LINE], error[2 * SET_TEXT] = "";
    struct rules read;

    assert_true(hud_rule_write(rule, line, sizeof line));
    if (!hud_rules_read(&read, "t", line, strlen(line), error, sizeof error))
        fail_msg("%s\n%s", line, error);
    assert_int_equal(read.count, 1);
    compare(rule, read.rule);
    hud_rules_free(&read);
    assert_true(hud_rule_write(rule, cut, strlen(line) + 1));
    assert_string_equal(line, cut);
    assert_false(hud_rule_write(rule, cut, strlen(line)));
    assert_int_equal(strlen(cut), strlen(line) - 1); /* it ends within the bytes given */
}

static void every_built_in_rule_is_read_as_it_was_written(void **state)
{
    const struct rules *builtin = hud_rules_builtin();

    (void)state;
    assert_true(builtin->count > 50);
    for (int i = 0; i < builtin->count; i++)
        check(&builtin->rule[i]);
}

/* Draws a number from 0 to below the limit. */
static long draw(long below)
{
    return ((long)random_between(0, INT_MAX - 1) << 31 | random_between(0, INT_MAX - 1)) % below;
}

/* Draws a number of any magnitude from 1 to the limit, often a multiple of 1024. */
static long draw_any(long max)
{
    long number = draw(max >> draw(48)) + 1;

    return draw(2) != 0 && number > 4096 ? number / 1024 * 1024 : number;
}

static int draw_row(const struct rule *r, bool with_cost)
{
    int count = 0, row = -1;
    const struct alg *const *algs = rule_algs(r);

    for (int a = 0; algs[a]; a++)
        if (strcmp(algs[a]->coll, coll_name(r->kind)) == 0 && (!with_cost || hud_model_knows(a)) &&
            draw(++count) == 0)
            row = a;
    return row;
}

static void draw_params(struct rule *r)
{
    const struct alg_param *param;

    for (int p = 0; r->row >= 0 && (param = alg_param_at(rule_alg(r, r->row), p)) != NULL; p++) {
        r->given[p] = draw(2) != 0;
        if (r->given[p])
            r->param[p] = param->min + draw(param->max - param->min + 1);
    }
}

static void draw_conditions(struct rule *r)
{
    static const char *const places[] = { "", "l2", "l3", "numa", "socket", "unit", "machine" };
    int *const either[] = { &r->oversubscribed, &r->direct, &r->quick, &r->divided };
    bool sized = !coll_has(r->kind, COLL_VIEWS) || !coll_has(r->kind, COLL_UNSIZED);

    for (size_t i = 0; i < sizeof either / sizeof *either; i++)
        *either[i] = (int)draw(3) - 1;
    if (coll_has(r->kind, COLL_REDUCES))
        r->reduction = (int)draw(4) - 1;
    if (draw(2) != 0) {
        r->min_ranks = draw(5000);
        r->max_ranks = draw(2) != 0 ? INT_MAX : r->min_ranks + draw(3);
    }
    if (sized && draw(2) != 0) {
        r->min_bytes = (size_t)draw_any(LONG_MAX / 4);
        r->max_bytes = draw(2) != 0 ? SIZE_MAX : r->min_bytes + (size_t)draw(3);
    }
    snprintf(r->within, sizeof r->within, "%s", places[draw(sizeof places / sizeof *places)]);
    if (r->row >= 0 && r->nodes == 0 && hud_model_knows(r->row) && draw(2) != 0)
        r->than = draw_row(r, true);
}

static void draw_notes(struct rule *r)
{
    static const char *const series[] = { "", "E7", "E1 E20 E300", "prior" };
    static const char *const dates[] = { "", "2026-11-29", "9999-99-99" };

    snprintf(r->evidence, sizeof r->evidence, "%s", series[draw(4)]);
    if (draw(2) != 0) {
        r->ns = (uint64_t)draw_any(LONG_MAX);
        r->samples = 1 + (int)draw(INT_MAX - 1);
        snprintf(r->date, sizeof r->date, "%s", dates[draw(3)]);
    }
    if (draw(2) != 0)
        r->mpi_ns = (uint64_t)draw_any(LONG_MAX);
    if (draw(2) != 0) {
        r->runner_up = draw(4) != 0 ? draw_row(r, false) : -1;
        r->runner_up_ns = (uint64_t)draw_any(LONG_MAX);
    }
    if (draw(2) != 0) {
        r->before = draw(4) != 0 ? draw_row(r, false) : -1;
        r->before_ns = (uint64_t)draw_any(LONG_MAX);
    }
    r->version = (int)draw(3);
}

static void random_rules_are_read_as_they_were_written(void **state)
{
    (void)state;
    for (int i = 0; i < 20000; i++) {
        struct rule rule = whole;
        rule.kind = (int)draw(COLL_KINDS);
        rule.nodes = draw(4) == 0 ? 1 + (int)draw(1000) : 0;
        rule.row = draw(8) != 0 ? draw_row(&rule, false) : -1;
        draw_params(&rule);
        draw_conditions(&rule);
        draw_notes(&rule);
        check(&rule);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_built_in_rule_is_read_as_it_was_written),
        cmocka_unit_test(random_rules_are_read_as_they_were_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
