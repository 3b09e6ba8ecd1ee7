/* SPDX-License-Identifier: BSD-3-Clause */
/* test_partition.c - the rows of the built-in table divide all calls, without overlaps and gaps,
 * and what they name as evidence exists, data and plot. */
#include "core/choose/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { POINTS = 512, MAX_RANKS = 70 };

/* Rows for a call; a row that another one names by cheaper_than, and that one, count as one. */
static int rows_for(const struct rules *t, int kind, const struct plan_facts *f, size_t bytes)
{
    int rows = 0;

    for (int i = 0; i < t->count; i++) {
        const struct rule *r = &t->rule[i];
        if (r->kind == kind && r->than < 0 && !r->fallback && !r->second &&
            !hud_rule_misfit(r, f, bytes))
            rows++;
    }
    return rows;
}

static int sizes_of(const struct rules *t, int kind, size_t at[POINTS])
{
    int n = 0;

    at[n++] = 0;
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].kind == kind && !t->rule[i].fallback && !t->rule[i].second) {
            assert_true(n + 2 <= POINTS);
            at[n++] = t->rule[i].min_bytes;
            at[n++] = t->rule[i].max_bytes == SIZE_MAX ? SIZE_MAX - 1 : t->rule[i].max_bytes + 1;
        }
    return n;
}

/* Of all teams and sizes, those with no row or with several. */
static int wrong(const struct rules *t, int kind, int *tried)
{
    size_t at[POINTS];
    int n = sizes_of(t, kind, at), bad = 0;

    for (int team = 0; team < 64 * MAX_RANKS; team++) {
        struct plan_facts f = { .ranks = 2 + team / 64,
                                .oversubscribed = team & 1,
                                .direct = team & 2,
                                .quick = (team & 2) && (team & 8),
                                .intel = team & 16,
                                .divided = team & 32 };
        snprintf(f.within, sizeof f.within, "%s", team & 4 ? "machine" : "numa");
        for (int i = 0; i < n; i++, ++*tried)
            if (rows_for(t, kind, &f, at[i]) != 1 && ++bad == 1)
                print_message("%s, %d ranks, oversubscribed %d, direct %d, quick %d, intel %d, "
                              "divided %d, within %s, %zu bytes: "
                              "%d rows\n",
                              coll_name(kind), f.ranks, f.oversubscribed, f.direct, f.quick,
                              f.intel, f.divided, f.within, at[i], rows_for(t, kind, &f, at[i]));
    }
    return bad;
}

static void every_call_has_one_row(void **state)
{
    int tried = 0;

    (void)state;
    for (int kind = 0; kind < COLL_KINDS; kind++)
        assert_int_equal(wrong(hud_rules_builtin(), kind, &tried), 0);
    assert_true(tried > 10000);
}

static int wrong_in(const char *text)
{
    char error[512];
    struct rules t;
    int tried = 0;

    assert_true(hud_rules_read(&t, "t", text, strlen(text), error, sizeof error));
    int bad = wrong(&t, t.rule[0].kind, &tried);
    hud_rules_free(&t);
    return bad;
}

static void overlaps_and_gaps_are_found(void **state)
{
    (void)state;
    assert_int_equal(wrong_in("[[bcast]]\nranks = \"2-\"\nalgorithm = \"queue\"\n"), 0);
    assert_true(wrong_in("[[bcast]]\nranks = \"3-\"\nalgorithm = \"queue\"\n") > 0);
    assert_true(wrong_in("[[bcast]]\nbytes = \"0-8K\"\nalgorithm = \"queue\"\n"
                         "[[bcast]]\nbytes = \"8K-\"\nalgorithm = \"levels\"\n") > 0);
    assert_true(wrong_in("[[bcast]]\nbytes = \"0-8K\"\nalgorithm = \"queue\"\n"
                         "[[bcast]]\nbytes = \"8194-\"\nalgorithm = \"levels\"\n") > 0);
    assert_true(wrong_in("[[bcast]]\ndirect = true\nalgorithm = \"single\"\n") > 0);
}

/* That it names one row which is there too. */
static void what_the_model_decides_has_both_rows(void **state)
{
    const struct rules *t = hud_rules_builtin();

    (void)state;
    for (int i = 0; i < t->count; i++) {
        const struct rule *r = &t->rule[i];
        bool there = r->than < 0;
        for (int o = 0; o < t->count && !there; o++)
            there = t->rule[o].row == r->than && t->rule[o].fallback == r->fallback &&
                    (r->fallback || (t->rule[o].min_bytes == r->min_bytes &&
                                     t->rule[o].min_ranks == r->min_ranks));
        assert_true(there);
    }
}

/* Neither a row nor, by cheaper_than, the time model, nor a team's trials choose one: all choose
 * among rows. */
static void no_row_names_a_baseline(void **state)
{
    const struct rules *t = hud_rules_builtin();
    int baselines = 0;

    (void)state;
    for (int i = 0; i < t->count; i++)
        if (t->rule[i].row >= 0 && hud_shm_algs[t->rule[i].row]->baseline)
            fail_msg("line %d: a baseline serves", t->rule[i].line);
    for (int a = 0; hud_shm_algs[a]; a++) {
        const struct alg *alg = hud_shm_algs[a];
        baselines += alg->baseline;
        if (alg->baseline != (strncmp(alg->doc, "baseline: ", 10) == 0))
            fail_msg("%s/%s: its text and its field differ", alg->coll, alg->name);
    }
    assert_true(baselines > 0);
}

static void check_file(const struct rule *rule, const char *number, const char *kind)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%s", HUD_EVIDENCE_FOLDER, number, kind);
    if (access(path, R_OK) != 0)
        fail_msg("line %d: there is no %s", rule->line, path);
}

static void evidence_exists(void **state)
{
    const struct rules *t = hud_rules_builtin();
    int named = 0;

    (void)state;
    for (int i = 0; i < t->count; i++) {
        char list[RULE_EVIDENCE], *rest = NULL;
        snprintf(list, sizeof list, "%s", t->rule[i].evidence);
        for (char *e = strtok_r(list, " ", &rest); e; e = strtok_r(NULL, " ", &rest), named++) {
            check_file(&t->rule[i], e, "csv");
            check_file(&t->rule[i], e, "svg");
        }
    }
    assert_true(named > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_call_has_one_row),
        cmocka_unit_test(overlaps_and_gaps_are_found),
        cmocka_unit_test(what_the_model_decides_has_both_rows),
        cmocka_unit_test(no_row_names_a_baseline),
        cmocka_unit_test(evidence_exists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
