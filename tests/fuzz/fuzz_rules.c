/* SPDX-License-Identifier: BSD-3-Clause */
/* fuzz_rules.c - fuzzes tuning files. Each file is either read as a table or rejected with a
 * one-line message. Plans can be made from every accepted table, and each of its rules can be read
 * again from the line that hud_rule_write writes.  So can the rules among the lines of any file. */
#include "../unit/plans.h"
#include "core/config/text.h"
#include "fuzz.h"

#include <string.h>

/* Teams of all kinds that rules distinguish, with slices that are large enough and slices that are
 * not. */
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

static void write_and_read(const struct rule *rule)
{
    char line[RULE_LINE], again[RULE_LINE], error[2 * SET_TEXT];
    struct rules read;

    MUST(hud_rule_write(rule, line, sizeof line));
    MUST(hud_rules_read(&read, "t.rules", line, strlen(line), error, sizeof error));
    MUST(read.count == 1 && hud_rule_write(read.rule, again, sizeof again));
    MUST(strcmp(line, again) == 0);
    hud_rules_free(&read);
}

/* Reads the lines that are right, as from a file of wisdom. */
static void read_some(const char *text, size_t bytes)
{
    char error[2 * SET_TEXT];
    struct rules some;

    MUST(hud_rules_read_some(&some, "t.rules", text, bytes, error, sizeof error));
    MUST(some.wrong <= RULES_WRONG && (some.wrong > 0) == (error[0] != '\0'));
    MUST(hud_text_is_plain(error));
    for (int i = 0; i < some.count; i++)
        write_and_read(&some.rule[i]);
    hud_rules_free(&some);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char *const fixed[] = { "HUDDLE_REDUCE_ORDER=fixed", NULL };
    char error[2 * SET_TEXT] = "";

    setenv("CMOCKA_TEST_ABORT", "1", 1); /* failed assertions of plans_check then crash */
    if (hud_rules_read(&plans.tuning, "t.rules", (const char *)data, bytes, error, sizeof error)) {
        MUST(error[0] == '\0');
        MUST(plans.tuning.count == 0 || plans.tuning.rule);
        for (int i = 0; i < plans.tuning.count; i++)
            write_and_read(&plans.tuning.rule[i]);
        make_plans(NULL);
        make_plans(fixed);
    } else {
        MUST(strncmp(error, "t.rules:", 8) == 0 && error[8] >= '1' &&
             error[8] <= '9'); /* a line number */
        MUST(strstr(error, "(accepted: "));
        MUST(hud_text_is_plain(error));
        MUST(plans.tuning.count == 0 && !plans.tuning.rule);
    }
    hud_rules_free(&plans.tuning);
    read_some((const char *)data, bytes);
    return 0;
}
