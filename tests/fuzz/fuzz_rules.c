/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_rules.c - tuning files: each is a table or one line, and of each table that is accepted
 * plans can be made. */
#include "../unit/plans.h"
#include "core/config/text.h"
#include "fuzz.h"

#include <string.h>

/* Teams of all kinds that rules tell apart, and slices with and without room. */
static const struct {
    int ranks;
    bool oversubscribed, direct;
    const char *within;
    size_t bytes;
} teams[] = {
    { 2, false, true, "l3", 1536 << 10 },       { 3, true, false, "machine", 64 << 10 },
    { 8, false, false, "numa", 4 << 10 },       { 64, false, true, "socket", MB },
    { 128, true, true, "machine", 1536 << 10 }, { 4096, false, false, "machine", 16 * MB },
};

static void make_plans(const char *const *settings)
{
    plans_settings(settings);
    for (size_t i = 0; i < sizeof teams / sizeof *teams; i++) {
        bool direct;
        plans.direct = teams[i].direct;
        plans_make(teams[i].ranks, teams[i].oversubscribed, teams[i].within, teams[i].bytes, true);
        plans_check();
        for (int kind = 0; kind < COLL_KINDS; kind++)
            for (int e = 0; e < 40; e += 3)
                plans_taker((enum coll_kind)kind, (size_t)1 << e);
        size_t min = hud_plan_bytes(plans.planner, teams[i].ranks, teams[i].bytes, true, &direct);
        MUST(min <= teams[i].bytes);
        MUST(plans.plan.total_bytes <= teams[i].bytes);
        MUST(hud_plan_offer(plans.planner, teams[i].ranks, 16 * MB, teams[i].bytes) <=
             teams[i].bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const fixed[] = { "HUDDLE_REDUCE_ORDER=fixed", NULL };
    char error[2 * SET_TEXT] = "";

    setenv("CMOCKA_TEST_ABORT", "1", 1); /* what plans_check asserts is a crash */
    if (hud_rules_read(&plans.tuning, "t.toml", (const char *)data, bytes, error, sizeof error)) {
        MUST(error[0] == '\0');
        MUST(plans.tuning.count == 0 || plans.tuning.rule);
        make_plans(NULL);
        make_plans(fixed);
    } else {
        MUST(strncmp(error, "t.toml:", 7) == 0 && error[7] >= '1' &&
             error[7] <= '9'); /* a line number */
        MUST(strstr(error, "(accepted: "));
        MUST(hud_text_is_plain(error));
        MUST(plans.tuning.count == 0 && !plans.tuning.rule);
    }
    hud_rules_free(&plans.tuning);
    return 0;
}
