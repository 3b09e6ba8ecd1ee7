/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compile_rules.c - the program `compile_rules`, which only the build runs: prints the built-in
 * table as C, for core/plan/compiled.h.
 *
 * Test: tests/unit/test_compiled.c.
 */
#include "core/plan/rules.h"

#include <inttypes.h>
#include <stdio.h>

_Static_assert(sizeof(struct rule) == 256,
               "print a new field here, and compare it in tests/unit/test_compiled.c");

static void print_params(const struct rule *r)
{
    for (int p = 0; p < ALG_PARAMS; p++)
        if (r->given[p])
            printf(", .given[%d] = true, .param[%d] = %ld", p, p, r->param[p]);
}

static void print_rule(const struct rule *r)
{
    printf("    { .kind = %d, .row = %d, .than = %d, .line = %d", r->kind, r->row, r->than,
           r->line);
    printf(", .oversubscribed = %d, .direct = %d", r->oversubscribed, r->direct);
    printf(", .quick = %d, .divided = %d", r->quick, r->divided);
    printf(", .nodes = %d, .reduction = %d", r->nodes, r->reduction);
    printf(", .evidence = \"%s\"", r->evidence);
    printf(", .min_ranks = %ld, .max_ranks = %ld", r->min_ranks, r->max_ranks);
    printf(", .min_bytes = %zuU, .max_bytes = %zuU", r->min_bytes, r->max_bytes);
    printf(", .within = \"%s\"", r->within);
    print_params(r);
    printf(", .runner_up = -1, .before = -1");
    printf(" },\n");
}

/* Returns whether a rule has measured times, which are not printed here. */
static bool has_times(const struct rules *rules)
{
    for (int i = 0; i < rules->count; i++) {
        const struct rule *r = &rules->rule[i];
        if (r->ns != 0 || r->mpi_ns != 0 || r->runner_up_ns != 0 || r->before_ns != 0 ||
            r->samples != 0 || r->version != 0 || r->date[0] != '\0')
            return true;
    }
    return false;
}

int main(void)
{
    const struct rules *builtin = hud_rules_builtin();

    if (!builtin || builtin->network.alpha_ns != 0 || builtin->elsewhere || has_times(builtin)) {
        fprintf(
            stderr,
            "compile_rules: the built-in table has a line network or machine, or measured times\n");
        return 1;
    }
    printf("/* Written by the build, by src/tools/compile_rules.c. */\n"
           "#include \"core/plan/compiled.h\"\n\n"
           "static const struct rule rules[] = {\n");
    for (int i = 0; i < builtin->count; i++)
        print_rule(&builtin->rule[i]);
    printf("};\n\nconst struct compiled hud_compiled = {\n"
           "    .rule = rules, .count = %d, .digest = %" PRIu64 "U\n};\n",
           builtin->count, builtin->digest);
    return fflush(stdout) != 0;
}
