/* SPDX-License-Identifier: BSD-3-Clause */
/* test_partition.c - the built-in table has a rule for each call, and each rule serves calls. */
#include "core/plan/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { POINTS = 512, MAX_RANKS = 70, MAX_RULES = 120 };

/* Returns the index of the first rule for a call, or -1. */
static int rule_for(const struct rules *t, int kind, const struct plan_facts *f, size_t bytes)
{
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].kind == kind && !hud_rule_misfit(&t->rule[i], f, kind, bytes))
            return i;
    return -1;
}

static int sizes_of(const struct rules *t, int kind, size_t at[POINTS])
{
    int n = 0;

    at[n++] = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].kind == kind) {
            assert_true(n + 2 <= POINTS);
            at[n++] = t->rule[i].min_bytes;
            at[n++] = t->rule[i].max_bytes == SIZE_MAX ? SIZE_MAX - 1 : t->rule[i].max_bytes + 1;
        }
    return n;
}

/* Returns the number of teams and sizes without a rule.  Sets first[i] if rule i is the first one
 * for a call. */
static int missing(const struct rules *t, int kind, bool first[POINTS])
{
    size_t at[POINTS];
    int n = sizes_of(t, kind, at), bad = 0;

    for (int team = 0; team < 32 * MAX_RANKS; team++) {
        struct plan_facts f = { .ranks = 2 + team / 32,
                                .oversubscribed = team & 1,
                                .direct = team & 2,
                                .quick = (team & 2) && (team & 8),
                                .divided = team & 16 };
        snprintf(f.within, sizeof f.within, "%s", team & 4 ? "machine" : "numa");
        for (int i = 0; i < n; i++) {
            int rule = rule_for(t, kind, &f, at[i]);
            if (rule >= 0)
                first[rule] = true;
            else if (++bad == 1)
                print_message("%s, %d ranks, oversubscribed %d, direct %d, quick %d, divided %d, "
                              "within %s, %zu bytes: no rule\n",
                              coll_name(kind), f.ranks, f.oversubscribed, f.direct, f.quick,
                              f.divided, f.within, at[i]);
        }
    }
    return bad;
}

static void every_call_has_a_rule(void **state)
{
    bool first[POINTS] = { false };

    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        assert_int_equal(missing(hud_rules_builtin(), kind, first), 0);
}

/* Returns the line of a rule to which no call comes first, or 0.  Rules behind a rule without
 * conditions are exempt, since they serve calls for which memory is short. */
static int unreachable(const struct rules *t, int kind)
{
    bool first[POINTS] = { false }, all = false;

    missing(t, kind, first);
    for (int i = 0; i < t->count; i++) {
        const struct rule *r = &t->rule[i];
        if (r->kind != kind)
            continue;
        if (!first[i] && !all)
            return r->line;
        all = all || (r->min_ranks <= 2 && r->max_ranks == INT_MAX && r->min_bytes == 0 &&
                      r->max_bytes == SIZE_MAX && r->oversubscribed < 0 && r->direct < 0 &&
                      r->quick < 0 && r->divided < 0 && r->within[0] == '\0');
    }
    return 0;
}

static void every_rule_serves_calls(void **state)
{
    const struct rules *t = hud_rules_builtin();

    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        assert_int_equal(unreachable(t, kind), 0);
}

static void built_in_table_is_short_and_cites_evidence(void **state)
{
    const struct rules *t = hud_rules_builtin();

    (void)state;
    assert_true(t->count <= MAX_RULES);
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].evidence[0] == '\0')
            fail_msg("line %d: the rule has no note `evidence`", t->rule[i].line);
}

static int missing_in(const char *text, int *line)
{
    char error[512];
    struct rules t;
    bool first[POINTS] = { false };

    assert_true(hud_rules_read(&t, "t", text, strlen(text), error, sizeof error));
    int bad = missing(&t, t.rule[0].kind, first);
    *line = unreachable(&t, t.rule[0].kind);
    hud_rules_free(&t);
    return bad;
}

static void gaps_and_unreachable_rules_are_detected(void **state)
{
    int line;

    (void)state;
    assert_int_equal(missing_in("bcast ranks=2- -> queue\nbcast -> levels\n", &line), 0);
    assert_int_equal(line, 0);
    assert_true(missing_in("bcast ranks=3- -> queue\n", &line) > 0);
    assert_true(missing_in("bcast bytes=0-8K -> queue\n"
                           "bcast bytes=8194- -> levels\n",
                           &line) > 0);
    assert_true(missing_in("bcast direct=yes -> cma_read\n", &line) > 0);
    assert_int_equal(missing_in("bcast bytes=0-8K -> queue\n"
                                "bcast bytes=1K-4K -> levels\n"
                                "bcast -> levels\n",
                                &line),
                     0);
    assert_int_equal(line, 2);
}

/* Verifies that no row chooses a baseline. Neither do the time model, by cheaper_than, nor a team's
 * trials, as these choose among rows. */
static void no_row_chooses_a_baseline(void **state)
{
    const struct rules *t = hud_rules_builtin();
    int baselines = 0;

    (void)state;
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].row >= 0 && hud_shm_algs[t->rule[i].row]->baseline)
            fail_msg("line %d: the row chooses a baseline", t->rule[i].line);
    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg *alg = hud_shm_algs[a];
        baselines += alg->baseline;
        if (alg->baseline != (strncmp(alg->doc, "baseline: ", 10) == 0))
            fail_msg("%s/%s: the doc and the field `baseline` differ", alg->coll, alg->name);
    }
#ifdef HUD_LAB_ALGS
    assert_true(baselines > 0);
#endif
}

#define ALG_PRODUCT_ONLY
#define SPAN_ALG(tag, ID, c, n) +1
enum {
    PRODUCT_SPAN_ALGS = 0
#include "alg/spans.def"
};
#undef SPAN_ALG
#undef ALG_PRODUCT_ONLY

static void no_algorithm_of_the_product_is_a_baseline(void **state)
{
    (void)state;
    for (int a = 0; a < SET_PRODUCT_ALGS; a++)
        if (hud_shm_algs[a]->baseline)
            fail_msg("%s/%s is a baseline", hud_shm_algs[a]->coll, hud_shm_algs[a]->name);
    for (int a = 0; a < PRODUCT_SPAN_ALGS; a++)
        if (hud_shm_nodes_algs[a]->baseline)
            fail_msg("nodes: %s/%s is a baseline", hud_shm_nodes_algs[a]->coll,
                     hud_shm_nodes_algs[a]->name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_has_a_rule),
        cmocka_unit_test(every_rule_serves_calls),
        cmocka_unit_test(built_in_table_is_short_and_cites_evidence),
        cmocka_unit_test(gaps_and_unreachable_rules_are_detected),
        cmocka_unit_test(no_row_chooses_a_baseline),
        cmocka_unit_test(no_algorithm_of_the_product_is_a_baseline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
