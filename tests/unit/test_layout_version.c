/* SPDX-License-Identifier: BSD-3-Clause */
/* test_layout_version.c - builds whose slices have another meaning have another version. */
#include "core/call/layout_version.h"
#include "core/slice/team_leave.h"

uint64_t other_layout_version(void);

/* Compiles the version a second time, with another meaning of a slice's head. */
#define hud_layout_version other_layout_version
#define SLICE_HEAD_MEANING 3
#include "core/call/layout_version.c"
#undef hud_layout_version

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void meaning_of_a_head_is_part_of_the_version(void **state)
{
    (void)state;
    assert_true(hud_layout_version() != other_layout_version());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meaning_of_a_head_is_part_of_the_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
