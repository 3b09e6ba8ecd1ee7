/* SPDX-License-Identifier: BSD-3-Clause */
/* test_compiled.c - the built-in table that the build compiles equals the table in its text. */
#define hud_compiled made_by_the_build
#include "compiled.c"
#undef hud_compiled

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void compiled_rules_equal_the_rules_of_the_text(void **state)
{
    const struct rules *read = hud_rules_builtin(); /* these objects contain no compiled table */

    (void)state;
    assert_non_null(read);
    assert_ptr_not_equal(read->rule, made_by_the_build.rule);
    assert_int_equal(made_by_the_build.digest, read->digest);
    assert_int_equal(made_by_the_build.count, read->count);
    for (int i = 0; i < read->count; i++) {
        const struct rule *a = &made_by_the_build.rule[i], *b = &read->rule[i];
        assert_memory_equal(&a->kind, &b->kind,
                            offsetof(struct rule, divided) + sizeof b->divided -
                                offsetof(struct rule, kind));
        assert_string_equal(a->evidence, b->evidence);
        assert_int_equal(a->min_ranks, b->min_ranks);
        assert_int_equal(a->max_ranks, b->max_ranks);
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
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        compiled_rules_equal_the_rules_of_the_text) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
