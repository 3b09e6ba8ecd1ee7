/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * compile_rules.c - the program `compile_rules`, which only the build runs: prints the built-in
 * table as C, for core/choose/compiled.h.
 *
 * Proof: tests/unit/test_compiled.c.
 */
#include "core/choose/rules.h"

#include <inttypes.h>
#include <stdio.h>

_Static_assert(sizeof(struct rule) == 216,
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
    printf(", .quick = %d, .intel = %d, .divided = %d", r->quick, r->intel, r->divided);
    printf(", .fallback = %d, .second = %d", r->fallback, r->second);
    printf(", .evidence = \"%s\", .like = %d", r->evidence, r->like);
    printf(", .best = %d, .points = %d", r->best, r->points);
    printf(", .regret_percent = %d", r->regret_percent);
    printf(", .min_ranks = %ld, .max_ranks = %ld", r->min_ranks, r->max_ranks);
    printf(", .min_bytes = %zuU, .max_bytes = %zuU", r->min_bytes, r->max_bytes);
    printf(", .within = \"%s\"", r->within);
    print_params(r);
    printf(" },\n");
}

int main(void)
{
    const struct rules *builtin = hud_rules_builtin();

    if (!builtin || builtin->network.alpha_ns != 0 || builtin->elsewhere) {
        fprintf(stderr, "compile_rules: the built-in table has [network] or [machine]\n");
        return 1;
    }
    printf("/* Written by the build, by src/tools/compile_rules.c. */\n"
           "#include \"core/choose/compiled.h\"\n\n"
           "static const struct rule rules[] = {\n");
    for (int i = 0; i < builtin->count; i++)
        print_rule(&builtin->rule[i]);
    printf("};\n\nconst struct compiled hud_compiled = {\n"
           "    .rule = rules, .count = %d, .digest = %" PRIu64 "U\n};\n",
           builtin->count, builtin->digest);
    return fflush(stdout) != 0;
}
