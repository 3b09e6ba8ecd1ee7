/* SPDX-License-Identifier: BSD-3-Clause */
/* test_policy.c - the policy of a team, by the settings (src/core/team/policy.c). */
#include "core/team/policy.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum {
    KEPT = 1 << 0,
    NONTEMPORAL = 1 << LINES_NONTEMPORAL,
    RETURNED = 1 << LINES_RETURNED,
    BOTH = 1 << 3
};

static uint64_t now = 1; /* the processor's clock; 0 if it has none */

uint64_t __wrap_hud_lines_ticks(void);
uint64_t __wrap_hud_lines_ticks(void)
{
    return now;
}

/* Makes the policy of a team with these settings. */
static struct mem_policy policy_of(const char *lines, const char *stream)
{
    const char *const settings[] = { "HUDDLE_WAIT=poll", lines, stream, NULL };
    static struct hud_context context;
    static struct hud_team team;

    hud_config_read(settings, &context.config);
    assert_string_equal(context.config.error, "");
    team.context = &context;
    team.id.size = 2;
    hud_policy_make(&team, NULL);
    return team.shm.policy;
}

static void ways_follow_the_settings(void **state)
{
    static const struct {
        const char *lines;
        unsigned any, never; /* the ways that are allowed with and without non-temporal stores */
    } cases[] = { { "HUDDLE_LINES=kept", KEPT, KEPT },
                  { "HUDDLE_LINES=nontemporal", NONTEMPORAL, KEPT },
                  { "HUDDLE_LINES=returned", RETURNED, RETURNED },
                  { "HUDDLE_LINES=both", BOTH, RETURNED },
                  { "HUDDLE_LINES=auto", KEPT | NONTEMPORAL | RETURNED | BOTH, KEPT | RETURNED } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(policy_of(cases[i].lines, "HUDDLE_STREAM=auto").ways, cases[i].any);
        assert_int_equal(policy_of(cases[i].lines, "HUDDLE_STREAM=1").ways, cases[i].any);
        assert_int_equal(policy_of(cases[i].lines, "HUDDLE_STREAM=0").ways, cases[i].never);
    }
}

/* Measures times only if there is a choice. */
static void forced_way_is_not_measured(void **state)
{
    (void)state;
    assert_false(policy_of("HUDDLE_LINES=both", "HUDDLE_STREAM=auto").learns);
    assert_true(policy_of("HUDDLE_LINES=auto", "HUDDLE_STREAM=0").learns);
}

/* Reads a clock that is always 0, as on a processor without a clock. */
static void nothing_is_measured_without_a_clock(void **state)
{
    (void)state;
    now = 0;
    assert_false(policy_of("HUDDLE_LINES=auto", "HUDDLE_STREAM=auto").learns);
    now = 1;
    assert_true(policy_of("HUDDLE_LINES=auto", "HUDDLE_STREAM=auto").learns);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_follow_the_settings),
        cmocka_unit_test(forced_way_is_not_measured),
        cmocka_unit_test(nothing_is_measured_without_a_clock),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
